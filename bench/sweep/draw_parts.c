/* draw_parts.c - what the kinds of programs are drawn from: operands, maps, masks, sets of axes. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* No 1: a compiler knows x * 1. */
static const double floats[] = { 2, 0.5, 3, 1.5, 0.25, 10, 1.25, 0.75 };
static const double ints[]   = { 2, 3, 5, 7, 6, 10, 4 };

/* Where a leaf's values lie, such that sums and products of a few stay in the type. */
static range values(dice *d, rd_dtype type)
{
    static const range real[] = {
        { 0, 1, 0 }, { -1, 1, 0 }, { 0.5, 2, 0 }, { -3, 3, 0 }, { 1, 10, 0 }
    };

    switch (type) {
    case RD_BOOL: return (range){ 0, 1, 0 };
    case RD_U8: return sweep_chance(d, 0.5) ? (range){ 0, 255, 0 } : (range){ 0, 9, 0 };
    case RD_I8: return (range){ -9, 9, 0 };
    case RD_U16:
    case RD_U32:
    case RD_U64: return (range){ 0, 100, 0 };
    case RD_I16: return (range){ -60, 60, 0 };
    case RD_I32:
    case RD_I64: return sweep_chance(d, 0.5) ? (range){ 0, 100, 0 } : (range){ -1000, 1000, 0 };
    default: return real[sweep_roll(d, 5)];
    }
}

/* As broadcasting goes: the same shape, fewer axes, or some of extent 1. */
static shape part_of(dice *d, const node *like)
{
    shape     s     = { .rank = like->rank };
    const int style = sweep_roll(d, 10),
              drop  = style < 7 || like->rank < 2 ? 0 : 1 + sweep_roll(d, like->rank - 1);

    memcpy(s.n, like->n, sizeof s.n);
    if (style >= 5 && style < 7 && s.rank > 1)
        s.n[sweep_roll(d, s.rank)] = 1;
    s.rank -= drop;
    memmove(s.n, s.n + drop, (size_t)s.rank * sizeof *s.n);
    return s;
}

node *sweep_draw_operand(dice *d, program *p, const node *like)
{
    const shape    s    = part_of(d, like);
    const rd_dtype type = sweep_chance(d, 0.8) ? like->type : sweep_draw_type(d);
    const range    r    = values(d, type);

    return sweep_draw_leaf(d, p, type, &s, r.lo, r.hi);
}

static node *number(dice *d, program *p, const node *like)
{
    if (like->type == RD_BOOL)
        return NULL;
    if (sweep_dtype(like->type)->is_float)
        return sweep_number(p, floats[sweep_roll(d, 8)], like->type);
    return sweep_number(p, ints[sweep_roll(d, 7)], like->type);
}

/* A comparison of x with a number inside its range; NULL: there is none, or no x. */
static node *compare(dice *d, program *p, node *x)
{
    static const char *const names[] = { "gt", "lt", "ge", "le" };
    double                   wide, part, value;

    if (!x)
        return NULL;
    wide  = x->r.hi - x->r.lo;
    part  = sweep_between(d, 0.2, 0.8) * wide;
    value = sweep_dtype(x->type)->is_float ? round((x->r.lo + part) * 16) / 16
                                           : x->r.lo + fmax(2, floor(part));
    if (wide <= 0 || (!sweep_dtype(x->type)->is_float && wide < 4))
        return NULL;
    return x->type == RD_BOOL
               ? x
               : sweep_map(p, names[sweep_roll(d, 4)], x, sweep_number(p, value, x->type));
}

/* Dense, broadcast, or a comparison of the values themselves.  Of a few elements all may be
 * false: not broadcast then. */
node *sweep_draw_mask(dice *d, program *p, node *x)
{
    node   *m = NULL;
    shape   s = part_of(d, x);
    int64_t n = 1;

    for (int k = 0; k < s.rank; k++)
        n *= s.n[k];
    if (n < 16) {
        s.rank = x->rank;
        memcpy(s.n, x->n, sizeof s.n);
    }
    if (x->exact && sweep_chance(d, 0.4))
        m = compare(d, p, x);
    if (!m && sweep_chance(d, 0.5))
        m = sweep_draw_leaf(d, p, RD_BOOL, &s, 0, 1);
    if (!m)
        m = compare(d, p, sweep_draw_leaf(d, p, RD_F32, &s, 0, 1));
    return m;
}

static node *second(dice *d, program *p, node *x, node *first)
{
    const int k = sweep_roll(d, 10);

    return k < 5 ? sweep_draw_operand(d, p, x) : k < 8 ? number(d, p, x) : first;
}

/* x - x would be 0, which a compiler knows. */
static node *binary(dice *d, program *p, const char *name, node *x, node *first)
{
    node *y = second(d, p, x, first);

    return y == x ? NULL : sweep_map(p, name, x, y);
}

/* One operator more on x. */
static node *step(dice *d, program *p, node *x, node *first)
{
    static const char *const common[] = { "add", "sub", "mul",     "mul",
                                          "add", "div", "minimum", "maximum" };
    static const char *const whole[]  = { "floordiv", "remainder", "add", "mul",
                                          "sub",      "minimum",   "abs", "square" };
    const bool               real     = sweep_dtype(x->type)->is_float;
    const op_row            *any      = &sweep_ops[sweep_roll(d, sweep_n_ops - 1)];

    switch (sweep_roll(d, 12)) {
    case 0: {
        node *mask = sweep_draw_mask(d, p, x);

        return mask ? sweep_where(p, mask, x, second(d, p, x, first)) : NULL;
    }
    case 1: return sweep_cast(p, x, sweep_draw_type(d));
    case 2:
    case 3:
    case 4:
        if (any->rule == OP_COMPARE && x->type != RD_BOOL && !sweep_chance(d, 0.1))
            return NULL;
        if (x->type == RD_BOOL && any->rule != OP_LOGIC)
            return NULL;
        return any->arity == 1 ? sweep_map(p, any->name, x, NULL)
                               : binary(d, p, any->name, x, first);
    default:
        if (x->type == RD_BOOL)
            return NULL;
        return binary(d, p, real ? common[sweep_roll(d, 8)] : whole[sweep_roll(d, 6)], x, first);
    }
}

static bool like(const node *a, const node *b)
{
    return a->rank == b->rank && memcmp(a->n, b->n, (size_t)a->rank * sizeof *a->n) == 0;
}

/* n operators on x, whose shape they keep.  Leaves of what made no sense are taken back. */
node *sweep_draw_map(dice *d, program *p, node *x, int n_ops)
{
    node *first = x;

    for (int done = 0, tries = 0; x && done < n_ops && tries < 40; tries++) {
        const int leaves = p->n_leaves;
        node     *y      = step(d, p, x, first);

        if (y && y != x && like(y, first)) {
            x = y;
            done++;
        } else {
            p->n_leaves = leaves;
        }
    }
    return x;
}

/* per_type: elements if it were of bytes; 0: as sizes are drawn. */
node *sweep_draw_values(dice *d, program *p, int rank, double per_type)
{
    const rd_dtype type = sweep_draw_type(d);
    const double   n    = sweep_draw_count(d, p, type);
    const shape    s    = sweep_draw_shape(d, per_type > 0 ? fmin(n, per_type) : n, rank);
    const range    r    = values(d, type);

    return sweep_draw_leaf(d, p, type, &s, r.lo, r.hi);
}

unsigned sweep_draw_dims(dice *d, int rank)
{
    return 1U + (unsigned)sweep_roll(d, (1 << rank) - 1);
}

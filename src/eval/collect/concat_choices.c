/* concat_choices.c - reads concatenations inside reductions where their parts lie: a choice by
 * index between the parts takes the place of a stored array.
 *
 *    sum(concat(a, b) * y)   ->   sum((i < na ? a[min(i, na - 1)] : b[max(i - na, 0)]) * y)
 *
 * Every address is inside its part, so each executor may compute both sides.  Compiled loops are
 * split at the seam (pass seam_split): each piece reads one part, and tests nothing.
 *
 * Bits stay those of the stored concatenation.  Its combine tree is decided as if the choice were
 * an array in C order (rd_value.taken_as_array), and a part that is a product is rounded by the
 * choice.
 *
 * A seam is an index at which two parts meet.  A fold is a reduction here. */
#include "eval/collect/concat_split.h"
#include "eval/collect/concat_split_own.h"
#include "core/combine_tree.h"
#include "expr/plain.h"
#include <string.h>

/* A choice computes all parts where loops are not split, and each seam is a copy of the loop. */
enum { MOST_PARTS = 4, MOST_LEAVES = 9, MOST_OPS = 256 };

/* The pass collects facts of the seen expressions, by number, and notes what it makes of them. */
typedef struct choosing {
    rd_collector *c;
    bool         *below;  /* it is read element by element from some fold's operand       */
    bool         *wanted; /* a concatenation that is read about once an element           */
    rd_expr     **made;   /* the expression in its place; NULL: not made yet              */
    bool          any;
} choosing;

/* ---- Which concatenations -------------------------------------------------------------------- */
/* The number of an expression in the list of seen ones. */
static int number_of(const rd_collector *c, const rd_expr *x)
{
    return (int)(rd_seen_of(c, x) - c->seen);
}

/* True if computing an element of x costs little: elementwise operations and views of arrays in
 * this processor's memory and of numbers, and concatenations that become choices themselves.
 * `given`: its value is in memory. A reshape is cheap if what lies below it and below views is
 * memory. w->wanted[..]: the concatenation becomes a choice. */
static bool is_cheap(const choosing *w, const rd_expr *x)
{
    const rd_expr *in = x;

    if (rd_seen_of(w->c, x)->given)
        return true;
    switch (x->kind) {
    case RD_EXPR_LEAF: return !x->device;
    case RD_EXPR_NUMBER:
    case RD_EXPR_COORD: return true;
    case RD_EXPR_CONCAT: return w->wanted[number_of(w->c, x)];
    case RD_EXPR_RESHAPE:
        while (in->kind == RD_EXPR_VIEW || in->kind == RD_EXPR_RESHAPE)
            in = in->in[0];
        return in->kind == RD_EXPR_LEAF && !in->device;
    case RD_EXPR_MAP:
    case RD_EXPR_VIEW: break;
    default: return false;
    }
    for (int k = 0; k < x->n_in; k++)
        if (!is_cheap(w, x->in[k]))
            return false;
    return true;
}

/* The most parts that an element of x may have to choose between: the parts of a concatenation
 * together, of a map those of its largest operand. */
static int leaves_of(const rd_expr *x)
{
    int n = 0;

    if (x->kind != RD_EXPR_CONCAT && x->kind != RD_EXPR_MAP && x->kind != RD_EXPR_VIEW)
        return 1;
    for (int k = 0; k < x->n_in; k++) {
        const int below = leaves_of(x->in[k]);

        n = x->kind == RD_EXPR_CONCAT ? n + below : below > n ? below : n;
    }
    return n;
}

/* True if the concatenation may be read as a choice by index, in place of a stored array: few
 * parts, whose elements cost few operations. `ops` are the operations for an element of x,
 * leaves_of() how many parts it may choose between. */
static bool may_be_chosen(const choosing *w, const rd_expr *x)
{
    if (x->n_in > MOST_PARTS || rd_seen_of(w->c, x)->given || rd_expr_points(x) == 0 ||
        rd_seen_of(w->c, x)->ops > MOST_OPS || leaves_of(x) > MOST_LEAVES)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (!is_cheap(w, x->in[k]))
            return false;
    return true;
}

/* True if the fold (reduction) reads each element of the concatenation at most once: the axes of
 * the fold's operand and those of the concatenation correspond one to one. p->at[a].axis is the
 * operand's axis that goes along axis a; -1: none. */
static bool is_read_once(const rd_concat_split *s, const rd_concat_place *p)
{
    bool read[RD_MAX_RANK] = { false };

    for (int a = 0; a < p->expr->rank; a++) {
        if (p->at[a].axis < 0 && p->expr->extent[a] > 1)
            return false;
        if (p->at[a].axis >= 0)
            read[p->at[a].axis] = true;
    }
    for (int a = 0; a < s->rank; a++)
        if (!read[a] && s->extent[a] > 1)
            return false;
    return true;
}

/* The number of elements that the fold (reduction) takes. */
static double points_of(const rd_concat_split *s)
{
    return (double)rd_points(s->rank, s->extent);
}

/* True if the fold (reduction) reads at most twice as many elements as the concatenation has,
 * though some repeatedly, as an array that is padded along two axes has borders of borders. Its
 * parts must be arrays (ops == 0), which cost nothing to read again. */
static bool is_border(const choosing *w, const rd_concat_split *s, const rd_concat_place *p)
{
    enum { OFTEN = 2 };

    return rd_seen_of(w->c, p->expr)->ops == 0 && points_of(s) <= OFTEN * rd_expr_points(p->expr);
}

/* True if the node's operands are read element by element through it, too: elementwise operations,
 * concatenations, and views that only shift or permute axes. p->at says where its axes are read. */
static bool is_looked_through(const rd_concat_place *p)
{
    rd_reading in[RD_MAX_RANK];

    return p->expr->kind == RD_EXPR_MAP || p->expr->kind == RD_EXPR_CALL ||
           p->expr->kind == RD_EXPR_CONCAT ||
           (p->expr->kind == RD_EXPR_VIEW && rd_read_through(p->expr, p->at, in));
}

/* Notes for each expression below a fold (reduction) whether it is read element by element
 * (w->below). A concatenation is wanted as a choice between its parts if the fold reads it once,
 * or marked in `stored` if it is read otherwise. False: no memory. With too many places
 * (s->many) nothing is noted, so that all concatenations below count as stored. */
static bool look_below(choosing *w, rd_expr *fold, bool *stored)
{
    rd_reading       at[RD_MAX_RANK];
    rd_concat_split *s = rd_concat_split_of(w->c, fold->in[0], at);

    if (!s)
        return false;
    for (int32_t k = 0; k < s->n_place && !s->many; k++) {
        const rd_concat_place *p = &s->places[k];
        const int              n = number_of(w->c, p->expr);

        w->below[n] |= is_looked_through(p);
        if (p->expr->kind != RD_EXPR_CONCAT)
            continue;
        if (is_read_once(s, p) || is_border(w, s, p))
            w->wanted[n] = true;
        else
            stored[n] = true;
    }
    return true;
}

/* True if loops that are split where parts of a concatenation meet (seams) suit the fold
 * (reduction): it reduces one axis, or rows whose length is a multiple of 64, the number of SIMD
 * accumulators (lanes). Else lanes go on from row to row, and a split loop has no vectors. n
 * counts the reduced axes of more than one index. */
static bool has_whole_lanes(const rd_expr *x)
{
    bool whole = true;
    int  n     = 0;

    for (int a = 0; a < x->in[0]->rank; a++)
        if (x->as.fold->dims >> a & 1 && x->in[0]->extent[a] > 1) {
            whole &= x->in[0]->extent[a] % RD_TREE_LANES == 0;
            n++;
        }
    return n < 2 || whole;
}

/* True for a fold whose operand may be a choice between parts: a plain reduction without groups,
 * mask or weights, of data on no device. */
static bool may_choose(const rd_collector *c, const rd_expr *x)
{
    for (int k = 1; k < x->n_in; k++)
        if (x->in[k])
            return false;
    return x->kind == RD_EXPR_REDUCE && !x->device && !x->as.fold->user &&
           !rd_seen_of(c, x)->given && rd_expr_points(x->in[0]) > 0 && has_whole_lanes(x);
}

/* Finds the concatenations that become choices between their parts: all their readers are folds
 * (reductions) that read them once. The last loop goes from operands to readers: whether an outer
 * one is cheap depends on whether its parts became choices. False: no memory. The results
 * themselves are read by the caller. An operand has another reader if its user is not read
 * through (below) and is no fold that may choose. */
static bool find_wanted(choosing *w, int n, rd_expr *const *result)
{
    rd_collector *c                = w->c;
    bool         *has_other_reader = rd_pool_get(c->pool, (size_t)c->n_seen);

    if (!has_other_reader)
        return false;
    for (int k = 0; k < n; k++)
        has_other_reader[number_of(c, result[k])] = true;
    for (int i = 0; i < c->n_seen; i++)
        if (may_choose(c, c->seen[i].expr) &&
            !look_below(w, (rd_expr *)c->seen[i].expr, has_other_reader))
            return false;
    for (int i = 0; i < c->n_seen; i++) {
        const rd_expr *x = c->seen[i].expr;

        for (int k = 0; k < x->n_in && !c->seen[i].given; k++)
            if (x->in[k] && !w->below[i] && !(may_choose(c, x) && k == 0))
                has_other_reader[number_of(c, x->in[k])] = true;
    }
    for (int i = c->n_seen; i-- > 0;) {
        w->wanted[i] = w->wanted[i] && !has_other_reader[i] && may_be_chosen(w, c->seen[i].expr);
        w->any |= w->wanted[i];
    }
    return true;
}

/* ---- The choice ------------------------------------------------------------------------------ */
/* Makes the operation op(x, number) on an index array; NULL gives NULL. */
static rd_expr *index_op(rd_op op, rd_expr *x, int64_t number)
{
    return x ? plain_2(op, "rd_concat", x, rd_int(x->ctx, number)) : NULL;
}

/* Makes the index array by which a part is read whose first index along the axis is `from`: index
 * - from, clamped to the part, so that every address is valid. Clamps that change nothing are left
 * out. index_op() applies an operator to the index and a number. NULL on failure. */
static rd_expr *index_in_part(const rd_expr *x, int64_t from, int64_t extent)
{
    const int64_t       n     = x->extent[x->as.axis->axis];
    const rd_axis_facts facts = { .axis = 0 };
    rd_expr            *index = rd_node(
                   &(rd_expr){ .ctx = x->ctx, .kind = RD_EXPR_COORD, .type = RD_I64, .rank = 1, .extent = &n },
                   &facts, sizeof facts);

    if (from > 0)
        index = index_op(RD_OP_maximum, index_op(RD_OP_sub, index, from), /*number=*/0);
    return from + extent < n ? index_op(RD_OP_minimum, index, extent - 1) : index;
}

/* Makes the mask index < end along the axis along which x joins; it has extent 1 along the
 * others. NULL on failure. */
static rd_expr *mask_before(const rd_expr *x, int64_t end)
{
    const rd_axis_facts facts = { .axis = x->as.axis->axis };
    int64_t             extent[RD_MAX_RANK];

    for (int a = 0; a < x->rank; a++)
        extent[a] = a == facts.axis ? x->extent[a] : 1;
    return index_op(RD_OP_lt,
                    rd_node(&(rd_expr){ .ctx    = x->ctx,
                                        .kind   = RD_EXPR_COORD,
                                        .type   = RD_I64,
                                        .rank   = x->rank,
                                        .extent = extent },
                            &facts, sizeof facts),
                    end);
}

/* Makes a cast of x to the type that it has. It makes the choice a map of its own, which rounds a
 * product as a store would (no fma). NULL gives NULL. */
static rd_expr *cast_of(rd_expr *x, const rd_expr *like)
{
    return x ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                   .kind   = RD_EXPR_MAP,
                                   .op     = RD_OP_cast,
                                   .type   = like->type,
                                   .rank   = like->rank,
                                   .n_in   = 1,
                                   .extent = like->extent,
                                   .in     = &x },
                       /*facts=*/NULL, /*size=*/0)
             : NULL;
}

/* Makes the choice between the parts of concatenation x: where(i < end0, part0, where(i < end1,
 * part1, ...)). part: the operands as they are in the new graph. NULL on failure. `end` is where
 * part k ends along the axis, n its extent there; parts without elements are skipped. `one` is
 * part k read at the index of x within it, `all` the choice so far. */
static rd_expr *choice_of(const rd_expr *x, rd_expr *const *part)
{
    const int axis = (int)x->as.axis->axis;
    int64_t   end  = x->extent[axis];
    rd_expr  *all  = NULL;

    for (int k = x->n_in; k-- > 0;) { /* from the last part, which needs no test */
        const int64_t n   = part[k]->extent[axis];
        rd_expr      *one = NULL;

        if (n == 0)
            continue;
        one = rd_plain_take(part[k], axis, index_in_part(x, end - n, n));
        all =
            end == x->extent[axis] ? one : plain_where("rd_concat", mask_before(x, end), one, all);
        if (!one || !all)
            return NULL;
        end -= n;
    }
    return cast_of(all, x);
}

/* Adds a choice to the list of expressions whose readers' combine trees are decided as if they
 * were arrays in C order. False: no memory. */
static bool note_chosen(rd_collector *c, const rd_expr *x)
{
    const rd_expr **more = rd_pool_grow(c->pool, c->chosen, (size_t)c->n_chosen,
                                        (size_t)c->n_chosen + 1, sizeof *more);

    if (!more)
        return false;
    more[c->n_chosen++] = x;
    c->chosen           = more;
    return true;
}

/* Makes expression number i again if an operand changed, or as a choice if it is wanted as one.
 * Its operands come later in the list, so they are made already. False on failure. w->made[i] is
 * what expression i becomes in the new graph; w->wanted[i]: as a choice. A given one (in memory)
 * stays as it is. */
static bool make_anew(choosing *w, int i)
{
    rd_collector *c = w->c;
    rd_expr      *x = (rd_expr *)c->seen[i].expr, node = *x;
    rd_expr     **in      = rd_pool_get(c->pool, (size_t)(x->n_in ? x->n_in : 1) * sizeof *in);
    bool          changed = false;

    w->made[i] = x;
    if (!in)
        return false;
    for (int k = 0; k < x->n_in && !c->seen[i].given; k++) {
        in[k] = x->in[k] ? w->made[number_of(c, x->in[k])] : NULL;
        changed |= in[k] != x->in[k];
    }
    if (w->wanted[i])
        return (w->made[i] = choice_of(x, in)) && note_chosen(c, w->made[i]);
    node.in = in;
    if (changed)
        w->made[i] = rd_node(&node, x->as.any, x->as_size);
    return w->made[i];
}

/* Replaces the concatenations that folds (reductions) read once by choices by index between their
 * parts, in all results, so that they are not stored. One that is stored for another reader stays
 * as it is. False: no memory. find_wanted() marks in w.wanted which, w.any says that there are
 * some. The list of expressions is then made anew for the new results. */
bool rd_choose_parts(rd_collector *c, int n, rd_expr **result, rd_exprs given)
{
    const size_t room = (size_t)c->n_seen;
    choosing     w    = { .c      = c,
                          .below  = rd_pool_get(c->pool, room),
                          .wanted = rd_pool_get(c->pool, room),
                          .made   = rd_pool_get(c->pool, room * sizeof *w.made) };

    if (!w.below || !w.wanted || !w.made || !find_wanted(&w, n, result))
        return false;
    if (!w.any)
        return true;
    for (int i = c->n_seen; i-- > 0;)
        if (!make_anew(&w, i))
            return false;
    for (int k = 0; k < n; k++)
        result[k] = w.made[number_of(c, result[k])];
    return rd_reach_exprs(c, (rd_exprs){ result, n }, given);
}

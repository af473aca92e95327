/* symmetric.c - finds out whether an expression of pairs stays the same when both points of a
 * pair are exchanged.
 *
 * Two nodes are compared, of which the second has i and j exchanged:
 *
 *     x[i] - x[j]  and  x[j] - x[i]      are opposite
 *     (x[i] - x[j])^2                    is the same
 *
 * Leaves of pairs are views of one row of points; one takes point i, the other point j.  Sums
 * and products of opposite operands keep or change the sign, as in algebra.
 *
 * "The same" means equal up to rounding: where a product is added to another one, a fused
 * multiply-add may leave either of them unrounded. */
#include "expr/symmetric.h"
#include <string.h>

/* Most pairs of nodes that are compared.  Operands are shared, so there may be more paths than
 * nodes. */
enum { MOST_STEPS = 512 };

/* Two nodes that are compared. */
typedef struct pair {
    const rd_expr *x, *y; /* y has both indices exchanged */
    int            a, b;  /* the axes of i and of j, in x and in y */
} pair;

/* The comparison as a whole. */
typedef struct comparing {
    int  steps; /* comparisons that are left; without any, nodes count as different */
    bool moves; /* some element depends on an index */
} comparing;

static bool is_same(comparing *c, pair p);
static bool is_opposite(comparing *c, pair p);

/* Two operands to compare, of which axes p->a and p->b are to be exchanged, as in *p. */
static pair pair_of(const pair *p, const rd_expr *x, const rd_expr *y)
{
    return (pair){ x, y, p->a, p->b };
}

/* ---- Views ----------------------------------------------------------------------------------- */
/* The row of a view's coefficient matrix for axis `axis` of its operand: by how much that axis
 * advances for a step along each axis of the view. */
static const int64_t *row_of(const rd_expr *view, int axis)
{
    return view->as.view->number + view->in[0]->rank + (ptrdiff_t)axis * view->rank;
}

/* True if axis i of x's operand moves as axis j of y's operand does, after axes a and b of the pair
 * are exchanged: equal offsets, and equal coefficients. c->moves becomes true if it moves along a
 * or b. */
static bool rows_are_exchanged(comparing *c, const pair *p, int i, int j)
{
    const int64_t *x = row_of(p->x, i), *y = row_of(p->y, j);

    if (p->x->as.view->number[i] != p->y->as.view->number[j])
        return false;
    for (int k = 0; k < p->x->rank; k++)
        if (x[k] != y[k == p->a ? p->b : k == p->b ? p->a : k])
            return false;
    c->moves |= x[p->a] != 0 || x[p->b] != 0;
    return true;
}

/* True if two views of one array are each other's with axes a and b exchanged: one reads point i
 * where the other reads point j.  Without success c->moves stays as it was. */
static bool takes_exchanged(comparing *c, const pair *p)
{
    const bool moved = c->moves;

    for (int i = 0; i < p->x->in[0]->rank; i++)
        if (!rows_are_exchanged(c, p, i, i)) {
            c->moves = moved;
            return false;
        }
    return true;
}

/* True if both views broadcast an index (a COORD node, 0, 1, 2 ... along one axis), one that of
 * axis a and the other that of axis b. */
static bool are_places(comparing *c, const pair *p)
{
    return p->x->in[0]->kind == RD_EXPR_COORD && p->y->in[0]->kind == RD_EXPR_COORD &&
           rows_are_exchanged(c, p, (int)p->x->in[0]->as.axis->axis,
                              (int)p->y->in[0]->as.axis->axis);
}

/* The axis of a view's operand along which axis k of the view, and no other, goes from index 0 by
 * steps of 1. -1: there is none, because of a second axis, another step, or an offset. */
int rd_axis_below(const rd_expr *view, int k)
{
    int found = -1;

    for (int i = 0; i < view->in[0]->rank; i++) {
        const int64_t *row = row_of(view, i);

        if (row[k] == 0)
            continue;
        if (found >= 0 || row[k] != 1 || view->as.view->number[i] != 0)
            return -1;
        for (int other = 0; other < view->rank; other++)
            if (other != k && row[other] != 0)
                return -1;
        found = i;
    }
    return found;
}

/* True if both views have the same numbers and keep axes a and b; *below gets their operands, which
 * are compared instead, with their axes. */
static bool go_below(const pair *p, pair *below)
{
    if (p->x->in[0]->rank != p->y->in[0]->rank || p->x->as_size != p->y->as_size ||
        memcmp(p->x->as.any, p->y->as.any, p->x->as_size) != 0)
        return false;
    *below =
        (pair){ p->x->in[0], p->y->in[0], rd_axis_below(p->x, p->a), rd_axis_below(p->x, p->b) };
    return below->a >= 0 && below->b >= 0;
}

/* True if view x equals view y with axes a and b exchanged: both are indices, or read points of one
 * array, or have the same form and equal operands. */
static bool views_are_same(comparing *c, const pair *p)
{
    pair below;

    if (are_places(c, p) || (p->x->in[0] == p->y->in[0] && takes_exchanged(c, p)))
        return true;
    return go_below(p, &below) && is_same(c, below);
}

/* ---- Maps ------------------------------------------------------------------------------------ */
/* True if op(x, y) and op(y, x) have the same bits.  For floats minimum and maximum do not: of 0
 * and -0 they take the first, and 1 / x then has another sign. */
static bool commutes(rd_op op, rd_dtype type)
{
    switch (op) {
    case RD_OP_add:
    case RD_OP_mul:
    case RD_OP_eq:
    case RD_OP_ne:
    case RD_OP_and:
    case RD_OP_or:
    case RD_OP_xor:
    case RD_OP_bit_and:
    case RD_OP_bit_or:
    case RD_OP_bit_xor: return true;
    case RD_OP_minimum:
    case RD_OP_maximum: return rd_dtype_kind(type) != RD_KIND_FLOAT;
    default: return false;
    }
}

/* True if x is op(u, v) and y is op(v, u), up to the exchange of axes: as x[i] - x[j] and x[j] -
 * x[i]. */
static bool operands_are_exchanged(comparing *c, const pair *p)
{
    return is_same(c, pair_of(p, p->x->in[0], p->y->in[1])) &&
           is_same(c, pair_of(p, p->x->in[1], p->y->in[0]));
}

/* True if the operator gives the same for u and -u: a square, |u|, or u * u. abs() of an unsigned
 * difference does not. */
static bool loses_sign(const pair *p)
{
    const rd_expr *x = p->x, *y = p->y;

    return x->op == RD_OP_square ||
           (x->op == RD_OP_abs && rd_dtype_kind(x->type) != RD_KIND_UINT) ||
           (x->op == RD_OP_mul && x->in[0] == x->in[1] && y->in[0] == y->in[1]);
}

/* True if two maps of one operator are equal: their operands are equal, or exchanged under an
 * operator that commutes, or opposite (u and -u) under one that loses the sign. */
static bool maps_are_same(comparing *c, const pair *p)
{
    bool same = true;

    for (int k = 0; k < p->x->n_in && same; k++)
        same = is_same(c, pair_of(p, p->x->in[k], p->y->in[k]));
    return same || (commutes(p->x->op, p->x->type) && operands_are_exchanged(c, p)) ||
           (loses_sign(p) && is_opposite(c, pair_of(p, p->x->in[0], p->y->in[0])));
}

/* True if x is -y by the operator's rule of signs: u - v is opposite to v - u, a product to one
 * with an opposite factor, and a rounded u to a rounded -u. */
static bool maps_are_opposite(comparing *c, const pair *p)
{
    const rd_expr *x = p->x, *y = p->y;
    const pair     first = pair_of(p, x->in[0], y->in[0]),
               second    = pair_of(p, x->in[x->n_in - 1], y->in[x->n_in - 1]);

    switch (x->op) {
    case RD_OP_sub:
        if (operands_are_exchanged(c, p))
            return true; /* fallthrough */
    case RD_OP_add: return is_opposite(c, first) && is_opposite(c, second);
    case RD_OP_mul:
        return (is_opposite(c, first) && is_same(c, second)) ||
               (is_same(c, first) && is_opposite(c, second));
    case RD_OP_div: return is_opposite(c, first) && is_same(c, second);
    case RD_OP_neg:
    case RD_OP_round:
    case RD_OP_trunc: return is_opposite(c, first);
    case RD_OP_cast:
        return rd_dtype_kind(x->type) == RD_KIND_FLOAT &&
               rd_dtype_kind(x->in[0]->type) == RD_KIND_FLOAT && is_opposite(c, first);
    default: return false;
    }
}

/* ---- Reductions ------------------------------------------------------------------------------ */
/* The axis of a reduction's operand that becomes axis k of its result: the axis number k among
 * those not reduced. */
int rd_axis_before(const rd_expr *fold, int k)
{
    int axis = 0;

    for (int left = 0; axis < fold->in[0]->rank; axis++)
        if (!(fold->as.fold->dims >> axis & 1) && left++ == k)
            break;
    return axis;
}

/* True if two reductions are equal after axes a and b are exchanged: same reducer, reduced axes and
 * parameters, and equal operands (x, weights, where; a missing one is NULL).  A group-by and a
 * user's reducer count as different. */
static bool folds_are_same(comparing *c, const pair *p)
{
    const rd_expr *x = p->x, *y = p->y;

    if (!x->in[0] || rd_is_grouped(x) || x->as.fold->user || x->as_size != y->as_size ||
        memcmp(x->as.any, y->as.any, x->as_size) != 0)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if ((x->in[k] || y->in[k]) &&
            (!x->in[k] || !y->in[k] ||
             !is_same(c, (pair){ x->in[k], y->in[k], rd_axis_before(x, p->a),
                                 rd_axis_before(x, p->b) })))
            return false;
    return true;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* True if both nodes agree in kind, type, rank and number of operands, and the budget of
 * comparisons is not spent, which ends the search. */
static bool may_be_alike(comparing *c, const pair *p)
{
    return --c->steps >= 0 && p->x->kind == p->y->kind && p->x->type == p->y->type &&
           p->x->rank == p->y->rank && p->x->n_in == p->y->n_in;
}

/* True if y, with axes a and b of the pair exchanged, has x's elements, up to rounding.  Kinds of
 * nodes that are not listed count as different. */
static bool is_same(comparing *c, pair p)
{
    if (!may_be_alike(c, &p))
        return false;
    switch (p.x->kind) {
    case RD_EXPR_NUMBER: return p.x == p.y;
    case RD_EXPR_VIEW: return views_are_same(c, &p);
    case RD_EXPR_MAP: return p.x->op == p.y->op && maps_are_same(c, &p);
    case RD_EXPR_REDUCE: return folds_are_same(c, &p);
    default: return false;
    }
}

/* True if y, with axes a and b of the pair exchanged, has the elements of x with the other sign. */
static bool is_opposite(comparing *c, pair p)
{
    pair below;

    if (!may_be_alike(c, &p))
        return false;
    if (p.x->kind == RD_EXPR_VIEW)
        return go_below(&p, &below) && is_opposite(c, below);
    return p.x->kind == RD_EXPR_MAP && p.x->op == p.y->op && maps_are_opposite(c, &p);
}

/* True if x[.. i .. j ..] equals x[.. j .. i ..], up to rounding, with i along axis a and j along
 * axis b: compares x with itself.  *moves becomes true if some element changes along these axes. */
bool rd_is_symmetric(const rd_expr *x, int a, int b, bool *moves)
{
    comparing c = { .steps = MOST_STEPS };

    if (x->extent[a] != x->extent[b] || !is_same(&c, (pair){ x, x, a, b }))
        return false;
    *moves |= c.moves;
    return true;
}

/* True if x[.. i .. j ..] is -x[.. j .. i ..], with i along axis a and j along axis b. */
bool rd_is_antisymmetric(const rd_expr *x, int a, int b)
{
    comparing c = { .steps = MOST_STEPS };

    return x->extent[a] == x->extent[b] && is_opposite(&c, (pair){ x, x, a, b });
}

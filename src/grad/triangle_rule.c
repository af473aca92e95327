/* triangle_rule.c - the gradient of sums over the pairs i < j, as users write them:
 *
 *     y = sum over i and j of where(i < j, f[i, j], 0)
 *
 * If f is the same for (i, j) and (j, i), y is half of the sum over all pairs i != j.  So f gets
 * half of the cotangent of each of these pairs.  Both points of a pair then have the same sum, and
 * pair_rules.c makes one of both.  With the mask i < j there would be two sums, one over the pairs
 * of each triangle, and loops that visit both. */
#include "expr/maps.h"
#include "expr/symmetric.h"
#include "grad/derivative.h"

/* Returns the axis along which each element of x is its own index; -1: there is none. */
static int axis_of_index(const rd_expr *x)
{
    if (x->kind == RD_EXPR_COORD)
        return (int)x->as.axis->axis;
    if (x->kind != RD_EXPR_VIEW || x->in[0]->kind != RD_EXPR_COORD)
        return -1;
    for (int k = 0; k < x->rank; k++)
        if (rd_axis_below(x, k) == (int)x->in[0]->as.axis->axis)
            return k;
    return -1;
}

/* True if the node is a sum of f32 or f64 over a map `where`, without weights, mask and groups. */
static bool is_sum_of_choice(const rd_expr *y)
{
    bool plain = y->kind == RD_EXPR_REDUCE && !y->as.fold->user && !rd_is_grouped(y) &&
                 y->as.fold->reducer == RD_RED_sum && rd_grad_keeps_factors(y->type) &&
                 y->in[0]->kind == RD_EXPR_MAP && y->in[0]->op == RD_OP_where &&
                 y->in[0]->type == y->type;

    for (int k = 1; plain && k < y->n_in; k++)
        plain = !y->in[k];
    return plain;
}

/* True if the caller asks for the gradient by something of pairs: a node with two axes of n
 * elements. It must get the cotangents of the pairs i < j, not half of those of all. */
static bool asks_for_pairs(const rd_grad_graph *graph, int64_t n)
{
    for (int64_t i = 0; i < graph->list.n; i++) {
        const rd_expr *const x    = graph->list.at[i];
        int                  axes = 0;

        for (int a = 0; a < x->rank; a++)
            axes += x->extent[a] == n;
        if (graph->asked[i] && axes > 1)
            return true;
    }
    return false;
}

/* Returns f if y sums where(i < j, f, 0) over both i and j, the other way round or with f as the
 * other branch, and f is the same for (i, j) and (j, i).  mask->branch says which operand f is.
 * NULL: y is no such sum, or the caller asks for a gradient by pairs.  i and j are the indices
 * along axes a and b. */
static rd_expr *symmetric_part(const rd_grad_graph *graph, const rd_expr *y, rd_masked *mask)
{
    const rd_expr *less;
    bool           moves = false;
    int            a, b;

    if (!is_sum_of_choice(y))
        return NULL;
    *mask = rd_grad_unmasked(y->in[0]);
    less  = y->in[0]->in[0];
    if (!mask->choice || less->kind != RD_EXPR_MAP ||
        (less->op != (mask->branch == 1 ? RD_OP_lt : RD_OP_le) &&
         less->op != (mask->branch == 1 ? RD_OP_gt : RD_OP_ge)))
        return NULL;
    a = axis_of_index(less->in[0]);
    b = axis_of_index(less->in[1]);
    if (a < 0 || b < 0 || a == b || !(y->as.fold->dims >> a & 1) || !(y->as.fold->dims >> b & 1) ||
        y->in[0]->extent[a] != y->in[0]->extent[b] || asks_for_pairs(graph, y->in[0]->extent[a]))
        return NULL;
    return rd_is_symmetric(mask->x, a, b, &moves) && moves ? mask->x : NULL;
}

/* True if y sums something over the pairs i < j that is the same for (i, j) and (j, i). */
bool rd_grad_is_triangle(const rd_grad_graph *graph, const rd_expr *y)
{
    rd_masked mask;

    return symmetric_part(graph, y, &mask) != NULL;
}

/* Passes g, the cotangent of such a sum y, on to what is summed: half of it for all pairs i != j.
 * `repeated` is g for each element of the sum.  False after a failure. */
bool rd_grad_pull_triangle(rd_grad_graph *graph, const rd_expr *y, rd_scaled g)
{
    const char          *call = graph->call;
    rd_masked            mask;
    rd_expr *const       f    = symmetric_part(graph, y, &mask);
    const rd_expr *const less = y->in[0]->in[0];
    rd_expr             *differ, *zero, *repeated = g.x, *part;

    for (int a = 0; repeated && a < f->rank; a++)
        if (y->as.fold->dims >> a & 1)
            repeated = rd_expand(repeated, a);
    repeated = repeated ? rd_broadcast_to(repeated, f->rank, f->extent, call) : NULL;
    differ   = map_2(RD_OP_ne, call, less->in[0], less->in[1]);
    zero     = rd_grad_zeros(f);
    part     = repeated && differ && zero ? map_where(call, differ, repeated, zero) : NULL;
    return part && rd_grad_add(graph, f, (rd_scaled){ part, g.by / 2 });
}

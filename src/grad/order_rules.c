/* order_rules.c - derivatives of gathers, sorts and quantiles: what is read at computed places.
 *
 * In reverse mode the cotangent of a result is added at the place that it was read from: sums by
 * label. */
#include "core/sort_facts.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <string.h>

/* ---- Gathers --------------------------------------------------------------------------------- */
/* Reverse mode of a gather: the cotangent of each result, the gradient with respect to it, is
 * added at the place that it was read from (a scatter-add). `along`: each row has indices of its
 * own. False after a failure. s->y->in is the operand x and the index, s->g the cotangent of the
 * gather. Else one index serves all rows, and rd_scatter_add() adds to zeros of x's shape. */
static bool pull_take(rd_grad_step *s)
{
    rd_expr *const x = s->y->in[0], *const index = rd_with_origins(s->y->in[1], /*origin=*/NULL);
    const int axis = (int)s->y->as.axis->axis;

    if (!index)
        return false;
    if (s->y->as.axis->along)
        s->change[0] = rd_grad_scatter(s->g, axis, index, x->extent[axis]);
    else
        s->change[0] =
            rd_scatter_add(rd_with_origins(rd_grad_zeros(x), /*origin=*/NULL), axis, index, s->g);
    return s->change[0] != NULL;
}

/* Forward mode of a gather: returns its tangent, how it changes along the direction: the gather
 * of the operand's tangent by the same index. NULL after a failure. */
static rd_expr *push_take(rd_grad_step *s)
{
    rd_expr *const index = rd_with_origins(s->y->in[1], /*origin=*/NULL);
    const int      axis  = (int)s->y->as.axis->axis;

    return s->y->as.axis->along ? rd_take_places_along(s->change[0], axis, index)
                                : rd_take_places(s->change[0], axis, index);
}

const rd_grad_rule rd_take_grad = { pull_take, push_take };

/* ---- Sorts ----------------------------------------------------------------------------------- */
/* Returns the places of the n first elements of each row in sorted order (argsort), by a node
 * with the same operand and direction as the sort s->y. facts of another sort differ in `what`
 * only: here places, not values. */
static rd_expr *places_of(const rd_grad_step *s, int64_t n)
{
    rd_expr *const x     = s->y->in[0];
    rd_sort_facts  facts = { .what = RD_SORT_PLACES, .descending = s->y->as.sort->descending };
    int64_t        extent[RD_MAX_RANK];

    memcpy(extent, x->extent, (size_t)x->rank * sizeof *extent);
    extent[x->rank - 1] = n;
    return rd_node(&(rd_expr){ .ctx    = s->ctx,
                               .kind   = RD_EXPR_SORT,
                               .type   = RD_I64,
                               .rank   = x->rank,
                               .n_in   = 1,
                               .extent = extent,
                               .in     = s->y->in },
                   &facts, sizeof facts);
}

/* Returns the cotangent (the gradient of the scalar result) of the n sorted elements of each
 * row, from that of the quantiles, s->g. A quantile lies at a share `between` of the way from
 * sorted element `low` to `high`, so these get 1 - between and between of it; padding puts both
 * into place. f->n_q counts the quantiles, f->q has the share of each, and rd_quantile_at() says
 * where it lies among n elements by the method. g is the k-th column of s->g; rd_pad() has the
 * zeros before and after. NULL after a failure. */
static rd_expr *cotangent_of_order(const rd_grad_step *s, int64_t n)
{
    const rd_sort_facts *f    = s->y->as.sort;
    const int            last = s->y->rank - 1;
    rd_expr             *sum  = NULL;

    for (int64_t k = 0; k < f->n_q; k++) {
        const rd_quantile_place p     = rd_quantile_at((rd_quantile_method)f->method, f->q[k], n);
        rd_expr *const          g     = rd_slice_places(s->g, last, k, k + 1, 1);
        const int64_t           after = n - 1;
        rd_expr                *low, *high;

        if (!g)
            return NULL;
        low  = rd_pad(rd_mul(g, rd_num(s->ctx, 1 - p.between)), last, p.low, after - p.low,
                      RD_PAD_CONSTANT, /*value=*/NULL);
        high = rd_pad(rd_mul(g, rd_num(s->ctx, p.between)), last, p.high, after - p.high,
                      RD_PAD_CONSTANT, /*value=*/NULL);
        low  = p.between == 0 ? low : rd_add(low, high);
        sum  = sum ? rd_add(sum, low) : low;
        if (!sum)
            return NULL;
    }
    return sum;
}

/* Returns the tangent of the quantiles, how they change along the direction, from that of the n
 * sorted elements of each row. A quantile lies at a share `between` of the way from sorted
 * element `low` to `high`. NULL after a failure. f->q are the shares asked for; `between` 0
 * means that the quantile is element `low` itself. */
static rd_expr *tangent_of_quantiles(const rd_grad_step *s, rd_expr *sorted, int64_t n)
{
    const rd_sort_facts *f    = s->y->as.sort;
    const int            last = s->y->rank - 1;
    rd_expr             *y    = NULL;

    for (int64_t k = 0; sorted && k < f->n_q; k++) {
        const rd_quantile_place p    = rd_quantile_at((rd_quantile_method)f->method, f->q[k], n);
        rd_expr *const          low  = rd_slice_places(sorted, last, p.low, p.low + 1, 1);
        rd_expr *const          high = rd_slice_places(sorted, last, p.high, p.high + 1, 1);
        rd_expr *const          mean = p.between == 0 ? low
                                                      : rd_add(rd_mul(low, rd_num(s->ctx, 1 - p.between)),
                                                               rd_mul(high, rd_num(s->ctx, p.between)));

        y = y ? rd_concat(last, RD_EXPRS(y, mean)) : mean;
        if (!y)
            return NULL;
    }
    return y;
}

/* True if the number of elements that the sort counts is known now. Quantiles that skip NaN know
 * it only when they run, so their derivative is refused, which is recorded. */
static bool count_is_known(const rd_grad_step *s)
{
    if (s->y->as.sort->what != RD_SORT_QUANTILES || !s->y->as.sort->skip_nan)
        return true;
    rd_fail(s->ctx, RD_ERR_ARGUMENT,
            "%s: quantiles that skip NaN, or have a mask, have no derivative yet", s->call);
    return false;
}

/* Reverse mode of a sort or quantiles: the cotangent of a sorted element, the gradient with
 * respect to it, is added at the place that the element came from. Quantiles read all n sorted
 * elements, other sorts only the first ones of their result. False after a failure.
 * count_is_known() is false for quantiles that skip NaN. */
static bool pull_sort(rd_grad_step *s)
{
    const rd_expr *x         = s->y->in[0];
    const int      last      = x->rank - 1;
    const int64_t  n         = x->extent[last];
    const bool     quantiles = s->y->as.sort->what == RD_SORT_QUANTILES;

    if (!count_is_known(s))
        return false;
    s->change[0] = rd_grad_scatter(quantiles ? cotangent_of_order(s, n) : s->g, last,
                                   places_of(s, quantiles ? n : s->y->extent[last]), n);
    return s->change[0] != NULL;
}

/* Forward mode of a sort: returns the tangents of the elements, in the order in which the
 * elements are sorted (a gather by argsort); of quantiles, what lies between two of them. NULL
 * after a failure. count_is_known() is false for quantiles that skip NaN. */
static rd_expr *push_sort(rd_grad_step *s)
{
    const rd_expr *x         = s->y->in[0];
    const int      last      = x->rank - 1;
    const int64_t  n         = x->extent[last];
    const bool     quantiles = s->y->as.sort->what == RD_SORT_QUANTILES;
    rd_expr       *places, *sorted;

    if (!count_is_known(s))
        return NULL;
    places = places_of(s, quantiles ? n : s->y->extent[last]);
    sorted = places ? rd_take_places_along(s->change[0], last, places) : NULL;
    return quantiles ? tangent_of_quantiles(s, sorted, n) : sorted;
}

const rd_grad_rule rd_sort_grad = { pull_sort, push_sort };

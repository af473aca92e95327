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
static bool pull_take(rd_grad_step *s)
{
    rd_expr *const x = s->y->in[0], *const index = rd_with_origins(s->y->in[1], /*origin=*/NULL);
    const int axis = (int)s->y->as.axis->axis;

    if (!index)
        return false;
    if (s->y->as.axis->along)
        s->in[0] = rd_grad_scatter(s->g, axis, index, x->extent[axis]);
    else
        s->in[0] =
            rd_scatter_add(rd_with_origins(rd_grad_zeros(x), /*origin=*/NULL), axis, index, s->g);
    return s->in[0] != NULL;
}

/* Forward mode: the tangent of a gather is the gather of the tangent, by the same index. */
static rd_expr *push_take(rd_grad_step *s)
{
    rd_expr *const index = rd_with_origins(s->y->in[1], /*origin=*/NULL);
    const int      axis  = (int)s->y->as.axis->axis;

    return s->y->as.axis->along ? rd_take_places_along(s->in[0], axis, index)
                                : rd_take_places(s->in[0], axis, index);
}

const rd_grad_rule rd_take_grad = { pull_take, push_take };

/* ---- Sorts ----------------------------------------------------------------------------------- */
/* The places of the n first elements in sorted order, by a node like y. */
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

/* The cotangent of sorted rows from that of quantiles: a quantile lies at a share `between` of the
 * way from sorted element `low` to `high`. */
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

/* The tangent of quantiles from that of sorted rows. */
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

/* True if the rows have as many elements as the sort counts: quantiles that skip NaN do not know
 * how many until they run. */
static bool count_is_known(const rd_grad_step *s)
{
    if (s->y->as.sort->what != RD_SORT_QUANTILES || !s->y->as.sort->skip_nan)
        return true;
    rd_fail(s->ctx, RD_ERR_ARGUMENT,
            "%s: quantiles that skip NaN, or have a mask, have no derivative yet", s->call);
    return false;
}

/* Reverse mode: the cotangent of a sorted element is added at the place that it came from.
 * Quantiles (all) read all n sorted elements, other sorts the first ones of their result. */
static bool pull_sort(rd_grad_step *s)
{
    const rd_expr *x    = s->y->in[0];
    const int      last = x->rank - 1;
    const int64_t  n    = x->extent[last];
    const bool     all  = s->y->as.sort->what == RD_SORT_QUANTILES;

    if (!count_is_known(s))
        return false;
    s->in[0] = rd_grad_scatter(all ? cotangent_of_order(s, n) : s->g, last,
                               places_of(s, all ? n : s->y->extent[last]), n);
    return s->in[0] != NULL;
}

/* Forward mode: the tangents of elements, in the order in which these are sorted; of quantiles what
 * lies between two of them. NULL after a failure. */
static rd_expr *push_sort(rd_grad_step *s)
{
    const rd_expr *x    = s->y->in[0];
    const int      last = x->rank - 1;
    const int64_t  n    = x->extent[last];
    const bool     all  = s->y->as.sort->what == RD_SORT_QUANTILES;
    rd_expr       *places, *sorted;

    if (!count_is_known(s))
        return NULL;
    places = places_of(s, all ? n : s->y->extent[last]);
    sorted = places ? rd_take_places_along(s->in[0], last, places) : NULL;
    return all ? tangent_of_quantiles(s, sorted, n) : sorted;
}

const rd_grad_rule rd_sort_grad = { pull_sort, push_sort };

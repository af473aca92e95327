/* leaf_index.c - splits a flat index of a leaf into indices along its own axes, for dumps:
 *
 *     x0 of strides (5, 1):   5*i + j + 7    ->    x0[i+1,j+2] */
#include "eval/dump.h"
#include <stdlib.h>
#include <string.h>

/* A dim of the leaf.  Axes that are contiguous in memory become one dim if a loop runs through
 * both. */
typedef struct leaf_dim {
    int64_t      extent, step; /* in elements, positive */
    bool         reversed;     /* the stride is negative */
    int          axis;         /* of the leaf: the first of its axes */
    rd_subscript at;           /* the index along the dim */
} leaf_dim;

/* The dims of a leaf, by falling stride. */
typedef struct leaf_dims {
    int      n, over; /* a dim that is exceeded; -1: none, so the index cannot be split */
    int64_t  offset;  /* of the flat index, from the lowest address */
    leaf_dim dim[RD_MAX_RANK];
} leaf_dims;

/* Compares two dims for qsort(): by falling stride, then by axis. */
static int by_step(const void *a, const void *b)
{
    const leaf_dim *x = a, *y = b;

    return x->step != y->step ? (x->step < y->step) - (x->step > y->step) : x->axis - y->axis;
}

/* Compares two dims for qsort(): by axis of the leaf. */
static int by_axis(const void *a, const void *b)
{
    return ((const leaf_dim *)a)->axis - ((const leaf_dim *)b)->axis;
}

/* Lists the leaf's dims by falling stride, without dims of one index or stride 0. All strides are
 * made positive, so that the offset counts from the lowest address. d->dim lists them;
 * `reversed`: the stride is negative; by_step() sorts. */
static void find_dims(const rd_expr *leaf, const rd_subscript *flat, leaf_dims *d)
{
    int64_t dense[RD_MAX_RANK]; /* a leaf that another plan computed lies in C order */

    d->n      = 0;
    d->offset = flat->offset;
    rd_dense_strides(leaf->rank, leaf->extent, 0, dense);
    for (int a = 0; a < leaf->rank; a++) {
        const int64_t stride = leaf->kind == RD_EXPR_LEAF ? leaf->as.leaf->stride[a] : dense[a];

        if (leaf->extent[a] < 2 || stride == 0)
            continue;
        d->dim[d->n++] = (leaf_dim){
            .extent = leaf->extent[a], .step = llabs(stride), .reversed = stride < 0, .axis = a
        };
        d->offset += stride < 0 ? -stride * (leaf->extent[a] - 1) : 0;
    }
    qsort(d->dim, (size_t)d->n, sizeof *d->dim, by_step);
}

/* How often `step` goes into `rest`, rounded towards 0 or, with `nearest`, to the nearest: then
 * 9*i in rows of 10 becomes one row down and one element back. */
static int64_t times_in(int64_t rest, int64_t step, bool nearest)
{
    const int64_t by = nearest ? (rest < 0 ? -(step / 2) : step / 2) : 0;

    return (rest + by) / step;
}

/* Divides the coefficient of each term of the flat index by the strides, the largest first, and
 * adds the quotients to the dims' indices; false if a remainder is left. times_in() is how often
 * the stride `step` goes into the rest, rounded as `nearest` says. d->dim[k].at is the index of
 * dim k. */
static bool split_terms(const rd_subscript *flat, bool nearest, leaf_dims *d)
{
    for (int t = 0; t < flat->n_term; t++) {
        int64_t rest = flat->term[t].coef;

        for (int k = 0; k < d->n; k++) {
            rd_subscript *at   = &d->dim[k].at;
            const int64_t coef = times_in(rest, d->dim[k].step, nearest);

            rest -= coef * d->dim[k].step;
            if (coef) {
                at->term[at->n_term]        = flat->term[t];
                at->term[at->n_term++].coef = coef;
            }
        }
        if (rest)
            return false;
    }
    return true;
}

/* How far a term moves the index in all: its coefficient times the last index. A gathered index
 * (axis below 0) is below the extent that it is checked against. */
static int64_t reach_of(const rd_graph *g, const rd_subscript_term *term)
{
    const int64_t extent =
        term->axis >= 0 ? g->axis[term->axis].extent : g->value[term->value].value.i64;

    return extent > 1 ? term->coef * (extent - 1) : 0;
}

/* True if the index along a dim stays within its extent for all loop indices. reach_of() is how
 * far a term moves the index. */
static bool stays_inside(const rd_graph *g, const leaf_dim *d)
{
    int64_t lo = d->at.offset, hi = lo;

    for (int t = 0; t < d->at.n_term; t++) {
        const int64_t reach = reach_of(g, &d->at.term[t]);

        *(reach < 0 ? &lo : &hi) += reach;
    }
    return lo >= 0 && hi < d->extent;
}

/* Splits the flat index into one index per dim, by division by the strides. False if a remainder
 * is left, or the index along a dim (d->over, else -1) leaves its extent. Each offset is divided
 * first, from the largest step down, then each term. `nearest`: quotients of terms are rounded
 * to the nearest. */
static bool split_index(const rd_graph *g, const rd_subscript *flat, bool nearest, leaf_dims *d)
{
    int64_t rest = d->offset;

    d->over = -1;
    for (int k = 0; k < d->n; k++) {
        memset(&d->dim[k].at, 0, sizeof d->dim[k].at);
        d->dim[k].at.offset = rest / d->dim[k].step;
        rest -= d->dim[k].at.offset * d->dim[k].step;
    }
    if (rest || !split_terms(flat, nearest, d))
        return false;
    for (int k = 0; k < d->n; k++)
        if (!stays_inside(g, &d->dim[k]))
            d->over = k;
    return d->over < 0;
}

/* Merges the exceeded dim (d->over) with the slower one before it into one flat dim; false if they
 * are not contiguous. A reversed dim (of negative stride) is not merged. The merged dim counts
 * as the earlier axis of both. */
static bool merge(leaf_dims *d)
{
    leaf_dim *fast = &d->dim[d->over], *slow = fast - 1;

    if (d->over < 1 || fast->reversed || slow->reversed || slow->step != fast->step * fast->extent)
        return false;
    slow->extent *= fast->extent;
    slow->step = fast->step;
    slow->axis = slow->axis < fast->axis ? slow->axis : fast->axis;
    d->n--;
    memmove(fast, fast + 1, (size_t)(d->n - d->over) * sizeof *fast);
    return true;
}

/* Finds the subscripts of a leaf along each of its axes of more than one index from the flat index
 * of READ `read`; returns their number. Dims through which one loop runs are merged. -1: only the
 * flat index is known. Rounding to the nearest is tried first, then towards 0. A dim that is
 * exceeded (over) is merged with the one before; without one, the index cannot be split.
 * Reversed dims are counted from the other end. */
int rd_leaf_index(const rd_graph *g, const rd_value *read, rd_subscript *at)
{
    const rd_subscript *flat = &read->at[0];
    leaf_dims           d;

    find_dims(g->slot[read->slot].expr, flat, &d);
    while (!split_index(g, flat, /*nearest=*/true, &d) &&
           !split_index(g, flat, /*nearest=*/false, &d))
        if (d.over < 0 || !merge(&d))
            return -1;
    qsort(d.dim, (size_t)d.n, sizeof *d.dim, by_axis);
    for (int k = 0; k < d.n; k++) {
        at[k] = d.dim[k].at;
        if (!d.dim[k].reversed)
            continue;
        at[k].offset = d.dim[k].extent - 1 - at[k].offset;
        for (int t = 0; t < at[k].n_term; t++)
            at[k].term[t].coef = -at[k].term[t].coef;
    }
    return d.n;
}

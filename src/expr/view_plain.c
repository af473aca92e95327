/* view_plain.c - views of plain expressions: normalised, and composed so that a view of a view
 * is one view.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/plain.h"
#include <assert.h>
#include <string.h>

/* ---- One form, so that equal views have equal bytes ------------------------------------------ */
/* Sets those numbers of a view (offsets, then coefficients) to 0 that do not matter: those of axes
 * of extent 1, and all if there is no element.  So equal views are equal bytes and one node, and
 * numbers larger than an extent vanish, so that composing cannot overflow. */
static void normalise(const rd_expr *x, int rank, const int64_t *extent, int64_t *number)
{
    const bool none = rd_points(rank, extent) == 0;

    for (int a = 0; a < x->rank; a++) {
        int64_t *coef = number + x->rank + (ptrdiff_t)a * rank;
        if (none || x->extent[a] == 1)
            number[a] = 0;
        for (int k = 0; k < rank; k++)
            if (none || x->extent[a] == 1 || extent[k] == 1)
                coef[k] = 0;
    }
}

#ifndef NDEBUG
/* True if every element that the view reads is one of x: checks the lowest and the highest index
 * along each axis.  For assertions. */
static bool is_inside(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number)
{
    if (rd_points(rank, extent) == 0)
        return true;
    for (int a = 0; a < x->rank; a++) {
        __int128 low = number[a], high = number[a];
        for (int k = 0; k < rank; k++) {
            const __int128 last = (__int128)number[x->rank + a * rank + k] * (extent[k] - 1);
            *(last < 0 ? &low : &high) += last; /* the last index is an extreme */
        }
        if (low < 0 || high >= x->extent[a])
            return false;
    }
    return true;
}
#endif

/* Composes a view of a view: out = outer after inner, each as offsets and a matrix of coefficients
 * (a matrix product).  Partial sums are positions in an axis, or differences of two, as both views
 * stay inside; so they do not overflow. */
static void compose(const rd_expr *inner, int rank, const int64_t *outer, int64_t *out)
{
    const int      base = inner->in[0]->rank, middle = inner->rank;
    const int64_t *number = inner->as.view->number;

    for (int a = 0; a < base; a++) {
        const int64_t *coef = number + base + (ptrdiff_t)a * middle;
        out[a]              = number[a];
        for (int j = 0; j < middle; j++)
            out[a] += coef[j] * outer[j];
        for (int k = 0; k < rank; k++) {
            int64_t sum = 0;
            for (int j = 0; j < middle; j++)
                sum += coef[j] * outer[middle + j * rank + k];
            out[base + a * rank + k] = sum;
        }
    }
}

/* Makes the VIEW node; x is no view itself. */
static rd_expr *view_node(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                          const int64_t *origin)
{
    if (x->weak) /* only numbers of rank 0 may be weak */
        x = rd_number(x->ctx, x->type, x->as.number->value);
    return x ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                   .kind   = RD_EXPR_VIEW,
                                   .type   = x->type,
                                   .rank   = rank,
                                   .n_in   = 1,
                                   .extent = extent,
                                   .origin = origin,
                                   .in     = &x },
                       number, (size_t)(x->rank * (rank + 1)) * sizeof *number)
             : NULL;
}

/* ---- Rows in order ----------------------------------------------------------------------------- */
/* One more than the largest index along axis a of x that a view reads. */
static int64_t reach_of(const rd_expr *x, int a, int rank, const int64_t *extent,
                        const int64_t *number)
{
    int64_t last = number[a];

    for (int k = 0; k < rank; k++) {
        const int64_t coef = number[x->rank + a * rank + k];

        last += coef > 0 ? coef * (extent[k] - 1) : 0;
    }
    return last + 1;
}

/* Makes a SORT of which the view reads only a few first elements of each row one that finds just
 * these, a partial sort: "sort, then slice" becomes what rd_top_k() is.  Others, and a view of more
 * than 1/16 of a row, give x itself. */
static rd_expr *sort_of_reach(rd_expr *x, int rank, const int64_t *extent, const int64_t *number)
{
    enum { TIMES = 16 };
    const int axis = x->rank - 1;
    int64_t   own[RD_MAX_RANK];

    if (x->kind != RD_EXPR_SORT || x->as.sort->what == RD_SORT_QUANTILES ||
        rd_points(rank, extent) == 0)
        return x;
    memcpy(own, x->extent, (size_t)x->rank * sizeof *own);
    own[axis] = reach_of(x, axis, rank, extent, number);
    if (own[axis] > x->extent[axis] / TIMES)
        return x;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_SORT,
                               .type   = x->type,
                               .rank   = x->rank,
                               .n_in   = 1,
                               .extent = own,
                               .in     = x->in },
                   x->as.sort, x->as_size);
}

/* Makes a view of a plain x with these extents, numbers (offsets, then coefficients) and origins.
 * It is normalised, the identity is x itself, and a view of a view is composed. */
rd_expr *rd_plain_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                       const int64_t *origin)
{
    enum { ROOM = RD_MAX_RANK * (RD_MAX_RANK + 1) };
    int64_t own[ROOM], composed[ROOM];

    if (!x)
        return NULL;
    /* `own` is normalised below */
    memcpy(own, number, (size_t)(x->rank * (rank + 1)) * sizeof *own);
    assert(is_inside(x, rank, extent, own));
    normalise(x, rank, extent, own);
    x = sort_of_reach(x, rank, extent, own);
    if (!x)
        return NULL;
    origin = rd_somewhere(rank, origin);
    if (rd_is_whole_view(x, rank, extent, own) && rd_begins_at(x, origin))
        return x;
    if (x->kind != RD_EXPR_VIEW)
        return view_node(x, rank, extent, own, origin);
    compose(x, rank, own, composed);
    return rd_plain_view(x->in[0], rank, extent, composed, origin);
}

/* ---- By axes --------------------------------------------------------------------------------- */
/* Makes the affine view v of a plain (real, dense) x. */
rd_expr *rd_plain_affine(rd_expr *x, const rd_affine *v, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS];

    return rd_affine_numbers(v, x, call, number)
               ? rd_plain_view(x, v->rank, v->extent, number, v->origin)
               : NULL;
}

/* Broadcasts a plain (real, dense) x to a shape.  NULL after recording for `call` that it does not
 * fit. */
rd_expr *rd_plain_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS], origin[RD_MAX_RANK];

    if (!x || rd_has_shape(x, rank, extent))
        return x;
    return rd_broadcast_numbers(x, rank, extent, call, number, origin)
               ? rd_plain_view(x, rank, extent, number, origin)
               : NULL;
}

/* Makes a plain (dense, real) x whose axes begin at these indices (origins); NULL: all at 0.  It is
 * x if it has these already. */
rd_expr *rd_plain_from(rd_expr *x, const int64_t *origin)
{
    rd_affine v;

    return x && rd_affine_from(&v, x, origin) ? rd_plain_affine(x, &v, "rd_reindex") : x;
}

/* Fixes an axis of a plain (dense, real) x at a position, counted from 0; the result lacks the
 * axis. */
rd_expr *rd_plain_select(rd_expr *x, int axis, int64_t place)
{
    rd_affine v;

    return rd_plain_affine(x, rd_affine_selected(&v, x, axis, place, rd_affine_place), "rd_select");
}

/* A range of an axis of a plain (real, dense) x by positions from 0: start, start + step, ...
 * before stop. */
rd_expr *rd_plain_slice(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step)
{
    rd_affine v;

    return rd_plain_affine(x, rd_affine_sliced(&v, x, axis, start, stop, step, rd_affine_places),
                           "rd_slice_axis");
}

/* Puts the axes of a plain (real, dense) x in another order. */
rd_expr *rd_plain_permute(rd_expr *x, rd_index order)
{
    rd_affine v;

    return rd_plain_affine(x, rd_affine_permuted(&v, x, order), "rd_permute");
}

/* Inserts an axis of one element in a plain (real, dense) x. */
rd_expr *rd_plain_expand(rd_expr *x, int axis)
{
    rd_affine v;

    return rd_plain_affine(x, rd_affine_expanded(&v, x, axis), "rd_expand");
}

/* Removes axes of one element from a plain (real, dense) x. */
rd_expr *rd_plain_squeeze(rd_expr *x, rd_dims d)
{
    rd_affine v;

    return rd_plain_affine(x, rd_affine_squeezed(&v, x, d), "rd_squeeze");
}

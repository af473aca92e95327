/* affine.c - views by offsets and coefficients: built axis by axis, brought to one form,
 * composed. */
#include "expr/affine.h"
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <assert.h>
#include <string.h>

/* ---- Built axis by axis ---------------------------------------------------------------------- */
void rd_affine_also(rd_affine *v, int a, int k, int64_t coef)
{
    assert(v->n_step < 2 * RD_MAX_RANK);
    v->step[v->n_step++] = (rd_affine_step){ .of = a, .along = k, .coef = coef };
}

void rd_affine_axis(rd_affine *v, int64_t extent, int a, int64_t coef)
{
    const int k = v->rank++;

    if (k >= RD_MAX_RANK)
        return;
    v->extent[k] = extent;
    if (a >= 0)
        rd_affine_also(v, a, k, coef);
}

void rd_affine_whole(rd_affine *v, const rd_expr *x, int a)
{
    if (v->rank < RD_MAX_RANK)
        v->origin[v->rank] = rd_origin(x, a);
    rd_affine_axis(v, x->extent[a], a, 1);
}

/* A bound of a range in [low, high], counted from the end if negative. */
static int64_t cut(int64_t bound, int64_t extent, int64_t low, int64_t high)
{
    if (bound < 0)
        bound = bound < -extent ? low : bound + extent;
    return bound < low ? low : bound > high ? high : bound;
}

void rd_affine_places(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                      int64_t step)
{
    const int64_t extent = x->extent[a], low = step > 0 ? 0 : -1,
                  high = step > 0 ? extent : extent - 1;
    int64_t length, n = 0;

    if (start == RD_OPEN && stop == RD_OPEN && step == 1) {
        rd_affine_whole(v, x, a);
        return;
    }
    start  = start == RD_OPEN ? (step > 0 ? low : high) : cut(start, extent, low, high);
    stop   = stop == RD_OPEN ? (step > 0 ? high : low) : cut(stop, extent, low, high);
    length = step > 0 ? stop - start : start - stop;
    if (length > 0) /* a step of INT64_MIN has no opposite: divide by the negative one */
        n = step > 0 ? (length - 1) / step + 1 : 1 - (length - 1) / step;
    v->offset[a] = n > 0 ? start : 0;
    rd_affine_axis(v, n, a, n > 1 ? step : n == extent); /* all of an axis of one element or none */
}

bool rd_affine_place(rd_affine *v, const rd_expr *x, int a, int64_t place)
{
    const int64_t extent = x->extent[a];

    if (place < -extent || place >= extent)
        return false;
    v->offset[a] = place < 0 ? place + extent : place;
    return true;
}

/* ---- By indices of an axis --------------------------------------------------------------------- */
/* A bound of a range as a place.  What is below the axis is as far below 0 as nothing from the end
 * is. */
static int64_t place_of_bound(const rd_expr *x, int a, int64_t bound)
{
    int64_t place;

    if (bound == RD_OPEN || !rd_origin(x, a))
        return bound;
    if (__builtin_sub_overflow(bound, rd_origin(x, a), &place))
        return bound < 0 ? INT64_MIN + 1 : INT64_MAX;
    return place < 0 ? INT64_MIN + 1 : place;
}

void rd_affine_range(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                     int64_t step)
{
    rd_affine_places(v, x, a, place_of_bound(x, a, start), place_of_bound(x, a, stop), step);
}

bool rd_affine_select(rd_affine *v, const rd_expr *x, int a, int64_t i)
{
    const int64_t place = place_of_bound(x, a, i);

    return (place >= 0 || !rd_origin(x, a)) && rd_affine_place(v, x, a, place);
}

rd_expr *rd_affine_view(rd_expr *x, const rd_affine *v, const char *call)
{
    int64_t number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    char    text[RD_SHAPE_TEXT];

    if (!rd_operands(call, 1, &x))
        return NULL;
    if (v->rank > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "%s: the result would have rank %d, at most %d are possible", call, v->rank,
                       RD_MAX_RANK);
    if (rd_points(v->rank, v->extent) < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the size of the result overflows, shape %s", call,
                       rd_shape_text(v->rank, v->extent, text));
    memcpy(number, v->offset, (size_t)x->rank * sizeof *number);
    memset(number + x->rank, 0, (size_t)(x->rank * v->rank) * sizeof *number);
    for (int k = 0; k < v->n_step; k++)
        number[x->rank + v->step[k].of * v->rank + v->step[k].along] = v->step[k].coef;
    return rd_view(x, v->rank, v->extent, number, v->origin);
}

/* ---- One form, so that equal views have equal bytes ------------------------------------------ */
/* Index 0 of an axis of extent 1 says nothing: its numbers become 0, as do all where there is no
 * element.  With them go all numbers larger than an extent: composing cannot overflow. */
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
/* Is every element of the result one of x? */
static bool inside(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number)
{
    if (rd_points(rank, extent) == 0)
        return true;
    for (int a = 0; a < x->rank; a++) {
        __int128 low = number[a], high = number[a];
        for (int k = 0; k < rank; k++) {
            const __int128 last = (__int128)number[x->rank + a * rank + k] * (extent[k] - 1);
            *(last < 0 ? &low : &high) += last;
        }
        if (low < 0 || high >= x->extent[a])
            return false;
    }
    return true;
}
#endif

static bool begins_at(const rd_expr *x, const int64_t *origin)
{
    for (int a = 0; a < x->rank; a++)
        if (rd_origin(x, a) != (origin ? origin[a] : 0))
            return false;
    return true;
}

/* Is each place of it the same place of x? */
static bool is_identity(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number)
{
    if (rank != x->rank ||
        (rank > 0 && memcmp(extent, x->extent, (size_t)rank * sizeof *extent) != 0))
        return false;
    if (rd_points(rank, extent) == 0)
        return true;
    for (int a = 0; a < rank; a++) {
        if (number[a] != 0)
            return false;
        for (int k = 0; k < rank; k++)
            if (number[rank + a * rank + k] != (a == k && extent[a] > 1))
                return false;
    }
    return true;
}

/* outer is a view of inner, a view: out becomes the same view of what inner is a view of.  Partial
 * sums are positions inside an axis, or differences of two, as both views stay inside. */
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

rd_expr *rd_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                 const int64_t *origin)
{
    enum { ROOM = RD_MAX_RANK * (RD_MAX_RANK + 1) };
    int64_t own[ROOM], composed[ROOM];

    if (!x)
        return NULL;
    if (rd_is_complex(x))
        return rd_complex_of(rd_view(x->in[0], rank, extent, number, origin),
                             rd_view(x->in[1], rank, extent, number, origin), "rd_view");
    memcpy(own, number, (size_t)(x->rank * (rank + 1)) * sizeof *own);
    assert(inside(x, rank, extent, own));
    normalise(x, rank, extent, own);
    origin           = rd_somewhere(rank, origin);
    const bool whole = is_identity(x, rank, extent, own);
    if (whole && begins_at(x, origin))
        return x;
    if (rd_has_pattern(x))
        return whole ? rd_sparse_from(x, origin) : rd_sparse_view(x, rank, extent, number, origin);
    if (x->kind == RD_EXPR_VIEW) {
        compose(x, rank, own, composed);
        return rd_view(x->in[0], rank, extent, composed, origin);
    }
    if (x->weak) /* only numbers of rank 0 take the type of what they meet */
        x = rd_cast_to(x, x->type);
    if (!x)
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_VIEW,
                               .type   = x->type,
                               .rank   = rank,
                               .n_in   = 1,
                               .extent = extent,
                               .origin = origin,
                               .in     = &x },
                   own, (size_t)(x->rank * (rank + 1)) * sizeof *own);
}

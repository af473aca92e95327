/* sparse_views.c - views of sparse expressions: the views of their values and fills.
 * Coordinates stay with their axes.
 *
 * Words. An expression is real if it is not complex. A plain expression is real and dense. The
 * origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/plain.h"
#include "expr/sparse.h"
#include <string.h>

/* An affine view of x with `rank` axes, while it is made. */
typedef struct sparse_view {
    const rd_expr *x; /* the SPARSE */
    int            rank;
    const int64_t *extent, *number; /* `rank` extents; offsets, then coefficients (rd_view) */
    int            n;               /* coordinates that stay */
    rd_expr       *coord[RD_MAX_RANK];
    int64_t        axis[RD_MAX_RANK]; /* of the view, by coordinate */
    uint64_t       taken;             /* bit k: axis k of the view has a coordinate */
} sparse_view;

/* How many indices axis `a` of x advances for a step along axis k of the view (s->number: offsets,
 * then this matrix). */
static int64_t coef(const sparse_view *s, int a, int k)
{
    return s->number[s->x->rank + a * s->rank + k];
}

/* The axis of the view that is all of axis a of x, unchanged; -1: there is none.  If x has one
 * element along it, its coefficient only shows which axis of the view is meant, whatever its value
 * (-1 if flipped).  If several do, as in a window of one element, it is the first. */
static int whole_axis(const sparse_view *s, int a)
{
    const int64_t extent = s->x->extent[a];
    int           found  = -1;

    if (s->number[a] != 0)
        return -1;
    for (int k = 0; k < s->rank; k++) {
        /* Axes of the view that do not move along axis a are passed over. */
        if (coef(s, a, k) == 0 ||
            (extent == 1 ? s->extent[k] != 1 || found >= 0 : s->extent[k] == 1))
            continue;
        if (found >= 0 || s->extent[k] != extent || (extent > 1 && coef(s, a, k) != 1))
            return -1;
        found = k;
    }
    return found;
}

/* Finds the coordinates of the view: each stays with its axis.  One along an axis of extent 1 is
 * dropped if the view lacks the axis or repeats it.  False: the view changes a sparse axis, so
 * stored positions would change. */
static bool find_coords(sparse_view *s)
{
    for (int k = 0; k < rd_coords_of(s->x); k++) {
        const int  a    = (int)s->x->as.sparse->axis[k];
        const int  at   = whole_axis(s, a); /* its axis in the view */
        const bool free = at >= 0 && !(s->taken >> at & 1);

        if (!free && s->x->extent[a] == 1)
            continue;
        if (!free)
            return false;
        s->taken |= (uint64_t)1 << at;
        s->coord[s->n]  = s->x->in[2 + k];
        s->axis[s->n++] = at;
    }
    /* one coordinate must remain, as it tells whether there is a place */
    for (int k = s->rank; k-- > 0 && s->n == 0;)
        if (s->extent[k] == 1) {
            s->taken    = (uint64_t)1 << k;
            s->coord[0] = s->x->in[2];
            s->axis[0]  = k;
            s->n        = 1;
        }
    return s->n > 0;
}

/* Makes the view of the array of values: axis 0, which goes through the stored positions, then the
 * axes of the view without coordinates.  NULL if there is none: too many axes, or an axis with
 * coordinates that also moves along a dense one. */
static rd_expr *view_of_values(const sparse_view *s)
{
    rd_expr *const values = rd_values_of(s->x);
    int64_t        extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    int            place[RD_MAX_RANK], rank = 1, d = 0; /* d: axis of the values */

    extent[0] = values->extent[0];
    for (int k = 0; k < s->rank; k++) {
        /* the axis of the values that axis k of the view becomes; -1: it has a coordinate */
        place[k] = s->taken >> k & 1 ? -1 : rank;
        if (place[k] >= 0 && rank < RD_MAX_RANK)
            extent[rank] = s->extent[k];
        rank += place[k] >= 0;
    }
    if (rank > RD_MAX_RANK)
        return NULL;
    memset(number, 0, (size_t)(values->rank * (rank + 1)) * sizeof *number);
    number[values->rank] = 1;
    for (int a = 0; a < s->x->rank; a++) {
        if (rd_coord_of_axis(s->x, a) >= 0)
            continue;
        number[++d] = s->number[a];
        for (int k = 0; k < s->rank; k++) {
            if (place[k] < 0 && coef(s, a, k) != 0 && s->extent[k] > 1)
                return NULL;
            if (place[k] >= 0)
                number[values->rank + d * rank + place[k]] = coef(s, a, k);
        }
    }
    return rd_plain_view(values, rank, extent, number, /*origin=*/NULL);
}

/* Makes a view of a SPARSE from views of its values and its fill (the value where nothing is
 * stored).  If a sparse axis changes, x is made dense instead. */
static rd_expr *view_sparse(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                            const int64_t *origin)
{
    sparse_view    s      = { .x = x, .rank = rank, .extent = extent, .number = number };
    rd_expr *const values = find_coords(&s) ? view_of_values(&s) : NULL;

    if (!values && rd_points(rank, extent) == 0)
        return rd_plain_view(rd_real_dense(x), rank, extent, number, origin);
    if (!values) /* such a view needs elements at all places */
        return rd_plain_view(rd_at_all_places(x, "rd_view"), rank, extent, number, origin);
    rd_expr *const fill = rd_plain_view(rd_fill_of(x), rank, extent, number, /*origin=*/NULL);
    return rd_sparse_from(rd_sparse_node(values, fill, rank, extent, s.n, s.coord, s.axis), origin);
}

/* Makes a view of a real x, plain (dense) or sparse: `number` has the offsets, then the
 * coefficients.  A sparse product that is computed on demand is computed first, unless the view is
 * all of it. */
rd_expr *rd_real_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                      const int64_t *origin)
{
    if (!x || (!rd_has_pattern(x) && !rd_is_later(x)))
        return rd_plain_view(x, rank, extent, number, origin);
    origin = rd_somewhere(rank, origin);
    if (rd_is_later(x) && rd_is_whole_view(x, rank, extent, number) && rd_begins_at(x, origin))
        return x;
    if (!(x = rd_listed(x)))
        return NULL;
    if (!rd_is_whole_view(x, rank, extent, number))
        return view_sparse(x, rank, extent, number, origin);
    return rd_begins_at(x, origin) ? x : rd_sparse_from(x, origin);
}

/* ---- By axes --------------------------------------------------------------------------------- */
/* Makes the affine view v of a real x; NULL after a failure. */
static rd_expr *affine(rd_expr *x, const rd_affine *v, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS];

    return rd_affine_numbers(v, x, call, number)
               ? rd_real_view(x, v->rank, v->extent, number, v->origin)
               : NULL;
}

/* Broadcasts a real x, plain or sparse, to a shape. */
rd_expr *rd_real_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS], origin[RD_MAX_RANK];

    if (!x || rd_has_shape(x, rank, extent))
        return x;
    return rd_broadcast_numbers(x, rank, extent, call, number, origin)
               ? rd_real_view(x, rank, extent, number, origin)
               : NULL;
}

/* Makes a real x whose axes begin at these indices (origins); NULL: all at 0. */
rd_expr *rd_real_from(rd_expr *x, const int64_t *origin)
{
    rd_affine v;

    return x && rd_affine_from(&v, x, origin) ? affine(x, &v, "rd_reindex") : x;
}

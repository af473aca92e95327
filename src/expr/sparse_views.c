/* sparse_views.c - views of sparse expressions: of their values and fills, while coordinates stay with
 * their axes. */
#include "expr/plain.h"
#include "expr/sparse.h"
#include <string.h>

/* A view by offsets and coefficients, of x to `rank` axes. */
typedef struct seen {
    const rd_expr *x;
    int            rank;
    const int64_t *extent, *number;
    int            n; /* coordinates that stay    */
    rd_expr       *coord[RD_MAX_RANK];
    int64_t        axis[RD_MAX_RANK];
    uint64_t       taken; /* axes of the view along which they are */
} seen;

static int64_t coef(const seen *s, int a, int k)
{
    return s->number[s->x->rank + a * s->rank + k];
}

/* The axis of the view that is all of axis a, as it is; -1: there is none.  An axis of one element
 * is told from others of one element by its coefficient, which only says which one it is: -1 where
 * it is flipped.  Of several, as of a window of one element, it is the first. */
static int whole_axis(const seen *s, int a)
{
    const int64_t extent = s->x->extent[a];
    int           found  = -1;

    if (s->number[a] != 0)
        return -1;
    for (int k = 0; k < s->rank; k++) {
        if (coef(s, a, k) == 0 ||
            (extent == 1 ? s->extent[k] != 1 || found >= 0 : s->extent[k] == 1))
            continue;
        if (found >= 0 || s->extent[k] != extent || (extent > 1 && coef(s, a, k) != 1))
            return -1;
        found = k;
    }
    return found;
}

/* Coordinates stay with their axes.  Those along an axis of one element that the view has not, or
 * that it repeats, say nothing and are left out. */
static bool find_coords(seen *s)
{
    for (int k = 0; k < rd_coords_of(s->x); k++) {
        const int  a    = (int)s->x->as.sparse->axis[k];
        const int  at   = whole_axis(s, a);
        const bool free = at >= 0 && !(s->taken >> at & 1);

        if (!free && s->x->extent[a] == 1)
            continue;
        if (!free)
            return false;
        s->taken |= (uint64_t)1 << at;
        s->coord[s->n]  = s->x->in[2 + k];
        s->axis[s->n++] = at;
    }
    for (int k = s->rank; k-- > 0 && s->n == 0;) /* one of them says whether there is a place */
        if (s->extent[k] == 1) {
            s->taken    = (uint64_t)1 << k;
            s->coord[0] = s->x->in[2];
            s->axis[0]  = k;
            s->n        = 1;
        }
    return s->n > 0;
}

/* The same view of the values: their first axis, then those of the view that the pattern lacks. */
static rd_expr *values_seen(const seen *s)
{
    rd_expr *const values = rd_values_of(s->x);
    int64_t        extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    int            place[RD_MAX_RANK], rank = 1, d = 0;

    extent[0] = values->extent[0];
    for (int k = 0; k < s->rank; k++) {
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
    return rd_plain_view(values, rank, extent, number, NULL);
}

static rd_expr *view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                     const int64_t *origin)
{
    seen           s      = { .x = x, .rank = rank, .extent = extent, .number = number };
    rd_expr *const values = find_coords(&s) ? values_seen(&s) : NULL;

    if (!values && rd_points(rank, extent) == 0)
        return rd_plain_view(rd_real_dense(x), rank, extent, number, origin);
    if (!values) /* stored places are those of an array that is looked at in another way */
        return rd_plain_view(rd_at_all_places(x, "rd_view"), rank, extent, number, origin);
    rd_expr *const fill = rd_plain_view(rd_fill_of(x), rank, extent, number, NULL);
    return rd_sparse_from(rd_sparse_node(values, fill, rank, extent, s.n, s.coord, s.axis), origin);
}

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
        return view(x, rank, extent, number, origin);
    return rd_begins_at(x, origin) ? x : rd_sparse_from(x, origin);
}

/* ---- By axes --------------------------------------------------------------------------------- */
static rd_expr *affine(rd_expr *x, const rd_affine *v, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS];

    return rd_affine_numbers(v, x, call, number)
               ? rd_real_view(x, v->rank, v->extent, number, v->origin)
               : NULL;
}

rd_expr *rd_real_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call)
{
    int64_t number[RD_VIEW_NUMBERS], origin[RD_MAX_RANK];

    if (!x || rd_has_shape(x, rank, extent))
        return x;
    return rd_broadcast_numbers(x, rank, extent, call, number, origin)
               ? rd_real_view(x, rank, extent, number, origin)
               : NULL;
}

rd_expr *rd_real_from(rd_expr *x, const int64_t *origin)
{
    rd_affine v;

    return x && rd_affine_from(&v, x, origin) ? affine(x, &v, "rd_reindex") : x;
}

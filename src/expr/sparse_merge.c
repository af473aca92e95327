/* sparse_merge.c - operands whose patterns differ brought to one: the places of any of them, or
 * those that all of them have.
 *
 * Places ascend, so one pass over two patterns makes that of both, and another one says which
 * element of an operand is at each place.  So an operand's values are gathered, and what it lacks
 * is its fill. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <string.h>

/* Coordinates as they lie in memory.  A place is one number in C order of its coordinates' axes, which
 * there is for any shape. */
typedef struct places {
    int64_t     n;
    int         n_coord;
    bool        pair; /* two coordinates, both i32 */
    const void *row[RD_MAX_RANK];
    bool        wide[RD_MAX_RANK]; /* i64, not i32 */
    int64_t     extent[RD_MAX_RANK];
} places;

typedef struct merging {
    const char *call;
    bool        both; /* places that both have; else those of any */
    places      a, b;
} merging;

static places places_of(const rd_expr *x, rd_expr *const *coord)
{
    places p = { .n = coord[0]->extent[0], .n_coord = rd_coords_of(x) };

    for (int k = 0; k < p.n_coord; k++) {
        p.row[k]    = coord[k]->as.leaf->data;
        p.wide[k]   = coord[k]->type == RD_I64;
        p.extent[k] = x->extent[x->as.sparse->axis[k]];
    }
    p.pair = p.n_coord == 2 && !p.wide[0] && !p.wide[1];
    return p;
}

static int64_t coord_at(const places *p, int k, int64_t place)
{
    return p->wide[k] ? ((const int64_t *)p->row[k])[place] : ((const int32_t *)p->row[k])[place];
}

/* The number of place i, above all where there is none.  pair: p->pair, which a loop knows
 * before. */
static inline int64_t number_at(const places *p, bool pair, int64_t i)
{
    int64_t number = 0;

    if (i >= p->n)
        return INT64_MAX;
    if (pair)
        return ((const int32_t *)p->row[0])[i] * p->extent[1] + ((const int32_t *)p->row[1])[i];
    for (int k = 0; k < p->n_coord; k++)
        number = number * p->extent[k] + coord_at(p, k, i);
    return number;
}

static inline void put_place(const places *from, bool pair, int64_t i, const places *to,
                             void *const *room, int64_t n)
{
    for (int k = 0; k < to->n_coord && !pair; k++)
        if (to->wide[k])
            ((int64_t *)room[k])[n] = coord_at(from, k, i);
        else
            ((int32_t *)room[k])[n] = (int32_t)coord_at(from, k, i);
    for (int k = 0; k < 2 && pair; k++)
        ((int32_t *)room[k])[n] = ((const int32_t *)from->row[k])[i];
}

/* How many places there are; they are written if there is room. */
static inline int64_t merge_as(const merging *m, bool pair, const places *to, void *const *room)
{
    const places a = m->a, b = m->b;
    const bool   both = m->both;
    int64_t      i = 0, j = 0, n = 0;

    while (both ? i < a.n && j < b.n : i < a.n || j < b.n) {
        const int64_t x = number_at(&a, pair, i), y = number_at(&b, pair, j);

        if (to && (x == y || !both))
            put_place(x <= y ? &a : &b, pair, x <= y ? i : j, to, room, n);
        n += x == y || !both;
        i += x <= y;
        j += y <= x;
    }
    return n;
}

static int64_t merge(const merging *m, const places *to, void *const *room)
{
    if (m->a.pair && m->b.pair && (!to || to->pair)) /* rows of i32 that are given may be long */
        return to ? merge_as(m, true, to, room) : merge_as(m, true, NULL, NULL);
    return merge_as(m, false, to, room);
}

/* Rows for so many places along the axes of x, whose node has room for their list. */
static bool make_rows(const merging *m, const rd_expr *x, int n_coord, int64_t n, rd_expr **coord,
                      void **room)
{
    for (int k = 0; k < n_coord; k++) {
        const int64_t extent = x->extent[x->as.sparse->axis[k]];

        coord[k] = k == 0 ? rd_first_row(x->ctx, n, extent, &room[k], m->call)
                          : rd_index_row(x->ctx, n, extent <= INT32_MAX, &room[k], m->call);
        if (!coord[k])
            return false;
    }
    return true;
}

/* `coord` becomes the coordinates of both it and x. */
static bool merge_with(merging *m, const rd_expr *x, rd_expr **coord)
{
    const int n_coord           = rd_coords_of(x);
    rd_expr  *made[RD_MAX_RANK] = { x->in[2] }; /* one at least */
    void     *room[RD_MAX_RANK] = { NULL };
    places    to;

    m->a            = places_of(x, coord);
    m->b            = places_of(x, x->in + 2);
    const int64_t n = merge(m, NULL, NULL);
    if (n == m->a.n) /* one of them has them all, or no others: no rows are made */
        return true;
    if (n == m->b.n) {
        memcpy(coord, x->in + 2, (size_t)n_coord * sizeof *coord);
        return true;
    }
    if (!make_rows(m, x, n_coord, n, made, room))
        return false;
    to         = places_of(x, made);
    to.n_coord = n_coord;
    merge(m, &to, room);
    rd_row_ascends(made[0], x->extent[x->as.sparse->axis[0]]);
    memcpy(coord, made, (size_t)n_coord * sizeof *coord);
    return true;
}

/* ---- One operand at the places of all -------------------------------------------------------- */
/* For each place the number of another pattern's, -1: it has none.  How many it has. */
static inline int64_t locate_as(const places *all, const places *of, bool pair, bool narrow,
                                void *room)
{
    int64_t found = 0;

    for (int64_t p = 0, j = 0; p < all->n;) {
        const int64_t here = number_at(all, pair, p), there = number_at(of, pair, j);

        if (narrow)
            ((int32_t *)room)[p] = here == there ? (int32_t)j : -1;
        else
            ((int64_t *)room)[p] = here == there ? j : -1;
        found += here == there;
        p += here <= there;
        j += there <= here;
    }
    return found;
}

static rd_expr *locate(const places *all, const rd_expr *x, int64_t *found, const char *call)
{
    const places   of = places_of(x, x->in + 2), to = *all;
    const bool     narrow = of.n <= INT32_MAX;
    void          *room   = NULL;
    rd_expr *const index  = rd_index_row(x->ctx, to.n, narrow, &room, call);

    if (!index)
        return NULL;
    *found = narrow && to.pair && of.pair ? locate_as(&to, &of, true, true, room)
                                          : locate_as(&to, &of, false, narrow, room);
    return index;
}

static bool is_uniform(const rd_expr *fill)
{
    return fill && rd_varies(fill) == 0 && rd_points(fill->rank, fill->extent) > 0;
}

/* The fill of x at each place of a pattern. */
static rd_expr *fill_at(const rd_expr *pattern, const rd_expr *x, const char *call)
{
    rd_expr *fill = rd_fill_of(x);

    if (!is_uniform(fill))
        return rd_at_stored(pattern, fill, call);
    while (fill && fill->rank > 0)
        fill = rd_select_place(fill, 0, 0);
    return fill;
}

/* x with the places of `pattern`, a node of its shape. */
static rd_expr *at_places(const rd_expr *pattern, rd_expr *x, const char *call)
{
    rd_expr *const old = rd_values_of(x);
    const places   all = places_of(pattern, pattern->in + 2);
    int64_t        found, extent[RD_MAX_RANK];
    rd_expr       *values = NULL, *fill;

    if (rd_same_pattern(pattern, x))
        return x;
    rd_expr *const index = locate(&all, x, &found, call);
    if (!index)
        return NULL;
    if (old->extent[0] > 0)
        values =
            rd_take_places(old, 0, found < all.n ? rd_maximum(index, rd_int(x->ctx, 0)) : index);
    if (found < all.n) {
        if (!(fill = fill_at(pattern, x, call)))
            return NULL;
        rd_expr *const has = rd_ge(rd_column(index, old->rank), rd_int(x->ctx, 0));
        values             = old->extent[0] > 0 ? rd_where(has, values, fill) : fill;
    }
    memcpy(extent, old->extent, (size_t)old->rank * sizeof *extent);
    extent[0] = all.n;
    values = values ? rd_broadcast_to(rd_cast_to(values, x->type), old->rank, extent, call) : old;
    return rd_sparse_with(pattern, values, rd_fill_of(x));
}

/* ---- All operands ---------------------------------------------------------------------------- */
/* Are their places along the same axes? */
static bool is_like(const rd_expr *x, const rd_expr *y)
{
    bool is = rd_has_pattern(y) && rd_coords_of(x) == rd_coords_of(y) && x->rank == y->rank &&
              memcmp(x->extent, y->extent, (size_t)x->rank * sizeof *x->extent) == 0;

    for (int k = 0; is && k < rd_coords_of(x); k++)
        is = rd_coord_of_axis(y, (int)x->as.sparse->axis[k]) >= 0;
    return is;
}

/* And in the same order? */
static bool is_in_order(const rd_expr *x, const rd_expr *y)
{
    return memcmp(x->as.sparse, y->as.sparse, sizeof *x->as.sparse) == 0;
}

/* A node of x's shape that is true at these places: their pattern, and no more. */
static rd_expr *pattern_node(const rd_expr *x, rd_expr *const *coord)
{
    const rd_expr *const old = rd_values_of(x);
    int64_t              extent[RD_MAX_RANK];
    rd_expr             *values = rd_number(x->ctx, RD_BOOL, (rd_word){ .u64 = 1 });

    memcpy(extent, old->extent, (size_t)old->rank * sizeof *extent);
    extent[0] = coord[0]->extent[0];
    values    = values ? rd_broadcast_to(values, old->rank, extent, "rd_sparse") : NULL;
    return rd_sparse_node(values, NULL, x->rank, x->extent, rd_coords_of(x), coord,
                          x->as.sparse->axis);
}

bool rd_merge_patterns(const char *call, const rd_expr *lead, bool annihilates, int n, rd_expr **x)
{
    const bool stored             = !rd_fill_of(lead);
    merging    m                  = { .call = call, .both = stored || annihilates };
    rd_expr   *coord[RD_MAX_RANK] = { lead->in[2] }, *pattern; /* one at least */
    bool       differ             = false;

    for (int k = 0; k < n; k++) {
        if (is_like(lead, x[k]) && !is_in_order(lead, x[k]) &&
            !(x[k] = rd_sparse_ordered(lead, x[k], call)))
            return false;
        differ |= is_like(lead, x[k]) && !rd_same_pattern(lead, x[k]);
    }
    if (!differ)
        return true;
    memcpy(coord, lead->in + 2, (size_t)rd_coords_of(lead) * sizeof *coord);
    for (int k = 0; k < n; k++)
        if (is_like(lead, x[k]) && (!stored || !rd_fill_of(x[k])) && !merge_with(&m, x[k], coord))
            return false;
    if (!(pattern = pattern_node(lead, coord)))
        return false;
    for (int k = 0; k < n; k++)
        if (is_like(pattern, x[k]) && !(x[k] = at_places(pattern, x[k], call)))
            return false;
    return true;
}

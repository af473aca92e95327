/* point_loads.c - loads of pairs of points come from arrays in shared memory:
 *
 *     r0 = load s0[3*i0 + i1]       becomes       r0 = load a3[4*i1 + i0 - m0] by 4
 *     r1 = load s0[3*i2 + i1]                     r1 = load a4[132*i1 + i2 - m2] by 4
 *
 * Here i0 is a result, i2 a point: a3 has the elements of a thread's results, a4 a tile of
 * points.  Rows of a tile lie 16 bytes further apart than a tile is long.  So elements of a point
 * lie in different banks, and vectors stay aligned.  Loads of the same elements share an array.
 *
 * A pair is a result and a point.  A tile is a range of points in shared memory, from the mark m2
 * on; m0 is the first result of a thread.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/gpu/point_tiles.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"
#include <stdlib.h>

/* Bytes of a vector access. */
enum { VECTOR = 16 };

/* Returns the position of a mark: an axis of the tree bound to the first index of a range, or to
 * the one behind its last. */
static rd_linear mark(rd_schedule *t, int32_t axis)
{
    return rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, axis);
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* True if the statement loads from memory of the program: the value has a slot (buffer). Loads
 * from arrays of the tree have slot -1. */
static bool is_load(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_LOAD && let->slot >= 0;
}

/* Lists in a->axis the axes along which the address moves inside a pair (a result and a point),
 * such as the coordinates of a point. The axes of points and of results do not count, nor do
 * values read at run time (axis < 0). */
static void find_axes(const rd_point_tiling *s, rd_point_load *a, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n && a->n < RD_MAX_RANK; k++) {
        const int32_t axis = s->t->term[at->first + k].axis;

        if (axis >= 0 && axis != s->points && rd_loop_over(s->t, s->pairs, axis) >= 0 &&
            axis != s->vector_axis)
            a->axis[a->n++] = axis;
    }
}

/* Returns how many elements of one point, or of one result, the array has: the product of the
 * extents of the axes inside a pair. 3 for points with 3 coordinates. */
static int64_t elements_of(const rd_point_tiling *s, const rd_point_load *a)
{
    int64_t n = 1;

    for (int32_t k = 0; k < a->n; k++)
        n *= s->t->p->axis_extent[a->axis[k]];
    return n;
}

/* Returns the array that already has the elements of this load, as another load names the same
 * address; NULL: there is none. */
static const rd_point_load *find_same(const rd_point_tiling *s, const rd_tree_value *let)
{
    for (int32_t k = 0; k < s->n; k++) {
        const rd_tree_value *other = rd_let_of(s->t, s->at[k].load);

        if (other->slot == let->slot && other->type == let->type &&
            rd_linear_same(s->t, &other->at, &let->at))
            return &s->at[k];
    }
    return NULL;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */
/* Returns the elements from a row of a tile to the next row. A row has one element of each point
 * of the tile; 16 bytes more put rows in different banks. */
static int64_t pitch_of(const rd_point_tiling *s, rd_dtype type)
{
    return s->plan->tile_points + VECTOR / rd_dtype_size(type);
}

/* Adds an array in shared memory for a load: with elements of the results of each thread
 * (`row`), or of the points of a tile. It begins at byte s->bytes of the block's shared memory,
 * a multiple of 16. NULL: there are more than RD_MOST_POINT_LOADS arrays, or no memory. */
static const rd_point_load *add_array(rd_point_tiling *s, int32_t stmt, bool row)
{
    const rd_dtype type  = rd_let_of(s->t, stmt)->type;
    const int64_t  size  = rd_dtype_size(type);
    rd_point_load *a     = &s->at[s->n];
    rd_tree_array  store = {
         .storage = RD_IN_BLOCK, .type = type, .memory = true, .fold = -1, .byte_offset = s->bytes
    };
    int64_t n;

    if (s->n == RD_MOST_POINT_LOADS) {
        s->t->failed = true;
        return NULL;
    }
    *a = (rd_point_load){ .row = row };
    find_axes(s, a, &rd_let_of(s->t, stmt)->at);
    n                = elements_of(s, a);
    store.per_thread = row ? s->plan->width : 0;
    store.extent     = n * (row ? s->plan->width : pitch_of(s, type));
    s->bytes += (store.extent * (row ? s->plan->threads : 1) * size + VECTOR - 1) / VECTOR * VECTOR;
    a->store = rd_add_store(s->t, &store);
    a->load  = rd_stmt_copy(s->t, stmt); /* the fill will use this copy */
    s->n++;
    return s->t->failed ? NULL : a;
}

/* Returns the subscript of an element in its array: 4*i1 + i0 - m0 of a thread's 4 results,
 * 132*i1 + i2 - m2 of points. i1 is an axis inside a pair; m0 and m2 are marks, bound to the
 * first result of the thread and to the first point of the tile. */
static rd_linear place_in_array(const rd_point_tiling *s, const rd_point_load *a)
{
    const int32_t axis = a->row ? s->vector_axis : s->points, start = a->row ? s->item : s->tile;
    int64_t       coef = a->row ? s->plan->width : pitch_of(s, s->t->store[a->store].type);
    rd_linear     at   = rd_linear_of(0);

    for (int32_t k = a->n; k-- > 0;) {
        at = rd_linear_plus_axis(s->t, at, coef, a->axis[k]);
        coef *= s->t->p->axis_extent[a->axis[k]];
    }
    at = rd_linear_plus_axis(s->t, at, /*coef=*/1, axis);
    return rd_linear_plus_axis(s->t, at, /*coef=*/-1, start);
}

/* Redirects a load to its array in shared memory, as a vector access. A load whose address moves
 * with the results (`row`), and one whose address moves with the points (`tile`), have arrays of
 * different shape. A load that moves with neither stays as it is. */
static void use_array(rd_point_tiling *s, int32_t stmt)
{
    const rd_tree_value let  = *rd_let_of(s->t, stmt);
    const bool          tile = rd_linear_coef(s->t, &let.at, s->points) != 0,
               row           = rd_linear_coef(s->t, &let.at, s->vector_axis) != 0;
    const rd_point_load *a   = find_same(s, &let);
    rd_linear            at;

    if (!tile && !row)
        return;
    a = a ? a : add_array(s, stmt, row);
    if (!a)
        return;
    at                                      = place_in_array(s, a);
    s->t->let[s->t->stmt[stmt].value].slot  = -1; /* no memory of the program any more */
    s->t->let[s->t->stmt[stmt].value].store = a->store;
    s->t->let[s->t->stmt[stmt].value].at    = at;
    s->t->stmt[stmt].vector_width           = row ? s->plan->width : s->plan->points_at_once;
}

/* Redirects all loads in the loop over pairs whose addresses move with the results or with the
 * points to arrays in shared memory. */
void rd_gpu_load_from_tiles(rd_point_tiling *s)
{
    for (int32_t k = s->pairs; k >= 0 && !s->t->failed; k = rd_next_stmt(s->t, k, s->pairs))
        if (is_load(s->t, k))
            use_array(s, k);
}

/* ---- Fills ----------------------------------------------------------------------------------- */
/* Appends the copy of one element to a body: "r7 = load ..; a4[..] = r7". The load moves `pack`
 * elements at once; 0: one. */
static void add_copy(const rd_point_tiling *s, const rd_point_load *a, int32_t body, int32_t pack)
{
    rd_stmt to_array = rd_stmt_of(RD_S_STORE);

    to_array.store                   = a->store;
    to_array.type                    = s->t->store[a->store].type;
    to_array.at                      = place_in_array(s, a);
    to_array.x                       = s->t->stmt[a->load].value;
    s->t->stmt[a->load].vector_width = pack;
    rd_append(s->t, body, a->load);
    rd_append(s->t, body, rd_add_stmt(s->t, &to_array));
}

/* Makes the statement of a loop. It stands nowhere yet: the caller puts it into a body. */
static int32_t add_loop(rd_schedule *t, const rd_for *loop)
{
    rd_stmt stmt = rd_stmt_of(RD_S_LOOP);

    stmt.arg = rd_add_for(t, loop);
    return rd_add_stmt(t, &stmt);
}

/* Adds nested loops over the elements of one point, inside the loop `outer` (-1: inside
 * nothing). Returns the innermost loop, or `outer` if a point has one element. *first becomes
 * the outermost one. */
static int32_t add_loops(const rd_point_tiling *s, const rd_point_load *a, int32_t outer,
                         int32_t *first)
{
    for (int32_t k = 0; k < a->n && !s->t->failed; k++) {
        const rd_for  loop = rd_rounds_from(RD_FOR_SERIAL, a->axis[k], rd_linear_of(0),
                                            s->t->p->axis_extent[a->axis[k]]);
        const int32_t made = add_loop(s->t, &loop);

        if (outer >= 0)
            rd_append(s->t, outer, made);
        *first = *first < 0 ? made : *first;
        outer  = made;
    }
    return outer;
}

/* True if vectors of `pack` elements are aligned wherever a tile begins, provided that the data
 * are. So the offset, and the coefficient of each axis outside a pair (a result and a point),
 * must be multiples of `pack`. */
static bool are_vectors_aligned(const rd_point_tiling *s, const rd_point_load *a,
                                const rd_linear *at, int32_t pack)
{
    bool aligned = at->offset % pack == 0;

    for (int32_t k = 0; k < at->n; k++) {
        bool inner = s->t->term[at->first + k].axis == s->points;

        for (int32_t j = 0; j < a->n; j++)
            inner |= a->axis[j] == s->t->term[at->first + k].axis;
        aligned &= inner || s->t->term[at->first + k].coef % pack == 0;
    }
    return aligned;
}

/* Returns how many elements of a tile one load of the fill moves; 0: it loads one by one. Either
 * adjacent points have adjacent elements (stride 1: `dense`), and all other strides are
 * multiples of the vector. Or a point's elements are contiguous and points follow each other
 * without gaps: then the stride of a point is the number of its elements. */
static int32_t vector_width_of(const rd_point_tiling *s, const rd_point_load *a)
{
    const rd_tree_value *let          = rd_let_of(s->t, a->load);
    const int64_t        point_stride = rd_linear_coef(s->t, &let->at, s->points);
    int32_t              n            = s->plan->vector_bytes / rd_dtype_size(let->type);
    bool                 dense        = point_stride == 1;

    n = n < s->plan->max_width ? n : s->plan->max_width;
    for (int32_t k = 0; k < a->n; k++)
        dense &= rd_linear_coef(s->t, &let->at, a->axis[k]) % n == 0;
    if (!are_vectors_aligned(s, a, &let->at, n))
        return 0;
    return dense || (a->n == 1 && rd_linear_coef(s->t, &let->at, a->axis[0]) == 1 &&
                     point_stride == s->t->p->axis_extent[a->axis[0]])
               ? n
               : 0;
}

/* Adds a loop by all threads of the block that fills the array of a tile of points; `stop` is
 * the mark behind the tile's last point. Returns the loop, which stands nowhere yet. */
int32_t rd_gpu_fill_tile(const rd_point_tiling *s, const rd_point_load *a, int32_t stop)
{
    rd_for  loop = rd_rounds_from(RD_FOR_VECTOR, s->points, rd_linear_of(0), s->plan->tile_points);
    int32_t made, first = -1;

    loop.from     = rd_edge_of(mark(s->t, s->tile));
    loop.to       = rd_edge_of(mark(s->t, stop));
    loop.by_block = true;
    made          = add_loop(s->t, &loop);
    add_copy(s, a, add_loops(s, a, made, &first), vector_width_of(s, a));
    return made;
}

/* Adds loops that fill a thread's array with the elements of its results, up to `width` of them.
 * The loops over a result's elements stand around the one over results. Returns the outermost loop,
 * which stands nowhere yet. rd_binder_of() is the loop over items that binds the mark s->item. */
int32_t rd_gpu_fill_results(const rd_point_tiling *s, const rd_point_load *a)
{
    const rd_for *item = rd_loop_of(s->t, rd_binder_of(s->t, s->pairs, s->item));
    rd_for  loop = rd_rounds_from(RD_FOR_VECTOR, s->vector_axis, rd_linear_of(0), s->plan->width);
    int32_t body, made, first = -1;

    loop.width = item->width;
    loop.from  = rd_edge_of(mark(s->t, s->item));
    loop.to =
        rd_edge_of(mark(s->t, rd_loop_of(s->t, rd_binder_of(s->t, s->pairs, s->item))->stop_mark));
    body = add_loops(s, a, /*outer=*/-1, &first);
    made = add_loop(s->t, &loop);
    add_copy(s, a, made, /*pack=*/0);
    if (body < 0)
        return made;
    rd_append(s->t, body, made);
    return first;
}

/* pair_memory.c - the shared memory of pairs (pair_tiles.c): a tile of points, and what the
 * results of each thread bring.
 *
 * A tile has a row for each coordinate, in which successive points are adjacent.  Values of the
 * results lie likewise, in words of their own.
 *
 * A pair is a result and a point that it reads.  The strip is the axis of results. */
#include "kernels/cuda/strategy.h"

/* ---- What a load depends on ------------------------------------------------------------------ */
/* True if an instruction is in the loop over the points that every result reads. */
static bool is_inside(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_cuda_within(s->p, inst, s->pairs);
}

/* Returns the axis of the points that every result reads. */
int32_t rd_cuda_pair_axis(const rd_cuda_strategy *s)
{
    return s->p->loop[s->pairs].axis;
}

/* True if a loop inside the loop over points goes over the axis, such as one over coordinates. */
static bool is_inner_axis(const rd_cuda_strategy *s, int32_t axis)
{
    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->p->loop[k].axis == axis && is_inside(s, s->p->loop[k].begin))
            return true;
    return false;
}

/* True if a load depends on the result, not on the point: its address moves along the axis of
 * results (strip). may_load() has refused loads that depend on both. */
bool rd_cuda_is_result_load(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_coef(&s->p->address[s->p->inst[inst].arg], s->neighbour_axis) != 0;
}

/* Returns how many elements of an operand each point (or result) has: the product of the extents
 * of the loops inside a pair, such as one over coordinates. */
static int64_t elements_of(const rd_cuda_strategy *s, const rd_address *at)
{
    int64_t n = 1;

    for (int32_t k = 0; k < at->n_add; k++)
        if (is_inner_axis(s, at->add[k].axis))
            n *= s->p->axis_extent[at->add[k].axis];
    return n;
}

/* Returns the elements from one row of a tile to the next; a row has one coordinate of all the
 * tile's points. Rows are 16 bytes longer than that: so the coordinates of a point are in
 * different banks, and vectors are aligned. */
static int64_t pitch_of(const rd_cuda_strategy *s, const rd_address *at)
{
    return s->point_tile + 16 / rd_dtype_size(at->type);
}

/* Returns the shared memory of a block of threads for one tile of points: the arrays of all
 * loads from there. tile_load[i] == i marks the first load of each array. An operand of the
 * results has an element for each result of the block; one of the points a row for each
 * coordinate. */
int64_t rd_cuda_pair_tile_bytes(const rd_cuda_strategy *s)
{
    const rd_program *p     = s->p;
    int64_t           bytes = 0;

    for (int32_t i = p->loop[s->pairs].begin; i < p->loop[s->pairs].end; i++) {
        if (s->tile_load[i] != i)
            continue;
        const rd_address *at = &p->address[p->inst[i].arg];
        const int64_t     n  = elements_of(s, at);

        bytes += rd_cuda_room(
            n * (rd_cuda_is_result_load(s, i) ? s->choice.block * s->width : pitch_of(s, at)) *
            rd_dtype_size(at->type));
    }
    return bytes;
}

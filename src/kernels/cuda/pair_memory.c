/* pair_memory.c - how much what pairs have in shared memory takes (pair_tiles.c): points, a tile of them at a time,
 * and what the results of each thread bring.
 *
 * A tile has a row for each coordinate, in which points that come one after the other lie side by
 * side; so has what a thread's results bring, in words of its own. */
#include "kernels/cuda/strategy.h"

/* ---- What a load hangs on -------------------------------------------------------------------- */
static bool is_inside(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_cuda_within(s->p, inst, s->pairs);
}

int32_t rd_cuda_pair_axis(const rd_cuda_strategy *s)
{
    return s->p->loop[s->pairs].axis;
}

/* Is it the axis of a loop in a pair? */
static bool is_inner_axis(const rd_cuda_strategy *s, int32_t axis)
{
    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->p->loop[k].axis == axis && is_inside(s, s->p->loop[k].begin))
            return true;
    return false;
}

bool rd_cuda_is_row(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_coef(&s->p->address[s->p->inst[inst].arg], s->strip) != 0;
}

/* Elements of an operand for each point. */
static int64_t elements_of(const rd_cuda_strategy *s, const rd_address *at)
{
    int64_t n = 1;

    for (int32_t k = 0; k < at->n_add; k++)
        if (is_inner_axis(s, at->add[k].axis))
            n *= s->p->axis_extent[at->add[k].axis];
    return n;
}

/* Rows of a tile lie 16 bytes further apart than it is long, so that elements of a point meet
 * different banks, and vectors of them begin where they may. */
static int64_t pitch_of(const rd_cuda_strategy *s, const rd_address *at)
{
    return s->point_tile + 16 / rd_dtype_size(at->type);
}

/* Bytes of shared memory of a block. */
int64_t rd_cuda_pair_tile_bytes(const rd_cuda_strategy *s)
{
    const rd_program *p     = s->p;
    int64_t           bytes = 0;

    for (int32_t i = p->loop[s->pairs].begin; i < p->loop[s->pairs].end; i++) {
        if (s->tile_load[i] != i)
            continue;
        const rd_address *at = &p->address[p->inst[i].arg];
        const int64_t     n  = elements_of(s, at);

        bytes +=
            rd_cuda_room(n * (rd_cuda_is_row(s, i) ? s->choice.block * s->width : pitch_of(s, at)) *
                         rd_dtype_size(at->type));
    }
    return bytes;
}

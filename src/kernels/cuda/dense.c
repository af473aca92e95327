/* dense.c - which elements lie densely in memory, and how many of them make a vector. */
#include "kernels/cuda/strategy.h"

/* Rows in shared memory are no accesses, except the load that fills a cached row. */
bool rd_cuda_is_access(const rd_cuda_strategy *s, int32_t i)
{
    const rd_inst *inst = &s->p->inst[i];

    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
           s->p->address[inst->arg].slot < s->p->first_scratch &&
           (s->cached_row[i] < 0 || s->fills_cache[i]) && s->staged_row_of[i] < 0;
}

/* True if one of the instructions [from, to) makes the register. */
bool rd_cuda_is_made_in(const rd_program *p, int32_t reg, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (reg >= p->inst[i].dst && reg < p->inst[i].dst + rd_inst_makes(p, &p->inst[i]))
            return true;
    return false;
}

/* Registers of an address must be the same for all neighbours: made outside of the instructions. */
bool rd_cuda_is_dense_for(const rd_cuda_strategy *s, int32_t i, int32_t axis, int32_t from,
                          int32_t to)
{
    const rd_address *at = &s->p->address[s->p->inst[i].arg];

    if (!rd_cuda_is_access(s, i) || rd_coef(at, axis) != 1)
        return false;
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 && rd_cuda_is_made_in(s->p, at->add[k].reg, from, to))
            return false;
    return true;
}

/* Takes the axis and the body of a loop. */
bool rd_cuda_is_dense(const rd_cuda_strategy *s, int32_t inst, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    return rd_cuda_is_dense_for(s, inst, l->axis, l->begin, l->end);
}

/* Offset and all strides of other axes must be multiples of the vector. */
bool rd_cuda_is_aligned(const rd_address *at, int32_t axis, int32_t wide)
{
    bool is = at->offset % wide == 0;

    for (int32_t k = 0; k < at->n_add; k++)
        is &= at->add[k].axis == axis || at->add[k].coef % wide == 0;
    return is;
}

/* Searches the folds with a step in the loop. */
const rd_address *rd_cuda_lanes_along(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    for (int32_t k = 0; s->distributed[loop] && k < s->p->n_fold; k++)
        if (s->fold[k].threads_are_lanes && s->fold[k].step > l->begin && s->fold[k].step < l->end)
            return &s->p->fold[k].lane;
    return NULL;
}

int32_t rd_cuda_size_of(const rd_cuda_strategy *s, int32_t i)
{
    return rd_dtype_size(s->p->address[s->p->inst[i].arg].type);
}

/* Limited by the bytes and by the elements of a vector. */
int32_t rd_cuda_vector_width(const rd_cuda_strategy *s, int32_t size)
{
    const int32_t wide = s->choice.vector / size;

    return wide < s->choice.most_wide ? wide : s->choice.most_wide;
}

/* Lanes along the loop must be aligned, too. */
bool rd_cuda_is_vector_access(const rd_cuda_strategy *s, int32_t i, int32_t loop, int32_t wide)
{
    const rd_loop    *l    = &s->p->loop[loop];
    const rd_address *lane = rd_cuda_lanes_along(s, loop);

    return rd_cuda_is_dense(s, i, loop) &&
           rd_cuda_is_aligned(&s->p->address[s->p->inst[i].arg], l->axis, wide) &&
           (!lane || rd_cuda_is_aligned(lane, l->axis, wide));
}

int32_t rd_cuda_smaller_size(int32_t a, int32_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Searches all accesses of the loop. */
int32_t rd_cuda_least_along(const rd_cuda_strategy *s, int32_t loop)
{
    int32_t least = 0;

    for (int32_t i = s->p->loop[loop].begin + 1; i < s->p->loop[loop].end; i++)
        if (rd_cuda_is_vector_access(s, i, loop, 1))
            least = rd_cuda_smaller_size(least, rd_cuda_size_of(s, i));
    return least;
}

int32_t rd_cuda_vector_width_along(const rd_cuda_strategy *s, int32_t loop)
{
    const int32_t least = rd_cuda_least_along(s, loop);

    return least ? rd_cuda_vector_width(s, least) : 1;
}

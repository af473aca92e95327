/* dense.c - which elements lie densely in memory, and how many of them make a vector.
 *
 * An access is a LOAD or STORE of a program.  Lanes are partial accumulators of a fold, that is
 * of a reduction.
 *
 * Words. A team is the threads that do one item of work. */
#include "kernels/cuda/strategy.h"

/* True if instruction i loads from or stores to global memory. Scratch (slots from first_scratch
 * on), staged rows and rows cached in shared memory do not count; a load that fills a cached row
 * does. */
bool rd_cuda_is_access(const rd_cuda_strategy *s, int32_t i)
{
    const rd_inst *inst = &s->p->inst[i];

    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
           s->p->address[inst->arg].slot < s->p->first_scratch &&
           (s->cached_row[i] < 0 || s->fills_cache[i]) && s->staged_row_of[i] < 0;
}

/* True if one of the instructions [from, to) writes the register.  An instruction may write
 * several, from dst on. */
bool rd_cuda_is_made_in(const rd_program *p, int32_t reg, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (reg >= p->inst[i].dst && reg < p->inst[i].dst + rd_inst_makes(p, &p->inst[i]))
            return true;
    return false;
}

/* True if neighbours along an axis are neighbours in memory for access i: its address has
 * coefficient 1 there.  A register in the address (a gather) must have one value for all
 * neighbours.  So instructions [from, to), which run for each of them, must not write that
 * register. */
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

/* True if the iterations of a loop access neighbouring elements of memory by instruction `inst`. */
bool rd_cuda_is_dense(const rd_cuda_strategy *s, int32_t inst, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    return rd_cuda_is_dense_for(s, inst, l->axis, l->begin, l->end);
}

/* True if vectors of `wide` elements along the axis begin at multiples of their size, provided
 * that the slot (buffer) does: the offset and the strides of all other axes are multiples of
 * `wide`. */
bool rd_cuda_is_aligned(const rd_address *at, int32_t axis, int32_t wide)
{
    bool aligned = at->offset % wide == 0;

    for (int32_t k = 0; k < at->n_add; k++)
        aligned &= at->add[k].axis == axis || at->add[k].coef % wide == 0;
    return aligned;
}

/* Returns the lane position of the folds that have the team's threads as lanes (partial
 * accumulators) and take elements in the distributed loop; NULL: there are none. All such folds
 * of a loop have the same lane position. */
const rd_address *rd_cuda_lanes_along(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    for (int32_t k = 0; s->distributed[loop] && k < s->p->n_fold; k++)
        if (s->fold[k].threads_are_lanes && s->fold[k].step > l->begin && s->fold[k].step < l->end)
            return &s->p->fold[k].lane;
    return NULL;
}

/* Returns the bytes of the element that access i moves. */
int32_t rd_cuda_size_of(const rd_cuda_strategy *s, int32_t i)
{
    return rd_dtype_size(s->p->address[s->p->inst[i].arg].type);
}

/* Returns how many elements of `size` bytes a thread moves at once: as many as a vector access
 * has bytes for, with a limit on elements. */
int32_t rd_cuda_vector_width(const rd_cuda_strategy *s, int32_t size)
{
    const int32_t wide = s->choice.vector / size;

    return wide < s->choice.most_wide ? wide : s->choice.most_wide;
}

/* True if access i may move `wide` adjacent elements of the loop at once: they are contiguous
 * and aligned. If threads are lanes (partial accumulators) of folds along the loop, lane
 * positions must be aligned, too, as a thread then owns `wide` adjacent lanes. */
bool rd_cuda_is_vector_access(const rd_cuda_strategy *s, int32_t i, int32_t loop, int32_t wide)
{
    const rd_loop    *l    = &s->p->loop[loop];
    const rd_address *lane = rd_cuda_lanes_along(s, loop);

    return rd_cuda_is_dense(s, i, loop) &&
           rd_cuda_is_aligned(&s->p->address[s->p->inst[i].arg], l->axis, wide) &&
           (!lane || rd_cuda_is_aligned(lane, l->axis, wide));
}

/* Returns the smaller one of two sizes, where 0 stands for no size. */
int32_t rd_cuda_smaller_size(int32_t a, int32_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Returns the bytes of the smallest elements that a loop's accesses move contiguously; 0: none
 * do. The smallest elements decide the vector width, as they make the widest vectors. */
int32_t rd_cuda_least_along(const rd_cuda_strategy *s, int32_t loop)
{
    int32_t least = 0;

    for (int32_t i = s->p->loop[loop].begin + 1; i < s->p->loop[loop].end; i++)
        if (rd_cuda_is_vector_access(s, i, loop, /*wide=*/1))
            least = rd_cuda_smaller_size(least, rd_cuda_size_of(s, i));
    return least;
}

/* Returns how many elements a thread may move at once along a loop: by its smallest contiguous
 * elements; 1: none are contiguous. */
int32_t rd_cuda_vector_width_along(const rd_cuda_strategy *s, int32_t loop)
{
    const int32_t least = rd_cuda_least_along(s, loop);

    return least ? rd_cuda_vector_width(s, least) : 1;
}

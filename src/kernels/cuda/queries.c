/* queries.c - small questions about a strategy that many files ask. */
#include "kernels/cuda/strategy.h"

int32_t rd_cuda_bits(int64_t n)
{
    int32_t bits = 0;

    for (; n > 0; n /= 2)
        bits++;
    return bits;
}

/* Goes outwards until a loop is distributed. */
int32_t rd_cuda_distributed_around(const rd_cuda_strategy *s, int32_t inst)
{
    int32_t loop = inst < 0 ? -1 : s->p->inst[inst].loop;

    while (loop >= 0 && !s->distributed[loop])
        loop = s->p->loop[loop].parent;
    return loop;
}

bool rd_cuda_is_distributed(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_cuda_distributed_around(s, inst) >= 0;
}

/* Adds up the nodes of the levels below: each has half as many as the one before. */
int64_t rd_cuda_nodes_below(int64_t n_range, int32_t level)
{
    int64_t nodes = 0;

    for (int32_t k = 0; k < level; k++)
        nodes += n_range >> k;
    return nodes;
}

/* queries.c - small questions about a strategy that many files ask.
 *
 * Words. A team is the threads that do one item of work. */
#include "kernels/cuda/strategy.h"

/* Returns how many binary digits a number has: 5 has 3, and 0 none. */
int32_t rd_cuda_bits(int64_t n)
{
    int32_t bits = 0;

    for (; n > 0; n /= 2)
        bits++;
    return bits;
}

/* Returns the innermost loop around an instruction that the threads of a team share; -1: there
 * is none, or no instruction (-1). */
int32_t rd_cuda_distributed_around(const rd_cuda_strategy *s, int32_t inst)
{
    int32_t loop = inst < 0 ? -1 : s->p->inst[inst].loop;

    while (loop >= 0 && !s->distributed[loop])
        loop = s->p->loop[loop].parent;
    return loop;
}

/* True if the instruction is in a loop whose indices the threads of a team share. */
bool rd_cuda_is_distributed(const rd_cuda_strategy *s, int32_t inst)
{
    return rd_cuda_distributed_around(s, inst) >= 0;
}

/* Counts the nodes (partial results in the combine tree) of a scan in ranges (parts of a split
 * loop) on all levels below one. Level 0 has a node for each range, and each level half as many
 * as the one below, rounded down. */
int64_t rd_cuda_nodes_below(int64_t n_range, int32_t level)
{
    int64_t nodes = 0;

    for (int32_t k = 0; k < level; k++)
        nodes += n_range >> k;
    return nodes;
}

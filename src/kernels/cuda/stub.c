/* stub.c - stands for the CUDA backend in builds without it: its probe says no, so it is never
 * asked to run. */
#include "kernels/program.h"

static bool not_here(void)
{
    return false;
}

const rd_backend_table rd_backend_cuda = { .name = "cuda", .probe = not_here };

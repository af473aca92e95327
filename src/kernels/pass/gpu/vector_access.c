/* vector_access.c - accesses of several neighbours at once, as the plan says of instructions. */
#include "kernels/pass/gpu/gpu.h"

static void set_width(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    t->stmt[stmt].pack = plan->pack[inst];
}

void rd_pass_gpu_vector_access(rd_schedule *t, const rd_gpu_plan *plan)
{
    rd_gpu_for_each_access(t, plan, set_width);
}

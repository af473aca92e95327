/* vector_access.c - marks accesses of several neighbouring elements at once (vector access), as
 * the plan says for each instruction. */
#include "kernels/pass/gpu/gpu.h"

/* Sets the number of adjacent elements that the access of a statement moves at once: the plan's
 * number for its instruction; 0: one. */
static void set_width(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    t->stmt[stmt].vector_width = plan->pack[inst];
}

/* The pass: marks each load and store of the program with the number of adjacent elements that
 * it moves at once. */
void rd_pass_gpu_vector_access(rd_schedule *t, const rd_gpu_plan *plan)
{
    rd_gpu_for_each_access(t, plan, set_width);
}

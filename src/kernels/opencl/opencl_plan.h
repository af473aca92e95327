/* opencl_plan.h - which loops of a tree are work items for OpenCL. */
#ifndef RD_KERNELS_OPENCL_OPENCL_PLAN_H
#define RD_KERNELS_OPENCL_OPENCL_PLAN_H
#include "kernels/pass/gpu/gpu.h"

/* Each loop at the top is a kernel; its rounds, and those of perfectly nested loops, are items.
 * One thread does an item, with states in variables.  False: no memory. */
bool rd_cl_plan_of(const rd_schedule *t, rd_gpu_plan *plan, rd_get_fn *get, void *pool);

/* True if no fold is a group-by.  The text of a group-by is C's, with states in a task's memory. */
bool rd_cl_has_no_labels(const rd_program *p);
/* user_reducers.c: true if a user's reducer runs from its text. */
bool rd_cl_may_run(const rd_reducer *r);
#endif

/* opencl_plan.h - which loops of a tree are work items for OpenCL. */
#ifndef RD_KERNELS_OPENCL_OPENCL_PLAN_H
#define RD_KERNELS_OPENCL_OPENCL_PLAN_H
#include "kernels/pass/gpu/gpu.h"

/* Each loop at the top is a kernel, and its rounds are items, with those of loops right inside.  An item is
 * one thread's, which has states in variables of its own.  False: no memory. */
bool rd_cl_plan_of(const rd_schedule *t, rd_gpu_plan *plan, rd_get_fn *get, void *pool);

/* Has it no folds by label?  The text of these is C's, with states in a task's memory. */
bool rd_cl_has_no_labels(const rd_program *p);
/* user_reducers.c: does a user's reducer run from its text? */
bool rd_cl_may_run(const rd_reducer *r);
#endif

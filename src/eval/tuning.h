/* tuning.h - numbers of a device's kernels on which nothing but speed depends. */
#ifndef RD_EVAL_TUNING_H
#define RD_EVAL_TUNING_H
#include "eval/plan.h"

/* The numbers of a program that is about to be prepared: what RDIM_CUDA_TUNING asks for, then what
 * was measured of programs like it.  False after recording that it asks for something else. */
bool rd_tune(rd_ctx *ctx, const rd_backend_table *backend, rd_program *p);
/* What was measured of programs like it; NULL: nothing was. */
const rd_found *rd_tuned(rd_ctx *ctx, const rd_program *p);
bool            rd_plan_uses_device(const rd_plan *plan);
/* A run on a device finds the numbers of those stages that were not measured.  False: there are
 * none. */
bool rd_plan_measures(rd_plan *plan);
/* Of a stage: 0 seconds if it could not be measured. */
void rd_tuning_found(rd_ctx *ctx, const rd_program *p, const rd_measured *of);
#endif

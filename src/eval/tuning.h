/* tuning.h - tuning numbers of a device's kernels, which change only speed. */
#ifndef RD_EVAL_TUNING_H
#define RD_EVAL_TUNING_H
#include "eval/plan.h"

/* Sets the numbers of a program before it is prepared: those in RDIM_CUDA_TUNING, then those
 * measured for its key.  False after recording an error in RDIM_CUDA_TUNING. */
bool rd_tune(rd_ctx *ctx, const rd_backend_table *backend, rd_program *p);
/* The measurement of a program's key; NULL: there is none. */
const rd_found *rd_tuned(rd_ctx *ctx, const rd_program *p);
bool            rd_plan_uses_device(const rd_plan *plan);
/* Makes a run on a device measure its unmeasured stages.  False: there are none. */
bool rd_plan_start_measuring(rd_plan *plan);
/* Records the measurement of a stage; 0 seconds: it could not be measured. */
void rd_tuning_found(rd_ctx *ctx, const rd_program *p, const rd_measured *of);
#endif

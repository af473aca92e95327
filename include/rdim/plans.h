/* rdim/plans.h - plans: expressions that are planned once and run many times on new data. */
#ifndef RDIM_PLANS_H
#define RDIM_PLANS_H
#include "evaluation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Plans an evaluation.  rd_plan_free() frees the plan, or rd_ctx_free(), whichever comes first.  A
 *  plan keeps nothing of the expressions.
 *
 *  @param in       the rd_input() leaves, in the order in which rd_plan_run() takes their pointers.
 *                  It must name each input that the results read (else RD_ERR_ARGUMENT).  Other
 *                  leaves keep their memory.  { 0 } for none
 *  @param results  layouts as for rd_eval().  Data may be NULL if rd_plan_run() always gives them
 *  @param opts     NULL: defaults
 *  @return NULL on failure, with the error of rd_eval() recorded. */
RD_API rd_plan *rd_plan_new(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts);
/** Runs a plan on new pointers, which have the planned types, shapes and strides and are aligned to
 *  their type.
 *
 *  Any number of threads may run one plan at the same time, each with its own outputs, while nobody
 *  frees it.
 *  @param in   one pointer for each input of rd_plan_new()
 *  @param out  one pointer for each result of rd_plan_new(); NULL: as planned
 *  @return as rd_eval().  The context records the error too, if it has none. */
RD_API rd_status rd_plan_run(const rd_plan *plan, const void *const *in, void *const *out);
/** Frees a plan.  NULL is allowed. */
RD_API void rd_plan_free(rd_plan *plan);

#ifdef __cplusplus
}
#endif
#endif

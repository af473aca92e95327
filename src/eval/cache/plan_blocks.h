/* plan_blocks.h - runs of the caller's plans in blocks, as evaluations of the same results come.
 *
 * Blocks are made of expressions with memory, which a plan does not keep.  So a plan whose results
 * come in blocks has a copy of them, and a run puts the leaves of its inputs there. */
#ifndef RD_EVAL_CACHE_PLAN_BLOCKS_H
#define RD_EVAL_CACHE_PLAN_BLOCKS_H
#include "eval/plan.h"

/* Gives the plan a copy of its results if they come in blocks; without memory it has none. */
void rd_plan_blocks_begin(rd_plan *plan, rd_exprs in, rd_results results, const rd_eval_opts *opts);
void rd_plan_blocks_end(rd_plan *plan);
/* Runs the plan in blocks; any thread may call it.  False: nothing was done, and it runs whole. */
bool rd_plan_blocks_run(const rd_plan *plan, const void *const *in, void *const *out,
                        rd_status *status);
#endif

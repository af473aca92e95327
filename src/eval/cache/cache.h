/* cache.h - plans that a context keeps for evaluations like those it has seen, and other things it
 * keeps between them. */
#ifndef RD_EVAL_CACHE_CACHE_H
#define RD_EVAL_CACHE_CACHE_H
#include "eval/plan.h"

enum { RD_CACHE_PLANS = 64 };

typedef struct rd_cache_stats {
    int64_t same;  /* evaluations of the very expressions and layouts of an earlier one     */
    int64_t alike; /* of other ones with the same key                                        */
    int64_t made;  /* that made a plan                                                       */
    int64_t bytes; /* held by the plans now                                                  */
    int32_t plans; /* held now                                                               */
} rd_cache_stats;

/* Runs the results' plan, found or made.  All outputs have memory; failures are recorded. */
rd_status rd_cache_run(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/* All 0 for a context that has not evaluated anything. */
rd_cache_stats rd_cache_stats_of(const rd_ctx *ctx);
/* What the evaluation was found to run fastest with; by cost, if it was not measured. */
rd_choice rd_cache_choice(rd_ctx *ctx, int n, const rd_request *request, const rd_eval_opts *opts);
#endif

/* cache.h - the cache of a context: plans for evaluations that occurred before, and more that it
 * keeps between them. */
#ifndef RD_EVAL_CACHE_CACHE_H
#define RD_EVAL_CACHE_CACHE_H
#include "eval/plan.h"

enum { RD_CACHE_PLANS = 64 };

/* Counts of a context's cache. */
typedef struct rd_cache_stats {
    int64_t same;     /* evaluations of the same expressions and layouts as an earlier one */
    int64_t same_key; /* evaluations of other expressions with the same key */
    int64_t made;     /* evaluations that made a plan */
    int64_t bytes;    /* held by plans now */
    int32_t plans;    /* held now */
} rd_cache_stats;

/* Runs the plan of the results, cached or new.  All outputs have memory; failures are recorded. */
rd_status rd_cache_run(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/* The counts; all 0 for a context without evaluations. */
rd_cache_stats rd_cache_stats_of(const rd_ctx *ctx);
/* The choice that was measured as fastest for an evaluation; the default if it was not measured. */
rd_choice rd_cache_choice(rd_ctx *ctx, int n, const rd_request *request, const rd_eval_opts *opts);
#endif

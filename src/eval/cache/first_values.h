/* first_values.h - small values that large ones are made of, or that are made of large ones: where
 * these are evaluated first, what is left stores little.
 *
 *     q = x wq                      before: small, and read by each block of weights as a whole
 *     dq = ds k                     from: comes in blocks of rows of the weights
 *     dx = dq wq^T + ..             the rest
 *
 * Each kind is an evaluation of its own. */
#ifndef RD_EVAL_CACHE_FIRST_VALUES_H
#define RD_EVAL_CACHE_FIRST_VALUES_H
#include "eval/cache/cut_axes.h"
#include "eval/plan.h"

typedef struct rd_first_values {
    rd_ctx    *ctx;
    rd_results results;
    int        n_before, n_from;
    rd_expr   *before[RD_MOST_CUT_RESULTS]; /* small values below large ones */
    rd_expr   *from[RD_MOST_CUT_RESULTS];   /* small values above them, results too */
    int        result[RD_MOST_CUT_RESULTS]; /* which result it is, -1: none */
    double     bytes;                       /* of all that are no results */
} rd_first_values;

/* Finds such values of results whose plan stores an array of so many bytes.  False: there are none,
 * or a failure is recorded. */
bool rd_first_find(rd_first_values *f, rd_ctx *ctx, rd_results results, double largest);
/* Makes value k of `from`, and result r, of leaves in place of what was evaluated.  memory: of each
 * value before, then of each value from, unless that is a result.  NULL after a failure. */
rd_expr *rd_first_from(const rd_first_values *f, int k, void *const *memory);
rd_expr *rd_first_rest(const rd_first_values *f, int r, void *const *memory);
/* True if result r is among `from`. */
bool rd_first_has(const rd_first_values *f, int r);
/* Evaluates all.  False: nothing was done. */
bool rd_first_run(const rd_first_values *f, const rd_eval_opts *opts, rd_status *status);
#endif

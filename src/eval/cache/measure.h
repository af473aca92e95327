/* measure.h - finds the fastest choice for an evaluation by running it. */
#ifndef RD_EVAL_CACHE_MEASURE_H
#define RD_EVAL_CACHE_MEASURE_H
#include "eval/choice.h"
#include "eval/cache/key.h"

/* Finds the choice with the least time on the leaves at these addresses (rd_key_address()).
 * Results go to temporary memory, because an output may overlap an input.  RD_ERR_MEMORY, not
 * recorded: there is none for them.  Other failures are the evaluation's, and recorded. */
rd_status rd_measure(rd_ctx *ctx, const rd_key *key, const void *const *address, rd_results results,
                     const rd_eval_opts *opts, rd_found *found);
#endif

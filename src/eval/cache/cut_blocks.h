/* cut_blocks.h - evaluates results in blocks of an inner value's rows; results that sum over rows
 * are added up in order. */
#ifndef RD_EVAL_CACHE_CUT_BLOCKS_H
#define RD_EVAL_CACHE_CUT_BLOCKS_H
#include "eval/cache/cut_parts.h"
#include "eval/plan.h"

/* How results are cut into blocks. */
typedef struct rd_cut_blocks {
    rd_cuts      cuts;
    rd_cut_steps steps;
    int64_t      each[RD_MOST_CUTS]; /* indices of a block */
    int64_t      batches, chunks;    /* blocks along all cuts but rows, and along rows */
} rd_cut_blocks;

/* Finds blocks of results whose plan stores so many bytes, and as many in the largest array.  A block has `fewest` rows or more, and
 * about `block` bytes.  False: there are none; rd_cut_blocks_end() frees them in any case. */
bool rd_cut_blocks_begin(rd_cut_blocks *b, rd_ctx *ctx, rd_results results, double bytes,
                         double largest, int64_t fewest, double block);
void rd_cut_blocks_end(rd_cut_blocks *b);
/* The first block's results, for planning: outputs are dense and have no memory.  False after
 * recording a failure. */
bool rd_cut_sample(const rd_cut_blocks *b, rd_expr **y, rd_array *out);
/* The bytes of the sums of a block. */
int64_t rd_cut_sum_bytes(const rd_cut_blocks *b);

/* A run; a thread's part of it. */
typedef struct rd_cut_run    rd_cut_run;
typedef struct rd_cut_worker rd_cut_worker;

/* `request` has strides of the results.  NULL: no memory. */
rd_cut_run *rd_cut_begin(const rd_cut_blocks *b, const rd_eval_opts *opts,
                         const rd_request *request);
void        rd_cut_end(rd_cut_run *run);
/* Says how many threads take blocks, before the first one does. */
void rd_cut_share(rd_cut_run *run, int threads);
/* NULL after recording a failure in ctx, where the expressions are cloned to. */
rd_cut_worker *rd_cut_worker_new(rd_cut_run *run, rd_ctx *ctx);
void           rd_cut_worker_free(rd_cut_worker *w);
/* Evaluates block k.  Blocks are taken in order. */
rd_status rd_cut_block(rd_cut_worker *w, int64_t k);
/* Lets no thread wait any longer: the run ends early. */
void rd_cut_stop(rd_cut_run *run);
#endif

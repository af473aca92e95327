/* in_blocks.h - evaluations in blocks of rows of the result, where products would store all rows of
 * what they read. */
#ifndef RD_EVAL_CACHE_IN_BLOCKS_H
#define RD_EVAL_CACHE_IN_BLOCKS_H
#include "eval/cache/cut_blocks.h"
#include "eval/cache/first_values.h"
#include "eval/expr_pieces.h"
#include "eval/plan.h"

/* Plans that store less between their stages run as they are. */
#define RD_MUCH_STORED (16 << 20)

/* Attention, which runs in tiles of rows and columns (attention.h); results that come in blocks of
 * an inner value's rows (cut_blocks.h); results that are made of such values (first_values.h). */
enum { RD_IN_TILES = -1, RD_IN_CUTS = -2, RD_SMALL_FIRST = -3 };

/* The elements of the result that a block has at most; 0: the plan runs as it is; RD_IN_TILES;
 * RD_IN_CUTS; RD_SMALL_FIRST.  `results` need no memory.  depth: how many evaluations this one
 * is a part of. */
int64_t rd_block_points(const rd_plan *plan, rd_results results, const rd_eval_opts *opts,
                        int depth);
/* True if the plan stores much, and has a product by a library. */
bool rd_plan_stores_much(const rd_plan *plan, const rd_eval_opts *opts);
/* The bytes of arrays between stages, and of the largest one. */
double rd_plan_between(const rd_plan *plan);
double rd_plan_largest(const rd_plan *plan);
/* The work of all stages. */
double rd_plan_work(const rd_plan *plan);
/* Finds blocks of rows of an inner value of the results.  rd_cut_blocks_end() frees them in any
 * case. */
bool rd_find_cuts(const rd_plan *plan, rd_results results, rd_cut_blocks *b);
/* True if small values are evaluated first (first_choice.c); *values: their bytes. */
bool rd_small_first(const rd_plan *plan, rd_results results, const rd_eval_opts *opts, int depth,
                    double *values);
/* True if that is worth asking: the plan stores so many bytes, or the result is attention. */
bool rd_may_be_in_blocks(rd_results results, double stored);
/* For explain: says so, or warns if a plan stores much.  False: an error is recorded. */
bool rd_row_blocks_text(rd_text *text, rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/* Evaluates the result block by block.  False: an input overlaps the result, and nothing was
 * done. */
bool rd_run_in_blocks(const rd_plan *plan, const void *const *in, rd_results results,
                      const rd_eval_opts *opts, rd_status *status);
#endif

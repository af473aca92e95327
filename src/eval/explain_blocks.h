/* explain_blocks.h - which stages on a device process their data by blocks, or are partitioned
 * across several devices, and why not. */
#ifndef RD_EVAL_EXPLAIN_BLOCKS_H
#define RD_EVAL_EXPLAIN_BLOCKS_H
#include "eval/backend_choice.h"
#include "eval/ir.h"

/* Writes a line for each stage of prepared programs that does, or cannot.  False: no memory. */
bool rd_blocks_text(rd_text *text, rd_pool *pool, const rd_graph *g, rd_results results, int n,
                    const rd_program *p, const rd_backend_use *use);
#endif

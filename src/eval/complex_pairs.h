/* complex_pairs.h - complex results as real ones.
 *
 * Plans evaluate real expressions only.  A complex result is stored as its parts along one more
 * axis of two, which is the fastest in memory.  Outputs are described so before planning, and as
 * the caller knows them afterwards. */
#ifndef RD_EVAL_COMPLEX_PAIRS_H
#define RD_EVAL_COMPLEX_PAIRS_H
#include "eval/plan.h"

/* The results of an evaluation as real ones. */
typedef struct rd_pairs {
    rd_results results; /* real results; the caller's own if none is complex */
    rd_result *own;     /* NULL: none is complex */
    rd_array  *array;   /* one for each of `own` */
} rd_pairs;

/* Converts results.  False after recording what is wrong with a complex result or its output;
 * planning checks the rest. */
bool rd_pairs_begin(rd_ctx *ctx, rd_results results, rd_pairs *pairs);
/* Tells the caller's zeroed outputs the memory that they have now, or that they have none. */
void rd_pairs_end(rd_ctx *ctx, rd_results results, rd_pairs *pairs);
#endif

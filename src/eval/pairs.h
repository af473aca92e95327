/* pairs.h - results of complex type as results of reals.
 *
 * What plans evaluates real expressions alone.  A complex one is stored as its parts along one more
 * axis, of two, which lies fastest: outputs are described so before they are planned for, and as the
 * caller knows them when memory has been given. */
#ifndef RD_EVAL_PAIRS_H
#define RD_EVAL_PAIRS_H
#include "eval/plan.h"

typedef struct rd_pairs {
    rd_results results; /* of reals; the caller's where none is complex */
    rd_result *own;     /* NULL: none is */
    rd_array  *array;   /* of these, one each */
} rd_pairs;

/* False after recording what is wrong with a complex result or its output; other checks are made by
 * who plans. */
bool rd_pairs_begin(rd_ctx *ctx, rd_results results, rd_pairs *pairs);
/* Gives the caller's zeroed outputs the memory they have now, or shows that they have none. */
void rd_pairs_end(rd_ctx *ctx, rd_results results, rd_pairs *pairs);
#endif

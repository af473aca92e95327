/* concat_split.h - splits results at the boundaries of the concatenations that they read. */
#ifndef RD_EVAL_COLLECT_CONCAT_SPLIT_H
#define RD_EVAL_COLLECT_CONCAT_SPLIT_H
#include "eval/collect/collect.h"

/* Splits the results of n requests into boxes, so that in each box every concatenation below
 * maps is one of its parts.  Parts are then read where they lie, and no concatenation is stored.
 * Results for which this does not pay off stay as they are.  All expressions have been seen
 * before, and c->seen holds the new ones afterwards.  False: no memory. */
bool rd_split_at_concats(rd_collector *c, int n, const rd_request *request, rd_expr **result,
                         rd_exprs given);
/* concat_choices.c: in all n results, concatenations that reductions read once an element become
 * choices by index between their parts, and are not stored.  False: no memory. */
bool rd_choose_parts(rd_collector *c, int n, rd_expr **result, rd_exprs given);
#endif

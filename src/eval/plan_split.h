/* plan_split.h - splits expressions that are too large for one plan into parts. */
#ifndef RD_EVAL_PLAN_SPLIT_H
#define RD_EVAL_PLAN_SPLIT_H
#include "eval/ir.h"

/* One part: it computes expression `target`, which later parts read from memory; or, if target
 * is NULL, n results from `first` on. given: what it reads that earlier parts stored. */
typedef struct rd_split_part {
    const rd_expr *target;
    int32_t        first, n;
    rd_exprs       given;
} rd_split_part;

/* All parts. */
typedef struct rd_split_parts {
    int32_t        n;
    rd_split_part *cut; /* in the order in which they run */
} rd_split_parts;

/* Limits to try in turn, ending with 0.  Parts are made as large as possible: how many axes a
 * part needs is known only when it is planned. */
extern const int rd_split_limits[];

/* Splits into parts of about `limit` axes.  Results come last, so that nothing is read after one
 * is written.  NULL: no memory, or rd_cancel(). */
rd_split_parts *rd_split_exprs(rd_ctx *ctx, rd_pool *pool, rd_exprs results, int limit);
#endif

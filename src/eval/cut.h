/* cut.h - expressions that are too much for one plan, cut into parts. */
#ifndef RD_EVAL_CUT_H
#define RD_EVAL_CUT_H
#include "eval/ir.h"

/* One plan's share: an expression that later parts read from memory, or, if it is NULL, n results
 * from `first` on; and what it reads that earlier parts have made. */
typedef struct rd_cut {
    const rd_expr *target;
    int32_t        first, n;
    rd_exprs       given;
} rd_cut;

typedef struct rd_cuts {
    int32_t n;
    rd_cut *cut; /* in the order in which they run */
} rd_cuts;

/* Limits to be tried one after the other; ends with 0.  Parts are as large as can be: what axes a
 * part needs is only known when it is planned. */
extern const int rd_cut_limits[];

/* Parts of `limit` axes each, about; results come last, so that nothing is read after one is
 * written.  NULL: no memory, or rd_cancel(). */
rd_cuts *rd_cut_up(rd_ctx *ctx, rd_pool *pool, rd_exprs results, int limit);
#endif

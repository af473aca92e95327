/* order.h - the parts of order: panels, root loops that give enough tasks, how tasks share them. */
#ifndef RD_EVAL_ORDER_ORDER_H
#define RD_EVAL_ORDER_ORDER_H
#include "core/caches.h"
#include "eval/choice.h"
#include "eval/place/place.h"

/* Tasks a root loop should allow: below this, threads wait for each other or have nothing to do. */
#define RD_ENOUGH 16

/* Columns of a panel of squares: the pages of as many rows stay in a second-level TLB, and squares
 * that wait for those below them in half a second-level cache. */
#define RD_SQUARES        512
/* Of a panel of one loop over rows alone, as of a fold whose operand is turned on its way there,
 * one square: the square below is the next one, and what is fetched of it is still near.  Rows a
 * power of two apart share few sets of a cache (8192 x 8192 f64, Zen 4: 512 columns take 1.12 times
 * as long). */
#define RD_FOLDED_SQUARES 64

/* rows.c: rows that are put in order, several at a time. */
bool rd_take_rows_together(rd_tree *tree);
/* squares.c: axes of maps that run along different ones innermost, in panels. */
bool rd_make_squares(const rd_tree *tree);
/* Does something read in the scope run along its innermost loop, and not along the axis? */
bool rd_runs_across(const rd_tree *tree, const rd_scope *scope, int axis);
/* panels.c: kept loops moved inside the loops that walk memory in larger steps. */
bool rd_make_panels(const rd_tree *tree, const rd_choice *choice);
/* spread.c: root loops of few iterations go inside a loop that tasks can share. */
bool rd_spread_roots(const rd_tree *tree);
/* epilogue.c: maps of what folds by rows come to, in the stage of these. */
bool rd_take_epilogues(rd_tree *tree);

/* ---- Questions (loops.c) --------------------------------------------------------------------- */
/* How tasks may share a loop over `axis` around all that stands in `scope`. */
typedef struct rd_sharing {
    int64_t grain;  /* tasks start at multiples of it */
    bool    serial; /* one task                       */
} rd_sharing;

rd_sharing rd_share(const rd_tree *tree, const rd_scope *scope, int axis);
/* The grain that one fold asks for (grain.c).  `beside_loop`: the fold takes its element in the loop over
 * the axis itself, beside another loop. */
int64_t rd_fold_grain(const rd_graph *g, const rd_value *v, int axis, bool beside_loop);

static inline int64_t rd_grains(const rd_tree *tree, int axis, rd_sharing s)
{
    return (tree->graph->axis[axis].extent + s.grain - 1) / s.grain;
}

/* Elements between neighbours along the axis where a kept value or a leaf is stored. */
int64_t rd_step_of(const rd_tree *tree, int value, int axis);
/* A loop over the axis around a list of items; NULL without memory. */
rd_item *rd_wrap_items(const rd_tree *tree, int axis, rd_item *first);
/* Is there a fold by the places of a pattern in it?  The greatest rd_pattern of such. */
int rd_folds_places(const rd_tree *tree, const rd_scope *scope);
#endif

/* order.h - the passes of order: panels, transposes, root loops with enough tasks, and how tasks
 * share them. */
#ifndef RD_EVAL_ORDER_ORDER_H
#define RD_EVAL_ORDER_ORDER_H
#include "core/caches.h"
#include "eval/choice.h"
#include "eval/place/place.h"

/* Number of tasks that a root loop should allow.  Below it, threads wait or have no work. */
#define RD_ENOUGH 16

/* Columns of a panel of transposed squares.  The pages of so many rows stay in an L2 TLB, and
 * lines that the next square needs stay in half an L2 cache. */
#define RD_TRANSPOSE_PANEL      512
/* Columns of such a panel if there is only one loop over rows, as in a reduction with a
 * transposed operand: one square.  The next square is below, and prefetched lines are still
 * there.  Rows a power of two apart share few cache sets (8192 x 8192 f64, Zen 4: 512 columns
 * take 1.12 times as long). */
#define RD_TRANSPOSE_FOLD_PANEL 64

/* sort_ranges.c: sorts several rows at a time. */
bool rd_sort_rows_in_ranges(rd_tree *tree);
/* sort_strips.c: lets the sorts of a loop over rows take them strip by strip, several rows at a
 * time if `ranges`.  *done: it is so.  False: no memory. */
bool rd_sort_in_strips(const rd_tree *tree, rd_item *at, bool ranges, bool *done);
/* transpose_loops.c: makes the two axes of a transposing map innermost, in panels. */
bool rd_make_transposes(const rd_tree *tree);
/* True if a read in the scope is contiguous along the scope's loop, and not along the axis. */
bool rd_runs_across(const rd_tree *tree, const rd_loop_scope *scope, int axis);
/* panels.c: moves kept loops inside loops of larger strides. */
bool rd_make_panels(const rd_tree *tree, const rd_choice *choice);
/* root_interchange.c: moves root loops of few iterations inside a loop that tasks can share. */
bool rd_interchange_roots(const rd_tree *tree);
/* epilogue.c: fuses maps of row reductions into the stage of the reductions. */
bool rd_fuse_epilogues(rd_tree *tree);

/* ---- Facts (loop_facts.c) -------------------------------------------------------------------- */
/* How tasks may share a loop over `axis` around all that is in `scope`. */
typedef struct rd_sharing {
    int64_t grain;  /* tasks start at multiples of it */
    bool    serial; /* one task                       */
} rd_sharing;

rd_sharing rd_task_sharing(const rd_tree *tree, const rd_loop_scope *scope, int axis);
/* The grain of one reduction (grain.c). beside_loop: the reduction takes its element in the loop
 * over the axis itself, beside another loop. */
int64_t rd_fold_grain(const rd_graph *g, const rd_value *v, int axis, bool beside_loop);

/* The most tasks that may share a loop over the axis: its extent in grains, rounded up. */
static inline int64_t rd_grains(const rd_tree *tree, int axis, rd_sharing s)
{
    return (tree->graph->axis[axis].extent + s.grain - 1) / s.grain;
}

/* Stride of a stored value or a leaf along the axis, in elements. */
int64_t rd_stride_of(const rd_tree *tree, int value, int axis);
/* Makes a loop over the axis around a list of items; NULL without memory. */
rd_item *rd_wrap_items(const rd_tree *tree, int axis, rd_item *first);
/* The greatest rd_pattern of sparse reductions in the scope; 0: there is none. */
int rd_sparse_fold_kind(const rd_tree *tree, const rd_loop_scope *scope);
#endif

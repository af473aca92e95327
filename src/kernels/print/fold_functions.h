/* fold_functions.h - functions that a text has for each of its folds, beside those of
 * emit/reducer_functions.c. */
#ifndef RD_KERNELS_PRINT_FOLD_FUNCTIONS_H
#define RD_KERNELS_PRINT_FOLD_FUNCTIONS_H
#include "core/text_buffer.h"
#include "kernels/emit/emit.h"

/* A fold, and where its states lie.  state_layout.c fills it. */
typedef struct rd_print_fold {
    rd_emit_fold emit;      /* its reducer in the text */
    int32_t      lanes;     /* lanes that can have elements                                       */
    int32_t      tree_rows; /* rows of its combine tree; 0: it has one block, or is a scan        */
    int          shift;     /* a block is 2^shift steps, if there are several                     */
    int32_t      levels;    /* levels of nodes that a scan by the tree keeps                      */
    bool         blocks;    /* it has several blocks                                              */
    bool hi_lo_sums; /* a running sum of floats, by kernels/math/prefix_sums.h                  */
    int64_t states;  /* states of all cells, each with of.n_state numbers                  */
    int64_t discard; /* states behind those, for elements of no group                      */
    int32_t
        twin; /* the fold, plus 1, whose states hold its own (twin_extremes.c); 0: none        */
    int64_t facts, current, tree; /* where f0, states and tree0 lie in the task's state, in bytes */
} rd_print_fold;

/* lanes.c: prints those of these functions that `which` names.  merge_lanes0() makes one node of
 * the nodes of all lanes; lane_nodes0() makes nodes of the states of all lanes; merge_cells0()
 * does both for neighbouring cells. */
enum { RD_PRINT_MERGE_LANES = 1, RD_PRINT_LANE_NODES = 2, RD_PRINT_MERGE_CELLS = 4 };
void rd_print_lane_functions(rd_text *to, const rd_print_fold *f, int number, uint32_t which);
/* combine_tree.c: prints push0(), merge_tree0() and node0_0() of a fold of several blocks. */
void rd_print_combine_functions(rd_text *to, const rd_print_fold *f, int number);
/* Prints statements that add the states of the next task, `next`, to those of a task, `into`. */
void rd_print_join(rd_text *to, const rd_print_fold *f, int number);
/* scan_functions.c: prints prefix0(), carry0() and prefix_tree0() of a scan; prefix0() alone. */
void rd_print_scan_functions(rd_text *to, const rd_print_fold *f, int number);
void rd_print_prefix_function(rd_text *to, const rd_print_fold *f, int number);
/* early_exits.c: prints is_final0(). */
void rd_print_exit_functions(rd_text *to, const rd_print_fold *f, int number);
#endif

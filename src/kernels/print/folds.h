/* folds.h - functions that a text has for each of its folds, beside those of emit/reducers.c. */
#ifndef RD_KERNELS_PRINT_FOLDS_H
#define RD_KERNELS_PRINT_FOLDS_H
#include "core/text_buffer.h"
#include "kernels/emit/emit.h"

/* A fold, and where its states lie. */
typedef struct rd_print_fold {
    rd_emit_fold of;
    int32_t      lanes;  /* that can have elements                                               */
    int32_t      room;   /* rows of its combine tree; 0: it has one block, or is a scan          */
    int          shift;  /* a block is 2^shift steps, if there are several                       */
    int32_t      levels; /* of nodes of elements that a scan by the tree keeps                   */
    bool         blocks; /* it has several                                                       */
    bool         pair;   /* a scan by so_far.h                                                   */
    int64_t      states, nowhere;      /* of each number; behind them, of elements of no group   */
    int64_t      facts, current, tree; /* offsets in the task's state                            */
} rd_print_fold;

/* lanes.c: those of these functions that are asked for: halves0() makes one node of those of all lanes;
 * nodes0() makes nodes of the states of all lanes; cells0() does both, of neighbouring cells. */
enum { RD_PRINT_HALVES = 1, RD_PRINT_NODES = 2, RD_PRINT_CELLS = 4 };
void rd_print_lane_functions(rd_text *to, const rd_print_fold *f, int number, uint32_t which);
/* nodes.c: push0(), close0() and node0_0() of a fold of several blocks, whose nodes are a combine tree. */
void rd_print_combine_functions(rd_text *to, const rd_print_fold *f, int number);
/* Statements that join the states of a task, `into`, and of the next one, `next`. */
void rd_print_join(rd_text *to, const rd_print_fold *f, int number);
/* scans.c: sofar0(), turn0() and tree0() of a scan; the first of them alone. */
void rd_print_scan_functions(rd_text *to, const rd_print_fold *f, int number);
void rd_print_so_far_function(rd_text *to, const rd_print_fold *f, int number);
/* exits.c: settled0(). */
void rd_print_exit_functions(rd_text *to, const rd_print_fold *f, int number);
#endif

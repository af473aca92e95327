/* kernel_frame.h - what surrounds items in the kernels of a shape. */
#ifndef RD_KERNELS_CUDA_KERNEL_FRAME_H
#define RD_KERNELS_CUDA_KERNEL_FRAME_H
#include "kernels/cuda/strategy.h"
#include "kernels/print/print.h"

/* Kernels of a text.  A stage is `run`; or `ranges` for each loop that is split, of which the last team of
 * the last one goes on to the end.  Scans that are split are `totals`, which stores nothing but what
 * ranges come to, `lift` for each level of nodes, and `go_on`; or `sweep`, which does all of it. */
typedef enum rd_cuda_kernel_kind {
    RD_KERNEL_RUN,
    RD_KERNEL_RANGES,
    RD_KERNEL_TOTALS,
    RD_KERNEL_RESCAN,
    RD_KERNEL_LOOKBACK
} rd_cuda_kernel_kind;

typedef struct rd_cuda_text {
    const rd_cuda_strategy *s;
    const char             *why;    /* it cannot be written: the reason, a part of a sentence   */
    uint64_t                packed; /* slots whose elements are taken several at a time         */
    rd_printing             print;  /* its numbers come with each run                           */
    rd_cuda_kernel_kind     part;   /* of the kernel at hand                                    */
    int32_t split; /* of RD_KERNEL_RANGES: which of the split loops is run         */
} rd_cuda_text;

/* loop_tree.c: the text of all kernels of a shape, without the prelude; its numbers come with each run.  Where
 * there is none, t->why says why. */
void rd_cuda_write(rd_cuda_text *t, rd_text *to);

/* kernel_frame.c */
/* The first line of a kernel; its number, -1: it has none. */
void rd_cuda_kernel_head(rd_cuda_text *t, const char *name, int32_t number);
/* What kernels are called with; what the threads of a block share; which team this is, and its memory;
 * slots' addresses; which item it is, or which range of one, and its memory. */
void rd_cuda_write_call(const rd_cuda_text *t, rd_text *to);
void rd_cuda_declare_shared(rd_cuda_text *t);
void rd_cuda_declare_team(rd_cuda_text *t);
void rd_cuda_declare_slots(rd_cuda_text *t);
void rd_cuda_declare_work(rd_cuda_text *t, rd_cuda_kernel_kind part);

/* combine_blocks.c: functions of folds that cross; which patch this is; lanes of its rows in shared memory; nodes
 * in memory.  A team's columns, and a patch's rows, leave their nodes. */
void rd_cuda_combine_functions(rd_cuda_text *t);
void rd_cuda_declare_block_tile(rd_cuda_text *t);
void rd_cuda_declare_lanes(rd_cuda_text *t);
void rd_cuda_declare_nodes(rd_cuda_text *t);
void rd_cuda_leave_columns(rd_cuda_text *t, int32_t number);
void rd_cuda_leave_rows(rd_cuda_text *t, int32_t number);
/* "if (is0)" after all that comes before it: this block is the last of all patches along a loop; then the
 * node of a column, or of a lane of a row. */
void rd_cuda_combine_blocks(rd_cuda_text *t, int along);
void rd_cuda_take_combined(rd_cuda_text *t, int32_t number, const char *lane);

/* copy_staged_rows.c: rows in shared memory; the items of a block in step, which rows come before and go behind. */
void rd_cuda_declare_staged_rows(rd_cuda_text *t);
void rd_cuda_begin_block(rd_cuda_text *t);
void rd_cuda_end_block(rd_cuda_text *t);

/* shared_transpose.c: shared memory. */
void rd_cuda_declare_transpose(rd_cuda_text *t);

/* push_blocks.c: the cell at hand moves on to a block: those before it become nodes. */
void rd_cuda_move_on(rd_cuda_text *t, const rd_cuda_fold *f, const char *block);
/* "&s0_0[at], &s0_1[at]" of arrays by a name. */
void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at);
/* "(4 * t + l)": the lane of a cell that a thread's l-th is. */
const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32]);
int32_t     rd_cuda_fold_number(const rd_cuda_strategy *s, const rd_cuda_fold *f);

/* combine_ranges.c: functions of a split fold; a range leaves its nodes; "if (all ranges of the item have
 * come)" after the folds of a split loop are joined; "double *const w0 = ..;", a fold's states in a
 * row of nodes. */
void rd_cuda_range_functions(rd_cuda_text *t, int32_t number);
void rd_cuda_leave_nodes(rd_cuda_text *t, int32_t number);
void rd_cuda_combine_ranges(rd_cuda_text *t, int32_t split);
void rd_cuda_declare_rows(rd_cuda_text *t, int32_t number, const char *name, const char *row);
#endif

/* kernel_frame.h - the text of a kernel around its items: its head, and declarations of teams,
 * slots, shared memory and items. */
#ifndef RD_KERNELS_CUDA_KERNEL_FRAME_H
#define RD_KERNELS_CUDA_KERNEL_FRAME_H
#include "kernels/cuda/strategy.h"
#include "kernels/print/print.h"

/* The kernels of a text.  A stage is one kernel, `run`; or a kernel `ranges` for each split loop,
 * of which the last team of the last kernel runs to the end.  A two-pass scan is `totals`, which
 * stores only what ranges come to, `lift` for each level of nodes, and `rescan`.  A look-back
 * scan is `lookback` alone. */
typedef enum rd_cuda_kernel_kind {
    RD_KERNEL_RUN,
    RD_KERNEL_RANGES,
    RD_KERNEL_TOTALS,
    RD_KERNEL_RESCAN,
    RD_KERNEL_LOOKBACK
} rd_cuda_kernel_kind;

/* The writing of one text. */
typedef struct rd_cuda_text {
    const rd_cuda_strategy *s;
    const char             *why;    /* the reason why there is no text, a part of a sentence */
    uint64_t                packed; /* slots with vector accesses, as bits                   */
    rd_printing             print;  /* the printer; each run passes its numbers              */
    rd_cuda_kernel_kind     part;   /* the current kernel                                    */
    int32_t                 split;  /* ... RD_KERNEL_RANGES: the number of its split loop    */
} rd_cuda_text;

/* loop_tree.c: adds the text of all kernels of a strategy, without the prelude.  Each run passes
 * the text's numbers.  If there is no text, t->why has the reason. */
void rd_cuda_write(rd_cuda_text *t, rd_text *to);

/* ---- kernel_frame.c -------------------------------------------------------------------------- */
/* Adds the first line of a kernel; number -1: its name has no number. */
void rd_cuda_kernel_head(rd_cuda_text *t, const char *name, int32_t number);
/* Adds the type of a kernel's argument, and the constants of the text. */
void rd_cuda_write_call(const rd_cuda_text *t, rd_text *to);
/* Declares the shared memory of a block of threads. */
void rd_cuda_declare_shared(rd_cuda_text *t);
/* Declares which team this is, its memory, and the addresses of slots. */
void rd_cuda_declare_team(rd_cuda_text *t);
/* Declares the addresses of slots. */
void rd_cuda_declare_slots(rd_cuda_text *t);
/* Declares which item this is, or which range of an item, and its memory. */
void rd_cuda_declare_work(rd_cuda_text *t, rd_cuda_kernel_kind part);

/* ---- combine_blocks.c ------------------------------------------------------------------------ */
/* Adds the functions that combine nodes of block tiles. */
void rd_cuda_combine_functions(rd_cuda_text *t);
/* Declares which block tile this is. */
void rd_cuda_declare_block_tile(rd_cuda_text *t);
/* Declares the lanes of the tile's rows, in shared memory. */
void rd_cuda_declare_lanes(rd_cuda_text *t);
/* Declares the nodes of all folds, in global memory. */
void rd_cuda_declare_nodes(rd_cuda_text *t);
/* Store the nodes of a team's columns, and of the lanes of the tile's rows. */
void rd_cuda_leave_columns(rd_cuda_text *t, int32_t number);
void rd_cuda_leave_rows(rd_cuda_text *t, int32_t number);
/* Adds the inter-block combine along a loop, and "if (is0)": true in the last block of all. */
void rd_cuda_combine_blocks(rd_cuda_text *t, int along);
/* Reads the combined node of a column, or of a row's lane, after that. */
void rd_cuda_take_combined(rd_cuda_text *t, int32_t number, const char *lane);

/* ---- copy_staged_rows.c ---------------------------------------------------------------------- */
/* Declares staged rows in shared memory. */
void rd_cuda_declare_staged_rows(rd_cuda_text *t);
/* Begins and ends the loop over the items of a block.  It copies rows in before the items, and out
 * behind them. */
void rd_cuda_begin_block(rd_cuda_text *t);
void rd_cuda_end_block(rd_cuda_text *t);

/* ---- shared_transpose.c ---------------------------------------------------------------------- */
/* Declares the squares of a block, in shared memory. */
void rd_cuda_declare_transpose(rd_cuda_text *t);

/* ---- push_blocks.c --------------------------------------------------------------------------- */
/* Moves a cell on to a block: earlier blocks become nodes of the tree. */
void rd_cuda_end_blocks_before(rd_cuda_text *t, const rd_cuda_fold *f, const char *block);
/* Adds "&s0_0[at], &s0_1[at]", for arrays called `name`. */
void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at);
/* "(4 * t + l)": the lane of a cell that is the thread's l-th. */
const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32]);
/* The number of a fold in the program. */
int32_t rd_cuda_fold_number(const rd_cuda_strategy *s, const rd_cuda_fold *f);

/* ---- combine_ranges.c ------------------------------------------------------------------------ */
/* Adds the functions of a split fold. */
void rd_cuda_range_functions(rd_cuda_text *t, int32_t number);
/* Stores the partials of a range. */
void rd_cuda_leave_nodes(rd_cuda_text *t, int32_t number);
/* Adds the inter-team combine, and "if (level == q.head.n_level)": true in an item's last team. */
void rd_cuda_combine_ranges(rd_cuda_text *t, int32_t split);
/* Declares the states of a fold in a row of nodes: "double *const w0 = ..;". */
void rd_cuda_declare_rows(rd_cuda_text *t, int32_t number, const char *name, const char *row);
#endif

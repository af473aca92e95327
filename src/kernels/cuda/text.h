/* text.h - CUDA C of a shape: what its parts share. */
#ifndef RD_KERNELS_CUDA_TEXT_H
#define RD_KERNELS_CUDA_TEXT_H
#include "kernels/cuda/shape.h"

/* Kernels of a text, and parts of them.  A stage is `run`; or `ranges` for each loop that is cut,
 * of which the last team of the last one goes on to the end.  Scans that are cut are `totals`,
 * which stores nothing but what ranges come to, `lift` for each level of nodes, and `go_on`; or
 * `sweep`, which does all of it. */
typedef enum rd_cuda_part {
    RD_PART_RUN,
    RD_PART_RANGES,
    RD_PART_END, /* behind the loops that are cut */
    RD_PART_TOTALS,
    RD_PART_GO_ON,
    RD_PART_SWEEP
} rd_cuda_part;

/* How steps are written, see rd_cuda_waits(). */
typedef enum rd_cuda_steps {
    RD_STEPS_WHOLE,
    RD_STEPS_WAIT, /* those that wait only say whether they move anything */
    RD_STEPS_NEAR  /* none does */
} rd_cuda_steps;

enum { RD_CUDA_NUMBERS = 256 };
enum { RD_CUDA_SPELLED = 16 }; /* the largest number that is spelled out */

typedef struct rd_cuda_text {
    const rd_cuda_shape *s;
    const char          *why; /* it cannot be written: the reason, a part of a sentence */
    int64_t              number[RD_CUDA_NUMBERS];
    int32_t              n_number;

    /* ---- the text being written ---- */
    rd_text          *to;
    int               indent;
    rd_cuda_part      part;
    int32_t           cut;    /* of RD_PART_RANGES: which of the cut loops is run */
    uint64_t          open;   /* axes that have an index here; that of others is 0 */
    int32_t           spread; /* the loop that is spread around here, -1 */
    const rd_address *lane;   /* whose lanes its threads are, NULL: it is no such */

    /* ---- rounds of a loop that are done together (loops.c) ---- */
    const rd_cuda_packs *packs;   /* NULL: none are */
    bool                 apart;   /* a thread's elements are a warp apart, not side by side */
    int32_t              along;   /* elements of a round along the loop, of one thread; 0 */
    int32_t              abreast; /* of pairs: points at hand; 0 */
    uint64_t             moved;   /* folds that have moved on to the block of these rounds */
    uint64_t             packed;  /* slots whose elements are taken several at a time */
    rd_cuda_steps        steps;   /* of elements at hand */
    bool                 tree;    /* items are those of a loop tree (tree.c) */
} rd_cuda_text;

/* The text of all kernels of a shape, without the prelude; its numbers come with each run. */
void rd_cuda_write(rd_cuda_text *t, rd_text *to);

/* text.c */
__attribute__((format(printf, 2, 3))) void rd_cuda_line(rd_cuda_text *t, const char *format, ...);
void rd_cuda_number(rd_cuda_text *t, rd_text *to, int64_t value);
/* The first line of a kernel; its number, -1: it has none. */
void rd_cuda_kernel_head(rd_cuda_text *t, const char *name, int32_t number);
/* A position as an expression; its text is the caller's to free. */
rd_text rd_cuda_position(rd_cuda_text *t, const rd_address *at);

/* An instruction that is no loop. */
void rd_cuda_inst(rd_cuda_text *t, int32_t i);

/* packs.c: how many elements an access is of in the rounds at hand, 0: it is done element by
 * element; loads of several, by the indices of the first; stores of several. */
int32_t rd_cuda_packed(const rd_cuda_text *t, int32_t inst);
void    rd_cuda_declare_takes(rd_cuda_text *t, const rd_cuda_packs *packs);
void    rd_cuda_write_takes(rd_cuda_text *t, const rd_cuda_packs *packs);
bool    rd_cuda_has_puts(const rd_cuda_text *t);
void    rd_cuda_declare_puts(rd_cuda_text *t);
void    rd_cuda_write_puts(rd_cuda_text *t);

/* loops.c: instructions [from, to), with their loops. */
void rd_cuda_items(rd_cuda_text *t, int32_t from, int32_t to);
/* Instructions without loops, for all elements of a thread in round `u` of a loop, or for those of
 * which `some` is true (NULL: all); loads of all its rounds, before. */
void rd_cuda_write_elements(rd_cuda_text *t, int32_t from, int32_t to, int32_t loop, const char *u,
                            const char *some);
void rd_cuda_write_loads(rd_cuda_text *t, int32_t loop);
/* Which of a thread's elements: "l", "e", "e * 4 + l". */
enum { RD_CUDA_ELEMENT = 24 };
const char *rd_cuda_element(const rd_cuda_text *t, char to[RD_CUDA_ELEMENT]);
/* "const int64_t i0 = v0 + l;" of items side by side, of the first of them where `first`. */
void rd_cuda_declare_strip(rd_cuda_text *t, bool first);

/* Have the ranges of a fold become one before this part? */
bool rd_cuda_is_joined(const rd_cuda_text *t, const rd_cuda_fold *f);

/* text.c: which team this is, and its memory; what kernels are called with; what the threads of a block share; slots' addresses; the indices of an item, and what
 * stands around the loops of the grid. */
void rd_cuda_declare_team(rd_cuda_text *t);
void rd_cuda_declare_work(rd_cuda_text *t, rd_cuda_part part);
void rd_cuda_write_call(const rd_cuda_text *t, rd_text *to);
void rd_cuda_declare_shared(rd_cuda_text *t);
void rd_cuda_declare_slots(rd_cuda_text *t);
void rd_cuda_declare_item(rd_cuda_text *t);

/* patches.c: the kernel of folds that cross; lanes of a row; "block1(&a0, &a1);" of a state by a
 * format. */
void    rd_cuda_write_cross(rd_cuda_text *t);
int32_t rd_cuda_lanes_of_rows(const rd_cuda_shape *s);
void    rd_cuda_call_on_state(rd_cuda_text *t, int32_t number, const char *function,
                              const char *format);

/* meets.c: functions of folds that cross; their nodes in memory; those of a team's columns; the
 * end of a patch, which may be that of rows and columns; the node of a column, or of a lane of a
 * row. */
void rd_cuda_meet_functions(rd_cuda_text *t);
void rd_cuda_declare_nodes(rd_cuda_text *t);
void rd_cuda_leave_columns(rd_cuda_text *t, int32_t number);
void rd_cuda_leave_rows(rd_cuda_text *t, int32_t number);
void rd_cuda_arrive_along(rd_cuda_text *t, int along);
void rd_cuda_declare_lanes(rd_cuda_text *t);
void rd_cuda_declare_patch(rd_cuda_text *t);
void rd_cuda_end_patch(rd_cuda_text *t);
void rd_cuda_take_met(rd_cuda_text *t, int32_t number, const char *lane);

/* pairs.c: the loop over points; a loop in a pair. */
void rd_cuda_write_pairs(rd_cuda_text *t, const char *lo, const char *hi);
void rd_cuda_write_in_pair(rd_cuda_text *t, int32_t loop);

/* points.c: arrays in shared memory; what a thread's results bring; the next points; what
 * instructions [from, to) take there, for all pairs at hand; a load's element of that. */
void    rd_cuda_declare_staged(rd_cuda_text *t);
void    rd_cuda_keep_rows(rd_cuda_text *t);
void    rd_cuda_fill_tile(rd_cuda_text *t);
void    rd_cuda_take_staged(rd_cuda_text *t, int32_t from, int32_t to);
rd_text rd_cuda_staged(const rd_cuda_text *t, int32_t inst);

/* staging.c: shared memory; the items of a block in step, which rows come before and go behind; an
 * instruction's element. */
void    rd_cuda_declare_stretches(rd_cuda_text *t);
void    rd_cuda_open_block(rd_cuda_text *t);
void    rd_cuda_close_block(rd_cuda_text *t);
rd_text rd_cuda_in_stretch(rd_cuda_text *t, int32_t inst);

/* squares.c: shared memory; an element of it; all of an item. */
void    rd_cuda_declare_squares(rd_cuda_text *t);
rd_text rd_cuda_in_square(int32_t inst);
void    rd_cuda_write_square(rd_cuda_text *t);

/* folds.c: functions of a fold; its instructions. */
void rd_cuda_fold_functions(rd_cuda_text *t, int32_t number);
void rd_cuda_start(rd_cuda_text *t, int32_t number);
void rd_cuda_step(rd_cuda_text *t, const rd_inst *inst);
/* Have the rounds at hand moved a fold on to their block? */
bool rd_cuda_has_moved(const rd_cuda_text *t, int32_t number);
/* The cell at hand moves on to a block: those before it become nodes. */
void rd_cuda_move_on(rd_cuda_text *t, const rd_cuda_fold *f, const char *block);
/* "b0[c0]", which block the fold is at: in cell c0, or in the lanes of it that a thread has. */
void rd_cuda_add_counter(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *thread);
/* "merge0(&a0, &a1, &b0, &b1);" of variables, or another function of two states. */
void rd_cuda_add_merge(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *function);
/* "&s0_0[at], &s0_1[at]" of arrays by a name. */
void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at);
/* "x, w, i, take" of a step; exponentials are taken. */
void rd_cuda_add_step(rd_cuda_text *t, const rd_inst *inst, const char *states);
/* "int64_t c1", "p1", "l1": the cell, step and lane of an element. */
void rd_cuda_declare_cell(rd_cuda_text *t, int32_t number);
void rd_cuda_declare_place(rd_cuda_text *t, const rd_inst *inst);
/* The step of a fold that an element is, as an expression. */
rd_text rd_cuda_step_of(rd_cuda_text *t, const rd_cuda_fold *f);
/* "(4 * t + l)": the lane of a cell that a thread's l-th is. */
const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32]);
int32_t     rd_cuda_fold_number(const rd_cuda_shape *s, const rd_cuda_fold *f);

/* near.c: does the step of an element wait for those beside it?  What they wait in, n of them; what
 * a step leaves there; the step of an element that moves nothing; steps, once all are there. */
bool rd_cuda_waits(const rd_cuda_text *t, const rd_inst *inst);
void rd_cuda_declare_waiting(rd_cuda_text *t, int32_t i, int32_t n);
void rd_cuda_add_waiting(rd_cuda_text *t, const rd_inst *inst, const char *states);
void rd_cuda_add_near(rd_cuda_text *t, const rd_inst *inst, const char *states);
void rd_cuda_step_again(rd_cuda_text *t, int32_t i, rd_cuda_steps steps);

/* closes.c */
void rd_cuda_close(rd_cuda_text *t, const rd_inst *inst);

/* ranges.c: functions of a cut fold; a range leaves its nodes; "if (all ranges of the item have
 * come)" after the folds of a cut loop are joined; "double *const w0 = ..;", a fold's states in a
 * row of nodes. */
void rd_cuda_range_functions(rd_cuda_text *t, int32_t number);
void rd_cuda_leave_nodes(rd_cuda_text *t, int32_t number);
void rd_cuda_arrive(rd_cuda_text *t, int32_t cut);
void rd_cuda_declare_rows(rd_cuda_text *t, int32_t number, const char *name, const char *row);

/* scans.c */
void rd_cuda_scan_functions(rd_cuda_text *t, int32_t number);
void rd_cuda_scan(rd_cuda_text *t, const rd_inst *inst);
/* Of scans whose loop is cut: a range begins with what is before it; what it comes to is a node;
 * and the kernel that makes nodes of two each. */
void rd_cuda_resume_scan(rd_cuda_text *t, int32_t number);
void rd_cuda_end_totals(rd_cuda_text *t, int32_t number);
void rd_cuda_lift_kernel(rd_cuda_text *t, int32_t number);

/* tiles.c: what a scan is to text/sweep.cuh; all of a tile. */
void rd_cuda_sweep_functions(rd_cuda_text *t, int32_t number);
void rd_cuda_write_tile(rd_cuda_text *t);
#endif

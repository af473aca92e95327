/* lower.h - the state while one stage is written as a loop program. */
#ifndef RD_EVAL_LOWER_LOWER_H
#define RD_EVAL_LOWER_LOWER_H
#include "eval/ir.h"

/* The code of an open loop body.  Values computed at a level stay in registers until the level
 * ends. */
typedef struct rd_opened {
    rd_loop_scope *scope;   /* the loop body */
    rd_inst       *inst;    /* the code so far */
    int32_t        n, room; /* instructions; instructions that have memory */
    int32_t       *value;   /* values with a register at this level */
    int32_t        n_value, room_value;
} rd_opened;

enum { RD_MAX_LEVELS = 2 * RD_MAX_AXES + 2 };

/* The state of lowering. */
typedef struct rd_lowering {
    rd_tree    *tree;
    rd_graph   *graph;
    rd_pool    *pool;                 /* the plan's, where programs live */
    rd_stage   *stage;                /* the current stage */
    rd_program *p;                    /* its program */
    rd_opened   level[RD_MAX_LEVELS]; /* open loop bodies; 0: outside all loops */
    int32_t     depth;                /* innermost open level */
    int32_t    *reg, *at;             /* by value: its register and level, -1 */
    int32_t    *slot;                 /* by value: slot of its storage, -1 */
    int32_t    *fold;                 /* by value: number of its fold in this program, -1 */
    int32_t    *need, n_need;         /* values to compute before a materialised one */
    int32_t    *needed, round;        /* by value: the last round that needed it */
    rd_opened   tail;                 /* the code behind the root loop */
    int32_t     room_address, room_loop, room_fold, room_call, room_sorting, room_scratch;
    bool        failed; /* after an error, which is recorded */
} rd_lowering;

/* levels.c */
/* Returns the place of item n in a growing vector; NULL, and l->failed, without memory.  The
 * plan gets a copy without spare room. */
void      *rd_push(rd_lowering *l, void **vector, int32_t n, int32_t *room, size_t size);
void       rd_emit(rd_lowering *l, rd_opened *level, rd_inst inst);
rd_opened *rd_open_level(rd_lowering *l, rd_loop_scope *scope);
/* Ends the innermost level: forgets its registers and returns its code. */
rd_opened rd_end_level(rd_lowering *l);
void      rd_set_register(rd_lowering *l, int v, int level, int reg);

/* address.c */
int rd_new_address(rd_lowering *l, const rd_address *address);
/* The address of a READ's element, or of a position (COORD), through registers of gathered
 * indices. */
rd_address rd_read_address(rd_lowering *l, const rd_value *v);
/* The address at which value v is stored at the current indices; of a part: in its JOIN. */
rd_address rd_store_address(rd_lowering *l, int v);
/* Fills in the positions of a reduction's blocks, lanes and elements. */
void rd_fold_positions(const rd_lowering *l, const rd_value *v, rd_fold *fold);
/* A reduction has a cell for each index of the kept axes inside the scope where it begins. */
/* rd_cell_axes() lists these axes of value i, the fastest last, and returns their number.
 * rd_cell_address() fills in a cell's address. */
int  rd_cell_axes(const rd_lowering *l, int i, const rd_loop_scope *parent, int *order);
void rd_cell_address(rd_lowering *l, int i, const rd_loop_scope *parent, rd_fold *fold);
/* Gives results and arrays between stages slots; false after recording a failure. */
bool rd_assign_slots(rd_graph *graph, const rd_tree *tree, int32_t *slot);
/* Makes a scratch slot of the program; -1 on failure. */
int rd_new_scratch(rd_lowering *l, int v);
int rd_scratch_of_bytes(rd_lowering *l, int64_t bytes);

/* lower_values.c */
/* Computes all operands of value v into registers; computes a value; stores a register. */
void rd_compute_operands(rd_lowering *l, const rd_value *v);
void rd_compute(rd_lowering *l, int i);
void rd_emit_store(rd_lowering *l, rd_opened *level, int v, int reg);

/* lower_sort.c: sorts the row that value i reads into i's storage. */
void rd_emit_sort(rd_lowering *l, rd_opened *level, int i);

/* unroll_results.c: unrolls loops over a reducer's results in the finished program. */
void rd_unroll_results(rd_lowering *l);

/* share.c: the share of a loop's indices that its bounds leave, above 0 and at most 1.  An
 * estimate from samples; 1 where the bounds are data. */
double rd_bounds_share(const rd_program *p, const rd_graph *g, const rd_loop *loop,
                       const rd_bounds *b);
/* bounds.c: finds loops of the finished program that masks of places bound. */
void rd_bound_loops(rd_lowering *l);
/* half_copies.c: retypes loads and stores of 16-bit floats that are only copied.  False: no
 * memory. */
bool rd_copy_bits(rd_lowering *l);

/* True if the instruction may report something: a bad index, a callback's sentence, a division
 * by 0. */
bool rd_inst_reports(const rd_inst *inst);

/* lower_folds.c: a reduction's cells begin just outside its outermost reduced loop, and its
 * results are taken just after it. */
int  rd_new_loop(rd_lowering *l, rd_loop loop);
int  rd_new_fold(rd_lowering *l, int i, const rd_loop_scope *parent);
void rd_start_folds(rd_lowering *l, const rd_loop_scope *scope, const rd_loop_scope *loop);
void rd_finish_fold(rd_lowering *l, rd_opened *into, int i);
void rd_finish_folds(rd_lowering *l, rd_opened *into, const rd_loop_scope *scope,
                     const rd_loop_scope *loop);
/* Finishes reductions with results read in the scope of an epilogue that was just opened. */
void rd_finish_epilogue_folds(rd_lowering *l, const rd_loop_scope *scope);
#endif

/* lower.h - one stage being written as a loop program. */
#ifndef RD_EVAL_LOWER_LOWER_H
#define RD_EVAL_LOWER_LOWER_H
#include "eval/ir.h"

/* Code of an open loop body.  Values computed at a level stay in registers until the level
 * closes. */
typedef struct rd_opened {
    rd_scope *scope;
    rd_inst  *inst;
    int32_t   n, room;
    int32_t  *value; /* values with a register at this level */
    int32_t   n_value, room_value;
} rd_opened;

enum { RD_MAX_LEVELS = 2 * RD_MAX_AXES + 2 };

typedef struct rd_lowering {
    rd_tree    *tree;
    rd_graph   *graph;
    rd_pool    *pool; /* of the plan: programs live there */
    rd_stage   *stage;
    rd_program *p;
    rd_opened   level[RD_MAX_LEVELS];
    int32_t     depth;         /* innermost open level                                      */
    int32_t    *reg, *at;      /* per value: its register and level, -1                     */
    int32_t    *slot;          /* per value: slot of its storage, -1                        */
    int32_t    *fold;          /* per value: number of its fold in this program, -1         */
    int32_t    *need, n_need;  /* values to compute before an anchor                        */
    int32_t    *needed, round; /* per value: the last round that needed it                 */
    rd_opened   tail;
    int32_t     room_address, room_loop, room_fold, room_call, room_sorting, room_scratch;
    bool        failed; /* out of memory, recorded */
} rd_lowering;

/* levels.c */
/* Appends item number n of `size` bytes to a growing vector; NULL and l->failed without memory.
 * The plan gets a copy without the room. */
void      *rd_push(rd_lowering *l, void **vector, int32_t n, int32_t *room, size_t size);
void       rd_emit(rd_lowering *l, rd_opened *level, rd_inst inst);
rd_opened *rd_open_level(rd_lowering *l, rd_scope *scope);
/* Forgets the registers of the innermost level and hands out its code. */
rd_opened rd_close_level(rd_lowering *l);
void      rd_set_register(rd_lowering *l, int v, int level, int reg);

/* address.c */
int rd_new_address(rd_lowering *l, const rd_address *address);
/* Address of a READ's element, or of a position (COORD), through registers of gathered indices. */
rd_address rd_read_address(rd_lowering *l, const rd_value *v);
/* Where anchor v stores the element of the current place; of a part: in its JOIN. */
rd_address rd_store_address(rd_lowering *l, int v);
/* Positions of a fold's elements and cells. */
void rd_fold_positions(const rd_lowering *l, const rd_value *v, rd_fold *fold);
/* Axes of the accumulators a fold holds at once: kept, not single where its loop stands. */
/* The axes of value i's cells, the one that goes fastest last; how many. */
int  rd_cell_axes(const rd_lowering *l, int i, const rd_scope *parent, int *order);
void rd_cell_address(rd_lowering *l, int i, const rd_scope *parent, rd_fold *fold);
/* Gives every stored value its slot: results, arrays between stages. */
bool rd_assign_slots(rd_graph *graph, const rd_tree *tree, int32_t *slot);
/* A scratch slot of the program being written, -1 on failure. */
int rd_new_scratch(rd_lowering *l, int v);

/* lower_values.c */
/* Gives all operands of anchor v registers; then the value itself. */
void rd_compute_operands(rd_lowering *l, const rd_value *v);
void rd_compute(rd_lowering *l, int i);
void rd_emit_store(rd_lowering *l, rd_opened *level, int v, int reg);

/* lower_sort.c: the row that anchor i reads, in order, goes to where i is stored. */
void rd_emit_sort(rd_lowering *l, rd_opened *level, int i);

/* results.c: of the program that stands. */
void rd_write_out_results(rd_lowering *l);

/* share.c: which share of a loop's indices its bounds leave, above 0 and at most 1.  It is an
 * estimate from samples, and 1 where the bounds are data. */
double rd_bounds_share(const rd_program *p, const rd_graph *g, const rd_loop *loop,
                       const rd_bounds *b);
/* bounds.c: of the program that stands, loops of which masks of places leave out a part. */
void rd_bound_loops(rd_lowering *l);
/* copies.c: of the program that stands, loads and stores of halves that are only copied.  False: no
 * memory. */
bool rd_copy_bits(rd_lowering *l);

/* Could the instruction report something: a bad index, a callback's sentence, a division by 0? */
bool rd_inst_reports(const rd_inst *inst);

/* lower_folds.c: cells begin just outside the outermost loop a fold reduces, and results are taken
 * just after it. */
int  rd_new_loop(rd_lowering *l, rd_loop loop);
int  rd_new_fold(rd_lowering *l, int i, const rd_scope *parent);
void rd_start_folds(rd_lowering *l, const rd_scope *scope, const rd_scope *loop);
void rd_close_fold(rd_lowering *l, rd_opened *into, int i);
void rd_close_folds(rd_lowering *l, rd_opened *into, const rd_scope *scope, const rd_scope *loop);
/* Those whose results are taken at the scope of an epilogue that has just been opened. */
void rd_end_folds(rd_lowering *l, const rd_scope *scope);
#endif

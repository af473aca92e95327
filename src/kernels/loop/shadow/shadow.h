/* shadow.h - a program and its loop tree are run with shadows in place of numbers (symbolic
 * execution).
 *
 * A shadow is a hash of an operation and of its operands' shadows: it stands for the way in which
 * a number was computed.  Numbers with equal shadows were computed alike, so they have the same
 * bits.  Numbers that depend on positions alone are known, and are computed.
 *
 *     r2 = add r0, r1        becomes        hash(add, hash(load s0[5]), hash(load s1[5]))
 *
 * run_program.c runs the program, with folds as program.h defines them.  run_tree.c and
 * run_folds.c run the tree, statement by statement.  loop/check.c compares what both store. */
#ifndef RD_KERNELS_LOOP_SHADOW_H
#define RD_KERNELS_LOOP_SHADOW_H
#include "kernels/loop/loop.h"

/* ---- Shadows --------------------------------------------------------------------------------- */
typedef struct rd_shadow {
    uint64_t bits;  /* of a known number those of its register, else a hash */
    bool     known; /* the number is known                                  */
} rd_shadow;

/* The first input of each kind of hash.  RD_OF_NOTHING is the state or node of no element. */
enum {
    RD_OF_NOTHING,
    RD_OF_MEMORY,
    RD_OF_NUMBER,
    RD_OF_MAP,
    RD_OF_CAST,
    RD_OF_CALL,
    RD_OF_SORT,
    RD_OF_STEP,
    RD_OF_BLOCK,
    RD_OF_JOIN,
    RD_OF_MERGE,
    RD_OF_FINISH
};

/* The hash of two numbers, mixed by the constants of SplitMix64; it is never RD_OF_NOTHING. */
static inline uint64_t rd_mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b << 31 | b >> 33)) * 0x9e3779b97f4a7c15U + b;

    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 32) * 0x94d049bb133111ebU;
    z ^= z >> 29;
    return z ? z : 1;
}

/* hash_values.c: the hash of a shadow; a known int. */
uint64_t  rd_shadow_hash(rd_shadow x);
rd_shadow rd_shadow_of_int(int64_t value);
/* Decisions by a number.  If it is not known, its hash chooses: whether a mask is true; an int, 0
 * or 1, which are in most axes; a label in [0, n_group], of which the last one is no group. */
bool    rd_shadow_true(rd_shadow x);
int64_t rd_shadow_int(rd_shadow x);
int64_t rd_shadow_label(rd_shadow x, int64_t n_group);
/* The result of a value's operation; `in` has its operands. */
rd_shadow rd_shadow_value(const rd_tree_value *let, const rd_shadow *in);
/* Notes the first failure; returns false. */
__attribute__((format(printf, 2, 3))) bool rd_shadow_fails(rd_text *why, const char *format, ...);

/* ---- Memory ---------------------------------------------------------------------------------- */
/* An element that was stored. */
typedef struct rd_shadow_entry {
    int64_t   byte;
    int32_t   slot; /* -1: the entry is free */
    rd_shadow x;
} rd_shadow_entry;

/* A hash table of elements by slot and byte. */
typedef struct rd_shadow_memory {
    rd_shadow_entry *entry;
    size_t           n, room; /* entries that are taken, and all of them */
    bool             failed;  /* no memory */
} rd_shadow_memory;

/* shadow_memory.c: stores an element; finds one, NULL: nothing was stored there. */
void             rd_shadow_store(rd_shadow_memory *m, int32_t slot, int64_t byte, rd_shadow x);
const rd_shadow *rd_shadow_find(const rd_shadow_memory *m, int32_t slot, int64_t byte);
/* An element that nothing has stored.  Where the rows of a group begin is known, as loops go by
 * it. */
rd_shadow rd_shadow_of_memory(const rd_program *p, int32_t slot, int64_t place, int64_t byte);
void      rd_shadow_memory_free(rd_shadow_memory *m);

/* The memory of a task: its own scratch, and what all tasks share. */
typedef struct rd_shadow_memories {
    const rd_program *p;
    rd_shadow_memory *all, *own;
} rd_shadow_memories;

/* Loads and stores element `place` of a slot; sorts a row. */
rd_shadow rd_shadow_load(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place);
void      rd_shadow_put(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place,
                        rd_shadow x);
/* The n elements of a row that a SORT takes, from number `begin` on, and where they lie. */
typedef struct rd_shadow_row {
    int64_t from, to, state, begin, n;
} rd_shadow_row;
void rd_shadow_sort(const rd_shadow_memories *m, int32_t sorting, const rd_shadow_row *row);

/* ---- Folds ----------------------------------------------------------------------------------- */
/* An element of a fold: the numbers of its cell, step and lane, and the hash of its value. */
typedef struct rd_shadow_element {
    int64_t  cell, step;
    int32_t  lane;
    uint64_t hash; /* RD_OF_NOTHING: it is masked, or changes no state */
} rd_shadow_element;

/* The positions of an element, as rd_fold names them. */
typedef struct rd_shadow_coords {
    int64_t cell, lane, lane_line, index;
} rd_shadow_coords;

/* hash_elements.c: the number of an element's step; steps along the lane position follow each
 * other. */
int64_t rd_shadow_step_number(const rd_fold *f, const rd_shadow_coords *at);
/* True if the fold has the same bits for any order of its elements. */
bool rd_shadow_is_unordered(const rd_fold *f);
/* The element of a step; w and mask may be NULL. */
rd_shadow_element rd_shadow_element_of(const rd_fold *f, const rd_shadow_coords *at, rd_shadow x,
                                       const rd_shadow *w, const rd_shadow *mask);
/* Hashes, or sums of unordered folds; RD_OF_NOTHING changes nothing.  A state after one more
 * element; the node of a block; the merge of two nodes; of two elements' nodes within a block. */
uint64_t rd_shadow_step(const rd_fold *f, uint64_t state, uint64_t element);
uint64_t rd_shadow_block(const rd_fold *f, uint64_t state);
uint64_t rd_shadow_merge(const rd_fold *f, uint64_t a, uint64_t b);
uint64_t rd_shadow_join(const rd_fold *f, uint64_t a, uint64_t b);
/* Merges all lanes into node[0]: lane l takes lane l + h for h = lanes/2 .. 1. */
void rd_shadow_lanes(const rd_fold *f, uint64_t *node);
/* Result k of a node. */
rd_shadow rd_shadow_finish(const rd_fold *f, uint64_t node, int32_t k);

/* ---- Runs ------------------------------------------------------------------------------------ */
/* run_program.c: runs all of a program; false: no memory. */
bool rd_shadow_program(const rd_program *p, rd_shadow_memory *all);

/* How a tree is run. */
typedef struct rd_shadow_shares {
    int32_t tasks; /* so many tasks share the root loop      */
    bool    steps; /* each runs its share in the steps of long runs */
} rd_shadow_shares;

/* run_tree.c: runs all of a tree; false: *why has a sentence, or there was no memory. */
bool rd_shadow_tree(const rd_schedule *t, rd_shadow_shares shares, rd_shadow_memory *all,
                    rd_text *why);
/* loop/check.c: statements that a run visits if it runs each instruction of its program once. */
int64_t rd_shadow_visits(const rd_schedule *t);

/* The states and nodes of a task's folds. */
typedef struct rd_shadow_folds rd_shadow_folds;

/* A statement of a fold at its positions. */
typedef struct rd_shadow_at {
    const rd_stmt   *by;
    rd_shadow_coords coords;
    int64_t          more; /* counts in subscripts of states alone */
} rd_shadow_at;

/* accumulators.c: NULL: no memory. */
rd_shadow_folds *rd_shadow_folds_new(const rd_schedule *t, rd_text *why);
void             rd_shadow_folds_free(rd_shadow_folds *s);
/* Declares an array: nothing in it has begun. */
void rd_shadow_declare(rd_shadow_folds *s, int32_t store);

/* Statements.  False: *why has a sentence.  accumulators.c: BEGIN. */
bool rd_shadow_begin(rd_shadow_folds *s, const rd_stmt *by);
/* join_partials.c:  RD_S_STORE_PARTIALS and RD_S_COMBINE_PARTIALS of all cells.  The item is a hash
 * of the indices of loops over items. */
void rd_shadow_set_item(rd_shadow_folds *s, uint64_t item);
bool rd_shadow_store_partials(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_combine_partials(rd_shadow_folds *s, const rd_stmt *by);
/* scan_in_blocks.c: RD_S_SCAN_BLOCKS; RD_S_SCAN_RESULT. */
bool rd_shadow_scan_blocks(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_scan_result(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y);
/* scan_partials.c: RD_S_BUILD_TREE, of the item at hand, or outside of items of all items;
 * RD_S_LOOK_BACK. */
bool rd_shadow_build_tree(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_look_back(rd_shadow_folds *s, const rd_stmt *by, int64_t step);
/* run_folds.c: STEP; PREFIX. */
bool rd_shadow_take(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                    int64_t label);
bool rd_shadow_prefix(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                      rd_shadow *y);
/* move_states.c:  RD_S_LOAD_STATES and RD_S_STORE_STATES, with the states of the other array from
 * `other` on; RD_S_SWITCH_STATE. */
bool rd_shadow_move(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other);
bool rd_shadow_switch_state(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other,
                            int64_t label);
/* run_folds.c: RD_S_PUSH_IF_LAST; RD_S_PUSH_IF_NEW; RD_S_PUSH; RD_S_MERGE_BLOCKS;
 * RD_S_MERGE_LANES; RD_S_FINISH. */
bool rd_shadow_push_if_last(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_push_if_new(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_push(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_merge_blocks(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_merge_lanes(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_results(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y);
/* Adds the folds of the next task, if tasks share them. */
bool rd_shadow_folds_join(rd_shadow_folds *into, const rd_shadow_folds *next);
#endif

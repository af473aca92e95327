/* shadow.h - a program and its loop tree are run with shadows in place of numbers.
 *
 * A shadow stands for the way in which a number was computed: it is a hash of the operation and of
 * its operands' shadows.  Two numbers whose shadows are equal were computed alike, so they have the
 * same bits.  What depends on positions alone is known, and is computed.
 *
 * run_program.c says what the program's results are, and reads folds as program.h defines them.
 * run_tree.c and run_folds.c run the tree, statement by statement.  check.c compares. */
#ifndef RD_KERNELS_LOOP_SHADOW_H
#define RD_KERNELS_LOOP_SHADOW_H
#include "kernels/loop/loop.h"

/* ---- Shadows --------------------------------------------------------------------------------- */
/* Of a known number the bits of its register, else a hash. */
typedef struct rd_shadow {
    uint64_t bits;
    bool     known;
} rd_shadow;

/* What hashes begin with; 0 is a node of nothing. */
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

/* Is never RD_OF_NOTHING. */
static inline uint64_t rd_mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b << 31 | b >> 33)) * 0x9e3779b97f4a7c15U + b;

    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 32) * 0x94d049bb133111ebU;
    z ^= z >> 29;
    return z ? z : 1;
}

uint64_t  rd_shadow_hash(rd_shadow x);
rd_shadow rd_shadow_of_int(int64_t value);
/* What decides something although it is not known is chosen by its hash: whether a mask is true,
 * an int (0 or 1, which most axes have), an index in [0, extent), a label in [0, n_group] of
 * which the last is none. */
bool    rd_shadow_true(rd_shadow x);
int64_t rd_shadow_int(rd_shadow x);
int64_t rd_shadow_label(rd_shadow x, int64_t n_group);
/* The result of a value's operation; `in` has its operands. */
rd_shadow rd_shadow_value(const rd_let *let, const rd_shadow *in);

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Elements that were stored, by slot and byte. */
typedef struct rd_shadow_entry {
    int64_t   byte;
    int32_t   slot; /* -1: none */
    rd_shadow x;
} rd_shadow_entry;

typedef struct rd_shadow_memory {
    rd_shadow_entry *entry;
    size_t           n, room;
    bool             failed; /* no memory */
} rd_shadow_memory;

void rd_shadow_store(rd_shadow_memory *m, int32_t slot, int64_t byte, rd_shadow x);
/* NULL: nothing was stored there. */
const rd_shadow *rd_shadow_find(const rd_shadow_memory *m, int32_t slot, int64_t byte);
/* An element of a slot that nothing has stored: where a group's rows begin in a list of such
 * places is known, as loops go by it. */
rd_shadow rd_shadow_of_memory(const rd_program *p, int32_t slot, int64_t place, int64_t byte);
void      rd_shadow_memory_free(rd_shadow_memory *m);

/* Slots of the task alone are apart from the others. */
typedef struct rd_shadow_memories {
    const rd_program *p;
    rd_shadow_memory *all, *own;
} rd_shadow_memories;

rd_shadow rd_shadow_load(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place);
void      rd_shadow_put(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place,
                        rd_shadow x);
void      rd_shadow_sort(const rd_shadow_memories *m, int32_t sorting, int64_t from, int64_t to);

/* ---- Folds ----------------------------------------------------------------------------------- */
/* An element: of a masked one, or one that changes no state, `hash` is RD_OF_NOTHING. */
typedef struct rd_shadow_element {
    int64_t  cell, step;
    int32_t  lane;
    uint64_t hash;
} rd_shadow_element;

typedef struct rd_shadow_coords {
    int64_t cell, lane, outer, index;
} rd_shadow_coords;

/* The number of an element's step: those of all lanes along the lane position follow each other. */
int64_t rd_shadow_step_number(const rd_fold *f, const rd_shadow_coords *at);
/* May elements come in any order? */
bool rd_shadow_is_unordered(const rd_fold *f);
/* w and mask may be NULL. */
rd_shadow_element rd_shadow_element_of(const rd_fold *f, const rd_shadow_coords *at, rd_shadow x,
                                       const rd_shadow *w, const rd_shadow *mask);
/* A state after one more element; of a block; two nodes; elements' nodes within a block.  Nodes of
 * nothing change nothing, and where the order does not count these are sums. */
uint64_t rd_shadow_step(const rd_fold *f, uint64_t state, uint64_t element);
uint64_t rd_shadow_block(const rd_fold *f, uint64_t state);
uint64_t rd_shadow_merge(const rd_fold *f, uint64_t a, uint64_t b);
uint64_t rd_shadow_join(const rd_fold *f, uint64_t a, uint64_t b);
/* Lane l takes lane l + h for h = lanes/2 .. 1; node[0] is what all come to. */
void      rd_shadow_lanes(const rd_fold *f, uint64_t *node);
rd_shadow rd_shadow_finish(const rd_fold *f, uint64_t node, int32_t k);

/* ---- Runs ------------------------------------------------------------------------------------ */
/* All of a program; false: no memory. */
bool rd_shadow_program(const rd_program *p, rd_shadow_memory *all);
/* All of a tree in so many tasks, each of which takes its share in so many steps; false: *why has a
 * sentence, or there was no memory. */
typedef struct rd_shadow_shares {
    int32_t tasks;
    bool    steps;
} rd_shadow_shares;
bool rd_shadow_tree(const rd_schedule *t, rd_shadow_shares shares, rd_shadow_memory *all,
                    rd_text *why);

/* run_folds.c: states and nodes of a task. */
typedef struct rd_shadow_folds rd_shadow_folds;

/* A statement of a fold and its positions; `more` counts in subscripts of states alone. */
typedef struct rd_shadow_at {
    const rd_stmt   *by;
    rd_shadow_coords coords;
    int64_t          more;
} rd_shadow_at;

rd_shadow_folds *rd_shadow_folds_new(const rd_schedule *t, rd_text *why); /* NULL: no memory */
void             rd_shadow_folds_free(rd_shadow_folds *s);
/* The array is new: nothing in it has begun. */
void rd_shadow_declare(rd_shadow_folds *s, int32_t store);
/* False: *why has a sentence. */
bool rd_shadow_begin(rd_shadow_folds *s, const rd_stmt *by);
/* join_partials.c:  LEAVE and JOIN, of all cells; the item at hand, a hash of the indices of
 * loops over items. */
void rd_shadow_set_item(rd_shadow_folds *s, uint64_t item);
bool rd_shadow_store_partials(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_combine_partials(rd_shadow_folds *s, const rd_stmt *by);
/* scan_in_blocks.c: WITHIN; SOFAR. */
bool rd_shadow_scan_blocks(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_scan_result(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y);
/* scan_partials.c: LIFT, of the item at hand, or outside of items of all; AWAIT. */
bool rd_shadow_build_tree(rd_shadow_folds *s, const rd_stmt *by);
bool rd_shadow_look_back(rd_shadow_folds *s, const rd_stmt *by, int64_t step);
bool rd_shadow_take(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                    int64_t label);
bool rd_shadow_prefix(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                      rd_shadow *y);
/* NEAR and BACK: from or to these states of the other array.  TURN: to those of the label. */
bool rd_shadow_move(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other);
bool rd_shadow_switch_state(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other,
                            int64_t label);
bool rd_shadow_push_if_last(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_push_if_new(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_push(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_merge_blocks(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_merge_lanes(rd_shadow_folds *s, const rd_shadow_at *at);
bool rd_shadow_results(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y);
/* The folds that tasks share take those of the task behind. */
bool rd_shadow_folds_join(rd_shadow_folds *into, const rd_shadow_folds *next);

/* Instructions that a run of the tree goes through, if it goes through those of its program once. */
int64_t rd_shadow_visits(const rd_schedule *t);

/* Notes the first failure; false. */
__attribute__((format(printf, 2, 3))) bool rd_shadow_fails(rd_text *why, const char *format, ...);
#endif

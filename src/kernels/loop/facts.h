/* facts.h - analyses of a loop tree.
 *
 * Every answer follows from the tree alone.  No pass stores one, as the next pass may change the
 * tree.  An analysis costs at most a traversal of the statements, so passes ask what they need.
 *
 * A loop is named by its statement.  "With the rounds of a loop" means: from one round of that loop
 * to the next, while loops around it stand still and loops inside it are at the same round. */
#ifndef RD_KERNELS_LOOP_FACTS_H
#define RD_KERNELS_LOOP_FACTS_H
#include "kernels/loop/loop.h"

/* ---- twin_steps.c: steps that take the same elements ----------------------------------------- */
/* True if both statements are steps of two folds that take the same element to the same cell. */
bool rd_takes_same_element(const rd_schedule *t, int32_t a, int32_t b);
/* The argmin or argmax beside a step of min or max, whose states hold the extreme as well; -1. */
int32_t rd_place_beside(const rd_schedule *t, int32_t stmt);

/* ---- nesting.c: where statements stand ------------------------------------------------------- */
/* True if the statement stands in the body of the other one, at any depth.  No statement stands in
 * itself. */
bool rd_stands_in(const rd_schedule *t, int32_t stmt, int32_t body);
/* The innermost loop around a statement, -1: none. */
int32_t rd_loop_around(const rd_schedule *t, int32_t stmt);
/* Lists all loops around a statement, from the inside out; returns how many there are. */
int32_t rd_loops_around(const rd_schedule *t, int32_t stmt, int32_t *loop, int32_t most);
/* The statement itself if it is a vector loop, else the innermost vector loop around it; -1: none.
 */
int32_t rd_vector_around(const rd_schedule *t, int32_t stmt);
/* The innermost loop around a statement that binds an axis, or has it as a mark; -1: none. */
int32_t rd_binder_of(const rd_schedule *t, int32_t stmt, int32_t axis);
/* The first loop of the tree that comes from loop `of` of the program, -1. */
int32_t rd_loop_from(const rd_schedule *t, int32_t of);
/* The first loop over an axis in a body, at any depth; -1: none. */
int32_t rd_loop_over(const rd_schedule *t, int32_t body, int32_t axis);
/* Counts the statements of some kinds in a body, at any depth; `kinds` is a sum of RD_KIND_BIT()s.
 */
#define RD_KIND_BIT(kind) (UINT64_C(1) << (kind))
_Static_assert(RD_N_STMTS <= 64, "a bit for each kind of statement");
int32_t rd_count_kinds(const rd_schedule *t, int32_t body, uint64_t kinds);
/* True if the statement is a loop without a loop in its body. */
bool rd_is_innermost(const rd_schedule *t, int32_t loop);
/* The next innermost loop in a body behind `last`; the first one if `last` is the body; -1: none.
 */
int32_t rd_next_innermost(const rd_schedule *t, int32_t body, int32_t last);
/* The innermost statement in whose body both stand; -1: they are in different parts. */
int32_t rd_common_body(const rd_schedule *t, int32_t a, int32_t b);
/* The next EXIT behind `last` that leaves the loop; the first one if `last` is the loop; -1: none.
 */
int32_t rd_next_exit(const rd_schedule *t, int32_t loop, int32_t last);
/* True if `a` is written before `b`.  A statement is before the statements in its body. */
bool rd_comes_before(const rd_schedule *t, int32_t a, int32_t b);

/* ---- uses.c: uses of values ------------------------------------------------------------------ */
/* Lists the values that a statement reads itself, each once: operands, values in positions and in
 * the bounds of its loop.  Returns how many; at most `most` are written. */
enum { RD_MOST_READS = 256 };
int32_t rd_reads_of(const rd_schedule *t, int32_t stmt, int32_t *value, int32_t most);
/* True if the statement itself reads the value. */
bool rd_reads_value(const rd_schedule *t, int32_t stmt, int32_t value);
/* The next statement behind `last` that reads a value, -1; the first one if `last` is -1. */
int32_t rd_next_use(const rd_schedule *t, int32_t value, int32_t last);
int32_t rd_last_use(const rd_schedule *t, int32_t value);
/* True if a statement in a body reads the value, at any depth; if a statement elsewhere does. */
bool rd_is_read_in(const rd_schedule *t, int32_t value, int32_t body);
bool rd_is_read_outside(const rd_schedule *t, int32_t value, int32_t body);

/* ---- varies.c: what changes with the rounds of a loop ---------------------------------------- */
/* Marks which of the t->n_let values change with the rounds of a loop. */
void rd_find_varying(const rd_schedule *t, int32_t loop, bool *found);
/* True if this value does.  A pass with several questions calls rd_find_varying(). */
bool rd_value_varies(const rd_schedule *t, int32_t loop, int32_t value);

/* True if a value changes along an axis, by its address or an operand; `varies` has the answers for
 * its operands. */
bool rd_let_varies(const rd_schedule *t, const rd_tree_value *let, int32_t axis,
                   const bool *varies);

/* How far something moves from one round to the next.  A stride is unknown if it is no constant, or
 * if it is read at run time. */
typedef struct rd_stride {
    bool    known;
    int64_t by;
} rd_stride;

/* The stride of a position at a statement; of the address of a LOAD or STORE, in elements. */
rd_stride rd_position_stride(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at);
rd_stride rd_access_stride(const rd_schedule *t, int32_t loop, int32_t stmt);
/* places.c: the same, but at places, indices that may be clamped, that of the unclamped index. */
rd_stride rd_usual_stride(const rd_schedule *t, int32_t loop, int32_t stmt);
/* The coefficient of an axis in a position, also by way of places; rd_coef_at_places() is false if
 * memory holds a term. */
bool    rd_coef_at_places(const rd_schedule *t, const rd_linear *at, int32_t axis, int64_t *coef);
int64_t rd_coef_unclamped(const rd_schedule *t, const rd_linear *at, int32_t axis);
/* True unless the position is the same in all rounds. */
bool rd_position_varies(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at);
/* True if the bounds of a loop inside change with the rounds of the one around it. */
bool rd_edges_vary(const rd_schedule *t, int32_t loop, int32_t inside);
/* True if the address has a value that changes with the rounds. */
bool rd_is_gather(const rd_schedule *t, int32_t loop, int32_t stmt);

/* ---- aliasing.c, dependence.c: which accesses touch the same elements ------------------------ */
/* An access to memory: a LOAD, a STORE, or one side of a SORT. */
typedef struct rd_access {
    int32_t   stmt, slot, store; /* the program's memory, or the tree's */
    rd_dtype  type;
    rd_linear at;
    int64_t   n; /* elements from there on */
    bool      writes;
} rd_access;
int32_t rd_accesses_of(const rd_schedule *t, int32_t stmt, rd_access access[2]);

/* True if two accesses may alias.  Different slots are different memory, with one exception: a
 * result that is written over an operand.  eval/run/alias.c allows it where each element is read
 * in the round that writes it, before it is written. */
bool rd_may_alias(const rd_schedule *t, const rd_access *a, const rd_access *b);
/* True if they may touch the same element in one round of the loop; in different rounds (a
 * loop-carried dependence). */
bool rd_may_touch_within(const rd_schedule *t, int32_t loop, const rd_access *a,
                         const rd_access *b);
bool rd_may_touch_across(const rd_schedule *t, int32_t loop, const rd_access *a,
                         const rd_access *b);
/* The same of two loops that would be fused: each access is in a body of its own. */
bool rd_may_touch_across_two(const rd_schedule *t, int32_t loop_a, const rd_access *a,
                             int32_t loop_b, const rd_access *b);
/* True if another round of the loop may read or write again what this STORE in it writes. */
bool rd_is_store_seen(const rd_schedule *t, int32_t loop, int32_t store);

/* ---- trips.c: trip counts and footprints ----------------------------------------------------- */
/* True if each round of a block loop ends where a block of the fold does. */
bool rd_ends_with_block(const rd_schedule *t, int32_t fold, int32_t loop);
/* Rounds of a loop each time that it is reached: in the mean; at most, -1: not known. */
double  rd_trips_of(const rd_schedule *t, int32_t loop);
int64_t rd_most_trips(const rd_schedule *t, int32_t loop);
/* How often a statement is run in all, by all tasks; in one round of a loop around it. */
double rd_rounds_of(const rd_schedule *t, int32_t stmt);
double rd_rounds_within(const rd_schedule *t, int32_t stmt, int32_t loop);

/* The memory that an access touches in one round of a loop. */
typedef struct rd_footprint {
    double elements, bytes; /* each element once                                       */
    double lines;           /* cache lines of 64 bytes                                 */
    bool   whole;           /* it touches all bytes of these lines, but for the ends of a run */
} rd_footprint;
rd_footprint rd_footprint_of(const rd_schedule *t, int32_t loop, int32_t stmt);

/* ---- accumulator_mapping.c: how rounds of a loop map to the states of a fold ----------------- */
/* docs/loops.md has a table of the mappings and of what each allows. */
typedef enum rd_mapping {
    RD_MAPS_NOT,    /* no statement of the fold stands in the loop                           */
    RD_MAPS_SAME,   /* the fold begins and ends within one round                             */
    RD_MAPS_CELLS,  /* each round has a cell of its own; lane and step stand still           */
    RD_MAPS_LANES,  /* the lane moves by 1: as many rounds as lanes are independent          */
    RD_MAPS_BLOCKS, /* each round is whole blocks                                            */
    RD_MAPS_ANY,    /* the reducer gives the same bits in any order                          */
    RD_MAPS_STEPS,  /* rounds are steps of the same states: their order decides bits         */
    RD_MAPS_MIXED   /* lane and cell move, or neither does, or a stride is unknown           */
} rd_mapping;
rd_mapping rd_mapping_of(const rd_schedule *t, int32_t fold, int32_t loop);
/* "cells" */
const char *rd_mapping_name(rd_mapping mapping);
/* True if the loop moves the step, whatever its mapping is.  A loop of LANES does where it has more
 * rounds than there are lanes. */
bool rd_moves_step(const rd_schedule *t, int32_t fold, int32_t loop);

/* True if the element at these positions, in a loop's first round, is always the first of a block.
 */
bool rd_begins_with_block(const rd_schedule *t, int32_t fold, int32_t loop, const rd_fold_at *at);

/* True if the first element of each range of the loop has lane 0. */
bool rd_begins_with_lane_0(const rd_schedule *t, int32_t fold, int32_t loop);

/* ---- element_cells.c: cells of a fold along several axes ------------------------------------- */
/* Cells that an element of a strip has of its own, of a fold that begins in the strip.  0: they are
 * many, or cannot be numbered without the strip's axis. */
int64_t rd_cells_of_element(const rd_schedule *t, int32_t fold, int32_t axis);
/* The number of such a cell. */
rd_linear rd_cell_of_element(rd_schedule *t, int32_t fold, int32_t axis, rd_linear cell);

/* constant_remainder.c: true if a floor division or remainder of floats is by a constant above 0
 * that is not near the ends of the type's range. */
bool rd_is_constant_remainder(const rd_schedule *t, const rd_tree_value *let);

/* ---- row_transpose.c ------------------------------------------------------------------------- */
/* True if the loop is a transpose: a vector loop by call that copies each row, of an array or of
 * the program's memory, to a column of an array. */
bool rd_is_transpose(const rd_schedule *t, int32_t loop);

/* ---- vector_legality.c, enclose.c, legality.c: which changes of a tree keep its meaning ------ */
/* Where a change is not legal, *why gets a part of a sentence that says so; `why` may be NULL.  It
 * is rd_why_no_memory where memory lacks for an answer. */
extern const char rd_why_no_memory[];
/* True if the rounds of a loop are independent, by meaning alone. */
bool rd_may_be_parallel(const rd_schedule *t, int32_t loop, const char **why);
/* True if the loop may be a vector loop, in texts that need states and strips side by side. */
bool rd_may_be_vector(const rd_schedule *t, int32_t loop, const char **why);
/* The same if serial steps may stand in a loop of their own behind the vectors. */
bool rd_may_be_strip_mined(const rd_schedule *t, int32_t loop, const char **why);
/* True if the steps of a group-by must stay serial: labels of elements may be equal, and nothing
 * else in the loop needs the fold. */
bool rd_needs_serial_steps(const rd_schedule *t, int32_t fold, int32_t loop);
/* True if blocks of such a fold end amid rows of the axis, so that ranges begin and end anywhere.
 */
bool rd_ends_amid_rows(const rd_schedule *t, int32_t fold, int32_t axis);
/* True if a loop over an axis may stand around all of a body.  Loops over that axis in the body
 * then take one of its rounds each. */
bool rd_may_enclose(const rd_schedule *t, int32_t body, int32_t axis, const char **why);
/* Puts that loop there, of so many indices a round; returns its statement, -1. */
int32_t rd_enclose_in_loop(rd_schedule *t, int32_t body, int32_t axis, int64_t step);
/* True if a loop may be interchanged with the one that is all of its body. */
bool rd_may_interchange(const rd_schedule *t, int32_t outer, int32_t inner, const char **why);
/* True if a loop may be split in two (fission), of which the second begins with `at`, a statement
 * of its body.  Values of the first that the second reads need arrays. */
bool rd_may_fission(const rd_schedule *t, int32_t loop, int32_t at, const char **why);
/* True if a loop and the one behind it may be fused. */
bool rd_may_fuse(const rd_schedule *t, int32_t first, int32_t second, const char **why);
#endif

/* facts.h - questions about a loop tree.
 *
 * Every answer follows from the tree alone.  No pass stores one, as the next pass may change the
 * tree.  A question costs at most a walk over the statements, so passes ask what they need.
 *
 * A loop is named by its statement.  "With the rounds of a loop" means: from one round of that loop
 * to the next, while loops around it stand still and loops inside it are at the same round. */
#ifndef RD_KERNELS_LOOP_FACTS_H
#define RD_KERNELS_LOOP_FACTS_H
#include "kernels/loop/loop.h"

/* ---- nesting.c: where statements stand --------------------------------------------------------- */
/* Does it stand in the body of the other one, at any depth?  Nothing stands in itself. */
bool rd_stands_in(const rd_schedule *t, int32_t stmt, int32_t body);
/* The innermost loop around a statement, -1: none.  All of them, from the inside out: how many. */
int32_t rd_loop_around(const rd_schedule *t, int32_t stmt);
int32_t rd_loops_around(const rd_schedule *t, int32_t stmt, int32_t *loop, int32_t most);
/* The statement, or the innermost vector loop around it; -1: none. */
int32_t rd_vector_around(const rd_schedule *t, int32_t stmt);
/* The innermost loop around a statement that binds an axis, or has it as a mark; -1: none. */
int32_t rd_binder_of(const rd_schedule *t, int32_t stmt, int32_t axis);
/* The first loop of the tree that comes from that one of the program, -1. */
int32_t rd_loop_from(const rd_schedule *t, int32_t of);
/* The first loop over an axis in a body, at any depth; -1: none. */
int32_t rd_loop_over(const rd_schedule *t, int32_t body, int32_t axis);
/* How many statements of some kinds, a sum of RD_KIND_BIT()s, stand in a body at any depth. */
#define RD_KIND_BIT(kind) (UINT32_C(1) << (kind))
int32_t rd_count_kinds(const rd_schedule *t, int32_t body, uint32_t kinds);
/* Has a loop no loop in its body?  The next such loop in a body behind `last`, or the first one if
 * `last` is the body itself; -1: there is none. */
bool    rd_is_innermost(const rd_schedule *t, int32_t loop);
int32_t rd_next_innermost(const rd_schedule *t, int32_t body, int32_t last);
/* The statement in whose body both stand, at any depth; -1: they are in different parts. */
int32_t rd_common_body(const rd_schedule *t, int32_t a, int32_t b);
/* The next EXIT in a loop behind `last` that leaves it, the first one if `last` is the loop; -1. */
int32_t rd_next_exit(const rd_schedule *t, int32_t loop, int32_t last);
/* Is `a` written before `b`?  What holds a statement is before it. */
bool rd_comes_before(const rd_schedule *t, int32_t a, int32_t b);

/* ---- uses.c: who reads values ----------------------------------------------------------------- */
/* Values that a statement reads itself, each once: operands, indices in positions and edges of its
 * loop.  How many; at most `most` are written. */
enum { RD_MOST_READS = 256 };
int32_t rd_reads_of(const rd_schedule *t, int32_t stmt, int32_t *value, int32_t most);
bool    rd_reads_value(const rd_schedule *t, int32_t stmt, int32_t value);
/* The next statement behind `last` that reads a value, -1; the first one if `last` is -1. */
int32_t rd_next_use(const rd_schedule *t, int32_t value, int32_t last);
int32_t rd_last_use(const rd_schedule *t, int32_t value);
/* Does a statement in a body read it, at any depth; does one elsewhere? */
bool rd_is_read_in(const rd_schedule *t, int32_t value, int32_t body);
bool rd_is_read_outside(const rd_schedule *t, int32_t value, int32_t body);

/* ---- varies.c: what changes with the rounds of a loop ----------------------------------------- */
/* Whether each of the t->n_let values changes with the rounds of a loop. */
void rd_find_varying(const rd_schedule *t, int32_t loop, bool *found);
/* The same of one value; a pass with several questions asks for all values at once. */
bool rd_value_varies(const rd_schedule *t, int32_t loop, int32_t value);

/* Does a value change along an axis, by an address or an operand; `varies` is known of what it reads. */
bool rd_let_varies(const rd_schedule *t, const rd_let *let, int32_t axis, const bool *varies);

/* By how much something moves from one round to the next.  Not known: by a number that changes, or
 * that memory says. */
typedef struct rd_stride {
    bool    known;
    int64_t by;
} rd_stride;

/* Of a position at a statement; of the address of a LOAD or STORE in elements. */
rd_stride rd_position_stride(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at);
rd_stride rd_access_stride(const rd_schedule *t, int32_t loop, int32_t stmt);
bool      rd_position_varies(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at);
/* Do the bounds of a loop inside change with the rounds of the one around it? */
bool rd_edges_vary(const rd_schedule *t, int32_t loop, int32_t inside);
/* Does a value count in the address that changes with the rounds? */
bool rd_is_gather(const rd_schedule *t, int32_t loop, int32_t stmt);

/* ---- aliasing.c, dependence.c: which accesses touch the same elements ----------------------------- */
/* What a statement does with memory: a LOAD, a STORE, and both sides of a SORT. */
typedef struct rd_access {
    int32_t   stmt, slot, store; /* the program's memory, or the tree's */
    rd_dtype  type;
    rd_linear at;
    int64_t   n; /* elements from there on */
    bool      writes;
} rd_access;
int32_t rd_accesses_of(const rd_schedule *t, int32_t stmt, rd_access access[2]);

/* May two accesses be of the same memory?  Different slots are different memory, but for a result
 * that is written over an operand: eval/run/alias.c allows it where each element is read in the
 * round that writes it, before it is written. */
bool rd_may_share(const rd_schedule *t, const rd_access *a, const rd_access *b);
/* May they touch the same element in one round of the loop; in different rounds? */
bool rd_may_touch_within(const rd_schedule *t, int32_t loop, const rd_access *a,
                         const rd_access *b);
bool rd_may_touch_across(const rd_schedule *t, int32_t loop, const rd_access *a,
                         const rd_access *b);
/* The same of two loops that would be one: each access is in a body of its own. */
bool rd_may_touch_across_two(const rd_schedule *t, int32_t loop_a, const rd_access *a,
                             int32_t loop_b, const rd_access *b);
/* May a round of the loop read or write again what this STORE in it has written in another round? */
bool rd_is_store_seen(const rd_schedule *t, int32_t loop, int32_t store);

/* ---- trips.c: how often, and how much --------------------------------------------------------- */
/* Does each round of a block loop end where a block of the fold does? */
bool rd_ends_with_block(const rd_schedule *t, int32_t fold, int32_t loop);
/* Rounds of a loop each time that it is reached: in the mean; at most, -1: not known. */
double  rd_trips_of(const rd_schedule *t, int32_t loop);
int64_t rd_most_trips(const rd_schedule *t, int32_t loop);
/* How often a statement is run in all, by all tasks, and in one round of a loop around it. */
double rd_rounds_of(const rd_schedule *t, int32_t stmt);
double rd_rounds_within(const rd_schedule *t, int32_t stmt, int32_t loop);

/* What an access touches in one round of a loop. */
typedef struct rd_footprint {
    double elements, bytes; /* each element once                                       */
    double lines;           /* of 64 bytes                                             */
    bool   whole;           /* of these lines all bytes, but for the ends of a run     */
} rd_footprint;
rd_footprint rd_footprint_of(const rd_schedule *t, int32_t loop, int32_t stmt);

/* ---- accumulator_mapping.c: how rounds of a loop meet the states of a fold ---------------------------------- */
/* As docs/loops.md says. */
typedef enum rd_mapping {
    RD_MAPS_NOT,    /* no statement of the fold stands in the loop                           */
    RD_MAPS_SAME,   /* the fold begins and ends within one round                             */
    RD_MAPS_CELLS,  /* each round has a cell of its own; lane and step stand still           */
    RD_MAPS_LANES,  /* the lane moves by 1; so many rounds as there are lanes go together    */
    RD_MAPS_BLOCKS, /* each round is whole blocks                                            */
    RD_MAPS_ANY,    /* the reducer gives the same bits in any order                          */
    RD_MAPS_STEPS,  /* rounds are steps of the same states: their order decides bits         */
    RD_MAPS_MIXED   /* lane and cell move, or neither does, or no number says by how much    */
} rd_mapping;
rd_mapping rd_mapping_of(const rd_schedule *t, int32_t fold, int32_t loop);
/* "cells" */
const char *rd_mapping_name(rd_mapping meet);
/* Does the loop move the step, beside what rd_mapping_of() says?  With LANES it does where the rounds are
 * more than the lanes. */
bool rd_moves_step(const rd_schedule *t, int32_t fold, int32_t loop);

/* Is the element at these positions, in a loop's first round, always the first one of a block? */
bool rd_begins_with_block(const rd_schedule *t, int32_t fold, int32_t loop, const rd_fold_at *at);

/* Is the first element of each range of the loop of lane 0? */
bool rd_begins_with_lane_0(const rd_schedule *t, int32_t fold, int32_t loop);

/* ---- element_cells.c: cells of a fold along several axes ---------------------------------------------- */
/* How many cells an element of a strip has, of a fold that begins in the strip, if they can be numbered
 * without the strip's axis and are few; else 0. */
int64_t rd_cells_of_element(const rd_schedule *t, int32_t fold, int32_t axis);
/* The number of such a cell. */
rd_linear rd_cell_of_element(rd_schedule *t, int32_t fold, int32_t axis, rd_linear cell);

/* constant_remainder.c: is it a division of floats with a remainder by a number that is known, above 0 and not
 * near the ends of the range? */
bool rd_is_constant_remainder(const rd_schedule *t, const rd_let *let);

/* ---- row_transpose.c: rows that become columns -------------------------------------------------------- */
/* Is it a vector loop by call that copies each row, of an array or of the program's memory, to a
 * column of an array? */
bool rd_is_transpose(const rd_schedule *t, int32_t loop);

/* ---- vector_legality.c, enclose.c, legality.c: which changes of a tree keep its meaning -------------- */
/* A sentence part says why not, in *why, which may be NULL: it is rd_why_no_memory where there was none
 * for an answer. */
extern const char rd_why_no_memory[];
/* May the rounds of a loop go side by side?  By meaning alone; and as texts can have it, whose
 * states and strips have to lie side by side. */
bool rd_may_be_parallel(const rd_schedule *t, int32_t loop, const char **why);
bool rd_may_be_vector(const rd_schedule *t, int32_t loop, const char **why);
/* The same where steps that go in turn may stand in a loop of their own behind the vectors. */
bool rd_may_be_strip_mined(const rd_schedule *t, int32_t loop, const char **why);
/* Do the steps of a fold by label go in turn: elements have labels of their own, which may be equal, and
 * nothing else of the loop needs the fold? */
bool rd_needs_serial_steps(const rd_schedule *t, int32_t fold, int32_t loop);
/* Do blocks of such a fold end amid rows of the axis, so that ranges begin and end anywhere? */
bool rd_ends_amid_rows(const rd_schedule *t, int32_t fold, int32_t axis);
/* The same of a loop over an axis that would stand around all of a body, whose loops over that axis
 * take one of its rounds each. */
bool rd_may_enclose(const rd_schedule *t, int32_t body, int32_t axis, const char **why);
/* Puts it there, of so many indices a round: its statement, -1. */
int32_t rd_enclose_in_loop(rd_schedule *t, int32_t body, int32_t axis, int64_t step);
/* May a loop and the one that is all of its body change places? */
bool rd_may_interchange(const rd_schedule *t, int32_t outer, int32_t inner, const char **why);
/* May a loop become two, of which the second begins with `at`, a statement of its body?  What the
 * second reads of the first's values needs arrays. */
bool rd_may_fission(const rd_schedule *t, int32_t loop, int32_t at, const char **why);
/* May a loop and the one behind it become one? */
bool rd_may_fuse(const rd_schedule *t, int32_t first, int32_t second, const char **why);
#endif

/* loop.h - the loop tree: a program (kernels/program.h) with its schedule.
 *
 * build.c makes a tree of a program: the same loops and values, with every step of a fold as a
 * statement of its own.  Passes (kernels/pass) change trees, check.c says whether one still means
 * its program, print_tree.c writes it for people and kernels/print as C text.
 *
 * A tree holds plain arrays and numbers.  Statements, values, loops, stores and terms are named by
 * their numbers, so a copy of a tree is a copy of its arrays.
 *
 * Addresses name axes, not loops.  In its body a loop binds its axis to an absolute index, and a
 * loop inside may bind the same axis again: strip-mining adds a loop and leaves all addresses as
 * they are. */
#ifndef RD_KERNELS_LOOP_LOOP_H
#define RD_KERNELS_LOOP_LOOP_H
#include "kernels/emit/emit.h"
#include "kernels/program.h"

/* ---- Positions ------------------------------------------------------------------------------- */
/* One addend: coef times the index that an axis is bound to, or times a value. */
typedef struct rd_linear_term {
    int32_t axis;  /* its index counts; -1: the value does   */
    int32_t value; /* an i64: an index that is read at run time */
    int64_t coef;
} rd_linear_term;

/* An affine position: offset + the sum of n terms of the tree, from term number `first` on.  Terms
 * never change. */
typedef struct rd_linear {
    int64_t offset;
    int32_t n, first;
} rd_linear;

/* GPU kernels keep facts of folds as bits of one word.  Loops of programs with more folds have no
 * split reductions and no block tiles. */
enum { RD_GPU_MOST_FOLDS = 64 };

/* Most columns of rows that pass/flatten_folds.c reads as one loop over memory. */
enum { RD_FLAT_COLUMNS = 16 };

/* Axes 0 .. p->n_axis - 1 are the program's.  The tree adds marks: axes bound to the index at which
 * the current round of a loop begins, or ends.  The first two marks are the bounds of the task's
 * share of the root axis. */
enum { RD_MARK_LO, RD_MARK_HI, RD_MARKS };

/* ---- Loops ----------------------------------------------------------------------------------- */
typedef enum rd_for_kind {
    RD_FOR_SERIAL, /* one round after the other                                          */
    RD_FOR_BLOCK,  /* each round is a range, which ends where CUTs in it say             */
    RD_FOR_ONCE,   /* one round, if there is anything between from and to                */
    RD_FOR_VECTOR, /* independent rounds: vectors may hold several                       */
    RD_FOR_UNROLL, /* as serial, each round written out                                  */
    RD_FOR_JAM,    /* unroll-and-jam: the copies stand inside the loops that it holds    */
    RD_FOR_ITEM,   /* GPU: rounds are work items, which teams of threads do in any order */
    RD_FOR_THREAD  /* GPU: rounds are the threads of a team; independent, as of vectors  */
} rd_for_kind;

/* A bound of a range.  The bound `from` is the greatest of its parts, `to` is the least.  A part
 * with multiple > 1 is rounded to `base` + a multiple of it: up, or down. */
enum { RD_MOST_PARTS = 4 };
typedef struct rd_edge_part {
    rd_linear at, base;
    int64_t   multiple; /* at most 1: not rounded */
    bool      round_up; /* rounded up     */
} rd_edge_part;

/* A bound: the first n parts. */
typedef struct rd_edge {
    int32_t      n;
    rd_edge_part part[RD_MOST_PARTS];
} rd_edge;

/* True if the bound is one position, and not rounded: passes that move bounds take no others. */
static inline bool rd_is_position(const rd_edge *edge)
{
    return edge->n == 1 && edge->part[0].multiple <= 1;
}

/* True if the bound is this number, whatever the indices are. */
static inline bool rd_is_number(const rd_edge *edge, int64_t number)
{
    return rd_is_position(edge) && edge->part[0].at.n == 0 && edge->part[0].at.offset == number;
}

/* for (axis = from; axis < to; axis += step).  build.c fills the first fields; passes set the
 * others, which are 0 or false before. */
typedef struct rd_for {
    rd_for_kind kind;
    int32_t     axis; /* bound by the loop; a mark if the loop counts something else */
    /* marks, or -1: the first index of the round, and the one behind its last, which is the lesser
     * of start_mark + step and `to` */
    int32_t start_mark, stop_mark;
    rd_edge from, to;
    int64_t step;      /* of a block loop: 0                                              */
    int64_t extent;    /* most rounds; -1: known only at run time                         */
    bool    backwards; /* from the last index to the first                                */
    bool    by_call;   /* a vector loop that the text runs by one call of a function      */
    /* vector loop: one state takes all rounds, in an order that compilers keep; items: teams take
     * them in order */
    bool in_order;
    bool nontemporal; /* a vector loop that copies with non-temporal stores */
    /* a vector loop whose body is one inner loop over adjacent memory: the text has one loop over
     * both */
    bool    flattened;
    int32_t width;         /* indices of a round of a loop with marks; 0: known only at run time */
    int32_t program_loop;  /* number of the program's loop that it comes from, -1                */
    int32_t strips_number; /* of the strips (pass/chosen_strips.h) that it runs over, -1         */
    int32_t align_to;      /* STORE: strips begin at cache lines of what it writes; 0: anywhere  */
    int32_t hoisted_loads; /* loads of a round that stand before the loop now: still counted     */
    /* length of the vector loops inside, in the text; rounds behind the last one have no effect;
     * 0: no padding */
    int32_t padded;
    bool    substrip; /* its strips divide those of the loop around with the same strips_number */
    int32_t unroll;   /* rounds of a serial loop that compilers shall write out; 0: they decide */
    bool    constant_ends; /* the text has the bounds as numbers                                 */
    /* compilers do not know what `start` is bound to: they load and compute again what loops before
     * have from the same index, rather than keep it */
    bool hidden;
    bool by_block;        /* GPU: a block's threads run it once for all of the block's items    */
    bool split_reduction; /* GPU: items of a split reduction; the last one done combines partials */
    bool by_team;         /* GPU: its rounds go to the block's teams, in turn                   */
    bool skewed;          /* GPU: each team is one round of the inner loop behind the team before */
    int32_t team;         /* GPU, outermost loop over items: threads that do one item           */
    int32_t prefetched;   /* GPU: loads of so many whole rounds come before their steps; 0: none */
    /* GPU: rounds of a loop over items in the text, so that blocks of threads are whole; added
     * rounds have no effect; 0: no padding */
    int64_t padded_rounds;
} rd_for;

/* True if the rounds may come in any order: work items and rounds of vectors unless they are marked
 * `in_order`, and threads of a team. */
static inline bool rd_in_any_order(const rd_for *loop)
{
    return ((loop->kind == RD_FOR_VECTOR || loop->kind == RD_FOR_ITEM) && !loop->in_order) ||
           loop->kind == RD_FOR_THREAD;
}

/* True if the loop goes upwards between two positions, neither of them rounded: so it can be split
 * at an index between them. */
static inline bool rd_goes_up(const rd_for *loop)
{
    return !loop->backwards && rd_is_position(&loop->from) && rd_is_position(&loop->to);
}

/* The end of a loop that goes up, rounded down to whole rounds of so many indices, counted from its
 * beginning: where a loop over such rounds ends, and the loop over the rest begins. */
static inline rd_edge_part rd_whole_rounds(const rd_for *loop, int64_t indices)
{
    return (rd_edge_part){ .at       = loop->to.part[0].at,
                           .base     = loop->from.part[0].at,
                           .multiple = indices };
}

/* ---- Memory of the tree ---------------------------------------------------------------------- */
/* The storage class of an array. */
typedef enum rd_array_storage {
    RD_IN_REGISTERS, /* variables of the generated function: all subscripts are constants */
    RD_IN_LOCAL,     /* a local array of the generated function                           */
    RD_IN_TASK,      /* the task's state: all parts of the program see it                 */
    RD_IN_TEAM,      /* GPU: memory of a team                                             */
    RD_IN_BLOCK,     /* GPU: shared memory of a block of threads                          */
    RD_IN_DEVICE     /* GPU: memory that all kernels of a run see: partials               */
} rd_array_storage;

/* An array of elements that one loop hands to the next, or of states of a fold.  A state is as
 * many numbers as its reducer has; the text has an array for each.  The subscript of a state is
 * cell * cell_stride + lane * lane_stride + label * group_stride * cell_stride + state_offset.
 *
 * Stores 0 .. p->n_fold - 1 are the first arrays of the folds, in order: build.c makes them.
 * Passes add others behind. */
typedef struct rd_tree_array {
    rd_array_storage storage;
    rd_dtype         type;   /* of elements                                                  */
    bool             memory; /* elements have the memory type, not the register type         */
    int32_t          fold;   /* whose states these are; -1: elements                         */
    int64_t          extent; /* elements, or states                                          */
    /* states: neighbours of a strip are cells of their own, and load their states from memory.
     * The flag that a state has met an element is then a byte; else an int as wide as the state. */
    bool    cells;
    int32_t lanes; /* states of a cell here; 1: one state takes the elements of all lanes */
    int64_t cell_stride, lane_stride;
    /* states: each thread of a team has so many lanes of a cell; 0: all.  Elements in shared
     * memory: a thread has so many neighbours side by side, in a row for each element; 0: the
     * block has one row */
    int32_t per_thread;
    int32_t node_rows;   /* GPU, states: rows of nodes of finished blocks                     */
    int64_t byte_offset; /* where it begins in the task's or the team's state                 */
    int32_t split_axis;  /* partials: the axis of the split; -1: all axes of an item          */
    bool    one_label;   /* states of one label at a time: see SWITCH_STATE                   */
    int32_t copies;      /* a jammed loop has so many of it, one for each round; 0: one       */
    bool    per_element; /* states of a scan: each element of a range has one                 */
} rd_tree_array;

/* ---- Values ---------------------------------------------------------------------------------- */
/* A value is made once.  The rest of its statement's body sees it, and loops there.  Values of the
 * program's head are also seen in the body and the tail; values of the body are seen in the tail
 * only if one task runs all.  The first p->n_reg values are the program's registers. */
typedef struct rd_tree_value {
    rd_inst_kind kind; /* CONST COORD LOAD MAP CAST SELECT INDEX CALL; CLOSE and SCAN: a result */
    rd_dtype     type, from;
    rd_op        op;
    int32_t      first, n; /* operands: numbers of values from operand[first] on                */
    int32_t      arg;   /* CALL: its number.  CLOSE, SCAN: which result.  INDEX: the instruction */
    rd_word      word;  /* CONST: the number.  INDEX: the extent, as i64                     */
    rd_linear    at;    /* LOAD, COORD: the position                                         */
    int32_t      slot;  /* LOAD from the program's memory, else -1                           */
    int32_t      store; /* LOAD from an array of the tree, else -1                           */
    bool         reversed;   /* MAP of a difference: the text has the negative, as it is squared  */
    bool         fits_int32; /* CAST of a float that is NaN or fits an int32_t: vectors do it     */
    bool         uncounted;  /* LOAD of a row's begin or end: not counted as an element read      */
    int32_t      made_by;    /* the statement that makes it; -1: none does                        */
} rd_tree_value;

/* ---- Statements ------------------------------------------------------------------------------ */
typedef enum rd_stmt_kind {
#define RD_STMT(name, text) RD_S_##name,
#include "kernels/loop/statements.def"
    RD_N_STMTS
} rd_stmt_kind;

/* The positions of an element of a fold; rd_fold says what each is. */
typedef struct rd_fold_at {
    rd_linear cell, lane, lane_line, index;
    rd_linear
        state_offset; /* added to a state's subscript only: a strip's elements have own states */
} rd_fold_at;

/* A statement.  Numbers that a kind does not use are -1, or 0 where the comment says so. */
typedef struct rd_stmt {
    rd_stmt_kind kind;
    int32_t      parent;      /* the statement whose body holds it: LOOP, IF or PART           */
    int32_t      prev, next;  /* neighbours in that body, -1                                   */
    int32_t      first, last; /* of its own body, -1                                           */
    int32_t      arg;  /* a number, as its row in statements.def says                        */
    int32_t      fold; /* of statements of folds                                        */
    int32_t  x, weight, mask, label; /* values that a STEP takes; x: what STORE stores, IF tests */
    int32_t  value, n_value;         /* the values that it makes                                */
    int32_t  slot, store; /* STORE: the program's memory, or the tree's; folds: the states */
    rd_dtype type;        /* STORE, CUT_AT_RUN: of the element in memory                   */
    /* STORE, CUT_AT_RUN, PREFETCH, LOWER_BOUND: the address.  SORT, FRONT: the first element, and
     * fold_at.index the first result.  BEGIN, LOOK_BACK: the first step of a range */
    rd_linear at;
    /* PREFETCH: elements.  EXIT: states that it tests, from the cell's on.  LOWER_BOUND: the
     * number that is searched for */
    rd_linear  count;
    rd_fold_at fold_at;      /* statements of folds: the cell, or the element                  */
    bool       wraps;        /* STEP: the lane is its position modulo the number of lanes      */
    int32_t    every;        /* EXIT: tests once in so many rounds; 0: in each                 */
    bool       unless;       /* IF: runs its body if x does not hold                           */
    bool       all_cells;    /* PUSH, PUSH_IF_LAST of a group-by: all cells, which share a block */
    int32_t    vector_width; /* LOAD, STORE: accesses so many neighbours at once; 0: one       */
    int32_t    loaded_by;    /* LOAD: the LOAD that has read its elements before, -1           */
    bool       fronts;       /* SORT: a FRONT has been made of each whole block of the strip   */
} rd_stmt;

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Facts of a fold of the program; all trees of a program share them.  fold_facts.c fills them. */
typedef struct rd_loop_fold {
    rd_emit_fold emit; /* for the reducer's text; `cells` is set by the schedule            */
    int32_t      start, step, close; /* instructions; close -1: a scan                       */
    int32_t      step_loop; /* the program's innermost loop over steps; -1: there is one step    */
    bool several_lane_axes; /* lanes go along several axes: each element tests for a block's end */
    bool any_lane;          /* any lane may take an element: its innermost index says which  */
    bool split;             /* tasks share it, and combine their partials                    */
    bool blocks;            /* it has several blocks                                         */
    bool hi_lo_sums;        /* a sum scan of floats by math/prefix_sums.h                   */
    int64_t n_words;        /* `pair`: doubles of a cell                                     */
    int32_t lanes;          /* lanes that can have elements                                  */
    int64_t steps;          /* of the whole fold                                             */
    int32_t tree_rows;      /* rows of its combine tree; 0: one block, or a scan             */
    int     shift;          /* a block is 2^shift steps, if there are several                */
    int32_t levels;         /* levels of nodes that a scan by the tree keeps                 */
} rd_loop_fold;

/* ---- The tree -------------------------------------------------------------------------------- */
enum { RD_PART_HEAD, RD_PART_BODY, RD_PART_TAIL, RD_N_PARTS };

/* The loop tree: arrays of n_x used elements, with room for room_x. */
typedef struct rd_schedule {
    const rd_program   *p;
    const rd_loop_fold *fold;  /* p->n_fold of them                                    */
    bool                whole; /* one task runs all of it: the parts follow each other */
    int32_t             n_stmt, n_let, n_for, n_store, n_term, n_operand, n_axis;
    int32_t             room_stmt, room_let, room_for, room_store, room_term, room_operand;
    rd_stmt            *stmt;
    rd_tree_value      *let;
    rd_for             *loop;
    rd_tree_array      *store;
    rd_linear_term     *term;
    int32_t            *operand;
    int32_t             part[RD_N_PARTS]; /* statements of kind PART                              */
    bool                failed; /* no memory: what was asked since has done nothing               */
} rd_schedule;

/* fold_facts.c: the facts of all folds of a program; `whole`: one task runs it. *why: what trees
 * cannot express, NULL.  Returns NULL without memory. */
const rd_loop_fold *rd_loop_folds_of(const rd_program *p, bool whole, rd_get_fn *get, void *pool,
                                     const char **why);
/* True if the instruction is a STEP or a SCAN. */
bool    rd_takes_step(const rd_inst *inst);
int64_t rd_rows_of_lanes(const rd_fold *f);
/* True if the fold has one lane, and an element's step is `first` + `coef` times its index of
 * the axis. */
bool     rd_is_along(const rd_fold *f, int32_t axis, int64_t first, int64_t coef);
int32_t *rd_made_by(const rd_program *p, rd_get_fn *get, void *pool);
/* short_sums.c: finds whether a block of the fold can be summed in a narrow int type. */
void rd_find_short_sum(const rd_program *p, const int32_t *made, rd_loop_fold *f);

/* build.c: the tree of a program before any pass: every loop is serial, and none is a block
 * loop.  NULL: no memory.  The caller frees it. */
rd_schedule *rd_schedule_build(const rd_program *p, const rd_loop_fold *fold, bool whole);
rd_schedule *rd_schedule_copy(const rd_schedule *t); /* NULL: no memory */
void         rd_schedule_free(rd_schedule *t);       /* NULL is allowed */

/* The tree as text, a line a statement: print_tree.c.  A position; the name of an axis, "i2", or of
 * a mark, "lo" and "hi" for the bounds of a task's share, "m0", "m1" .. for the others:
 * print_parts.c. */
void rd_schedule_text(rd_text *to, const rd_schedule *t);
void rd_linear_text(rd_text *to, const rd_schedule *t, const rd_linear *at);
void rd_axis_text(rd_text *to, const rd_schedule *t, int32_t axis);

/* ---- tree_edit.c: parts of trees ------------------------------------------------------------- */
/* A statement that names nothing: all its numbers are -1. */
rd_stmt rd_stmt_of(rd_stmt_kind kind);
/* A loop of a pass's own: so many rounds, one index each, from a position on.  It binds no marks,
 * has no strips, and comes from no loop of the program. */
rd_for rd_rounds_from(rd_for_kind kind, int32_t axis, rd_linear from, int64_t rounds);
/* These add an element to an array of the tree and return its number; 0 of a tree that has
 * failed. */
int32_t rd_add_stmt(rd_schedule *t, const rd_stmt *stmt); /* stands nowhere yet */
int32_t rd_add_let(rd_schedule *t, const rd_tree_value *let);
int32_t rd_add_made(rd_schedule         *t,
                    const rd_tree_value *let); /* the statement that makes it, likewise */
int32_t rd_add_for(rd_schedule *t, const rd_for *loop);
int32_t rd_add_loop(rd_schedule  *t,
                    const rd_for *loop); /* the statement, which stands nowhere yet */
int32_t rd_add_store(rd_schedule *t, const rd_tree_array *store);
int32_t rd_add_mark(rd_schedule *t);
int32_t rd_add_operands(rd_schedule *t, const int32_t *value, int32_t n); /* the first one */

/* Put a statement that stands nowhere at the end of a body; before another one; behind it. */
void rd_append(rd_schedule *t, int32_t body, int32_t stmt);
void rd_put_before(rd_schedule *t, int32_t stmt, int32_t next);
void rd_put_behind(rd_schedule *t, int32_t stmt, int32_t previous);
/* Takes a statement out of its body, with its own body. */
void rd_take_out(rd_schedule *t, int32_t stmt);
/* Puts a new loop around statements [first, last] of a body; returns the loop's statement. */
int32_t rd_put_loop_around(rd_schedule *t, int32_t first, int32_t last, const rd_for *loop);
/* Makes the loop the rest behind whole rounds of `rows`: it begins at `border` (rd_whole_rounds()),
 * and is no loop of the program any more, so passes that look for these do not find it again. */
void rd_keep_rest(rd_schedule *t, int32_t loop, const rd_edge_part *border, int64_t rows);
/* A copy of a statement and its body, with values, loops and marks of its own; it stands
 * nowhere.  Names from outside stay, and stores are shared. */
int32_t rd_stmt_copy(rd_schedule *t, int32_t stmt);

/* substitute.c: replaces each value that a statement names, also in a loop's bounds, by the
 * value that `by` returns for it. */
typedef int32_t rd_substitution(void *of, int32_t value);
void            rd_substitute_values(rd_schedule *t, int32_t stmt, rd_substitution *by, void *of);

/* Makes room for n more terms behind the last one; false: the tree has failed. */
bool rd_room_for_terms(rd_schedule *t, int32_t n);
/* Makes room for the first element of each array.  A failed tree returns number 0, which may
 * then be read. */
bool rd_room_for_first(rd_schedule *t);

/* positions.c: a constant; at + coef * axis; at + coef * value; at + coef * other; `by` in place
 * of an axis. */
rd_linear rd_linear_of(int64_t offset);
rd_linear rd_linear_plus_axis(rd_schedule *t, rd_linear at, int64_t coef, int32_t axis);
rd_linear rd_linear_plus_value(rd_schedule *t, rd_linear at, int64_t coef, int32_t value);
rd_linear rd_linear_plus(rd_schedule *t, rd_linear at, int64_t coef, rd_linear other);
rd_linear rd_linear_with(rd_schedule *t, rd_linear at, int32_t axis, rd_linear by);
int64_t   rd_linear_coef(const rd_schedule *t, const rd_linear *at, int32_t axis);
bool      rd_linear_same(const rd_schedule *t, const rd_linear *a, const rd_linear *b);
rd_edge   rd_edge_of(rd_linear at);
void      rd_edge_add(rd_edge *edge, rd_linear at);

/* The loop record of a LOOP statement: its kind, axis, bounds and so on. */
static inline const rd_for *rd_loop_of(const rd_schedule *t, int32_t stmt)
{
    return &t->loop[t->stmt[stmt].arg];
}

/* True if the bound is just the mark: its only term, without an offset, and not rounded. */
static inline bool rd_is_mark(const rd_schedule *t, const rd_edge *edge, int32_t mark)
{
    const rd_linear *at = &edge->part[0].at;

    return mark >= 0 && rd_is_position(edge) && at->offset == 0 && at->n == 1 &&
           t->term[at->first].axis == mark && t->term[at->first].coef == 1;
}

/* True if the bound has a value as a term (axis < 0): it is read at run time, behind the statement
 * that makes it. */
static inline bool rd_edge_has_values(const rd_schedule *t, const rd_edge *edge)
{
    for (int32_t k = 0; k < edge->n; k++)
        for (int32_t j = 0; j < edge->part[k].at.n; j++)
            if (t->term[edge->part[k].at.first + j].axis < 0)
                return true;
    return false;
}

/* A LOAD of the array's element at this position. */
static inline rd_tree_value rd_load_of(const rd_schedule *t, int32_t array, rd_linear at)
{
    const rd_dtype type = t->store[array].type;

    return (rd_tree_value){ .kind  = RD_I_LOAD,
                            .type  = type,
                            .from  = type,
                            .arg   = -1,
                            .slot  = -1,
                            .store = array,
                            .at    = at };
}

/* What a LET statement makes: an operation, a load or a constant; NULL: the statement is no LET. */
static inline const rd_tree_value *rd_let_of(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LET ? &t->let[t->stmt[stmt].value] : NULL;
}

/* True if the statement takes an element into a fold: STEP of a reduction, PREFIX of a scan. */
static inline bool rd_is_step(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_STEP || t->stmt[stmt].kind == RD_S_PREFIX;
}

/* True if the statement is a vector loop. */
static inline bool rd_is_vector(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_VECTOR;
}

/* True if it is a vector loop that the generated C runs by one call. */
static inline bool rd_is_by_call(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->by_call;
}

/* The next statement in preorder: the first of its body, else the one behind it; -1: it was the
 * last of `top`'s.  All traversals use it. */
static inline int32_t rd_next_stmt(const rd_schedule *t, int32_t stmt, int32_t top)
{
    if (t->stmt[stmt].first >= 0)
        return t->stmt[stmt].first;
    while (stmt != top && t->stmt[stmt].next < 0)
        stmt = t->stmt[stmt].parent;
    return stmt == top ? -1 : t->stmt[stmt].next;
}
#endif

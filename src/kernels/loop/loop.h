/* loop.h - the loop tree: a program (kernels/program.h) with its schedule.
 *
 * build.c makes a tree of a program: the same loops and values, with every step of a fold as a
 * statement of its own.  Passes (kernels/pass) change trees, check.c says whether one still means
 * its program, print.c writes it for people and kernels/print as C text.
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

/* ---- Positions -------------------------------------------------------------------------------- */
/* One addend: coef times the index that an axis is bound to, or times a value. */
typedef struct rd_linear_term {
    int32_t axis;  /* -1: the value counts */
    int32_t value; /* an i64: an index that memory has said */
    int64_t coef;
} rd_linear_term;

/* offset + the sum of n terms of the tree, from its term number `first` on.  Terms never change. */
typedef struct rd_linear {
    int64_t offset;
    int32_t n, first;
} rd_linear;

/* Axes 0 .. p->n_axis - 1 are the program's.  The tree adds marks: axes that hold where the current
 * round of a loop begins, or ends.  The first two marks are the bounds of the task's share of the
 * root axis. */
/* Of a GPU: kernels keep what they know of folds in the bits of a word.  Loops of programs with more are not
 * cut, and do not go by patches. */
enum { RD_GPU_MOST_FOLDS = 64 };

/* Columns that lie between each other, at most, whose rows go one behind the other (pass/flatten_folds.c). */
enum { RD_FLAT = 16 };

enum { RD_MARK_LO, RD_MARK_HI, RD_MARKS };

/* ---- Loops ------------------------------------------------------------------------------------ */
typedef enum rd_for_kind {
    RD_FOR_SERIAL, /* one round after the other                                              */
    RD_FOR_BLOCK,  /* each round is a range that ends where CUTs in it say             */
    RD_FOR_ONCE,   /* one round, if there is anything between from and to                    */
    RD_FOR_VECTOR, /* rounds change nothing that another one reads: vectors may hold several */
    RD_FOR_UNROLL, /* as serial, each round written out                                      */
    RD_FOR_JAM,    /* as unroll, but the copies stand inside the loops that it holds         */
    RD_FOR_ITEM, /* of a GPU: rounds are items of a kernel, which teams of threads do, in any order */
    RD_FOR_THREAD /* ... rounds are threads of a team: they go as those of a vector loop do          */
} rd_for_kind;

/* An end of a range.  Of the parts of `from` the greatest counts, of those of `to` the least.  A
 * part with by > 1 is rounded to `first` + a multiple of `by`: up, or down. */
enum { RD_MOST_PARTS = 4 };
typedef struct rd_edge_part {
    rd_linear at, first;
    int64_t   by;
    bool      up;
} rd_edge_part;

typedef struct rd_edge {
    int32_t      n;
    rd_edge_part part[RD_MOST_PARTS];
} rd_edge;

/* for (axis = from; axis < to; axis += step).  `start` and `stop` are marks, or -1: the index at
 * which the round begins, and the one behind its last: the lesser of start + step and `to`. */
typedef struct rd_for {
    rd_for_kind kind;
    int32_t     axis; /* of a loop that counts something else: a mark */
    int32_t     start, stop;
    rd_edge     from, to;
    int64_t     step;      /* of a block loop: 0                                                  */
    int64_t     extent;    /* rounds, at most; -1: not known before                               */
    bool        backwards; /* from the last index to the first                                    */
    bool        by_call;   /* a vector loop whose body is one function, which the text calls once */
    bool    in_order; /* a vector loop whose rounds one state takes: compilers know how; items that
                       * teams take in order                                                      */
    bool    stream;   /* a vector loop that copies past the caches                           */
    bool    flat;  /* a vector loop whose rounds each are all of the one loop in it: neighbours in
                       * memory are neighbours, so the text has one loop over both               */
    int32_t width; /* indices of a round of a loop with marks, if that is known; else 0   */
    int32_t of;    /* the program's loop that it comes from, -1                           */
    int32_t strip; /* the strips (pass/strips.h) that it is the loop over, -1            */
    int32_t
        lines; /* rounds of strips begin where lines of what this STORE writes do; 0: no matter */
    int32_t loads;   /* of a round, which stand before the loop now: counts of elements have them */
    int32_t padded;  /* vector loops in it are as long as that in the text, 0: as they are; rounds
                       * behind the last one have no effect                                       */
    bool    part;    /* its strips are parts of those of a loop around, of the same number       */
    int32_t unroll;  /* rounds of a serial loop that compilers shall write out, 0: as they like   */
    bool    spelled; /* the text has its ends as numbers, which compilers know                 */
    bool    by_block; /* of a GPU: a block of threads moves the rows of all its items            */
    bool    ranges; /* items of ranges, of which the last one goes on behind them all             */
    bool
        by_team; /* of a GPU: its rounds are those of the block's teams, in turn                  */
    bool
        in_turns; /* ... each of which is one round of the loop in it behind the one before       */
    int32_t team; /* of the outermost loop over items: threads that do one                     */
    int32_t ahead;  /* so many rounds go together where they are whole: their loads come first; 0 */
    int64_t rounds; /* of a loop over items: as many has the text, so that blocks of threads are
                       whole; those behind the last one, and neighbours, have no effect; 0      */
} rd_for;

/* May its rounds come in any order? */
static inline bool rd_in_any_order(const rd_for *loop)
{
    return ((loop->kind == RD_FOR_VECTOR || loop->kind == RD_FOR_ITEM) && !loop->in_order) ||
           loop->kind == RD_FOR_THREAD;
}

/* ---- Memory of the tree ----------------------------------------------------------------------- */
typedef enum rd_store_place {
    RD_IN_REGISTERS, /* variables of the generated function: all subscripts are constants */
    RD_IN_LOCAL,     /* a local array of the generated function                          */
    RD_IN_TASK,      /* in the task's state: the other parts of the program see it, too  */
    RD_IN_TEAM,      /* of a GPU: in the memory of a team                                */
    RD_IN_BLOCK,     /* ... in shared memory                                             */
    RD_IN_DEVICE     /* ... in memory that all kernels of a run see: nodes that ranges leave */
} rd_store_place;

/* An array: of elements that one loop hands to the next; or of states of a fold, each of which is
 * as many numbers as its reducer has, each in an array of its own.  A state's subscript is
 * cell * cell_stride + lane * lane_stride + label * apart * cell_stride + more.
 *
 * Stores 0 .. p->n_fold - 1 are the first arrays of the folds, in order: build.c makes them.  Passes add
 * others behind. */
typedef struct rd_store {
    rd_store_place place;
    rd_dtype       type;   /* of elements */
    bool           memory; /* elements are as in the program's memory, not as values */
    int32_t        fold;   /* -1: elements */
    int64_t        extent;
    /* Of states: neighbours of a strip are cells of their own.  Their states come from memory.  So what says
     * whether a state has met an element is a byte; else it is an int as wide as the state. */
    bool    cells;
    int32_t lanes; /* of states: that a cell has here, 1 where one takes what all would        */
    int64_t cell_stride, lane_stride;
    int32_t dealt; /* of states: each thread of a team has so many lanes of a cell; 0: all   */
    /* of elements in shared memory: a thread has so many neighbours' side by side, and a row of
     * them for each element; 0: all threads of a block have one                             */
    int32_t rows;   /* of states of a GPU: rows of nodes of finished blocks                   */
    int64_t at;     /* in the task's or the team's state, bytes                               */
    int32_t along;  /* of nodes that ranges leave: the axis of these ranges; -1: all of an item's */
    bool    run;    /* of states: those of one label at a time, as TURN says              */
    int32_t copies; /* that rounds of a jam share, of which each has so much of it; 0     */
    bool    each;   /* of states of a scan: each element of a range has one               */
} rd_store;

/* ---- Values ----------------------------------------------------------------------------------- */
/* Made once, and seen in the rest of the body that its statement stands in, and in loops there.  Those of
 * the head are also seen in the body and the tail of the program; those of its body in the tail only if one
 * task runs all.  The first p->n_reg values are the program's registers. */
typedef struct rd_let {
    rd_inst_kind
              kind; /* CONST COORD LOAD MAP CAST SELECT INDEX CALL; CLOSE and SCAN: a result    */
    rd_dtype  type, from;
    rd_op     op;
    int32_t   first, n;  /* operands: numbers of values from operand[first] on                   */
    int32_t   arg;       /* CALL: number of the call.  CLOSE, SCAN: which of the results;
                         * INDEX: the instruction                                              */
    rd_word   word;      /* CONST: the number.  INDEX: the extent, as i64                        */
    rd_linear at;        /* LOAD, COORD                                                          */
    int32_t   slot;      /* LOAD from the program's memory, else -1                              */
    int32_t   store;     /* LOAD from the tree's memory, else -1                                 */
    bool      bounded;   /* CAST of a float that an int32_t has, or NaN: vectors do it */
    bool      uncounted; /* LOAD of where a row begins: counts of elements read leave it out */
    int32_t   by;        /* the statement that makes it; -1: none does                           */
} rd_let;

/* ---- Statements ------------------------------------------------------------------------------- */
typedef enum rd_stmt_kind {
#define RD_STMT(name, text) RD_S_##name,
#include "kernels/loop/stmts.def"
    RD_N_STMTS
} rd_stmt_kind;

/* Positions of an element of a fold, as rd_fold names them: see there. */
typedef struct rd_fold_at {
    rd_linear cell, lane, outer, index;
    rd_linear
        more; /* counts in the subscript of a state, and in no position: elements of a strip */
} rd_fold_at;

typedef struct rd_stmt {
    rd_stmt_kind kind;
    int32_t      parent;         /* the statement in whose body it stands: LOOP, IF or PART    */
    int32_t      prev, next;     /* in that body, -1                                           */
    int32_t      first, last;    /* of its own body, -1                                        */
    int32_t      arg;            /* as the row in stmts.def says                               */
    int32_t      fold;           /* of statements of folds, else -1                            */
    int32_t   x, w, mask, label; /* values that a STEP takes; x: what STORE stores, IF asks; -1 */
    int32_t   value, n_value;    /* values that it makes                                       */
    int32_t   slot, store;       /* STORE: the program's memory, or the tree's; of folds: the
                                     * array of states; -1                                        */
    rd_dtype  type;              /* STORE, RUN: of the element in memory */
    rd_linear at; /* STORE, RUN, FETCH, FIND; SORT: the first element, of.index: the first result;
                     BEGIN, AWAIT: the first step of a range                                     */
    rd_linear
        count;     /* FETCH: elements; EXIT: states that it looks at, from the cell's on; FIND: the
                         number that is asked for                                               */
    rd_fold_at of; /* statements of folds                                        */
    bool       wraps;  /* STEP: the lane is that position modulo the number of lanes */
    int32_t    every;  /* EXIT: asks once in so many rounds of the loop that it stands in; 0: each
                         time */
    bool       unless; /* IF: its body, if x does not hold                                     */
    bool       all;  /* ENDS, PUSH of a fold by labels: of all its cells, which are at one block */
    int32_t    pack; /* a LOAD or STORE: of so many neighbours at once, ahead of its round; 0 */
    int32_t    kept; /* a LOAD: of what the LOAD of that statement has taken ahead; -1        */
} rd_stmt;

/* ---- Folds ------------------------------------------------------------------------------------ */
/* What the program says of a fold, in the form that trees ask for; the same for all trees of a
 * program. */
typedef struct rd_loop_fold {
    rd_emit_fold of; /* the reducer's text; `cells` is the schedule's                            */
    int32_t      start, step, close; /* instructions; close -1: of a scan                        */
    int32_t      along; /* the program's innermost loop whose rounds are steps; -1: one step   */
    bool         mixed; /* lanes go along several axes: each element asks whether a block ends */
    bool    any_lane; /* any lane may take an element: its place in the innermost loop says which */
    bool    split;    /* tasks share it, and join what they have                             */
    bool    blocks;   /* it has several                                                      */
    bool    pair;     /* a scan by so_far.h, with so many doubles of a cell                  */
    int64_t n_words;
    int32_t lanes;  /* that can have elements                                              */
    int64_t steps;  /* of the whole fold                                                   */
    int32_t room;   /* rows of its combine tree; 0: one block, or a scan                   */
    int     shift;  /* a block is 2^shift steps, if there are several                      */
    int32_t levels; /* nodes of elements that a scan by the tree keeps                     */
} rd_loop_fold;

/* ---- The tree --------------------------------------------------------------------------------- */
enum { RD_PART_HEAD, RD_PART_BODY, RD_PART_TAIL, RD_N_PARTS };

typedef struct rd_schedule {
    const rd_program   *p;
    const rd_loop_fold *fold;  /* p->n_fold of them                                    */
    bool                whole; /* one task runs all of it: the parts follow each other */
    int32_t             n_stmt, n_let, n_for, n_store, n_term, n_operand, n_axis;
    int32_t             room_stmt, room_let, room_for, room_store, room_term, room_operand;
    rd_stmt            *stmt;
    rd_let             *let;
    rd_for             *loop;
    rd_store           *store;
    rd_linear_term     *term;
    int32_t            *operand;
    int32_t             part[RD_N_PARTS]; /* statements of kind PART                              */
    bool                failed; /* no memory: what was asked since has done nothing               */
} rd_schedule;

/* folds.c: facts of all folds of a program; `whole`: one task runs it.  *why: what there is no tree
 * of, NULL.  NULL: no memory. */
const rd_loop_fold *rd_loop_folds_of(const rd_program *p, bool whole, rd_get_fn *get, void *pool,
                                     const char **why);
/* Does the instruction take an element into a fold?  Steps of all lanes along the lane position.
 * Which instruction makes each register; NULL: no memory. */
bool    rd_takes_step(const rd_inst *inst);
int64_t rd_rows_of_lanes(const rd_fold *f);
/* Of one lane: is the step of each element `first` + `coef` times its index of the axis? */
bool     rd_is_along(const rd_fold *f, int32_t axis, int64_t first, int64_t coef);
int32_t *rd_made_by(const rd_program *p, rd_get_fn *get, void *pool);
/* short_sums.c: of a fold whose step and number of steps are known. */
void rd_find_short_sum(const rd_program *p, const int32_t *made, rd_loop_fold *f);

/* build.c: the tree of a program as it stands: every loop serial, no block loops.  NULL: no memory.
 * Its owner frees it. */
rd_schedule *rd_schedule_build(const rd_program *p, const rd_loop_fold *fold, bool whole);
rd_schedule *rd_schedule_copy(const rd_schedule *t); /* NULL: no memory */
void         rd_schedule_free(rd_schedule *t);       /* NULL is allowed */

/* print.c: for people, a line a statement; a position. */
void rd_schedule_text(rd_text *to, const rd_schedule *t);
void rd_linear_text(rd_text *to, const rd_schedule *t, const rd_linear *at);

/* ---- tree.c: parts of trees ------------------------------------------------------------------- */
/* A statement that names nothing: all its numbers are -1. */
rd_stmt rd_stmt_of(rd_stmt_kind kind);
/* Numbers of new ones; 0 of a tree that has failed. */
int32_t rd_add_stmt(rd_schedule *t, const rd_stmt *stmt); /* stands nowhere yet */
int32_t rd_add_let(rd_schedule *t, const rd_let *let);
int32_t rd_add_made(rd_schedule *t, const rd_let *let); /* the statement that makes it, likewise */
int32_t rd_add_for(rd_schedule *t, const rd_for *loop);
int32_t rd_add_loop(rd_schedule  *t,
                    const rd_for *loop); /* the statement, which stands nowhere yet */
int32_t rd_add_store(rd_schedule *t, const rd_store *store);
int32_t rd_add_mark(rd_schedule *t);
int32_t rd_add_operands(rd_schedule *t, const int32_t *value, int32_t n); /* the first one */

/* Puts a statement that stands nowhere at the end of a body; before another one; behind it. */
void rd_append(rd_schedule *t, int32_t body, int32_t stmt);
void rd_put_before(rd_schedule *t, int32_t stmt, int32_t next);
void rd_put_behind(rd_schedule *t, int32_t stmt, int32_t previous);
/* Takes it, with its body, from where it stands. */
void rd_take_out(rd_schedule *t, int32_t stmt);
/* A statement with a new loop around it, which takes its place; around [first, last] of a body. */
int32_t rd_put_loop_around(rd_schedule *t, int32_t first, int32_t last, const rd_for *loop);
/* A copy of a statement and its body, which stands nowhere: with values, loops and marks of its own.
 * What it reads from outside is the same.  Stores are shared. */
int32_t rd_stmt_copy(rd_schedule *t, int32_t stmt);

/* rename.c: in all that a statement names, and a loop's edges, each value becomes the one that `by` says
 * stands in for it, which may be itself. */
typedef int32_t rd_rename(void *of, int32_t value);
void            rd_rename_values(rd_schedule *t, int32_t stmt, rd_rename *by, void *of);

/* Room for n more terms behind the last one; false: the tree has failed. */
bool rd_room_for_terms(rd_schedule *t, int32_t n);
/* For the first of each: who adds to a tree that has failed gets number 0, which may be read. */
bool rd_room_for_first(rd_schedule *t);

/* positions.c.  at + offset; at + coef * axis; at + other * coef; with `by` in place of an axis. */
rd_linear rd_linear_of(int64_t offset);
rd_linear rd_linear_plus_axis(rd_schedule *t, rd_linear at, int64_t coef, int32_t axis);
rd_linear rd_linear_plus_value(rd_schedule *t, rd_linear at, int64_t coef, int32_t value);
rd_linear rd_linear_plus(rd_schedule *t, rd_linear at, int64_t coef, rd_linear other);
rd_linear rd_linear_with(rd_schedule *t, rd_linear at, int32_t axis, rd_linear by);
int64_t   rd_linear_coef(const rd_schedule *t, const rd_linear *at, int32_t axis);
bool      rd_linear_same(const rd_schedule *t, const rd_linear *a, const rd_linear *b);
rd_edge   rd_edge_of(rd_linear at);
void      rd_edge_add(rd_edge *edge, rd_linear at);

/* The loop of a LOOP statement. */
static inline const rd_for *rd_loop_of(const rd_schedule *t, int32_t stmt)
{
    return &t->loop[t->stmt[stmt].arg];
}

/* The value that a LET makes, NULL: it is another statement. */
static inline const rd_let *rd_let_of(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LET ? &t->let[t->stmt[stmt].value] : NULL;
}

/* Does it take an element into a fold? */
static inline bool rd_is_step(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_STEP || t->stmt[stmt].kind == RD_S_PREFIX;
}

static inline bool rd_is_vector(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_VECTOR;
}

/* Is it a vector loop that the text does by one call? */
static inline bool rd_is_by_call(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->by_call;
}

/* The statement behind it in the order of the text, its body first; -1: it was the last of `top`'s.
 * All walks go by it. */
static inline int32_t rd_next_stmt(const rd_schedule *t, int32_t stmt, int32_t top)
{
    if (t->stmt[stmt].first >= 0)
        return t->stmt[stmt].first;
    while (stmt != top && t->stmt[stmt].next < 0)
        stmt = t->stmt[stmt].parent;
    return stmt == top ? -1 : t->stmt[stmt].next;
}
#endif

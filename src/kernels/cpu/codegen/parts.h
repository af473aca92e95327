/* parts.h - a nest while its text is written. */
#ifndef RD_KERNELS_CPU_CODEGEN_PARTS_H
#define RD_KERNELS_CPU_CODEGEN_PARTS_H
#include "kernels/cpu/codegen/codegen.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/emit/emit.h"

enum { RD_CODEGEN_NUMBERS = 256, RD_CODEGEN_FEW = 8 };

/* How the steps of a fold meet the strip they stand in. */
typedef enum rd_fold_mode {
    RD_FOLD_SCALAR, /* in no strip */
    RD_FOLD_LANES,  /* neighbours are neighbouring lanes of one cell */
    RD_FOLD_CELLS,  /* neighbours belong to cells of their own */
    RD_FOLD_WHOLE   /* the strip is all that a cell has, and one state takes it: wholes.c */
} rd_fold_mode;

typedef struct rd_codegen_fold {
    rd_emit_fold of; /* the reducer */
    rd_fold_mode mode;
    int32_t      start, step, close; /* its instructions; close -1: of a scan */
    int32_t      along;              /* innermost loop that it reduces, -1: it has one step */
    bool         mixed;     /* lanes along several axes: each element asks whether a block ends */
    bool         split;     /* tasks share it, and join what they have */
    bool         strip;     /* it begins and ends in a strip */
    bool         inner;     /* even in one round of it: states are variables */
    bool         local;     /* states are arrays of the text, not of the task */
    bool         held;      /* states are variables while a few rows go together */
    bool         cached;    /* those of the task are copied around its innermost loop */
    int32_t      lanes;     /* that can have elements */
    int64_t      steps;     /* of the whole fold */
    int64_t      states;    /* of each kind */
    int64_t      nowhere;   /* behind them: a strip's for elements of no group */
    int32_t      rows, row; /* of a loop that is jammed: how many, the one at hand */
    int32_t      room;      /* rows of its tree; 0: it has one block, or is a scan */
    int          shift;     /* a block is 2^shift steps, if there are several */
    bool         blocks;    /* it has several */
    bool         pair;    /* a scan by so_far.h: before a block are hi and lo, of f64 lo is -0.0 */
    int64_t      n_words; /* doubles of a cell, in so_far.h */
    int32_t      levels;  /* nodes of elements that a scan by the tree keeps */
    int64_t      facts, current, tree; /* offsets in the task's state */
} rd_codegen_fold;

/* Some loops of the program as strips of one axis. */
typedef struct rd_region {
    int32_t axis;
    int32_t loop;     /* over it, or around what stands in such loops; -1: a part of the program */
    bool    around;   /* the latter */
    int32_t from, to; /* instructions */
    int32_t width;    /* elements of a strip */
    bool    fixed;    /* strips but the last are full */
    int32_t rest;     /* elements of the last one, -1: not known */
    bool    wide;     /* rows of them stream from memory: a few rows go together */
    bool    one;      /* the only one */
    bool    arrays; /* something is kept in arrays from loop to loop, or behind one: strips are not
                       * as long as there are elements */
} rd_region;

typedef enum rd_bind_kind {
    RD_BIND_NONE,
    RD_BIND_INDEX,
    RD_BIND_LATER,
    RD_BIND_NUMBER,
    RD_BIND_STRIP
} rd_bind_kind;

/* What an axis is at the place that is being written: a variable, that and a number, a number, or
 * the strip's element. */
typedef struct rd_bind {
    rd_bind_kind kind;
    int64_t      number;
    int32_t      range; /* its bounds are lo<axis>_<range>, hi<axis>_<range> */
} rd_bind;

typedef struct rd_codegen {
    const rd_program *p;
    const rd_program *of; /* it is that program, or by_rows the same by rows.c */
    bool              by_rows;
    int               vector;
    bool              whole;    /* one task runs all of it */
    bool              pointers; /* users' reducers are called by their addresses */
    int32_t           root;     /* the axis that tasks share, -1 */
    const char       *why;      /* it cannot be: the reason; NULL */
    int32_t          *made;     /* per register: instruction */
    bool             *stored;   /* per slot */
    int32_t          *reuse; /* per instruction: of a load, the loop before which it is collected */
    int32_t          *at_hand; /* of a load, the register that was stored there just before, -1 */
    bool             *unread;  /* of a store: all its loads have it at hand */
    int32_t           n_slot;
    rd_codegen_fold  *fold;
    rd_region        *region;
    int32_t           n_region;
    int32_t          *at_loop, *in_loop; /* per loop: its region, that of its body, -1 */
    int32_t           in_part[3];
    int64_t           number[RD_CODEGEN_NUMBERS];
    int32_t           n_number;
    int64_t           state; /* bytes so far */

    /* ---- the text being written ---- */
    rd_text         *to;
    int              indent;
    rd_bind         *bind;
    int32_t         *ranges; /* per axis: how many so far */
    const rd_region *here;   /* region, NULL */
    int32_t          strip;  /* elements of its strip, 0: not known */
    bool             padded; /* which is as long as the others, see rest.c */
    bool            *varies; /* per register, in the region */
    bool             open;   /* a loop over the strip is being collected */
    rd_text          before, fetched, inside, after; /* of it */
    int32_t          round;                          /* number of that loop */
    int32_t         *made_in;                        /* per register: its round */
    int32_t          jam;      /* the loop whose rows a loop in them takes together, -1 */
    int32_t          part;     /* the loop whose rows are taken in parts, -1 */
    int32_t          fours;    /* the loop whose elements are being collected by four, -1 */
    int32_t          refused;  /* a mask that is false for all of what is being written, -1 */
    int32_t          covered;  /* a mask that is true for all of what is being written, -1 */
    bool            *crosses;  /* per register: read in another one */
    bool             dry;      /* only to learn that */
    bool             arrays;   /* some register crosses, or a state is an array */
    bool             past;     /* something is stored past the caches */
    int32_t          unrolled; /* short loops around that are written out */
    int64_t          loads;    /* of the round */
    int32_t          names;
    int32_t         *copy; /* per register: its name before the loop, in the one written out last */
    bool             ahead; /* what is being written stands there */
} rd_codegen;

/* facts.c */
bool    rd_codegen_facts(rd_codegen *n, rd_get_fn *get, void *pool);
bool    rd_same_address(const rd_address *a, const rd_address *b);
bool    rd_within(const rd_codegen *n, int32_t inst, int32_t loop);
int32_t rd_part_of(const rd_program *p, int32_t inst);
bool    rd_takes_step(const rd_inst *inst);
/* Is the register an int of 17 bits at most, as small ints in a wider type are? */
bool rd_has_17_bits(const rd_codegen *n, int32_t reg);
/* How many indices of an axis its loops visit at a time, at most; how many rounds a loop has. */
int64_t rd_reach(const rd_program *p, int32_t axis);
int64_t rd_trips(const rd_program *p, int32_t loop);

/* regions.c */
void rd_codegen_regions(rd_codegen *n);
/* Which registers of a region depend on its axis. */
void rd_region_varies(const rd_codegen *n, const rd_region *r, bool *varies);

/* costs.c: all indices of a region's axis; one element of an instruction in it, or one by one. */
double rd_cost_of_region(const rd_codegen *n, const rd_region *r, bool *varies);
double rd_cost_of_inst(const rd_codegen *n, const rd_region *r, const rd_inst *inst,
                       const bool *varies);

/* widths.c */
void rd_size_region(const rd_codegen *n, rd_region *r);
/* Are its elements lanes of a fold? */
bool rd_has_lanes(const rd_codegen *n, const rd_region *r);
bool rd_has_exp_of_pairs(const rd_codegen *n, const rd_region *r, int32_t loop);

/* wholes.c: finds the folds of mode RD_FOLD_WHOLE; has the region some? */
void rd_find_wholes(rd_codegen *n);
bool rd_has_wholes(const rd_codegen *n, const rd_region *r);

/* cuts.c: instructions that end a loop over the strip: they take it as an array. */
bool rd_cuts(const rd_codegen *n, const rd_inst *inst);
/* Ints are divided by a number that is known and not 0. */
bool rd_divides_by_number(const rd_codegen *n, const rd_inst *inst);
/* Random words of a key that is known. */
bool rd_draws_words(const rd_codegen *n, const rd_inst *inst);
/* Is a loop in a strip, along that axis, short and simple enough to be written out? */
bool rd_writes_out(const rd_codegen *n, int32_t loop, int32_t strip);
/* Is it a loop of a scan by the tree, in no strip? */
bool rd_writes_out_scan(const rd_codegen *n, int32_t loop);

/* reuse.c */
void rd_codegen_reuse(rd_codegen *n);
/* The loop before which a load of the region could be collected, -1. */
int32_t rd_loop_of_reuse(const rd_codegen *n, const rd_region *r, int32_t load);
/* The arrays of what is collected before the loop; an element of one. */
void rd_collect_before(rd_codegen *n, int32_t loop);
void rd_add_collected(rd_codegen *n, rd_text *to, int32_t load);

/* rest.c: may the last strip of the region be as long as the others?  "p3", what a load reads
 * there. */
bool rd_pads(const rd_codegen *n, const rd_region *r);
void rd_add_padded(rd_codegen *n, int32_t load, const char *type);

/* bounds.c: a loop of which a mask leaves out a part.  first, begin, end, last<loop>: the mask is
 * false outside [first, last), but for one index, and true in [begin, end); all in steps of `by`
 * from `from` on.  Then what it walks, thrice at most. */
bool rd_is_bounded(const rd_codegen *n, int32_t loop);
void rd_bounds_functions(const rd_codegen *n, rd_text *to);
/* Before the loop over blocks around it: how many of a list's ranges lie before a block. */
void rd_bounds_begin(rd_codegen *n, int32_t loop);
void rd_bounds_open(rd_codegen *n, int32_t loop, const char *from, const char *to, int by);
/* The clusters along a region's axis that say which ranges of a list a loop inside visits, as an
 * address, -1: none.  Strips of one cluster then end at its border<axis>, which is opened here. */
int32_t      rd_clusters_along(const rd_codegen *n, const rd_region *r);
void         rd_open_cluster(rd_codegen *n, const rd_region *r, int32_t clusters, const char *to);
void         rd_bounds_close(rd_codegen *n, int32_t loop); /* behind that */
typedef void rd_walk_part(rd_codegen *n, int32_t loop, void *with, const char *lo, const char *hi);
void         rd_walk_bounded(rd_codegen *n, int32_t loop, rd_walk_part *walk, void *with);

/* labels.c: folds by label.  What stands against one; may a region have its step?  Its steps; the
 * states at hand are variables along a loop; the end of a block. */
bool    rd_has_groups(const rd_codegen_fold *f);
void    rd_labels_facts(rd_codegen *n, const rd_codegen_fold *f);
bool    rd_labels_may_step(const rd_codegen *n, const rd_region *r, int32_t step);
void    rd_labels_keep(rd_codegen *n, int32_t loop, bool in);
int32_t rd_labels_mask(const rd_codegen *n, int32_t loop);
/* Is a step one that does nothing where that mask is false throughout? */
bool rd_labels_refuse(const rd_codegen *n, const rd_inst *step);
void rd_labels_step(rd_codegen *n, int32_t inst);
void rd_labels_push(rd_codegen *n, const rd_codegen_fold *f);

/* rows.c: the program as loops over rows of places, NULL where it is not such a one.  False: no
 * memory.  The axis of a row loop's rows.  In the text: a row loop's range; those of
 * which the first place is in a task's share. */
bool rd_codegen_rows(const rd_program *p, rd_get_fn *get, void *pool, const rd_program **by_rows);
int32_t rd_axis_of_rows(const rd_program *p, const rd_loop *row);
void    rd_row_range(rd_codegen *n, int32_t loop);
bool    rd_goes_by_fours(const rd_codegen *n, int32_t loop);
void    rd_open_fours(rd_codegen *n, int32_t loop, const char *lo, const char *hi);
void    rd_close_fours(rd_codegen *n, int32_t loop);
void    rd_declare_rows(rd_codegen *n);

/* fetch.c: bytes of all elements along the address' axes; 0: registers count. */
double rd_bytes_along(const rd_codegen *n, const rd_address *at);
/* What the loop over the strip fetches beside a load of its. */
void rd_add_fetch(rd_codegen *n, int32_t load);
/* Does one over so many rows of a loop fetch those behind them?  Then what it has to say beside
 * each part of the strip, and the loop that is open. */
bool rd_fetches_ahead(const rd_codegen *n, int32_t loop);
void rd_add_ahead(rd_codegen *n, int32_t loop, int rows);
void rd_add_loop_ahead(rd_codegen *n);

/* past.c: is a store of the region one past the caches?  Any?  As an array of the strip, that goes
 * there behind the loop. */
bool rd_goes_past(const rd_codegen *n, const rd_region *r, int32_t inst);
bool rd_any_goes_past(const rd_codegen *n, const rd_region *r);
void rd_add_past(rd_codegen *n, int32_t inst);
/* " - OVER_LINE(...)": elements that the first strip has less, so that others begin where lines
 * do. */
void rd_add_over_line(rd_codegen *n, rd_text *to);
/* The loop over the strip, and what it stores so. */
void rd_add_loop_past(rd_codegen *n);

/* text.c */
__attribute__((format(printf, 2, 3))) void rd_line(rd_codegen *n, const char *format, ...);
void rd_number_text(rd_codegen *n, rd_text *to, int64_t value);
/* A position: what it is at the place that is being written. */
void rd_position(rd_codegen *n, rd_text *to, const rd_address *at);
/* But for what it moves by in the strip. */
void rd_position_of_strip(rd_codegen *n, rd_text *to, const rd_address *at);

/* walk.c */
void rd_walk_items(rd_codegen *n, int32_t from, int32_t to);
/* All that the loop holds. */
void rd_walk_body(rd_codegen *n, int32_t loop);
void rd_strip_loop_end(rd_codegen *n);
/* Where statements of the loop over the strip go; it is opened. */
rd_text *rd_strip_loop(rd_codegen *n);

/* Wide strips are taken in parts of so many elements, where what is kept of them shall stay
 * near. */
enum { RD_PART = 512 };
/* Elements of a strip, or of a part of one, that arrays have room for. */
int rd_strip_room(const rd_codegen *n);

/* together.c: can rows of a loop go together, one way or the other?  The indices [from, to) of one
 * that can. */
bool rd_goes_together(const rd_codegen *n, int32_t loop);
bool rd_goes_jammed(const rd_codegen *n, int32_t loop);
void rd_walk_together(rd_codegen *n, int32_t loop, const char *from, const char *to);

/* values.c */
void rd_codegen_value(rd_codegen *n, int32_t inst);
void rd_add_load(rd_codegen *n, rd_text *to, int32_t inst);
/* Does each element along the axis have an index of its own, that memory has said?  Is it a load of
 * a strip's elements that are not side by side? */
bool rd_gathers(const rd_codegen *n, const rd_address *at, int32_t axis);
bool rd_lies_apart(const rd_codegen *n, int32_t inst, int32_t axis);
/* A register as an operand at this place. */
void rd_operand_text(rd_codegen *n, rd_text *to, int32_t reg);

void rd_add_stored(rd_codegen *n, rd_text *to, rd_dtype type, int32_t reg);

/* calls.c */
void rd_codegen_call_once(rd_codegen *n, rd_text *to, int32_t inst);
void rd_codegen_call_strip(rd_codegen *n, int32_t inst);

/* states.c */
void rd_codegen_lay_out(rd_codegen *n);
/* Pointers to states that are in the task's memory; arrays of the text. */
void rd_declare_states(rd_codegen *n);
void rd_declare_state_arrays(rd_codegen *n, rd_text *to, const rd_codegen_fold *f);
/* The region that a fold's step stands in, NULL; which fold it is. */
const rd_region *rd_region_of(const rd_codegen *n, const rd_codegen_fold *f);
int              rd_number_of(const rd_codegen *n, const rd_codegen_fold *f);
/* "&s0_0[at], &s0_1[at]". */
void rd_add_states(rd_text *to, const rd_codegen *n, const rd_codegen_fold *f, const char *name,
                   const char *at);
/* Where the strip's element has its state; where the cells at hand have their first, and all lanes
 * behind it. */
void rd_add_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f);
void rd_add_first_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f);
/* States of the strip's element, wherever they are held. */
void rd_add_state_at_hand(rd_codegen *n, rd_text *to, const rd_codegen_fold *f);
/* Of cells that are copied: which of them, by the indices of the loops that are written out. */
int64_t rd_group_of(const rd_codegen *n, const rd_codegen_fold *f);

/* steps.c */
void rd_codegen_start(rd_codegen *n, int32_t fold);
void rd_codegen_step(rd_codegen *n, int32_t inst);
/* "step0(states, x, w, i, take, power);" */
void rd_add_step(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states);

/* moves.c: states are held in variables of the loop over the strip; and go back. */
void rd_states_hold(rd_codegen *n, int32_t loop);
void rd_states_drop(rd_codegen *n, int32_t loop);
/* States of lanes move to arrays of the text around a loop, and back. */
void rd_states_in(rd_codegen *n, int32_t loop);
void rd_states_out(rd_codegen *n, int32_t loop);
/* States of one cell by itself, likewise; users' reducers only. */
void rd_states_alone(rd_codegen *n, int32_t loop, bool in);
/* One group of them. */
void rd_copy_group(rd_codegen *n, const rd_codegen_fold *f, int64_t g, bool in);

/* blocks.c: are steps taken in a loop whose rounds end blocks?  Those of any fold. */
bool rd_ends_blocks(const rd_codegen *n, int32_t loop);
void rd_blocks_begin(rd_codegen *n, int32_t loop, const char *from, const char *hi);
void rd_blocks_end(rd_codegen *n, int32_t loop, const char *from, const char *to);
/* "int64_t t0": the step of the first index of the loop, whose axis is at `from`. */
void rd_count_steps(rd_codegen *n, const rd_codegen_fold *f, int32_t axis, const char *from);
/* Behind the last element of a block, where loops are not cut at their ends. */
void rd_end_block(rd_codegen *n, const rd_codegen_fold *f);
/* ", tree0, states" */
void rd_add_tree_arguments(rd_codegen *n, rd_text *to, const rd_codegen_fold *f);

/* beside.c: many blocks of a user's reducer at a time, of a loop that does nothing else; the loop
 * goes on at "beside<loop>".  False: it begins where it does. */
bool rd_blocks_beside(rd_codegen *n, int32_t loop, const char *lo, const char *hi);

/* closes.c */
void rd_codegen_close(rd_codegen *n, int32_t inst);
void rd_declare_results(rd_text *to, const rd_codegen_fold *f, int32_t dst);
void rd_keep_results(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst);

/* scans.c */
void rd_codegen_scan(rd_codegen *n, int32_t inst);
void rd_codegen_scan_functions(rd_codegen *n, rd_text *to, int32_t number);
/* "turn0(states, count);": a block has ended. */
void rd_turn_text(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at,
                  const char *count);

/* steps.c: elements of the strip that one vector steps by. */
double rd_step_lanes(const rd_codegen *n, const rd_codegen_fold *f, double lanes);

/* exits.c */
void rd_codegen_exit(rd_codegen *n, int32_t inst);
void rd_codegen_exit_rows(rd_codegen *n, int32_t loop, int rows, const char *to);
void rd_codegen_exit_functions(rd_codegen *n, rd_text *to, int32_t number);
/* Where a loop is left to, if it is. */
void rd_left_label(rd_codegen *n, int32_t loop);
bool rd_is_left(const rd_codegen *n, int32_t loop);

/* trees.c: what becomes of blocks. */
void rd_codegen_tree_functions(rd_codegen *n, rd_text *to, int32_t number);
void rd_codegen_join_function(rd_codegen *n, rd_text *to);
#endif

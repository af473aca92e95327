/* kernel.h - what the text of a GPU's kernels has beside that of C: docs/loops.md, "Kernels for GPUs".
 *
 * Names: t is a thread's number in its team, i which of its neighbours one is, or e along a loop that it walks, v1 where rounds of the
 * loop over axis 1 begin, u which of those that go together; s0_0 the first numbers of the states in
 * array 0, w0_0 the rows of their nodes, b0 which block they are at; p7 what the LOAD of statement 7
 * has taken ahead, o9 what the STORE of statement 9 puts at once. */
#ifndef RD_KERNELS_PRINT_GPU_KERNEL_H
#define RD_KERNELS_PRINT_GPU_KERNEL_H
#include "kernels/print/print.h"

/* How rounds of a loop are printed. */
typedef enum rd_round_form {
    RD_ROUND_ALONE,   /* one, of which elements may be missing                                    */
    RD_ROUND_TOGETHER /* some, which are whole: what is marked so is taken, or put, at once        */
} rd_round_form;

/* How steps are printed, see deferred_steps.c. */
typedef enum rd_step_form {
    RD_STEP_WHOLE,
    RD_STEP_WAIT, /* those that wait only say whether they move anything */
    RD_STEP_NEAR  /* none does                                           */
} rd_step_form;

/* How ranges of an item meet, which is the backend's: a range leaves the nodes of a fold, to the array of a
 * LEAVE; "if (all ranges of the item have come)", NULL: another kernel is behind; "double *const w3_0 = ..;",
 * the rows of nodes that all have left, by a name, or (`one`) one node for each lane. */
typedef struct rd_kernel_ranges {
    void *of;
    void (*leave)(void *of, rd_printing *n, int32_t fold);
    void (*last)(void *of, rd_printing *n);
    void (*rows)(void *of, rd_printing *n, int32_t fold, const char *name);
    bool        one;
    const char *count; /* how many they are, as text */
    /* "x0 = .." of a lane of a fold, where patches meet */
    void (*node)(void *of, rd_printing *n, int32_t fold, const char *lane);
} rd_kernel_ranges;

typedef struct rd_kernel {
    int32_t team;    /* threads                                                              */
    int32_t wide;    /* neighbours that a thread has side by side; 1: those are a team apart */
    bool    squares; /* arrays in shared memory are squares                                  */
    bool    pairs;   /* ... tiles of points, and what results bring                          */
    bool    patches; /* items are patches, of rows and columns along these axes               */
    int32_t patch[2];
    int     along;    /* which of them LAST asks about                                        */
    bool    tiles;    /* a block of threads has an item: t is a thread's number in the block  */
    int32_t row_word; /* bytes of an element of rows in shared memory                         */
    int32_t unrolled; /* states of a thread by which loops over them are written out          */
    int32_t rounds;   /* the loop whose rounds are being printed, -1                          */
    rd_round_form form;
    bool          apart; /* a thread's elements are a team apart, not side by side                */
    bool threads;        /* each thread has rounds of its own here; else all do the same          */
    rd_step_form steps;  /* of neighbours at hand                                                 */
    uint64_t     moved;  /* folds that have moved on to the block of these rounds                 */
    uint64_t     packed; /* slots of which several elements are taken, or put, at once            */
    uint64_t     ranged; /* folds of which ranges leave nodes                                     */
    const rd_kernel_ranges *ranges;
} rd_kernel;

/* tree_functions.c: rise0(), push0(), under0() of a fold of several blocks. */
void rd_print_node_functions(rd_text *to, const rd_emit_fold *f, int32_t number);
/* "merge0(&a0, &a1, &b0, &b1);" of variables, or another function of two states. */
void rd_print_merge(rd_text *to, const rd_emit_fold *f, int32_t number, const char *function);

/* kernel.c: a statement, false: C's printer has its text. */
bool rd_print_in_kernel(rd_printing *n, int32_t stmt);
/* Operators and folds of the program, before kernels; false: no memory. */
bool rd_print_kernel_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* state_share.c: does the fold have several blocks?  Lanes of a cell, and cells, that a thread has; rows of nodes. */
bool    rd_has_tree(const rd_printing *n, int32_t fold);
int32_t rd_lanes_here(const rd_printing *n, int32_t store);
int64_t rd_cells_here(const rd_printing *n, int32_t store);
/* Do threads have lanes of cells that lie in the team's memory? */
bool    rd_is_lane_of_team(const rd_printing *n, int32_t store);
int32_t rd_counters_of(const rd_printing *n, int32_t store);
/* Are its states the team's, and all threads here?  Where an array of pairs begins in shared memory. */
bool    rd_is_of_all(const rd_printing *n, int32_t store);
int64_t rd_begin_of_tile(const rd_store *tile);

/* thread_states.c */
void rd_print_thread_states(rd_printing *n, const rd_stmt *s);
void rd_print_begin_states(rd_printing *n, const rd_stmt *s);
void rd_print_thread_step(rd_printing *n, int32_t stmt);
/* begin_blocks_text.c: the cell moves on to a block, as text: those before become nodes. */
void rd_print_move_on(rd_printing *n, const rd_stmt *s, const char *block);
void rd_print_opens(rd_printing *n, const rd_stmt *s);
/* "(i1) / 64": the block that an element is of. */
void rd_print_block_of(rd_printing *n, rd_text *to, const rd_stmt *s);
/* Subscripts: of the cell's first state, and of its block counter. */
void rd_print_first_state(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_counter(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_counter_of(rd_printing *n, rd_text *to, const rd_stmt *s, const char *thread);

/* serial_scan_text.c: turn0() and tree0(); PREFIX; the cell of a scan moves on to a block, as text. */
void rd_print_turn_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t levels,
                             int32_t number);
void rd_print_prefix_of_thread(rd_printing *n, const rd_stmt *s);
void rd_print_turns(rd_printing *n, const rd_stmt *s, const char *block);
/* "turn0(..);" of the cell whose state has the subscript. */
void rd_print_turn_of(rd_printing *n, const rd_stmt *s, const char *at);

/* two_pass_scan_text.c: scans whose ranges go twice.  Of LIFT what a thread does for cell c of node `at` of a level, of
 * which the node `below` and the next one are halves. */
void rd_print_leave_scan(rd_printing *n, const rd_stmt *s);
void rd_print_await(rd_printing *n, const rd_stmt *s);
void rd_print_lift(rd_printing *n, const rd_stmt *s);

/* look_back_scan_text.c: scans by tiles.  "struct scan0 {..};"; ARRAY, BEGIN, STEP, WITHIN, AWAIT, SOFAR of states of
 * elements; a loop over the rounds of a tile. */
void rd_print_sweep_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t number);
void rd_print_tile(rd_printing *n, int32_t store);
void rd_print_begin_tile(rd_printing *n, const rd_stmt *s);
void rd_print_step_of_tile(rd_printing *n, const rd_stmt *s);
void rd_print_within(rd_printing *n, const rd_stmt *s);
void rd_print_await_tiles(rd_printing *n, const rd_stmt *s);
void rd_print_so_far(rd_printing *n, const rd_stmt *s);
void rd_print_loop_of_tile(rd_printing *n, int32_t loop);

/* finish_text.c: REST, LANES and FINISH of a fold, which follow each other. */
void rd_print_close(rd_printing *n, const rd_stmt *s);

/* row_cache_text.c: a STORE to, and a LOAD from, a row in shared memory. */
void rd_print_to_row(rd_printing *n, const rd_stmt *s);
void rd_print_from_row(rd_printing *n, const rd_stmt *s);

/* deferred_steps.c: what steps of neighbours wait in, before their loop; a step by its form, false: as it is; the
 * steps, behind their loop. */
void rd_print_declare_waiting(rd_printing *n, int32_t loop);
bool rd_print_step_as(rd_printing *n, int32_t stmt, const char *states);
void rd_print_waiting(rd_printing *n, int32_t loop);

/* partials_text.c: LEAVE, LAST, JOIN; the node of what a lane of all ranges comes to. */
bool rd_is_ranged(const rd_printing *n, int32_t fold);
void rd_find_ranged(rd_printing *n, int32_t kernel);
void rd_print_leave(rd_printing *n, const rd_stmt *s);
void rd_print_last(rd_printing *n, int32_t stmt);
void rd_print_join_ranges(rd_printing *n, const rd_stmt *s);
void rd_print_joined_node(rd_printing *n, const rd_stmt *s, const char *at);

/* round_loops.c: loops of an item. */
bool rd_print_kernel_loop(rd_printing *n, int32_t stmt);
/* thread_loops.c: loops over threads, and over what each has. */
void rd_print_threads(rd_printing *n, int32_t stmt);
void rd_print_vector_of_thread(rd_printing *n, int32_t stmt);
/* round_starts.c: the mark or the index at which a round begins; "const int64_t m0 = v1 + u * 64;" of a round;
 * "const int64_t m1 = m0 + 4 * t;" of a loop in it. */
void rd_print_round_name(rd_printing *n, rd_text *to, const rd_for *loop);
/* Does whether a thread's index is there not hang on the round?; "if (i0 < m1) {". */
bool rd_is_across(const rd_printing *n, const rd_for *loop);
void rd_print_if_there(rd_printing *n, const rd_for *loop);
void rd_print_round(rd_printing *n, int32_t rounds, const char *u);
void rd_print_start_of_round(rd_printing *n, const rd_for *loop, const char *round);

/* vector_access_text.c: accesses of several elements at once in the rounds at hand. */
bool rd_is_packed(const rd_printing *n, int32_t stmt);
void rd_print_declare_takes(rd_printing *n, int32_t rounds, int32_t ahead);
void rd_print_takes(rd_printing *n, int32_t rounds, int32_t ahead);
void rd_print_declare_puts(rd_printing *n, int32_t loop);
void rd_print_puts(rd_printing *n, int32_t loop);
/* "p7[u].e[i]", "o9.e[i]" */
void rd_print_packed(rd_printing *n, rd_text *to, int32_t stmt);
/* Several elements of a slot are moved at once. */
void rd_note_packed(const rd_printing *n, int32_t slot, int32_t pack);
/* Elements that a statement of rounds takes from memory in each; does any go ahead? */
bool rd_has_takes(const rd_printing *n, int32_t rounds);

/* point_tiles_text.c: arrays in shared memory of pairs; a loop that fills one; an element of a slot. */
void rd_print_declare_tiles(rd_printing *n);
void rd_print_fill_of_tile(rd_printing *n, int32_t loop);
void rd_print_element_of(rd_printing *n, rd_text *to, const rd_let *let);

/* point_loops.c: a loop of pairs, false: it is printed as others are. */
bool rd_print_loop_of_pairs(rd_printing *n, int32_t stmt);
/* point_pair.c: do neighbours stand behind the last item, too?  The index of one then; "if (it is none of these)";
 * indices of the pair at hand. */
bool rd_is_clamped(const rd_printing *n, int32_t stmt);
void rd_print_clamped(rd_printing *n, int32_t stmt);
void rd_print_if_result(rd_printing *n);
void rd_print_pair(rd_printing *n, int32_t stmt);
/* What a thread's result brings goes to its own array.  A load from an array of pairs: is it such; what
 * neighbours take; its value. */
void rd_print_row_of_thread(rd_printing *n, const rd_stmt *s);
bool rd_is_from_tile(const rd_printing *n, int32_t stmt);
void rd_print_take_from_tile(rd_printing *n, int32_t stmt, int32_t lane);
void rd_print_from_tile(rd_printing *n, int32_t stmt);

/* block_tile_text.c: a statement of a patch, false: others have its text; the first and the last of its rows, or
 * columns. */
bool rd_print_in_patch(rd_printing *n, int32_t stmt);
void rd_print_range_of_patch(rd_printing *n, const rd_for *loop);
/* block_tile_lanes.c: lanes of a row; those of all rows of a patch, in shared memory, begin; what a thread has at hand is
 * declared, columns or lanes of a row; columns begin; lanes of row `u` of this turn come, and go back. */
int64_t rd_lanes_of_row(const rd_printing *n);
void    rd_print_begin_lanes(rd_printing *n, int32_t fold);
void    rd_print_declare_at_hand(rd_printing *n, bool rows);
void    rd_print_begin_columns(rd_printing *n);
void    rd_print_take_lanes(rd_printing *n);
void    rd_print_put_lanes(rd_printing *n);

/* work_items_text.c: which item a team does, "const int64_t i0 = ..;", and all that is done for it. */
void rd_print_item(rd_printing *n, int32_t kernel);
/* What the last range of an item does, as a kernel of its own. */
void rd_print_behind_ranges(rd_printing *n, int32_t kernel);
#endif

/* kernel.h - what the text of a GPU's kernels has beside that of C: docs/loops.md, "Kernels for
 * GPUs".
 *
 * Names: t is a thread's number in its team, i which of its neighbours one is, or e along a loop
 * that it walks, v1 where rounds of the loop over axis 1 begin, u which of those that go
 * together; s0_0 the first numbers of the states in array 0, w0_0 the rows of their nodes, b0
 * which block they are at; p7 what the LOAD of statement 7 has taken ahead, o9 what the STORE of
 * statement 9 puts at once. */
#ifndef RD_KERNELS_PRINT_GPU_KERNEL_H
#define RD_KERNELS_PRINT_GPU_KERNEL_H
#include "kernels/print/print.h"

/* How rounds of a loop are printed. */
typedef enum rd_round_strategy {
    RD_ROUND_SINGLE, /* one, of which elements may be missing                                    */
    RD_ROUND_BATCHED /* some, which are whole: what is marked so is taken, or put, at once        */
} rd_round_strategy;

/* How steps are printed, see deferred_steps.c. */
typedef enum rd_step_strategy {
    RD_STEP_WHOLE,
    RD_STEP_DEFERRED, /* those that wait only say whether they move anything */
    RD_STEP_NEAR      /* none does                                           */
} rd_step_strategy;

/* How ranges of an item meet, which is the backend's: a range leaves the nodes of a fold, to the
 * array of a LEAVE; "if (all ranges of the item have come)", NULL: another kernel is behind;
 * "double *const w3_0 = ..;", the rows of nodes that all have left, by a name, or (`one`) one
 * node for each lane. */
typedef struct rd_kernel_combine {
    void *of;
    void (*leave)(void *of, rd_printing *n, int32_t fold);
    void (*last)(void *of, rd_printing *n);
    void (*rows)(void *of, rd_printing *n, int32_t fold, const char *name);
    bool        one;
    const char *count; /* how many they are, as text */
    /* "x0 = .." of a lane of a fold, where patches meet */
    void (*node)(void *of, rd_printing *n, int32_t fold, const char *lane);
} rd_kernel_combine;

typedef struct rd_kernel {
    int32_t team;        /* threads                                                              */
    int32_t width;       /* neighbours that a thread has side by side; 1: those are a team apart */
    bool    transposes;  /* arrays in shared memory are squares                                  */
    bool    pairs;       /* ... tiles of points, and what results bring                          */
    bool    block_tiles; /* items are patches, of rows and columns along these axes               */
    int32_t tile_axis[2];
    int     along;     /* which of them LAST asks about                                        */
    bool    look_back; /* a block of threads has an item: t is a thread's number in the block  */
    int32_t row_word;  /* bytes of an element of rows in shared memory                         */
    int32_t unrolled;  /* states of a thread by which loops over them are written out          */
    int32_t rounds;    /* the loop whose rounds are being printed, -1                          */
    rd_round_strategy strategy;
    bool apart;      /* a thread's elements are a team apart, not side by side                */
    bool per_thread; /* each thread has rounds of its own here; else all do the same          */
    rd_step_strategy
        steps; /* of neighbours at hand                                                 */
    uint64_t
        block_begun; /* folds that have moved on to the block of these rounds                 */
    uint64_t
        vector_slots;  /* slots of which several elements are taken, or put, at once            */
    uint64_t partials; /* folds of which ranges leave nodes                                     */
    const rd_kernel_combine *combine;
} rd_kernel;

/* tree_functions.c: rise0(), push0(), under0() of a fold of several blocks. */
void rd_print_node_functions(rd_text *to, const rd_emit_fold *f, int32_t number);
/* "merge0(&a0, &a1, &b0, &b1);" of variables, or another function of two states. */
void rd_print_merge(rd_text *to, const rd_emit_fold *f, int32_t number, const char *function);

/* kernel.c: a statement, false: C's printer has its text. */
bool rd_print_in_kernel(rd_printing *n, int32_t stmt);
/* Operators and folds of the program, before kernels; false: no memory. */
bool rd_print_kernel_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* state_share.c: does the fold have several blocks?  Lanes of a cell, and cells, that a thread
 * has; rows of nodes. */
bool    rd_has_tree(const rd_printing *n, int32_t fold);
int32_t rd_lanes_here(const rd_printing *n, int32_t store);
int64_t rd_cells_here(const rd_printing *n, int32_t store);
/* Do threads have lanes of cells that lie in the team's memory? */
bool    rd_has_lanes_in_team(const rd_printing *n, int32_t store);
int32_t rd_block_counters_of(const rd_printing *n, int32_t store);
/* Are its states the team's, and all threads here?  Where an array of pairs begins in shared
 * memory. */
bool    rd_is_team_uniform(const rd_printing *n, int32_t store);
int64_t rd_first_of_tile(const rd_store *tile);

/* thread_states.c */
void rd_print_thread_states(rd_printing *n, const rd_stmt *s);
void rd_print_begin_states(rd_printing *n, const rd_stmt *s);
void rd_print_thread_step(rd_printing *n, int32_t stmt);
/* begin_blocks_text.c: the cell moves on to a block, as text: those before become nodes. */
void rd_print_push_blocks(rd_printing *n, const rd_stmt *s, const char *block);
void rd_print_begin_block(rd_printing *n, const rd_stmt *s);
/* "(i1) / 64": the block that an element is of. */
void rd_print_block_of(rd_printing *n, rd_text *to, const rd_stmt *s);
/* Subscripts: of the cell's first state, and of its block counter. */
void rd_print_first_state(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_block_counter(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_block_counter_of(rd_printing *n, rd_text *to, const rd_stmt *s, const char *thread);

/* serial_scan_text.c: turn0() and tree0(); PREFIX; the cell of a scan moves on to a block, as
 * text. */
void rd_print_block_end_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t levels,
                                  int32_t number);
void rd_print_serial_prefix(rd_printing *n, const rd_stmt *s);
void rd_print_end_scan_blocks(rd_printing *n, const rd_stmt *s, const char *block);
/* "turn0(..);" of the cell whose state has the subscript. */
void rd_print_end_scan_block(rd_printing *n, const rd_stmt *s, const char *at);

/* two_pass_scan_text.c: scans whose ranges go twice.  Of LIFT what a thread does for cell c of
 * node `at` of a level, of which the node `below` and the next one are halves. */
void rd_print_store_scan_partial(rd_printing *n, const rd_stmt *s);
void rd_print_load_prefix(rd_printing *n, const rd_stmt *s);
void rd_print_build_tree(rd_printing *n, const rd_stmt *s);

/* look_back_scan_text.c: scans by tiles.  "struct scan0 {..};"; ARRAY, BEGIN, STEP, WITHIN,
 * AWAIT, SOFAR of states of elements; a loop over the rounds of a tile. */
void rd_print_look_back_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t number);
void rd_print_scan_tile(rd_printing *n, int32_t store);
void rd_print_begin_scan_tile(rd_printing *n, const rd_stmt *s);
void rd_print_scan_tile_step(rd_printing *n, const rd_stmt *s);
void rd_print_scan_blocks(rd_printing *n, const rd_stmt *s);
void rd_print_look_back(rd_printing *n, const rd_stmt *s);
void rd_print_scan_result(rd_printing *n, const rd_stmt *s);
void rd_print_scan_tile_loop(rd_printing *n, int32_t loop);

/* finish_text.c: REST, LANES and FINISH of a fold, which follow each other. */
void rd_print_thread_finish(rd_printing *n, const rd_stmt *s);

/* row_cache_text.c: a STORE to, and a LOAD from, a row in shared memory. */
void rd_print_store_to_row(rd_printing *n, const rd_stmt *s);
void rd_print_load_from_row(rd_printing *n, const rd_stmt *s);

/* deferred_steps.c: what steps of neighbours wait in, before their loop; a step by its form,
 * false: as it is; the steps, behind their loop. */
void rd_print_declare_deferred(rd_printing *n, int32_t loop);
bool rd_print_step_by_strategy(rd_printing *n, int32_t stmt, const char *states);
void rd_print_deferred_steps(rd_printing *n, int32_t loop);

/* partials_text.c: LEAVE, LAST, JOIN; the node of what a lane of all ranges comes to. */
bool rd_has_partials(const rd_printing *n, int32_t fold);
void rd_find_partials(rd_printing *n, int32_t kernel);
void rd_print_store_partials(rd_printing *n, const rd_stmt *s);
void rd_print_if_last(rd_printing *n, int32_t stmt);
void rd_print_combine_partials(rd_printing *n, const rd_stmt *s);
void rd_print_combined_node(rd_printing *n, const rd_stmt *s, const char *at);

/* round_loops.c: loops of an item. */
bool rd_print_kernel_loop(rd_printing *n, int32_t stmt);
/* thread_loops.c: loops over threads, and over what each has. */
void rd_print_thread_loop(rd_printing *n, int32_t stmt);
void rd_print_thread_vector(rd_printing *n, int32_t stmt);
/* round_starts.c: the mark or the index at which a round begins; "const int64_t m0 = v1 + u *
 * 64;" of a round; "const int64_t m1 = m0 + 4 * t;" of a loop in it. */
void rd_print_round_name(rd_printing *n, rd_text *to, const rd_for *loop);
/* Does whether a thread's index is there not hang on the round?; "if (i0 < m1) {". */
bool rd_is_across(const rd_printing *n, const rd_for *loop);
void rd_print_if_there(rd_printing *n, const rd_for *loop);
void rd_print_round(rd_printing *n, int32_t rounds, const char *u);
void rd_print_start_of_round(rd_printing *n, const rd_for *loop, const char *round);

/* vector_access_text.c: accesses of several elements at once in the rounds at hand. */
bool rd_is_vector_access(const rd_printing *n, int32_t stmt);
void rd_print_declare_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead);
void rd_print_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead);
void rd_print_declare_vector_stores(rd_printing *n, int32_t loop);
void rd_print_vector_stores(rd_printing *n, int32_t loop);
/* "p7[u].e[i]", "o9.e[i]" */
void rd_print_vector_element(rd_printing *n, rd_text *to, int32_t stmt);
/* Several elements of a slot are moved at once. */
void rd_note_vector_access(const rd_printing *n, int32_t slot, int32_t pack);
/* Elements that a statement of rounds takes from memory in each; does any go ahead? */
bool rd_has_vector_access(const rd_printing *n, int32_t rounds);

/* point_tiles_text.c: arrays in shared memory of pairs; a loop that fills one; an element of a
 * slot. */
void rd_print_declare_point_tiles(rd_printing *n);
void rd_print_fill_tile(rd_printing *n, int32_t loop);
void rd_print_element_of(rd_printing *n, rd_text *to, const rd_let *let);

/* point_loops.c: a loop of pairs, false: it is printed as others are. */
bool rd_print_point_loop(rd_printing *n, int32_t stmt);
/* point_pair.c: do neighbours stand behind the last item, too?  The index of one then; "if (it is
 * none of these)"; indices of the pair at hand. */
bool rd_is_clamped(const rd_printing *n, int32_t stmt);
void rd_print_clamped_index(rd_printing *n, int32_t stmt);
void rd_print_if_result(rd_printing *n);
void rd_print_pair_indices(rd_printing *n, int32_t stmt);
/* What a thread's result brings goes to its own array.  A load from an array of pairs: is it
 * such; what neighbours take; its value. */
void rd_print_store_result_row(rd_printing *n, const rd_stmt *s);
bool rd_is_tile_load(const rd_printing *n, int32_t stmt);
void rd_print_tile_vector_load(rd_printing *n, int32_t stmt, int32_t lane);
void rd_print_tile_load(rd_printing *n, int32_t stmt);

/* block_tile_text.c: a statement of a patch, false: others have its text; the first and the last
 * of its rows, or columns. */
bool rd_print_in_block_tile(rd_printing *n, int32_t stmt);
void rd_print_range_of_block_tile(rd_printing *n, const rd_for *loop);
/* block_tile_lanes.c: lanes of a row; those of all rows of a patch, in shared memory, begin; what
 * a thread has at hand is declared, columns or lanes of a row; columns begin; lanes of row `u` of
 * this turn come, and go back. */
int64_t rd_lanes_of_row(const rd_printing *n);
void    rd_print_begin_row_lanes(rd_printing *n, int32_t fold);
void    rd_print_declare_thread_states(rd_printing *n, bool rows);
void    rd_print_begin_columns(rd_printing *n);
void    rd_print_load_row_lanes(rd_printing *n);
void    rd_print_store_row_lanes(rd_printing *n);

/* work_items_text.c: which item a team does, "const int64_t i0 = ..;", and all that is done for
 * it. */
void rd_print_item(rd_printing *n, int32_t kernel);
/* What the last range of an item does, as a kernel of its own. */
void rd_print_last_range(rd_printing *n, int32_t kernel);
#endif

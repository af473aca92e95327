/* kernel.h - the text of a GPU's kernels, as far as it differs from C: docs/loops.md, "Kernels
 * for GPUs".
 *
 * Names in the text: t is a thread's number in its team; i numbers a thread's adjacent elements,
 * e those along a loop that one thread runs.  v1 is where rounds of the loop over axis 1 begin, u
 * a round of a batch. s0_0 has the first numbers of the states in array 0, w0_0 the rows of their
 * nodes, and b0 the numbers of their blocks.  p7 is the vector that the LOAD of statement 7 has
 * loaded, o9 the one that the STORE of statement 9 stores. */
#ifndef RD_KERNELS_PRINT_GPU_KERNEL_H
#define RD_KERNELS_PRINT_GPU_KERNEL_H
#include "kernels/print/print.h"

/* How rounds of a loop are printed. */
typedef enum rd_round_strategy {
    RD_ROUND_SINGLE, /* one round, which may lack elements                                   */
    RD_ROUND_BATCHED /* a batch of whole rounds; vector loads come first, vector stores last */
} rd_round_strategy;

/* How steps are printed: see deferred_steps.c. */
typedef enum rd_step_strategy {
    RD_STEP_WHOLE,    /* each step by itself                                     */
    RD_STEP_DEFERRED, /* the element is kept, and the step only says whether it changes m */
    RD_STEP_NEAR      /* no element changes m: the step is an addition           */
} rd_step_strategy;

/* How ranges of an item combine their partials.  The backend prints this; `of` is its own. */
typedef struct rd_kernel_combine {
    void *of;
    /* Prints how the range stores the partials of a fold. */
    void (*leave)(void *of, rd_printing *n, int32_t fold);
    /* Prints "if (all ranges of the item have come)"; NULL: a later kernel combines. */
    void (*last)(void *of, rd_printing *n);
    /* Prints "double *const w3_0 = ..;": the rows of partials of all ranges, under a name. */
    void (*rows)(void *of, rd_printing *n, int32_t fold, const char *name);
    bool        one;   /* rows() gives one combined node for each lane, not rows */
    const char *count; /* number of ranges, as text                              */
    /* Prints "x0 = ..": the node of a lane of a fold of a block tile. */
    void (*node)(void *of, rd_printing *n, int32_t fold, const char *lane);
} rd_kernel_combine;

/* The kernel that is printed.  The backend fills the first part, the printer the second one. */
typedef struct rd_kernel {
    int32_t team;         /* threads                                                              */
    int32_t width;        /* adjacent elements of a thread; 1: its elements lie a team apart      */
    bool    transposes;   /* arrays in shared memory are squares of a transpose                   */
    bool    pairs;        /* arrays in shared memory are tiles of points, and results' elements   */
    bool    block_tiles;  /* items are block tiles of rows and columns                            */
    int32_t tile_axis[2]; /* ... along these axes                                                 */
    int     last_along_columns; /* printer: 1 if the RD_S_IF_LAST at hand is along columns     */
    bool    look_back; /* a block of threads has an item: t is a thread's number in the block  */
    int32_t row_word;  /* bytes of an element of cached rows; 0: there are none                */
    int32_t unrolled;  /* loops over at most so many states of a thread are unrolled           */
    int32_t rounds;    /* the loop whose rounds are printed, -1                                */
    rd_round_strategy strategy;
    bool              apart;      /* a thread's elements lie a team apart                         */
    bool              per_thread; /* threads run different elements here; else all run the same   */
    rd_step_strategy  steps;
    uint64_t          block_begun; /* bits: folds that have begun the block of the rounds at hand */
    uint64_t          vector_slots; /* bits: slots with vector accesses                           */
    uint64_t          partials;     /* bits: folds that store partials in this kernel             */
    const rd_kernel_combine *combine;
} rd_kernel;

/* tree_functions.c: rise0(), push0(), under0() of a fold of several blocks. */
void rd_print_node_functions(rd_text *to, const rd_emit_fold *f, int32_t number);
/* "merge0(&a0, &a1, &b0, &b1);" of variables, or another function of two states. */
void rd_print_merge(rd_text *to, const rd_emit_fold *f, int32_t number, const char *function);

/* kernel.c: prints a statement; false: print/ has its text. */
bool rd_print_in_kernel(rd_printing *n, int32_t stmt);
/* Functions of operators and folds, before kernels; false: no memory. */
bool rd_print_kernel_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* state_share.c: true if the fold has several blocks. */
bool rd_has_tree(const rd_printing *n, int32_t fold);
/* Lanes of a cell, and cells, in an array as a thread sees it. */
int32_t rd_lanes_in_array(const rd_printing *n, int32_t store);
int64_t rd_cells_in_array(const rd_printing *n, int32_t store);
/* True if the states lie in the team's memory and each thread has some lanes of a cell. */
bool rd_has_lanes_in_team(const rd_printing *n, int32_t store);
/* Block counters of a cell. */
int32_t rd_block_counters_of(const rd_printing *n, int32_t store);
/* True if the states are the team's and all of its threads run the same statement. */
bool rd_is_team_uniform(const rd_printing *n, int32_t store);
/* Elements before the array in the shared memory of pairs. */
int64_t rd_first_of_tile(const rd_tree_array *tile);

/* thread_states.c: "float s0_0[4];", "begin0(&s0_0[k]);", "step0(&s0_0[0 + i], r3, 1, i1);". */
void rd_print_thread_states(rd_printing *n, const rd_stmt *s);
void rd_print_begin_states(rd_printing *n, const rd_stmt *s);
void rd_print_thread_step(rd_printing *n, int32_t stmt);
/* Subscripts: "(i0) * 4 + i1 - m0" of the cell's first state, "b0[i0]" of its block counter. */
void rd_print_first_state(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_block_counter(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_block_counter_of(rd_printing *n, rd_text *to, const rd_stmt *s, const char *thread);
/* begin_blocks_text.c: "while (b0[0] < block) { push0(..); b0[0]++; }", of a cell, or of
 * RD_S_PUSH_IF_NEW. */
void rd_print_push_blocks(rd_printing *n, const rd_stmt *s, const char *block);
void rd_print_begin_block(rd_printing *n, const rd_stmt *s);
/* "(i1) / 64": the block that an element is of. */
void rd_print_block_of(rd_printing *n, rd_text *to, const rd_stmt *s);

/* serial_scan_text.c: the functions turn0() and tree0(); PREFIX. */
void rd_print_block_end_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t levels,
                                  int32_t number);
void rd_print_serial_prefix(rd_printing *n, const rd_stmt *s);
/* "while (b0[0] < block) { turn0(..); b0[0]++; }"; "turn0(..);" of the cell with the subscript. */
void rd_print_end_scan_blocks(rd_printing *n, const rd_stmt *s, const char *block);
void rd_print_end_scan_block(rd_printing *n, const rd_stmt *s, const char *at);

/* two_pass_scan_text.c: a range stores its partial, and loads the prefix of all ranges before. */
void rd_print_store_scan_partial(rd_printing *n, const rd_stmt *s);
void rd_print_load_prefix(rd_printing *n, const rd_stmt *s);
/* A thread makes cell c of node `at` of a level from the node `below` and the next one. */
void rd_print_build_tree(rd_printing *n, const rd_stmt *s);

/* look_back_scan_text.c: scans in one pass.  "struct scan0 {..};"; then the statements ARRAY,
 * BEGIN, STEP, RD_S_SCAN_BLOCKS, RD_S_LOOK_BACK and RD_S_SCAN_RESULT of a tile; a loop over a
 * tile. */
void rd_print_look_back_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t number);
void rd_print_scan_tile(rd_printing *n, int32_t store);
void rd_print_begin_scan_tile(rd_printing *n, const rd_stmt *s);
void rd_print_scan_tile_step(rd_printing *n, const rd_stmt *s);
void rd_print_scan_blocks(rd_printing *n, const rd_stmt *s);
void rd_print_look_back(rd_printing *n, const rd_stmt *s);
void rd_print_scan_result(rd_printing *n, const rd_stmt *s);
void rd_print_scan_tile_loop(rd_printing *n, int32_t loop);

/* finish_text.c: the end of a fold, RD_S_MERGE_BLOCKS, RD_S_MERGE_LANES and RD_S_FINISH in one. */
void rd_print_thread_finish(rd_printing *n, const rd_stmt *s);

/* row_cache_text.c: a STORE to a row in shared memory, and a LOAD from one. */
void rd_print_store_to_row(rd_printing *n, const rd_stmt *s);
void rd_print_load_from_row(rd_printing *n, const rd_stmt *s);

/* deferred_steps.c: declares what deferred steps of a loop need, before it. */
void rd_print_declare_deferred(rd_printing *n, int32_t loop);
/* Prints a step by the strategy at hand; false: it is printed as any step. */
bool rd_print_step_by_strategy(rd_printing *n, int32_t stmt, const char *states);
/* Prints the deferred steps, behind their loop. */
void rd_print_deferred_steps(rd_printing *n, int32_t loop);

/* partials_text.c: true if ranges of the fold store partials in the kernel; notes these folds. */
bool rd_has_partials(const rd_printing *n, int32_t fold);
void rd_find_partials(rd_printing *n, int32_t kernel);
/* RD_S_STORE_PARTIALS, RD_S_IF_LAST, RD_S_COMBINE_PARTIALS; x0, x1 ..: the combined node of a
 * lane. */
void rd_print_store_partials(rd_printing *n, const rd_stmt *s);
void rd_print_if_last(rd_printing *n, int32_t stmt);
void rd_print_combine_partials(rd_printing *n, const rd_stmt *s);
void rd_print_combined_node(rd_printing *n, const rd_stmt *s, const char *at);

/* round_loops.c: prints a loop of an item; false: print/ has its text. */
bool rd_print_kernel_loop(rd_printing *n, int32_t stmt);
/* thread_loops.c: loops over threads, and over the elements of each. */
void rd_print_thread_loop(rd_printing *n, int32_t stmt);
void rd_print_thread_vector(rd_printing *n, int32_t stmt);
/* round_starts.c: "m0", the mark at which a round begins, or the index "i1". */
void rd_print_round_name(rd_printing *n, rd_text *to, const rd_for *loop);
/* "const int64_t m0 = v1 + u * 64;" of a round; "const int64_t m1 = m0 + 4 * t;" of a loop in
 * it. */
void rd_print_round(rd_printing *n, int32_t rounds, const char *u);
void rd_print_start_of_round(rd_printing *n, const rd_for *loop, const char *round);
/* True if the threads' indices are of another axis than the rounds; "if (i0 < m1) {". */
bool rd_has_other_axis(const rd_printing *n, const rd_for *loop);
void rd_print_if_there(rd_printing *n, const rd_for *loop);

/* vector_access_text.c: true if the access is a vector access in the rounds at hand; if the loop
 * has one. */
bool rd_is_vector_access(const rd_printing *n, int32_t stmt);
bool rd_has_vector_access(const rd_printing *n, int32_t rounds);
/* Vector loads of a batch of `ahead` rounds: declarations, then the loads. */
void rd_print_declare_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead);
void rd_print_vector_loads(rd_printing *n, int32_t rounds, int32_t ahead);
/* Vector stores of a vector loop: declarations before it, the stores behind it. */
void rd_print_declare_vector_stores(rd_printing *n, int32_t loop);
void rd_print_vector_stores(rd_printing *n, int32_t loop);
/* "p7[u].e[i]", "o9.e[i]" */
void rd_print_vector_element(rd_printing *n, rd_text *to, int32_t stmt);
/* Notes that the slot has vector accesses, if `pack` is more than 1. */
void rd_note_vector_access(const rd_printing *n, int32_t slot, int32_t pack);

/* point_tiles_text.c: arrays of pairs in shared memory; the loop that fills one; an element of a
 * slot. */
void rd_print_declare_point_tiles(rd_printing *n);
void rd_print_fill_tile(rd_printing *n, int32_t loop);
void rd_print_element_of(rd_printing *n, rd_text *to, const rd_tree_value *let);

/* point_loops.c: prints a loop of pairs; false: it has the text of other loops. */
bool rd_print_point_loop(rd_printing *n, int32_t stmt);
/* point_pair.c: true if the loop also has elements behind the last item; the index of one then. */
bool rd_is_clamped(const rd_printing *n, int32_t stmt);
void rd_print_clamped_index(rd_printing *n, int32_t stmt);
/* "if (m0 + i < N)": the element is a result; the indices of a pair. */
void rd_print_if_result(rd_printing *n);
void rd_print_pair_indices(rd_printing *n, int32_t stmt);
/* Stores an element of a thread's result to the thread's own array. */
void rd_print_store_result_row(rd_printing *n, const rd_stmt *s);
/* True if the statement loads from an array of pairs; the vector load before the loop; the value
 * in it. */
bool rd_is_tile_load(const rd_printing *n, int32_t stmt);
void rd_print_tile_vector_load(rd_printing *n, int32_t stmt, int32_t lane);
void rd_print_tile_load(rd_printing *n, int32_t stmt);

/* block_tile_text.c: prints a statement of a block tile; false: it has another kernel's text. */
bool rd_print_in_block_tile(rd_printing *n, int32_t stmt);
/* "const int64_t m1 = lo0, m2 = hi0;": the rows, or the columns, of the tile. */
void rd_print_range_of_block_tile(rd_printing *n, const rd_for *loop);
/* block_tile_lanes.c: lanes of a row; the lanes of all rows of a tile begin, in shared memory. */
int64_t rd_lanes_of_row(const rd_printing *n);
void    rd_print_begin_row_lanes(rd_printing *n, int32_t fold);
/* Declares a thread's states: of lanes of its row (`rows`), or of its columns, which then begin. */
void rd_print_declare_tile_states(rd_printing *n, bool rows);
void rd_print_begin_columns(rd_printing *n);
/* A thread loads its lanes of row `u` of the turn from shared memory, and stores them back. */
void rd_print_load_row_lanes(rd_printing *n);
void rd_print_store_row_lanes(rd_printing *n);

/* work_items_text.c: "const int64_t i0 = ..;", the item of a team, and all that is done for it. */
void rd_print_item(rd_printing *n, int32_t kernel);
/* Prints the statements behind a split loop, as a kernel of its own. */
void rd_print_last_range(rd_printing *n, int32_t kernel);
#endif

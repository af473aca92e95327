/* gpu.h - passes that make kernels for GPUs of loop trees: docs/loops.md, "Kernels for GPUs".
 *
 * An item is a unit of work.  A team of threads does an item: one thread, 8 or 16 (a subwarp), a
 * warp, or a whole thread block.  A range is a part of a long loop that is an item of its own.
 *
 * All that only speed depends on is decided before, and comes as data: an rd_gpu_plan. */
#ifndef RD_KERNELS_PASS_GPU_GPU_H
#define RD_KERNELS_PASS_GPU_GPU_H
#include "kernels/loop/loop.h"

/* The role that a loop of the program gets on a GPU. */
typedef enum rd_gpu_role {
    RD_GPU_SERIAL,      /* each item runs all of it, or each thread of the item        */
    RD_GPU_ITEMS,       /* each round is an item                                       */
    RD_GPU_CHUNKS,      /* an item is `chunk` rounds, distributed over the item's team */
    RD_GPU_DISTRIBUTED, /* the rounds are distributed over the item's team             */
    RD_GPU_RANGES       /* an item is a range of `chunk` rounds (split reduction)      */
} rd_gpu_role;

typedef struct rd_gpu_loop {
    rd_gpu_role role;        /* who runs its rounds */
    bool        distributed; /* RANGES: a range is distributed over the item's team            */
    int32_t     ahead;       /* rounds whose loads are issued as one batch; 0: no batches      */
    int32_t     along;       /* adjacent elements that one thread loads at once; 1: single ones */
} rd_gpu_loop;

/* Where the states of a fold lie. */
typedef struct rd_gpu_fold {
    rd_array_storage place;        /* storage class: variables, or memory of a thread or a team   */
    int32_t          thread_lanes; /* lanes that a thread has; 0: all                             */
    int32_t          node_rows;    /* nodes of finished blocks that a state can have at a time    */
    int64_t          at;           /* bytes: the states' place in the thread's or team's memory   */
    int64_t          partial_at;   /* bytes: the partials' place in the device's memory           */
    int32_t          partial_rows; /* a scan in ranges: partials and inner nodes of a cell        */
} rd_gpu_fold;

/* The purpose of a row in shared memory. */
typedef enum rd_gpu_staged_role {
    RD_STAGED_IN,     /* copied from memory before the block's items run */
    RD_STAGED_OUT,    /* copied to memory behind them                    */
    RD_STAGED_SCRATCH /* scratch of each thread, not copied              */
} rd_gpu_staged_role;

enum { RD_GPU_OUTER = 24 };

/* A short row of an item that a thread block stages in shared memory. */
typedef struct rd_gpu_staged_row {
    rd_gpu_staged_role role; /* whether it is copied in, out, or not at all */
    int32_t            slot; /* the program's memory that has the row                             */
    rd_dtype           type;
    int32_t n_outer, outer[RD_GPU_OUTER]; /* axes that number the rows, outermost first */
    int64_t step;                         /* elements from a row to the next one        */
    int64_t first;                        /* element in memory where row 0 begins       */
    int64_t n;                            /* elements of a row                          */
    int32_t array;                        /* number of the row's array in shared memory */
} rd_gpu_staged_row;

/* How a scan along a loop of role RANGES runs. */
typedef enum rd_gpu_scans {
    RD_GPU_SCANS_SERIAL,   /* one item runs all of a scan                */
    RD_GPU_SCANS_TWO_PASS, /* reduce, then scan: two_pass_scan.c         */
    RD_GPU_SCANS_LOOK_BACK /* one pass with look-back: look_back_scan.c  */
} rd_gpu_scans;

/* Scans of a program that go in one pass, at most. */
enum { RD_GPU_MOST_LOOK_BACK = 4 };

/* All decisions about a kernel.  The backend fills it; passes only read it. */
typedef struct rd_gpu_plan {
    int32_t            team;        /* threads that do an item                                 */
    int32_t            width;       /* adjacent elements that a thread has; 1: single ones     */
    int32_t            vector_axis; /* the axis of which `width` neighbours are one item; -1   */
    int64_t            chunk;       /* rounds of a loop of CHUNKS or RANGES that are one item  */
    bool               keeps_exits; /* early exits stay in the tree                            */
    rd_gpu_scans       scans;       /* of a loop of RANGES that scans                          */
    const rd_gpu_loop *loop;        /* per loop of the program                                 */
    const rd_gpu_fold *fold;        /* per fold                                                */
    const int64_t *item_scratch;    /* per scratch slot: bytes of an item for its next kernel; 0  */
    /* Operands that are transposed through shared memory. */
    const bool *transposed;        /* per instruction: a load to transpose; NULL: none           */
    int32_t     transpose_loop[2]; /* the loops along the operands' rows, and along the results' */
    int32_t     batch;             /* loads of a thread that fill a square as one batch          */
    /* Block tiles of reductions along two axes. */
    int32_t tile_loop[2]; /* the loops over rows and over columns; -1: no block tiles          */
    int32_t rows_at_once; /* rows that a team takes as one batch                               */
    /* Pairs of results and points. */
    int32_t pairs;          /* the loop over points that all results use, in tiles; -1         */
    int32_t points_at_once; /* points that a thread takes at once (register blocking)          */
    int64_t tile_points;    /* points of a tile                                                */
    int64_t items;   /* threads along the vector axis, of whole blocks; 0: as there are items     */
    int32_t threads; /* of a thread block                                                 */
    int32_t vector_bytes; /* bytes of a vector access, at most                                 */
    int32_t max_width;    /* elements of a vector access, at most                              */
    /* Short rows that thread blocks stage. */
    int32_t                  n_staged;
    const rd_gpu_staged_row *staged;    /* n_staged rows */
    const int32_t           *staged_of; /* per instruction: its staged row, -1                 */
    /* Rows that an item's loops share in shared memory. */
    const int32_t *cached_row;   /* per instruction: its cached row, -1; NULL: no cached rows  */
    const bool    *fills_row;    /* per instruction: a load that also fills its cached row     */
    int64_t        cached_words; /* elements of a cached row                                   */
    int32_t        cached_axis;  /* the axis along such rows                                   */
    const int32_t *pack;         /* per instruction: elements of a vector access, issued before its
                          * round; 0: the access is element by element                         */
} rd_gpu_plan;

/* gpu_folds.c: as rd_loop_folds_of(). */
const rd_loop_fold *rd_gpu_folds_of(const rd_program *p, rd_get_fn *get, void *pool,
                                    const char **why);

/* Changes the tree; a pass that the plan does not ask for changes nothing. */
typedef void rd_gpu_pass(rd_schedule *t, const rd_gpu_plan *plan);

/* vector_access.c: marks accesses of several adjacent elements. */
rd_gpu_pass rd_pass_gpu_vector_access;
/* row_cache.c: rows that an item reads again lie in shared memory. */
rd_gpu_pass rd_pass_gpu_row_cache;
/* begin_blocks.c: each step asks before it whether a block begins, not behind it whether one
 * ends. */
rd_gpu_pass rd_pass_gpu_begin_blocks;
/* work_items.c: the outermost loops become loops over items of a kernel. */
rd_gpu_pass rd_pass_gpu_work_items;
/* shared_transpose.c: operands are transposed through shared memory. */
rd_gpu_pass rd_pass_gpu_shared_transpose;
/* staged_rows.c: short rows of a block's items are staged in shared memory. */
rd_gpu_pass rd_pass_gpu_staged_rows;
/* state_storage.c: where the states of folds lie. */
rd_gpu_pass rd_pass_gpu_state_storage;
/* split_reduction.c: long loops become items of ranges. */
rd_gpu_pass rd_pass_gpu_split_reduction;
/* block_tile.c: reductions of rows and of columns, in one read. */
rd_gpu_pass rd_pass_gpu_block_tile;
/* two_pass_scan.c: scans in ranges, in two passes. */
rd_gpu_pass rd_pass_gpu_two_pass_scan;
/* look_back_scan.c: scans along rows in one pass. */
rd_gpu_pass rd_pass_gpu_look_back_scan;
/* coarsen.c: neighbours along the last axis of the items become one item. */
rd_gpu_pass rd_pass_gpu_coarsen;
/* item_scratch.c: scratch that an item keeps for its next kernel. */
rd_gpu_pass rd_pass_gpu_item_scratch;
/* point_tiles.c: points that all items use are tiled in shared memory. */
rd_gpu_pass rd_pass_gpu_point_tiles;
/* team_loops.c: rounds of loops are distributed over a team. */
rd_gpu_pass rd_pass_gpu_team_loops;
/* batch_loads.c: loads of several rounds of a thread's loop are issued as one batch. */
rd_gpu_pass rd_pass_gpu_batch_loads;

/* pipeline.c: runs all passes, in order.  `log`: the tree is printed after each one; or NULL. */
void rd_schedule_for_gpu(rd_schedule *t, const rd_gpu_plan *plan, rd_text *log);

/* ---- Between the files of this folder -------------------------------------------------------- */
/* program_accesses.c: calls `access` for each access of the program's memory, with its
 * instruction.  It must run before passes add accesses of their own. */
typedef void rd_gpu_access(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst);
void         rd_gpu_for_each_access(rd_schedule *t, const rd_gpu_plan *plan, rd_gpu_access *access);
/* work_items.c: true if the statement is a loop over items. */
bool rd_is_item_loop(const rd_schedule *t, int32_t stmt);
/* The next loop over items at the top behind `last`, each of which is a kernel; `last` -1: the
 * first one. -1: there is none. */
int32_t rd_next_kernel(const rd_schedule *t, int32_t last);
/* The innermost loop over items of a kernel: its body is what an item does. */
int32_t rd_innermost_item_loop(const rd_schedule *t, int32_t kernel);
/* loop_ranges.c: the loop of a body that is split, or the next one behind `last`; -1. */
int32_t rd_gpu_next_split_loop(const rd_schedule *t, const rd_gpu_plan *plan, int32_t body,
                               int32_t last);
/* Puts a loop over ranges of the loop `split` around all of an item's body: its statement. */
int32_t rd_gpu_add_range_loop(rd_schedule *t, const rd_gpu_plan *plan, int32_t body, int32_t split);
/* Limits the loop `split` to the range that the item is. */
void rd_gpu_limit_to_range(rd_schedule *t, int32_t ranges, int32_t split);
/* Adds an array for the partials of a fold in the device's memory, where the plan says. */
int32_t rd_gpu_add_partials(rd_schedule *t, const rd_gpu_plan *plan, int32_t fold);
/* dead_values.c: removes values of a body that no statement reads. */
void rd_gpu_remove_dead_values(rd_schedule *t, int32_t body);
#endif

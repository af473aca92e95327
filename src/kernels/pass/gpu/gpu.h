/* gpu.h - passes that make kernels for GPUs of loop trees: docs/loops.md, "Kernels for GPUs".
 *
 * What only speed depends on is decided before, and comes as data: an rd_gpu_plan. */
#ifndef RD_KERNELS_PASS_GPU_GPU_H
#define RD_KERNELS_PASS_GPU_GPU_H
#include "kernels/loop/loop.h"

/* What becomes of a loop of the program. */
typedef enum rd_gpu_role {
    RD_GPU_SERIAL,      /* each item, or each of its threads, goes over it                 */
    RD_GPU_ITEMS,       /* its rounds are items                                            */
    RD_GPU_CHUNKS,      /* `chunk` of its rounds are an item, which the item's team shares */
    RD_GPU_DISTRIBUTED, /* the team of an item shares it                                   */
    RD_GPU_RANGES       /* `chunk` of its rounds are an item, as such a loop in it         */
} rd_gpu_role;

typedef struct rd_gpu_loop {
    rd_gpu_role role;
    bool    distributed; /* RANGES: the team of an item shares it                                */
    int32_t ahead;       /* rounds that go together, 0: none do                                  */
    int32_t along;       /* elements side by side that a thread which walks it takes; 1          */
} rd_gpu_loop;

/* Where the states of a fold lie: for a thread, or a team. */
typedef struct rd_gpu_fold {
    rd_store_place place;
    int32_t thread_lanes; /* lanes that a thread has; 0: all                                      */
    int32_t rows;       /* of nodes of finished blocks, that there can be at a time              */
    int64_t at;         /* bytes: where they begin in the thread's or the team's memory         */
    int64_t partial_at; /* of a fold whose loop is cut: ... in a row of nodes; of a scan, nodes */
    int32_t partial_rows; /* of a scan whose loop is cut: nodes of a cell                         */
} rd_gpu_fold;

/* A row of an item that a block of threads has in shared memory: of all items whose indices along the
 * outer axes are the same. */
typedef enum rd_gpu_staged_role {
    RD_STAGED_IN,     /* brought from memory before the items are done */
    RD_STAGED_OUT,    /* taken to memory behind them                   */
    RD_STAGED_SCRATCH /* scratch, which each thread has for itself     */
} rd_gpu_staged_role;

enum { RD_GPU_OUTER = 24 };
typedef struct rd_gpu_staged_row {
    rd_gpu_staged_role role;
    int32_t            slot;
    rd_dtype           type;
    int32_t n_outer, outer[RD_GPU_OUTER]; /* axes, from the outside in                  */
    int64_t step;                         /* elements from a row to the next one        */
    int64_t first;                        /* the first one of row 0 in memory           */
    int64_t n;                            /* elements of a row                          */
    int32_t array;                        /* the number of its place in shared memory   */
} rd_gpu_staged_row;

/* How ranges of scans go. */
typedef enum rd_gpu_scans {
    RD_GPU_SCANS_SERIAL,   /* an item is all of one                                          */
    RD_GPU_SCANS_TWO_PASS, /* first they leave what they come to, see two_pass_scan.c               */
    RD_GPU_SCANS_LOOK_BACK /* they are tiles, in order, see look_back_scan.c                          */
} rd_gpu_scans;

/* Scans of a program that go in one pass, at most. */
enum { RD_GPU_MOST_LOOK_BACK = 4 };

typedef struct rd_gpu_plan {
    int32_t      team;        /* threads that do an item                                         */
    int32_t      width;       /* elements side by side that a thread has; 1                      */
    int32_t      vector_axis; /* the axis of which `width` neighbours are one item, -1            */
    int64_t      chunk;       /* rounds of a loop of CHUNKS or RANGES that are one item          */
    bool         keeps_exits; /* loops are left early                                            */
    rd_gpu_scans scans;       /* of a loop of RANGES that scans                                  */
    const rd_gpu_loop *loop;  /* per loop of the program                                         */
    const rd_gpu_fold *fold;  /* per fold                                                        */
    const int64_t
        *item_scratch;      /* per scratch slot: bytes of an item, which its next kernel reads; 0 */
    const bool *transposed; /* per instruction: a load that comes by squares; NULL: none      */
    int32_t transpose_loop[2]; /* the loops along the operands, and along the result             */
    int32_t batch;             /* loads of a thread in flight, as a square is filled             */
    int32_t tile_loop
        [2]; /* loops over rows and over columns, of which an item is a patch; -1          */
    int32_t
        rows_at_once; /* rows that a team takes at a time                                          */
    int32_t pairs; /* the loop over points that all results meet, which come by tiles; -1         */
    int32_t
        points_at_once; /* points that a thread takes together                                       */
    int64_t
        tile_points; /* of points                                                                 */
    int64_t items; /* threads along the strip, of whole blocks; 0: as many as there are items    */
    int32_t threads; /* of a block                                                                */
    int32_t vector_bytes,
        max_width;    /* bytes, and elements at most, that a thread moves at once         */
    int32_t n_staged; /* rows that blocks of threads move                               */
    const rd_gpu_staged_row *staged;
    const int32_t *staged_of;  /* per instruction: which of them it is of, -1                    */
    const int32_t *cached_row; /* per instruction: the row in shared memory that it is of, -1;   */
    const bool    *fills_row;  /* ... a load whose elements go to its row, too; NULL: no rows    */
    int64_t cached_words;      /* elements of a row                                              */
    int32_t cached_axis;
    const int32_t *pack; /* per instruction: an access of so many neighbours, which goes
                               * ahead of its round; 0: it is done element by element           */
} rd_gpu_plan;

/* gpu_folds.c: as rd_loop_folds_of(). */
const rd_loop_fold *rd_gpu_folds_of(const rd_program *p, rd_get_fn *get, void *pool,
                                    const char **why);

typedef void rd_gpu_pass(rd_schedule *t, const rd_gpu_plan *plan);

/* work_items.c: the loops around all, or ranges of one, become loops over items of a kernel. */
rd_gpu_pass rd_pass_gpu_work_items;
/* begin_blocks.c: each step asks before it whether a block has ended, not behind it. */
rd_gpu_pass rd_pass_gpu_begin_blocks;
/* state_storage.c: where the states of folds lie. */
rd_gpu_pass rd_pass_gpu_state_storage;
/* row_cache.c: rows that an item reads again come to shared memory. */
rd_gpu_pass rd_pass_gpu_row_cache;
/* staged_rows.c: short rows of a block's items come to shared memory. */
rd_gpu_pass rd_pass_gpu_staged_rows;
/* shared_transpose.c: operands that lie the other way come by squares in shared memory. */
rd_gpu_pass rd_pass_gpu_shared_transpose;
/* vector_access.c: accesses of several neighbours at once. */
rd_gpu_pass rd_pass_gpu_vector_access;
/* split_reduction.c: long loops become items of ranges. */
rd_gpu_pass rd_pass_gpu_split_reduction;
/* two_pass_scan.c: ranges of scans go twice. */
rd_gpu_pass rd_pass_gpu_two_pass_scan;
/* look_back_scan.c: scans along rows in one pass. */
rd_gpu_pass rd_pass_gpu_look_back_scan;
/* coarsen.c: neighbours along the last axis of the items are one item. */
rd_gpu_pass rd_pass_gpu_coarsen;
/* item_scratch.c: what an item keeps for its next kernel lies beside other items'. */
rd_gpu_pass rd_pass_gpu_item_scratch;
/* block_tile.c: folds of rows and of columns, in one read. */
rd_gpu_pass rd_pass_gpu_block_tile;
/* point_tiles.c: points that all items meet come to shared memory. */
rd_gpu_pass rd_pass_gpu_point_tiles;
/* team_loops.c: a team shares the rounds of loops. */
rd_gpu_pass rd_pass_gpu_team_loops;
/* batch_loads.c: rounds of loops that one thread walks go together. */
rd_gpu_pass rd_pass_gpu_batch_loads;

/* pipeline.c: all of them, in order.  `log`: the tree is printed after each; or NULL. */
void rd_schedule_for_gpu(rd_schedule *t, const rd_gpu_plan *plan, rd_text *log);

/* ---- Between the files of this folder ---------------------------------------------------------- */
/* program_accesses.c: for each access of memory, which instruction it is; before passes add others. */
typedef void rd_gpu_access(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst);
void         rd_gpu_for_each_access(rd_schedule *t, const rd_gpu_plan *plan, rd_gpu_access *access);
/* work_items.c: the next loop over items inside a statement that stands in a part, or is one; -1. */
bool rd_is_item_loop(const rd_schedule *t, int32_t stmt);
/* The next loop over items at the top, each of which is a kernel; the first one if `last` is -1; -1. */
int32_t rd_next_kernel(const rd_schedule *t, int32_t last);
/* The innermost loop over items of a kernel, whose body an item is. */
int32_t rd_innermost_item_loop(const rd_schedule *t, int32_t kernel);
/* loop_ranges.c: the loop of RANGES in a body, or the next one behind `last`, a loop of it; -1. */
int32_t rd_gpu_next_split_loop(const rd_schedule *t, const rd_gpu_plan *plan, int32_t body,
                               int32_t last);
/* A loop over ranges stands around all of an item's body, in which the loop is cut: its statement.  The loop
 * goes over the range that the item is. */
int32_t rd_gpu_add_range_loop(rd_schedule *t, const rd_gpu_plan *plan, int32_t body, int32_t cut);
void    rd_gpu_limit_to_range(rd_schedule *t, int32_t ranges, int32_t cut);
/* Nodes of a fold in the device's memory, where the plan says. */
int32_t rd_gpu_add_partials(rd_schedule *t, const rd_gpu_plan *plan, int32_t fold);
/* dead_values.c: values that nothing in a body reads are not made there. */
void rd_gpu_remove_dead_values(rd_schedule *t, int32_t body);
#endif

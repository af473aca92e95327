/* strategy.h - the execution strategy of a loop program on a GPU: which loops are work items,
 * which loops the threads of a team share, and which loops one thread runs by itself.
 *
 *     program
 *       -strategy.c, kernel_choice.c, block_tile.c, vector_access.c, shared_transpose.c,
 *        split_reduction.c, lookback_scan.c, row_cache.c, staged_rows.c, bank_layout.c,
 *        storage_class.c-> strategy
 *       -gpu_plan.c-> a plan for passes -pass/gpu-> loop tree
 *       -print/gpu; around items: loop_tree.c, write_kernels.c, kernel_frame.c, push_blocks.c,
 *        combine_ranges.c, combine_blocks.c, copy_staged_rows.c, block_tile_kernel.c-> CUDA C
 *       -modules.c-> kernels -launch.c-> a run
 *
 * The perfectly nested outer loops of the program form the *grid*: nothing stands between them
 * but values that cost nothing.  Each index of the grid is a *work item*.  A *team* of 1, 8, 16
 * or 32 threads (a subwarp) does an item: all its threads run the item's body with the same
 * values.
 *
 * Some loops in the body are *distributed* over the team: each thread has some of their indices.
 * A loop may be distributed if neighbouring indices are lanes of a fold, belong to cells of their
 * own, or hand nothing to each other.  No strategy changes a bit of a result: the combine tree of
 * a fold (program.h) depends on positions alone, and each lane has one thread.
 *
 * A thread takes `width` adjacent elements at a time (vector_access.c).
 *
 * If there are too few items, long loops are *split* into ranges (split_reduction.c).  A range
 * begins at a whole block of the combine tree, and is an item, too.  It leaves nodes of the tree,
 * its *partials*.  The last team of a group of ranges combines their partials.  The last team of
 * all runs what stands behind the loops.
 *
 *     sum over i0, i1 of x[i0][i1], of 8192 x 4096 f32:
 *     "strips: 8192 items, 16 threads each, i1 spread, 4 side by side" */
#ifndef RD_KERNELS_CUDA_STRATEGY_H
#define RD_KERNELS_CUDA_STRATEGY_H
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/kernel_choice.h"
#include "kernels/emit/emit.h"
#include "kernels/pass/gpu/gpu.h"

enum { RD_WARP = 32, RD_MAX_GRID = 24, RD_MOST_SPLITS = 8 };

/* Bytes in front of the nodes of a look-back scan: a counter, the number of the next tile. */
enum { RD_TICKET = 16 };

/* Rounds a size up to 16 bytes: arrays in memory begin at multiples of 16. */
static inline int64_t rd_cuda_room(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* True if an instruction stands in the body of a loop. */
static inline bool rd_cuda_within(const rd_program *p, int32_t inst, int32_t loop)
{
    return inst > p->loop[loop].begin && inst < p->loop[loop].end;
}

enum { RD_MOST_STAGED_ROWS = 8 };
/* Short rows of one slot that a block of threads stages in shared memory (staged_rows.c).  The
 * fields name loops of the grid; an rd_gpu_staged_row, which passes read, names axes. */
typedef struct rd_cuda_staged_row {
    rd_gpu_staged_role role; /* copied in, copied out, or scratch */
    int32_t            slot; /* the buffer in global memory; or scratch */
    rd_dtype           type;
    int32_t outer; /* the first loops of the grid; each of their indices has its own row  */
    int64_t items; /* work items that share a row: indices of the other loops of the grid */
    int64_t step;  /* elements in memory from a row to the next; negative: backwards      */
    int64_t first; /* the first element of row 0 in memory                                */
    int64_t n;     /* elements of a row                                                   */
    int32_t array; /* bank_layout.c: the number of the rows that own the shared array     */
    int64_t pitch; /* bank_layout.c: elements from a row to the next in shared memory     */
    int64_t at;    /* bank_layout.c: bytes before the first row in shared memory          */
} rd_cuda_staged_row;

/* The storage class of a fold's states, or of a scratch slot (storage_class.c). */
typedef enum rd_cuda_storage {
    RD_STORAGE_LOCAL,  /* registers and local arrays of a thread                          */
    RD_STORAGE_THREAD, /* global memory, for each thread                                  */
    RD_STORAGE_TEAM,   /* global memory, for each team                                    */
    RD_STORAGE_SHARED, /* scratch only: a row in shared memory                            */
    RD_STORAGE_ITEM    /* scratch only: global memory of the item, for its next kernel    */
} rd_cuda_storage;

/* A fold of the program, as the kernels run it. */
typedef struct rd_cuda_fold {
    rd_emit_fold    emit;                /* its facts for the printer */
    int32_t         start, step, finish; /* its instructions; -1: it has none                  */
    bool            threads_are_lanes;   /* the team's threads are its lanes                   */
    bool            threads_have_cells;  /* its cells are distributed over the team's threads  */
    bool            tree;                /* it has several blocks                              */
    int32_t         split;          /* which of split[] takes its elements, -1: none           */
    bool            hi_lo_sums;     /* a scan by prefix_sums.h: prefixes are pairs hi, lo      */
    int64_t         n_words;        /* words of such a prefix, for each cell                   */
    int32_t         levels;         /* levels of nodes in a block of a tree scan; 0: no tree   */
    int64_t         n_cell;         /* cells of an item, with those of its neighbours          */
    int32_t         register_block; /* points whose cells a thread has at once (pairs); 1      */
    int32_t         node_rows;      /* rows of nodes that its tree needs                       */
    int32_t         thread_lanes;   /* lanes of a cell that one thread has                     */
    int64_t         states;         /* cells times lanes, in its storage                       */
    rd_cuda_storage storage;        /* where its states lie */
    int64_t         bytes;      /* bytes of states and nodes, if its storage is global memory     */
    int64_t         at;         /* bytes before these in the memory of a thread or a team         */
    int64_t         blocks;     /* split: blocks of its tree in a range                           */
    bool            aligned;    /* split: those blocks are one node of the tree                   */
    int64_t         node_bytes; /* scan in ranges: bytes of an item's nodes                       */
    int64_t         node_at;    /* scan in ranges: bytes before these; split: ... in a row        */
} rd_cuda_fold;

/* The execution strategy of a program on a GPU: the result of rd_cuda_choose_strategy(). */
typedef struct rd_cuda_strategy {
    const rd_program *p;
    rd_cuda_choice    choice; /* the tuning parameters */
    const char       *why;    /* the reason why the GPU cannot run it, a part of a sentence; NULL */
    int32_t           n_slot; /* slots (buffers), with scratch */
    bool             *stored; /* per slot: an instruction stores to it                        */
    bool             *large;  /* per slot: it is too large to stay on the GPU with the others */
    bool              reports; /* a run may find invalid indices, or warn                      */

    /* ---- strategy.c, vector_access.c: work items, teams, vectors ---- */
    int32_t n_grid, grid[RD_MAX_GRID]; /* loops of the grid, from the outside in                */
    int32_t from, to;       /* instructions of an item: the body of the last loop of the grid    */
    int64_t n_item;         /* work items                                                        */
    int32_t team;           /* threads of a team: 1, 8, 16, 32                                   */
    bool   *distributed;    /* per loop: the team's threads share its indices                    */
    int32_t width;          /* vector width: adjacent elements that a thread has; 1              */
    int32_t neighbour_axis; /* axis of the grid of which `width` neighbours are one item; -1     */
    int32_t chunk_loop;     /* the loop behind the grid whose chunks are items, -1               */
    int64_t chunk;          /* indices of such a chunk                                           */
    int32_t transpose[2];   /* shared-memory transpose: its two loops, the second one along the
                           * result; -1                                                        */
    bool   *transposed;     /* per instruction: a load that runs along transpose[0]              */

    /* ---- row_cache.c ---- */
    int32_t  n_cached_row, row_axis, row_word; /* rows in shared memory; bytes of an element   */
    int64_t  row_words, team_words; /* elements of a row, and of all rows of a team            */
    bool     is_crowded;            /* the rows leave room for few threads                     */
    int32_t *cached_row;            /* per instruction: the row that it reads or writes, -1    */
    bool    *fills_cache;           /* per instruction: a load that also writes its row        */

    /* ---- storage_class.c ---- */
    rd_cuda_fold    *fold;
    rd_cuda_storage *scratch;                  /* per scratch slot                                */
    int64_t         *scratch_at;               /* per scratch slot: bytes before it               */
    int64_t          team_bytes, thread_bytes; /* global memory of a team, and of each thread     */

    /* ---- split_reduction.c ---- */
    int32_t   n_split, split[RD_MOST_SPLITS], split_axis; /* the loops that are split          */
    int64_t   range, n_range;           /* indices of a range; ranges of the loop              */
    int64_t   node_bytes;               /* scans in ranges, block tiles: bytes of an item's nodes */
    int64_t   row_bytes;                /* bytes of a row of partials of all split folds       */
    int32_t   n_level;                  /* levels of groups of ranges                          */
    rd_groups level[RD_MOST_LEVELS];    /* ... and each level                                  */
    int64_t   item_rows, item_counters; /* rows of partials, and counters, of an item          */
    bool      is_two_pass;              /* the split loop scans, and runs twice                */
    bool      is_lookback;              /* the split loop scans, and runs once                 */
    bool     *feeds_scan;               /* per instruction: a scan takes a value made of it    */
    bool      has_end;                  /* something is stored behind the split loops          */
    int64_t   item_bytes;               /* bytes that one split loop keeps for another         */

    /* ---- block_tile.c ---- */
    int32_t tile_loop[2]; /* the loop over rows, which folds of columns reduce, and the loop over
                           * columns, which folds of rows reduce; -1: no block tiles           */
    int64_t block_tile[2], n_block_tile[2]; /* indices of each loop in a tile; tiles along it  */
    int32_t rows_at_once;                   /* rows that a team takes at a time                */

    /* ---- pair_tiles.c ---- */
    int32_t  pairs;           /* the loop over the points that every result reads, -1          */
    int32_t  register_block;  /* points that a thread takes together                           */
    int64_t  point_tile;      /* points of a tile in shared memory                             */
    int32_t *tile_load;       /* per instruction in the loop: the load that brings its elements to
                               * shared memory, -1                                             */
    int64_t  pair_tile_bytes; /* shared memory of a block of threads                           */

    /* ---- staged_rows.c ---- */
    int32_t            n_staged_row;
    rd_cuda_staged_row staged_row[RD_MOST_STAGED_ROWS];
    int32_t           *staged_row_of;    /* per instruction: the row that it reads or writes, -1 */
    int64_t            staged_row_bytes; /* shared memory of a block of threads                 */
} rd_cuda_strategy;

/* The GPU's limits, and what the library adds to them. */
typedef struct rd_cuda_limits {
    int64_t threads; /* threads that run at the same time                       */
    int64_t shared;  /* bytes of shared memory that a block of threads can have */
    int64_t memory;  /* bytes of its memory; 0: enough                          */
    int64_t windows; /* bytes of the windows of a block (windows.c)             */
    int32_t devices; /* GPUs that share the work: then all data come by windows */
} rd_cuda_limits;

/* Fills *s.  False: no memory.  If the GPU cannot run the program, s->why has the reason. */
bool rd_cuda_choose_strategy(rd_cuda_strategy *s, const rd_program *p, const rd_cuda_limits *limits,
                             rd_get_fn *get, void *pool);
/* Adds a line for people: "strips: 64 items, 16 threads each, i1 spread". */
void rd_cuda_strategy_text(rd_text *to, const rd_cuda_strategy *s);

/* The block counters of a cell: one for each thread of a team that shares the cell's lanes, else
 * 1. */
int32_t rd_cuda_counters(const rd_cuda_fold *f);

/* ---- queries.c ------------------------------------------------------------------------------- */
/* Binary digits of a number: 5 has 3. */
int32_t rd_cuda_bits(int64_t n);
/* True if the instruction stands in a distributed loop; then rd_cuda_distributed_around() is that
 * loop, else -1. */
bool    rd_cuda_is_distributed(const rd_cuda_strategy *s, int32_t inst);
int32_t rd_cuda_distributed_around(const rd_cuda_strategy *s, int32_t inst);
/* Counts the nodes below a level, of a scan whose loop is split.  Level 0 has the ranges; level k
 * has n_range >> k nodes. */
int64_t rd_cuda_nodes_below(int64_t n_range, int32_t level);

/* ---- dense.c --------------------------------------------------------------------------------- */
/* True if the instruction loads or stores an operand or a result in global memory. */
bool rd_cuda_is_access(const rd_cuda_strategy *s, int32_t inst);
/* True if one of the instructions [from, to) makes the register. */
bool rd_cuda_is_made_in(const rd_program *p, int32_t reg, int32_t from, int32_t to);
/* Bytes of an element of an access. */
int32_t rd_cuda_size_of(const rd_cuda_strategy *s, int32_t inst);
/* The smaller one of two sizes; 0 stands for none. */
int32_t rd_cuda_smaller_size(int32_t a, int32_t b);
/* True if neighbours along the axis of a loop are neighbours in memory.  is_dense_for() takes an
 * axis, and the instructions [from, to), which must not make a register of the address. */
bool rd_cuda_is_dense(const rd_cuda_strategy *s, int32_t inst, int32_t loop);
bool rd_cuda_is_dense_for(const rd_cuda_strategy *s, int32_t inst, int32_t axis, int32_t from,
                          int32_t to);
/* True if each `wide` neighbours begin at a multiple of their size, provided that the slot does. */
bool rd_cuda_is_aligned(const rd_address *at, int32_t axis, int32_t wide);
/* True if the access, in a loop that is distributed, may move `wide` elements at once. */
bool rd_cuda_is_vector_access(const rd_cuda_strategy *s, int32_t inst, int32_t loop, int32_t wide);
/* Elements of this size in a vector of a thread. */
int32_t rd_cuda_vector_width(const rd_cuda_strategy *s, int32_t size);
/* The lane position of the folds whose lanes are the threads of a loop; NULL: there are none. */
const rd_address *rd_cuda_lanes_along(const rd_cuda_strategy *s, int32_t loop);
/* Bytes of the smallest elements that lie densely along a loop; 0: none do. */
int32_t rd_cuda_least_along(const rd_cuda_strategy *s, int32_t loop);
/* Elements of that size in a vector; 1: none lie densely. */
int32_t rd_cuda_vector_width_along(const rd_cuda_strategy *s, int32_t loop);

/* ---- split_reduction.c ----------------------------------------------------------------------- */
/* Splits the long loops of an item into ranges if there are too few items. */
void rd_cuda_find_split(rd_cuda_strategy *s, const rd_cuda_limits *limits);
/* The loop of an item's body that does nearly all of its work, -1. */
int32_t rd_cuda_main_loop(const rd_cuda_strategy *s);
/* The number of a split loop in split[], -1. */
int32_t rd_cuda_split_of(const rd_cuda_strategy *s, int32_t loop);
/* True if the lanes of a fold lie along the split axis. */
bool rd_cuda_is_along_lanes(const rd_cuda_strategy *s, const rd_cuda_fold *f);
/* Steps of a fold for each index of the split axis; if lanes lie along it, elements of a lane's
 * position. */
int64_t rd_cuda_steps_per_index(const rd_cuda_strategy *s, const rd_cuda_fold *f);

/* ---- lookback_scan.c ------------------------------------------------------------------------- */
/* True if the item is a loop of scans along rows that one pass can do, by tiles (look-back scan).
 * Then it fills the strategy; tiles are ranges. */
bool rd_cuda_find_lookback(rd_cuda_strategy *s);
/* Marks the instructions of a loop on which the inputs of scans depend.  False: an input depends
 * on a scan's result. */
bool rd_cuda_find_scan_inputs(rd_cuda_strategy *s, int32_t loop);
/* Rounds of a block of threads in a tile. */
int32_t rd_cuda_lookback_rounds(const rd_cuda_strategy *s);
/* Bytes of an item's nodes, for one fold. */
int64_t rd_cuda_lookback_bytes(const rd_cuda_strategy *s, const rd_cuda_fold *f);

/* ---- vector_access.c ------------------------------------------------------------------------- */
/* Chooses the vector width, and which loops or items give a thread its adjacent elements. */
void rd_cuda_find_vector_width(rd_cuda_strategy *s, int64_t threads);
/* True if neighbouring items lie densely in memory, and distributed loops do not. */
bool rd_cuda_are_items_dense(const rd_cuda_strategy *s);
/* Estimates the instructions that one index of a loop takes. */
double rd_cuda_weight_of(const rd_program *p, int32_t loop);
/* Accesses of a loop that move several elements at once, and loads that a thread prefetches. */
enum { RD_MOST_VECTOR_ACCESSES = 16 };
typedef struct rd_cuda_vector_accesses {
    int32_t n;        /* accesses                                                              */
    int32_t prefetch; /* rounds of the loop that are loaded before the first one is used       */
    int32_t inst[RD_MOST_VECTOR_ACCESSES]; /* their instructions */
    int32_t each[RD_MOST_VECTOR_ACCESSES]; /* elements that each access moves at once          */
    int32_t serial_width; /* elements of a round, in a loop that one thread runs by itself; 1  */
    bool    is_blocked;   /* full rounds run `prefetch` at a time, without a test per element    */
} rd_cuda_vector_accesses;
/* Finds the vector accesses of a loop, and how many rounds are prefetched. */
void rd_cuda_vector_accesses_of(const rd_cuda_strategy *s, int32_t loop,
                                rd_cuda_vector_accesses *accesses);

/* ---- block_tile.c ---------------------------------------------------------------------------- */
/* True if one fold reduces an axis that another fold keeps, in the same loops, and neither reads
 * the other. */
bool rd_cuda_has_crossing_folds(const rd_program *p);
/* True if the item is one loop in another, for folds of rows and of columns: then block tiles do
 * both. */
bool rd_cuda_find_block_tile(rd_cuda_strategy *s);
/* The loop of a block tile that contains the other one; and the contained loop. */
int32_t rd_cuda_tile_outer(const rd_cuda_strategy *s);
int32_t rd_cuda_tile_inner(const rd_cuda_strategy *s);
/* Finds the vector accesses of the inner loop of a block tile. */
void rd_cuda_tile_accesses(const rd_cuda_strategy *s, rd_cuda_vector_accesses *accesses);
/* Nodes at one place, on all levels of groups, of n tiles; and groups of these levels. */
int64_t rd_cuda_nodes_of(const rd_cuda_strategy *s, int64_t n);
int64_t rd_cuda_groups_of(const rd_cuda_strategy *s, int64_t n);

/* ---- pair_tiles.c ---------------------------------------------------------------------------- */
/* True if folds run over points that every result reads (pairwise sums): then tiles of points go
 * to shared memory. */
bool rd_cuda_find_pairs(rd_cuda_strategy *s, const rd_cuda_limits *limits);
/* Items along an axis of results: threads of whole blocks. */
int64_t rd_cuda_pair_items(const rd_cuda_strategy *s, int64_t extent);

/* ---- pair_memory.c --------------------------------------------------------------------------- */
/* The axis of the points that every result reads. */
int32_t rd_cuda_pair_axis(const rd_cuda_strategy *s);
/* True if a load depends on the result. */
bool rd_cuda_is_result_load(const rd_cuda_strategy *s, int32_t inst);
/* Shared memory that a block of threads needs for one tile of points. */
int64_t rd_cuda_pair_tile_bytes(const rd_cuda_strategy *s);

/* ---- shared_transpose.c ---------------------------------------------------------------------- */
/* True if a map without loops in an item has operands that run along another axis than the
 * result: then they go through a shared-memory transpose. */
bool rd_cuda_find_transpose(rd_cuda_strategy *s);

/* ---- row_cache.c ----------------------------------------------------------------------------- */
/* Keeps rows that an item reads again in shared memory. */
void rd_cuda_find_row_cache(rd_cuda_strategy *s, int64_t shared);
/* True if two accesses touch the same elements. */
bool rd_cuda_is_same_address(const rd_address *a, const rd_address *b);
/* Bytes of dynamic shared memory that a block of threads asks for. */
int64_t rd_cuda_dynamic_bytes(const rd_cuda_strategy *s);
/* storage_class.c: words of 8 bytes of shared memory in which a team's threads exchange lanes. */
int32_t rd_cuda_shared_words(const rd_cuda_strategy *s);

/* ---- staged_rows.c --------------------------------------------------------------------------- */
/* Stages short rows, which one thread reads or writes serially, in shared memory. */
void rd_cuda_find_staged_rows(rd_cuda_strategy *s, int64_t shared);
/* True if the rows lie one behind the other in memory, without gaps. */
bool rd_cuda_is_contiguous(const rd_cuda_staged_row *r);
/* Elements of a vector access of these rows. */
int32_t rd_cuda_staged_row_vector(const rd_cuda_strategy *s, const rd_cuda_staged_row *r);
/* True if a block of threads copies any rows between global and shared memory. */
bool rd_cuda_has_moved_rows(const rd_cuda_strategy *s);
/* Adds the rows to the line for people: ", rows of 10 in, 10 out". */
void rd_cuda_staged_rows_text(rd_text *to, const rd_cuda_strategy *s);

/* ---- bank_layout.c --------------------------------------------------------------------------- */
/* Places all staged rows in shared memory, and counts its bytes. */
void rd_cuda_lay_out_staged_rows(rd_cuda_strategy *s);
/* The most rows that a block of threads has. */
int64_t rd_cuda_staged_rows_of_block(const rd_cuda_strategy *s, const rd_cuda_staged_row *r);

/* ---- storage_class.c ------------------------------------------------------------------------- */
/* Gives each fold and each scratch slot its storage class. */
void rd_cuda_assign_storage(rd_cuda_strategy *s);
#endif

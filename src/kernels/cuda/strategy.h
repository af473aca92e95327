/* strategy.h - a loop program as a GPU runs it: which loops are work items, which are a team's
 * threads, which a thread runs by itself.
 *
 *   program -strategy.c, kernel_choice.c, block_tile.c, vector_access.c, shared_transpose.c, split_reduction.c, lookback_scan.c, row_cache.c,
 *           staged_rows.c, bank_layout.c, storage_class.c-> shape
 *           -gpu_plan.c-> a plan for passes -pass/gpu-> loop tree
 *           -print/gpu, and around items loop_tree.c, write_kernels.c, kernel_frame.c, push_blocks.c, combine_ranges.c, copy_staged_rows.c,
 *           block_tile_kernel.c, combine_blocks.c-> CUDA C
 *           -modules.c-> kernels -launch.c-> a run
 *
 * The loops that stand one in the other from the outside in, with nothing between them but values
 * that cost nothing, are the *grid*.  Each of their indices is an item of work, done by a *team* of
 * 1, 8, 16 or 32 threads.  All threads of a team run the item's body with the same values.  The
 * indices of some loops in it are *spread* over them: where neighbours are lanes of a fold, or
 * belong to cells of their own, or nothing is handed on from one to the next.  Nothing of that
 * decides bits: the tree of a fold (program.h) depends on positions alone, and each of its lanes
 * has one thread.
 *
 * Threads take elements side by side, `wide` of them at a time (vector_access.c).
 *
 * Where there are too few items, their long loops are *cut* (split_reduction.c): ranges, which begin at whole
 * blocks of the tree, are items too.  What they leave are nodes.  Who comes last of a group of
 * ranges joins theirs; who comes last of all goes on behind the loops. */
#ifndef RD_KERNELS_CUDA_STRATEGY_H
#define RD_KERNELS_CUDA_STRATEGY_H
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/kernel_choice.h"
#include "kernels/emit/emit.h"
#include "kernels/pass/gpu/gpu.h"

enum { RD_WARP = 32, RD_MAX_GRID = 24, RD_MOST_CUTS = 8 };

/* Bytes in front of the nodes of scans in one pass: which tile is next. */
enum { RD_TICKET = 16 };

/* Arrays in memory begin at multiples of 16 bytes. */
static inline int64_t rd_cuda_room(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static inline bool rd_cuda_within(const rd_program *p, int32_t inst, int32_t loop)
{
    return inst > p->loop[loop].begin && inst < p->loop[loop].end;
}

enum { RD_MOST_STRETCHES = 8 };
/* Short rows of a slot in shared memory (staged_rows.c), by loops of the grid; an rd_gpu_row names axes. */
typedef struct rd_cuda_stretch {
    rd_gpu_row_role role;
    int32_t         slot;
    rd_dtype        type;
    int32_t         outer; /* loops of the grid whose indices have rows of their own   */
    int64_t         items; /* that share a row: indices of the other loops of the grid */
    int64_t         step;  /* elements from a row to the next one, also backwards      */
    int64_t         first; /* the first one of row 0 in memory                         */
    int64_t         n;     /* elements of a row                                        */
    int32_t         array; /* in shared memory: its number's, or those of which it has the place */
    int64_t         pitch; /* elements from one row to the next there                  */
    int64_t         at;    /* bytes: where the first row begins there                  */
} rd_cuda_stretch;

/* Where the states of a fold, or a row of scratch, lie. */
typedef enum rd_cuda_home {
    RD_HOME_LOCAL, /* variables and arrays of the thread */
    RD_HOME_OWN,   /* memory of the thread               */
    RD_HOME_TEAM,  /* memory of the team                 */
    RD_HOME_ROW,   /* of scratch: a row in shared memory */
    RD_HOME_ITEM   /* of scratch: memory of the item, for its next kernel */
} rd_cuda_home;

typedef struct rd_cuda_fold {
    rd_emit_fold of;
    int32_t      start, step, close; /* its instructions, -1: none                       */
    bool         lanes;              /* the team's threads are its lanes                 */
    bool         cells;              /* its cells belong to the team's threads           */
    bool         tree;               /* it has several blocks                            */
    int32_t      cut;                /* the cut loop that takes its elements, -1         */
    bool         pair;               /* a scan by so_far.h: before are hi and lo         */
    int64_t      n_words;            /* of a cell, there                                 */
    int32_t      levels;             /* of a scan by the tree: nodes of elements; 0      */
    int64_t      n_cell;             /* of an item, each neighbour's own                 */
    int32_t      abreast;            /* of a pair: cells, one for each point at hand; 1  */
    int32_t      room;               /* rows of its tree                                 */
    int32_t      here;               /* lanes that a thread has                          */
    int64_t      states;             /* cells times lanes, of home                       */
    rd_cuda_home home;
    int64_t      bytes;   /* of its states and nodes in memory, if they are there     */
    int64_t      at;      /* where these begin in the memory of its home              */
    int64_t      blocks;  /* cut: blocks of its tree in a range                          */
    bool         aligned; /* and these are one node                                      */
    int64_t      nodes;   /* of a scan in ranges: bytes of an item's nodes               */
    int64_t      node;    /* where these begin in the item's; cut: its states in a row's */
} rd_cuda_fold;

typedef struct rd_cuda_shape {
    const rd_program *p;
    rd_cuda_choice    choice;
    const char       *why; /* it cannot run there: the reason, a part of a sentence; NULL */
    int32_t           n_slot;
    bool             *stored;  /* per slot */
    bool             *large;   /* per slot: it has no room on the GPU beside others */
    bool              reports; /* may a run have failed indices, or warn? */
    int32_t           n_grid, grid[RD_MAX_GRID];
    int32_t           from, to; /* instructions of an item: the body of the last loop of the grid */
    int64_t           n_item;
    int32_t           team;   /* threads: 1, 8, 16, 32 */
    bool             *spread; /* per loop */
    int32_t           wide;   /* elements side by side that a thread has; 1 */
    int32_t           strip;  /* the axis of the grid of which `wide` neighbours are one item; -1 */
    int32_t           dealt;  /* the loop behind the grid that is dealt out to items, -1 */
    int64_t           chunk;  /* its indices in one item */
    int32_t           square[2]; /* the loops that go by squares, the second along the result; -1 */
    bool             *turned;    /* per instruction: a load that lies the other way */
    int32_t           n_row, row_axis, row_word; /* rows in shared memory; bytes of an element */
    int64_t           row_words, team_words;     /* elements of a row, and of all rows of a team */
    bool              crowded;                   /* they leave room for few threads              */
    int32_t          *row;                       /* per instruction: which it reads or writes, -1 */
    bool             *fills; /* per instruction: a load whose elements go to its row, too */
    rd_cuda_fold     *fold;
    rd_cuda_home     *scratch; /* per scratch slot */
    int64_t          *scratch_at;
    int64_t           team_bytes, own_bytes;              /* of memory: a team's, each thread's */
    int32_t           n_cut, cut[RD_MOST_CUTS], cut_axis; /* the loops that are cut         */
    int64_t           range, n_range; /* their indices in a range; ranges            */
    int64_t           node_bytes;     /* of scans in ranges: an item's nodes         */
    int64_t           row_bytes;      /* of a row of nodes of all cut folds          */
    int32_t           n_level;        /* of groups of ranges                         */
    rd_groups         level[RD_MOST_LEVELS];
    int64_t           item_rows, item_counters;
    bool              scanned;    /* they are one loop, of scans, done twice    */
    bool              swept;      /* they are one loop, of scans, done once     */
    bool             *early;      /* per instruction: what scans take is made of it */
    bool              ends;       /* is anything stored behind them?             */
    int64_t           item_bytes; /* of what one cut loop keeps for another      */

    /* ---- block_tile.c ---- */
    int32_t cross[2]; /* loops over rows, which folds of columns reduce, and over columns,
                                    * which folds of rows reduce; one is in the other; -1 */
    int64_t patch[2], n_patch[2]; /* indices of each in a patch, and patches along it */
    int32_t at_once;              /* rows that a team takes at a time */

    /* ---- pair_tiles.c ---- */
    int32_t  pairs;   /* the loop over the points that all results meet, -1 */
    int32_t  abreast; /* points that a thread takes together */
    int64_t  tile;    /* points in shared memory */
    int32_t *staged;  /* per instruction in the loop: the load whose elements in shared memory are
                            * what it loads, -1 */
    int64_t  staged_bytes; /* of a block */

    /* ---- staged_rows.c ---- */
    int32_t         n_stretch;
    rd_cuda_stretch stretch[RD_MOST_STRETCHES];
    int32_t        *stretch_of;    /* per instruction: which it reads or writes, -1 */
    int64_t         stretch_bytes; /* of a block */
} rd_cuda_shape;

/* What is known of a GPU. */
typedef struct rd_cuda_limits {
    int64_t threads; /* that it has room for */
    int64_t shared;  /* bytes of shared memory that a block of threads can have */
    int64_t memory;  /* bytes that it has; 0: enough                            */
    int64_t windows; /* bytes that windows on other memory take (windows.c)     */
    int32_t devices; /* that share the work: then all data come by windows      */
} rd_cuda_limits;

/* False: no memory.  What cannot run has a reason. */
bool rd_cuda_shape_of(rd_cuda_shape *s, const rd_program *p, const rd_cuda_limits *limits,
                      rd_get_fn *get, void *pool);
/* "strips: 64 items, 16 threads each, i1 spread", a line for people. */
void rd_cuda_shape_text(rd_text *to, const rd_cuda_shape *s);

/* By how many the blocks of a cell are counted: where a team's threads share its states, each for
 * the lanes it has; 1. */
int32_t rd_cuda_counters(const rd_cuda_fold *f);

/* ---- queries.c --------------------------------------------------------------------------------- */
int32_t rd_cuda_bits(int64_t n); /* 5 -> 3 */
/* Is the instruction in a loop that is spread?  In which, -1. */
bool    rd_cuda_is_spread(const rd_cuda_shape *s, int32_t inst);
int32_t rd_cuda_spread_around(const rd_cuda_shape *s, int32_t inst);
/* Of scans whose loop is cut: nodes of ranges below a level; level 0 are ranges, n_range >> k nodes
 * are in level k. */
int64_t rd_cuda_nodes_below(int64_t n_range, int32_t level);

/* ---- dense.c --------------------------------------------------------------------------------- */
/* Does it load or store what is in memory, of the program's operands and results, not in rows? */
bool rd_cuda_is_access(const rd_cuda_shape *s, int32_t inst);
/* Do instructions [from, to) make the register? */
bool rd_cuda_is_made_in(const rd_program *p, int32_t reg, int32_t from, int32_t to);
/* Bytes of an element of an access. */
int32_t rd_cuda_size_of(const rd_cuda_shape *s, int32_t inst);
/* The smaller one of two sizes, of which 0 is none. */
int32_t rd_cuda_less(int32_t a, int32_t b);
/* Are neighbours along the axis of a loop neighbours in memory?  Likewise for an axis, where registers
 * that are made in instructions [from, to) are not the same for all neighbours. */
bool rd_cuda_is_dense(const rd_cuda_shape *s, int32_t inst, int32_t loop);
bool rd_cuda_is_dense_for(const rd_cuda_shape *s, int32_t inst, int32_t axis, int32_t from,
                          int32_t to);
/* Do each `wide` of them begin at a multiple of their size, if the slot does? */
bool rd_cuda_is_aligned(const rd_address *at, int32_t axis, int32_t wide);
/* May the access of a loop that is spread be of `wide` elements? */
bool rd_cuda_packs_in(const rd_cuda_shape *s, int32_t inst, int32_t loop, int32_t wide);
/* Elements of such a size, side by side: a vector of them, but not too many. */
int32_t rd_cuda_wide_of(const rd_cuda_shape *s, int32_t size);
/* The lane position of the folds whose lanes the threads of a loop are, NULL. */
const rd_address *rd_cuda_lanes_along(const rd_cuda_shape *s, int32_t loop);
/* The smallest elements that lie densely along a loop, in bytes; 0: none do. */
int32_t rd_cuda_least_along(const rd_cuda_shape *s, int32_t loop);
/* How many of these are a vector; 1: none lie densely. */
int32_t rd_cuda_wide_along(const rd_cuda_shape *s, int32_t loop);

/* ---- split_reduction.c ---------------------------------------------------------------------------------- */
void rd_cuda_find_cuts(rd_cuda_shape *s, const rd_cuda_limits *limits);
/* The loop in the body of an item that does nearly all of the work of those there, -1. */
int32_t rd_cuda_main_loop(const rd_cuda_shape *s);
/* Which of the cut loops it is, -1. */
int32_t rd_cuda_cut_of(const rd_cuda_shape *s, int32_t loop);
/* Steps of a fold that an index of a cut loop brings: of a fold whose lanes lie along it, elements
 * of a lane's position. */
bool    rd_cuda_along_lanes(const rd_cuda_shape *s, const rd_cuda_fold *f);
int64_t rd_cuda_each(const rd_cuda_shape *s, const rd_cuda_fold *f);

/* ---- lookback_scan.c -------------------------------------------------------------------------------- */
/* Scans along rows in one pass, by tiles which are ranges; false: there are no such. */
bool rd_cuda_find_sweep(rd_cuda_shape *s);
/* Instructions of a loop that make what scans take; false: what one gives is among it. */
bool    rd_cuda_find_early(rd_cuda_shape *s, int32_t loop);
int32_t rd_cuda_sweep_rounds(const rd_cuda_shape *s);
/* Of an item's nodes. */
int64_t rd_cuda_sweep_bytes(const rd_cuda_shape *s, const rd_cuda_fold *f);

/* ---- vector_access.c -------------------------------------------------------------------------------- */
void rd_cuda_find_strips(rd_cuda_shape *s, int64_t threads);
bool rd_cuda_are_items_dense(const rd_cuda_shape *s);
/* What an element of a loop takes, about, in instructions. */
double rd_cuda_weight_of(const rd_program *p, int32_t loop);
/* Accesses of a loop that are done at once for `each` elements, and loads for `ahead` rounds of the
 * loop before anything is done with them. */
enum { RD_CUDA_PACKS = 16 };
typedef struct rd_cuda_packs {
    int32_t n, ahead, inst[RD_CUDA_PACKS], each[RD_CUDA_PACKS];
    int32_t along;    /* elements of a round along a loop that one thread walks; 1 */
    bool    together; /* rounds that are whole are done `ahead` at a time, without asking for each
                       * element whether it is there */
} rd_cuda_packs;
void rd_cuda_packs_of(const rd_cuda_shape *s, int32_t loop, rd_cuda_packs *packs);

/* ---- block_tile.c --------------------------------------------------------------------------------- */
/* Has the program folds of which one reduces an axis that another keeps, in the same loops, and
 * that do not read each other? */
bool rd_cuda_crosses(const rd_program *p);
/* Those of one loop in another, by patches; false: there are no such. */
bool rd_cuda_find_cross(rd_cuda_shape *s);
/* Of the two loops, the one that holds the other. */
int32_t rd_cuda_cross_outer(const rd_cuda_shape *s);
int32_t rd_cuda_cross_inner(const rd_cuda_shape *s);
/* What a team takes and puts several elements at a time. */
void rd_cuda_cross_packs(const rd_cuda_shape *s, rd_cuda_packs *packs);
/* Nodes of a place, of all levels of groups, where there are n patches; groups that come. */
int64_t rd_cuda_nodes_of(const rd_cuda_shape *s, int64_t n);
int64_t rd_cuda_groups_of(const rd_cuda_shape *s, int64_t n);

/* ---- pair_tiles.c --------------------------------------------------------------------------------- */
/* Folds over points of which each meets all results; false: there are no such. */
bool rd_cuda_find_pairs(rd_cuda_shape *s, const rd_cuda_limits *limits);
/* So many items have the results along an axis: threads of whole blocks. */
int64_t rd_cuda_pair_items(const rd_cuda_shape *s, int64_t extent);

/* ---- pair_memory.c -------------------------------------------------------------------------------- */
int32_t rd_cuda_pair_axis(const rd_cuda_shape *s); /* of the points that all results meet */
/* Does a load hang on the result, and not on the point that it meets? */
bool rd_cuda_is_row(const rd_cuda_shape *s, int32_t inst);
/* Bytes of the arrays of a block in shared memory. */
int64_t rd_cuda_staged_bytes(const rd_cuda_shape *s);

/* ---- shared_transpose.c ------------------------------------------------------------------------------- */
/* Maps without loops in an item; false: nothing lies the other way. */
bool rd_cuda_find_squares(rd_cuda_shape *s);

/* ---- row_cache.c ---------------------------------------------------------------------------------- */
void rd_cuda_find_rows(rd_cuda_shape *s, int64_t shared);
bool rd_cuda_same_address(const rd_address *a, const rd_address *b);
/* Of shared memory that a block of threads asks for. */
int64_t rd_cuda_dynamic_bytes(const rd_cuda_shape *s);
/* storage_class.c: words of 8 bytes of shared memory in which a team's lanes meet. */
int32_t rd_cuda_shared_words(const rd_cuda_shape *s);

/* ---- staged_rows.c ----------------------------------------------------------------------------- */
void rd_cuda_find_stretches(rd_cuda_shape *s, int64_t shared);
/* Do its rows lie one behind the other in memory, with nothing in between? */
bool rd_cuda_is_whole(const rd_cuda_stretch *r);
/* Elements of a vector. */
int32_t rd_cuda_stretch_vector(const rd_cuda_shape *s, const rd_cuda_stretch *r);
/* Are any rows moved between memory and shared memory, by all threads of a block together? */
bool rd_cuda_moves_rows(const rd_cuda_shape *s);
/* ", rows of 10 in, 10 out": what is there. */
void rd_cuda_stretches_text(rd_text *to, const rd_cuda_shape *s);

/* ---- bank_layout.c -------------------------------------------------------------------------------- */
/* Where all stretches lie in shared memory, in how many bytes of it. */
void rd_cuda_place_stretches(rd_cuda_shape *s);
/* Rows that a block of threads has at most. */
int64_t rd_cuda_stretch_rows(const rd_cuda_shape *s, const rd_cuda_stretch *r);

/* ---- storage_class.c --------------------------------------------------------------------------------- */
void rd_cuda_give_homes(rd_cuda_shape *s);
#endif

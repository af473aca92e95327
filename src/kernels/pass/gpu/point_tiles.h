/* point_tiles.h - what pairs of results and points have in shared memory (point_tiles.c,
 * point_loads.c). */
#ifndef RD_KERNELS_PASS_GPU_POINT_TILES_H
#define RD_KERNELS_PASS_GPU_POINT_TILES_H
#include "kernels/pass/gpu/gpu.h"

/* Different loads of a loop over pairs, at most: more would hardly fit shared memory. */
enum { RD_MOST_POINT_LOADS = 64 };

/* A load of the loop over pairs, and the array in shared memory that takes its place. */
typedef struct rd_point_load {
    int32_t load;  /* a copy of the LET, which stands nowhere until a fill takes it          */
    int32_t store; /* the array                                                              */
    bool    row;   /* the array has elements of a thread's results; else of a tile of points */
    int32_t n, axis[RD_MAX_RANK]; /* axes of loops in a pair that the load moves along,
                                   * outermost first                                         */
} rd_point_load;

/* The loop over points, and all its arrays. */
typedef struct rd_point_tiling {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            pairs;               /* the loop over points that all results use       */
    int32_t            vector_axis, points; /* the axes of results and of points               */
    int32_t            item;                /* the mark of a thread's first result             */
    int32_t            tile;                /* the mark of a tile's first point                */
    int64_t            bytes;               /* of shared memory, for the arrays added so far   */
    int32_t            n;                   /* arrays                                          */
    rd_point_load      at[RD_MOST_POINT_LOADS];
} rd_point_tiling;

/* point_loads.c: redirects all loads of the loop over pairs to arrays. */
void rd_gpu_load_from_tiles(rd_point_tiling *s);
/* A loop over all points of a tile that fills its array. */
int32_t rd_gpu_fill_tile(const rd_point_tiling *s, const rd_point_load *a, int32_t stop);
/* Loops over the elements of a thread's results that fill the thread's array. */
int32_t rd_gpu_fill_results(const rd_point_tiling *s, const rd_point_load *a);

/* split_blocks.c: adds "push if new all" before `first` for all folds with blocks along the loop,
 * for the block that begins at the mark. */
void rd_gpu_lift_block_begins(rd_schedule *t, int32_t loop, int32_t first, int32_t start);
/* A loop over blocks of 64 rounds. */
rd_for rd_gpu_block_loop(rd_schedule *t, const rd_for *like);
/* Splits loops inside a pair at blocks of folds. */
void rd_gpu_split_pair_loops(rd_schedule *t, int32_t pairs);
#endif

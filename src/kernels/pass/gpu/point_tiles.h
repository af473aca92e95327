/* point_tiles.h - what pairs have in shared memory (point_tiles.c, point_loads.c). */
#ifndef RD_KERNELS_PASS_GPU_POINT_TILES_H
#define RD_KERNELS_PASS_GPU_POINT_TILES_H
#include "kernels/pass/gpu/gpu.h"

enum { RD_MOST_POINT_LOADS = 64 };

/* A load of the pairs' loop, before it comes from shared memory. */
typedef struct rd_point_load {
    int32_t load;  /* a copy of the LET, which stands nowhere yet                       */
    int32_t store; /* its array                                                         */
    bool    row;   /* of what the results of a thread bring; else of the other points   */
    int32_t n, axis[RD_MAX_RANK]; /* of loops in a pair that it moves along, the outer first */
} rd_point_load;

typedef struct rd_point_tiling {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            pairs;               /* the loop over points that all results meet     */
    int32_t            vector_axis, points; /* the axes of results and of points              */
    int32_t            item;                /* the mark at which the thread's results begin   */
    int32_t            tile;                /* ... at which a tile does                       */
    int64_t            bytes;               /* of shared memory, so far                       */
    int32_t            n;
    rd_point_load      at[RD_MOST_POINT_LOADS];
} rd_point_tiling;

/* Loads of the pairs' loop come from arrays. */
void rd_gpu_load_from_tiles(rd_point_tiling *s);
/* A loop over all points of a tile that fills its array; loops over what a thread keeps of its
 * results. */
int32_t rd_gpu_fill_tile(const rd_point_tiling *s, const rd_point_load *a, int32_t stop);
int32_t rd_gpu_fill_results(const rd_point_tiling *s, const rd_point_load *a);

/* split_blocks.c: for a loop, before `first`: "opens all" of the folds whose blocks end along it, for the block that
 * begins at a mark.  A loop over such blocks; loops in a pair along which blocks end. */
void   rd_gpu_lift_block_begins(rd_schedule *t, int32_t loop, int32_t first, int32_t start);
rd_for rd_gpu_block_loop(rd_schedule *t, const rd_for *like);
void   rd_gpu_split_pair_loops(rd_schedule *t, int32_t pairs);
#endif

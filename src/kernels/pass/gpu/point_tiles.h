/* point_tiles.h - what pairs have in shared memory (point_tiles.c, point_loads.c). */
#ifndef RD_KERNELS_PASS_GPU_POINT_TILES_H
#define RD_KERNELS_PASS_GPU_POINT_TILES_H
#include "kernels/pass/gpu/gpu.h"

enum { RD_MOST_STAGED = 64 };

/* A load of the pairs' loop, before it comes from shared memory. */
typedef struct rd_staged {
    int32_t load;  /* a copy of the LET, which stands nowhere yet                       */
    int32_t store; /* its array                                                         */
    bool    row;   /* of what the results of a thread bring; else of the other points   */
    int32_t n, axis[RD_MAX_RANK]; /* of loops in a pair that it moves along, the outer first */
} rd_staged;

typedef struct rd_staging {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            pairs;         /* the loop over points that all results meet     */
    int32_t            strip, points; /* the axes of results and of points              */
    int32_t            item;          /* the mark at which the thread's results begin   */
    int32_t            tile;          /* ... at which a tile does                       */
    int64_t            bytes;         /* of shared memory, so far                       */
    int32_t            n;
    rd_staged          at[RD_MOST_STAGED];
} rd_staging;

/* Loads of the pairs' loop come from arrays. */
void rd_gpu_stage(rd_staging *s);
/* A loop over all points of a tile that fills its array; loops over what a thread keeps of its
 * results. */
int32_t rd_gpu_fill_of_tile(const rd_staging *s, const rd_staged *a, int32_t stop);
int32_t rd_gpu_fill_of_rows(const rd_staging *s, const rd_staged *a);

/* split_blocks.c: for a loop, before `first`: "opens all" of the folds whose blocks end along it, for the block that
 * begins at a mark.  A loop over such blocks; loops in a pair along which blocks end. */
void   rd_gpu_lift_opens(rd_schedule *t, int32_t loop, int32_t first, int32_t start);
rd_for rd_gpu_by_blocks(rd_schedule *t, const rd_for *like);
void   rd_gpu_split_loops_in(rd_schedule *t, int32_t pairs);
#endif

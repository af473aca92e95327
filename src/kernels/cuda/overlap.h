/* overlap.h - what lets copies run beside kernels: a lane for each way, and events between these and
 * the lane of the kernels. */
#ifndef RD_KERNELS_CUDA_OVERLAP_H
#define RD_KERNELS_CUDA_OVERLAP_H
#include "kernels/cuda/stream.h"

/* Sets of windows that take turns: while one is worked on, the other is filled or emptied. */
enum { RD_WINDOW_SETS = 2 };

typedef struct rd_overlap {
    rd_stream *up, *down;
    CUevent    filled[RD_WINDOW_SETS],
        worked[RD_WINDOW_SETS]; /* by the last copy up; by the last kernel */
} rd_overlap;

/* NULL: none, *full: for want of memory. */
rd_overlap *rd_overlap_new(rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT]);
/* Nothing that was asked of its lanes is left to do. */
void rd_overlap_free(rd_overlap *flow);

/* The one that a queue keeps, or a new one; and back, when its lanes have been waited for. */
rd_overlap *rd_queue_take_overlap(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT]);
void        rd_queue_give_overlap(rd_queue *queue, rd_overlap *flow);
#endif

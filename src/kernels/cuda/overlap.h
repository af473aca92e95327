/* overlap.h - what lets copies run beside kernels: a lane for each way, and events between these and
 * the lane of the kernels. */
#ifndef RD_KERNELS_CUDA_OVERLAP_H
#define RD_KERNELS_CUDA_OVERLAP_H
#include "kernels/cuda/stream.h"

/* Sets of windows that take turns: while one is worked on, the other is filled or emptied. */
enum { RD_SETS = 2 };

typedef struct rd_flow {
    rd_lane *up, *down;
    CUevent  filled[RD_SETS], worked[RD_SETS]; /* by the last copy up; by the last kernel */
} rd_flow;

/* NULL: none, *full: for want of memory. */
rd_flow *rd_flow_new(rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT]);
/* Nothing that was asked of its lanes is left to do. */
void rd_flow_free(rd_flow *flow);

/* The one that a queue keeps, or a new one; and back, when its lanes have been waited for. */
rd_flow *rd_queue_take_flow(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT]);
void     rd_queue_give_flow(rd_queue *queue, rd_flow *flow);
#endif

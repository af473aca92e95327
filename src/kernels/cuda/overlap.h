/* overlap.h - copies that overlap with kernels: a stream for each direction, and events between
 * these and the stream of the kernels. */
#ifndef RD_KERNELS_CUDA_OVERLAP_H
#define RD_KERNELS_CUDA_OVERLAP_H
#include "kernels/cuda/stream.h"

/* Sets of windows (double buffering): a kernel works on one while copies fill or empty the other.
 */
enum { RD_WINDOW_SETS = 2 };

/* Streams for copies to the GPU (up) and from it (down), with events for each set of windows. */
typedef struct rd_overlap {
    rd_stream *up, *down;
    CUevent    filled[RD_WINDOW_SETS],
        worked[RD_WINDOW_SETS]; /* by the last copy up; by the last kernel */
} rd_overlap;

/* NULL on failure; *full: for lack of memory. */
rd_overlap *rd_overlap_new(rd_gpu *gpu, bool *full, char why[RD_CUDA_TEXT]);
/* Frees the streams.  No work may be left in them. */
void rd_overlap_free(rd_overlap *overlap);

/* Takes the queue's spare one, or a new one; give_overlap() returns it, when its streams are
 * idle. */
rd_overlap *rd_queue_take_overlap(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT]);
void        rd_queue_give_overlap(rd_queue *queue, rd_overlap *overlap);
#endif

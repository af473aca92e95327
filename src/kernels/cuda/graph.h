/* graph.h - stages of a run, asked of a GPU once and recorded, and asked again by one call of the
 * driver: a graph of launches.
 *
 * A recording has a queue of its own, whose stream is captured; so what others ask meanwhile is not
 * in it.  Memory that the stages took is the recording's as long as it lives. */
#ifndef RD_KERNELS_CUDA_GRAPH_H
#define RD_KERNELS_CUDA_GRAPH_H
#include "kernels/cuda/gpu.h"

/* What *s is asked is recorded from now on, and not done.  NULL: it cannot be, for want of memory
 * or as the driver has no graphs, with a sentence. */
rd_recording *rd_recording_begin(rd_gpu *gpu, rd_submission **s, char why[RD_CUDA_TEXT]);
/* That was all.  False: it cannot be asked again, and is to be dropped. */
bool rd_recording_end(rd_recording *r, char why[RD_CUDA_TEXT]);
/* Asks for all of it, in that queue.  One such run is waited for before the next: they share
 * memory. */
bool rd_recording_replay(rd_recording *r, rd_queue *queue, char why[RD_CUDA_TEXT]);
/* Nothing that uses its memory is left to do.  NULL is allowed. */
void rd_recording_drop(rd_recording *r);
#endif

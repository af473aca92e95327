/* graph.h - the launches of a run's stages, recorded in a CUDA graph: one call of the driver
 * repeats all.
 *
 * A recording has a queue of its own with a captured stream, so other work is not in it.
 * Memory that the stages take belongs to the recording as long as it lives. */
#ifndef RD_KERNELS_CUDA_GRAPH_H
#define RD_KERNELS_CUDA_GRAPH_H
#include "kernels/cuda/gpu.h"

/* Records the work that *s gets from now on, without doing it.  NULL: out of memory, or the
 * driver has no graphs; `why` has a sentence. */
rd_recording *rd_recording_begin(rd_gpu *gpu, rd_submission **s, char why[RD_CUDA_TEXT]);
/* Ends the recording.  False: it cannot be replayed, and must be dropped. */
bool rd_recording_end(rd_recording *r, char why[RD_CUDA_TEXT]);
/* Enqueues all recorded work.  The caller waits for it before the next replay: both share memory.
 */
bool rd_recording_replay(rd_recording *r, rd_queue *queue, char why[RD_CUDA_TEXT]);
/* Frees a recording, when no work uses its memory.  NULL is allowed. */
void rd_recording_drop(rd_recording *r);
#endif

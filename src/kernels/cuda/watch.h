/* watch.h - how long a GPU takes for what is asked of it, by its own clock: two events of the
 * driver. */
#ifndef RD_KERNELS_CUDA_WATCH_H
#define RD_KERNELS_CUDA_WATCH_H
#include "kernels/cuda/gpu.h"

typedef struct rd_gpu_watch {
    rd_queue *queue;
    CUevent   begun, ended;
} rd_gpu_watch;

bool rd_gpu_watch_make(rd_gpu_watch *watch, rd_queue *queue, char why[RD_CUDA_TEXT]);
void rd_gpu_watch_drop(rd_gpu_watch *watch);
/* Before and behind what is timed; once both are reached, seconds between them. */
bool rd_gpu_watch_start(rd_gpu_watch *watch, char why[RD_CUDA_TEXT]);
bool rd_gpu_watch_stop(rd_gpu_watch *watch, char why[RD_CUDA_TEXT]);
bool rd_gpu_watch_read(rd_gpu_watch *watch, double *seconds, char why[RD_CUDA_TEXT]);
#endif

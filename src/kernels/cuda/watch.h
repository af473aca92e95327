/* watch.h - a timer on the GPU: how long it takes between two events. */
#ifndef RD_KERNELS_CUDA_WATCH_H
#define RD_KERNELS_CUDA_WATCH_H
#include "kernels/cuda/gpu.h"

/* A timer of a queue. */
typedef struct rd_gpu_watch {
    rd_queue *queue;
    CUevent   begun, ended;
} rd_gpu_watch;

bool rd_gpu_watch_make(rd_gpu_watch *watch, rd_queue *queue, char why[RD_CUDA_TEXT]);
void rd_gpu_watch_drop(rd_gpu_watch *watch);
/* start() and stop() stand around the timed work; read() gives the seconds between them once both
 * events have been reached. */
bool rd_gpu_watch_start(rd_gpu_watch *watch, char why[RD_CUDA_TEXT]);
bool rd_gpu_watch_stop(rd_gpu_watch *watch, char why[RD_CUDA_TEXT]);
bool rd_gpu_watch_read(rd_gpu_watch *watch, double *seconds, char why[RD_CUDA_TEXT]);
#endif

/* stream.h - a stream of a GPU, and copies in it, by way of pinned memory where they are large. */
#ifndef RD_KERNELS_CUDA_STREAM_H
#define RD_KERNELS_CUDA_STREAM_H
#include "kernels/cuda/gpu.h"

typedef struct rd_lane rd_lane;

/* `stream`: the caller's; NULL: one of its own.  NULL: none, *full: for want of memory. */
rd_lane *rd_lane_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT]);
/* Nothing that was asked of it may still use its pinned memory. */
void     rd_lane_free(rd_lane *lane);
rd_gpu  *rd_lane_gpu(const rd_lane *lane);
CUstream rd_lane_stream(const rd_lane *lane);
/* Until all is done. */
bool rd_lane_wait(rd_lane *lane, char why[RD_CUDA_TEXT]);
/* The event is behind all that was asked; what is asked from now on comes behind the event. */
bool rd_lane_mark(rd_lane *lane, CUevent event, char why[RD_CUDA_TEXT]);
bool rd_lane_follow(rd_lane *lane, CUevent event, char why[RD_CUDA_TEXT]);

/* ---- Copies ---------------------------------------------------------------------------------- */
typedef enum rd_way { RD_UP, RD_DOWN, RD_ACROSS } rd_way;

/* All at once; from any thread.  What comes down is there after the next wait.  `other`: what is
 * not `there`, on the GPU too if the way is across. */
bool rd_lane_copy(rd_lane *lane, rd_way way, CUdeviceptr there, void *other, int64_t bytes,
                  char why[RD_CUDA_TEXT]);

/* The same up or down a piece at a time, by a thread that has the lane to itself, one transfer
 * after the other.  What has come down is there when it is done. */
typedef struct rd_transfer {
    rd_lane    *lane;
    rd_way      way;
    CUdeviceptr there;
    char       *here;
    int64_t     bytes, asked, done; /* in all; of the GPU; with which we have done */
    int         piece;              /* of pinned memory: the next one to fetch     */
} rd_transfer;

bool rd_transfer_begin(rd_transfer *t, char why[RD_CUDA_TEXT]);
bool rd_transfer_step(rd_transfer *t, char why[RD_CUDA_TEXT]);

static inline bool rd_transfer_is_done(const rd_transfer *t)
{
    return t->done >= t->bytes;
}
#endif

/* stream.h - a stream of a GPU, and copies in it, by way of pinned memory where they are large. */
#ifndef RD_KERNELS_CUDA_STREAM_H
#define RD_KERNELS_CUDA_STREAM_H
#include "kernels/cuda/gpu.h"

typedef struct rd_stream rd_stream;

/* `handle`: the caller's; NULL: one of its own.  NULL: none, *full: for want of memory. */
rd_stream *rd_stream_new(rd_gpu *gpu, void *handle, bool *full, char why[RD_CUDA_TEXT]);
/* Nothing that was asked of it may still use its pinned memory. */
void     rd_stream_free(rd_stream *stream);
rd_gpu  *rd_stream_gpu(const rd_stream *stream);
CUstream rd_stream_handle(const rd_stream *stream);
/* Until all is done. */
bool rd_stream_wait(rd_stream *stream, char why[RD_CUDA_TEXT]);
/* The event is behind all that was asked; what is asked from now on comes behind the event. */
bool rd_stream_mark(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT]);
bool rd_stream_follow(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT]);

/* ---- Copies ---------------------------------------------------------------------------------- */
typedef enum rd_copy_direction { RD_COPY_UP, RD_COPY_DOWN, RD_COPY_ACROSS } rd_copy_direction;

/* All at once; from any thread.  What comes down is there after the next wait.  `other`: what is
 * not `there`, on the GPU too if the way is across. */
bool rd_stream_copy(rd_stream *stream, rd_copy_direction direction, CUdeviceptr there, void *other,
                    int64_t bytes, char why[RD_CUDA_TEXT]);

/* The same up or down a piece at a time, by a thread that has the stream to itself, one transfer
 * after the other.  What has come down is there when it is done. */
typedef struct rd_transfer {
    rd_stream        *stream;
    rd_copy_direction direction;
    CUdeviceptr       there;
    char             *here;
    int64_t           bytes, asked, done; /* in all; of the GPU; with which we have done */
    int               piece;              /* of pinned memory: the next one to fetch     */
} rd_transfer;

bool rd_transfer_begin(rd_transfer *t, char why[RD_CUDA_TEXT]);
bool rd_transfer_step(rd_transfer *t, char why[RD_CUDA_TEXT]);

static inline bool rd_transfer_is_done(const rd_transfer *t)
{
    return t->done >= t->bytes;
}
#endif

/* stream.h - a CUDA stream, and copies in it.  Large copies go by way of pinned memory. */
#ifndef RD_KERNELS_CUDA_STREAM_H
#define RD_KERNELS_CUDA_STREAM_H
#include "kernels/cuda/gpu.h"

typedef struct rd_stream rd_stream;

/* Makes a stream of the caller's CUstream; NULL: of a new one.  Returns NULL on failure; *full:
 * for lack of memory. */
rd_stream *rd_stream_new(rd_gpu *gpu, void *handle, bool *full, char why[RD_CUDA_TEXT]);
/* Frees a stream.  No work in it may still use its pinned memory. */
void     rd_stream_free(rd_stream *stream);
rd_gpu  *rd_stream_gpu(const rd_stream *stream);
CUstream rd_stream_handle(const rd_stream *stream);
/* Waits until all work in the stream is done. */
bool rd_stream_wait(rd_stream *stream, char why[RD_CUDA_TEXT]);
/* mark() records the event behind all work so far.  follow(): later work waits for the event. */
bool rd_stream_mark(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT]);
bool rd_stream_follow(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT]);

/* ---- Copies ---------------------------------------------------------------------------------- */
typedef enum rd_copy_direction { RD_COPY_UP, RD_COPY_DOWN, RD_COPY_ACROSS } rd_copy_direction;

/* Copies bytes, from any thread.  Bytes that come down are there after the next wait.  `other` is
 * the end of the copy that is not `there`; it is on the GPU, too, if the direction is ACROSS. */
bool rd_stream_copy(rd_stream *stream, rd_copy_direction direction, CUdeviceptr there, void *other,
                    int64_t bytes, char why[RD_CUDA_TEXT]);

/* A copy up or down, piece by piece, by a thread that has the stream to itself.  Transfers follow
 * each other.  Bytes that come down are there when the transfer is done. */
typedef struct rd_transfer {
    rd_stream        *stream;
    rd_copy_direction direction;
    CUdeviceptr       there;              /* on the GPU */
    char             *here;               /* on the host */
    int64_t           bytes, asked, done; /* of the copy; enqueued; finished on the host */
    int               piece;              /* the pinned piece that is emptied next */
} rd_transfer;

bool rd_transfer_begin(rd_transfer *t, char why[RD_CUDA_TEXT]);
bool rd_transfer_step(rd_transfer *t, char why[RD_CUDA_TEXT]);

/* True if all bytes of the transfer are copied, as far as the host has to do anything. */
static inline bool rd_transfer_is_done(const rd_transfer *t)
{
    return t->done >= t->bytes;
}
#endif

/* stream.c - a stream of a GPU, and copies in it.
 *
 * The driver copies pageable memory at a fraction of the bus's rate, and waits.  So what is large
 * goes through two pieces of pinned memory: while one is copied by the GPU, the other is filled or
 * emptied. */
#include "kernels/cuda/stream.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 8 << 20, SMALL = 64 << 10, PIECES = 2 };

struct rd_stream {
    rd_gpu         *gpu;
    CUstream        handle;
    bool            own;
    pthread_mutex_t lock; /* of the pieces */
    char           *piece[PIECES];
    CUevent         copied[PIECES]; /* the GPU has done with it    */
    int             next;           /* that the GPU will be given  */
};

rd_stream *rd_stream_new(rd_gpu *gpu, void *handle, bool *full, char why[RD_CUDA_TEXT])
{
    rd_stream *stream = calloc(1, sizeof *stream);
    bool       made   = false;

    *full = !stream || pthread_mutex_init(&stream->lock, NULL) != 0;
    if (*full) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        free(stream);
        return NULL;
    }
    stream->gpu    = gpu;
    stream->handle = handle;
    stream->own    = !handle;
    if (rd_gpu_enter(gpu, why)) {
        made = handle ||
               RD_GPU_TAKE(gpu, full, why, cuStreamCreate, &stream->handle, CU_STREAM_DEFAULT);
        rd_gpu_leave(gpu);
    }
    if (made)
        return stream;
    pthread_mutex_destroy(&stream->lock);
    free(stream);
    return NULL;
}

static void free_pieces(rd_stream *stream)
{
    char ignored[RD_CUDA_TEXT];

    for (int k = 0; k < PIECES; k++) {
        if (stream->copied[k])
            (void)RD_GPU_CALL(stream->gpu, ignored, cuEventDestroy_v2, stream->copied[k]);
        if (stream->piece[k])
            (void)RD_GPU_CALL(stream->gpu, ignored, cuMemFreeHost, stream->piece[k]);
    }
}

void rd_stream_free(rd_stream *stream)
{
    char ignored[RD_CUDA_TEXT];

    if (!stream)
        return;
    if (rd_gpu_enter(stream->gpu, ignored)) {
        free_pieces(stream);
        if (stream->own)
            (void)RD_GPU_CALL(stream->gpu, ignored, cuStreamDestroy_v2, stream->handle);
        rd_gpu_leave(stream->gpu);
    }
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

rd_gpu *rd_stream_gpu(const rd_stream *stream)
{
    return stream->gpu;
}

CUstream rd_stream_handle(const rd_stream *stream)
{
    return stream->handle;
}

bool rd_stream_wait(rd_stream *stream, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = RD_GPU_CALL(stream->gpu, why, cuStreamSynchronize, stream->handle);
    rd_gpu_leave(stream->gpu);
    return done;
}

bool rd_stream_mark(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = RD_GPU_CALL(stream->gpu, why, cuEventRecord, event, stream->handle);
    rd_gpu_leave(stream->gpu);
    return done;
}

bool rd_stream_follow(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = RD_GPU_CALL(stream->gpu, why, cuStreamWaitEvent, stream->handle, event, 0);
    rd_gpu_leave(stream->gpu);
    return done;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */
static bool make_piece(rd_stream *stream, int k, bool *full, char why[RD_CUDA_TEXT])
{
    void *memory = NULL;

    if (!RD_GPU_TAKE(stream->gpu, full, why, cuEventCreate, &stream->copied[k],
                     CU_EVENT_DISABLE_TIMING))
        return false;
    if (RD_GPU_TAKE(stream->gpu, full, why, cuMemAllocHost_v2, &memory, PIECE)) {
        stream->piece[k] = memory;
        return true;
    }
    (void)rd_cuda_api(NULL)->cuEventDestroy_v2(stream->copied[k]);
    stream->copied[k] = NULL;
    return false;
}

/* The pieces for so many bytes, before any is copied.  *full: there is no memory for them. */
static bool make_pieces(rd_stream *stream, int64_t bytes, bool *full, char why[RD_CUDA_TEXT])
{
    *full = false;
    for (int k = 0; k < PIECES; k++) {
        const int piece = (stream->next + k) % PIECES;

        if ((int64_t)k * PIECE < bytes && !stream->piece[piece] &&
            !make_piece(stream, piece, full, why))
            return false;
    }
    return true;
}

/* The GPU has done with a piece; one that was never used it has not to wait for. */
static bool take_piece(rd_stream *stream, int k, char why[RD_CUDA_TEXT])
{
    return RD_GPU_CALL(stream->gpu, why, cuEventSynchronize, stream->copied[k]);
}

static int64_t piece_of(int64_t bytes)
{
    return bytes < PIECE ? bytes : PIECE;
}

/* One call of the driver. */
static bool copy_at_once(rd_stream *stream, rd_copy_direction direction, CUdeviceptr there,
                         void *other, int64_t bytes, char why[RD_CUDA_TEXT])
{
    const size_t n = (size_t)bytes;

    switch (direction) {
    case RD_COPY_UP:
        return RD_GPU_CALL(stream->gpu, why, cuMemcpyHtoDAsync_v2, there, other, n, stream->handle);
    case RD_COPY_DOWN:
        return RD_GPU_CALL(stream->gpu, why, cuMemcpyDtoHAsync_v2, other, there, n, stream->handle);
    default:
        return RD_GPU_CALL(stream->gpu, why, cuMemcpyDtoDAsync_v2, there,
                           (CUdeviceptr)(uintptr_t)other, n, stream->handle);
    }
}

/* The GPU is given the next piece, which it has done with. */
static bool ask(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    rd_stream *const stream = t->stream;
    const int64_t    n      = piece_of(t->bytes - t->asked);

    if (!copy_at_once(stream, t->direction, t->there + (CUdeviceptr)t->asked,
                      stream->piece[stream->next], n, why) ||
        !RD_GPU_CALL(stream->gpu, why, cuEventRecord, stream->copied[stream->next], stream->handle))
        return false;
    stream->next = (stream->next + 1) % PIECES;
    t->asked += n;
    return true;
}

static bool send_piece(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    rd_stream *const stream = t->stream;

    if (!take_piece(stream, stream->next, why))
        return false;
    memcpy(stream->piece[stream->next], t->here + t->asked, (size_t)piece_of(t->bytes - t->asked));
    if (!ask(t, why))
        return false;
    t->done = t->asked;
    return true;
}

/* While a piece is emptied, the next one comes.  What an earlier transfer has in it is on its way
 * to the GPU, in the same stream. */
static bool fetch_piece(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    const int64_t n = piece_of(t->bytes - t->done);

    while (t->asked < t->bytes && t->asked - t->done < (int64_t)PIECES * PIECE)
        if (!ask(t, why))
            return false;
    if (!take_piece(t->stream, t->piece, why))
        return false;
    memcpy(t->here + t->done, t->stream->piece[t->piece], (size_t)n);
    t->piece = (t->piece + 1) % PIECES;
    t->done += n;
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* What is small, and all where no memory can be pinned, the driver copies as it is, in its time. */
bool rd_transfer_begin(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    bool full = true, done;

    t->piece = t->stream->next;
    if (t->bytes <= 0)
        return true;
    if (!rd_gpu_enter(t->stream->gpu, why))
        return false;
    done = t->bytes > SMALL && make_pieces(t->stream, t->bytes, &full, why);
    if (!done && full) {
        done     = copy_at_once(t->stream, t->direction, t->there, t->here, t->bytes, why);
        t->asked = t->done = t->bytes;
    }
    rd_gpu_leave(t->stream->gpu);
    return done;
}

bool rd_transfer_step(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    bool done;

    if (rd_transfer_is_done(t))
        return true;
    if (!rd_gpu_enter(t->stream->gpu, why))
        return false;
    done = (t->direction == RD_COPY_UP ? send_piece : fetch_piece)(t, why);
    rd_gpu_leave(t->stream->gpu);
    return done;
}

static bool copy_large(rd_stream *stream, rd_copy_direction direction, CUdeviceptr there,
                       void *other, int64_t bytes, char why[RD_CUDA_TEXT])
{
    rd_transfer t = {
        .stream = stream, .direction = direction, .there = there, .here = other, .bytes = bytes
    };
    bool done;

    pthread_mutex_lock(&stream->lock);
    done = rd_transfer_begin(&t, why);
    while (done && !rd_transfer_is_done(&t))
        done = rd_transfer_step(&t, why);
    pthread_mutex_unlock(&stream->lock);
    return done;
}

/* What is small waits for nobody's pieces. */
bool rd_stream_copy(rd_stream *stream, rd_copy_direction direction, CUdeviceptr there, void *other,
                    int64_t bytes, char why[RD_CUDA_TEXT])
{
    bool done;

    if (bytes <= 0)
        return true;
    if (direction != RD_COPY_ACROSS && bytes > SMALL)
        return copy_large(stream, direction, there, other, bytes, why);
    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = copy_at_once(stream, direction, there, other, bytes, why);
    rd_gpu_leave(stream->gpu);
    return done;
}

/* stream.c - a CUDA stream, and copies in it.
 *
 * The driver copies pageable memory at a fraction of the bus's rate, and blocks.  So large copies
 * go through two pieces of pinned memory: the GPU copies one while this process fills or empties
 * the other. */
#include "kernels/cuda/stream.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a piece of pinned memory; of a copy that the driver does at once; pieces of a stream. */
enum { PIECE = 8 << 20, SMALL = 64 << 10, PIECES = 2 };

/* A CUDA stream, with the pinned memory of its copies. */
struct rd_stream {
    rd_gpu         *gpu;
    CUstream        handle;
    bool            own;            /* this library made the handle */
    pthread_mutex_t lock;           /* held while pieces are used */
    char           *piece[PIECES];  /* pinned memory, NULL until its first use */
    CUevent         copied[PIECES]; /* the GPU is done with the piece */
    int             next;           /* the piece that the GPU gets next */
};

/* Makes a stream from the caller's CUstream (handle), or with a new one if that is NULL.  NULL:
 * `why` has the reason; *full: for lack of memory. */
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

/* Frees the pinned memory of copies, and its events. */
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

/* Frees a stream, and its CUstream if this library made it.  No copy may be under way.  NULL is
 * allowed. */
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

/* Returns the GPU of a stream. */
rd_gpu *rd_stream_gpu(const rd_stream *stream)
{
    return stream->gpu;
}

/* Returns the driver's handle of a stream. */
CUstream rd_stream_handle(const rd_stream *stream)
{
    return stream->handle;
}

/* Blocks the host until all work in the stream is done. */
bool rd_stream_wait(rd_stream *stream, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = RD_GPU_CALL(stream->gpu, why, cuStreamSynchronize, stream->handle);
    rd_gpu_leave(stream->gpu);
    return done;
}

/* Records an event in the stream: it is reached when all work enqueued so far is done. */
bool rd_stream_mark(rd_stream *stream, CUevent event, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(stream->gpu, why))
        return false;
    done = RD_GPU_CALL(stream->gpu, why, cuEventRecord, event, stream->handle);
    rd_gpu_leave(stream->gpu);
    return done;
}

/* Makes all later work in the stream wait until the event is reached. */
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
/* Allocates piece k of pinned memory (which the GPU can copy at full rate), and the event that
 * says when the GPU is done with it. If only one of both can be had, none is kept. */
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
    (void)rd_cuda_api(/*why=*/NULL)->cuEventDestroy_v2(stream->copied[k]);
    stream->copied[k] = NULL;
    return false;
}

/* Allocates the pieces of pinned memory that a copy of so many bytes needs, from the next one
 * on, before any byte is copied: so a failure leaves nothing half copied. False: `why` has the
 * reason; *full: for lack of memory. */
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

/* Waits until the GPU is done with piece k of pinned memory; an event that was never recorded is
 * reached at once. */
static bool take_piece(rd_stream *stream, int k, char why[RD_CUDA_TEXT])
{
    return RD_GPU_CALL(stream->gpu, why, cuEventSynchronize, stream->copied[k]);
}

/* Returns how many bytes the next piece of pinned memory takes, if `bytes` are left. */
static int64_t piece_of(int64_t bytes)
{
    return bytes < PIECE ? bytes : PIECE;
}

/* Enqueues a copy by one call of the driver. `there` is the end on the GPU; `other` is on the
 * host, or, for copies within the GPU, the source. */
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

/* Enqueues the copy between the GPU and the next piece of pinned memory, which the GPU is done
 * with, and records the piece's event behind it. `asked` counts the bytes enqueued so far. */
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

/* Copies the next bytes from the host to a piece of pinned memory, and enqueues the copy of the
 * piece to the GPU. */
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

/* Enqueues copies from the GPU to as many pieces of pinned memory as there are, and then empties
 * the oldest one into the host's memory. A piece may still be in an earlier copy to the GPU;
 * both copies are in one stream, so that one is done first. asked, done: bytes enqueued, bytes
 * that the host has. */
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
/* Begins a copy by pieces of pinned memory. The driver copies few bytes in one call; it also
 * copies any number if no memory can be pinned (full). Then the transfer is done already. */
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

/* Sends or fetches one piece of pinned memory of a transfer, so that its caller can go on with
 * others between. False: `why` has the reason. */
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

/* Copies many bytes by pieces of pinned memory; the lock keeps other threads from using these
 * pieces. */
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

/* Copies bytes to, from or within the GPU.  Few bytes, and copies within the GPU, need no pinned
 * memory, and so no lock. */
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

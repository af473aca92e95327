/* queue.c - a stream of a GPU, and copies in it.
 *
 * The driver copies pageable memory at a fraction of the bus's rate, and waits.  So what is large
 * goes through two pieces of pinned memory: while one is copied by the GPU, the other is filled. */
#include "kernels/cuda/cublas.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 8 << 20, SMALL = 64 << 10, PIECES = 2 };

struct rd_queue {
    rd_gpu         *gpu;
    CUstream        stream;
    bool            own;
    rd_submissions *submissions;
    rd_blas_handle *blas;
    pthread_mutex_t lock; /* of the pieces */
    char           *piece[PIECES];
    CUevent         copied[PIECES]; /* the GPU has done with it */
};

/* Without a stream yet; NULL: no memory. */
static rd_queue *make_queue(rd_gpu *gpu)
{
    rd_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return NULL;
    queue->gpu         = gpu;
    queue->submissions = rd_submissions_new();
    queue->blas        = rd_blas_handle_new();
    if (queue->submissions && queue->blas && pthread_mutex_init(&queue->lock, NULL) == 0)
        return queue;
    rd_submissions_free(queue->submissions);
    rd_blas_handle_free(queue->blas, NULL);
    free(queue);
    return NULL;
}

static void drop_queue(rd_queue *queue)
{
    rd_submissions_free(queue->submissions);
    rd_blas_handle_free(queue->blas, NULL);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

rd_queue *rd_queue_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT])
{
    rd_queue *queue = make_queue(gpu);
    bool      made  = false;

    *full = !queue;
    if (!queue) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        return NULL;
    }
    queue->stream = stream;
    if (rd_gpu_enter(gpu, why)) {
        queue->own = !stream;
        made       = stream ||
               RD_GPU_TAKE(gpu, full, why, cuStreamCreate, &queue->stream, CU_STREAM_DEFAULT);
        rd_gpu_leave(gpu);
    }
    if (made)
        return queue;
    drop_queue(queue);
    return NULL;
}

static void free_pieces(rd_queue *queue)
{
    char ignored[RD_CUDA_TEXT];

    for (int k = 0; k < PIECES; k++) {
        if (queue->copied[k])
            (void)RD_GPU_CALL(queue->gpu, ignored, cuEventDestroy_v2, queue->copied[k]);
        if (queue->piece[k])
            (void)RD_GPU_CALL(queue->gpu, ignored, cuMemFreeHost, queue->piece[k]);
        queue->copied[k] = NULL;
        queue->piece[k]  = NULL;
    }
}

void rd_queue_free(rd_queue *queue)
{
    char ignored[RD_CUDA_TEXT];

    if (!queue)
        return;
    (void)rd_submissions_end(queue, NULL, ignored);
    if (rd_gpu_enter(queue->gpu, ignored)) {
        free_pieces(queue);
        rd_blas_handle_free(queue->blas, queue->gpu);
        queue->blas = NULL;
        if (queue->own)
            (void)RD_GPU_CALL(queue->gpu, ignored, cuStreamDestroy_v2, queue->stream);
        rd_gpu_leave(queue->gpu);
    }
    drop_queue(queue);
}

rd_gpu *rd_queue_gpu(const rd_queue *queue)
{
    return queue->gpu;
}

rd_submissions *rd_queue_submissions(rd_queue *queue)
{
    return queue->submissions;
}

rd_blas_handle *rd_queue_blas(rd_queue *queue)
{
    return queue->blas;
}

CUstream rd_queue_stream(const rd_queue *queue)
{
    return queue->stream;
}

bool rd_queue_wait(rd_queue *queue, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(queue->gpu, why))
        return false;
    done = RD_GPU_CALL(queue->gpu, why, cuStreamSynchronize, queue->stream);
    rd_gpu_leave(queue->gpu);
    return done;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
static bool make_piece(rd_queue *queue, int k, bool *full, char why[RD_CUDA_TEXT])
{
    void *memory = NULL;

    if (!RD_GPU_TAKE(queue->gpu, full, why, cuEventCreate, &queue->copied[k],
                     CU_EVENT_DISABLE_TIMING))
        return false;
    if (RD_GPU_TAKE(queue->gpu, full, why, cuMemAllocHost_v2, &memory, PIECE)) {
        queue->piece[k] = memory;
        return true;
    }
    (void)rd_cuda_api(NULL)->cuEventDestroy_v2(queue->copied[k]);
    queue->copied[k] = NULL;
    return false;
}

/* The pieces for so many bytes, before any is copied.  *full: there is no memory for them. */
static bool make_pieces(rd_queue *queue, int64_t bytes, bool *full, char why[RD_CUDA_TEXT])
{
    *full = false;
    for (int k = 0; k < PIECES && (int64_t)k * PIECE < bytes; k++)
        if (!queue->piece[k] && !make_piece(queue, k, full, why))
            return false;
    return true;
}

/* The GPU has done with a piece; one that was never used it has not to wait for. */
static bool take_piece(rd_queue *queue, int k, char why[RD_CUDA_TEXT])
{
    return RD_GPU_CALL(queue->gpu, why, cuEventSynchronize, queue->copied[k]);
}

static bool up_in_pieces(rd_queue *queue, CUdeviceptr to, const char *from, int64_t bytes,
                         char why[RD_CUDA_TEXT])
{
    for (int k = 0; bytes > 0; k = (k + 1) % PIECES) {
        const int64_t n = bytes < PIECE ? bytes : PIECE;

        if (!take_piece(queue, k, why))
            return false;
        memcpy(queue->piece[k], from, (size_t)n);
        if (!RD_GPU_CALL(queue->gpu, why, cuMemcpyHtoDAsync_v2, to, queue->piece[k], (size_t)n,
                         queue->stream) ||
            !RD_GPU_CALL(queue->gpu, why, cuEventRecord, queue->copied[k], queue->stream))
            return false;
        to += (CUdeviceptr)n;
        from += n;
        bytes -= n;
    }
    return true;
}

/* While a piece is emptied, the next one comes. */
static bool down_in_pieces(rd_queue *queue, char *to, CUdeviceptr from, int64_t bytes,
                           char why[RD_CUDA_TEXT])
{
    const int64_t n_piece = (bytes + PIECE - 1) / PIECE;

    for (int64_t k = 0; k <= n_piece; k++) {
        const int64_t at = k * PIECE, n = bytes - at < PIECE ? bytes - at : PIECE;

        if (k < n_piece &&
            (!take_piece(queue, (int)(k % PIECES), why) ||
             !RD_GPU_CALL(queue->gpu, why, cuMemcpyDtoHAsync_v2, queue->piece[k % PIECES],
                          from + (CUdeviceptr)at, (size_t)n, queue->stream) ||
             !RD_GPU_CALL(queue->gpu, why, cuEventRecord, queue->copied[k % PIECES],
                          queue->stream)))
            return false;
        if (k == 0)
            continue;
        if (!RD_GPU_CALL(queue->gpu, why, cuEventSynchronize, queue->copied[(k - 1) % PIECES]))
            return false;
        memcpy(to + (k - 1) * PIECE, queue->piece[(k - 1) % PIECES],
               (size_t)(k < n_piece ? PIECE : bytes - (k - 1) * PIECE));
    }
    return true;
}

typedef enum way { UP, DOWN, ACROSS } way;

/* One call of the driver. */
static bool copy_at_once(rd_queue *queue, way to, CUdeviceptr there, const void *other,
                         int64_t bytes, char why[RD_CUDA_TEXT])
{
    const size_t n = (size_t)bytes;

    switch (to) {
    case UP:
        return RD_GPU_CALL(queue->gpu, why, cuMemcpyHtoDAsync_v2, there, other, n, queue->stream);
    case DOWN:
        return RD_GPU_CALL(queue->gpu, why, cuMemcpyDtoHAsync_v2, (void *)other, there, n,
                           queue->stream);
    default:
        return RD_GPU_CALL(queue->gpu, why, cuMemcpyDtoDAsync_v2, there,
                           (CUdeviceptr)(uintptr_t)other, n, queue->stream);
    }
}

/* Where no memory can be pinned the driver copies it as it is, in its time. */
static bool copy_large(rd_queue *queue, way to, CUdeviceptr there, const void *other, int64_t bytes,
                       char why[RD_CUDA_TEXT])
{
    bool full, done = false;

    pthread_mutex_lock(&queue->lock);
    if (make_pieces(queue, bytes, &full, why))
        done = to == UP ? up_in_pieces(queue, there, other, bytes, why)
                        : down_in_pieces(queue, (char *)other, there, bytes, why);
    else if (full)
        done = copy_at_once(queue, to, there, other, bytes, why);
    pthread_mutex_unlock(&queue->lock);
    return done;
}

static bool copy(rd_queue *queue, way to, CUdeviceptr there, const void *other, int64_t bytes,
                 char why[RD_CUDA_TEXT])
{
    bool done;

    if (bytes <= 0)
        return true;
    if (!rd_gpu_enter(queue->gpu, why))
        return false;
    if (to == ACROSS || bytes <= SMALL)
        done = copy_at_once(queue, to, there, other, bytes, why);
    else
        done = copy_large(queue, to, there, other, bytes, why);
    rd_gpu_leave(queue->gpu);
    return done;
}

bool rd_queue_up(rd_queue *queue, CUdeviceptr to, const void *from, int64_t bytes,
                 char why[RD_CUDA_TEXT])
{
    return copy(queue, UP, to, from, bytes, why);
}

bool rd_queue_down(rd_queue *queue, void *to, CUdeviceptr from, int64_t bytes,
                   char why[RD_CUDA_TEXT])
{
    return copy(queue, DOWN, from, to, bytes, why);
}

bool rd_queue_clear(rd_queue *queue, CUdeviceptr at, int64_t bytes, char why[RD_CUDA_TEXT])
{
    bool done = rd_gpu_enter(queue->gpu, why);

    if (done) {
        done = RD_GPU_CALL(queue->gpu, why, cuMemsetD8Async, at, 0, (size_t)bytes, queue->stream);
        rd_gpu_leave(queue->gpu);
    }
    return done;
}

bool rd_queue_across(rd_queue *queue, CUdeviceptr to, CUdeviceptr from, int64_t bytes,
                     char why[RD_CUDA_TEXT])
{
    return copy(queue, ACROSS, to, (const void *)(uintptr_t)from, bytes, why);
}

/* queue.c - the work that is enqueued for a GPU, in order: a stream, and what belongs to it. */
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/overlap.h"
#include "kernels/cuda/stream.h"
#include <stdatomic.h>
#include <stdlib.h>

/* The streams, submissions and handles of one queue. */
struct rd_queue {
    rd_stream            *stream;
    rd_submissions       *submissions; /* runs that the host has not waited for */
    rd_blas_handle       *blas;        /* cuBLAS's handle, opened by the first product */
    _Atomic(rd_overlap *) overlap;     /* the spare one, NULL */
};

/* Frees the host's memory of a queue.  The cuBLAS handle must have been closed, or never opened. */
static void drop(rd_queue *queue)
{
    rd_submissions_free(queue->submissions);
    rd_blas_handle_free(queue->blas, /*gpu=*/NULL);
    free(queue);
}

/* Makes a queue of work for a GPU, in the caller's CUstream or, if that is NULL, in a new one.
 * NULL: `why` has the reason; *full: for lack of memory. */
rd_queue *rd_queue_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT])
{
    rd_queue *queue = calloc(1, sizeof *queue);

    *full = true;
    if (!queue) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        return NULL;
    }
    queue->submissions = rd_submissions_new();
    queue->blas        = rd_blas_handle_new();
    if (queue->submissions && queue->blas)
        queue->stream = rd_stream_new(gpu, stream, full, why);
    else
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
    if (queue->stream)
        return queue;
    drop(queue);
    return NULL;
}

/* Closes the queue's cuBLAS handle, which must happen before its stream is destroyed.  Without
 * the GPU's context nothing is closed. */
static void free_blas(rd_queue *queue)
{
    char ignored[RD_CUDA_TEXT];

    if (!rd_gpu_enter(rd_queue_gpu(queue), ignored))
        return;
    rd_blas_handle_free(queue->blas, rd_queue_gpu(queue));
    queue->blas = NULL;
    rd_gpu_leave(rd_queue_gpu(queue));
}

/* Frees a queue: waits for its runs, then closes its handle, its streams and its memory.  NULL
 * is allowed. */
void rd_queue_free(rd_queue *queue)
{
    char ignored[RD_CUDA_TEXT];

    if (!queue)
        return;
    (void)rd_submissions_end(queue, /*report=*/NULL, ignored);
    free_blas(queue);
    rd_overlap_free(atomic_load(&queue->overlap));
    rd_stream_free(queue->stream);
    drop(queue);
}

/* Returns the GPU of a queue. */
rd_gpu *rd_queue_gpu(const rd_queue *queue)
{
    return rd_stream_gpu(queue->stream);
}

/* Returns the list of the queue's runs that go on by themselves, as the host has not waited for
 * them. */
rd_submissions *rd_queue_submissions(rd_queue *queue)
{
    return queue->submissions;
}

/* Returns the queue's cuBLAS handle, which its first product opens. */
rd_blas_handle *rd_queue_blas(rd_queue *queue)
{
    return queue->blas;
}

/* Returns the queue's stream with its pinned memory for copies. */
rd_stream *rd_queue_stream_object(const rd_queue *queue)
{
    return queue->stream;
}

/* Returns the queue's CUstream, as the driver takes it. */
CUstream rd_queue_stream(const rd_queue *queue)
{
    return rd_stream_handle(queue->stream);
}

/* Waits until all work of the queue is done. */
bool rd_queue_wait(rd_queue *queue, char why[RD_CUDA_TEXT])
{
    return rd_stream_wait(queue->stream, why);
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* Enqueues a copy from the host to the GPU. */
bool rd_queue_up(rd_queue *queue, CUdeviceptr to, const void *from, int64_t bytes,
                 char why[RD_CUDA_TEXT])
{
    return rd_stream_copy(queue->stream, RD_COPY_UP, to, (void *)from, bytes, why);
}

/* Enqueues a copy from the GPU to the host.  The bytes are there after the next wait. */
bool rd_queue_down(rd_queue *queue, void *to, CUdeviceptr from, int64_t bytes,
                   char why[RD_CUDA_TEXT])
{
    return rd_stream_copy(queue->stream, RD_COPY_DOWN, from, to, bytes, why);
}

/* Enqueues a copy within the GPU's memory. `from` travels as the copy's second end, which is a
 * pointer for other directions. */
bool rd_queue_across(rd_queue *queue, CUdeviceptr to, CUdeviceptr from, int64_t bytes,
                     char why[RD_CUDA_TEXT])
{
    return rd_stream_copy(queue->stream, RD_COPY_ACROSS, to, (void *)(uintptr_t)from, bytes, why);
}

/* Enqueues that bytes of the GPU's memory are set to 0. */
bool rd_queue_clear(rd_queue *queue, CUdeviceptr at, int64_t bytes, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu  = rd_queue_gpu(queue);
    bool          done = rd_gpu_enter(gpu, why);

    if (done) {
        done = RD_GPU_CALL(gpu, why, cuMemsetD8Async, at, 0, (size_t)bytes, rd_queue_stream(queue));
        rd_gpu_leave(gpu);
    }
    return done;
}

/* ---- Overlapped copies ----------------------------------------------------------------------- */
/* Takes the streams for overlapped copies: the queue's spare ones, or new ones.  Only one spare
 * is kept, though several runs may want streams at the same time. */
rd_overlap *rd_queue_take_overlap(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT])
{
    rd_overlap *const kept = atomic_exchange(&queue->overlap, NULL);

    *full = false;
    return kept ? kept : rd_overlap_new(rd_queue_gpu(queue), full, why);
}

/* Returns the streams for overlapped copies, which become the queue's spare ones.  An earlier
 * spare is freed. */
void rd_queue_give_overlap(rd_queue *queue, rd_overlap *overlap)
{
    rd_overlap_free(atomic_exchange(&queue->overlap, overlap));
}

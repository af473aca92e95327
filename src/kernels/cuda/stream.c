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

struct rd_lane {
    rd_gpu         *gpu;
    CUstream        stream;
    bool            own;
    pthread_mutex_t lock; /* of the pieces */
    char           *piece[PIECES];
    CUevent         copied[PIECES]; /* the GPU has done with it    */
    int             next;           /* that the GPU will be given  */
};

rd_lane *rd_lane_new(rd_gpu *gpu, void *stream, bool *full, char why[RD_CUDA_TEXT])
{
    rd_lane *lane = calloc(1, sizeof *lane);
    bool     made = false;

    *full = !lane || pthread_mutex_init(&lane->lock, NULL) != 0;
    if (*full) {
        rd_cuda_error("cuStreamCreate", CUDA_ERROR_OUT_OF_MEMORY, why);
        free(lane);
        return NULL;
    }
    lane->gpu    = gpu;
    lane->stream = stream;
    lane->own    = !stream;
    if (rd_gpu_enter(gpu, why)) {
        made =
            stream || RD_GPU_TAKE(gpu, full, why, cuStreamCreate, &lane->stream, CU_STREAM_DEFAULT);
        rd_gpu_leave(gpu);
    }
    if (made)
        return lane;
    pthread_mutex_destroy(&lane->lock);
    free(lane);
    return NULL;
}

static void free_pieces(rd_lane *lane)
{
    char ignored[RD_CUDA_TEXT];

    for (int k = 0; k < PIECES; k++) {
        if (lane->copied[k])
            (void)RD_GPU_CALL(lane->gpu, ignored, cuEventDestroy_v2, lane->copied[k]);
        if (lane->piece[k])
            (void)RD_GPU_CALL(lane->gpu, ignored, cuMemFreeHost, lane->piece[k]);
    }
}

void rd_lane_free(rd_lane *lane)
{
    char ignored[RD_CUDA_TEXT];

    if (!lane)
        return;
    if (rd_gpu_enter(lane->gpu, ignored)) {
        free_pieces(lane);
        if (lane->own)
            (void)RD_GPU_CALL(lane->gpu, ignored, cuStreamDestroy_v2, lane->stream);
        rd_gpu_leave(lane->gpu);
    }
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}

rd_gpu *rd_lane_gpu(const rd_lane *lane)
{
    return lane->gpu;
}

CUstream rd_lane_stream(const rd_lane *lane)
{
    return lane->stream;
}

bool rd_lane_wait(rd_lane *lane, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(lane->gpu, why))
        return false;
    done = RD_GPU_CALL(lane->gpu, why, cuStreamSynchronize, lane->stream);
    rd_gpu_leave(lane->gpu);
    return done;
}

bool rd_lane_mark(rd_lane *lane, CUevent event, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(lane->gpu, why))
        return false;
    done = RD_GPU_CALL(lane->gpu, why, cuEventRecord, event, lane->stream);
    rd_gpu_leave(lane->gpu);
    return done;
}

bool rd_lane_follow(rd_lane *lane, CUevent event, char why[RD_CUDA_TEXT])
{
    bool done;

    if (!rd_gpu_enter(lane->gpu, why))
        return false;
    done = RD_GPU_CALL(lane->gpu, why, cuStreamWaitEvent, lane->stream, event, 0);
    rd_gpu_leave(lane->gpu);
    return done;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */
static bool make_piece(rd_lane *lane, int k, bool *full, char why[RD_CUDA_TEXT])
{
    void *memory = NULL;

    if (!RD_GPU_TAKE(lane->gpu, full, why, cuEventCreate, &lane->copied[k],
                     CU_EVENT_DISABLE_TIMING))
        return false;
    if (RD_GPU_TAKE(lane->gpu, full, why, cuMemAllocHost_v2, &memory, PIECE)) {
        lane->piece[k] = memory;
        return true;
    }
    (void)rd_cuda_api(NULL)->cuEventDestroy_v2(lane->copied[k]);
    lane->copied[k] = NULL;
    return false;
}

/* The pieces for so many bytes, before any is copied.  *full: there is no memory for them. */
static bool make_pieces(rd_lane *lane, int64_t bytes, bool *full, char why[RD_CUDA_TEXT])
{
    *full = false;
    for (int k = 0; k < PIECES; k++) {
        const int piece = (lane->next + k) % PIECES;

        if ((int64_t)k * PIECE < bytes && !lane->piece[piece] &&
            !make_piece(lane, piece, full, why))
            return false;
    }
    return true;
}

/* The GPU has done with a piece; one that was never used it has not to wait for. */
static bool take_piece(rd_lane *lane, int k, char why[RD_CUDA_TEXT])
{
    return RD_GPU_CALL(lane->gpu, why, cuEventSynchronize, lane->copied[k]);
}

static int64_t piece_of(int64_t bytes)
{
    return bytes < PIECE ? bytes : PIECE;
}

/* One call of the driver. */
static bool copy_at_once(rd_lane *lane, rd_way way, CUdeviceptr there, void *other, int64_t bytes,
                         char why[RD_CUDA_TEXT])
{
    const size_t n = (size_t)bytes;

    switch (way) {
    case RD_UP:
        return RD_GPU_CALL(lane->gpu, why, cuMemcpyHtoDAsync_v2, there, other, n, lane->stream);
    case RD_DOWN:
        return RD_GPU_CALL(lane->gpu, why, cuMemcpyDtoHAsync_v2, other, there, n, lane->stream);
    default:
        return RD_GPU_CALL(lane->gpu, why, cuMemcpyDtoDAsync_v2, there,
                           (CUdeviceptr)(uintptr_t)other, n, lane->stream);
    }
}

/* The GPU is given the next piece, which it has done with. */
static bool ask(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    rd_lane *const lane = t->lane;
    const int64_t  n    = piece_of(t->bytes - t->asked);

    if (!copy_at_once(lane, t->way, t->there + (CUdeviceptr)t->asked, lane->piece[lane->next], n,
                      why) ||
        !RD_GPU_CALL(lane->gpu, why, cuEventRecord, lane->copied[lane->next], lane->stream))
        return false;
    lane->next = (lane->next + 1) % PIECES;
    t->asked += n;
    return true;
}

static bool send_piece(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    rd_lane *const lane = t->lane;

    if (!take_piece(lane, lane->next, why))
        return false;
    memcpy(lane->piece[lane->next], t->here + t->asked, (size_t)piece_of(t->bytes - t->asked));
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
    if (!take_piece(t->lane, t->piece, why))
        return false;
    memcpy(t->here + t->done, t->lane->piece[t->piece], (size_t)n);
    t->piece = (t->piece + 1) % PIECES;
    t->done += n;
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* What is small, and all where no memory can be pinned, the driver copies as it is, in its time. */
bool rd_transfer_begin(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    bool full = true, done;

    t->piece = t->lane->next;
    if (t->bytes <= 0)
        return true;
    if (!rd_gpu_enter(t->lane->gpu, why))
        return false;
    done = t->bytes > SMALL && make_pieces(t->lane, t->bytes, &full, why);
    if (!done && full) {
        done     = copy_at_once(t->lane, t->way, t->there, t->here, t->bytes, why);
        t->asked = t->done = t->bytes;
    }
    rd_gpu_leave(t->lane->gpu);
    return done;
}

bool rd_transfer_step(rd_transfer *t, char why[RD_CUDA_TEXT])
{
    bool done;

    if (rd_transfer_is_done(t))
        return true;
    if (!rd_gpu_enter(t->lane->gpu, why))
        return false;
    done = (t->way == RD_UP ? send_piece : fetch_piece)(t, why);
    rd_gpu_leave(t->lane->gpu);
    return done;
}

static bool copy_large(rd_lane *lane, rd_way way, CUdeviceptr there, void *other, int64_t bytes,
                       char why[RD_CUDA_TEXT])
{
    rd_transfer t = { .lane = lane, .way = way, .there = there, .here = other, .bytes = bytes };
    bool        done;

    pthread_mutex_lock(&lane->lock);
    done = rd_transfer_begin(&t, why);
    while (done && !rd_transfer_is_done(&t))
        done = rd_transfer_step(&t, why);
    pthread_mutex_unlock(&lane->lock);
    return done;
}

/* What is small waits for nobody's pieces. */
bool rd_lane_copy(rd_lane *lane, rd_way way, CUdeviceptr there, void *other, int64_t bytes,
                  char why[RD_CUDA_TEXT])
{
    bool done;

    if (bytes <= 0)
        return true;
    if (way != RD_ACROSS && bytes > SMALL)
        return copy_large(lane, way, there, other, bytes, why);
    if (!rd_gpu_enter(lane->gpu, why))
        return false;
    done = copy_at_once(lane, way, there, other, bytes, why);
    rd_gpu_leave(lane->gpu);
    return done;
}

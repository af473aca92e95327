/* windows.c - stages over data of this process's memory that the GPU has no room for.
 *
 * What a block of the work reads is copied to windows before it, and what it stores is copied back
 * behind it.  A window stands for its slot: kernels get the address that the slot would have, were
 * it whole.  Ranges are joined as ever, in whatever block they come, so blocks change no bit. */
#include "kernels/cuda/blocks.h"
#include "kernels/cuda/run.h"
#include <stdio.h>
#include <stdlib.h>

int64_t rd_windows_budget(const rd_gpu_facts *gpu)
{
    enum { PART = 8, MOST = 256 << 20 };

    return gpu->memory / PART < MOST ? gpu->memory / PART : MOST;
}

typedef struct window {
    CUdeviceptr at; /* 0: the slot is on the GPU, or the kernel does not touch it */
    rd_touched  of; /* what is there */
} window;

static bool get_windows(rd_gpu_run_state *r, const rd_cuda_blocks *b, window *w)
{
    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++) {
        const int64_t most = r->host->at[k] ? rd_blocks_most(b, k) : 0;

        if (most > 0 &&
            !(w[k].at = rd_submission_get(r->submission, most + RD_WINDOW_ROOM, &r->full, r->why)))
            return false;
    }
    return true;
}

/* Where the slot would begin: at a multiple of 16 bytes from where the window does. */
static CUdeviceptr base_of(const window *w)
{
    return w->at - (CUdeviceptr)(w->of.lo & ~(int64_t)15);
}

/* What the block reads, unless it is there already. */
static bool fill(rd_gpu_run_state *r, const rd_cuda_blocks *b, window *w)
{
    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++) {
        if (!w[k].at)
            continue;
        const rd_touched of   = rd_blocks_touch(b, k);
        const bool       same = of.lo == w[k].of.lo && of.hi == w[k].of.hi;

        w[k].of    = of;
        r->slot[k] = base_of(&w[k]);
        if (of.loaded && !same &&
            !rd_queue_up(r->queue, r->slot[k] + (CUdeviceptr)of.lo, r->host->at[k] + of.lo,
                         of.hi - of.lo, r->why))
            return false;
    }
    return true;
}

static bool bring_back(rd_gpu_run_state *r, const rd_cuda_blocks *b, const window *w)
{
    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++)
        if (w[k].at && w[k].of.stored &&
            !rd_queue_down(r->queue, r->host->at[k] + w[k].of.lo,
                           r->slot[k] + (CUdeviceptr)w[k].of.lo, w[k].of.hi - w[k].of.lo, r->why))
            return false;
    return true;
}

static bool run_block(rd_gpu_run_state *r, const char *name, const rd_cuda_blocks *b, window *w)
{
    int64_t first, end;

    rd_blocks_work(b, &first, &end);
    return fill(r, b, w) && rd_gpu_run_work(r, name, first, end) && bring_back(r, b, w);
}

static bool run_blocks(rd_gpu_run_state *r, const char *name, rd_cuda_blocks *b, window *w)
{
    const int64_t n = rd_blocks_count(b);

    for (int64_t k = 0; k < n; k++, (void)rd_blocks_next(b)) {
        if (!run_block(r, name, b, w))
            return false;
        if (!r->host->tell(r->host->user, (double)(k + 1) / (double)n)) {
            snprintf(r->why, RD_CUDA_TEXT, "the evaluation was cancelled");
            r->cancelled = true;
            return false;
        }
    }
    return true;
}

bool rd_gpu_run_windows(rd_gpu_run_state *r, const char *name, int32_t cut)
{
    const int32_t  n        = r->shape->n_slot;
    bool          *windowed = calloc((size_t)n + 1, sizeof *windowed);
    window        *w        = calloc((size_t)n + 1, sizeof *w);
    rd_cuda_blocks b;
    bool           done = false;

    for (int32_t k = 0; windowed && k < n && k < r->shape->p->first_scratch; k++)
        windowed[k] = r->host->at[k];
    if (!windowed || !w) {
        r->full = true;
        snprintf(r->why, RD_CUDA_TEXT, "out of memory");
    } else if (!rd_blocks_find(&b, r->shape, cut, windowed,
                               rd_windows_budget(rd_gpu_facts_of(r->gpu))))
        snprintf(r->why, RD_CUDA_TEXT, "blocks of the data do not fit on the GPU");
    else
        done = get_windows(r, &b, w) && run_blocks(r, name, &b, w);
    free(windowed);
    free(w);
    return done;
}

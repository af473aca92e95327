/* windows.c - stages over data in this process's memory for which the GPU has no room (out of
 * core).
 *
 * Before a block of the work, the bytes that it reads are copied to windows.  Behind it, the
 * bytes that it stores are copied back.  A window stands for its slot: kernels get the address
 * that the slot would have if all of it were there.  Partials are combined as usual, whichever
 * block they come from, so blocks change no bit.
 *
 * Blocks use two sets of windows in turn (double buffering).  While the kernel of block k runs,
 * block k + 1 is copied to the other set, and the results of k - 1 there are copied back.  Each
 * direction has a stream of its own:
 *
 *     up      0   1   2   3           filled[k % 2] is behind each,  worked[k % 2] before the next
 *     kernel      0   1   2   3       worked[k % 2] is behind each,  filled[k % 2] before it
 *     down            0   1   2   3   worked[k % 2] before each; the host waits for it before it
 *                                     launches the kernel of k + 2
 *
 * If there is no memory for two sets, one does: then copies and kernels wait for each other.
 *
 * A slot is a buffer of the program.  A block of work is a part of it that touches few enough
 * bytes. */
#include "kernels/cuda/work_blocks.h"
#include "kernels/cuda/overlap.h"
#include "kernels/cuda/kernel_run.h"
#include <stdio.h>
#include <stdlib.h>

/* Returns how many bytes the windows of one block of work may take. These are memory on the GPU
 * for what the block touches of buffers on the host. It is an eighth of the GPU's memory, 256
 * MiB at most. */
int64_t rd_windows_budget(const rd_gpu_facts *gpu)
{
    enum { PART = 8, MOST = 256 << 20 };

    return gpu->memory / PART < MOST ? gpu->memory / PART : MOST;
}

/* A window: memory on the GPU that stands for some bytes of a slot. */
typedef struct window {
    CUdeviceptr      at; /* 0: the slot is on the GPU, or the kernel does not touch it */
    rd_touched_bytes of; /* the bytes in it */
} window;

/* The windows of a run. */
typedef struct window_sets {
    rd_gpu_run_state *r;
    rd_overlap       *overlap; /* the streams for copies, and events */
    rd_cuda_blocks    blocks;  /* the block that is filled, then worked on */
    int32_t           n_slot;
    int               n_set;               /* sets that have memory: 1 or 2 */
    window           *set[RD_WINDOW_SETS]; /* by slot */
} window_sets;

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Returns the GPU memory of a set of windows to the run's allocator. A window is memory for the
 * bytes that a block of work touches of one slot (buffer). */
static void put_set(window_sets *w, int set)
{
    for (int32_t k = 0; k < w->n_slot; k++) {
        if (w->set[set][k].at)
            rd_submission_put(w->r->submission, w->set[set][k].at);
        w->set[set][k] = (window){ 0 };
    }
}

/* Takes GPU memory for a set of windows: for each slot (buffer) that stays in the host's memory,
 * as much as any block of work touches of it. False: memory is short, and nothing of the set is
 * kept. */
static bool get_set(window_sets *w, int set)
{
    rd_gpu_run_state *const r = w->r;

    for (int32_t k = 0; k < w->n_slot; k++) {
        const int64_t      most = r->host->at[k] ? rd_blocks_most(&w->blocks, k) : 0;
        CUdeviceptr *const at   = &w->set[set][k].at;

        if (most > 0 &&
            !(*at = rd_submission_get(r->submission, most + RD_WINDOW_ROOM, &r->full, r->why))) {
            put_set(w, set);
            return false;
        }
    }
    return true;
}

/* Takes memory for a set of windows, and for a second one if there are several blocks of work,
 * so that copies overlap with kernels. If memory is short, one set does; then *full is cleared. */
static bool get_sets(window_sets *w)
{
    bool *const full = &w->r->full;

    if (!get_set(w, /*set=*/0))
        return false;
    w->n_set = 1;
    if (rd_blocks_count(&w->blocks) == 1)
        return true;
    if (get_set(w, /*set=*/1))
        w->n_set = 2;
    else if (!*full)
        return false;
    *full = false;
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* The copies of all windows of a set in one direction, one after the other. */
typedef struct transfers {
    window_sets      *w;
    rd_copy_direction direction;
    int               set;  /* number of the set of windows */
    int32_t           next; /* slot */
    rd_transfer       now;  /* the current copy */
} transfers;

/* True if all copies of a set of windows are done: no slot (buffer) is left, and the current
 * copy has ended. */
static bool is_done(const transfers *h)
{
    return h->next == h->w->n_slot && rd_transfer_is_done(&h->now);
}

/* True if the window of a slot (buffer) must be copied. To the host: if the block of work stores
 * to it. To the GPU: if the block reads it, unless the window holds the same bytes from an
 * earlier block. If the block reads it, at->of becomes the bytes that the window will hold. */
static bool is_copied(const transfers *h, window *at, int32_t slot)
{
    if (!at->at)
        return false;
    if (h->direction == RD_COPY_DOWN)
        return at->of.stored;
    const rd_touched_bytes of   = rd_blocks_touch(&h->w->blocks, slot);
    const bool             same = of.lo == at->of.lo && of.hi == at->of.hi;

    if (of.loaded)
        at->of = of;
    return of.loaded && !same;
}

/* Returns the GPU address of a window's first byte.  It has the same place in 16 bytes as in the
 * slot (buffer), so that vectors are aligned alike. */
static CUdeviceptr first_of(const window *at)
{
    return at->at + (CUdeviceptr)(at->of.lo & 15);
}

/* Prepares the copy of the window of one slot (buffer), in the direction of *h; 0 bytes: there
 * is nothing to copy. `here` is on the host, where the slot's base plus of.lo is. */
static rd_transfer transfer_of(const transfers *h, int32_t slot)
{
    window *const at = &h->w->set[h->set][slot];
    rd_transfer   t  = { .stream =
                          h->direction == RD_COPY_UP ? h->w->overlap->up : h->w->overlap->down,
                         .direction = h->direction };

    if (is_copied(h, at, slot)) {
        t.there = first_of(at);
        t.here  = h->w->r->host->at[slot] + at->of.lo;
        t.bytes = at->of.hi - at->of.lo;
    }
    return t;
}

/* Continues the copies of a set of windows by one piece of pinned memory, or begins the copy of
 * the next slot (buffer). False: the driver failed. */
static bool continue_copy(transfers *h)
{
    char *const why = h->w->r->why;

    if (is_done(h))
        return true;
    if (!rd_transfer_is_done(&h->now))
        return rd_transfer_step(&h->now, why);
    h->now = transfer_of(h, h->next++);
    return rd_transfer_begin(&h->now, why);
}

/* Copies the data of the current block of work to set `up`, and results in set `down` back to
 * the host, piece by piece in turn, so that both directions of the bus are busy. -1: nothing is
 * copied that way. Each direction first waits for the kernel that last worked on its set; the
 * event `filled` is behind the copies to the GPU. */
static bool copy_sets(window_sets *w, int up, int down)
{
    char *const why = w->r->why;
    transfers   in  = { w, RD_COPY_UP, up, up < 0 ? w->n_slot : 0, { 0 } },
              out   = { w, RD_COPY_DOWN, down, down < 0 ? w->n_slot : 0, { 0 } };

    if ((up >= 0 && !rd_stream_follow(w->overlap->up, w->overlap->worked[up], why)) ||
        (down >= 0 && !rd_stream_follow(w->overlap->down, w->overlap->worked[down], why)))
        return false;
    while (!is_done(&in) || !is_done(&out))
        if (!continue_copy(&in) || !continue_copy(&out))
            return false;
    return up < 0 || rd_stream_mark(w->overlap->up, w->overlap->filled[up], why);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Tells the kernel the addresses of slots (buffers) as if all of each were on the GPU: the
 * window's address less of.lo, where it begins in the slot. So kernels need no other index
 * arithmetic. */
static void set_slots(const window_sets *w, int set)
{
    for (int32_t k = 0; k < w->n_slot; k++) {
        window *const at = &w->set[set][k];

        if (!at->at)
            continue;
        at->of        = rd_blocks_touch(&w->blocks, k);
        w->r->slot[k] = first_of(at) - (CUdeviceptr)at->of.lo;
    }
}

/* Launches the kernel for the current block of work. It waits until its set of windows is
 * filled, and the event `worked` behind it lets later copies wait for it. */
static bool launch_block(window_sets *w, const char *name, int set)
{
    rd_stream *const stream = rd_queue_stream_object(w->r->queue);
    int64_t          first, end;

    set_slots(w, set);
    rd_blocks_work(&w->blocks, &first, &end);
    return rd_stream_follow(stream, w->overlap->filled[set], w->r->why) &&
           rd_gpu_run_work(w->r, name, first, end) &&
           rd_stream_mark(stream, w->overlap->worked[set], w->r->why);
}

/* Reports progress to the caller: `part` of this kernel's work is done, and each split loop has
 * a kernel. blocks.split is the number of the one that runs, -1: no loop is split. False: the
 * caller cancels the evaluation. */
static bool tell(window_sets *w, double part)
{
    const rd_device_host *const host = w->r->host;
    const int32_t split = w->blocks.split < 0 ? 0 : w->blocks.split, n = w->r->strategy->n_split;

    if (host->tell(host->user, (split + part) / (n > 0 ? n : 1)))
        return true;
    snprintf(w->r->why, RD_CUDA_TEXT, "the evaluation was cancelled");
    w->r->cancelled = true;
    return false;
}

/* Runs all blocks of the work (double buffering). While the kernel of block k runs, block k + 1
 * is copied to the other set of windows, and the results of block k - 1, which are there, are
 * copied back. With one set, copies and kernels alternate. `back` is the block whose results are
 * copied, below 0: none yet. */
static bool run_blocks(window_sets *w, const char *name)
{
    const int64_t n = rd_blocks_count(&w->blocks);

    if (!copy_sets(w, /*up=*/0, /*down=*/-1))
        return false;
    for (int64_t k = 0; k < n; k++) {
        const int     next = (int)((k + 1) % w->n_set);
        const int64_t back = k + 1 - w->n_set;

        if (!launch_block(w, name, (int)(k % w->n_set)))
            return false;
        (void)rd_blocks_next(&w->blocks);
        if (!copy_sets(w, k + 1 < n ? next : -1, back >= 0 ? next : -1) ||
            !tell(w, (double)(k + 1) / (double)n))
            return false;
    }
    return w->n_set == 1 || copy_sets(w, /*up=*/-1, (int)((n - 1) % w->n_set));
}

/* ---- All ------------------------------------------------------------------------------------- */
/* Waits until no work uses the windows and the streams of copies. False: the driver failed, so
 * work may still use them. */
static bool wait_for_all(window_sets *w, char why[RD_CUDA_TEXT])
{
    return rd_stream_wait(w->overlap->up, why) && rd_stream_wait(w->overlap->down, why) &&
           rd_queue_wait(w->r->queue, why);
}

/* Runs all blocks of work, waits, and returns windows and streams. If the wait failed (not
 * settled), the windows' memory is not returned, as work may still use it. */
static bool run_with_overlap(window_sets *w, const char *name)
{
    char       ignored[RD_CUDA_TEXT];
    bool       done    = get_sets(w) && run_blocks(w, name);
    const bool settled = wait_for_all(w, done ? w->r->why : ignored);

    for (int set = 0; settled && set < w->n_set; set++)
        put_set(w, set);
    if (settled)
        rd_queue_give_overlap(w->r->queue, w->overlap);
    else
        rd_overlap_free(w->overlap);
    return done && settled;
}

/* Takes streams for copies that overlap with kernels, and runs all blocks of work.  False: `why`
 * has the reason. */
static bool run_windows(window_sets *w, const char *name)
{
    w->overlap = rd_queue_take_overlap(w->r->queue, &w->r->full, w->r->why);
    return w->overlap && run_with_overlap(w, name);
}

/* Runs the work of a kernel, one block of it after the other: data in the host's memory come to
 * the GPU by windows. False: r->why has the reason. */
bool rd_gpu_run_windows(rd_gpu_run_state *r, const char *name, const rd_cuda_blocks *blocks)
{
    const int32_t slots = rd_gpu_slots(r->strategy);
    window       *all   = calloc(RD_WINDOW_SETS * ((size_t)slots + 1), sizeof *all);
    window_sets   w = { .r = r, .blocks = *blocks, .n_slot = slots, .set = { all, all + slots } };
    bool          done = false;

    if (all)
        done = run_windows(&w, name);
    else {
        r->full = true;
        snprintf(r->why, RD_CUDA_TEXT, "out of memory");
    }
    free(all);
    return done;
}

/* partition.c - the work of a stage, partitioned across several equal GPUs.
 *
 * All data lie in this process's memory.  Each GPU has a contiguous part of the work, its share,
 * and goes through it by blocks, as a single GPU does (windows.c).  One thread of this process
 * drives each GPU. The calling thread waits, reports progress, and stops the others.
 *
 *     grid        | GPU 0      | GPU 1      | GPU 2      |    items: nothing is left to do
 *     split loop  | GPU 0    |+| GPU 1    |+| GPU 2      |    ranges: GPU 0 does + at the end
 *
 * In a split loop each GPU but the last one holds back its last range.  So every group of ranges
 * that lies on two GPUs is incomplete.  When all other ranges are done, GPU 0 gets all partials
 * and counters (combine_devices.c).  It does the held ranges, and combines what is left.  A GPU
 * does the same ranges of every split loop, since memory that one loop keeps for another stays on
 * that GPU.
 *
 * So each node of the combine tree has the same elements as on one GPU, and the bits are the
 * same.
 *
 * A piece is the smallest part of the work that is not divided.  A block of work is several
 * pieces, with data that fit on the GPU.
 *
 * Fields. s->tile_loop has the two loops of a block tile, -1: there are no block tiles.
 *
 * Words. A fold is a reduction or a scan. A slot is a buffer that a program reads or writes.
 * Scratch is temporary memory of a task. */
#define _POSIX_C_SOURCE 200809L
#include "kernels/cuda/kernel_run.h"
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer bytes are not worth a GPU: the bus takes 40 us for 1 MiB, and a thread about as long. */
enum { LEAST = 1 << 20, LEAST_BLOCK = 32 << 10 };
/* Blocks of a share, so that the first copies are soon done, and later ones overlap. */
enum { BLOCKS = 4 };
/* Pieces for each GPU, if there are so many, so that shares are of equal size. */
enum { PIECES = 16 };

/* One GPU's share of a run. */
typedef struct device_share {
    struct partitioned_run *all;
    rd_gpu_run_state        run;
    rd_device_host          host;
    rd_cuda_blocks          blocks;            /* its part of the current kernel    */
    int64_t                 first, end;        /* its ranges, without the held one  */
    double                  part;              /* how much of that is done          */
    char                    why[RD_CUDA_TEXT]; /* the reason of a failure */
} device_share;

/* A stage that several GPUs run. */
typedef struct partitioned_run {
    const rd_cuda_strategy *strategy;
    const rd_device_host   *host; /* the caller's */
    int32_t                 n;    /* shares, one for each GPU */
    device_share           *share;
    rd_cuda_blocks          blocks;    /* all work of the current kernel     */
    const char             *name;      /* the current kernel */
    pthread_mutex_t         lock;      /* for the fields below, and shares' `part` */
    pthread_cond_t          changed;   /* a share has made progress or ended */
    int32_t                 running;   /* shares that have not ended */
    bool                    stop;      /* the other shares shall stop, too */
    bool                    cancelled; /* by the caller */
    rd_gpu_run_state       *failed;    /* the first share that failed */
} partitioned_run;

/* ---- The number of shares -------------------------------------------------------------------- */
/* Counts the GPUs from number `first` on that are equal to it in architecture, size and memory,
 * up to the first that differs: the work is divided evenly, so all must be as fast. 0: there is
 * no GPU `first`. */
int32_t rd_gpu_count_equal(int32_t first)
{
    char                why[RD_CUDA_TEXT];
    const rd_gpu       *first_gpu = rd_gpu_of(first, why), *next_gpu;
    const rd_gpu_facts *a, *b;
    int32_t             n = first_gpu ? 1 : 0;

    for (; n && n < rd_gpu_count(/*why=*/NULL) - first; n++) {
        next_gpu = rd_gpu_of(first + n, why);
        a        = rd_gpu_facts_of(first_gpu);
        b        = rd_gpu_facts_of(next_gpu);
        if (a->architecture != b->architecture || a->multiprocessors != b->multiprocessors ||
            a->memory != b->memory || a->shared != b->shared || a->most_threads != b->most_threads)
            break;
    }
    return n;
}

/* Returns the bytes that a program touches of all its buffers (slots) without scratch (temporary
 * memory). */
static int64_t bytes_of(const rd_cuda_strategy *s)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < rd_gpu_slots(s); k++)
        bytes += rd_slot_bytes(s, k);
    return bytes;
}

/* Divides a kernel's work into blocks with data that fit on the GPU; all buffers are in the
 * host's memory (windowed NULL). `split`: the number of the kernel's split loop, -1: the program
 * has none. Items are to be divided, so they need PIECES pieces for each GPU; ranges of a split
 * loop are given, so BLOCKS do. Returns the reason if there are no such blocks, else NULL. */
static const char *find_blocks(const rd_cuda_strategy *s, int32_t split, rd_cuda_blocks *blocks)
{
    char          why[RD_CUDA_TEXT];
    rd_gpu *const gpu    = rd_gpu_of(s->p->device, why);
    const int64_t budget = gpu ? rd_windows_budget(rd_gpu_facts_of(gpu)) : 0;
    const int64_t least  = (split < 0 ? PIECES : BLOCKS) * (int64_t)s->p->devices;

    return rd_blocks_find(blocks, s, split, /*windowed=*/NULL, budget, least);
}

/* True if it pays to divide the work among GPUs, each in BLOCKS blocks: the blocks copy few
 * bytes twice, and are not tiny. If fewer pieces had to be taken at once than that (b->step), a
 * block must still have LEAST_BLOCK bytes. */
static bool is_worth(rd_cuda_blocks *b, int64_t bytes)
{
    const int64_t pieces = rd_blocks_pieces(b), n = BLOCKS * (int64_t)b->s->p->devices;

    rd_blocks_take(b, /*first=*/0, pieces, (pieces + n - 1) / n);
    return rd_blocks_are_lean(b) &&
           (b->step >= pieces / n || pieces / b->step <= bytes / LEAST_BLOCK);
}

/* Returns the most GPUs for which every kernel has work. Work without split loops is divided
 * into pieces. A split loop needs two ranges for each GPU, as a GPU may hold back one: a group
 * of ranges across two GPUs must not complete before both are gathered. 1: the work cannot be
 * divided, and *why has the reason. */
static int64_t most_of(const rd_cuda_strategy *s, const char **why)
{
    const int64_t  bytes = bytes_of(s);
    int64_t        most  = INT64_MAX;
    rd_cuda_blocks b;

    for (int32_t split = s->n_split ? 0 : -1; split < s->n_split; split++) {
        *why = find_blocks(s, split, &b);
        if (!*why && !is_worth(&b, bytes))
            *why = "its parts do not lie together";
        if (*why)
            return 1;
        const int64_t pieces = split < 0 ? rd_blocks_pieces(&b) : s->n_range / 2;

        most = pieces < most ? pieces : most;
    }
    return most;
}

/* Returns how many of the program's GPUs share its work: each needs at least LEAST bytes of data
 * and a piece of every kernel. 1: *why has the reason, a part of a sentence. Block tiles
 * (tile_loop[0] >= 0) are not divided. */
int32_t rd_gpu_share_count(const rd_gpu_code *code, const char **why)
{
    const rd_cuda_strategy *const s       = rd_gpu_code_strategy(code);
    const int64_t                 by_data = bytes_of(s) / LEAST;
    int64_t                       n       = s->p->devices;

    *why = "its work is too little to be divided";
    if (s->tile_loop[0] >= 0)
        *why = "it reduces both axes of an array";
    else if (by_data > 1) {
        const int64_t most = most_of(s, why);

        n    = by_data < n ? by_data : n;
        n    = most < n ? most : n;
        *why = *why ? *why : "it has too few pieces of work";
        return n > 1 ? (int32_t)n : 1;
    }
    return 1;
}

/* ---- Shares of a kernel ---------------------------------------------------------------------- */
/* The progress callback of a share, the part of the work that one GPU does. It is called after
 * each block, with the part of the share that is done. Returns false if the share must stop, as
 * another one failed or the run was cancelled. */
static bool tell_share(void *user, double part)
{
    device_share *const s = user;
    bool                goes_on;

    pthread_mutex_lock(&s->all->lock);
    s->part = part > s->part ? part : s->part;
    goes_on = !s->all->stop;
    pthread_cond_signal(&s->all->changed);
    pthread_mutex_unlock(&s->all->lock);
    return goes_on;
}

/* Counts a share (one GPU's part of the work) as ended. If it failed, all others are stopped. A
 * share that was stopped because of another one is `cancelled`; it has not failed itself. */
static void end_share(device_share *s, bool done)
{
    partitioned_run *const all = s->all;

    pthread_mutex_lock(&all->lock);
    if (!done && !s->run.cancelled && !all->failed)
        all->failed = &s->run;
    all->stop |= !done;
    all->running--;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

/* Runs one GPU's share of a kernel, one block of work after the other: the body of the share's
 * thread. A share without blocks is done at once. Returns NULL, as a thread must return
 * something. */
static void *run_share(void *user)
{
    device_share *const s = user;

    end_share(s, s->blocks.at >= s->blocks.end ||
                     rd_gpu_run_windows(&s->run, s->all->name, &s->blocks));
    return NULL;
}

/* Waits until all shares (the GPUs' parts of the work) have ended, and reports their mean
 * progress to the caller. The caller's callback runs without the lock, so that shares do not
 * wait for it. If it says to cancel, all shares are stopped. */
static void wait_for_shares(partitioned_run *all)
{
    bool cancelled = false;

    pthread_mutex_lock(&all->lock);
    while (all->running > 0) {
        double part = 0;

        for (int32_t k = 0; k < all->n; k++)
            part += all->share[k].part / all->n;
        pthread_mutex_unlock(&all->lock);
        if (!cancelled)
            cancelled = !all->host->tell(all->host->user, part);
        pthread_mutex_lock(&all->lock);
        all->cancelled = cancelled;
        all->stop |= cancelled;
        if (all->running > 0)
            pthread_cond_wait(&all->changed, &all->lock);
    }
    pthread_mutex_unlock(&all->lock);
}

/* Starts the thread that drives one GPU's share. All signals are blocked in it, so that the
 * process's own threads handle them. False: there is no thread, and the calling thread must do
 * the share. */
static bool start(device_share *s, pthread_t *thread)
{
    sigset_t all, before;
    bool     started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(thread, NULL, run_share, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Runs the shares of one kernel (each GPU's part of its work) at the same time, each in a
 * thread, and waits for all. A share without a thread is done by this one. True if none failed
 * and nobody cancelled. */
static bool run_shares(partitioned_run *all, const char *name)
{
    pthread_t thread[RD_MOST_SHARES];
    bool      started[RD_MOST_SHARES] = { false };

    all->name    = name;
    all->running = all->n;
    for (int32_t k = 0; k < all->n; k++)
        started[k] = start(&all->share[k], &thread[k]);
    for (int32_t k = 0; k < all->n; k++)
        if (!started[k])
            (void)run_share(&all->share[k]);
    wait_for_shares(all);
    for (int32_t k = 0; k < all->n; k++)
        if (started[k])
            pthread_join(thread[k], NULL);
    return !all->stop;
}

/* ---- Kernels --------------------------------------------------------------------------------- */
/* Returns the first piece of share k of n, if `all` pieces are divided as evenly as whole pieces
 * can be: all * k / n, computed in two terms so that nothing overflows. */
static int64_t share_of(int64_t all, int32_t k, int32_t n)
{
    return all / n * k + all % n * k / n;
}

/* Returns pieces [first, end) of the current kernel's work as a part of its own, in BLOCKS
 * blocks or a few more: then the first copies are soon done, and later ones overlap with
 * kernels. */
static rd_cuda_blocks part_of(const partitioned_run *all, int64_t first, int64_t end)
{
    rd_cuda_blocks part = all->blocks;

    rd_blocks_take(&part, first, end, (end - first + BLOCKS - 1) / BLOCKS);
    return part;
}

/* Divides the items of a program without split loops evenly among the GPUs, and runs them. */
static bool partition_items(partitioned_run *all)
{
    int64_t pieces;

    (void)find_blocks(all->strategy, /*split=*/-1, &all->blocks);
    pieces = rd_blocks_pieces(&all->blocks);
    for (int32_t k = 0; k < all->n; k++)
        all->share[k].blocks =
            part_of(all, share_of(pieces, k, all->n), share_of(pieces, k + 1, all->n));
    return run_shares(all, "run");
}

/* Returns ranges [first, end) of a split loop as blocks of work. If blocks divide an index
 * inside a range, several pieces make one range. */
static rd_cuda_blocks ranges_of(const partitioned_run *all, int64_t first, int64_t end)
{
    const int64_t pieces = rd_blocks_pieces(&all->blocks) / all->strategy->n_range;

    return part_of(all, first * pieces, end * pieces);
}

/* Runs the ranges that all GPUs but the last have held back, on the first GPU, when no other one
 * works. `ends`: this is the last kernel, so the last held range also runs what stands behind
 * the split loops. */
static bool run_held_ranges(partitioned_run *all, bool ends)
{
    device_share *const first = &all->share[0];

    for (int32_t k = 0; k + 1 < all->n; k++) {
        rd_cuda_blocks held = ranges_of(all, all->share[k].end, all->share[k + 1].first);

        held.ends = ends && k + 2 == all->n;
        if (!rd_gpu_run_windows(&first->run, all->name, &held)) {
            all->failed = &first->run;
            return false;
        }
    }
    return true;
}

/* True if ranges of a split loop leave anything for each other. These are partial results of a
 * fold (a reduction), or, in the last kernel, the count of finished ranges, by which what stands
 * behind the loops (has_end) runs once. */
static bool leaves_partials(const rd_cuda_strategy *s, int32_t split)
{
    bool found = s->has_end && split == s->n_split - 1;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        found |= s->fold[k].split == split;
    return found;
}

/* Sets the counters of finished ranges (parts of a split loop) to 0 on all GPUs. False:
 * all->failed is the share that could not. */
static bool clear_all(partitioned_run *all)
{
    for (int32_t k = 0; k < all->n; k++)
        if (!rd_gpu_run_clear(&all->share[k].run)) {
            all->failed = &all->share[k].run;
            return false;
        }
    return true;
}

/* Brings the partials (nodes that ranges leave) of all GPUs to the first one, or those of the
 * first one to all: `move` does that. False: all->failed is the run that failed. */
static bool move_partials(partitioned_run *all,
                          rd_gpu_run_state *(*move)(const rd_device_ranges *, int32_t))
{
    rd_device_ranges by[RD_MOST_SHARES];

    for (int32_t k = 0; k < all->n; k++)
        by[k] = (rd_device_ranges){ &all->share[k].run, all->share[k].first, all->share[k].end };
    all->failed = move(by, all->n);
    return !all->failed;
}

/* Gives each GPU its ranges of a split loop, in equal numbers: the same ones for every split
 * loop, as memory that one loop keeps for the next stays on its GPU. Each but the last GPU holds
 * back its last range, so that no group of ranges across two GPUs is complete before the
 * partials (nodes that ranges leave) are gathered. ends false: no share runs what stands behind
 * the loops. */
static void take_ranges(partitioned_run *all, int32_t split)
{
    (void)find_blocks(all->strategy, split, &all->blocks);
    all->blocks.ends = false;
    for (int32_t k = 0; k < all->n; k++) {
        device_share *const s    = &all->share[k];
        const int64_t       held = k + 1 < all->n;

        s->first  = share_of(all->strategy->n_range, k, all->n);
        s->end    = share_of(all->strategy->n_range, k + 1, all->n) - held;
        s->blocks = ranges_of(all, s->first, s->end);
    }
}

/* Runs all ranges of one split loop. Each GPU does its own; then the first GPU gets all partials
 * (nodes that ranges leave), and does the ranges that were held back. If another kernel follows,
 * all GPUs get its partials. */
static bool partition_ranges(partitioned_run *all, int32_t split)
{
    const bool partials = leaves_partials(all->strategy, split),
               last     = split == all->strategy->n_split - 1;
    char name[24];

    snprintf(name, sizeof name, "ranges%" PRId32, split);
    take_ranges(all, split);
    return clear_all(all) && run_shares(all, name) &&
           (!partials || move_partials(all, rd_partials_gather)) && run_held_ranges(all, last) &&
           (!partials || last || move_partials(all, rd_partials_broadcast));
}

/* Runs all kernels of the program on all GPUs, one kernel after the other, until one fails. Each
 * split loop has a kernel, whose ranges the GPUs share; without such a loop (n_split 0) they
 * share the items of the one kernel. */
static bool partition_kernels(partitioned_run *all)
{
    bool done = true;

    if (all->strategy->n_split == 0)
        return partition_items(all);
    for (int32_t split = 0; done && split < all->strategy->n_split; split++)
        done = partition_ranges(all, split);
    return done;
}

/* ---- A stage --------------------------------------------------------------------------------- */
/* Begins one GPU's share of the run, with a submission (the memory and reports of a run) of its
 * own. Its progress callback replaces the caller's, who hears of all shares together. */
static bool begin_share(device_share *s, const rd_gpu_code *code, rd_queue *queue)
{
    bool           full;
    rd_submission *submission = rd_submission_new(queue, &full, s->why);

    s->run.full = full;
    s->run.why  = s->why;
    if (!submission)
        return false;
    s->host = (rd_device_host){ .at = s->all->host->at, .tell = tell_share, .user = s };
    return rd_gpu_run_begin(&s->run, code, submission, (void *const *)s->host.at, &s->host, s->why);
}

/* Begins the run on all GPUs; all->failed: the share that could not begin. */
static bool begin(partitioned_run *all, const rd_gpu_code *code, rd_queue *const *queue)
{
    for (int32_t k = 0; k < all->n; k++) {
        all->share[k].all = all;
        if (!begin_share(&all->share[k], code, queue[k])) {
            all->failed = &all->share[k].run;
            return false;
        }
    }
    return true;
}

/* Merges two reports of kernels: the status of the first failure, and all warnings. */
static void add_report(rd_task *to, const rd_task *own)
{
    const uint32_t warnings = to->warnings | own->warnings;

    if (to->status == RD_OK)
        *to = *own;
    to->warnings = warnings;
}

/* Ends the run on all GPUs: returns their memory and merges their reports. If the run has failed
 * before, errors of the end are not reported. Shares without a submission have not begun. */
static bool end_all(partitioned_run *all, rd_task *report, rd_device_end *end,
                    char why[RD_CUDA_TEXT])
{
    bool done = !all->failed && !all->cancelled;

    assert(all->share);
    *end = all->cancelled ? RD_DEVICE_CANCELLED : RD_DEVICE_FAILED;
    for (int32_t k = 0; k < all->n; k++) {
        device_share *const s   = &all->share[k];
        rd_task             own = { 0 };
        rd_device_end       its;
        char                its_why[RD_CUDA_TEXT];

        if (!s->run.submission)
            continue;
        rd_gpu_run_end(&s->run, &its);
        if (!rd_submission_end(s->run.submission, &own, its_why) && done) {
            memcpy(s->why, its_why, sizeof its_why);
            all->failed = &s->run;
            done        = false;
        }
        add_report(report, &own);
    }
    if (all->failed && !all->cancelled) {
        memcpy(why, all->failed->why, RD_CUDA_TEXT);
        *end = all->failed->full ? RD_DEVICE_FULL : RD_DEVICE_FAILED;
    }
    return done;
}

/* Runs all kernels, and ends the run on all GPUs in any case. */
static bool run_partitioned(partitioned_run *all, const rd_gpu_code *code, rd_queue *const *queue,
                            rd_task *report, rd_device_end *end, char why[RD_CUDA_TEXT])
{
    if (begin(all, code, queue))
        (void)partition_kernels(all);
    return end_all(all, report, end, why);
}

/* Runs a program on n equal GPUs, each with a queue, and waits. False: *end and `why` say how it
 * failed. Both say "out of memory" first, for the case that the locks cannot be made. */
bool rd_gpu_run_partitioned(const rd_gpu_code *code, rd_queue *const *queue, int32_t n,
                            const rd_device_host *host, rd_task *report, rd_device_end *end,
                            char why[RD_CUDA_TEXT])
{
    partitioned_run all  = { .strategy = rd_gpu_code_strategy(code), .host = host, .n = n };
    bool            done = false;

    *end      = RD_DEVICE_FULL;
    all.share = calloc((size_t)n, sizeof *all.share);
    snprintf(why, RD_CUDA_TEXT, "out of memory");
    if (all.share && pthread_mutex_init(&all.lock, NULL) == 0) {
        if (pthread_cond_init(&all.changed, NULL) == 0) {
            done = run_partitioned(&all, code, queue, report, end, why);
            pthread_cond_destroy(&all.changed);
        }
        pthread_mutex_destroy(&all.lock);
    }
    free(all.share);
    return done;
}

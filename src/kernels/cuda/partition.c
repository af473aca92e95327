/* partition.c - a stage's work, dealt out to several GPUs that are alike.
 *
 * All data lie in this process's memory.  Each GPU has a part of the work, one behind the other,
 * and goes through it by blocks as it does alone (windows.c).  A thread of this process drives each;
 * the one that called waits, tells how far they are, and stops them.
 *
 *     grid        | GPU 0      | GPU 1      | GPU 2      |    items: nothing is left to do
 *     split loop    | GPU 0    |+| GPU 1    |+| GPU 2      |    ranges: + are done last, by GPU 0
 *
 * Of a split loop a GPU's last range, but the last one's, is held back: every group of ranges that
 * lies on two GPUs has one that is.  When all others are done, nodes and counters are brought to
 * GPU 0 (combine_devices.c), which does these, and with them joins what is left to join.  What of a loop a
 * GPU has done, it does of the next one, too: what these keep for each other stays there.
 *
 * So each node is made of the same elements as on one GPU, and the bits are the same. */
#define _POSIX_C_SOURCE 200809L
#include "kernels/cuda/kernel_run.h"
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less data are not worth a GPU's while: its bus takes 40 us for so many bytes, a thread as long. */
enum { LEAST = 1 << 20, LEAST_BLOCK = 32 << 10 };
/* Of a part, so that the first one's copies are soon done, and others' run beside kernels. */
enum { BLOCKS = 4 };
/* Pieces for each GPU, so that parts are alike, where there are so many. */
enum { PIECES = 16 };

typedef struct share {
    struct partitioned_run *all;
    rd_gpu_run_state        run;
    rd_device_host          host;
    rd_cuda_blocks          blocks;     /* of the kernel at hand: its part   */
    int64_t                 first, end; /* its ranges, but what is held back */
    double                  part;       /* of what it does now: how much is done */
    char                    why[RD_CUDA_TEXT];
} share;

typedef struct partitioned_run {
    const rd_cuda_strategy *strategy;
    const rd_device_host   *host; /* the caller's */
    int32_t                 n;
    share                  *share;
    rd_cuda_blocks          blocks; /* of the kernel at hand: all its work */
    const char             *name;
    pthread_mutex_t         lock; /* of what follows, and of shares' parts */
    pthread_cond_t          changed;
    int32_t                 running;
    bool                    stop;
    bool                    cancelled;
    rd_gpu_run_state       *failed; /* the first */
} partitioned_run;

/* ---- Who takes part -------------------------------------------------------------------------- */
int32_t rd_gpu_alike(int32_t first)
{
    char                why[RD_CUDA_TEXT];
    const rd_gpu       *one = rd_gpu_of(first, why), *other;
    const rd_gpu_facts *a, *b;
    int32_t             n = one ? 1 : 0;

    for (; n && n < rd_gpu_count(NULL) - first; n++) {
        other = rd_gpu_of(first + n, why);
        a     = rd_gpu_facts_of(one);
        b     = rd_gpu_facts_of(other);
        if (a->architecture != b->architecture || a->multiprocessors != b->multiprocessors ||
            a->memory != b->memory || a->shared != b->shared || a->most_threads != b->most_threads)
            break;
    }
    return n;
}

/* All that a program touches of slots. */
static int64_t bytes_of(const rd_cuda_strategy *s)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < rd_gpu_slots(s); k++)
        bytes += rd_slot_bytes(s, k);
    return bytes;
}

/* The blocks of a kernel, where all slots come by windows. */
static const char *find_blocks(const rd_cuda_strategy *s, int32_t split, rd_cuda_blocks *blocks)
{
    char          why[RD_CUDA_TEXT];
    rd_gpu *const gpu    = rd_gpu_of(s->p->device, why);
    const int64_t budget = gpu ? rd_windows_budget(rd_gpu_facts_of(gpu)) : 0;
    const int64_t least  = (split < 0 ? PIECES : BLOCKS) * (int64_t)s->p->devices;

    return rd_blocks_find(blocks, s, split, NULL, budget, least);
}

/* Is little copied twice, and nothing by small pieces? */
static bool is_worth(rd_cuda_blocks *b, int64_t bytes)
{
    const int64_t pieces = rd_blocks_pieces(b), n = BLOCKS * (int64_t)b->s->p->devices;

    rd_blocks_take(b, 0, pieces, (pieces + n - 1) / n);
    return rd_blocks_are_lean(b) &&
           (b->step >= pieces / n || pieces / b->step <= bytes / LEAST_BLOCK);
}

/* The most that all kernels have work for: ranges of which one may be held back. */
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

/* ---- Threads --------------------------------------------------------------------------------- */
/* After each block of a share. */
static bool tell_share(void *user, double part)
{
    share *const s = user;
    bool         goes_on;

    pthread_mutex_lock(&s->all->lock);
    s->part = part > s->part ? part : s->part;
    goes_on = !s->all->stop;
    pthread_cond_signal(&s->all->changed);
    pthread_mutex_unlock(&s->all->lock);
    return goes_on;
}

/* What was stopped because of another has not failed. */
static void end_share(share *s, bool done)
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

static void *run_share(void *user)
{
    share *const s = user;

    end_share(s, s->blocks.at >= s->blocks.end ||
                     rd_gpu_run_windows(&s->run, s->all->name, &s->blocks));
    return NULL;
}

/* The calling thread tells, until all have ended. */
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

/* Of no signal's concern.  Without another thread it is done by this one. */
static bool start(share *s, pthread_t *thread)
{
    sigset_t all, before;
    bool     started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(thread, NULL, run_share, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* All shares' blocks of a kernel. */
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
/* Where the k-th of n shares begins. */
static int64_t share_of(int64_t all, int32_t k, int32_t n)
{
    return all / n * k + all % n * k / n;
}

/* Pieces [first, end) of a kernel's. */
static rd_cuda_blocks part_of(const partitioned_run *all, int64_t first, int64_t end)
{
    rd_cuda_blocks part = all->blocks;

    rd_blocks_take(&part, first, end, (end - first + BLOCKS - 1) / BLOCKS);
    return part;
}

static bool partition_items(partitioned_run *all)
{
    int64_t pieces;

    (void)find_blocks(all->strategy, -1, &all->blocks);
    pieces = rd_blocks_pieces(&all->blocks);
    for (int32_t k = 0; k < all->n; k++)
        all->share[k].blocks =
            part_of(all, share_of(pieces, k, all->n), share_of(pieces, k + 1, all->n));
    return run_shares(all, "run");
}

/* Of a split loop's, of each of which some pieces are neighbours. */
static rd_cuda_blocks ranges_of(const partitioned_run *all, int64_t first, int64_t end)
{
    const int64_t each = rd_blocks_pieces(&all->blocks) / all->strategy->n_range;

    return part_of(all, first * each, end * each);
}

/* The ranges that were held back, by the first GPU, and nobody else works; `ends`: the last one is
 * the last of all. */
static bool run_held_ranges(partitioned_run *all, bool ends)
{
    share *const first = &all->share[0];

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

/* Do ranges of a split loop leave anything for each other? */
static bool leaves_partials(const rd_cuda_strategy *s, int32_t split)
{
    bool some = s->has_end && split == s->n_split - 1;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        some |= s->fold[k].split == split;
    return some;
}

static bool clear_all(partitioned_run *all)
{
    for (int32_t k = 0; k < all->n; k++)
        if (!rd_gpu_run_clear(&all->share[k].run)) {
            all->failed = &all->share[k].run;
            return false;
        }
    return true;
}

static bool move_partials(partitioned_run *all,
                          rd_gpu_run_state *(*move)(const rd_device_ranges *, int32_t))
{
    rd_device_ranges by[RD_MOST_SHARES];

    for (int32_t k = 0; k < all->n; k++)
        by[k] = (rd_device_ranges){ &all->share[k].run, all->share[k].first, all->share[k].end };
    all->failed = move(by, all->n);
    return !all->failed;
}

/* Shares are the same ranges of all split loops. */
static void take_ranges(partitioned_run *all, int32_t split)
{
    (void)find_blocks(all->strategy, split, &all->blocks);
    all->blocks.ends = false;
    for (int32_t k = 0; k < all->n; k++) {
        share *const  s    = &all->share[k];
        const int64_t held = k + 1 < all->n;

        s->first  = share_of(all->strategy->n_range, k, all->n);
        s->end    = share_of(all->strategy->n_range, k + 1, all->n) - held;
        s->blocks = ranges_of(all, s->first, s->end);
    }
}

static bool partition_ranges(partitioned_run *all, int32_t split)
{
    const bool some = leaves_partials(all->strategy, split),
               last = split == all->strategy->n_split - 1;
    char name[24];

    snprintf(name, sizeof name, "ranges%" PRId32, split);
    take_ranges(all, split);
    return clear_all(all) && run_shares(all, name) &&
           (!some || move_partials(all, rd_partials_gather)) && run_held_ranges(all, last) &&
           (!some || last || move_partials(all, rd_partials_broadcast));
}

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
static bool begin_share(share *s, const rd_gpu_code *code, rd_queue *queue)
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

/* What kernels of all have found, the first one's failure before others'. */
static void add_report(rd_task *to, const rd_task *own)
{
    const uint32_t warnings = to->warnings | own->warnings;

    if (to->status == RD_OK)
        *to = *own;
    to->warnings = warnings;
}

/* All is given back; of a stage that has failed what the driver still says is not asked. */
static bool end_all(partitioned_run *all, rd_task *report, rd_device_end *end,
                    char why[RD_CUDA_TEXT])
{
    bool done = !all->failed && !all->cancelled;

    assert(all->share);
    *end = all->cancelled ? RD_DEVICE_CANCELLED : RD_DEVICE_FAILED;
    for (int32_t k = 0; k < all->n; k++) {
        share *const  s   = &all->share[k];
        rd_task       own = { 0 };
        rd_device_end its;
        char          its_why[RD_CUDA_TEXT];

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

static bool run_partitioned(partitioned_run *all, const rd_gpu_code *code, rd_queue *const *queue,
                            rd_task *report, rd_device_end *end, char why[RD_CUDA_TEXT])
{
    if (begin(all, code, queue))
        (void)partition_kernels(all);
    return end_all(all, report, end, why);
}

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

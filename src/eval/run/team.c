/* team.c - how many threads share a stage's work.
 *
 * A team are the threads that share a stage's work.  A share is what one thread may do alone. */
#include "eval/run/team.h"
#include "core/threads.h"
#include "kernels/program.h"
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static bool shares_all;

/* For tests: sets whether a team shares small work, too, wherever several threads are asked for. */
void rd_team_share_all(bool share)
{
    shares_all = share;
}

/* For tests: true if a team shares small work, too. */
bool rd_team_shares_all(void)
{
    return shares_all;
}

#ifdef _OPENMP
/* The number of threads that the evaluation asks for, else the context, else OpenMP. */
static int wanted_threads(const rd_ctx *ctx, int asked)
{
    const int threads = asked ? asked : rd_ctx_threads(ctx);

    return threads ? threads : omp_get_max_threads();
}

/* The number of threads that would be useful if starting them cost nothing: 1 for little work, at
 * most one for each share (what one thread may do alone). asked: threads of the evaluation, 0: the
 * context's setting. */
static int useful_threads(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    int threads;

    /* Inside a caller's own parallel region all threads are busy. */
    if ((!(asked && shares_all) && work < RD_SMALL_WORK) || shares <= 1 || omp_in_parallel())
        return 1;
    threads = wanted_threads(ctx, asked);
    threads = threads < rd_threads_allowed() ? threads : rd_threads_allowed();
    return threads < shares ? threads : (int)shares;
}

/* The number of threads for `work` operations in so many shares (what one may do alone), of those
 * that the system lets start.  asked: 0: the context's setting. */
int rd_thread_count(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    return rd_threads_startable(useful_threads(ctx, asked, work, shares));
}

/* The number of threads for a run that begins now: one until several are due, because starting
 * threads costs time, and one fewer while a compiler is at work.  asked: 0: the context's.  Tests
 * that share all work (shares_all) skip both rules. */
int rd_thread_count_now(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    int threads = useful_threads(ctx, asked, work, shares);

    if (!(asked && shares_all)) {
        threads = rd_threads_left(threads);
        if (threads > 1 && !rd_threads_are_due(threads, work))
            return 1;
    }
    return rd_threads_startable(threads);
}

/* Says in words why there are fewer threads than were asked for: a fork, a limit, or a system that
 * starts no more.  NULL: there are not fewer. */
const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room)
{
    const int        threads = wanted_threads(ctx, asked), most = rd_threads_allowed();
    const rd_threads seen = rd_threads_seen();

    if (seen.alone && threads > 1)
        snprintf(text, room,
                 "1 of %d: this process is a fork of one that may have had threads, which are not "
                 "here; threads that it starts itself may have more",
                 threads);
    else if (threads > most)
        snprintf(text, room, "%d of %d: the most %s", most, threads,
                 most < RD_MOST_THREADS ? "that OMP_THREAD_LIMIT allows" : "of this release");
    else if (seen.few && seen.started < threads)
        snprintf(text, room, "%d of %d: the system starts no more", seen.started, threads);
    else
        return NULL;
    return text;
}
#else
/* Without OpenMP one thread does all work. */
int rd_thread_count(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    (void)ctx;
    (void)asked;
    (void)work;
    (void)shares;
    return 1;
}

/* Without OpenMP one thread does all work. */
int rd_thread_count_now(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    return rd_thread_count(ctx, asked, work, shares);
}

/* Without OpenMP there is nothing to say. */
const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room)
{
    (void)ctx;
    (void)asked;
    (void)text;
    (void)room;
    return NULL;
}
#endif

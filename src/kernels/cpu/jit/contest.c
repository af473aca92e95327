/* contest.c - whether compiled loops or tiles were faster, by the times of real runs.
 *
 * Each side's least time for an operation counts. Runs count only if they have about the work of
 * the first one and as many threads. */
#include "kernels/cpu/jit/contest.h"

/* Runs of each side before anything follows: the first one meets cold memory. */
enum { RUNS = 2 };
/* Loops have lost if they take so many times as long; less is noise on a shared machine. */
static const double CLEARLY = 1.25;
/* Work differs by no more than this factor. */
static const double ALIKE = 2;

static _Atomic(double) slower = 1; /* by tests: factor on times of compiled loops */

/* For tests: a run of compiled loops counts as if it took so many times as long. */
void rd_contest_slow_down(double times)
{
    atomic_store(&slower, times);
}

/* True if the work of a run (operations) differs from that of the first run by no more than a
 * factor of 2, as larger runs read from slower memory. first 0: there was no first run. */
static bool is_alike(double first, double work)
{
    return first > 0 && work <= ALIKE * first && first <= ALIKE * work;
}

/* If there was no run yet, notes the work and threads of this one: only runs like it are
 * compared. */
static void begin(rd_contest *c, double work, int threads)
{
    double none = 0;

    if (atomic_load_explicit(&c->work, memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&c->work, &none, work))
        atomic_store(&c->threads, threads);
}

/* Counts a run by loops or by tiles, if it is like the first one.  Of each side the least time of
 * an operation counts (0: none yet).  `work` is operations; `slower` is a factor that tests set. */
void rd_contest_add_run(rd_contest *c, rd_contestant by, double work, int threads, double seconds)
{
    const double each = seconds * 1e9 / work * (by == RD_BY_LOOPS ? atomic_load(&slower) : 1);
    double       least;

    begin(c, work, threads);
    if (!is_alike(atomic_load(&c->work), work) || atomic_load(&c->threads) != threads)
        return;
    least = atomic_load(&c->least[by]);
    if (least == 0 || each < least)
        atomic_store(&c->least[by], each);
    atomic_fetch_add(&c->runs[by], 1);
}

/* Returns how many times as long compiled loops take as tiles; 0 if they are not slower by 1.25,
 * which is more than noise, or if either side has fewer than 2 runs. */
double rd_contest_slowdown(const rd_contest *c, double work)
{
    double tiles, loops;

    if (atomic_load_explicit(&c->runs[RD_BY_LOOPS], memory_order_relaxed) < RUNS ||
        atomic_load_explicit(&c->runs[RD_BY_TILES], memory_order_relaxed) < RUNS ||
        !is_alike(atomic_load_explicit(&c->work, memory_order_relaxed), work))
        return 0;
    tiles = atomic_load_explicit(&c->least[RD_BY_TILES], memory_order_relaxed);
    loops = atomic_load_explicit(&c->least[RD_BY_LOOPS], memory_order_relaxed);
    return tiles > 0 && loops > CLEARLY * tiles ? loops / tiles : 0;
}

/* Returns the state of a contest, for the store that keeps it for other processes: the work of the
 * first run, and the least time of each side. */
rd_contest_record rd_contest_record_of(const rd_contest *c)
{
    return (rd_contest_record){ .work  = atomic_load(&c->work),
                                .least = { atomic_load(&c->least[RD_BY_TILES]),
                                           atomic_load(&c->least[RD_BY_LOOPS]) } };
}

/* Takes over what another process measured, if it is plausible.  The thread count stays 0, which no
 * run has, so what this process measures does not mix with it. */
void rd_contest_begin_with(rd_contest *c, const rd_contest_record *found)
{
    if (!(found->work > 0 && found->least[RD_BY_TILES] > 0 && found->least[RD_BY_LOOPS] > 0))
        return;
    atomic_store(&c->work, found->work);
    for (int by = 0; by < RD_CONTESTANTS; by++) {
        atomic_store(&c->least[by], found->least[by]);
        atomic_store(&c->runs[by], RUNS);
    }
}

/* clock.c - the protocol of timing.
 *
 * Two actions run in turn, a, b, a, b, ..., so that a change of the machine's speed meets both;
 * what counts is the median of the quotients of neighbours.  Short actions are repeated inside a
 * timing of at least 4 ms. */
#include "bench.h"
#include <stdlib.h>
#include <time.h>

enum { MOST_REPS = 1001 };

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(bench_action a, int64_t times)
{
    const double start = bench_now();

    for (int64_t k = 0; k < times; k++)
        a.run(a.self);
    return (bench_now() - start) / (double)times;
}

static int64_t repeats(double seconds)
{
    return seconds < 2e-3 ? (int64_t)(4e-3 / (seconds > 1e-10 ? seconds : 1e-10)) + 1 : 1;
}

/* Warms up; *times is how often the action runs in one timing.  The first run meets cold caches, so
 * a short action is timed again before the count is fixed. */
static double warm_up(bench_action a, int64_t *times)
{
    double seconds = seconds_of(a, 1);

    if (seconds < 0.5)
        seconds = seconds_of(a, 1);
    *times = repeats(seconds);
    if (*times > 1) {
        seconds = seconds_of(a, *times);
        *times  = repeats(seconds);
    }
    return seconds;
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* 0: so long that the warm-up is the timing. */
static int reps_for(double seconds, int asked)
{
    if (asked > 0)
        return asked < MOST_REPS ? asked : MOST_REPS;
    return seconds > 4 ? 0 : seconds > 1 ? 3 : seconds > 0.25 ? 7 : 11;
}

bench_times bench_time_pair(bench_action a, bench_action b, int reps)
{
    static double ta[MOST_REPS], ratios[MOST_REPS];
    int64_t       times_a, times_b = 0;
    const double  warm_a = warm_up(a, &times_a), warm_b = b.run ? warm_up(b, &times_b) : 1;
    bench_times   t = { .reps = reps_for(warm_a + warm_b * (b.run != NULL), reps) };

    ta[0]     = warm_a;
    ratios[0] = warm_a / warm_b;
    for (int k = 0; k < t.reps; k++) {
        ta[k]     = seconds_of(a, times_a);
        ratios[k] = b.run ? ta[k] / seconds_of(b, times_b) : 0;
    }
    t.reps  = t.reps ? t.reps : 1;
    t.ratio = median(ratios, t.reps);
    t.a     = median(ta, t.reps);
    t.b     = b.run ? t.a / t.ratio : 0;
    t.least = ta[0];
    return t;
}

double bench_least_seconds(bench_action a, int reps)
{
    return bench_time_pair(a, (bench_action){ 0 }, reps).least;
}

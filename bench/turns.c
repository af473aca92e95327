/* turns.c - answers who times two processes in turn. */
#include "turns.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A timing takes so long at least.  Before it, the work runs for a part of that: the other process has
 * had the caches. */
static const double LEAST_SECONDS = 2e-3, WARM_SHARE = 0.25;

/* The processor's time of all threads: where other programs run, the clock counts these, too.  Of one
 * thread on a machine at rest both are the same. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(void (*run)(void *), void *self, int64_t times)
{
    const double begun = now();

    for (int64_t k = 0; k < times; k++)
        run(self);
    return (now() - begun) / (double)times;
}

/* How often the work fits into a timing.  The first runs meet cold caches, so the count is estimated
 * until it grows no more. */
static int64_t repeats(void (*run)(void *), void *self)
{
    int64_t times = 1, next = 1;

    do {
        times              = next;
        const double taken = seconds_of(run, self, times);

        next = taken * (double)times < LEAST_SECONDS / 2 ? (int64_t)(LEAST_SECONDS / taken) + 1
                                                         : times;
        next = next > 16 * times ? 16 * times : next;
    } while (next > times);
    return times;
}

void bench_turns(const char *name, void (*run)(void *self), void *self)
{
    const int64_t times = repeats(run, self), warm = (int64_t)(WARM_SHARE * (double)times);
    int           command;

    printf("%s\n", name);
    fflush(stdout);
    while ((command = getchar()) != 'n') {
        if (command == EOF)
            exit(0);
        if (command != 't')
            continue;
        if (warm > 0)
            seconds_of(run, self, warm);
        printf("%.9g\n", seconds_of(run, self, times));
        fflush(stdout);
    }
}

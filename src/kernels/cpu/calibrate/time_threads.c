/* time_threads.c - measures several threads at once. */
#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"
#include "kernels/cpu/calibrate/meter.h"
#include <math.h>
#include <time.h>

/* Measures the bytes a nanosecond that all threads together read from memory, each its own part. */
static void measure_all(rd_meter *m, int threads)
{
    const long bytes = (RD_METER_LARGE / threads) & ~4095L; /* whole pages */
    double     least = INFINITY;

    for (int k = 0; k < 3; k++) {
        const double begun = rd_seconds();

#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; t++) {
            double y[64];

            m->loop[RD_MICRO_READ_ALL](bytes / 8, /*times=*/1, m->memory + t * bytes, y,
                                       /*z=*/NULL);
        }
        least = fmin(least, rd_seconds() - begun);
    }
    rd_meter_set(m, RD_SPEED_memory_all, (double)bytes * threads / (1e9 * least));
}

/* Returns the nanoseconds of a parallel region in which nothing is done. */
static double ns_of_region(int threads)
{
    const double begun = rd_seconds();

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++)
        __asm__ volatile("" ::: "memory"); /* keeps the loop, which does nothing */
    return 1e9 * (rd_seconds() - begun);
}

/* Measures the start of a parallel region: right after another one, and after a pause in which the
 * threads have gone to sleep. */
static void measure_regions(rd_meter *m, int threads)
{
    enum { AWAKE = 200, ASLEEP = 5 };
    const struct timespec pause = { 0, 20000000 }; /* 20 ms */
    double                awake = INFINITY, asleep = INFINITY;

    for (int k = 0; k < AWAKE; k++)
        awake = fmin(awake, ns_of_region(threads));
    for (int k = 0; k < ASLEEP; k++) {
        nanosleep(&pause, NULL);
        asleep = fmin(asleep, ns_of_region(threads));
    }
    rd_meter_set(m, RD_SPEED_team_awake, awake);
    rd_meter_set(m, RD_SPEED_team_asleep, asleep);
}

/* Measures the memory bandwidth of all threads, and the start of a parallel region. */
void rd_meter_threads(rd_meter *m, int threads)
{
    measure_all(m, threads);
    measure_regions(m, threads);
}

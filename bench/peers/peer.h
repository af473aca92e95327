/* peer.h - what the peers in C and C++ share: numbers, protocol and lines of rdim-bench.  Arguments of
 * each program: directory of examples/data, number of threads, scale. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "../patterns.h"
#ifdef __cplusplus
}
#endif

static const struct {
    const char        *name;
    bench_pattern_kind kind;
} peer_patterns[] = { { "rmat", PATTERN_RMAT },
                      { "laplace", PATTERN_LAPLACE },
                      { "depends", PATTERN_DEPENDS } };
enum { PEER_PATTERNS = 3, PEER_REPS = 11 };

/* As rdim-bench's input `which`. */
static inline double peer_number(int which, int64_t i)
{
    uint32_t h = (0x10000000U * (uint32_t)which + (uint32_t)i) * 0x9E3779B1U;

    h = (h ^ h >> 15) * 0x85EBCA6BU;
    h = (h ^ h >> 13) * 0xC2B2AE35U;
    return ((h ^ h >> 16) >> 8) / 16777216.0;
}

static inline double peer_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int peer_by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double peer_seconds(void (*run)(void *), void *self, int times)
{
    const double start = peer_now();

    for (int k = 0; k < times; k++)
        run(self);
    return (peer_now() - start) / times;
}

/* The median of 11 after a warm-up; runs under 2 ms are repeated inside a timing of 4 ms. */
static inline void peer_case(const char *peer, const char *what, const char *pattern,
                             const char *type, int threads, void (*run)(void *), void *self)
{
    double    seconds[PEER_REPS];
    double    once  = peer_seconds(run, self, 2);
    const int times = once < 2e-3 ? (int)(4e-3 / (once > 1e-9 ? once : 1e-9)) + 1 : 1;
    const int reps  = once > 1 ? 3 : once > 0.25 ? 7 : PEER_REPS;

    for (int k = 0; k < reps; k++)
        seconds[k] = peer_seconds(run, self, times);
    qsort(seconds, (size_t)reps, sizeof *seconds, peer_by_size);
    printf("{\"peer\": \"%s\", \"row\": \"W13\", \"case\": \"%s.%s\", \"dtype\": \"%s\", "
           "\"threads\": %d, \"seconds\": %.6g, \"reps\": %d}\n",
           peer, what, pattern, type, threads, seconds[reps / 2], reps);
    fflush(stdout);
}
#endif

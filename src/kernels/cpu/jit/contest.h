/* contest.h - compares compiled loops with the tiles that they replace, by measured runs. Loops
 * that turn out slower than tiles are not run again. */
#ifndef RD_KERNELS_CPU_JIT_CONTEST_H
#define RD_KERNELS_CPU_JIT_CONTEST_H
#include <stdatomic.h>
#include <stdbool.h>

typedef enum rd_contestant { RD_BY_TILES, RD_BY_LOOPS, RD_CONTESTANTS } rd_contestant;

/* Times of one piece of compiled code, and of tiles in its place. Only runs with about the work
 * of the first one, by as many threads, are compared: larger ones read from slower memory. There
 * are no locks: of two threads at a time one may lose a run. */
typedef struct rd_contest {
    _Atomic(double) work;                  /* operations of the first run; 0: there was none */
    atomic_int      threads;               /* of the first run                               */
    _Atomic(double) least[RD_CONTESTANTS]; /* nanoseconds of an operation; 0: no run         */
    atomic_int      runs[RD_CONTESTANTS];
} rd_contest;

/* The times that another process measured for the same code, as bytes of a file of the store. */
typedef struct rd_contest_record {
    double work, least[RD_CONTESTANTS];
} rd_contest_record;

/* Counts a run that took so many seconds. */
void rd_contest_add_run(rd_contest *c, rd_contestant by, double work, int threads, double seconds);
/* Returns how many times as long as tiles compiled loops take in a run of so much work, if they
 * are slower for certain; else 0. */
double rd_contest_slowdown(const rd_contest *c, double work);
/* Returns what other processes should know, once loops have lost. */
rd_contest_record rd_contest_record_of(const rd_contest *c);
/* Begins with what another process found, unless it is not plausible. */
void rd_contest_begin_with(rd_contest *c, const rd_contest_record *found);
/* For tests: a run of loops counts as if it took so many times as long. */
void rd_contest_slow_down(double times);
#endif

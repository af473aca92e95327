/* What run.c sets up and race.c times. */
#ifndef CONTEST_H
#define CONTEST_H
#include "sweep.h"

enum { MOST_CONTENDERS = 2 * MOST_VARIANTS + 2 };

/* The library's plan, some loops, or NumPy. */
typedef struct contender {
    const rd_plan *plan;
    loops_fn      *run;
    worker        *numpy;
    int            threads, variant;
    int64_t        times; /* in one sample */
    double         least;
} contender;

typedef struct contest {
    program  *p;
    rd_ctx   *ctx;
    rd_plan  *plan;
    rd_expr  *root[MOST_ROOTS];
    rd_array  out[MOST_ROOTS];
    void     *want[MOST_ROOTS], *arrays[MOST_LEAVES + MOST_ROOTS + 1], *temporary;
    contender at[MOST_CONTENDERS];
    int       n;
} contest;

void sweep_race(contest *c, const loop_set *l, int threads, worker *numpy, double seconds,
                result *r);
#endif

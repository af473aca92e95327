/* race.c - the contenders in turn: a warm-up each, then rounds; the least time of each counts. */
#include "contest.h"
#include <math.h>
#include <time.h>

double sweep_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double sample(contest *c, const contender *x, int64_t times)
{
    const double start = sweep_now();

    if (x->numpy)
        return sweep_worker_time(x->numpy, (int)times);
    for (int64_t k = 0; k < times; k++)
        if (x->plan)
            rd_plan_run(x->plan, NULL, NULL);
        else
            x->run(c->arrays, x->threads);
    return (sweep_now() - start) / (double)times;
}

static void enter(contest *c, contender x)
{
    static const double least = 2.5e-4; /* seconds in a sample */

    x.times = 1;
    x.least = sample(c, &x, 1);
    if (x.least < 0.05)
        x.least = fmin(x.least, sample(c, &x, 1));
    if (x.least < least) {
        x.times = (int64_t)(least / fmax(x.least, 1e-8)) + 1;
        x.least = sample(c, &x, x.times);
        x.times = (int64_t)(least / fmax(x.least, 1e-9)) + 1;
    }
    if (isfinite(x.least))
        c->at[c->n++] = x;
}

static void enter_all(contest *c, const loop_set *l, int threads, worker *numpy)
{
    enter(c, (contender){ .plan = c->plan, .variant = -1 });
    for (int v = 0; v < l->n_variants; v++) {
        if (l->broken[v])
            continue;
        enter(c, (contender){ .run = l->run[v], .threads = 1, .variant = v });
        if (threads > 1)
            enter(c, (contender){ .run = l->run[v], .threads = threads, .variant = v });
    }
    if (numpy)
        enter(c, (contender){ .numpy = numpy, .variant = -1 });
}

/* Those that are twice as slow as the best of their kind are not in the race. */
static bool in_race(const contest *c, const contender *x)
{
    double best = INFINITY;

    for (int k = 0; k < c->n; k++)
        if (c->at[k].run)
            best = fmin(best, c->at[k].least);
    return !x->run || x->least < 1.5 * best;
}

static void race(contest *c, double seconds)
{
    const double end = sweep_now() + seconds;
    bool         in[MOST_CONTENDERS];
    double       one = 0;

    for (int k = 0; k < c->n; k++) {
        in[k] = in_race(c, &c->at[k]);
        one += in[k] ? c->at[k].least * (double)c->at[k].times : 0;
    }
    for (int round = 0; round < 40 && (round < 2 || sweep_now() + one < end); round++)
        for (int k = 0; k < c->n; k++) {
            contender *x = &c->at[k];

            if (!in[k] || (round > 0 && x->least * (double)x->times > seconds))
                continue;
            x->least = fmin(x->least, sample(c, x, x->times));
        }
}

static void tell(const contest *c, result *r)
{
    r->loops = r->numpy = NAN;
    for (int k = 0; k < MOST_VARIANTS; k++)
        r->variant[k] = NAN;
    for (int k = 0; k < c->n; k++) {
        const contender *x = &c->at[k];

        if (x->plan)
            r->seconds = x->least;
        else if (x->numpy)
            r->numpy = x->least;
        else {
            r->variant[x->variant] =
                fmin(x->least, r->variant[x->variant] > 0 ? r->variant[x->variant] : INFINITY);
            if (!(r->loops <= x->least)) {
                r->loops = x->least;
                r->best  = x->variant;
            }
        }
    }
    r->ratio = r->seconds / fmin(r->loops, r->numpy); /* fmin minds no NaN */
}

void sweep_race(contest *c, const loop_set *l, int threads, worker *numpy, double seconds,
                result *r)
{
    enter_all(c, l, threads, numpy);
    race(c, seconds);
    tell(c, r);
}

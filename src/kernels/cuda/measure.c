/* measure.c - finds the fastest numbers for a stage's kernels, by running them on its data
 * (autotuning).
 *
 * Hill climbing: one row of tuning.def after the other goes up from the best number so far as
 * long as that is faster, or else down.  Every run stores the same results, as no bit depends on
 * the numbers. The GPU measures time, between two events. */
#include "kernels/cuda/measure.h"
#include "core/clock.h"
#include "kernels/cuda/watch.h"
#include <math.h>
#include <stdio.h>

enum { MOST_ROUNDS = 5, MOST_TOGETHER = 8 };
static const double SPEND    = 0.02; /* seconds on a candidate, or one run            */
static const double ROUND    = 1e-3; /* seconds: shorter runs go several together     */
static const double MARGIN   = 0.97; /* of the best so far: less is noise             */
static const double TOO_LONG = 1.5;  /* times the best so far: one run says enough    */

/* A search: what is measured, and the best so far. */
typedef struct tuning_trial {
    const rd_program  *p; /* the program that is measured */
    rd_queue          *queue;
    void *const       *slot; /* the stage's data */
    rd_get_fn         *get;  /* memory for compiled candidates */
    void              *pool;
    rd_gpu_watch       watch;
    rd_tuning          best;    /* the fastest numbers so far */
    const rd_gpu_code *code;    /* kernels of the best */
    double             seconds; /* time of the best */
    bool               failed;  /* nothing more can be measured */
    char              *why;     /* the reason of a failure */
} tuning_trial;

/* ---- Time ------------------------------------------------------------------------------------ */
/* Times a candidate (kernels with some tuning parameters) by the GPU's events, over n runs in a
 * row. Returns seconds for each run; infinity: a run failed. t->failed: the timer itself failed,
 * so nothing more can be measured. */
static double time_together(tuning_trial *t, const rd_gpu_code *code, int n)
{
    bool                 full, runs = true, timed;
    double               seconds = 0;
    rd_task              ignored = { 0 };
    rd_device_end        end;
    rd_submission *const s = rd_submission_new(t->queue, &full, t->why);

    t->failed = !s;
    if (!s)
        return INFINITY;
    timed = rd_gpu_watch_start(&t->watch, t->why);
    for (int k = 0; timed && runs && k < n; k++)
        runs = rd_gpu_run(code, s, t->slot, /*host=*/NULL, &end, t->why);
    timed = timed && rd_gpu_watch_stop(&t->watch, t->why);
    timed = rd_submission_end(s, &ignored, t->why) && timed &&
            rd_gpu_watch_read(&t->watch, &seconds, t->why);
    t->failed = !timed;
    return timed && runs ? seconds / n : INFINITY;
}

/* Returns the least time of a candidate, of several measurements. The first run is not counted,
 * as it loads the kernels. If the second one takes TOO_LONG times the best candidate's time,
 * that says enough. Runs shorter than ROUND are timed several together, as a single one would be
 * noise. */
static double time_of(tuning_trial *t, const rd_gpu_code *code)
{
    const double begun = rd_seconds();
    double       least = time_together(t, code, /*n=*/1);

    if (isfinite(least))
        least = time_together(t, code, /*n=*/1);
    if (!isfinite(least) || least > t->seconds * TOO_LONG)
        return least;
    const int together = least * MOST_TOGETHER < ROUND ? MOST_TOGETHER : (int)(ROUND / least) + 1;

    for (int k = 0; k < MOST_ROUNDS && !t->failed && rd_seconds() - begun < SPEND; k++)
        least = fmin(least, time_together(t, code, together));
    return least;
}

/* ---- Candidates ------------------------------------------------------------------------------ */
/* Compiles the program with a candidate's parameters.  NULL: no kernels, or no memory. */
static const rd_gpu_code *code_of(tuning_trial *t, const rd_tuning *tuning)
{
    rd_program        *p    = t->get(t->pool, sizeof *p);
    const rd_gpu_code *code = NULL;

    if (!p)
        return NULL;
    *p        = *t->p;
    p->tuning = *tuning;
    (void)rd_gpu_prepare(p, p->device, t->get, t->pool, &code, t->why);
    return code;
}

/* Measures a candidate. If it is faster than the best so far by more than noise (MARGIN), it
 * becomes the best, and the answer is true. Parameters that lead to the same kernels as the best
 * are not measured again. */
static bool attempt(tuning_trial *t, const rd_tuning *tuning)
{
    const rd_gpu_code *const code = code_of(t, tuning);

    if (!code || (t->code && rd_gpu_code_same(code, t->code)))
        return false;
    const double seconds = time_of(t, code);

    if (t->failed || !(seconds < t->seconds * MARGIN))
        return false;
    t->best    = *tuning;
    t->code    = code;
    t->seconds = seconds;
    return true;
}

/* Hill climbing along one parameter: steps from value number `at` in one direction (`step` 1 or
 * -1) as long as each step is faster. True if any step was. */
static bool climb(tuning_trial *t, rd_cuda_tuned row, int32_t at, int32_t step)
{
    const int16_t *values;
    const int32_t  n     = rd_cuda_tuned_values(row, &values);
    bool           gains = false;

    for (at += step; at >= 0 && at < n && !t->failed; at += step) {
        rd_tuning next = t->best;

        next.at[row] = values[at];
        if (!attempt(t, &next))
            break;
        gains = true;
    }
    return gains;
}

/* Searches the best value of one parameter (a row of tuning.def), from the best candidate's
 * value on: larger values first, and smaller ones if those do not help. */
static void try_row(tuning_trial *t, rd_cuda_tuned row)
{
    rd_cuda_choice now = *rd_gpu_code_choice(t->code);
    const int16_t *values;
    const int32_t  n  = rd_cuda_tuned_values(row, &values);
    int32_t        at = 0;

    while (at < n - 1 && values[at] != *rd_cuda_tuned_field(&now, row))
        at++;
    if (!climb(t, row, at, /*step=*/1))
        (void)climb(t, row, at, /*step=*/-1);
}

/* Finds the fastest parameters of a program's kernels by hill climbing: first the rule's
 * parameters, then one parameter after the other. Those that the program's tuning asks for stay
 * (found->tuning has 0 there). False: nothing could be measured; `why` has the reason. */
bool rd_gpu_measure(const rd_program *p, rd_queue *queue, void *const *slot, rd_get_fn *get,
                    void *pool, rd_measured *found, char *why)
{
    tuning_trial t = { .p       = p,
                       .queue   = queue,
                       .slot    = slot,
                       .get     = get,
                       .pool    = pool,
                       .seconds = INFINITY,
                       .why     = why };

    if (!rd_gpu_watch_make(&t.watch, queue, why))
        return false;
    *found = (rd_measured){ 0 };
    if (attempt(&t, &p->tuning)) {
        found->by_rule = t.seconds;
        for (rd_cuda_tuned row = 0; row < RD_N_TUNED && !t.failed; row++)
            if (!p->tuning.at[row])
                try_row(&t, row);
    }
    rd_gpu_watch_drop(&t.watch);
    found->seconds = t.seconds;
    for (rd_cuda_tuned row = 0; row < RD_N_TUNED; row++)
        found->tuning.at[row] = p->tuning.at[row] ? 0 : t.best.at[row];
    return !t.failed && t.code;
}

/* measure.c - auto-tuning: times candidates one after the other.  First the traversal, then
 * panel widths, tile sizes, and one thread.  Each is compared with the best so far, which keeps
 * all other choices.
 *
 * A candidate is a plan by one choice of traversal, panel width, tile size and threads. */
#include "eval/cache/measure.h"
#include "core/clock.h"
#include "eval/run/watch.h"
#include <math.h>
#include <string.h>

enum { MOST_RUNS = 10 };             /* of a candidate */
static const double SPEND    = 0.02; /* seconds for a candidate, or one run */
static const double MARGIN   = 0.97; /* factor on the best time; smaller gains are noise */
static const double TOO_LONG = 4;    /* factor on the best time, at which a run is stopped */
static const double FEW      = 2e-3; /* seconds; less may be too little work for several threads */

/* The state of measuring: the evaluation, memory for its results, and the best choice so far. */
typedef struct trial {
    rd_ctx             *ctx;
    const rd_key       *key;
    const void *const  *address; /* of leaves */
    rd_results          results;
    const rd_eval_opts *opts;
    void              **out, **memory; /* by result: address, and allocated memory */
    rd_found            best;
    /* of the best: it has panels; it runs on several threads */
    bool      panels, several;
    rd_status status; /* of the last run */
} trial;

/* ---- Memory for results ---------------------------------------------------------------------- */
/* Allocates memory for the results by the layouts of a plan, aligned to cache lines of 64 bytes.
 * False: no memory. o->lo is negative if a result has elements before its base address. */
static bool get_memory(trial *t, const rd_plan *plan)
{
    for (int k = 0; k < t->results.n; k++) {
        const rd_output *o    = &plan->out[k];
        const int64_t    size = rd_dtype_size(o->type);
        char            *at   = rd_alloc_quiet(t->ctx, (o->hi - o->lo) * size + 64);

        t->memory[k] = at;
        if (!at)
            return false;
        at += -(uintptr_t)at & 63; /* up to the next multiple of 64 */
        t->out[k] = at - o->lo * size;
    }
    return true;
}

/* Frees the memory for results. */
static void free_memory(trial *t)
{
    for (int k = 0; k < t->results.n; k++)
        rd_free(t->ctx, t->memory[k]);
}

/* ---- One candidate --------------------------------------------------------------------------- */
/* True if some loop of the plan is a tile loop (a panel: a range of an axis that fits a cache), so
 * that panel widths are worth trying. */
static bool has_panels(const rd_plan *plan)
{
    for (int s = 0; s < plan->n_stage; s++)
        for (int k = 0; k < plan->program[s].n_loop; k++)
            if (plan->program[s].loop[k].kind == RD_LOOP_TILE)
                return true;
    return false;
}

/* The least time of several runs, which take 20 ms together, or of one longer run. A run is
 * cancelled after TOO_LONG times the best time so far. Infinite if it was, or the plan fails. A
 * cancel by the time limit records no error, unlike the user's. At first the best time is
 * infinite, so nothing is cancelled. The first run alone is enough if it takes 20 ms. */
static double time_of(trial *t, const rd_plan *plan, rd_run_stats *stats)
{
    const double begun = rd_seconds(), limit = t->best.seconds * TOO_LONG;
    double       least = INFINITY;

    for (int k = 0; k < MOST_RUNS && (k < 1 || rd_seconds() - begun < SPEND); k++) {
        const double      start    = rd_seconds();
        const rd_progress progress = { .until = start + limit };

        t->status = rd_plan_execute(plan, t->address, t->out, &progress, stats);
        if (t->status == RD_ERR_CANCELLED && rd_error(t->ctx) == RD_OK)
            t->status = RD_OK;
        else if (t->status == RD_OK && rd_seconds() - start < least)
            least = rd_seconds() - start;
        if (t->status != RD_OK || !isfinite(least) || least > limit)
            return INFINITY;
    }
    return least;
}

/* Times one choice, and keeps it if it is the best by a margin. False: the evaluation fails, or
 * there is no memory. t->panels and t->several say of the best plan whether it has tile loops,
 * and runs on several threads. */
static bool try_choice(trial *t, rd_choice choice)
{
    rd_run_stats stats = { 0 };
    rd_plan     *plan  = rd_key_plan(t->key, t->results, t->opts, &choice);

    if (!plan) {
        t->status = rd_error(t->ctx);
        return false;
    }
    /* all candidates share it */
    t->status = t->memory[0] || get_memory(t, plan) ? RD_OK : RD_ERR_MEMORY;
    if (t->status == RD_OK) {
        const double seconds = time_of(t, plan, &stats);

        if (seconds < t->best.seconds * MARGIN) {
            t->best.choice  = choice;
            t->best.seconds = seconds;
            t->panels       = has_panels(plan);
            t->several      = stats.tasks > 1;
        }
    }
    rd_plan_drop(plan);
    return t->status == RD_OK;
}

/* ---- All candidates -------------------------------------------------------------------------- */
/* Times candidates, each with one change to the best so far: the choice by cost, both
 * traversals, panels of 1/4 and 4 times the width, tiles of half and double size, one thread.
 * `shift` is the log2 of the factor on a width or size. t->best is the fastest so far;
 * try_choice() times one and updates it, and `ok` false ends the trials. Traversals are tried
 * only if the caller left the choice (RD_TRAVERSE_AUTO), panels if the best plan has tile loops
 * (t->panels), and one thread if it runs on several (t->several) and takes less than FEW
 * seconds. */
static void try_all(trial *t)
{
    rd_choice choice = { .traversal = t->opts->traversal };
    bool      ok     = try_choice(t, choice);

    for (int k = RD_TRAVERSE_GREEDY;
         ok && t->opts->traversal == RD_TRAVERSE_AUTO && k <= RD_TRAVERSE_LAZY; k++) {
        choice.traversal = (rd_traversal)k;
        ok               = try_choice(t, choice);
    }
    for (int shift = -2; ok && t->panels && shift <= 2; shift += 4) {
        choice       = t->best.choice;
        choice.panel = (int8_t)shift;
        ok           = try_choice(t, choice);
    }
    for (int shift = -1; ok && shift <= 1; shift += 2) {
        choice      = t->best.choice;
        choice.tile = (int8_t)shift;
        ok          = try_choice(t, choice);
    }
    choice            = t->best.choice;
    choice.one_thread = true;
    if (ok && t->several && t->best.seconds < FEW)
        (void)try_choice(t, choice);
}

/* Finds the choice with the least time for an evaluation.  Results go to temporary memory.
 * RD_ERR_MEMORY: there is none for them; other failures are the evaluation's.  `memory` is the
 * second half of the array `out`. */
rd_status rd_measure(rd_ctx *ctx, const rd_key *key, const void *const *address, rd_results results,
                     const rd_eval_opts *opts, rd_found *found)
{
    trial t = { .ctx = ctx, .key = key, .address = address, .results = results, .opts = opts };

    t.best   = (rd_found){ .key     = key->hash,
                           .choice  = { .traversal = opts->traversal },
                           .seconds = INFINITY };
    t.out    = rd_alloc_quiet(ctx, 2 * results.n * (int64_t)sizeof *t.out);
    t.memory = t.out + results.n;
    if (!t.out)
        return RD_ERR_MEMORY;
    try_all(&t);
    free_memory(&t);
    rd_free(ctx, t.out);
    t.best.choice.measured = true;
    *found                 = t.best;
    return t.status;
}

/* grow.c - plans of little work grow.  A plan is brief at first: it runs on tiles and does without
 * the text of compiled loops, which takes longer to write than the rest of a plan to make.  Once its
 * runs have earned that text, programs that have it run in place of the first ones. */
#include "core/float_env.h"
#include "eval/run/frame.h"
#include <string.h>

/* ---- When ------------------------------------------------------------------------------------ */
enum { BRIEF_RUNS = 64 };

static double work_of(const rd_plan *plan)
{
    double work = 0;

    for (int s = 0; s < plan->n_stage; s++)
        work += plan->program[s].work;
    return work;
}

bool rd_brief_is_over(const rd_plan *plan, int64_t runs)
{
    return plan->brief && (runs >= BRIEF_RUNS || (double)runs * work_of(plan) >= RD_BRIEF_WORK);
}

/* ---- The plan with text ---------------------------------------------------------------------- */
static void *grown_memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* Runs of the brief one go on meanwhile, so nothing of it is written to.  What lowering has made is
 * read by both. */
static bool copy_programs(rd_plan *grown, const rd_plan *brief)
{
    grown->program = rd_pool_grow(grown->pool, brief->program, (size_t)brief->n_stage,
                                  (size_t)brief->n_stage + 1, sizeof *brief->program);
    grown->slot    = rd_pool_grow(grown->pool, brief->slot, (size_t)brief->n_slot,
                                  (size_t)brief->n_slot + 1, sizeof *brief->slot);
    return grown->program && grown->slot;
}

static bool prepare_again(rd_plan *grown)
{
    for (int s = 0; s < grown->n_stage; s++) {
        rd_program *p = &grown->program[s];

        if (!p->brief)
            continue;
        p->brief = false;
        if (!grown->backend->prepare(p, grown_memory, grown->pool))
            return false;
    }
    return rd_frame_measure(grown);
}

/* NULL without memory, which is no failure: the brief plan has the same results. */
static rd_plan *grow(const rd_plan *brief)
{
    rd_plan *grown = rd_alloc_quiet(brief->ctx, sizeof *grown);

    if (!grown)
        return NULL;
    grown->ctx         = brief->ctx;
    grown->call        = brief->call;
    grown->pool        = rd_pool_quiet(brief->ctx);
    grown->backend     = brief->backend;
    grown->devices     = brief->devices;
    grown->progress    = brief->progress;
    grown->traced      = brief->traced;
    grown->steps       = brief->steps;
    grown->threads     = brief->threads;
    grown->task_grains = brief->task_grains;
    grown->n_stage     = brief->n_stage;
    grown->n_slot      = brief->n_slot;
    grown->n_in        = brief->n_in;
    grown->n_out       = brief->n_out;
    grown->in_slot     = brief->in_slot;
    grown->out         = brief->out;
    grown->frames      = brief->frames; /* one frame for both: memory may be enough for no more */
    if (grown->pool && copy_programs(grown, brief) && prepare_again(grown))
        return grown;
    rd_plan_drop(grown);
    return NULL;
}

/* One of the threads that run the plan makes the grown one.  The others go on with the brief one
 * meanwhile. */
const rd_plan *rd_plan_grown(const rd_plan *plan)
{
    rd_plan *const own   = (rd_plan *)plan; /* runs count themselves */
    const rd_plan *grown = atomic_load_explicit(&own->grown, memory_order_acquire);
    int32_t        runs;

    if (grown)
        return grown;
    runs = atomic_load_explicit(&own->runs, memory_order_relaxed);
    if (!rd_brief_is_over(plan, runs)) {
        atomic_store_explicit(&own->runs, runs + 1, memory_order_relaxed);
        return plan;
    }
    if (!atomic_exchange(&own->growing, true)) {
        const rd_float_env env = rd_float_env_begin();

        atomic_store_explicit(&own->grown, grow(plan), memory_order_release);
        rd_float_env_end(env);
    }
    grown = atomic_load_explicit(&own->grown, memory_order_acquire);
    return grown ? grown : plan;
}

/* grow.c - replaces small plans by larger ones once they have run often.  A new plan is brief:
 * it runs on tiles, without compiled loops, because writing their text takes longer than making
 * the plan.  Once its runs justify that cost, the same programs with compiled loops run instead.
 *
 * Words. A slot is a buffer that a program reads or writes. The frame is the memory of one run. */
#include "core/float_env.h"
#include "eval/run/frame.h"
#include <string.h>

/* ---- End of the brief plan ------------------------------------------------------------------- */
/* Most runs of a brief plan, however little work they have. */
enum { BRIEF_RUNS = 64 };

/* Operations of one run of a plan. */
static double work_of(const rd_plan *plan)
{
    double work = 0;

    for (int s = 0; s < plan->n_stage; s++)
        work += plan->program[s].work;
    return work;
}

/* True if a brief plan (for first runs, without compiled loops) has had its runs: 64, or fewer
 * that did as many operations together as making the text of compiled loops takes. */
bool rd_brief_is_over(const rd_plan *plan, int64_t runs)
{
    return plan->brief && (runs >= BRIEF_RUNS || (double)runs * work_of(plan) >= RD_BRIEF_WORK);
}

/* ---- The plan with text ---------------------------------------------------------------------- */
/* Zeroed memory of a pool, in the form that the backend's prepare() asks for. */
static void *grown_memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* Copies the programs and slots for the new plan, because runs of the brief plan (without compiled
 * loops) go on meanwhile and read theirs. What lowering made is shared. False: no memory. */
static bool copy_programs(rd_plan *grown, const rd_plan *brief)
{
    grown->program = rd_pool_grow(grown->pool, brief->program, (size_t)brief->n_stage,
                                  (size_t)brief->n_stage + 1, sizeof *brief->program);
    grown->slot    = rd_pool_grow(grown->pool, brief->slot, (size_t)brief->n_slot,
                                  (size_t)brief->n_slot + 1, sizeof *brief->slot);
    return grown->program && grown->slot;
}

/* Prepares all brief programs again, now with compiled loops, and computes sizes of run memory
 * (frames); false: no memory. */
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

/* Makes the plan with compiled loops; what does not change is shared with the brief one. NULL
 * without memory, which is no failure, because the brief plan has the same results. The new plan
 * has its own pool, programs and slots. It ends with the brief one. */
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
    grown->frames      = brief->frames; /* shared, as there may not be memory for two */
    if (grown->pool && copy_programs(grown, brief) && prepare_again(grown))
        return grown;
    rd_plan_drop(grown);
    return NULL;
}

/* Returns the plan with compiled loops once the brief one has run often enough, else the plan
 * itself. One of the threads that run the plan makes it; the others use the brief plan
 * meanwhile. `growing` is set by the thread that makes it, and stays set if there was no memory,
 * so that it is tried once. */
const rd_plan *rd_plan_grown(const rd_plan *plan)
{
    rd_plan *const own   = (rd_plan *)plan; /* run counters may change in a const plan */
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

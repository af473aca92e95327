/* run.c - runs a plan: binds slots to memory, cuts each stage into tasks, joins what tasks reduced together.
 *
 * Tasks are contiguous shares of a stage's root axis that start at whole blocks of every combine tree, so their number
 * changes no bit. */
#include "eval/plan.h"
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>

/* Stages with less work than this many operations stay on one thread.  A parallel region costs about a microsecond, a
 * disturbed one several, and should not be a tenth of what it divides: about 20 microseconds at 10 operations each
 * nanosecond. */
static const double SMALL_WORK = 200e3;
#endif

/* Indices of a long root axis that tasks start at multiples of. */
enum { WHOLE = 64 };

typedef struct run {
    const rd_plan *plan;
    void         **slot;    /* n_slot addresses                                   */
    void         **scratch; /* per result: memory to copy from at the end, or NULL */
    void         **target;  /* per result: where it belongs                        */
    rd_run_stats   stats;
    rd_status      status;
} run;

/* ---- Threads -------------------------------------------------------------------------------------------------------- */
static int available_threads(const rd_plan *plan, double work)
{
    int threads = 1;

#ifdef _OPENMP
    int asked = plan->threads ? plan->threads : rd_ctx_threads(plan->ctx);

    /* Inside a caller's own parallel region its threads are busy already. */
    if (!omp_in_parallel() && (plan->threads || work >= SMALL_WORK))
        threads = asked ? asked : omp_get_max_threads();
#else
    (void)plan;
    (void)work;
#endif
    return threads > 1 ? threads : 1;
}

/* One task for each thread. */
static int64_t task_size(const rd_plan *plan, const rd_program *p, int64_t extent)
{
    int64_t grains = (extent + p->grain - 1) / p->grain, threads, share;

    if (p->root < 0 || p->serial || extent == 0)
        return extent ? extent : 1;
    threads = available_threads(plan, p->work);
    share   = plan->task_grains ? plan->task_grains : (grains + threads - 1) / threads;
    /* Whole vectors and cache lines, where that is no burden for the last task. */
    if (!plan->task_grains && share >= WHOLE * WHOLE)
        share = (share + WHOLE - 1) / WHOLE * WHOLE;
    return share * p->grain;
}

/* ---- One stage -------------------------------------------------------------------------------------------------------- */
typedef struct tasks {
    int32_t  n;
    rd_task *task;
    char    *memory; /* slots, state and scratch of all tasks, one run of cache lines each */
} tasks;

static int64_t lines(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static bool make_tasks(run *r, const rd_program *p, tasks *t)
{
    const rd_plan *plan   = r->plan;
    int64_t        extent = p->root >= 0 ? p->axis_extent[p->root] : 1, size = task_size(plan, p, extent);
    int64_t        slots = lines((int64_t)sizeof(void *) * (p->first_scratch + p->n_scratch));
    int64_t        state = lines(p->state_bytes), bytes = slots + state;

    for (int k = 0; k < p->n_scratch; k++)
        bytes += lines(p->scratch_bytes[k]);
    t->n      = (int32_t)((extent + size - 1) / size);
    t->n      = t->n ? t->n : 1;
    t->task   = rd_alloc_quiet(plan->ctx, (int64_t)sizeof *t->task * t->n);
    t->memory = rd_alloc_quiet(plan->ctx, bytes * t->n + 64);
    if (!t->task || !t->memory)
        return false;
    for (int k = 0; k < t->n; k++) {
        char *at = (char *)lines((int64_t)(intptr_t)t->memory) + k * bytes;

        t->task[k] = (rd_task){ .slot  = (void **)at,
                                .state = at + slots,
                                .lo    = k * size,
                                .hi    = (k + 1) * size < extent ? (k + 1) * size : extent };
        memcpy(at, r->slot, sizeof(void *) * (size_t)plan->n_slot);
        at += slots + state;
        for (int s = 0; s < p->n_scratch; s++, at += lines(p->scratch_bytes[s - 1]))
            ((void **)t->task[k].slot)[p->first_scratch + s] = at;
    }
    return true;
}

static void run_tasks(run *r, const rd_program *p, tasks *t)
{
    const rd_backend_table *b = r->plan->backend;

#ifdef _OPENMP
    int threads = r->plan->task_grains ? 1 : t->n;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
#endif
    for (int k = 0; k < t->n; k++) {
        b->head(p, &t->task[k]);
        if (t->task[k].status == RD_OK)
            b->body(p, &t->task[k]);
    }
}

static void finish_tasks(run *r, const rd_program *p, tasks *t)
{
    uint32_t warnings = 0;

    for (int k = 0; k < t->n; k++) {
        r->stats.loads += t->task[k].loads;
        warnings |= t->task[k].warnings;
        if (t->task[k].status != RD_OK && r->status == RD_OK)
            r->status = rd_fail_run(r->plan->ctx, t->task[k].status, t->task[k].sentence);
    }
    if (warnings)
        rd_warn(r->plan->ctx, warnings);
    if (r->status != RD_OK)
        return;
    for (int k = 1; k < t->n; k++)
        r->plan->backend->join(p, &t->task[0], &t->task[k]);
    r->plan->backend->tail(p, &t->task[0]);
    if (t->n > r->stats.tasks)
        r->stats.tasks = t->n;
}

static rd_status no_memory(const rd_plan *plan)
{
    return rd_fail_run(plan->ctx, RD_ERR_MEMORY, "rd_plan_run: no memory for what the plan keeps between its loops");
}

static void run_stage(run *r, const rd_program *p)
{
    tasks t = { 0 };

    if (make_tasks(r, p, &t)) {
        run_tasks(r, p, &t);
        finish_tasks(r, p, &t);
    } else
        r->status = no_memory(r->plan);
    rd_free(r->plan->ctx, t.memory);
    rd_free(r->plan->ctx, t.task);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------------ */
typedef struct span {
    const char *lo, *hi;
} span;

static span slot_span(const rd_slot *s, const void *base)
{
    int size = rd_dtype_size(s->type);

    return (span){ (const char *)base + s->lo * size, (const char *)base + s->hi * size };
}

static span output_span(const rd_output *o, const void *base)
{
    int size = rd_dtype_size(o->type);

    return (span){ (const char *)base + o->lo * size, (const char *)base + o->hi * size };
}

static bool meet(span a, span b)
{
    return a.lo < b.hi && b.lo < a.hi;
}

/* Must result k be written aside and copied?  Because it overlaps an input that is still read, or another result. */
static bool needs_scratch(const run *r, int k)
{
    const rd_plan   *plan = r->plan;
    const rd_output *o    = &plan->out[k];
    span             mine = output_span(o, r->target[k]);

    for (int s = 0; s < plan->n_slot; s++)
        if ((plan->slot[s].kind == RD_SLOT_LEAF || plan->slot[s].kind == RD_SLOT_INPUT) && r->slot[s] &&
            meet(mine, slot_span(&plan->slot[s], r->slot[s])) &&
            !rd_alias_safe(plan, o->slot, r->target[k], s, r->slot[s]))
            return true;
    for (int other = 0; other < plan->n_out; other++)
        if (other != k && plan->out[other].slot >= 0 && meet(mine, output_span(&plan->out[other], r->target[other])))
            return true;
    return false;
}

/* The address that a run got for its input or result k: is it one, and aligned? */
static rd_status check_address(const run *r, const char *what, int k, const void *address, rd_dtype type)
{
    char sentence[128];

    if (address && (uintptr_t)address % (uintptr_t)rd_dtype_size(type) == 0)
        return RD_OK;
    if (address)
        snprintf(sentence, sizeof sentence, "rd_plan_run: the address %p of %s %d is not aligned for %s", address, what,
                 k, rd_dtype_name(type));
    else
        snprintf(sentence, sizeof sentence, "rd_plan_run: the address of %s %d is NULL", what, k);
    return rd_fail_run(r->plan->ctx, RD_ERR_ARGUMENT, sentence);
}

static rd_status bind_inputs(run *r, const void *const *in)
{
    const rd_plan *plan = r->plan;
    const void    *given;
    rd_status      status;

    for (int s = 0; s < plan->n_slot; s++)
        r->slot[s] = (void *)plan->slot[s].data;
    for (int k = 0; k < plan->n_in; k++) {
        if (plan->in_slot[k] < 0)
            continue;
        given  = in ? in[k] : NULL;
        status = check_address(r, "input", k, given, plan->slot[plan->in_slot[k]].type);
        if (status != RD_OK)
            return status;
        r->slot[plan->in_slot[k]] = (void *)given;
    }
    return RD_OK;
}

static rd_status bind_outputs(run *r, void *const *out)
{
    const rd_plan *plan = r->plan;
    rd_status      status;

    for (int k = 0; k < plan->n_out; k++) {
        r->target[k] = out ? out[k] : plan->out[k].data;
        if (plan->out[k].slot < 0)
            continue;
        status = check_address(r, "result", k, r->target[k], plan->out[k].type);
        if (status != RD_OK)
            return status;
    }
    for (int k = 0; k < plan->n_out; k++) {
        const rd_output *o = &plan->out[k];
        char            *base;

        if (o->slot < 0)
            continue;
        if (needs_scratch(r, k)) {
            base = rd_alloc_quiet(plan->ctx, (o->hi - o->lo) * rd_dtype_size(o->type));
            if (!base)
                return no_memory(plan);
            r->scratch[k]    = base;
            r->slot[o->slot] = base - o->lo * rd_dtype_size(o->type);
        } else
            r->slot[o->slot] = r->target[k];
    }
    return RD_OK;
}

static rd_status bind_arrays(run *r)
{
    for (int s = 0; s < r->plan->n_slot; s++)
        if (r->plan->slot[s].kind == RD_SLOT_ARRAY) {
            r->slot[s] = rd_alloc_quiet(r->plan->ctx, r->plan->slot[s].bytes);
            if (!r->slot[s])
                return no_memory(r->plan);
        }
    return RD_OK;
}

/* Moves index on to the next element in C order; false after the last. */
static bool next_element(const rd_output *o, int64_t *index)
{
    for (int a = o->rank; a-- > 0; index[a] = 0)
        if (++index[a] < o->extent[a])
            return true;
    return false;
}

static void copy_out(const rd_output *o, char *to, const char *from)
{
    int     size               = rd_dtype_size(o->type);
    int64_t index[RD_MAX_RANK] = { 0 };

    do {
        int64_t at = 0;

        for (int a = 0; a < o->rank; a++)
            at += index[a] * o->stride[a];
        memcpy(to + at * size, from + at * size, (size_t)size);
    } while (next_element(o, index));
}

static void release(run *r)
{
    const rd_plan *plan = r->plan;

    for (int s = 0; s < plan->n_slot; s++)
        if (plan->slot[s].kind == RD_SLOT_ARRAY)
            rd_free(plan->ctx, r->slot[s]);
    for (int k = 0; k < plan->n_out; k++) {
        if (r->scratch[k] && r->status == RD_OK)
            copy_out(&plan->out[k], r->target[k], r->slot[plan->out[k].slot]);
        rd_free(plan->ctx, r->scratch[k]);
    }
}

rd_status rd_plan_execute(const rd_plan *plan, const void *const *in, void *const *out, rd_run_stats *stats)
{
    run    r      = { .plan = plan };
    size_t n      = (size_t)plan->n_slot + 2 * (size_t)plan->n_out + 1;
    void **memory = rd_alloc_quiet(plan->ctx, (int64_t)(n * sizeof *memory));

    if (!memory)
        return no_memory(plan);
    r.slot    = memory;
    r.scratch = memory + plan->n_slot;
    r.target  = r.scratch + plan->n_out;
    r.status  = bind_inputs(&r, in);
    if (r.status == RD_OK)
        r.status = bind_outputs(&r, out);
    if (r.status == RD_OK)
        r.status = bind_arrays(&r);
    for (int s = 0; s < plan->n_stage && r.status == RD_OK; s++)
        run_stage(&r, &plan->program[s]);
    release(&r);
    rd_free(plan->ctx, memory);
    if (stats)
        *stats = r.stats;
    return r.status;
}

/* run_plan.c - runs a plan: splits each stage into tasks and combines what tasks reduced.
 *
 * Tasks are contiguous ranges of a stage's root axis that start at whole blocks of every combine
 * tree, so the number of tasks changes no bit.  Reductions that any grouping computes exactly,
 * such as sums of ints and extremes, may be split within blocks (eval/order/grain.c).
 *
 * A grain is the multiple of the root axis' index at which tasks may begin.  Head, body and tail
 * are the parts of a program: once a task, on its share, and once at the end.
 *
 * Words. The frame is the memory of one run. A slot is a buffer that a program reads or writes. */
#include "core/float_env.h"
#include "core/stop.h"
#include "eval/run/frame.h"
#include "eval/run/team.h"
#include "eval/run/trace.h"
#include "eval/run/watch.h"
#include "expr/cancel.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tasks of a long root axis start at multiples of this index. */
enum { WHOLE = 64 };

/* One run on this processor. */
typedef struct run {
    const rd_plan *plan;
    rd_frame      *frame;
    rd_watch      *watch; /* NULL: no stage runs in steps */
    rd_run_stats   stats;
    rd_status      status; /* RD_OK, or the first error */
} run;

/* ---- Shares ---------------------------------------------------------------------------------- */
/* How many tasks each thread gets, one after the other. Where indices of the root axis differ in
 * work, as rows of a triangle do, many tasks balance the load. */
static int64_t rounds_of(const rd_program *p)
{
    enum { ROUNDS = 16 };

    return p->uneven ? ROUNDS : 1;
}

/* The length of a task in indices of the root axis, a multiple of the grain (where tasks may
 * begin): one task per thread, or plan->task_grains times the grain for tests. `extent` itself,
 * for one task, if the stage must not be split or has little work. threads: as asked for, 0: by
 * work. Tests may force small work to be shared. */
static int64_t task_size(const rd_plan *plan, const rd_program *p, int64_t extent, int64_t grain)
{
    /* small work returns early, as it would notice the cost of each division */
    const int64_t whole = extent ? extent : 1;
    int64_t       grains, threads, share = plan->task_grains;

    if (p->root < 0 || p->serial || extent == 0 ||
        (!share && !(plan->threads && rd_team_shares_all()) && p->work < RD_SMALL_WORK))
        return whole;
    if (!share) {
        grains = (extent + grain - 1) / grain;
        threads =
            rd_thread_count_now(plan->ctx, plan->threads, p->work, rd_program_shares(p, grain));
        if (threads == 1)
            return whole;
        threads *= rounds_of(p);
        share = (grains + threads - 1) / threads;
        /* Whole vectors and cache lines, where that does not burden the last task. */
        if (share >= (p->uneven ? 2 : WHOLE) * WHOLE)
            share = (share + WHOLE - 1) / WHOLE * WHOLE;
    }
    return share * grain;
}

/* ---- One stage ------------------------------------------------------------------------------- */

/* The tasks of one stage. */
typedef struct tasks {
    int32_t     n, threads; /* tasks k, k + threads, ... belong to one thread and share memory */
    rd_task    *task;
    char       *block, *memory; /* of a single task that does not fit in the frame */
    const void *way;            /* the strategy of the backend that they begin with */
    int64_t     state;          /* bytes of state of each task */
    bool        done;           /* the whole stage has run as one task, tail included */
} tasks;

/* Least number of elements in a task whose rows are shared by all tasks. */
enum { ROWS_GRAIN = 1024 };

/* Fills in a task's record.  The error sentence, most of the record, is not cleared.  `work` is
 * the task's memory: its state, and behind that scratch memory, whose addresses rd_task_places()
 * puts into `slot`. lo to hi is its range. */
static void set_task(const rd_program *p, rd_task *task, int64_t state, char *work, void **slot,
                     int64_t lo, int64_t hi)
{
    if (p->n_scratch)
        rd_task_places(p, state, work, slot);
    task->slot        = slot;
    task->state       = work;
    task->lo          = lo;
    task->hi          = hi;
    task->warnings    = 0;
    task->status      = RD_OK;
    task->sentence[0] = 0;
    task->loads       = 0;
    task->strategy    = NULL;
}

/* Allocates the memory (state and scratch) of a single task that does not fit in the frame; false:
 * no memory. */
static bool more_memory(const run *r, const rd_program *p, tasks *t)
{
    const int64_t bytes = rd_task_bytes(p, t->state);

    t->block  = rd_alloc_work(r->plan->ctx, rd_bytes_add(bytes, 64));
    t->memory = t->block ? rd_next_line(t->block) : NULL;
    return t->memory;
}

/* Sets up a single task with the frame's record, slots and, if there is room, memory for state and
 * scratch. False: no memory. plan->fits: the frame has room for a task of any stage; else this
 * stage may need a block of its own. */
static bool one_task(const run *r, const rd_program *p, int64_t extent, tasks *t)
{
    rd_frame *f = r->frame;

    t->n = t->threads = 1;
    t->task           = &f->task;
    if (!r->plan->fits && rd_task_bytes(p, t->state) > r->plan->work_bytes && !more_memory(r, p, t))
        return false;
    set_task(p, t->task, t->state, t->memory ? t->memory : f->work, f->slot, /*lo=*/0, extent);
    return true;
}

/* Sets up several tasks of `size` indices each: their records, then addresses of slots, state and
 * scratch of each thread, in whole cache lines. Tasks k, k + threads ... run one after the other
 * in the same memory. False: no memory. `first_scratch` counts the slots of the graph, which
 * come before those of scratch. A thread gets rounds_of() tasks. */
static bool make_tasks(const run *r, const rd_program *p, int64_t extent, int64_t size, tasks *t)
{
    const rd_plan *plan = r->plan;
    int64_t        n, slots, bytes, records;
    char          *at;

    n          = (extent + size - 1) / size;
    slots      = rd_lines((int64_t)sizeof(void *) * (p->first_scratch + p->n_scratch));
    bytes      = rd_bytes_add(slots, rd_task_bytes(p, t->state));
    records    = rd_lines(n * (int64_t)sizeof(rd_task));
    t->n       = (int32_t)n;
    t->threads = (int32_t)((n + rounds_of(p) - 1) / rounds_of(p));
    at = rd_frame_team(plan, r->frame, rd_bytes_add(rd_bytes_times(bytes, t->threads), records));
    if (!at)
        return false;
    t->task = (rd_task *)(void *)at;
    at += records;
    for (int64_t k = 0; k < n; k++) {
        char *const own = at + k % t->threads * bytes;

        memcpy(own, r->frame->slot, sizeof(void *) * (size_t)plan->n_slot);
        set_task(p, &t->task[k], t->state, own + slots, (void **)(void *)own, k * size,
                 k + 1 < n ? (k + 1) * size : extent);
        t->task[k].strategy = t->way;
    }
    return true;
}

/* Switches a running task from tiles to compiled code once that is ready. Only for programs
 * without head and tail, which keep nothing in the state between two steps. task->strategy is
 * NULL as long as it runs on tiles. */
static void switch_to_compiled(const run *r, const rd_program *p, rd_task *task)
{
    const rd_backend_table *backend = r->plan->backend;

    if (task->strategy || !backend->strategy || p->body > 0 || p->tail < p->n_inst)
        return;
    task->strategy = backend->strategy(p);
    if (task->strategy)
        backend->head(p, task);
}

/* Runs a task in steps of a few milliseconds. Between two of them the run may be cancelled,
 * reports progress, and may switch to compiled code. Of the tasks that run at a time, the first
 * one reports, as if the others had done as much. `left` is what remains of the task's range;
 * rd_watch_look() gets the share of the stage that is done. */
static void run_steps(const run *r, const rd_program *p, const tasks *t, int k)
{
    rd_task      *task = &t->task[k];
    const double  all  = (double)(task->hi - task->lo);
    rd_step_range left = rd_step_range_of(p, task->lo, task->hi);

    for (bool more = true;
         more && task->status == RD_OK && rd_step_range_next(&left, &task->lo, &task->hi);) {
        r->plan->backend->body(p, task);
        more = rd_watch_step(r->watch, t->threads);
        if (more && task->status == RD_OK && left.lo < left.hi)
            switch_to_compiled(r, p, task);
        if (more && k % t->threads == 0 && left.lo < left.hi)
            rd_watch_look(r->watch,
                          (k + t->threads * (1 - (double)(left.hi - left.lo) / all)) / t->n);
    }
}

/* The name for traces of how a program runs; `way` is the backend's strategy, NULL: none. */
static const char *strategy_name(const rd_program *p, const void *way)
{
    return p->product ? "a product" : way ? "compiled loops" : p->code ? "tiles" : "the reference";
}

/* Runs one task: its head, then its body in one go or in steps.  The float environment is set
 * for each task, as tasks run on different threads.  A sort of one long row is one step, so it
 * tests the run's stop flags itself (rd_stop_begin()). */
static void run_task(const run *r, const rd_program *p, const tasks *t, int k)
{
    rd_task           *task  = &t->task[k];
    const double       begun = r->plan->traced ? rd_seconds() : 0;
    const int64_t      lo    = task->lo;
    const rd_float_env env   = rd_float_env_begin();

    if (p->n_sorting)
        rd_stop_begin(rd_cancel_flag(r->plan->ctx), r->watch ? &r->watch->stop : NULL);
    r->plan->backend->head(p, task);
    if (p->step && r->watch && task->status == RD_OK)
        run_steps(r, p, t, k);
    else if (task->status == RD_OK)
        r->plan->backend->body(p, task);
    if (p->n_sorting)
        rd_stop_end();
    rd_float_env_end(env);
    if (r->plan->traced)
        rd_trace_event("task", strategy_name(p, task->strategy), begun,
                       "\"task\":%d,\"from\":%" PRId64 ",\"to\":%" PRId64, k, lo, task->hi);
}

/* Runs all tasks of a stage on OpenMP threads; thread `first` runs tasks first, first + threads,
 * ... t->n tasks are dealt to t->threads threads in turn. */
static void run_tasks(const run *r, const rd_program *p, tasks *t)
{
#ifdef _OPENMP
    int threads = r->plan->task_grains ? 1 : t->threads;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
#endif
    for (int first = 0; first < t->threads; first++)
        for (int k = first; k < t->n; k += t->threads)
            run_task(r, p, t, k);
}

/* Records that the run was cancelled; one that exceeded its own time limit (overdue, when plans
 * are measured) records nothing. Returns the status. watch: NULL: the run had none. */
static rd_status cancelled(const rd_plan *plan, const rd_watch *watch)
{
    if (watch && watch->overdue)
        return RD_ERR_CANCELLED;
    return rd_fail_run(plan->ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
}

/* Collects the tasks' warnings and errors, merges their accumulators into the first task's, and
 * runs the program's tail, which stores results. Tasks of uneven stages have nothing to merge.
 * join() merges the accumulators of two neighbouring tasks; tail() is the code at the end.
 * r->status keeps the first error. */
static void finish_tasks(run *r, const rd_program *p, const tasks *t)
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
    if (r->status == RD_OK && r->watch && atomic_load(&r->watch->stop))
        r->status = cancelled(r->plan, r->watch);
    if (r->status != RD_OK)
        return;
    for (int k = 1; k < t->n && !p->uneven; k++) /* uneven tasks combine nothing */
        r->plan->backend->join(p, &t->task[0], &t->task[k]);
    if (!t->done) /* one function that ran the whole stage has run the tail, too */
        r->plan->backend->tail(p, &t->task[0]);
    if (t->threads > r->stats.tasks)
        r->stats.tasks = t->threads;
}

/* Runs a single task by the program's head, body and tail. If the compiled function of the whole
 * stage found an error before, that one stays, unless this run finds a better one. `way` is the
 * strategy of this run, NULL: the backend has one only. */
static void run_parts(const run *r, const rd_program *p, tasks *t)
{
    const rd_backend_table *backend = r->plan->backend;
    rd_task                 before;

    before.status = t->task->status;
    if (before.status != RD_OK)
        before = *t->task;
    set_task(p, t->task, t->state, t->memory ? t->memory : r->frame->work, r->frame->slot,
             t->task->lo, t->task->hi);
    if (backend->strategy)
        t->way = t->task->strategy = backend->strategy(p);
    /* directly: even an OpenMP region of one thread costs as much as a small kernel */
    run_task(r, p, t, /*k=*/0);
    if (t->task->status == RD_OK && before.status != RD_OK)
        *t->task = before;
}

/* Runs a stage as a single task by one compiled function, which costs least, if there is one and
 * the run need not stop on the way (in steps). Else by its parts. */
static void run_alone(const run *r, const rd_program *p, tasks *t)
{
    const rd_backend_table *backend = r->plan->backend;

    t->done = !(p->step && r->watch) && backend->whole && backend->whole(p, t->task);
    if (!t->done)
        run_parts(r, p, t);
}

/* Runs the stage again as one task by tiles if a task of compiled row loops found an error,
 * because tiles say more about it (which element). t->n tasks ran on t->threads threads, whose
 * team is ended first. t->state is the bytes of a task's state; `strategy` NULL: by tiles. */
static void rerun_for_errors(run *r, const rd_program *p, int64_t extent, tasks *t)
{
    bool wrong = false;

    for (int k = 0; k < t->n; k++)
        wrong |= t->task[k].status != RD_OK;
    if (!wrong)
        return;
    if (t->n > 1)
        rd_frame_end_team(r->plan, r->frame, t->threads);
    t->state = p->state_bytes;
    if (!one_task(r, p, extent, t)) {
        r->status = rd_no_memory(r->plan);
        return;
    }
    t->task->strategy = NULL;
    run_task(r, p, t, /*k=*/0);
}

/* Writes the trace event of a stage: its strategy, tasks and time. */
static void trace_stage(const run *r, const rd_program *p, const tasks *t, double begun)
{
    char name[60];

    snprintf(name, sizeof name, "stage %d: %s", (int)(p - r->plan->program),
             t->done && !p->product ? p->whole ? "compiled loops" : "one kernel"
                                    : strategy_name(p, t->task->strategy));
    rd_trace_event("stage", name, begun, "\"tasks\":%d", (int)t->n);
}

/* Reports the time of a stage to its backend, which learns which strategy is the fastest, if all
 * tasks used one strategy from beginning to end. Not for a stage that one function has run as a
 * whole (done). */
static void report(const run *r, const rd_program *p, const tasks *t, double begun)
{
    const double taken = rd_seconds() - begun;
    bool         mixed = t->done;

    for (int k = 0; k < t->n; k++)
        mixed |= t->task[k].strategy != t->way;
    if (!mixed)
        r->plan->backend->ran(p, t->way, t->threads, taken);
}

/* Runs one stage: chooses the number of tasks and the strategy, runs the tasks, combines them, and
 * releases memory. A nest by rows may be split at any index, as its tasks combine nothing. t.way
 * is not NULL at first only if a nest by rows is compiled; it needs by_rows_bytes of state in
 * each of several tasks. */
static void run_stage(run *r, const rd_program *p)
{
    const double  begun  = r->plan->traced || p->timed ? rd_seconds() : 0;
    const int64_t extent = p->root >= 0 ? p->axis_extent[p->root] : 1;
    tasks         t      = { .way = p->by_rows ? r->plan->backend->strategy(p) : NULL };
    const int64_t size   = task_size(r->plan, p, extent, t.way ? ROWS_GRAIN : p->grain);
    const bool    alone  = size >= extent; /* one task takes all indices */

    t.state = t.way && !alone ? p->by_rows_bytes : p->state_bytes;
    if (r->watch)
        rd_watch_stage(r->watch, p);
    if (!alone && !t.way && r->plan->backend->strategy)
        t.way = r->plan->backend->strategy(p);
    if (!(alone ? one_task(r, p, extent, &t) : make_tasks(r, p, extent, size, &t))) {
        r->status = rd_no_memory(r->plan);
        return;
    }
    if (alone)
        run_alone(r, p, &t);
    else
        run_tasks(r, p, &t);
    if (t.way && p->by_rows) /* compiled rows say less about an error than tiles */
        rerun_for_errors(r, p, extent, &t);
    if (r->status == RD_OK)
        finish_tasks(r, p, &t);
    if (r->status == RD_OK && p->timed)
        report(r, p, &t, begun);
    if (r->plan->traced)
        trace_stage(r, p, &t, begun);
    if (t.block)
        rd_free_work(r->plan->ctx, t.block);
    if (t.n > 1)
        rd_frame_end_team(r->plan, r->frame, t.threads);
}

/* Runs all stages on this processor: takes a frame (memory of the run), binds addresses, runs the
 * stages, and copies results out that were not written in place. `watch` is there only if some
 * stage runs in steps; it looks for a cancel and reports progress. */
static rd_status run_stages(const rd_plan *plan, const void *const *in, void *const *out,
                            const rd_progress *progress, rd_run_stats *stats)
{
    run           r = { .plan = plan };
    rd_watch      watch;
    rd_frame_here here;

    r.frame = rd_frame_take(plan, &here);
    if (!r.frame)
        return rd_no_memory(plan);
    r.status = rd_frame_bind(plan, r.frame, in, out);
    if (plan->steps && r.status == RD_OK) {
        rd_watch_begin(&watch, plan, progress, r.frame->slot);
        r.watch = &watch;
    }
    for (int s = 0; s < plan->n_stage && r.status == RD_OK; s++)
        run_stage(&r, &plan->program[s]);
    if (r.watch && r.status == RD_OK)
        rd_watch_end(r.watch);
    rd_frame_unbind(plan, r.frame, r.status);
    rd_frame_give(plan, r.frame, &here);
    *stats = r.stats;
    return r.status;
}

/* Runs the plan on its device or devices. If a GPU that AUTO chose fails, the plan for this
 * processor runs instead. */
static rd_status run_there(const rd_plan *plan, const void *const *in, void *const *out,
                           const rd_progress *progress, rd_run_stats *stats)
{
    bool            elsewhere;
    const rd_status status = (plan->devices > 1 ? rd_run_on_devices : rd_run_on_device)(
        plan, in, out, progress, &elsewhere);

    return elsewhere ? rd_plan_execute(plan->instead, in, out, progress, stats) : status;
}

/* Chooses how a plan runs: in parts (several plans), as a sparse product, by the fast path for
 * small plans, on a device, or stage by stage. The fast path takes no plans that are traced, or
 * for which tests set the length of tasks (task_grains). A cancel that came before the run, or
 * during it, ends it with RD_ERR_CANCELLED. stats may be NULL. */
static rd_status execute(const rd_plan *plan, const void *const *in, void *const *out,
                         const rd_progress *progress, rd_run_stats *stats)
{
    rd_run_stats own = { 0 }, *of = stats ? stats : &own;
    rd_status    status = RD_OK;

    *of = own;
    if (rd_cancel_taken(plan->ctx))
        return cancelled(plan, /*watch=*/NULL);
    if (plan->parts)
        return rd_parts_run(plan, in, out, progress, of);
    if (plan->product)
        return rd_product_part_run(plan, in, out);
    if (!plan->direct || plan->task_grains || plan->traced || !rd_run_direct(plan, in, out, of))
        status = plan->backend->device ? run_there(plan, in, out, progress, of)
                                       : run_stages(plan, in, out, progress, of);
    /* A cancel that arrived during this run must not cancel the next one. */
    return rd_cancel_taken(plan->ctx) && status == RD_OK ? cancelled(plan, /*watch=*/NULL) : status;
}

/* Runs a plan in rdim's float environment (round to nearest, denormals kept), and writes a trace
 * event of the run if that is asked for.  Returns the status. */
rd_status rd_plan_execute(const rd_plan *plan, const void *const *in, void *const *out,
                          const rd_progress *progress, rd_run_stats *stats)
{
    const double       begun  = plan->traced ? rd_seconds() : 0;
    const rd_float_env env    = rd_float_env_begin();
    const rd_status    status = execute(plan, in, out, progress, stats);

    rd_float_env_end(env);
    if (plan->traced)
        rd_trace_event("run", plan->call ? plan->call : rd_call_name(plan->ctx), begun,
                       "\"stages\":%d,\"parts\":%d,\"backend\":\"%s\",\"status\":\"%s\"",
                       (int)plan->n_stage, plan->parts ? (int)plan->parts->n : 0,
                       plan->backend->name, rd_status_name(status));
    return status;
}

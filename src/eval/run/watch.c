/* watch.c - steps of long runs, and what happens between them.
 *
 * A step is the part of a task between two looks of the watch.  A unit is the least number of
 * indices by which steps grow.  The share of a task is its range of the root axis. */
#include "eval/run/watch.h"
#include "core/clock.h"
#include "expr/mapped.h"

/* Least seconds between two progress reports. */
static const double TELL = 0.1;

/* ---- Work ------------------------------------------------------------------------------------ */
/* True if the instruction is an elementwise operation by a scalar call (no vector code), which
 * takes up to 100 ns an element. */
static bool is_alone(const rd_inst *inst)
{
    const rd_by by = inst->kind == RD_I_MAP ? rd_op_table[inst->op].by : RD_BY_NONE;

    return by == RD_BY_LIBM || by == RD_BY_ROWS;
}

/* Operations of scalar calls, which p->work counts as one each: 400 for each element, as one takes
 * up to 100 ns. */
static double alone_work(const rd_program *p)
{
    static const double ALONE = 400;
    double              work  = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (is_alone(&p->inst[i]))
            work += ALONE * rd_program_times(p, i);
    return work;
}

/* Operations of functions other than scalar calls. */
static double functions_work(const rd_program *p)
{
    double work = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (rd_inst_is_function(&p->inst[i]) && !is_alone(&p->inst[i]))
            work += (double)rd_op_table[p->inst[i].op].cost * rd_program_times(p, i);
    return work;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Halves a range, in multiples of `least`, until it takes no more than `most` operations, or is
 * `least`. `each`: operations of one index of the root axis. */
static int64_t halve_range(const rd_program *p, int64_t part, int64_t least, double most)
{
    const double each = (p->work + alone_work(p)) / (double)p->axis_extent[p->root];

    while ((double)part * each > most && part > least)
        part = (part / 2 + least - 1) / least * least;
    return part;
}

/* Cuts the width of a tile loop whose ranges would take seconds, such as pairs of 100,000 points.
 * A part keeps full speed where possible (512 grains, which are multiples where tasks may begin),
 * and whole cache lines (64) otherwise. Parts of 64 made tiles seven times slower for nearest
 * points in 64 dimensions. */
static int64_t part_of(const rd_program *p, int64_t unit)
{
    enum { FAST = 512, LEAST = 64, LONG = 100 };

    unit = halve_range(p, unit, FAST * p->grain, 2 * RD_STEP_WORK);
    return halve_range(p, unit, LEAST * p->grain, LONG * RD_STEP_WORK);
}

/* The unit of steps, of which a step is a multiple: whole ranges of the tile loops, because their
 * width was chosen for the cache. A product may stop anywhere: it is a BLAS call, which splits a
 * long sum itself. A tile loop over the root axis has ranges of loop->step indices, which are
 * rounded up to grains. */
static int64_t unit_of(const rd_program *p)
{
    int64_t unit = p->grain;

    if (p->product)
        return 1;
    for (int k = 0; k < p->n_loop; k++) {
        const rd_loop *loop = &p->loop[k];

        if (loop->axis == p->root && loop->kind == RD_LOOP_TILE && loop->step > unit)
            unit = (loop->step + p->grain - 1) / p->grain * p->grain;
    }
    return part_of(p, unit);
}

/* Operations that users' functions and reducers may take. Their cost is unknown, so a microsecond
 * (1e4 operations) an element is assumed, and steps are timed. */
static double users_work(const rd_program *p)
{
    static const double CALL  = 1e4;
    double              calls = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_CALL ||
            ((p->inst[i].kind == RD_I_STEP || p->inst[i].kind == RD_I_SCAN) &&
             p->fold[p->inst[i].arg].user))
            calls += rd_program_times(p, i);
    return calls * CALL;
}

/* Rounds a number of indices to whole units. From 64 indices on, these are whole vectors and cache
 * lines. A partial vector loop runs element by element, so fewer indices become 64 if that is at
 * most 16 times as many. `whole` counts the units in 64 indices. */
static int64_t in_units(const rd_program *p, double indices)
{
    enum { WHOLE = 64, TIMES = 16 };
    const int64_t unit = unit_of(p), extent = p->axis_extent[p->root];
    const int64_t whole = unit < WHOLE ? WHOLE / unit : 1;
    int64_t       units = indices < (double)extent ? (int64_t)(indices / (double)unit) : extent;

    if (units >= whole)
        units = units / whole * whole;
    else if (TIMES * units >= whole)
        units = whole;
    return units > 1 ? units * unit : unit;
}

/* Indices of the root axis in the first step, for about `work` operations; 0: the stage runs
 * without steps, as it is short or cannot be split. Short is less than four steps of our own
 * operations. The time of a caller's functions is unknown, so one step of them is enough. own,
 * users: operations of ours, and of callers' functions. */
int64_t rd_watch_every(const rd_program *p, double work)
{
    const int64_t extent = p->root >= 0 ? p->axis_extent[p->root] : 0;
    const double  own = p->work + alone_work(p) + functions_work(p), users = users_work(p),
                 all = own + users;

    if (extent <= 1 || (own < 4 * work && users < work))
        return 0;
    return in_units(p, work / all * (double)extent);
}

/* The range [lo, hi) of the root axis that a task does, to be taken in steps; its loop may run
 * backwards. */
rd_step_range rd_step_range_of(const rd_program *p, int64_t lo, int64_t hi)
{
    return (rd_step_range){ .p         = p,
                            .lo        = lo,
                            .hi        = hi,
                            .step      = p->step,
                            .backwards = p->loop[p->inst[p->body].arg].backwards };
}

/* Adapts the length of the next step to the seconds of the last one, because estimates are wrong,
 * above all for users' functions.  Steps should take 1 to 6 ms.  A step grows only up to
 * RD_STEP_WORK operations (`most` indices). */
static void adapt_step(rd_step_range *s, double seconds)
{
    static const double SHORT = 1e-3, WANTED = 3e-3, LONG = 6e-3;
    const rd_program   *p    = s->p;
    const double        most = RD_STEP_WORK / p->work * (double)p->axis_extent[p->root];

    if (seconds > LONG)
        s->step = in_units(p, (double)s->step * WANTED / seconds);
    else if (seconds < SHORT && 2 * (double)s->step <= most)
        s->step = in_units(p, 2 * (double)s->step);
}

/* Takes the next step [lo, hi) of a task's range, from the end if the loop runs backwards. False:
 * the range is finished. s->begun is when the last step began, 0: none yet; adapt_step() fits
 * the step's length s->step to the time that it took. s->lo and s->hi are what is left. */
bool rd_step_range_next(rd_step_range *s, int64_t *lo, int64_t *hi)
{
    const double now = rd_seconds();

    if (s->begun > 0)
        adapt_step(s, now - s->begun);
    s->begun = now;
    if (s->lo >= s->hi)
        return false;
    *lo = s->backwards && s->hi - s->lo > s->step ? s->hi - s->step : s->lo;
    *hi = !s->backwards && s->hi - s->lo > s->step ? s->lo + s->step : s->hi;
    if (s->backwards)
        s->hi = *lo;
    else
        s->lo = *hi;
    return true;
}

/* Starts the watch of a run: clears its counters, and sums up the work of all stages. */
void rd_watch_begin(rd_watch *w, const rd_plan *plan, const rd_progress *progress,
                    void *const *slot)
{
    *w =
        (rd_watch){ .ctx = plan->ctx, .begun = rd_seconds(), .n_slot = plan->n_slot, .slot = slot };
    w->told = w->begun;
    if (progress)
        w->progress = *progress;
    for (int s = 0; s < plan->n_stage; s++)
        w->all += plan->program[s].work;
}

/* Starts the next stage: the work of the stage before it counts as done. */
void rd_watch_stage(rd_watch *w, const rd_program *p)
{
    w->done += w->work;
    w->work = p->work;
}

/* Counts a step of any thread; false: the run must stop. Gives the memory of mapped files back
 * once for every `tasks` steps, on whichever thread comes, as the calling thread may finish early
 * or wait in the listener. */
bool rd_watch_step(rd_watch *w, int tasks)
{
    const unsigned before = atomic_fetch_add_explicit(&w->steps, 1, memory_order_relaxed);

    if (before % (unsigned)tasks == 0)
        rd_mapped_give_back(w->n_slot, w->slot);
    if (rd_cancel_taken(w->ctx))
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
    return !atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* Reports to the listener the share of the run that is done, and the seconds that are left by
 * that. A result other than 0 asks to cancel. */
static void tell(rd_watch *w, double done)
{
    const double now  = rd_seconds(),
                 left = done > 0 ? (now - w->begun) * (1 - done) / done : INFINITY;

    w->told = now;
    if (w->progress.tell(w->progress.user, done, left) != 0)
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
}

/* Checks the time limit, and reports progress if it is time. `part`: the share of the running
 * stage that is done. Only the calling thread looks. progress.until is the time limit, 0: none;
 * TELL is the time between reports; w->work is the work of the stage, w->done that of stages
 * before, w->all that of all. */
void rd_watch_look(rd_watch *w, double part)
{
    if (w->progress.until > 0 && rd_seconds() > w->progress.until) {
        w->overdue = true;
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
    }
    if (w->progress.tell && rd_seconds() - w->told >= TELL)
        tell(w, (w->done + part * w->work) / w->all);
}

/* Reports the end to a listener that has had an earlier report. */
void rd_watch_end(rd_watch *w)
{
    if (w->progress.tell && w->told > w->begun)
        (void)w->progress.tell(w->progress.user, 1, 0);
}

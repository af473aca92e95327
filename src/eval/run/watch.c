/* watch.c - steps of long runs, and what is seen to between them. */
#include "eval/run/watch.h"
#include "core/clock.h"
#include "expr/mapped.h"

/* Seconds between two reports. */
static const double TELL = 0.1;

/* ---- Work ------------------------------------------------------------------------------------- */
/* Maps that go element by element, of which the slowest take 100 ns. */
static bool is_alone(const rd_inst *inst)
{
    const rd_by by = inst->kind == RD_I_MAP ? rd_op_table[inst->op].by : RD_BY_NONE;

    return by == RD_BY_LIBM || by == RD_BY_ROWS;
}

/* Operations beyond the one of each map for which a program's work counts it: those of maps that go
 * element by element; and of all others, as many as additions. */
static double alone_work(const rd_program *p)
{
    static const double ALONE = 400;
    double              work  = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (is_alone(&p->inst[i]))
            work += ALONE * rd_program_times(p, i);
    return work;
}

static double functions_work(const rd_program *p)
{
    double work = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (rd_inst_is_function(&p->inst[i]) && !is_alone(&p->inst[i]))
            work += (double)rd_op_table[p->inst[i].op].cost * rd_program_times(p, i);
    return work;
}

/* ---- Steps ------------------------------------------------------------------------------------ */
/* Halves of the range, in multiples of `least`, until one takes no more than `most` operations. */
static int64_t halved(const rd_program *p, int64_t part, int64_t least, double most)
{
    const double each = (p->work + alone_work(p)) / (double)p->axis_extent[p->root];

    while ((double)part * each > most && part > least)
        part = (part / 2 + least - 1) / least * least;
    return part;
}

/* A range of a tile loop may take seconds, as of pairs of 100,000 points: then a part of it, no
 * less than is as fast, or in whole cache lines where even that is long.  Parts of 64 took tiles
 * seven times as long, as the nearest of points in 64 dimensions. */
static int64_t part_of(const rd_program *p, int64_t unit)
{
    enum { FAST = 512, LEAST = 64, LONG = 100 };

    unit = halved(p, unit, FAST * p->grain, 2 * RD_STEP_WORK);
    return halved(p, unit, LEAST * p->grain, LONG * RD_STEP_WORK);
}

/* A step takes whole ranges of the tile loops, whose width was chosen for the cache.  A product's
 * is a call of a BLAS, which makes a part of a sum where that is long. */
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

/* Operations that users' functions and reducers may take.  Nobody knows: here they take a
 * microsecond for each element, and steps are timed. */
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

/* So many indices in whole units; of 64 on in whole vectors, cache lines, strips and tiles of short rows,
 * and blocks of what runs along the axis.  Strips that are not whole go element by element, so a step of
 * fewer indices takes 64, if that is no more than 16 times as many. */
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

int64_t rd_watch_every(const rd_program *p, double work)
{
    const int64_t extent = p->root >= 0 ? p->axis_extent[p->root] : 0;
    const double  own = p->work + alone_work(p) + functions_work(p), users = users_work(p),
                 all = own + users;

    if (extent <= 1 || (own < 4 * work && users < work))
        return 0;
    return in_units(p, work / all * (double)extent);
}

rd_steps rd_steps_of(const rd_program *p, int64_t lo, int64_t hi)
{
    return (rd_steps){ .p         = p,
                       .lo        = lo,
                       .hi        = hi,
                       .step      = p->step,
                       .backwards = p->loop[p->inst[p->body].arg].backwards };
}

/* Operations take longer or shorter than is thought: users' functions above all. */
static void adapt(rd_steps *s, double seconds)
{
    static const double SHORT = 1e-3, WANTED = 3e-3, LONG = 6e-3;
    const rd_program   *p    = s->p;
    const double        most = RD_STEP_WORK / p->work * (double)p->axis_extent[p->root];

    if (seconds > LONG)
        s->step = in_units(p, (double)s->step * WANTED / seconds);
    else if (seconds < SHORT && 2 * (double)s->step <= most)
        s->step = in_units(p, 2 * (double)s->step);
}

bool rd_steps_next(rd_steps *s, int64_t *lo, int64_t *hi)
{
    const double now = rd_seconds();

    if (s->begun > 0)
        adapt(s, now - s->begun);
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

void rd_watch_stage(rd_watch *w, const rd_program *p)
{
    w->done += w->work;
    w->work = p->work;
}

/* Memory is given back once for so many steps as there are tasks, whosever they are: the calling
 * thread may have ended its share long before the others, or be kept by who listens. */
bool rd_watch_step(rd_watch *w, int tasks)
{
    const unsigned before = atomic_fetch_add_explicit(&w->steps, 1, memory_order_relaxed);

    if (before % (unsigned)tasks == 0)
        rd_mapped_give_back(w->n_slot, w->slot);
    if (rd_cancel_taken(w->ctx))
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
    return !atomic_load_explicit(&w->stop, memory_order_relaxed);
}

static void tell(rd_watch *w, double done)
{
    const double now  = rd_seconds(),
                 left = done > 0 ? (now - w->begun) * (1 - done) / done : INFINITY;

    w->told = now;
    if (w->progress.tell(w->progress.user, done, left) != 0)
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
}

void rd_watch_look(rd_watch *w, double part)
{
    if (w->progress.until > 0 && rd_seconds() > w->progress.until) {
        w->overdue = true;
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
    }
    if (w->progress.tell && rd_seconds() - w->told >= TELL)
        tell(w, (w->done + part * w->work) / w->all);
}

/* Who was told that it is not done is told that it is. */
void rd_watch_end(rd_watch *w)
{
    if (w->progress.tell && w->told > w->begun)
        (void)w->progress.tell(w->progress.user, 1, 0);
}

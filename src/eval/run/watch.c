/* watch.c - steps of long runs, and what is seen to between them. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */
#include "eval/run/watch.h"
#include "expr/mapped.h"
#include <time.h>

/* Seconds between two reports. */
static const double TELL = 0.1;

/* A step takes whole ranges of the tile loops, whose width was chosen for the cache. */
static int64_t unit_of(const rd_program *p)
{
    int64_t unit = p->grain;

    for (int k = 0; k < p->n_loop; k++) {
        const rd_loop *loop = &p->loop[k];

        if (loop->axis == p->root && loop->kind == RD_LOOP_TILE && loop->step > unit)
            unit = (loop->step + p->grain - 1) / p->grain * p->grain;
    }
    return unit;
}

int64_t rd_watch_every(const rd_program *p, double work)
{
    enum { WHOLE = 64 }; /* vectors, cache lines and tiles of short rows */
    const int64_t extent = p->root >= 0 ? p->axis_extent[p->root] : 0;
    int64_t       unit, units;

    if (p->work < 4 * work || extent <= 1 || p->loop[p->inst[p->body].arg].backwards)
        return 0;
    unit  = unit_of(p);
    units = (int64_t)(work / p->work * (double)extent / (double)unit);
    if (units > WHOLE * WHOLE)
        units = units / WHOLE * WHOLE;
    return units > 1 ? units * unit : unit;
}

double rd_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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

bool rd_watch_step(rd_watch *w)
{
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
    rd_mapped_give_back(w->n_slot, w->slot);
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

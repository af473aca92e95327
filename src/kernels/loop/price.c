/* price.c - the price of a loop tree: the predicted time of a run.  Computation and streams of
 * memory overlap; scattered loads are added.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/price_parts.h"
#include "kernels/loop/regions.h"
#include <math.h>

/* Returns how many threads have work: at most one for each grain of the root axis, the axis that
 * tasks share. A grain is the least range of it that a task may take. */
static int threads_of(const rd_program *p, int threads)
{
    const int64_t shares =
        p->root < 0 || p->serial ? 1 : (p->axis_extent[p->root] + p->grain - 1) / p->grain;

    return threads < 1 ? 1 : shares < threads ? (int)shares : threads;
}

/* Adds up the price of a tree from its regions (loops priced together) and its memory traffic.
 * Threads share the body only, not head and tail. Sequential traffic (streams) overlaps with
 * computation, so the longer of the two counts; scattered loads (looked_up) are waited for. A run
 * costs s->run; several threads are woken (team_awake), and each is handed a task. */
static rd_price price_of(const rd_schedule *t, const rd_speeds *s, int threads, const rd_regions *r)
{
    const int           n = threads_of(t->p, threads);
    const rd_traffic_ns memory =
        rd_memory_traffic(t, s, &(rd_loop_rounds){ r->trips, r->vector }, n);
    rd_price price = { .start = s->run };
    double   ns    = 0;

    for (int k = 0; k < RD_N_PARTS; k++) {
        const double share = k == RD_PART_BODY ? n : 1;

        ns += r->part[k].ns / share;
        price.entries += r->part[k].entries / share;
    }
    price.compute = ns - price.entries;
    price.memory  = memory.streams + memory.looked_up;
    if (n > 1)
        price.start += s->team_awake + n * s->task;
    price.ns = price.start + fmax(ns, memory.streams) + memory.looked_up;
    return price;
}

/* Returns the predicted time of a run of a tree by so many threads, with the cheapest strip-mining
 * of its loops; ns is NAN without memory. */
rd_price rd_schedule_price(const rd_schedule *t, const rd_speeds *s, int threads)
{
    rd_regions     r;
    const bool     ok    = rd_regions_of(t, s, /*tells=*/false, &r);
    const rd_price price = ok ? price_of(t, s, threads, &r) : (rd_price){ .ns = NAN };

    rd_regions_free(&r);
    return price;
}

/* Prices the tree of a program before any pass. The price is 0 if trees cannot express a fold of
 * it (why). False: no memory. */
bool rd_program_price(const rd_program *p, bool whole, const rd_speeds *s, int threads,
                      rd_get_fn *get, void *pool, rd_price *price)
{
    const char         *why  = NULL;
    const rd_loop_fold *fold = rd_loop_folds_of(p, whole, get, pool, &why);
    rd_schedule        *t    = fold && !why ? rd_schedule_build(p, fold, whole) : NULL;

    *price = t ? rd_schedule_price(t, s, threads) : (rd_price){ 0 };
    rd_schedule_free(t);
    return t ? !isnan(price->ns) : why != NULL;
}

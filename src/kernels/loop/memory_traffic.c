/* memory_traffic.c - bytes that cross levels of the memory hierarchy (a cache model).
 *
 * A loop that touches more than a level holds finds nothing of it there when it begins again.
 * So the innermost such loop around an access fetches the lines of its rounds once, each time
 * that it runs.  If there is no such loop, a run finds what the run before has left.
 *
 * An access list has the loads and stores of a tree, and for each the loops around it with their
 * strides in bytes.  To touch is to read or write; a line is a cache line of 64 bytes.  A gather is
 * a load at an address that another array names.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time. A load
 * or store with `slot` >= 0 is of the program's memory, others are of arrays of the tree.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. Scratch
 * is temporary memory of a task. */
#include "core/caches.h"
#include "kernels/loop/facts.h"
#include "kernels/loop/price_parts.h"
#include <math.h>
#include <stdlib.h>

enum {
    LINE = 64,
    RUN  = 256,
    PAGE = 4096
}; /* bytes: a cache line; the least run that prefetchers follow; a page of memory */
enum { MOST_LOOPS = 12, MOST_ACCESSES = 48, LEVELS = 3 };

/* A loop around an access: its statement, its rounds in the mean (n), and the bytes from one round
 * to the next (by). */
typedef struct loop_stride {
    int32_t loop;
    double  n, by;
} loop_stride;

typedef struct traced_access {
    int32_t slot;
    /* hops: successive accesses are RUN bytes apart or more; far: they are not even in one page */
    bool        writes, hops;
    bool        far;
    double      size, region; /* bytes of an element; of the region that a gather reads, or 0 */
    double      times;        /* how often it is run in all */
    int         n;
    loop_stride stride[MOST_LOOPS]; /* from the inside out */
} traced_access;

typedef struct access_list {
    const rd_schedule    *t;
    const rd_speeds      *s;
    const rd_loop_rounds *r;
    int                   n;
    traced_access         at[MOST_ACCESSES];
} access_list;

/* ---- Accesses -------------------------------------------------------------------------------- */
/* Returns the position at which a LOAD or a STORE accesses memory. */
static const rd_linear *address_of(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return s->kind == RD_S_LET ? &t->let[s->value].at : &s->at;
}

/* Returns the bytes in which a gathered element may lie; 0: the address is no gather (has no
 * value, axis < 0). A checked INDEX says how many places there are (word); other computed indices
 * count as one second-level cache. */
static double region_of(const rd_schedule *t, const rd_linear *at, double size)
{
    double region = 0;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis < 0 && t->let[term->value].kind == RD_I_INDEX)
            region += (double)t->let[term->value].word.i64 * size *
                      (double)(term->coef < 0 ? -term->coef : term->coef);
        else if (term->axis < 0)
            region += RD_L2_BYTES;
    }
    return region;
}

/* Returns the bytes from one access to the next in time: the stride of the vector strip, if it
 * moves, else of the innermost loop of more than 8 rounds. Strips have loop numbers below -1; see
 * put_strip_innermost(). */
static double hop_bytes(const traced_access *a)
{
    double first = 0;

    for (int k = 0; k < a->n; k++) {
        if (a->stride[k].loop < -1 && a->stride[k].by > 0)
            return a->stride[k].by;
        if (first == 0 && a->stride[k].n > 8)
            first = a->stride[k].by;
    }
    return first;
}

/* Splits a vector loop among the strides in two, as strip-mining will: strips of 64 elements
 * become the innermost loop, and the loop itself counts strips. All loops of a region run strip by
 * strip. The strip gets the loop number -2 - loop, which no statement has. */
static void put_strip_innermost(const access_list *q, traced_access *a)
{
    for (int k = 0; k < a->n && a->n < MOST_LOOPS; k++) {
        loop_stride *w = &a->stride[k], strip = *w;

        if (!q->r->vector[w->loop])
            continue;
        strip.n    = fmin(w->n, RD_PRICED_STRIP);
        strip.loop = -2 - w->loop;
        w->n /= strip.n > 0 ? strip.n : 1;
        w->by *= strip.n;
        for (int i = a->n++; i > 0; i--)
            a->stride[i] = a->stride[i - 1];
        a->stride[0] = strip;
        return;
    }
}

/* True if two accesses go to the same slot (array of the program's memory) with the same strides
 * in the same loops, so that the second finds its lines in the cache. Gathers (region > 0) never
 * count as the same. */
static bool is_same(const traced_access *a, const traced_access *b)
{
    bool same = a->slot == b->slot && a->writes == b->writes && a->n == b->n && a->region == 0 &&
                b->region == 0;

    for (int k = 0; k < a->n && same; k++)
        same = a->stride[k].loop == b->stride[k].loop && a->stride[k].by == b->stride[k].by;
    return same;
}

/* True if the slot is scratch (temporary memory of a task) so small that it stays in the caches. */
static bool is_cached_scratch(const rd_program *p, int32_t slot)
{
    return slot >= p->first_scratch && slot < p->first_scratch + p->n_scratch &&
           p->scratch_bytes[slot - p->first_scratch] <= RD_L2_BYTES;
}

/* Adds an access to the list, with the stride and the rounds of each loop around it. Accesses to
 * arrays of the tree (slot < 0), to small scratch (temporary memory of a task), and those like an
 * earlier one are left out, as they hit a cache. */
static void add_access(access_list *q, int32_t stmt)
{
    const rd_schedule *t = q->t;
    traced_access      a = { .times = 1 };
    rd_access          of[2];

    if (q->n == MOST_ACCESSES || !rd_accesses_of(t, stmt, of) || of[0].slot < 0 ||
        is_cached_scratch(t->p, of[0].slot))
        return;
    a.slot   = of[0].slot;
    a.writes = of[0].writes;
    a.size   = (double)rd_dtype_size(of[0].type) * (double)of[0].n;
    a.region = region_of(t, address_of(t, stmt), a.size);
    for (int32_t s = rd_loop_around(t, stmt); s >= 0; s = rd_loop_around(t, s)) {
        const rd_stride stride = rd_usual_stride(t, s, stmt);

        a.times *= q->r->trips[s];
        if (a.n < MOST_LOOPS)
            a.stride[a.n++] =
                (loop_stride){ s, q->r->trips[s],
                               fabs((double)stride.by) * (double)rd_dtype_size(of[0].type) };
    }
    put_strip_innermost(q, &a);
    a.hops = hop_bytes(&a) >= RUN;
    a.far  = hop_bytes(&a) >= PAGE;
    for (int k = 0; k < q->n; k++)
        if (is_same(&q->at[k], &a))
            return;
    q->at[q->n++] = a;
}

/* ---- What is touched ------------------------------------------------------------------------- */
/* Returns how many cache lines an access touches in the rounds of its n innermost loops. Loops are
 * taken by rising stride: one that stays within a line of the span so far extends the span, a
 * greater one makes separate runs. A gather (region > 0) touches at most the lines of its region
 * (the bytes among which its indices choose). */
static double lines_of(const traced_access *a, int n)
{
    double span = a->size, runs = 1, places = 1;
    bool   done[MOST_LOOPS] = { false };

    for (int i = 0; i < n; i++) {
        int least = -1;

        for (int k = 0; k < n; k++)
            if (!done[k] && (least < 0 || a->stride[k].by < a->stride[least].by))
                least = k;
        const loop_stride *w = &a->stride[least];

        done[least] = true;
        places *= w->n;
        if (w->by <= 0)
            continue;
        if (w->by <= span + LINE)
            span += w->by * (w->n - 1);
        else
            runs *= w->n;
    }
    const double lines = runs * fmax(1, span / LINE);

    return a->region > 0 ? fmin(places, lines + a->region / LINE) : lines;
}

/* Returns the bytes that all accesses touch while a loop runs once; loop -1: in the whole tree.
 * Accesses outside of the loop do not count. `depth`: how many of an access's loops, from the
 * inside, are within it. */
static double touched_in(const access_list *q, int32_t loop)
{
    double lines = 0;

    for (int k = 0; k < q->n; k++) {
        int depth = loop == -1 ? q->at[k].n : 0;

        for (int w = 0; loop != -1 && w < q->at[k].n; w++)
            depth = q->at[k].stride[w].loop == loop ? w + 1 : depth;
        if (depth || loop == -1)
            lines += lines_of(&q->at[k], depth);
    }
    return lines * LINE;
}

/* ---- What crosses ---------------------------------------------------------------------------- */
/* Returns how many lines an access fetches, in the whole run, from beyond a cache of `level`
 * bytes. touched[k]: bytes that all accesses touch in its k-th loop. The innermost loop that
 * touches more than the cache holds fetches its lines each time that it runs (times). If there is
 * none, they are fetched once if the whole tree (all) exceeds the cache. */
static double lines_crossing(const traced_access *a, const double *touched, double all,
                             double level)
{
    double times = a->times;

    for (int k = 0; k < a->n; k++) {
        times /= a->stride[k].n > 0 ? a->stride[k].n : 1;
        if (touched[k] > level)
            return times * lines_of(a, k + 1);
    }
    return all > level ? lines_of(a, a->n) : 0;
}

/* Returns the bytes per nanosecond that all threads together get from memory: `one` for each
 * thread, up to what all threads reached when the machine was measured. */
static double memory_speed(const rd_speeds *s, double one, int threads)
{
    const double limit = fmax(s->memory_all, one);

    return threads > 1 ? fmin(one * threads, limit) : one;
}

/* Returns the time of sequential lines: each level of the hierarchy costs the lines that come from
 * it and no further one. lines[k]: lines from beyond cache k + 1. Results too large for the caches
 * are written with non-temporal stores, which have a speed of their own. */
static double stream_ns(const access_list *q, const traced_access *a, const double *lines,
                        int threads)
{
    const rd_speeds *s           = q->s;
    const double     store_speed = lines[2] * LINE >= RD_STREAM_BYTES ? s->streamed : s->stored;

    return LINE *
           ((lines[0] - lines[1]) / s->l2 / threads + (lines[1] - lines[2]) / s->l3 / threads +
            lines[2] / memory_speed(s, a->writes ? store_speed : s->memory, threads));
}

/* Returns the time of lines at scattered addresses, which no prefetcher loads before.  `lines` are
 * those from beyond each cache.  `far`: each access is in another page, which costs an address
 * translation. The rows gather_l1, gather_l2 .. are measured times of a gather that finds its line
 * at that level. */
static double looked_up_ns(const rd_speeds *s, const double *lines, bool far, int threads)
{
    const double line_ns =
        far ? s->gather_l3 : s->gather_l2 - s->gather_l1; /* a page is looked up, too */

    return ((lines[0] - lines[1]) * line_ns + (lines[1] - lines[2]) * s->gather_l3 +
            lines[2] * s->gather_memory) /
           threads;
}

/* Adds the time of one access by the lines that it fetches from beyond each cache. No cache is
 * passed by more lines than the one before it. Accesses that hop (256 bytes or more) or gather are
 * latencies; others are streams. */
static void add_crossing(const access_list *q, const traced_access *a, double all, int threads,
                         rd_traffic_ns *sum)
{
    const double level[LEVELS] = { (double)q->s->bytes_l1, (double)q->s->bytes_l2,
                                   (double)q->s->bytes_l3 };
    double       touched[MOST_LOOPS], lines[LEVELS];

    for (int k = 0; k < a->n; k++)
        touched[k] = touched_in(q, a->stride[k].loop);
    for (int k = 0; k < LEVELS; k++) {
        lines[k] = lines_crossing(a, touched, all, level[k]);
        lines[k] = k > 0 && lines[k] > lines[k - 1] ? lines[k - 1] : lines[k];
    }
    if (a->hops || a->region > 0)
        sum->looked_up += looked_up_ns(q->s, lines, a->far, threads);
    else
        sum->streams += stream_ns(q, a, lines, threads);
}

/* Lists the accesses of the tree, then adds the time of lines that cross each level.  Where all
 * that is touched fits into the first level, nothing crosses. Both times are NAN without memory for
 * the list. */
rd_traffic_ns rd_memory_traffic(const rd_schedule *t, const rd_speeds *s, const rd_loop_rounds *r,
                                int threads)
{
    access_list *const q   = malloc(sizeof *q);
    rd_traffic_ns      sum = { 0 };

    if (!q)
        return (rd_traffic_ns){ NAN, NAN };
    q->t = t;
    q->s = s;
    q->r = r;
    q->n = 0;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t i = rd_next_stmt(t, t->part[k], t->part[k]); i >= 0;
             i         = rd_next_stmt(t, i, t->part[k]))
            add_access(q, i);
    const double touched = touched_in(q, /*loop=*/-1);

    for (int k = 0; k < q->n && touched > (double)s->bytes_l1; k++)
        add_crossing(q, &q->at[k], touched, threads, &sum);
    free(q);
    return sum;
}

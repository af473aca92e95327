/* price_memory.c - the time of a load or a store that hits a cache.
 *
 * The stride of an access is its distance in memory from one round of a loop to the next, in
 * elements.  Numbers such as EXPOSED, ONE and APART are estimates.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A cell
 * is one result of a fold, with its accumulators. */
#include "core/caches.h"
#include "kernels/loop/price_statement.h"
#include "kernels/loop/facts.h"
#include "kernels/loop/table_lookups.h"
#include <math.h>

/* Returns the time, for one element of a vector, to widen what a load of a narrow type reads, or
 * to narrow what a store writes. A type that vectors hold as narrow as memory costs nothing. */
static double widen_ns(const rd_speeds *s, rd_dtype type)
{
    const int memory = rd_dtype_size(type), size = type == RD_BOOL ? 1 : rd_size_in_vector(type);

    return memory < size ? s->convert * size / s->vector : 0;
}

/* True if neighbouring rounds of the vector loop have a constant distance in memory; *by gets it in
 * elements, without its sign. */
bool rd_has_known_stride(const rd_price_site *at, int32_t stmt, int64_t *by)
{
    const rd_stride stride = rd_usual_stride(at->t, at->vector, stmt);

    *by = stride.by < 0 ? -stride.by : stride.by;
    return stride.known;
}

/* Returns how many rounds of loops around the vector loop, within its region (loops that share
 * strips), find the same elements. Scattered elements are collected into an array once for all of
 * them. */
static double reuse_of(const rd_price_site *at, int32_t stmt)
{
    double rounds = 1;

    for (int32_t s = rd_loop_around(at->t, stmt); s >= 0 && rd_stands_in(at->t, s, at->top);
         s         = rd_loop_around(at->t, s)) {
        if (s == at->vector)
            continue;
        const rd_stride stride = rd_usual_stride(at->t, s, stmt);

        if (stride.known && stride.by == 0)
            rounds *= fmax(1, rd_trips_of(at->t, s));
    }
    return rounds;
}

/* Returns the time of cache conflicts for elements that lie `apart` bytes from each other. The
 * first level has 64 sets of 8 lines; each factor of two in the stride halves the sets that are
 * used. If a strip (a range that vector loops visit) has more elements than fit there, each line
 * is fetched again from the second level. */
static double conflict_ns(const rd_price_site *at, int64_t apart)
{
    enum { LINE = 64, SETS = 64, WAYS = 8 };
    const double rounds = fmin(rd_trips_of(at->t, at->vector), RD_PRICED_STRIP);
    int64_t      sets   = apart % LINE == 0 ? SETS : 0; /* 0: elements reach all sets */

    if (sets == 0)
        return 0;
    for (int64_t stride = apart; stride % (2 * LINE) == 0 && sets > 1; stride /= 2)
        sets /= 2;
    return rounds > (double)(WAYS * sets) ? LINE / at->s->l2 : 0;
}

/* Returns the time that an element of a long loop waits for its line from the second level, where
 * the stride is large.  Most of it overlaps with other work. EXPOSED, the part that does not, is
 * an estimate. */
static double line_latency_ns(const rd_price_site *at, int32_t loop, int32_t stmt, rd_dtype type)
{
    enum { SMALL_STRIDE = 4, LINE = 64 };
    static const double EXPOSED = 0.4;
    const rd_stride     stride  = loop >= 0 ? rd_usual_stride(at->t, loop, stmt) : (rd_stride){ 0 };
    const int64_t       by      = stride.by < 0 ? -stride.by : stride.by;
    const double        bytes   = (double)by * rd_dtype_size(type);

    if (!stride.known || by <= SMALL_STRIDE || rd_trips_of(at->t, loop) * LINE <= RD_L1_BYTES)
        return 0;
    return EXPOSED * fmin(bytes, LINE) / at->s->l2;
}

/* True if the load's innermost loop goes over the few columns that fill a row (`by`: elements from
 * row to row), for steps that each have a cell (accumulator) of their own. Pass `flatten_folds`
 * reads such rows contiguously, as one loop over memory. Beside the steps only values, ends of
 * blocks and early exits may stand in it. */
static bool is_flat(const rd_price_site *at, int32_t stmt, int64_t by)
{
    const int32_t   loop   = rd_loop_around(at->t, stmt);
    const rd_stride stride = loop >= 0 ? rd_usual_stride(at->t, loop, stmt) : (rd_stride){ 0 };

    /* The loop must stand directly in the vector loop, and its columns must fill the row: `by`
     * elements from row to row. */
    if (loop < 0 || loop == at->vector || rd_loop_around(at->t, loop) != at->vector ||
        !stride.known || stride.by != 1 || rd_loop_of(at->t, loop)->extent != by ||
        by > RD_FLAT_COLUMNS)
        return false;
    for (int32_t s = at->t->stmt[loop].first; s >= 0; s = at->t->stmt[s].next) {
        const rd_stmt *in = &at->t->stmt[s];

        if (in->kind != RD_S_LET && in->kind != RD_S_PUSH_IF_LAST && in->kind != RD_S_EXIT &&
            (in->kind != RD_S_STEP ||
             !rd_linear_coef(at->t, &in->fold_at.cell, rd_loop_of(at->t, loop)->axis)))
            return false;
    }
    return true;
}

/* True if the access has this stride, in elements, along the loop. */
static bool has_stride(const rd_price_site *at, int32_t loop, int32_t stmt, int64_t by)
{
    const rd_stride stride = rd_usual_stride(at->t, loop, stmt);

    return stride.known && stride.by == by;
}

/* Returns the number of columns of an inner loop that holds only maps and stores dense results, row
 * behind row; 0: it is no such loop. Pass `flatten_maps` then goes through memory contiguously. The
 * loop must stand directly in the vector loop (at->vector), and have 2 to RD_FLAT_COLUMNS columns,
 * n elements from row to row. */
static int64_t columns_of_map(const rd_price_site *at, int32_t stmt)
{
    const int32_t loop      = rd_loop_around(at->t, stmt);
    bool          has_store = false;

    if (loop < 0 || loop == at->vector || rd_loop_around(at->t, loop) != at->vector)
        return 0;
    const int64_t n = rd_loop_of(at->t, loop)->extent;

    for (int32_t s = at->t->stmt[loop].first; s >= 0; s = at->t->stmt[s].next) {
        const rd_stmt *in = &at->t->stmt[s];

        if (in->kind != RD_S_LET && (in->kind != RD_S_STORE || !has_stride(at, loop, s, /*by=*/1) ||
                                     !has_stride(at, at->vector, s, n)))
            return 0;
        has_store |= in->kind == RD_S_STORE;
    }
    return has_store && n > 1 && n <= RD_FLAT_COLUMNS && has_stride(at, loop, stmt, /*by=*/1) ? n
                                                                                              : 0;
}

/* Returns the time of an element at a computed index: by a lookup in registers if the table is
 * small, else by a gather. */
static double gathered_ns(const rd_price_site *at, int32_t stmt, rd_dtype type)
{
    rd_lookup l;

    return rd_is_lookup(at->t, stmt, rd_loop_of(at->t, at->vector)->axis, &l) &&
                   rd_lookup_pays(at->s, &l, type)
               ? rd_lookup_ns(at->s, &l, type)
               : rd_gather_ns(at->s);
}

/* Adds the time of a load or store to *to, and of the arithmetic with it to *e. Outside of vectors
 * (at->vector < 0) it is a scalar instruction; within them, what does not vary costs nothing. Rows
 * with gaps are packed; strides up to 4 are vector accesses and shuffles; others are copied one by
 * one to an array, which is then loaded densely. The constants are estimates, in units of a scalar
 * load and store. */
void rd_price_access(const rd_price_site *at, int32_t stmt, rd_dtype type, bool vector, double *to,
                     rd_unit_ns *e)
{
    enum { SMALL_STRIDE = 4, LINE = 64 };
    static const double ONE = 0.3, IN_LINE = 0.7, APART = 1.5; /* of a load and a store */
    const rd_speeds    *s        = at->s;
    const double        dense_ns = rd_dtype_size(type) / s->l1;
    int64_t             by       = 1;

    if (!vector) {
        if (at->vector < 0)
            *to += ONE * s->one_memory + line_latency_ns(at, at->loop, stmt, type);
        return;
    }
    const bool known = rd_has_known_stride(at, stmt, &by);

    const int64_t columns = known && by > 1 ? columns_of_map(at, stmt) : 0;

    if (known && (is_flat(at, stmt, by) || by == columns))
        by = 1;
    if (columns && by > columns) { /* rows that lie apart are put one behind the other */
        *to += dense_ns * (2 + (double)by / (double)columns);
        e->arithmetic += 2 * s->shuffle * rd_dtype_size(type) / s->vector + widen_ns(s, type);
        return;
    }
    if (known && by <= SMALL_STRIDE) {
        *to += dense_ns * (double)by;
        e->arithmetic +=
            widen_ns(s, type) + (by > 1 ? s->shuffle * rd_dtype_size(type) / s->vector : 0);
        return;
    }
    const double  reuse = reuse_of(at, stmt);
    const int64_t apart = by * rd_dtype_size(type);
    const double  one   = (apart <= LINE && by > 1 ? IN_LINE : APART) * s->one_memory;

    /* Scattered elements go through an array. */
    *to +=
        2 * rd_size_in_vector(type) / s->l1 +
        (known ? conflict_ns(at, apart) + line_latency_ns(at, at->vector, stmt, type) : 0) / reuse;
    e->arithmetic += (known ? one : gathered_ns(at, stmt, type)) / reuse;
}

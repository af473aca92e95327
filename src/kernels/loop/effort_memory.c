/* effort_memory.c - what a load or a store takes of memory that is near. */
#include "core/caches.h"
#include "kernels/loop/effort_parts.h"
#include "kernels/loop/facts.h"
#include "kernels/loop/lookups.h"
#include <math.h>

/* Loads of narrow types widen what they read, stores narrow it. */
static double widen_ns(const rd_speeds *s, rd_dtype type)
{
    const int memory = rd_dtype_size(type), size = type == RD_BOOL ? 1 : rd_size_in_vector(type);

    return memory < size ? s->convert * size / s->vector : 0;
}

bool rd_access_is_known(const rd_spot *at, int32_t stmt, int64_t *by)
{
    const rd_move move = rd_access_moves(at->t, at->vector, stmt);

    *by = move.by < 0 ? -move.by : move.by;
    return move.known;
}

/* Rounds of loops in the region that find the same elements: what lies apart is collected once
 * for them, side by side. */
static double reuse_of(const rd_spot *at, int32_t stmt)
{
    double rounds = 1;

    for (int32_t s = rd_loop_around(at->t, stmt); s >= 0 && rd_stands_in(at->t, s, at->top);
         s         = rd_loop_around(at->t, s)) {
        if (s == at->vector)
            continue;
        const rd_move move = rd_access_moves(at->t, s, stmt);

        if (move.known && move.by == 0)
            rounds *= fmax(1, rd_trips_of(at->t, s));
    }
    return rounds;
}

/* Elements that lie in few sets of the first level drive each other out of it, so that each brings
 * its line anew. */
static double collisions_ns(const rd_spot *at, int64_t apart)
{
    enum { LINE = 64, SETS = 64, WAYS = 8 };
    const double rounds = fmin(rd_trips_of(at->t, at->vector), RD_EFFORT_STRIP);
    int64_t      lines  = apart % LINE == 0 ? SETS : 0; /* else they reach all sets */

    if (lines == 0)
        return 0;
    for (int64_t by = apart; by % (2 * LINE) == 0 && lines > 1; by /= 2)
        lines /= 2;
    return rounds > (double)(WAYS * lines) ? LINE / at->s->l2 : 0;
}

/* How long an element of a long loop waits for its line from the second level, where neighbours
 * lie apart. Most of that goes on beside other work. */
static double lines_ns(const rd_spot *at, int32_t loop, int32_t stmt, rd_dtype type)
{
    enum { NEAR = 4, LINE = 64 };
    static const double SEEN  = 0.4;
    const rd_move       move  = loop >= 0 ? rd_access_moves(at->t, loop, stmt) : (rd_move){ 0 };
    const int64_t       by    = move.by < 0 ? -move.by : move.by;
    const double        bytes = (double)by * rd_dtype_size(type);

    if (!move.known || by <= NEAR || rd_trips_of(at->t, loop) * LINE <= RD_L1_BYTES)
        return 0;
    return SEEN * fmin(bytes, LINE) / at->s->l2;
}

/* Does a load of the innermost loop read few columns, all that lie in a row, for steps of their own
 * cells?  Pass `flatten_folds` reads such rows one behind the other. */
static bool is_flat(const rd_spot *at, int32_t stmt, int64_t by)
{
    const int32_t loop = rd_loop_around(at->t, stmt);
    const rd_move move = loop >= 0 ? rd_access_moves(at->t, loop, stmt) : (rd_move){ 0 };

    if (loop < 0 || loop == at->vector || rd_loop_around(at->t, loop) != at->vector ||
        !move.known || move.by != 1 || rd_loop_of(at->t, loop)->extent != by || by > RD_FLAT)
        return false;
    for (int32_t s = at->t->stmt[loop].first; s >= 0; s = at->t->stmt[s].next) {
        const rd_stmt *in = &at->t->stmt[s];

        if (in->kind != RD_S_LET && in->kind != RD_S_ENDS && in->kind != RD_S_EXIT &&
            (in->kind != RD_S_STEP ||
             !rd_linear_coef(at->t, &in->of.cell, rd_loop_of(at->t, loop)->axis)))
            return false;
    }
    return true;
}

static bool moves_by(const rd_spot *at, int32_t loop, int32_t stmt, int64_t by)
{
    const rd_move move = rd_access_moves(at->t, loop, stmt);

    return move.known && move.by == by;
}

/* Columns of a loop in the vector loop that has nothing but maps, whose results lie one behind the
 * other; 0: it is no such loop.  Pass `flatten_maps` goes through memory as it lies. */
static int64_t columns_of_map(const rd_spot *at, int32_t stmt)
{
    const int32_t loop = rd_loop_around(at->t, stmt);
    bool          some = false;

    if (loop < 0 || loop == at->vector || rd_loop_around(at->t, loop) != at->vector)
        return 0;
    const int64_t n = rd_loop_of(at->t, loop)->extent;

    for (int32_t s = at->t->stmt[loop].first; s >= 0; s = at->t->stmt[s].next) {
        const rd_stmt *in = &at->t->stmt[s];

        if (in->kind != RD_S_LET && (in->kind != RD_S_STORE || !moves_by(at, loop, s, 1) ||
                                     !moves_by(at, at->vector, s, n)))
            return 0;
        some |= in->kind == RD_S_STORE;
    }
    return some && n > 1 && n <= RD_FLAT && moves_by(at, loop, stmt, 1) ? n : 0;
}

/* What an element takes at a place that memory says. */
static double chosen_ns(const rd_spot *at, int32_t stmt, rd_dtype type)
{
    rd_lookup l;

    return rd_is_lookup(at->t, stmt, rd_loop_of(at->t, at->vector)->axis, &l) &&
                   rd_lookup_pays(at->s, &l, type)
               ? rd_lookup_ns(at->s, &l, type)
               : rd_gather_ns(at->s);
}

/* Elements side by side are a vector's loads or stores.  Those that lie apart are copied one by
 * one to an array, and from there are loaded side by side. */
void rd_effort_add_access(const rd_spot *at, int32_t stmt, rd_dtype type, bool vector, double *to,
                          rd_effort *e)
{
    enum { NEAR = 4, LINE = 64 };
    static const double ONE = 0.3, IN_LINE = 0.7, APART = 1.5; /* of a load and a store */
    const rd_speeds    *s    = at->s;
    const double        near = rd_dtype_size(type) / s->l1;
    int64_t             by   = 1;

    if (!vector) {
        if (at->vector < 0)
            *to += ONE * s->one_memory + lines_ns(at, at->loop, stmt, type);
        return;
    }
    const bool known = rd_access_is_known(at, stmt, &by);

    const int64_t columns = known && by > 1 ? columns_of_map(at, stmt) : 0;

    if (known && (is_flat(at, stmt, by) || by == columns))
        by = 1;
    if (columns && by > columns) { /* rows that lie apart are put one behind the other */
        *to += near * (2 + (double)by / (double)columns);
        e->units += 2 * s->shuffle * rd_dtype_size(type) / s->vector + widen_ns(s, type);
        return;
    }
    if (known && by <= NEAR) {
        *to += near * (double)by;
        e->units += widen_ns(s, type) + (by > 1 ? s->shuffle * rd_dtype_size(type) / s->vector : 0);
        return;
    }
    const double  reuse = reuse_of(at, stmt);
    const int64_t apart = by * rd_dtype_size(type);
    const double  one   = (apart <= LINE && by > 1 ? IN_LINE : APART) * s->one_memory;

    /* By way of an array. */
    *to += 2 * rd_size_in_vector(type) / s->l1 +
           (known ? collisions_ns(at, apart) + lines_ns(at, at->vector, stmt, type) : 0) / reuse;
    e->units += (known ? one : chosen_ns(at, stmt, type)) / reuse;
}

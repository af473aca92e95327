/* ahead.c - rows that go together: while some are computed, as many behind them are fetched, in the
 * order in which they lie, a part of a row at a time.
 *
 *     serial i1 by 4, starts m4 {             serial i1 by 4, starts m4 {
 *       vector i0 from m0 to m1 .. }            serial i0 of 32 .., starts m6 {
 *                                                 fetch 128 from s0[..]
 *                                                 vector i0 from m6 to m7 .. }
 *                                               once i0 ..  { vector i0 .. } }
 *
 * Side by side rows are as many streams, which memory serves more slowly than one, and some processors
 * stop between rows of 4 KiB.  Where processors gain by it (simd/prefetch.c).  On a Zen 4, f64, 8192 x 8192,
 * largest of columns, of the loop by hand: 1.45 without, 1.10 with. */
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/numbers.h"
#include "kernels/pass/parts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"

typedef struct rows {
    rd_schedule *t;
    int32_t      loop, vector, strips, parts; /* statements */
    int64_t      n;                           /* of a round */
    int32_t      part;                        /* elements of one row that are done at a time */
} rows;

static rd_linear mark(const rows *r, int64_t times, int32_t axis)
{
    return rd_linear_plus_axis(r->t, rd_linear_of(0), times, axis);
}

static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* ---- Which loads ------------------------------------------------------------------------------ */
/* The first of the rows in the vector loop, -1. */
static int32_t first_row(const rows *r)
{
    const rd_schedule *t = r->t;

    for (int32_t s = t->stmt[r->vector].first; s >= 0; s = t->stmt[s].next) {
        const rd_for *loop = loop_at(t, s);

        if (loop && loop->kind == RD_FOR_UNROLL && loop->axis == rd_loop_of(t, r->loop)->axis)
            return s;
    }
    return -1;
}

/* Of operands that lie alike, as a mask and what it masks, the first alone comes near: one stream more
 * costs more than it gains (the mean of columns by a mask, f64: 1.43 of the time). */
static bool is_first(const rows *r, int32_t row, int32_t load)
{
    const rd_schedule *t   = r->t;
    const rd_let      *let = &t->let[t->stmt[load].value];

    for (int32_t s = rd_next_stmt(t, row, row); s != load; s = rd_next_stmt(t, s, row))
        if (t->stmt[s].kind == RD_S_LET && t->let[t->stmt[s].value].kind == RD_I_LOAD &&
            rd_linear_same(t, &t->let[t->stmt[s].value].at, &let->at))
            return false;
    return true;
}

/* The next load behind `last` that comes near, -1. */
static int32_t next_load(const rows *r, int32_t row, int32_t last)
{
    const int32_t axis = rd_loop_of(r->t, r->vector)->axis;

    for (int32_t s = rd_next_stmt(r->t, last, row); s >= 0; s = rd_next_stmt(r->t, s, row))
        if (rd_comes_in_rows(r->t, s, r->loop, axis) && is_first(r, row, s))
            return s;
    return -1;
}

/* ---- What is fetched -------------------------------------------------------------------------- */
/* Behind the first element of the first row behind these: so many have come in parts before, row after
 * row, of which each lies `pitch` elements behind the one before it. */
static rd_linear behind_first(const rows *r, int64_t pitch)
{
    rd_schedule    *t      = r->t;
    rd_numbers      n      = { t, r->vector };
    const rd_for    strips = *rd_loop_of(t, r->strips);
    rd_linear       passed = mark(r, r->n, rd_loop_of(t, r->parts)->start), found;
    const rd_linear row    = rd_linear_plus_axis(t, mark(r, 1, strips.stop), -1, strips.start);

    passed = rd_linear_plus_axis(t, passed, -r->n, strips.start);
    found  = passed;
    for (int64_t k = 1; k < r->n; k++) {
        const rd_linear rows_before = rd_linear_plus(t, rd_linear_of(0), k, row);
        rd_linear       in_row      = rd_linear_plus(t, passed, -k, row);

        in_row.offset += k * pitch;
        found = rd_number_choose(&n, passed, rows_before, in_row, found);
    }
    return found;
}

static void fetch(rows *r, const rd_let *load)
{
    rd_schedule  *t    = r->t;
    const rd_for  loop = *rd_loop_of(t, r->loop), strips = *rd_loop_of(t, r->strips);
    const int64_t pitch = rd_linear_coef(t, &load->at, loop.axis);
    const rd_let  let   = *load;
    rd_linear     at    = rd_linear_with(t, let.at, strips.axis, mark(r, 1, strips.start));

    at = rd_linear_with(t, at, loop.axis, mark(r, 1, loop.start));
    at.offset += r->n * pitch;
    at = rd_linear_plus(t, at, 1, behind_first(r, pitch));
    rd_add_fetch_before(t, r->vector, &let, at, rd_linear_of(r->part * r->n));
}

/* ---- How many at a time ----------------------------------------------------------------------- */
/* The most numbers that a state has, of folds with steps in the vector loop. */
static int32_t states_in(const rows *r)
{
    const rd_schedule *t    = r->t;
    int32_t            most = 0;

    for (int32_t s = rd_next_stmt(t, r->vector, r->vector); s >= 0;
         s         = rd_next_stmt(t, s, r->vector))
        if (t->stmt[s].kind == RD_S_STEP && t->fold[t->stmt[s].fold].of.n_state > most)
            most = t->fold[t->stmt[s].fold].of.n_state;
    return most;
}

/* Has it bytes of memory beside wide elements, as a mask of doubles is? */
static bool has_bytes_beside_wide(const rows *r)
{
    const rd_schedule *t    = r->t;
    bool               wide = false, bytes = false;

    for (int32_t s = rd_next_stmt(t, r->vector, r->vector); s >= 0;
         s         = rd_next_stmt(t, s, r->vector)) {
        const rd_let *let = t->stmt[s].kind == RD_S_LET ? &t->let[t->stmt[s].value] : NULL;

        if (let && let->kind == RD_I_LOAD) {
            wide |= rd_dtype_size(let->type) == 8;
            bytes |= rd_dtype_size(let->type) == 1;
        }
    }
    return wide && bytes;
}

/* Elements of a part, of which the compiler knows how many they are: a line of bytes, or half of one where
 * states of several numbers fill the registers.  On a Zen 4, columns of 480 rows of f32, largest but for
 * NaN: 0.61 of the time by halves; sums: 1.15; f64, largest by a mask: 3. */
static int32_t part_of(const rows *r)
{
    enum { LINE = 64 };

    return states_in(r) > 1 && !has_bytes_beside_wide(r) ? LINE / 2 : LINE;
}

/* ---- Rows that go together -------------------------------------------------------------------- */
/* Parts of one length, and the rest. */
static void put_parts(rows *r)
{
    rd_schedule *t = r->t;
    rd_edge_part border;
    rd_for      *rest;
    int32_t      made;

    r->part  = part_of(r);
    r->parts = rd_put_parts_around(t, r->vector, r->vector, r->part);
    made     = rd_stmt_copy(t, r->parts);
    if (t->failed)
        return;
    border             = rd_loop_of(t, r->parts)->to.part[0];
    border.first       = rd_loop_of(t, r->parts)->from.part[0].at;
    border.by          = r->part;
    rest               = &t->loop[t->stmt[made].arg];
    rest->kind         = RD_FOR_ONCE;
    rest->from.part[0] = border;
    rest->extent       = 1;
    rd_put_behind(t, made, r->parts);
    t->loop[t->stmt[r->parts].arg].to.part[0] = border;
    t->loop[t->stmt[r->parts].arg].width      = r->part;
}

static void take(rows *r)
{
    const int32_t row  = first_row(r);
    int32_t       load = row >= 0 ? next_load(r, row, row) : -1;
    rd_schedule  *t    = r->t;

    if (load < 0)
        return;
    put_parts(r);
    for (; load >= 0 && !t->failed; load = next_load(r, row, load))
        fetch(r, &t->let[t->stmt[load].value]);
}

/* The vector loop in the loop whose rounds go through it together, behind values of all its rounds; -1. */
static int32_t vector_in(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = loop_at(t, stmt);
    int32_t       s    = loop ? t->stmt[stmt].first : -1;

    while (s >= 0 && t->stmt[s].kind == RD_S_LET)
        s = t->stmt[s].next;
    return s >= 0 && loop->kind == RD_FOR_SERIAL && loop->strip < 0 && loop->step > 1 &&
                   loop->start >= 0 && loop_at(t, s) && loop_at(t, s)->kind == RD_FOR_VECTOR
               ? s
               : -1;
}

void rd_pass_ahead(rd_schedule *t, const rd_target *target)
{
    if (!target->strips || !rd_prefetches_rows_behind)
        return;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            rows r = { .t = t, .loop = s, .vector = s < n ? vector_in(t, s) : -1 };

            r.strips = r.vector >= 0 ? rd_strips_around(t, s) : -1;
            if (r.strips < 0 || !target->strips->at[rd_loop_of(t, r.strips)->strip].wide)
                continue;
            r.n = rd_loop_of(t, s)->step;
            take(&r);
        }
}

/* fetch.c - what is fetched ahead: rows that several loops of an item read, the next one while they
 * compute; and rows that a fold takes by lanes, further along.
 *
 *     serial i1 of 64 .. starts m2 {
 *       fetch s0[1024 * i0 + m2 + 1024]
 *       vector i1 { r2 = load s0[1024 * i0 + i1] .. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/parts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"

typedef struct fetching {
    rd_schedule    *t;
    const rd_strip *r;
    int32_t         strip, vector, load; /* statements */
} fetching;

static const rd_let *let_of(const fetching *f)
{
    return &f->t->let[f->t->stmt[f->load].value];
}

static void add_fetch(fetching *f, int64_t further)
{
    rd_schedule  *t     = f->t;
    const rd_for *loop  = rd_loop_of(t, f->strip);
    const int32_t start = loop->start, stop = loop->stop;
    rd_linear     at;

    at = rd_linear_with(t, let_of(f)->at, loop->axis,
                        rd_linear_plus_axis(t, rd_linear_of(further), 1, start));
    rd_add_fetch_before(
        t, f->vector, let_of(f), at,
        rd_linear_plus_axis(t, rd_linear_plus_axis(t, rd_linear_of(0), 1, stop), -1, start));
}

/* Is it a load of neighbours, of what the program only reads? */
static bool may_be_fetched(const fetching *f)
{
    const rd_stmt *s   = &f->t->stmt[f->load];
    const rd_let  *let = s->kind == RD_S_LET ? &f->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD && let->slot >= 0 &&
           rd_linear_coef(f->t, &let->at, f->r->axis) == 1 && !rd_has_values(f->t, &let->at) &&
           !rd_program_accesses(f->t->p, RD_I_STORE, let->slot);
}

/* ---- The next row ----------------------------------------------------------------------------- */
/* The loop over rows around the strips, -1. */
static int32_t row_of(const fetching *f)
{
    int32_t s = f->t->stmt[f->strip].parent;

    while (s >= 0 && (f->t->stmt[s].kind != RD_S_LOOP || rd_loop_of(f->t, s)->kind == RD_FOR_BLOCK))
        s = f->t->stmt[s].parent;
    return s >= 0 && rd_loop_of(f->t, s)->of >= 0 ? s : -1;
}

/* Loops of the row that read the same elements before these: of strips and their rest, or of parts, one
 * counts. */
static int32_t loads_before(const fetching *f, int32_t row)
{
    int32_t count = 0, last = -1;

    for (int32_t s = row; s != f->load; s = rd_next_stmt(f->t, s, row)) {
        const rd_stmt *stmt   = &f->t->stmt[s];
        const rd_let  *let    = stmt->kind == RD_S_LET ? &f->t->let[stmt->value] : NULL;
        const int32_t  around = rd_strips_around(f->t, s);
        const int32_t  strip  = around >= 0 ? rd_loop_of(f->t, around)->strip : -1;

        if (!let || strip < 0 || let->kind != RD_I_LOAD || let->slot != let_of(f)->slot ||
            strip == last ||
            (strip == rd_loop_of(f->t, f->strip)->strip && !rd_loop_of(f->t, f->strip)->part) ||
            !rd_linear_same(f->t, &let->at, &let_of(f)->at))
            continue;
        count++;
        last = strip;
    }
    return count;
}

static void fetch_row(fetching *f)
{
    const bool    part = rd_loop_of(f->t, f->strip)->part;
    const int32_t row  = f->r->around && !part ? -1 : row_of(f);
    const int64_t coef =
        row >= 0 ? rd_linear_coef(f->t, &let_of(f)->at, rd_loop_of(f->t, row)->axis) : 0;
    const double bytes = (double)rd_reach(f->t->p, f->r->axis) * rd_dtype_size(let_of(f)->type);

    if (coef && bytes * 4 <= RD_L2_BYTES &&
        bytes * (double)rd_trips(f->t->p, rd_loop_of(f->t, row)->of) >= rd_cached_bytes() &&
        loads_before(f, row) == !part)
        add_fetch(f, coef);
}

/* ---- The next rows ---------------------------------------------------------------------------- */
static bool loads_same(const fetching *f, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(f->t, s, loop)) {
        const rd_stmt *stmt = &f->t->stmt[s];
        const rd_let  *let  = stmt->kind == RD_S_LET ? &f->t->let[stmt->value] : NULL;

        if (let && let->kind == RD_I_LOAD && let->slot == let_of(f)->slot &&
            rd_linear_same(f->t, &let->at, &let_of(f)->at))
            return true;
    }
    return false;
}

/* The loop over a few rows that the pass `rounds` made, where a loop before it has read the same rows; -1. */
static int32_t rows_again(const fetching *f)
{
    const rd_schedule *t    = f->t;
    const int32_t      rows = t->stmt[f->strip].parent, around = t->stmt[rows].parent;
    const rd_for      *l = t->stmt[rows].kind == RD_S_LOOP ? rd_loop_of(t, rows) : NULL;
    const rd_for      *outer =
        around >= 0 && t->stmt[around].kind == RD_S_LOOP ? rd_loop_of(t, around) : NULL;

    if (!l || !outer || l->kind != RD_FOR_SERIAL || outer->kind != RD_FOR_SERIAL ||
        outer->axis != l->axis || outer->step <= 1)
        return -1;
    for (int32_t s = t->stmt[rows].prev; s >= 0; s = t->stmt[s].prev)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis == l->axis && loads_same(f, s))
            return rows;
    return -1;
}

/* While memory waits for these, it brings as many rows that follow. */
static void fetch_rows(fetching *f)
{
    const rd_schedule *t    = f->t;
    const int32_t      rows = rows_again(f);
    const int64_t      coef =
        rows >= 0 ? rd_linear_coef(t, &let_of(f)->at, rd_loop_of(t, rows)->axis) : 0;

    if (coef && rd_bytes_of_axes(t, &let_of(f)->at, let_of(f)->type) > rd_cached_bytes())
        add_fetch(f, coef * rd_loop_of(t, t->stmt[rows].parent)->step);
}

/* ---- Further along ---------------------------------------------------------------------------- */
static bool has_lanes(const fetching *f, const rd_strips *strips)
{
    for (int32_t s = f->strip; s >= 0; s = rd_next_stmt(f->t, s, f->strip))
        if (f->t->stmt[s].kind == RD_S_STEP && strips->fold[f->t->stmt[s].fold].lanes)
            return true;
    return false;
}

/* Where a processor stops between rows and pages it goes on by this (simd/prefetch.c).  Lower triangle of
 * 8192 x 8192 f32, sums of rows: 1.43 of the loop by hand without, 1.18 with. */
static void fetch_along(fetching *f, const rd_strips *strips)
{
    enum { DISTANCE = 2048, LEAST = 256 }; /* bytes */
    const int32_t size = rd_dtype_size(let_of(f)->type);
    const rd_for *loop = rd_loop_of(f->t, f->strip);

    if (rd_prefetches_rows && loop->kind == RD_FOR_SERIAL && loop->width * size >= LEAST &&
        has_lanes(f, strips) &&
        rd_bytes_of_axes(f->t, &let_of(f)->at, let_of(f)->type) > rd_cached_bytes())
        add_fetch(f, DISTANCE / size);
}

/* ---- All together ----------------------------------------------------------------------------- */
static void look_at(rd_schedule *t, int32_t vector, int32_t strip, const rd_strips *strips)
{
    for (int32_t s = t->stmt[vector].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        fetching f = { t, &strips->at[rd_loop_of(t, strip)->strip], strip, vector, s };

        if (!may_be_fetched(&f))
            continue;
        fetch_row(&f);
        fetch_rows(&f);
        fetch_along(&f, strips);
    }
}

void rd_pass_fetch(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

            if (loop && loop->kind == RD_FOR_VECTOR && !loop->by_call && !loop->stream &&
                rd_strips_around(t, s) >= 0)
                look_at(t, s, rd_strips_around(t, s), target->strips);
        }
}

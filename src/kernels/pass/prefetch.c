/* prefetch.c - The pass prefetch adds software prefetch. It fetches the next row while several
 * loops of an item compute on this row, the next chunk of rows, and elements further along a row
 * that a fold reads by lanes.
 *
 *     serial i1 of 64 .. starts m2 {
 *       fetch s0[1024 * i0 + m2 + 1024]
 *       vector i1 { r2 = load s0[1024 * i0 + i1] .. } }
 *
 * A strip is a range of indices that the loop r->axis visits at a time, and a substrip a part of
 * one.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"
#include "kernels/pass/substrips.h"

/* One load, and the loops around it.  `r` describes the strips (ranges of an axis that vector loops
 * visit) over which the loop `strip` runs. */
typedef struct prefetching {
    rd_schedule    *t;
    const rd_strip *r;
    int32_t         strip, vector, load; /* statements */
} prefetching;

/* Returns the load for which prefetches are made. */
static const rd_tree_value *load_of(const prefetching *f)
{
    return &f->t->let[f->t->stmt[f->load].value];
}

/* Puts a PREFETCH before the vector loop: as many elements as the strip has (stop - start),
 * `further` elements behind those that the load reads in this strip. */
static void add_fetch(prefetching *f, int64_t further)
{
    rd_schedule  *t     = f->t;
    const rd_for *loop  = rd_loop_of(t, f->strip);
    const int32_t start = loop->start_mark, stop = loop->stop_mark;
    rd_linear     at;

    at = rd_linear_with(t, load_of(f)->at, loop->axis,
                        rd_linear_plus_axis(t, rd_linear_of(further), /*coef=*/1, start));
    rd_add_prefetch_before(
        t, f->vector, load_of(f), at,
        rd_linear_plus_axis(t, rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, stop),
                            /*coef=*/-1, start));
}

/* True if the statement loads adjacent elements, at an address without data, of an array of the
 * program (slot >= 0) that the program does not write. */
static bool can_prefetch(const prefetching *f)
{
    const rd_stmt       *s   = &f->t->stmt[f->load];
    const rd_tree_value *let = s->kind == RD_S_LET ? &f->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD && let->slot >= 0 &&
           rd_linear_coef(f->t, &let->at, f->r->axis) == 1 &&
           !rd_is_data_dependent(f->t, &let->at) &&
           !rd_program_accesses(f->t->p, RD_I_STORE, let->slot);
}

/* ---- The next row ---------------------------------------------------------------------------- */
/* Returns the loop of the program that is the next one around the loop over strips (ranges that
 * vector loops visit), whose rounds are rows; block loops are left out. -1: there is none
 * (program_loop -1: it comes from a pass). */
static int32_t loop_over_rows(const prefetching *f)
{
    int32_t s = f->t->stmt[f->strip].parent;

    while (s >= 0 && (f->t->stmt[s].kind != RD_S_LOOP || rd_loop_of(f->t, s)->kind == RD_FOR_BLOCK))
        s = f->t->stmt[s].parent;
    return s >= 0 && rd_loop_of(f->t, s)->program_loop >= 0 ? s : -1;
}

/* Returns the number of loops over strips in the row's body, before the load at hand, that read the
 * same elements. Loops with the same number `strip` count once, as strips and their tail do; those
 * with the number of the load's own strips do not count, unless that is a substrip (part of a
 * strip). rd_strips_around() is the loop over strips around a statement; -1: none. `last` is the
 * number of the strips that were counted last. */
static int32_t count_earlier_loops(const prefetching *f, int32_t row)
{
    int32_t count = 0, last = -1;

    for (int32_t s = row; s != f->load; s = rd_next_stmt(f->t, s, row)) {
        const rd_stmt       *stmt   = &f->t->stmt[s];
        const rd_tree_value *let    = stmt->kind == RD_S_LET ? &f->t->let[stmt->value] : NULL;
        const int32_t        around = rd_strips_around(f->t, s);
        const int32_t        strip  = around >= 0 ? rd_loop_of(f->t, around)->strips_number : -1;

        if (!let || strip < 0 || let->kind != RD_I_LOAD || let->slot != load_of(f)->slot ||
            strip == last ||
            (strip == rd_loop_of(f->t, f->strip)->strips_number &&
             !rd_loop_of(f->t, f->strip)->substrip) ||
            !rd_linear_same(f->t, &let->at, &load_of(f)->at))
            continue;
        count++;
        last = strip;
    }
    return count;
}

/* Prefetches the next row in the second loop that reads a row; in substrips (parts of a strip), in
 * the first. Only if four rows fit the second-level cache, so that a prefetched row is still there,
 * and all rows together do not fit the caches. `coef`: elements from row to row. If one loop over
 * strips stands around several loops over the axis (`around`), rows are prefetched in substrips
 * only. */
static void prefetch_next_row(prefetching *f)
{
    const bool    is_substrip = rd_loop_of(f->t, f->strip)->substrip;
    const int32_t row         = f->r->around && !is_substrip ? -1 : loop_over_rows(f);
    const int64_t coef =
        row >= 0 ? rd_linear_coef(f->t, &load_of(f)->at, rd_loop_of(f->t, row)->axis) : 0;
    const double bytes =
        (double)rd_most_indices(f->t->p, f->r->axis) * rd_dtype_size(load_of(f)->type);

    if (coef && bytes * 4 <= RD_L2_BYTES &&
        bytes * (double)rd_trips(f->t->p, rd_loop_of(f->t, row)->program_loop) >=
            rd_cached_bytes() &&
        count_earlier_loops(f, row) == (is_substrip ? 0 : 1))
        add_fetch(f, coef);
}

/* ---- The next rows --------------------------------------------------------------------------- */
/* True if the loop reads the same elements as the load at hand. */
static bool has_same_load(const prefetching *f, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(f->t, s, loop)) {
        const rd_stmt       *stmt = &f->t->stmt[s];
        const rd_tree_value *let  = stmt->kind == RD_S_LET ? &f->t->let[stmt->value] : NULL;

        if (let && let->kind == RD_I_LOAD && let->slot == load_of(f)->slot &&
            rd_linear_same(f->t, &let->at, &load_of(f)->at))
            return true;
    }
    return false;
}

/* Returns the loop over the rows of a chunk (some rows, as pass batch_functions makes them), if an
 * earlier loop in the chunk has read the same rows; else -1. The loop over chunks, around it, is
 * over the same axis with a greater step. */
static int32_t loop_of_reread_rows(const prefetching *f)
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
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis == l->axis &&
            has_same_load(f, s))
            return rows;
    return -1;
}

/* Prefetches the next chunk of rows, one row at each row of this chunk, while the loop computes on
 * this chunk from the cache. `coef`: elements from row to row; the step of the loop over chunks is
 * the rows of a chunk. */
static void prefetch_next_rows(prefetching *f)
{
    const rd_schedule *t    = f->t;
    const int32_t      rows = loop_of_reread_rows(f);
    const int64_t      coef =
        rows >= 0 ? rd_linear_coef(t, &load_of(f)->at, rd_loop_of(t, rows)->axis) : 0;

    if (coef && rd_bytes_of_axes(t, &load_of(f)->at, load_of(f)->type) > rd_cached_bytes())
        add_fetch(f, coef * rd_loop_of(t, t->stmt[rows].parent)->step);
}

/* ---- Further along --------------------------------------------------------------------------- */
/* True if a fold takes elements of the strip (a range that vector loops visit) by lanes (partial
 * accumulators). */
static bool has_lanes(const prefetching *f, const rd_strips *strips)
{
    for (int32_t s = f->strip; s >= 0; s = rd_next_stmt(f->t, s, f->strip))
        if (f->t->stmt[s].kind == RD_S_STEP && strips->fold[f->t->stmt[s].fold].lanes)
            return true;
    return false;
}

/* Prefetches 2048 bytes further along the row, if the strip (a range that vector loops visit) has
 * at least 256 bytes and the array exceeds the caches.  Some processors stop between rows and
 * pages, and gain by it (simd/prefetch.c). Lower triangle of 8192 x 8192 f32, sums of rows: 1.43 of
 * the time of a loop by hand without, 1.18 with. rd_prefetches_rows is true on such processors.
 * `width`: elements of a strip, 0: not known. */
static void prefetch_along(prefetching *f, const rd_strips *strips)
{
    enum { DISTANCE = 2048, LEAST = 256 }; /* bytes */
    const int32_t size = rd_dtype_size(load_of(f)->type);
    const rd_for *loop = rd_loop_of(f->t, f->strip);

    if (rd_prefetches_rows && loop->kind == RD_FOR_SERIAL && loop->width * size >= LEAST &&
        has_lanes(f, strips) &&
        rd_bytes_of_axes(f->t, &load_of(f)->at, load_of(f)->type) > rd_cached_bytes())
        add_fetch(f, DISTANCE / size);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Adds the prefetches of all loads that stand directly in a vector loop over strips of one axis. */
static void prefetch_loads(rd_schedule *t, int32_t vector, int32_t strip, const rd_strips *strips)
{
    for (int32_t s = t->stmt[vector].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        prefetching f = { t, &strips->at[rd_loop_of(t, strip)->strips_number], strip, vector, s };

        if (!can_prefetch(&f))
            continue;
        prefetch_next_row(&f);
        prefetch_next_rows(&f);
        prefetch_along(&f, strips);
    }
}

/* The pass: adds software prefetch to all vector loops in strips, except loops that are one call
 * (by_call) or that only copy results past the caches (nontemporal). */
void rd_pass_prefetch(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

            if (loop && loop->kind == RD_FOR_VECTOR && !loop->by_call && !loop->nontemporal &&
                rd_strips_around(t, s) >= 0)
                prefetch_loads(t, s, rd_strips_around(t, s), target->strips);
        }
}

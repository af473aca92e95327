/* prefetch_rows.c - The pass prefetch_rows adds software prefetch to loops that read several
 * rows of a large array together. While the loop computes some rows, it prefetches as many rows
 * behind them, in the order of memory.
 *
 *     serial i1 by 4, starts m4 {             serial i1 by 4, starts m4 {
 *       vector i0 from m0 to m1 .. }            serial i0 of 32 .., starts m6 {
 *                                                 prefetch 128 from s0[..]
 *                                                 vector i0 from m6 to m7 .. }
 *                                               once i0 ..  { vector i0 .. } }
 *
 * Several rows are as many streams, which memory serves more slowly than one. Some processors
 * also stop to prefetch at the end of each 4 KiB page. The pass runs only on processors that
 * gain (simd/prefetch.c). On a Zen 4, f64, 8192 x 8192, the maximum of columns took 1.45 of the
 * time of a loop by hand without the pass, and 1.10 with it.
 *
 * A part is a range of elements of a strip, one cache line or half of one; m6 and m7 are marks,
 * bound to its first index and to the one behind its last.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/index_math.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"
#include "kernels/pass/substrips.h"

/* A loop over rows of which several rounds were merged into one vector loop (unroll-and-jam).  A
 * part is a range of elements of a row, for which one prefetch is made. */
typedef struct row_prefetch {
    rd_schedule *t;
    int32_t      loop, vector, strips, parts; /* statements; parts: the loop over parts */
    int64_t      n;                           /* rows of a round */
    int32_t      part;                        /* elements of one row in a part */
} row_prefetch;

/* Returns the position `times` multiplied by the index of the axis. */
static rd_linear axis_times(const row_prefetch *r, int64_t times, int32_t axis)
{
    return rd_linear_plus_axis(r->t, rd_linear_of(0), times, axis);
}

/* Returns the loop record of a statement; NULL: it is no loop, or no statement (-1). */
static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* ---- Which loads ----------------------------------------------------------------------------- */
/* Returns the unrolled loop of one round, in the vector loop, that has the statements of the first
 * of the merged rows; -1: there is none. */
static int32_t first_row(const row_prefetch *r)
{
    const rd_schedule *t = r->t;

    for (int32_t s = t->stmt[r->vector].first; s >= 0; s = t->stmt[s].next) {
        const rd_for *loop = loop_at(t, s);

        if (loop && loop->kind == RD_FOR_UNROLL && loop->axis == rd_loop_of(t, r->loop)->axis)
            return s;
    }
    return -1;
}

/* True if no load before this one in the row has the same address.  Operands with equal addresses,
 * such as a mask and the array that it masks, get one prefetch, as a second stream costs more than
 * it gains (mean of masked columns, f64: 1.43 of the time). */
static bool is_first_of_address(const row_prefetch *r, int32_t row, int32_t load)
{
    const rd_schedule   *t   = r->t;
    const rd_tree_value *let = &t->let[t->stmt[load].value];

    for (int32_t s = rd_next_stmt(t, row, row); s != load; s = rd_next_stmt(t, s, row))
        if (t->stmt[s].kind == RD_S_LET && t->let[t->stmt[s].value].kind == RD_I_LOAD &&
            rd_linear_same(t, &t->let[t->stmt[s].value].at, &let->at))
            return false;
    return true;
}

/* Returns the next load of the row behind `last` whose rows are prefetched, as they are of a large
 * array; -1: there is none. */
static int32_t next_prefetched_load(const row_prefetch *r, int32_t row, int32_t last)
{
    const int32_t axis = rd_loop_of(r->t, r->vector)->axis;

    for (int32_t s = rd_next_stmt(r->t, last, row); s >= 0; s = rd_next_stmt(r->t, s, row))
        if (rd_reads_large_rows(r->t, s, r->loop, axis) && is_first_of_address(r, row, s))
            return s;
    return -1;
}

/* ---- What is fetched ------------------------------------------------------------------------- */
/* Computes where the next prefetch starts, counted from the first row behind the n rows at hand.
 * Parts before this one have prefetched n elements for each of theirs, row after row; each row lies
 * `pitch` elements behind the one before.  So the start is in row k if k rows are passed. The
 * length of a row in the strip (a range that vector loops visit) is `row`. rd_index_select()
 * inserts a >= b ? x : y. */
static rd_linear offset_behind_rows(const row_prefetch *r, int64_t pitch)
{
    rd_schedule    *t      = r->t;
    rd_index_math   n      = { t, r->vector };
    const rd_for    strips = *rd_loop_of(t, r->strips);
    rd_linear       passed = axis_times(r, r->n, rd_loop_of(t, r->parts)->start_mark), found;
    const rd_linear row    = rd_linear_plus_axis(t, axis_times(r, /*times=*/1, strips.stop_mark),
                                                 /*coef=*/-1, strips.start_mark);

    passed = rd_linear_plus_axis(t, passed, -r->n, strips.start_mark);
    found  = passed;
    for (int64_t k = 1; k < r->n; k++) {
        const rd_linear rows_before = rd_linear_plus(t, rd_linear_of(0), k, row);
        rd_linear       in_row      = rd_linear_plus(t, passed, -k, row);

        in_row.offset += k * pitch;
        found = rd_index_select(&n, passed, rows_before, in_row, found);
    }
    return found;
}

/* Puts a PREFETCH for one load before the vector loop: part * n elements of the next n rows, in
 * the order of memory. Its address is the load's, with the strip's first index and the round's
 * first row put in, plus n rows, plus what earlier parts have prefetched. `pitch`: elements from
 * row to row. */
static void add_row_prefetch(row_prefetch *r, const rd_tree_value *load)
{
    rd_schedule        *t    = r->t;
    const rd_for        loop = *rd_loop_of(t, r->loop), strips = *rd_loop_of(t, r->strips);
    const int64_t       pitch = rd_linear_coef(t, &load->at, loop.axis);
    const rd_tree_value let   = *load;
    rd_linear           at =
        rd_linear_with(t, let.at, strips.axis, axis_times(r, /*times=*/1, strips.start_mark));

    at = rd_linear_with(t, at, loop.axis, axis_times(r, /*times=*/1, loop.start_mark));
    at.offset += r->n * pitch;
    at = rd_linear_plus(t, at, /*coef=*/1, offset_behind_rows(r, pitch));
    rd_add_prefetch_before(t, r->vector, &let, at, rd_linear_of(r->part * r->n));
}

/* ---- How many at a time ---------------------------------------------------------------------- */
/* Returns the largest number of values that a state (accumulator) has, over all folds with steps
 * in the vector loop. */
static int32_t max_state_count(const row_prefetch *r)
{
    const rd_schedule *t    = r->t;
    int32_t            most = 0;

    for (int32_t s = rd_next_stmt(t, r->vector, r->vector); s >= 0;
         s         = rd_next_stmt(t, s, r->vector))
        if (t->stmt[s].kind == RD_S_STEP && t->fold[t->stmt[s].fold].emit.n_state > most)
            most = t->fold[t->stmt[s].fold].emit.n_state;
    return most;
}

/* True if the loop loads elements of 1 byte and elements of 8 bytes, such as a mask of doubles. */
static bool has_bytes_beside_wide(const row_prefetch *r)
{
    const rd_schedule *t    = r->t;
    bool               wide = false, bytes = false;

    for (int32_t s = rd_next_stmt(t, r->vector, r->vector); s >= 0;
         s         = rd_next_stmt(t, s, r->vector)) {
        const rd_tree_value *let = t->stmt[s].kind == RD_S_LET ? &t->let[t->stmt[s].value] : NULL;

        if (let && let->kind == RD_I_LOAD) {
            wide |= rd_dtype_size(let->type) == 8;
            bytes |= rd_dtype_size(let->type) == 1;
        }
    }
    return wide && bytes;
}

/* Returns the elements of one part, a constant of the generated C: 64 (a cache line of bytes), or
 * 32 where states of several numbers fill the registers. Measured on a Zen 4, columns of 480 rows
 * of f32, half parts against whole ones: the maximum but for NaN took 0.61 of the time, sums 1.15,
 * the maximum of f64 by a mask 3. */
static int32_t part_size(const row_prefetch *r)
{
    enum { LINE = 64 };

    return max_state_count(r) > 1 && !has_bytes_beside_wide(r) ? LINE / 2 : LINE;
}

/* ---- Rows that go together ------------------------------------------------------------------- */
/* Splits the vector loop into parts of one length, and a tail (strip-mining). The tail runs once,
 * for the elements behind the last whole part. `border` is the end, rounded down to whole parts:
 * there the parts end and the tail begins. */
static void split_into_parts(row_prefetch *r)
{
    rd_schedule *t = r->t;
    rd_edge_part border;
    rd_for      *tail;
    int32_t      made;

    r->part  = part_size(r);
    r->parts = rd_put_substrips_around(t, r->vector, r->vector, r->part);
    made     = rd_stmt_copy(t, r->parts);
    if (t->failed)
        return;
    border             = rd_loop_of(t, r->parts)->to.part[0];
    border.base        = rd_loop_of(t, r->parts)->from.part[0].at;
    border.multiple    = r->part;
    tail               = &t->loop[t->stmt[made].arg];
    tail->kind         = RD_FOR_ONCE;
    tail->from.part[0] = border;
    tail->extent       = 1;
    rd_put_behind(t, made, r->parts);
    t->loop[t->stmt[r->parts].arg].to.part[0] = border;
    t->loop[t->stmt[r->parts].arg].width      = r->part;
}

/* Splits the vector loop into parts, and puts one PREFETCH for each load of large rows before it.
 * Does nothing if no load qualifies. Loads are searched in the first merged row, as the others
 * read the same arrays. */
static void tile_and_prefetch(row_prefetch *r)
{
    const int32_t row  = first_row(r);
    int32_t       load = row >= 0 ? next_prefetched_load(r, row, row) : -1;
    rd_schedule  *t    = r->t;

    if (load < 0)
        return;
    split_into_parts(r);
    for (; load >= 0 && !t->failed; load = next_prefetched_load(r, row, load))
        add_row_prefetch(r, &t->let[t->stmt[load].value]);
}

/* Returns the vector loop into which several rounds of a serial loop have been merged; only values
 * stand before it. Such a serial loop has a step over 1 and a start mark (start_mark >= 0), but
 * no strips. -1: the statement is no such loop. */
static int32_t merged_vector_in(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = loop_at(t, stmt);
    int32_t       s    = loop ? t->stmt[stmt].first : -1;

    while (s >= 0 && t->stmt[s].kind == RD_S_LET)
        s = t->stmt[s].next;
    return s >= 0 && loop->kind == RD_FOR_SERIAL && loop->strips_number < 0 && loop->step > 1 &&
                   loop->start_mark >= 0 && loop_at(t, s) && loop_at(t, s)->kind == RD_FOR_VECTOR
               ? s
               : -1;
}

/* The pass: where a loop reads several rows of a large array together (unroll-and-jam), it
 * prefetches the rows behind them.  Only wide strips (ranges that vector loops visit) qualify,
 * which are streamed from memory, and only processors that gain.  Statements from n on are those
 * that the pass has added. rd_prefetches_rows_behind is true on those. */
void rd_pass_prefetch_rows(rd_schedule *t, const rd_target *target)
{
    if (!target->strips || !rd_prefetches_rows_behind)
        return;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            row_prefetch r = { .t = t, .loop = s, .vector = s < n ? merged_vector_in(t, s) : -1 };

            r.strips = r.vector >= 0 ? rd_strips_around(t, s) : -1;
            if (r.strips < 0 || !target->strips->at[rd_loop_of(t, r.strips)->strips_number].wide)
                continue;
            r.n = rd_loop_of(t, s)->step;
            tile_and_prefetch(&r);
        }
}

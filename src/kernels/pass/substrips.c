/* substrips.c - The pass substrips splits wide strips into substrips, where several vector loops
 * of a row pass values by arrays (tiling). Substrips are short, so that memory and computation
 * overlap.
 *
 *     serial i1 {                       serial i1 {
 *       vector i0 from m0 to m1 ..        serial i0 from m0 to m1 by 512, starts m2, stops m3 {
 *       vector i0 from m0 to m1 .. }        vector i0 from m2 to m3 ..
 *                                           vector i0 from m2 to m3 .. } }
 *
 * m0 and m1 are marks: the first index of a strip, and the one behind its last; m2 and m3 are those
 * of a substrip.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/substrips.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/pass.h"

/* Returns the innermost loop over strips (strip >= 0) around a statement, or the statement itself;
 * -1 if there is none. */
int32_t rd_strips_around(const rd_schedule *t, int32_t stmt)
{
    while (stmt >= 0 &&
           !(t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->strips_number >= 0))
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* Returns the position that is just a mark: an axis bound to the first index of a range, or to the
 * one behind its last. */
static rd_linear mark_position(rd_schedule *t, int32_t axis)
{
    return rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, axis);
}

/* Returns a loop over substrips of `width` elements, from the start mark (axis bound to an end of
 * a round) of the strip to its stop mark, with marks of its own. It keeps the number
 * (`strips_number`) of the strips that it divides, and comes from no loop of the program
 * (program_loop -1). */
static rd_for substrip_loop(rd_schedule *t, const rd_for *strips, int32_t width)
{
    return (rd_for){ .kind          = RD_FOR_SERIAL,
                     .axis          = strips->axis,
                     .start_mark    = rd_add_mark(t),
                     .stop_mark     = rd_add_mark(t),
                     .from          = rd_edge_of(mark_position(t, strips->start_mark)),
                     .to            = rd_edge_of(mark_position(t, strips->stop_mark)),
                     .step          = width,
                     .extent        = (strips->step + width - 1) / width,
                     .program_loop  = -1,
                     .strips_number = strips->strips_number,
                     .substrip      = true };
}

/* Makes the vector loops that begin at the strip's start mark visit one substrip (part of the
 * strip): from the substrip's start mark to its stop mark. Marks are axes bound to ends of a
 * range. Other loops over the axis stay as they are. */
static void narrow_vector_loops(rd_schedule *t, int32_t parts, const rd_for *strips)
{
    const rd_for loop = *rd_loop_of(t, parts);

    for (int32_t s = parts; s >= 0 && !t->failed; s = rd_next_stmt(t, s, parts)) {
        rd_edge from, to;

        if (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->kind != RD_FOR_VECTOR ||
            rd_linear_coef(t, &rd_loop_of(t, s)->from.part[0].at, strips->start_mark) != 1)
            continue;
        from                           = rd_edge_of(mark_position(t, loop.start_mark));
        to                             = rd_edge_of(mark_position(t, loop.stop_mark));
        t->loop[t->stmt[s].arg].from   = from;
        t->loop[t->stmt[s].arg].to     = to;
        t->loop[t->stmt[s].arg].extent = loop.step;
    }
}

/* Puts a loop over substrips of `width` elements around statements `first` to `last` of a body
 * within a strip, makes the vector loops in it visit one substrip, and returns it. */
int32_t rd_put_substrips_around(rd_schedule *t, int32_t first, int32_t last, int32_t width)
{
    const rd_for  strips = *rd_loop_of(t, rd_strips_around(t, t->stmt[first].parent));
    const rd_for  loop   = substrip_loop(t, &strips, width);
    const int32_t made   = rd_put_loop_around(t, first, last, &loop);

    if (!t->failed)
        narrow_vector_loops(t, made, &strips);
    return made;
}

/* "prefetch 128 from s0[..]": puts a PREFETCH of the load's slot (array of the program's memory)
 * before the vector loop. */
void rd_add_prefetch_before(rd_schedule *t, int32_t vector, const rd_tree_value *load, rd_linear at,
                            rd_linear count)
{
    rd_stmt stmt = rd_stmt_of(RD_S_PREFETCH);

    stmt.slot  = load->slot;
    stmt.type  = load->type;
    stmt.at    = at;
    stmt.count = count;
    rd_put_before(t, rd_add_stmt(t, &stmt), vector);
}

/* ---- Rows by parts --------------------------------------------------------------------------- */
/* True if the statement concerns each element alone, so that a strip can be done in pieces: a
 * value, a store, a vector loop, or a step into a state that only this element has (one lane). */
static bool can_stand_in_substrip(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    switch (s->kind) {
    case RD_S_LET:
    case RD_S_STORE: return true;
    case RD_S_STEP: return t->fold[s->fold].lanes == 1;
    case RD_S_LOOP: return rd_is_vector(t, stmt);
    default: return false;
    }
}

/* True if the row (a serial loop's body) has a vector loop and an operation on whole strips, such
 * as exp, which reads and writes arrays, and each statement concerns each element alone. Then
 * short arrays stay in a cache. */
static bool needs_substrips(const rd_schedule *t, int32_t row)
{
    bool has_fission = false, has_vector = false;

    for (int32_t s = rd_next_stmt(t, row, row); s >= 0; s = rd_next_stmt(t, s, row)) {
        if (!can_stand_in_substrip(t, s))
            return false;
        has_fission |= rd_stmt_needs_fission(t, s);
        has_vector |= rd_is_vector(t, s);
    }
    return has_fission && has_vector;
}

/* Puts a loop over substrips (512 elements of a strip) around the statements of a row, from its
 * first vector loop to its end. */
static void split_row(rd_schedule *t, int32_t row)
{
    int32_t first = t->stmt[row].first;

    while (!rd_is_vector(t, first))
        first = t->stmt[first].next;
    rd_put_substrips_around(t, first, t->stmt[row].last, RD_SUBSTRIP);
}

/* True if the statement is a serial loop of the program whose rounds are rows, each of which goes
 * over a wide strip (streamed from memory) of more than 512 elements. The loop runs over no strips
 * itself (strip < 0), its axis is not the strip's, and the strip is not divided yet. */
static bool is_row_of_wide_strip(const rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
    const int32_t strips =
        loop && loop->program_loop >= 0 && loop->strips_number < 0 && loop->kind == RD_FOR_SERIAL
            ? rd_strips_around(t, stmt)
            : -1;
    const rd_strip *r =
        strips >= 0 ? &target->strips->at[rd_loop_of(t, strips)->strips_number] : NULL;

    return r && r->wide && r->width > RD_SUBSTRIP && !rd_loop_of(t, strips)->substrip &&
           loop->axis != r->axis && t->stmt[stmt].first >= 0;
}

/* The pass: splits each row of a wide strip into substrips if several of its vector loops pass
 * values by arrays, so that memory and computation overlap. */
void rd_pass_substrips(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (is_row_of_wide_strip(t, target, s) && needs_substrips(t, s))
                split_row(t, s);
}

/* tail.c - The pass tail splits loops over strips into strips of a fixed length, and a tail.
 *
 *     serial i0 of 64 to (3000 down to 64 k) by 64 { ... }
 *     once i0 from (3000 down to 64 k) to 3000 { ... }
 *
 * A loop over strips without arrays gets one round over all elements instead.
 *
 * A strip is a range of indices of an axis, of a fixed length if the text knows it; the tail is the
 * shorter last one. Bound "3000 down to 64 k": the greatest start + multiple of 64 that is at most
 * 3000.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"

/* True if the statement declares an array, or begins states (accumulators) in one, that is in
 * memory, not in registers. Such an array may have room for one strip (a range that vector loops
 * visit) only. */
static bool is_array(const rd_schedule *t, const rd_stmt *s)
{
    return (s->kind == RD_S_ARRAY || s->kind == RD_S_BEGIN) &&
           t->store[s->store].storage != RD_IN_REGISTERS;
}

/* True if the loop declares an array in memory, or begins states (accumulators) in one, which may
 * have room for one strip (a range that vector loops visit) only. */
static bool has_array(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (is_array(t, &t->stmt[s]))
            return true;
    return false;
}

/* True if a vector loop inside the strip visits only a piece of it: its bounds are not the strip's
 * start and stop marks (axes bound to the strip's ends). Pass seam_split makes such pieces. */
static bool is_piece_of_strip(const rd_schedule *t, int32_t strip, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(t, stmt);

    return loop->kind == RD_FOR_VECTOR && loop->axis == rd_loop_of(t, strip)->axis &&
           (rd_linear_coef(t, &loop->from.part[0].at, rd_loop_of(t, strip)->start_mark) != 1 ||
            rd_linear_coef(t, &loop->to.part[0].at, rd_loop_of(t, strip)->stop_mark) != 1);
}

/* True if the loop holds an unrolled loop, which would read behind the last element of a padded
 * strip (a range that vector loops visit), or a piece of a strip, which has a length of its own. */
static bool has_unrolled_loop(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_LOOP &&
            (rd_loop_of(t, s)->kind == RD_FOR_UNROLL || is_piece_of_strip(t, loop, s)))
            return true;
    return false;
}

/* Adds the tail, a copy of the loop that runs once, behind the loop; it returns its statement, or
 * -1. Of 52 elements in 64 lanes (partial accumulators) compilers make three vectors and four
 * scalars, for which the next vector of states waits. So a padded tail is as long as other strips
 * (ranges that vector loops visit) in the generated C (the maximum of rows of 180 f32: 26 ns, so
 * 19). */
static int32_t add_tail(rd_schedule *t, int32_t stmt, rd_edge_part border, const rd_strip *r)
{
    const int32_t made = rd_stmt_copy(t, stmt);
    rd_for       *loop = t->failed ? NULL : &t->loop[t->stmt[made].arg];

    if (!loop)
        return -1;
    loop->kind         = RD_FOR_ONCE;
    loop->width        = r->tail > 0 ? r->tail : 0;
    loop->padded       = r->padded && !has_unrolled_loop(t, made) ? r->width : 0;
    loop->from.part[0] = border;
    rd_put_behind(t, made, stmt);
    return made;
}

/* True if the row has 4 strips (ranges that vector loops visit) or fewer and a known length, which
 * is then a constant of the generated C. States of lanes (partial accumulators) stay in registers
 * from strip to strip then (the variance of rows of 192 f32: 62 ns, so 30). No terms (n == 0): both
 * bounds are constants. Strips around several loops (`around`) do not count. A tail of -1 is not
 * known. */
static bool is_few_strips(const rd_for *loop, const rd_strip *r)
{
    enum { FEW = 4 };

    return !r->around && r->tail >= 0 && loop->from.part[0].at.n == 0 &&
           loop->to.part[0].at.n == 0 &&
           loop->to.part[0].at.offset - loop->from.part[0].at.offset <= (int64_t)FEW * r->width;
}

/* Makes early exits from the loop over whole strips (ranges that vector loops visit) leave its
 * tail, too, and removes those that stand directly in the tail. Nothing stands behind the tail that
 * such an exit could skip. */
static void retarget_exits(rd_schedule *t, int32_t whole, int32_t tail)
{
    for (int32_t s = whole; s >= 0; s = rd_next_stmt(t, s, whole))
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].arg == whole)
            t->stmt[s].arg = tail;
    for (int32_t s = tail, next; s >= 0; s = next) {
        next = rd_next_stmt(t, s, tail);
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].parent == tail)
            rd_take_out(t, s);
    }
}

/* Moves an only strip (a range that vector loops visit) around the serial loops over rows (loop
 * interchange), so that no row asks how long it is.  Returns the statement of its loop then.
 * extent == 1: there is one round over strips. */
static int32_t interchange_outwards(rd_schedule *t, int32_t stmt)
{
    int32_t parent = t->stmt[stmt].parent;

    while (rd_loop_of(t, stmt)->extent == 1 && t->stmt[parent].kind == RD_S_LOOP &&
           rd_loop_of(t, parent)->kind == RD_FOR_SERIAL &&
           rd_loop_of(t, parent)->strips_number < 0 &&
           rd_may_interchange(t, parent, stmt, /*why=*/NULL)) {
        const int32_t strip = t->stmt[stmt].arg;

        t->stmt[stmt].arg   = t->stmt[parent].arg;
        t->stmt[parent].arg = strip;
        stmt                = parent;
        parent              = t->stmt[stmt].parent;
    }
    return stmt;
}

/* Adds strips of 8 for tasks' shares of an axis that is one strip: a share may begin and end
 * anywhere. `end` is the upper bound, rounded down to whole strips of 8; the tail begins there at
 * the earliest.
 *
 *     once i0 from lo to (hi down to lo + 20 k); serial i0 to (hi down to lo + 8 k) by 8;
 *     once i0 to hi
 *
 * The new strips begin where the loop `stmt` ends. The tail's lower bound is the greatest of its
 * parts, so it begins behind both. */
static int32_t add_share(rd_schedule *t, int32_t stmt, int32_t tail_stmt)
{
    enum { SHARE = 8 };
    const rd_for       loop = *rd_loop_of(t, stmt);
    const rd_edge_part end  = rd_whole_rounds(&loop, SHARE);
    const int32_t      made = rd_stmt_copy(t, tail_stmt);
    rd_for            *share, *last;

    if (t->failed)
        return -1;
    share                           = &t->loop[t->stmt[made].arg];
    share->kind                     = RD_FOR_SERIAL;
    share->step                     = SHARE;
    share->width                    = SHARE;
    share->extent                   = -1;
    share->to.part[0]               = end;
    last                            = &t->loop[t->stmt[tail_stmt].arg];
    last->from.part[last->from.n++] = end;
    rd_put_behind(t, made, stmt);
    return made;
}

/* True if tasks share the strips' axis (root), which is one strip (a range that vector loops
 * visit), and the tail is not padded. A share of a task then is a part of that strip. */
static bool is_shared_strip(const rd_schedule *t, const rd_strip *r)
{
    return !t->whole && t->p->root == r->axis && rd_most_indices(t->p, r->axis) == r->width &&
           !r->padded;
}

/* Keeps the strips of full length in the loop, so that the generated C knows their width, and adds
 * the tail behind for the rest. `border` is the end, rounded down to whole strips, where the tail
 * begins; r->tail == 0: nothing is left for it. Loops with several bounds, or backwards, stay as
 * they are. If tasks share an axis that is one strip, narrower strips for a part of it come between
 * (share). */
static void split_tail(rd_schedule *t, int32_t stmt, const rd_strip *r)
{
    const rd_for loop = *rd_loop_of(t, stmt);
    rd_edge_part border; /* the end, rounded down to whole strips: there the tail begins */
    int32_t      tail_stmt, share = -1;

    if (loop.from.n != 1 || loop.to.n != 1 || loop.backwards)
        return;
    border                                   = rd_whole_rounds(&loop, r->width);
    stmt                                     = interchange_outwards(t, stmt);
    t->loop[t->stmt[stmt].arg].constant_ends = is_few_strips(&loop, r);
    tail_stmt                                = r->tail != 0 ? add_tail(t, stmt, border, r) : -1;
    if (tail_stmt >= 0 && !t->failed && is_shared_strip(t, r))
        share = add_share(t, stmt, tail_stmt);
    if (t->failed)
        return;
    if (share >= 0)
        retarget_exits(t, share, tail_stmt);
    if (tail_stmt >= 0)
        retarget_exits(t, stmt, tail_stmt);
    t->loop[t->stmt[stmt].arg].to.part[0] = border;
    t->loop[t->stmt[stmt].arg].width      = r->width;
    if (loop.extent == 1)
        t->loop[t->stmt[stmt].arg].kind = RD_FOR_ONCE;
}

/* Gives the loop over strips one round over all elements. Its vector loops, which begin at the
 * start mark (axis bound to an end of a round), get the extent of all strips together; -1: known
 * at run time only. */
static void make_single_round(rd_schedule *t, int32_t stmt, const rd_strip *r)
{
    const int32_t start = rd_loop_of(t, stmt)->start_mark;
    const int64_t n = rd_loop_of(t, stmt)->extent, most = n < 0 ? -1 : n * r->width;

    t->loop[t->stmt[stmt].arg].kind   = RD_FOR_ONCE;
    t->loop[t->stmt[stmt].arg].extent = 1;
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_LOOP &&
            rd_linear_coef(t, &rd_loop_of(t, s)->from.part[0].at, start) == 1)
            t->loop[t->stmt[s].arg].extent = most;
}

/* Pads, splits or merges the strips of a loop. An only strip (single) is padded at most. Strips of
 * fixed width get a tail. Others become one round over all elements, unless an array has room for
 * one strip only. Substrips, which divide a strip again, stay. Strips with an unrolled loop are not
 * padded. */
static void split_strips(rd_schedule *t, int32_t stmt, const rd_strip *r)
{
    if (rd_loop_of(t, stmt)->substrip)
        return;
    if (r->single && r->padded && !has_unrolled_loop(t, stmt))
        rd_pad_lanes(t, stmt, r->width);
    if (r->single)
        return;
    if (r->fixed)
        split_tail(t, stmt, r);
    else if (!r->has_arrays && !has_array(t, stmt))
        make_single_round(t, stmt, r);
}

/* The pass: splits each loop over strips (strip >= 0: its number) into strips of a length that the
 * generated C knows, and a shorter tail.  Statements from n on are those that the pass has added.
 */
void rd_pass_tail(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k]))
            if (s < n && t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->strips_number >= 0)
                split_strips(t, s, &target->strips->at[rd_loop_of(t, s)->strips_number]);
}

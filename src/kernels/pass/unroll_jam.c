/* unroll_jam.c - The pass unroll_jam jams a few rounds of the loop directly around a vector loop
 * into it (unroll-and-jam), so that a state is loaded and stored once for all of them.
 *
 *     serial i1 {                            serial i1 by 4, starts m5 {
 *       r0 = load s1[i1]                       vector i0 {
 *       vector i0 { step f0 a0 .. } }            load states f0 .., a7
 *                                                unroll i1 from m5 to m5 + 1 { step f0 a7 .. }
 *                                                .. four of them
 *                                                store states f0 .., a7 } }
 *                                            serial i1 { .. the rounds that are left }
 *
 * To jam rounds is to put their copies side by side into an inner loop.  A cell is an accumulator
 * of a fold; the array a0 holds states of cells, and a7 is a variable.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups.
 * A bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple. A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if the statement is a vector loop that is written out in the generated C, not one call. */
static bool is_vector(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_VECTOR &&
           !rd_loop_of(t, stmt)->by_call;
}

/* Returns the vector loop that is the whole body of the loop, except for values before it and
 * early exits behind it; -1: there is none. */
static int32_t vector_in(const rd_schedule *t, int32_t loop)
{
    int32_t s = t->stmt[loop].first, last = t->stmt[loop].last;

    while (s >= 0 && t->stmt[s].kind == RD_S_LET)
        s = t->stmt[s].next;
    while (last >= 0 && t->stmt[last].kind == RD_S_EXIT)
        last = t->stmt[last].prev;
    return s >= 0 && s == last && is_vector(t, s) ? s : -1;
}

/* Returns the number of rounds to jam, as choose_strips.c chose it for this loop of the program
 * (of >= 0). 0: the statement is no serial loop around a vector loop, over single indices (no
 * marks), upwards between two unrounded bounds (by <= 1). */
static int32_t rounds_to_merge(const rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    if (!loop || loop->kind != RD_FOR_SERIAL || loop->program_loop < 0 || loop->step != 1 ||
        loop->start_mark >= 0 || !rd_goes_up(loop) || vector_in(t, stmt) < 0)
        return 0;
    return target->strips->unroll_jam[loop->program_loop];
}

/* ---- Rounds ---------------------------------------------------------------------------------- */
/* Removes the early exits that stand at the end of the loop's body. */
static void drop_exits(rd_schedule *t, int32_t loop)
{
    while (!t->failed && t->stmt[loop].last >= 0 && t->stmt[t->stmt[loop].last].kind == RD_S_EXIT)
        rd_take_out(t, t->stmt[loop].last);
}

/* Makes round k as an unrolled loop of one round: the index is mark + k, where the mark is the
 * first index of a round of the merged loop. It holds the values of the old body and what the
 * vector loop did, without the vector loop itself. It comes from no loop of the program any more
 * (program_loop -1). */
static int32_t make_round(rd_schedule *t, int32_t loop, int32_t mark, int32_t k)
{
    const int32_t   made   = rd_stmt_copy(t, loop);
    const int32_t   vector = t->failed ? -1 : vector_in(t, made);
    const rd_linear from   = rd_linear_plus_axis(t, rd_linear_of(k), /*coef=*/1, mark);
    rd_for         *l;

    if (vector < 0)
        return made;
    while (t->stmt[vector].first >= 0 && !t->failed) {
        const int32_t s = t->stmt[vector].first;

        rd_take_out(t, s);
        rd_put_before(t, s, vector);
    }
    rd_take_out(t, vector);
    drop_exits(t, made);
    l               = &t->loop[t->stmt[made].arg];
    l->kind         = RD_FOR_UNROLL;
    l->from         = rd_edge_of(from);
    l->to           = rd_edge_of(from);
    l->extent       = 1;
    l->program_loop = -1;
    l->to.part[0].at.offset++;
    return made;
}

/* Makes the loop over `rows` rounds at a time: `for (mark = from; mark < border; mark += rows)`,
 * where `border` is the end of the last whole round. Its vector loop's body has the rounds one
 * behind the other, and states (accumulators) that they share are variables. rd_promote_states()
 * makes a variable of each state that at least one step uses. */
static int32_t make_merged_loop(rd_schedule *t, int32_t loop, int32_t rows,
                                const rd_edge_part *border)
{
    const int32_t made   = rd_stmt_copy(t, loop);
    const int32_t vector = t->failed ? -1 : vector_in(t, made), mark = rd_add_mark(t);
    rd_for       *l;

    if (vector < 0)
        return made;
    while (t->stmt[made].first != vector)
        rd_take_out(t, t->stmt[made].first);
    while (t->stmt[vector].first >= 0)
        rd_take_out(t, t->stmt[vector].first);
    l             = &t->loop[t->stmt[made].arg];
    l->start_mark = mark;
    l->step       = rows;
    l->to.part[0] = *border;
    l->extent     = l->extent >= 0 ? l->extent / rows : -1;
    for (int32_t k = 0; k < rows && !t->failed; k++)
        rd_append(t, vector, make_round(t, loop, mark, k));
    rd_promote_states(t, vector, /*fewest=*/1);
    return made;
}

/* Makes early exits of the loop over jammed rounds leave its tail, `loop`, too. The tail itself,
 * of a few rounds, does not ask. */
static void retarget_exits(rd_schedule *t, int32_t made, int32_t loop)
{
    for (int32_t s = t->stmt[made].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].arg == made)
            t->stmt[s].arg = loop;
    drop_exits(t, loop);
}

/* Puts the loop over `rows` jammed rounds before the original loop (unroll-and-jam), which keeps
 * the rounds that are left (the tail). `border`, the end rounded down to whole rounds, is where
 * the first ends and the second begins. The tail has of = -1, so that it is not jammed again. */
static void merge_rounds(rd_schedule *t, int32_t loop, int32_t rows)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = rd_whole_rounds(&l, rows);
    const int32_t      made   = make_merged_loop(t, loop, rows, &border);

    if (t->failed)
        return;
    retarget_exits(t, made, loop);
    rd_put_before(t, made, loop);
    rd_keep_rest(t, loop, &border, rows);
}

/* The pass: for each loop around a vector loop for which several rounds were chosen, jams these
 * into the vector loop (unroll-and-jam).  A state (accumulator) is then loaded and stored once for
 * all of them. */
void rd_pass_unroll_jam(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t rows = rounds_to_merge(t, target, s);

            if (rows > 1)
                merge_rounds(t, s, rows);
        }
}

/* serial_residue.c - why operations outside of vector loops run element by element.
 *
 * A mapping (rd_mapping_of) says how rounds of a loop meet the states of a fold; a cell is an
 * accumulator of a fold, and a block is some steps of it.  A residue is operations that compilers
 * do not vectorise.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. */
#include "kernels/loop/facts.h"
#include "kernels/print/tree_residue.h"

/* Returns the innermost loop around the statement that compilers see as a loop: unrolled loops,
 * and jams (unroll-and-jam), are written out as copies of their bodies. -1: none. */
static int32_t loop_that_stays(const rd_schedule *t, int32_t stmt)
{
    int32_t loop = rd_loop_around(t, stmt);

    while (loop >= 0 &&
           (rd_loop_of(t, loop)->kind == RD_FOR_UNROLL || rd_loop_of(t, loop)->kind == RD_FOR_JAM))
        loop = rd_loop_around(t, loop);
    return loop;
}

/* True if consecutive rounds of the loop take steps of the same state, so that each waits for
 * the one before. That is where the loop's rounds are steps of one lane, whole blocks, or
 * unknown (MIXED). */
static bool is_serial_step(const rd_schedule *t, int32_t step, int32_t loop)
{
    const rd_mapping mapping = rd_mapping_of(t, t->stmt[step].fold, loop);

    return mapping == RD_MAPS_STEPS || mapping == RD_MAPS_MIXED || mapping == RD_MAPS_BLOCKS;
}

/* True if the loop holds a step of a fold that waits for the step in the round before. */
static bool has_serial_step(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (rd_is_step(t, s) && is_serial_step(t, s, loop))
            return true;
    return false;
}

/* True if the fold has independent work whose steps could be interleaved with these. That is
 * several blocks of a reduction, or a loop around with 4 rounds or more, each with an
 * accumulator of its own (CELLS) or a whole fold (SAME). */
static bool can_interleave(const rd_schedule *t, int32_t step, int32_t loop)
{
    enum { FEW = 4 };
    const int32_t fold = t->stmt[step].fold;

    if (t->fold[fold].blocks && !t->p->fold[fold].scan)
        return true;
    for (int32_t l = rd_loop_around(t, loop); l >= 0; l = rd_loop_around(t, l)) {
        const rd_mapping mapping = rd_mapping_of(t, fold, l);

        if ((mapping == RD_MAPS_CELLS || mapping == RD_MAPS_SAME) && rd_trips_of(t, l) >= FEW)
            return true;
    }
    return false;
}

/* Returns the reason (RD_RESIDUE_..) for a serial step, of a scan or of a reduction. It depends
 * on whether there is independent work, such as other rows, that could be interleaved with it. */
static rd_residue_why why_in_order(const rd_schedule *t, int32_t step, int32_t loop)
{
    const bool independent = can_interleave(t, step, loop);

    if (t->p->fold[t->stmt[step].fold].scan)
        return independent ? RD_RESIDUE_scans : RD_RESIDUE_scan;
    return independent ? RD_RESIDUE_rows : RD_RESIDUE_order;
}

/* True if the statement is in a loop over the stored elements of a sparse row. `program_loop` is
 * the number of the program's loop that a loop comes from, -1 for loops that passes have added. */
static bool is_in_sparse_row(const rd_schedule *t, int32_t stmt)
{
    for (int32_t l = rd_loop_around(t, stmt); l >= 0; l = rd_loop_around(t, l)) {
        const int32_t program_loop = rd_loop_of(t, l)->program_loop;

        if (program_loop >= 0 && rd_is_sparse_row(&t->p->loop[program_loop]))
            return true;
    }
    return false;
}

/* True if the loop holds a vector loop. */
static bool has_vector_loop(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (rd_is_vector(t, s))
            return true;
    return false;
}

/* True if an element that the loop reads or writes is not adjacent to that of the next round. */
static bool has_strided_access(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_tree_value *let = rd_let_of(t, s);
        const bool      load = let && let->kind == RD_I_LOAD, store = t->stmt[s].kind == RD_S_STORE;
        const rd_stride move =
            load || store ? rd_access_stride(t, loop, s) : (rd_stride){ true, 0 };

        if (!move.known || move.by > 1 || move.by < -1)
            return true;
    }
    return false;
}

/* Returns the reason for a loop whose order of rounds allows vectors, but for which the cost
 * model found them dearer: its elements lie apart in memory, or it is cheaper as it is. */
static rd_residue_why why_by_price(const rd_schedule *t, int32_t loop)
{
    return has_strided_access(t, loop) ? RD_RESIDUE_apart : RD_RESIDUE_cheaper;
}

/* Returns why an operation outside of vector loops runs element by element. The first rule that
 * holds decides: a step by label, a sparse row, few runs (64 or less), a step that waits for the
 * one before. Then come a vector loop or such a step beside it in the loop, and last the order
 * of rounds, or the price. */
rd_residue_why rd_why_serial(const rd_schedule *t, int32_t stmt)
{
    enum { FEW = 64 };
    const int32_t loop = loop_that_stays(t, stmt);

    if (rd_is_step(t, stmt) && t->stmt[stmt].label >= 0)
        return RD_RESIDUE_label;
    if (is_in_sparse_row(t, stmt))
        return RD_RESIDUE_pattern;
    if (loop < 0 || rd_rounds_of(t, stmt) <= FEW)
        return RD_RESIDUE_few;
    if (rd_is_step(t, stmt) && is_serial_step(t, stmt, loop))
        return why_in_order(t, stmt, loop);
    if (has_vector_loop(t, loop))
        return RD_RESIDUE_row;
    if (has_serial_step(t, loop))
        return RD_RESIDUE_beside;
    return rd_may_be_vector(t, loop, /*why=*/NULL) ? why_by_price(t, loop) : RD_RESIDUE_refused;
}

/* unroll_scans.c - The pass unroll_scans unrolls short loops of scans by the tree, outside of
 * strips. Then the position of each element in its block is a constant, and so are the nodes
 * that it combines with.
 *
 *     serial i0 to 4 { prefix f0 .. }        unroll i0 to 4 { prefix f0 .. }
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* More rounds or statements than these would make the text too long. */
enum { MOST_ROUNDS = 16, MOST_STATEMENTS = 10 };

/* True if the statement stands in a loop over strips (strip >= 0: their number), or is one. */
static bool is_in_strip(const rd_schedule *t, int32_t stmt)
{
    for (int32_t s = t->stmt[stmt].parent; s >= 0; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->strips_number >= 0)
            return true;
    return rd_loop_of(t, stmt)->strips_number >= 0;
}

/* True if the loop holds at most 10 statements, all values, stores, steps and PREFIXes (steps of
 * scans), and a scan by the tree goes along the loop: levels > 0, as it has nodes of 1, 2, 4 ..
 * elements. */
static bool has_only_prefixes(const rd_schedule *t, int32_t loop)
{
    int32_t n     = 0;
    bool    found = false;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next, n++) {
        const rd_stmt *stmt = &t->stmt[s];

        if (stmt->kind == RD_S_PREFIX)
            found |= t->fold[stmt->fold].levels &&
                     t->fold[stmt->fold].step_loop == rd_loop_of(t, loop)->program_loop;
        else if (stmt->kind != RD_S_LET && stmt->kind != RD_S_STORE && stmt->kind != RD_S_STEP)
            return false;
    }
    return found && n <= MOST_STATEMENTS;
}

/* True if the loop is short, of known length, visits its whole axis, and holds prefixes of a scan
 * by the tree. Tasks must not share the axis (root), and a block loop around would cut it into
 * ranges. It is a serial loop of the program (of >= 0), not the row of a sparse array. */
static bool can_unroll(const rd_schedule *t, int32_t stmt)
{
    const rd_for *l      = rd_loop_of(t, stmt);
    const int32_t parent = t->stmt[stmt].parent;

    if (l->kind != RD_FOR_SERIAL || l->program_loop < 0 || l->step != 1 ||
        rd_is_sparse_row(&t->p->loop[l->program_loop]) || l->extent < 1 ||
        l->extent > MOST_ROUNDS || t->p->axis_extent[l->axis] != l->extent ||
        t->p->root == l->axis || is_in_strip(t, stmt))
        return false;
    if (t->stmt[parent].kind == RD_S_LOOP && rd_loop_of(t, parent)->kind == RD_FOR_BLOCK)
        return false;
    return has_only_prefixes(t, stmt);
}

/* The pass: makes short loops of scans by the tree unrolled ones, so that the place of each element
 * in the tree is known to the compiler. */
void rd_pass_unroll_scans(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && can_unroll(t, s))
                t->loop[t->stmt[s].arg].kind = RD_FOR_UNROLL;
}

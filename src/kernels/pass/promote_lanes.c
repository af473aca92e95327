/* promote_lanes.c - The pass promote_lanes copies the states of lanes into a local array around
 * the loop over strips of the axis along which the lanes lie, and back (scalar promotion).
 *
 *     serial i1 by 64 {                      array a5; load states f0 cell 0, a5 at 0
 *       vector i1 { step f0 a0 .. } }        serial i1 by 64 { vector i1 { step f0 a5 .. } }
 *                                            store states f0 cell 0, a5 at 0
 *
 * If unrolled loops in the strip visit several cells, the array holds their states one behind
 * the other.
 *
 * A lane is one of the accumulators (states) of a cell, to which elements go in turn.  A cell is
 * one element of the result.  A strip is a range of indices that the vector loop visits.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/pass/pass.h"
#include "kernels/pass/state_copies.h"

/* The array has the states of at most 16 cells (accumulators). */
enum { MOST_GROUPS = 16 };

/* The STEP of a fold, and the loops around it: unrolled ones, the vector loop, the strips. */
typedef struct step_place {
    int32_t step, vector, strips;      /* statements */
    int32_t n_loop, loop[RD_MAX_RANK]; /* unrolled loops over cells, innermost first */
    int64_t groups; /* cells that these loops visit: the product of their extents */
} step_place;

/* ---- Which states ---------------------------------------------------------------------------- */
/* Returns the only STEP of the fold in the program; -1 if it has none or several. With several,
 * the copy in the array would serve only one. */
static int32_t only_step(const rd_schedule *t, int32_t fold)
{
    int32_t found = -1;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].fold == fold && t->stmt[s].kind == RD_S_STEP) {
                if (found >= 0)
                    return -1;
                found = s;
            }
    return found;
}

/* Returns the loop record of a statement; NULL: it is no loop, or no statement (-1). */
static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* Fills the loops from the step up to the loop over strips.  True if unrolled loops over 16 cells
 * (accumulators) at most stand in a vector loop, which stands directly in a loop over strips of the
 * same axis. extent < 1: the number of rounds is not known. */
static bool find_loops(const rd_schedule *t, step_place *at)
{
    const rd_for *loop;
    int32_t       s = t->stmt[at->step].parent;

    for (loop = loop_at(t, s); loop && loop->kind == RD_FOR_UNROLL;
         s = t->stmt[s].parent, loop = loop_at(t, s)) {
        if (!rd_linear_coef(t, &t->stmt[at->step].fold_at.cell, loop->axis))
            continue;
        if (at->n_loop == RD_MAX_RANK || loop->extent < 1)
            return false;
        at->loop[at->n_loop++] = s;
        at->groups *= loop->extent;
    }
    if (!loop || loop->kind != RD_FOR_VECTOR || at->groups > MOST_GROUPS)
        return false;
    at->vector = s;
    at->strips = t->stmt[s].parent;
    loop       = loop_at(t, at->strips);
    return loop && loop->strips_number >= 0 && loop->axis == rd_loop_of(t, at->vector)->axis;
}

/* True if neighbours of a strip (a range that vector loops visit) are lanes (partial accumulators)
 * of the fold, a reduction without groups, along the strips' axis. Its states must be in memory
 * that other code may have the address of: the task's, or an array that the functions of a combine
 * tree take. The loop over strips must be the fold's own loop along its steps, and hold no other
 * statement of the fold. */
static bool can_promote(const rd_schedule *t, const rd_target *target, int32_t fold, step_place *at)
{
    const rd_loop_fold *f = &t->fold[fold];
    const rd_fold      *p = &t->p->fold[fold];

    if (!target->strips->fold[fold].lanes || p->scan || p->n_group ||
        (t->store[fold].storage == RD_IN_LOCAL && !f->tree_rows))
        return false;
    at->step = only_step(t, fold);
    return at->step >= 0 && t->store[t->stmt[at->step].store].lane_stride == 1 &&
           find_loops(t, at) && rd_loop_of(t, at->strips)->program_loop == f->step_loop &&
           !rd_has_other_fold_stmt(t, at->strips, at->step);
}

/* ---- The array ------------------------------------------------------------------------------- */
/* Returns the subscript in the array at which the states of a cell (accumulator) begin: the cell's
 * number, from the indices of the unrolled loops, times the lanes. */
static rd_linear group_offset(rd_schedule *t, const step_place *at, int64_t lanes)
{
    rd_linear found = rd_linear_of(0);
    int64_t   times = lanes;

    for (int32_t k = 0; k < at->n_loop; k++) {
        const rd_for loop = *rd_loop_of(t, at->loop[k]);

        found = rd_linear_plus_axis(t, found, times, loop.axis);
        times *= loop.extent;
    }
    return found;
}

/* Makes the statement of `kind` (LOAD_STATES or STORE_STATES) that copies the states of one cell
 * (accumulator) between the fold's memory and the array, in copies of the unrolled loops over
 * cells. It stands nowhere yet. */
static int32_t make_copy(rd_schedule *t, const step_place *at, rd_stmt_kind kind, int32_t array,
                         rd_linear at_group)
{
    rd_stmt s = rd_copy_of_states(&t->stmt[at->step], kind, array);
    int32_t made;

    s.at = at_group;
    made = rd_add_stmt(t, &s);
    for (int32_t k = 0; k < at->n_loop && !t->failed; k++) {
        const rd_for  loop  = *rd_loop_of(t, at->loop[k]);
        const int32_t outer = rd_add_loop(t, &loop);

        rd_append(t, outer, made);
        made = outer;
    }
    return made;
}

/* Declares the local array, copies all states (accumulators) into it before the loop over strips
 * (ranges that vector loops visit) and back behind it, and makes the step use the array
 * (`state_offset` is added to a state's subscript). */
static void promote_states(rd_schedule *t, const step_place *at, int32_t fold)
{
    const int32_t       lanes = t->fold[fold].lanes;
    const rd_tree_array store = { .storage     = RD_IN_LOCAL,
                                  .type        = t->store[fold].type,
                                  .fold        = fold,
                                  .extent      = at->groups * lanes,
                                  .lane_stride = 1 };
    const int32_t       array = rd_add_store(t, &store);
    const rd_linear     group = group_offset(t, at, lanes);

    if (t->failed)
        return;
    rd_put_before(t, rd_add_declaration(t, array), at->strips);
    rd_put_before(t, make_copy(t, at, RD_S_LOAD_STATES, array, group), at->strips);
    rd_put_behind(t, make_copy(t, at, RD_S_STORE_STATES, array, group), at->strips);
    t->stmt[at->step].store = array;
    t->stmt[at->step].fold_at.state_offset =
        rd_linear_plus(t, group, /*coef=*/1, t->stmt[at->step].fold_at.state_offset);
}

/* The pass: copies the states (accumulators) of each fold that qualifies into a local array around
 * the loop over strips (ranges that vector loops visit), and back (scalar promotion). */
void rd_pass_promote_lanes(rd_schedule *t, const rd_target *target)
{
    for (int32_t k = 0; target->strips && k < t->p->n_fold && !t->failed; k++) {
        step_place at = { .groups = 1 };

        if (can_promote(t, target, k, &at))
            promote_states(t, &at, k);
    }
}

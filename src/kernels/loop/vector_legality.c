/* vector_legality.c - legality of vectorisation: whether the rounds of a loop are independent,
 * and whether states can be vectors.
 *
 * A fold's lanes are its independent accumulators, and a cell is one result with its lanes.  A
 * block is a run of steps whose accumulators are merged when it ends.  A label names the cell of an
 * element in a group-by.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A fold has `user` if its reducer is the caller's own.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A mark
 * is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"
#include "core/combine_tree.h"
#include <stdlib.h>

/* Notes the reason for a refusal, if the caller asks for one; returns false. */
static bool refuse(const char **why, const char *because)
{
    if (why)
        *why = because;
    return false;
}

/* ---- By meaning ------------------------------------------------------------------------------ */
/* True if a block of the fold (a run of steps, a leaf of the combine tree) can end in the loop. */
static bool has_push(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold &&
            (t->stmt[s].kind == RD_S_PUSH_IF_LAST || t->stmt[s].kind == RD_S_PUSH))
            return true;
    return false;
}

/* True if the fold allows that rounds of the loop run in parallel, by how they map to its
 * accumulators; else *why says why not. Allowed are rounds with cells (accumulators) or lanes
 * (partial accumulators) of their own; with lanes no block (a run of a fold's steps) may end in
 * the loop, as it ends for all of them. */
static bool fold_allows(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    switch (rd_mapping_of(t, fold, loop)) {
    case RD_MAPS_NOT:
    case RD_MAPS_SAME:
    case RD_MAPS_CELLS: return true;
    case RD_MAPS_LANES:
        return has_push(t, fold, loop)
                   ? refuse(why, "blocks end in the loop, after lanes of all rounds")
                   : true;
    case RD_MAPS_BLOCKS:
        return refuse(why, "its rounds are blocks of a fold, which go up in order");
    case RD_MAPS_ANY: return refuse(why, "a fold would need states for each round");
    case RD_MAPS_STEPS:
        return refuse(why, "its rounds are steps of a fold, whose order decides bits");
    default: return refuse(why, "it moves both the lanes and the cells of a fold, or neither");
    }
}

/* True if no round of the loop reads or writes again what another round stores. A SORT writes,
 * too. */
static bool stores_allow(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if ((t->stmt[s].kind == RD_S_STORE || t->stmt[s].kind == RD_S_SORT) &&
            rd_is_store_seen(t, loop, s))
            return refuse(why, "one round may read or write again what another one stores");
    return true;
}

/* True if all statements of the fold in the loop are STEPs with labels (group-by) directly in its
 * body, with small states (accumulators): no user's reducer, none with exponentials. Ends of
 * blocks (runs of a fold's steps) do not count. */
static bool has_only_label_steps(const rd_schedule *t, int32_t fold, int32_t loop)
{
    bool found = false;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *stmt = &t->stmt[s];

        if (stmt->fold != fold || stmt->kind == RD_S_PUSH_IF_LAST)
            continue;
        if (stmt->kind != RD_S_STEP || stmt->parent != loop || stmt->label < 0)
            return false;
        found = true;
    }
    return found && !t->fold[fold].emit.user && !rd_has_exponential(&t->fold[fold].emit);
}

/* True if the rounds of a loop are independent: no fold and no store forbids it; else *why says
 * why not. Early exits are allowed: extra rounds change nothing, as the fold is all that the body
 * computes. */
bool rd_may_be_parallel(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!fold_allows(t, k, loop, why))
            return false;
    return stores_allow(t, loop, why);
}

/* ---- As vectors ------------------------------------------------------------------------------ */
/* True if a loop inside visits exactly the outer loop's current round, from its start mark to its
 * stop mark (axes bound to the ends of the round). */
static bool is_this_round(const rd_schedule *t, int32_t loop, int32_t inside)
{
    const rd_for *l = rd_loop_of(t, loop), *in = rd_loop_of(t, inside);

    return in->axis == l->axis && !in->backwards && rd_is_mark(t, &in->from, l->start_mark) &&
           rd_is_mark(t, &in->to, l->stop_mark);
}

/* True if the loop goes upwards over single indices, and the loops inside have the same bounds in
 * all rounds, or visit exactly the round's range. Nothing in it sorts. */
static bool loops_allow(const rd_schedule *t, int32_t loop, const char **why)
{
    const rd_for *l = rd_loop_of(t, loop);

    if (l->step != 1 || l->kind == RD_FOR_BLOCK)
        return refuse(why, "its rounds are ranges");
    if (l->backwards)
        return refuse(why, "it goes backwards");
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        if (t->stmt[s].kind == RD_S_SORT)
            return refuse(why, "rows are put in order in it");
        if (t->stmt[s].kind == RD_S_LOOP && !is_this_round(t, loop, s) &&
            (rd_edges_vary(t, loop, s) || rd_loop_of(t, s)->axis == l->axis))
            return refuse(why, "a loop in it has other bounds in each round");
    }
    return true;
}

/* True if loops inside that each round leaves early, for itself, have at most 64 rounds. A vector
 * goes on until its last element has decided, so long loops would lose what the exit saves. */
static bool exits_allow(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *exit = &t->stmt[s];
        int64_t        most;

        if (exit->kind != RD_S_EXIT || rd_mapping_of(t, exit->fold, loop) != RD_MAPS_SAME)
            continue;
        most = rd_most_trips(t, exit->arg);
        if (most < 0 || most > RD_TREE_STEPS)
            return refuse(why, "a long loop in it is left early, by each round for itself");
    }
    return true;
}

/* ---- States as vectors ----------------------------------------------------------------------- */
/* True if the next round has the next cell (accumulator), at all statements of the fold but its
 * BEGIN and its exits. */
static bool cells_are_neighbours(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && t->stmt[s].kind != RD_S_EXIT &&
            t->stmt[s].kind != RD_S_BEGIN &&
            rd_position_stride(t, loop, s, &t->stmt[s].fold_at.cell).by != 1)
            return false;
    return true;
}

/* True if all rounds have the same label (cell in a group-by), so that vectors step into
 * neighbouring states, and steps take no exponentials. Without memory it is refused. */
static bool labels_allow(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    bool *varies = malloc((size_t)t->n_let + 1), legal = true;

    if (varies)
        rd_find_varying(t, loop, varies);
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && legal; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && t->stmt[s].label >= 0)
            legal = rd_has_exponential(&t->fold[fold].emit)
                        ? refuse(why, "a fold by labels takes exponentials")
                    : !varies || varies[t->stmt[s].label]
                        ? refuse(why, "each round has a label of its own")
                        : true;
    free(varies);
    return legal;
}

/* True if the states of neighbouring rounds are neighbours in memory: each round has the next
 * cell, with one lane (partial accumulator) each. */
static bool cells_allow(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    if (t->p->fold[fold].lanes > 1 || !cells_are_neighbours(t, fold, loop))
        return refuse(why, "states of neighbouring rounds do not lie side by side");
    return labels_allow(t, fold, loop, why);
}

/* True if rounds are the fold's innermost steps, one lane (partial accumulator) each, beginning
 * with lane 0. If there are more elements than lanes, lanes wrap, and no loop inside may be over
 * steps. Unless any lane may take an element (any_lane), the lane position must be one axis,
 * counted from 0. */
static bool lanes_allow(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->scan)
        return refuse(why, "a scan goes along it");
    if (f->n_group)
        return refuse(why, "lanes of a fold by labels go along it");
    if (!t->fold[fold].any_lane && (f->lane.n_add != 1 || f->lane.offset))
        return refuse(why, "lanes of a fold do not begin with its rounds");
    if (f->lane_extent > f->lanes)
        for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
            if (t->stmt[s].kind == RD_S_LOOP && rd_moves_step(t, fold, s))
                return refuse(why, "a loop in it is over steps of the fold's lanes");
    return rd_begins_with_lane_0(t, fold, loop)
               ? true
               : refuse(why, "its ranges do not begin with lane 0");
}

/* True if a fold that begins and ends in each round can have states for each round of a vector. It
 * has no groups, and not both lanes and several blocks (runs of a fold's steps). The cells
 * (accumulators) of a round must be numbered: they lie along one axis, or are few. */
static bool whole_fold_allows(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->n_group)
        return refuse(why, "a fold by labels begins and ends in each round");
    if (f->lanes > 1 && t->fold[fold].tree_rows)
        return refuse(why, "a fold of several lanes and blocks begins and ends in each round");
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && rd_position_varies(t, loop, s, &t->stmt[s].fold_at.cell) &&
            f->cell.n_add != 1 && !rd_cells_of_element(t, fold, rd_loop_of(t, loop)->axis))
            return refuse(why, "many cells of a fold lie along several axes");
    return true;
}

/* True if the states (accumulators) of the fold can lie side by side as elements of vectors, by
 * how rounds map to them. */
static bool states_allow(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    switch (rd_mapping_of(t, fold, loop)) {
    case RD_MAPS_SAME: return whole_fold_allows(t, fold, loop, why);
    case RD_MAPS_CELLS: return cells_allow(t, fold, loop, why);
    case RD_MAPS_LANES: return lanes_allow(t, fold, loop, why);
    default: return true;
    }
}

/* True if the loop may be a vector loop: its bounds are fixed, its rounds are independent, and
 * states (accumulators) can lie side by side in vectors. */
bool rd_may_be_vector(const rd_schedule *t, int32_t loop, const char **why)
{
    if (!loops_allow(t, loop, why) || !exits_allow(t, loop, why) ||
        !rd_may_be_parallel(t, loop, why))
        return false;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!states_allow(t, k, loop, why))
            return false;
    return true;
}

/* True if labels in memory may come in runs of equal labels, with the state (accumulator) of a run
 * in registers (pass/promote_runs.c). Labels of a sparse pattern (of_pattern) do; others must be
 * loads, possibly cast. */
static bool may_have_runs(const rd_schedule *t, int32_t fold, int32_t loop)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->of_pattern)
        return true;
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && f->lanes == 1;
         s         = rd_next_stmt(t, s, loop)) {
        const rd_tree_value *label =
            t->stmt[s].fold == fold && t->stmt[s].label >= 0 ? &t->let[t->stmt[s].label] : NULL;

        if (label && label->kind == RD_I_CAST)
            label = &t->let[t->operand[label->first]];
        if (label && label->kind == RD_I_LOAD)
            return true;
    }
    return false;
}

/* True if the steps of a group-by, and only these, must stay serial: labels of neighbours may be
 * equal, and the rest of the loop can be vectors. Not if labels come in runs, as pass
 * `promote_runs` keeps the state of a run in registers; nor if vectors can take the steps after
 * all. */
bool rd_needs_serial_steps(const rd_schedule *t, int32_t fold, int32_t loop)
{
    return t->p->fold[fold].n_group > 0 && has_only_label_steps(t, fold, loop) &&
           !may_have_runs(t, fold, loop) &&
           !(fold_allows(t, fold, loop, /*why=*/NULL) && states_allow(t, fold, loop, /*why=*/NULL));
}

/* True if blocks (runs of a fold's steps) of the fold can end at any index of the axis.  They do
 * if several axes, or another axis, move the step. */
bool rd_ends_amid_rows(const rd_schedule *t, int32_t fold, int32_t axis)
{
    const rd_fold *f = &t->p->fold[fold];

    return t->fold[fold].blocks && (f->lane.n_add + f->lane_line.n_add > 1 ||
                                    !(rd_coef(&f->lane, axis) || rd_coef(&f->lane_line, axis)));
}

/* True unless blocks (runs of a fold's steps) of a group-by end amid rows while lanes (partial
 * accumulators) of another fold count from the begin of a row. Then ranges begin amid rows, where
 * lanes do not begin. */
static bool ranges_allow(const rd_schedule *t, int32_t loop, const char **why)
{
    bool amid = false, lanes = false;

    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (rd_needs_serial_steps(t, k, loop))
            amid |= rd_ends_amid_rows(t, k, rd_loop_of(t, loop)->axis);
        else
            lanes |= rd_mapping_of(t, k, loop) == RD_MAPS_LANES;
    return !(amid && lanes) ||
           refuse(why, "blocks of groups end amid rows, of which lanes go along it");
}

/* True if the loop may be cut into strips of vectors; steps of group-bys may then stay serial, in a
 * loop of their own behind the vectors. */
bool rd_may_be_strip_mined(const rd_schedule *t, int32_t loop, const char **why)
{
    if (!loops_allow(t, loop, why) || !exits_allow(t, loop, why) || !stores_allow(t, loop, why))
        return false;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!rd_needs_serial_steps(t, k, loop) &&
            (!fold_allows(t, k, loop, why) || !states_allow(t, k, loop, why)))
            return false;
    return ranges_allow(t, loop, why);
}

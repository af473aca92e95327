/* side_by_side.c - whether the rounds of a loop may go side by side. */
#include "kernels/loop/facts.h"
#include "core/combine_tree.h"
#include <stdlib.h>

static bool no(const char **why, const char *because)
{
    if (why)
        *why = because;
    return false;
}

/* ---- By meaning ------------------------------------------------------------------------------- */
static bool pushes(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold &&
            (t->stmt[s].kind == RD_S_ENDS || t->stmt[s].kind == RD_S_PUSH))
            return true;
    return false;
}

static bool fold_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    switch (rd_meets(t, fold, loop)) {
    case RD_MEETS_NOT:
    case RD_MEETS_SAME:
    case RD_MEETS_CELLS: return true;
    case RD_MEETS_LANES:
        return pushes(t, fold, loop) ? no(why, "blocks end in the loop, after lanes of all rounds")
                                     : true;
    case RD_MEETS_BLOCKS: return no(why, "its rounds are blocks of a fold, which go up in order");
    case RD_MEETS_ANY: return no(why, "a fold would need states for each round");
    case RD_MEETS_STEPS: return no(why, "its rounds are steps of a fold, whose order decides bits");
    default: return no(why, "it moves both the lanes and the cells of a fold, or neither");
    }
}

static bool stores_may(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if ((t->stmt[s].kind == RD_S_STORE || t->stmt[s].kind == RD_S_SORT) &&
            rd_is_store_seen(t, loop, s))
            return no(why, "one round may read or write again what another one stores");
    return true;
}

/* Stand all its statements in the loop itself, and are they steps of small states? */
static bool has_steps_alone(const rd_schedule *t, int32_t fold, int32_t loop)
{
    bool found = false;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *stmt = &t->stmt[s];

        if (stmt->fold != fold || stmt->kind == RD_S_ENDS)
            continue;
        if (stmt->kind != RD_S_STEP || stmt->parent != loop || stmt->label < 0)
            return false;
        found = true;
    }
    return found && !t->fold[fold].of.user && !rd_takes_power(&t->fold[fold].of);
}

/* Extra rounds of a loop that is left change nothing: the fold is all that its body is for. */
bool rd_may_go_together(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!fold_may(t, k, loop, why))
            return false;
    return stores_may(t, loop, why);
}

/* ---- As vectors ------------------------------------------------------------------------------- */
static bool is_mark(const rd_schedule *t, const rd_edge *edge, int32_t mark)
{
    const rd_linear *at = &edge->part[0].at;

    return mark >= 0 && edge->n == 1 && edge->part[0].by <= 1 && at->offset == 0 && at->n == 1 &&
           t->term[at->first].axis == mark && t->term[at->first].coef == 1;
}

/* A loop inside over just the round's index is no loop. */
static bool is_this_round(const rd_schedule *t, int32_t loop, int32_t inside)
{
    const rd_for *l = rd_loop_of(t, loop), *in = rd_loop_of(t, inside);

    return in->axis == l->axis && !in->backwards && is_mark(t, &in->from, l->start) &&
           is_mark(t, &in->to, l->stop);
}

/* Loops alone: do they allow that rounds go side by side? */
static bool loops_may(const rd_schedule *t, int32_t loop, const char **why)
{
    const rd_for *l = rd_loop_of(t, loop);

    if (l->step != 1 || l->kind == RD_FOR_BLOCK)
        return no(why, "its rounds are ranges");
    if (l->backwards)
        return no(why, "it goes backwards");
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        if (t->stmt[s].kind == RD_S_SORT)
            return no(why, "rows are put in order in it");
        if (t->stmt[s].kind == RD_S_LOOP && !is_this_round(t, loop, s) &&
            (rd_edges_vary(t, loop, s) || rd_loop_of(t, s)->axis == l->axis))
            return no(why, "a loop in it has other bounds in each round");
    }
    return true;
}

/* Neighbours that each decide something go on until the last has, so their loops must be short. */
static bool exits_may(const rd_schedule *t, int32_t loop, const char **why)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *exit = &t->stmt[s];
        int64_t        most;

        if (exit->kind != RD_S_EXIT || rd_meets(t, exit->fold, loop) != RD_MEETS_SAME)
            continue;
        most = rd_most_trips(t, exit->arg);
        if (most < 0 || most > RD_TREE_STEPS)
            return no(why, "a long loop in it is left early, by each round for itself");
    }
    return true;
}

/* ---- States as vectors ------------------------------------------------------------------------ */
/* All cells that its statements in the loop name lie side by side. */
static bool cells_are_neighbours(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && t->stmt[s].kind != RD_S_EXIT &&
            t->stmt[s].kind != RD_S_BEGIN &&
            rd_position_moves(t, loop, s, &t->stmt[s].of.cell).by != 1)
            return false;
    return true;
}

/* Elements of neighbours go to cells of one label, by steps without exponentials. */
static bool labels_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    bool *varies = malloc((size_t)t->n_let + 1), may = true;

    if (varies)
        rd_varies_with(t, loop, varies);
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && may; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && t->stmt[s].label >= 0)
            may = rd_takes_power(&t->fold[fold].of) ? no(why, "a fold by labels takes exponentials")
                  : !varies || varies[t->stmt[s].label]
                      ? no(why, "each round has a label of its own")
                      : true;
    free(varies);
    return may;
}

static bool cells_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    if (t->p->fold[fold].lanes > 1 || !cells_are_neighbours(t, fold, loop))
        return no(why, "states of neighbouring rounds do not lie side by side");
    return labels_may(t, fold, loop, why);
}

/* Rounds are the fold's innermost steps, and begin with the first lane. */
static bool lanes_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->scan)
        return no(why, "a scan goes along it");
    if (f->n_group)
        return no(why, "lanes of a fold by labels go along it");
    if (!t->fold[fold].any_lane && (f->lane.n_add != 1 || f->lane.offset))
        return no(why, "lanes of a fold do not begin with its rounds");
    if (f->lane_extent > f->lanes)
        for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
            if (t->stmt[s].kind == RD_S_LOOP && rd_moves_step(t, fold, s))
                return no(why, "a loop in it is over steps of the fold's lanes");
    return rd_begins_with_lane_0(t, fold, loop) ? true
                                                : no(why, "its ranges do not begin with lane 0");
}

static bool same_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->n_group)
        return no(why, "a fold by labels begins and ends in each round");
    if (f->lanes > 1 && t->fold[fold].room)
        return no(why, "a fold of several lanes and blocks begins and ends in each round");
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].fold == fold && rd_position_varies(t, loop, s, &t->stmt[s].of.cell) &&
            f->cell.n_add != 1 && !rd_cells_of_element(t, fold, rd_loop_of(t, loop)->axis))
            return no(why, "many cells of a fold lie along several axes");
    return true;
}

static bool states_may(const rd_schedule *t, int32_t fold, int32_t loop, const char **why)
{
    switch (rd_meets(t, fold, loop)) {
    case RD_MEETS_SAME: return same_may(t, fold, loop, why);
    case RD_MEETS_CELLS: return cells_may(t, fold, loop, why);
    case RD_MEETS_LANES: return lanes_may(t, fold, loop, why);
    default: return true;
    }
}

bool rd_may_be_vector(const rd_schedule *t, int32_t loop, const char **why)
{
    if (!loops_may(t, loop, why) || !exits_may(t, loop, why) || !rd_may_go_together(t, loop, why))
        return false;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!states_may(t, k, loop, why))
            return false;
    return true;
}

/* Labels in memory may come in runs, whose states are in variables (pass/runs.c). */
static bool may_have_runs(const rd_schedule *t, int32_t fold, int32_t loop)
{
    const rd_fold *f = &t->p->fold[fold];

    if (f->of_pattern)
        return true;
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && f->lanes == 1;
         s         = rd_next_stmt(t, s, loop)) {
        const rd_let *label =
            t->stmt[s].fold == fold && t->stmt[s].label >= 0 ? &t->let[t->stmt[s].label] : NULL;

        if (label && label->kind == RD_I_CAST)
            label = &t->let[t->operand[label->first]];
        if (label && label->kind == RD_I_LOAD)
            return true;
    }
    return false;
}

bool rd_goes_in_turn(const rd_schedule *t, int32_t fold, int32_t loop)
{
    return t->p->fold[fold].n_group > 0 && has_steps_alone(t, fold, loop) &&
           !may_have_runs(t, fold, loop) &&
           !(fold_may(t, fold, loop, NULL) && states_may(t, fold, loop, NULL));
}

bool rd_ends_amid_rows(const rd_schedule *t, int32_t fold, int32_t axis)
{
    const rd_fold *f = &t->p->fold[fold];

    return t->fold[fold].blocks && (f->lane.n_add + f->outer.n_add > 1 ||
                                    !(rd_coef(&f->lane, axis) || rd_coef(&f->outer, axis)));
}

/* Lanes of one fold are those of elements from the beginning of a row on. */
static bool ranges_may(const rd_schedule *t, int32_t loop, const char **why)
{
    bool amid = false, lanes = false;

    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (rd_goes_in_turn(t, k, loop))
            amid |= rd_ends_amid_rows(t, k, rd_loop_of(t, loop)->axis);
        else
            lanes |= rd_meets(t, k, loop) == RD_MEETS_LANES;
    return !(amid && lanes) ||
           no(why, "blocks of groups end amid rows, of which lanes go along it");
}

bool rd_may_be_strips(const rd_schedule *t, int32_t loop, const char **why)
{
    if (!loops_may(t, loop, why) || !exits_may(t, loop, why) || !stores_may(t, loop, why))
        return false;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!rd_goes_in_turn(t, k, loop) &&
            (!fold_may(t, k, loop, why) || !states_may(t, k, loop, why)))
            return false;
    return ranges_may(t, loop, why);
}

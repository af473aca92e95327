/* enclose.c - puts one loop around a body: loops over the same axis in the body then take one of
 * its rounds each.  A panel of columns begins, fills and finishes its folds in one such round.
 *
 * Words. A cell is one result of a fold, with its accumulators. */
#include "kernels/loop/facts.h"

const char rd_why_no_memory[] = "no memory";

/* Notes the reason for a refusal, if the caller asks for one; returns false. */
static bool refuse(const char **why, const char *because)
{
    if (why)
        *why = because;
    return false;
}

/* True if the statement is a loop that binds the axis. */
static bool is_over(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->axis == axis;
}

/* Returns a loop bound that is just the index of an axis, or a mark (axis bound to an end of a
 * range). */
static rd_edge edge_at(rd_schedule *t, int32_t axis)
{
    return rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, axis));
}

/* Puts a new loop around all statements of the body, with the bounds of the first loop over the
 * axis in it and `step` indices a round. All loops over the axis in the body then visit that range
 * only, from mark to mark. Returns the new loop's statement; -1: there is no loop over the axis. l
 * is the first loop record, and unused, where the statement is no such loop. */
int32_t rd_enclose_in_loop(rd_schedule *t, int32_t body, int32_t axis, int64_t step)
{
    const int32_t inner = rd_loop_over(t, body, axis);
    rd_for        around;

    if (inner < 0 || t->failed)
        return -1;
    around = (rd_for){ .kind         = RD_FOR_SERIAL,
                       .axis         = axis,
                       .start_mark   = rd_add_mark(t),
                       .stop_mark    = rd_add_mark(t),
                       .from         = rd_loop_of(t, inner)->from,
                       .to           = rd_loop_of(t, inner)->to,
                       .step         = step,
                       .extent       = rd_loop_of(t, inner)->extent,
                       .program_loop = -1 };
    if (around.extent > 0)
        around.extent = (around.extent - 1) / step + 1;
    for (int32_t s = inner; s >= 0; s = rd_next_stmt(t, s, body)) {
        rd_for *l = &t->loop[is_over(t, s, axis) ? t->stmt[s].arg : 0];

        if (!is_over(t, s, axis))
            continue;
        l->from = edge_at(t, around.start_mark);
        l->to   = edge_at(t, around.stop_mark);
        if (l->extent > step)
            l->extent = step;
    }
    return rd_put_loop_around(t, t->stmt[body].first, t->stmt[body].last, &around);
}

/* ---- Whether it may be ----------------------------------------------------------------------- */
/* True if the fold begins in the body, at any depth. */
static bool begins_in(const rd_schedule *t, int32_t fold, int32_t body)
{
    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* True if the fold allows the loop around: it has no statement in it, begins and ends in one
 * round, or each round has cells (accumulators) of its own. `begins`: it begins in the body, and
 * would begin again in each round; it chooses the sentence. */
static bool fold_allows(const rd_schedule *t, int32_t fold, int32_t loop, bool begins,
                        const char **why)
{
    switch (rd_mapping_of(t, fold, loop)) {
    case RD_MAPS_NOT:
    case RD_MAPS_SAME:
    case RD_MAPS_CELLS: return true;
    default:
        return refuse(why, begins ? "a fold in it goes along the axis"
                                  : "a fold around it goes along the axis");
    }
}

/* True if a loop of the body can take its indices range by range: unit stride, forwards, with
 * bounds that need no value, and no fold reduced or scanned along it. */
static bool loop_allows(const rd_schedule *t, int32_t body, int32_t loop, const char **why)
{
    const rd_for *l = rd_loop_of(t, loop);

    if (l->step != 1 || l->kind == RD_FOR_BLOCK)
        return refuse(why, "a loop over the axis goes by ranges");
    if (l->backwards)
        return refuse(why, "a loop over the axis goes backwards");
    if (rd_edge_has_values(t, &l->from) || rd_edge_has_values(t, &l->to))
        return refuse(why, "memory says where a row begins and ends");
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!fold_allows(t, k, loop, begins_in(t, k, body), why))
            return false;
    return true;
}

/* True if a fold in the body takes a step outside of all loops over the axis: the loop around
 * would take it again in each round. */
static bool repeats_fold(const rd_schedule *t, int32_t body, int32_t axis)
{
    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body)) {
        int32_t loop = t->stmt[s].parent;

        if (t->stmt[s].kind != RD_S_STEP && t->stmt[s].kind != RD_S_PREFIX)
            continue;
        while (loop != body && !is_over(t, loop, axis))
            loop = t->stmt[loop].parent;
        if (loop == body)
            return true;
    }
    return false;
}

/* Checks the folds; then puts the new loop into a copy of the tree, and asks whether its rounds
 * are independent, as those of a vector loop. */
bool rd_may_enclose(const rd_schedule *t, int32_t body, int32_t axis, const char **why)
{
    rd_schedule *copy;
    int32_t      around;
    bool         legal;

    if (rd_loop_over(t, body, axis) < 0)
        return refuse(why, "no loop in it is over the axis");
    if (repeats_fold(t, body, axis))
        return refuse(why, "a fold in it is the same for all of the axis");
    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (is_over(t, s, axis) && !loop_allows(t, body, s, why))
            return false;
    copy   = rd_schedule_copy(t);
    around = copy ? rd_enclose_in_loop(copy, body, axis, /*step=*/1) : -1;
    legal =
        copy && !copy->failed ? rd_may_be_vector(copy, around, why) : refuse(why, rd_why_no_memory);
    rd_schedule_free(copy);
    return legal;
}

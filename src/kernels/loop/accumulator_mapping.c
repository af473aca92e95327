/* accumulator_mapping.c - how the rounds of a loop map to the accumulators of a fold.
 *
 * The mapping decides whether rounds are independent: rd_may_be_vector(), rd_may_enclose() and
 * rd_may_interchange() ask for it.  A sum over i1 of x[i0, i1] maps i0 to CELLS and i1 to LANES
 * or STEPS. docs/loops.md has the table.
 *
 * A fold gives each element a cell, a lane and a step.  A cell is one result with its accumulators.
 * A lane is one of the independent accumulators of a cell; elements go to lanes in turn.  A step is
 * one element of each lane, and a block is a fixed number of steps.  The step comes from two
 * positions: `lane_line`, and the position of the lane divided by the number of lanes.  A round is
 * one iteration of a loop.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A term of a position with `axis` -1 is a value, an index that is read at
 * run time. A fold of one block (n_block 1) has no combine tree. */
#include "kernels/loop/facts.h"

/* Returns the name of a mapping (how rounds of a loop map to a fold's accumulators) for printed
 * text: "cells". */
const char *rd_mapping_name(rd_mapping mapping)
{
    static const char *const names[] = {
        [RD_MAPS_NOT] = "not",     [RD_MAPS_SAME] = "same",     [RD_MAPS_CELLS] = "cells",
        [RD_MAPS_LANES] = "lanes", [RD_MAPS_BLOCKS] = "blocks", [RD_MAPS_ANY] = "any",
        [RD_MAPS_STEPS] = "steps", [RD_MAPS_MIXED] = "mixed"
    };

    return names[mapping];
}

/* How far one round of a loop moves an element's cell (accumulator), lane (one of its partial
 * accumulators) and line (which counts steps, of all lanes). */
typedef struct fold_strides {
    rd_stride cell, lane, lane_line;
} fold_strides;

/* True if the statement takes one element into a fold; a PREFIX also makes a scan's result. */
static bool is_element_step(const rd_stmt *s)
{
    return s->kind == RD_S_STEP || s->kind == RD_S_PREFIX;
}

/* Finds how far one round of the loop moves the cell (accumulator), the lane (partial accumulator)
 * and the line of the element that a statement takes. */
static fold_strides strides_of(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    const rd_fold_at *at = &t->stmt[stmt].fold_at;

    return (fold_strides){ rd_position_stride(t, loop, stmt, &at->cell),
                           rd_position_stride(t, loop, stmt, &at->lane),
                           rd_position_stride(t, loop, stmt, &at->lane_line) };
}

/* ---- Whole blocks ---------------------------------------------------------------------------- */
/* Returns how many elements one unit of the line is in the order of elements, which is
 * line * rows * lanes + lane. A step is one element of each lane (partial accumulator); `rows`:
 * the steps that the lane position fills. */
static int64_t elements_of_line(const rd_fold *f)
{
    return rd_rows_of_lanes(f) * f->lanes;
}

static bool is_multiple(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at,
                        int64_t coef, int64_t of);

/* True if coef * (index of an axis) is a multiple of `of`. The loop that binds the axis must have
 * such an index in all rounds; if it stands inside `loop`, only in its first round, as further
 * rounds are compared by span_within(). rd_binder_of() is that loop; -1: none binds it. */
static bool is_axis_multiple(const rd_schedule *t, int32_t loop, int32_t stmt, int32_t axis,
                             int64_t coef, int64_t of)
{
    const int32_t binder = rd_binder_of(t, stmt, axis);
    const rd_for *l      = binder >= 0 ? rd_loop_of(t, binder) : NULL;

    if (coef % of == 0)
        return true;
    /* No loop binds the axis.  The begin of a task's share is a multiple of the grain. */
    if (!l)
        return axis == t->p->n_axis + RD_MARK_LO && coef * t->p->grain % of == 0;
    /* The first index must be one position without rounding, counted upwards.  The end of a round
     * (`stop_mark`) may be cut off by the end of the loop, so it is no multiple. */
    if (!rd_is_position(&l->from) || l->backwards || (axis == l->stop_mark && axis != l->axis) ||
        !is_multiple(t, loop, binder, &l->from.part[0].at, coef, of))
        return false;
    return rd_stands_in(t, binder, loop) || (l->step > 0 && coef * l->step % of == 0);
}

/* True if coef * position is a multiple of `of` in every round of the loop. A value (axis < 0) can
 * be any number, so its coefficient must be such a multiple. */
static bool is_multiple(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at,
                        int64_t coef, int64_t of)
{
    if (coef * at->offset % of)
        return false;
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis < 0 ? coef * term->coef % of != 0
                           : !is_axis_multiple(t, loop, stmt, term->axis, coef * term->coef, of))
            return false;
    }
    return true;
}

/* Returns the distance in the order of elements between the first and the last element of a round,
 * at most.  -1: a stride or a trip count is unknown, or a loop inside goes back. `by`: elements
 * from one round of a loop inside to the next, in the order line * rows * lanes + lane (partial
 * accumulator). */
static int64_t span_within(const rd_schedule *t, const rd_fold *f, int32_t loop, int32_t stmt)
{
    int64_t span = 0;

    for (int32_t s = rd_loop_around(t, stmt); s != loop; s = rd_loop_around(t, s)) {
        const fold_strides m  = strides_of(t, s, stmt);
        const int64_t      by = m.lane_line.by * elements_of_line(f) + m.lane.by,
                      most    = rd_most_trips(t, s);

        if (!m.lane_line.known || !m.lane.known || by < 0 || (by && most < 0))
            return -1;
        span += most > 0 ? by * (most - 1) : 0;
    }
    return span;
}

/* True if coef * position is a multiple of `of` in the first round of a loop. The loop's own axis
 * counts with the loop's first index; other axes must be multiples in all their rounds. The loop
 * must go upwards from one position that is not rounded (by <= 1). */
static bool begins_with_multiple(const rd_schedule *t, int32_t loop, const rd_linear *at,
                                 int64_t coef, int64_t of)
{
    const rd_for *l      = rd_loop_of(t, loop);
    const int32_t parent = t->stmt[loop].parent;
    const int64_t own    = coef * rd_linear_coef(t, at, l->axis);

    if (!rd_is_position(&l->from) || l->backwards || coef * at->offset % of ||
        !is_multiple(t, parent, loop, &l->from.part[0].at, own, of))
        return false;
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis == l->axis && term->axis >= 0)
            continue;
        if (term->axis < 0 ? coef * term->coef % of != 0
                           : !is_axis_multiple(t, parent, loop, term->axis, coef * term->coef, of))
            return false;
    }
    return true;
}

/* True if the loop's first element is the first of a block: its line and lane (partial
 * accumulator) positions are multiples of a block's elements. `block`: elements of a block, steps
 * * lanes; 0 if that number overflows. */
bool rd_begins_with_block(const rd_schedule *t, int32_t fold, int32_t loop, const rd_fold_at *at)
{
    const rd_fold *f     = &t->p->fold[fold];
    const int64_t  block = f->steps <= INT64_MAX / f->lanes ? f->steps * f->lanes : 0;

    return block && begins_with_multiple(t, loop, &at->lane_line, elements_of_line(f), block) &&
           begins_with_multiple(t, loop, &at->lane, /*coef=*/1, block);
}

/* True if each round takes whole blocks (a block: `steps` steps of all lanes), one after the other.
 * A block loop does if its rounds end with the fold's blocks. Any other loop does if a round moves
 * the element by a multiple of a block (by), takes no more elements than that (span), and begins at
 * the begin of a block. Such a loop goes upwards by ranges (step 2 or more), and steps * lanes must
 * not overflow. */
static bool is_whole_blocks(const rd_schedule *t, int32_t fold, int32_t loop, int32_t stmt,
                            const fold_strides *m)
{
    const rd_fold *f = &t->p->fold[fold];
    const rd_for  *l = rd_loop_of(t, loop);
    int64_t        block, by, span;

    if (l->kind == RD_FOR_BLOCK && rd_ends_with_block(t, fold, loop))
        return true;
    if (f->n_block < 2 || f->steps > INT64_MAX / f->lanes || l->step < 2 || l->backwards)
        return false;
    block = f->steps * f->lanes;
    by    = m->lane_line.by * elements_of_line(f) + m->lane.by;
    span  = span_within(t, f, loop, stmt);
    return by > 0 && by % block == 0 && span >= 0 && span < by &&
           is_multiple(t, loop, stmt, &t->stmt[stmt].fold_at.lane_line, elements_of_line(f),
                       block) &&
           is_multiple(t, loop, stmt, &t->stmt[stmt].fold_at.lane, /*coef=*/1, block);
}

/* True if each round has states (accumulators) of its own (`more`, added to a state's subscript,
 * moves from round to round), and takes elements of other blocks (runs of a fold's steps) than the
 * others: `by`, in elements, is a multiple of a block. A fold of one block (n_block 1) has no
 * second one, and a block whose elements overflow an int64_t never ends. */
static bool has_own_states(const rd_schedule *t, const rd_fold *f, int32_t loop, int32_t stmt,
                           const fold_strides *m)
{
    const rd_stride more = rd_position_stride(t, loop, stmt, &t->stmt[stmt].fold_at.state_offset);
    const int64_t   by   = m->lane_line.by * elements_of_line(f) + m->lane.by;

    return more.known && more.by && f->n_block > 1 && f->steps <= INT64_MAX / f->lanes && by > 0 &&
           by % (f->steps * f->lanes) == 0;
}

/* ---- One statement --------------------------------------------------------------------------- */
/* True if the reducer gives the same bits in any order of elements: its law says that it is exact,
 * it returns no prefixes, and no element is best by being the first (argmax of bools). */
static bool may_go_in_any_order(const rd_fold *f)
{
    return f->law == RD_LAW_exact && !f->scan && !f->first;
}

/* Returns the mapping of rounds that take elements of the same cell (accumulator). ANY: the
 * reducer gives the same bits in any order. BLOCKS: each round takes other blocks. STEPS: rounds
 * are successive steps of the same states. MIXED: strides are unknown, or lanes change from round
 * to round. */
static rd_mapping mapping_of_same_states(const rd_schedule *t, int32_t fold, int32_t loop,
                                         int32_t stmt, const fold_strides *m)
{
    const rd_fold *f     = &t->p->fold[fold];
    const bool     known = m->cell.known && m->lane.known && m->lane_line.known;

    if (may_go_in_any_order(f) && m->cell.known)
        return RD_MAPS_ANY;
    if (!known && rd_loop_of(t, loop)->kind == RD_FOR_BLOCK && m->cell.known && !m->cell.by)
        return RD_MAPS_STEPS; /* rounds end where another fold's blocks do: no known stride */
    /* A lane stride that is no multiple of the number of lanes changes lanes from round to
     * round. */
    if (!known || m->cell.by || m->lane.by % f->lanes)
        return RD_MAPS_MIXED;
    return is_whole_blocks(t, fold, loop, stmt, m) || has_own_states(t, f, loop, stmt, m)
               ? RD_MAPS_BLOCKS
               : RD_MAPS_STEPS;
}

/* True if neighbouring rounds have neighbouring lanes (partial accumulators), and so are
 * independent. If there are more elements than lanes, no loop inside may move the lane: it could
 * bring one round to the lanes of another. */
static bool are_lanes(const rd_schedule *t, int32_t fold, int32_t loop, int32_t stmt,
                      const fold_strides *m)
{
    const rd_fold *f = &t->p->fold[fold];

    if (m->cell.by || m->lane_line.by || m->lane.by != 1 || f->lanes == 1)
        return false;
    for (int32_t s = rd_loop_around(t, stmt); s != loop && f->lane_extent > f->lanes;
         s         = rd_loop_around(t, s))
        if (rd_position_varies(t, s, stmt, &t->stmt[stmt].fold_at.lane))
            return false;
    return true;
}

/* Returns the mapping of a loop's rounds at one STEP or PREFIX. If only the cell (accumulator)
 * moves: CELLS. If rounds have neighbouring lanes: LANES. If nothing moves: MIXED, as all rounds
 * take the same element. With unknown strides only block loops can be BLOCKS. */
static rd_mapping mapping_of_element(const rd_schedule *t, int32_t fold, int32_t loop, int32_t stmt)
{
    const fold_strides m = strides_of(t, loop, stmt);

    if (!m.cell.known || !m.lane.known || !m.lane_line.known)
        return rd_loop_of(t, loop)->kind == RD_FOR_BLOCK && is_whole_blocks(t, fold, loop, stmt, &m)
                   ? RD_MAPS_BLOCKS
                   : mapping_of_same_states(t, fold, loop, stmt, &m);
    if (m.cell.by && !m.lane.by && !m.lane_line.by)
        return RD_MAPS_CELLS;
    if (are_lanes(t, fold, loop, stmt, &m))
        return RD_MAPS_LANES;
    if (!m.lane.by && !m.lane_line.by)
        return RD_MAPS_MIXED;
    return mapping_of_same_states(t, fold, loop, stmt, &m);
}

/* Returns the mapping at a statement about a whole cell (accumulator) with all its lanes, such as
 * a FINISH: CELLS if each round has another cell, else MIXED. */
static rd_mapping mapping_of_cell(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    const rd_stride cell = rd_position_stride(t, loop, stmt, &t->stmt[stmt].fold_at.cell);

    return cell.known && cell.by ? RD_MAPS_CELLS : RD_MAPS_MIXED;
}

/* ---- All of a fold --------------------------------------------------------------------------- */
/* True if the statement changes or reads states (accumulators) of the fold as a part of it.  An
 * EXIT only tests them. */
static bool is_of_fold(const rd_stmt *s, int32_t fold)
{
    return s->fold == fold && s->kind != RD_S_EXIT;
}

/* True if all statements of the fold, in all parts (head, body, tail) of the tree, stand in the
 * loop. */
static bool is_within(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (is_of_fold(&t->stmt[s], fold) && !rd_stands_in(t, s, loop))
                return false;
    return true;
}

/* Returns the next statement behind `last` in the loop that decides the fold's mapping; -1: there
 * is none. Ends of blocks (runs of a fold's steps) and copies of states (accumulators) do not
 * decide, as they go with a step. */
static int32_t next_in_fold(const rd_schedule *t, int32_t fold, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(t, last, loop);

    while (s >= 0 && (!is_of_fold(&t->stmt[s], fold) || t->stmt[s].kind == RD_S_PUSH_IF_LAST ||
                      t->stmt[s].kind == RD_S_PUSH || t->stmt[s].kind == RD_S_LOAD_STATES ||
                      t->stmt[s].kind == RD_S_STORE_STATES || t->stmt[s].kind == RD_S_SWITCH_STATE))
        s = rd_next_stmt(t, s, loop);
    return s;
}

/* Finds the mapping of all statements of the fold in the loop: it is MIXED if two of them differ.
 * A fold that begins in the loop, and has no statement outside, is SAME. A BEGIN whose fold has
 * statements outside is MIXED. */
rd_mapping rd_mapping_of(const rd_schedule *t, int32_t fold, int32_t loop)
{
    rd_mapping found = RD_MAPS_NOT;

    for (int32_t s = next_in_fold(t, fold, loop, loop); s >= 0;
         s         = next_in_fold(t, fold, loop, s)) {
        const rd_stmt   *stmt = &t->stmt[s];
        const rd_mapping by   = is_element_step(stmt)      ? mapping_of_element(t, fold, loop, s)
                                : stmt->kind == RD_S_BEGIN ? RD_MAPS_MIXED
                                                           : mapping_of_cell(t, loop, s);

        if (stmt->kind == RD_S_BEGIN && is_within(t, fold, loop))
            return RD_MAPS_SAME;
        found = found == RD_MAPS_NOT || found == by ? by : RD_MAPS_MIXED;
    }
    return found;
}

/* True if the loop moves the step number of some element of the fold. The lane (partial
 * accumulator) counts, too, if there are more elements than lanes: then its position / lanes is
 * part of the step number. */
bool rd_moves_step(const rd_schedule *t, int32_t fold, int32_t loop)
{
    const rd_fold *f = &t->p->fold[fold];

    for (int32_t s = next_in_fold(t, fold, loop, loop); s >= 0;
         s         = next_in_fold(t, fold, loop, s)) {
        const fold_strides m = strides_of(t, loop, s);

        if (is_element_step(&t->stmt[s]) &&
            (!m.lane_line.known || m.lane_line.by || !m.lane.known ||
             (m.lane.by && f->lane_extent > f->lanes)))
            return true;
    }
    return false;
}

/* True if the elements that the fold takes in the first round of each range of the loop have a lane
 * (partial accumulator) position that is a multiple of the number of lanes, which is lane 0.
 * next_in_fold() visits the fold's statements. */
bool rd_begins_with_lane_0(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = next_in_fold(t, fold, loop, loop); s >= 0; s = next_in_fold(t, fold, loop, s))
        if (is_element_step(&t->stmt[s]) &&
            !is_multiple(t, t->stmt[loop].parent, s, &t->stmt[s].fold_at.lane, /*coef=*/1,
                         t->p->fold[fold].lanes))
            return false;
    return true;
}

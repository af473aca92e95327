/* check_order.c - checks that loops keep the order in which folds take their elements.
 *
 * The check looks at the tree alone, so it holds for all extents.  Of two loops that move the
 * step of a fold, the outer one has the greater stride.  No parallel or backward loop moves the
 * step, unless its rounds are in different blocks.
 *
 * Elements have an order: line * rows * lanes + lane, where `rows` is the number of steps that the
 * lane position fills.  The stride of a loop is how far one index moves an element in this order.
 * A state is one accumulator, and a cell one result with its states.
 *
 * Fields. A fold of one block (n_block 1) has no combine tree. */
#include "kernels/loop/check.h"
#include "kernels/loop/shadow/shadow.h"
#include <inttypes.h>

/* A loop around a step, and how far one index of it moves the element in the order line * rows *
 * lanes + lane.  A cell is an accumulator, a lane one of its partial accumulators. */
typedef struct mover {
    const rd_for *loop;
    int64_t       stride; /* of one round; of a block loop that of an index */
    bool          cell;   /* it moves the cell, too                         */
    bool          lane;   /* it moves nothing but the lane                  */
} mover;

/* Finds how a loop around a step moves its element. The stride is in the order of elements, line
 * * rows * lanes + lane (partial accumulator); `rows`: the steps that the lane position fills. */
static mover mover_of(const rd_schedule *t, const rd_stmt *s, const rd_for *loop)
{
    const rd_fold *f    = &t->p->fold[s->fold];
    const int64_t  rows = rd_rows_of_lanes(f);
    const int64_t  line = rd_linear_coef(t, &s->fold_at.lane_line, loop->axis),
                  lane  = rd_linear_coef(t, &s->fold_at.lane, loop->axis);

    return (mover){ .loop   = loop,
                    .stride = line * rows * f->lanes + lane,
                    .cell   = rd_linear_coef(t, &s->fold_at.cell, loop->axis) != 0,
                    .lane   = line == 0 && lane != 0 && f->lanes > 1 };
}

/* Notes that a loop (m->loop) breaks the order of a fold's elements, with `what` it does; returns
 * false. */
static bool fails(rd_text *why, const rd_stmt *s, const mover *m, const char *what)
{
    rd_text_add(why, "f%" PRId32 ": the loop over i%" PRId32 " %s", s->fold, m->loop->axis, what);
    return false;
}

/* True if the loop by itself keeps the order of steps. A loop in any order (vector, parallel) may
 * move only the lane (partial accumulator), by fewer places than there are lanes, so that no two
 * rounds meet in one. A serial loop must not go from the last step to the first. */
static bool may_move(const rd_schedule *t, const rd_stmt *s, const mover *m, rd_text *why)
{
    const rd_fold *f    = &t->p->fold[s->fold];
    const int64_t  size = m->stride < 0 ? -m->stride : m->stride;

    if (rd_in_any_order(m->loop) && !m->lane)
        return fails(why, s, m, "moves its steps and is a vector loop");
    if (rd_in_any_order(m->loop) && m->loop->extent >= 0 &&
        size * m->loop->step * (m->loop->extent - 1) >= f->lanes)
        return fails(why, s, m, "is a vector loop of more rounds than there are lanes");
    return m->lane || m->loop->extent == 1 || (m->stride > 0) != m->loop->backwards ||
           fails(why, s, m, "moves its steps from the last one to the first");
}

/* True if the inner loop has no greater stride than the outer one, so that elements come in order.
 * Of two loops over one axis the outer one visits ranges for the inner one, so it must have the
 * greater step. An outer loop over lanes is free: each of its rounds has states of its own. */
static bool is_nested_in_order(const rd_stmt *s, const mover *outer, const mover *inner,
                               rd_text *why)
{
    const int64_t a    = outer->stride < 0 ? -outer->stride : outer->stride,
                  b    = inner->stride < 0 ? -inner->stride : inner->stride;
    const int64_t step = outer->loop->step > 0 ? outer->loop->step : 1;

    if (rd_in_any_order(outer->loop) && outer->lane)
        return true; /* each of its rounds has states of its own */
    if (outer->loop->axis == inner->loop->axis)
        return outer->loop->kind == RD_FOR_BLOCK || outer->loop->kind == RD_FOR_ONCE ||
               step >= inner->loop->step ||
               fails(why, s, inner, "has a greater step than the one around it");
    return a * step >= b || fails(why, s, inner, "has a greater stride than the one around it");
}

/* True if the rounds have states (accumulators) of their own: of single elements of a scan
 * (per_element), or of different blocks (`more`, the coefficient of state_offset, moves the
 * subscript, and the stride is a multiple of a block). The shadow run checks the order in which
 * such states are merged. */
static bool is_of_other_states(const rd_schedule *t, const rd_stmt *s, const mover *m)
{
    const rd_fold *f    = &t->p->fold[s->fold];
    const int64_t  more = rd_linear_coef(t, &s->fold_at.state_offset, m->loop->axis);

    if (t->store[s->store].per_element)
        return true; /* a later scan of each block puts these states together */
    return more && f->n_block > 1 && m->stride > 0 && !m->loop->backwards &&
           m->stride * m->loop->step % (f->steps * f->lanes) == 0;
}

/* True if the fold's BEGIN stands directly in this body. */
static bool begins_in(const rd_schedule *t, int32_t fold, int32_t body)
{
    for (int32_t s = t->stmt[body].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* True if the loops around a step keep its order: each one by itself, and each pair of neighbours
 * among those that move it. The search goes outwards, and ends where the fold begins. A loop that
 * does not move the step (stride 0), or moves it to other cells or states, cannot change its order.
 */
static bool keeps_order(const rd_schedule *t, int32_t stmt, rd_text *why)
{
    const rd_stmt *s     = &t->stmt[stmt];
    mover          inner = { 0 };
    bool           ok    = true;

    for (int32_t k = s->parent; k >= 0 && ok && !begins_in(t, s->fold, k); k = t->stmt[k].parent) {
        const mover m =
            t->stmt[k].kind == RD_S_LOOP ? mover_of(t, s, rd_loop_of(t, k)) : (mover){ 0 };

        if (m.stride == 0 || m.cell || is_of_other_states(t, s, &m))
            continue;
        ok    = may_move(t, s, &m, why) && (!inner.loop || is_nested_in_order(s, &m, &inner, why));
        inner = m;
    }
    return ok;
}

/* Checks that the loops around each STEP and PREFIX keep the order of elements. Folds that give
 * the same bits in any order are not checked. */
bool rd_schedule_check_order(const rd_schedule *t, rd_text *why)
{
    bool ok = true;

    for (int k = 0; k < RD_N_PARTS && ok; k++)
        for (int32_t s = t->part[k]; s >= 0 && ok; s = rd_next_stmt(t, s, t->part[k]))
            if ((t->stmt[s].kind == RD_S_STEP || t->stmt[s].kind == RD_S_PREFIX) &&
                !rd_shadow_is_unordered(&t->p->fold[t->stmt[s].fold]))
                ok = keeps_order(t, s, why);
    return ok;
}

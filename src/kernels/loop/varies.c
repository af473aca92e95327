/* varies.c - what changes with the rounds of a loop, and by how much.
 *
 * A value varies if it can differ between two rounds of the loop in question.  A stride is how far
 * something moves from one round to the next; it is unknown if it is no constant.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time. A
 * bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple.
 *
 * Words. A cell is one result of a fold, with its accumulators. A fold is a reduction or a scan. */
#include "kernels/loop/facts.h"
#include <stdlib.h>
#include <string.h>

/* A query: the loop, and the values that are known to vary; NULL: they are to be found. */
typedef struct variation_query {
    const rd_schedule *t;
    int32_t            loop;
    const bool        *varies;
} variation_query;

static const rd_stride still = { true, 0 }, unknown = { false, 0 };

static rd_stride position_stride(const variation_query *q, int32_t stmt, const rd_linear *at);

/* ---- Positions ------------------------------------------------------------------------------- */
/* True if the value can differ between rounds of the query's loop: by the query's list, or if it
 * has none by a search. */
static bool value_varies(const variation_query *q, int32_t value)
{
    return q->varies ? q->varies[value] : rd_value_varies(q->t, q->loop, value);
}

/* Returns the stride of a loop bound: how far it moves from one round of the query's loop to the
 * next. One of several parts, or rounded, has a known stride only if all parts stand still. */
static rd_stride edge_stride(const variation_query *q, int32_t stmt, const rd_edge *edge)
{
    bool stands = true;

    if (rd_is_position(edge))
        return position_stride(q, stmt, &edge->part[0].at);
    for (int32_t k = 0; k < edge->n; k++) {
        const rd_stride at    = position_stride(q, stmt, &edge->part[k].at),
                        first = position_stride(q, stmt, &edge->part[k].base);

        stands &= at.known && at.by == 0 && first.known && first.by == 0;
    }
    return stands ? still : unknown;
}

/* Returns the stride of a place in a loop inside that depends on both its bounds, such as the end
 * of its rounds: it stands still if the bounds do, else it is unknown. */
static rd_stride end_stride(const variation_query *q, int32_t binder)
{
    const rd_for   *l    = rd_loop_of(q->t, binder);
    const rd_stride from = edge_stride(q, binder, &l->from), to = edge_stride(q, binder, &l->to);

    return from.known && from.by == 0 && to.known && to.by == 0 ? still : unknown;
}

/* Returns how far the index that an axis or mark is bound to at a statement moves from round to
 * round of the query's loop. Bound by a loop outside: it stands still. By the loop itself: its
 * step; the end of its rounds (stop) may be cut off, so it is unknown. By a loop inside: as that
 * loop's first index. */
static rd_stride axis_stride(const variation_query *q, int32_t stmt, int32_t axis)
{
    const int32_t binder = rd_binder_of(q->t, stmt, axis);
    const rd_for *l      = binder >= 0 ? rd_loop_of(q->t, binder) : NULL;

    if (!l || (binder != q->loop && !rd_stands_in(q->t, binder, q->loop)))
        return still;
    if (binder == q->loop)
        return l->step == 0 || (axis == l->stop_mark && axis != l->axis)
                   ? unknown
                   : (rd_stride){ true, l->backwards ? -l->step : l->step };
    if (l->kind == RD_FOR_BLOCK || axis == l->stop_mark)
        return end_stride(q, binder);
    return edge_stride(q, binder, l->backwards ? &l->to : &l->from);
}

/* Adds up the strides of a position's terms: how far it moves from round to round of the query's
 * loop. A value that varies makes the sum unknown. */
static rd_stride position_stride(const variation_query *q, int32_t stmt, const rd_linear *at)
{
    rd_stride sum = still;

    for (int32_t k = 0; k < at->n && sum.known; k++) {
        const rd_linear_term *term = &q->t->term[at->first + k];
        const rd_stride       by   = term->axis >= 0 ? axis_stride(q, stmt, term->axis)
                                     : value_varies(q, term->value) ? unknown
                                                                    : still;

        sum.known = by.known;
        sum.by += term->coef * by.by;
    }
    return sum.known ? sum : unknown;
}

/* True if something is the same in all rounds: its stride is known, and 0. */
static bool is_still(rd_stride m)
{
    return m.known && m.by == 0;
}

/* Returns by how much a position at a statement moves from one round of the loop to the next. */
rd_stride rd_position_stride(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at)
{
    return position_stride(&(variation_query){ t, loop, /*varies=*/NULL }, stmt, at);
}

/* True unless the position is the same in all rounds of the loop. */
bool rd_position_varies(const rd_schedule *t, int32_t loop, int32_t stmt, const rd_linear *at)
{
    return !is_still(rd_position_stride(t, loop, stmt, at));
}

/* True if the bounds of a loop inside change with the rounds of the loop around it. */
bool rd_edges_vary(const rd_schedule *t, int32_t loop, int32_t inside)
{
    const variation_query q = { t, loop, /*varies=*/NULL };
    const rd_for         *l = rd_loop_of(t, inside);

    return !is_still(edge_stride(&q, inside, &l->from)) ||
           !is_still(edge_stride(&q, inside, &l->to));
}

/* Returns the stride of the address of a LOAD or STORE, in elements. */
rd_stride rd_access_stride(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return rd_position_stride(t, loop, stmt, s->kind == RD_S_LET ? &t->let[s->value].at : &s->at);
}

/* True if the address of a LOAD or STORE has a value that varies with the loop. */
bool rd_is_gather(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    const rd_stmt   *s  = &t->stmt[stmt];
    const rd_linear *at = s->kind == RD_S_LET ? &t->let[s->value].at : &s->at;

    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0 &&
            rd_value_varies(t, loop, t->term[at->first + k].value))
            return true;
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* True if the loop writes what a load reads, so that the load may differ between rounds: by a store
 * behind it, of a value that varies, or to a place that moves. A store before the load, of the same
 * value to the same place, changes nothing. q->varies has the values that were found so far. A SORT
 * counts always. */
static bool reads_changed(const variation_query *q, int32_t load)
{
    const rd_schedule   *t           = q->t;
    const rd_tree_value *l           = &t->let[t->stmt[load].value];
    bool                 before_load = true;

    for (int32_t s = rd_next_stmt(t, q->loop, q->loop); s >= 0; s = rd_next_stmt(t, s, q->loop)) {
        const rd_stmt *store = &t->stmt[s];

        before_load &= s != load;
        if (store->kind == RD_S_STORE && store->slot == l->slot && store->store == l->store &&
            (!before_load || q->varies[store->x] || !is_still(position_stride(q, s, &store->at))))
            return true;
        if (store->kind == RD_S_SORT && l->slot >= 0 &&
            t->p->address[t->p->sorting[store->arg].to].slot == l->slot)
            return true;
    }
    return false;
}

/* True if the value of a LET differs between rounds: an operand varies, its position moves, or the
 * loop changes the memory that it loads. */
static bool let_varies(const variation_query *q, int32_t stmt)
{
    const rd_schedule   *t   = q->t;
    const rd_tree_value *let = &t->let[t->stmt[stmt].value];

    for (int32_t k = 0; k < let->n; k++)
        if (q->varies[t->operand[let->first + k]])
            return true;
    if (let->kind != RD_I_LOAD && let->kind != RD_I_COORD)
        return false;
    return !is_still(position_stride(q, stmt, &let->at)) ||
           (let->kind == RD_I_LOAD && reads_changed(q, stmt));
}

/* True if the result of a LOWER_BOUND (binary search) differs between rounds: its range of indices
 * (x to w), where it reads, or the number that it searches for (count). */
static bool lower_bound_varies(const variation_query *q, int32_t stmt)
{
    const rd_stmt *s = &q->t->stmt[stmt];

    return q->varies[s->x] || q->varies[s->weight] || !is_still(position_stride(q, stmt, &s->at)) ||
           !is_still(position_stride(q, stmt, &s->count));
}

/* True if results of a fold (FINISH) differ between rounds: they are of another cell
 * (accumulator), or the fold takes elements in the loop. */
static bool results_vary(const variation_query *q, int32_t stmt)
{
    const rd_schedule *t = q->t;

    if (!is_still(position_stride(q, stmt, &t->stmt[stmt].fold_at.cell)))
        return true;
    for (int32_t s = rd_next_stmt(t, q->loop, q->loop); s >= 0; s = rd_next_stmt(t, s, q->loop))
        if ((t->stmt[s].kind == RD_S_STEP || t->stmt[s].kind == RD_S_PREFIX) &&
            t->stmt[s].fold == t->stmt[stmt].fold)
            return true;
    return false;
}

/* Marks the values that vary with the rounds of the loop, in the order in which they are made. A
 * PREFIX, the result of a scan at an element, always does. */
void rd_find_varying(const rd_schedule *t, int32_t loop, bool *found)
{
    const variation_query q = { t, loop, found };

    memset(found, 0, (size_t)t->n_let * sizeof *found);
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *stmt   = &t->stmt[s];
        const bool     varies = stmt->n_value == 0               ? false
                                : stmt->kind == RD_S_LET         ? let_varies(&q, s)
                                : stmt->kind == RD_S_PREFIX      ? true
                                : stmt->kind == RD_S_LOWER_BOUND ? lower_bound_varies(&q, s)
                                                                 : results_vary(&q, s);

        for (int32_t k = 0; k < stmt->n_value; k++)
            found[stmt->value + k] = varies;
    }
}

/* True if the value can differ between rounds of the loop. Without memory the answer is true,
 * which forbids most changes. */
bool rd_value_varies(const rd_schedule *t, int32_t loop, int32_t value)
{
    const int32_t maker = t->let[value].made_by;
    bool         *found, answer;

    if (maker < 0 || !rd_stands_in(t, maker, loop))
        return false;
    found = malloc((size_t)t->n_let + 1);
    if (!found)
        return true;
    rd_find_varying(t, loop, found);
    answer = found[value];
    free(found);
    return answer;
}

/* ---- Along an axis --------------------------------------------------------------------------- */
/* True if the position has the axis as a term, or a value that varies along it (axis < 0 names a
 * value). */
static bool linear_varies(const rd_schedule *t, const rd_linear *at, int32_t axis,
                          const bool *varies)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis == axis || (term->axis < 0 && varies[term->value]))
            return true;
    }
    return false;
}

/* True if the address or an operand of a value changes along the axis. */
bool rd_let_varies(const rd_schedule *t, const rd_tree_value *let, int32_t axis, const bool *varies)
{
    bool found = linear_varies(t, &let->at, axis, varies);

    for (int32_t k = 0; k < let->n; k++)
        found |= varies[t->operand[let->first + k]];
    return found;
}

/* price_steps.c - the time of a step of a fold: its operations, moving its state, and the
 * latency until the next step can begin.
 *
 * Rounds of a vector loop are elements of vectors.  A state is an accumulator of a fold, and
 * n_state how many numbers it has.  A region is a group of loops that share strips.  Numbers such
 * as 1.5 and 6 count operations of a step.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. */
#include "core/caches.h"
#include "kernels/loop/price_statement.h"
#include "kernels/loop/facts.h"
#include <math.h>

/* Returns the operator by which the fold's reducer combines elements, such as add; RD_OP_none if
 * it has none. */
static rd_op op_of(const rd_fold *f)
{
    return rd_reducer_table[f->reducer].op;
}

/* True if a step chooses between the best element so far and the next one: a minimum, a maximum,
 * or their places (argmin). */
static bool chooses(const rd_fold *f)
{
    return op_of(f) == RD_OP_minimum || op_of(f) == RD_OP_maximum || rd_reducer_places(f->reducer);
}

/* Returns the time of a step of a whole vector of elements; *size gets the bytes of an element in
 * it, by which callers divide. A dot product is a multiply-add, log-sum-exp an exponential and 6
 * operations, an extreme a selection, others some additions. 1.5, 3 and 6 are estimates. is_short:
 * it sums in a narrow type. */
static double step_ns(const rd_price_site *at, const rd_loop_fold *f, int *size)
{
    const rd_speeds *s    = at->s;
    const rd_fold   *fold = f->emit.fold;
    const rd_dtype   type = f->emit.is_short ? f->emit.sums : fold->type;
    const bool       ints = rd_dtype_kind(type) != RD_KIND_FLOAT;
    const double     cost = rd_fold_cost(fold);

    *size = ints && chooses(fold) && rd_small_type(type) ? rd_dtype_size(type)
                                                         : rd_size_in_vector(type);
    if (rd_reducer_places(fold->reducer)) {
        *size = 8;
        return 3 * s->select_i64;
    }
    if (rd_reducer_multiplies(fold->reducer))
        return rd_of_floats(type, s->fma_f32, s->fma_f64);
    if (rd_reducer_takes_exponential(fold->reducer))
        return 6 * rd_add_ns(s, type) +
               rd_of_floats(type, s->exp_f32, s->exp_f64) * s->vector / rd_size_in_vector(type);
    if (chooses(fold))
        return !ints ? 2 * rd_select_ns(s, type) : rd_add_ns(s, type);
    return op_of(fold) == RD_OP_mul ? rd_mul_ns(s, type)
                                    : (cost > 1 ? 1.5 * cost : 1) * rd_add_ns(s, type);
}

/* Returns the latency of a step: how long the next step on the same state (accumulator) waits.
 * Log-sum-exp waits for an exponential and an addition. An extreme of ints counts as two thirds of
 * a measured select. */
static double chain_ns(const rd_price_site *at, const rd_loop_fold *f)
{
    const rd_speeds *s    = at->s;
    const rd_fold   *fold = f->emit.fold;
    const bool       ints = rd_dtype_kind(fold->type) != RD_KIND_FLOAT;

    if (rd_reducer_takes_exponential(fold->reducer))
        return s->one_exp + s->chain_add;
    if (ints)
        return chooses(fold) ? 2 * s->one_select / 3 : s->one_add;
    return chooses(fold) ? s->chain_select : s->chain_add;
}

/* True if a loop around the vector loop, within its region (loops that share strips), does not
 * move the cell (accumulator) of the STEP, so that its rounds use the same states again. */
bool rd_reuses_states(const rd_price_site *at, int32_t stmt)
{
    for (int32_t s = at->vector >= 0 ? rd_loop_around(at->t, at->vector) : -1;
         s >= 0 && rd_stands_in(at->t, s, at->top); s = rd_loop_around(at->t, s)) {
        const rd_stride move = rd_position_stride(at->t, s, stmt, &at->t->stmt[stmt].fold_at.cell);

        if (move.known && move.by == 0)
            return true;
    }
    return false;
}

/* Returns the time to load and store one lane (partial accumulator), if each element of a strip (a
 * range that vector loops visit) has all lanes of a cell of its own. They come from the second
 * cache if a strip's states exceed the first. */
static double lanes_of_strip_ns(const rd_price_site *at, const rd_loop_fold *f)
{
    const double bytes = (double)f->emit.n_state * rd_register_size(f->emit.fold->type);

    return bytes / (bytes * f->lanes * RD_PRICED_STRIP > RD_L1_BYTES ? at->s->l2 : at->s->l1);
}

/* Returns the time to load and store the states of neighbours. States of a fold that begins in the
 * region (in_region) stay in registers, unless each element has several lanes. Only cells (an
 * accumulator for each element) are moved; if rounds of a loop share them, a few of these rounds
 * are jammed, and share the transfer. `inner`: how far the innermost loop, if it is no vector loop,
 * moves the cell. */
static double states_ns(const rd_price_site *at, const rd_loop_fold *f, int32_t stmt,
                        rd_mapping mapping)
{
    enum { JAMMED = 4 }; /* rounds that share a load and a store */
    const double bytes = (double)f->emit.n_state * rd_register_size(f->emit.fold->type) / at->s->l1;
    const rd_stride inner =
        at->loop >= 0 && at->loop != at->vector
            ? rd_position_stride(at->t, at->loop, stmt, &at->t->stmt[stmt].fold_at.cell)
            : (rd_stride){ true, 1 };

    if (at->in_region[f - at->t->fold])
        return f->emit.fold->lanes > 1 && mapping != RD_MAPS_LANES ? lanes_of_strip_ns(at, f) : 0;
    if (mapping != RD_MAPS_CELLS)
        return 0;
    return (inner.known && inner.by == 0) || rd_reuses_states(at, stmt) ? bytes / JAMMED : bytes;
}

/* True if the vector loop loads elements that are not adjacent: the stride is unknown, or more
 * than 1. */
static bool has_strided_loads(const rd_price_site *at)
{
    for (int32_t s = rd_next_stmt(at->t, at->vector, at->vector); s >= 0;
         s         = rd_next_stmt(at->t, s, at->vector)) {
        const rd_stmt *stmt = &at->t->stmt[s];
        int64_t        by;

        if (stmt->kind == RD_S_LET && at->t->let[stmt->value].kind == RD_I_LOAD &&
            (!rd_has_known_stride(at, s, &by) || by > 1))
            return true;
    }
    return false;
}

/* Returns the time to collect the states of a user's reducer (all numbers of a state lie together
 * in memory), if the fold begins in the region (loops that share strips) and loads are strided;
 * else 0. */
static double user_ns(const rd_price_site *at, const rd_loop_fold *f)
{
    enum { EACH = 1 }; /* a load and a store for each number, about */

    return f->emit.fold->user && at->in_region[f - at->t->fold] && has_strided_loads(at)
               ? EACH * at->s->one_memory * f->emit.n_state
               : 0;
}

/* Adds the time of a group-by's step: it finds the state (accumulator) by the element's label,
 * loads it, and stores it. */
static void add_label(const rd_price_site *at, rd_unit_ns *e)
{
    e->arithmetic += 2 * at->s->one_memory;
    e->stores += at->s->one_memory;
}

/* Adds the time of a step. In a vector loop whose rounds have different states (accumulators) it
 * is done for a vector of elements, and states may have to be moved. Else each step waits for the
 * one before it (chain). A scan computes and stores each prefix, so it counts twice. Masks and
 * weights are a selection and a product more. */
void rd_price_step(const rd_price_site *at, int32_t stmt, bool vector, rd_unit_ns *e)
{
    enum { FORWARDED = 2 }; /* one that was just stored comes back after the time of a step */
    const rd_speeds    *s    = at->s;
    const rd_stmt      *step = &at->t->stmt[stmt];
    const rd_loop_fold *f    = &at->t->fold[step->fold];
    const rd_mapping mapping = vector ? rd_mapping_of(at->t, step->fold, at->vector) : RD_MAPS_NOT;
    const bool       scan    = step->kind == RD_S_PREFIX;
    int              size;
    double           ns = step_ns(at, f, &size);

    if (step->mask >= 0)
        ns += rd_select_ns(s, f->emit.fold->type) / 2 * f->emit.n_state;
    /* A weight is one more product for each element; a dot product has it in its step. */
    if (step->weight >= 0 && !rd_reducer_multiplies(f->emit.fold->reducer))
        ns += rd_mul_ns(s, f->emit.fold->type);
    if (f->emit.fold->n_group) /* a group-by */
        add_label(at, e);
    if (vector && mapping != RD_MAPS_NOT) {
        const double transfer_ns = states_ns(at, f, stmt, mapping);

        e->arithmetic += (scan ? 2 : 1) * ns * size / s->vector + user_ns(at, f);
        e->loads += transfer_ns;
        e->stores += transfer_ns;
        if (transfer_ns > 0) /* the next round of a short loop waits for it */
            e->chain += FORWARDED * chain_ns(at, f) / fmax(1, rd_trips_of(at->t, at->vector));
        return;
    }
    e->arithmetic += (scan ? 2 : 1) * rd_fold_cost(f->emit.fold) * s->one_add;
    if (f->several_lane_axes) { /* lanes do not wait: each element asks for a block's end */
        e->arithmetic += 2 * s->one_add + (rd_has_exponential(&f->emit) ? s->one_exp : 0);
        return;
    }
    e->chain +=
        (chain_ns(at, f) + (scan ? s->one_scan : 0)) * fmax(1, rd_fold_cost(f->emit.fold) / 2);
}

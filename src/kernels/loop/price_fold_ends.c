/* price_fold_ends.c - the time of the begin and the end of a fold, and of the ends of its
 * blocks.
 *
 * Cost counts the operations of a reducer's step.  Numbers without a name are
 * estimates.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. */
#include "kernels/loop/price_statement.h"
#include <math.h>

/* Returns the time in which the states of all lanes (partial accumulators of a cell) become one.
 * s->lanes is measured for 64 states of f64, 512 bytes; less than 0.3 of it no merge takes.
 * Merging of log-sum-exp takes an exponential for each lane, too. */
static double lanes_ns(const rd_speeds *s, const rd_loop_fold *f)
{
    enum { MEASURED = 512 };
    const double bytes = (double)f->lanes * f->emit.n_state * rd_register_size(f->emit.fold->type);
    const double power =
        rd_has_exponential(&f->emit) ? rd_of_floats(f->emit.fold->type, s->exp_f32, s->exp_f64) : 0;

    return s->lanes * fmax(0.3, bytes / MEASURED) + f->lanes * power;
}

/* Adds the time of a BEGIN. In a vector loop neighbours keep their states in registers, which
 * counts as a quarter of a store to the first cache; else the states of all cells (accumulators)
 * are written to memory. 0.25 and 0.5 are estimates. */
static void add_begin(const rd_price_site *at, const rd_loop_fold *f, bool vector, rd_unit_ns *e)
{
    const double bytes  = (double)f->emit.n_state * rd_register_size(f->emit.fold->type);
    const double states = (double)f->emit.fold->n_cell * f->lanes;

    if (vector)
        e->stores += 0.25 * bytes * f->lanes / at->s->l1;
    else
        e->entries += 0.5 * at->s->loop + bytes * states / at->s->l1;
}

/* Adds the time of a statement that begins or ends a fold: BEGIN, merging blocks (runs of a fold's
 * steps) or lanes (partial accumulators), or making the result. s->push is measured for 64 states,
 * and merging blocks counts as three pushes. `vector`: it is done for all elements of a strip.
 * Numbers without a name are estimates. */
void rd_price_fold_end(const rd_price_site *at, const rd_stmt *stmt, bool vector, rd_unit_ns *e)
{
    const rd_speeds    *s     = at->s;
    const rd_loop_fold *f     = &at->t->fold[stmt->fold];
    const double        lanes = f->lanes, cost = rd_fold_cost(f->emit.fold);
    const double        states = lanes * f->emit.n_state / 64;

    switch (stmt->kind) {
    case RD_S_BEGIN: add_begin(at, f, vector, e); break;
    case RD_S_MERGE_BLOCKS:
        e->entries += f->blocks ? (vector ? 1.0 / RD_PRICED_STRIP : 1) * s->push * states * 3 : 0;
        break;
    case RD_S_MERGE_LANES:
        e->entries += vector ? lanes * cost * rd_add_ns(s, f->emit.fold->type) *
                                   rd_size_in_vector(f->emit.fold->type) / s->vector
                             : lanes_ns(s, f);
        break;
    case RD_S_FINISH:
        if (vector)
            e->arithmetic += (cost > 1 ? 4 : 0.5) * rd_add_ns(s, f->emit.fold->type) *
                             rd_size_in_vector(f->emit.fold->type) / s->vector;
        else
            e->entries += 2 * s->one_add;
        break;
    default: break;
    }
}

/* Adds the time of the end of a block, a leaf of the combine tree. PUSH_IF_LAST tests at each step
 * but pushes once in `steps`, at most 2^20; PUSH is done each time. s->push is measured for 64
 * states (accumulators); 2 is an estimate. */
void rd_price_block_end(const rd_price_site *at, const rd_stmt *stmt, rd_unit_ns *e)
{
    const rd_loop_fold *f = &at->t->fold[stmt->fold];
    const double        steps =
        f->emit.fold->steps < (1 << 20) ? (double)f->emit.fold->steps : (double)(1 << 20);

    if (stmt->kind == RD_S_PUSH_IF_LAST)
        e->arithmetic += 2 * at->s->push * f->emit.n_state / 64 / steps;
    else
        e->entries += 2 * at->s->push * f->emit.n_state * f->lanes / 64;
}

/* one_state_strips.c - Finds rows of small ints that one accumulator takes whole, without lanes.
 *
 * A strip is a range of indices that a vector loop takes.  A lane is one of several accumulators,
 * to which elements of a row go in turn; they are merged at the end.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/pass/strip_at.h"

/* True if the fold has one accumulator of one number for a row, no combine tree, and any grouping
 * gives the same bits. Compilers then keep vectors of sums in registers, and merge them there,
 * where lanes (partial accumulators) would go through memory. Count in a row of 64 bytes: 16 ns
 * with lanes, 2.5 ns so. is_short: it sums in a narrow int type. rd_small_type() is not NULL for
 * ints of 1 or 2 bytes and bools. in_strip says how neighbours map to accumulators: here to the
 * lanes of one cell. */
static bool can_use_one_state(const rd_strip_at *r, const rd_fold_in_strip *in_strip, int32_t fold)
{
    const rd_loop_fold *f = &r->t->fold[fold];

    return in_strip[fold].lanes && f->emit.n_state == 1 && !f->emit.fold->user && !f->tree_rows &&
           (f->emit.is_short ||
            (rd_small_type(f->emit.fold->type) && rd_fold_any_grouping(f->emit.fold)));
}

/* True if the statement is as fast or faster without lanes (partial accumulators). Loads of 4
 * bytes or more, and of half floats, are as fast with lanes, so loads must be of small ints. A row
 * of 256 elements or more may end early (EXIT), and stores would need another loop. */
static bool is_suitable(const rd_strip_at *r, int32_t stmt)
{
    enum { LONG = 256 };
    const rd_tree_value *let = rd_let_of(r->t, stmt);

    if (let && let->kind == RD_I_LOAD)
        return rd_small_type(let->type);
    if (r->t->stmt[stmt].kind == RD_S_EXIT)
        return rd_most_indices(r->t->p, r->axis) < LONG;
    return r->t->stmt[stmt].kind != RD_S_STORE;
}

/* True if one strip (a range that vector loops visit) is the whole axis, which no tasks share
 * (root), and all statements of the region (loops that share strips) are suitable. `top_is_body`:
 * the region only holds loops over the axis, and is none itself. rd_most_indices() is the most
 * indices that a loop visits at a time. */
static bool is_short_row(const rd_strip_at *r)
{
    const rd_program *p = r->t->p;

    if (r->top_is_body || (!r->t->whole && p->root == r->axis) ||
        rd_most_indices(p, r->axis) != p->axis_extent[r->axis])
        return false;
    RD_EACH_IN (r, s)
        if (!is_suitable(r, s))
            return false;
    return true;
}

/* True if all steps of a short row can use one accumulator, and there is a step. */
bool rd_uses_one_state(const rd_strip_at *r, const rd_fold_in_strip *fold)
{
    bool has_step = false; /* a step was found */

    if (!is_short_row(r))
        return false;
    RD_EACH_IN (r, s)
        if (rd_is_step(r->t, s)) {
            if (!can_use_one_state(r, fold, r->t->stmt[s].fold))
                return false;
            has_step = true;
        }
    return has_step;
}

/* gpu_folds.c - the facts of a program's folds on a GPU: all lanes have states, every fold of
 * several blocks has its tree, and states are as wide as their type.
 *
 * A lane is one of the states of a fold's cell (accumulator); blocks are runs of its steps, which a
 * tree combines.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "core/combine_tree.h"
#include "kernels/pass/gpu/gpu.h"

/* Returns the number of binary digits of n: 5 has 3, and 0 none. */
static int32_t bits_of(int64_t n)
{
    int32_t bits = 0;

    for (; n > 0; n /= 2)
        bits++;
    return bits;
}

/* Changes the facts of a fold from those of a CPU task to those on a GPU. States are as wide as
 * their type, all lanes (partial accumulators) have states, and no task shares the fold. tree_rows:
 * nodes (partial results in the combine tree) that a carry stack of n_block blocks needs, two more
 * than the levels. step < 0: no instruction takes elements. mixed: lanes lie along several axes, so
 * no loop goes along the steps. empties: states that have met no element may be merged. shift: a
 * block is 2^shift steps. rd_positions() is the number of elements of a cell. */
static void describe(const rd_program *p, rd_loop_fold *f)
{
    const rd_fold *fold = f->emit.fold;
    const bool     tree = fold->n_block > 1 && !fold->scan;

    f->emit.narrow = f->emit.is_short =
        false; /* no narrow types for states, or for sums of a block */
    f->emit.merges_empty = f->step < 0 || (fold->user && fold->lanes > 1);
    f->emit.weighted |= f->step < 0 && fold->user && fold->user->step2;
    rd_emit_facts(&f->emit, rd_positions(p, &fold->index));
    f->lanes     = fold->lanes;
    f->tree_rows = tree ? bits_of(fold->n_block) + 2 : 0;
    f->blocks    = fold->n_block > 1;
    f->levels    = fold->scan && fold->prefix == RD_PREFIX_TREE && !rd_fold_any_grouping(fold)
                       ? bits_of(RD_TREE_STEPS)
                       : 0;
    f->split     = false;
    /* Threads are dealt lanes by places of elements. */
    f->any_lane          = false;
    f->several_lane_axes = f->step >= 0 && fold->lane_extent > fold->lanes && fold->lane.n_add > 1;
    f->step_loop         = f->several_lane_axes ? -1 : f->step_loop;
    for (f->shift = 0; tree && RD_TREE_STEPS >> f->shift > 1; f->shift++)
        ;
}

/* Returns the facts of all folds: those that rd_loop_folds_of() finds for one task, changed by
 * describe(). NULL: no memory. A user's own reducer needs facts of its text, too; pointers: a
 * GPU cannot call its functions by address. */
const rd_loop_fold *rd_gpu_folds_of(const rd_program *p, rd_get_fn *get, void *pool,
                                    const char **why)
{
    const rd_loop_fold *fold = rd_loop_folds_of(p, /*whole=*/true, get, pool, why);
    rd_loop_fold       *own  = get(pool, ((size_t)p->n_fold + 1) * sizeof *own);

    for (int32_t k = 0; fold && own && !*why && k < p->n_fold; k++) {
        own[k] = fold[k];
        describe(p, &own[k]);
        if (p->fold[k].user && !rd_user_facts(&own[k].emit, k, /*pointers=*/false, get, pool))
            return NULL;
    }
    return fold ? own : NULL;
}

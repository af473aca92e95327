/* join_partials.c - partials in a shadow run: ranges store nodes in any order, and they are
 * combined in the order of their blocks.
 *
 * A partial is a node that one range of a split reduction has stored.  An item is the work of one
 * team, and only partials of the same item combine.
 *
 * Words. A cell is one result of a fold, with its accumulators. A lane is one of the accumulators
 * of a cell, to which elements go in turn. A fold is a reduction or a scan. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sets the work item (the work of one team of threads on a GPU) to which partials that are stored
 * next belong; it is named by a hash. */
void rd_shadow_set_item(rd_shadow_folds *s, uint64_t item)
{
    s->item = item;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Stores one node of a cell (accumulator), with all its lanes, as a partial of the current item
 * (work of one team of threads): a result of one range of a split reduction. */
static bool store_row(rd_shadow_folds *s, int32_t fold, const rd_shadow_accumulator *c, int32_t row)
{
    const int32_t lanes = rd_shadow_fold_of(s, fold)->lanes;

    return rd_shadow_add_partial(s, fold,
                                 &(rd_shadow_partial){ s->item, c->number, c->more, c->covers[row],
                                                       c->node + (size_t)row * (size_t)lanes });
}

/* Runs a STORE_PARTIALS: stores the nodes of all cells (accumulators) as partials of the current
 * item (work of one team of threads). Open blocks (runs of a fold's steps) end first. Scans have a
 * function of their own. */
bool rd_shadow_store_partials(rd_shadow_folds *s, const rd_stmt *by)
{
    bool ok = true;

    if (rd_shadow_fold_of(s, by->fold)->scan)
        return rd_shadow_store_scan_partials(s, by);
    for (int64_t k = 0; k < s->n_cell[by->fold] && ok; k++) {
        rd_shadow_accumulator *c = s->cell[by->fold][k];

        /* No statement has named the cell since its fold has begun. */
        if (!c || c->begun != s->begun[by->fold])
            continue;
        ok = rd_shadow_end_block(s, by, c);
        for (int32_t row = 0; row < c->depth && ok; row++)
            ok = store_row(s, by->fold, c, row);
        c->depth = 0;
    }
    return ok;
}

/* Orders partials by their first block (a run of a fold's steps), for qsort(). */
static int compare_starts(const void *a, const void *b)
{
    const rd_shadow_partial *x = a, *y = b;

    return (x->cover.start > y->cover.start) - (x->cover.start < y->cover.start);
}

/* Pushes a partial as a node of its cell (accumulator) onto the combine tree, behind the partials
 * with earlier blocks. The cell must still take steps (RD_TAKES_STEPS). */
static bool combine_one(rd_shadow_folds *s, const rd_stmt *by, const rd_shadow_partial *partial)
{
    const size_t           lanes = (size_t)rd_shadow_fold_of(s, by->fold)->lanes;
    rd_shadow_accumulator *c     = rd_shadow_accumulator_at(s, by, partial->number, partial->more,
                                                            RD_TAKES_STEPS, RD_TAKES_STEPS);

    if (!c)
        return false;
    memcpy(c->node + (size_t)c->depth * lanes, partial->node, lanes * sizeof *c->node);
    return rd_shadow_push_node(s, by, c, partial->cover);
}

/* True if the partials of the current item (work of one team of threads) hold all blocks (runs of
 * a fold's steps) of all cells (accumulators); else a failure. A partial covers 2^level blocks,
 * and each cell has one that begins with block 0, so these count cells. Unordered folds need not
 * be checked. */
static bool must_be_complete(const rd_shadow_folds *s, const rd_stmt *by)
{
    const rd_fold *f      = rd_shadow_fold_of(s, by->fold);
    int64_t        blocks = 0, cells = 0;

    for (int64_t k = 0; k < s->n_partial[by->fold]; k++) {
        const rd_shadow_partial *partial = &s->partial[by->fold][k];

        if (partial->item != s->item)
            continue;
        blocks += (int64_t)1 << partial->cover.level;
        cells += partial->cover.start == 0;
    }
    return rd_shadow_is_unordered(f) || blocks == cells * f->n_block ||
           rd_shadow_fold_fails(s, by, "%" PRId64 " blocks of %" PRId64 " have been left", blocks,
                                cells * f->n_block);
}

/* Runs a COMBINE_PARTIALS: begins the fold, sorts its partials by their first blocks, and pushes
 * those of the current item (work of one team of threads) onto the combine trees of their cells
 * (accumulators). */
bool rd_shadow_combine_partials(rd_shadow_folds *s, const rd_stmt *by)
{
    rd_shadow_partial *partial = s->partial[by->fold];
    bool               ok      = rd_shadow_begin(s, by) && must_be_complete(s, by);

    if (partial)
        qsort(partial, (size_t)s->n_partial[by->fold], sizeof *partial, compare_starts);
    for (int64_t k = 0; partial && k < s->n_partial[by->fold] && ok; k++)
        if (partial[k].item == s->item)
            ok = combine_one(s, by, &partial[k]);
    return ok;
}

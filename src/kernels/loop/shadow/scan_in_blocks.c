/* scan_in_blocks.c - scans whose elements have states of their own, in a shadow run: these become
 * prefixes within their blocks, and then results.
 *
 * A tile of a scan gives each element a state of its own.  The scan of each block turns these
 * states into prefixes within the block; the prefix of all blocks before is merged later.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>

/* Returns the subscript of the fold's next accumulator, from `from` on, that is in a block (block
 * >= 0); -1: there is none. One with an older `begun` than the fold was not used since the fold's
 * last BEGIN. */
int64_t rd_shadow_next_begun(const rd_shadow_folds *s, int32_t fold, int64_t from)
{
    for (int64_t k = from; k < s->n_cell[fold]; k++) {
        const rd_shadow_accumulator *c = s->cell[fold][k];

        if (c && c->begun == s->begun[fold] && c->block >= 0)
            return k;
    }
    return -1;
}

/* ---- Prefixes of blocks ---------------------------------------------------------------------- */
/* The prefix of the block at hand: `whole`, and the nodes of 1, 2, 4 .. elements that it has. */
typedef struct block_prefix {
    int64_t  step; /* of the last element taken, -1 */
    uint64_t element[RD_MOST_ELEMENT_LEVELS], whole;
} block_prefix;

/* True if the step is the next one behind the last one taken, or if there is none the first of a
 * block (a run of a fold's steps); else a failure. */
static bool must_follow(const rd_shadow_folds *s, const rd_stmt *by, const block_prefix *b,
                        int64_t step)
{
    const bool follows =
        b->step < 0 ? step % rd_shadow_fold_of(s, by->fold)->steps == 0 : step == b->step + 1;

    return follows || rd_shadow_fold_fails(s, by, "step %" PRId64 " comes behind step %" PRId64,
                                           step, b->step);
}

/* Takes the next element of a scan in which each element has a state (accumulator) of its own. The
 * state becomes the prefix within its block (a run of a fold's steps), without the element itself
 * if the scan is exclusive. c->node[0] becomes the block's node, if this is its last element.
 * Before a block's first element there is nothing. */
static bool take_element(rd_shadow_folds *s, const rd_stmt *by, block_prefix *b,
                         rd_shadow_accumulator *c)
{
    const rd_fold *f     = rd_shadow_fold_of(s, by->fold);
    const int64_t  at    = c->step % f->steps;
    uint64_t      *state = rd_shadow_state_at(s, by, c->number, c->more, /*lane=*/0), before;

    if (!state || !must_follow(s, by, b, c->step))
        return false;
    before   = at ? b->whole : RD_OF_NOTHING;
    b->whole = rd_shadow_is_unordered(f) ? rd_shadow_join(f, before, *state)
                                         : rd_shadow_tree_prefix(f, b->element, at, *state);
    b->step  = c->step;
    *state   = f->exclusive ? before : b->whole;
    /* the node of the block, if this is its last element */
    c->node[0]  = rd_shadow_block(f, b->whole);
    c->progress = RD_BLOCKS_MERGED;
    return true;
}

/* Runs a SCAN_BLOCKS: turns the states (accumulators) of all elements, in their order, into
 * prefixes within their blocks (runs of a fold's steps). */
bool rd_shadow_scan_blocks(rd_shadow_folds *s, const rd_stmt *by)
{
    block_prefix b  = { .step = -1 };
    bool         ok = true;

    for (int64_t k = rd_shadow_next_begun(s, by->fold, /*from=*/0); k >= 0 && ok;
         k         = rd_shadow_next_begun(s, by->fold, k + 1))
        ok = take_element(s, by, &b, s->cell[by->fold][k]);
    return ok;
}

/* ---- What blocks come to, and results -------------------------------------------------------- */
/* Stores the partial of each block (a run of a fold's steps): the node at its last element, which
 * is the one before an element of another block. The blocks must have been scanned
 * (RD_BLOCKS_MERGED). */
bool rd_shadow_store_block_partials(rd_shadow_folds *s, const rd_stmt *by)
{
    const int32_t fold = by->fold;
    bool          ok   = true;

    for (int64_t k = rd_shadow_next_begun(s, fold, /*from=*/0), next; k >= 0 && ok; k = next) {
        rd_shadow_accumulator *c = s->cell[fold][k];

        next = rd_shadow_next_begun(s, fold, k + 1);
        if (c->progress != RD_BLOCKS_MERGED)
            return rd_shadow_fold_fails(s, by, "elements are not so far in their blocks");
        if (next < 0 || s->cell[fold][next]->block != c->block)
            ok = rd_shadow_add_partial(
                s, fold,
                &(rd_shadow_partial){ s->item, c->number, 0, { c->block, 0 }, &c->node[0] });
    }
    return ok;
}

/* Computes the results of an element from the prefix before its block (a run of a fold's steps) and
 * its state (accumulator). The block must have been scanned (RD_BLOCKS_MERGED); the state is that
 * of lane 0. */
bool rd_shadow_scan_result(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y)
{
    const rd_stmt               *by = at->by;
    const rd_shadow_accumulator *c  = rd_shadow_accumulator_at(s, by, at->coords.cell, at->more,
                                                               RD_BLOCKS_MERGED, RD_BLOCKS_MERGED);
    const uint64_t              *state =
        c ? rd_shadow_state_at(s, by, at->coords.cell, at->more, /*lane=*/0) : NULL;

    if (state)
        rd_shadow_finish_prefix(rd_shadow_fold_of(s, by->fold), c, *state, y);
    return state != NULL;
}

/* merge_nodes.c - blocks of folds in a shadow run: they become nodes, which merge along the
 * combine tree.
 *
 * A node covers 2^level blocks from `start` on.  `depth` counts the nodes that a cell holds; each
 * has a row of one hash for each lane. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>

/* Merges the nodes of two rows, lane by lane, into the left one. A row has the hash of one node
 * for each lane (partial accumulator) of the cell. */
void rd_shadow_merge_rows(const rd_fold *f, const rd_shadow_accumulator *c, int32_t left,
                          int32_t right)
{
    for (int32_t l = 0; l < f->lanes; l++)
        c->node[left * f->lanes + l] =
            rd_shadow_merge(f, c->node[left * f->lanes + l], c->node[right * f->lanes + l]);
}

/* True if both nodes are halves of one node of the combine tree: of one level, and the left one
 * begins at a multiple of the larger node's blocks. */
static bool are_siblings(const rd_shadow_cover *left, const rd_shadow_cover *right)
{
    return left->level == right->level && (left->start >> left->level) % 2 == 0 &&
           left->start + ((int64_t)1 << left->level) == right->start;
}

/* Pushes the node in row `depth` of the cell (accumulator), as a binary counter adds 1: it merges
 * with the node to its left as long as the two are halves of one node. `row` says which blocks
 * (runs of a fold's steps) it covers; they must come behind the last one so far (ended). An
 * unordered fold has one node that takes all. Nodes that do not merge must fit into the cell's
 * rows. */
bool rd_shadow_push_node(const rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c,
                         rd_shadow_cover row)
{
    const rd_fold *f = rd_shadow_fold_of(s, by->fold);

    if (rd_shadow_is_unordered(f)) {
        if (c->depth)
            rd_shadow_merge_rows(f, c, /*left=*/0, c->depth);
        c->depth = 1;
        return true;
    }
    if (row.start <= c->ended)
        return rd_shadow_fold_fails(s, by, "block %" PRId64 " ends behind block %" PRId64,
                                    row.start, c->ended);
    c->ended              = row.start + ((int64_t)1 << row.level) - 1;
    c->covers[c->depth++] = row;
    while (c->depth > 1 && are_siblings(&c->covers[c->depth - 2], &c->covers[c->depth - 1])) {
        rd_shadow_merge_rows(f, c, c->depth - 2, c->depth - 1);
        c->covers[--c->depth - 1].level++;
    }
    return c->depth < rd_shadow_rows_of(f) ||
           rd_shadow_fold_fails(s, by, "nodes of %" PRId32 " blocks do not meet", c->depth);
}

/* Adds a block to the prefix of a scan, the fold of all blocks so far (c->before). Running sums of
 * floats (`hi_lo_sums`) keep the block as a node of the combine tree, and merge all nodes from the
 * left; other folds merge the prefix with the block. */
static bool add_to_prefix(const rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c,
                          uint64_t block)
{
    const rd_fold *f = rd_shadow_fold_of(s, by->fold);

    if (!s->t->fold[by->fold].hi_lo_sums) {
        c->before = rd_shadow_merge(f, c->before, block);
        return true;
    }
    c->node[c->depth] = block;
    if (!rd_shadow_push_node(s, by, c, (rd_shadow_cover){ c->block, 0 }))
        return false;
    c->before = RD_OF_NOTHING;
    for (int32_t k = 0; k < c->depth; k++)
        c->before = rd_shadow_merge(f, c->before, c->node[k]);
    return true;
}

/* Ends the open block of a cell (accumulator): the states of its lanes (partial accumulators)
 * become a node, and are empty again. block < 0: no block is open. The states must be in the
 * statement's array, and not in a copy. An unordered fold (`unordered`) has no blocks to keep, and
 * always gives a node. Lanes that can have no elements, behind the tree's `lanes`, are empty. */
bool rd_shadow_end_block(rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c)
{
    const rd_fold *f         = rd_shadow_fold_of(s, by->fold);
    const int32_t  lanes     = s->t->fold[by->fold].lanes;
    const bool     unordered = rd_shadow_is_unordered(f);
    bool           ok        = true;

    if (c->block < 0 && !unordered)
        return true;
    if (c->store != by->store && !unordered)
        return rd_shadow_fold_fails(
            s, by, "the states of cell %" PRId64 " are in a%" PRId32 ", not a%" PRId32, c->number,
            c->store, by->store);
    for (int32_t l = 0; l < f->lanes; l++)
        c->node[c->depth * f->lanes + l] = RD_OF_NOTHING;
    for (int32_t l = 0; l < lanes; l++) {
        uint64_t *state = rd_shadow_state_at(s, by, c->number, c->more, l);

        if (!state)
            return false;
        c->node[c->depth * f->lanes + l] = rd_shadow_block(f, *state);
        *state                           = RD_OF_NOTHING;
    }
    if (f->scan)
        ok = add_to_prefix(s, by, c, c->node[c->depth * f->lanes]);
    else
        ok = rd_shadow_push_node(s, by, c, (rd_shadow_cover){ c->block, 0 });
    c->block = -1;
    return ok;
}

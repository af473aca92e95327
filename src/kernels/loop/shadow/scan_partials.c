/* scan_partials.c - scans by ranges in a shadow run: the partials that ranges store, the inner
 * nodes of the combine tree above them, and the prefix with which a range begins.
 *
 * A partial is a node that one range has stored: the merge of 2^level blocks from `start` on.  An
 * item is the work of one team; item 0 means all items.
 *
 * Words. A cell is one result of a fold, with its accumulators. A fold is a reduction or a scan. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- Nodes that ranges leave ----------------------------------------------------------------- */
/* Returns the least level of a node of the combine tree that has room for so many blocks: 2^level
 * or more. */
static int32_t level_of(int64_t blocks)
{
    int32_t level = 0;

    while ((int64_t)1 << level < blocks)
        level++;
    return level;
}

/* Stores the partial of a cell (accumulator) of a scan: all blocks of a range as one node of the
 * combine tree, so they must begin at a multiple of its size. The last range may lack some blocks,
 * as nobody reads its node. `hi_lo_sums`: the nodes are still to be merged. */
static bool store_cell_partial(rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c)
{
    const rd_fold        *f     = rd_shadow_fold_of(s, by->fold);
    const rd_shadow_cover cover = { c->first, level_of(c->block + 1 - c->first) };
    uint64_t              node;

    if (c->block < 0)
        return true;
    if (c->first >> cover.level << cover.level != c->first)
        return rd_shadow_fold_fails(s, by, "blocks %" PRId64 " to %" PRId64 " are no node",
                                    c->first, c->block);
    if (!rd_shadow_end_block(s, by, c))
        return false;
    for (int32_t row = c->depth - 2; row >= 0 && s->t->fold[by->fold].hi_lo_sums; row--)
        rd_shadow_merge_rows(f, c, row, row + 1);
    node = s->t->fold[by->fold].hi_lo_sums ? c->node[0] : c->before;
    return rd_shadow_add_partial(s, by->fold,
                                 &(rd_shadow_partial){ s->item, c->number, c->more, cover, &node });
}

/* Runs a STORE_PARTIALS of a scan: stores the partials of all cells (accumulators) that are in a
 * block (a run of a fold's steps); if each element has a state (per_element), that of each block.
 */
bool rd_shadow_store_scan_partials(rd_shadow_folds *s, const rd_stmt *by)
{
    bool ok = true;

    if (s->t->store[by->store].per_element)
        return rd_shadow_store_block_partials(s, by);
    for (int64_t k = rd_shadow_next_begun(s, by->fold, /*from=*/0); k >= 0 && ok;
         k         = rd_shadow_next_begun(s, by->fold, k + 1))
        ok = store_cell_partial(s, by, s->cell[by->fold][k]);
    return ok;
}

/* ---- Nodes above them ------------------------------------------------------------------------ */
/* Returns -1, 0 or 1, as a is less than, equal to or greater than b. */
static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Orders partials by item (work of one team of threads), cell (accumulator), level and first block
 * (a run of a fold's steps), for qsort() and bsearch(). */
static int compare_partials(const void *a, const void *b)
{
    const rd_shadow_partial *x = a, *y = b;

    return x->item != y->item                 ? (x->item > y->item ? 1 : -1)
           : x->number != y->number           ? compare(x->number, y->number)
           : x->more != y->more               ? compare(x->more, y->more)
           : x->cover.level != y->cover.level ? compare(x->cover.level, y->cover.level)
                                              : compare(x->cover.start, y->cover.start);
}

/* Sorts the partials of a fold by item (work of one team of threads), cell (accumulator), level
 * and first block (a run of a fold's steps), so that they can be found by bsearch(). */
static void sort_partials(const rd_shadow_folds *s, int32_t fold)
{
    if (s->n_partial[fold])
        qsort(s->partial[fold], (size_t)s->n_partial[fold], sizeof **s->partial, compare_partials);
}

/* Returns the partial like `like`, of the same item (work of one team of threads) and cell
 * (accumulator), that covers these blocks (runs of a fold's steps), among the first n partials,
 * which are sorted; NULL: it was not stored. */
static const rd_shadow_partial *find_partial(const rd_shadow_folds *s, int32_t fold, int64_t n,
                                             const rd_shadow_partial *like, rd_shadow_cover cover)
{
    rd_shadow_partial key = *like;

    key.cover = cover;
    return n ? bsearch(&key, s->partial[fold], (size_t)n, sizeof key, compare_partials) : NULL;
}

/* True if both partials, of one item (work of one team of threads) and cell (accumulator), are
 * halves of one node of the combine tree. */
static bool are_halves(const rd_shadow_partial *a, const rd_shadow_partial *b)
{
    return a->item == b->item && a->number == b->number && a->more == b->more &&
           a->cover.level == b->cover.level && (a->cover.start >> a->cover.level) % 2 == 0 &&
           a->cover.start + ((int64_t)1 << a->cover.level) == b->cover.start;
}

/* Adds the node of each two partials that are halves of one node, unless it is there already.
 * s->item 0: of all items (work of a team of threads each). Returns how many nodes were added; -1:
 * no memory. */
static int64_t build_level(rd_shadow_folds *s, const rd_stmt *by)
{
    const rd_fold *f    = rd_shadow_fold_of(s, by->fold);
    const int64_t  n    = s->n_partial[by->fold];
    int64_t        made = 0;

    sort_partials(s, by->fold);
    for (int64_t k = 0; k + 1 < n; k++) {
        const rd_shadow_partial *a = &s->partial[by->fold][k], *b = a + 1;
        rd_shadow_partial        both = *a;
        uint64_t                 node;

        if ((s->item && s->item != a->item) || !are_halves(a, b))
            continue;
        node      = rd_shadow_merge(f, a->node[0], b->node[0]);
        both.node = &node;
        both.cover.level++;
        if (find_partial(s, by->fold, n, &both, both.cover))
            continue;
        if (!rd_shadow_add_partial(s, by->fold, &both))
            return -1;
        made++;
    }
    return made;
}

/* Runs a BUILD_TREE: adds all inner nodes of the combine tree above the partials, level by level,
 * until none is added. False: no memory. */
bool rd_shadow_build_tree(rd_shadow_folds *s, const rd_stmt *by)
{
    int64_t made;

    while ((made = build_level(s, by)) > 0)
        ;
    return made == 0;
}

/* ---- What is before -------------------------------------------------------------------------- */
/* Sets the prefix of a cell (accumulator) before block number `block` (a block: a run of a fold's
 * steps). It merges the partials that cover blocks 0 to block - 1, the largest first, one for each
 * bit of `block`; all of them must have been stored. A running sum of floats (`hi_lo_sums`) keeps
 * these nodes. Partials of single blocks, of a scan with a state for each element, have `more` 0.
 * */
static bool find_before(rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c,
                        int64_t block)
{
    const rd_fold          *f     = rd_shadow_fold_of(s, by->fold);
    const rd_shadow_partial like  = { .item   = s->item,
                                      .number = c->number,
                                      .more   = s->t->store[by->store].per_element ? 0 : c->more };
    rd_shadow_cover         cover = { 0, 62 };

    c->depth  = 0;
    c->before = RD_OF_NOTHING;
    for (; cover.level >= 0; cover.level--) {
        const rd_shadow_partial *partial;

        if (!(block >> cover.level & 1))
            continue;
        partial = find_partial(s, by->fold, s->n_partial[by->fold], &like, cover);
        if (!partial)
            return rd_shadow_fold_fails(
                s, by, "the node of blocks %" PRId64 " to %" PRId64 " has not been left",
                cover.start, cover.start + ((int64_t)1 << cover.level) - 1);
        c->before           = rd_shadow_merge(f, c->before, partial->node[0]);
        c->covers[c->depth] = cover;
        c->node[c->depth]   = partial->node[0];
        c->depth += s->t->fold[by->fold].hi_lo_sums;
        cover.start += (int64_t)1 << cover.level;
    }
    c->ended = block - 1;
    return true;
}

/* Sets the prefix before each element's block (a run of a fold's steps), of a scan in which each
 * element has a state (accumulator) of its own. The first element must be of `block`. */
static bool find_before_each(rd_shadow_folds *s, const rd_stmt *by, int64_t block)
{
    int64_t k  = rd_shadow_next_begun(s, by->fold, /*from=*/0);
    bool    ok = k < 0 || s->cell[by->fold][k]->block == block ||
              rd_shadow_fold_fails(s, by, "the first element is not of block %" PRId64, block);

    for (; k >= 0 && ok; k = rd_shadow_next_begun(s, by->fold, k + 1))
        ok = find_before(s, by, s->cell[by->fold][k], s->cell[by->fold][k]->block);
    return ok;
}

/* Runs a LOOK_BACK (decoupled look-back): sets the prefix, of all blocks (runs of a fold's steps)
 * before that of `step`, of all cells (accumulators) with partials. A cell is found by its largest
 * node, which begins with block 0 and has the highest bit of `block`. */
bool rd_shadow_look_back(rd_shadow_folds *s, const rd_stmt *by, int64_t step)
{
    const int64_t block = step / rd_shadow_fold_of(s, by->fold)->steps;
    bool          found = block == 0, ok = true;

    sort_partials(s, by->fold);
    if (s->t->store[by->store].per_element)
        return find_before_each(s, by, block);
    for (int64_t k = 0; k < s->n_partial[by->fold] && ok && block > 0; k++) {
        const rd_shadow_partial *partial = &s->partial[by->fold][k];
        rd_shadow_accumulator   *c;

        if (partial->item != s->item || partial->cover.start || block >> partial->cover.level != 1)
            continue;
        c     = rd_shadow_accumulator_at(s, by, partial->number, partial->more, RD_TAKES_STEPS,
                                         RD_TAKES_STEPS);
        ok    = c && find_before(s, by, c, block);
        found = true;
    }
    return ok && (found ||
                  rd_shadow_fold_fails(
                      s, by, "no node of what is before block %" PRId64 " has been left", block));
}

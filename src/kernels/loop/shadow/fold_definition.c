/* fold_definition.c - reductions and scans as kernels/program.h defines them.  The elements of a
 * reduction are listed, and sorted by their places, before they combine.
 *
 * The block at hand is the one that takes elements now.  A hash stands for a number: of an element,
 * a state, or a node, which is a finished block or a merge of blocks.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. A fold is a reduction or a scan. */
#include "kernels/loop/shadow/fold_definition.h"
#include <stdlib.h>

/* An element of a reduction, and the next element of its cell, -1. */
typedef struct list_element {
    rd_shadow_element e;
    int64_t           next;
} list_element;

/* A cell of a scan: nodes of finished blocks, and elements of the block at hand. */
typedef struct scan_cell {
    int64_t   block, n_node, room_node, n_element, room_element;
    uint64_t *node, *element;
    uint64_t  before, state; /* of all blocks that have ended; of elements from the left */
} scan_cell;

/* The elements that a fold has taken: for each cell (accumulator) a linked list, or of a scan the
 * block at hand and the finished ones. */
struct rd_shadow_list {
    const rd_fold *f;
    int64_t        n, room; /* elements, and the room for them */
    list_element  *taken;   /* in the order in which they came  */
    int64_t       *first;   /* of each cell: its latest element, -1 */
    scan_cell     *prefix;
    bool           failed; /* no memory */
};

/* ---- Lists of elements ----------------------------------------------------------------------- */
/* Makes an empty list of the elements that a fold takes; NULL: no memory. */
rd_shadow_list *rd_shadow_list_new(const rd_fold *f)
{
    const size_t    n = (size_t)f->n_cell + 1;
    rd_shadow_list *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->f      = f;
    l->first  = calloc(n, sizeof *l->first);
    l->prefix = calloc(n, sizeof *l->prefix);
    l->failed = !l->first || !l->prefix;
    return l;
}

/* Frees the list with its elements; NULL is allowed. */
void rd_shadow_list_free(rd_shadow_list *l)
{
    if (!l)
        return;
    for (int64_t c = 0; l->prefix && c < l->f->n_cell; c++) {
        free(l->prefix[c].node);
        free(l->prefix[c].element);
    }
    free(l->prefix);
    free(l->first);
    free(l->taken);
    free(l);
}

/* Makes room for one more entry of `bytes` behind the first n. Returns the array, which may have
 * moved; after a failure (l->failed) the old one. */
static void *room_for(rd_shadow_list *l, void *array, int64_t *room, int64_t n, size_t bytes)
{
    void *made;

    if (n < *room)
        return array;
    *room = *room ? 2 * *room : 64;
    made  = realloc(array, (size_t)*room * bytes);
    if (!made)
        l->failed = true;
    return made ? made : array;
}

/* Begins the fold: the lists of all cells (accumulators) are empty. */
void rd_shadow_list_begin(rd_shadow_list *l)
{
    l->n = 0;
    for (int64_t k = 0; k < l->f->n_cell && !l->failed; k++) {
        scan_cell *s = &l->prefix[k];
        l->first[k]  = -1;
        s->block     = -1;
        s->n_node    = 0;
        s->n_element = 0;
        s->before = s->state = RD_OF_NOTHING;
    }
}

/* Adds an element to the list of its cell (accumulator); false: no memory. */
bool rd_shadow_list_take(rd_shadow_list *l, const rd_shadow_element *e)
{
    if (!l->failed)
        l->taken = room_for(l, l->taken, &l->room, l->n, sizeof *l->taken);
    if (l->failed)
        return false;
    l->taken[l->n]    = (list_element){ *e, l->first[e->cell] };
    l->first[e->cell] = l->n++;
    return true;
}

/* ---- Results of reductions ------------------------------------------------------------------- */
/* For qsort(): orders elements by lane (partial accumulator), then by step, as program.h combines
 * them. */
static int compare_places(const void *a, const void *b)
{
    const list_element *x = a, *y = b;

    if (x->e.lane != y->e.lane)
        return x->e.lane < y->e.lane ? -1 : 1;
    return (x->e.step > y->e.step) - (x->e.step < y->e.step);
}

/* Returns the node of one block in a lane (partial accumulator): the hash of its n elements, in
 * the order of their steps, folded from the left. */
static uint64_t state_of(const rd_fold *f, const list_element *x, int64_t n)
{
    uint64_t state = RD_OF_NOTHING;

    for (int64_t k = 0; k < n; k++)
        state = rd_shadow_step(f, state, x[k].e.hash);
    return rd_shadow_block(f, state);
}

/* Returns the node of a lane's n elements, which lie in blocks [start, start + 2^level), by the
 * aligned combine tree: the merge of both halves. A block is f->steps steps. */
static uint64_t node_of(const rd_fold *f, const list_element *x, int64_t n, int64_t start,
                        int32_t level)
{
    int64_t left = 0;

    if (level == 0 || n == 0)
        return state_of(f, x, n);
    while (left < n && x[left].e.step / f->steps < start + ((int64_t)1 << (level - 1)))
        left++;
    return rd_shadow_merge(
        f, node_of(f, x, left, start, level - 1),
        node_of(f, x + left, n - left, start + ((int64_t)1 << (level - 1)), level - 1));
}

/* Returns the total of a cell: a node for each lane (partial accumulator), which are then merged to
 * one. x has the n elements, sorted by lane and step; `lane` has room for the nodes, 0 for lanes
 * without elements. level: that of the root, a node with room for all n_block blocks. */
static uint64_t total_of(const rd_fold *f, const list_element *x, int64_t n, uint64_t *lane)
{
    int32_t level = 0;

    while ((int64_t)1 << level < f->n_block)
        level++;
    for (int64_t k = 0, end; k < n; k = end) {
        for (end = k; end < n && x[end].e.lane == x[k].e.lane; end++)
            ;
        lane[x[k].e.lane] = node_of(f, x + k, end - k, /*start=*/0, level);
    }
    rd_shadow_lanes(f, lane);
    return lane[0];
}

/* Computes the results of a cell (accumulator) as program.h defines them: its elements are sorted
 * by lane and step, then combined. False: no memory. */
bool rd_shadow_list_finish(rd_shadow_list *l, int64_t cell, rd_shadow *y)
{
    uint64_t     *lane = calloc((size_t)l->f->lanes, sizeof *lane);
    list_element *x    = malloc(((size_t)l->n + 1) * sizeof *x);
    int64_t       n    = 0;

    l->failed |= !lane || !x;
    for (int64_t k = l->failed ? -1 : l->first[cell]; k >= 0; k = l->taken[k].next)
        x[n++] = l->taken[k];
    if (!l->failed) {
        qsort(x, (size_t)n, sizeof *x, compare_places);
        total_of(l->f, x, n, lane);
        for (int32_t k = 0; k < l->f->n_out; k++)
            y[k] = rd_shadow_finish(l->f, lane[0], k);
    }
    free(lane);
    free(x);
    return !l->failed;
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* Returns the node of 2^level elements from `from` on within a block (a run of a fold's steps), by
 * the aligned binary tree. */
static uint64_t tree_of(const rd_fold *f, const uint64_t *element, int64_t from, int32_t level)
{
    if (level == 0)
        return rd_shadow_step(f, RD_OF_NOTHING, element[from]);
    return rd_shadow_join(f, tree_of(f, element, from, level - 1),
                          tree_of(f, element, from + ((int64_t)1 << (level - 1)), level - 1));
}

/* Returns the prefix of n elements from `from` on, of a scan by the tree: the aligned nodes of
 * 2^level elements that cover them, merged from the right. Of 7 elements it is (0..3, (4..5, 6)).
 */
static uint64_t tree_prefix(const rd_fold *f, const uint64_t *element, int64_t from, int64_t n)
{
    int32_t level = 0;

    if (n == 0)
        return RD_OF_NOTHING;
    while ((int64_t)2 << level <= n)
        level++;
    return rd_shadow_join(
        f, tree_of(f, element, from, level),
        tree_prefix(f, element, from + ((int64_t)1 << level), n - ((int64_t)1 << level)));
}

/* Returns the prefix within the block (a run of a fold's steps) at hand, up to its last element so
 * far. Scans by the tree merge nodes of 1, 2, 4 .. elements; others fold from the left (state). */
static uint64_t prefix_of(const rd_fold *f, const scan_cell *s)
{
    if (f->prefix == RD_PREFIX_TREE && !rd_shadow_is_unordered(f))
        return rd_shadow_block(f, tree_prefix(f, s->element, /*from=*/0, s->n_element));
    return rd_shadow_block(f, s->state);
}

/* Returns the node of the finished blocks [start, start + 2^level), by the aligned binary tree. */
static uint64_t block_tree(const rd_fold *f, const uint64_t *node, int64_t start, int32_t level)
{
    if (level == 0)
        return node[start];
    return rd_shadow_merge(f, block_tree(f, node, start, level - 1),
                           block_tree(f, node, start + ((int64_t)1 << (level - 1)), level - 1));
}

/* Returns the prefix of all finished blocks (runs of a fold's steps) of a scan. Sums of floats
 * (pair) add the nodes that cover them, the largest first, one for each bit of their number; other
 * folds merge the blocks from the left. */
static uint64_t before_of(const rd_fold *f, const scan_cell *s)
{
    const bool pair = rd_fold_has_pairs(f);
    uint64_t   sum  = RD_OF_NOTHING;
    int64_t    from = 0;

    for (int64_t k = 0; k < s->n_node && !pair; k++)
        sum = rd_shadow_merge(f, sum, s->node[k]);
    for (int32_t level = 62; level >= 0 && pair; level--)
        if (s->n_node >> level & 1) {
            sum = rd_shadow_merge(f, sum, block_tree(f, s->node, from, level));
            from += (int64_t)1 << level;
        }
    return sum;
}

/* Computes the results of a scan at the element at hand: the prefix of finished blocks (runs of a
 * fold's steps), merged with that of its own block. */
static void add_results(const rd_fold *f, const scan_cell *s, rd_shadow *y)
{
    const uint64_t node = rd_shadow_merge(f, s->before, prefix_of(f, s));

    for (int32_t k = 0; k < f->n_out; k++)
        y[k] = rd_shadow_finish(f, node, k);
}

/* Ends the block (a run of a fold's steps) at hand of a scan: its node is kept, the prefix
 * (before) includes it, and no element is left. */
static void end_block(rd_shadow_list *l, scan_cell *s)
{
    s->node = room_for(l, s->node, &s->room_node, s->n_node, sizeof *s->node);
    if (l->failed)
        return;
    s->node[s->n_node++] = prefix_of(l->f, s);
    s->before            = before_of(l->f, s);
    s->n_element         = 0;
    s->state             = RD_OF_NOTHING;
}

/* Adds an element (its hash) to the block (a run of a fold's steps) at hand of a scan. */
static void add_element(rd_shadow_list *l, scan_cell *s, uint64_t hash)
{
    s->element = room_for(l, s->element, &s->room_element, s->n_element, sizeof *s->element);
    if (l->failed)
        return;
    s->element[s->n_element++] = hash;
    s->state                   = rd_shadow_step(l->f, s->state, hash);
}

/* Takes an element of a scan, in order, and computes the results up to it. The first element of
 * another block (a run of a fold's steps) ends the one before. An exclusive scan computes the
 * results before it takes the element. False: no memory. */
bool rd_shadow_list_scan(rd_shadow_list *l, const rd_shadow_element *e, rd_shadow *y)
{
    scan_cell    *s     = &l->prefix[e->cell];
    const int64_t block = e->step / l->f->steps;

    if (s->block >= 0 && s->block != block)
        end_block(l, s);
    s->block = block;
    if (l->f->exclusive)
        add_results(l->f, s, y);
    add_element(l, s, e->hash);
    if (!l->f->exclusive)
        add_results(l->f, s, y);
    return !l->failed;
}

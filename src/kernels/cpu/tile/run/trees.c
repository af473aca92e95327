/* trees.c - the combine tree of program.h on states side by side.
 *
 * Words.  A group is a run of states that enter blocks together (trees.h); a slot is the place of
 * one state.  The stack of a group has its finished nodes, `depth` in all; `row` is the number of a
 * node on it.  Word k of a state is an array over all slots, so that kernels take neighbouring
 * states as vectors.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cpu/tile/run/trees.h"
#include <assert.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Returns the combine tree of group number `group` (states that begin and end blocks together); the
 * trees lie at the start of the fold's memory. */
rd_group *rd_tree_group(char *memory, int64_t group)
{
    return (rd_group *)(void *)memory + group;
}

/* Returns the nodes on the stack of a group: which blocks each covers, and how many states it has.
 * A stack has room for f->node_capacity nodes. */
rd_tree_node *rd_tree_nodes(const rd_tile_fold *f, char *memory, int64_t group)
{
    return (rd_tree_node *)(void *)(memory + f->tags_offset) + group * f->node_capacity;
}

/* Sets s to the words of the state in slot `slot`: word k is an array over all n slots, 8 k n bytes
 * after `at`, with elements of size[k] bytes.  So kernels take neighbouring states as vectors. */
static void states(const rd_tile_fold *f, char *at, int64_t n, const int32_t *size, int64_t slot,
                   void **s)
{
    assert(f->n_state > 0);
    for (int32_t k = 0; k < f->n_state; k++)
        s[k] = at + 8 * k * n + slot * size[k];
}

/* Sets s to the states of the current block, from `slot` (the number of a state) on. If they are
 * kept in place, they lie where the node will be once the block ends: on top of the stack. f->group
 * is the number of states of a group. */
void rd_tree_block(const rd_tile_fold *f, char *memory, int64_t slot, void **s)
{
    if (f->in_place)
        rd_tree_row(f, memory, rd_tree_group(memory, slot / f->group)->depth, slot, s);
    else
        states(f, memory + f->block_offset, f->slots, f->word_bytes, slot, s);
}

/* Sets s to the states of node `row` of the stack of finished nodes, from `slot` (the number of a
 * state) on.  Each node has 8 n_state bytes for each of all slots; f->node_word_bytes is the bytes
 * of each word. */
void rd_tree_row(const rd_tile_fold *f, char *memory, int32_t row, int64_t slot, void **s)
{
    states(f, memory + f->tree_offset + 8 * f->n_state * f->slots * row, f->slots,
           f->node_word_bytes, slot, s);
}

/* Sets s to the result state of row `row` of a tile whose rows are whole folds. */
void rd_tree_total(const rd_tile_fold *f, char *memory, int64_t row, void **s)
{
    states(f, memory + f->total, f->n_total, f->node_word_bytes, row, s);
}

/* Sets s to scratch states, of array 0 or 1 (`which`), RD_SPARE of them. */
void rd_tree_spare(const rd_tile_fold *f, char *memory, int which, void **s)
{
    states(f, memory + f->spare_offset + 8 * f->n_state * RD_SPARE * which, RD_SPARE,
           f->node_word_bytes, /*slot=*/0, s);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Copies n states in the width that nodes of the combine tree have (f64 for sums of f32). */
void rd_tree_copy(const rd_tile_fold *f, int64_t n, void *const *to, void *const *from)
{
    for (int32_t k = 0; k < f->n_state; k++)
        memcpy(to[k], from[k], (size_t)(n * f->node_word_bytes[k])); /* bytes of a word in nodes */
}

/* Merges node `row + 1` of the stack into node `row`.  Where only one of them has states (a last,
 * shorter step), these are kept.  `n` is how many of the group's states a node has, `first` the
 * number of the group's first state. */
static void merge_rows(const rd_tile_fold *f, char *memory, int64_t group, int32_t row)
{
    rd_tree_node *left = &rd_tree_nodes(f, memory, group)[row], *right = left + 1;
    const int64_t first = group * f->group, both = left->n < right->n ? left->n : right->n;
    void         *a[RD_MAX_STATE], *b[RD_MAX_STATE];

    rd_tree_row(f, memory, row, first, a);
    rd_tree_row(f, memory, row + 1, first, b);
    f->code->merge(both, a, b);
    if (right->n > both) {
        rd_tree_row(f, memory, row, first + both, a);
        rd_tree_row(f, memory, row + 1, first + both, b);
        rd_tree_copy(f, right->n - both, a, b);
        left->n = right->n;
    }
}

/* True if two nodes of the combine tree may merge: they have one level, are neighbours, and the
 * left one begins where a node twice as large does. Where any order gives the same bits any two
 * may, even if there are blocks in between. A node of level l covers 2^l blocks from `start` on. */
static bool siblings(const rd_tile_fold *f, const rd_tree_node *left, const rd_tree_node *right)
{
    return f->any_order || (left->level == right->level && (left->start >> left->level) % 2 == 0 &&
                            left->start + ((int64_t)1 << left->level) == right->start);
}

/* Puts the finished node at `depth` on the stack, and merges it with its left siblings as far as
 * they are finished: like a carry in a binary counter. A node of level l covers 2^l blocks, so a
 * merged one has the next level. g->depth is the number of nodes on the stack. */
void rd_tree_push(const rd_tile_fold *f, char *memory, int64_t group, rd_tree_node node)
{
    rd_group     *g     = rd_tree_group(memory, group);
    rd_tree_node *stack = rd_tree_nodes(f, memory, group);

    stack[g->depth++] = node;
    while (g->depth > 1 && siblings(f, &stack[g->depth - 2], &stack[g->depth - 1])) {
        merge_rows(f, memory, group, g->depth - 2);
        stack[--g->depth - 1].level++;
    }
}

/* Empties a group of states: no block, no nodes, and under a mask no cell that has had an
 * element. */
void rd_tree_start(const rd_tile_fold *f, char *memory, int64_t group)
{
    *rd_tree_group(memory, group) = (rd_group){ .block = -1 };
    if (f->masked)
        memset(memory + f->seen_offset + group * f->group, 0, (size_t)f->group);
}

/* Adds `rows` to the counts of n states (word 0 of a mean, say), if the kernels of the fold leave
 * counting to their caller (`counted`). */
void rd_tree_add_count(const rd_tile_fold *f, void *s, int64_t n, int64_t rows)
{
    for (int64_t k = 0; f->counted && rows > 0 && k < n; k++)
        if (f->elem == RD_ELEM_f32)
            ((float *)s)[k] += (float)rows;
        else
            ((double *)s)[k] += (double)rows;
}

/* Adds `rows` to the counts of n states of the current block, from `offset` in the group on.
 * Neighbouring cells all take the same rows of a block, so the first state counts for all of
 * them. */
void rd_tree_count(const rd_tile_fold *f, char *memory, int64_t group, int64_t offset, int64_t n,
                   int64_t rows)
{
    const bool shared = f->mapping == RD_FOLD_COLUMNS;
    void      *s[RD_MAX_STATE];

    if (!f->counted || (shared && offset > 0))
        return;
    rd_tree_block(f, memory, group * f->group + offset, s);
    rd_tree_add_count(f, s[0], shared ? 1 : n, rows);
}

/* Copies the count of the first state to all n: adjacent cells of columns have had the same rows,
 * so only the first is counted until the block ends. */
static void share_count(const rd_tile_fold *f, int64_t n, void *s)
{
    for (int64_t k = 1; k < n; k++)
        if (f->elem == RD_ELEM_f32)
            ((float *)s)[k] = ((float *)s)[0];
        else
            ((double *)s)[k] = ((double *)s)[0];
}

/* Counts the finished nodes that the node of a block can merge with at once: siblings in the
 * combine tree that have as many states.  *node becomes the merged node. Fewer states (n) are those
 * of a last, shorter step; merge_rows() takes care of these. */
static int32_t siblings_of(const rd_tile_fold *f, char *memory, int64_t group, rd_tree_node *node)
{
    const int32_t       depth = rd_tree_group(memory, group)->depth;
    const rd_tree_node *stack = rd_tree_nodes(f, memory, group);
    int32_t             n     = 0;

    while (n < depth && stack[depth - n - 1].n == node->n &&
           siblings(f, &stack[depth - n - 1], node)) {
        node->start = stack[depth - n - 1].start;
        node->level++;
        n++;
    }
    return n;
}

/* Moves a finished block up the combine tree, RD_SPARE states at a time, so that they stay in the
 * first-level cache. n siblings on the stack merge with it at once; if there are none, it goes on
 * the stack as it is. After each merge `right` is where the merged node lies, for the next sibling
 * on its left. As whole rows they would come from the second or third level for each node that
 * merges. */
static void close_block(const rd_tile_fold *f, char *memory, int64_t group, void *const *block)
{
    rd_group     *g     = rd_tree_group(memory, group);
    rd_tree_node  node  = { .start = g->block, .n = g->begun };
    const int32_t n     = siblings_of(f, memory, group, &node);
    const int64_t first = group * f->group;

    for (int64_t at = 0, now; at < g->begun; at += now) {
        void *s[RD_MAX_STATE], *left[RD_MAX_STATE], *right[RD_MAX_STATE];

        now = g->begun - at < RD_SPARE ? g->begun - at : RD_SPARE;
        for (int32_t k = 0; k < f->n_state; k++)
            s[k] = (char *)block[k] + at * f->word_bytes[k];
        if (n > 0)
            rd_tree_spare(f, memory, /*which=*/0, right);
        else
            rd_tree_row(f, memory, g->depth, first + at, right);
        f->code->widen(now, right, s); /* to the types of nodes */
        for (int32_t k = 1; k <= n; k++) {
            rd_tree_row(f, memory, g->depth - k, first + at, left);
            f->code->merge(now, left, right);
            memcpy(right, left, sizeof right);
        }
    }
    g->depth -= n;
    rd_tree_push(f, memory, group, node);
}

/* Ends the current block of a group, if there is one: its states become a node of the combine tree.
 * code->block, if there is one, completes states at the end of a block. g->begun is the number of
 * states with an element; block -1: there is none. */
void rd_tree_end_block(const rd_tile_fold *f, char *memory, int64_t group)
{
    rd_group *g = rd_tree_group(memory, group);
    void     *s[RD_MAX_STATE];

    if (g->block < 0)
        return;
    rd_tree_block(f, memory, group * f->group, s);
    if (f->counted && f->mapping == RD_FOLD_COLUMNS)
        share_count(f, g->begun, s[0]);
    if (f->code->block)
        f->code->block(g->begun, s);
    if (f->in_place) /* states lie where their node will be */
        rd_tree_push(f, memory, group, (rd_tree_node){ .start = g->block, .n = g->begun });
    else
        close_block(f, memory, group, s);
    g->block = -1;
}

/* Makes `block` the current one of a group, in which no state has an element yet, and ends the one
 * before it.  Nothing changes if the group is in that block. */
void rd_tree_enter_block(const rd_tile_fold *f, char *memory, int64_t group, int64_t block)
{
    rd_group *g = rd_tree_group(memory, group);

    if (g->block == block)
        return;
    rd_tree_end_block(f, memory, group);
    g->block = block;
    g->begun = 0;
}

/* Merges all finished nodes of a group into one, from the right, as absent nodes of the tree are
 * skipped. */
void rd_tree_collapse(const rd_tile_fold *f, char *memory, int64_t group)
{
    rd_group *g = rd_tree_group(memory, group);

    rd_tree_end_block(f, memory, group);
    for (; g->depth > 1; g->depth--) /* depth: finished nodes on the stack */
        merge_rows(f, memory, group, g->depth - 2);
}

/* merge_tasks.c - merges the folds of one task with those of the task before it.
 *
 * Tasks that share a reduced axis each fold a part of it.  Their states are merged in the order of
 * tasks, so that the tree gets its nodes in the order of blocks. */
#include "kernels/cpu/tile/run/trees.h"
#include "kernels/cpu/tile/run/user_folds.h"
#include <string.h>

/* Copies node `row` of one task on top of the stack of another. */
static void copy_node(const rd_tile_fold *f, char *to, const char *from, int64_t group, int32_t row,
                      int64_t n)
{
    void *a[RD_MAX_STATE], *b[RD_MAX_STATE];

    rd_tree_row(f, to, rd_tree_group(to, group)->depth, group * f->group, a);
    rd_tree_row(f, (char *)from, row, group * f->group, b);
    rd_tree_copy(f, n, a, b);
}

/* Notes that slot k has had an unmasked element in either task; the earlier task's first index
 * wins. */
static void merge_seen(const rd_tile_fold *f, char *into, const char *next, int64_t k)
{
    if (f->notes_places && !into[f->seen + k])
        memcpy(into + f->first_place + 8 * k, next + f->first_place + 8 * k, 8);
    into[f->seen + k] |= next[f->seen + k];
}

/* Merges folds that may be merged in any order: each task's nodes become one node, and both nodes
 * one. */
static void merge_unordered(const rd_tile_fold *f, char *into, char *next, int64_t group)
{
    rd_tree_node node;

    rd_tree_collapse(f, into, group);
    rd_tree_collapse(f, next, group);
    if (rd_tree_group(next, group)->depth == 0)
        return;
    node = rd_tree_nodes(f, next, group)[0];
    copy_node(f, into, next, group, 0, node.n);
    rd_tree_nodes(f, into, group)[rd_tree_group(into, group)->depth++] = node;
    rd_tree_collapse(f, into, group);
}

/* Adds the later task's nodes to the earlier task's tree, as if one task had made all. */
static void merge_nodes(const rd_tile_fold *f, char *into, char *next, int64_t group)
{
    rd_tree_end_block(f, into, group);
    rd_tree_end_block(f, next, group);
    for (int32_t row = 0; row < rd_tree_group(next, group)->depth; row++) {
        const rd_tree_node node = rd_tree_nodes(f, next, group)[row];

        copy_node(f, into, next, group, row, node.n);
        rd_tree_push(f, into, group, node);
    }
}

/* Merges group `group` of the later task into that of the earlier one.  A group that is decided has
 * stopped at some block, so it takes nothing more.  Loose folds may be merged in any order. */
static void merge_group(const rd_tile_fold *f, char *into, char *next, int64_t group)
{
    rd_group *g = rd_tree_group(into, group);

    if (g->is_decided)
        return;
    (f->fold->loose ? merge_unordered : merge_nodes)(f, into, next, group);
    g->is_decided = rd_tree_group(next, group)->is_decided;
    for (int64_t k = group * f->group; f->masked && k < (group + 1) * f->group; k++)
        merge_seen(f, into, next, k);
}

/* Merges fold states `next` of a later task into those of an earlier one, group by group. */
void rd_tiles_merge_task(const rd_tile_fold *f, char *into, char *next)
{
    if (f->users)
        rd_user_folds_merge(into, next);
    for (int64_t k = 0; !f->users && k < f->groups; k++)
        merge_group(f, into, next, k);
}

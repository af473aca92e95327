/* merge_tasks.c - merges the folds of one task with those of the task before it.
 *
 * Tasks that share a reduced axis each fold a part of it.  Their states are merged in the order of
 * tasks, so that the tree gets its nodes in the order of blocks. */
#include "kernels/cpu/tile/run/trees.h"
#include "kernels/cpu/tile/run/user_folds.h"
#include <string.h>

/* Copies node `row` of the stack of one task (`from`) on top of the stack of another (`to`): n
 * states of a group.  A node is the merged state of finished blocks. */
static void copy_node(const rd_tile_fold *f, char *to, const char *from, int64_t group, int32_t row,
                      int64_t n)
{
    void *a[RD_MAX_STATE], *b[RD_MAX_STATE];

    rd_tree_row(f, to, rd_tree_group(to, group)->depth, group * f->group, a);
    rd_tree_row(f, (char *)from, row, group * f->group, b);
    rd_tree_copy(f, n, a, b);
}

/* Notes in the flags at f->seen_offset that state k has had an unmasked element if it had one in
 * either task. Where argmin or argmax note the index of the first such element, that of the earlier
 * task wins. */
static void merge_seen(const rd_tile_fold *f, char *into, const char *next, int64_t k)
{
    if (f->notes_places && !into[f->seen_offset + k])
        memcpy(into + f->first_place_offset + 8 * k, next + f->first_place_offset + 8 * k, 8);
    into[f->seen_offset + k] |= next[f->seen_offset + k];
}

/* Merges a group of two tasks' folds where any order gives the same bits: the nodes (partial
 * results) of each task become one, and these two one. A stack of depth 0 has no node, so there is
 * nothing to merge. */
static void merge_unordered(const rd_tile_fold *f, char *into, char *next, int64_t group)
{
    rd_tree_node node;

    rd_tree_collapse(f, into, group);
    rd_tree_collapse(f, next, group);
    if (rd_tree_group(next, group)->depth == 0)
        return;
    node = rd_tree_nodes(f, next, group)[0];
    copy_node(f, into, next, group, /*row=*/0, node.n);
    rd_tree_nodes(f, into, group)[rd_tree_group(into, group)->depth++] = node;
    rd_tree_collapse(f, into, group);
}

/* Adds the later task's nodes (merged states of finished blocks) to the combine tree of the earlier
 * task, as if one task had made all. Their current blocks end first; a node that is pushed merges
 * with its finished siblings. */
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

/* Merges a group of states (which begin and end blocks together) of the later task into that of the
 * earlier one. A group that is decided (early exit) has stopped at some block, so it takes nothing
 * more; else the group is decided if the later task's part is, as its elements are among the merged
 * ones. Folds that are `loose` may be merged in any order. Group number `group` has states [group *
 * f->group, (group + 1) * f->group), where f->group is the number of states of each; under a mask
 * each has a flag. */
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

/* Merges the states of a fold in a later task (`next`) into those of an earlier one, group by
 * group, as tasks share the reduced axis. */
void rd_tiles_merge_task(const rd_tile_fold *f, char *into, char *next)
{
    if (f->users) /* the caller's reducer */
        rd_user_folds_merge(into, next);
    for (int64_t k = 0; !f->users && k < f->groups; k++)
        merge_group(f, into, next, k);
}

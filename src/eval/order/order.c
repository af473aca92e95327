/* order.c - loop interchange and tiling, for memory and for tasks: turns a tree into a nest.
 *
 * Placement puts kept axes outside reduced ones, so that results finish early. panels.c moves
 * axes with contiguous elements inside again. root_interchange.c finds a root loop for many
 * tasks if the tree's has few iterations.  No bit changes: the combine trees are fixed, and each
 * result's elements keep their order.
 *
 * A stage is one item of the root, which becomes one program.  Its grain is the multiple of the
 * root loop's index at which tasks may begin. */
#include "eval/order/order.h"

/* ---- Tasks ----------------------------------------------------------------------------------- */
/* True if tasks would not help: a reduction of a sparse array with few columns as the root axis.
 * Each task would read all stored elements and gather parts of rows; two such tasks take longer
 * than one. */
static bool is_one_task(const rd_tree *tree, const rd_stage *stage)
{
    enum { FEW = 64 };

    return tree->graph->axis[stage->root].extent <= FEW &&
           rd_sparse_fold_kind(tree, stage->item->loop) > 0;
}

/* Fills in how tasks share a stage: the root axis (-1: no loop), the grain (tasks begin at its
 * multiples), and whether it is one task. rd_task_sharing() finds the grain, and whether folds
 * allow one task only; is_one_task() are other reasons. */
static void plan_tasks(const rd_tree *tree, rd_stage *stage)
{
    rd_sharing s = { .grain = 1 };

    stage->root = stage->item->loop ? stage->item->loop->axis : -1;
    if (stage->item->loop)
        s = rd_task_sharing(tree, stage->item->loop, stage->root);
    stage->grain  = s.grain;
    stage->serial = s.serial || (stage->item->loop && is_one_task(tree, stage));
}

/* Runs the passes of order (interchange, tiling) on the tree, assigns storage, and lists the
 * stages: the root's items, but not mere storage of concatenations (JOIN). A lazy traversal keeps
 * the loops as they are. NULL on failure. plan_tasks() finds how tasks may share a stage. */
rd_nest *rd_order(rd_tree *tree, const rd_choice *choice)
{
    rd_graph *g    = tree->graph;
    rd_nest  *nest = rd_pool_get(g->pool, sizeof *nest);
    int       n    = 0;

    if (!nest)
        return NULL;
    if (choice->traversal != RD_TRAVERSE_LAZY &&
        (!rd_sort_rows_in_ranges(tree) || !rd_make_transposes(tree) ||
         !rd_make_panels(tree, choice) || !rd_interchange_roots(tree)))
        return NULL;
    if (!rd_assign_storage(tree) || !rd_fuse_epilogues(tree))
        return NULL;
    for (rd_item *item = tree->root->first; item; item = item->next)
        n++;
    nest->tree   = tree;
    nest->choice = *choice;
    nest->stage  = rd_pool_get(g->pool, (size_t)(n + 1) * sizeof *nest->stage);
    if (!nest->stage)
        return NULL;
    for (rd_item *item = tree->root->first; item; item = item->next) {
        rd_stage *stage = &nest->stage[nest->n_stage];

        if (!item->loop && g->value[item->value].kind == RD_VALUE_JOIN)
            continue; /* storage only */
        stage->item = item;
        plan_tasks(tree, stage);
        nest->n_stage++;
    }
    return nest;
}

/* two_pass_scan.c - see two_pass_scan.h.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A fold has `user` if its reducer is the caller's own. */
#include "kernels/opencl/two_pass_scan.h"
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include <inttypes.h>

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if a fold is a scan along the axis with a prefix that follows from nodes of the combine
 * tree. It has one cell (output element at a time), several blocks of the usual length, a state
 * of one number. Float sums (pair) add nodes as the tree does; other reducers must have the same
 * bits for any grouping. */
static bool has_nodes(const rd_loop_fold *f, int32_t axis)
{
    const rd_fold *fold = f->emit.fold;

    return fold->scan && !fold->user && fold->n_cell == 1 && fold->n_block > 1 &&
           fold->steps == RD_TREE_STEPS && f->emit.n_state == 1 &&
           (f->hi_lo_sums || rd_fold_any_grouping(fold)) &&
           rd_is_along(fold, axis, /*first=*/0, /*coef=*/1);
}

/* True if a value depends on the result of a scan in the loop: the scan makes it (PREFIX), or
 * one of its operands, or of the values in its address, depends on one. */
static bool depends_on_scan(const rd_schedule *t, int32_t value, int32_t loop)
{
    const int32_t by = value < 0 ? -1 : t->let[value].made_by;
    bool          found;

    if (by < 0 || !rd_stands_in(t, by, loop))
        return false;
    found = t->stmt[by].kind == RD_S_PREFIX;
    for (int32_t k = 0; k < t->let[value].n && !found; k++)
        found = depends_on_scan(t, t->operand[t->let[value].first + k], loop);
    for (int32_t k = 0; k < t->let[value].at.n && !found; k++)
        if (t->term[t->let[value].at.first + k].axis < 0)
            found = depends_on_scan(t, t->term[t->let[value].at.first + k].value, loop);
    return found;
}

/* True if a statement may stand in a loop that runs twice. It is a value, a store, the end of a
 * block of 64 steps, or a scan with nodes (results of ranges) whose operands depend on no scan. */
static bool may_go_twice(const rd_schedule *t, const rd_stmt *s, int32_t loop)
{
    if (s->kind != RD_S_PREFIX)
        return s->kind == RD_S_LET || s->kind == RD_S_STORE || s->kind == RD_S_PUSH_IF_LAST;
    return has_nodes(&t->fold[s->fold], rd_loop_of(t, loop)->axis) &&
           !depends_on_scan(t, s->x, loop) && !depends_on_scan(t, s->weight, loop) &&
           !depends_on_scan(t, s->mask, loop);
}

/* True if the loop contains all folds of the program, which are scans along it and independent
 * of each other, and beside them only values and stores. */
static bool has_only_scans(const rd_schedule *t, int32_t loop)
{
    int32_t scans = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        if (!may_go_twice(t, &t->stmt[s], loop))
            return false;
        scans += t->stmt[s].kind == RD_S_PREFIX;
    }
    return scans > 0 && scans == t->p->n_fold;
}

/* Returns the only loop in n bodies, if only values and the beginnings of folds stand before it,
 * which each range repeats, and nothing behind it; else -1. */
static int32_t last_loop(const rd_schedule *t, const int32_t *body, int n)
{
    int32_t loop = -1;

    for (int k = 0; k < n; k++)
        for (int32_t s = t->stmt[body[k]].first; s >= 0; s = t->stmt[s].next) {
            const rd_stmt_kind kind = t->stmt[s].kind;

            if (loop >= 0 || (kind != RD_S_LET && kind != RD_S_BEGIN && kind != RD_S_LOOP))
                return -1;
            loop = kind == RD_S_LOOP ? s : -1;
        }
    return loop;
}

/* Returns the loop of scans that is split into ranges, -1: none. `item`: the loop over items, in
 * whose body it is; -1: all is one item. *range gets the indices of a range: 16 blocks of the
 * combine tree, doubled until all items together have at most 1024 ranges. 1024 items or more
 * need no split. */
int32_t rd_cl_two_pass_scan_of(const rd_schedule *t, int32_t item, int64_t items, int64_t *range)
{
    enum { MOST = 1024, LEAST = 16 * RD_TREE_STEPS };
    const int32_t loop =
        item >= 0 ? last_loop(t, &item, /*n=*/1) : last_loop(t, t->part, RD_N_PARTS);
    const rd_for *l = loop >= 0 ? rd_loop_of(t, loop) : NULL;

    if (!l || l->program_loop < 0 || l->backwards || l->step != 1 || t->p->n_scratch > 0 ||
        items >= MOST || l->extent <= LEAST || !has_only_scans(t, loop))
        return -1;
    for (*range = LEAST; items * ((l->extent + *range - 1) / *range) > MOST;)
        *range *= 2;
    return l->extent > *range ? loop : -1;
}

/* Counts the nodes (partial results in the combine tree) of so many ranges (parts of a split
 * loop) on all levels: of single ranges, of two together, of four, and so on. */
int64_t rd_cl_nodes_of(int64_t ranges)
{
    int64_t nodes = 0;

    for (; ranges > 0; ranges /= 2)
        nodes += ranges;
    return nodes;
}

/* Returns the bytes of the nodes of one fold of an item: the results of ranges, and of two, four
 * and more of them. A node has 8 bytes; the sum is rounded up to 16. */
int64_t rd_cl_node_bytes(int64_t ranges)
{
    return (rd_cl_nodes_of(ranges) * (int64_t)sizeof(double) + 15) / 16 * 16;
}

/* opencl_plan.c - chooses the loops whose rounds are work items, and the loop that is split.
 *
 * A fold is a reduction or scan.  A group-by is a fold that sorts elements into results by their
 * labels.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/opencl/split_ranges.h"
#include "kernels/opencl/two_pass_scan.h"

/* True if the loop goes from 0 to a constant, forwards and by step 1: one lower bound, which is
 * 0, and one upper bound without other indices. start < 0: the loop binds no mark to a round's
 * first index, so each round is one index. */
static bool is_counted(const rd_for *loop)
{
    const rd_linear *from = &loop->from.part[0].at, *to = &loop->to.part[0].at;

    return loop->step == 1 && loop->start_mark < 0 && !loop->backwards && loop->from.n == 1 &&
           loop->to.n == 1 && from->n == 0 && from->offset == 0 && to->n == 0;
}

/* Returns the only statement of a body that is not a value (LET); -1: there are several, or
 * none. */
static int32_t only_of(const rd_schedule *t, int32_t body)
{
    int32_t only = -1;

    for (int32_t s = t->stmt[body].first; s >= 0; s = t->stmt[s].next) {
        if (t->stmt[s].kind == RD_S_LET)
            continue;
        if (only >= 0)
            return -1;
        only = s;
    }
    return only;
}

/* True if the rounds of a loop may be work items: it counts from 0 to a constant, and is the
 * program's own (`program_loop` >= 0). */
static bool may_be_items(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP && is_counted(rd_loop_of(t, stmt)) &&
           rd_loop_of(t, stmt)->program_loop >= 0;
}

/* Gives perfectly nested loops, from `stmt` inwards, the role of loops over work items. Only
 * values stand between them, so states (accumulators) of folds begin in the innermost one. */
static void mark_items(const rd_schedule *t, int32_t stmt, rd_gpu_loop *loop)
{
    for (int32_t n = 0; n < RD_MAX_RANK && may_be_items(t, stmt); n++) {
        loop[rd_loop_of(t, stmt)->program_loop].role = RD_GPU_ITEMS;
        stmt                                         = only_of(t, stmt);
    }
}

/* True if only values and loops that may be items stand outside of all loops. Each such loop
 * becomes a kernel. Several kernels must not hand scratch (temporary memory) to each other, as
 * each item has its own. */
static bool has_items(const rd_schedule *t)
{
    int32_t loops = 0;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next) {
            if (t->stmt[s].kind != RD_S_LET && !may_be_items(t, s))
                return false;
            loops += t->stmt[s].kind != RD_S_LET;
        }
    return loops == 1 || t->p->n_scratch == 0;
}

/* True if no fold of the program is a group-by: neither by labels (n_group), nor of rows of a
 * sparse array (by_rows). */
bool rd_cl_has_no_labels(const rd_program *p)
{
    bool none = true;

    for (int32_t k = 0; k < p->n_fold; k++)
        none &= !p->fold[k].n_group && !p->fold[k].by_rows;
    return none;
}

/* True if all folds of the program are reductions: no group-by, no scan. Only these are split
 * into ranges as a whole. */
static bool has_only_reductions(const rd_program *p)
{
    bool only = rd_cl_has_no_labels(p);

    for (int32_t k = 0; k < p->n_fold; k++)
        only &= !p->fold[k].scan;
    return only;
}

/* True if the program checks indices that may be invalid.  The first invalid index is reported
 * in the order of items, so items must keep the program's order. */
static bool has_indices(const rd_program *p)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_INDEX)
            return true;
    return false;
}

/* Returns the innermost loop over work items, -1: there is none.  *items gets the number of
 * items, the product of the loops' extents. */
static int32_t item_of(const rd_schedule *t, const rd_gpu_loop *loop, int64_t *items)
{
    int32_t item = -1;

    *items = 1;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->program_loop >= 0 &&
                loop[rd_loop_of(t, s)->program_loop].role == RD_GPU_ITEMS) {
                *items *= rd_loop_of(t, s)->extent;
                item = s;
            }
    return item;
}

/* Splits the scans of few items into ranges, which run twice (two-pass scan), and gives each
 * fold a place for its nodes: those of ranges and of the levels above. Returns the indices of a
 * range; 0: the scans are not split. With checked indices nothing is split, as items must keep
 * the program's order. */
static int64_t split_scans(const rd_schedule *t, rd_gpu_loop *loop, rd_gpu_fold *fold)
{
    int64_t       items, range = 0, nodes;
    const int32_t item = item_of(t, loop, &items);
    const int32_t stmt = !rd_cl_has_no_labels(t->p) || has_indices(t->p)
                             ? -1
                             : rd_cl_two_pass_scan_of(t, item, items, &range);

    if (stmt < 0)
        return 0;
    loop[rd_loop_of(t, stmt)->program_loop].role = RD_GPU_RANGES;
    nodes = (rd_loop_of(t, stmt)->extent + range - 1) / range;
    for (int32_t k = 0; k < t->p->n_fold; k++) {
        fold[k].partial_at   = k * rd_cl_node_bytes(nodes);
        fold[k].partial_rows = (int32_t)rd_cl_nodes_of(nodes);
    }
    return range;
}

/* Splits the reduction of a program without loops over work items, which would be a single item,
 * into ranges: each is an item then. Returns the indices of a range; 0: it is not split. */
static int64_t split_only_item(const rd_schedule *t, rd_gpu_loop *loop)
{
    int64_t       range = 0;
    const int32_t stmt =
        has_items(t) || !has_only_reductions(t->p) ? -1 : rd_cl_split_of(t, &range);

    if (stmt < 0)
        return 0;
    loop[rd_loop_of(t, stmt)->program_loop].role = RD_GPU_RANGES;
    return range;
}

/* Fills the plan by which the passes make kernels: it marks the loops over work items, then
 * splits scans or a reduction if there are few items.  False: no memory. */
bool rd_cl_plan_of(const rd_schedule *t, rd_gpu_plan *plan, rd_get_fn *get, void *pool)
{
    const rd_program *p    = t->p;
    rd_gpu_loop      *loop = get(pool, ((size_t)p->n_loop + 1) * sizeof *loop);
    rd_gpu_fold      *fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *fold);
    int32_t          *pack = get(pool, ((size_t)p->n_inst + 1) * sizeof *pack);
    int64_t          *kept = get(pool, ((size_t)p->n_scratch + 1) * sizeof *kept);
    int64_t           scanned;

    if (!loop || !fold || !pack || !kept)
        return false;
    for (int k = 0; k < RD_N_PARTS && has_items(t); k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next)
            mark_items(t, s, loop);
    for (int32_t k = 0; k < p->n_fold; k++)
        fold[k] = (rd_gpu_fold){ .place = RD_IN_LOCAL, .node_rows = t->fold[k].tree_rows };
    scanned = split_scans(t, loop, fold);
    *plan   = (rd_gpu_plan){ .team         = 1,
                             .width        = 1,
                             .vector_axis  = -1,
                             .tile_loop    = { -1, -1 },
                             .pairs        = -1,
                             .chunk        = scanned ? scanned : split_only_item(t, loop),
                             .scans        = scanned ? RD_GPU_SCANS_TWO_PASS : RD_GPU_SCANS_SERIAL,
                             .keeps_exits  = true,
                             .loop         = loop,
                             .fold         = fold,
                             .item_scratch = kept,
                             .pack         = pack };
    return true;
}

/* two_pass_scan.c - scans of few items in two passes over ranges (reduce, then scan).  In the
 * first pass each range stores its partial, and inner nodes of the combine tree are made of
 * these.  In the second pass each range begins with what comes before it:
 *
 *     items i0 to 4                    items i0 to 4
 *       begin f0                         items i1 to 100000 by 8192, starts m0, stops m1, ranges
 *       serial i1 to 100000                begin f0, step m0
 *         r0 = load s0[..]                 serial i1 from m0 to m1
 *         r1 = prefix f0 ..: r0              r0 = load s0[..]
 *         s1[..] = r1                        r1 = prefix f0 ..: r0
 *                                          store partials f0 to a1
 *                                      build tree f0 in a1
 *                                      items i0 to 4
 *                                        items i1 to 100000 by 8192, starts m2, stops m3, ranges
 *                                          begin f0, step m2
 *                                          look back f0 from a1, step m2
 *                                          serial i1 from m2 to m3
 *                                            all of it
 *
 * A partial is the node (result) of the blocks of one range.  An item is a unit of work; a mark
 * (m0) is an axis that is bound to where a range begins or ends.
 *
 * Words. A fold is a reduction or a scan. A lane is one of the accumulators of a cell, to which
 * elements go in turn. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* ---- Steps of a fold ------------------------------------------------------------------------- */
/* Returns the statement of a body that steps the scan (PREFIX: it takes an element and returns
 * the result so far); -1: the fold has none there. */
static int32_t find_prefix(const rd_schedule *t, int32_t body, int32_t fold)
{
    int32_t s = body;

    while (s >= 0 && (t->stmt[s].kind != RD_S_PREFIX || t->stmt[s].fold != fold))
        s = rd_next_stmt(t, s, body);
    return s;
}

/* Sets the position `at` of a statement that begins a fold, or reads what is before a range
 * (LOOK_BACK): the step of the range's first element. That is lane + rows * outer (see rd_fold)
 * of the statement that takes the elements, `prefix`, with the range's start mark in place of
 * the axis. */
static void set_step(rd_schedule *t, int32_t stmt, int32_t prefix, int32_t ranges)
{
    const rd_for    *l     = rd_loop_of(t, ranges);
    const rd_fold_at of    = t->stmt[prefix].fold_at;
    const int32_t    axis  = l->axis;
    const rd_linear  start = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, l->start_mark);
    const rd_linear  step  = rd_linear_plus(
          t, of.lane, rd_rows_of_lanes(&t->p->fold[t->stmt[prefix].fold]), of.lane_line);
    const rd_linear at = rd_linear_with(t, step, axis, start);

    if (!t->failed)
        t->stmt[stmt].at = at;
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* Makes a statement of the fold about its array of partials, the nodes that ranges (parts of a
 * split loop) leave. BUILD_TREE works in the array itself (`store`); others copy between states
 * (accumulators) and array (`arg`). It stands nowhere yet. */
static int32_t add_fold_stmt(rd_schedule *t, rd_stmt_kind kind, int32_t fold, int32_t partials)
{
    rd_stmt s = rd_stmt_of(kind);

    s.fold  = fold;
    s.store = kind == RD_S_BUILD_TREE ? partials : fold;
    s.arg   = kind == RD_S_BUILD_TREE ? -1 : partials;
    return rd_add_stmt(t, &s);
}

/* Removes the stores of the first pass, as results come from the second one, and the values that
 * only they read. */
static void drop_results(rd_schedule *t, int32_t ranges)
{
    for (int32_t s = ranges, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, ranges);
        if (t->stmt[s].kind == RD_S_STORE)
            rd_take_out(t, s);
    }
    rd_gpu_remove_dead_values(t, ranges);
}

/* Lets a fold of the second pass begin with the prefix, the fold of all ranges (parts of a split
 * loop) before. A LOOK_BACK behind its beginning reads it from the partials (nodes that ranges
 * leave). */
static void start_from_prefix(rd_schedule *t, const rd_gpu_plan *plan, int32_t ranges,
                              int32_t begin)
{
    const int32_t fold      = t->stmt[begin].fold;
    const int32_t prefix    = find_prefix(t, ranges, fold);
    const int32_t partials  = rd_gpu_add_partials(t, plan, fold),
                  look_back = add_fold_stmt(t, RD_S_LOOK_BACK, fold, partials);

    if (t->failed)
        return;
    rd_put_behind(t, look_back, begin);
    set_step(t, begin, prefix, ranges);
    set_step(t, look_back, prefix, ranges);
}

/* Lets a fold of the first pass store its partial at the end of a range (part of a split loop).
 * BUILD_TREE, before the second kernel, makes the inner nodes of the combine tree from the
 * partials. `look_back`: the statement of the second pass that reads them. */
static void store_partial(rd_schedule *t, int32_t ranges, int32_t second, int32_t look_back)
{
    const int32_t fold = t->stmt[look_back].fold, partials = t->stmt[look_back].arg;

    for (int32_t s = t->stmt[ranges].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            set_step(t, s, find_prefix(t, ranges, fold), ranges);
    rd_append(t, ranges, add_fold_stmt(t, RD_S_STORE_PARTIALS, fold, partials));
    rd_put_before(t, add_fold_stmt(t, RD_S_BUILD_TREE, fold, partials), second);
}

/* Makes the two kernels of the scan. The kernel gets a loop over ranges; its copy behind it is the
 * second pass. Each scan (it has a PREFIX statement) looks back in the second pass, and stores its
 * partial in the first one, which stores no results. `again`: the innermost loop over items of the
 * second pass. `split` is the loop over elements, which rd_gpu_limit_to_range() makes go over one
 * range. */
static void split_kernel(rd_schedule *t, const rd_gpu_plan *plan, int32_t kernel, int32_t split)
{
    const int32_t ranges = rd_gpu_add_range_loop(t, plan, rd_innermost_item_loop(t, kernel), split);
    int32_t       second, again;

    rd_gpu_limit_to_range(t, ranges, split);
    second = rd_stmt_copy(t, kernel);
    rd_put_behind(t, second, kernel);
    if (t->failed)
        return;
    drop_results(t, ranges);
    again = rd_innermost_item_loop(t, second);
    for (int32_t s = t->stmt[again].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        if (t->stmt[s].kind == RD_S_BEGIN && find_prefix(t, again, t->stmt[s].fold) >= 0)
            start_from_prefix(t, plan, again, s);
        if (t->stmt[s].kind == RD_S_LOOK_BACK)
            store_partial(t, ranges, second, s);
    }
}

/* The pass: splits the scan of the first kernel into one kernel that reduces ranges and one that
 * scans them, if the plan (the backend's decisions about the kernel) wants two passes. split <
 * 0: the plan splits no loop. */
void rd_pass_gpu_two_pass_scan(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);
    const int32_t split =
        kernel < 0
            ? -1
            : rd_gpu_next_split_loop(t, plan, rd_innermost_item_loop(t, kernel), /*last=*/-1);

    if (plan->scans == RD_GPU_SCANS_TWO_PASS && split >= 0)
        split_kernel(t, plan, kernel, split);
}

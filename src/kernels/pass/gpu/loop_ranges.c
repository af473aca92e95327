/* loop_ranges.c - splits a loop into ranges, each of which is an item, for the passes that say
 * how ranges combine.
 *
 * An item is a unit of work that a team of threads does.  A partial is what one range leaves of a
 * fold, for the range that combines all.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* True if the statement is a loop to which the plan gives the role RD_GPU_RANGES, so that ranges
 * of it are work items. `program_loop` -1: the loop comes from no loop of the program. */
static bool is_split_loop(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const int32_t program_loop =
        t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt)->program_loop : -1;

    return program_loop >= 0 && plan->loop[program_loop].role == RD_GPU_RANGES;
}

/* Returns the next loop of a body, behind the statement `last` (-1: from the front), that the
 * plan splits into ranges; -1: there is none. */
int32_t rd_gpu_next_split_loop(const rd_schedule *t, const rd_gpu_plan *plan, int32_t body,
                               int32_t last)
{
    int32_t s = last < 0 ? t->stmt[body].first : t->stmt[last].next;

    while (s >= 0 && !is_split_loop(t, plan, s))
        s = t->stmt[s].next;
    return s;
}

/* Puts a loop over ranges around all of an item's body, so that each range of the loop `split`
 * is an item of its own. Returns its statement. Its marks start and stop are axes bound to the
 * ends of a range; `program_loop` -1: it comes from no loop of the program. */
int32_t rd_gpu_add_range_loop(rd_schedule *t, const rd_gpu_plan *plan, int32_t body, int32_t split)
{
    rd_for ranges = *rd_loop_of(t, split);

    ranges.kind            = RD_FOR_ITEM;
    ranges.step            = plan->chunk;
    ranges.extent          = (ranges.extent + ranges.step - 1) / ranges.step;
    ranges.start_mark      = rd_add_mark(t);
    ranges.stop_mark       = rd_add_mark(t);
    ranges.program_loop    = -1;
    ranges.split_reduction = true;
    return rd_put_loop_around(t, t->stmt[body].first, t->stmt[body].last, &ranges);
}

/* Limits the loop `split` to one range: from the start mark to the stop mark (axes bound to the
 * range's ends) of the loop `ranges`. */
void rd_gpu_limit_to_range(rd_schedule *t, int32_t ranges, int32_t split)
{
    const rd_for    l     = *rd_loop_of(t, ranges);
    const rd_linear start = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, l.start_mark),
                    stop  = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, l.stop_mark);

    if (t->failed)
        return;
    t->loop[t->stmt[split].arg].from = rd_edge_of(start);
    t->loop[t->stmt[split].arg].to   = rd_edge_of(stop);
}

/* Adds an array in global memory for the partials of a fold (the nodes that ranges leave of it),
 * at the place that the plan gives. split_axis -1: it is split along all axes of an item. */
int32_t rd_gpu_add_partials(rd_schedule *t, const rd_gpu_plan *plan, int32_t fold)
{
    rd_tree_array nodes = t->store[fold];

    nodes.storage     = RD_IN_DEVICE;
    nodes.byte_offset = plan->fold[fold].partial_at;
    nodes.node_rows   = plan->fold[fold].partial_rows;
    nodes.split_axis  = -1;
    return rd_add_store(t, &nodes);
}

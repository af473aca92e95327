/* work_items.c - makes the outermost loops into loops over the work items of a kernel:
 *
 *     serial i0 to 1000                        items i0 to 1000, team of 16
 *       serial i1 to 3000        becomes         serial i1 to 3000
 *
 * A statement at the top beside such a loop becomes a single item.  In a loop of role CHUNKS an
 * item is several rounds, and a loop in the item goes over them:
 *
 *     serial i0 to 100000      becomes         items i0 to 100000 by 4096, starts m0, stops m1
 *                                                serial i0 from m0 to m1
 *
 * A work item is the unit of work of a team of threads; a kernel is a loop over items at the top,
 * one launch.  m0 and m1 are marks, bound to the first index of an item and to the one behind its
 * last. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* True if the statement is a loop over work items: each round is done by one team of threads. */
bool rd_is_item_loop(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_ITEM;
}

/* Returns the next kernel: a loop over items directly in the program's body, behind the
 * statement `last` (-1: the first one). -1: there is none. */
int32_t rd_next_kernel(const rd_schedule *t, int32_t last)
{
    int32_t s = last < 0 ? t->stmt[t->part[RD_PART_BODY]].first : t->stmt[last].next;

    while (s >= 0 && !rd_is_item_loop(t, s))
        s = t->stmt[s].next;
    return s;
}

/* Returns the innermost loop over items of a kernel (an outermost one): its body is what a work
 * item does. */
int32_t rd_innermost_item_loop(const rd_schedule *t, int32_t kernel)
{
    int32_t item = kernel;

    for (int32_t s = t->stmt[kernel].first; s >= 0; s = t->stmt[s].next)
        if (rd_is_item_loop(t, s))
            return rd_innermost_item_loop(t, s);
    return item;
}

/* ---- One part -------------------------------------------------------------------------------- */
/* Moves the statements of the program's head and tail into its body, as one launch runs all
 * three. The head goes to the front, from its last statement on; the tail to the end. */
static void join_parts(rd_schedule *t)
{
    const int32_t body = t->part[RD_PART_BODY], head = t->part[RD_PART_HEAD],
                  tail = t->part[RD_PART_TAIL];

    for (int32_t s; (s = t->stmt[head].last) >= 0 && !t->failed;) {
        rd_take_out(t, s);
        if (t->stmt[body].first >= 0)
            rd_put_before(t, s, t->stmt[body].first);
        else
            rd_append(t, body, s);
    }
    for (int32_t s; (s = t->stmt[tail].first) >= 0 && !t->failed;) {
        rd_take_out(t, s);
        rd_append(t, body, s);
    }
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns the role that the plan gives the loop of a statement: who runs its rounds. Other
 * statements, and loops that come from no loop of the program (`program_loop` -1), are serial. */
static rd_gpu_role role_of(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const int32_t program_loop =
        t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt)->program_loop : -1;

    return program_loop >= 0 ? plan->loop[program_loop].role : RD_GPU_SERIAL;
}

/* True if rounds of the loop, or chunks of rounds, are to be work items, as the plan says. */
static bool has_item_role(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const rd_gpu_role role = role_of(t, plan, stmt);

    return role == RD_GPU_ITEMS || role == RD_GPU_CHUNKS;
}

/* Returns the first loop of a body whose rounds, or chunks of them, are to be work items; -1:
 * there is none. */
static int32_t item_loop_in(const rd_schedule *t, const rd_gpu_plan *plan, int32_t body)
{
    int32_t s = t->stmt[body].first;

    while (s >= 0 && !has_item_role(t, plan, s))
        s = t->stmt[s].next;
    return s;
}

/* Puts a loop of one item around a whole body. The loop counts by a new axis, binds no marks
 * (start_mark, stop_mark -1), and comes from no loop of the program (`program_loop` -1). */
static int32_t add_single_item(rd_schedule *t, int32_t body)
{
    const rd_for one = rd_rounds_from(RD_FOR_ITEM, rd_add_mark(t), rd_linear_of(0), /*rounds=*/1);

    return rd_put_loop_around(t, t->stmt[body].first, t->stmt[body].last, &one);
}

/* Puts a loop over items around a loop, which becomes a loop over one chunk: `chunk` rounds,
 * from the mark items.start_mark to the mark items.stop_mark. A mark is an axis bound to an end of
 * the item. Returns the loop over items. */
static int32_t add_chunk_loop(rd_schedule *t, int32_t loop, int64_t chunk)
{
    rd_for  items = *rd_loop_of(t, loop);
    int32_t made;

    items.kind       = RD_FOR_ITEM;
    items.step       = chunk;
    items.extent     = (items.extent + chunk - 1) / chunk;
    items.start_mark = rd_add_mark(t);
    items.stop_mark  = rd_add_mark(t);
    made             = rd_put_loop_around(t, loop, loop, &items);
    if (t->failed)
        return made;
    t->loop[t->stmt[loop].arg].from =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, items.start_mark));
    t->loop[t->stmt[loop].arg].to =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, items.stop_mark));
    return made;
}

/* Makes a loop at the top, and the loops directly inside it, loops over items, as far as the
 * plan says. A loop of role CHUNKS gets a loop over its chunks and ends the nest. Returns the
 * outermost loop over items. */
static int32_t make_items(rd_schedule *t, const rd_gpu_plan *plan, int32_t loop)
{
    int32_t kernel = loop;

    for (int32_t s = loop; s >= 0 && !t->failed; s = item_loop_in(t, plan, s)) {
        if (role_of(t, plan, s) == RD_GPU_CHUNKS) {
            const int32_t made = add_chunk_loop(t, s, plan->chunk);

            return s == loop ? made : kernel; /* it stands in the place of `loop` itself */
        }
        t->loop[t->stmt[s].arg].kind = RD_FOR_ITEM;
    }
    return kernel;
}

/* The pass: makes each loop at the top whose role is ITEMS or CHUNKS a kernel, whose rounds
 * teams of threads do. If there is no such loop, the whole program is one item. */
void rd_pass_gpu_work_items(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body       = t->part[RD_PART_BODY];
    bool          has_kernel = false;

    join_parts(t);
    for (int32_t s = t->stmt[body].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        if (!has_item_role(t, plan, s))
            continue;
        s          = make_items(t, plan, s);
        has_kernel = true;
    }
    if (!has_kernel && t->stmt[body].first >= 0 && !t->failed)
        add_single_item(t, body);
    for (int32_t s = t->stmt[body].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (rd_is_item_loop(t, s))
            t->loop[t->stmt[s].arg].team = plan->team;
}

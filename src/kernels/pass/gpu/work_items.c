/* work_items.c - the loops around all become loops over items of a kernel:
 *
 *     serial i0 to 1000                        items i0 to 1000, team of 16
 *       serial i1 to 3000        becomes         serial i1 to 3000
 *
 * What stands at the top beside one such loop is one item by itself.  Of a loop over CHUNKS or RANGES
 * an item has some rounds, and goes over these:
 *
 *     serial i0 to 100000      becomes         items i0 to 100000 by 4096, starts m0, stops m1
 *                                                serial i0 from m0 to m1 */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

bool rd_is_item_loop(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->kind == RD_FOR_ITEM;
}

int32_t rd_next_kernel(const rd_schedule *t, int32_t last)
{
    int32_t s = last < 0 ? t->stmt[t->part[RD_PART_BODY]].first : t->stmt[last].next;

    while (s >= 0 && !rd_is_item_loop(t, s))
        s = t->stmt[s].next;
    return s;
}

int32_t rd_innermost_item_loop(const rd_schedule *t, int32_t kernel)
{
    int32_t item = kernel;

    for (int32_t s = t->stmt[kernel].first; s >= 0; s = t->stmt[s].next)
        if (rd_is_item_loop(t, s))
            return rd_innermost_item_loop(t, s);
    return item;
}

/* ---- One body --------------------------------------------------------------------------------- */
/* The three parts follow each other: one has all of it. */
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

/* ---- Loops ------------------------------------------------------------------------------------ */
static rd_gpu_role role_of(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const int32_t of = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt)->of : -1;

    return of >= 0 ? plan->loop[of].role : RD_GPU_SERIAL;
}

static bool has_item_role(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const rd_gpu_role role = role_of(t, plan, stmt);

    return role == RD_GPU_ITEMS || role == RD_GPU_CHUNKS;
}

/* The loop in a body whose rounds, or some of them, are items; -1. */
static int32_t item_loop_in(const rd_schedule *t, const rd_gpu_plan *plan, int32_t body)
{
    int32_t s = t->stmt[body].first;

    while (s >= 0 && !has_item_role(t, plan, s))
        s = t->stmt[s].next;
    return s;
}

/* All of a body is one item, the only one. */
static int32_t add_single_item(rd_schedule *t, int32_t body)
{
    const rd_for one = { .kind   = RD_FOR_ITEM,
                         .axis   = rd_add_mark(t),
                         .start  = -1,
                         .stop   = -1,
                         .from   = rd_edge_of(rd_linear_of(0)),
                         .to     = rd_edge_of(rd_linear_of(1)),
                         .step   = 1,
                         .extent = 1,
                         .of     = -1,
                         .strip  = -1 };

    return rd_put_loop_around(t, t->stmt[body].first, t->stmt[body].last, &one);
}

/* The loop goes over the rounds of an item, of which a loop around it has so many. */
static int32_t add_chunk_loop(rd_schedule *t, int32_t loop, int64_t chunk)
{
    rd_for  items = *rd_loop_of(t, loop);
    int32_t made;

    items.kind   = RD_FOR_ITEM;
    items.step   = chunk;
    items.extent = (items.extent + chunk - 1) / chunk;
    items.start  = rd_add_mark(t);
    items.stop   = rd_add_mark(t);
    made         = rd_put_loop_around(t, loop, loop, &items);
    if (t->failed)
        return made;
    t->loop[t->stmt[loop].arg].from =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), 1, items.start));
    t->loop[t->stmt[loop].arg].to =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), 1, items.stop));
    return made;
}

/* A loop at the top, and those right inside, whose rounds are items: what stands in its place then. */
static int32_t make_items(rd_schedule *t, const rd_gpu_plan *plan, int32_t loop)
{
    int32_t kernel = loop;

    for (int32_t s = loop; s >= 0 && !t->failed; s = item_loop_in(t, plan, s)) {
        if (role_of(t, plan, s) == RD_GPU_CHUNKS) {
            const int32_t made = add_chunk_loop(t, s, plan->chunk);

            return s == loop ? made : kernel;
        }
        t->loop[t->stmt[s].arg].kind = RD_FOR_ITEM;
    }
    return kernel;
}

void rd_pass_gpu_work_items(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];
    bool          some = false;

    join_parts(t);
    for (int32_t s = t->stmt[body].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        if (!has_item_role(t, plan, s))
            continue;
        s    = make_items(t, plan, s);
        some = true;
    }
    if (!some && t->stmt[body].first >= 0 && !t->failed)
        add_single_item(t, body);
    for (int32_t s = t->stmt[body].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (rd_is_item_loop(t, s))
            t->loop[t->stmt[s].arg].team = plan->team;
}

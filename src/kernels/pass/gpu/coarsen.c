/* coarsen.c - coarsens threads: neighbours along the last axis of the items become one item,
 * which one thread computes:
 *
 *     items i0 to 3000                becomes   items i0 to 3000 by 4, starts m0, stops m1
 *       begin f0                                  begin f0
 *       serial i1 to 1000                         serial i1 to 1000
 *         step f0 cell 0: ..                        vector i0 from m0 to m1
 *       r1 = finish f0 cell 0                         step f0 cell 0 at i0 - m0: ..
 *                                                 vector i0 from m0 to m1
 *                                                   r1 = finish f0 cell 0 at i0 - m0
 *
 * The next pass (scalar expansion, pass/scalar_expand.c) puts values that one vector loop makes and
 * another one reads into arrays.
 *
 * An item is a unit of work that one thread does.  m0 and m1 are marks: axes that are bound to the
 * first index of an item, and to the index behind its last.  A lane is one of the states of a cell
 * (accumulator).
 *
 * Fields. An array of the tree with `fold` -1 holds elements, any other one states of that fold.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* The state that the functions of this file share. */
typedef struct coarsening {
    rd_schedule *t;
    int32_t      axis, width; /* `width` neighbours along the axis are an item */
    int64_t      items;       /* threads along the axis, of whole blocks; 0: as there are items */
    bool         whole;       /* every item has `width` neighbours */
    int32_t      start, stop; /* marks: the first index of the item, and the one behind it */
} coarsening;

/* True if the statement is a loop over items along the axis. */
static bool is_item_loop_over(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    return rd_is_item_loop(t, stmt) && rd_loop_of(t, stmt)->axis == axis;
}

/* Returns the position of a mark: an axis of the tree bound to the first index of the item, or
 * to the one behind its last. */
static rd_linear at_mark(const coarsening *c, int32_t mark)
{
    return rd_linear_plus_axis(c->t, rd_linear_of(0), /*coef=*/1, mark);
}

/* Gives each of the `width` neighbours of an item accumulators of its own: arrays of a fold's
 * states (fold >= 0) get so many times as long. A neighbour's states of all lanes lie together. */
static void widen_states(const coarsening *c)
{
    rd_schedule *t = c->t;

    for (int32_t k = 0; k < t->n_store; k++)
        if (t->store[k].fold >= 0) {
            t->store[k].extent *= c->width;
            t->store[k].cell_stride *= c->width;
        }
}

/* Lets a statement of a fold use the states (accumulators) of the neighbour at hand:
 * `fold_at.state_offset`, which is added to the subscript, is lanes * (index - first index of the
 * item). */
static void move_states(const coarsening *c, int32_t stmt)
{
    const int64_t   lanes = c->t->p->fold[c->t->stmt[stmt].fold].lanes;
    const rd_linear at =
        rd_linear_plus(c->t, rd_linear_plus_axis(c->t, rd_linear_of(0), lanes, c->axis), -lanes,
                       at_mark(c, c->start));

    c->t->stmt[stmt].fold_at.state_offset = at;
}

/* Returns the position in scratch (temporary memory of an item) that belongs to the neighbour at
 * hand: width * at + (index - first index of the item). So the elements of neighbours are
 * interleaved. */
static rd_linear own_scratch_at(const coarsening *c, rd_linear at)
{
    at = rd_linear_plus(c->t, rd_linear_of(0), c->width, at);
    at = rd_linear_plus_axis(c->t, at, /*coef=*/1, c->axis);
    return rd_linear_plus(c->t, at, /*coef=*/-1, at_mark(c, c->start));
}

/* Lets a LOAD from scratch (temporary memory), or a STORE to it, use the element of the
 * neighbour at hand. Slots (buffers) from first_scratch on are scratch. */
static void move_scratch(const coarsening *c, int32_t stmt)
{
    const rd_stmt *s     = &c->t->stmt[stmt];
    const int32_t  first = c->t->p->first_scratch;

    if (s->kind == RD_S_STORE && s->slot >= first) {
        const rd_linear at = own_scratch_at(c, s->at);

        c->t->stmt[stmt].at = at;
    } else if (s->kind == RD_S_LET && c->t->let[s->value].kind == RD_I_LOAD &&
               c->t->let[s->value].slot >= first) {
        const rd_linear at = own_scratch_at(c, c->t->let[s->value].at);

        c->t->let[s->value].at = at;
    }
}

/* True if each neighbour of the item does the statement for itself. False for loops, whose
 * bodies are asked instead, and for statements that treat the states (accumulators) of the whole
 * item. */
static bool is_done_by_each(const rd_schedule *t, int32_t stmt)
{
    switch (t->stmt[stmt].kind) {
    case RD_S_LOOP:
    case RD_S_IF_LAST:
    case RD_S_BEGIN:
    case RD_S_STORE_PARTIALS:
    case RD_S_COMBINE_PARTIALS:
    case RD_S_LOOK_BACK:
    case RD_S_ARRAY:
    case RD_S_BARRIER: return false;
    default: return true;
    }
}

/* Puts "vector i0 from m0 to m1" around the statements first .. last of a body, so that all
 * neighbours of the item do them. start_mark, stop_mark, `program_loop`, `strips_number` -1: the
 * loop binds no marks, and comes from no loop of the program. width 0: the last item may have fewer
 * neighbours, so the number is known at run time only. */
static int32_t put_vector_around(const coarsening *c, int32_t first, int32_t last)
{
    const rd_for vector = { .kind          = RD_FOR_VECTOR,
                            .axis          = c->axis,
                            .start_mark    = -1,
                            .stop_mark     = -1,
                            .from          = rd_edge_of(at_mark(c, c->start)),
                            .to            = rd_edge_of(at_mark(c, c->stop)),
                            .step          = 1,
                            .extent        = c->width,
                            .width         = c->whole ? c->width : 0,
                            .program_loop  = -1,
                            .strips_number = -1 };

    return rd_put_loop_around(c->t, first, last, &vector);
}

/* Puts each run of adjacent statements that neighbours do for themselves into a vector loop over
 * the neighbours. The bodies of loops, and of "if last", are treated in the same way. */
static void widen_body(const coarsening *c, int32_t body)
{
    rd_schedule *t = c->t;

    for (int32_t s = t->stmt[body].first; s >= 0 && !t->failed; s = t->stmt[s].next) {
        int32_t last = s;

        if (t->stmt[s].kind == RD_S_LOOP || t->stmt[s].kind == RD_S_IF_LAST)
            widen_body(c, s);
        if (!is_done_by_each(t, s))
            continue;
        for (;; last = t->stmt[last].next) {
            if (t->stmt[last].fold >= 0)
                move_states(c, last);
            move_scratch(c, last);
            if (t->stmt[last].next < 0 || !is_done_by_each(t, t->stmt[last].next))
                break;
        }
        s = put_vector_around(c, s, last);
    }
}

/* Makes each round of the loop over items `width` neighbours, from the mark c->start to the mark
 * c->stop, and widens the item's body. If the extent is no multiple of the width, the last item
 * has fewer neighbours; the loop's width is then 0, known only at run time. */
static void widen_items(coarsening *c, int32_t item)
{
    rd_schedule *t = c->t;
    rd_for      *l;

    c->start         = rd_add_mark(t);
    c->stop          = rd_add_mark(t);
    l                = &t->loop[t->stmt[item].arg];
    l->step          = c->width;
    l->start_mark    = c->start;
    l->stop_mark     = c->stop;
    l->padded_rounds = c->items; /* so that blocks of threads are whole */
    c->whole         = l->extent % c->width == 0;
    l->width         = c->whole ? c->width : 0;
    l->extent        = (l->extent + c->width - 1) / c->width;
    widen_body(c, item);
}

/* The pass: makes neighbours along the axis that the plan (the backend's decisions about the
 * kernel) names one item, so that one thread computes several of them. vector_axis < 0: there is
 * no such axis, and an item stays one index. */
void rd_pass_gpu_coarsen(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];
    coarsening    c    = {
              .t = t, .axis = plan->vector_axis, .width = plan->width, .items = plan->items
    };

    if (plan->vector_axis < 0)
        return;
    widen_states(&c);
    for (int32_t s = body; s >= 0 && !t->failed; s = rd_next_stmt(t, s, body))
        if (is_item_loop_over(t, s, plan->vector_axis))
            widen_items(&c, s);
}

/* strip_mine.c - The pass strip_mine strip-mines loops: a loop over an axis becomes a loop over
 * strips of it. In a strip, statements that depend on the axis stand in vector loops, one behind
 * the other. Other statements stand between these, once a strip. Loops over other axes hold
 * vector loops of their own.
 *
 *     serial i0 {                       serial i0 by 64, starts m0, stops m1 {
 *       r0 = load s0[i0]                  r1 = load s1[0]
 *       r1 = load s1[0]                   vector i0 from m0 to m1 { r0 = load s0[i0]; ... }
 *       serial i1 { step f0 .. } }        serial i1 { vector i0 from m0 to m1 { step f0 .. } } }
 *
 * A strip is a range of neighbouring indices of one axis.  m0 and m1 are marks: its first index,
 * and the one behind its last. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_body.h"
#include <stdlib.h>

/* Returns the loop over strips with the bounds of `like`. An only strip (single) has one round of
 * exactly `width` elements; else the width is 0 (known at run time, from the marks), as the last
 * strip may be shorter. extent -1: the number of rounds is known at run time only. */
static rd_for strip_loop(rd_strip_mining *c, const rd_for *like)
{
    return (rd_for){ .kind       = c->r->single ? RD_FOR_ONCE : RD_FOR_SERIAL,
                     .axis       = c->r->axis,
                     .start_mark = c->start,
                     .stop_mark  = c->stop,
                     .from       = like->from,
                     .to         = like->to,
                     .step       = c->r->width,
                     .extent =
                         like->extent < 0 ? -1 : (like->extent + c->r->width - 1) / c->r->width,
                     .width         = c->r->single ? c->r->width : 0,
                     .program_loop  = like->program_loop,
                     .strips_number = c->number };
}

/* Replaces a loop over the axis by the loop over strips, and distributes its body over vector
 * loops. Early exits from the old loop leave the new one. c->inside = 1: the body stands in one
 * loop over the axis. */
static void strip_mine_loop(rd_strip_mining *c, int32_t stmt)
{
    rd_schedule  *t    = c->t;
    const rd_stmt s    = t->stmt[stmt];
    const rd_for  loop = strip_loop(c, rd_loop_of(t, stmt));
    const int32_t body = rd_add_stmt(t, &s);

    t->loop[s.arg] = loop;
    rd_put_before(t, body, stmt);
    for (int32_t k = rd_next_exit(t, stmt, stmt); k >= 0; k = rd_next_exit(t, stmt, k))
        t->stmt[k].arg = body;
    rd_take_out(t, stmt);
    c->inside = 1;
    rd_distribute(c, stmt, body);
}

/* Puts all statements of the body `top` into one loop over strips (ranges that vector loops
 * visit), which has the bounds of the loops over the axis in it. They are moved to a statement
 * `from` that stands nowhere, then distributed from there. The new loop comes from no loop of the
 * program (program_loop -1). c->inside = 0: no loop over the axis is around yet. */
static void strip_mine_around(rd_strip_mining *c, int32_t top)
{
    rd_schedule  *t     = c->t;
    const int32_t inner = rd_loop_over(t, top, c->r->axis); /* has the bounds */
    rd_for        loop;
    rd_stmt       s;
    int32_t       from, body;

    if (inner < 0)
        return;
    loop                        = strip_loop(c, rd_loop_of(t, inner));
    s                           = t->stmt[inner];
    s.arg                       = rd_add_for(t, &loop);
    t->loop[s.arg].program_loop = -1;
    from                        = rd_add_stmt(t, &t->stmt[top]);
    body                        = rd_add_stmt(t, &s);
    while (t->stmt[top].first >= 0 && !t->failed) {
        const int32_t k = t->stmt[top].first;

        rd_take_out(t, k);
        rd_append(t, from, k);
    }
    rd_append(t, top, body);
    c->inside = 0;
    rd_distribute(c, from, body);
}

/* True if the body sorts rows, which go one after the other. */
static bool has_sort(const rd_schedule *t, int32_t top)
{
    return rd_count_kinds(t, top, RD_KIND_BIT(RD_S_SORT)) > 0;
}

/* Records in the first array of each fold's states, store number k of fold k, whether neighbours
 * of a strip (a range that vector loops visit) are cells (accumulators) of their own. */
static void set_cells_of_stores(rd_schedule *t, const rd_strips *strips)
{
    for (int32_t k = 0; k < t->p->n_fold; k++)
        t->store[k].cells = strips->fold[k].cells;
}

/* The pass: strip-mines all chosen loops: each becomes a loop over strips with vector loops inside.
 * A strip with loop < 0 is of a whole part of the program. Regions with a sort stay as they are.
 * c.varies has room for all values and for those that are added meanwhile. around: the loop or part
 * holds the loops over the axis, which get one loop over strips around them. */
void rd_pass_strip_mine(rd_schedule *t, const rd_target *target)
{
    if (target->strips)
        set_cells_of_stores(t, target->strips);
    for (int32_t k = 0; target->strips && k < target->strips->n && !t->failed; k++) {
        const rd_strip *r = &target->strips->at[k];
        rd_strip_mining c = {
            .t = t, .strips = target->strips, .r = r, .number = k, .open = -1, .ordered = -1
        };
        const int32_t top = r->loop >= 0 ? rd_loop_from(t, r->loop) : t->part[r->part];

        if (top < 0 || has_sort(t, top))
            continue;
        c.varies = calloc((size_t)t->n_let * 2 + 64 + (size_t)t->n_stmt * 4, sizeof *c.varies);
        if (!c.varies) {
            t->failed = true;
            return;
        }
        c.start = rd_add_mark(t);
        c.stop  = rd_add_mark(t);
        if (r->around)
            strip_mine_around(&c, top);
        else
            strip_mine_loop(&c, top);
        free(c.varies);
    }
}

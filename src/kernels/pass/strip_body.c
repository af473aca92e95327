/* strip_body.c - Puts statements of a strip into vector loops, or between them.
 *
 * The open vector loop (c->open) is the one that takes the next statements; -1: none is open.
 * c->start and c->stop are marks: the first index of the strip, and the one behind its last. */
#include "kernels/pass/strip_body.h"

/* Returns the position: index that the axis (or mark) is bound to + offset. */
rd_linear rd_axis_plus(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* Returns the number of an element in the strip: i0 - m0, index minus the mark m0 (axis bound to
 * the strip's first index). */
rd_linear rd_element_of_strip(rd_strip_mining *c)
{
    return rd_linear_plus_axis(c->t, rd_axis_plus(c->t, c->r->axis, /*offset=*/0), /*coef=*/-1,
                               c->start);
}

/* Adds a vector loop over the whole strip, from mark to mark, at the end of a body, and returns
 * it. by_call: it is one call in the generated C; in_order: its rounds go one after the other. It
 * has no marks of its own, and comes from no loop of the program (program_loop -1). */
static int32_t add_vector(rd_strip_mining *c, int32_t body, bool by_call, bool in_order)
{
    const rd_for  loop = { .kind          = RD_FOR_VECTOR,
                           .in_order      = in_order,
                           .strips_number = -1,
                           .axis          = c->r->axis,
                           .start_mark    = -1,
                           .stop_mark     = -1,
                           .from          = rd_edge_of(rd_axis_plus(c->t, c->start, /*offset=*/0)),
                           .to            = rd_edge_of(rd_axis_plus(c->t, c->stop, /*offset=*/0)),
                           .step          = 1,
                           .extent        = c->r->width,
                           .by_call       = by_call,
                           .program_loop  = -1 };
    const int32_t made = rd_add_loop(c->t, &loop);

    rd_append(c->t, body, made);
    return made;
}

/* Puts a statement at the end of the open vector loop (the one that takes the next statements), or
 * of a new one. If one accumulator takes the whole strip, the loop keeps its order. */
void rd_to_vector(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    if (c->open < 0)
        c->open = add_vector(c, body, /*by_call=*/false, /*in_order=*/c->r->one_state);
    rd_append(c->t, c->open, stmt);
}

/* Puts a statement that does not depend on the axis before the open vector loop, so that the loop
 * stays open, or at the end of the body if none is open. */
void rd_to_strip(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    if (c->open >= 0)
        rd_put_before(c->t, stmt, c->open);
    else
        rd_append(c->t, body, stmt);
}

/* Puts a statement at the end of the body, behind the open vector loop, which takes no further
 * statements (open = -1). */
void rd_put_alone(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    c->open = -1;
    rd_append(c->t, body, stmt);
}

/* Puts a statement into a vector loop of its own that is one call in the generated C.  Later
 * statements go behind it. */
void rd_to_call(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_append(c->t, add_vector(c, body, /*by_call=*/true, /*in_order=*/false), stmt);
    c->open = -1;
}

/* Puts a serial step into the strip's loop of such steps (c->ordered), which moves to the end of
 * the body. Nothing in the strip reads what these steps change, so they may wait until the last of
 * their operands is made. Values that come later may still join the vector loop before them. */
void rd_to_in_order_loop(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    if (c->ordered < 0)
        c->ordered = add_vector(c, body, /*by_call=*/false, /*in_order=*/true);
    else {
        rd_take_out(c->t, c->ordered);
        rd_append(c->t, body, c->ordered);
    }
    rd_append(c->t, c->ordered, stmt);
}

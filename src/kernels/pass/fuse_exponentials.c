/* fuse_exponentials.c - The pass fuse_exponentials fuses the loop that makes elements with the
 * loop of steps that take exponentials of them (loop fusion). The text has a few calls for the
 * fused loop (print/exp_steps.c).
 *
 *     vector i0 { r3 = ..; a1[i0 - m0] = r3 }     vector i0, by call {
 *     vector i0, by call {                          r3 = ..; a1[i0 - m0] = r3
 *       r5 = load a1[i0 - m0]                       r5 = load a1[i0 - m0]
 *       step f0 .. r5 }                             step f0 .. r5 }
 *
 * It is the last pass, as other passes expect loops of one kind or the other.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* Returns the loop record of the statement if it is a vector loop, else NULL; also for no
 * statement (-1). */
static const rd_for *vector_at(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_VECTOR ? loop : NULL;
}

/* True if the statement is a loop by call (one call in the generated C) that ends with a step that
 * takes exponentials. */
static bool takes_exponentials(const rd_schedule *t, int32_t stmt)
{
    const rd_for  *loop = vector_at(t, stmt);
    const rd_stmt *last = loop && loop->by_call ? &t->stmt[t->stmt[stmt].last] : NULL;

    return last && last->kind == RD_S_STEP && rd_has_exponential(&t->fold[last->fold].emit);
}

/* True if both bounds are one and the same position: neither is a greatest or least of several
 * parts (n > 1), nor rounded to a multiple (by > 1). */
static bool is_same_edge(const rd_schedule *t, const rd_edge *a, const rd_edge *b)
{
    return rd_is_position(a) && rd_is_position(b) &&
           rd_linear_same(t, &a->part[0].at, &b->part[0].at);
}

/* True if the loop only computes values and stores them in local arrays (slot < 0). */
static bool is_element_loop(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind != RD_S_LET && (t->stmt[s].kind != RD_S_STORE || t->stmt[s].slot >= 0))
            return false;
    return true;
}

/* Returns the vector loop before this one that visits the same elements, if only declarations of
 * arrays stand between; -1: there is none. It must be plain: written out (not by call), its rounds
 * in any order, with ordinary stores. */
static int32_t elements_before(const rd_schedule *t, int32_t loop)
{
    const rd_for *steps = rd_loop_of(t, loop), *made;
    int32_t       s     = t->stmt[loop].prev;

    while (s >= 0 && t->stmt[s].kind == RD_S_ARRAY)
        s = t->stmt[s].prev;
    made = vector_at(t, s);
    return made && !made->by_call && !made->nontemporal && !made->in_order &&
                   made->axis == steps->axis && is_same_edge(t, &made->from, &steps->from) &&
                   is_same_edge(t, &made->to, &steps->to) && is_element_loop(t, s)
               ? s
               : -1;
}

/* Moves all statements of the loop `elements` to the start of `loop`, and removes the empty loop.
 * hoisted_loads counts loads that an earlier pass moved before a loop; they still count as loads
 * of each round, so the number goes along. */
static void fuse_loops(rd_schedule *t, int32_t elements, int32_t loop)
{
    t->loop[t->stmt[loop].arg].hoisted_loads += rd_loop_of(t, elements)->hoisted_loads;
    while (t->stmt[elements].last >= 0) {
        const int32_t s = t->stmt[elements].last;

        rd_take_out(t, s);
        rd_put_before(t, s, t->stmt[loop].first);
    }
    rd_take_out(t, elements);
}

/* The pass: fuses each vector loop of steps that take exponentials with the loop before it, which
 * makes their elements.  elements < 0: the loop is none of these, or has no such loop before it. */
void rd_pass_fuse_exponentials(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t elements = takes_exponentials(t, s) ? elements_before(t, s) : -1;

            if (elements >= 0)
                fuse_loops(t, elements, s);
        }
}

/* powers.c - what makes the elements of steps that take exponentials stands in one loop with them, which the
 * text does by a few calls (print/exp_steps.c):
 *
 *     vector i0 { r3 = ..; a1[i0 - m0] = r3 }     vector i0, by call {
 *     vector i0, by call {                          r3 = ..; a1[i0 - m0] = r3
 *       r5 = load a1[i0 - m0]                       r5 = load a1[i0 - m0]
 *       step f0 .. r5 }                             step f0 .. r5 }
 *
 * Passes before this one see loops of either kind, so it is the last one. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

static const rd_for *vector_at(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_VECTOR ? loop : NULL;
}

static bool takes_powers(const rd_schedule *t, int32_t stmt)
{
    const rd_for  *loop = vector_at(t, stmt);
    const rd_stmt *last = loop && loop->by_call ? &t->stmt[t->stmt[stmt].last] : NULL;

    return last && last->kind == RD_S_STEP && rd_takes_power(&t->fold[last->fold].of);
}

static bool same_edge(const rd_schedule *t, const rd_edge *a, const rd_edge *b)
{
    return a->n == 1 && b->n == 1 && a->part[0].by <= 1 && b->part[0].by <= 1 &&
           rd_linear_same(t, &a->part[0].at, &b->part[0].at);
}

/* Values and arrays alone. */
static bool makes_elements(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind != RD_S_LET && (t->stmt[s].kind != RD_S_STORE || t->stmt[s].slot >= 0))
            return false;
    return true;
}

/* The vector loop over the same elements before this one, with nothing but arrays between, -1. */
static int32_t elements_before(const rd_schedule *t, int32_t loop)
{
    const rd_for *steps = rd_loop_of(t, loop), *made;
    int32_t       s     = t->stmt[loop].prev;

    while (s >= 0 && t->stmt[s].kind == RD_S_ARRAY)
        s = t->stmt[s].prev;
    made = vector_at(t, s);
    return made && !made->by_call && !made->stream && !made->in_order &&
                   made->axis == steps->axis && same_edge(t, &made->from, &steps->from) &&
                   same_edge(t, &made->to, &steps->to) && makes_elements(t, s)
               ? s
               : -1;
}

static void put_into(rd_schedule *t, int32_t elements, int32_t loop)
{
    t->loop[t->stmt[loop].arg].loads += rd_loop_of(t, elements)->loads;
    while (t->stmt[elements].last >= 0) {
        const int32_t s = t->stmt[elements].last;

        rd_take_out(t, s);
        rd_put_before(t, s, t->stmt[loop].first);
    }
    rd_take_out(t, elements);
}

void rd_pass_powers(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t elements = takes_powers(t, s) ? elements_before(t, s) : -1;

            if (elements >= 0)
                put_into(t, elements, s);
        }
}

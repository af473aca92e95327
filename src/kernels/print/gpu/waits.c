/* waits.c - steps of a log-sum-exp for several neighbours together.
 *
 * A step has two ways: an element that is far above m moves it, any other adds its exponential.  Hardly any
 * moves it.  So of a thread's neighbours all come first to what they are; if none of them moves its m, their
 * steps are additions, of an exponential that is not great:
 *
 *     for i: the body of element i;  k5[i] = r0;  moves5 |= moves0(..., r0, 1);
 *     if (!moves5)
 *         for i: near0(..., k5[i], unit, exp(distance0(..., k5[i], 1)) / unit);
 *     else
 *         for i: step0(..., k5[i], 1, ...);
 *
 * Elements may be of one lane: if none moves m, it is the same for all.  m of maxsumexp is the maximum, which
 * moves often. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

static bool has_registers(const rd_schedule *t, const rd_linear *at)
{
    bool found = false;

    for (int32_t k = 0; k < at->n; k++)
        found |= t->term[at->first + k].axis < 0;
    return found;
}

/* A fold that each element begins anew has its states in the element's body. */
static bool waits(const rd_printing *n, int32_t stmt)
{
    const rd_stmt      *s = &n->t->stmt[stmt];
    const rd_loop_fold *f = s->kind == RD_S_STEP ? &n->t->fold[s->fold] : NULL;

    return f && !f->of.user && f->of.fold->reducer == RD_RED_logsumexp && !f->of.masked &&
           !f->of.weighted && n->t->p->inst[f->start].loop != n->t->p->inst[f->step].loop &&
           !has_registers(n->t, &s->of.cell) && !has_registers(n->t, &s->of.lane) &&
           (!rd_has_tree(n, s->fold) || (s->fold < 64 && n->kernel->moved >> s->fold & 1));
}

static int32_t next_waiting(const rd_printing *n, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, loop);

    while (s >= 0 && !waits(n, s))
        s = rd_next_stmt(n->t, s, loop);
    return s;
}

/* Neighbours, of all points of a jam. */
static int64_t elements_of(const rd_printing *n, int32_t loop)
{
    return rd_loop_of(n->t, loop)->extent * (n->jam ? rd_loop_of(n->t, n->jam)->extent : 1);
}

/* "i", "e" of a loop that a thread walks, "e * 4 + i": which of them. */
static void add_element(const rd_printing *n, rd_text *to)
{
    if (n->jam)
        rd_text_add(to, "e * %" PRId64 " + ", rd_loop_of(n->t, n->thread_loop)->extent);
    rd_text_add(to, "%s", n->jam ? "i" : rd_vector_index_name(n));
}

void rd_print_declare_waiting(rd_printing *n, int32_t loop)
{
    const int64_t count = elements_of(n, loop);

    n->kernel->steps = count > 1 ? RD_STEP_WAIT : RD_STEP_WHOLE;
    for (int32_t s = next_waiting(n, loop, loop); s >= 0 && count > 1;
         s         = next_waiting(n, loop, s)) {
        rd_print_line(n, "%s k%" PRId32 "[%" PRId64 "];",
                      rd_state_type(&n->fold[n->t->stmt[s].fold].of, 0), s, count);
        rd_print_line(n, "int moves%" PRId32 " = 0;", s);
    }
}

/* The exponential is a product, which the addition takes in.  It is exact, or so small that a sum of 1 and
 * more does not show it; a sum that has taken nothing yet rounds it as the product would be. */
static void print_near(rd_printing *n, const rd_stmt *s, const char *states)
{
    const char *elem = rd_state_elem(&n->fold[s->fold].of);

    rd_print_line(n,
                  "near%" PRId32 "(%s, r%" PRId32
                  ", RD_EXP_LOW_UNIT_%s, rd_exp_low_%s(distance%" PRId32 "(%s, r%" PRId32 ", 1)));",
                  s->fold, states, s->x, elem, elem, s->fold, states, s->x);
}

bool rd_print_step_as(rd_printing *n, int32_t stmt, const char *states)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 };

    if (n->kernel->steps == RD_STEP_NEAR)
        print_near(n, s, states);
    else if (n->kernel->steps == RD_STEP_WAIT && waits(n, stmt)) {
        add_element(n, &at);
        rd_print_line(n, "k%" PRId32 "[%s] = r%" PRId32 ";", stmt, at.at, s->x);
        rd_text_end(&at, n->to);
        rd_print_line(n, "moves%" PRId32 " |= moves%" PRId32 "(%s, r%" PRId32 ", 1);", stmt,
                      s->fold, states, s->x);
    } else
        return false;
    return true;
}

/* "const float r0 = k5[i];" and the step. */
static void print_again(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 };

    add_element(n, &at);
    rd_print_line(n, "const %s r%" PRId32 " = k%" PRId32 "[%s];",
                  rd_state_type(&n->fold[s->fold].of, 0), s->x, stmt, at.at);
    rd_print_thread_step(n, stmt);
    rd_text_end(&at, n->to);
}

/* Of neighbours a team apart the thread's index is that of the loop inside. */
static void print_each(rd_printing *n, int32_t loop, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(n->t, loop);
    const int32_t lane = n->thread_loop, inside = rd_loop_around(n->t, stmt);
    const char   *element;

    if (n->jam)
        rd_print_line(n, "RD_UNROLL for (int e = 0; e < %" PRId64 "; e++)",
                      rd_loop_of(n->t, n->jam)->extent);
    if (l->step == 1)
        n->thread_loop = loop;
    element = n->jam ? "i" : rd_vector_index_name(n);
    rd_print_line(n, "RD_UNROLL for (int %s = 0; %s < %" PRId64 "; %s++) {", element, element,
                  l->extent, element);
    n->indent++;
    if (n->jam)
        rd_print_pair(n, loop);
    if (l->step > 1) {
        rd_print_start_of_round(n, l, element);
        if (inside != loop)
            rd_print_start_of_round(n, rd_loop_of(n->t, inside), "t");
    }
    print_again(n, stmt);
    n->thread_loop = lane;
    n->indent--;
    rd_print_line(n, "}");
}

void rd_print_waiting(rd_printing *n, int32_t loop)
{
    static const rd_step_form ways[] = { RD_STEP_NEAR, RD_STEP_WHOLE };

    if (n->kernel->steps != RD_STEP_WAIT)
        return;
    for (int32_t s = next_waiting(n, loop, loop); s >= 0; s = next_waiting(n, loop, s))
        for (int k = 0; k < 2; k++) {
            n->kernel->steps = ways[k];
            rd_print_line(n, k ? "else" : "if (!moves%" PRId32 ")", s);
            print_each(n, loop, s);
        }
    n->kernel->steps = RD_STEP_WHOLE;
}

/* deferred_steps.c - steps of a log-sum-exp of several elements, deferred until all of them are
 * known.
 *
 * A step does one of two things: an element far above m changes m, any other element adds its
 * exponential.  Hardly any element changes m.  So all elements of a thread are computed first.
 * If none changes m, their steps are additions, of exponentials that are not large:
 *
 *     for i: the body of element i;  k5[i] = r0;  moves5 |= moves0(..., r0, 1);
 *     if (!moves5)
 *         for i: near0(..., k5[i], unit, exp(distance0(..., k5[i], 1)) / unit);
 *     else
 *         for i: step0(..., k5[i], 1, ...);
 *
 * Several elements may be of one lane: if none changes m, it is the same for all.  Steps of
 * maxsumexp are not deferred, as its m is the maximum, which changes often.
 *
 * m is the greatest exponent of a state, by which its sum is scaled.  A jam is a loop in which a
 * thread takes several points side by side; a lane is one of the states of a cell (accumulator).
 *
 * Fields. A fold has `user` if its reducer is the caller's own.
 *
 * Words. A team is the threads that do one item of work. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if the position contains a value that is read at run time (a term with axis < 0). */
static bool has_values(const rd_schedule *t, const rd_linear *at)
{
    bool found = false;

    for (int32_t k = 0; k < at->n; k++)
        found |= t->term[at->first + k].axis < 0;
    return found;
}

/* True if the statement is a step that is deferred: of a log-sum-exp without mask or weights, by
 * the built-in reducer, into a state (accumulator) that no value selects. The fold must begin
 * outside of the loop of its steps, so that its states are declared before the loop. If it has
 * several blocks of 64 steps, the batch must have begun their block already (block_begun: bits
 * of folds). */
static bool is_deferred(const rd_printing *n, int32_t stmt)
{
    const rd_stmt      *s = &n->t->stmt[stmt];
    const rd_loop_fold *f = s->kind == RD_S_STEP ? &n->t->fold[s->fold] : NULL;

    return f && !f->emit.user && f->emit.fold->reducer == RD_RED_logsumexp && !f->emit.masked &&
           !f->emit.weighted && n->t->p->inst[f->start].loop != n->t->p->inst[f->step].loop &&
           !has_values(n->t, &s->fold_at.cell) && !has_values(n->t, &s->fold_at.lane) &&
           (!rd_has_tree(n, s->fold) || (s->fold < 64 && n->kernel->block_begun >> s->fold & 1));
}

/* Returns the next deferred step of the loop behind `last`; -1: there is none. */
static int32_t next_deferred(const rd_printing *n, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(n->t, last, loop);

    while (s >= 0 && !is_deferred(n, s))
        s = rd_next_stmt(n->t, s, loop);
    return s;
}

/* Returns how many elements of a thread are deferred together: those of the loop, times the
 * points of the jam around it (points that a thread takes side by side). */
static int64_t elements_of(const rd_printing *n, int32_t loop)
{
    return rd_loop_of(n->t, loop)->extent * (n->jam ? rd_loop_of(n->t, n->jam)->extent : 1);
}

/* Adds the number of an element among those deferred together: "i"; "e" in a loop that one
 * thread runs; "e * 4 + i" for result i and point e of a jam. */
static void add_element(const rd_printing *n, rd_text *to)
{
    if (n->jam)
        rd_text_add(to, "e * %" PRId64 " + ", rd_loop_of(n->t, n->thread_loop)->extent);
    rd_text_add(to, "%s", n->jam ? "i" : rd_vector_index_name(n));
}

/* Prints what deferred steps need, before their loop: k5 for the elements, and moves5, which
 * tells whether any element changes the maximum: "float k5[4]; int moves5 = 0;". A single
 * element is not deferred. */
void rd_print_declare_deferred(rd_printing *n, int32_t loop)
{
    const int64_t count = elements_of(n, loop);

    n->kernel->steps = count > 1 ? RD_STEP_DEFERRED : RD_STEP_WHOLE;
    for (int32_t s = next_deferred(n, loop, loop); s >= 0 && count > 1;
         s         = next_deferred(n, loop, s)) {
        rd_print_line(n, "%s k%" PRId32 "[%" PRId64 "];",
                      rd_state_type(&n->fold[n->t->stmt[s].fold].emit, /*k=*/0), s, count);
        rd_print_line(n, "int moves%" PRId32 " = 0;", s);
    }
}

/* Prints a step as an addition, as no element changes the maximum. The exponential is scaled by
 * a power of two, so the product is exact, or too small to change a sum of 1 or more. A sum that
 * has no element yet rounds it as it would round the product.
 *
 *     near0(&s0_0[0], r3, RD_EXP_LOW_UNIT_f32, rd_exp_low_f32(distance0(&s0_0[0], r3, 1))); */
static void print_addition(rd_printing *n, const rd_stmt *s, const char *states)
{
    const char *elem = rd_state_elem(&n->fold[s->fold].emit);

    rd_print_line(n,
                  "near%" PRId32 "(%s, r%" PRId32
                  ", RD_EXP_LOW_UNIT_%s, rd_exp_low_%s(distance%" PRId32 "(%s, r%" PRId32 ", 1)));",
                  s->fold, states, s->x, elem, elem, s->fold, states, s->x);
}

/* Prints a step of a log-sum-exp as its strategy says. RD_STEP_NEAR: as an addition, as no
 * element changes the maximum. RD_STEP_DEFERRED: "k5[e] = r3; moves5 |= moves0(.., r3, 1);", so
 * that the element is kept, and a flag tells whether any element changes the maximum. False: it
 * is printed as any step. */
bool rd_print_step_by_strategy(rd_printing *n, int32_t stmt, const char *states)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 };

    if (n->kernel->steps == RD_STEP_NEAR)
        print_addition(n, s, states);
    else if (n->kernel->steps == RD_STEP_DEFERRED && is_deferred(n, stmt)) {
        add_element(n, &at);
        rd_print_line(n, "k%" PRId32 "[%s] = r%" PRId32 ";", stmt, at.at, s->x);
        rd_text_end(&at, n->to);
        rd_print_line(n, "moves%" PRId32 " |= moves%" PRId32 "(%s, r%" PRId32 ", 1);", stmt,
                      s->fold, states, s->x);
    } else
        return false;
    return true;
}

/* Prints a deferred step behind its loop: the element that was kept is loaded, "const float r0 =
 * k5[i];", and taken. */
static void print_deferred_step(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s  = &n->t->stmt[stmt];
    rd_text        at = { 0 };

    add_element(n, &at);
    rd_print_line(n, "const %s r%" PRId32 " = k%" PRId32 "[%s];",
                  rd_state_type(&n->fold[s->fold].emit, /*k=*/0), s->x, stmt, at.at);
    rd_print_thread_step(n, stmt);
    rd_text_end(&at, n->to);
}

/* Prints a loop over the elements of a deferred step, and over the points of the jam around. If
 * the elements lie a team apart (step > 1), the starts of its rounds and of the loop over
 * threads are printed again, as positions depend on them.
 *
 *     RD_UNROLL for (int i = 0; i < 4; i++) { .. } */
static void print_each(rd_printing *n, int32_t loop, int32_t stmt)
{
    const rd_for *l     = rd_loop_of(n->t, loop);
    const int32_t saved = n->thread_loop, inside = rd_loop_around(n->t, stmt);
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
        rd_print_pair_indices(n, loop);
    if (l->step > 1) {
        rd_print_start_of_round(n, l, element);
        if (inside != loop)
            rd_print_start_of_round(n, rd_loop_of(n->t, inside), "t");
    }
    print_deferred_step(n, stmt);
    n->thread_loop = saved;
    n->indent--;
    rd_print_line(n, "}");
}

/* Prints the deferred steps behind their loop: "if (!moves5) { additions } else { steps }".
 * Additions (RD_STEP_NEAR) are right if no element changes the maximum. Nothing is printed if no
 * step of the loop is deferred. */
void rd_print_deferred_steps(rd_printing *n, int32_t loop)
{
    static const rd_step_strategy strategies[] = { RD_STEP_NEAR, RD_STEP_WHOLE };

    if (n->kernel->steps != RD_STEP_DEFERRED)
        return;
    for (int32_t s = next_deferred(n, loop, loop); s >= 0; s = next_deferred(n, loop, s))
        for (int k = 0; k < 2; k++) {
            n->kernel->steps = strategies[k];
            rd_print_line(n, k ? "else" : "if (!moves%" PRId32 ")", s);
            print_each(n, loop, s);
        }
    n->kernel->steps = RD_STEP_WHOLE;
}

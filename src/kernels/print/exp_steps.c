/* exp_steps.c - steps of a strip that take exponentials (logsumexp), as text. The exponentials
 * of the whole strip are taken by one call on an array:
 *
 *     float e0[64] LINES;
 *     int moved0 = 0;
 *     INDEPENDENT for (..) {
 *         x = a3[i]; e0[i] = distance0(states, x, 1); moved0 |= moves0(states, x, 1);
 *     }
 *     if (!moved0) {
 *         EXP_OF_STRIP(f32, e0, n0)
 *         INDEPENDENT for (..) { x = a3[i]; near0(states, x, 1, e0[i]); }
 *     } else {
 *         INDEPENDENT for (..) { x = a3[i]; e0[i] = exponent0(states, x, 1); }
 *         EXP_OF_STRIP(f32, e0, n0)
 *         INDEPENDENT for (..) { x = a3[i]; step0(states, x, 1, i, e0[i]); }
 *     }
 *
 * In most strips no element exceeds the running maximum m, and the first branch is taken; see
 * add_exponent() of emit/reducer_steps.c. Masked steps have the second branch only.
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Begins a loop over the n0 elements that the vector loop takes (its strip): "INDEPENDENT for
 * (int64_t i = 0; i < n0; i++) {". INDEPENDENT is a pragma: rounds may be vectorised. */
static void begin_loop(rd_printing *n, int32_t loop)
{
    rd_text count = { 0 };

    rd_print_count(n, &count, loop);
    rd_print_line(n, "INDEPENDENT for (int64_t i = 0; i < %s; i++) {", count.at);
    rd_text_end(&count, n->to);
    n->indent++;
}

/* Begins a loop that computes the elements of the strip (the n0 elements that the vector loop
 * takes) by its LET statements, and stores them in local arrays for the second loop. */
static void begin_first_loop(rd_printing *n, int32_t loop)
{
    begin_loop(n, loop);
    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LET)
            rd_print_let(n, &n->t->stmt[s]);
        else if (n->t->stmt[s].kind == RD_S_STORE)
            rd_print_store(n, s);
}

/* Begins a loop that loads the elements again, from the local arrays (store >= 0) in which the
 * first loop has put them. */
static void begin_second_loop(rd_printing *n, int32_t loop)
{
    begin_loop(n, loop);
    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LET && n->t->let[n->t->stmt[s].value].store >= 0)
            rd_print_let(n, &n->t->stmt[s]);
}

/* Prints the "}" of a loop. */
static void end_loop(rd_printing *n)
{
    n->indent--;
    rd_print_line(n, "}");
}

/* Prints a call of a function of the step, "e0[i] = distance0(states, r3, 1);": `to` is "e0[i]
 * =", 3 the element's value, 1 its weight. */
static void print_element_call(rd_printing *n, const rd_stmt *s, const char *to,
                               const char *function, const char *states)
{
    rd_text line = { 0 };

    rd_text_add(&line, "%s %s%" PRId32 "(%s, ", to, function, s->fold, states);
    rd_print_element(n, &line, s);
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
}

/* Prints the call that replaces the arguments in array e0 by their exponentials, by vectors:
 * "EXP_OF_STRIP(f32, e0, n0)". */
static void print_exponentials(rd_printing *n, const rd_stmt *s, int32_t loop)
{
    rd_text count = { 0 };

    rd_print_count(n, &count, loop);
    rd_print_line(n, "EXP_OF_STRIP(%s, e%" PRId32 ", %s)", rd_state_elem(&n->fold[s->fold].emit),
                  s->fold, count.at);
    rd_text_end(&count, n->to);
}

/* Prints the branch for strips (the n0 elements that a vector loop takes) in which no element
 * moves m, the scale of logsumexp: none is far enough above it. It goes up to "} else {".
 * distance0() gives x - m for the exponential, and moves0() is 1 if that is above a limit. */
static void print_unmoved_strip(rd_printing *n, const rd_stmt *s, int32_t loop, const char *states,
                                const char *array)
{
    rd_text moved = { 0 }, line = { 0 };

    rd_text_add(&moved, "moved%" PRId32 " |=", s->fold);
    rd_print_line(n, "int moved%" PRId32 " = 0;", s->fold);
    begin_first_loop(n, loop);
    print_element_call(n, s, array, "distance", states);
    print_element_call(n, s, moved.at, "moves", states);
    end_loop(n);
    rd_print_line(n, "if (!moved%" PRId32 ") {", s->fold);
    n->indent++;
    print_exponentials(n, s, loop);
    begin_second_loop(n, loop);
    rd_text_add(&line, "near%" PRId32 "(%s, ", s->fold, states);
    rd_print_element(n, &line, s);
    rd_print_line(n, "%s, e%" PRId32 "[i]);", line.at, s->fold);
    end_loop(n);
    n->indent--;
    rd_print_line(n, "} else {");
    n->indent++;
    rd_text_end(&moved, n->to);
    rd_text_end(&line, n->to);
}

/* Prints the branch that is right for any strip: a loop for the exponents, one call for their
 * exponentials, and a loop for the steps. A masked step has no other branch, so nothing has
 * computed its elements yet. */
static void print_any_strip(rd_printing *n, const rd_stmt *s, int32_t loop, const char *states,
                            const char *array)
{
    if (n->fold[s->fold].emit.masked)
        begin_first_loop(n, loop);
    else
        begin_second_loop(n, loop);
    print_element_call(n, s, array, "exponent", states);
    end_loop(n);
    print_exponentials(n, s, loop);
    begin_second_loop(n, loop);
    rd_print_begin_line(n);
    rd_print_add_step(n, n->to, s, states);
    rd_text_add(n->to, "\n");
    end_loop(n);
}

/* Prints a vector loop of one step that takes exponentials, with one call for the exponentials
 * of all its elements. False if the loop's last statement is no step. The array e0 of exponents
 * has room for whole vectors, a multiple of 16 elements. A masked step has no branch for strips
 * without a new maximum. */
bool rd_print_exp_steps(rd_printing *n, int32_t loop)
{
    const rd_stmt *s      = &n->t->stmt[n->t->stmt[loop].last];
    const bool     masked = s->kind == RD_S_STEP && n->fold[s->fold].emit.masked;
    rd_text        at = { 0 }, states = { 0 }, array = { 0 };

    if (s->kind != RD_S_STEP)
        return false;
    rd_print_state_subscript(n, &at, s);
    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, at.at);
    rd_text_add(&array, "e%" PRId32 "[i] =", s->fold);
    rd_print_line(n, "{");
    n->indent++;
    rd_print_line(n, "%s e%" PRId32 "[%" PRId64 "] LINES;",
                  rd_state_type(&n->fold[s->fold].emit, /*k=*/0), s->fold,
                  (rd_loop_of(n->t, loop)->extent + 15) / 16 * 16);
    rd_print_pointers(n, loop);
    if (!masked)
        print_unmoved_strip(n, s, loop, states.at, array.at);
    print_any_strip(n, s, loop, states.at, array.at);
    if (!masked)
        end_loop(n); /* the "}" of the else branch */
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&at, n->to);
    rd_text_end(&states, n->to);
    rd_text_end(&array, n->to);
    return true;
}

/* group_steps.c - steps of group-by folds as text: an element goes to the states of its group's
 * cell.
 *
 * If all elements of a vector loop have one label, they go to neighbouring states, by a pointer
 * to the first of them. Elements of no group go to a discard state behind all others, which
 * nothing reads, so the loop tests no label:
 *
 *     double *const g7_0 = s0_0 + m0 + LESS((uint64_t)(int64_t)r2, N0) * 16;
 *     for (..) step0(&g7_0[i], r1, 1, i2, 1);
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Adds the label as an unsigned number, "(uint64_t)(int64_t)r7": a negative one, which is of no
 * group, becomes larger than any group. */
static void add_label(rd_text *to, const rd_stmt *s)
{
    rd_text_add(to, "(uint64_t)(int64_t)r%" PRId32, s->label);
}

/* Prints, before a vector loop whose elements all have one label, the pointer to the states of
 * its group: "double *const g7_0 = s0_0 + m0 + LESS((uint64_t)(int64_t)r2, N0) * 16;". The first
 * part is the subscript without the label (label -1). The second part is the group's: LESS()
 * lets labels of no group, negative ones too, go to discard states behind the last group. */
void rd_print_group_pointer(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s     = &n->t->stmt[stmt];
    rd_stmt        at    = *s;
    rd_text        first = { 0 }, group = { 0 };

    if (s->fold < 0 || !rd_has_group_pointer(n->t, s))
        return;
    at.label = -1;
    rd_print_state_subscript(n, &first, &at);
    rd_text_add(&group, "LESS(");
    add_label(&group, s);
    rd_text_add(&group, ", ");
    rd_print_number(n, &group, n->t->p->fold[s->fold].n_group);
    rd_text_add(&group, ") * ");
    rd_print_number(n, &group,
                    n->t->p->fold[s->fold].group_stride * n->t->store[s->store].cell_stride);
    for (int k = 0; k < n->fold[s->fold].emit.n_state; k++)
        rd_print_line(n, "%s *const g%" PRId32 "_%d = s%" PRId32 "_%d + %s + %s;",
                      rd_state_type(&n->fold[s->fold].emit, k), stmt, k, s->store, k, first.at,
                      group.at);
    rd_text_end(&first, n->to);
    rd_text_end(&group, n->to);
}

/* Adds "(uint64_t)(int64_t)r7 < N3": the label r7 is that of one of N3 groups. As unsigned, a
 * negative label fails, too. */
static void add_is_group(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    add_label(to, s);
    rd_text_add(to, " < ");
    rd_print_number(n, to, n->t->p->fold[s->fold].n_group);
}

/* Adds the step of an element into the states of its group: "if ((uint64_t)(int64_t)r7 < N3) {
 * const int64_t at = ..; step0(..); }". If elements of no group go to a discard state, which
 * nothing reads, no test is needed. */
static void add_step_if_group(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text states = { 0 };

    if (!rd_has_discard_state(n->t, s)) {
        rd_text_add(to, "if (");
        add_is_group(n, to, s);
        rd_text_add(to, ") ");
    }
    rd_text_add(to, "{ const int64_t at = ");
    if (!rd_print_group_subscript(n, to, s))
        rd_print_state_subscript(n, to, s);
    rd_text_add(to, "; ");
    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, "at");
    rd_print_add_step(n, to, s, states.at);
    rd_text_add(to, " }");
    rd_text_end(&states, n->to);
}

/* Adds a step into the variables that hold the states of the current run (elements with equal
 * labels): "step0(&s5_0[0], r1, 1, i1, 1);". The states of a run whose label is of no group are
 * dropped when it ends. A user's step is not called for them, so it has a test. */
static void add_step_of_run(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text states = { 0 };

    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, "0");
    if (n->fold[s->fold].emit.user) {
        rd_text_add(to, "if (");
        add_is_group(n, to, s);
        rd_text_add(to, ")");
    }
    rd_print_add_step(n, to, s, states.at);
    rd_text_end(&states, n->to);
}

/* Adds the step of a group-by fold. The element's state is in the variables of a run of equal
 * labels (one_label), behind a pointer that was set before the loop, or at the subscript of its
 * group. */
void rd_print_group_step(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    rd_text states = { 0 };

    if (n->t->store[s->store].one_label)
        add_step_of_run(n, to, s);
    else if (rd_has_group_pointer(n->t, s)) {
        rd_print_state_addresses(&states, &n->fold[s->fold], 'g', (int32_t)(s - n->t->stmt), "i");
        rd_print_add_step(n, to, s, states.at);
    } else
        add_step_if_group(n, to, s);
    rd_text_end(&states, n->to);
}

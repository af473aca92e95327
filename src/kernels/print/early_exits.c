/* early_exits.c - early exits as text: a loop ends as soon as no element can change a fold any
 * more.
 *
 *     static inline int is_final0(const float *s, int64_t n) { .. }
 *     if (i1 % 16 == 15 && is_final0(&s0_0[m2], m3 - m2)) goto left7;
 *
 * m2 and m3 are marks: variables with the first index of a strip, and the one behind its last. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Prints is_final0(s, n), which is true if no further element can change the result of the n
 * states: they equal the value `end`, after which nothing changes, such as true for any(). One
 * accumulator with several lanes (partial accumulators) is final if one lane is, so the tests
 * are joined by "or". With one lane, the n states are accumulators of their own, and all must be
 * final. A user's reducer has its own test. */
void rd_print_exit_functions(rd_text *to, const rd_print_fold *f, int number)
{
    const char *type = rd_state_type(&f->emit, /*k=*/0);
    rd_word     end;

    if (f->emit.user || !rd_fold_end(f->emit.fold, &end))
        return;
    rd_text_add(to,
                "static inline int is_final%d(const %s *s, int64_t n)\n{\n    %s found = %d;\n\n"
                "    for (int64_t l = 0; l < n; l++)\n"
                "        found %s s[l] == (%s)0x%" PRIx64 "u ? 1 : 0;\n    return found;\n}\n",
                number, type, type, f->lanes == 1, f->lanes == 1 ? "&=" : "|=", type, end.u64);
}

/* Adds "i1 / 4 % 16 == 15 && ": only one round of 16 (`every`) tests the states, and 4 is the
 * step of the loop. A loop over ranges is counted by its start mark, the variable with the first
 * index of the range. */
static void add_every(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_for *loop = rd_loop_of(n->t, s->parent);

    rd_print_axis(n, to, loop->start_mark >= 0 ? loop->start_mark : loop->axis);
    if (loop->step > 1)
        rd_text_add(to, " / %" PRId64, loop->step);
    rd_text_add(to, " %% %" PRId32 " == %" PRId32 " && ", s->every, s->every - 1);
}

/* Prints the test of n states and the jump behind the loop: "if (is_final0(&s0_0[0], 64)) goto
 * left7;". s->every: one of so many rounds tests, as the test is costly; 0: each. s->arg: the
 * loop that is left. */
void rd_print_exit(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    rd_text_add(&line, "if (");
    if (s->every)
        add_every(n, &line, s);
    rd_text_add(&line, "is_final%" PRId32 "(&s%" PRId32 "_0[", s->fold, s->store);
    rd_print_cell_subscript(n, &line, s);
    rd_text_add(&line, "], ");
    rd_print_linear(n, &line, &s->count);
    rd_print_line(n, "%s)) goto left%" PRId32 ";", line.at, s->arg);
    rd_text_end(&line, n->to);
}

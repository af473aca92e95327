/* early_exits.c - a loop is left when no element can change a fold any more, as text: the function that says
 * so, and who asks it.
 *
 *     if (i1 % 16 == 15 && is_final0(&s0_0[m2], m3 - m2)) goto left7; */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Can no element change what these states come to?  One lane of a cell says so, and all cells must,
 * of one lane each.  Lanes without elements have the identity. */
void rd_print_exit_functions(rd_text *to, const rd_print_fold *f, int number)
{
    const char *type = rd_state_type(&f->of, 0);
    rd_word     end;

    if (f->of.user || !rd_fold_end(f->of.fold, &end))
        return;
    rd_text_add(to,
                "static inline int is_final%d(const %s *s, int64_t n)\n{\n    %s found = %d;\n\n"
                "    for (int64_t l = 0; l < n; l++)\n"
                "        found %s s[l] == (%s)0x%" PRIx64 "u ? 1 : 0;\n    return found;\n}\n",
                number, type, type, f->lanes == 1, f->lanes == 1 ? "&=" : "|=", type, end.u64);
}

/* "i1 / 4 % 16 == 15 && ": is it such a round? */
static void add_every(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_for *loop = rd_loop_of(n->t, s->parent);

    rd_print_axis(n, to, loop->start >= 0 ? loop->start : loop->axis);
    if (loop->step > 1)
        rd_text_add(to, " / %" PRId64, loop->step);
    rd_text_add(to, " %% %" PRId32 " == %" PRId32 " && ", s->every, s->every - 1);
}

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

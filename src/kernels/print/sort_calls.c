/* sort_calls.c - rows that a routine of the library sorts, as text:
 *
 *     q->sort(q, 0, (const float *)x4 + i1 * 2000, (int64_t *)x2 + i1 * 5);
 *
 * or of which it takes a strip, m3 to m4:
 *
 *     q->take(q, 0, (float *)x4, (int64_t *)x2 + i1 * 5, (int64_t *)x5, m3, m4 - m3, 0);
 *
 * and the front of a block of it (kernels/first_few.h):
 *
 *     {
 *         const float *const z = (float *)x4 + m5;
 *         float *const y = (float *)((int64_t *)x5 + 208) + (m5 - m3) / 4;
 *         INDEPENDENT for (int64_t l = 0; l < 16; l++) {
 *             float f = z[l];
 *             f = z[l + 16] < f ? z[l + 16] : f;
 *             f = z[l + 32] < f ? z[l + 32] : f;
 *             f = z[l + 48] < f ? z[l + 48] : f;
 *             y[l] = f;
 *         }
 *     } */
#include "kernels/first_few.h"
#include "kernels/print/print.h"
#include <inttypes.h>

/* Adds the address of a row: "(float *)x4 + i1 * 2000". */
static void add_row(rd_printing *n, rd_text *to, rd_dtype type, int32_t address,
                    const rd_linear *at)
{
    rd_text_add(to, "(%s *)x%" PRId32 " + ", rd_memory_type(type), n->t->p->address[address].slot);
    rd_print_linear(n, to, at);
}

/* Prints the call that takes a strip, a range of the row from `begin` on, into the sort's
 * state.  `from` and `to` are the texts of both addresses.  A sort that follows another one shares
 * its state, and has nothing to do before the row's end, so its call stands under an if.  With
 * fronts the last argument is their number, count / 64; else 0. */
static void print_take(rd_printing *n, const rd_stmt *s, const char *from, const char *to)
{
    const rd_sorting *sorting = &n->t->p->sorting[s->arg];
    rd_text           state = { 0 }, begin = { 0 }, count = { 0 }, length = { 0 };

    add_row(n, &state, RD_I64, sorting->state, &s->fold_at.cell);
    rd_print_linear(n, &begin, &s->fold_at.lane);
    rd_print_linear(n, &count, &s->count);
    rd_print_number(n, &length, sorting->n);
    if (sorting->reads_earlier_state)
        rd_print_line(n, "if (%s + (%s) == %s)", begin.at, count.at, length.at);
    rd_print_line(n, "%sq->take(q, %" PRId32 ", %s, %s, %s, %s, %s, %s%s%s);",
                  sorting->reads_earlier_state ? "    " : "", s->arg, from, to, state.at, begin.at,
                  count.at, s->fronts ? "(" : "", s->fronts ? count.at : "0",
                  s->fronts ? ") / 64" : "");
    rd_text_end(&length, n->to);
    rd_text_end(&count, n->to);
    rd_text_end(&begin, n->to);
    rd_text_end(&state, n->to);
}

/* Prints the call that sorts a whole row, "q->sort(q, 0, from, to);", or takes a strip of it
 * (`most` > 0) into a state that holds the first few so far, "q->take(..);". q has the functions
 * of the caller. Texts for other devices than the CPU have none, and n->why says so. */
void rd_print_sort(rd_printing *n, const rd_stmt *s)
{
    const rd_sorting *sorting = &n->t->p->sorting[s->arg];
    rd_text           from = { 0 }, to = { 0 };

    if (n->kernel || n->dialect != &rd_dialect_c) {
        n->why = "rows are put in order by a routine";
        return;
    }
    add_row(n, &from, sorting->type, sorting->from, &s->at);
    add_row(n, &to, sorting->out, sorting->to, &s->fold_at.index);
    if (sorting->most)
        print_take(n, s, from.at, to.at);
    else
        rd_print_line(n, "q->sort(q, %" PRId32 ", %s, %s);", s->arg, from.at, to.at);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the pointers to a block (z) and to its front in the sort's state (y).  A front is 64
 * bytes, so its index there is that of the block's first element divided by elements for each of
 * the front's. */
static void print_front_pointers(rd_printing *n, const rd_stmt *s)
{
    const rd_sorting *sorting = &n->t->p->sorting[s->arg];
    const char *const type    = rd_memory_type(sorting->type);
    rd_text           from = { 0 }, state = { 0 }, place = { 0 };

    add_row(n, &from, sorting->type, sorting->from, &s->at);
    add_row(n, &state, RD_I64, sorting->state, &s->fold_at.cell);
    rd_print_linear(n, &place, &s->fold_at.lane);
    rd_print_line(n, "const %s *const z = %s;", type, from.at);
    rd_print_line(n, "%s *const y = (%s *)(%s + %" PRId64 ") + (%s) / %d;", type, type, state.at,
                  rd_first_few_fronts(sorting->kept), place.at,
                  RD_FRONT_BLOCK * rd_dtype_size(sorting->type) / (RD_FRONT_WORDS * 8));
    rd_text_end(&place, n->to);
    rd_text_end(&state, n->to);
    rd_text_end(&from, n->to);
}

/* Prints the loop that makes the front of a block of 64 elements: element l is the first in order
 * of elements l, l + lanes, l + 2 lanes ...  If it begins with NaN it stays NaN, as comparisons
 * with NaN are false; a later NaN is skipped. */
void rd_print_front(rd_printing *n, const rd_stmt *s)
{
    const rd_sorting *sorting = &n->t->p->sorting[s->arg];
    const int         lanes   = RD_FRONT_WORDS * 8 / rd_dtype_size(sorting->type);

    rd_print_line(n, "{");
    n->indent++;
    print_front_pointers(n, s);
    rd_print_line(n, "INDEPENDENT for (int64_t l = 0; l < %d; l++) {", lanes);
    n->indent++;
    rd_print_line(n, "%s f = z[l];", rd_memory_type(sorting->type));
    for (int k = lanes; k < RD_FRONT_BLOCK; k += lanes)
        rd_print_line(n, "f = z[l + %d] %c f ? z[l + %d] : f;", k,
                      sorting->facts->descending ? '>' : '<', k);
    rd_print_line(n, "y[l] = f;");
    n->indent--;
    rd_print_line(n, "}");
    n->indent--;
    rd_print_line(n, "}");
}

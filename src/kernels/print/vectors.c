/* vectors.c - vector loops as text, so that compilers make vectors of them:
 *
 *     const float *const p7 = (const float *)x0 + m0;
 *     loads += 1 * n0;
 *     INDEPENDENT for (int64_t i = 0; i < n0; i++) {
 *         const float r3 = p7[i * 1];
 *         ... } */
#include "kernels/print/print.h"
#include <inttypes.h>

/* ---- Loops ------------------------------------------------------------------------------------ */
/* Steps by labels of their own elements have four lanes in turn. */
static const char *before_rounds(const rd_printing *n, int32_t stmt)
{
    const int32_t last = n->t->stmt[stmt].last;

    if (!rd_loop_of(n->t, stmt)->in_order)
        return "INDEPENDENT ";
    return last >= 0 && n->t->stmt[last].label >= 0 ? "_Pragma(\"GCC unroll 4\") " : "";
}

/* Pointers to the first elements, the loop, and what stands around it for prefixes. */
static void print_elements(rd_printing *n, int32_t stmt)
{
    rd_text count = { 0 };

    rd_print_count(n, &count, stmt);
    rd_print_pointers(n, stmt);
    n->first = true;
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        rd_print_pointer_to_states(n, s);
    n->first = false;
    rd_print_before_elements(n, stmt, count.at);
    if (rd_padded_around(n->t, stmt))
        rd_print_line(n, "INDEPENDENT for (int64_t i = 0; i < %" PRId32 "; i++) {",
                      rd_padded_around(n->t, stmt));
    else
        rd_print_line(n, "%sfor (int64_t i = 0; i < %s; i++) {", before_rounds(n, stmt), count.at);
    n->indent++;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_behind_elements(n, stmt, count.at);
    rd_text_end(&count, n->to);
}

/* "rd_past((char *)((float *)x1 + i0 * N0 + m0), (const char *)a7, n0 * 4);" */
static void print_stream(rd_printing *n, int32_t loop)
{
    const rd_stmt *to   = &n->t->stmt[n->t->stmt[loop].last];
    rd_text        line = { 0 };

    n->first = true;
    rd_text_add(&line, "rd_past((char *)((%s *)x%" PRId32 " + ", rd_memory_type(to->type),
                to->slot);
    rd_print_linear(n, &line, &to->at);
    n->first = false;
    rd_text_add(&line, "), (const char *)a%" PRId32 ", ", n->t->let[to->x].store);
    rd_print_count(n, &line, loop);
    rd_print_line(n, "%s * %" PRId32 ");", line.at, (int32_t)rd_dtype_size(to->type));
    n->streamed = true;
    rd_text_end(&line, n->to);
}

void rd_print_vector(rd_printing *n, int32_t stmt)
{
    rd_print_declare_count(n, stmt);
    n->vector = stmt;
    if (rd_loop_of(n->t, stmt)->stream) {
        print_stream(n, stmt);
        n->vector = -1;
        return;
    }
    if (rd_loop_of(n->t, stmt)->by_call && !rd_print_fours(n, stmt) &&
        !rd_print_steps_by_powers(n, stmt) && !rd_print_function_of_strip(n, stmt)) {
        n->first = true;
        rd_print_body(n, stmt);
        n->first = false;
    } else if (!rd_loop_of(n->t, stmt)->by_call)
        print_elements(n, stmt);
    n->vector = -1;
}

/* "FETCH((const float *)x0 + m0 + 1024, m1 - m0)"; a number of elements: "FETCH_FEW(.., 128)". */
void rd_print_fetch(rd_printing *n, const rd_stmt *s)
{
    rd_text at = { 0 }, count = { 0 };

    rd_print_linear(n, &at, &s->at);
    if (s->count.n)
        rd_print_linear(n, &count, &s->count);
    else /* which compilers write out */
        rd_text_add(&count, "%" PRId64, s->count.offset);
    rd_print_line(n, "FETCH%s((const %s *)x%" PRId32 " + %s, %s)", s->count.n ? "" : "_FEW",
                  rd_memory_type(s->type), s->slot, at.at, count.at);
    rd_text_end(&at, n->to);
    rd_text_end(&count, n->to);
}

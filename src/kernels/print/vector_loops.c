/* vector_loops.c - vector loops as text, so that compilers vectorise them:
 *
 *     const float *const p7 = (const float *)x0 + m0;
 *     loads += 1 * n0;
 *     INDEPENDENT for (int64_t i = 0; i < n0; i++) {
 *         const float r3 = p7[i * 1];
 *         ... }
 *
 * m0 is a mark, the first index of a strip, which has n0 elements; p7 points to the first element
 * of statement 7.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups.
 *
 * Words. A loop by call is one call of a function in the text. A slot is a buffer that a program
 * reads or writes. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns the load of a vector loop that only copies strided ints of 4 or 8 bytes from a buffer
 * of the program to a local array of the same type. -1: the loop does something else. The load
 * must be by a pointer to the first element, and the loop must not be padded to whole vectors. */
static int32_t find_copied_ints(const rd_printing *n, int32_t loop)
{
    const int32_t        load = n->t->stmt[loop].first, store = n->t->stmt[loop].last;
    const rd_stmt       *to = &n->t->stmt[store];
    const rd_tree_value *let =
        load >= 0 && n->t->stmt[load].kind == RD_S_LET ? &n->t->let[n->t->stmt[load].value] : NULL;

    return let && let->kind == RD_I_LOAD && n->t->stmt[load].next == store &&
                   to->kind == RD_S_STORE && to->store >= 0 && to->x == n->t->stmt[load].value &&
                   n->t->store[to->store].type == let->type &&
                   rd_dtype_kind(let->type) != RD_KIND_FLOAT && rd_dtype_size(let->type) >= 4 &&
                   rd_has_pointer(n, let->slot, &let->at, loop) && !rd_padded_around(n->t, loop) &&
                   rd_linear_coef(n->t, &let->at, rd_loop_of(n->t, loop)->axis) > 1
               ? load
               : -1;
}

/* Prints the copy of ints as floats: "INDEPENDENT for (..) ((rd_bits32 *)a5)[i2 * 16 + i] =
 * ((const rd_bits32 *)p21)[i * 5];". Compilers insert floats into vectors one by one; for ints
 * gcc shifts pairs together. */
static void print_copied_ints(rd_printing *n, int32_t loop, int32_t load, const char *count)
{
    const rd_tree_value *let  = &n->t->let[n->t->stmt[load].value];
    const rd_stmt       *to   = &n->t->stmt[n->t->stmt[loop].last];
    const int            bits = 8 * rd_dtype_size(let->type);
    rd_text              at   = { 0 };

    rd_print_linear(n, &at, &to->at);
    rd_print_line(n,
                  "INDEPENDENT for (int64_t i = 0; i < %s; i++) ((rd_bits%d *)a%" PRId32
                  ")[%s] = ((const rd_bits%d *)p%" PRId32 ")[i * %" PRId64 "];",
                  count, bits, to->store, at.at, bits, load,
                  rd_linear_coef(n->t, &let->at, rd_loop_of(n->t, loop)->axis));
    rd_text_end(&at, n->to);
}

/* Returns the pragma before a vector loop: INDEPENDENT tells compilers that its rounds are. A
 * loop whose rounds must stay in order has none. If its last statement is a step by label (label
 * >= 0), it is unrolled by four, because elements go to four lanes (partial accumulators) in
 * turn. */
static const char *pragma_of(const rd_printing *n, int32_t stmt)
{
    const int32_t last = n->t->stmt[stmt].last;

    if (!rd_loop_of(n->t, stmt)->in_order)
        return "INDEPENDENT ";
    return last >= 0 && n->t->stmt[last].label >= 0 ? "_Pragma(\"GCC unroll 4\") " : "";
}

/* Prints a vector loop over elements: pointers to the first of them, what its scans and group-by
 * steps need before and behind it, and the loop itself. n->marks adds a comment "loop 7" for tools.
 * A padded loop runs over whole vectors. Group pointers are printed for the loop's first element
 * (n->at_first_element). */
static void print_elements(rd_printing *n, int32_t stmt)
{
    rd_text count = { 0 };

    rd_print_count(n, &count, stmt);
    rd_print_pointers(n, stmt);
    n->at_first_element = true;
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        rd_print_group_pointer(n, s);
    n->at_first_element = false;
    if (find_copied_ints(n, stmt) >= 0) {
        print_copied_ints(n, stmt, find_copied_ints(n, stmt), count.at);
        rd_text_end(&count, n->to);
        return;
    }
    rd_print_tree_scan_before(n, stmt, count.at);
    rd_print_group_subscripts(n, stmt, count.at);
    rd_print_begin_line(n);
    if (rd_padded_around(n->t, stmt))
        rd_text_add(n->to, "INDEPENDENT for (int64_t i = 0; i < %" PRId32 "; i++) {",
                    rd_padded_around(n->t, stmt));
    else
        rd_text_add(n->to, "%sfor (int64_t i = 0; i < %s; i++) {", pragma_of(n, stmt), count.at);
    if (n->marks)
        rd_text_add(n->to, " /* loop %" PRId32 " */", stmt);
    rd_text_add(n->to, "\n");
    n->indent++;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
    rd_print_tree_scan_after(n, stmt, count.at);
    rd_text_end(&count, n->to);
}

/* Prints two nested loops over adjacent memory as one (loop collapse): "INDEPENDENT for (int64_t
 * i = 0; i < n2 * 7; i++) {", for n2 rows of 7. i takes the place of the outer index, and the
 * inner index is known to be 0. */
static void print_flat(rd_printing *n, int32_t stmt)
{
    const int32_t inner = n->t->stmt[stmt].first, axis = rd_loop_of(n->t, inner)->axis;
    rd_text       count = { 0 };

    rd_print_pointers(n, stmt);
    rd_print_count(n, &count, stmt);
    rd_print_line(n, "INDEPENDENT for (int64_t i = 0; i < %s * %" PRId64 "; i++) {", count.at,
                  rd_loop_of(n->t, inner)->extent);
    n->axis_is_known[axis] = true;
    n->axis_value[axis]    = 0;
    n->indent++;
    rd_print_body(n, inner);
    n->indent--;
    n->axis_is_known[axis] = false;
    rd_print_line(n, "}");
    rd_text_end(&count, n->to);
}

/* Prints a vector loop that copies an array to memory with stores that bypass the caches
 * (non-temporal stores): "rd_nontemporal_copy((char *)((float *)x1 + i0 * N0 + m0), (const char
 * *)a7, n0 * 4);". The address is that of the loop's first element (n->at_first_element).
 * n->nontemporal makes the part end with a memory fence. */
static void print_nontemporal(rd_printing *n, int32_t loop)
{
    const rd_stmt *to   = &n->t->stmt[n->t->stmt[loop].last];
    rd_text        line = { 0 };

    n->at_first_element = true;
    rd_text_add(&line, "rd_nontemporal_copy((char *)((%s *)x%" PRId32 " + ",
                rd_memory_type(to->type), to->slot);
    rd_print_linear(n, &line, &to->at);
    n->at_first_element = false;
    rd_text_add(&line, "), (const char *)a%" PRId32 ", ", n->t->let[to->x].store);
    rd_print_count(n, &line, loop);
    rd_print_line(n, "%s * %" PRId32 ");", line.at, (int32_t)rd_dtype_size(to->type));
    n->nontemporal = true;
    rd_text_end(&line, n->to);
}

/* Prints a vector loop, in the first form that takes it. They are a non-temporal copy, one of
 * the loops by call (one call of a function for all elements), two loops over adjacent memory as
 * one, and a loop over elements. If no file knows a loop by call, its statements print calls for
 * all elements themselves (n->at_first_element). */
void rd_print_vector(rd_printing *n, int32_t stmt)
{
    rd_print_declare_count(n, stmt);
    n->vector = stmt;
    if (rd_loop_of(n->t, stmt)->nontemporal) {
        print_nontemporal(n, stmt);
        n->vector = -1;
        return;
    }
    if (rd_loop_of(n->t, stmt)->by_call && !rd_print_strided_rows(n, stmt) &&
        !rd_print_transpose(n, stmt) && !rd_print_unrolled_steps(n, stmt) &&
        !rd_print_exp_steps(n, stmt) && !rd_print_lookups(n, stmt) &&
        !rd_print_strip_function(n, stmt)) {
        n->at_first_element = true;
        rd_print_body(n, stmt);
        n->at_first_element = false;
    } else if (rd_loop_of(n->t, stmt)->flattened)
        print_flat(n, stmt);
    else if (!rd_loop_of(n->t, stmt)->by_call)
        print_elements(n, stmt);
    n->vector = -1;
}

/* Prints a software prefetch, "PREFETCH((const float *)x0 + m0 + 1024, m1 - m0)": the address of
 * the first element, and how many. If their number is known, "PREFETCH_UNROLLED(.., 128)", which
 * compilers write out. */
void rd_print_prefetch(rd_printing *n, const rd_stmt *s)
{
    rd_text at = { 0 }, count = { 0 };

    rd_print_linear(n, &at, &s->at);
    if (s->count.n)
        rd_print_linear(n, &count, &s->count);
    else
        rd_text_add(&count, "%" PRId64, s->count.offset);
    rd_print_line(n, "PREFETCH%s((const %s *)x%" PRId32 " + %s, %s)", s->count.n ? "" : "_UNROLLED",
                  rd_memory_type(s->type), s->slot, at.at, count.at);
    rd_text_end(&at, n->to);
    rd_text_end(&count, n->to);
}

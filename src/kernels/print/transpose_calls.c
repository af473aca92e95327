/* transpose_calls.c - rows that become the columns of an array (a transpose), as text:
 *
 *     vector m7 to 16, by call {                   turn_word4(64, 16, a2, 16, a1, 64, 0);
 *       serial m8 to 64 {
 *         r2 = load a1[64*m7 + m8]
 *         a2[16*m8 + m7] = r2 } }
 *
 * Compilers would make a load and a store of each element.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A slot
 * is a buffer that a program reads or writes. Scratch is temporary memory of a task. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"
#include <inttypes.h>

/* Prints the transpose of rows in memory into a local array: "loads += 10 * n0;
 * columns_word4(a5, 64, (const float *)x0 + m0 * 10, 10, 10, n0);". Loads are counted if the
 * rows are the caller's, not scratch (temporary memory), and the load is not marked uncounted.
 * Addresses are those of the first element: row 0 of the strip (n->at_first_element), column 0
 * (n->axis_is_known). */
static void print_columns(rd_printing *n, int32_t stmt, const rd_tree_value *load,
                          const rd_stmt *store)
{
    const rd_for *rows = rd_loop_of(n->t, stmt), *across = rd_loop_of(n->t, n->t->stmt[stmt].first);
    rd_text       count = { 0 }, at = { 0 }, to = { 0 };

    n->at_first_element            = true;
    n->axis_is_known[across->axis] = true;
    n->axis_value[across->axis]    = 0;
    rd_print_linear(n, &at, &load->at);
    rd_print_linear(n, &to, &store->at);
    n->axis_is_known[across->axis] = false;
    n->at_first_element            = false;
    rd_print_count(n, &count, stmt);
    if (!load->uncounted && load->slot < n->t->p->first_scratch)
        rd_print_line(n, "loads += %" PRId64 " * %s;", across->extent, count.at);
    rd_print_line(n,
                  "columns_word%d((void *)(a%" PRId32 " + %s), %" PRId64
                  ", (const void *)((const %s *)x%" PRId32 " + %s), %" PRId64 ", %" PRId64 ", %s);",
                  rd_register_size(load->type), store->store, to.at,
                  rd_linear_coef(n->t, &store->at, across->axis), rd_memory_type(load->type),
                  load->slot, at.at, rd_linear_coef(n->t, &load->at, rows->axis), across->extent,
                  count.at);
    rd_text_end(&count, n->to);
    rd_text_end(&at, n->to);
    rd_text_end(&to, n->to);
}

/* Prints a vector loop that transposes rows as one call of a function. False if the loop does
 * something else. Rows lie in a buffer of the program (slot >= 0), or in a local array:
 * "turn_word4(64, 16, a2, 16, a1, 64, 0);". */
bool rd_print_transpose(rd_printing *n, int32_t stmt)
{
    const rd_schedule   *t     = n->t;
    const int32_t        inner = t->stmt[stmt].first;
    const rd_stmt       *store;
    const rd_tree_value *load;

    if (!rd_is_transpose(t, stmt))
        return false;
    store = &t->stmt[t->stmt[inner].last];
    load  = &t->let[store->x];
    if (load->slot >= 0) {
        print_columns(n, stmt, load, store);
        return true;
    }
    rd_print_line(n,
                  "turn_word%d(%" PRId64 ", %" PRId64 ", a%" PRId32 ", %" PRId64 ", a%" PRId32
                  ", %" PRId64 ", 0);",
                  rd_register_size(load->type), rd_loop_of(t, inner)->extent,
                  rd_loop_of(t, stmt)->extent, store->store,
                  rd_linear_coef(t, &store->at, rd_loop_of(t, inner)->axis), load->store,
                  rd_linear_coef(t, &load->at, rd_loop_of(t, stmt)->axis));
    return true;
}

/* strided_rows.c - rows of a few columns that lie apart in memory are copied to an array, one
 * behind the other (pass/flatten_maps.c), as text:
 *
 *     { static const uint8_t at[32] LINES = { 0, 1, 2, 6, 7, 8, .. };
 *     rd_strided_rows((char *)a6, (const char *)((const uint8_t *)x0 + m0 * 6), n0, 3, 6, 5, at); }
 *
 * A vector takes as many rows together as two vectors of memory hold, by two shuffles.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A loop
 * by call is one call of a function in the text. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Bytes of a vector; and a subscript that makes a shuffle write 0. */
enum { BYTES = 16, NONE = 128 };

/* Returns how many whole rows one vector of 16 bytes of the result holds, if they all lie within
 * two vectors of memory; at least 1. `group` is the bytes of a row, `period` those from one row to
 * the next.
 *
 * Rows of 3 bytes, 6 apart: 5 rows fit 16 bytes, and 32 bytes of memory hold them all. */
static int64_t rows_per_vector(int64_t group, int64_t period)
{
    const int64_t fit = BYTES / group, reach = (2 * BYTES - group) / period + 1;

    return group > BYTES ? 1 : fit < reach ? fit : reach;
}

/* Prints the table of two byte shuffles. For each of 16 bytes of the result it says which byte
 * of the first vector of memory goes there, then the same of the second vector. 128 stands where
 * the byte comes from the other vector, or no row is left; a shuffle writes 0 there. The two
 * results are joined by "or". */
static void print_shuffle(rd_printing *n, int64_t group, int64_t period, int64_t rows)
{
    rd_text bytes = { 0 };

    for (int64_t k = 0; k < 2 * BYTES; k++) {
        const int64_t byte   = k % BYTES,
                      at     = byte / group * period + byte % group - k / BYTES * BYTES;
        const bool in_vector = byte < rows * group && at >= 0 && at < BYTES;

        rd_text_add(&bytes, "%s%" PRId64, k ? ", " : "", in_vector ? at : NONE);
    }
    rd_print_line(n, "{ static const uint8_t at[%d] LINES = { %s };", 2 * BYTES, bytes.at);
    rd_text_end(&bytes, n->to);
}

/* Prints a vector loop by call (one call of a function) that copies short rows, which lie apart
 * in memory, one behind the other. False if its first statement is no unrolled loop over the
 * columns of a row. The printed address is that of the first element: row 0 of the strip
 * (n->at_first_element) and column 0 (n->axis_is_known). */
bool rd_print_strided_rows(rd_printing *n, int32_t stmt)
{
    const rd_schedule *t     = n->t;
    const int32_t      inner = t->stmt[stmt].first;

    if (inner < 0 || t->stmt[inner].kind != RD_S_LOOP ||
        rd_loop_of(t, inner)->kind != RD_FOR_UNROLL)
        return false;
    const rd_stmt       *load = &t->stmt[t->stmt[inner].first], *store = &t->stmt[load->next];
    const rd_tree_value *let  = &t->let[load->value];
    const rd_for        *loop = rd_loop_of(t, inner);
    const int64_t        size = rd_dtype_size(let->type), group = loop->extent * size;
    const int64_t        period = size * rd_linear_coef(t, &let->at, rd_loop_of(t, stmt)->axis);
    rd_text              place = { 0 }, count = { 0 };

    print_shuffle(n, group, period, rows_per_vector(group, period));
    rd_print_count(n, &count, stmt);
    n->axis_is_known[loop->axis] = n->at_first_element = true;
    n->axis_value[loop->axis]                          = 0;
    rd_print_linear(n, &place, &let->at);
    n->axis_is_known[loop->axis] = n->at_first_element = false;
    rd_print_line(n, "loads += %" PRId64 " * %s;", loop->extent, count.at);
    rd_print_line(n,
                  "rd_strided_rows((char *)a%" PRId32 ", (const char *)((const %s *)x%" PRId32
                  " + %s), %s, %" PRId64 ", %" PRId64 ", %" PRId64 ", at); }",
                  store->store, rd_memory_type(let->type), let->slot, place.at, count.at, group,
                  period, rows_per_vector(group, period));
    rd_text_end(&place, n->to);
    rd_text_end(&count, n->to);
    return true;
}

/* row_transpose.c - finds loops that transpose rows into columns of an array.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple.
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/loop/facts.h"

/* True if the statement is a loop of that kind upwards from 0, by single indices, with a known
 * extent. Its bound `from` must be the constant 0: one part, not rounded (by <= 1), no terms. */
static bool is_whole(const rd_schedule *t, int32_t stmt, rd_for_kind kind)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == kind && loop->step == 1 && loop->extent > 0 &&
           rd_is_number(&loop->from, 0) && !loop->backwards;
}

/* True if the position is index of axis `one` + a positive multiple of the index of axis `other`,
 * and nothing else: neighbours along `one` are adjacent. */
static bool is_row_major(const rd_schedule *t, const rd_linear *at, int32_t one, int32_t other)
{
    return at->n == 2 && at->offset == 0 && rd_linear_coef(t, at, one) == 1 &&
           rd_linear_coef(t, at, other) > 0;
}

/* True if the LOAD reads rows of the program's memory (slot >= 0), adjacent along axis `column`,
 * and the STORE writes an array whose elements are adjacent along axis `row`. */
static bool is_transpose_of_rows(const rd_schedule *t, const rd_tree_value *from, const rd_stmt *to,
                                 int32_t column, int32_t row)
{
    return from->slot >= 0 && rd_linear_coef(t, &from->at, column) == 1 &&
           rd_linear_coef(t, &from->at, row) > 0 && rd_linear_coef(t, &to->at, row) == 1 &&
           rd_linear_coef(t, &to->at, column) > 0;
}

/* True if the LOAD reads an array of the tree (store >= 0) whose rows lie along axis `column`, and
 * the STORE writes one whose rows lie along axis `row`: both addresses are one index plus a
 * multiple of the other. */
static bool is_transpose_of_array(const rd_schedule *t, const rd_tree_value *from,
                                  const rd_stmt *to, int32_t column, int32_t row)
{
    return from->store >= 0 && is_row_major(t, &from->at, column, row) &&
           is_row_major(t, &to->at, row, column);
}

/* True if the loop by call holds one serial loop with one LOAD and one STORE of its value, which
 * make rows of the source columns of the target. Elements have 4 bytes or more, as the generated
 * C's function moves no smaller ones. An array is transposed as a whole, from index 0 on; of rows
 * in the program's memory a strip may be. */
bool rd_is_transpose(const rd_schedule *t, int32_t loop)
{
    const int32_t        inner = t->stmt[loop].first;
    int32_t              load, store, row, column;
    const rd_tree_value *from;

    if (!rd_is_by_call(t, loop) || !rd_is_vector(t, loop) || inner < 0 ||
        inner != t->stmt[loop].last || !is_whole(t, inner, RD_FOR_SERIAL))
        return false;
    load   = t->stmt[inner].first;
    store  = t->stmt[inner].last;
    row    = rd_loop_of(t, loop)->axis;
    column = rd_loop_of(t, inner)->axis;
    from   = load >= 0 ? rd_let_of(t, load) : NULL;
    if (!from || from->kind != RD_I_LOAD || t->stmt[load].next != store ||
        t->stmt[store].kind != RD_S_STORE || t->stmt[store].store < 0 ||
        t->stmt[store].x != t->stmt[load].value || rd_register_size(from->type) < 4)
        return false;
    return is_whole(t, loop, RD_FOR_VECTOR) && from->store >= 0
               ? is_transpose_of_array(t, from, &t->stmt[store], column, row)
               : is_transpose_of_rows(t, from, &t->stmt[store], column, row);
}

/* strip_functions.c - vector loops by call that make values, as text. They call functions of a
 * whole strip between arrays (pass/fission.c), or widen elements of memory: bytes
 * (pass/widen_bytes.c), halves, and interleaved planes of bytes (pass/pack_strided.c).
 *
 *     EXP_OF_STRIP(f32, a5, n0)
 *     EXP_OF_STRIP(f32, (a5 + i2 * 16 + m3 * -16), n0)
 *     rd_widen_u8(a5, p7, n0); */
#include "kernels/loop/facts.h"
#include "kernels/pass/fission_points.h"
#include "kernels/print/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the value that the loop's function makes: the first one that is not loaded from a
 * local array (`store` < 0). -1: there is none. */
static int32_t function_in(const rd_printing *n, int32_t loop)
{
    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next)
        if (n->t->stmt[s].kind == RD_S_LET && n->t->let[n->t->stmt[s].value].store < 0)
            return n->t->stmt[s].value;
    return -1;
}

/* Returns the local array that the result goes to: the loop's last statement is a STORE to it. */
static int32_t result_array(const rd_printing *n, int32_t loop)
{
    return n->t->stmt[n->t->stmt[loop].last].store;
}

/* Returns the local array that operand k is loaded from. */
static int32_t operand_array(const rd_printing *n, const rd_tree_value *let, int32_t k)
{
    return n->t->let[n->t->operand[let->first + k]].store;
}

/* Prints the cast of a strip of floats to narrow ints: "INTS_OF_STRIP(uint8_t, f32_to_u8, -1,
 * a4, a5, n0)". The macro uses vector casts if all elements of the strip are above the third
 * argument and below 2^31, so fit an int32_t. Else it calls f32_to_u8() for each. */
static void print_ints(rd_printing *n, const rd_tree_value *let, int32_t result, const char *count)
{
    const rd_inst inst = rd_print_inst(n, let);
    char          name[RD_EMIT_NAME];

    rd_op_name(&inst, name);
    rd_print_line(n, "INTS_OF_STRIP(%s, %s, %s, a%" PRId32 ", a%" PRId32 ", %s)",
                  rd_memory_type(let->type), name,
                  rd_dtype_kind(let->type) == RD_KIND_UINT ? "-1" : "-2147483648.0",
                  operand_array(n, let, /*k=*/0), result, count);
}

/* Prints a loop that calls the operator for one element after another, where the library has no
 * function of a whole strip: "for (int64_t i = 0; i < n0; i++) a5[i] = f64_atan2(a5[i],
 * a6[i]);". */
static void print_serial_map(rd_printing *n, const rd_tree_value *let, int32_t result,
                             const char *count)
{
    const rd_inst inst       = rd_print_inst(n, let);
    char          second[24] = "", name[RD_EMIT_NAME];

    rd_op_name(&inst, name);
    if (let->n == 2)
        snprintf(second, sizeof second, ", a%" PRId32 "[i]", operand_array(n, let, /*k=*/1));
    rd_print_line(n, "for (int64_t i = 0; i < %s; i++) a%" PRId32 "[i] = %s(a%" PRId32 "[i]%s%s);",
                  count, result, name, result, second, rd_op_warns(&inst) ? ", &warnings" : "");
}

/* Prints the rounding of results to 16-bit floats, if the value has such a type: "INDEPENDENT
 * for (..) a5[i] = rd_round_f16(a5[i]);". They were computed as f32. */
static void round_halves(rd_printing *n, const rd_tree_value *let, int32_t result,
                         const char *count)
{
    if (rd_dtype_is_narrow_float(let->type))
        rd_print_line(n,
                      "INDEPENDENT for (int64_t i = 0; i < %s; i++) a%" PRId32
                      "[i] = rd_round_%s(a%" PRId32 "[i]);",
                      count, result, rd_dtype_name(let->type), result);
}

/* Prints exp of a strip, which may be one of several in the array: "EXP_OF_STRIP(f32, a5, n0)",
 * "EXP_OF_STRIP(f32, (a5 + i2 * 16 + m3 * -16), n0)". */
static void print_exp(rd_printing *n, const rd_tree_value *let, int32_t result, const char *count)
{
    const rd_linear *at   = &n->t->let[n->t->operand[let->first]].at;
    const char      *elem = rd_dtype_class(let->type) == RD_CLASS_f32 ? "f32" : "f64";
    rd_text          base = { 0 };

    n->at_first_element = true;
    rd_print_linear(n, &base, at);
    n->at_first_element = false;
    if (base.at && strcmp(base.at, "0") != 0)
        rd_print_line(n, "EXP_OF_STRIP(%s, (a%" PRId32 " + %s), %s)", elem, result, base.at, count);
    else
        rd_print_line(n, "EXP_OF_STRIP(%s, a%" PRId32 ", %s)", elem, result, count);
    rd_text_end(&base, n->to);
}

/* Prints an operator on the n0 elements of a strip: by vectors where the library has it so
 * (random words, exp, functions with hard arguments, divisions), else by a loop of calls. 16-bit
 * floats are computed as f32 and rounded behind. */
static void print_map(rd_printing *n, const rd_tree_value *let, int32_t result, const char *count)
{
    const char *elem = rd_dtype_class(let->type) == RD_CLASS_f32 ? "f32" : "f64";

    if (rd_draws_words_of_strip(n->t, let))
        rd_print_line(n, "rd_philox_strip(a%" PRId32 ", %s, UINT64_C(%" PRIu64 "));", result, count,
                      n->t->let[n->t->operand[let->first + 1]].word.u64);
    else if (let->op == RD_OP_exp) {
        print_exp(n, let, result, count);
        round_halves(n, let, result, count);
    } else if (rd_op_table[let->op].by == RD_BY_HARD) {
        rd_print_line(n, "OF_STRIP(%s, %s, a%" PRId32 ", %s)", rd_op_table[let->op].name, elem,
                      result, count);
        round_halves(n, let, result, count);
    } else if (rd_is_constant_remainder(n->t, let))
        rd_print_remainder_by_constant(n, let, result, count);
    else if (rd_op_leaves_rest(let->op, let->type)) {
        rd_print_line(n, "DIVIDED_STRIP(%s, %s, a%" PRId32 ", a%" PRId32 ", %s)",
                      rd_op_table[let->op].name, elem, result, operand_array(n, let, /*k=*/1),
                      count);
        round_halves(n, let, result, count);
    } else
        print_serial_map(n, let, result, count);
}

/* Prints the vector loop as one call, by the kind of value that it makes: "EXP_OF_STRIP(f32, a5,
 * n0)". False if the loop makes no value. A load that is not the only one in its loop
 * (statements follow its store) is one of three interleaved planes. */
bool rd_print_strip_function(rd_printing *n, int32_t stmt)
{
    const int32_t        value = function_in(n, stmt);
    const rd_tree_value *let   = value >= 0 ? &n->t->let[value] : NULL;
    rd_text              count = { 0 };

    if (!let)
        return false;
    rd_print_count(n, &count, stmt);
    if (let->kind == RD_I_LOAD && n->t->stmt[stmt].last != n->t->stmt[let->made_by].next)
        rd_print_planes(n, stmt, count.at);
    else if (let->kind == RD_I_LOAD)
        rd_print_widen(n, stmt, let->made_by, result_array(n, stmt), count.at);
    else if (let->kind == RD_I_CALL)
        rd_print_strip_call(n, let, result_array(n, stmt), count.at);
    else if (let->kind == RD_I_CAST)
        print_ints(n, let, result_array(n, stmt), count.at);
    else
        print_map(n, let, result_array(n, stmt), count.at);
    rd_text_end(&count, n->to);
    return true;
}

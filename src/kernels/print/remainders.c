/* remainders.c - floored division of floats by a known number, and its remainder, as text.
 *
 * Angles go around a circle, and coordinates around a periodic box: x % 360, x // 45. The
 * quotient is needed as a whole number alone. So a product by 1 / b takes the place of two
 * divisions; math_remainder_by.h says why it gives the same bits:
 *
 *     DIVIDED_STRIP_BY(remainder, f32, a5, 0x1.68p+8F, 0x1.6c16c16c16c1ap-9, n2)
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Returns a little more than 1 / b, by 2^-50 of its size: x times it is then never below a
 * quotient x / b that is a whole number, so rounding down gives that number. */
static double reciprocal_of(double b)
{
    return 1 / b * (1 + 0x1p-50);
}

/* Prints the macro that replaces a strip (n2 elements) of floats x by floor(x / b) or the
 * remainder: "DIVIDED_STRIP_BY(remainder, f32, a5, 0x1.68p+8F, 0x1.6c16c16c16c1ap-9, n2)", with
 * the operator, the type, the array, b, and 1 / b. */
void rd_print_remainder_by_constant(rd_printing *n, const rd_tree_value *let, int32_t result,
                                    const char *count)
{
    const rd_tree_value *by = &n->t->let[n->t->operand[let->first + 1]];
    const char          *op = rd_op_table[let->op].name;

    if (let->type == RD_F32)
        rd_print_line(n, "DIVIDED_STRIP_BY(%s, f32, a%" PRId32 ", %aF, %a, %s)", op, result,
                      (double)by->word.f32, reciprocal_of((double)by->word.f32), count);
    else
        rd_print_line(n, "DIVIDED_STRIP_BY(%s, f64, a%" PRId32 ", %a, %a, %s)", op, result,
                      by->word.f64, reciprocal_of(by->word.f64), count);
}

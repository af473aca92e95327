/* constant_remainder.c - which divisions of floats with a remainder are by a number that the text
 * says. */
#include "kernels/loop/facts.h"

/* True if a floor division or a remainder of floats is by a positive constant of moderate size.
 * The limits keep the reciprocal of the divisor, and products with it, far from overflow and
 * underflow. */
bool rd_is_constant_remainder(const rd_schedule *t, const rd_tree_value *let)
{
    const rd_tree_value *divisor =
        let->kind == RD_I_MAP && let->n == 2 ? &t->let[t->operand[let->first + 1]] : NULL;

    if (!divisor || divisor->kind != RD_I_CONST ||
        (let->op != RD_OP_floordiv && let->op != RD_OP_remainder))
        return false;
    if (let->type == RD_F32)
        return divisor->word.f32 >= 0x1p-60F && divisor->word.f32 <= 0x1p60F;
    return let->type == RD_F64 && divisor->word.f64 >= 0x1p-500 && divisor->word.f64 <= 0x1p500;
}

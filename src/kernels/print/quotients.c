/* quotients.c - quotients by a constant as text: of ints, or of floats that are then rounded to
 * a whole number.
 *
 * A periodic box has the difference d - 18 * round(d / 18), and bytes of an image become x /
 * 255. A division takes ten cycles where a product takes one. With 1 / 18 = high + low, of twice
 * as many bits, two operations give the same quotient:
 *
 *     d / 18 = fma(d, high, d * low)
 *
 * (Brisebarre and Muller, 2008, "Correctly Rounded Multiplication by Arbitrary Precision
 * Constants".) With p bits the sum in the fma is off by 2^(2 - 2 p) at most. A constant of b
 * bits has no quotient closer than 2^-(p + 1 + b) to where rounding changes, so b is p - 4 at
 * most. Quotients that are subnormal may differ, and round to the same whole number: 0 with the
 * sign of d. Quotients of ints are +0 or normal. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>

/* Counts the significant bits of a number, from the first 1 to the last: 4 of 18 (10010 in
 * binary), 1 of a power of two. */
static int significant_bits(double x)
{
    int    exponent, n = 0;
    double fraction = frexp(x, &exponent);

    for (; fraction != 0; n++)
        fraction = fraction * 2 - floor(fraction * 2);
    return n;
}

/* True if the constant divisor has few enough bits, p - 4 of the type's p: the head of this file
 * shows that the product with its reciprocal is then rounded as the quotient would be. Powers of
 * two (1 bit) are left to compilers; numbers near the ends of the range, beyond 2^60 or 2^-60,
 * are excluded. */
static bool is_short_constant(double c, rd_dtype type)
{
    const int most = type == RD_F32 ? FLT_MANT_DIG - 4 : DBL_MANT_DIG - 4;
    const int bits = c > 0x1p-60 && c < 0x1p60 ? significant_bits(c) : 0;

    return bits > 1 && bits <= most;
}

/* True if the statement is a value rounded to a whole number, by round or trunc. */
static bool is_rounding(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_MAP && (let->op == RD_OP_round || let->op == RD_OP_trunc);
}

/* True if the value is a float made of an int by a cast: quotients of it are 0 or normal, never
 * subnormal. */
static bool is_from_int(const rd_tree_value *let)
{
    return let->kind == RD_I_CAST && rd_dtype_kind(let->from) != RD_KIND_FLOAT;
}

/* True if all readers of the value round it to a whole number. Then a subnormal quotient that is
 * off in its last bit gives the same result, 0. */
static bool is_rounded(const rd_schedule *t, int32_t value)
{
    int32_t s = rd_next_use(t, value, /*last=*/-1);

    while (s >= 0 && is_rounding(t, s))
        s = rd_next_use(t, value, s);
    return s < 0;
}

/* True if the value is x / c for floats, where a product with 1 / c gives the same bits. The
 * constant c has few bits, and x is a cast of an int, or all readers round the quotient. Only
 * C's text has the function (dialect->hides). Operand 1 is the divisor. */
bool rd_is_short_quotient(const rd_printing *n, const rd_tree_value *let)
{
    const rd_schedule *t = n->t;

    if (!n->dialect->hides || let->kind != RD_I_MAP || let->op != RD_OP_div ||
        (let->type != RD_F32 && let->type != RD_F64))
        return false;
    const rd_tree_value *by = &t->let[t->operand[let->first + 1]];

    if (by->kind != RD_I_CONST ||
        !is_short_constant(let->type == RD_F32 ? (double)by->word.f32 : by->word.f64, let->type))
        return false;
    return is_from_int(&t->let[t->operand[let->first]]) ||
           is_rounded(t, t->stmt[let->made_by].value);
}

/* Splits 1 / c into high + low: a float that is rounded down, and what is missing. Neither is
 * below 0, so that -0 / c stays -0. */
static void split_reciprocal(double c, rd_dtype type, double *high, double *low)
{
    *high = type == RD_F32 ? (double)(float)(1 / c) : 1 / c;
    if (fma(-*high, c, 1) < 0)
        *high = type == RD_F32 ? (double)nextafterf((float)*high, 0) : nextafter(*high, 0);
    *low = fma(-*high, c, 1) / c;
}

/* Prints "rd_quotient_f32(r3, r4, 0x1.c71c7p-5F, 0x1.c71c72p-30F)": the dividend, the divisor, and
 * the divisor's reciprocal as a sum of two floats, high + low. */
void rd_print_short_quotient(const rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const int32_t       *in  = &n->t->operand[let->first];
    const rd_tree_value *by  = &n->t->let[in[1]];
    const bool           f32 = let->type == RD_F32;
    double               high, low;

    split_reciprocal(f32 ? (double)by->word.f32 : by->word.f64, let->type, &high, &low);
    rd_text_add(to,
                f32 ? "rd_quotient_f32(r%" PRId32 ", r%" PRId32 ", %aF, %aF)"
                    : "rd_quotient_f64(r%" PRId32 ", r%" PRId32 ", %a, %a)",
                in[0], in[1], high, f32 ? (double)(float)low : low);
}

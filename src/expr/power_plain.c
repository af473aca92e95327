/* power_plain.c - powers by a constant that are products instead of calls of pow(). */
#include "expr/plain.h"

enum { MOST_OF_INTS = 64 }; /* the greatest exponent of ints; beyond, all but 0, 1, -1 wrap */

/* Makes x^n of ints, n > 0, by repeated squaring: y collects the squares at n's binary digits of 1.
 * Ints wrap, so the order of products changes nothing. */
static rd_expr *power_of_ints(const char *call, rd_expr *x, int n)
{
    rd_expr *y = NULL;

    for (; n > 0; n >>= 1) {
        if (n & 1)
            y = y ? plain_2(RD_OP_mul, call, y, x) : x;
        if (n > 1)
            x = plain_1(RD_OP_square, call, x);
        if (!x || ((n & 1) && !y))
            return NULL;
    }
    return y;
}

/* Makes x^y by a faster operator than pow(), for y of value n: 1 / x and x * x are correctly
 * rounded and single instructions.  Others take the operator pow_half, for multiples of 1/2. */
static rd_expr *power_of_floats(const char *call, rd_expr *x, rd_expr *y, double n)
{
    if (n == -1)
        return plain_1(RD_OP_reciprocal, call, x);
    return n == 2 ? plain_1(RD_OP_square, call, x) : plain_2(RD_OP_pow_half, call, x, y);
}

/* True if a float power by n has a faster operator: the exponents that people write.  Each row
 * RD_POWER(halves) of half_powers.def, included here, adds n == halves / 2. */
static bool is_product_of_floats(double n)
{
#define RD_POWER(halves) n == 0.5 * (halves) ||
    return
#include "core/half_powers.def"
        n == 1 || n == 2 || n == -1;
}

/* True if a power by y is computed by products instead of pow(): y is a constant, for floats one of
 * half_powers.def, 1, 2 or -1, for ints 1 to 64. */
bool rd_is_product(const rd_expr *y)
{
    if (y->kind != RD_EXPR_NUMBER)
        return false;
    const double n = rd_word_to_double(y->as.number->value, y->type);

    return rd_dtype_kind(y->type) == RD_KIND_FLOAT ? is_product_of_floats(n)
                                                   : n >= 1 && n <= MOST_OF_INTS;
}

/* Makes x^y by products, for plain (real, dense) x; the caller has found rd_is_product(y) true. */
rd_expr *rd_plain_power(const char *call, rd_expr *x, rd_expr *y)
{
    const double n = rd_word_to_double(y->as.number->value, y->type);

    if (n == 1)
        return x;
    return rd_dtype_kind(x->type) == RD_KIND_FLOAT ? power_of_floats(call, x, y, n)
                                                   : power_of_ints(call, x, (int)n);
}

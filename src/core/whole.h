/* whole.h - operators on whole numbers in texts, computed without wrapping. */
#ifndef RD_CORE_WHOLE_H
#define RD_CORE_WHOLE_H
#include "core/ops.h"

/* Says how an operator on constants ended. */
typedef enum rd_whole {
    RD_WHOLE_NONE,  /* the operator gives no whole number, or is not for constants */
    RD_WHOLE_FITS,  /* the result is in 64 bits */
    RD_WHOLE_BEYOND /* more than 64 bits */
} rd_whole;

/* Computes a to the power of b >= 0; true: it overflows. For 0, 1 and -1 a small exponent of the
 * same parity gives the same; others overflow after 63 rounds at the latest. */
static inline bool rd_power_overflows(int64_t a, int64_t b, int64_t *value)
{
    bool over = false;

    *value = 1;
    if (a == 0 || a == 1 || a == -1) /* any exponent of the same parity */
        b = b % 2 + (b > 0) * 2;
    for (; b > 0 && !over; b--)
        over = __builtin_mul_overflow(*value, a, value);
    return over;
}

/* Computes a times 2^b, b >= 0; true: it overflows.  The one case with b = 63 that fits is -1, the
 * least int. */
static inline bool rd_shift_overflows(int64_t a, int64_t b, int64_t *value)
{
    const bool least = b == 63 && a == -1;

    *value = least ? INT64_MIN : 0;
    return a != 0 && !least && (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, value));
}

/* Computes the operator's result for one operand a, or for two, and says whether it fits in 64
 * bits.  Negative exponents and shifts give no whole number. */
static inline rd_whole rd_whole_result(rd_op op, int64_t a, int64_t b, int64_t *value)
{
    bool over;

    switch (op) {
    case RD_OP_neg: over = __builtin_sub_overflow((int64_t)0, a, value); break;
    case RD_OP_square: over = __builtin_mul_overflow(a, a, value); break;
    case RD_OP_add: over = __builtin_add_overflow(a, b, value); break;
    case RD_OP_sub: over = __builtin_sub_overflow(a, b, value); break;
    case RD_OP_mul: over = __builtin_mul_overflow(a, b, value); break;
    case RD_OP_pow:
        if (b < 0)
            return RD_WHOLE_NONE;
        over = rd_power_overflows(a, b, value);
        break;
    case RD_OP_shift_left:
        if (b < 0)
            return RD_WHOLE_NONE;
        over = rd_shift_overflows(a, b, value);
        break;
    default: return RD_WHOLE_NONE;
    }
    return over ? RD_WHOLE_BEYOND : RD_WHOLE_FITS;
}
#endif

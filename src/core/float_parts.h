/* float_parts.h - operators on the parts of floats, all exact: fraction and exponent, powers of 2,
 * neighbours.  Choices instead of branches, so that loops vectorise. */
#ifndef RD_CORE_FLOAT_PARTS_H
#define RD_CORE_FLOAT_PARTS_H
#include "core/bits.h"
#include <math.h>

/* The fraction of x = fraction 2^exponent, with 1/2 <= |fraction| < 1; x itself for 0, infinity and
 * NaN.  Denormals are scaled by 2^54 first; 0x3fe are the exponent bits of [1/2, 1). */
RD_INLINE double rd_math_fraction_f64(double x)
{
    const double   scaled = __builtin_fabs(x) < 0x1p-1022 ? x * 0x1p54 : x;
    const uint64_t bits   = rd_bits_f64(scaled);
    const double   y      = rd_double_of((bits & 0x800fffffffffffff) | 0x3fe0000000000000);

    return x == 0 || !(__builtin_fabs(x) < (double)INFINITY) ? x : y;
}

/* The exponent of x = fraction 2^exponent; 0 for 0, infinity and NaN.  The exponent bits become the
 * low bits of a number near 2^52 (0x433), which is a conversion to f64 without a branch. */
RD_INLINE double rd_math_exponent_f64(double x)
{
    const int      tiny   = __builtin_fabs(x) < 0x1p-1022;
    const double   scaled = tiny ? x * 0x1p54 : x;
    const uint64_t above  = (rd_bits_f64(scaled) >> 52 & 0x7ff) | 0x4330000000000000;
    const double   y      = rd_double_of(above) - (0x1p52 + 1022) - (tiny ? 54 : 0);

    return x == 0 || !(__builtin_fabs(x) < (double)INFINITY) ? 0 : y;
}

/* 2^whole for a whole number from -1022 to 1023: adding 1.5 2^52 puts it into the low bits, and the
 * shift puts it into the exponent. */
RD_INLINE double rd_two_to(double whole)
{
    return rd_double_of((rd_bits_f64(whole + 0x1.8p52) << 52) + 0x3ff0000000000000);
}

/* x 2^n for n rounded to a whole number, with one rounding.  The power is a product of three, as
 * 2^n may exceed the range of an f64.  All but the last multiplication keep small numbers
 * normal.  Adding 1.5 * 2^52 and taking it off rounds. Beyond 2200 the result is 0 or infinite
 * in any case. A part below -1022, the least normal power, is cut to -969, so that 53 bits of
 * the product stay normal; one above 1023, the greatest power, to 1023. NaN stays NaN. */
RD_INLINE double rd_math_ldexp_f64(double x, double n)
{
    const double high = n > 2200 ? 2200 : n, most = high < -2200 ? -2200 : high;
    const double whole = (most + 0x1.8p52) - 0x1.8p52;
    const double down = whole < -1022 ? -969 : whole, first = down > 1023 ? 1023 : down;
    const double left = whole - first, less = left < -1022 ? -969 : left;
    const double second = less > 1023 ? 1023 : less;
    const double y      = x * rd_two_to(first) * rd_two_to(second) * rd_two_to(left - second);

    return n != n ? n : y;
}

/* The next number after x toward y: the bits of a float ascend with its size, so they are counted
 * up or down.  From 0 it is the smallest denormal. */
RD_INLINE double rd_math_nextafter_f64(double x, double y)
{
    const uint64_t bits = rd_bits_f64(x), up = bits + 1, down = bits - 1;
    const double   near = __builtin_copysign(0x1p-1074, y);
    const double next = rd_double_of((x < y) == (x > 0) ? up : down), moved = x == 0 ? near : next;
    const double other = x == y ? y : moved;

    return x != x || y != y ? x + y : other;
}

/* The next number after x toward y, as for f64. */
RD_INLINE float rd_math_nextafter_f32(float x, float y)
{
    const uint32_t bits = rd_bits_f32(x), up = bits + 1, down = bits - 1;
    const float    near = __builtin_copysignf(0x1p-149F, y);
    const float    next = rd_float_of((x < y) == (x > 0) ? up : down), moved = x == 0 ? near : next;
    const float    other = x == y ? y : moved;

    return x != x || y != y ? x + y : other;
}

/* The fraction of x, by f64, which holds it exactly. */
RD_INLINE float rd_math_fraction_f32(float x)
{
    return (float)rd_math_fraction_f64((double)x);
}

/* The exponent of x, by f64, in which no f32 is denormal. */
RD_INLINE float rd_math_exponent_f32(float x)
{
    return (float)rd_math_exponent_f64((double)x);
}

/* x 2^n for n rounded to a whole number, by f64. */
RD_INLINE float rd_math_ldexp_f32(float x, float n)
{
    return (float)rd_math_ldexp_f64((double)x, (double)n);
}
#endif

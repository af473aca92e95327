/* math_remainder_by.h - floored division of floats by a known number, and its remainder.
 *
 * The number b is above 0, and `up` is 1 / b, made larger by 2^-50 of it.  A product with `up`
 * replaces the division.  A whole quotient does not fall below its value.  Any other quotient is
 * further from the next whole number than that increase, if a and b are floats and the quotient is
 * below 2^21.  For doubles it may come out one too far from 0.  Then the remainder has the sign
 * that it has where a is below 0, and is corrected likewise.  Products with whole quotients are
 * exact in double, or fused, so the bits are those of math_remainder.h.  Processors without a fused
 * product use its functions. */
#ifndef RD_KERNELS_MATH_MATH_REMAINDER_BY_H
#define RD_KERNELS_MATH_MATH_REMAINDER_BY_H
#include "kernels/math/math_remainder.h"

#ifdef __FMA__
/* True if the quotient |a| / b is too large for a product with 1 / b; `most`: the bound. */
#define RD_REST_FAR(T, f, elem, most)                    \
    static inline int rd_rest_far_##elem(T a, T b)       \
    {                                                    \
        return __builtin_fabs##f(a) >= (most)*b ? 1 : 0; \
    }
RD_REST_FAR(float, f, f32, 0x1p21F)
RD_REST_FAR(double, , f64, 0x1p48)
#undef RD_REST_FAR

/* Returns the floored remainder of a / b, for b > 0 and a quotient below 2^21; `up` is 1 / b, a
 * little too large. */
static inline float rd_remainder_near_f32(float a, float b, double up)
{
    const double x    = (double)a;
    const float  rest = (float)(x - __builtin_trunc(x * up) * (double)b), next = rest + b;

    return rest < 0 ? next : rest;
}

/* Returns floor(a / b), for b > 0 and a quotient below 2^21; `up` is 1 / b, a little too large.
 * A negative remainder shows that the truncated quotient is one too large. */
static inline float rd_floordiv_near_f32(float a, float b, double up)
{
    const double x = (double)a, whole = __builtin_trunc(x * up), less = whole - 1;

    return (float)(x - whole * (double)b < 0 ? less : whole);
}

/* Returns the floored remainder of a / b, for b > 0 and a quotient below 2^48; `up` is 1 / b, a
 * little too large. */
static inline double rd_remainder_near_f64(double a, double b, double up)
{
    const double rest = __builtin_fma(-__builtin_trunc(a * up), b, a), next = rest + b;

    return rest < 0 ? next : rest;
}

/* Returns floor(a / b), for b > 0 and a quotient below 2^48; `up` is 1 / b, a little too large.
 * A negative remainder shows that the quotient is one too large. */
static inline double rd_floordiv_near_f64(double a, double b, double up)
{
    const double whole = __builtin_trunc(a * up), less = whole - 1;

    return __builtin_fma(-whole, b, a) < 0 ? less : whole;
}
#else
/* Without an instruction for fma, all quotients are too large. */
#define RD_REST_BY(T, elem)                                       \
    static inline int rd_rest_far_##elem(T a, T b)                \
    {                                                             \
        return (void)a, (void)b, 1;                               \
    }                                                             \
    static inline T rd_remainder_near_##elem(T a, T b, double up) \
    {                                                             \
        return (void)up, rd_remainder_any_##elem(a, b);           \
    }                                                             \
    static inline T rd_floordiv_near_##elem(T a, T b, double up)  \
    {                                                             \
        return (void)up, rd_floordiv_any_##elem(a, b);            \
    }
RD_REST_BY(float, f32)
RD_REST_BY(double, f64)
#undef RD_REST_BY
#endif
#endif

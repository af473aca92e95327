/* math_soft.h - sigmoid, silu, softplus and logaddexp, none of which leaves the range on its way.
 *
 * All take the exponential of a number that is not positive, by expm1's polynomial, without a table.
 * f32 is computed in double. */
#ifndef RD_KERNELS_MATH_MATH_SOFT_H
#define RD_KERNELS_MATH_MATH_SOFT_H

#include "kernels/math/math_erfc.h"

/* exp(-a), a >= 0; 0 from 800 on. */
RD_INLINE double rd_exp_of_minus(double a)
{
    return rd_times_exp_of_minus(1, 0, a > 800.0 ? 800.0 : a, 0);
}

/* over / (1 + e), e <= 1, with the error of the sum. */
RD_INLINE double rd_over_one_and(double over, double e)
{
    const double under = 1 + e, under_lo = e - (under - 1), q = over / under;
    const double lost = __builtin_fma(-q, under_lo, __builtin_fma(-q, under, over));

    return q + lost / under;
}

RD_INLINE double rd_sigmoid_f64(double x)
{
    const double e = rd_exp_of_minus(RD_ABS_F64(x));

    return rd_over_one_and(x < 0 ? e : 1, e);
}

/* x sigmoid(x), of -infinity its limit: x times a small exponential before that underflows. */
RD_INLINE double rd_silu_f64(double x)
{
    const double a = RD_ABS_F64(x), size = a > 800.0 ? 800.0 : a;
    const double e = rd_exp_of_minus(a), tail = rd_times_exp_of_minus(-size, 0, size, 0);

    const double y = x < 0 ? rd_over_one_and(tail, e) : x * rd_over_one_and(1, e);

    return __builtin_copysign(y, x);
}

/* log(1 + exp(x)) */
RD_INLINE double rd_softplus_f64(double x)
{
    return (x > 0 ? x : 0) + rd_log1p_f64(rd_exp_of_minus(RD_ABS_F64(x)));
}

/* log(exp(x) + exp(y)), x - y with its error; the difference of equal infinities is none. */
RD_INLINE double rd_logaddexp_f64(double x, double y)
{
    const double most = x > y ? x : y, least = x > y ? y : x, apart = most - least;
    const double back = apart - most, lost = (most - (apart - back)) - (least + back);
    const int    near = apart < 800.0;
    const double some = near ? apart : 800.0, size = x == y ? 0 : some;
    const double e = rd_times_exp_of_minus(1, 0, size, near ? lost : 0);

    return most + rd_log1p_f64(e) + (x != x ? x : 0) + (y != y ? y : 0);
}

RD_INLINE float rd_sigmoid_f32(float x)
{
    return (float)rd_sigmoid_f64((double)x);
}

RD_INLINE float rd_silu_f32(float x)
{
    return (float)rd_silu_f64((double)x);
}

RD_INLINE float rd_softplus_f32(float x)
{
    return (float)rd_softplus_f64((double)x);
}

RD_INLINE float rd_logaddexp_f32(float x, float y)
{
    return (float)rd_logaddexp_f64((double)x, (double)y);
}
#endif

/* math_soft.h - sigmoid, silu, softplus and logaddexp, none of which leaves the range on its way.
 *
 * All take the exponential of a number that is not positive, by expm1's polynomial, without a
 * table. sigmoid and silu of f32 carry a second number where the first one's error would show,
 * as tanh does; softplus and logaddexp of f32 are computed in double. */
#ifndef RD_KERNELS_MATH_MATH_SOFT_H
#define RD_KERNELS_MATH_MATH_SOFT_H

#include "kernels/math/math_erfc.h"

/* Returns exp(-a) for a >= 0; from 800 on it is 0. */
RD_INLINE double rd_exp_of_minus(double a)
{
    return rd_times_exp_of_minus(1, 0, a > 800.0 ? 800.0 : a, 0);
}

/* Returns over / (1 + e), for 0 <= e <= 1: the quotient by the rounded sum, corrected by its
 * residue, in which the rounding error of the sum counts. */
RD_INLINE double rd_over_one_and(double over, double e)
{
    const double under = 1 + e, under_lo = e - (under - 1), q = over / under;
    const double lost = __builtin_fma(-q, under_lo, __builtin_fma(-q, under, over));

    return q + lost / under;
}

/* Returns 1 / (1 + exp(-x)).  The exponential is taken of -|x|, so that it does not overflow:
 * for x < 0 the result is e / (1 + e). */
RD_INLINE double rd_sigmoid_f64(double x)
{
    const double e = rd_exp_of_minus(RD_ABS_F64(x));

    return rd_over_one_and(x < 0 ? e : 1, e);
}

/* Returns x / (1 + exp(-x)); for -infinity its limit, -0.  For x < 0, x is multiplied by the
 * small exponential before that underflows. */
RD_INLINE double rd_silu_f64(double x)
{
    const double a = RD_ABS_F64(x), size = a > 800.0 ? 800.0 : a;
    const double e = rd_exp_of_minus(a), tail = rd_times_exp_of_minus(-size, 0, size, 0);

    const double y = x < 0 ? rd_over_one_and(tail, e) : x * rd_over_one_and(1, e);

    return __builtin_copysign(y, x);
}

/* Returns log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)). */
RD_INLINE double rd_softplus_f64(double x)
{
    return (x > 0 ? x : 0) + rd_log1p_f64(rd_exp_of_minus(RD_ABS_F64(x)));
}

/* Returns exp(-(square + lo)) / 2^n - 1 as the sum of the result and *rest, where n is the
 * exponent in base 2, rounded. *magic has n in its low bits, as rd_scale_f64() takes it. */
RD_INLINE double rd_exp_of_minus_parts(double square, double lo, double *rest, double *magic)
{
    *magic = __builtin_fma(square, -RD_LOG2E_F64, RD_MAGIC_2_F64);

    const double n   = *magic - RD_MAGIC_2_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, -square),
                 low = __builtin_fma(n, -RD_LN2_LO_F64, -lo);
    const double r   = top + low;

    *rest = __builtin_fma(r * r, rd_expm1_tail_f64(r), low - (r - top));
    return r;
}

/* Returns log(1 + e + e_lo), for 0 <= e <= 1, as the sum of the result and *lo. 1 + e is 2^n m
 * as in log1p, and n is 1 if e is above sqrt(2) - 1 (big), else 0. */
RD_INLINE double rd_log1p_of_part(double e, double e_lo, double *lo)
{
    const int    big  = e > 0x1.a827999fcef32p-2; /* sqrt(2) - 1 */
    const double less = e - 1, c = (e - (less + 1)) + e_lo;
    const double f = big ? 0.5 * less : e, f_lo = big ? 0.5 * c : e_lo;
    const double a = big ? RD_LN2_TOP_F64 : 0, a_lo = big ? RD_LN2_REST_F64 : 0, sum = a + f;
    const double tail = __builtin_fma(f_lo, __builtin_fma(f, f, 1 - f), rd_log_tail_f64(f));

    *lo = (f - (sum - a)) + (a_lo + tail);
    return sum;
}

/* Returns log(exp(x) + exp(y)) as the greater one plus log(1 + exp(-apart)), with the error of
 * the difference `apart`; equal infinities have no difference.  The greater one may cancel the
 * logarithm, so the logarithm and the exponential have their errors with them. */
RD_INLINE double rd_logaddexp_f64(double x, double y)
{
    const double most = x > y ? x : y, least = x > y ? y : x, apart = most - least;
    const double back = apart - most, lost = (most - (apart - back)) - (least + back);
    const int    near = apart < 800.0;
    const double some = near ? apart : 800.0, size = x == y ? 0 : some;
    double       rest, magic, log_lo;
    const double r    = rd_exp_of_minus_parts(size, near ? lost : 0, &rest, &magic);
    const double more = r + rest, whole = 1 + more,
                 whole_lo = (more - (whole - 1)) + (rest - (more - r));
    const double e        = rd_scale_f64(whole, rd_bits_f64(magic));
    const double log = rd_log1p_of_part(e, rd_scale_f64(whole_lo, rd_bits_f64(magic)), &log_lo);
    const double sum = most + log, to = sum - most, error = (most - (sum - to)) + (log - to);

    return sum + (near ? error + log_lo : 0) + (x != x ? x : 0) + (y != y ? y : 0);
}

/* ---- f32 ------------------------------------------------------------------------------------- */
/* Returns sigmoid(x) 2^-n as the sum of the result and *lo, for a = |x|, at most 126; *sum is
 * what rd_scale_f32() wants of n.  With e = exp(-a) = 2^n E, the result is E / (1 + e) for x <
 * 0, else 1 / (1 + e) and n = 0. */
RD_INLINE float rd_sigmoid_of_f32(float x, float a, float *lo, uint32_t *sum)
{
    const float magic = __builtin_fmaf(a, -RD_LOG2E_F32, RD_MAGIC_2_F32),
                n     = magic - RD_MAGIC_2_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, -a), rest = n * -RD_LN2_LO_F32,
                r    = top + rest;
    const float r_lo = rest - (r - top);
    const float tail = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), __builtin_fmaf(r, r_lo, rest));
    const float more = top + tail, more_lo = tail - (more - top);
    const float whole = 1 + more, whole_lo = more - (whole - 1) + more_lo;
    const float least = RD_MAGIC_2_F32 - 64; /* smaller ones are nothing beside 1 */
    const float scale =
        rd_float_of((rd_bits_f32(magic < least ? least : magic) << 23) - 0x3f800000);
    const float part = scale * whole, below = 1 + part,
                below_lo = part - (below - 1) + scale * whole_lo;
    const float above = x < 0 ? whole : 1, above_lo = x < 0 ? whole_lo : 0;
    const float inverse = 1 / below, q = above * inverse;
    const float error = __builtin_fmaf(q, -below, above) + __builtin_fmaf(q, -below_lo, above_lo);

    *lo  = error * inverse;
    *sum = rd_bits_f32(x < 0 ? magic : RD_MAGIC_2_F32);
    return q;
}

/* Returns 1 / (1 + exp(-x)); beyond +-120 it is 0 or 1 in f32. */
RD_INLINE float rd_sigmoid_f32(float x)
{
    const float size = RD_ABS_F32(x),
                a    = size > 120.0F ? 120.0F : size; /* beyond they are 0 and 1 */
    float       lo;
    uint32_t    sum;
    const float q = rd_sigmoid_of_f32(x, a, &lo, &sum);

    return rd_scale_f32(q + lo, sum);
}

/* Returns x / (1 + exp(-x)); for -infinity its limit, -0.  Above 120 it is x. */
RD_INLINE float rd_silu_f32(float x)
{
    const float size = RD_ABS_F32(x), a = size > 120.0F ? 120.0F : size;
    float       lo;
    uint32_t    sum;
    const float q = rd_sigmoid_of_f32(x, a, &lo, &sum), y = a * q;
    const float near = rd_scale_f32(__builtin_fmaf(a, lo, __builtin_fmaf(a, q, -y)) + y, sum);

    return __builtin_copysignf(x > 120.0F ? x : near, x);
}

/* Returns log(1 + exp(x)), computed in double and rounded to float. */
RD_INLINE float rd_softplus_f32(float x)
{
    return (float)rd_softplus_f64((double)x);
}

/* Returns log(exp(x) + exp(y)), computed in double and rounded to float. */
RD_INLINE float rd_logaddexp_f32(float x, float y)
{
    return (float)rd_logaddexp_f64((double)x, (double)y);
}
#endif

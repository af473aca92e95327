/* math_exp.h - exp, expm1 and tanh.
 *
 * exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2 by Cody and Waite's two-term reduction ("Software Manual
 * for the Elementary Functions", 1980); exp(r) = 1 + r (1 + r q(r)) with q a minimax polynomial of exp(r)'s relative
 * error (Remez). */
#ifndef RD_KERNELS_CPU_MATH_EXP_H
#define RD_KERNELS_CPU_MATH_EXP_H

#include "kernels/cpu/math_bits.h"

#define RD_LOG2E_F32  0x1.715476p0F
#define RD_LN2_HI_F32 0x1.62e43p-1F
#define RD_LN2_LO_F32 -0x1.05c61p-29F
#define RD_LOG2E_F64  0x1.71547652b82fep0
#define RD_LN2_HI_F64 0x1.62e42fefa39efp-1
#define RD_LN2_LO_F64 0x1.abc9e3b39803fp-56

/* (exp(r) - 1 - r) / r^2 for |r| <= 0.3466; error of exp(r): 2^-28.0, 2^-56.4. */
RD_INLINE float rd_exp_tail_f32(float r)
{
    float q = 0x1.6a2434p-10F;

    q = __builtin_fmaf(q, r, 0x1.1239e4p-7F);
    q = __builtin_fmaf(q, r, 0x1.5558f2p-5F);
    q = __builtin_fmaf(q, r, 0x1.555492p-3F);
    return __builtin_fmaf(q, r, 0x1.fffffcp-2F);
}

RD_INLINE double rd_exp_tail_f64(double r)
{
    double q = 0x1.ad7f6984cea6cp-26;

    q = __builtin_fma(q, r, 0x1.28ad72861acbep-22);
    q = __builtin_fma(q, r, 0x1.71df25558243ap-19);
    q = __builtin_fma(q, r, 0x1.a0199a0cbb62bp-16);
    q = __builtin_fma(q, r, 0x1.a01a012a5689dp-13);
    q = __builtin_fma(q, r, 0x1.6c16c18429f02p-10);
    q = __builtin_fma(q, r, 0x1.1111111127be7p-7);
    q = __builtin_fma(q, r, 0x1.555555555087dp-5);
    q = __builtin_fma(q, r, 0x1.55555555554fap-3);
    return __builtin_fma(q, r, 0x1.000000000000ap-1);
}

/* RD_MAGIC_2 + n for the largest n: x beyond it have a large r, and end in infinity as all coefficients are positive.
 * It is compared as an int, for which vectors have a minimum that costs little.  Where n is too small all is thrown away. */
#define RD_EXP_MOST_F32 (0x4b400000 + 254 + 128)
#define RD_EXP_MOST_F64 (0x4338000000000000 + 2046 + 1024)

RD_INLINE float rd_exp_f32(float x)
{
    const int32_t bits = (int32_t)rd_bits_f32(__builtin_fmaf(x, RD_LOG2E_F32, RD_MAGIC_2_F32));
    const int32_t sum  = bits < RD_EXP_MOST_F32 ? bits : RD_EXP_MOST_F32;
    const float   n    = rd_float_of((uint32_t)sum) - RD_MAGIC_2_F32;
    const float   r    = __builtin_fmaf(n, -RD_LN2_LO_F32, __builtin_fmaf(n, -RD_LN2_HI_F32, x));
    const float   y    = __builtin_fmaf(__builtin_fmaf(rd_exp_tail_f32(r), r, 1), r, 1);

    return x < -104.0F ? 0 : rd_scale_f32(y, (uint32_t)sum);
}

RD_INLINE double rd_exp_f64(double x)
{
    const int64_t bits = (int64_t)rd_bits_f64(__builtin_fma(x, RD_LOG2E_F64, RD_MAGIC_2_F64));
    const int64_t sum  = bits < RD_EXP_MOST_F64 ? bits : RD_EXP_MOST_F64;
    const double  n    = rd_double_of((uint64_t)sum) - RD_MAGIC_2_F64;
    const double  r    = __builtin_fma(n, -RD_LN2_LO_F64, __builtin_fma(n, -RD_LN2_HI_F64, x));
    const double  y    = __builtin_fma(__builtin_fma(rd_exp_tail_f64(r), r, 1), r, 1);

    return x < -746.0 ? 0 : rd_scale_f64(y, (uint64_t)sum);
}

/* The same with the error of exp(r) - 1 in view: 2^-28.8, 2^-59.9. */
RD_INLINE float rd_expm1_tail_f32(float r)
{
    float q = 0x1.a032ep-13F;

    q = __builtin_fmaf(q, r, 0x1.6d71f8p-10F);
    q = __builtin_fmaf(q, r, 0x1.11118ap-7F);
    q = __builtin_fmaf(q, r, 0x1.5554b2p-5F);
    q = __builtin_fmaf(q, r, 0x1.555554p-3F);
    return __builtin_fmaf(q, r, 0x1p-1F);
}

RD_INLINE double rd_expm1_tail_f64(double r)
{
    double q = 0x1.1ee890b0205ffp-29;

    q = __builtin_fma(q, r, 0x1.af5e760272790p-26);
    q = __builtin_fma(q, r, 0x1.27e5362563510p-22);
    q = __builtin_fma(q, r, 0x1.71ddf87e1eeb0p-19);
    q = __builtin_fma(q, r, 0x1.a01a017bca974p-16);
    q = __builtin_fma(q, r, 0x1.a01a01afd424ap-13);
    q = __builtin_fma(q, r, 0x1.6c16c16c1f064p-10);
    q = __builtin_fma(q, r, 0x1.111111110f6d9p-7);
    q = __builtin_fma(q, r, 0x1.555555555553fp-5);
    q = __builtin_fma(q, r, 0x1.5555555555559p-3);
    return __builtin_fma(q, r, 0x1p-1);
}

/* exp(x) - 1 = 2 (2^(n-1) exp(r) - 1/2), the terms summed with their error.  Halves, as 2^n may be infinite. */
RD_INLINE float rd_expm1_f32(float x)
{
    const float capped = x > 89.0F ? 89.0F : x; /* gives infinity */
    const float magic = __builtin_fmaf(capped, RD_LOG2E_F32, RD_MAGIC_F32), n = magic - RD_MAGIC_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, capped), rest = n * -RD_LN2_LO_F32, r = top + rest;
    const float r_lo = rest - (r - top); /* r's own error counts where exp(r) - 1/2 cancels */
    const float tail = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), __builtin_fmaf(r, r_lo, rest));
    const float hi = top + tail, lo = tail - (hi - top);
    const float scale = rd_float_of((rd_bits_f32(magic) << 23) + 0x3f000000);
    const float one = scale - 0.5F, one_lo = scale - one - 0.5F, part = scale * hi, sum = one + part;
    float       y = 2 * (sum + (part - (sum - one) + __builtin_fmaf(scale, lo, one_lo)));

    y = n < -60.0F ? -1 : y;
    return RD_ABS_F32(x) < 0x1p-25F ? x : y; /* also halves of subnormals, and -0 */
}

RD_INLINE double rd_expm1_f64(double x)
{
    const double capped = x > 710.0 ? 710.0 : x; /* gives infinity */
    const double magic = __builtin_fma(capped, RD_LOG2E_F64, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, capped), rest = n * -RD_LN2_LO_F64, r = top + rest;
    const double r_lo = rest - (r - top); /* r's own error counts where exp(r) - 1/2 cancels */
    const double tail = __builtin_fma(r * r, rd_expm1_tail_f64(r), __builtin_fma(r, r_lo, rest));
    const double hi = top + tail, lo = tail - (hi - top);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3fe0000000000000);
    const double one = scale - 0.5, one_lo = scale - one - 0.5, part = scale * hi, sum = one + part;
    double       y = 2 * (sum + (part - (sum - one) + __builtin_fma(scale, lo, one_lo)));

    y = n < -60.0 ? -1 : y;
    return RD_ABS_F64(x) < 0x1p-54 ? x : y; /* also halves of subnormals, and -0 */
}

/* tanh(x) = E / (E + 2) with E = exp(2 |x|) - 1: numerator and denominator with their errors, one division, and one
 * step to correct the quotient. */
RD_INLINE float rd_tanh_f32(float x)
{
    const float size = RD_ABS_F32(x), a = 2 * (size > 10.0F ? 10.0F : size); /* beyond it is 1 */
    const float magic = __builtin_fmaf(a, RD_LOG2E_F32, RD_MAGIC_F32), n = magic - RD_MAGIC_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, a), rest = n * -RD_LN2_LO_F32, r = top + rest;
    const float tail = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), rest);
    const float hi = top + tail, lo = tail - (hi - top);
    const float scale = rd_float_of((rd_bits_f32(magic) << 23) + 0x3f800000), part = scale * hi;
    const float low = scale - 1, low_lo = scale - low - 1, above = low + part;
    const float high = scale + 1, high_lo = scale - high + 1, below = high + part;
    const float above_lo = part - (above - low) + __builtin_fmaf(scale, lo, low_lo);
    const float below_lo = part - (below - high) + __builtin_fmaf(scale, lo, high_lo);
    const float inverse = 1 / below, q = above * inverse;
    const float error = __builtin_fmaf(q, -below, above) + __builtin_fmaf(q, -below_lo, above_lo);

    return __builtin_copysignf(__builtin_fmaf(error, inverse, q), x);
}

RD_INLINE double rd_tanh_f64(double x)
{
    const double size = RD_ABS_F64(x), a = 2 * (size > 20.0 ? 20.0 : size); /* beyond it is 1 */
    const double magic = __builtin_fma(a, RD_LOG2E_F64, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, a), rest = n * -RD_LN2_LO_F64, r = top + rest;
    const double tail = __builtin_fma(r * r, rd_expm1_tail_f64(r), rest);
    const double hi = top + tail, lo = tail - (hi - top);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3ff0000000000000), part = scale * hi;
    const double low = scale - 1, low_lo = scale - low - 1, above = low + part;
    const double high = scale + 1, high_lo = scale - high + 1, below = high + part;
    const double above_lo = part - (above - low) + __builtin_fma(scale, lo, low_lo);
    const double below_lo = part - (below - high) + __builtin_fma(scale, lo, high_lo);
    const double inverse = 1 / below, q = above * inverse;
    const double error = __builtin_fma(q, -below, above) + __builtin_fma(q, -below_lo, above_lo);

    return __builtin_copysign(__builtin_fma(error, inverse, q), x);
}

#endif

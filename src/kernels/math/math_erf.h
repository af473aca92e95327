/* math_erf.h - erf.
 *
 * Near 0 x + x P(x^2).  Elsewhere 1 - exp(G(|x|) - x^2): that exponential is small there, and so is
 * what its errors add.  Vectors compute both and pick.  P and G are minimax polynomials (Remez), of
 * the relative error of erf and of its absolute one; exp(r) is that of expm1. */
#ifndef RD_KERNELS_MATH_MATH_ERF_H
#define RD_KERNELS_MATH_MATH_ERF_H

#include "kernels/math/math_exp.h"

/* Returns (erf(x) - x) / x of s = x^2, for |x| <= 3/4; the error of erf(x) is 2^-29. */
RD_INLINE float rd_erf_near_f32(float s)
{
    float q = -0x1.61de6ep-11F;

    q = __builtin_fmaf(q, s, 0x1.4f2c8p-8F);
    q = __builtin_fmaf(q, s, -0x1.b7a894p-6F);
    q = __builtin_fmaf(q, s, 0x1.ce2ac8p-4F);
    q = __builtin_fmaf(q, s, -0x1.81273ap-2F);
    q = __builtin_fmaf(q, s, 0x1.06eba8p-3F);
    return q;
}

/* Returns (erf(x) - x) / x of s = x^2, for |x| <= 3/4; the error of erf(x) is 2^-60. */
RD_INLINE double rd_erf_near_f64(double s)
{
    double q = 0x1.89e4415f04942p-27;

    q = __builtin_fma(q, s, -0x1.5641e38e161adp-23);
    q = __builtin_fma(q, s, 0x1.b90cc5527439p-20);
    q = __builtin_fma(q, s, -0x1.f4c5b39897b1fp-17);
    q = __builtin_fma(q, s, 0x1.f9a2ad7975ae3p-14);
    q = __builtin_fma(q, s, -0x1.c02db110d56c5p-11);
    q = __builtin_fma(q, s, 0x1.565bcd031212cp-8);
    q = __builtin_fma(q, s, -0x1.b82ce31255709p-6);
    q = __builtin_fma(q, s, 0x1.ce2f21a042471p-4);
    q = __builtin_fma(q, s, -0x1.812746b0379ep-2);
    q = __builtin_fma(q, s, 0x1.06eba8214db69p-3);
    return q;
}

/* Returns ln(1 - erf(x)) + x^2 for 3/4 <= x <= 4; the error of erf(x) is 2^-28. */
RD_INLINE float rd_erf_far_f32(float x)
{
    float q = 0x1.bc4e22p-13F;

    q = __builtin_fmaf(q, x, -0x1.a2ab66p-9F);
    q = __builtin_fmaf(q, x, 0x1.75ac3ep-6F);
    q = __builtin_fmaf(q, x, -0x1.ae7226p-4F);
    q = __builtin_fmaf(q, x, 0x1.74d246p-2F);
    q = __builtin_fmaf(q, x, -0x1.20de8p0F);
    q = __builtin_fmaf(q, x, -0x1.ec7c9ep-16F);
    return q;
}

/* Returns ln(1 - erf(x)) + x^2 for 3/4 <= x <= 6; the error of erf(x) is 2^-61. */
RD_INLINE double rd_erf_far_f64(double x)
{
    double q = -0x1.f8cb824cf67bbp-43;

    q = __builtin_fma(q, x, 0x1.81a79f7c5d495p-37);
    q = __builtin_fma(q, x, -0x1.15c81f0de652ap-32);
    q = __builtin_fma(q, x, 0x1.f5a16e7eac178p-29);
    q = __builtin_fma(q, x, -0x1.3e2f424c44bcdp-25);
    q = __builtin_fma(q, x, 0x1.2cdbdc14eb28ap-22);
    q = __builtin_fma(q, x, -0x1.b626118ab17b2p-20);
    q = __builtin_fma(q, x, 0x1.f2a6409c738e5p-18);
    q = __builtin_fma(q, x, -0x1.b9ad8a0068cc8p-16);
    q = __builtin_fma(q, x, 0x1.257056d54e96bp-14);
    q = __builtin_fma(q, x, -0x1.fd5df544f6295p-14);
    q = __builtin_fma(q, x, 0x1.4c6af5e549628p-15);
    q = __builtin_fma(q, x, 0x1.1554c0570db14p-11);
    q = __builtin_fma(q, x, -0x1.b09922f5443bdp-10);
    q = __builtin_fma(q, x, 0x1.7d38ba61be827p-13);
    q = __builtin_fma(q, x, 0x1.399ba065c6f43p-6);
    q = __builtin_fma(q, x, -0x1.a4f975fbf772p-4);
    q = __builtin_fma(q, x, 0x1.741a39190ded8p-2);
    q = __builtin_fma(q, x, -0x1.20dd77b1b8bap0);
    q = __builtin_fma(q, x, 0x1.8606b514f3773p-27);
    return q;
}

/* Returns erf(x): near 0 by a polynomial, else as 1 - exp(y + y_lo), where y + y_lo = G(|x|) -
 * x^2 with its rounding error. Both are computed and one is selected, as vectors do. 1 - 2^n
 * exp(r) is (1 - 2^n) - 2^n (exp(r) - 1): the first part is exact, or so near 1 that its error
 * does not count. */
RD_INLINE float rd_erf_f32(float x)
{
    const float size = RD_ABS_F32(x), a = size > 4.0F ? 4.0F : size; /* beyond it is 1 */
    const float square = a * a, g = rd_erf_far_f32(a), y = g - square;
    const float y_lo  = g - (y + square) - __builtin_fmaf(a, a, -square);
    const float magic = __builtin_fmaf(y, RD_LOG2E_F32, RD_MAGIC_F32), n = magic - RD_MAGIC_F32;
    const float top   = __builtin_fmaf(n, -RD_LN2_HI_F32, y);
    const float r     = top + __builtin_fmaf(n, -RD_LN2_LO_F32, y_lo);
    const float rest  = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), r);
    const float scale = rd_float_of((rd_bits_f32(magic) << 23) + 0x3f800000);
    const float far   = __builtin_fmaf(-scale, rest, 1 - scale);

    return size < 0.75F ? __builtin_fmaf(x, rd_erf_near_f32(x * x), x)
                        : __builtin_copysignf(far, x);
}

/* Returns erf(x): near 0 by a polynomial, else as 1 - exp(y + y_lo), where y + y_lo = G(|x|) -
 * x^2 with its rounding error. Both are computed and one is selected, as vectors do. 1 - 2^n
 * exp(r) is computed as (1 - 2^n) - 2^n (exp(r) - 1), of which the first part is exact or nearly
 * so. */
RD_INLINE double rd_erf_f64(double x)
{
    const double size = RD_ABS_F64(x), a = size > 6.0 ? 6.0 : size; /* beyond it is 1 */
    const double square = a * a, g = rd_erf_far_f64(a), y = g - square;
    const double y_lo  = g - (y + square) - __builtin_fma(a, a, -square);
    const double magic = __builtin_fma(y, RD_LOG2E_F64, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double top   = __builtin_fma(n, -RD_LN2_HI_F64, y);
    const double r     = top + __builtin_fma(n, -RD_LN2_LO_F64, y_lo);
    const double rest  = __builtin_fma(r * r, rd_expm1_tail_f64(r), r);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3ff0000000000000);
    const double far   = __builtin_fma(-scale, rest, 1 - scale);

    return size < 0.75 ? __builtin_fma(x, rd_erf_near_f64(x * x), x) : __builtin_copysign(far, x);
}

#endif

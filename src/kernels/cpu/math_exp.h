/* math_exp.h - exp, expm1 and tanh.
 *
 * exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2 by Cody and Waite's two-term reduction ("Software Manual
 * for the Elementary Functions", 1980); exp(r) = 1 + (r + r^2 q(r)) with q a minimax polynomial of exp(r)'s relative
 * error (Remez).  The sum in brackets is rounded on its own: it costs less than rounding 1 + r (1 + r q). */
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
static inline float rd_exp_tail_f32(float r)
{
    float q = 0x1.6a2434p-10F;

    q = __builtin_fmaf(q, r, 0x1.1239e4p-7F);
    q = __builtin_fmaf(q, r, 0x1.5558f2p-5F);
    q = __builtin_fmaf(q, r, 0x1.555492p-3F);
    return __builtin_fmaf(q, r, 0x1.fffffcp-2F);
}

static inline double rd_exp_tail_f64(double r)
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

static inline float rd_exp_f32(float x)
{
    /* Beyond this the result is infinity; NaN passes.  That the other end asks n, not x, keeps gcc from making one
     * three-way branch of both. */
    x = x > 89.0F ? 89.0F : x;

    const float magic = __builtin_fmaf(x, RD_LOG2E_F32, RD_MAGIC_F32), n = magic - RD_MAGIC_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, x), rest = n * -RD_LN2_LO_F32, r = top + rest;

    const float y = rd_scale_f32(1 + (top + __builtin_fmaf(r * r, rd_exp_tail_f32(r), rest)), magic);
    return n < -200.0F ? 0 : y;
}

static inline double rd_exp_f64(double x)
{
    x = x > 710.0 ? 710.0 : x;

    const double magic = __builtin_fma(x, RD_LOG2E_F64, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, x), rest = n * -RD_LN2_LO_F64, r = top + rest;

    const double y = rd_scale_f64(1 + (top + __builtin_fma(r * r, rd_exp_tail_f64(r), rest)), magic);
    return n < -1100.0 ? 0 : y;
}

#endif

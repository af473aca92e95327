/* math_log.h - log, log2 and log1p.
 *
 * x = 2^n m with m in [sqrt(1/2), sqrt(2)), f = m - 1, exactly; log(x) = n ln 2 + log(1 + f).  n ln
 * 2 + f is summed with its error (Dekker 1971; n ln 2 is 0 or the larger), so the rounding of f
 * itself costs nothing. */
#ifndef RD_KERNELS_MATH_MATH_LOG_H
#define RD_KERNELS_MATH_MATH_LOG_H

#include "kernels/math/math_bits.h"

/* ln 2 with zeros at the end, so that n ln 2 is exact; the rest. */
#define RD_LN2_TOP_F32  0x1.62e4p-1F
#define RD_LN2_REST_F32 0x1.7f7d1cp-20F
#define RD_LN2_TOP_F64  0x1.62e42fefa38p-1
#define RD_LN2_REST_F64 0x1.ef35793c7673p-45

#define RD_LOG2E_HI_F32 0x1.715476p0F
#define RD_LOG2E_LO_F32 0x1.4ae0cp-26F
#define RD_LOG2E_HI_F64 0x1.71547652b82fep0
#define RD_LOG2E_LO_F64 0x1.777d0ffda0d24p-56

/* Splits x = 2^n m, for x > 0 and finite, with m in [sqrt(1/2), sqrt(2)), which is returned.
 * Subnormals are scaled first.  The bits of 1 minus those of sqrt(1/2) are added, so that the
 * exponent field changes at sqrt(1/2) instead of 1. */
RD_INLINE float rd_split_f32(float x, float *n)
{
    const float    scale = x < 0x1p-126F ? 0x1p23F : 1; /* makes subnormals normal */
    const uint32_t bits  = rd_bits_f32(x * scale) + (0x3f800000 - 0x3f3504f3);

    *n = (float)((int32_t)(bits >> 23) - (int32_t)(rd_bits_f32(scale) >> 23));
    return rd_float_of((bits & 0x7fffff) + 0x3f3504f3);
}

/* Splits x = 2^n m, for x > 0 and finite, with m in [sqrt(1/2), sqrt(2)), which is returned.  It
 * works as rd_split_f32(); the exponent becomes a double without a conversion of i64, which few
 * vectors have. */
RD_INLINE double rd_split_f64(double x, double *n)
{
    const double   scale = x < 0x1p-1022 ? 0x1p52 : 1;
    const uint64_t bits  = rd_bits_f64(x * scale) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);

    /* The difference of the exponents becomes the low end of a double of 1.5 * 2^52. */
    *n =
        rd_double_of((bits >> 52) - (rd_bits_f64(scale) >> 52) + 0x4338000000000000) - RD_MAGIC_F64;
    return rd_double_of((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
}

/* Returns y, or the logarithm of a special x: infinity and NaN stay, 0 gives -infinity, and a
 * negative x NaN. */
RD_INLINE float rd_log_specials_f32(float x, float y)
{
    y = x < INFINITY ? y : x;
    y = x < 0 ? NAN : y;
    return x == 0 ? -INFINITY : y;
}

/* Returns y, or the logarithm of a special x: infinity and NaN stay, 0 gives -infinity, and a
 * negative x NaN. */
RD_INLINE double rd_log_specials_f64(double x, double y)
{
    y = x < (double)INFINITY ? y : x;
    y = x < 0 ? (double)NAN : y;
    return x == 0 ? (double)-INFINITY : y;
}

/* Returns log(1 + f) - f as f^2 (f p(f) - 1/2), p a minimax polynomial; the relative error of
 * log(1 + f) is 2^-27.2. */
RD_INLINE float rd_log_tail_f32(float f)
{
    float p = -0x1.38c2f6p-4F;

    p = __builtin_fmaf(p, f, 0x1.0564dcp-3F);
    p = __builtin_fmaf(p, f, -0x1.0d8732p-3F);
    p = __builtin_fmaf(p, f, 0x1.22d8fap-3F);
    p = __builtin_fmaf(p, f, -0x1.5471f8p-3F);
    p = __builtin_fmaf(p, f, 0x1.99a012p-3F);
    p = __builtin_fmaf(p, f, -0x1.000228p-2F);
    p = __builtin_fmaf(p, f, 0x1.555554p-2F);
    return f * f * __builtin_fmaf(p, f, -0.5F);
}

/* Returns log(1 + f) - f by log(1 + f) = 2 atanh(s), s = f / (2 + f); the series in z = s^2 is
 * short.  With h = f^2 / 2, log(1 + f) = f - (h - s (h + z R(z))), as in fdlibm.  The error of
 * log(1 + f) is 2^-57.8. */
RD_INLINE double rd_log_tail_f64(double f)
{
    const double s = f / (2 + f), z = s * s, h = 0.5 * f * f;
    double       p = 0x1.2f08ae906620ep-3;

    p = __builtin_fma(p, z, 0x1.39a16b0b66d1ap-3);
    p = __builtin_fma(p, z, 0x1.746641d56925dp-3);
    p = __builtin_fma(p, z, 0x1.c71c51fbefddep-3);
    p = __builtin_fma(p, z, 0x1.2492494200914p-2);
    p = __builtin_fma(p, z, 0x1.999999997fcb6p-2);
    p = __builtin_fma(p, z, 0x1.5555555555593p-1);
    return __builtin_fma(s, __builtin_fma(p, z, h), -h);
}

/* Returns log(x) = n ln 2 + f + (log(1 + f) - f) for x = 2^n (1 + f), the first two summed with
 * their error. */
RD_INLINE float rd_log_f32(float x)
{
    float       n;
    const float f = rd_split_f32(x, &n) - 1, a = n * RD_LN2_TOP_F32, sum = a + f;
    const float rest = f - (sum - a) + __builtin_fmaf(n, RD_LN2_REST_F32, rd_log_tail_f32(f));

    return rd_log_specials_f32(x, sum + rest);
}

/* Returns log(x) = n ln 2 + f + (log(1 + f) - f) for x = 2^n (1 + f), the first two summed with
 * their error. */
RD_INLINE double rd_log_f64(double x)
{
    double       n;
    const double f = rd_split_f64(x, &n) - 1, a = n * RD_LN2_TOP_F64, sum = a + f;
    const double rest = f - (sum - a) + __builtin_fma(n, RD_LN2_REST_F64, rd_log_tail_f64(f));

    return rd_log_specials_f64(x, sum + rest);
}

/* Returns (log2(1 + f) - f log2(e)) / f^2 by a polynomial. f32 has one of its own, with error
 * 2^-28.9: log2(sqrt(2)) is just below 1/2, where results have half the ulp. */
RD_INLINE float rd_log2_tail_f32(float f)
{
    float p = 0x1.8d784p-4F;

    p = __builtin_fmaf(p, f, -0x1.590a56p-3F);
    p = __builtin_fmaf(p, f, 0x1.5fa54p-3F);
    p = __builtin_fmaf(p, f, -0x1.6e95acp-3F);
    p = __builtin_fmaf(p, f, 0x1.a4140ep-3F);
    p = __builtin_fmaf(p, f, -0x1.ec786cp-3F);
    p = __builtin_fmaf(p, f, 0x1.277f2ep-2F);
    p = __builtin_fmaf(p, f, -0x1.71549p-2F);
    p = __builtin_fmaf(p, f, 0x1.ec7088p-2F);
    return __builtin_fmaf(p, f, -0x1.715476p-1F);
}

/* Returns log2(x) = n + f log2(e) + the rest, for x = 2^n (1 + f), the first two summed with
 * their errors, so that powers of 2 come out exactly. */
RD_INLINE float rd_log2_f32(float x)
{
    float       n;
    const float f = rd_split_f32(x, &n) - 1, a = f * RD_LOG2E_HI_F32, sum = n + a;
    const float a_lo = __builtin_fmaf(f, RD_LOG2E_LO_F32, __builtin_fmaf(f, RD_LOG2E_HI_F32, -a));
    const float rest = __builtin_fmaf(f * f, rd_log2_tail_f32(f), a_lo);

    return rd_log_specials_f32(x, sum + (a - (sum - n) + rest));
}

/* Returns log2(x) = n + f log2(e) + the rest, for x = 2^n (1 + f), the first two summed with
 * their errors, so that powers of 2 come out exactly.  The error of h = f^2 / 2 is taken along. */
RD_INLINE double rd_log2_f64(double x)
{
    double       n;
    const double f = rd_split_f64(x, &n) - 1, a = f * RD_LOG2E_HI_F64, sum = n + a;
    const double a_lo = __builtin_fma(f, RD_LOG2E_LO_F64, __builtin_fma(f, RD_LOG2E_HI_F64, -a));
    const double h = 0.5 * f * f, h_lo = __builtin_fma(0.5 * f, f, -h);
    const double rest = __builtin_fma(rd_log_tail_f64(f), RD_LOG2E_HI_F64,
                                      __builtin_fma(h_lo, -RD_LOG2E_HI_F64, a_lo));

    return rd_log_specials_f64(x, sum + (a - (sum - n) + rest));
}

/* Returns log(1 + x) = log(u) + lo / u, with u = 1 + x rounded and lo its error.  For u = 2^n m,
 * lo / u is c / m with c = lo / 2^n, and 1 / m is about 1 - f + f^2.  If n = 0, f is x itself.
 * From 2^100 on lo does not count, and 2^-n may not exist. */
RD_INLINE float rd_log1p_f32(float x)
{
    float       n;
    const float u = 1 + x, less = u - 1, lo = 1 - (u - less) + (x - less), m = rd_split_f32(u, &n);
    const float scale =
        u < 0x1p100F ? rd_float_of((0x4b400000 + 127 - rd_bits_f32(n + RD_MAGIC_F32)) << 23) : 0;
    const float f = n == 0 ? x : m - 1, c = n == 0 ? 0 : lo * scale;
    const float a = n * RD_LN2_TOP_F32, sum = a + f, near = __builtin_fmaf(f, f, 1 - f);
    const float tail = __builtin_fmaf(c, near, rd_log_tail_f32(f));
    const float rest = f - (sum - a) + __builtin_fmaf(n, RD_LN2_REST_F32, tail);
    const float y    = rd_log_specials_f32(u, sum + rest);

    return x == 0 ? x : y; /* -0 */
}

/* Returns log(1 + x) = log(u) + lo / u, with u = 1 + x rounded and lo its error.  For u = 2^n m,
 * lo / u is c / m with c = lo / 2^n, and 1 / m is about 1 - f + f^2.  If n = 0, f is x itself.
 * From 2^100 on lo does not count, and 2^-n may not exist. */
RD_INLINE double rd_log1p_f64(double x)
{
    double       n;
    const double u = 1 + x, less = u - 1, lo = 1 - (u - less) + (x - less), m = rd_split_f64(u, &n);
    const double scale =
        u < 0x1p100
            ? rd_double_of((0x4338000000000000 + 1023 - rd_bits_f64(n + RD_MAGIC_F64)) << 52)
            : 0;
    const double f = n == 0 ? x : m - 1, c = n == 0 ? 0 : lo * scale;
    const double a = n * RD_LN2_TOP_F64, sum = a + f, near = __builtin_fma(f, f, 1 - f);
    const double tail = __builtin_fma(c, near, rd_log_tail_f64(f));
    const double rest = f - (sum - a) + __builtin_fma(n, RD_LN2_REST_F64, tail);
    const double y    = rd_log_specials_f64(u, sum + rest);

    return x == 0 ? x : y; /* -0 */
}

#endif

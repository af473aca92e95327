/* math_pow.h - pow: 2^(y log2 |x|), with the sign and the special cases put on afterwards.
 *
 * log2 |x| = n + log2(m), log2(m) = s (C1 + z (C3 + z (C5 + z p(z)))) with s = f / (2 + f), z =
 * s^2, the series of atanh.  A result near the ends of the range has y log2 |x| near 1024, so its
 * relative error must be 2^-64 and log2 |x| is a sum of two doubles (Dekker 1971, with fma for the
 * products).  f32 does with one double throughout. */
#ifndef RD_KERNELS_MATH_MATH_POW_H
#define RD_KERNELS_MATH_MATH_POW_H

#include "kernels/math/math_exp.h"
#include "kernels/math/math_log.h"

#define RD_POW_C1    0x1.71547652b82fep1
#define RD_POW_C1_LO 0x1.777d0ffda0d24p-55
#define RD_POW_C3    0x1.ec709dc3a03fdp-1
#define RD_POW_C3_LO 0x1.d27f05548af0cp-55
#define RD_POW_C5    0x1.2776c50ef9d25p-1
#define RD_POW_C5_LO -0x1.e766d20de3816p-55

/* Returns x^y, given size = |x|^y, with the special cases of C's annex F.  An odd y gives the
 * sign of x.  A negative x with a fractional y gives NaN, and y = 0 or x = 1 gives 1. */
RD_INLINE double rd_pow_cases(double x, double y, double size)
{
    const double half = 0.5 * y;
    /* The sign of x if y is odd.  If y is a fraction: NaN for x < 0, but not for -infinity. */
    const double odd      = __builtin_rint(half) != half ? __builtin_copysign(size, x) : size;
    const double other    = x < 0 ? (double)NAN : size,
                 fraction = x == (double)-INFINITY ? size : other;
    double result         = __builtin_rint(y) == y ? odd : fraction;

    result = y == 0 ? 1 : result;
    return x == 1 ? 1 : result;
}

/* Returns what to add to log2(size) so that it is right for special numbers: infinity and NaN
 * themselves, -infinity for 0, and nothing for others. It is added, not chosen: of a choice
 * between constants gcc would compute the power of each in advance, in branches. */
RD_INLINE double rd_pow_edge(double size)
{
    return (size < (double)INFINITY ? 0 : size) - (size == 0 ? (double)INFINITY : 0);
}

/* Returns log2(m), for m in [sqrt(1/2), sqrt(2)), as the sum of the result and *lo; relative
 * error 2^-66.  Each term of the series is carried as two numbers. */
RD_INLINE double rd_log2_wide(double m, double *lo)
{
    const double f = m - 1, d = 2 + f, d_lo = f - (d - 2), inverse = 1 / d;
    const double s    = f * inverse;
    const double s_lo = __builtin_fma(s, -d_lo, __builtin_fma(s, -d, f)) * inverse;
    const double z = s * s, z_lo = __builtin_fma(s + s, s_lo, __builtin_fma(s, s, -z));
    double       p = 0x1.85ec236177ff0p-3;

    p              = __builtin_fma(p, z, 0x1.87b0713f59cf8p-3);
    p              = __builtin_fma(p, z, 0x1.c69f8f694003dp-3);
    p              = __builtin_fma(p, z, 0x1.0c9a63cdecf31p-2);
    p              = __builtin_fma(p, z, 0x1.484b1421b19e9p-2);
    p              = __builtin_fma(p, z, 0x1.a61762a75962dp-2);
    const double t = z * p, q = RD_POW_C5 + t, q_lo = RD_POW_C5 - q + t + RD_POW_C5_LO;
    const double a    = z * q,
                 a_lo = __builtin_fma(z, q_lo, __builtin_fma(z_lo, q, __builtin_fma(z, q, -a)));
    const double b = RD_POW_C3 + a, b_lo = RD_POW_C3 - b + a + (a_lo + RD_POW_C3_LO);
    const double c    = z * b,
                 c_lo = __builtin_fma(z, b_lo, __builtin_fma(z_lo, b, __builtin_fma(z, b, -c)));
    const double e = RD_POW_C1 + c, e_lo = RD_POW_C1 - e + c + (c_lo + RD_POW_C1_LO);
    const double y = s * e;

    *lo = __builtin_fma(s, e_lo, __builtin_fma(s_lo, e, __builtin_fma(s, e, -y)));
    return y;
}

/* Returns 2^(p + lo), for |lo| < 2^-40: 2^n times exp(r ln 2 + lo ln 2), where n is p rounded
 * and r the rest. Below -1100 it is 0. */
RD_INLINE double rd_exp2_wide(double p, double lo)
{
    const double magic = p + RD_MAGIC_2_F64, n = magic - RD_MAGIC_2_F64, r = p - n;
    const double top  = r * RD_LN2_HI_F64;
    const double rest = __builtin_fma(
        lo, RD_LN2_HI_F64, __builtin_fma(r, RD_LN2_LO_F64, __builtin_fma(r, RD_LN2_HI_F64, -top)));
    const double a = top + rest;
    const double y = rd_scale_f64(1 + (top + __builtin_fma(a * a, rd_expm1_tail_f64(a), rest)),
                                  rd_bits_f64(magic));

    return n < -1100 ? 0 : y;
}

/* Returns x^y: log2 |x| as two numbers, times y, then 2 to that power, and the special cases. */
RD_INLINE double rd_pow_f64(double x, double y)
{
    const double size = RD_ABS_F64(x), y_size = RD_ABS_F64(y);
    /* Beyond 2^70 all results are 0, 1 or infinity, and products stay finite. */
    const double power = __builtin_copysign(y_size > 0x1p70 ? 0x1p70 : y_size, y);
    double       n, m_lo;
    const double m_log  = rd_log2_wide(rd_split_f64(size, &n), &m_lo);
    const double finite = n + m_log, log_lo = m_log - (finite - n) + m_lo;
    const double log = finite + rd_pow_edge(size), product = power * log;
    const double product_lo = __builtin_fma(power, log_lo, __builtin_fma(power, log, -product));
    const double p = product > 1100 ? 1100 : product, lo = product > 1100 ? 0 : product_lo;

    return rd_pow_cases(x, y, rd_exp2_wide(p, lo));
}

/* Returns x^y, computed in double: log2 |x| to 2^-37.8, and 2^r to 2^-29. */
RD_INLINE float rd_pow_f32(float x, float y)
{
    const double size = RD_ABS_F64((double)x), y_size = RD_ABS_F64((double)y);
    /* infinity times 0 */
    const double   power = __builtin_copysign(y_size > 0x1p70 ? 0x1p70 : y_size, (double)y);
    const uint64_t bits  = rd_bits_f64(size) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    const double   n     = rd_double_of(bits >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
    const double   f     = rd_double_of((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    const double   s = f / (2 + f), z = s * s;
    double         p = 0x1.5ced2d2cc54b8p-2;

    p = __builtin_fma(p, z, 0x1.a58d43c8145a5p-2);
    p = __builtin_fma(p, z, 0x1.277780816fedbp-1);
    p = __builtin_fma(p, z, 0x1.ec709d11f7a2bp-1);
    p = __builtin_fma(p, z, 0x1.71547652beeb0p1);

    const double product      = power * (__builtin_fma(p, s, n) + rd_pow_edge(size)),
                 product_size = RD_ABS_F64(product);
    const double capped = __builtin_copysign(product_size > 300 ? 300 : product_size, product);
    const double magic = capped + RD_MAGIC_F64, r = capped - (magic - RD_MAGIC_F64);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3ff0000000000000);
    double       q     = 0x1.41d33c554439bp-13;

    q = __builtin_fma(q, r, 0x1.5f456c4a9dabep-10);
    q = __builtin_fma(q, r, 0x1.3b2dbbab5837dp-7);
    q = __builtin_fma(q, r, 0x1.c6aed4b43ff93p-5);
    q = __builtin_fma(q, r, 0x1.ebfbdadcf53bfp-3);
    q = __builtin_fma(q, r, 0x1.62e430c7f04a5p-1);
    q = __builtin_fma(q, r, 0x1.0000000260d64p0);
    return (float)rd_pow_cases((double)x, (double)y, q * scale);
}

#endif

/* math_base.h - exp2, exp10, log10 and cbrt: powers, logarithms and roots of other bases.
 *
 * exp2 and exp10 are the power of 2 that pow ends with, log10 is log2's sum with other constants.
 * cbrt(2^3k m) = 2^k cbrt(m): a polynomial of some bits and one step of Halley's, whose residue is
 * exact but for bits that do not count.  f32 is computed in double. */
#ifndef RD_KERNELS_MATH_MATH_BASE_H
#define RD_KERNELS_MATH_MATH_BASE_H

#include "kernels/math/math_pow.h"

/* ---- exp2 and exp10 -------------------------------------------------------------------------- */
#define RD_LOG2_10_HI 0x1.a934f0979a371p1
#define RD_LOG2_10_LO 0x1.7f2495fb7fa6dp-53

/* Returns 2^x by the power of 2 with which pow() ends. Arguments above 1100 are replaced by
 * 1100, which also gives infinity. */
RD_INLINE double rd_exp2_f64(double x)
{
    return rd_exp2_wide(x > 1100 ? 1100 : x, 0);
}

/* Returns 10^x = 2^(x log2(10)), with the product as two numbers.  Beyond +-400 the result is 0
 * or infinite, so arguments are limited. */
RD_INLINE double rd_exp10_f64(double x)
{
    const double low = x < -400 ? -400 : x, capped = low > 400 ? 400 : low;
    const double p = capped * RD_LOG2_10_HI;
    const double p_lo =
        __builtin_fma(capped, RD_LOG2_10_LO, __builtin_fma(capped, RD_LOG2_10_HI, -p));

    return rd_exp2_wide(p > 1100 ? 1100 : p, p > 1100 ? 0 : p_lo);
}

/* ---- log10 ----------------------------------------------------------------------------------- */
/* log10(2) with zeros at the end, so that n log10(2) is exact; the rest. */
#define RD_LOG10_2_TOP  0x1.34413509f78p-2
#define RD_LOG10_2_REST 0x1.fef311f12b358p-46
#define RD_LOG10E_HI    0x1.bcb7b1526e50ep-2
#define RD_LOG10E_LO    0x1.95355baaafad3p-57

/* Returns log10(x) = n log10(2) + log10(m) for x = 2^n m, summed with its error; NaN, infinity
 * or -infinity for special arguments. */
RD_INLINE double rd_log10_f64(double x)
{
    double       n;
    const double f = rd_split_f64(x, &n) - 1, a = f * RD_LOG10E_HI, whole = n * RD_LOG10_2_TOP,
                 sum  = whole + a;
    const double a_lo = __builtin_fma(f, RD_LOG10E_LO, __builtin_fma(f, RD_LOG10E_HI, -a));
    const double h = 0.5 * f * f, h_lo = __builtin_fma(0.5 * f, f, -h);
    const double tail =
        __builtin_fma(rd_log_tail_f64(f), RD_LOG10E_HI, __builtin_fma(h_lo, -RD_LOG10E_HI, a_lo));
    const double rest = a - (sum - whole) + __builtin_fma(n, RD_LOG10_2_REST, tail);

    return rd_log_specials_f64(x, sum + rest);
}

/* ---- cbrt ------------------------------------------------------------------------------------ */
/* Returns cbrt(m) for sqrt(1/2) <= m < sqrt(2), by a polynomial with error 2^-22.5. */
RD_INLINE double rd_cbrt_seed(double m)
{
    double p = -0x1.4def188318d26p-6;

    p = __builtin_fma(p, m, 0x1.3efa3a9728410p-3);
    p = __builtin_fma(p, m, -0x1.0799aec057f71p-1);
    p = __builtin_fma(p, m, 0x1.f12faf7705973p-1);
    p = __builtin_fma(p, m, -0x1.2fdf5e715eb1cp+0);
    p = __builtin_fma(p, m, 0x1.327215906efa7p+0);
    return __builtin_fma(p, m, 0x1.97eaee0b353f2p-2);
}

/* Returns the cube root of x = 2^n m: a polynomial for cbrt(m), one step of Halley's method, and
 * a power of 2. The exponent n is 3k + left; left, -1 to 1, goes to the mantissa, and k comes by
 * adding 1.5 * 2^52 to n / 3 (magic). 0, infinity and NaN are returned as they are. */
RD_INLINE double rd_cbrt_f64(double x)
{
    double       n;
    const double size = RD_ABS_F64(x), m = rd_split_f64(size, &n);
    const double magic = __builtin_fma(n, 0x1.5555555555555p-2, RD_MAGIC_F64);
    const double left  = __builtin_fma(magic - RD_MAGIC_F64, -3.0, n); /* -1, 0, 1 */
    const double less = left < 0 ? 0.5 : 1, factor = left > 0 ? 2 : less;
    const double less_root = left < 0 ? 0x1.965fea53d6e3dp-1 : 1,
                 root      = left > 0 ? 0x1.428a2f98d728bp+0 : less_root;
    const double scaled = m * factor, y = rd_cbrt_seed(m) * root, square = y * y;
    const double cube =
        __builtin_fma(__builtin_fma(y, y, -square), y, __builtin_fma(square, y, -scaled));
    const double better = y - y * (cube / __builtin_fma(2.0, cube, 3 * scaled));
    const double scale  = rd_double_of((rd_bits_f64(magic) << 52) + 0x3ff0000000000000);
    const double result = __builtin_copysign(better * scale, x);

    return size > 0 && size < (double)INFINITY ? result : x;
}

/* Returns 2^x, computed in double and rounded to float. */
RD_INLINE float rd_exp2_f32(float x)
{
    return (float)rd_exp2_f64((double)x);
}

/* Returns 10^x, computed in double and rounded to float. */
RD_INLINE float rd_exp10_f32(float x)
{
    return (float)rd_exp10_f64((double)x);
}

/* Returns log10(x), computed in double and rounded to float. */
RD_INLINE float rd_log10_f32(float x)
{
    return (float)rd_log10_f64((double)x);
}

/* Returns the cube root of x, computed in double and rounded to float. */
RD_INLINE float rd_cbrt_f32(float x)
{
    return (float)rd_cbrt_f64((double)x);
}
#endif

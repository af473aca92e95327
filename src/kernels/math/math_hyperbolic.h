/* math_hyperbolic.h - sinh, cosh and their inverses.
 *
 * sinh(n ln 2 + r) = A cosh(r) + B sinh(r), and cosh likewise, with A = sinh(n ln 2) and B =
 * cosh(n ln 2), which are exact but for the last bit: what is left of r is small, and added
 * last.
 *
 * Inverses are x + x z P(z) near 0, z = x^2, and elsewhere the logarithm of a sum that has its
 * error with it; acosh(1 + t) = 2 asinh(sqrt(t / 2)).  f32 is computed in double. */
#ifndef RD_KERNELS_MATH_MATH_HYPERBOLIC_H
#define RD_KERNELS_MATH_MATH_HYPERBOLIC_H

#include "kernels/math/math_exp.h"
#include "kernels/math/math_log.h"

/* ---- sinh and cosh --------------------------------------------------------------------------- */
/* Returns (sinh(r) - r) / r^3 of z = r^2, for |r| <= ln(2) / 2; the error of sinh(r) is 2^-61.7. */
RD_INLINE double rd_sinh_tail(double z)
{
    double p = 0x1.af5ead8cea3d8p-26;

    p = __builtin_fma(p, z, 0x1.71ddf85fd042fp-19);
    p = __builtin_fma(p, z, 0x1.a01a01afdf725p-13);
    p = __builtin_fma(p, z, 0x1.111111110f6bfp-7);
    return __builtin_fma(p, z, 0x1.5555555555559p-3);
}

/* Returns (cosh(r) - 1 - r^2 / 2) / r^4 of z = r^2, for |r| <= ln(2) / 2; the error of cosh(r)
 * is 2^-70. */
RD_INLINE double rd_cosh_tail(double z)
{
    double p = 0x1.1f8b8fc32e85dp-29;

    p = __builtin_fma(p, z, 0x1.27e4cc41f775fp-22);
    p = __builtin_fma(p, z, 0x1.a01a01ad68f9fp-16);
    p = __builtin_fma(p, z, 0x1.6c16c16c1503dp-10);
    return __builtin_fma(p, z, 0x1.5555555555558p-5);
}

/* Splits a >= 0 into n ln 2 + r and returns r.  *even is cosh(r) - 1, *odd is sinh(r) - r, *up
 * is 2^n / 4 and *down is 2^-n / 4, which does not count beyond n = 60.  From 710.5 on results
 * are infinite. */
RD_INLINE double rd_hyperbolic(double a, double *even, double *odd, double *up, double *down)
{
    const double capped = a > 710.5 ? 710.5 : a;
    const double magic  = __builtin_fma(capped, RD_LOG2E_F64, RD_MAGIC_F64),
                 n      = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, capped), rest = n * -RD_LN2_LO_F64,
                 r    = top + rest;
    const double r_lo = rest - (r - top), z = r * r;
    const double few = (n > 60.0 ? 60.0 : n) + RD_MAGIC_F64;

    *even = __builtin_fma(z * z, rd_cosh_tail(z), __builtin_fma(r, r_lo, 0.5 * z));
    *odd  = __builtin_fma(r * z, rd_sinh_tail(z), r_lo);
    *up   = rd_double_of((rd_bits_f64(magic) << 52) + 0x3fd0000000000000);
    *down = rd_double_of(0x3fd0000000000000 - (rd_bits_f64(few) << 52));
    return r;
}

/* Returns sinh(x) = A cosh(r) + B sinh(r) for |x| = n ln 2 + r, with A = sinh(n ln 2) and B =
 * cosh(n ln 2), both with their errors.  Tiny x is returned as it is, as halves of subnormals
 * would be lost. */
RD_INLINE double rd_sinh_f64(double x)
{
    const double size = RD_ABS_F64(x);
    double       even, odd, up, down;
    const double r = rd_hyperbolic(size, &even, &odd, &up, &down);
    const double a = up - down, a_lo = (up - a) - down, b = up + down, b_lo = (up - b) + down;
    const double line = b * r, line_lo = __builtin_fma(b, r, -line) + __builtin_fma(b_lo, r, a_lo);
    const double sum = a + line, error = (line - (sum - a)) + line_lo;
    const double y = 2 * (sum + (__builtin_fma(a, even, b * odd) + error));

    return __builtin_copysign(size < 0x1p-28 ? size : y, x); /* also halves of subnormals */
}

/* Returns cosh(x) = B cosh(r) + A sinh(r) for |x| = n ln 2 + r, with A = sinh(n ln 2) and B =
 * cosh(n ln 2), both with their errors (_lo). rd_hyperbolic() gives 2^n and 2^-n divided by 4 (up,
 * down), cosh(r) - 1 (even) and sinh(r) - r (odd). So a and b are half of A and B, and the sum is
 * doubled. */
RD_INLINE double rd_cosh_f64(double x)
{
    double       even, odd, up, down;
    const double r = rd_hyperbolic(RD_ABS_F64(x), &even, &odd, &up, &down);
    const double a = up - down, a_lo = (up - a) - down, b = up + down, b_lo = (up - b) + down;
    const double line = a * r, line_lo = __builtin_fma(a, r, -line) + __builtin_fma(a_lo, r, b_lo);
    const double sum = b + line, error = (line - (sum - b)) + line_lo;

    return 2 * (sum + (__builtin_fma(b, even, a * odd) + error));
}

/* ---- Inverses -------------------------------------------------------------------------------- */
/* Returns (asinh(x) - x) / x^3 of z = x^2, for |x| <= 1/2; the error of asinh(x) is 2^-60.4. */
RD_INLINE double rd_asinh_tail(double z)
{
    double p = 0x1.c2632d8e5f2e0p-10;

    p = __builtin_fma(p, z, -0x1.3722433ee2f56p-8);
    p = __builtin_fma(p, z, 0x1.e94422c3d4843p-8);
    p = __builtin_fma(p, z, -0x1.386a36ad8adf6p-7);
    p = __builtin_fma(p, z, 0x1.7941eaaae90ffp-7);
    p = __builtin_fma(p, z, -0x1.c972eab3953ecp-7);
    p = __builtin_fma(p, z, 0x1.1c4d2fa0d04b6p-6);
    p = __builtin_fma(p, z, -0x1.6e8b8ca5e3e68p-6);
    p = __builtin_fma(p, z, 0x1.f1c71ba9a8517p-6);
    p = __builtin_fma(p, z, -0x1.6db6db6ba635ep-5);
    p = __builtin_fma(p, z, 0x1.3333333330757p-4);
    return __builtin_fma(p, z, -0x1.5555555555541p-3);
}

/* Returns (atanh(x) - x) / x^3 of z = x^2, for |x| <= 1/2; the error of atanh(x) is 2^-61. */
RD_INLINE double rd_atanh_tail(double z)
{
    double p = 0x1.ec61eb807b4d1p-3;

    p = __builtin_fma(p, z, -0x1.8f39e6d314e64p-3);
    p = __builtin_fma(p, z, 0x1.6477dd3919dc1p-3);
    p = __builtin_fma(p, z, -0x1.4446a155a1ba7p-8);
    p = __builtin_fma(p, z, 0x1.e70cbdc8f84aep-5);
    p = __builtin_fma(p, z, 0x1.9e87c32b4a387p-5);
    p = __builtin_fma(p, z, 0x1.e3e97ff73ca3fp-5);
    p = __builtin_fma(p, z, 0x1.10fa8452525a4p-4);
    p = __builtin_fma(p, z, 0x1.3b15103ccd0f5p-4);
    p = __builtin_fma(p, z, 0x1.745d08c440f83p-4);
    p = __builtin_fma(p, z, 0x1.c71c722a2cb52p-4);
    p = __builtin_fma(p, z, 0x1.24924923ca235p-3);
    p = __builtin_fma(p, z, 0x1.999999999b31cp-3);
    return __builtin_fma(p, z, 0x1.555555555554cp-2);
}

/* Returns log(2^twice (u + lo)), as log1p does: u = 2^n m, and lo counts to first order.  From
 * 2^100 on it does not count, and 2^-n may not exist. */
RD_INLINE double rd_log_of_sum(double u, double lo, double twice)
{
    double       n;
    const double f = rd_split_f64(u, &n) - 1;
    const double scale =
        u < 0x1p100
            ? rd_double_of((0x4338000000000000 + 1023 - rd_bits_f64(n + RD_MAGIC_F64)) << 52)
            : 0;
    const double c = u < 0x1p100 ? lo * scale : 0, all = n + twice;
    const double a = all * RD_LN2_TOP_F64, sum = a + f, near = __builtin_fma(f, f, 1 - f);
    const double tail = __builtin_fma(c, near, rd_log_tail_f64(f));
    const double rest = f - (sum - a) + __builtin_fma(all, RD_LN2_REST_F64, tail);

    return rd_log_specials_f64(u, sum + rest);
}

/* Returns log(a + sqrt(a^2 + more)), more 1 or -1, with the errors of square, root and sum.
 * From 2^30 on that is log(2a). */
RD_INLINE double rd_log_of_root(double a, double more)
{
    const int    great  = a > 0x1p30;
    const double square = a * a, w = square + more, back = w - square;
    const double w_lo = (square - (w - back)) + (more - back) + __builtin_fma(a, a, -square);
    const double s = __builtin_sqrt(w), s_lo = (__builtin_fma(-s, s, w) + w_lo) / (s + s);
    const double u = a + s, u_lo = (a - (u - s)) + s_lo;

    return rd_log_of_sum(great ? a : u, great ? 0 : u_lo, great ? 1 : 0);
}

/* Returns asinh(x): near 0 by a polynomial, else log(|x| + sqrt(x^2 + 1)); both are computed and
 * one is selected. */
RD_INLINE double rd_asinh_f64(double x)
{
    const double a = RD_ABS_F64(x), z = a * a;
    const double near = __builtin_fma(a * z, rd_asinh_tail(z), a), far = rd_log_of_root(a, 1);

    return __builtin_copysign(a < 0.5 ? near : far, x);
}

/* Returns acosh(x): near 1 as 2 asinh(sqrt((x - 1) / 2)), with the error of the root; else log(x
 * + sqrt(x^2 - 1)). */
RD_INLINE double rd_acosh_f64(double x)
{
    const double half = (x - 1) * 0.5, r = __builtin_sqrt(half), under = r == 0 ? 1 : r + r;
    const double lost = __builtin_fma(-r, r, half) / under;
    const double near = 2 * (r + __builtin_fma(r * half, rd_asinh_tail(half), lost));

    return x < 1.5 ? near : rd_log_of_root(x, -1);
}

/* Returns atanh(x): near 0 by a polynomial, else log((1 + x) / (1 - x)) / 2 with the errors of 1
 * + x and of the quotient. */
RD_INLINE double rd_atanh_f64(double x)
{
    const double a = RD_ABS_F64(x), z = a * a, under = 1 - a, over = 1 + a,
                 over_lo = a - (over - 1), q = over / under;
    const double q_lo = (__builtin_fma(-q, under, over) + over_lo) / under;
    const double near = __builtin_fma(a * z, rd_atanh_tail(z), a),
                 far  = 0.5 * rd_log_of_sum(q, q_lo, 0);

    return __builtin_copysign(a < 0.5 ? near : far, x);
}

/* Returns sinh(x), computed in double and rounded to float. */
RD_INLINE float rd_sinh_f32(float x)
{
    return (float)rd_sinh_f64((double)x);
}

/* Returns cosh(x), computed in double and rounded to float. */
RD_INLINE float rd_cosh_f32(float x)
{
    return (float)rd_cosh_f64((double)x);
}

/* Returns asinh(x), computed in double and rounded to float. */
RD_INLINE float rd_asinh_f32(float x)
{
    return (float)rd_asinh_f64((double)x);
}

/* Returns acosh(x), computed in double and rounded to float. */
RD_INLINE float rd_acosh_f32(float x)
{
    return (float)rd_acosh_f64((double)x);
}

/* Returns atanh(x), computed in double and rounded to float. */
RD_INLINE float rd_atanh_f32(float x)
{
    return (float)rd_atanh_f64((double)x);
}
#endif

/* math_digamma.h - digamma, the derivative of lgamma, element by element: it has branches.
 *
 * From RD_GAMMA_FAR on by the derivative of Stirling's series; below by digamma(x) = digamma(x +
 * k) - 1/x - 1/(x + 1) - ... - 1/(x + k - 1); below 0 by reflection.  All of them are sums of
 * two numbers, to 2^-61, as terms cancel.  Near its positive zero digamma is a polynomial.  f32
 * is computed in double. */
#ifndef RD_KERNELS_MATH_MATH_DIGAMMA_H
#define RD_KERNELS_MATH_MATH_DIGAMMA_H

#include "kernels/math/math_gamma.h"

/* The positive zero; its error is 2^-107. */
#define RD_DIGAMMA_ZERO_HI 0x1.762d86356be3fp+0
#define RD_DIGAMMA_ZERO_LO 0x1.b86a722197829p-54

/* Returns 1 / a as the sum of two numbers: the quotient, and the correction by its residue. */
static inline rd_pair rd_pair_inverse(rd_pair a)
{
    const double q = 1 / a.hi, lost = __builtin_fma(-q, a.lo, __builtin_fma(-q, a.hi, 1));

    return rd_pair_sum(q, lost * q);
}

/* Returns digamma(x) for x within 1/16 of its positive zero, by a polynomial of t = x - zero;
 * error 2^-72.  The zero is no double, so it and t have two numbers, and so has the slope. */
static inline double rd_digamma_at_zero(double x)
{
    const rd_pair t = rd_pair_sum(x - RD_DIGAMMA_ZERO_HI, -RD_DIGAMMA_ZERO_LO);
    double        p = 0x1.44e6cd502619ep-8;

    p = __builtin_fma(p, t.hi, -0x1.daf83cc9c7ca8p-8);
    p = __builtin_fma(p, t.hi, 0x1.5954720ea22edp-7);
    p = __builtin_fma(p, t.hi, -0x1.f96e8e08cbbd9p-7);
    p = __builtin_fma(p, t.hi, 0x1.723d6878a4964p-6);
    p = __builtin_fma(p, t.hi, -0x1.0fa7ec7a3d4d7p-5);
    p = __builtin_fma(p, t.hi, 0x1.8fce02b2272bep-5);
    p = __builtin_fma(p, t.hi, -0x1.27baba2612e8dp-4);
    p = __builtin_fma(p, t.hi, 0x1.b9a5b6370f3c1p-4);
    p = __builtin_fma(p, t.hi, -0x1.4fc1317257db2p-3);
    p = __builtin_fma(p, t.hi, 0x1.08b4294d50381p-2);
    p = __builtin_fma(p, t.hi, -0x1.c563b54aa1a35p-2);

    const rd_pair slope = { 0x1.ef72bc8ee38acp-1, -0x1.3879eb97bf58dp-55 };
    const rd_pair line  = rd_pair_times(t, slope);

    return line.hi + __builtin_fma(t.hi * t.hi, p, line.lo);
}

/* Returns digamma(y) for y >= 13 (RD_GAMMA_FAR), as the sum of two numbers: log(y) - 1/(2y) and
 * eight terms of the asymptotic series in 1/y^2; the next one is less than 2^-65. */
static inline rd_pair rd_digamma_far(rd_pair y)
{
    const rd_pair log = rd_pair_times(rd_pair_log2(y), rd_pair_of(RD_LN2_HI_F64, RD_LN2_LO_F64));
    const rd_pair inverse = rd_pair_inverse(y);
    const double  z       = inverse.hi * inverse.hi;
    double        p       = -0x1.c5e5e5e5e5e5ep-2;

    p = __builtin_fma(p, z, 0x1.5555555555555p-4);
    p = __builtin_fma(p, z, -0x1.5995995995996p-6);
    p = __builtin_fma(p, z, 0x1.f07c1f07c1f08p-8);
    p = __builtin_fma(p, z, -0x1.1111111111111p-8);
    p = __builtin_fma(p, z, 0x1.0410410410410p-8);
    p = __builtin_fma(p, z, -0x1.1111111111111p-7);
    p = __builtin_fma(p, z, 0x1.5555555555555p-4);
    return rd_pair_add(log, rd_pair_sum(-0.5 * inverse.hi, -__builtin_fma(p, z, 0.5 * inverse.lo)));
}

/* Returns digamma(x) for x > 0, as the sum of two numbers. The recurrence digamma(x) = digamma(x
 * + 1) - 1/x leads to an argument of 13 or more, and `less` is the sum of 1/x, 1/(x + 1) .. on
 * the way. */
static inline rd_pair rd_digamma_above(rd_pair x)
{
    rd_pair y = x, less = { 0, 0 };

    for (int k = 1; y.hi < RD_GAMMA_FAR; k++) {
        less = rd_pair_add(less, rd_pair_inverse(y));
        y    = rd_pair_add(rd_pair_of(k, 0), x);
    }
    return rd_pair_add(rd_digamma_far(y), rd_pair_minus(less));
}

/* Returns 2t / (t^2 - square), which is 1 / (t - n) + 1 / (t + n) for square = n^2. */
static inline rd_pair rd_two_poles(double t, double square)
{
    const double  hi = t * t;
    const rd_pair under =
        rd_pair_add(rd_pair_of(-square, 0), rd_pair_of(hi, __builtin_fma(t, t, -hi)));

    return rd_pair_times(rd_pair_of(2 * t, 0), rd_pair_inverse(under));
}

/* Returns pi cot(pi t) for 0 < |t| <= 1/2: its five poles nearest to 0, and a polynomial for the
 * rest; error 2^-67. */
static inline rd_pair rd_pi_cot_pi(double t)
{
    const double  z     = t * t;
    const rd_pair poles = rd_pair_add(rd_pair_inverse(rd_pair_of(t, 0)),
                                      rd_pair_add(rd_two_poles(t, 1), rd_two_poles(t, 4)));
    const rd_pair line =
        rd_pair_times(rd_pair_of(t, 0), rd_pair_of(-0x1.94699894c1f4dp-1, 0x1.cf184eddbbfe9p-55));
    double p = 0x1.9688607545e96p-28;

    p = __builtin_fma(p, z, 0x1.901b402a98c5ap-25);
    p = __builtin_fma(p, z, 0x1.c9790b917a68dp-22);
    p = __builtin_fma(p, z, 0x1.052d535e5a5eep-18);
    p = __builtin_fma(p, z, 0x1.2e33a682e7f69p-15);
    p = __builtin_fma(p, z, 0x1.66d5f0c5dd70fp-12);
    p = __builtin_fma(p, z, 0x1.c261302492424p-9);
    p = __builtin_fma(p, z, 0x1.44c8ab1f6120bp-5);
    return rd_pair_add(poles, rd_pair_sum(line.hi, __builtin_fma(-t * z, p, line.lo)));
}

/* Returns digamma(x), the derivative of log(Gamma(x)): near its positive zero by a polynomial;
 * for x < 0 by reflection, digamma(-a) = digamma(1 + a) + pi cot(pi a). Whole numbers below 0
 * give NaN, 0 an infinity. */
static inline double rd_digamma_f64(double x)
{
    const double a = RD_ABS_F64(x), whole = __builtin_rint(a);

    if (x != x || x == (double)INFINITY)
        return x;
    if (a < 0x1p-60)
        return -1 / x;
    if (RD_ABS_F64(x - RD_DIGAMMA_ZERO_HI) <= 0.0625)
        return rd_digamma_at_zero(x);
    if (x > 0) {
        const rd_pair y = rd_digamma_above(rd_pair_of(x, 0));

        return y.hi + y.lo;
    }
    if (a == whole)
        return (double)NAN;
    const rd_pair y = rd_pair_add(rd_digamma_above(rd_pair_sum(1, a)), rd_pi_cot_pi(a - whole));

    return y.hi + y.lo;
}

/* Returns digamma(x), computed in double and rounded to float. */
static inline float rd_digamma_f32(float x)
{
    return (float)rd_digamma_f64((double)x);
}
#endif

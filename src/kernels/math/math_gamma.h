/* math_gamma.h - tgamma and lgamma, element by element: they have branches.
 *
 * From RD_GAMMA_FAR on by Stirling's series, its logarithm to base 2 in two numbers; below by
 * Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)), the product in two numbers, and so the
 * sum; below 0 by reflection.  Near its zeros 1 and 2 lgamma is a polynomial.  f32 is computed
 * in double. */
#ifndef RD_KERNELS_MATH_MATH_GAMMA_H
#define RD_KERNELS_MATH_MATH_GAMMA_H

#include "kernels/math/math_pow.h"
#include "kernels/math/math_trig.h"

#define RD_GAMMA_FAR 13.0
#define RD_PI_HI     0x1.921fb54442d18p+1
#define RD_PI_LO     0x1.1a62633145c07p-53

/* A number as the sum of two.  No numbers here are so large or small that parts overflow or vanish,
 * except products of subnormals, which are exact. */
typedef struct rd_pair {
    double hi, lo;
} rd_pair;

/* Returns a pair of two given numbers, which stands for their sum. */
static inline rd_pair rd_pair_of(double hi, double lo)
{
    const rd_pair pair = { hi, lo };

    return pair;
}

/* Returns a + b exactly, as the rounded sum and its error (Knuth's two-sum). */
static inline rd_pair rd_pair_sum(double a, double b)
{
    const double hi = a + b, back = hi - a;

    return rd_pair_of(hi, (a - (hi - back)) + (b - back));
}

/* Returns the sum of two pairs. */
static inline rd_pair rd_pair_add(rd_pair a, rd_pair b)
{
    const rd_pair s = rd_pair_sum(a.hi, b.hi);

    return rd_pair_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* Returns the product of two pairs; the product of the low parts is negligible. */
static inline rd_pair rd_pair_times(rd_pair a, rd_pair b)
{
    const double hi = a.hi * b.hi, lost = __builtin_fma(a.hi, b.hi, -hi);

    return rd_pair_sum(hi, lost + __builtin_fma(a.hi, b.lo, a.lo * b.hi));
}

/* Returns -a. */
static inline rd_pair rd_pair_minus(rd_pair a)
{
    return rd_pair_of(-a.hi, -a.lo);
}

/* Returns log2(x) as the sum of two numbers, for x > 0 and finite. The low part of x adds x.lo /
 * x.hi times log2(e), the first term of its series. */
static inline rd_pair rd_pair_log2(rd_pair x)
{
    double        n, lo;
    const double  m = rd_split_f64(x.hi, &n), log = rd_log2_wide(m, &lo);
    const rd_pair s = rd_pair_sum(n, log);

    return rd_pair_sum(s.hi, s.lo + lo + x.lo / x.hi * RD_LOG2E_HI_F64);
}

/* Returns the product x (x + 1) ... of all factors below 13 (RD_GAMMA_FAR), by which Gamma(x) =
 * Gamma(top) / product; *top gets the next factor. */
static inline rd_pair rd_rising(double x, rd_pair *top)
{
    rd_pair product = { 1, 0 };

    *top = rd_pair_of(x, 0);
    for (int k = 1; top->hi < RD_GAMMA_FAR; k++) {
        product = rd_pair_times(product, *top);
        *top    = rd_pair_sum(x, k);
    }
    return product;
}

/* Returns log2(Gamma(y)) for y >= 13 (RD_GAMMA_FAR) by Stirling's series: log2(sqrt(2 pi)) + (y
 * - 1/2) log2(y) - y log2(e), and eight terms in 1/y. The next term is less than 2^-65. */
static inline rd_pair rd_stirling(rd_pair y)
{
    const double  inverse = 1 / y.hi, z = inverse * inverse;
    const rd_pair less   = rd_pair_sum(y.hi, -0.5),
                  main   = rd_pair_times(rd_pair_of(less.hi, less.lo + y.lo), rd_pair_log2(y));
    const rd_pair linear = rd_pair_times(y, rd_pair_of(RD_LOG2E_HI_F64, RD_LOG2E_LO_F64));
    const rd_pair base   = { 0x1.536439a4c6efcp+0, -0x1.49e49a361efebp-54 };
    double        p      = -0x1.e4286cb0f5398p-6;

    p = __builtin_fma(p, z, 0x1.a41a41a41a41ap-8);
    p = __builtin_fma(p, z, -0x1.f6ab0d9993c7dp-10);
    p = __builtin_fma(p, z, 0x1.b951e2b18ff23p-11);
    p = __builtin_fma(p, z, -0x1.3813813813814p-11);
    p = __builtin_fma(p, z, 0x1.a01a01a01a01ap-11);
    p = __builtin_fma(p, z, -0x1.6c16c16c16c17p-9);
    p = __builtin_fma(p, z, 0x1.5555555555555p-4) * inverse * RD_LOG2E_HI_F64;
    return rd_pair_add(rd_pair_add(main, rd_pair_minus(linear)), rd_pair_sum(base.hi, base.lo + p));
}

/* Returns |sin(pi a)| for a >= 0 that is not a whole number; *odd is set if the sine is
 * negative. r is the distance to the nearest whole number.  Above 1/4 the sine is computed as
 * cos(pi (1/2 - r)). */
static inline rd_pair rd_sin_of_pi(double a, int *odd)
{
    const double whole = __builtin_rint(a), left = a - whole, r = left < 0 ? -left : left;
    const double near = r > 0.25 ? 0.5 - r : r, half = 0.5 * whole;
    const double angle = near * RD_PI_HI;
    const double lo    = __builtin_fma(near, RD_PI_LO, __builtin_fma(near, RD_PI_HI, -angle));
    double       head  = angle;
    const double tail  = r > 0.25 ? rd_cos_tail_f64(angle, lo, &head) : rd_sin_tail_f64(angle, lo);

    *odd = (__builtin_rint(half) != half) != (left < 0);
    return rd_pair_sum(head, tail);
}

/* ---- tgamma ---------------------------------------------------------------------------------- */
/* Returns 2^(log - n) for the whole number n nearest to log; *sum gets the bits of n for
 * rd_scale_f64(). */
static inline rd_pair rd_power_of_2(rd_pair log, uint64_t *sum)
{
    const double  magic = log.hi + RD_MAGIC_2_F64, r = log.hi - (magic - RD_MAGIC_2_F64);
    const rd_pair a =
        rd_pair_times(rd_pair_of(r, log.lo), rd_pair_of(RD_LN2_HI_F64, RD_LN2_LO_F64));
    const rd_pair one = rd_pair_sum(1, a.hi);

    *sum = rd_bits_f64(magic);
    return rd_pair_sum(one.hi, one.lo + __builtin_fma(a.hi * a.hi, rd_expm1_tail_f64(a.hi),
                                                      __builtin_fma(a.hi, a.lo, a.lo)));
}

/* Returns over / under, rounded nearly as if the quotient were exact. */
static inline double rd_pair_over(rd_pair over, rd_pair under)
{
    const double q    = over.hi / under.hi;
    const double lost = __builtin_fma(-q, under.hi, over.hi) + __builtin_fma(-q, under.lo, over.lo);

    return q + lost / under.hi;
}

/* Returns Gamma(x) for x > 0: Stirling's series at a larger argument, divided by the rising
 * product that leads there. */
static inline double rd_gamma_above(double x)
{
    rd_pair       y;
    uint64_t      sum;
    const rd_pair product = rd_rising(x, &y), power = rd_power_of_2(rd_stirling(y), &sum);

    return rd_scale_f64(rd_pair_over(power, product), sum);
}

/* Returns pi / (a sin(pi a) Gamma(a)), which is Gamma(-a) but for the sign.  The power of 2 in
 * Gamma(a) = 2^n power / product is put on last, as Gamma(a) may overflow before the result
 * vanishes. */
static inline double rd_gamma_below(double a, rd_pair sine)
{
    rd_pair        y;
    uint64_t       sum;
    const rd_pair  product = rd_rising(a, &y), power = rd_power_of_2(rd_stirling(y), &sum);
    const rd_pair  under   = rd_pair_times(rd_pair_times(rd_pair_of(a, 0), sine), power);
    const rd_pair  over    = rd_pair_times(rd_pair_of(RD_PI_HI, RD_PI_LO), product);
    const uint64_t inverse = 2 * rd_bits_f64(RD_MAGIC_2_F64) - sum;

    return rd_scale_f64(rd_pair_over(over, under), inverse);
}

/* Returns Gamma(x): by Stirling's series above 0, by reflection below.  From 172 on it is
 * infinite, below -190 it is 0, and whole numbers below 0 give NaN. */
static inline double rd_tgamma_f64(double x)
{
    const double a = RD_ABS_F64(x);
    int          odd;

    if (x != x || x == (double)INFINITY)
        return x;
    if (a < 0x1p-60)
        return 1 / x;
    if (x > 0)
        return x > 172 ? (double)INFINITY : rd_gamma_above(x);
    if (a == __builtin_rint(a))
        return (double)NAN;
    const rd_pair sine = rd_sin_of_pi(a, &odd);
    const double  y    = a > 190 ? 0 : rd_gamma_below(a, sine);

    return odd ? y : -y;
}

/* ---- lgamma ---------------------------------------------------------------------------------- */
/* Returns t (slope + rest), with the error of t * slope. */
static inline double rd_line(double t, double slope, double rest)
{
    const double line = t * slope, lost = __builtin_fma(t, slope, -line);

    return line + __builtin_fma(t, rest, lost);
}

/* Returns lgamma(1 + t) for |t| <= 3/16, by a polynomial; error 2^-67.  Its slope at t = 0 has
 * two numbers. */
static inline double rd_lgamma_at_1(double t)
{
    double p = -0x1.f286c9c7ddba6p-5;

    p = __builtin_fma(p, t, 0x1.08fbc91036344p-4);
    p = __builtin_fma(p, t, -0x1.dd5921c699685p-5);
    p = __builtin_fma(p, t, 0x1.fa96dd22c4f68p-5);
    p = __builtin_fma(p, t, -0x1.1127b4a7c4cf4p-4);
    p = __builtin_fma(p, t, 0x1.24b1ed527ca62p-4);
    p = __builtin_fma(p, t, -0x1.3b1d2f1de2de2p-4);
    p = __builtin_fma(p, t, 0x1.556a3697ebaf0p-4);
    p = __builtin_fma(p, t, -0x1.748c342eaeb12p-4);
    p = __builtin_fma(p, t, 0x1.9a01e5bd365a4p-4);
    p = __builtin_fma(p, t, -0x1.c806706c0d3b3p-4);
    p = __builtin_fma(p, t, 0x1.010b36ad36de5p-3);
    p = __builtin_fma(p, t, -0x1.2703a1dce9fc5p-3);
    p = __builtin_fma(p, t, 0x1.5b40cb100ecb5p-3);
    p = __builtin_fma(p, t, -0x1.a8b9c17aa615bp-3);
    p = __builtin_fma(p, t, 0x1.151322ac7d83ep-2);
    p = __builtin_fma(p, t, -0x1.9a4d55beab2d7p-2);
    p = __builtin_fma(p, t, 0x1.a51a6625307d3p-1);
    return rd_line(t, -0x1.2788cfc6fb619p-1, __builtin_fma(p, t, 0x1.6cb90701fbfabp-58));
}

/* Returns lgamma(2 + t) for |t| <= 3/16, by a polynomial; error 2^-64.  Its slope at t = 0 has
 * two numbers. */
static inline double rd_lgamma_at_2(double t)
{
    double p = 0x1.30b62f1943c7ep-18;

    p = __builtin_fma(p, t, -0x1.454add46d0971p-17);
    p = __builtin_fma(p, t, 0x1.57de32a42241fp-16);
    p = __builtin_fma(p, t, -0x1.78c3c2fc32301p-15);
    p = __builtin_fma(p, t, 0x1.a128170d0c6a0p-14);
    p = __builtin_fma(p, t, -0x1.d3fd75581df21p-13);
    p = __builtin_fma(p, t, 0x1.0b36af4c139acp-11);
    p = __builtin_fma(p, t, -0x1.38ac5c1bddad7p-10);
    p = __builtin_fma(p, t, 0x1.7add6eadd8aa2p-9);
    p = __builtin_fma(p, t, -0x1.e404fc219568fp-8);
    p = __builtin_fma(p, t, 0x1.51322ac7d843ep-6);
    p = __builtin_fma(p, t, -0x1.13e001a557603p-4);
    p = __builtin_fma(p, t, 0x1.4a34cc4a60fa6p-2);
    return rd_line(t, 0x1.b0ee6072093cep-2, __builtin_fma(p, t, 0x1.6cb90701fbfabp-58));
}

/* Returns log2(Gamma(x)) for x > 0, by Stirling's series at a larger argument. */
static inline rd_pair rd_log2_gamma(double x)
{
    rd_pair       y;
    const rd_pair product = rd_rising(x, &y), log = rd_stirling(y);

    return x < RD_GAMMA_FAR ? rd_pair_add(log, rd_pair_minus(rd_pair_log2(product))) : log;
}

/* Returns a natural logarithm from a logarithm to base 2, rounded to one number. */
static inline double rd_times_ln_2(rd_pair log)
{
    const rd_pair y = rd_pair_times(log, rd_pair_of(RD_LN2_HI_F64, RD_LN2_LO_F64));

    return y.hi + y.lo;
}

/* Returns lgamma(x) for huge x as x (log(x) - 1): the other terms are negligible.  It is scaled
 * by 2^-20 meanwhile, as x log2(x) overflows before x log(x) does. */
static inline double rd_lgamma_huge(double x)
{
    const rd_pair less =
        rd_pair_add(rd_pair_log2(rd_pair_of(x, 0)), rd_pair_of(-RD_LOG2E_HI_F64, -RD_LOG2E_LO_F64));

    return rd_times_ln_2(rd_pair_times(rd_pair_of(x * 0x1p-20, 0), less)) * 0x1p20;
}

/* Returns log |Gamma(x)|: by polynomials near its zeros 1 and 2, by reflection below 0.  Whole
 * numbers up to 0 give infinity. */
static inline double rd_lgamma_f64(double x)
{
    const double a = RD_ABS_F64(x);
    int          odd;

    if (x != x)
        return x;
    if (!(a < 0x1p1000)) /* a whole number below 0, or beyond the range, or nearly */
        return x > 0 && a < (double)INFINITY ? rd_lgamma_huge(x) : (double)INFINITY;
    if (x <= 0 && a == __builtin_rint(a))
        return (double)INFINITY;
    if (x > 0 && RD_ABS_F64(x - 1) <= 0.1875)
        return rd_lgamma_at_1(x - 1) + 0.0; /* of 1 and 2 it is +0 */
    if (x > 0 && RD_ABS_F64(x - 2) <= 0.1875)
        return rd_lgamma_at_2(x - 2) + 0.0;
    if (a < 0x1p-60)
        return -rd_log_f64(a);
    if (x > 0)
        return rd_times_ln_2(rd_log2_gamma(x));
    /* log(pi / (a |sin(pi a)|)) - lgamma(a) */
    const rd_pair part = rd_pair_log2(rd_pair_times(rd_pair_of(a, 0), rd_sin_of_pi(a, &odd)));
    const rd_pair pi   = rd_pair_log2(rd_pair_of(RD_PI_HI, RD_PI_LO));
    const rd_pair both = rd_pair_add(part, rd_log2_gamma(a));

    return rd_times_ln_2(rd_pair_add(pi, rd_pair_minus(both)));
}

/* Returns Gamma(x), computed in double and rounded to float. */
static inline float rd_tgamma_f32(float x)
{
    return (float)rd_tgamma_f64((double)x);
}

/* Returns log |Gamma(x)|, computed in double and rounded to float. */
static inline float rd_lgamma_f32(float x)
{
    return (float)rd_lgamma_f64((double)x);
}
#endif

/* math_erfc.h - erfc, gelu, ndtr and erfinv.
 *
 * For t >= 0 erfc(t) = exp(-t^2) E(t), and (1 + 2 t) E(t) is a polynomial of (t - k) / (t + k)
 * all the way to where erfc vanishes (M. M. Shepherd and J. G. Laframboise, "Chebyshev
 * approximation of (1 + 2 x) exp(x^2) erfc x in 0 <= x < infinity", 1981).  Squares have their
 * error with them.  erfinv is a polynomial of 20 bits and one step of the inverse function's
 * series from there.  f32 is computed in double, erfc and gelu by shorter polynomials. */
#ifndef RD_KERNELS_MATH_MATH_ERFC_H
#define RD_KERNELS_MATH_MATH_ERFC_H

#include "kernels/math/math_erf.h"
#include "kernels/math/math_log.h"

#define RD_ERFC_K      3.75
#define RD_ERFC_WIDE_K 0x1.f0ap+1 /* of f64 */
#define RD_ERFC_WIDE_0 0x1.3c31447fb193p+0

/* Returns E(t) = erfc(t) exp(t^2) for 0 <= t <= 28.5, as the sum of the result and *lo; error
 * 2^-57.  (1 + 2t) E(t) is a polynomial of s; RD_ERFC_WIDE_0 is its value at RD_ERFC_WIDE_K,
 * where s is 0, to 2^-62. */
RD_INLINE double rd_erfc_scaled(double t, double *lo)
{
    const double twice = t + t, under = 1 + twice, back = under - twice,
                 under_lo = (1 - back) + (twice - (under - back));
    const double s        = (t - RD_ERFC_WIDE_K) / (t + RD_ERFC_WIDE_K);
    double       p        = 0x1.49c8bce376ebap-32;

    p                 = __builtin_fma(p, s, -0x1.6706a61a9bad0p-29);
    p                 = __builtin_fma(p, s, -0x1.883061608109fp-27);
    p                 = __builtin_fma(p, s, 0x1.428926d0e83f9p-26);
    p                 = __builtin_fma(p, s, 0x1.9a006f40bd30bp-24);
    p                 = __builtin_fma(p, s, -0x1.3ed5d7da740b1p-23);
    p                 = __builtin_fma(p, s, -0x1.38d6fa6e86d41p-21);
    p                 = __builtin_fma(p, s, 0x1.87ac27f945029p-20);
    p                 = __builtin_fma(p, s, 0x1.643d38c68985bp-19);
    p                 = __builtin_fma(p, s, -0x1.ddf5ad1243e09p-17);
    p                 = __builtin_fma(p, s, 0x1.5d3fa572ac389p-19);
    p                 = __builtin_fma(p, s, 0x1.ce8d93ceed2bcp-14);
    p                 = __builtin_fma(p, s, -0x1.2f94e3eabdf37p-12);
    p                 = __builtin_fma(p, s, -0x1.31fae6c05897dp-13);
    p                 = __builtin_fma(p, s, 0x1.b2f41c8678833p-9);
    p                 = __builtin_fma(p, s, -0x1.aaab8c2324292p-7);
    p                 = __builtin_fma(p, s, 0x1.0e98b8bc5de70p-5);
    p                 = __builtin_fma(p, s, -0x1.01cff40904712p-4);
    p                 = __builtin_fma(p, s, 0x1.7e6eb889a946fp-4);
    p                 = __builtin_fma(p, s, -0x1.adb2a03bdc38bp-4);
    p                 = __builtin_fma(p, s, 0x1.323d1f5f105b6p-4);
    p                 = __builtin_fma(p, s, 0x1.47125c0d6749dp-7);
    p                 = __builtin_fma(p, s, -0x1.1ebccaacfcb37p-3);
    const double more = p * s, over = RD_ERFC_WIDE_0 + more,
                 over_lo = (RD_ERFC_WIDE_0 - over) + more;
    const double q       = over / under;

    *lo = (__builtin_fma(-q, under, over) + __builtin_fma(-q, under_lo, over_lo)) / under;
    return q;
}

/* Returns (y + y_lo) exp(-(square + lo)), for square up to 800. The exponential is 2^n exp(r)
 * with |r| <= ln(2) / 2, and exp(r) - 1 is a polynomial, so that the errors of both add little
 * to one rounding. */
RD_INLINE double rd_times_exp_of_minus(double y, double y_lo, double square, double lo)
{
    const double magic = __builtin_fma(square, -RD_LOG2E_F64, RD_MAGIC_2_F64),
                 n     = magic - RD_MAGIC_2_F64;
    const double top   = __builtin_fma(n, -RD_LN2_HI_F64, -square);
    const double r     = top + __builtin_fma(n, -RD_LN2_LO_F64, -lo);
    const double rest  = __builtin_fma(r * r, rd_expm1_tail_f64(r), r);

    return rd_scale_f64(y + __builtin_fma(y, rest, __builtin_fma(y_lo, rest, y_lo)),
                        rd_bits_f64(magic));
}

/* ---- erfc ------------------------------------------------------------------------------------ */
/* Returns erfc(t) for t in [0, 28]; *scaled gets E(t) = erfc(t) exp(t^2). */
RD_INLINE double rd_erfc_tail(double t, double *scaled)
{
    double       lo;
    const double square = t * t;

    *scaled = rd_erfc_scaled(t, &lo);
    return rd_times_exp_of_minus(*scaled, lo, square, __builtin_fma(t, t, -square));
}

/* Returns erfc(x) = 1 - erf(x): near 0 by erf's polynomial, with the error of 1 - x; else by its
 * scaled form, 2 - erfc(-x) below 0.  Both are computed and one is selected. */
RD_INLINE double rd_erfc_f64(double x)
{
    const double size = RD_ABS_F64(x), t = size > 28.0 ? 28.0 : size; /* beyond it is 0 */
    double       scaled;
    const double tail = rd_erfc_tail(t, &scaled), far = x < 0 ? 2 - tail : tail;
    const double most = 1 - x, lo = (1 - most) - x;
    const double near = most + __builtin_fma(-x, rd_erf_near_f64(x * x), lo);

    return size < 0.75 ? near : far;
}

/* ---- gelu ------------------------------------------------------------------------------------ */
#define RD_ROOT_HALF    0x1.6a09e667f3bcdp-1
#define RD_ROOT_HALF_LO -0x1.bdd3413b26456p-55

/* Returns x Phi(x), where Phi is the distribution function of the normal distribution: 1 -
 * erfc(x / sqrt(2)) / 2.  Near 0 it uses erf's polynomial.  The errors of x / sqrt(2) and of the
 * square are carried along. */
RD_INLINE double rd_gelu_f64(double x)
{
    const double size = RD_ABS_F64(x), a = size > 40.0 ? 40.0 : size, half = 0.5 * a;
    const double square = a * a, lo = __builtin_fma(a, a, -square), t = a * RD_ROOT_HALF;
    const double t_lo = __builtin_fma(a, RD_ROOT_HALF_LO, __builtin_fma(a, RD_ROOT_HALF, -t));
    double       e_lo;
    const double e      = rd_erfc_scaled(t, &e_lo),
                 slope  = __builtin_fma(t + t, e, -0x1.20dd750429b6dp+0);
    const double scaled = 0.5 * e, y = x < 0 ? -a * scaled : scaled;
    const double y_lo = 0.5 * __builtin_fma(slope, t_lo, e_lo),
                 lost = __builtin_fma(-a, scaled, -y);
    const double tail = rd_times_exp_of_minus(y, x < 0 ? __builtin_fma(-a, y_lo, lost) : y_lo,
                                              0.5 * square, 0.5 * lo);
    const double far  = x < 0 ? tail : x * (1 - tail);
    const double part = __builtin_fma(t, rd_erf_near_f64(t * t), t); /* erf(t) */
    const double near = 0.5 * x * (1 + __builtin_copysign(part, x));

    return half < 0.25 ? near : far;
}

/* ---- ndtr ------------------------------------------------------------------------------------ */
/* Returns Phi(x), the distribution function of the normal distribution.  Near 0 it is 1/2 + h +
 * h P(t^2), h = t / 2, the first sum with its error; elsewhere erfc(x / sqrt(2)) / 2. */
RD_INLINE double rd_ndtr_f64(double x)
{
    const double size = RD_ABS_F64(x), a = size > 40.0 ? 40.0 : size;
    const double square = a * a, lo = __builtin_fma(a, a, -square), t = a * RD_ROOT_HALF;
    const double t_lo = __builtin_fma(a, RD_ROOT_HALF_LO, __builtin_fma(a, RD_ROOT_HALF, -t));
    double       e_lo;
    const double e     = rd_erfc_scaled(t, &e_lo),
                 slope = __builtin_fma(t + t, e, -0x1.20dd750429b6dp+0);
    const double tail  = rd_times_exp_of_minus(0.5 * e, 0.5 * __builtin_fma(slope, t_lo, e_lo),
                                               0.5 * square, 0.5 * lo);
    const double far   = x < 0 ? tail : 1 - tail;
    const double h = __builtin_copysign(0.5 * t, x), h_lo = x < 0 ? -0.5 * t_lo : 0.5 * t_lo;
    const double most = 0.5 + h, rest = (0.5 - most) + h;
    const double near = most + (rest + __builtin_fma(h, rd_erf_near_f64(t * t), h_lo));

    return t < 0.75 ? near : far;
}

/* ---- erfinv ---------------------------------------------------------------------------------- */
/* Returns erfinv(x) / x of z = x^2, for |x| <= 0.711, to 26 bits: the start of one correcting
 * step. */
RD_INLINE double rd_erfinv_near(double z)
{
    double p = 0x1.b6b136af5e81bp-2;

    p = __builtin_fma(p, z, -0x1.0cde783ad62eap-1);
    p = __builtin_fma(p, z, 0x1.975f1dfbe61dcp-2);
    p = __builtin_fma(p, z, -0x1.1e8d0e0b62224p-4);
    p = __builtin_fma(p, z, 0x1.6adf50601c3c4p-4);
    p = __builtin_fma(p, z, 0x1.582d06c7bb77dp-4);
    p = __builtin_fma(p, z, 0x1.05821c864ff55p-3);
    p = __builtin_fma(p, z, 0x1.db2891e867460p-3);
    return __builtin_fma(p, z, 0x1.c5bf8967bccdbp-1);
}

/* Returns erfinv(x) of s = sqrt(-log(1 - x^2)), for |x| beyond 0.711, to 20 bits: the start of
 * one correcting step. */
RD_INLINE double rd_erfinv_far(double s)
{
    double p = -0x1.94e2a551767eep-25;

    p = __builtin_fma(p, s, 0x1.f627daae77123p-20);
    p = __builtin_fma(p, s, -0x1.10158cbf51e1fp-15);
    p = __builtin_fma(p, s, 0x1.50874c01327d8p-12);
    p = __builtin_fma(p, s, -0x1.03a44c3c60d55p-9);
    p = __builtin_fma(p, s, 0x1.fe73df96e9813p-8);
    p = __builtin_fma(p, s, -0x1.358fba203d2f0p-6);
    p = __builtin_fma(p, s, 0x1.9c86ad29de0dbp-6);
    p = __builtin_fma(p, s, -0x1.9b2aaaebf8745p-7);
    p = __builtin_fma(p, s, -0x1.9f4fceca36104p-9);
    p = __builtin_fma(p, s, 0x1.9fd96b8b4d0f1p-6);
    p = __builtin_fma(p, s, 0x1.bde45c446249ap-1);
    return __builtin_fma(p, s, 0x1.bda725adc5780p-9);
}

/* Returns what to add to y, an approximation of erfinv(x), by the first three terms of the
 * inverse function's series.  The error of erf(y), or of erfc(y), over the slope of erf at y is
 * `step`. */
RD_INLINE double rd_erfinv_step(double y, double step)
{
    const double third = __builtin_fma(4 * y, y, 1) * 0x1.5555555555555p-2;

    return __builtin_fma(step * step, __builtin_fma(third, step, y), step);
}

/* Returns the inverse of erf: a polynomial and one correcting step.  Near 0 erf(y) - x is (y -
 * x) + y P(y^2), which cancels exactly.  Far from it 1 - x and erfc(y) are compared, relative to
 * erfc(y). 1 gives infinity. */
RD_INLINE double rd_erfinv_f64(double x)
{
    const double a = RD_ABS_F64(x), y = a * rd_erfinv_near(a * a), square = y * y;
    const double off       = -__builtin_fma(y, rd_erf_near_f64(square), y - a);
    const double near_step = off * 0x1.c5bf891b4ef6ap-1 * rd_times_exp_of_minus(1, 0, -square, 0);
    const double near      = y + rd_erfinv_step(y, near_step);
    double       scaled;
    const double left = 1 - a, root = __builtin_sqrt(-rd_log_f64(left * (1 + a)));
    const double z = rd_erfinv_far(root), tail = rd_erfc_tail(z, &scaled);
    const double far_step = (1 - left / tail) * scaled * 0x1.c5bf891b4ef6ap-1;
    const double far      = z + rd_erfinv_step(z, far_step);
    const double inner    = a < 0.6875 ? near : far;
    const double edge     = a == 1 ? (double)INFINITY : inner;

    return __builtin_copysign(edge, x);
}

/* ---- f32 ------------------------------------------------------------------------------------- */
/* Returns erfc(t) / 2 for 0 <= t <= 10.5, square = t^2, for results in f32: errors 2^-32.8 of
 * E(t) and 2^-32.4 of exp.  One division serves both fractions. */
RD_INLINE double rd_half_erfc(double t, double square)
{
    const double twice = t + t, under = 1 + twice, sum = t + RD_ERFC_K;
    const double both = 0.5 / (under * sum), s = (t - RD_ERFC_K) * (both + both) * under;
    double       p = -0x1.1d83efe2c8b47p-14;

    p                  = __builtin_fma(p, s, -0x1.badb8b87edfbdp-12);
    p                  = __builtin_fma(p, s, 0x1.3048671e8733cp-12);
    p                  = __builtin_fma(p, s, 0x1.dfbd162cc10c4p-10);
    p                  = __builtin_fma(p, s, -0x1.3e6dc97ab3699p-7);
    p                  = __builtin_fma(p, s, 0x1.d0779035ac297p-6);
    p                  = __builtin_fma(p, s, -0x1.e0e1e52978099p-5);
    p                  = __builtin_fma(p, s, 0x1.7a15084793366p-4);
    p                  = __builtin_fma(p, s, -0x1.bda8568b4ec3bp-4);
    p                  = __builtin_fma(p, s, 0x1.5101656c40102p-4);
    p                  = __builtin_fma(p, s, 0x1.d5f1a19a30160p-9);
    p                  = __builtin_fma(p, s, -0x1.1f367682d2b1cp-3);
    p                  = __builtin_fma(p, s, 0x1.3ccda0b683e64p+0);
    const double magic = __builtin_fma(square, -RD_LOG2E_F64, RD_MAGIC_2_F64),
                 n     = magic - RD_MAGIC_2_F64;
    const double r     = __builtin_fma(n, -RD_LN2_HI_F64, -square);
    double       e     = 0x1.a1519032e9e82p-13;

    e = __builtin_fma(e, r, 0x1.6d433b41b9d08p-10);
    e = __builtin_fma(e, r, 0x1.1110c627848a2p-7);
    e = __builtin_fma(e, r, 0x1.5554e8f4b7ab2p-5);
    e = __builtin_fma(e, r, 0x1.5555556757669p-3);
    e = __builtin_fma(e, r, 0x1.0000000b944b3p-1);
    e = __builtin_fma(r * r, e, r);
    p = p * sum * both;
    return rd_scale_f64(__builtin_fma(p, e, p), rd_bits_f64(magic));
}

/* Returns erfc(x), computed in double; from 10.5 on it is 0 in f32. */
RD_INLINE float rd_erfc_f32(float x)
{
    const double size = RD_ABS_F64((double)x), t = size > 10.5 ? 10.5 : size; /* beyond it is 0 */
    const double tail = 2 * rd_half_erfc(t, t * t);

    return (float)(x < 0 ? 2 - tail : tail);
}

/* Returns x Phi(x), computed in double; Phi is the distribution function of the normal
 * distribution.  Below -14.8 it is 0 in f32. */
RD_INLINE float rd_gelu_f32(float x)
{
    const double size = RD_ABS_F64((double)x), a = size > 14.8 ? 14.8 : size;
    const double tail = rd_half_erfc(a * RD_ROOT_HALF, 0.5 * (a * a));
    const double y    = x < 0 ? a * tail : size * (1 - tail);

    return __builtin_copysignf((float)y, x);
}

/* Returns Phi(x), the distribution function of the normal distribution, computed in double.
 * Beyond +-14.8 it is 0 or 1 in f32. */
RD_INLINE float rd_ndtr_f32(float x)
{
    const double size = RD_ABS_F64((double)x), a = size > 14.8 ? 14.8 : size;
    const double tail = rd_half_erfc(a * RD_ROOT_HALF, 0.5 * (a * a));

    return (float)(x < 0 ? tail : 1 - tail);
}

/* Returns the inverse of erf, computed in double and rounded to float. */
RD_INLINE float rd_erfinv_f32(float x)
{
    return (float)rd_erfinv_f64((double)x);
}
#endif

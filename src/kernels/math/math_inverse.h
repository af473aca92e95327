/* math_inverse.h - asin, acos and atan.
 *
 * Up to 1/2 asin(x) = x + x z P(z), z = x^2, and beyond it pi/2 - 2 asin(s), s = sqrt((1 - x) / 2):
 * 1 - x is exact there, and s has its error with it.  acos is that without the pi/2, or the rest of
 * it.  f32 is computed in double. */
#ifndef RD_KERNELS_MATH_MATH_INVERSE_H
#define RD_KERNELS_MATH_MATH_INVERSE_H

#include "kernels/math/math_angle.h"

#define RD_ASIN_HALF_PI    0x1.921fb54442d18p0
#define RD_ASIN_HALF_PI_LO 0x1.1a62633145c07p-54

/* Returns (asin(x) - x) / x^3 of z = x^2, for |x| <= 1/2; the error of asin(x) is 2^-59.9. */
RD_INLINE double rd_asin_tail(double z)
{
    double p = 0x1.0b4b27c2a8c3bp-5;

    p = __builtin_fma(p, z, -0x1.580c5982941c6p-6);
    p = __builtin_fma(p, z, 0x1.63a78cc6937ebp-6);
    p = __builtin_fma(p, z, 0x1.e5cebf4041f9bp-9);
    p = __builtin_fma(p, z, 0x1.613f4ac70194dp-7);
    p = __builtin_fma(p, z, 0x1.758502b84039fp-7);
    p = __builtin_fma(p, z, 0x1.ca1f9f5f2b53cp-7);
    p = __builtin_fma(p, z, 0x1.1c49ef89f09b2p-6);
    p = __builtin_fma(p, z, 0x1.6e8bdeed694b8p-6);
    p = __builtin_fma(p, z, 0x1.f1c71a94698adp-6);
    p = __builtin_fma(p, z, 0x1.6db6db72141cep-5);
    p = __builtin_fma(p, z, 0x1.333333332e103p-4);
    return __builtin_fma(p, z, 0x1.5555555555577p-3);
}

/* Returns t, and in *rest what makes t + *rest an arcsine: that of `size` itself, or with `far`
 * (size > 1/2) that of sqrt((1 - size) / 2), including the rounding error of the root. */
RD_INLINE double rd_asin_parts(double size, int far, double *rest)
{
    const double z = far ? (1 - size) * 0.5 : size * size, root = __builtin_sqrt(z);
    const double t = far ? root : size, under = root == 0 ? 1 : root + root;
    const double lost = __builtin_fma(-root, root, z) / under;

    *rest = __builtin_fma(t * z, rd_asin_tail(z), far ? lost : 0);
    return t;
}

/* Returns asin(x): up to 1/2 by a polynomial; beyond it as pi/2 - 2 asin(sqrt((1 - |x|) / 2)),
 * where 1 - |x| is exact. */
RD_INLINE double rd_asin_f64(double x)
{
    const double size = RD_ABS_F64(x);
    const int    far  = size > 0.5;
    double       rest;
    const double t = rd_asin_parts(size, far, &rest), down = RD_ASIN_HALF_PI - (t + t);
    const double error = RD_ASIN_HALF_PI - down - (t + t);
    const double steep = down + (error + (RD_ASIN_HALF_PI_LO - (rest + rest)));

    return __builtin_copysign(far ? steep : t + rest, x);
}

/* Returns acos(x) as k pi/2 plus or minus asin(t), which counts once (`much` 1) or twice.  Up to
 * 1/2 t is |x| and k is 1; beyond it t is the root and k is 0, or 2 for negative x. */
RD_INLINE double rd_acos_f64(double x)
{
    const double size = RD_ABS_F64(x);
    const int    far = size > 0.5, back = x < 0;
    double       rest;
    const double t = rd_asin_parts(size, far, &rest), much = far ? 2 : 1;
    const double sign = far == back ? -much : much;
    const double near = far ? 0 : 1, k = far && back ? 2 : near;
    const double base = k * RD_ASIN_HALF_PI, sum = base + sign * t, error = sign * t - (sum - base);

    return sum + (error + __builtin_fma(k, RD_ASIN_HALF_PI_LO, sign * rest));
}

/* atan2(x, 1), without what other x of atan2 need.  Of a constant compilers make branches there,
 * and a loop has no vectors.  Beyond the cap the angle is pi/2 all the same. */
#define RD_ATAN_CAP 0x1p100

/* Returns t and its error *lost: the angle of `size` is k pi/4 plus or minus atan(t), with |t|
 * <= tan(pi/8).  Above 1 the inverse is taken, and above tan(pi/8) the angle is turned by pi/4. */
RD_INLINE double rd_atan_parts(double size, double *k, double *sign, double *lost)
{
    const double capped = size > RD_ATAN_CAP ? RD_ATAN_CAP : size;
    const double a = size > 1 ? 1 : size, b = size > 1 ? capped : 1, less = a - b, more = a + b;
    const double edge = RD_TAN_PI_8 * b, over = a > edge ? less : a, under = a > edge ? more : b;
    const double over_lo = a > edge ? a - (less + b) : 0, under_lo = a > edge ? a - (more - b) : 0;
    const double t = over / under, second = a > edge ? 1 : 0;

    *k    = size > 1 ? 2 - second : second;
    *sign = size > 1 ? -1 : 1;
    *lost = (__builtin_fma(-t, under, over) + __builtin_fma(-t, under_lo, over_lo)) / under;
    return t;
}

/* Returns atan(x): k pi/4 plus or minus atan(t), summed with both errors. */
RD_INLINE double rd_atan_f64(double x)
{
    double       k, sign, lost;
    const double t    = rd_atan_parts(RD_ABS_F64(x), &k, &sign, &lost);
    const double tail = __builtin_fma(t, rd_atan_tail_f64(t * t), lost);
    const double base = k * RD_QUARTER_PI_1;
    const double base_lo =
        __builtin_fma(k, RD_QUARTER_PI_2, __builtin_fma(k, RD_QUARTER_PI_1, -base));
    const double whole = base + sign * t, error = sign * t - (whole - base);
    const double angle = whole + (error + (base_lo + sign * tail));

    return x != x ? x + 1 : __builtin_copysign(angle, x);
}

/* Returns asin(x), computed in double and rounded to float. */
RD_INLINE float rd_asin_f32(float x)
{
    return (float)rd_asin_f64((double)x);
}

/* Returns acos(x), computed in double and rounded to float. */
RD_INLINE float rd_acos_f32(float x)
{
    return (float)rd_acos_f64((double)x);
}

/* Returns atan(x), computed in double with a shorter polynomial, and rounded to float. */
RD_INLINE float rd_atan_f32(float x)
{
    double       k, sign, lost;
    const double t     = rd_atan_parts(RD_ABS_F64((double)x), &k, &sign, &lost);
    const double angle = __builtin_fma(t, rd_atan_tail_f32(t * t), t);

    return x != x ? x + 1
                  : __builtin_copysignf((float)__builtin_fma(k, RD_QUARTER_PI_1, sign * angle), x);
}
#endif

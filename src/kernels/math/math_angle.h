/* math_angle.h - atan2 and hypot.
 *
 * atan2: with a <= b the magnitudes, t = a/b; above tan(pi/8) it is (a - b) / (a + b), and the
 * angle is pi/4 more.  So |t| <= tan(pi/8), and the angle is k pi/4 + atan(t) or k pi/4 -
 * atan(t): k and the sign are the octant's, pi/4 is in two pieces, t has its error with it.  f32
 * is computed in double, where nothing over- or underflows.
 *
 * hypot: the root of x^2 + y^2, and one step by what that lost, its squares taken exactly by fma
 * (Borges 2019, "An improved algorithm for hypot(a, b)", arXiv 1904.09481). */
#ifndef RD_KERNELS_MATH_MATH_ANGLE_H
#define RD_KERNELS_MATH_MATH_ANGLE_H

#include "kernels/math/math_bits.h"

#define RD_QUARTER_PI_1 0x1.921fb54442d18p-1
#define RD_QUARTER_PI_2 0x1.1a62633145c07p-55
#define RD_TAN_PI_8     0x1.a827999fcef32p-2

/* Returns (atan(t) - t) / t, given z = t^2, for |t| <= tan(pi/8), by a minimax polynomial; the
 * relative error of atan(t) is 2^-35.4, enough for results in f32. */
RD_INLINE double rd_atan_tail_f32(double z)
{
    double p = 0x1.84a1dd833d1abp-5;

    p = __builtin_fma(p, z, -0x1.5b301b98f6b73p-4);
    p = __builtin_fma(p, z, 0x1.c463fb36f1bb4p-4);
    p = __builtin_fma(p, z, -0x1.247eda455313ap-3);
    p = __builtin_fma(p, z, 0x1.999918a01fb21p-3);
    p = __builtin_fma(p, z, -0x1.555554c604104p-2);
    return p * z;
}

/* Returns (atan(t) - t) / t, given z = t^2, for |t| <= tan(pi/8), by a minimax polynomial; the
 * relative error of atan(t) is 2^-58.3. */
RD_INLINE double rd_atan_tail_f64(double z)
{
    double p = 0x1.f1e51659da84cp-7;

    p = __builtin_fma(p, z, -0x1.12367ac0bf812p-5);
    p = __builtin_fma(p, z, 0x1.70ec945f0809ap-5);
    p = __builtin_fma(p, z, -0x1.ab7d4ab859ccap-5);
    p = __builtin_fma(p, z, 0x1.e171f656551e0p-5);
    p = __builtin_fma(p, z, -0x1.110c724051ad0p-4);
    p = __builtin_fma(p, z, 0x1.3b136e2366572p-4);
    p = __builtin_fma(p, z, -0x1.745d14b942278p-4);
    p = __builtin_fma(p, z, 0x1.c71c71b74740ap-4);
    p = __builtin_fma(p, z, -0x1.249249247568ap-3);
    p = __builtin_fma(p, z, 0x1.999999999964bp-3);
    p = __builtin_fma(p, z, -0x1.5555555555554p-2);
    return p * z;
}

/* Sets *a <= *b to the magnitudes of x and y, so that a / b is the tangent of an angle up to
 * pi/4. *b is neither 0 nor infinite, so that a / b is a number: (0, 0) becomes 0 / 1, two
 * infinities 1 / 1, and one infinity 0 / 1. */
RD_INLINE void rd_magnitudes(double y, double x, double *a, double *b)
{
    const double up = RD_ABS_F64(y), across = RD_ABS_F64(x);
    const double least = up > across ? across : up, most = up > across ? up : across;
    const int    infinite = most == (double)INFINITY;

    *b = most == 0 || infinite ? 1 : most;
    *a = infinite ? (least == most ? 1 : 0) : least;
}

/* Returns k of the angle k pi/4 + *sign * atan(t) of the point (x, y): k and *sign say in which
 * octant of the plane it is. `second`: the angle is beyond pi/8, and t = (a - b) / (a + b) is
 * the tangent of it less pi/4. A steep point (|y| > |x|) counts from pi/2 back, a point with
 * negative x from pi back. */
RD_INLINE double rd_octant(double y, double x, int second, double *sign)
{
    const int    steep = RD_ABS_F64(y) > RD_ABS_F64(x), back = (int)(rd_bits_f64(x) >> 63);
    const double k = second ? 1 : 0, turned = steep ? 2 - k : k;

    *sign = steep != back ? -1 : 1;
    return back ? 4 - turned : turned;
}

/* Returns the angle of the point (x, y), computed in double and rounded to float: k pi/4 plus or
 * minus atan(t), with |t| <= tan(pi/8). A NaN comes from adding the arguments. */
RD_INLINE float rd_atan2_f32(float y, float x)
{
    double a, b, sign;

    rd_magnitudes((double)y, (double)x, &a, &b);
    const int    second = a > RD_TAN_PI_8 * b;
    const double t      = (second ? a - b : a) / (second ? a + b : b);
    const double angle  = __builtin_fma(t, rd_atan_tail_f32(t * t), t);
    const double k      = rd_octant((double)y, (double)x, second, &sign);
    const double whole  = __builtin_fma(k, RD_QUARTER_PI_1, sign * angle);

    return x != x || y != y ? x + y : __builtin_copysignf((float)whole, y);
}

/* Returns the angle of the point (x, y): k pi/4 plus or minus atan(t), with |t| <= tan(pi/8).
 * Names with _lo are the errors of the sums, the quotient and k pi/4; they are added last. */
RD_INLINE double rd_atan2_f64(double y, double x)
{
    double a, b, sign;

    rd_magnitudes(y, x, &a, &b);
    /* so that neither a + b nor the error of t leaves the range */
    const double up = b < 0x1p-900 ? 0x1p200 : 1;
    a *= up;
    b *= up;
    const int    second = a > RD_TAN_PI_8 * b;
    const double down   = second && b > 0x1p1000 ? 0x1p-100 : 1;
    a *= down;
    b *= down;
    const double over = second ? a - b : a, under = second ? a + b : b;
    const double over_lo  = second ? (a - (over + b)) : 0;
    const double under_lo = second ? a - (under - b) : 0;
    const double t        = over / under;
    const double t_lo =
        (__builtin_fma(-t, under, over) + __builtin_fma(-t, under_lo, over_lo)) / under;
    const double tail = __builtin_fma(t, rd_atan_tail_f64(t * t), t_lo);
    /* k pi/4 and t, both with their errors */
    const double k = rd_octant(y, x, second, &sign), base = k * RD_QUARTER_PI_1;
    const double base_lo =
        __builtin_fma(k, RD_QUARTER_PI_2, __builtin_fma(k, RD_QUARTER_PI_1, -base));
    const double whole = base + sign * t, lost = sign * t - (whole - base);
    const double angle = whole + (lost + (base_lo + sign * tail));

    return x != x || y != y ? x + y : __builtin_copysign(angle, y);
}

/* Returns sqrt(x^2 + y^2), in double: squares of floats are exact there.  An infinite argument
 * gives infinity, even with a NaN. */
RD_INLINE float rd_hypot_f32(float x, float y)
{
    const double a = (double)x, b = (double)y;
    const float  h = (float)__builtin_sqrt(a * a + b * b);

    return RD_ABS_F32(x) == INFINITY || RD_ABS_F32(y) == INFINITY ? INFINITY : h;
}

/* Returns sqrt(x^2 + y^2).  The arguments are scaled so that no square overflows or vanishes;
 * one Newton step corrects the root by what the sum of squares has lost.  An infinite argument
 * gives infinity, even with a NaN. */
RD_INLINE double rd_hypot_f64(double x, double y)
{
    const double up = RD_ABS_F64(y), across = RD_ABS_F64(x);
    const double most  = up > across ? up : across;
    const double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-450 ? 0x1p600 : 1;
    const double back  = most > 0x1p500 ? 0x1p600 : most < 0x1p-450 ? 0x1p-600 : 1;
    const double b = most * scale, a = (up > across ? across : up) * scale;
    const double h = __builtin_sqrt(__builtin_fma(b, b, a * a)), hh = h * h, bb = b * b;
    const double lost =
        __builtin_fma(-a, a, hh - bb) + __builtin_fma(h, h, -hh) - __builtin_fma(b, b, -bb);
    const double root = (h == 0 ? h : h - lost / (2 * h)) * back;

    return up == (double)INFINITY || across == (double)INFINITY ? (double)INFINITY : root;
}
#endif

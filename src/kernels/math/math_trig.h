/* math_trig.h - sin, cos and tan.
 *
 * x = n pi/2 + r, |r| <= pi/4, with pi/2 in pieces of 53 bits (Cody and Waite; Payne and Hanek is
 * left to C's functions for |x| > 2^28: no machine needs to be fast there).  x - n P1 is exact with
 * an fma, as it is a multiple of an ulp of P1 and less than 1.  n's low bits say which of sin(r),
 * cos(r) it is; both are computed.  f32 is computed in double: no reduction in f32 would be
 * shorter. */
#ifndef RD_KERNELS_MATH_MATH_TRIG_H
#define RD_KERNELS_MATH_MATH_TRIG_H

#include "kernels/math/math_bits.h"

#define RD_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define RD_HALF_PI_1   0x1.921fb54442d18p0
#define RD_HALF_PI_2   0x1.1a62633145c07p-54
#define RD_HALF_PI_3   -0x1.f1976b7ed8fbcp-110

RD_INLINE int rd_trig_hard_f32(float x)
{
    return RD_ABS_F32(x) > 0x1p28F;
}

RD_INLINE int rd_trig_hard_f64(double x)
{
    return RD_ABS_F64(x) > 0x1p28;
}

#define rd_sin_f32_hard rd_trig_hard_f32
#define rd_cos_f32_hard rd_trig_hard_f32
#define rd_tan_f32_hard rd_trig_hard_f32
#define rd_sin_f64_hard rd_trig_hard_f64
#define rd_cos_f64_hard rd_trig_hard_f64
#define rd_tan_f64_hard rd_trig_hard_f64

/* Bit `bit` of the quadrant becomes a sign. */
RD_INLINE double rd_turn(double y, uint64_t quadrant, int bit)
{
    return rd_double_of(rd_bits_f64(y) ^ (quadrant >> bit & 1) << 63);
}

/* ---- f32 ------------------------------------------------------------------------------------- */
/* A float is no nearer to a multiple of pi/2 than 2^-30 or so: r needs no second half. */
RD_INLINE double rd_reduce_f32(float x, uint64_t *quadrant)
{
    const double magic = __builtin_fma((double)x, RD_TWO_OVER_PI, RD_MAGIC_F64),
                 n     = magic - RD_MAGIC_F64;

    *quadrant = rd_bits_f64(magic);
    return __builtin_fma(n, -RD_HALF_PI_2, __builtin_fma(n, -RD_HALF_PI_1, (double)x));
}

/* sin(r) and cos(r); errors 2^-37.5, 2^-33.0. */
RD_INLINE double rd_sin_near_f32(double r)
{
    const double z = r * r;
    double       p = 0x1.6cd1b0cba6c26p-19;

    p = __builtin_fma(p, z, -0x1.a00f7e15bfed7p-13);
    p = __builtin_fma(p, z, 0x1.111108690d22bp-7);
    p = __builtin_fma(p, z, -0x1.5555554c6ffd2p-3);
    return r * __builtin_fma(p, z, 1);
}

RD_INLINE double rd_cos_near_f32(double r)
{
    const double z = r * r;
    double       p = 0x1.99eb49ba54133p-16;

    p = __builtin_fma(p, z, -0x1.6c0c328c8a6abp-10);
    p = __builtin_fma(p, z, 0x1.55554a0f92b8fp-5);
    p = __builtin_fma(p, z, -0.5);
    return __builtin_fma(p, z, 1);
}

RD_INLINE float rd_sin_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant), s = rd_sin_near_f32(r), c = rd_cos_near_f32(r);

    return (float)rd_turn(quadrant & 1 ? c : s, quadrant, 1);
}

RD_INLINE float rd_cos_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant), s = rd_sin_near_f32(r), c = rd_cos_near_f32(r);

    return (float)rd_turn(quadrant & 1 ? s : c, quadrant + 1, 1);
}

RD_INLINE float rd_tan_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant), s = rd_sin_near_f32(r), c = rd_cos_near_f32(r);
    const double over = quadrant & 1 ? c : s, under = quadrant & 1 ? s : c;

    return (float)rd_turn(over / under, quadrant, 0);
}

/* ---- f64 ------------------------------------------------------------------------------------- */
/* r with its error: a double below 2^28 may be within 2^-60 of a multiple of pi/2. */
RD_INLINE double rd_reduce_f64(double x, uint64_t *quadrant, double *lo)
{
    const double magic = __builtin_fma(x, RD_TWO_OVER_PI, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double first = __builtin_fma(n, -RD_HALF_PI_1, x), second = n * -RD_HALF_PI_2;
    const double second_lo = __builtin_fma(n, -RD_HALF_PI_2, -second);
    const double r = first + second, back = r - first,
                 error = (first - (r - back)) + (second - back);

    *quadrant = rd_bits_f64(magic);
    *lo       = __builtin_fma(n, -RD_HALF_PI_3, error + second_lo);
    return r;
}

/* sin(r + lo) - r and cos(r + lo) - (1 - r^2/2 rounded); errors of sin and cos: 2^-56.4,
 * 2^-59.6. */
RD_INLINE double rd_sin_tail_f64(double r, double lo)
{
    const double z = r * r;
    double       p = 0x1.5d8fa457dab33p-33;

    p = __builtin_fma(p, z, -0x1.ae5e59fa1e39cp-26);
    p = __builtin_fma(p, z, 0x1.71de356718acep-19);
    p = __builtin_fma(p, z, -0x1.a01a019bfd203p-13);
    p = __builtin_fma(p, z, 0x1.111111110f7cap-7);
    p = __builtin_fma(p, z, -0x1.5555555555548p-3);
    return __builtin_fma(r * z, p, __builtin_fma(-0.5 * z, lo, lo));
}

RD_INLINE double rd_cos_tail_f64(double r, double lo, double *head)
{
    const double z = r * r;
    double       p = -0x1.8fa465f5db197p-37;

    p     = __builtin_fma(p, z, 0x1.1ee9d7529243fp-29);
    p     = __builtin_fma(p, z, -0x1.27e4f7ea377c9p-22);
    p     = __builtin_fma(p, z, 0x1.a01a019c8390ap-16);
    p     = __builtin_fma(p, z, -0x1.6c16c16c14f8ap-10);
    p     = __builtin_fma(p, z, 0x1.555555555554bp-5);
    *head = __builtin_fma(z, -0.5, 1);
    return __builtin_fma(z, -0.5, 1 - *head) + __builtin_fma(z * z, p, r * -lo);
}

RD_INLINE double rd_sin_f64(double x)
{
    uint64_t quadrant;
    double   lo, head;
    /* of |x|, as -0 would get lost */
    const double r = rd_reduce_f64(RD_ABS_F64(x), &quadrant, &lo);
    const double s = r + rd_sin_tail_f64(r, lo), c = rd_cos_tail_f64(r, lo, &head) + head;

    return rd_turn(rd_turn(quadrant & 1 ? c : s, quadrant, 1), rd_bits_f64(x), 63);
}

RD_INLINE double rd_cos_f64(double x)
{
    uint64_t     quadrant;
    double       lo, head;
    const double r = rd_reduce_f64(x, &quadrant, &lo);
    const double s = r + rd_sin_tail_f64(r, lo), c = rd_cos_tail_f64(r, lo, &head) + head;

    return rd_turn(quadrant & 1 ? s : c, quadrant + 1, 1);
}

/* sin / cos or -cos / sin, both with their errors, and one step to correct the quotient. */
RD_INLINE double rd_tan_f64(double x)
{
    uint64_t     quadrant;
    double       lo, head;
    const double r      = rd_reduce_f64(RD_ABS_F64(x), &quadrant, &lo);
    const double s_tail = rd_sin_tail_f64(r, lo), s = r + s_tail, s_lo = s_tail - (s - r);
    const double c_tail = rd_cos_tail_f64(r, lo, &head), c = head + c_tail,
                 c_lo = c_tail - (c - head);
    const double over = quadrant & 1 ? c : s, over_lo = quadrant & 1 ? c_lo : s_lo;
    const double under = quadrant & 1 ? s : c, under_lo = quadrant & 1 ? s_lo : c_lo;
    const double inverse = 1 / under, q = over * inverse;
    const double error = __builtin_fma(q, -under, over) + __builtin_fma(q, -under_lo, over_lo);

    return rd_turn(rd_turn(__builtin_fma(error, inverse, q), quadrant, 0), rd_bits_f64(x), 63);
}

#endif

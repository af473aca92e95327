/* math_trig.h - sin, cos and tan.
 *
 * x = n pi/2 + r, |r| <= pi/4, with pi/2 in pieces of 53 bits (Cody and Waite).  x - n P1 is exact
 * with an fma, as it is a multiple of an ulp of P1 and less than 1.  n's low bits say which of
 * sin(r), cos(r) it is; both are computed.  f32 is computed in double: no reduction in f32 would be
 * shorter.
 *
 * |x| > 2^28 is reduced in integers (Payne and Hanek 1983, "Radian reduction for trigonometric
 * functions"): 128 bits of x 2/pi mod 4 are computed, of which 64 count where x is nearest to a
 * multiple of pi/2.  That is slower, and such arguments are rare. */
#ifndef RD_KERNELS_MATH_MATH_TRIG_H
#define RD_KERNELS_MATH_MATH_TRIG_H

#include "kernels/math/math_bits.h"

#define RD_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define RD_HALF_PI_1   0x1.921fb54442d18p0
#define RD_HALF_PI_2   0x1.1a62633145c07p-54
#define RD_HALF_PI_3   -0x1.f1976b7ed8fbcp-110

/* True if |x| is so large that its reduction by pi/2 needs more bits: a hard argument. */
RD_INLINE int rd_trig_hard_f32(float x)
{
    return RD_ABS_F32(x) > 0x1p28F;
}

/* True if |x| is so large that its reduction by pi/2 needs more bits: a hard argument. */
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

/* Returns y with its sign changed if bit number `bit` of the quadrant is set. */
RD_INLINE double rd_turn(double y, uint64_t quadrant, int bit)
{
    return rd_double_of(rd_bits_f64(y) ^ (quadrant >> bit & 1) << 63);
}

/* ---- f32 ------------------------------------------------------------------------------------- */
/* Returns r = x - n pi/2, |r| <= pi/4; the low bits of *quadrant are n.  A float is no nearer to
 * a multiple of pi/2 than about 2^-30, so r needs no second number. */
RD_INLINE double rd_reduce_f32(float x, uint64_t *quadrant)
{
    const double magic = __builtin_fma((double)x, RD_TWO_OVER_PI, RD_MAGIC_F64),
                 n     = magic - RD_MAGIC_F64;

    *quadrant = rd_bits_f64(magic);
    return __builtin_fma(n, -RD_HALF_PI_2, __builtin_fma(n, -RD_HALF_PI_1, (double)x));
}

/* Returns sin(r) for |r| <= pi/4, for results in f32; error 2^-37.5. */
RD_INLINE double rd_sin_near_f32(double r)
{
    const double z = r * r;
    double       p = 0x1.6cd1b0cba6c26p-19;

    p = __builtin_fma(p, z, -0x1.a00f7e15bfed7p-13);
    p = __builtin_fma(p, z, 0x1.111108690d22bp-7);
    p = __builtin_fma(p, z, -0x1.5555554c6ffd2p-3);
    return r * __builtin_fma(p, z, 1);
}

/* Returns cos(r) for |r| <= pi/4, for results in f32; error 2^-33.0. */
RD_INLINE double rd_cos_near_f32(double r)
{
    const double z = r * r;
    double       p = 0x1.99eb49ba54133p-16;

    p = __builtin_fma(p, z, -0x1.6c0c328c8a6abp-10);
    p = __builtin_fma(p, z, 0x1.55554a0f92b8fp-5);
    p = __builtin_fma(p, z, -0.5);
    return __builtin_fma(p, z, 1);
}

/* Returns sin(r + quadrant pi/2): sin(r) or cos(r), by bit 0 of the quadrant, with the sign that
 * bit 1 says. */
RD_INLINE float rd_sin_of_f32(double r, uint64_t quadrant)
{
    const double s = rd_sin_near_f32(r), c = rd_cos_near_f32(r);

    return (float)rd_turn(quadrant & 1 ? c : s, quadrant, 1);
}

/* Returns tan(r + quadrant pi/2): the quotient of sine and cosine, or minus its inverse in odd
 * quadrants. */
RD_INLINE float rd_tan_of_f32(double r, uint64_t quadrant)
{
    const double s = rd_sin_near_f32(r), c = rd_cos_near_f32(r);
    const double over = quadrant & 1 ? c : s, under = quadrant & 1 ? s : c;

    return (float)rd_turn(over / under, quadrant, 0);
}

/* Returns sin(x), computed in double, for |x| <= 2^28. */
RD_INLINE float rd_sin_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant);

    return rd_sin_of_f32(r, quadrant);
}

/* Returns cos(x) = sin(x + pi/2), computed in double, for |x| <= 2^28. */
RD_INLINE float rd_cos_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant);

    return rd_sin_of_f32(r, quadrant + 1);
}

/* Returns tan(x), computed in double, for |x| <= 2^28. */
RD_INLINE float rd_tan_f32(float x)
{
    uint64_t     quadrant;
    const double r = rd_reduce_f32(x, &quadrant);

    return rd_tan_of_f32(r, quadrant);
}

/* ---- f64 ------------------------------------------------------------------------------------- */
/* Returns r = x - n pi/2, |r| <= pi/4, with its error in *lo; the low bits of *quadrant are n.
 * A double below 2^28 may be within 2^-60 of a multiple of pi/2, so pi/2 has three pieces. */
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

/* Returns sin(r + lo) - r for |r| <= pi/4; the error of the sine is 2^-56.4. */
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

/* Returns cos(r + lo) - *head for |r| <= pi/4, where *head gets 1 - r^2/2 rounded; the error of
 * the cosine is 2^-59.6. */
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

/* Returns sin(r + lo + quadrant pi/2): the sine or the cosine, by bit 0 of the quadrant, with
 * the sign that bit 1 says. */
RD_INLINE double rd_sin_of_f64(double r, double lo, uint64_t quadrant)
{
    double       head;
    const double s = r + rd_sin_tail_f64(r, lo), c = rd_cos_tail_f64(r, lo, &head) + head;

    return rd_turn(quadrant & 1 ? c : s, quadrant, 1);
}

/* Returns tan(r + lo + quadrant pi/2): sin / cos, or -cos / sin in odd quadrants, both with
 * their errors, and one step that corrects the quotient. */
RD_INLINE double rd_tan_of_f64(double r, double lo, uint64_t quadrant)
{
    double       head;
    const double s_tail = rd_sin_tail_f64(r, lo), s = r + s_tail, s_lo = s_tail - (s - r);
    const double c_tail = rd_cos_tail_f64(r, lo, &head), c = head + c_tail,
                 c_lo = c_tail - (c - head);
    const double over = quadrant & 1 ? c : s, over_lo = quadrant & 1 ? c_lo : s_lo;
    const double under = quadrant & 1 ? s : c, under_lo = quadrant & 1 ? s_lo : c_lo;
    const double inverse = 1 / under, q = over * inverse;
    const double error = __builtin_fma(q, -under, over) + __builtin_fma(q, -under_lo, over_lo);

    return rd_turn(__builtin_fma(error, inverse, q), quadrant, 0);
}

/* Returns sin(x) for |x| <= 2^28, as sin(|x|) with the sign of x: so -0 stays -0. */
RD_INLINE double rd_sin_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_f64(RD_ABS_F64(x), &quadrant, &lo);

    return rd_turn(rd_sin_of_f64(r, lo, quadrant), rd_bits_f64(x), 63);
}

/* Returns cos(x) = sin(x + pi/2) for |x| <= 2^28. */
RD_INLINE double rd_cos_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_f64(x, &quadrant, &lo);

    return rd_sin_of_f64(r, lo, quadrant + 1);
}

/* Returns tan(x) for |x| <= 2^28, as tan(|x|) with the sign of x: so -0 stays -0. */
RD_INLINE double rd_tan_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_f64(RD_ABS_F64(x), &quadrant, &lo);

    return rd_turn(rd_tan_of_f64(r, lo, quadrant), rd_bits_f64(x), 63);
}

/* ---- |x| > 2^28 ------------------------------------------------------------------------------ */
enum { RD_FAR_WORDS = 7 };

/* Words of 2/pi after the point, from number -1 on, as many as doubles need. */
RD_TABLE uint32_t rd_two_over_pi_words[] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5,
    0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff,
    0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7,
    0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046
};

/* Returns a word of 32 bits of 2/pi; number 0 is the first one after the point, and -1 is 0. */
static inline uint32_t rd_two_over_pi(int word)
{
    return rd_two_over_pi_words[word + 1];
}

/* Computes the first 128 bits of x 2/pi mod 4, the first 2 of them before the point, for x = m
 * 2^e.  The words of 2/pi before those used contribute multiples of 4; those after these seven
 * less than 2^-138. */
static inline void rd_far_quarters(double x, uint64_t *top, uint64_t *next)
{
    const uint64_t bits = rd_bits_f64(x), m = (bits & 0xfffffffffffff) | 0x10000000000000;
    const int      e = (int)(bits >> 52 & 0x7ff) - 1075, first = (e + 30) / 32 - 1;
    const int      shift = e - 2 - 32 * first; /* 0 .. 31: bits before the first that counts */
    uint32_t       digit[RD_FAR_WORDS];        /* of m times the words, the least one first */
    uint64_t       carry = 0;

    for (int k = 0; k < RD_FAR_WORDS; k++) {
        const uint64_t word = rd_two_over_pi(first + RD_FAR_WORDS - 1 - k);
        const uint64_t a    = (m & 0xffffffff) * word + (carry & 0xffffffff);

        digit[k] = (uint32_t)a;
        carry    = (carry >> 32) + (a >> 32) + (m >> 32) * word;
    }
    *top  = (uint64_t)digit[6] << 32 | digit[5];
    *next = (uint64_t)digit[4] << 32 | digit[3];
    if (shift > 0) {
        *top  = *top << shift | *next >> (64 - shift);
        *next = *next << shift | digit[2] >> (32 - shift);
    }
}

/* As rd_reduce_f64(), for x > 2^28, in integers: the nearest quarter of x 2/pi mod 4, and the
 * rest times pi/2.  For infinity and NaN the result is NaN. */
static inline double rd_reduce_far(double x, uint64_t *quadrant, double *lo)
{
    uint64_t top, next, sign, zeros;

    *quadrant = 0;
    *lo       = 0;
    if (!(x < (double)INFINITY))
        return x - x;
    rd_far_quarters(x, &top, &next);
    /* the nearest quarter, and what is left, a multiple of 2^-126 in [-1/2, 1/2) */
    *quadrant = (top >> 62) + (top >> 61 & 1);
    top       = top << 2 | next >> 62;
    next <<= 2;
    sign = top >> 63;
    if (sign) {
        top  = ~top + (next == 0);
        next = 0 - next;
    }
    /* none is as small as 2^-63, so there are 64 bits from its first one on */
    zeros = (uint64_t)__builtin_clzll(top);
    if (zeros > 0) {
        top = top << zeros | next >> (64 - zeros);
        next <<= zeros;
    }
    const double scale = rd_double_of((sign << 63) | (1023 - 64 - zeros) << 52);
    const double hi    = (double)(top >> 11 << 11) * scale;
    const double rest  = (double)((top & 0x7ff) << 42 | next >> 22) * 0x1p-42 * scale;
    const double p     = hi * RD_HALF_PI_1;
    const double p_lo =
        __builtin_fma(hi, RD_HALF_PI_1, -p) + (hi * RD_HALF_PI_2 + rest * RD_HALF_PI_1);
    const double r = p + p_lo;

    *lo = p_lo - (r - p);
    return r;
}

/* Returns sin(x) for |x| > 2^28, infinity and NaN. */
static inline double rd_sin_far_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_far(RD_ABS_F64(x), &quadrant, &lo);

    return rd_turn(rd_sin_of_f64(r, lo, quadrant), rd_bits_f64(x), 63);
}

/* Returns cos(x) for |x| > 2^28, infinity and NaN. */
static inline double rd_cos_far_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_far(RD_ABS_F64(x), &quadrant, &lo);

    return rd_sin_of_f64(r, lo, quadrant + 1);
}

/* Returns tan(x) for |x| > 2^28, infinity and NaN. */
static inline double rd_tan_far_f64(double x)
{
    uint64_t     quadrant;
    double       lo;
    const double r = rd_reduce_far(RD_ABS_F64(x), &quadrant, &lo);

    return rd_turn(rd_tan_of_f64(r, lo, quadrant), rd_bits_f64(x), 63);
}

/* Returns sin(x) for |x| > 2^28, computed in double and rounded to float. */
static inline float rd_sin_far_f32(float x)
{
    return (float)rd_sin_far_f64((double)x);
}

/* Returns cos(x) for |x| > 2^28, computed in double and rounded to float. */
static inline float rd_cos_far_f32(float x)
{
    return (float)rd_cos_far_f64((double)x);
}

/* Returns tan(x) for |x| > 2^28, computed in double and rounded to float. */
static inline float rd_tan_far_f32(float x)
{
    return (float)rd_tan_far_f64((double)x);
}

#endif

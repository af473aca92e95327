/* math_half_powers.h - powers whose exponent is a multiple of 1/2, at most 16 in magnitude, by
 * products.
 *
 * The exponent of the operator pow_half is a constant, so compilers evaluate all tests of it, and
 * no branch is left.  f32 is computed in f64, where no product overflows or vanishes that would not
 * in f32.  f64 uses sums of two doubles (Dekker 1971, with fma for the products); inverses and
 * roots come first, so that nothing overflows before the result does.  Other exponents, which no
 * constructor makes, give some number.  Special cases are those of C's annex F. */
#ifndef RD_KERNELS_MATH_MATH_HALF_POWERS_H
#define RD_KERNELS_MATH_MATH_HALF_POWERS_H

#include "kernels/math/math_bits.h"

/* A number as the sum of two doubles. */
typedef struct rd_two_doubles {
    double hi, lo;
} rd_two_doubles;

/* ---- Exponents ------------------------------------------------------------------------------- */
/* Returns the magnitude of the exponent in halves, at most 32: 3 for 1.5 or -1.5. */
RD_INLINE int rd_halves_of(double y)
{
    const double size = RD_ABS_F64(y);

    return (int)(2 * (size < 16 ? size : 16));
}

/* ---- f32 ------------------------------------------------------------------------------------- */
/* Returns z^n for n from 0 to 31, as the product of those z^1, z^2, z^4, z^8, z^16 that n has as
 * binary digits. n is a constant, so no branch is left. */
RD_INLINE double rd_product_f64(double z, int n)
{
    const double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4, z16 = z8 * z8;
    double       y = n & 1 ? z : 1;

    y = n & 2 ? y * z2 : y;
    y = n & 4 ? y * z4 : y;
    y = n & 8 ? y * z8 : y;
    return n & 16 ? y * z16 : y;
}

/* Returns a better approximation of 1 / sqrt(z) than y, by one Halley step: three times as many
 * digits are correct. */
RD_INLINE double rd_nearer_root(double z, double y)
{
    const double e = __builtin_fma(z * y, -y, 1);

    return __builtin_fma(y * e, __builtin_fma(0.375, e, 0.5), y);
}

/* Returns 1 / sqrt(z) for results in f32, error 2^-38, without square root and division, which
 * take ten times as long.  Half the exponent is a first guess, of error 2^-4.8 (Lomont, "Fast
 * inverse square root", 2003).  For 0 the result is large.  Infinity counts as 2^768, so the
 * result is small enough for the powers of f32. */
RD_INLINE double rd_inverse_root(double z)
{
    const uint64_t bits = rd_bits_f64(z) - ((uint64_t)(z >= (double)INFINITY) << 60);
    const double   x = rd_double_of(bits), y = rd_double_of(0x5fe6eb50c7b537a9 - (bits >> 1));

    return rd_nearer_root(x, rd_nearer_root(x, y));
}

/* NaN for a negative x, as a power with an odd number of halves needs; but -0 counts as 0 and
 * -infinity as infinity.  It is added at the end: with constants among the operands gcc would
 * compute a power of each in advance, in branches. */
#define RD_ROOTLESS(x) ((x < 0) & (-x < INFINITY))

/* Returns |x|^(halves / 2), or its inverse if y < 0, for an odd number of halves; NaN for
 * negative x.  A NaN stays as it is, as the sign of a NaN from a negated product differs between
 * processors. */
RD_INLINE float rd_root_power_f32(float x, float y, int halves)
{
    const double z = RD_ABS_F64((double)x), root = rd_inverse_root(z);
    const double size =
        y < 0 ? rd_product_f64(root, halves) : rd_product_f64(z, halves >> 1) * (z * root);

    return x == x ? (float)size + (RD_ROOTLESS(x) ? (float)NAN : 0) : x;
}

/* Returns x^(1/2) with the special cases of pow(): NaN for negative x, but infinity for
 * -infinity, and 0 for -0. */
RD_INLINE float rd_half_f32(float x)
{
    return __builtin_sqrtf(RD_ABS_F32(x)) + (RD_ROOTLESS(x) ? (float)NAN : 0);
}

/* Returns x^y for y a multiple of 1/2, at most 16 in magnitude: products of x for a whole y,
 * else products with the root of |x|. */
RD_INLINE float rd_math_pow_half_f32(float x, float y)
{
    const int    halves = rd_halves_of((double)y);
    const double whole  = rd_product_f64((double)x, halves >> 1);
    const float  power  = (float)(y < 0 ? 1 / whole : whole);
    const float  root   = halves == 1 && y > 0 ? rd_half_f32(x) : rd_root_power_f32(x, y, halves);

    return halves & 1 ? root : power;
}

/* Returns the product of two numbers of two doubles each; the product of the low parts is
 * negligible. */
RD_INLINE rd_two_doubles rd_times_two_doubles(rd_two_doubles a, rd_two_doubles b)
{
    const double hi = a.hi * b.hi;
    const double lo =
        __builtin_fma(a.lo, b.hi, __builtin_fma(a.hi, b.lo, __builtin_fma(a.hi, b.hi, -hi)));
    const rd_two_doubles both = { hi, lo };

    return both;
}

/* Returns a if `first`, else b, without a branch. */
RD_INLINE rd_two_doubles rd_either(int first, rd_two_doubles a, rd_two_doubles b)
{
    const rd_two_doubles both = { first ? a.hi : b.hi, first ? a.lo : b.lo };

    return both;
}

/* Returns y z if `takes`, else y.  If the product has not begun, it is z. */
RD_INLINE rd_two_doubles rd_product_takes(int takes, int begun, rd_two_doubles y, rd_two_doubles z)
{
    return rd_either(takes, rd_either(begun, rd_times_two_doubles(y, z), z), y);
}

/* Returns y z^n for n from 0 to 31, or z^n for n > 0 if y has not begun: the product of the
 * powers of z that are binary digits of n. */
RD_INLINE rd_two_doubles rd_product_from(int begun, rd_two_doubles y, rd_two_doubles z, int n)
{
    const rd_two_doubles z2 = rd_times_two_doubles(z, z), z4 = rd_times_two_doubles(z2, z2);
    const rd_two_doubles z8 = rd_times_two_doubles(z4, z4), z16 = rd_times_two_doubles(z8, z8);

    y = rd_product_takes(n & 1, begun, y, z);
    y = rd_product_takes(n & 2, begun | (n & 1), y, z2);
    y = rd_product_takes(n & 4, begun | (n & 3), y, z4);
    y = rd_product_takes(n & 8, begun | (n & 7), y, z8);
    return rd_product_takes(n & 16, begun | (n & 15), y, z16);
}

/* Returns 1 / x as the sum of two doubles: the quotient, and the correction by its residue. */
RD_INLINE rd_two_doubles rd_inverse_pair(double x)
{
    const double         hi   = 1 / x;
    const rd_two_doubles both = { hi, __builtin_fma(-hi, x, 1) * hi };

    return both;
}

/* Returns 1 / sqrt(z) as the sum of two doubles: s is the root, and z - s^2 tells its error. */
RD_INLINE rd_two_doubles rd_inverse_root_pair(double z)
{
    const double         s = __builtin_sqrt(z), off = __builtin_fma(-s, s, z), hi = 1 / s;
    const double         e    = __builtin_fma(-hi, s, 1);
    const rd_two_doubles both = { hi, hi * __builtin_fma(-0.5 * off * hi, hi, e) };

    return both;
}

/* Returns z sqrt(z) as the sum of two doubles: s is the root, and z - s^2 tells its error. */
RD_INLINE rd_two_doubles rd_times_root_pair(double z)
{
    const double         s = __builtin_sqrt(z), off = __builtin_fma(-s, s, z), hi = z * s;
    const rd_two_doubles both = { hi, __builtin_fma(0.5 * off, s, __builtin_fma(z, s, -hi)) };

    return both;
}

/* Returns the sum of two doubles as one; the lower part of an infinity or of 0 is dropped, as it
 * may be NaN. */
RD_INLINE double rd_of_two_doubles(rd_two_doubles y)
{
    const double sum = y.hi + y.lo;

    return sum == sum && y.hi != 0 ? sum : y.hi;
}

/* Returns x^y for y a multiple of 1/2, at most 16 in magnitude: products of x for a whole y;
 * else products of |x| and its root, and NaN for negative x.  A negative y begins with the
 * inverse of x. */
RD_INLINE double rd_math_pow_half_f64(double x, double y)
{
    const int            halves = rd_halves_of(y), whole = halves >> 1;
    const double         z    = RD_ABS_F64(x);
    const rd_two_doubles none = { 1, 0 }, plain_x = { x, 0 }, plain_z = { z, 0 };
    const rd_two_doubles base     = rd_either(y < 0, rd_inverse_pair(x), plain_x);
    const double         power    = rd_of_two_doubles(rd_product_from(0, none, base, whole));
    const rd_two_doubles inverse  = rd_product_from(0, none, rd_inverse_root_pair(z), halves);
    const rd_two_doubles forward  = rd_product_from(1, rd_times_root_pair(z), plain_z, whole - 1);
    const double         products = rd_of_two_doubles(rd_either(y < 0, inverse, forward));
    const double         root     = halves == 1 && y > 0 ? __builtin_sqrt(z) : products;

    return halves & 1 ? root + (RD_ROOTLESS(x) ? (double)NAN : 0) : power;
}

#undef RD_ROOTLESS
#endif

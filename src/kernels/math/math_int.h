/* math_int.h - operators of ints that C has no operator for: shifts by any count, numbers of set
 * bits, common divisors and multiples. */
#ifndef RD_KERNELS_MATH_MATH_INT_H
#define RD_KERNELS_MATH_MATH_INT_H

#include "core/bits.h"

/* ---- Shifts ---------------------------------------------------------------------------------- */
/* A count that is negative, or the width and more, shifts all bits out: the result is 0, or the
 * sign.  The type may be narrow: widened by a 0, a keeps its sign, and what is shifted left
 * beyond the type is cut off later.  As compilers may choose after the shift, counts have 6
 * bits. */
#define RD_SHIFT_LEFT(a, b) (RD_U(b) < 64 ? (T)(RD_U(a) << (RD_U(b) & 63)) : (T)0)
#define RD_SHIFT_RIGHT(a, b) \
    (RD_U(b) < 64 ? (T)(((a) + (int64_t)0) >> (RD_U(b) & 63)) : (T)((a) < 0 ? -1 : 0))

/* ---- Bits ------------------------------------------------------------------------------------ */
/* Returns the number of set bits, by adding up neighbouring fields of 1, 2, 4, .. bits: every
 * instruction set can do that by vectors. */
RD_INLINE uint64_t rd_bits_set(uint64_t x)
{
    x = x - (x >> 1 & 0x5555555555555555);
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    x += x >> 8;
    x += x >> 16;
    return (x + (x >> 32)) & 127;
}

/* ---- Divisors and multiples ------------------------------------------------------------------ */
/* Returns the greatest common divisor by Euclid's algorithm; for 0 and x it is x. */
static inline uint64_t rd_gcd_u64(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Returns the least common multiple; 0 if either number is 0.  It wraps if it is too large. */
static inline uint64_t rd_lcm_u64(uint64_t a, uint64_t b)
{
    const uint64_t divisor = rd_gcd_u64(a, b);

    return divisor ? a / divisor * b : 0;
}

/* Returns |a|, also of INT64_MIN. */
static inline uint64_t rd_magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

/* Returns the greatest common divisor of the magnitudes. */
static inline int64_t rd_gcd_i64(int64_t a, int64_t b)
{
    return (int64_t)rd_gcd_u64(rd_magnitude(a), rd_magnitude(b));
}

/* Returns the least common multiple of the magnitudes. */
static inline int64_t rd_lcm_i64(int64_t a, int64_t b)
{
    return (int64_t)rd_lcm_u64(rd_magnitude(a), rd_magnitude(b));
}
#endif

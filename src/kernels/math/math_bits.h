/* math_bits.h - what the elementary functions of math_*.h share.
 *
 * One source serves the scalar interpreter and every vector width: the functions are plain scalar
 * code without branches that compilers vectorise in loops, and consist only of operations that IEEE
 * 754 rounds correctly (+ - * / sqrt, fma, where written out) and of integer operations.  So each
 * instruction set gives the same bits, provided that the compiler contracts nothing
 * (-ffp-contract=off).  Products are not negated in an fma but their constant is: the sign of a NaN
 * that comes out would depend on the instruction chosen. */
#ifndef RD_KERNELS_MATH_MATH_BITS_H
#define RD_KERNELS_MATH_MATH_BITS_H

#include "core/bits.h"
#include <math.h>

/* Adding one of these rounds |x| < 2^22 (2^51) to the nearest whole number, ties to even, and
 * leaves that number in the low bits of the sum: there is no conversion of f64 to i64 before
 * AVX-512. */
#define RD_MAGIC_F32 0x1.8p23F
#define RD_MAGIC_F64 0x1.8p52

#define RD_ABS_F32(x) __builtin_fabsf(x)
#define RD_ABS_F64(x) __builtin_fabs(x)

/* a * 2^n by way of two factors, with one rounding, at the second: n may leave the range of
 * exponents by as much again.  `sum` is the bits of RD_MAGIC_2 + n: with twice the bias of
 * exponents added, both halves have theirs.  What they have above is shifted out. */
#define RD_MAGIC_2_F32 (RD_MAGIC_F32 + 254)
#define RD_MAGIC_2_F64 (RD_MAGIC_F64 + 2046)

/* Returns a * 2^n, rounded once, where `sum` has the bits of RD_MAGIC_2_F32 + n. Two factors of
 * about 2^(n/2) do that, as 2^n itself may be out of range. The magic number contains the bias
 * of exponents twice, so each half of `sum` has it once, and shifting a half by 23 makes it the
 * bits of a float. */
RD_INLINE float rd_scale_f32(float a, uint32_t sum)
{
    const uint32_t half = sum >> 1;

    return a * rd_float_of(half << 23) * rd_float_of((sum - half) << 23);
}

/* Returns a * 2^n, rounded once, where `sum` has the bits of RD_MAGIC_2_F64 + n. Two factors of
 * about 2^(n/2) do that, as 2^n itself may be out of range. Each half of `sum` has the bias of
 * exponents once, and shifting it by 52 makes it the bits of a double. */
RD_INLINE double rd_scale_f64(double a, uint64_t sum)
{
    const uint64_t half = sum >> 1;

    return a * rd_double_of(half << 52) * rd_double_of((sum - half) << 52);
}

#endif

/* math_bits.h - what the elementary functions of math_*.h share.
 *
 * One source serves the scalar interpreter and every vector width: the functions are plain scalar code without
 * branches that compilers vectorise in loops, and consist only of operations that IEEE 754 rounds correctly (+ - * /
 * sqrt, fma, where written out) and of integer operations.  So each instruction set gives the same bits, provided that
 * the compiler contracts nothing (-ffp-contract=off).  Products are not negated in an fma but their constant is: the
 * sign of a NaN that comes out would depend on the instruction chosen. */
#ifndef RD_KERNELS_CPU_MATH_BITS_H
#define RD_KERNELS_CPU_MATH_BITS_H

#include "core/bits.h"
#include <math.h>

/* Adding one of these rounds |x| < 2^22 (2^51) to the nearest whole number, ties to even, and leaves that number in
 * the low bits of the sum: there is no conversion of f64 to i64 before AVX-512. */
#define RD_MAGIC_F32 0x1.8p23F
#define RD_MAGIC_F64 0x1.8p52

#define RD_ABS_F32(x) __builtin_fabsf(x)
#define RD_ABS_F64(x) __builtin_fabs(x)

/* 2^n as a product of two factors, a * 2^n = a * *first * *second, with one rounding, at the second: n may leave the
 * range of exponents by as much again.  `magic` is RD_MAGIC + n; what it has above n is shifted out. */
RD_INLINE float rd_scale_f32(float a, float magic)
{
    const uint32_t n = rd_bits_f32(magic), half = n >> 1;

    return a * rd_float_of((half << 23) + 0x3f800000) * rd_float_of(((n - half) << 23) + 0x3f800000);
}

RD_INLINE double rd_scale_f64(double a, double magic)
{
    const uint64_t n = rd_bits_f64(magic), half = n >> 1;

    return a * rd_double_of((half << 52) + 0x3ff0000000000000) * rd_double_of(((n - half) << 52) + 0x3ff0000000000000);
}

#endif

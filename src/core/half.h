/* half.h - conversion of narrow floats, for which C has no arithmetic, to f32 and back.
 *
 * f16 has 1 + 5 + 10 bits (IEEE 754 binary16); bf16 is the upper half of an f32; f8e4m3 has
 * 1 + 4 + 3 bits, no infinities, and one NaN of each sign, all ones.  The code has
 * no branches, so loops over it vectorise.  Instructions that do the same (F16C) give the same
 * bits, also for NaN. */
#ifndef RD_CORE_HALF_H
#define RD_CORE_HALF_H
#include "core/bits.h"
#include "rdim.h"

#ifdef RD_HALF_TYPES /* a text that is compiled without rdim.h: bits in memory */
typedef struct rd_f16 {
    uint16_t bits;
} rd_f16;
typedef struct rd_bf16 {
    uint16_t bits;
} rd_bf16;
typedef struct rd_f8 {
    uint8_t bits;
} rd_f8;
#endif

/* ---- To f32: exact --------------------------------------------------------------------------- */
#ifndef RD_F16_IN_HARDWARE /* hardware gives the same bits, except for NaN */
/* Returns the f32 with the same value as an f16. Its exponent is biased by 15, and that of an
 * f32 by 127: a product with 2^112 corrects that, also for denormals. An exponent of all ones
 * (infinity, NaN) is set by itself, and NaN becomes quiet. */
RD_INLINE float rd_f16_to_f32(rd_f16 x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x8000) << 16, size = (uint32_t)(x.bits & 0x7fff)
                                                                    << 13;
    const uint32_t infinite = size >= 0x0f800000 ? 0x7f800000 : 0,
                   quiet    = size > 0x0f800000 ? 0x00400000 : 0;

    return rd_float_of(rd_bits_f32(rd_float_of(size) * 0x1p112F) | infinite | quiet | sign);
}
#endif

/* The f32 with the same value: its upper half are the bits of x. */
RD_INLINE float rd_bf16_to_f32(rd_bf16 x)
{
    return rd_float_of((uint32_t)x.bits << 16);
}

/* Returns the f32 with the same value as an f8e4m3, which has 1 + 4 + 3 bits. Exponents are
 * biased by 7, and must be biased by 127: a product with 2^120 does that, also for denormals.
 * All ones are NaN. */
RD_INLINE float rd_f8_to_f32(rd_f8 x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x80) << 24, size = (uint32_t)(x.bits & 0x7f) << 20;
    const uint32_t nan = size == 0x07f00000 ? 0x7fc00000 : 0;

    return rd_float_of(rd_bits_f32(rd_float_of(size) * 0x1p120F) | nan | sign);
}

/* ---- From f32: to nearest, ties to even; NaN stays one, and quiet ---------------------------- */
#ifndef RD_F16_IN_HARDWARE

/* Rounds an f32 to f16, to nearest, ties to even. Normal numbers are rounded in their bits,
 * where a carry into the exponent is right; those below 2^-14 (0x388) by an addition. From 2^16
 * (0x478) on the result is infinite. `size` are the bits without the sign. 112 is the difference
 * of the exponents' biases, 127 and 15; 13 bits of the fraction go; 0xfff plus the last bit that
 * stays rounds ties to even. NaN keeps the first bits of its fraction, and is made quiet. */
RD_INLINE rd_f16 rd_f16_of_f32(float x)
{
    const uint32_t bits = rd_bits_f32(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    const uint32_t normal = (size - (112U << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    /* adding 1/2 rounds to multiples of 2^-24 */
    const uint32_t denormal = rd_bits_f32(rd_float_of(size) + 0.5F) - 0x3f000000;
    const uint32_t nan      = 0x7e00 | (size >> 13 & 0x3ff);
    const uint32_t finite   = size < 0x38800000 ? denormal : normal;

    const rd_f16 y = { (uint16_t)(sign | (size > 0x7f800000    ? nan
                                          : size >= 0x47800000 ? 0x7c00
                                                               : finite)) };

    return y;
}
#endif

#ifndef RD_BF16_IN_HARDWARE
/* Rounds an f32 to bf16, to nearest, ties to even: adds just less than half of the last bit, and
 * one more if that bit is odd. */
RD_INLINE rd_bf16 rd_bf16_of_f32(float x)
{
    const uint32_t bits = rd_bits_f32(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;

    const rd_bf16 y = { (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40
                                                                    : nearest) };

    return y;
}
#endif

/* Rounds an f32 to f8e4m3, to nearest, ties to even. The largest number is 448; what is nearer
 * to 480, the next one if there were one, is NaN, as are infinities. Below 2^-6 (0x3c8) numbers
 * are denormal, multiples of 2^-9. `size` are the bits without the sign. 120 is the difference
 * of the exponents' biases, 127 and 7; 20 bits of the fraction go; 0x7ffff plus the last bit
 * that stays rounds ties to even. 0x7f is NaN, the largest number 0x7e. */
RD_INLINE rd_f8 rd_f8_of_f32(float x)
{
    const uint32_t bits = rd_bits_f32(x), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    const uint32_t normal = (size - (120U << 23) + 0x7ffff + (size >> 20 & 1)) >> 20;
    /* adding 2^14 rounds to multiples of 2^-9 */
    const uint32_t denormal = rd_bits_f32(rd_float_of(size) + 0x1p14F) - 0x46800000;
    const uint32_t nearest  = size < 0x3c800000 ? denormal : normal;

    const rd_f8 y = { (uint8_t)(sign | (nearest > 0x7f ? 0x7f : nearest)) };

    return y;
}

/* ---- As f32 that memory can hold: rd_f16_to_f32(rd_f16_of_f32(x)), in fewer steps ----------- */
#ifndef RD_F16_IN_HARDWARE
/* The f32 nearest to x that an f16 holds.  Below 2^-14 (0x388) f16 are denormal, multiples of
 * 2^-24, to which adding 1/2 rounds; from 2^16 (0x478) on they are infinite.  `size` are the
 * bits without the sign. 13 bits of the fraction become 0; 0xfff plus the last bit that stays
 * rounds ties to even. NaN is made quiet, and keeps the bits of its fraction that an f16 has. */
RD_INLINE float rd_round_f16(float x)
{
    const uint32_t bits = rd_bits_f32(x), sign = bits & 0x80000000, size = bits & 0x7fffffff;
    const uint32_t normal   = (size + 0xfff + (size >> 13 & 1)) & ~0x1fffU;
    const uint32_t denormal = rd_bits_f32(rd_float_of(size) + 0.5F - 0.5F);
    const uint32_t finite   = size < 0x38800000 ? denormal : normal;
    const uint32_t number   = finite >= 0x47800000 ? 0x7f800000 : finite;
    const uint32_t nan      = 0x7fc00000 | (size & 0x007fe000);

    return rd_float_of(sign | (size > 0x7f800000 ? nan : number));
}
#endif

#ifndef RD_BF16_IN_HARDWARE
/* The f32 nearest to x that a bf16 holds: its lower 16 bits are 0.  NaN becomes quiet. */
RD_INLINE float rd_round_bf16(float x)
{
    const uint32_t bits = rd_bits_f32(x), nearest = bits + 0x7fff + (bits >> 16 & 1);
    const uint32_t size = bits & 0x7fffffff;

    return rd_float_of((size > 0x7f800000 ? bits | 0x400000 : nearest) & 0xffff0000);
}
#endif

/* Returns the f32 nearest to x that an f8e4m3 holds, ties to even. Below 2^-6 (0x3c8) these are
 * denormal, multiples of 2^-9, to which adding 2^14 rounds. What rounds to more than 448
 * (0x43e), the largest one, is NaN. */
RD_INLINE float rd_round_f8e4m3(float x)
{
    const uint32_t bits = rd_bits_f32(x), sign = bits & 0x80000000, size = bits & 0x7fffffff;
    const uint32_t normal   = (size + 0x7ffff + (size >> 20 & 1)) & ~0xfffffU;
    const uint32_t denormal = rd_bits_f32(rd_float_of(size) + 0x1p14F - 0x1p14F);
    const uint32_t nearest  = size < 0x3c800000 ? denormal : normal;

    return rd_float_of(sign | (nearest > 0x43e00000 ? 0x7ff00000 : nearest));
}

/* ---- From wider types, by way of f32 --------------------------------------------------------- */
/* Converts to f32 with rounding to odd: an inexact result gets an odd last bit.  The following
 * rounding to fewer bits then sees on which side of a tie the value is, as if it were the only
 * rounding.  (Boldo, Melquiond, 2008, "Emulation of a FMA and correctly rounded sums: proved
 * algorithms using rounding to odd".) */
RD_INLINE float rd_odd_f64(double x)
{
    const float    y    = (float)x;
    const uint32_t bits = rd_bits_f32(y), far = __builtin_fabs((double)y) > __builtin_fabs(x);

    return (double)y == x || x != x ? y : rd_float_of((bits - far) | 1);
}

/* Converts an int to f32 with rounding to odd.  One of more than 53 bits first loses its last 12
 * bits, with bit 12 set if any of them was, so that an f64 holds it exactly. */
RD_INLINE float rd_odd_i64(int64_t x)
{
    const int64_t odd = (x & ~INT64_C(0xfff)) | ((x & 0xfff) != 0) << 12;

    return rd_odd_f64((double)(x > -(INT64_C(1) << 53) && x < INT64_C(1) << 53 ? x : odd));
}

/* Converts an unsigned int to f32 with rounding to odd, as rd_odd_i64() does. */
RD_INLINE float rd_odd_u64(uint64_t x)
{
    const uint64_t odd = (x & ~UINT64_C(0xfff)) | (uint64_t)((x & 0xfff) != 0) << 12;

    return rd_odd_f64((double)(x < UINT64_C(1) << 53 ? x : odd));
}
#endif

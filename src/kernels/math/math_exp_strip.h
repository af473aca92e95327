/* math_exp_strip.h - exp of a strip of contiguous numbers, by vectors.  Compilers find neither
 * permutations for the look-up in tables nor AVX-512's multiplication by 2^n for themselves.
 *
 * A loop that needs exp writes the arguments of a strip of constant length to an array, calls exp
 * for it, and goes on in another loop.  Once all is unrolled the array is registers. */
#ifndef RD_KERNELS_MATH_MATH_EXP_STRIP_H
#define RD_KERNELS_MATH_MATH_EXP_STRIP_H
#include "kernels/math/math_exp.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define RD_EXP_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define RD_EXP_BYTES 32
#else
#define RD_EXP_BYTES 0
#endif

#if RD_EXP_BYTES
typedef float   rd_v32 __attribute__((vector_size(RD_EXP_BYTES), aligned(4), may_alias));
typedef double  rd_v64 __attribute__((vector_size(RD_EXP_BYTES), aligned(8), may_alias));
typedef int32_t rd_i32 __attribute__((vector_size(RD_EXP_BYTES), aligned(4), may_alias));
typedef int64_t rd_i64 __attribute__((vector_size(RD_EXP_BYTES), aligned(8), may_alias));

#define rd_all_v32(c) ((rd_v32){ 0 } + (c))
#define rd_all_v64(c) ((rd_v64){ 0 } + (c))
#endif

#if RD_EXP_BYTES == 64
/* Arguments are not clamped.  For x beyond the bounds n is large enough, if not exact, or infinite,
 * and r is anything: made small it leaves exp(r) positive, and 2^n makes that 0 or infinity.  If x
 * is NaN, so is n. */
#define rd_within_v32(x, least, most) (x)
#define rd_within_v64(x, least, most) (x)

#define rd_small_v32(r) (rd_v32) __builtin_ia32_rangeps512_mask(r, rd_all_v32(.25F), 2, r, -1, 4)
#define rd_small_v64(r) (rd_v64) __builtin_ia32_rangepd512_mask(r, rd_all_v64(.25), 2, r, -1, 4)

#define rd_fma_v32(a, b, c)     (rd_v32) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#define rd_fma_v64(a, b, c)     (rd_v64) __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4)
#define rd_times_2_v32(y, k, n) (rd_v32) __builtin_ia32_scalefps512_mask(y, n, y, -1, 4)
#define rd_times_2_v64(y, k, n) (rd_v64) __builtin_ia32_scalefpd512_mask(y, n, y, -1, 4)
#if defined(__clang__)
#define rd_entry_v32(table, k) \
    (rd_v32) __builtin_ia32_permvarsf512(*(const rd_v32 *)(table), (rd_i32)(k))
#define rd_entry_v64(table, k) \
    (rd_v64) __builtin_ia32_permvardf512(*(const rd_v64 *)(table), (rd_i64)(k))
#else
#define rd_entry_v32(table, k) __builtin_shuffle(*(const rd_v32 *)(table), (rd_i32)(k))
#define rd_entry_v64(table, k) __builtin_shuffle(*(const rd_v64 *)(table), (rd_i64)(k))
#endif

#elif RD_EXP_BYTES == 32
/* Given NaN, min and max return their second operand. */
#define rd_within_v32(x, least, most) \
    (rd_v32)                          \
        __builtin_ia32_maxps256(rd_all_v32(least), __builtin_ia32_minps256(rd_all_v32(most), x))
#define rd_within_v64(x, least, most) \
    (rd_v64)                          \
        __builtin_ia32_maxpd256(rd_all_v64(least), __builtin_ia32_minpd256(rd_all_v64(most), x))
#define rd_small_v32(r)     (r)
#define rd_small_v64(r)     (r)
#define rd_fma_v32(a, b, c) (rd_v32) __builtin_ia32_vfmaddps256(a, b, c)
#define rd_fma_v64(a, b, c) (rd_v64) __builtin_ia32_vfmaddpd256(a, b, c)

/* Returns y * 2^n for vectors, as rd_scale_f32() does: by two factors of about 2^(n/2).  The
 * bits of k have whole n above 4 bits of sixteenths; n itself is for AVX-512 only. */
RD_INLINE rd_v32 rd_times_2_v32(rd_v32 y, rd_v32 k, rd_v32 n)
{
    const rd_i32 sum = (rd_i32)k >> 4, half = sum >> 1;

    (void)n;
    return y * (rd_v32)(half << 23) * (rd_v32)((sum - half) << 23);
}

/* Returns y * 2^n for vectors, as rd_scale_f64() does: by two factors of about 2^(n/2).  The
 * bits of k have whole n above 3 bits of eighths; n itself is for AVX-512 only. */
RD_INLINE rd_v64 rd_times_2_v64(rd_v64 y, rd_v64 k, rd_v64 n)
{
    typedef uint64_t u64 __attribute__((vector_size(32))); /* there is no arithmetic shift of 64
                                                            * bits */
    const u64        sum = (u64)k >> 3, half = sum >> 1;

    (void)n;
    return y * (rd_v64)(half << 52) * (rd_v64)((sum - half) << 52);
}

/* Looks up entries of a table of 16 floats, which two registers hold: both are permuted by the
 * low 3 bits of k, and bit 3 selects one. */
RD_INLINE rd_v32 rd_entry_v32(const float *table, rd_v32 k)
{
    const rd_v32 low  = __builtin_ia32_permvarsf256(*(const rd_v32 *)table, (rd_i32)k);
    const rd_v32 high = __builtin_ia32_permvarsf256(*(const rd_v32 *)(table + 8), (rd_i32)k);

    return __builtin_ia32_blendvps256(low, high, (rd_v32)((rd_i32)k << 28));
}

#if defined(__clang__)
#define RD_EVEN_TWICE(v) (rd_i32) __builtin_shufflevector(v, v, 0, 0, 2, 2, 4, 4, 6, 6)
#else
#define RD_EVEN_TWICE(v) (rd_i32) __builtin_ia32_movsldup256(v)
#endif
/* Looks up entries of a table of 8 doubles, which two registers hold.  AVX2 has no such
 * permutation of doubles, so their halves are permuted as floats; bit 2 of k selects the
 * register. */
RD_INLINE rd_v64 rd_entry_v64(const double *table, rd_v64 k)
{
    typedef uint64_t u64 __attribute__((vector_size(32)));
    const rd_v32     twice = (rd_v32)((u64)k + (u64)k);
    const rd_i32     at    = RD_EVEN_TWICE(twice) | (rd_i32){ 0, 1, 0, 1, 0, 1, 0, 1 };
    const rd_v64     low   = (rd_v64)__builtin_ia32_permvarsf256(*(const rd_v32 *)table, at);
    const rd_v64     high  = (rd_v64)__builtin_ia32_permvarsf256(*(const rd_v32 *)(table + 4), at);

    return __builtin_ia32_blendvpd256(low, high, (rd_v64)((rd_i64)k << 61));
}
#endif

#if RD_EXP_BYTES
RD_DEFINE_EXP(v32, f32, F32, rd_v32)
RD_DEFINE_EXP(v64, f64, F64, rd_v64)
#else
typedef float  rd_v32;
typedef double rd_v64;
/* Integer views of memory that is float elsewhere. */
typedef int32_t rd_i32 __attribute__((may_alias));
typedef int64_t rd_i64 __attribute__((may_alias));
#define rd_exp_v32 rd_exp_f32
#define rd_exp_v64 rd_exp_f64
#endif

/* Loops of constant length are unrolled, except for single numbers: that would be 64 functions. */
#if RD_EXP_BYTES
#define RD_EXP_WRITE_OUT _Pragma("GCC unroll 64")
#else
#define RD_EXP_WRITE_OUT
#endif

/* Replaces n numbers by their exp; n is rounded up to whole vectors, so x must have room for
 * these. */
RD_INLINE void rd_exp_strip_f32(float *x, int n)
{
    RD_EXP_WRITE_OUT
    for (int i = 0; i < n; i += (int)(sizeof(rd_v32) / sizeof *x))
        *(rd_v32 *)(x + i) = rd_exp_v32(*(rd_v32 *)(x + i));
}

/* Replaces n numbers by their exp; n is rounded up to whole vectors, so x must have room for
 * these. */
RD_INLINE void rd_exp_strip_f64(double *x, int n)
{
    RD_EXP_WRITE_OUT
    for (int i = 0; i < n; i += (int)(sizeof(rd_v64) / sizeof *x))
        *(rd_v64 *)(x + i) = rd_exp_v64(*(rd_v64 *)(x + i));
}
#endif

/* hand_isa.c - every hand-written loop, for one instruction set: HAND_ISA names the table, compiler
 * flags do the rest. */
#include "hand.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)
#define UNROLL(n)   _Pragma(TEXT(GCC unroll n))
#define INLINE      static inline __attribute__((always_inline))

/* What the files included twice are written in: REAL, INT (as wide), SUFFIX are set for each
 * type. */
#define F(name)  JOIN(name, SUFFIX)
#define V        F(v)
#define W        F(w)
#define M        F(m)
#define LANES    (VECTOR_BYTES / (int)sizeof(REAL))
#define LOAD(p)  (*(const V *)(p))
#define STORE(p) (*(V *)(p))
#define SPLAT(x) ((V){ 0 } + (REAL)(x))

#if defined __AVX512F__
#include "simd_avx512.h"
#include "simd_exp_table.h"
#include "simd_masks_avx512.h"
#elif defined __AVX2__
#include "simd_avx2.h"
#else
#include "simd_plain.h"
#endif
#include "simd_exp.h"

/* The k-th of `threads` shares of n elements starts here; shares are whole multiples of 1024. */
static int64_t share_start(int64_t n, int k, int threads)
{
    return k == threads ? n : n / threads * k / 1024 * 1024;
}

/* Columns a thread takes at a time: at most `most`, and few enough that each thread gets some. */
static int64_t block_width(int64_t n, int64_t most, int threads)
{
    int64_t width = (n / threads + 127) / 128 * 128;

    return width > most ? most : width;
}

#define REAL   float
#define INT    int32_t
#define SUFFIX f32
#ifndef __AVX512F__
#include "simd_masks.h"
#endif
#include "hand_real.h"
#undef REAL
#undef INT
#undef SUFFIX

#define REAL   double
#define INT    int64_t
#define SUFFIX f64
#ifndef __AVX512F__
#include "simd_masks.h"
#endif
#include "hand_real.h"

#include "hand_image.h"

/* One loop for either type. */
#define image_mean_f32     image_mean
#define image_mean_f64     image_mean
#define bytes_max_f32      bytes_max
#define bytes_max_f64      bytes_max
#define bytes_max_low_f32  bytes_max_low
#define bytes_max_low_f64  bytes_max_low
#define bytes_any_f32      bytes_any
#define bytes_any_f64      bytes_any
#define bytes_count_f32    bytes_count
#define bytes_count_f64    bytes_count
#define bytes_where_f32    bytes_where
#define bytes_where_f64    bytes_where
#define half_mean_f32      half_mean
#define half_mean_f64      half_mean
#define matrix_product_f32 hand_blas_f32
#define matrix_product_f64 hand_blas_f64

#define HAND_OP(name, what) [HAND_##name] = name##_f32,

const hand_isa HAND_ISA = {
    .name = TEXT(HAND_ISA),
    .vector_bytes = VECTOR_BYTES,
    .f32 = {
#include "hand_ops.def"
    },
#undef HAND_OP
#define HAND_OP(name, what) [HAND_##name] = name##_f64,
    .f64 = {
#include "hand_ops.def"
    },
};

/* Vectors of 16 floats for loops written by hand.  GCC and Clang split them where a machine has
 * shorter ones. */
#ifndef BENCH_USERS_LANES_H
#define BENCH_USERS_LANES_H

#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef float v16 __attribute__((vector_size(64)));
typedef int   m16 __attribute__((vector_size(64)));
typedef float v16_anywhere __attribute__((vector_size(64), aligned(4), may_alias));

enum { LANES = 16 };

static inline v16 load(const float *from)
{
    return *(const v16_anywhere *)from;
}

static inline void store(float *to, v16 x)
{
    *(v16_anywhere *)to = x;
}

static inline v16 splat(float x)
{
    return (v16){ 0 } + x;
}

static inline v16 pick(m16 where, v16 x, v16 y)
{
    return (v16)((where & (m16)x) | (~where & (m16)y));
}

/* GCC makes a comparison and a choice of the general form, where one instruction does. */
static inline v16 least(v16 x, v16 y)
{
#ifdef __AVX512F__
    return (v16)_mm512_min_ps((__m512)x, (__m512)y);
#else
    return pick(x < y, x, y);
#endif
}

/* A bit for each lane where x < y. */
static inline unsigned below(v16 x, v16 y)
{
#ifdef __AVX512F__
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_LT_OQ);
#else
    unsigned bits = 0;
    for (int k = 0; k < LANES; k++)
        bits |= (unsigned)(x[k] < y[k]) << k;
    return bits;
#endif
}

static inline float least_of(v16 x)
{
    float y = x[0];
    for (int k = 1; k < LANES; k++)
        y = x[k] < y ? x[k] : y;
    return y;
}

#endif

/* math_random_strip.h - random words of a key's stream for a strip of indices, by vectors.
 * Compilers do not find the product of 32 by 32 bits in one of 64 by 64, which takes three times as
 * long, nor that neighbours are the two words of one block. */
#ifndef RD_KERNELS_MATH_MATH_RANDOM_STRIP_H
#define RD_KERNELS_MATH_MATH_RANDOM_STRIP_H
#include "kernels/math/math_random.h"
#include "kernels/math/shuffle.h"

#if defined(__AVX512F__)
#define RD_PHILOX_LANES 8
#elif defined(__AVX2__)
#define RD_PHILOX_LANES 4
#else
#define RD_PHILOX_LANES 0
#endif

#if RD_PHILOX_LANES
#define RD_PHILOX_BYTES (8 * RD_PHILOX_LANES)
typedef uint64_t rd_philox_vector
    __attribute__((vector_size(RD_PHILOX_BYTES), aligned(8), may_alias));
typedef int       rd_philox_32 __attribute__((vector_size(RD_PHILOX_BYTES)));
typedef long long rd_philox_64 __attribute__((vector_size(RD_PHILOX_BYTES)));

/* Products of lower halves. */
#if defined(__clang__)
#define rd_philox_times(x, y) (RD_PHILOX_LOW(x) * (y))
#elif RD_PHILOX_LANES == 8
#define rd_philox_times(x, y)                          \
    (rd_philox_vector) __builtin_ia32_pmuludq512_mask( \
        (rd_philox_32)(x), (rd_philox_32)((x)*0 + (y)), (rd_philox_64)(x), -1)
#else
#define rd_philox_times(x, y) \
    (rd_philox_vector) __builtin_ia32_pmuludq256((rd_philox_32)(x), (rd_philox_32)((x)*0 + (y)))
#endif

/* Computes the two random words of a block for each vector lane, by ten rounds of Philox: word 2
 * * block to *even, word 2 * block + 1 to *odd. The upper halves of a, b, c and d may hold
 * anything, as products read only lower halves. */
RD_INLINE void rd_philox_blocks(rd_philox_vector block, uint64_t key, rd_philox_vector *even,
                                rd_philox_vector *odd)
{
    rd_philox_vector a = block, b = block >> 32, c = block * 0, d = c;
    uint32_t         k = (uint32_t)key, l = (uint32_t)(key >> 32);

    for (int round = 0; round < 10; round++) {
        const rd_philox_vector p = rd_philox_times(a, 0xd2511f53U);
        const rd_philox_vector q = rd_philox_times(c, 0xcd9e8d57U);

        a = q >> 32 ^ b ^ (uint64_t)k;
        b = q;
        c = p >> 32 ^ d ^ (uint64_t)l;
        d = p;
        k += 0x9e3779b9;
        l += 0xbb67ae85;
    }
    *even = RD_PHILOX_LOW(a) | b << 32;
    *odd  = RD_PHILOX_LOW(c) | d << 32;
}

/* Returns the random words of the indices from their blocks: the even or the odd word, by the
 * lowest bit of the index. */
RD_INLINE rd_philox_vector rd_philox_chosen(rd_philox_vector index, rd_philox_vector even,
                                            rd_philox_vector odd)
{
    return even ^ ((even ^ odd) & -(index & 1));
}

#if RD_PHILOX_LANES == 8
#define RD_PHILOX_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define RD_PHILOX_ODDS  1, 3, 5, 7, 9, 11, 13, 15
#define RD_PHILOX_FIRST 0, 8, 1, 9, 2, 10, 3, 11
#define RD_PHILOX_LAST  4, 12, 5, 13, 6, 14, 7, 15
#else
#define RD_PHILOX_EVENS 0, 2, 4, 6
#define RD_PHILOX_ODDS  1, 3, 5, 7
#define RD_PHILOX_FIRST 0, 4, 1, 5
#define RD_PHILOX_LAST  2, 6, 3, 7
#endif

/* Replaces two vectors of indices by their random words.  `pairs`: neighbours 2k and 2k + 1
 * belong to one block, so one computation serves both vectors. */
RD_INLINE void rd_philox_two(uint64_t *x, uint64_t key, int pairs)
{
    rd_philox_vector *v = (rd_philox_vector *)x;
    rd_philox_vector  p = v[0], q = v[1], even, odd;

    if (pairs) {
        const rd_philox_vector e = RD_SHUFFLE(rd_philox_vector, p, q, RD_PHILOX_EVENS);
        const rd_philox_vector o = RD_SHUFFLE(rd_philox_vector, p, q, RD_PHILOX_ODDS);

        rd_philox_blocks(e >> 1, key, &even, &odd);
        p    = rd_philox_chosen(e, even, odd);
        q    = rd_philox_chosen(o, even, odd);
        v[0] = RD_SHUFFLE(rd_philox_vector, p, q, RD_PHILOX_FIRST);
        v[1] = RD_SHUFFLE(rd_philox_vector, p, q, RD_PHILOX_LAST);
        return;
    }
    rd_philox_blocks(p >> 1, key, &even, &odd);
    v[0] = rd_philox_chosen(p, even, odd);
    rd_philox_blocks(q >> 1, key, &even, &odd);
    v[1] = rd_philox_chosen(q, even, odd);
}
#endif

/* Replaces the n indices in x by the random words of a key's stream. If elements 2k and 2k + 1
 * of x always belong to one block of two words, as consecutive indices from an even one do, each
 * block is computed once. */
static __attribute__((noinline, unused)) void rd_philox_strip(uint64_t *x, int64_t n, uint64_t key)
{
    int64_t i = 0;
#if RD_PHILOX_LANES
    uint64_t apart = 0;

    for (int64_t k = 0; k + 2 <= n; k += 2)
        apart |= (x[k] ^ x[k + 1]) >> 1;
    for (; i + 2 * RD_PHILOX_LANES <= n; i += 2 * RD_PHILOX_LANES)
        rd_philox_two(x + i, key, apart == 0);
#endif
    for (; i < n; i++)
        x[i] = rd_philox_u64(x[i], key);
}
#endif

/* math_random.h - random bits of a counter and a key: Philox 4x32-10 of Salmon, Moraes, Dror and
 * Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3". */
#ifndef RD_KERNELS_MATH_MATH_RANDOM_H
#define RD_KERNELS_MATH_MATH_RANDOM_H

#include "core/bits.h"

/* Four words of 32 bits, each in 64, so that a vector has one lane for all that an element takes:
 * products of 32 by 32 bits need them anyway. */
typedef struct rd_philox_block {
    uint64_t a, b, c, d; /* the words in order */
} rd_philox_block;

#define RD_PHILOX_LOW(x) ((x)&0xffffffff)

/* Returns the block after one round of Philox with the round's two keys: two products of 32 by
 * 32 bits, the high halves combined by exclusive or, and the words exchanged. */
RD_INLINE rd_philox_block rd_philox_round(rd_philox_block x, uint64_t k, uint64_t l)
{
    const uint64_t p = x.a * 0xd2511f53, q = x.c * 0xcd9e8d57;

    const rd_philox_block y = { q >> 32 ^ x.b ^ RD_PHILOX_LOW(k), RD_PHILOX_LOW(q),
                                p >> 32 ^ x.d ^ RD_PHILOX_LOW(l), RD_PHILOX_LOW(p) };

    return y;
}

/* Returns four random words for a counter x and a key (k, l): ten rounds with keys in arithmetic
 * progression.  They are written out, as loops in a loop make no vectors. */
RD_INLINE rd_philox_block rd_philox_4x32(rd_philox_block x, uint64_t k, uint64_t l)
{
    const uint64_t k_step = 0x9e3779b9, l_step = 0xbb67ae85;

    x = rd_philox_round(x, k, l);
    x = rd_philox_round(x, k + 1 * k_step, l + 1 * l_step);
    x = rd_philox_round(x, k + 2 * k_step, l + 2 * l_step);
    x = rd_philox_round(x, k + 3 * k_step, l + 3 * l_step);
    x = rd_philox_round(x, k + 4 * k_step, l + 4 * l_step);
    x = rd_philox_round(x, k + 5 * k_step, l + 5 * l_step);
    x = rd_philox_round(x, k + 6 * k_step, l + 6 * l_step);
    x = rd_philox_round(x, k + 7 * k_step, l + 7 * l_step);
    x = rd_philox_round(x, k + 8 * k_step, l + 8 * l_step);
    return rd_philox_round(x, k + 9 * k_step, l + 9 * l_step);
}

/* Returns random word `index` of 64 bits of a key's stream. Block number index / 2 is the
 * counter of Philox, whose four words of 32 bits make two of 64. */
RD_INLINE uint64_t rd_philox_u64(uint64_t index, uint64_t key)
{
    const uint64_t        block = index >> 1;
    const rd_philox_block x     = { RD_PHILOX_LOW(block), block >> 32, 0, 0 };
    const rd_philox_block y     = rd_philox_4x32(x, RD_PHILOX_LOW(key), key >> 32);

    return index & 1 ? y.c | y.d << 32 : y.a | y.b << 32;
}
#endif

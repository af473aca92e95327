/* bytes.h - sizes of memory: saturating sums and products, and memory laid out piece by piece. */
#ifndef RD_CORE_BYTES_H
#define RD_CORE_BYTES_H
#include <stddef.h>
#include <stdint.h>

/* The sum of two sizes of at least 0; INT64_MAX on overflow. */
static inline int64_t rd_bytes_add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The product of two sizes; INT64_MAX on overflow. */
static inline int64_t rd_bytes_times(int64_t a, int64_t b)
{
    int64_t bytes;

    return __builtin_mul_overflow(a, b, &bytes) ? INT64_MAX : bytes;
}

/* Rounds a number of bytes up to whole cache lines of 64. */
static inline int64_t rd_lines(int64_t bytes)
{
    return rd_bytes_add(bytes, 63) / 64 * 64;
}

/* The first cache line at or after an address. */
static inline char *rd_next_line(char *at)
{
    return at + (-(uintptr_t)at & 63);
}

/* Reserves the next piece of a block of memory: n items of `each` bytes, in whole cache lines.
 * Returns its offset in bytes, and adds its size to *used. */
static inline int64_t rd_piece(int64_t *used, int64_t n, int64_t each)
{
    const int64_t at = *used;

    *used = rd_bytes_add(at, rd_lines(rd_bytes_times(n, each)));
    return at;
}

/* Reserves the next piece, as rd_piece() does, and returns its address; NULL if `memory` is NULL,
 * to learn how much is needed. */
static inline void *rd_piece_of(char *memory, int64_t *used, int64_t n, int64_t each)
{
    const int64_t at = rd_piece(used, n, each);

    return memory ? memory + at : NULL;
}
#endif

/* transpose_prelude.h - transposes rows in registers, in the text of nests: simd/transpose.h for
 * elements of 4 and of 8 bytes, by the vectors that the text is compiled for. */
#include "kernels/math/shuffle.h"
#if defined(__clang__)
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#else
#define UNROLL_(...) _Pragma(#__VA_ARGS__)
#define UNROLL(n)    UNROLL_(GCC unroll n)
#endif
#define ALWAYS                   inline __attribute__((always_inline))
#define STORE_VECTOR(y, v, past) *(y) = (v)
#define bool _Bool
#define false 0
#if defined(__AVX512F__)
#define BYTES      64
#define INDICES_32 INDICES_16
#define INDICES_64 INDICES_8
#elif defined(__AVX2__)
#define BYTES      32
#define INDICES_32 INDICES_8
#define INDICES_64 INDICES_4
#else
#define BYTES      16
#define INDICES_32 INDICES_4
#define INDICES_64 INDICES_2
#endif
/* Bits of elements of any type. */
typedef uint32_t word4 __attribute__((may_alias));
typedef uint64_t word8 __attribute__((may_alias));
#define T       word4
#define INDICES INDICES_32
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef INDICES
#define T       word8
#define INDICES INDICES_64
#include "kernels/cpu/simd/transpose.h"
#undef T
#undef INDICES

/* Transposes n rows of k elements: y[c * ldy + r] = x[r * ldx + c]. k is small, but at least 4.
 * Four columns are done at a time, of as many rows as fill a vector. The last four may overlap
 * those before. */
#if defined(__AVX2__) && !defined(__clang__)
#define ROWS_4 8
typedef word4 four4 __attribute__((vector_size(16), aligned(4)));
typedef word4 rows4 __attribute__((vector_size(32), aligned(4)));
#define IN_ROWS(i)                                                                                \
    __builtin_shufflevector(*(const four4 *)(x + (i)*ldx), *(const four4 *)(x + ((i) + 4) * ldx), \
                            0, 1, 2, 3, 4, 5, 6, 7)
#define LOWS(a, b)   RD_SHUFFLE(rows4, a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGHS(a, b)  RD_SHUFFLE(rows4, a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOWER(a, b)  RD_SHUFFLE(rows4, a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGHER(a, b) RD_SHUFFLE(rows4, a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#else
#define ROWS_4       4
typedef word4 rows4 __attribute__((vector_size(16), aligned(4)));
#define IN_ROWS(i)   *(const rows4 *)(x + (i)*ldx)
#define LOWS(a, b)   RD_SHUFFLE(rows4, a, b, 0, 4, 1, 5)
#define HIGHS(a, b)  RD_SHUFFLE(rows4, a, b, 2, 6, 3, 7)
#define LOWER(a, b)  RD_SHUFFLE(rows4, a, b, 0, 1, 4, 5)
#define HIGHER(a, b) RD_SHUFFLE(rows4, a, b, 2, 3, 6, 7)
#endif
/* Transposes ROWS_4 rows (8, or 4 without AVX2) of four columns of 4 bytes, by two rounds of
 * shuffles of register pairs. */
static ALWAYS void four_columns_word4(word4 *y, int64_t ldy, const word4 *x, int64_t ldx)
{
    const rows4 a = IN_ROWS(0), b = IN_ROWS(1), c = IN_ROWS(2), d = IN_ROWS(3);
    const rows4 p = LOWS(a, b), q = HIGHS(a, b), r = LOWS(c, d), s = HIGHS(c, d);

    *(rows4 *)y             = LOWER(p, r);
    *(rows4 *)(y + ldy)     = HIGHER(p, r);
    *(rows4 *)(y + 2 * ldy) = LOWER(q, s);
    *(rows4 *)(y + 3 * ldy) = HIGHER(q, s);
}

#define ROWS_8 4
/* Transposes four rows of four columns of 8 bytes: pairs of rows are interleaved, and then pairs of
 * these. */
static ALWAYS void four_columns_word8(word8 *y, int64_t ldy, const word8 *x, int64_t ldx)
{
#if defined(__AVX2__)
    typedef word8 rows8 __attribute__((vector_size(32), aligned(8)));
#define IN(i) *(const rows8 *)(x + (i)*ldx)
    const rows8 a = IN(0), b = IN(1), c = IN(2), d = IN(3);
    const rows8 p = RD_SHUFFLE(rows8, a, b, 0, 4, 2, 6), q = RD_SHUFFLE(rows8, a, b, 1, 5, 3, 7),
                r = RD_SHUFFLE(rows8, c, d, 0, 4, 2, 6), s = RD_SHUFFLE(rows8, c, d, 1, 5, 3, 7);

    *(rows8 *)y             = RD_SHUFFLE(rows8, p, r, 0, 1, 4, 5);
    *(rows8 *)(y + ldy)     = RD_SHUFFLE(rows8, q, s, 0, 1, 4, 5);
    *(rows8 *)(y + 2 * ldy) = RD_SHUFFLE(rows8, p, r, 2, 3, 6, 7);
    *(rows8 *)(y + 3 * ldy) = RD_SHUFFLE(rows8, q, s, 2, 3, 6, 7);
#undef IN
#else
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 4; j++)
            y[i * ldy + j] = x[j * ldx + i];
#endif
}

#define COLUMNS(T, ROWS)                                                                        \
    static ALWAYS void JOIN(columns, T)(T * y, int64_t ldy, const T *x, int64_t ldx, int64_t k, \
                                        int64_t n)                                              \
    {                                                                                           \
        int64_t r = 0;                                                                          \
                                                                                                \
        for (; r + ROWS <= n; r += ROWS)                                                        \
            for (int64_t c = 0; c < k; c += 4) {                                                \
                const int64_t at = c < k - 4 ? c : k - 4;                                       \
                JOIN(four_columns, T)(y + at * ldy + r, ldy, x + r * ldx + at, ldx);            \
            }                                                                                   \
        for (; r < n; r++)                                                                      \
            for (int64_t c = 0; c < k; c++)                                                     \
                y[c * ldy + r] = x[r * ldx + c];                                                \
    }
COLUMNS(word4, ROWS_4)
COLUMNS(word8, ROWS_8)
#undef COLUMNS
#undef ROWS_4
#undef ROWS_8
#undef IN_ROWS
#undef LOWS
#undef HIGHS
#undef LOWER
#undef HIGHER
#undef UNROLL
#undef UNROLL_
#undef ALWAYS
#undef STORE_VECTOR
#undef bool
#undef false
#undef BYTES
#undef INDICES_32
#undef INDICES_64

/* sort_kernels.h - sorts rows with one instruction set; the includer sets NAME and RD_VECTOR_BYTES.
 *
 *   elements -keys.h-> unsigned keys in the same order -network.h or few.h-> sorted keys -keys.h->
 * elements */
#include "kernels/cpu/sort/row_sort.h"
#include <math.h>
#include <string.h>
#if RD_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

/* Vectors stay in registers, and what their loops count is a constant. */
#define ALWAYS      inline __attribute__((always_inline))
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#if defined(__clang__)
#define UNROLL(n) PRAGMA(clang loop unroll(full))
#else
#define UNROLL(n) PRAGMA(GCC unroll n)
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

/* Returns the end of the strip (RD_SORT_STRIP = 65536 elements, or what is left of n) that begins
 * at i.  Loops over all elements go strip by strip, and test for cancellation between two strips: a
 * cancelled run leaves by longjmp. */
static inline int64_t strip_end(int64_t i, int64_t n)
{
    if (i > 0)
        rd_sort_check_stop();
    return n - i > RD_SORT_STRIP ? i + RD_SORT_STRIP : n;
}

/* Copies `bytes` bytes, 65536 at a time: strip_end() tests for cancellation between the pieces. */
static void copy_strips(int64_t bytes, const void *from, void *to)
{
    for (int64_t i = 0, end; i < bytes; i = end) {
        end = strip_end(i, bytes);
        memcpy((char *)to + i, (const char *)from + i, (size_t)(end - i));
    }
}

#include "kernels/cpu/sort/merge_exchange.h"
#include "kernels/cpu/sort/keys.h"
#if RD_VECTOR_BYTES == 64
#define ORDER "kernels/cpu/sort/network.h"
#else
#define ORDER "kernels/cpu/sort/few.h"
#endif

#define K                       uint32_t
#define BITS                    32
#define SET(x)                  _mm512_set1_epi32((int)(x))
#define LOAD(mask, p)           _mm512_maskz_loadu_epi32((__mmask16)(mask), p)
#define LOAD_OR(mask, other, p) _mm512_mask_loadu_epi32(other, (__mmask16)(mask), p)
#define STORE_FIRST(mask, p, v) _mm512_mask_storeu_epi32(p, (__mmask16)(mask), v)
#define PERMUTE                 _mm512_permutexvar_epi32
#define MIN                     _mm512_min_epu32
#define MAX                     _mm512_max_epu32
#define MASK_MAX(v, mask, a, b) _mm512_mask_max_epu32(v, (__mmask16)(mask), a, b)
#define STORE(p, v)             _mm512_storeu_si512(p, v)
#define SUB                     _mm512_sub_epi32
#define WITHIN(a, b)            _mm512_cmple_epu32_mask(a, b)
#define BELOW(a, b)             _mm512_cmplt_epu32_mask(a, b)
#define COMPRESS(mask, v)       _mm512_maskz_compress_epi32((__mmask16)(mask), v)
#include "kernels/cpu/sort/between.h"
#include "kernels/cpu/sort/select.h"
#include "kernels/cpu/sort/radix.h"
#include ORDER
#include "kernels/cpu/sort/key_row.h"
#include "kernels/cpu/sort/interleaved_rows.h"
#undef K
#undef BITS
#undef SET
#undef LOAD
#undef SUB
#undef WITHIN
#undef BELOW
#undef COMPRESS
#undef LOAD_OR
#undef STORE_FIRST
#undef PERMUTE
#undef MIN
#undef MAX
#undef MASK_MAX
#define K                       uint64_t
#define BITS                    64
#define SET(x)                  _mm512_set1_epi64((long long)(x))
#define LOAD(mask, p)           _mm512_maskz_loadu_epi64((__mmask8)(mask), p)
#define LOAD_OR(mask, other, p) _mm512_mask_loadu_epi64(other, (__mmask8)(mask), p)
#define STORE_FIRST(mask, p, v) _mm512_mask_storeu_epi64(p, (__mmask8)(mask), v)
#define PERMUTE                 _mm512_permutexvar_epi64
#define MIN                     _mm512_min_epu64
#define MAX                     _mm512_max_epu64
#define MASK_MAX(v, mask, a, b) _mm512_mask_max_epu64(v, (__mmask8)(mask), a, b)
#define SUB                     _mm512_sub_epi64
#define WITHIN(a, b)            _mm512_cmple_epu64_mask(a, b)
#define BELOW(a, b)             _mm512_cmplt_epu64_mask(a, b)
#define COMPRESS(mask, v)       _mm512_maskz_compress_epi64((__mmask8)(mask), v)
#include "kernels/cpu/sort/between.h"
#include "kernels/cpu/sort/select.h"
#include "kernels/cpu/sort/radix.h"
#include ORDER
#include "kernels/cpu/sort/key_row.h"
#include "kernels/cpu/sort/interleaved_rows.h"

#include "kernels/cpu/sort/interleaved_places.h"

/* One type's case: makes unsigned keys (32 or 64 bits) that have the order of the elements, then
 * what is asked for: values, places (positions, as argsort has them) or quantiles.  `invert` is all
 * ones of an element's bits for a descending order, else 0; `zero` is the key of 0 and -0. */
#define ROW(name, bits, sign, mask, minus_zero)                                 \
    case RD_##name: {                                                           \
        JOIN(row, bits) r = { .s = s, .from = from, .n = s->n, .keys = work };  \
        r.work            = r.keys + s->n + 16;                                 \
        r.to_elements     = elements_##sign;                                    \
        r.invert          = s->facts->descending ? (JOIN(key, bits))(mask) : 0; \
        r.found           = keys_##sign(s->n, from, r.keys, r.invert);          \
        r.zero            = (JOIN(key, bits))(minus_zero) ^ r.invert;           \
        JOIN(sort_row, bits)(&r, to);                                           \
        break;                                                                  \
    }
typedef uint32_t key_32;
typedef uint64_t key_64;

/* ROW(type, bits of its keys, its conversion, bits of its elements as a mask, the key of -0: keys
 * of 0 are looked for where there is one) */
#define ROWS_OF_WORDS                           \
    ROW(BOOL, 32, u8, 0xff, 0)                  \
    ROW(U8, 32, u8, 0xff, 0)                    \
    ROW(I8, 32, i8, 0xff, 0)                    \
    ROW(U16, 32, u16, 0xffff, 0)                \
    ROW(I16, 32, i16, 0xffff, 0)                \
    ROW(U32, 32, u32, 0xffffffffU, 0)           \
    ROW(I32, 32, i32, 0xffffffffU, 0)           \
    ROW(U64, 64, u64, UINT64_MAX, 0)            \
    ROW(I64, 64, i64, UINT64_MAX, 0)            \
    ROW(F32, 32, f32, 0xffffffffU, 0x80000000U) \
    ROW(F64, 64, f64, UINT64_MAX, UINT64_C(1) << 63)
#define ROW_OF_NARROW_FLOAT(name, sign, C, ...) \
    ROW(name, 32, sign, (1U << 8 * sizeof(C)) - 1, 1U << (8 * sizeof(C) - 1))

/* Sorts one row of s->n elements at `from`, and writes s->n_out results to `to`.  The macro ROW has
 * the case of a type: it makes unsigned keys in `work`, then values, places (argsort) or quantiles.
 * RD_NARROW_FLOAT adds the float types of 8 and 16 bits. */
void JOIN(rd_sort_row, NAME)(const rd_sorting *s, const void *from, void *to, void *work)
{
    switch (s->type) {
        ROWS_OF_WORDS
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT ROW_OF_NARROW_FLOAT
#include "core/dtypes.def"
    default: break;
    }
}
#undef ROW

/* One type's case for many short rows: sorts them interleaved (element j of all rows is one array),
 * `side` rows at a time: as many as have 256 bytes of keys. */
#define ROW(name, bits, sign, mask, minus_zero)                                           \
    case RD_##name: {                                                                     \
        JOIN(group, bits) g = { .s = s, .from_pitch = from_pitch, .to_pitch = to_pitch }; \
        g.keys              = keys_##sign;                                                \
        g.to_elements       = elements_##sign;                                            \
        g.invert            = s->facts->descending ? (JOIN(key, bits))(mask) : 0;         \
        g.zero              = (JOIN(key, bits))(minus_zero) ^ g.invert;                   \
        g.work              = (char *)work + RD_SORT_INTERLEAVED_BYTES * s->n;            \
        g.x                 = work;                                                       \
        for (int64_t first = 0; first < rows; first += side) {                            \
            g.rows = rows - first < side ? rows - first : side;                           \
            g.from = (const char *)from + first * from_pitch;                             \
            g.to   = (char *)to + first * to_pitch;                                       \
            if (places)                                                                   \
                JOIN(sort_interleaved_places, bits)(&g);                                  \
            else                                                                          \
                JOIN(sort_interleaved, bits)(&g);                                         \
        }                                                                                 \
        break;                                                                            \
    }
/* Sorts `rows` short rows interleaved: a sorting network compares element j of `side` rows with
 * element k of the same rows, by vectors.  Pitches are bytes from row to row.  INTERLEAVED rows go
 * at a time, fewer for 64-bit keys; a place (argsort) is packed with its key into 64 bits. */
void JOIN(rd_sort_rows, NAME)(const rd_sorting *s, int64_t rows, const void *from,
                              int64_t from_pitch, void *to, int64_t to_pitch, void *work)
{
    const bool    places = s->facts->what == RD_SORT_PLACES;
    const int64_t side   = places || rd_dtype_size(s->type) == 8 ? INTERLEAVED_64 : INTERLEAVED_32;

    switch (s->type) {
        ROWS_OF_WORDS
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT ROW_OF_NARROW_FLOAT
#include "core/dtypes.def"
    default: break;
    }
}
#undef ROW

#include "kernels/cpu/sort/take_strip.h"

/* nest_prelude.h - what the text of every nest begins with, behind the library's own code
 * (jit/prelude.h): macros and functions that print/ writes calls of. */
#define INT64_C(x)  x##LL
#define UINT64_C(x) x##ULL
#define RD_HALF_TYPES
#include "core/half.h"
#include "kernels/cpu/nest/nest_call.h"
#include "kernels/math/prefix_sums.h"

#define LESS(a, b)             ((a) < (b) ? (a) : (b))
#define MORE(a, b)             ((a) > (b) ? (a) : (b))
/* DOWN_TO(): the greatest first + k * by that is not above `at`. UP_TO(): the least one that is
 * not below. */
#define DOWN_TO(at, first, by) ((first) + ((at) - (first)) / (by) * (by))
#define UP_TO(at, first, by)   DOWN_TO((at) + (by)-1, first, by)
#define LINES                  __attribute__((aligned(64)))
#define NOINLINE               __attribute__((noinline))

/* The same index, but compilers do not know that. */
static inline int64_t rd_hidden(int64_t index)
{
    __asm__("" : "+r"(index));
    return index;
}
#define HIDDEN(index) rd_hidden(index)

/* exp of a strip: unrolled where its length is constant. */
#define EXP_OF_STRIP(elem, x, n)   \
    if (__builtin_constant_p(n))   \
        rd_exp_strip_##elem(x, n); \
    else                           \
        rd_exp_strips_##elem(x, n);

/* A function of a strip. If no argument is hard, vectors compute it; else each element is
 * computed alone. */
#define OF_STRIP(name, elem, x, n)                           \
    {                                                        \
        int hard = 0;                                        \
        INDEPENDENT                                          \
        for (int64_t i = 0; i < n; i++)                      \
            hard |= rd_##name##_##elem##_hard(x[i]) ? 1 : 0; \
        if (hard)                                            \
            for (int64_t i = 0; i < n; i++)                  \
                x[i] = rd_math_##name##_##elem(x[i]);        \
        else                                                 \
            INDEPENDENT                                      \
        for (int64_t i = 0; i < n; i++)                      \
            x[i] = rd_##name##_##elem(x[i]);                 \
    }

/* x / by, where only the nearest whole number counts: print/quotients.c. */
#ifdef __FMA__
#define NEAR_QUOTIENT(x, by, high, low, fma) fma(x, high, (x) * (low))
#else
#define NEAR_QUOTIENT(x, by, high, low, fma) (x) / (by)
#endif
/* x / by by two multiplications, where only the nearest whole number counts; high + low is 1 /
 * by. */
static inline float rd_quotient_f32(float x, float by, float high, float low)
{
    return NEAR_QUOTIENT(x, by, high, low, __builtin_fmaf);
}
/* x / by by two multiplications, where only the nearest whole number counts; high + low is 1 / by
 * (f64). */
static inline double rd_quotient_f64(double x, double by, double high, double low)
{
    return NEAR_QUOTIENT(x, by, high, low, __builtin_fma);
}

/* Floored division of floats, or its remainder, for a strip. If no quotient is huge, vectors
 * compute it. */
#define DIVIDED_STRIP(name, elem, x, y, n)                                             \
    {                                                                                  \
        int hard = 0;                                                                  \
        INDEPENDENT                                                                    \
        for (int64_t i = 0; i < n; i++)                                                \
            hard |= rd_rest_hard_##elem(x[i], y[i]);                                   \
        if (hard)                                                                      \
            for (int64_t i = 0; i < n; i++)                                            \
                x[i] = rd_##name##_any_##elem(x[i], y[i]);                             \
        else                                                                           \
            INDEPENDENT                                                                \
        for (int64_t i = 0; i < n; i++)                                                \
            x[i] = rd_##name##_by_rest_##elem(x[i], y[i], rd_rest_##elem(x[i], y[i])); \
    }

/* The same by a known number: print/remainders.c. Where quotients are too large for a product, a
 * division is mostly still exact. */
#define DIVIDED_STRIP_BY(name, elem, x, by, up, n)                                     \
    {                                                                                  \
        int far = 0, hard = 0;                                                         \
        INDEPENDENT                                                                    \
        for (int64_t i = 0; i < n; i++)                                                \
            far |= rd_rest_far_##elem(x[i], by);                                       \
        if (far) {                                                                     \
            INDEPENDENT                                                                \
            for (int64_t i = 0; i < n; i++)                                            \
                hard |= rd_rest_hard_##elem(x[i], by);                                 \
        }                                                                              \
        if (hard) {                                                                    \
            for (int64_t i = 0; i < n; i++)                                            \
                x[i] = rd_##name##_any_##elem(x[i], by);                               \
        } else if (far) {                                                              \
            INDEPENDENT                                                                \
            for (int64_t i = 0; i < n; i++)                                            \
                x[i] = rd_##name##_by_rest_##elem(x[i], by, rd_rest_##elem(x[i], by)); \
        } else {                                                                       \
            INDEPENDENT                                                                \
            for (int64_t i = 0; i < n; i++)                                            \
                x[i] = rd_##name##_near_##elem(x[i], by, up);                          \
        }                                                                              \
    }

/* Returns x, or 0 if it is NaN, as a cast to ints has it. */
static inline float rd_or_0_f32(float x)
{
    return x == x ? x : 0;
}
/* Returns x, or 0 if it is NaN, as a cast to ints has it (f64). */
static inline double rd_or_0_f64(double x)
{
    return x == x ? x : 0;
}

/* Casts floats to ints of 32 bits or less: by vectors if all fit, else by the function. */
#define INTS_OF_STRIP(type, function, least, x, y, n)               \
    {                                                               \
        int hard = 0;                                               \
        INDEPENDENT                                                 \
        for (int64_t i = 0; i < n; i++)                             \
            hard |= x[i] > (least) && x[i] < 2147483648.0F ? 0 : 1; \
        if (hard)                                                   \
            for (int64_t i = 0; i < n; i++)                         \
                y[i] = function(x[i]);                              \
        else                                                        \
            INDEPENDENT                                             \
        for (int64_t i = 0; i < n; i++)                             \
            y[i] = (type)(int32_t)x[i];                             \
    }

/* rd_row_at_TYPE(): the first of n rows (of a sparse array) that begins at element `at` or behind
 * it, by bisection. Rows at element 0 belong to the first task. */
#define ROW_AT(name, T)                                                           \
    static inline int64_t rd_row_at_##name(const T *begin, int64_t n, int64_t at) \
    {                                                                             \
        int64_t lo = 0, hi = at > 0 ? n : 0;                                      \
                                                                                  \
        while (lo < hi) {                                                         \
            const int64_t mid = lo + (hi - lo) / 2;                               \
                                                                                  \
            if (begin[mid] < at)                                                  \
                lo = mid + 1;                                                     \
            else                                                                  \
                hi = mid;                                                         \
        }                                                                         \
        return lo;                                                                \
    }
ROW_AT(i32, int32_t)
ROW_AT(i64, int64_t)

/* Prefetches n elements into the second-level cache. */
#define PREFETCH(x, n)                                            \
    for (int64_t at = 0; at < n; at += 64 / (int64_t)sizeof *(x)) \
        __builtin_prefetch((x) + at, 0, 2);

/* The same for so few elements that the loop is unrolled. */
#define PREFETCH_UNROLLED(x, n)                                                            \
    _Pragma("GCC unroll 64") for (int64_t at = 0; at < n; at += 64 / (int64_t)sizeof *(x)) \
        __builtin_prefetch((x) + at, 0, 2);

/* Non-temporal stores, which bypass the caches: whole cache lines, from where they begin. */
typedef __UINTPTR_TYPE__ uintptr_t;
#if defined(__AVX512F__)
typedef float part_of_line __attribute__((vector_size(64), may_alias));
#define NONTEMPORAL_STORE __builtin_ia32_movntps512
#elif defined(__AVX__)
typedef float part_of_line __attribute__((vector_size(32), may_alias));
#define NONTEMPORAL_STORE __builtin_ia32_movntps256
#elif defined(__SSE__)
typedef float part_of_line __attribute__((vector_size(16), may_alias));
#define NONTEMPORAL_STORE __builtin_ia32_movntps
#endif
#if defined(__clang__) && defined(NONTEMPORAL_STORE)
#undef NONTEMPORAL_STORE
#define NONTEMPORAL_STORE(to, part) __builtin_nontemporal_store(part, (part_of_line *)(to))
#endif

/* Copies by non-temporal stores, except partial cache lines at both ends. A few lines with such
 * ends gain nothing, and are copied as usual. */
static inline __attribute__((always_inline)) void rd_nontemporal_copy(char *y, const char *x,
                                                                      int64_t bytes)
{
#ifdef NONTEMPORAL_STORE
    typedef part_of_line part __attribute__((aligned(1)));
    /* before the first whole line */
    const int64_t head = LESS((int64_t)(-(uintptr_t)y % 64), bytes);
    int64_t       k    = head;

    if (head == 0 && bytes % 64 == 0) { /* whole lines only */
#pragma GCC unroll 64
        for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(part_of_line))
            NONTEMPORAL_STORE((float *)(y + at), *(const part_of_line *)(x + at));
        return;
    }
    if (head && bytes < 2048) { /* a few lines */
        memcpy(y, x, (size_t)bytes);
        return;
    }
    memcpy(y, x, (size_t)head);
    for (; k + 64 <= bytes; k += 64)
        for (int64_t j = k; j < k + 64; j += (int64_t)sizeof(part))
            NONTEMPORAL_STORE((float *)(y + j), *(const part *)(x + j));
    memcpy(y + k, x + k, (size_t)(bytes - k));
#else
    memcpy(y, x, (size_t)bytes);
#endif
}

/* Elements from the begin of a cache line to y. */
#define LINE_OFFSET(y) ((int64_t)((uintptr_t)(y) % 64 / sizeof *(y)))

/* Makes non-temporal stores visible to other threads. */
#ifdef NONTEMPORAL_STORE
#define NONTEMPORAL_FENCE __builtin_ia32_sfence();
#else
#define NONTEMPORAL_FENCE
#endif

/* Widens adjacent f16 to f32, with the bits of rd_f16_to_f32().  Of the last two arguments of the
 * 512-bit instruction, -1 means all lanes, and 4 the current rounding mode. */
static inline __attribute__((always_inline)) void rd_widen_f16(float *y, const rd_f16 *x, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__) && !defined(__clang__)
    typedef short halves __attribute__((vector_size(32), aligned(2), may_alias));
    for (; i + 16 <= n; i += 16)
        *(rd_v32 *)(y + i) = (rd_v32)__builtin_ia32_vcvtph2ps512_mask(*(const halves *)(x + i),
                                                                      (rd_v32){ 0 }, -1, 4);
#elif defined(__F16C__) && !defined(__clang__)
    typedef short halves __attribute__((vector_size(16), aligned(2), may_alias));
    for (; i + 8 <= n; i += 8)
        *(rd_v32 *)(y + i) = (rd_v32)__builtin_ia32_vcvtph2ps256(*(const halves *)(x + i));
#endif
    for (; i < n; i++)
        y[i] = rd_f16_to_f32(x[i]);
}

/* Widens adjacent bytes to ints. */
#define WIDEN_BYTES(name, type)                                                                  \
    static inline __attribute__((always_inline)) void name(int32_t *y, const type *x, int64_t n) \
    {                                                                                            \
        typedef type    bytes __attribute__((vector_size(8), aligned(1), may_alias));            \
        typedef int32_t ints __attribute__((vector_size(32), aligned(4), may_alias));            \
        int64_t         i = 0;                                                                   \
        for (; i + 8 <= n; i += 8)                                                               \
            *(ints *)(y + i) = __builtin_convertvector(*(const bytes *)(x + i), ints);           \
        for (; i < n; i++)                                                                       \
            y[i] = x[i];                                                                         \
    }
WIDEN_BYTES(rd_widen_u8, uint8_t)
WIDEN_BYTES(rd_widen_i8, int8_t)

/* Widens three planes of bytes, which lie interleaved (pixels), to ints. Pixels are shuffled to
 * 32 bits each, in every 16 bytes of a vector. The last 16 bytes have their first pixel 4 bytes
 * later, so nothing behind the pixels is read. */
static inline void rd_planes_u8(int32_t *a, int32_t *b, int32_t *c, const uint8_t *x, int64_t n)
{
    int64_t i = 0;
/* PIXELS: four adjacent ints (16 bytes) from int `at` on.  PIXEL: the three bytes of a pixel, and
 * any fourth, which is masked off.  QUARTER: four pixels. */
#define PIXELS(at)  at, at + 1, at + 2, at + 3
#define PIXEL(at)   at, at + 1, at + 2, at + 2
#define QUARTER(at) PIXEL(at), PIXEL(at + 3), PIXEL(at + 6), PIXEL(at + 9)
#if defined(__AVX512BW__) && !defined(__clang__)
    typedef int32_t half __attribute__((vector_size(32), aligned(1), may_alias));
    typedef int32_t ints __attribute__((vector_size(64), aligned(4), may_alias));
    typedef uint8_t bytes __attribute__((vector_size(64)));
    for (; i + 16 <= n; i += 16) {
        const half low = *(const half *)(x + 3 * i), high = *(const half *)(x + 3 * i + 16);
        const ints rows =
            __builtin_shuffle(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                                      11, 12, 13, 14, 15),
                              (ints){ PIXELS(0), PIXELS(3), PIXELS(10), PIXELS(12) });
        const ints pixels = (ints)__builtin_shuffle(
            (bytes)rows, (bytes){ QUARTER(0), QUARTER(16), QUARTER(32), QUARTER(52) });

        *(ints *)(a + i) = pixels & 255;
        *(ints *)(b + i) = (pixels >> 8) & 255;
        *(ints *)(c + i) = (pixels >> 16) & 255;
    }
#elif defined(__AVX2__) && !defined(__clang__)
    typedef int32_t quarter __attribute__((vector_size(16), aligned(1), may_alias));
    typedef int32_t ints __attribute__((vector_size(32), aligned(4), may_alias));
    typedef uint8_t bytes __attribute__((vector_size(32)));
    for (; i + 8 <= n; i += 8) {
        const quarter low = *(const quarter *)(x + 3 * i), high = *(const quarter *)(x + 3 * i + 8);
        const ints    pixels = (ints)__builtin_shuffle(
               (bytes)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7),
               (bytes){ QUARTER(0), QUARTER(20) });

        *(ints *)(a + i) = pixels & 255;
        *(ints *)(b + i) = (pixels >> 8) & 255;
        *(ints *)(c + i) = (pixels >> 16) & 255;
    }
#endif
#undef PIXELS
#undef PIXEL
#undef QUARTER
    INDEPENDENT
    for (int64_t k = i; k < n; k++) {
        a[k] = x[3 * k];
        b[k] = x[3 * k + 1];
        c[k] = x[3 * k + 2];
    }
}

/* Copies n rows of `group` bytes each, which begin `period` bytes apart, one behind the other.  A
 * vector takes `together` rows by byte shuffles.  `at` says which bytes of two neighbouring vectors
 * of memory they are; 128: none of this one.  The 32 bytes that it reads must end before the last
 * row does. */
static inline __attribute__((always_inline)) void rd_strided_rows(char *y, const char *x, int64_t n,
                                                                  int64_t group, int64_t period,
                                                                  int64_t        together,
                                                                  const uint8_t *at)
{
    int64_t k = 0;
#if defined(__SSSE3__)
    typedef char bytes __attribute__((vector_size(16), aligned(1), may_alias));
    const bytes  low = *(const bytes *)at, high = *(const bytes *)(at + 16);

    for (; together > 1 && (k - n + 1) * period + 32 <= group; k += together)
        *(bytes *)(y + k * group) =
            (bytes)__builtin_ia32_pshufb128(*(const bytes *)(x + k * period), low) |
            (bytes)__builtin_ia32_pshufb128(*(const bytes *)(x + k * period + 16), high);
#endif
    for (; k < n; k++)
        memcpy(y + k * group, x + k * period, (size_t)group);
}

/* Returns the label of an element (its group of n), or n if it names no group.  Compilers must not
 * see that it is one of two: they would make a branch for all that follows, which no processor
 * predicts for labels at random. */
static inline int64_t rd_group_of(int64_t label, int64_t n)
{
    int64_t group = (uint64_t)label < (uint64_t)n ? label : n;

    __asm__("" : "+r"(group));
    return group;
}

/* Returns the label of an element (its group of n), or n if it names no group: as a choice that
 * vector loops can make. */
static inline int64_t rd_group_by_vectors(int64_t label, int64_t n)
{
    return (uint64_t)label < (uint64_t)n ? label : n;
}

/* Hides a constant from compilers. If they know it they branch where they should choose, and
 * vectors have no branches. */
static inline float rd_hidden_f32(float x)
{
    __asm__("" : "+m"(x));
    return x;
}

/* Hides a constant from compilers, so that they choose by it and do not branch (f64). */
static inline double rd_hidden_f64(double x)
{
    __asm__("" : "+m"(x));
    return x;
}

#include "kernels/math/math_divide.h"
#include "kernels/math/math_remainder_by.h"
#include "kernels/cpu/nest/transpose_prelude.h"

/* Checks an index. Negative ones count from the end. One that is outside is noted in `failed`,
 * and the first element stands in for it. */
static inline int64_t rd_index_i64(int64_t at, int64_t extent, int32_t *failed)
{
    const int outside = at < -extent || at >= extent;

    *failed |= outside;
    return outside ? 0 : at < 0 ? at + extent : at;
}

/* Checks an index as rd_index_i64() does, in serial loops: most indices are not negative, which a
 * branch predicts. */
static inline int64_t rd_index_one_i64(int64_t at, int64_t extent, int32_t *failed)
{
    return __builtin_expect((uint64_t)at < (uint64_t)extent, 1) ? at
                                                                : rd_index_i64(at, extent, failed);
}

/* Checks an unsigned index.  One that is outside is noted in `failed`, and the first element stands
 * in for it. */
static inline int64_t rd_index_u64(uint64_t at, int64_t extent, int32_t *failed)
{
    const int outside = at >= (uint64_t)extent;

    *failed |= outside;
    return outside ? 0 : (int64_t)at;
}

#include "kernels/cpu/nest/lookup_prelude.h"
#include "kernels/emit/combine_nodes.h"

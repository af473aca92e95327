/* lookup_prelude.h - looks up the elements of a strip in a small table. LOOK_UP(size, T) is the
 * function for elements of so many bytes and indices of type T (print/lookup_calls.c).
 *
 * A table fills up to four vectors. They are loaded before the loop, and permutes look up as
 * many elements as a vector has. Indices are checked as rd_index_i64() does: negative ones count
 * from the end, and one that is outside is noted. gcc has a name for permutes by variable
 * indices; clang has none, and looks up one element after the other. */
#define LOOKING static inline __attribute__((always_inline))

/* An element as bits, of any type. */
typedef uint8_t  rd_element_1 __attribute__((may_alias));
typedef uint32_t rd_element_4 __attribute__((may_alias));
typedef uint64_t rd_element_8 __attribute__((may_alias));

#if defined(__AVX2__) && !defined(__clang__)
#if defined(__AVX512BW__)
#define LOOK_BYTES 64
#else
#define LOOK_BYTES 32
#endif
#define LOOK_LANES(size) (LOOK_BYTES / (size))
typedef int32_t   rd_places_4 __attribute__((vector_size(LOOK_BYTES)));
typedef long long rd_places_8 __attribute__((vector_size(LOOK_BYTES)));
typedef int32_t   rd_half_places_4 __attribute__((vector_size(LOOK_BYTES / 2)));
typedef float     rd_floats __attribute__((vector_size(LOOK_BYTES)));
typedef double    rd_doubles __attribute__((vector_size(LOOK_BYTES)));

/* rd_table_4(), rd_table_8(): load elements of a table with `extent` elements, from `from` on, up
 * to a vector; nothing behind them is read. They lie `apart` elements from each other. */
#if LOOK_BYTES == 64
#define LOOK_MASK(n, lanes) ((n) >= (lanes) ? -1 : (int)(1u << (n)) - 1)
#define LOOK_ROW_4(x, n)    __builtin_ia32_loadups512_mask(x, (rd_floats){ 0 }, LOOK_MASK(n, 16))
#define LOOK_ROW_8(x, n)    __builtin_ia32_loadupd512_mask(x, (rd_doubles){ 0 }, LOOK_MASK(n, 8))
#define LOOK_SIGNS_4(x)     __builtin_ia32_cvtd2mask512(x)
#define LOOK_SIGNS_8(x)     __builtin_ia32_cvtq2mask512(x)
#else
#define LOOK_ROW_4(x, n)                                 \
    __builtin_ia32_maskloadps256((const rd_floats *)(x), \
                                 (rd_places_4){ 0, 1, 2, 3, 4, 5, 6, 7 } < (int32_t)(n))
#define LOOK_ROW_8(x, n)                                  \
    __builtin_ia32_maskloadpd256((const rd_doubles *)(x), \
                                 (rd_places_8){ 0, 1, 2, 3 } < (int64_t)(n))
#define LOOK_SIGNS_4(x) __builtin_ia32_movmskps256((rd_floats)(x))
#define LOOK_SIGNS_8(x) __builtin_ia32_movmskpd256((rd_doubles)(x))
#endif

#define LOOK_TABLE(size, real)                                                                \
    LOOKING rd_places_##size rd_table_##size(const void *table, int64_t from, int64_t extent, \
                                             int64_t apart)                                   \
    {                                                                                         \
        const rd_element_##size *x = (const rd_element_##size *)table + from * apart;         \
        const int64_t            n = LESS(extent - from, LOOK_LANES(size));                   \
        rd_element_##size        row[LOOK_LANES(size)] LINES = { 0 };                         \
                                                                                              \
        if (n <= 0)                                                                           \
            return (rd_places_##size){ 0 };                                                   \
        if (apart == 1)                                                                       \
            return (rd_places_##size)LOOK_ROW_##size((const real *)x, n);                     \
        for (int64_t k = 0; k < n; k++)                                                       \
            row[k] = x[k * apart];                                                            \
        return *(const rd_places_##size *)row;                                                \
    }                                                                                         \
    /* An element of up to four vectors: of two of them, then of the other two. */            \
    LOOKING rd_places_##size rd_pick_##size(const rd_places_##size *t, int64_t extent,        \
                                            rd_places_##size at)                              \
    {                                                                                         \
        rd_places_##size low, high, behind;                                                   \
                                                                                              \
        if (extent <= LOOK_LANES(size))                                                       \
            return __builtin_shuffle(t[0], at);                                               \
        low = __builtin_shuffle(t[0], t[1], at);                                              \
        if (extent <= 2 * LOOK_LANES(size))                                                   \
            return low;                                                                       \
        high   = __builtin_shuffle(t[2], t[3], at);                                           \
        behind = at >= 2 * LOOK_LANES(size);                                                  \
        return (high & behind) | (low & ~behind);                                             \
    }
LOOK_TABLE(4, float)
LOOK_TABLE(8, double)

/* ---- Places of indices ----------------------------------------------------------------------- */
/* A lane is negative if an index was outside. */
typedef struct rd_outside {
    rd_places_4 of_4;
    rd_places_8 of_8;
} rd_outside;

/* Adds the extent to negative indices, which count from the end, and notes indices outside. */
#define LOOK_CHECKED(size, T, number, at)                       \
    do {                                                        \
        if ((T)-1 < 0)                                          \
            at += (at >> (8 * (size)-1)) & (number)extent;      \
        outside->of_##size |= at | ((number)(extent - 1) - at); \
    } while (0)

/* Widens as many indices as a vector has elements of that size. Halves of vectors have names, as
 * gcc splits unnamed ones again. */
#define LOOK_PLACES(size, T, number, widened)                                   \
    LOOKING rd_places_##size rd_places_##size##_##T(const T *x, int64_t extent, \
                                                    rd_outside *outside)        \
    {                                                                           \
        rd_places_##size at = (rd_places_##size)(widened);                      \
                                                                                \
        LOOK_CHECKED(size, T, number, at);                                      \
        return at;                                                              \
    }
typedef int32_t     rd_odd_4 __attribute__((aligned(1), may_alias));
typedef long long   rd_odd_8 __attribute__((aligned(1), may_alias));
typedef int32_t     rd_ints_16 __attribute__((vector_size(16)));
typedef long long   rd_longs_16 __attribute__((vector_size(16)));
typedef rd_longs_16 rd_odd_16 __attribute__((aligned(1), may_alias));
typedef long long   rd_odd_32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef rd_places_4 rd_odd_places_4 __attribute__((aligned(1), may_alias));
typedef rd_places_8 rd_odd_places_8 __attribute__((aligned(1), may_alias));
typedef char        rd_bytes_16 __attribute__((vector_size(16)));
typedef short       rd_words_16 __attribute__((vector_size(16)));
typedef short       rd_words_32 __attribute__((vector_size(32)));
typedef int         rd_ints_32 __attribute__((vector_size(32)));
#define LOOK_LINE_4          \
    (rd_ints_16)             \
    {                        \
        *(const rd_odd_4 *)x \
    }
#define LOOK_LINE_8          \
    (rd_longs_16)            \
    {                        \
        *(const rd_odd_8 *)x \
    }
#define LOOK_LINE_16 *(const rd_odd_16 *)x
#define LOOK_LINE_32 *(const rd_odd_32 *)x
#if LOOK_BYTES == 64
#define LOOK_WIDEN_4(how, type, bytes) \
    __builtin_ia32_##how##512_mask((type)LOOK_LINE_##bytes, (rd_places_4){ 0 }, -1)
#define LOOK_WIDEN_8(how, type, bytes) \
    __builtin_ia32_##how##512_mask((type)LOOK_LINE_##bytes, (rd_places_8){ 0 }, -1)
LOOK_PLACES(4, uint8_t, int32_t, LOOK_WIDEN_4(pmovzxbd, rd_bytes_16, 16))
LOOK_PLACES(4, int8_t, int32_t, LOOK_WIDEN_4(pmovsxbd, rd_bytes_16, 16))
LOOK_PLACES(4, uint16_t, int32_t, LOOK_WIDEN_4(pmovzxwd, rd_words_32, 32))
LOOK_PLACES(4, int16_t, int32_t, LOOK_WIDEN_4(pmovsxwd, rd_words_32, 32))
LOOK_PLACES(8, uint8_t, int64_t, LOOK_WIDEN_8(pmovzxbq, rd_bytes_16, 8))
LOOK_PLACES(8, int8_t, int64_t, LOOK_WIDEN_8(pmovsxbq, rd_bytes_16, 8))
LOOK_PLACES(8, uint16_t, int64_t, LOOK_WIDEN_8(pmovzxwq, rd_words_16, 16))
LOOK_PLACES(8, int16_t, int64_t, LOOK_WIDEN_8(pmovsxwq, rd_words_16, 16))
LOOK_PLACES(8, uint32_t, int64_t, LOOK_WIDEN_8(pmovzxdq, rd_ints_32, 32))
LOOK_PLACES(8, int32_t, int64_t, LOOK_WIDEN_8(pmovsxdq, rd_ints_32, 32))
#define LOOK_JOIN(low, high) \
    __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#else
#define LOOK_WIDEN(how, type, bytes) __builtin_ia32_##how##256((type)LOOK_LINE_##bytes)
LOOK_PLACES(4, uint8_t, int32_t, LOOK_WIDEN(pmovzxbd, rd_bytes_16, 8))
LOOK_PLACES(4, int8_t, int32_t, LOOK_WIDEN(pmovsxbd, rd_bytes_16, 8))
LOOK_PLACES(4, uint16_t, int32_t, LOOK_WIDEN(pmovzxwd, rd_words_16, 16))
LOOK_PLACES(4, int16_t, int32_t, LOOK_WIDEN(pmovsxwd, rd_words_16, 16))
LOOK_PLACES(8, uint8_t, int64_t, LOOK_WIDEN(pmovzxbq, rd_bytes_16, 4))
LOOK_PLACES(8, int8_t, int64_t, LOOK_WIDEN(pmovsxbq, rd_bytes_16, 4))
LOOK_PLACES(8, uint16_t, int64_t, LOOK_WIDEN(pmovzxwq, rd_words_16, 8))
LOOK_PLACES(8, int16_t, int64_t, LOOK_WIDEN(pmovsxwq, rd_words_16, 8))
LOOK_PLACES(8, uint32_t, int64_t, LOOK_WIDEN(pmovzxdq, rd_ints_16, 16))
LOOK_PLACES(8, int32_t, int64_t, LOOK_WIDEN(pmovsxdq, rd_ints_16, 16))
#define LOOK_JOIN(low, high)         __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14)
#endif
LOOK_PLACES(4, uint32_t, int32_t, *(const rd_odd_places_4 *)x)
LOOK_PLACES(4, int32_t, int32_t, *(const rd_odd_places_4 *)x)
LOOK_PLACES(8, uint64_t, int64_t, *(const rd_odd_places_8 *)x)
LOOK_PLACES(8, int64_t, int64_t, *(const rd_odd_places_8 *)x)

/* Indices of 64 bits: the low halves of two vectors become one vector. */
#define LOOK_BOTH(T)                                                                     \
    LOOKING rd_places_4 rd_places_4_##T(const T *x, int64_t extent, rd_outside *outside) \
    {                                                                                    \
        const rd_places_8 low  = rd_places_8_##T(x, extent, outside),                    \
                          high = rd_places_8_##T(x + LOOK_LANES(8), extent, outside);    \
                                                                                         \
        return LOOK_JOIN((rd_places_4)low, (rd_places_4)high);                           \
    }
LOOK_BOTH(uint64_t)
LOOK_BOTH(int64_t)

/* ---- Elements -------------------------------------------------------------------------------- */
#define LOOK_PART(size, k) rd_table_##size(table, (k)*LOOK_LANES(size), extent, apart)
#define LOOK_VECTORS(size, T)                                                               \
    do {                                                                                    \
        typedef rd_places_##size row __attribute__((aligned(size), may_alias));             \
        const rd_places_##size   t[4]    = { LOOK_PART(size, 0), LOOK_PART(size, 1),        \
                                             LOOK_PART(size, 2), LOOK_PART(size, 3) };      \
        rd_outside               outside = { { 0 }, { 0 } };                                \
                                                                                            \
        for (; n >= LOOK_LANES(size) && i < n; i += LOOK_LANES(size)) {                     \
            const int64_t k = LESS(i, n - LOOK_LANES(size));                                \
                                                                                            \
            *(row *)((rd_element_##size *)y + k) =                                          \
                rd_pick_##size(t, extent, rd_places_##size##_##T(x + k, extent, &outside)); \
        }                                                                                   \
        *failed |= (LOOK_SIGNS_4(outside.of_4) | LOOK_SIGNS_8(outside.of_8)) != 0;          \
    } while (0)
#define LOOK_VECTORS_4(T) LOOK_VECTORS(4, T)
#define LOOK_VECTORS_8(T) LOOK_VECTORS(8, T)
#else
#define LOOK_VECTORS_4(T) ((void)0)
#define LOOK_VECTORS_8(T) ((void)0)
#endif

/* A table of up to 256 bytes is loaded as 128 words; the lowest bit of an index chooses a half. */
#if defined(__AVX512BW__) && !defined(__clang__)
typedef uint8_t  rd_look_bytes __attribute__((vector_size(64)));
typedef char     rd_look_chars __attribute__((vector_size(64)));
typedef uint16_t rd_look_words __attribute__((vector_size(64)));
/* Loads up to 64 bytes of a table of `extent` bytes, from byte `from` on; bytes behind its end are
 * 0. */
LOOKING rd_look_words rd_words_of(const void *table, int64_t from, int64_t extent)
{
    const int64_t n = extent - from;

    return n <= 0 ? (rd_look_words){ 0 }
                  : (rd_look_words)__builtin_ia32_loaddquqi512_mask(
                        (const char *)table + from, (rd_look_chars){ 0 },
                        n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1);
}

/* Looks up bytes of a table in four vectors t at indices `at`, each in a word of 16 bits, and
 * returns them in such words.  Permutes find the word with the byte (at / 2); the lowest bit of the
 * index chooses a half of it. */
LOOKING rd_look_words rd_pick_1(const rd_look_words *t, int64_t extent, rd_look_words at)
{
    const rd_look_words place = at >> 1;
    rd_look_words       low =
        extent <= 64 ? __builtin_shuffle(t[0], place) : __builtin_shuffle(t[0], t[1], place);

    if (extent > 128) {
        const rd_look_words high   = __builtin_shuffle(t[2], t[3], place);
        const rd_look_words behind = (rd_look_words)(at >= 128);

        low = (high & behind) | (low & ~behind);
    }
    return (low >> ((at & 1) << 3)) & 255;
}

#define LOOK_VECTORS_1(T)                                                                          \
    do {                                                                                           \
        if (!(sizeof(T) == 1 && (T)-1 > 0))                                                        \
            break;                                                                                 \
        typedef rd_look_bytes row __attribute__((aligned(1), may_alias));                          \
        const rd_look_words   t[4]    = { rd_words_of(table, 0, extent),                           \
                                          rd_words_of(table, 64, extent),                          \
                                          rd_words_of(table, 128, extent),                         \
                                          rd_words_of(table, 192, extent) };                       \
        rd_look_bytes         outside = { 0 };                                                     \
                                                                                                   \
        for (; n >= 64 && i < n; i += 64) {                                                        \
            const int64_t       k     = LESS(i, n - 64);                                           \
            const rd_look_bytes at    = *(const row *)(x + k);                                     \
            const rd_look_words words = (rd_look_words)at;                                         \
                                                                                                   \
            if (extent < 256)                                                                      \
                outside |= (rd_look_bytes)(at >= (uint8_t)extent);                                 \
            *(row *)((uint8_t *)y + k) = (rd_look_bytes)(rd_pick_1(t, extent, words & 255) |       \
                                                         (rd_pick_1(t, extent, words >> 8) << 8)); \
        }                                                                                          \
        *failed |= __builtin_ia32_cvtb2mask512((rd_look_chars)outside) != 0;                       \
    } while (0)
#else
#define LOOK_VECTORS_1(T) ((void)0)
#endif

/* y[i] = table[x[i]] for n elements. The table has `extent` elements, `apart` from each other;
 * both are mostly constants. If n is not whole vectors, the last one overlaps the one before. */
#define LOOK_UP(size, T)                                                                         \
    LOOKING void rd_look_up_##size##_##T(void *y, const void *table, int64_t extent,             \
                                         int64_t apart, const T *x, int64_t n, int32_t *failed)  \
    {                                                                                            \
        int64_t i = 0;                                                                           \
                                                                                                 \
        LOOK_VECTORS_##size(T);                                                                  \
        for (; i < n; i++)                                                                       \
            ((rd_element_##size *)y)[i] =                                                        \
                ((const rd_element_##size *)                                                     \
                     table)[apart * ((T)-1 < 0 ? rd_index_i64((int64_t)x[i], extent, failed)     \
                                               : rd_index_u64((uint64_t)x[i], extent, failed))]; \
    }

/* keys.h - elements become unsigned ints in the same order, and back; sort_kernels.h includes it
 * once.
 *
 * A signed int has its sign bit flipped.  A non-negative float has its sign bit set; a negative one
 * has all bits inverted, as its bits rise with its magnitude.  -0 gets the key of 0, and NaN the
 * greatest key.  For descending order all keys but those of NaN are inverted.
 *
 *   f32:  1.0 = 0x3f800000 -> 0xbf800000,   -1.0 = 0xbf800000 -> 0x407fffff */

/* Facts about the elements of a row, which are found while its keys are made. */
typedef struct found {
    int64_t nan;        /* how many elements are NaN */
    bool    minus_zero; /* some element is -0 */
} found;

/* keys_NAME() makes n keys of ints: XOR with `flip` inverts the sign bit of signed types, so that
 * unsigned comparison orders the keys.  `invert` is all ones for a descending order, else 0.
 * elements_NAME() turns keys back into elements. */
#define INT_KEYS(K, name, U, flip)                                                     \
    static found keys_##name(int64_t n, const void *from, K *restrict to, K invert)    \
    {                                                                                  \
        const U *restrict x = from;                                                    \
        for (int64_t i = 0; i < n;)                                                    \
            for (const int64_t end = strip_end(i, n); i < end; i++)                    \
                to[i] = (K)(U)(x[i] ^ (flip)) ^ invert;                                \
        return (found){ 0 };                                                           \
    }                                                                                  \
    static void elements_##name(int64_t n, const K *from, void *restrict to, K invert) \
    {                                                                                  \
        U *restrict y = to;                                                            \
        for (int64_t i = 0; i < n;)                                                    \
            for (const int64_t end = strip_end(i, n); i < end; i++)                    \
                y[i] = (U)((U)(from[i] ^ invert) ^ (flip));                            \
    }

/* The same for floats.  SIGN: the sign bit; INF: the bits of infinity (or of the greatest number,
 * in types without infinity), above which a magnitude is NaN; QUIET: the bits of the canonical
 * NaN. */
#define FLOAT_KEYS(K, name, U, SIGN, INF, QUIET)                                                 \
    static found keys_##name(int64_t n, const void *from, K *restrict to, K invert)              \
    {                                                                                            \
        const U *restrict x = from;                                                              \
        K zeros = 0, nan = 0;                                                                    \
        for (int64_t i = 0; i < n;)                                                              \
            for (const int64_t end = strip_end(i, n); i < end; i++) {                            \
                const K minus_zero = x[i] == (SIGN), is_nan = (U)(x[i] & (U) ~(SIGN)) > (INF);   \
                const K bits = minus_zero ? 0 : x[i];                                            \
                const K key  = (bits & (SIGN) ? (U)~bits : bits | (SIGN)) ^ invert;              \
                zeros += minus_zero;                                                             \
                nan += is_nan;                                                                   \
                to[i] = is_nan ? (K)-1 : key;                                                    \
            }                                                                                    \
        return (found){ (int64_t)nan, zeros > 0 };                                               \
    }                                                                                            \
    static void elements_##name(int64_t n, const K *from, void *restrict to, K invert)           \
    {                                                                                            \
        U *restrict y = to;                                                                      \
        for (int64_t i = 0; i < n;)                                                              \
            for (const int64_t end = strip_end(i, n); i < end; i++) {                            \
                const U key = (U)(from[i] ^ invert);                                             \
                y[i] = from[i] == (K)-1 ? (U)(QUIET) : (U)(key & (SIGN) ? key & ~(SIGN) : ~key); \
            }                                                                                    \
    }

INT_KEYS(uint32_t, u8, uint8_t, 0)
INT_KEYS(uint32_t, u16, uint16_t, 0)
INT_KEYS(uint32_t, u32, uint32_t, 0)
INT_KEYS(uint64_t, u64, uint64_t, 0)
INT_KEYS(uint32_t, i8, uint8_t, 0x80)
INT_KEYS(uint32_t, i16, uint16_t, 0x8000)
INT_KEYS(uint32_t, i32, uint32_t, 0x80000000U)
INT_KEYS(uint64_t, i64, uint64_t, UINT64_C(1) << 63)
/* A float without infinities is NaN only if all its bits but the sign are ones. */
#define ONES(n) ((1 << (n)) - 1)
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(type, name, C, kind, class, long_, code, dlpack, exponent, fraction, \
                        infinity)                                                            \
    FLOAT_KEYS(                                                                              \
        uint32_t, name, __typeof__(((C *)0)->bits), (1 << ((exponent) + (fraction))),        \
        ((infinity) ? ONES(exponent) << (fraction) : ONES((exponent) + (fraction)) - 1),     \
        ((infinity) ? ONES((exponent) + 1) << ((fraction)-1) : ONES((exponent) + (fraction))))
#include "core/dtypes.def"
FLOAT_KEYS(uint32_t, f32, uint32_t, 0x80000000U, 0x7f800000U, 0x7fc00000U)
FLOAT_KEYS(uint64_t, f64, uint64_t, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52,
           UINT64_C(0xfff) << 51 & ~(UINT64_C(1) << 63))
#undef INT_KEYS
#undef ONES
#undef FLOAT_KEYS

/* keys.h - elements as unsigned ints in the same order, and back; kernels.h includes it once.
 *
 * An int with a sign has it flipped.  A float's bits rise with its size, so that those of negative
 * ones are turned round; -0 becomes 0, which it equals, and NaN the greatest key.  Where the greatest
 * come first, all but NaN are turned round once more. */

/* What was found beside. */
typedef struct found {
    int64_t nan;
    bool    minus_zero;
} found;

#define INT_KEYS(K, name, U, flip)                                                \
    static found keys_##name(int64_t n, const void *from, K *restrict to, K turn) \
    {                                                                             \
        const U *restrict x = from;                                               \
        for (int64_t i = 0; i < n;)                                               \
            for (const int64_t end = strip_end(i, n); i < end; i++)               \
                to[i] = (K)(U)(x[i] ^ (flip)) ^ turn;                             \
        return (found){ 0 };                                                      \
    }                                                                             \
    static void back_##name(int64_t n, const K *from, void *restrict to, K turn)  \
    {                                                                             \
        U *restrict y = to;                                                       \
        for (int64_t i = 0; i < n;)                                               \
            for (const int64_t end = strip_end(i, n); i < end; i++)               \
                y[i] = (U)((U)(from[i] ^ turn) ^ (flip));                         \
    }

/* SIGN: the sign's bit; INF, QUIET: bits of infinity, of a NaN */
#define FLOAT_KEYS(K, name, U, SIGN, INF, QUIET)                                                     \
    static found keys_##name(int64_t n, const void *from, K *restrict to, K turn)                    \
    {                                                                                                \
        const U *restrict x = from;                                                                  \
        K zeros = 0, nan = 0;                                                                        \
        for (int64_t i = 0; i < n;)                                                                  \
            for (const int64_t end = strip_end(i, n); i < end; i++) {                                \
                const K minus_zero = x[i] == (SIGN), is_nan = (U)(x[i] & (U) ~(SIGN)) > (INF);       \
                const K bits = minus_zero ? 0 : x[i];                                                \
                const K key  = (bits & (SIGN) ? (U)~bits : bits | (SIGN)) ^ turn;                    \
                zeros += minus_zero;                                                                 \
                nan += is_nan;                                                                       \
                to[i] = is_nan ? (K)-1 : key;                                                        \
            }                                                                                        \
        return (found){ (int64_t)nan, zeros > 0 };                                                   \
    }                                                                                                \
    static void back_##name(int64_t n, const K *from, void *restrict to, K turn)                     \
    {                                                                                                \
        U *restrict y = to;                                                                          \
        for (int64_t i = 0; i < n;)                                                                  \
            for (const int64_t end = strip_end(i, n); i < end; i++) {                                \
                const U key = (U)(from[i] ^ turn);                                                   \
                y[i]        = from[i] == (K)-1 ? (QUIET) : (U)(key & (SIGN) ? key & ~(SIGN) : ~key); \
            }                                                                                        \
    }

INT_KEYS(uint32_t, u8, uint8_t, 0)
INT_KEYS(uint32_t, u16, uint16_t, 0)
INT_KEYS(uint32_t, u32, uint32_t, 0)
INT_KEYS(uint64_t, u64, uint64_t, 0)
INT_KEYS(uint32_t, i8, uint8_t, 0x80)
INT_KEYS(uint32_t, i16, uint16_t, 0x8000)
INT_KEYS(uint32_t, i32, uint32_t, 0x80000000U)
INT_KEYS(uint64_t, i64, uint64_t, UINT64_C(1) << 63)
#define RD_DTYPE(...)
#define RD_HALF(type, name, C, kind, class, long_, code, dlpack, exponent, fraction)       \
    FLOAT_KEYS(uint32_t, name, uint16_t, (uint16_t)0x8000,                                 \
               (uint16_t)(((1 << (exponent)) - 1) << (fraction)),           /* infinity */ \
               (uint16_t)(((1 << ((exponent) + 1)) - 1) << ((fraction)-1))) /* NaN */
#include "core/dtypes.def"
FLOAT_KEYS(uint32_t, f32, uint32_t, 0x80000000U, 0x7f800000U, 0x7fc00000U)
FLOAT_KEYS(uint64_t, f64, uint64_t, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52,
           UINT64_C(0xfff) << 51 & ~(UINT64_C(1) << 63))
#undef INT_KEYS
#undef FLOAT_KEYS

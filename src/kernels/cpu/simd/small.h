/* small.h - sums of ints of 8 and 16 bits, each of `period` interleaved sums for itself;
 * load_store.h includes it once.
 *
 *   sums[c] += all x[i] with i mod period = c
 *
 * A turn is 64 elements of each sum: whole vectors, in which equal lanes belong to equal sums.  A
 * vector is read as lanes twice as wide, whose lower half is one element and whose upper half the
 * next one.  Even and odd elements are added up separately, in registers, for as many turns as
 * cannot overflow. */
enum { SMALL_AT_ONCE = 4, SMALL_LANES = 32 * RD_SMALL_PERIOD };

/* Bytes that are prefetched ahead, if this processor gains by that, while sums are put together and
 * between tiles.  Bytes from memory, 3 channels, 24 KiB a call, Zen 5: 25 GB/s without, 32 at 2
 * KiB, 40 at 8 KiB. */
enum { SMALL_AHEAD = 8192 };

/* Adds the second half of n sums to the first, and again, until `period` sums are left: lanes of a
 * vector that belong to the same sum are `period` apart. n is `period` times a power of two. */
static inline void small_fold(int64_t n, int64_t period, int64_t *s)
{
    while (n > period) {
        n /= 2;
        for (int64_t k = 0; k < n; k++)
            s[k] += s[k + n];
    }
}

/* small_add(): adds up n vectors of each turn by even and odd elements.  small_turns(): adds turns
 * that cannot overflow lanes of type A to the 64-bit sums.  small_TYPE(): sums[i mod period] +=
 * x[i]. */
#define SMALL_SUM(name, C, A, most_turns)                                                       \
    typedef A small_lanes_##name                                                                \
        __attribute__((vector_size(RD_VECTOR_BYTES), aligned(1), may_alias));                   \
                                                                                                \
    /* n vectors of each turn: their lanes of evens and of odds. */                             \
    static inline __attribute__((always_inline)) void small_add_##name(                         \
        int n, const char *x, int64_t stride, int64_t turns, A *even, A *odd)                   \
    {                                                                                           \
        enum { HALF = 8 * sizeof(C), IN_ONE = RD_VECTOR_BYTES / sizeof(A) };                    \
        small_lanes_##name e[SMALL_AT_ONCE] = { { 0 } }, o[SMALL_AT_ONCE] = { { 0 } };          \
        const bool         fetches = rd_prefetches_rows;                                        \
        for (int64_t t = 0; t < turns; t++, x += stride)                                        \
            for (int k = 0; k < n; k++) {                                                       \
                if (fetches && k * RD_VECTOR_BYTES % 64 == 0)                                   \
                    __builtin_prefetch(x + k * RD_VECTOR_BYTES + SMALL_AHEAD);                  \
                const small_lanes_##name v =                                                    \
                    *(const small_lanes_##name *)(const void *)(x + k * RD_VECTOR_BYTES);       \
                e[k] += (v << HALF) >> HALF;                                                    \
                o[k] += v >> HALF;                                                              \
            }                                                                                   \
        for (int k = 0; k < n; k++) {                                                           \
            *(small_lanes_##name *)(void *)(even + k * IN_ONE) = e[k];                          \
            *(small_lanes_##name *)(void *)(odd + k * IN_ONE)  = o[k];                          \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void small_turns_##name(const char *x, int64_t period, int64_t turns, int64_t *sums) \
    {                                                                                           \
        enum { IN_ONE = RD_VECTOR_BYTES / sizeof(A) };                                          \
        const int64_t n = 32 * period, stride = 2 * n * (int64_t)sizeof(C),                     \
                      vectors = stride / RD_VECTOR_BYTES;                                       \
        A       part[2][SMALL_LANES];                                                           \
        int64_t wide[SMALL_LANES];                                                              \
        for (int64_t v = 0; v < vectors; v += SMALL_AT_ONCE) {                                  \
            const char *at   = x + v * RD_VECTOR_BYTES;                                         \
            A          *even = part[0] + v * IN_ONE, *odd = part[1] + v * IN_ONE;               \
            switch (vectors - v) {                                                              \
            case 1: small_add_##name(1, at, stride, turns, even, odd); break;                   \
            case 2: small_add_##name(2, at, stride, turns, even, odd); break;                   \
            case 3: small_add_##name(3, at, stride, turns, even, odd); break;                   \
            default: small_add_##name(SMALL_AT_ONCE, at, stride, turns, even, odd);             \
            }                                                                                   \
        }                                                                                       \
        for (int half = 0; half < 2; half++) {                                                  \
            for (int64_t k = 0; k < n; k++)                                                     \
                wide[k] = part[half][k];                                                        \
            small_fold(n, period, wide);                                                        \
            for (int64_t k = 0; k < period; k++)                                                \
                sums[(2 * k + half) % period] += wide[k];                                       \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void small_##name(int64_t n, int64_t period, const void *px, int64_t *sums)          \
    {                                                                                           \
        const C *x = px;                                                                        \
        for (int64_t left = n / (64 * period), turns; left > 0;                                 \
             left -= turns, x += turns * 64 * period) {                                         \
            turns = left < (most_turns) ? left : (most_turns);                                  \
            small_turns_##name((const char *)x, period, turns, sums);                           \
        }                                                                                       \
        n %= 64 * period;                                                                       \
        for (int64_t k = 0, c = 0; k < n; k++, c = c + 1 < period ? c + 1 : 0)                  \
            sums[c] += x[k];                                                                    \
    }
SMALL_SUM(U8, uint8_t, uint16_t, 257)
SMALL_SUM(I8, int8_t, int16_t, 255)
SMALL_SUM(U16, uint16_t, uint32_t, 65536)
SMALL_SUM(I16, int16_t, int32_t, 65535)
static rd_simd_small *const smalls[RD_N_DTYPES] = {
    [RD_U8] = small_U8, [RD_I8] = small_I8, [RD_U16] = small_U16, [RD_I16] = small_I16
};

/* picks.h - stream compaction by a mask: packs bytes into bits, and elements with a set bit into
 * contiguous memory; instances/table.c includes it once. */

/* Packs 64 bytes that are 0 or 1 into a word of 64 bits; byte k becomes bit k.  Without AVX-512 a
 * shift by 7 makes bit 0 of each byte its sign, which movemask collects. */
static ALWAYS uint64_t bits_of_64(const uint8_t *mask)
{
#if RD_VECTOR_BYTES == 64
    const __m512i x = _mm512_loadu_si512(mask);

    return _mm512_test_epi8_mask(x, x);
#elif RD_VECTOR_BYTES == 32
    uint64_t word = 0;

    for (int k = 0; k < 2; k++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(mask + 32 * k));

        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(x, 7)) << 32 * k;
    }
    return word;
#elif defined(__x86_64__)
    uint64_t word = 0;

    for (int k = 0; k < 4; k++) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(mask + 16 * k));

        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(x, 7)) << 16 * k;
    }
    return word;
#else
    uint64_t word = 0;

    for (int k = 0; k < 64; k++)
        word |= (uint64_t)mask[k] << k;
    return word;
#endif
}

/* Packs n bytes of a mask, each 0 or 1, into bits.  Returns how many are set. */
static int64_t pick_bits(int64_t n, uint64_t *bits, const uint8_t *mask)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n / 64; i++) {
        bits[i] = bits_of_64(mask + 64 * i);
        count += __builtin_popcountll(bits[i]);
    }
    if (n % 64) {
        uint64_t word = 0;

        for (int64_t k = 0; k < n % 64; k++)
            word |= (uint64_t)mask[n / 64 * 64 + k] << k;
        bits[n / 64] = word;
        count += __builtin_popcountll(word);
    }
    return count;
}

/* Copies elements one by one: nothing may be written behind the last, as other threads write
 * there. */
#define PICK_ONE_BY_ONE(T)         \
    for (; word; word &= word - 1) \
        *y++ = x[__builtin_ctzll(word)];
#if RD_VECTOR_BYTES == 64
#define PICK_4(T)                                                                                  \
    for (int k = 0; word; k += 16, word >>= 16) {                                                  \
        const __mmask16 m    = (__mmask16)word;                                                    \
        const int       here = __builtin_popcount(m);                                              \
        const __m512i   v    = _mm512_maskz_compress_epi32(m, _mm512_maskz_loadu_epi32(m, x + k)); \
                                                                                                   \
        _mm512_mask_storeu_epi32(y, (__mmask16)((1U << here) - 1), v);                             \
        y += here;                                                                                 \
    }
#define PICK_8(T)                                                                                 \
    for (int k = 0; word; k += 8, word >>= 8) {                                                   \
        const __mmask8 m    = (__mmask8)word;                                                     \
        const int      here = __builtin_popcount(m);                                              \
        const __m512i  v    = _mm512_maskz_compress_epi64(m, _mm512_maskz_loadu_epi64(m, x + k)); \
                                                                                                  \
        _mm512_mask_storeu_epi64(y, (__mmask8)((1U << here) - 1), v);                             \
        y += here;                                                                                \
    }
#else
#define PICK_4 PICK_ONE_BY_ONE
#define PICK_8 PICK_ONE_BY_ONE
#endif

/* pick_SIZE(): copies the elements of n words of 64 bits whose bit is set to contiguous memory at
 * py. */
#define PICK_SIZE(size, T, by)                                                         \
    static void pick_##size(int64_t n, void *py, const void *px, const uint64_t *bits) \
    {                                                                                  \
        T       *y = py;                                                               \
        const T *x = px;                                                               \
                                                                                       \
        for (int64_t i = 0; i < n; i++, x += 64) {                                     \
            uint64_t word = bits[i];                                                   \
                                                                                       \
            by(T)                                                                      \
        }                                                                              \
    }
typedef struct two_words {
    uint64_t word[2];
} two_words;
PICK_SIZE(1, uint8_t, PICK_ONE_BY_ONE)
PICK_SIZE(2, uint16_t, PICK_ONE_BY_ONE)
PICK_SIZE(4, uint32_t, PICK_4)
PICK_SIZE(8, uint64_t, PICK_8)
PICK_SIZE(16, two_words, PICK_ONE_BY_ONE)
#undef PICK_SIZE
#undef PICK_ONE_BY_ONE
#undef PICK_4
#undef PICK_8

/* hand_image.h - mean of an uint8 image (h, w, 3) over h and w.  The channels alternate: of three vectors in a row each
 * channel has a mask of ones, and products of bytes with the mask are summed in 32-bit lanes. */

enum { CHANNELS = 3, IMAGE_STEP = CHANNELS * VECTOR_BYTES };

typedef struct image_masks {
    int8_t at[CHANNELS][CHANNELS][VECTOR_BYTES] __attribute__((aligned(64))); /* vector of the step, channel, byte */
} image_masks;

static image_masks make_masks(void)
{
    image_masks m;

    for (int v = 0; v < CHANNELS; v++)
        for (int c = 0; c < CHANNELS; c++)
            for (int k = 0; k < VECTOR_BYTES; k++)
                m.at[v][c][k] = (v * VECTOR_BYTES + k) % CHANNELS == c;
    return m;
}

/* Each 32-bit lane of s plus the masked bytes below it. */
INLINE w_f32 add_bytes(w_f32 s, const uint8_t *x, const int8_t *mask)
{
#if defined __AVX512VNNI__
    return (w_f32)_mm512_dpbusd_epi32((__m512i)s, _mm512_loadu_si512(x), _mm512_load_si512(mask));
#elif defined __AVX2__
    __m256i pairs = _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)x), *(const __m256i *)mask);

    return s + (w_f32)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#else
    for (int k = 0; k < VECTOR_BYTES; k++)
        s[k / 4] += x[k] * mask[k];
    return s;
#endif
}

/* Steps start..end-1, at most 2^20 of them, so that no lane overflows. */
static void image_block(const uint8_t *x, int64_t start, int64_t end, const image_masks *masks, int64_t *sums)
{
    w_f32 s[CHANNELS][CHANNELS] = { 0 };

    for (int64_t i = start; i < end; i++)
        UNROLL(3)
    for (int v = 0; v < CHANNELS; v++)
        UNROLL(3)
    for (int c = 0; c < CHANNELS; c++)
        s[v][c] = add_bytes(s[v][c], x + i * IMAGE_STEP + v * VECTOR_BYTES, masks->at[v][c]);
    for (int v = 0; v < CHANNELS; v++)
        for (int c = 0; c < CHANNELS; c++)
            for (int k = 0; k < VECTOR_BYTES / 4; k++)
                sums[c] += s[v][c][k];
}

static void image_mean(const hand_args *a)
{
    const uint8_t    *x = a->in[0];
    const int64_t     n = a->shape[0] * a->shape[1] * CHANNELS, steps = n / IMAGE_STEP;
    const image_masks masks          = make_masks();
    int64_t           sums[CHANNELS] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : sums[:CHANNELS])
    for (int k = 0; k < a->threads; k++) {
        const int64_t last = steps * (k + 1) / a->threads;

        for (int64_t i = steps * k / a->threads; i < last; i += 1 << 20)
            image_block(x, i, i + (1 << 20) < last ? i + (1 << 20) : last, &masks, sums);
    }
    for (int64_t i = steps * IMAGE_STEP; i < n; i++)
        sums[i % CHANNELS] += x[i];
    for (int c = 0; c < CHANNELS; c++)
        ((double *)a->out[0])[c] = (double)sums[c] / (double)(n / CHANNELS);
}

/* hand_image.h - means of images (h, w, 3) over h and w; extremes, counts and sums of bytes.
 *
 * uint8: the channels alternate: of three vectors in a row each
 * channel has a mask of ones, and products of bytes with the mask are summed in 32-bit lanes.
 * f16: three vectors in a row are summed in f32, and sorted out every few hundred steps, in f64. */

enum { CHANNELS = 3, IMAGE_STEP = CHANNELS * VECTOR_BYTES };

typedef struct image_masks {
    /* vector of the step, channel, byte */
    int8_t at[CHANNELS][CHANNELS][VECTOR_BYTES] __attribute__((aligned(64)));
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
    __m256i pairs =
        _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)x), *(const __m256i *)mask);

    return s + (w_f32)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#else
    for (int k = 0; k < VECTOR_BYTES; k++)
        s[k / 4] += x[k] * mask[k];
    return s;
#endif
}

/* Steps start..end-1, at most 2^20 of them, so that no lane overflows. */
static void image_block(const uint8_t *x, int64_t start, int64_t end, const image_masks *masks,
                        int64_t *sums)
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

/* ---- Bytes ----------------------------------------------------------------------------------- */
INLINE uint8_t itself(uint8_t x)
{
    return x;
}

INLINE uint8_t low_bits(uint8_t x)
{
    return x & 127;
}

INLINE uint8_t is_77(uint8_t x)
{
    return x == 77;
}

INLINE uint8_t is_above(uint8_t x)
{
    return x > 128;
}

INLINE uint8_t if_above(uint8_t x)
{
    return x > 128 ? x : 0;
}

/* So many columns are held at a time, and so many bytes of a row read between looks whether the
 * greatest that may be is reached, after which no other counts. */
enum { BYTES_HELD = 1024 };
typedef int64_t bytes_of_row(const uint8_t *x, int64_t n);
typedef void    bytes_of_columns(const uint8_t *x, int64_t m, int64_t n, int64_t from, int64_t to,
                                 int64_t *out);

static void each_of_bytes(const hand_args *a, bytes_of_row *row, bytes_of_columns *columns)
{
    const uint8_t *x = a->in[0];
    const int64_t  m = a->shape[0], n = a->shape[1], each = a->dims == 1 ? BYTES_HELD : 64;
    const int64_t  results = a->dims == 1 ? n : m;
    int64_t       *out     = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t from = 0; from < results; from += each) {
        const int64_t to = from + each < results ? from + each : results;

        if (a->dims == 1)
            columns(x, m, n, from, to, out);
        for (int64_t i = from; i < to && a->dims != 1; i++)
            out[i] = row(x + i * n, n);
    }
}

#define BYTES_MAX_ROW(name, of, end)                                            \
    static int64_t name##_row(const uint8_t *x, int64_t n)                      \
    {                                                                           \
        uint8_t most = 0;                                                       \
                                                                                \
        for (int64_t from = 0; from < n && most != (end); from += BYTES_HELD) { \
            const int64_t to = from + BYTES_HELD < n ? from + BYTES_HELD : n;   \
                                                                                \
            for (int64_t i = from; i < to; i++)                                 \
                most = of(x[i]) > most ? of(x[i]) : most;                       \
        }                                                                       \
        return most;                                                            \
    }
BYTES_MAX_ROW(bytes_max, itself, 255)
BYTES_MAX_ROW(bytes_max_low, low_bits, 255)

static int64_t bytes_any_row(const uint8_t *x, int64_t n)
{
    return memchr(x, 77, (size_t)n) != NULL;
}

#define BYTES_MAX(name, of, end)                                                                 \
    static void name##_columns(const uint8_t *x, int64_t m, int64_t n, int64_t from, int64_t to, \
                               int64_t *out)                                                     \
    {                                                                                            \
        uint8_t most[BYTES_HELD] = { 0 };                                                        \
                                                                                                 \
        for (int64_t i = 0; i < m; i++) {                                                        \
            uint8_t all = 1;                                                                     \
                                                                                                 \
            for (int64_t k = from; k < to; k++)                                                  \
                most[k - from] =                                                                 \
                    of(x[i * n + k]) > most[k - from] ? of(x[i * n + k]) : most[k - from];       \
            for (int64_t k = 0; i % 16 == 15 && k < to - from; k++)                              \
                all &= most[k] == (end);                                                         \
            if (i % 16 == 15 && all)                                                             \
                break;                                                                           \
        }                                                                                        \
        for (int64_t k = from; k < to; k++)                                                      \
            out[k] = most[k - from];                                                             \
    }                                                                                            \
                                                                                                 \
    static void name(const hand_args *a)                                                         \
    {                                                                                            \
        each_of_bytes(a, name##_row, name##_columns);                                            \
    }
BYTES_MAX(bytes_max, itself, 255)
BYTES_MAX(bytes_max_low, low_bits, 255)
BYTES_MAX(bytes_any, is_77, 1)

/* In 32 bits, which hold the sum of 2^24 of them. */
#define BYTES_SUM(name, of)                                                                      \
    static int64_t name##_row(const uint8_t *x, int64_t n)                                       \
    {                                                                                            \
        uint32_t sum = 0;                                                                        \
                                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                          \
            sum += of(x[i]);                                                                     \
        return sum;                                                                              \
    }                                                                                            \
                                                                                                 \
    static void name##_columns(const uint8_t *x, int64_t m, int64_t n, int64_t from, int64_t to, \
                               int64_t *out)                                                     \
    {                                                                                            \
        uint32_t sum[BYTES_HELD] = { 0 };                                                        \
                                                                                                 \
        for (int64_t i = 0; i < m; i++)                                                          \
            for (int64_t k = from; k < to; k++)                                                  \
                sum[k - from] += of(x[i * n + k]);                                               \
        for (int64_t k = from; k < to; k++)                                                      \
            out[k] = sum[k - from];                                                              \
    }                                                                                            \
                                                                                                 \
    static void name(const hand_args *a)                                                         \
    {                                                                                            \
        each_of_bytes(a, name##_row, name##_columns);                                            \
    }
BYTES_SUM(bytes_count, is_above)
BYTES_SUM(bytes_where, if_above)

/* ---- f16 ------------------------------------------------------------------------------------- */
INLINE v_f32 halves(const uint16_t *x)
{
#if defined __AVX512F__
    return (v_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)x));
#elif defined __AVX2__
    return (v_f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)x));
#else
    /* The exponent's bias is 15, not 127; neither infinities nor NaN. */
    v_f32 v;
    for (int k = 0; k < VECTOR_BYTES / 4; k++) {
        const uint32_t bits = (uint32_t)(x[k] & 0x8000) << 16 | (uint32_t)(x[k] & 0x7fff) << 13;
        float          f;

        memcpy(&f, &bits, sizeof f);
        v[k] = f * 0x1p112F;
    }
    return v;
#endif
}

static void half_block(const uint16_t *x, int64_t start, int64_t end, double *sums)
{
    enum { LANES_F32 = VECTOR_BYTES / 4 };
    v_f32 s[CHANNELS] = { 0 };

    for (int64_t i = start; i < end; i++)
        UNROLL(3)
    for (int v = 0; v < CHANNELS; v++)
        s[v] += halves(x + (i * CHANNELS + v) * LANES_F32);
    for (int v = 0; v < CHANNELS; v++)
        for (int k = 0; k < LANES_F32; k++)
            sums[(v * LANES_F32 + k) % CHANNELS] += (double)s[v][k];
}

static void half_mean(const hand_args *a)
{
    enum { STEP = CHANNELS * VECTOR_BYTES / 4, BLOCK = 512 };
    const uint16_t *x = a->in[0];
    const int64_t   n = a->shape[0] * a->shape[1] * CHANNELS, steps = n / STEP;
    double          sums[CHANNELS] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : sums[:CHANNELS])
    for (int k = 0; k < a->threads; k++) {
        const int64_t last = steps * (k + 1) / a->threads;

        for (int64_t i = steps * k / a->threads; i < last; i += BLOCK)
            half_block(x, i, i + BLOCK < last ? i + BLOCK : last, sums);
    }
    for (int64_t i = steps * STEP; i < n; i++) {
        uint16_t one[VECTOR_BYTES / 4] = { x[i] };

        sums[i % CHANNELS] += (double)halves(one)[0];
    }
    for (int c = 0; c < CHANNELS; c++)
        ((float *)a->out[0])[c] = (float)(sums[c] / (double)(n / CHANNELS));
}

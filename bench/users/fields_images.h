/* fields_images.h - the loops of images: bytes and floats, in planes or interleaved. */
/* 2 to the power of log2(x) / 2.2 for 0 <= x <= 1, good to 2e-5: results are bytes. */
static inline float root22(float x)
{
    int32_t bits;
    x = x > 1e-9F ? x : 1e-9F;
    memcpy(&bits, &x, sizeof bits);
    int32_t exponent = (bits - 0x3f3504f3) >> 23;
    bits -= exponent << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1) / (m + 1), s2 = s * s; /* ln m = 2 artanh s */
    float log2 = (float)exponent +
                 s * (2.88539008F + s2 * (0.961796694F + s2 * (0.577078016F + s2 * 0.412198583F)));
    return power_of_two(log2 * (1 / 2.2F));
}

void gamma_bytes(const float *x, u8 *y, i64 n)
{
    PARALLEL
    for (i64 k = 0; k < n; k++) {
        float c = x[k] > 0 ? x[k] : 0;
        c       = c < 1 ? c : 1;
        y[k]    = (u8)(int32_t)(root22(c) * 255 + 0.5F);
    }
}

static i64 within(i64 k, i64 n)
{
    return k < 0 ? 0 : k >= n ? n - 1 : k;
}

/* The kernel is the product of a column and a row, so five rows are summed, then five columns. */
void unsharp(const float *x, float *y, i64 rows, i64 n)
{
#pragma omp parallel
    {
        float *line = aligned_alloc(64, (size_t)(n + 64) / 16 * 64);
#pragma omp for schedule(static)
        for (i64 i = 0; i < rows; i++) {
            const float *r[5], *here = x + i * n;
            float       *sum = line + 2, *to = y + i * n;
            for (i64 k = 0; k < 5; k++)
                r[k] = x + within(i + k - 2, rows) * n;
            for (i64 j = 0; j < n; j++)
                sum[j] = r[0][j] + r[4][j] + 4 * (r[1][j] + r[3][j]) + 6 * r[2][j];
            sum[-2] = sum[-1] = sum[0];
            sum[n] = sum[n + 1] = sum[n - 1];
            for (i64 j = 0; j < n; j++) {
                float blurred =
                    sum[j - 2] + sum[j + 2] + 4 * (sum[j - 1] + sum[j + 1]) + 6 * sum[j];
                float sharp = 2.5F * here[j] - 1.5F / 256 * blurred;
                sharp       = sharp > 0 ? sharp : 0;
                to[j]       = sharp < 255 ? sharp : 255;
            }
        }
        free(line);
    }
}

typedef uint16_t u16x32 __attribute__((vector_size(64), aligned(2)));

#define PIXELS(first) first, first + 1, first + 2
#define EVERY_OTHER(c)                                                                           \
    {                                                                                            \
        PIXELS(0 + c), PIXELS(6 + c), PIXELS(12 + c), PIXELS(18 + c), PIXELS(24 + c),            \
            PIXELS(30 + c), PIXELS(36 + c), PIXELS(42 + c), PIXELS(48 + c), PIXELS(54 + c), 0, 0 \
    }

/* Two shuffles part twenty sums of two rows into even and odd ones, which are added: ten pixels. */
static i64 halve_vectors(const uint16_t *sum, u8 *y, i64 n)
{
    const u16x32 even = EVERY_OTHER(0), odd = EVERY_OTHER(3);
    i64          k = 0;

    for (; k + 32 <= 3 * n; k += 30) {
        u16x32     a = *(const u16x32 *)(sum + 2 * k), b = *(const u16x32 *)(sum + 2 * k + 32);
        u16x32     four = (__builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd) + 2) >> 2;
        typedef u8 u8x32 __attribute__((vector_size(32), aligned(1)));
        *(u8x32 *)(y + k) = __builtin_convertvector(four, u8x32);
    }
    return k / 3;
}

void half(const u8 *x, u8 *y, i64 rows, i64 n)
{
#pragma omp parallel
    {
        uint16_t *sum = aligned_alloc(64, (size_t)(6 * n + 64 + 31) / 32 * 64);
#pragma omp for schedule(static)
        for (i64 i = 0; i < rows; i++) {
            const u8 *a = x + 2 * i * 6 * n, *b = a + 6 * n;
            u8       *to = y + i * 3 * n;
            for (i64 k = 0; k < 6 * n; k++)
                sum[k] = (uint16_t)(a[k] + b[k]);
            for (i64 j = halve_vectors(sum, to, n); j < n; j++)
                for (i64 c = 0; c < 3; c++)
                    to[3 * j + c] = (u8)((sum[6 * j + c] + sum[6 * j + 3 + c] + 2) >> 2);
        }
        free(sum);
    }
}

enum { BOX = 15 };

/* Sums of 15 neighbours by sums of two, four and eight. */
static void fifteen(const double *x, double *two, double *four, double *y, i64 n)
{
    for (i64 j = 0; j < n - 1; j++)
        two[j] = x[j] + x[j + 1];
    for (i64 j = 0; j < n - 3; j++)
        four[j] = two[j] + two[j + 2];
    for (i64 j = 0; j < n - BOX + 1; j++)
        y[j] = four[j] + four[j + 4] + four[j + 8] + two[j + 12] + x[j + 14];
}

static void contrast_rows(const float *x, float *y, i64 first, i64 end, i64 n)
{
    double *buffer = aligned_alloc(64, (size_t)(6 * n + 7) / 8 * 64);
    double *sum = buffer, *square = sum + n, *two = square + n, *four = two + n, *sums = four + n,
           *squares = sums + n;
    i64 wide        = n - BOX + 1;

    memset(buffer, 0, (size_t)(2 * n) * sizeof *buffer);
    for (i64 i = first; i < end; i++) {
        const float *out = x + (i - 1) * n, *centre = x + (i + BOX / 2) * n + BOX / 2;
        for (i64 k = i == first ? 0 : BOX - 1; k < BOX; k++)
            for (i64 j = 0; j < n; j++) {
                double v = x[(i + k) * n + j];
                sum[j] += v;
                square[j] += v * v;
            }
        for (i64 j = 0; i > first && j < n; j++) {
            double v = out[j];
            sum[j] -= v;
            square[j] -= v * v;
        }
        fifteen(sum, two, four, sums, n);
        fifteen(square, two, four, squares, n);
        for (i64 j = 0; j < wide; j++) {
            double mean = sums[j] / (BOX * BOX), variance = squares[j] / (BOX * BOX) - mean * mean;
            y[i * wide + j] = ((float)(centre[j] - mean)) / (sqrtf((float)variance) + 1);
        }
    }
    free(buffer);
}

void local_contrast(const float *x, float *y, i64 rows, i64 n)
{
    i64 high = rows - BOX + 1, part = 72;

    PARALLEL
    for (i64 first = 0; first < high; first += part)
        contrast_rows(x, y, first, least(first + part, high), n);
}

/* Planes of 64 interleaved pixels. */
static inline void three_planes(const u8 *x, u8 *r, u8 *g, u8 *b, i64 n)
{
#ifdef __AVX512VBMI__
    if (n == 64) {
        u8      at[3][64], rest[3][64];
        __m512i v0 = _mm512_loadu_si512(x), v1 = _mm512_loadu_si512(x + 64),
                v2 = _mm512_loadu_si512(x + 128);
        u8 *to[3]  = { r, g, b };
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 64; k++) {
                at[c][k]   = (u8)((3 * k + c) & 127);
                rest[c][k] = (u8)(3 * k + c < 128 ? k : 64 + 3 * k + c - 128);
            }
            __m512i low = _mm512_permutex2var_epi8(v0, _mm512_loadu_si512(at[c]), v1);
            _mm512_storeu_si512(to[c],
                                _mm512_permutex2var_epi8(low, _mm512_loadu_si512(rest[c]), v2));
        }
        return;
    }
#endif
    for (i64 k = 0; k < n; k++) {
        r[k] = x[3 * k];
        g[k] = x[3 * k + 1];
        b[k] = x[3 * k + 2];
    }
}

void value_saturation(const u8 *x, u8 *value, float *saturation, i64 n)
{
    PARALLEL
    for (i64 first = 0; first < n; first += 64) {
        float part[64] ALIGNED;
        u8    r[64] ALIGNED, g[64] ALIGNED, b[64] ALIGNED, high[64] ALIGNED, range[64] ALIGNED;
        i64   here = least(64, n - first);
        three_planes(x + 3 * first, r, g, b, here);
        for (i64 k = 0; k < 64; k++) {
            u8 h = r[k] > g[k] ? r[k] : g[k], l = r[k] < g[k] ? r[k] : g[k];
            h        = h > b[k] ? h : b[k];
            l        = l < b[k] ? l : b[k];
            high[k]  = h;
            range[k] = (u8)(h - l);
        }
        memcpy(value + first, high, (size_t)here);
        float *to = here == 64 ? saturation + first : part;
        for (int k = 0; k < 64; k++)
            to[k] = (float)range[k] / (float)(high[k] ? high[k] : 1);
        if (here < 64)
            memcpy(saturation + first, part, (size_t)here * sizeof *part);
    }
}

/* Sums along rows, then along columns of the same table; four elements of it are a box. */
void box_means(const u8 *x, const i64 *top, const i64 *left, const i64 *bottom, const i64 *right,
               double *y, i64 rows, i64 n, i64 boxes)
{
    i64       wide  = n + 1;
    uint32_t *table = malloc((size_t)((rows + 1) * wide) * sizeof *table);

    memset(table, 0, (size_t)wide * sizeof *table);
    PARALLEL
    for (i64 i = 0; i < rows; i++) {
        uint32_t sum = 0, *to = table + (i + 1) * wide;
        to[0] = 0;
        for (i64 j = 0; j < n; j++)
            to[j + 1] = sum += x[i * n + j];
    }
    PARALLEL
    for (i64 first = 0; first < wide; first += 256)
        for (i64 i = 1; i <= rows; i++)
            for (i64 j = first; j < least(first + 256, wide); j++)
                table[i * wide + j] += table[(i - 1) * wide + j];
    PARALLEL
    for (i64 k = 0; k < boxes; k++) {
        const uint32_t *high = table + top[k] * wide, *low = table + bottom[k] * wide;
        uint32_t        sum = low[right[k]] - high[right[k]] - low[left[k]] + high[left[k]];
        y[k]                = (double)sum / (double)((bottom[k] - top[k]) * (right[k] - left[k]));
    }
    free(table);
}

void corners(const float *x, u8 *peak, i64 *found, i64 rows, i64 n)
{
    i64 count = 0;

#pragma omp parallel reduction(+ : count)
    {
        float *line = aligned_alloc(64, (size_t)(n + 32) / 16 * 64);
#pragma omp for schedule(static)
        for (i64 i = 0; i < rows; i++) {
            const float *here = x + i * n, *up = i > 0 ? here - n : here,
                        *down = i < rows - 1 ? here + n : here;
            float  *high      = line + 1;
            int32_t many      = 0;
            high[-1] = high[n] = -FLT_MAX;
            for (i64 j = 0; j < n; j++) {
                float h = up[j] > down[j] ? up[j] : down[j];
                high[j] = h > here[j] ? h : here[j];
            }
            for (i64 j = 0; j < n; j++) {
                float h         = high[j - 1] > high[j + 1] ? high[j - 1] : high[j + 1];
                h               = h > high[j] ? h : high[j];
                u8 is           = (u8)((here[j] >= h) & (here[j] > 1.5F));
                peak[i * n + j] = is;
                many += is;
            }
            count += many;
        }
        free(line);
    }
    *found = count;
}

enum { PERIOD = 48 };

/* Three colours repeat after 48 bytes, which are a whole number of vectors. */
void white_balance(const u8 *x, u8 *y, i64 pixels)
{
    i64   n        = 3 * pixels;
    i64   total[3] = { 0 };
    float gain[PERIOD] ALIGNED, mean[3];

#pragma omp parallel for schedule(static) reduction(+ : total)
    for (i64 first = 0; first < n; first += 256 * PERIOD) {
        uint16_t sum[PERIOD] ALIGNED = { 0 };
        i64      end = least(first + 256 * PERIOD, n), k = first;
        for (; k + PERIOD <= end; k += PERIOD)
            for (int c = 0; c < PERIOD; c++)
                sum[c] = (uint16_t)(sum[c] + x[k + c]);
        for (int c = 0; c < PERIOD; c++)
            total[c % 3] += sum[c];
        for (; k < end; k++)
            total[k % 3] += x[k];
    }
    for (int c = 0; c < 3; c++)
        mean[c] = (float)((double)total[c] / (double)pixels);
    for (int c = 0; c < PERIOD; c++)
        gain[c] = (mean[0] + mean[1] + mean[2]) / 3 / mean[c % 3];
    PARALLEL
    for (i64 first = 0; first < n; first += PERIOD)
        for (i64 c = 0; c < least(PERIOD, n - first); c++) {
            float v      = (float)x[first + c] * gain[c];
            y[first + c] = (u8)(int32_t)(v < 255 ? v : 255);
        }
}

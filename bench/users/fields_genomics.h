/* fields_genomics.h - the loops of genomics: letters, genotypes, counts of reads. */
/* Counts of 101 are at most 101, so bytes hold them: 64 + 32 + 4 + 1, by doubling. */
void gc_content(const u8 *s, double *y, i64 n)
{
    enum { WINDOW = 101, BLOCK = 1920, LONG = BLOCK + 128 };
    i64 wide = n - WINDOW + 1;

    PARALLEL
    for (i64 first = 0; first < wide; first += BLOCK) {
        u8  c[7][LONG] ALIGNED;
        i64 here = least(BLOCK, wide - first), m = here + WINDOW - 1;
        for (i64 k = 0; k < m; k++)
            c[0][k] = (u8)((s[first + k] == 'G') | (s[first + k] == 'C'));
        for (int level = 1; level < 7; level++)
            for (i64 k = 0; k < m - (1 << level) + 1; k++)
                c[level][k] = (u8)(c[level - 1][k] + c[level - 1][k + (1 << (level - 1))]);
        for (i64 k = 0; k < here; k++)
            y[first + k] =
                (u8)(c[6][k] + c[5][k + 64] + c[2][k + 96] + c[0][k + 100]) * (1.0 / WINDOW);
    }
}

/* Words are computed as vectors, and four tables keep one count from waiting for the one before. */
void k_mers(const u8 *s, i64 *y, i64 n)
{
    enum { WORDS = 4096, K = 6, BLOCK = 2048 };
    i64 wide = n - K + 1;

    memset(y, 0, WORDS * sizeof *y);
#pragma omp parallel
    {
        int32_t(*count)[WORDS] = calloc(4, sizeof *count);
        uint16_t word[BLOCK] ALIGNED;
#pragma omp for schedule(static)
        for (i64 first = 0; first < wide; first += BLOCK) {
            const u8 *from = s + first;
            i64       here = least(BLOCK, wide - first), k = 0;
            for (i64 q = 0; q < here; q++)
                word[q] = (uint16_t)(from[q] << 10 | from[q + 1] << 8 | from[q + 2] << 6 |
                                     from[q + 3] << 4 | from[q + 4] << 2 | from[q + 5]);
            for (; k + 4 <= here; k += 4) {
                count[0][word[k]]++;
                count[1][word[k + 1]]++;
                count[2][word[k + 2]]++;
                count[3][word[k + 3]]++;
            }
            for (; k < here; k++)
                count[0][word[k]]++;
        }
#pragma omp critical
        for (i64 w = 0; w < WORDS; w++)
            y[w] += count[0][w] + count[1][w] + count[2][w] + count[3][w];
        free(count);
    }
}

/* How many of 64 bytes differ. */
static inline i64 differ(const u8 *a, const u8 *b)
{
#ifdef __AVX512VBMI__
    return __builtin_popcountll(
        _mm512_cmpneq_epu8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
#else
    u8 sum = 0;
    for (int k = 0; k < 64; k++)
        sum = (u8)(sum + (a[k] != b[k]));
    return sum;
#endif
}

void hamming(const u8 *s, i64 *y, i64 n, i64 length)
{
    i64 wide = (length + 63) / 64 * 64;
    u8 *rows = aligned_alloc(64, (size_t)(n * wide));

    for (i64 i = 0; i < n; i++) {
        memcpy(rows + i * wide, s + i * length, (size_t)length);
        memset(rows + i * wide + length, 0, (size_t)(wide - length));
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (i64 i = 0; i < n; i++)
        for (i64 j = 0; j <= i; j++) {
            i64 sum = 0;
            for (i64 k = 0; k < wide; k += 64)
                sum += differ(rows + i * wide + k, rows + j * wide + k);
            y[i * n + j] = y[j * n + i] = sum;
        }
    free(rows);
}

/* Bytes count up to 255 people before they are added to wider sums. */
void hardy_weinberg(const int8_t *g, double *p, double *chi, i64 people, i64 n)
{
    enum { BLOCK = 256, MANY = 255 };
    PARALLEL
    for (i64 first = 0; first < n; first += BLOCK) {
        int32_t one[BLOCK] ALIGNED = { 0 }, two[BLOCK] ALIGNED = { 0 };
        i64     here = least(BLOCK, n - first);
        for (i64 from = 0; from < people; from += MANY) {
            u8 a[BLOCK] ALIGNED = { 0 }, b[BLOCK] ALIGNED = { 0 };
            for (i64 i = from; i < least(from + MANY, people); i++)
                for (i64 k = 0; k < here; k++) {
                    int8_t v = g[i * n + first + k];
                    a[k]     = (u8)(a[k] + (v == 1));
                    b[k]     = (u8)(b[k] + (v == 2));
                }
            for (int k = 0; k < BLOCK; k++) {
                one[k] += a[k];
                two[k] += b[k];
            }
        }
        for (i64 k = 0; k < here; k++) {
            double all = (double)people, n1 = one[k], n2 = two[k], n0 = all - n1 - n2;
            double q  = (n1 + 2 * n2) / (2 * all);
            double e0 = all * (1 - q) * (1 - q), e1 = 2 * all * q * (1 - q), e2 = all * q * q;
            p[first + k]   = q;
            chi[first + k] = (n0 - e0) * (n0 - e0) / e0 + (n1 - e1) * (n1 - e1) / e1 +
                             (n2 - e2) * (n2 - e2) / e2;
        }
    }
}

void linkage(const int8_t *g, double *c, i64 n, i64 places)
{
    double *panels = panels_of(n, places);

    PARALLEL
    for (i64 first = 0; first < places; first += WIDE) {
        int32_t sum[WIDE] = { 0 }, square[WIDE] = { 0 };
        i64     here       = least(WIDE, places - first);
        double  mean[WIDE] = { 0 }, scale[WIDE] = { 0 }, *panel = panels + first * n;
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < here; k++) {
                int32_t v = g[i * places + first + k];
                sum[k] += v;
                square[k] += v * v;
            }
        for (i64 k = 0; k < here; k++) {
            mean[k]  = (double)sum[k] / (double)n;
            scale[k] = 1 / sqrt((double)square[k] - mean[k] * (double)sum[k]);
        }
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < WIDE; k++)
                panel[i * WIDE + k] =
                    k < here ? (g[i * places + first + k] - mean[k]) * scale[k] : 0;
    }
    gram(panels, n, places, c);
    PARALLEL
    for (i64 k = 0; k < places * places; k++)
        c[k] *= c[k];
    free(panels);
}

/* Two letters together choose one of 16 numbers, which are one vector: a shuffle looks up 16
 * places, and six shuffles are twelve letters. */
void motif(const u8 *s, const float *pwm, float *y, i64 n, i64 length)
{
    enum { BLOCK = 2048 };
    float table[32][16] ALIGNED;
    i64   pairs = length / 2, wide = n - length + 1;

    for (i64 q = 0; q < pairs; q++)
        for (int k = 0; k < 16; k++)
            table[q][k] = pwm[(2 * q) * 4 + k / 4] + pwm[(2 * q + 1) * 4 + k % 4];
    PARALLEL
    for (i64 first = 0; first < wide; first += BLOCK) {
        i64       here = least(BLOCK, wide - first), k = 0;
        int32_t   pair[BLOCK + 64] ALIGNED;
        const u8 *from = s + first;
        for (i64 j = 0; j < here + length - 2; j++)
            pair[j] = from[j] << 2 | from[j + 1];
#ifdef __AVX512VBMI__
        for (; k + 16 <= here; k += 16) {
            __m512 sum = _mm512_setzero_ps();
            for (i64 q = 0; q < pairs; q++)
                sum = _mm512_add_ps(sum, _mm512_permutexvar_ps(_mm512_loadu_si512(pair + k + 2 * q),
                                                               _mm512_load_ps(table[q])));
            _mm512_storeu_ps(y + first + k, sum);
        }
#endif
        for (; k < here; k++) {
            float sum = 0;
            for (i64 q = 0; q < pairs; q++)
                sum += table[q][pair[k + 2 * q]];
            y[first + k] = sum;
        }
    }
}

void fold_change(const int32_t *c, double *y, i64 genes, i64 samples)
{
    i64    total[64] = { 0 }, part = samples / 2;
    double shift = 0;

#pragma omp parallel for schedule(static) reduction(+ : total)
    for (i64 i = 0; i < genes; i++)
        for (i64 k = 0; k < samples; k++)
            total[k] += c[i * samples + k];
    for (i64 k = 0; k < samples; k++)
        shift += (k < part ? -1 : 1) * log2((double)total[k]);
    PARALLEL
    for (i64 i = 0; i < genes; i++) {
        double log[64] ALIGNED, sum = shift;
        for (i64 k = 0; k < samples; k++)
            log[k] = log2((double)(c[i * samples + k] + 1));
        for (i64 k = 0; k < part; k++)
            sum += log[k] - log[part + k];
        y[i] = sum / (double)part;
    }
}

/* Sorts keys with their places by three digits of 11 bits; equal ones stay in order. */
static void radix_sort(uint64_t *x, uint64_t *y, i64 n)
{
    for (int shift = 32; shift < 64; shift += 11) {
        int32_t start[2049] = { 0 };
        for (i64 k = 0; k < n; k++)
            start[(x[k] >> shift & 2047) + 1]++;
        for (int d = 0; d < 2048; d++)
            start[d + 1] += start[d];
        for (i64 k = 0; k < n; k++)
            y[start[x[k] >> shift & 2047]++] = x[k];
        uint64_t *other = x;
        x               = y;
        y               = other;
    }
}

void quantile_normal(const float *x, float *y, i64 n, i64 samples)
{
    uint64_t *sorted = malloc((size_t)(2 * n * samples) * sizeof *sorted);
    float    *mean   = malloc((size_t)n * sizeof *mean);

    PARALLEL
    for (i64 s = 0; s < samples; s++) {
        uint64_t *own = sorted + 2 * n * s;
        for (i64 i = 0; i < n; i++)
            own[i] =
                (uint64_t)((uint32_t)ordered(x[i * samples + s]) ^ 0x80000000U) << 32 | (uint64_t)i;
        radix_sort(own, own + n, n); /* three digits: what is sorted lies in the second half */
    }
    PARALLEL
    for (i64 i = 0; i < n; i++) {
        double sum = 0;
        for (i64 s = 0; s < samples; s++)
            sum += of_ordered((int32_t)((uint32_t)(sorted[2 * n * s + n + i] >> 32) ^ 0x80000000U));
        mean[i] = (float)(sum / (double)samples);
    }
    PARALLEL
    for (i64 s = 0; s < samples; s++)
        for (i64 i = 0; i < n; i++)
            y[(int32_t)(uint32_t)sorted[2 * n * s + n + i] * samples + s] = mean[i];
    free(mean);
    free(sorted);
}

/* Loops for the most telling programs of fields_next.py, as an expert would write them for these types. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIMD       _Pragma("omp simd")
#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))

void ray_boxes(const float *o, const float *d, const float *lo, const float *hi, long n, long m,
               float *first, int64_t *hits)
{
    float l[3][m], h[3][m];
    for (long j = 0; j < m; j++)
        for (int k = 0; k < 3; k++)
            l[k][j] = lo[3 * j + k], h[k][j] = hi[3 * j + k];
    for (long i = 0; i < n; i++) {
        const float ox = o[3 * i], oy = o[3 * i + 1], oz = o[3 * i + 2];
        const float ix = 1 / d[3 * i], iy = 1 / d[3 * i + 1], iz = 1 / d[3 * i + 2];
        float       best = 100;
        int32_t     c    = 0;
        _Pragma("omp simd reduction(min : best) reduction(+ : c)") for (long j = 0; j < m; j++)
        {
            const float a = (l[0][j] - ox) * ix, b = (h[0][j] - ox) * ix, e = (l[1][j] - oy) * iy,
                        f = (h[1][j] - oy) * iy;
            const float g = (l[2][j] - oz) * iz, q = (h[2][j] - oz) * iz;
            const float near = MORE(MORE(LESS(a, b), LESS(e, f)), LESS(g, q)),
                        far  = LESS(LESS(MORE(a, b), MORE(e, f)), MORE(g, q));
            const int   hit  = far >= near && far > 0;
            const float t    = hit ? near : 100;
            best             = LESS(best, t);
            c += hit;
        }
        first[i] = best, hits[i] = c;
    }
}

void recommend(const float *users, const float *items, const float *bias, const int64_t *u,
               const int64_t *v, long n, float *out)
{
    for (long b = 0; b < n; b += 64) {
        const long w = n - b < 64 ? n - b : 64;
        float      s[64];
        for (long i = 0; i < w; i++) {
            const float *p = users + 32 * u[b + i], *q = items + 32 * v[b + i];
            float        t = 0;
            _Pragma("omp simd reduction(+ : t)") for (int k = 0; k < 32; k++) t += p[k] * q[k];
            s[i] = t + bias[v[b + i]];
        }
        SIMD for (long i = 0; i < w; i++) out[b + i] = 1 / (1 + expf(-s[i]));
    }
}

void tanimoto(const uint64_t *p, const uint64_t *q, long n, long m, double *out)
{
    uint64_t(*t)[m] = malloc(sizeof(uint64_t) * 16 * m);
    for (long j = 0; j < m; j++)
        for (int k = 0; k < 16; k++)
            t[k][j] = q[16 * j + k];
    for (long i = 0; i < n; i++) {
        double best = 0;
        for (long b = 0; b < m; b += 64) {
            const long w        = m - b < 64 ? m - b : 64;
            int64_t    both[64] = { 0 }, either[64] = { 0 };
            for (int k = 0; k < 16; k++)
                SIMD for (long j = 0; j < w; j++)
                {
                    both[j] += __builtin_popcountll(p[16 * i + k] & t[k][b + j]);
                    either[j] += __builtin_popcountll(p[16 * i + k] | t[k][b + j]);
                }
            _Pragma("omp simd reduction(max : best)") for (long j = 0; j < w; j++)
            {
                const double v = (double)both[j] / (double)either[j];
                best           = MORE(best, v);
            }
        }
        out[i] = best;
    }
    free(t);
}

/* Days of some thousand years fit in 32 bits, whose quotients by constants are vectors. */
void calendar(const int64_t *days, long n, int64_t *year, int64_t *month, int64_t *day)
{
    SIMD for (long i = 0; i < n; i++)
    {
        const int32_t  z   = (int32_t)days[i] + 719468;
        const int32_t  era = (z >= 0 ? z : z - 146096) / 146097;
        const uint32_t doe = (uint32_t)(z - era * 146097),
                       yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
        const uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
        const uint32_t m = mp < 10 ? mp + 3 : mp - 9;
        year[i] = (int64_t)yoe + era * 400 + (m <= 2), month[i] = m,
        day[i] = doy - (153 * mp + 2) / 5 + 1;
    }
}

void survival(const int64_t *n, const int64_t *d, long rows, long m, double *s, double *area)
{
    for (long i = 0; i < rows; i++) {
        int64_t left = 0;
        double  p = 1, t = 0, h[m];
        for (long k = 0; k < m; k++)
            left += n[i * m + k];
        for (long k = 0; k < m; k++)
            h[k] = (double)left, left -= n[i * m + k];
        SIMD for (long k = 0; k < m; k++) h[k] = 1 - (double)d[i * m + k] / h[k];
        for (long k = 0; k < m; k++)
            p *= h[k], s[i * m + k] = p, t += p;
        area[i] = t;
    }
}

void larger_life(const uint8_t *s, long n, long m, uint8_t *out)
{
    uint8_t col[m + 4];
    for (long i = 0; i < n; i++) {
        const uint8_t *r[5];
        for (int k = 0; k < 5; k++)
            r[k] = s + ((i + k - 2 + n) % n) * m;
        SIMD for (long k = 0; k < m; k++) col[k + 2] =
            r[0][k] + r[1][k] + r[2][k] + r[3][k] + r[4][k];
        col[0] = col[m], col[1] = col[m + 1], col[m + 2] = col[2], col[m + 3] = col[3];
        SIMD for (long k = 0; k < m; k++)
        {
            const uint8_t c = col[k] + col[k + 1] + col[k + 2] + col[k + 3] + col[k + 4];
            out[i * m + k]  = r[2][k] ? (uint8_t)(c - 7) <= 4 : (uint8_t)(c - 8) <= 2;
        }
    }
}

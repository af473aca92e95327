/* Layers of networks and what is around them. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"

/* c (m, n) = a (m, k) times panels of b; m goes up to whole tiles. */
static void product(const float *a, const float *panels, long m, long n, long k, float *c)
{
#pragma omp parallel for
    for (long j = 0; j < n; j += COLUMNS)
        for (long i = 0; i < m; i += ROWS)
            tile(a + i * k, k, panels + j * k, k, c + i * n + j, n, 0);
}

static void pack_all(const float *b, long k, long n, float *panels)
{
#pragma omp parallel for
    for (long j = 0; j < n; j += COLUMNS)
        pack(b + j, n, 1, k, n - j < COLUMNS ? n - j : COLUMNS, panels + j * k);
}

enum { TOKENS = 197, WIDTH_IN = 384, HIDDEN = 1536, TILED = 200 };

static void layer_normed(const float *x, const float *scale, const float *shift, float *h)
{
    for (long i = 0; i < TOKENS; i++) {
        const float *row  = x + i * WIDTH_IN;
        float        mean = 0, square = 0;
        for (long k = 0; k < WIDTH_IN; k++)
            mean += row[k];
        mean /= WIDTH_IN;
        for (long k = 0; k < WIDTH_IN; k++)
            square += (row[k] - mean) * (row[k] - mean);
        const float by = 1 / sqrtf(square / WIDTH_IN + 1e-5F);
        for (long k = 0; k < WIDTH_IN; k++)
            h[i * WIDTH_IN + k] = (row[k] - mean) * by * scale[k] + shift[k];
    }
    memset(h + TOKENS * WIDTH_IN, 0, sizeof *h * (TILED - TOKENS) * WIDTH_IN);
}

void mlp(const float *x, const float *w1, const float *b1, const float *w2, const float *b2,
         const float *scale, const float *shift, float *out)
{
    float *h = floats(TILED * WIDTH_IN), *t = floats(TILED * HIDDEN),
          *panels = floats(WIDTH_IN * HIDDEN);

    layer_normed(x, scale, shift, h);
    pack_all(w1, WIDTH_IN, HIDDEN, panels);
    product(h, panels, TILED, HIDDEN, WIDTH_IN, t);
#pragma omp parallel for
    for (long i = 0; i < TILED; i++)
        for (long k = 0; k < HIDDEN; k++) {
            const float y     = t[i * HIDDEN + k] + b1[k];
            t[i * HIDDEN + k] = 0.5F * y * (1 + erff(y * (float)M_SQRT1_2));
        }
    pack_all(w2, HIDDEN, WIDTH_IN, panels);
    product(t, panels, TILED, WIDTH_IN, HIDDEN, h);
    for (long i = 0; i < TOKENS; i++)
        for (long k = 0; k < WIDTH_IN; k++)
            out[i * WIDTH_IN + k] = x[i * WIDTH_IN + k] + h[i * WIDTH_IN + k] + b2[k];
    free(h), free(t), free(panels);
}

enum { HALF = 64 };

void rope(const float *q, const float *cosine, const float *sine, long n, long heads, float *out)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long h = 0; h < heads; h++) {
            const float *restrict left = q + (i * heads + h) * 2 * HALF, *restrict right =
                                                                             left + HALF;
            float *restrict y = out + (i * heads + h) * 2 * HALF;
            for (long k = 0; k < HALF; k++) {
                const float c = cosine[i * HALF + k], s = sine[i * HALF + k];
                y[k]        = left[k] * c - right[k] * s;
                y[HALF + k] = right[k] * c + left[k] * s;
            }
        }
}

enum { MAPS = 64, EDGE = 112, POOLED = EDGE / 2 };

void norm_relu_pool(const float *x, const float *mean, const float *var, const float *scale,
                    const float *shift, float *out)
{
#pragma omp parallel for
    for (long c = 0; c < MAPS; c++) {
        const float by = scale[c] / sqrtf(var[c] + 1e-5F), plus = shift[c] - mean[c] * by;
        for (long i = 0; i < POOLED; i++) {
            const float *top = x + (c * EDGE + 2 * i) * EDGE, *low = top + EDGE;
            float        most[EDGE];
            for (long j = 0; j < EDGE; j++) {
                const float a = top[j] * by + plus, b = low[j] * by + plus, y = a > b ? a : b;
                most[j] = y > 0 ? y : 0;
            }
            for (long j = 0; j < POOLED; j++)
                out[(c * POOLED + i) * POOLED + j] =
                    most[2 * j] > most[2 * j + 1] ? most[2 * j] : most[2 * j + 1];
        }
    }
}

enum { BEST = 8 };

static void take_in(float *value, int64_t *place, float new_value, int64_t new_place)
{
    int k = BEST - 1;

    for (; k > 0 && value[k - 1] < new_value; k--)
        value[k] = value[k - 1], place[k] = place[k - 1];
    value[k] = new_value, place[k] = new_place;
}

/* The few that are above the eighth so far go into the list; nothing but the row's two sums needs
 * all of them. */
void beam_search(const float *logits, const float *score, long beams, long words, float *value,
                 int64_t *beam, int64_t *word)
{
    float shift[64];

#pragma omp parallel for
    for (long b = 0; b < beams; b++) {
        const float *z   = logits + b * words;
        float        top = -FLT_MAX, sum = 0;
        for (long k = 0; k < words; k++)
            top = z[k] > top ? z[k] : top;
        for (long k = 0; k < words; k++)
            sum += expf(z[k] - top);
        shift[b] = score[b] - top - logf(sum);
    }
    for (int k = 0; k < BEST; k++)
        value[k] = -FLT_MAX;
    for (long b = 0; b < beams; b++)
        for (long k = 0; k < words; k += LANES)
            for (unsigned bits =
                     below(splat(value[BEST - 1] - shift[b]), load(logits + b * words + k));
                 bits; bits &= bits - 1) {
                const long at = b * words + k + __builtin_ctz(bits);
                if (logits[at] + shift[b] > value[BEST - 1])
                    take_in(value, beam, logits[at] + shift[b], at);
            }
    for (int k = 0; k < BEST; k++)
        word[k] = beam[k] % words, beam[k] /= words;
}

/* A panel of bytes becomes floats in the second-level cache, which four tiles of rows use; the
 * scale waits for the sums. */
void int8_matmul(const float *x, const int8_t *w, const float *scale, long m, long n, long k,
                 float *out)
{
    const long tiled = (m + ROWS - 1) / ROWS * ROWS;
    float     *rows  = floats(tiled * k);

    memcpy(rows, x, (size_t)(m * k) * sizeof *x);
    memset(rows + m * k, 0, (size_t)((tiled - m) * k) * sizeof *x);
#pragma omp parallel
    {
        float *panel = floats(k * COLUMNS), *c = floats(tiled * COLUMNS);
#pragma omp for
        for (long j = 0; j < n; j += COLUMNS) {
            const long width = n - j < COLUMNS ? n - j : COLUMNS;
            if (width < COLUMNS)
                memset(panel, 0, (size_t)(k * COLUMNS) * sizeof *panel);
            for (long p = 0; p < k && width == COLUMNS; p++)
                for (long t = 0; t < COLUMNS; t++)
                    panel[p * COLUMNS + t] = w[p * n + j + t];
            for (long p = 0; p < k && width < COLUMNS; p++)
                for (long t = 0; t < width; t++)
                    panel[p * COLUMNS + t] = w[p * n + j + t];
            for (long i = 0; i < tiled; i += ROWS)
                tile(rows + i * k, k, panel, k, c + i * COLUMNS, COLUMNS, 0);
            for (long i = 0; i < m; i++)
                for (long t = 0; t < width; t++)
                    out[i * n + j + t] = c[i * COLUMNS + t] * scale[j + t];
        }
        free(panel), free(c);
    }
    free(rows);
}

enum { SMALL = 224, LARGE = 640 };

/* Two rows of the picture become one, then its columns are taken in pairs; both weights of a
 * channel come last. */
void resize(const uint8_t *image, const int64_t *y, const float *fy, const int64_t *x,
            const float *fx, const float *mean, const float *std, float *out)
{
#pragma omp parallel for
    for (long i = 0; i < SMALL; i++) {
        const uint8_t *top = image + y[i] * LARGE * 3, *low = top + LARGE * 3;
        float          row[LARGE * 3];
        for (long k = 0; k < LARGE * 3; k++)
            row[k] = top[k] + fy[i] * (float)(low[k] - top[k]);
        for (long c = 0; c < 3; c++) {
            const float by = 1 / (255 * std[c]), less = mean[c] / std[c];
            for (long j = 0; j < SMALL; j++) {
                const float a = row[3 * x[j] + c], b = row[3 * x[j] + 3 + c];
                out[(c * SMALL + i) * SMALL + j] = (a + fx[j] * (b - a)) * by - less;
            }
        }
    }
}

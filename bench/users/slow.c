/* Loops for the programs of slow.py, as an expert would write them for these sizes alone. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "products.h"

/* GCC takes half vectors by itself, which lose here. */
#ifdef __AVX512F__
#define WIDE_VECTORS  _Pragma("GCC push_options") _Pragma("GCC target(\"prefer-vector-width=512\")")
#define USUAL_VECTORS _Pragma("GCC pop_options")
#else
#define WIDE_VECTORS
#define USUAL_VECTORS
#endif

#define EACH_ROW _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++)

/* Component c of points (n, d) in order.  The last point is repeated up to whole vectors, which no
 * minimum notices. */
static float *component(const float *x, long n, long d, long c)
{
    float *y = floats(n);

    for (long i = 0; i < (n + LANES - 1) / LANES * LANES; i++)
        y[i] = x[(i < n ? i : n - 1) * d + c];
    return y;
}

static long whole(long n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* ---- Pairs ------------------------------------------------------------------------------- */
/* Both directions come from one pass: minima of eight rows lie in registers, those of columns in
 * the first-level cache. */
static float nearest_of_rows(const float *u, const float *v, const float *x, const float *y, long i,
                             long m, float *column)
{
    v16   row[ROWS], a[ROWS], b[ROWS];
    float greatest = 0;

    EACH_ROW row[r] = splat(FLT_MAX), a[r] = splat(x[i + r]), b[r] = splat(y[i + r]);
    for (long j = 0; j < m; j += LANES) {
        const v16 p = load(u + j), q = load(v + j);
        v16       c = load(column + j);
        EACH_ROW
        {
            const v16 d = (p - a[r]) * (p - a[r]) + (q - b[r]) * (q - b[r]);
            row[r]      = least(row[r], d);
            c           = least(c, d);
        }
        store(column + j, c);
    }
    EACH_ROW greatest = fmaxf(greatest, least_of(row[r]));
    return greatest;
}

void hausdorff(const float *xy, const float *uv, long n, float *out)
{
    float *x = component(xy, n, 2, 0), *y = component(xy, n, 2, 1);
    float *u = component(uv, n, 2, 0), *v = component(uv, n, 2, 1), *column = floats(n);
    float  greatest = 0;

    for (long j = 0; j < whole(n); j++)
        column[j] = FLT_MAX;
#pragma omp parallel reduction(max : greatest)
    {
        float *own = floats(n);
        memcpy(own, column, (size_t)whole(n) * sizeof *own);
#pragma omp for
        for (long i = 0; i < n; i += ROWS)
            greatest = fmaxf(greatest, nearest_of_rows(u, v, x, y, i, whole(n), own));
#pragma omp critical
        for (long j = 0; j < n; j++)
            column[j] = fminf(column[j], own[j]);
        free(own);
    }
    for (long j = 0; j < n; j++)
        greatest = fmaxf(greatest, column[j]);
    *out = sqrtf(greatest);
    free(x), free(y), free(u), free(v), free(column);
}

/* f[i] = -eps log sum_j exp((g[j] - |x_i - y_j|^2 / 2) / eps): a row's exponents wait in the
 * first-level cache. */
static void soft_least(const float *x, const float *y, const float *g, long n, float eps, float *f)
{
    float *u = component(y, n, 3, 0), *v = component(y, n, 3, 1), *w = component(y, n, 3, 2);

#pragma omp parallel
    {
        float *t = floats(n);
#pragma omp for
        for (long i = 0; i < n; i++) {
            const float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
            float       top = -FLT_MAX, sum = 0;
#pragma omp simd reduction(max : top)
            for (long j = 0; j < n; j++) {
                const float p = u[j] - a, q = v[j] - b, s = w[j] - c;
                t[j] = (g[j] - 0.5F * (p * p + q * q + s * s)) * (1 / eps);
                top  = t[j] > top ? t[j] : top;
            }
#pragma omp simd reduction(+ : sum)
            for (long j = 0; j < n;
                 j++) /* where nothing is left the vector form of expf calls the other one */
                sum += expf(t[j] - top > -80 ? t[j] - top : -80);
            f[i] = -eps * (top + logf(sum));
        }
        free(t);
    }
    free(u), free(v), free(w);
}

void sinkhorn(const float *x, const float *y, const float *f, const float *g, long n, float *new_f,
              float *new_g)
{
    soft_least(x, y, g, n, 0.1F, new_f);
    soft_least(y, x, f, n, 0.1F, new_g);
}

/* As a product of matrices: tiles of 8 x 32 minima in registers, columns in panels. */
static void least_tile(const float *a, long a_row, const float *panel, long n, float *out)
{
    v16 low[ROWS][2];

    EACH_ROW low[r][0] = low[r][1] = splat(FLT_MAX);
    for (long k = 0; k < n; k++, panel += COLUMNS) {
        const v16 left = load(panel), right = load(panel + LANES);
        EACH_ROW
        {
            const v16 x = splat(a[r * a_row + k]);
            low[r][0]   = least(low[r][0], x + left);
            low[r][1]   = least(low[r][1], x + right);
        }
    }
    EACH_ROW
    {
        store(out + r * n, low[r][0]);
        store(out + r * n + LANES, low[r][1]);
    }
}

void min_plus(const float *a, long n, float *out)
{
    float *panels = floats(n * n);

    pack(a, n, 1, n, n, panels);
#pragma omp parallel
    {
        /* Rows 4 KiB apart would all lie in one set of the cache, so eight of them are copied. */
        const long skewed = n + LANES;
        float     *rows   = floats(ROWS * skewed);
#pragma omp for
        for (long i = 0; i < n; i += ROWS) {
            EACH_ROW memcpy(rows + r * skewed, a + (i + r) * n, (size_t)n * sizeof *rows);
            for (long j = 0; j < n; j += COLUMNS)
                least_tile(rows, skewed, panels + j * n, n, out + i * n + j);
        }
        free(rows);
    }
    free(panels);
}

WIDE_VECTORS
/* Each pair once. */
void lennard_jones(const float *p, long n, float box, float *out)
{
    float *x = component(p, n, 3, 0), *y = component(p, n, 3, 1), *z = component(p, n, 3, 2);
    double energy = 0;

#pragma omp      parallel for schedule(dynamic, 64) reduction(+ : energy)
    for (long i = 0; i < n; i++) {
             float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (long j = i + 1; j < n; j++) {
                 float a = x[j] - x[i], b = y[j] - y[i], c = z[j] - z[i];
                 a -= box * rintf(a * (1 / box)), b -= box * rintf(b * (1 / box)),
                     c -= box * rintf(c * (1 / box));
                 const float r2 = a * a + b * b + c * c, q = 1 / r2, s6 = q * q * q;
                 sum += r2 < 6.25F ? 4 * (s6 * s6 - s6) : 0;
        }
        energy += sum;
         }
         *out = (float)energy;
         free(x), free(y), free(z);
}
USUAL_VECTORS

void gravity(const float *p, const float *m, long n, float *out)
{
    float *x = component(p, n, 3, 0), *y = component(p, n, 3, 1), *z = component(p, n, 3, 2);

#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float u = 0, v = 0, w = 0;
#pragma omp simd reduction(+ : u, v, w)
        for (long j = 0; j < n; j++) {
            const float a = x[j] - x[i], b = y[j] - y[i], c = z[j] - z[i];
            const float q = 1 / sqrtf(a * a + b * b + c * c + 0.01F), s = q * q * q * m[j];
            u += a * s, v += b * s, w += c * s;
        }
        out[3 * i] = u, out[3 * i + 1] = v, out[3 * i + 2] = w;
    }
    free(x), free(y), free(z);
}

enum { NEAREST = 5, DIMENSIONS = 8 };

static void insert(float *d, int32_t *place, float new_d, int32_t new_place)
{
    int k = NEAREST - 1;

    for (; k > 0 && d[k - 1] > new_d; k--)
        d[k] = d[k - 1], place[k] = place[k - 1];
    d[k] = new_d, place[k] = new_place;
}

/* Of 8 points to 32: |y|^2 / 2 - x y, which is in the order of the distances and half the work. */
static void order_tile(const float *x, const float *panel, const float *half_square, float *d,
                       long row)
{
    v16 sum[ROWS][2];

    EACH_ROW sum[r][0] = load(half_square), sum[r][1] = load(half_square + LANES);
    for (int c = 0; c < DIMENSIONS; c++, panel += COLUMNS) {
        const v16 left = load(panel), right = load(panel + LANES);
        EACH_ROW
        {
            sum[r][0] -= x[r * DIMENSIONS + c] * left;
            sum[r][1] -= x[r * DIMENSIONS + c] * right;
        }
    }
    EACH_ROW store(d + r * row, sum[r][0]), store(d + r * row + LANES, sum[r][1]);
}

/* The fifth of the least in each lane is not below the fifth of all, so few are left to be put in
 * order. */
static float limit_of_five(v16 low)
{
    float   d[NEAREST] = { FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX };
    int32_t place[NEAREST];

    for (int k = 0; k < LANES; k++)
        if (low[k] < d[NEAREST - 1])
            insert(d, place, low[k], k);
    return nextafterf(d[NEAREST - 1], FLT_MAX);
}

static void five_of(const float *d, long m, int64_t *out)
{
    float   best[NEAREST] = { FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX };
    int32_t place[NEAREST];
    v16     low = load(d);

    for (long j = LANES; j < m; j += LANES)
        low = least(low, load(d + j));
    const v16 limit = splat(limit_of_five(low));
    for (long j = 0; j < m; j += LANES)
        for (unsigned bits = below(load(d + j), limit); bits; bits &= bits - 1) {
            const long at = j + __builtin_ctz(bits);
            if (d[at] < best[NEAREST - 1])
                insert(best, place, d[at], (int32_t)at);
        }
    for (int k = 0; k < NEAREST; k++)
        out[k] = place[k];
}

void five_nearest(const float *x, const float *y, long n, long m, int64_t *out)
{
    const long padded = panels_of(m) * COLUMNS;
    float     *panels = floats(DIMENSIONS * padded), *half_square = floats(padded);

    pack(y, 1, DIMENSIONS, DIMENSIONS, m, panels);
    for (long j = 0; j < padded; j++) {
        half_square[j] = j < m ? 0 : FLT_MAX;
        for (long c = 0; c < DIMENSIONS && j < m; c++)
            half_square[j] += 0.5F * y[j * DIMENSIONS + c] * y[j * DIMENSIONS + c];
    }
#pragma omp parallel
    {
        float *d = floats(ROWS * padded);
#pragma omp for
        for (long i = 0; i < n; i += ROWS) {
            for (long j = 0; j < padded; j += COLUMNS)
                order_tile(x + i * DIMENSIONS, panels + j * DIMENSIONS, half_square + j, d + j,
                           padded);
            for (long r = 0; r < ROWS; r++)
                five_of(d + r * padded, padded, out + (i + r) * NEAREST);
        }
        free(d);
    }
    free(panels), free(half_square);
}

/* ---- Maps -------------------------------------------------------------------------------- */
WIDE_VECTORS
void black_scholes(const double *s, const double *k, const double *t, long n, double *out)
{
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        const double spread = 0.2 * sqrt(t[i]);
        const double d1     = (log(s[i] / k[i]) + (0.03 + 0.5 * 0.2 * 0.2) * t[i]) / spread,
                     d2     = d1 - spread;
        const double phi1 = 0.5 * (1 + erf(d1 * M_SQRT1_2)), phi2 = 0.5 * (1 + erf(d2 * M_SQRT1_2));
        out[i] = s[i] * phi1 - k[i] * exp(-0.03 * t[i]) * phi2;
    }
}
USUAL_VECTORS

/* ---- Contractions ------------------------------------------------------------------------ */
enum { FEATURES = 50, SAMPLES = 64 };

/* Rows come from memory once: 64 of them are in the first-level cache for the product with X, then
 * for that with X^T. */
void logistic(const float *x, const float *w, const float *y, long n, float *out)
{
    float total[FEATURES] = { 0 };

#pragma omp parallel for reduction(+ : total)
    for (long i = 0; i < n; i += SAMPLES) {
        const long m = n - i < SAMPLES ? n - i : SAMPLES;
        float      e[SAMPLES], sum[FEATURES] = { 0 };
        for (long r = 0; r < m; r++) {
            float dot = 0;
            for (long k = 0; k < FEATURES; k++)
                dot += x[(i + r) * FEATURES + k] * w[k];
            e[r] = dot;
        }
        for (long r = 0; r < m; r++)
            e[r] = 1 / (1 + expf(-e[r])) - y[i + r];
        for (long r = 0; r < m; r++)
            for (long k = 0; k < FEATURES; k++)
                sum[k] += e[r] * x[(i + r) * FEATURES + k];
        for (long k = 0; k < FEATURES; k++)
            total[k] += sum[k];
    }
    for (long k = 0; k < FEATURES; k++)
        out[k] = total[k] / (float)n;
}

enum { CHANNELS = 64, SIDE = 58, INNER = SIDE - 2, PLANE = SIDE * SIDE, PLACES = INNER * SIDE - 2 };

/* Places are counted along whole rows of the input, two of 58 for nothing, so that a vector is one
 * load at any shift. */
static void filter_tile(const float *x, const float *w, long place, float *out)
{
    v16 sum[ROWS][2];

    EACH_ROW sum[r][0] = sum[r][1] = splat(0);
    for (long c = 0; c < CHANNELS; c++)
        for (long k = 0; k < 9; k++) {
            const float *from = x + c * PLANE + k / 3 * SIDE + k % 3 + place;
            const v16    left = load(from), right = load(from + LANES);
            EACH_ROW
            {
                const v16 a = splat(w[(r * CHANNELS + c) * 9 + k]);
                sum[r][0] += a * left;
                sum[r][1] += a * right;
            }
        }
    EACH_ROW
    {
        store(out + r * COLUMNS, sum[r][0]);
        store(out + r * COLUMNS + LANES, sum[r][1]);
    }
}

void convolution(const float *x, const float *w, float *out)
{
#pragma omp parallel for
    for (long tile_at = 0; tile_at < PLACES; tile_at += COLUMNS) {
        const long place =
            tile_at + COLUMNS <= PLACES ? tile_at : PLACES - COLUMNS; /* the last one overlaps */
        for (long o = 0; o < CHANNELS; o += ROWS) {
            float part[ROWS * COLUMNS];
            filter_tile(x, w + o * CHANNELS * 9, place, part);
            for (long r = 0; r < ROWS; r++)
                for (long c = 0; c < COLUMNS; c++)
                    if ((place + c) % SIDE < INNER)
                        out[((o + r) * INNER + (place + c) / SIDE) * INNER + (place + c) % SIDE] =
                            part[r * COLUMNS + c];
        }
    }
}

/* Columns of r (n, m), each less its mean and of length one, as rows of (whole tiles, n). */
static float *standardised(const float *r, long n, long m)
{
    const long rows = (m + ROWS - 1) / ROWS * ROWS;
    float     *z    = floats(rows * n);

#pragma omp parallel for
    for (long i = 0; i < rows; i += ROWS) {
        for (long t = 0; t < n; t++)
            for (long c = 0; c < ROWS; c++)
                z[(i + c) * n + t] = i + c < m ? r[t * m + i + c] : 0;
        for (long c = 0; c < ROWS && i + c < m; c++) {
            float *row = z + (i + c) * n, mean = 0, square = 0;
            for (long t = 0; t < n; t++)
                mean += row[t];
            mean /= (float)n;
            for (long t = 0; t < n; t++)
                row[t] -= mean, square += row[t] * row[t];
            for (long t = 0; t < n; t++)
                row[t] /= sqrtf(square);
        }
    }
    return z;
}

enum { DEPTH = 512 };

/* Tiles on and above the diagonal, and their mirror. */
void correlations(const float *r, long n, long m, float *out)
{
    float     *z = standardised(r, n, m), *panels = floats(panels_of(m) * COLUMNS * DEPTH);
    const long row = panels_of(m) * COLUMNS;
    float     *c   = floats((m + ROWS) * row);

    for (long k = 0; k < n; k += DEPTH) {
        const long depth = n - k < DEPTH ? n - k : DEPTH;
#pragma omp parallel for
        for (long j = 0; j < m; j += COLUMNS)
            pack(z + k + j * n, 1, n, depth, m - j < COLUMNS ? m - j : COLUMNS, panels + j * depth);
#pragma omp parallel for schedule(dynamic)
        for (long i = 0; i < m; i += ROWS)
            for (long j = i / COLUMNS * COLUMNS; j < m; j += COLUMNS)
                tile(z + i * n + k, n, panels + j * depth, depth, c + i * row + j, row, k > 0);
    }
    for (long i = 0; i < m; i++)
        for (long j = 0; j < m; j++)
            out[i * m + j] = i <= j ? c[i * row + j] : c[j * row + i];
    free(z), free(panels), free(c);
}

/* ---- Images and small ints --------------------------------------------------------------- */
enum {
    HEIGHT      = 480,
    WIDTH       = 640,
    DISPARITIES = 32,
    COST        = WIDTH - DISPARITIES + 1,
    PATCH       = 7,
    FOUND       = COST - PATCH + 1
};

static void add_row(const uint8_t *left, const uint8_t *right, long y, uint16_t (*sum)[COST],
                    int subtract)
{
    const uint8_t *a = left + y * WIDTH + DISPARITIES - 1, *b = right + y * WIDTH;

    for (long d = 0; d < DISPARITIES; d++)
        for (long x = 0; x < COST; x++) {
            const uint16_t cost = (uint16_t)(a[x] > b[d + x] ? a[x] - b[d + x] : b[d + x] - a[x]);
            sum[d][x]           = (uint16_t)(subtract ? sum[d][x] - cost : sum[d][x] + cost);
        }
}

/* Sums of seven come from sums of two, and the best so far lies beside its disparity. */
static void best_of_row(uint16_t (*sum)[COST], int64_t *out)
{
    uint16_t low[FOUND], at[FOUND], two[COST];

    for (long x = 0; x < FOUND; x++)
        low[x] = UINT16_MAX, at[x] = 0;
    for (long d = 0; d < DISPARITIES; d++) {
        for (long x = 0; x < COST - 1; x++)
            two[x] = (uint16_t)(sum[d][x] + sum[d][x + 1]);
        for (long x = 0; x < FOUND; x++) {
            const uint16_t all = (uint16_t)(two[x] + two[x + 2] + two[x + 4] + sum[d][x + 6]);
            at[x]              = all < low[x] ? (uint16_t)d : at[x];
            low[x]             = all < low[x] ? all : low[x];
        }
    }
    for (long x = 0; x < FOUND; x++)
        out[x] = at[x];
}

void stereo(const uint8_t *left, const uint8_t *right, int64_t *out)
{
    enum { ROWS_OUT = HEIGHT - PATCH + 1, BAND = ROWS_OUT / 2 };

#pragma omp parallel for
    for (long band = 0; band < ROWS_OUT; band += BAND) {
        uint16_t sum[DISPARITIES][COST] = { { 0 } };
        for (long y = band; y < band + PATCH - 1; y++)
            add_row(left, right, y, sum, 0);
        for (long y = band; y < band + BAND && y < ROWS_OUT; y++) {
            add_row(left, right, y + PATCH - 1, sum, 0);
            best_of_row(sum, out + y * FOUND);
            add_row(left, right, y, sum, 1);
        }
    }
}

void life(const uint8_t *x, long rows, long columns, uint8_t *out)
{
#pragma omp parallel
    {
        uint8_t *three = malloc((size_t)columns + 2);
#pragma omp for
        for (long i = 0; i < rows; i++) {
            const uint8_t *mid  = x + i * columns,
                          *up   = i ? mid - columns : x + (rows - 1) * columns;
            const uint8_t *down = i < rows - 1 ? mid + columns : x;
            for (long j = 0; j < columns; j++)
                three[j + 1] = (uint8_t)(up[j] + mid[j] + down[j]);
            three[0] = three[columns], three[columns + 1] = three[1];
            for (long j = 0; j < columns; j++) {
                const uint8_t all =
                    (uint8_t)(three[j] + three[j + 1] + three[j + 2]); /* with the cell itself */
                out[i * columns + j] = (uint8_t)((all == 3) | ((all == 4) & mid[j]));
            }
        }
        free(three);
    }
}

/* Whole thousandths do not round.  GCC takes the planes of an interleaved image apart byte by byte,
 * so permutations of bytes make pairs (red, green) and (blue, 0) of 16 bits from 16 pixels, and one
 * instruction multiplies and adds a pair. */
static int64_t count_bright(const uint8_t *rgb, long n)
{
    int64_t count = 0;
    long    i     = 0;

#ifdef __AVX512VBMI__
    uint8_t from[2][64] = { { 0 } };
    for (int p = 0; p < LANES; p++)
        from[0][4 * p] = (uint8_t)(3 * p), from[0][4 * p + 2] = (uint8_t)(3 * p + 1),
                    from[1][4 * p] = (uint8_t)(3 * p + 2);
    const __m512i two = _mm512_loadu_si512(from[0]), one = _mm512_loadu_si512(from[1]);
    const __m512i red_green = _mm512_set1_epi32(587 << 16 | 299), blue = _mm512_set1_epi32(114),
                  limit = _mm512_set1_epi32(128000);
    for (; i + 22 <= n; i += LANES) {
        const __m512i bytes = _mm512_loadu_si512(rgb + 3 * i);
        const __m512i a     = _mm512_maskz_permutexvar_epi8(0x5555555555555555, two, bytes);
        const __m512i b     = _mm512_maskz_permutexvar_epi8(0x1111111111111111, one, bytes);
        const __m512i grey =
            _mm512_add_epi32(_mm512_madd_epi16(a, red_green), _mm512_madd_epi16(b, blue));
        count += __builtin_popcount(_mm512_cmpgt_epi32_mask(grey, limit));
    }
#endif
    for (; i < n; i++)
        count += 299 * rgb[3 * i] + 587 * rgb[3 * i + 1] + 114 * rgb[3 * i + 2] > 128000;
    return count;
}

void bright(const uint8_t *rgb, long n, int64_t *out)
{
    int64_t count = 0;

#pragma omp parallel for reduction(+ : count)
    for (long i = 0; i < n; i += 65536)
        count += count_bright(rgb + 3 * i, n - i < 65536 ? n - i : 65536);
    *out = count;
}

/* ---- Small matrices ---------------------------------------------------------------------- */
typedef float v4 __attribute__((vector_size(16)));

/* A bone is a vector of its four columns, each of three numbers and one for nothing, so a blend is
 * four multiplications. */
void skinning(const float *p, const float *bones, const int64_t *index, const float *w, long n,
              long n_bones, float *out)
{
    float *columns = floats(n_bones * LANES);

    for (long b = 0; b < n_bones; b++)
        for (long c = 0; c < 4; c++)
            for (long r = 0; r < 4; r++)
                columns[(b * 4 + c) * 4 + r] = r < 3 ? bones[(b * 3 + r) * 4 + c] : 0;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        v16 m = splat(0);
        v4  part[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            m += load(columns + index[4 * i + k] * LANES) * w[4 * i + k];
        memcpy(part, &m, sizeof part);
        const v4 y = part[0] * p[3 * i] + part[1] * p[3 * i + 1] + part[2] * p[3 * i + 2] + part[3];
        out[3 * i] = y[0], out[3 * i + 1] = y[1], out[3 * i + 2] = y[2];
    }
    free(columns);
}

/* ---- Attention and labels ---------------------------------------------------------------- */
enum { HEADS = 8, LENGTH = 512, WIDE = 64, SKEWED = LENGTH + LANES };

/* Rows i to i + 7 see keys 0 to i + 7: scores of whole panels become weights in place, which
 * multiply the values up to there. */
static void attend(const float *q, const float *keys, const float *values, long i, float *out)
{
    static _Thread_local float score[ROWS * SKEWED];

    for (long j = 0; j < i + ROWS; j += COLUMNS)
        tile(q + i * WIDE, WIDE, keys + j * WIDE, WIDE, score + j, SKEWED, 0);
    for (long r = 0; r < ROWS; r++) {
        float *row = score + r * SKEWED, top = row[0], sum = 0;
        for (long j = 1; j <= i + r; j++)
            top = row[j] > top ? row[j] : top;
        for (long j = 0; j <= i + r; j++)
            row[j] = expf((row[j] - top) * 0.125F), sum += row[j];
        for (long j = 0; j <= i + r; j++)
            row[j] *= 1 / sum;
        for (long j = i + r + 1; j < i + ROWS; j++)
            row[j] = 0;
    }
    for (long c = 0; c < WIDE; c += COLUMNS)
        tile(score, SKEWED, values + c * LENGTH, i + ROWS, out + i * WIDE + c, WIDE, 0);
}

void attention(const float *q, const float *k, const float *v, float *out)
{
#pragma omp parallel for
    for (long h = 0; h < HEADS; h++) {
        const long at   = h * LENGTH * WIDE;
        float     *keys = floats(LENGTH * WIDE), *values = floats(LENGTH * WIDE);
        pack(k + at, 1, WIDE, WIDE, LENGTH, keys);
        pack(v + at, WIDE, 1, LENGTH, WIDE, values);
        for (long i = 0; i < LENGTH; i += ROWS)
            attend(q + at, keys, values, i, out + at);
        free(keys), free(values);
    }
}

/* The place after the last tick of the bar that tick i is of.  Labels are sorted, so most are never
 * read. */
static long end_of_bar(const int64_t *bar, long i, long n)
{
    long step = 64, end = i + 1;

    while (end + step < n && bar[end + step] == bar[i])
        end += step, step *= 2;
    for (; step; step /= 2)
        while (end + step <= n && bar[end + step - 1] == bar[i])
            end += step;
    return end;
}

void bars(const double *price, const int64_t *bar, long n, double *first, double *high, double *low,
          double *last, double *total)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int part = 0; part < 64; part++) {
            long i = n * part / 64, stop = n * (part + 1) / 64;
            while (i && i < n && bar[i] == bar[i - 1]) /* the part before has this one */
                i++;
            for (long end; i < stop; i = end) {
                double top = price[i], bottom = price[i], sum = 0;
                end = end_of_bar(bar, i, n);
#pragma omp simd reduction(max : top) reduction(min : bottom) reduction(+ : sum)
                for (long j = i; j < end; j++) {
                    top    = price[j] > top ? price[j] : top;
                    bottom = price[j] < bottom ? price[j] : bottom;
                    sum += price[j];
                }
                first[bar[i]] = price[i], last[bar[i]] = price[end - 1];
                high[bar[i]] = top, low[bar[i]] = bottom, total[bar[i]] = sum;
            }
        }
    }
}

/* ---- Sparse ------------------------------------------------------------------------------ */
/* Places of the nodes when the ones with few neighbours come first. */
static void by_degree(const int64_t *pos, long n, int32_t *place)
{
    long *count = calloc((size_t)n + 1, sizeof *count);

    for (long v = 0; v < n; v++)
        count[pos[v + 1] - pos[v] + 1]++;
    for (long d = 1; d <= n; d++)
        count[d] += count[d - 1];
    for (long v = 0; v < n; v++)
        place[v] = (int32_t)count[pos[v + 1] - pos[v]]++;
    free(count);
}

/* The graph has both directions of each edge, so the sum has each triangle six times.  Edges that
 * lead to the node with more neighbours make every list short, and a triangle is found once, where
 * its two lower nodes' lists meet. */
void triangles(const int64_t *pos, const int64_t *crd, long n, int64_t *out)
{
    int32_t *place = malloc((size_t)n * sizeof *place), *to = malloc((size_t)pos[n] * sizeof *to);
    int64_t *start = calloc((size_t)n + 1, sizeof *start),
            *end = calloc((size_t)n + 1, sizeof *end), count = 0;

    by_degree(pos, n, place);
    for (long v = 0; v < n; v++)
        for (long e = pos[v]; e < pos[v + 1]; e++)
            start[place[v] + 1] += place[crd[e]] > place[v];
    for (long v = 0; v < n; v++)
        start[v + 1] += start[v], end[v] = start[v];
    for (long v = 0; v < n; v++)
        for (long e = pos[v]; e < pos[v + 1]; e++)
            if (place[crd[e]] > place[v])
                to[end[place[v]]++] = place[crd[e]];
#pragma omp parallel reduction(+ : count)
    {
        uint8_t *mark = calloc((size_t)n, 1);
#pragma omp for schedule(dynamic, 64)
        for (long v = 0; v < n; v++) {
            for (long e = start[v]; e < end[v]; e++)
                mark[to[e]] = 1;
            for (long e = start[v]; e < end[v]; e++)
                for (long f = start[to[e]]; f < end[to[e]]; f++)
                    count += mark[to[f]];
            for (long e = start[v]; e < end[v]; e++)
                mark[to[e]] = 0;
        }
        free(mark);
    }
    *out = 6 * count;
    free(place), free(to), free(start), free(end);
}

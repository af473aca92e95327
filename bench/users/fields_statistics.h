/* Samples, ranks and tables. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The element of rank k, and the least of those after it in what is left. */
static double selected(double *x, long n, long k)
{
    long low = 0, high = n - 1;

    while (low < high) {
        const double pivot = x[(low + high) / 2];
        long         i = low, j = high;
        while (i <= j) {
            for (; x[i] < pivot; i++)
                ;
            for (; x[j] > pivot; j--)
                ;
            if (i <= j) {
                const double swapped = x[i];
                x[i++] = x[j], x[j--] = swapped;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}

static double quantile(double *x, long n, double q)
{
    const double at    = q * (double)(n - 1);
    const long   k     = (long)at;
    const double below = selected(x, n, k);
    double       above = k + 1 < n ? x[k + 1] : below;

    for (long i = k + 2; i < n; i++)
        above = x[i] < above ? x[i] : above;
    return below + (at - (double)k) * (above - below);
}

void bootstrap(const double *x, const int32_t *places, long samples, long n, double *out)
{
    double *means = malloc((size_t)samples * sizeof *means);

#pragma omp parallel for
    for (long s = 0; s < samples; s++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (long k = 0; k < n; k++)
            sum += x[places[s * n + k]];
        means[s] = sum / (double)n;
    }
    out[0] = quantile(means, samples, 0.025);
    out[1] = quantile(means, samples, 0.975);
    free(means);
}

typedef struct {
    uint64_t key;
    uint32_t place;
} rank;

enum { DIGIT = 11, DIGITS = 6, BUCKETS = 1 << DIGIT };

/* Bits of a double in the order of numbers: negative ones are turned over. */
static uint64_t ordered(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | 1ULL << 63);
}

static double number(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key ^ 1ULL << 63 : ~key;
    double         x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sorting by digits of 11 bits, all of which are counted in one pass. */
static rank *in_order(const double *x, long n)
{
    rank *from = malloc((size_t)n * sizeof *from), *to = malloc((size_t)n * sizeof *to);
    long(*count)[BUCKETS] = calloc(DIGITS, sizeof *count);

    for (long i = 0; i < n; i++) {
        from[i] = (rank){ ordered(x[i]), (uint32_t)i };
        for (int d = 0; d < DIGITS; d++)
            count[d][from[i].key >> d * DIGIT & (BUCKETS - 1)]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        for (long k = 0, sum = 0; k < BUCKETS; k++) {
            const long here = count[d][k];
            count[d][k]     = sum, sum += here;
        }
        for (long i = 0; i < n; i++)
            to[count[d][from[i].key >> d * DIGIT & (BUCKETS - 1)]++] = from[i];
        rank *const swapped = from;
        from = to, to = swapped;
    }
    free(to), free(count);
    return from;
}

/* Both samples in order are merged; the shares are compared after all that are equal. */
void kolmogorov_smirnov(const double *p, const double *q, long n, long m, double *out)
{
    rank  *a = NULL, *b = NULL;
    double most = 0;

#pragma omp parallel sections
    {
#pragma omp section
        a = in_order(p, n);
#pragma omp section
        b = in_order(q, m);
    }
    for (long i = 0, j = 0; i < n && j < m;) {
        const uint64_t key = a[i].key < b[j].key ? a[i].key : b[j].key;
        for (; i < n && a[i].key == key; i++)
            ;
        for (; j < m && b[j].key == key; j++)
            ;
        const double apart = fabs((double)i / (double)n - (double)j / (double)m);
        most               = apart > most ? apart : most;
    }
    *out = most;
    free(a), free(b);
}

void density(const double *at, const double *x, long places, long n, double *out)
{
#pragma omp parallel for
    for (long i = 0; i < places; i++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (long k = 0; k < n; k++) {
            const double u = (at[i] - x[k]) * (1 / 0.3), part = 1 - u * u;
            sum += part > 0 ? part : 0;
        }
        out[i] = sum / (double)n * 0.75 / 0.3;
    }
}

void weighted_quantile(const double *x, const double *w, long n, const double *q, long n_q,
                       double *out)
{
    rank   *order = in_order(x, n);
    double *below = malloc((size_t)n * sizeof *below), sum = 0;

    for (long i = 0; i < n; i++)
        below[i] = sum += w[order[i].place];
    for (long k = 0; k < n_q; k++) {
        long low = 0, high = n;
        while (low < high) {
            const long mid = (low + high) / 2;
            if (below[mid] < q[k] * sum)
                low = mid + 1;
            else
                high = mid;
        }
        out[k] = number(order[low].key);
    }
    free(order), free(below);
}

enum { VARIABLES = 6 };

/* Columns are turned into rows, so that people lie in lanes. */
void mahalanobis(const double *x, const double *inverse, long n, double *out)
{
    double *column[VARIABLES];

    for (long c = 0; c < VARIABLES; c++) {
        double mean = 0;
        column[c]   = malloc((size_t)n * sizeof *column[c]);
        for (long i = 0; i < n; i++)
            mean += column[c][i] = x[i * VARIABLES + c];
        mean /= (double)n;
        for (long i = 0; i < n; i++)
            column[c][i] -= mean;
    }
#pragma omp parallel for simd if (n > 20000)
    for (long i = 0; i < n; i++) {
        double sum = 0;
#pragma GCC unroll 6
        for (int c = 0; c < VARIABLES; c++) {
            double dot = 0;
#pragma GCC unroll 6
            for (int d = 0; d < VARIABLES; d++)
                dot += inverse[c * VARIABLES + d] * column[d][i];
            sum += dot * column[c][i];
        }
        out[i] = sqrt(sum);
    }
    for (long c = 0; c < VARIABLES; c++)
        free(column[c]);
}

enum { P = 12, Q = 7, TABLES = 4 };

/* Four tables in turn: equal answers that follow each other do not wait for one counter. */
void contingency(const uint8_t *p, const uint8_t *q, long n, double *chi, int64_t *table)
{
    int64_t count[P * 8] = { 0 }, row[P] = { 0 }, column[Q] = { 0 };

#pragma omp parallel for reduction(+ : count)
    for (long at = 0; at < n; at += 8192) {
        const long end = at + 8192 < n ? at + 8192 : n;
        uint8_t    cell[8192];
        uint32_t   own[TABLES][P * 8] = { { 0 } };
        for (long i = at; i < end; i++)
            cell[i - at] = (uint8_t)(p[i] * 8 + q[i]);
        for (long i = at; i < end; i++)
            own[i & (TABLES - 1)][cell[i - at]]++;
        for (long k = 0; k < P * 8; k++)
            count[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
    }
    for (long a = 0; a < P; a++)
        for (long b = 0; b < Q; b++)
            table[a * Q + b] = count[a * 8 + b], row[a] += count[a * 8 + b],
                          column[b] += count[a * 8 + b];
    *chi = 0;
    for (long a = 0; a < P; a++)
        for (long b = 0; b < Q; b++) {
            const double expected = (double)row[a] * (double)column[b] / (double)n,
                         d        = (double)table[a * Q + b] - expected;
            *chi += d * d / expected;
        }
}

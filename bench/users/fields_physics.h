/* Lattices, particles and fields. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A row's sums fit in 16 bits, so four times as many of them lie in a vector as in 64. */
void ising(const int8_t *s, long rows, long columns, int64_t *energy, double *mean)
{
    int64_t bonds = 0, total = 0;

#pragma omp parallel for reduction(+ : bonds, total)
    for (long i = 0; i < rows; i++) {
        const int8_t *row = s + i * columns, *up = s + (i ? i - 1 : rows - 1) * columns;
        int16_t       bond = (int16_t)(row[0] * (up[0] + row[columns - 1])), sum = row[0];
        for (long j = 1; j < columns; j++) {
            bond = (int16_t)(bond + row[j] * (up[j] + row[j - 1]));
            sum  = (int16_t)(sum + row[j]);
        }
        bonds += bond, total += sum;
    }
    *energy = -bonds;
    *mean   = (double)total / (double)(rows * columns);
}

/* Tensions of the n - 1 bonds; the force on an inner mass is the difference of two. */
static void tensions(const double *x, long n, double *f)
{
    for (long k = 0; k < n - 1; k++) {
        const double d = x[k + 1] - x[k] - 1;
        f[k]           = d + 0.25 * d * d;
    }
}

void leapfrog(const double *x, const double *v, long n, double *new_x, double *new_v)
{
    enum { MOST = 4096 };
    const double dt = 0.01;
    double       f[MOST];

    tensions(x, n, f);
    new_x[0] = x[0], new_x[n - 1] = x[n - 1];
    for (long k = 0; k < n - 2; k++) {
        new_v[k]     = v[k] + dt / 2 * (f[k + 1] - f[k]);
        new_x[k + 1] = x[k + 1] + dt * new_v[k];
    }
    tensions(new_x, n, f);
    for (long k = 0; k < n - 2; k++)
        new_v[k] += dt / 2 * (f[k + 1] - f[k]);
}

/* Places of a row lie in lanes, and what does not depend on them is computed once for the row. */
void coulomb(const float *x, const float *y, const float *p, const float *q, long columns,
             long rows, long n, float *out)
{
#pragma omp parallel for
    for (long i = 0; i < rows; i++) {
        float across[1024], from[1024];
        for (long c = 0; c < n; c++) {
            across[c] = (y[i] - p[3 * c + 1]) * (y[i] - p[3 * c + 1]) + p[3 * c + 2] * p[3 * c + 2];
            from[c]   = p[3 * c];
        }
        for (long j = 0; j < columns; j++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (long c = 0; c < n; c++)
                sum += q[c] / sqrtf((x[j] - from[c]) * (x[j] - from[c]) + across[c]);
            out[i * columns + j] = sum;
        }
    }
}

enum { SLABS = 40 };

void temperature(const double *v, const double *m, const double *z, long n, double *out)
{
    double  mass = 0, a = 0, b = 0, c = 0, energy[SLABS] = { 0 };
    int64_t count[SLABS] = { 0 };

#pragma omp parallel for simd reduction(+ : mass, a, b, c)
    for (long i = 0; i < n; i++)
        mass += m[i], a += m[i] * v[3 * i], b += m[i] * v[3 * i + 1], c += m[i] * v[3 * i + 2];
    a /= mass, b /= mass, c /= mass;
#pragma omp parallel for reduction(+ : energy, count)
    for (long i = 0; i < n; i++) {
        const double p = v[3 * i] - a, q = v[3 * i + 1] - b, r = v[3 * i + 2] - c;
        const int    slab = (int)(z[i] * (SLABS / 10.0));
        energy[slab] += 0.5 * m[i] * (p * p + q * q + r * r);
        count[slab]++;
    }
    for (long k = 0; k < SLABS; k++)
        out[k] = energy[k] / (double)count[k] / 1.5;
}

void poisson(const double *u, const double *f, long planes, long rows, long columns, double *root,
             double *most)
{
    const long   plane  = rows * columns;
    const double scale  = 1 / (0.01 * 0.01);
    double       square = 0, top = 0;

#pragma omp      parallel for reduction(+ : square) reduction(max : top)
    for (long i = 1; i < planes - 1; i++)
        for (long j = 1; j < rows - 1; j++) {
                 const double *x = u + i * plane + j * columns, *g = f + i * plane + j * columns;
#pragma omp simd reduction(+ : square) reduction(max : top)
            for (long k = 1; k < columns - 1; k++) {
                     const double around = x[k - plane] + x[k + plane] + x[k - columns] +
                                           x[k + columns] + x[k - 1] + x[k + 1];
                     const double r = g[k] - (around - 6 * x[k]) * scale;
                     square += r * r;
                     top = fabs(r) > top ? fabs(r) : top;
            }
             }
         *root = sqrt(square / (double)((planes - 2) * (rows - 2) * (columns - 2)));
         *most = top;
}

enum { SHELLS = 100 };

/* Each pair once.  Shells of a row are computed in vectors, and counted in turn in four tables, as
 * equal ones follow each other. */
void radial_distribution(const float *p, long n, int64_t *out)
{
    const float box = 12;
    float      *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y),
          *z              = malloc((size_t)n * sizeof *z);
    int64_t count[SHELLS] = { 0 };

    for (long i = 0; i < n; i++)
        x[i] = p[3 * i], y[i] = p[3 * i + 1], z[i] = p[3 * i + 2];
#pragma omp parallel
    {
        int32_t *shell = malloc((size_t)n * sizeof *shell), own[4][SHELLS + 1] = { { 0 } };
#pragma omp for schedule(dynamic, 32)
        for (long i = 0; i < n; i++) {
            for (long j = i + 1; j < n; j++) {
                float a = x[j] - x[i], b = y[j] - y[i], c = z[j] - z[i];
                a -= box * rintf(a / box), b -= box * rintf(b / box), c -= box * rintf(c / box);
                const float at = sqrtf(a * a + b * b + c * c) * (SHELLS / 6.0F);
                shell[j]       = at < SHELLS ? (int32_t)at : SHELLS;
            }
            for (long j = i + 1; j < n; j++)
                own[j & 3][shell[j]]++;
        }
#pragma omp critical
        for (long k = 0; k < SHELLS; k++)
            count[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
        free(shell);
    }
    for (long k = 0; k < SHELLS; k++)
        out[k] = 2 * count[k] + (k ? 0 : n);
    free(x), free(y), free(z);
}

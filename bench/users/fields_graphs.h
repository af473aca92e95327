/* Edges, neighbours and labels of nodes. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Threads count in tables of their own, which the second-level cache holds. */
void neighbour_degree(const int32_t *src, const int32_t *dst, long edges, long n, double *out)
{
    int32_t *degree = calloc((size_t)n, sizeof *degree);
    int64_t *total  = calloc((size_t)n, sizeof *total);

#pragma omp parallel
    {
        const int alone = omp_get_num_threads() == 1;
        int32_t  *own   = alone ? degree : calloc((size_t)n, sizeof *own);
        int64_t  *sum   = alone ? total : calloc((size_t)n, sizeof *sum);
#pragma omp for
        for (long e = 0; e < edges; e++)
            own[src[e]]++;
        if (!alone)
#pragma omp critical
            for (long k = 0; k < n; k++)
                degree[k] += own[k];
#pragma omp barrier
#pragma omp for
        for (long e = 0; e < edges; e++)
            sum[src[e]] += degree[dst[e]];
        if (!alone) {
#pragma omp critical
            for (long k = 0; k < n; k++)
                total[k] += sum[k];
            free(own), free(sum);
        }
    }
    for (long k = 0; k < n; k++)
        out[k] = (double)total[k] / (double)(degree[k] ? degree[k] : 1);
    free(degree), free(total);
}

static void to_length_one(double *x, long n)
{
    double square = 0;

    for (long k = 0; k < n; k++)
        square += x[k] * x[k];
    for (long k = 0; k < n; k++)
        x[k] *= 1 / sqrt(square);
}

void hits(const int64_t *pos, const int64_t *crd, const double *hub, long n, double *authority,
          double *new_hub)
{
    memset(authority, 0, (size_t)n * sizeof *authority);
#pragma omp parallel
    {
        const int alone = omp_get_num_threads() == 1;
        double   *own   = alone ? authority : calloc((size_t)n, sizeof *own);
#pragma omp for
        for (long v = 0; v < n; v++)
            for (long e = pos[v]; e < pos[v + 1]; e++)
                own[crd[e]] += hub[v];
        if (!alone) {
#pragma omp critical
            for (long k = 0; k < n; k++)
                authority[k] += own[k];
            free(own);
        }
    }
    to_length_one(authority, n);
#pragma omp parallel for
    for (long v = 0; v < n; v++) {
        double sum = 0;
        for (long e = pos[v]; e < pos[v + 1]; e++)
            sum += authority[crd[e]];
        new_hub[v] = sum;
    }
    to_length_one(new_hub, n);
}

void bellman_ford(const int32_t *src, const int32_t *dst, const float *w, const float *dist,
                  long edges, long n, float *out)
{
    memcpy(out, dist, (size_t)n * sizeof *out);
#pragma omp parallel
    {
        const int alone = omp_get_num_threads() == 1;
        float    *own   = alone ? out : malloc((size_t)n * sizeof *own);
        if (!alone)
            memcpy(own, dist, (size_t)n * sizeof *own);
#pragma omp for
        for (long e = 0; e < edges; e++) {
            const float reached = dist[src[e]] + w[e];
            own[dst[e]]         = own[dst[e]] < reached ? own[dst[e]] : reached;
        }
        if (!alone) {
#pragma omp critical
            for (long k = 0; k < n; k++)
                out[k] = own[k] < out[k] ? own[k] : out[k];
            free(own);
        }
    }
}

/* Rows become bits, 64 neighbours in a word. */
void common_neighbours(const uint8_t *adjacent, const int64_t *u, const int64_t *v, long n,
                       long pairs, double *out)
{
    const long words = (n + 63) / 64;
    uint64_t  *bits  = calloc((size_t)(n * words), sizeof *bits);

#pragma omp parallel
    {
#pragma omp for
        for (long i = 0; i < n; i++)
            for (long k = 0; k < n; k += 64) {
                uint64_t   word = 0;
                const long end  = n - k < 64 ? n - k : 64;
                for (long b = 0; b < end; b++)
                    word |= (uint64_t)(adjacent[i * n + k + b] != 0) << b;
                bits[i * words + k / 64] = word;
            }
#pragma omp for
        for (long p = 0; p < pairs; p++) {
            const uint64_t *a = bits + u[p] * words, *b = bits + v[p] * words;
            int64_t         both = 0, any = 0;
            for (long k = 0; k < words; k++)
                both += __builtin_popcountll(a[k] & b[k]), any += __builtin_popcountll(a[k] | b[k]);
            out[p] = (double)both / (double)any;
        }
    }
    free(bits);
}

enum { LABELS = 16 };

void label_propagation(const int64_t *pos, const int64_t *crd, const int64_t *label, long n,
                       int64_t *out)
{
#pragma omp parallel for
    for (long v = 0; v < n; v++) {
        int32_t count[LABELS] = { 0 }, most = 0;
        for (long e = pos[v]; e < pos[v + 1]; e++)
            count[label[crd[e]]]++;
        for (int32_t k = 1; k < LABELS; k++)
            most = count[k] > count[most] ? k : most;
        out[v] = most;
    }
}

enum { COMMUNITIES = 40 };

void modularity(const int32_t *src, const int32_t *dst, const int32_t *group, long edges,
                double *out)
{
    int64_t same = 0, from[COMMUNITIES] = { 0 }, to[COMMUNITIES] = { 0 };
    double  expected = 0;

#pragma omp parallel for reduction(+ : same, from, to)
    for (long e = 0; e < edges; e++) {
        const int32_t a = group[src[e]], b = group[dst[e]];
        same += a == b;
        from[a]++, to[b]++;
    }
    for (long k = 0; k < COMMUNITIES; k++)
        expected += (double)from[k] * (double)to[k];
    *out = (double)same / (double)edges - expected / ((double)edges * (double)edges);
}

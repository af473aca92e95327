/* hand_catalogue.h - covariance of two arrays, a chain of products, and maps of popular functions.
 * Included for each type. */

/* Sums of x - p, of x + y - q and of their products, of n elements, to s. */
INLINE void F(add_pairs)(const REAL *x, const REAL *y, int64_t n, REAL p, REAL q, double s[3])
{
    for (int64_t start = 0; start < n; start += 4096) {
        const int64_t end     = start + 4096 < n ? start + 4096 : n;
        V             t[2][3] = { { { 0 } } };

        for (int64_t i = start; i < end; i += 2 * LANES)
            for (int u = 0; u < 2; u++) {
                const V v = LOAD(x + i + u * LANES), d = v - SPLAT(p),
                        e = v + LOAD(y + i + u * LANES) - SPLAT(q);

                t[u][0] += d;
                t[u][1] += e;
                t[u][2] += d * e;
            }
        for (int k = 0; k < 3; k++)
            s[k] += F(total)(t[0][k] + t[1][k]);
    }
}

/* Beside the first elements, which are no further from the means than others. */
static void F(pair_covariance)(const hand_args *a)
{
    const REAL   *x = a->in[0], *y = a->in[1];
    const int64_t rows = a->dims == 3 ? 1 : a->shape[0], n = a->shape[0] * a->shape[1] / rows;

    if (rows == 1) {
        double s[3] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s)
        for (int k = 0; k < a->threads; k++) {
            const int64_t from = share_start(n, k, a->threads);

            F(add_pairs)
            (x + from, y + from, share_start(n, k + 1, a->threads) - from, x[0], x[0] + y[0], s);
        }
        *(REAL *)a->out[0] = (REAL)((s[2] - s[0] * s[1] / (double)n) / (double)n);
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        double s[3] = { 0 };

        F(add_pairs)(x + r * n, y + r * n, n, x[r * n], x[r * n] + y[r * n], s);
        ((REAL *)a->out[0])[r] = (REAL)((s[2] - s[0] * s[1] / (double)n) / (double)n);
    }
}

/* y = A x, A (rows, n) */
INLINE void F(times_vector)(const REAL *m, const REAL *x, int64_t rows, int64_t n, REAL *y,
                            int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        V s[4] = { { 0 } };

        for (int64_t i = 0; i < n; i += 4 * LANES)
            for (int u = 0; u < 4; u++)
                s[u] += LOAD(m + r * n + i + u * LANES) * LOAD(x + i + u * LANES);
        y[r] = (REAL)F(total)((s[0] + s[1]) + (s[2] + s[3]));
    }
}

static void F(product_chain)(const hand_args *a)
{
    const int64_t n = a->shape[0];
    REAL         *t = aligned_alloc(64, (size_t)n * sizeof *t);

    F(times_vector)(a->in[1], a->in[2], n, n, t, a->threads);
    F(times_vector)(a->in[0], t, n, n, a->out[0], a->threads);
    free(t);
}

static void F(sigmoid)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i += LANES)
        *(V *)(y + i) = SPLAT(1) / (SPLAT(1) + F(exp)(-LOAD(x + i)));
}

/* C's function, of which there is no vector without a library for it. */
static void F(erf_each)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = sizeof(REAL) == 4 ? (REAL)erff((float)x[i]) : (REAL)erf((double)x[i]);
}

static void F(gelu)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++) {
        const REAL t = x[i] * (REAL)0.70710678118654752440;

        y[i] = (REAL)0.5 * x[i] *
               (1 + (sizeof(REAL) == 4 ? (REAL)erff((float)t) : (REAL)erf((double)t)));
    }
}

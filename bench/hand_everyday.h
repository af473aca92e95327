/* hand_everyday.h - sums by group, forces between points, a covariance, and functions that are
 * called by their address.  Included for each type. */

#ifndef HAND_EVERYDAY_H
#define HAND_EVERYDAY_H
enum { GROUPS = 10, COLUMNS = 20, HALF = COLUMNS / 2, CALL_BLOCK = 2048 };
#endif

/* ---- Means by label -------------------------------------------------------------------------- */
/* Four tables take turns: an addition does not wait for the one before of the same label. */
static void F(group_mean1)(const hand_args *a)
{
    const REAL    *x         = a->in[0];
    const int64_t *label     = a->in[1];
    const int64_t  n         = a->shape[0];
    double         s[GROUPS] = { 0 }, number[GROUPS] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s, number)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end              = share_start(n, k + 1, a->threads);
        double        t[4][GROUPS]     = { 0 };
        int32_t       count[4][GROUPS] = { 0 };
        int64_t       i                = share_start(n, k, a->threads);

        for (; i + 4 <= end; i += 4)
            for (int u = 0; u < 4; u++) {
                t[u][label[i + u]] += (double)x[i + u];
                count[u][label[i + u]]++;
            }
        for (; i < end; i++) {
            t[0][label[i]] += (double)x[i];
            count[0][label[i]]++;
        }
        for (int g = 0; g < GROUPS; g++) {
            s[g] += (t[0][g] + t[1][g]) + (t[2][g] + t[3][g]);
            number[g] += count[0][g] + count[1][g] + count[2][g] + count[3][g];
        }
    }
    for (int g = 0; g < GROUPS; g++)
        ((REAL *)a->out[0])[g] = (REAL)(s[g] / number[g]);
}

/* Rows of 16, which are added to one of ten rows; f32 rows are spilled into doubles. */
INLINE void F(group_rows)(const REAL *x, const int64_t *label, int64_t n, double *s, double *number)
{
    for (int64_t start = 0; start < n; start += RUN_SPILL) {
        const int64_t end = start + RUN_SPILL < n ? start + RUN_SPILL : n;
        V             t[2][GROUPS][16 / LANES];
        int32_t       count[GROUPS] = { 0 };

        memset(t, 0, sizeof t);
        for (int64_t i = start; i < end; i++) {
            V *row = t[i % 2][label[i]];

            count[label[i]]++;
            for (int v = 0; v < 16 / LANES; v++)
                row[v] += LOAD(x + 16 * i + v * LANES);
        }
        for (int g = 0; g < GROUPS; g++) {
            number[g] += count[g];
            for (int c = 0; c < 16; c++)
                s[16 * g + c] +=
                    (double)t[0][g][c / LANES][c % LANES] + (double)t[1][g][c / LANES][c % LANES];
        }
    }
}

static void F(group_mean16)(const hand_args *a)
{
    const int64_t n              = a->shape[0];
    double        s[16 * GROUPS] = { 0 }, number[GROUPS] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s, number)
    for (int k = 0; k < a->threads; k++) {
        const int64_t start = share_start(n, k, a->threads);

        F(group_rows)
        ((const REAL *)a->in[0] + 16 * start, (const int64_t *)a->in[1] + start,
         share_start(n, k + 1, a->threads) - start, s, number);
    }
    for (int i = 0; i < 16 * GROUPS; i++)
        ((REAL *)a->out[0])[i] = (REAL)(s[i] / number[i / 16]);
}

static void F(group_mean)(const hand_args *a)
{
    if (a->shape[1] == 1)
        F(group_mean1)(a);
    else
        F(group_mean16)(a);
}

/* ---- Forces ---------------------------------------------------------------------------------- */
/* Sums over j of d exp(-|d|^2), d = x_j - x_i, and of exp(-|d|^2), for 2 LANES points x_i.  The
 * coordinates are scaled so that the exponential is a power of 2. */
INLINE void F(force_block)(V x[2][3], const REAL *y, int64_t n, V force[2][3], V *potential)
{
    for (int64_t j = 0; j < n; j++, y += 3)
        for (int u = 0; u < 2; u++) {
            const V d0 = y[0] - x[u][0], d1 = y[1] - x[u][1], d2 = y[2] - x[u][2];
            const V e = F(exp2)(-(d0 * d0 + d1 * d1 + d2 * d2));

            force[u][0] += d0 * e;
            force[u][1] += d1 * e;
            force[u][2] += d2 * e;
            potential[u] += e;
        }
}

INLINE void F(forces)(const hand_args *a, REAL *potential)
{
    const REAL   *x = a->in[0], factor = (REAL)1.2011224087864498;
    REAL         *out = a->out[0];
    const int64_t n   = a->shape[0];
    REAL         *y   = aligned_alloc(64, (size_t)((3 * n + 15) / 16 * 16) * sizeof *y);

    for (int64_t j = 0; j < 3 * n; j++)
        y[j] = x[j] * factor;
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < n; i += 2 * LANES) {
        V points[2][3], force[2][3] = { 0 }, sum[2] = { 0 };

        F(gather_points)(x, i, n, 3, factor, points[0]);
        F(gather_points)(x, i + LANES, n, 3, factor, points[1]);
        F(force_block)(points, y, n, force, sum);
        for (int k = 0; k < 2 * LANES && i + k < n; k++) {
            for (int c = 0; c < 3; c++)
                out[3 * (i + k) + c] = force[k / LANES][c][k % LANES] / factor;
            if (potential)
                potential[i + k] = sum[k / LANES][k % LANES];
        }
    }
    free(y);
}

static void F(force)(const hand_args *a)
{
    F(forces)(a, NULL);
}

static void F(force_potential)(const hand_args *a)
{
    F(forces)(a, a->out[1]);
}

/* ---- Covariance of 20 columns ---------------------------------------------------------------- */
/* Products of HALF columns from `from` with all columns from there on, of few rows; less the first
 * row of all, so that the means can be taken off at the end. */
INLINE void F(products_of)(const REAL *x, int64_t rows, const REAL *base, int from, double *sums,
                           double *products)
{
    V         s[COLUMNS] = { 0 }, p[HALF][COLUMNS] = { 0 }, shift[COLUMNS];
    const int vectors = (COLUMNS - from + LANES - 1) / LANES;
    const int tail    = COLUMNS - from - (vectors - 1) * LANES;

    for (int v = 0; v < vectors; v++)
        shift[v] = F(part)(base + from + v * LANES, F(first)(v + 1 < vectors ? LANES : tail));
    for (int64_t r = 0; r < rows; r++, x += COLUMNS) {
        V row[COLUMNS];

        UNROLL(10)
        for (int v = 0; v < vectors; v++) {
            if (v + 1 < vectors)
                row[v] = LOAD_ANY(x + from + v * LANES) - shift[v];
            else
                row[v] = F(part)(x + from + v * LANES, F(first)(tail)) - shift[v];
            s[v] += row[v];
        }
        UNROLL(10)
        for (int i = 0; i < HALF; i++)
            UNROLL(10)
        for (int v = 0; v < vectors; v++)
            p[i][v] += (x[from + i] - base[from + i]) * row[v];
    }
    for (int c = from; c < COLUMNS; c++) {
        const int v = (c - from) / LANES, k = (c - from) % LANES;

        sums[c] += from ? 0 : (double)s[v][k];
        for (int i = 0; i < HALF; i++)
            products[(from + i) * COLUMNS + c] += (double)p[i][v][k];
    }
}

static void F(products_share)(const hand_args *a, int k, double *sums, double *products)
{
    const REAL   *x   = a->in[0];
    const int64_t end = share_start(a->shape[0], k + 1, a->threads);

    for (int64_t r = share_start(a->shape[0], k, a->threads); r < end; r += 1024) {
        const int64_t rows = r + 1024 < end ? 1024 : end - r;

        F(products_of)(x + r * COLUMNS, rows, x, 0, sums, products);
        F(products_of)(x + r * COLUMNS, rows, x, HALF, sums, products);
    }
}

static void F(covariance)(const hand_args *a)
{
    const double n          = (double)a->shape[0];
    double       s[COLUMNS] = { 0 }, p[COLUMNS * COLUMNS] = { 0 };

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s, p)
    for (int k = 0; k < a->threads; k++)
        F(products_share)(a, k, s, p);
    for (int i = 0; i < COLUMNS; i++)
        for (int j = i; j < COLUMNS; j++)
            ((REAL *)a->out[0])[i * COLUMNS + j] = ((REAL *)a->out[0])[j * COLUMNS + i] =
                (REAL)(p[i * COLUMNS + j] - s[i] * s[j] / n);
}

/* ---- Functions by their address -------------------------------------------------------------- */
static void F(call)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = F(bench_softsign)(x[i]);
}

/* A call spills the accumulators: results go through a buffer. */
static void F(call_sum)(const hand_args *a)
{
    const int64_t n = a->shape[0];
    double        s = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s)
    for (int64_t i = 0; i < n; i += CALL_BLOCK) {
        const int64_t some = i + CALL_BLOCK < n ? CALL_BLOCK : n - i;
        const REAL   *x    = (const REAL *)a->in[0] + i;
        V             y[CALL_BLOCK / LANES];

        for (int64_t k = 0; k < some; k++)
            ((REAL *)y)[k] = F(bench_softsign)(x[k]);
        s += F(run)(TERM_ELEMENT, (const REAL *)y, (const REAL *)y, some);
    }
    *(REAL *)a->out[0] = (REAL)s;
}

static void F(block)(const hand_args *a)
{
    const int64_t n = a->shape[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < n; i += CALL_BLOCK) {
        const void *in[] = { (const REAL *)a->in[0] + i };

        F(bench_block)(NULL, i + CALL_BLOCK < n ? CALL_BLOCK : n - i, in, (REAL *)a->out[0] + i);
    }
}

static void F(block_sum)(const hand_args *a)
{
    const int64_t n = a->shape[0];
    double        s = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : s)
    for (int64_t i = 0; i < n; i += CALL_BLOCK) {
        const int64_t some = i + CALL_BLOCK < n ? CALL_BLOCK : n - i;
        const void   *in[] = { (const REAL *)a->in[0] + i };
        V             y[CALL_BLOCK / LANES];

        F(bench_block)(NULL, some, in, y);
        s += F(run)(TERM_ELEMENT, (const REAL *)y, (const REAL *)y, some);
    }
    *(REAL *)a->out[0] = (REAL)s;
}

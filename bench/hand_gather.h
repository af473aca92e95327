/* hand_gather.h - rows, columns and elements chosen by an index, the loss of a classifier, and the
 * nearest other point.  Included for each type. */

/* ---- take ------------------------------------------------------------------------------------ */
INLINE void F(copy_row)(const REAL *x, REAL *y, int64_t n)
{
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        F(put_part)(y + k, F(first)(LANES), LOAD_ANY(x + k));
    if (k < n)
        F(put_part)(y + k, F(first)(n - k), F(part)(x + k, F(first)(n - k)));
}

/* Rows of in0 (m, n) by in1. */
static void F(take_rows)(const hand_args *a)
{
    const int64_t *index = a->in[1], n = a->shape[1];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->other[0]; i++)
        F(copy_row)((const REAL *)a->in[0] + index[i] * n, (REAL *)a->out[0] + i * n, n);
}

static void F(take_columns)(const hand_args *a)
{
    const int64_t *index = a->in[1], n = a->shape[1], m = a->other[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++) {
        const REAL *x          = (const REAL *)a->in[0] + i * n;
        REAL *restrict const y = (REAL *)a->out[0] + i * m;

        for (int64_t k = 0; k < m; k++)
            y[k] = x[index[k]];
    }
}

/* Of in0 (a, b, c) elements of axis 1. */
static void F(take_middle)(const hand_args *a)
{
    const int64_t *index = a->in[1], b = a->shape[1], c = a->shape[2], m = a->other[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t k = 0; k < m; k++)
            F(copy_row)
    ((const REAL *)a->in[0] + (i * b + index[k]) * c, (REAL *)a->out[0] + (i * m + k) * c, c);
}

/* ---- Loss ------------------------------------------------------------------------------------ */
static double F(loss_rows)(const REAL *z, const int64_t *label, int64_t rows, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < rows; i++, z += n) {
        const double most = F(along)(FOLD_max, FORM_plain, z, NULL, NULL, n, 0).most;
        const double q    = F(along)(FOLD_exps, FORM_plain, z, NULL, NULL, n, (REAL)most).q;

        sum += most + log(q) - (double)z[label[i]];
    }
    return sum;
}

static void F(loss)(const hand_args *a)
{
    const int64_t rows = a->shape[0], n = a->shape[1];
    double        sum = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : sum)
    for (int k = 0; k < a->threads; k++) {
        const int64_t start = share_start(rows, k, a->threads);

        sum += F(loss_rows)((const REAL *)a->in[0] + start * n, (const int64_t *)a->in[1] + start,
                            share_start(rows, k + 1, a->threads) - start, n);
    }
    *(REAL *)a->out[0] = (REAL)(sum / (double)rows);
}

/* ---- The nearest other point ----------------------------------------------------------------- */
/* Of the points from..to-1, for 4 LANES points from the i-th; `self` where some of these are
 * those. */
INLINE void F(nearest_others)(V points[4][3], const REAL *y, int64_t from, int64_t to, int64_t i,
                              bool self, V *best, W *at)
{
    W lane = { 0 };

    for (int k = 0; k < LANES; k++)
        lane[k] = k;
    for (int64_t j = from; j < to; j++)
        UNROLL(4)
    for (int u = 0; u < 4; u++) {
        const V d0 = points[u][0] - y[3 * j], d1 = points[u][1] - y[3 * j + 1],
                d2 = points[u][2] - y[3 * j + 2];
        V d        = d0 * d0 + d1 * d1 + d2 * d2;

        if (self) {
            const W same = (W)(lane + (INT)(i + u * LANES) == (INT)j);

            d = (V)(((W)SPLAT(INFINITY) & same) | ((W)d & ~same));
        }
        at[u]   = F(if_greater)(best[u], d, (W){ 0 } + (INT)j, at[u]);
        best[u] = F(min)(best[u], d);
    }
}

static void F(other3)(const hand_args *a)
{
    const REAL   *x   = a->in[0];
    int64_t      *out = a->out[0];
    const int64_t m   = a->shape[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += 4 * LANES) {
        const int64_t end = i + 4 * LANES < m ? i + 4 * LANES : m;
        V             points[4][3], best[4];
        W             at[4] = { 0 };

        for (int u = 0; u < 4; u++) {
            F(gather_points)(x, i + u * LANES, m, 3, 1, points[u]);
            best[u] = SPLAT(INFINITY);
        }
        F(nearest_others)(points, x, 0, i, i, false, best, at);
        F(nearest_others)(points, x, i, end, i, true, best, at);
        F(nearest_others)(points, x, end, m, i, false, best, at);
        for (int k = 0; k < 4 * LANES && i + k < m; k++)
            out[i + k] = at[k / LANES][k % LANES];
    }
}

static void F(other)(const hand_args *a)
{
    if (a->shape[1] == 3)
        F(other3)(a);
    else
        F(nearest_any)(a, a->in[0], a->shape[0], true);
}

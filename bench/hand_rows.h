/* hand_rows.h - (rows, n) reduced over axis 1, row by row, by more than a sum.  Included for each
 * type. */

INLINE REAL F(greatest)(V v)
{
    REAL m = v[0];

    for (int k = 1; k < LANES; k++)
        m = v[k] > m ? v[k] : m;
    return m;
}

static void F(mean_var_row)(const REAL *x, int64_t n, REAL *mean, REAL *var)
{
    V      base = SPLAT(x[0]), s[4] = { 0 }, q[4] = { 0 };
    double m;

    for (int64_t i = 0; i < n; i += 4 * LANES)
        for (int k = 0; k < 4; k++) {
            V d = LOAD(x + i + k * LANES) - base;

            s[k] += d;
            q[k] += d * d;
        }
    m     = F(total)((s[0] + s[1]) + (s[2] + s[3])) / (double)n;
    *mean = (REAL)(m + (double)x[0]);
    *var  = (REAL)(F(total)((q[0] + q[1]) + (q[2] + q[3])) / (double)n - m * m);
}

/* Online and lane by lane: one correction for eight vectors. */
static REAL F(logsumexp_row)(const REAL *x, int64_t n)
{
    V    m = LOAD(x), s = SPLAT(0);
    REAL most;

    for (int64_t i = 0; i < n; i += 8 * LANES) {
        V v[8], top = m, sum[2] = { 0 };

        for (int k = 0; k < 8; k++) {
            v[k] = LOAD(x + i + k * LANES);
            top  = F(max)(top, v[k]);
        }
        for (int k = 0; k < 8; k++)
            sum[k % 2] += F(exp)(v[k] - top);
        s = s * F(exp)(m - top) + (sum[0] + sum[1]);
        m = top;
    }
    most = F(greatest)(m);
    return most + (REAL)log(F(total)(s * F(exp)(m - most)));
}

static REAL F(max_row)(const REAL *x, int64_t n)
{
    V m[8];

    for (int k = 0; k < 8; k++)
        m[k] = LOAD(x + k * LANES);
    for (int64_t i = 0; i < n; i += 8 * LANES)
        for (int k = 0; k < 8; k++)
            m[k] = F(max)(m[k], LOAD(x + i + k * LANES));
    for (int k = 1; k < 8; k++)
        m[0] = F(max)(m[0], m[k]);
    return F(greatest)(m[0]);
}

static int64_t F(argmax_row)(const REAL *x, int64_t n)
{
    V       m[4];
    W       at[4] = { 0 };
    REAL    most  = -INFINITY;
    int64_t best  = 0;

    for (int k = 0; k < 4; k++)
        m[k] = SPLAT(-INFINITY);
    for (int64_t i = 0; i < n; i += 4 * LANES)
        for (int k = 0; k < 4; k++) {
            V v   = LOAD(x + i + k * LANES);
            at[k] = F(if_greater)(v, m[k], (W){ 0 } + (INT)i, at[k]);
            m[k]  = F(max)(m[k], v);
        }
    for (int k = 0; k < 4 * LANES; k++) {
        const REAL    v = m[k / LANES][k % LANES];
        const int64_t i = at[k / LANES][k % LANES] + k;

        if (v > most || (v == most && i < best)) {
            most = v;
            best = i;
        }
    }
    return best;
}

/* ---- Over either axis ------------------------------------------------------------------------ */
static void F(mean_var)(const hand_args *a)
{
    const REAL *x    = a->in[0];
    REAL       *mean = a->out[0], *var = a->out[1];

    if (a->dims == 1) {
        F(each_block)(a, F(mean_var_block));
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        F(mean_var_row)(x + i * a->shape[1], a->shape[1], mean + i, var + i);
}

static void F(logsumexp)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

    if (a->dims == 1) {
        F(each_block)(a, F(logsumexp_block));
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = F(logsumexp_row)(x + i * a->shape[1], a->shape[1]);
}

static void F(maximum)(const hand_args *a)
{
    const REAL *x = a->in[0];
    REAL       *y = a->out[0];

    if (a->dims == 1) {
        F(each_block)(a, F(max_block));
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = F(max_row)(x + i * a->shape[1], a->shape[1]);
}

static void F(argmax)(const hand_args *a)
{
    const REAL *x = a->in[0];
    int64_t    *y = a->out[0];

    if (a->dims == 1) {
        F(each_block)(a, F(argmax_block));
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = F(argmax_row)(x + i * a->shape[1], a->shape[1]);
}

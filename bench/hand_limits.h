/* hand_limits.h - what the machine can do at most.  Included for each type; memory is measured with
 * doubles only. */

/* Every thread reads its share shape[1] times, in one sequential stream: the fastest way on the
 * machines measured. */
static void F(limit_read)(const hand_args *a)
{
    const int64_t n     = a->shape[0] / a->threads / 1024 * 1024;
    double        total = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : total)
    for (int k = 0; k < a->threads; k++) {
        const REAL *x    = (const REAL *)a->in[0] + k * n;
        W           s[8] = { 0 };

        for (int64_t turn = 0; turn < a->shape[1]; turn++)
            for (int64_t i = 0; i < n; i += 8 * LANES)
                UNROLL(8)
        for (int u = 0; u < 8; u++)
            s[u] ^= *(const W *)(x + i + u * LANES);
        for (int u = 1; u < 8; u++)
            s[0] ^= s[u];
        total += (double)s[0][0];
    }
    *(double *)a->out[0] = total;
}

static void F(limit_copy)(const hand_args *a)
{
    const int64_t n = a->shape[0] / a->threads / 1024 * 1024;

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++) {
        const REAL *x = (const REAL *)a->in[0] + k * n;
        REAL       *y = (REAL *)a->out[0] + k * n;

        for (int64_t i = 0; i < n; i += LANES)
            F(stream)(y + i, LOAD(x + i));
    }
}

static void F(limit_fill)(const hand_args *a)
{
    const int64_t n = a->shape[0] / a->threads / 1024 * 1024;

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        for (int64_t i = 0; i < n; i += LANES)
            F(stream)((REAL *)a->out[0] + k * n + i, SPLAT(1));
}

/* 12 independent chains: more than latency times pipes, fewer than registers. */
static void F(limit_fma)(const hand_args *a)
{
    const V times = SPLAT(0.999), plus = SPLAT(1e-9);
    double  total = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : total)
    for (int k = 0; k < a->threads; k++) {
        V s[12];

        for (int u = 0; u < 12; u++)
            s[u] = SPLAT(u);
        for (int64_t turn = 0; turn < a->shape[0]; turn++)
            UNROLL(12)
        for (int u = 0; u < 12; u++)
            s[u] = s[u] * times + plus;
        for (int u = 0; u < 12; u++)
            total += F(total)(s[u]);
    }
    *(double *)a->out[0] = total;
}

static void F(limit_exp)(const hand_args *a)
{
    double total = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : total)
    for (int k = 0; k < a->threads; k++) {
        const REAL *x    = a->in[0];
        V           s[4] = { 0 };

        for (int64_t turn = 0; turn < a->shape[0]; turn++)
            for (int i = 0; i < 4096; i += 4 * LANES)
                for (int u = 0; u < 4; u++)
                    s[u] += F(exp)(LOAD(x + i + u * LANES));
        total += F(total)((s[0] + s[1]) + (s[2] + s[3]));
    }
    *(double *)a->out[0] = total;
}

/* hand_scans.h - running sums of (rows, n) along either axis.  Included for each type. */

static void F(cumsum_columns)(const hand_args *a)
{
    const REAL   *x     = a->in[0];
    REAL         *y     = a->out[0];
    const int64_t n     = a->shape[1];
    const int64_t width = block_width(n, BLOCK_BYTES / (int)sizeof(REAL), a->threads);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t j = 0; j < n; j += width) {
        const int vectors = (int)((j + width < n ? width : n - j) / LANES);
        V         s[BLOCK_VECTORS];

        memset(s, 0, sizeof s);
        for (int64_t r = 0; r < a->shape[0]; r++)
            for (int k = 0; k < vectors; k++) {
                s[k] += LOAD(x + r * n + j + k * LANES);
                F(stream)(y + r * n + j + k * LANES, s[k]);
            }
    }
}

static void F(cumsum)(const hand_args *a)
{
    const REAL   *x = a->in[0];
    REAL         *y = a->out[0];
    const int64_t n = a->shape[1];

    if (a->dims == 1) {
        F(cumsum_columns)(a);
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++) {
        V carry = SPLAT(0);

        for (int64_t k = 0; k < n; k += LANES) {
            V v = F(running)(LOAD(x + i * n + k)) + carry;

            F(stream)(y + i * n + k, v);
            carry = F(last)(v);
        }
    }
}

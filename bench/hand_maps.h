/* hand_maps.h - a map folded into a sum.  Included for each type. */

static void F(square_difference)(const hand_args *a)
{
    const REAL   *x = a->in[0], *y = a->in[1];
    REAL         *out  = a->out[0];
    const int64_t rows = a->shape[0], n = a->shape[1];

    if (a->dims == 1) {
        const int64_t width = block_width(n, 32768 / (int)sizeof(REAL), a->threads);

#pragma omp parallel for num_threads(a->threads) schedule(static)
        for (int64_t j = 0; j < n; j += width)
            F(columns)
        (TERM_SQUARE_DIFFERENCE, x + j, y + j, rows, n, j + width < n ? width : n - j, out + j,
         true);
        return;
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < rows; i++)
        out[i] = (REAL)F(run)(TERM_SQUARE_DIFFERENCE, x + i * n, y + i * n, n);
}

static void F(sum_exp)(const hand_args *a)
{
    *(REAL *)a->out[0] =
        (REAL)F(run_shared)(TERM_EXP, a->in[0], a->shape[0] * a->shape[1], a->threads);
}

static void F(count)(const hand_args *a)
{
    const REAL   *x     = a->in[0];
    const int64_t n     = a->shape[0] * a->shape[1];
    int64_t       total = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : total)
    for (int k = 0; k < a->threads; k++) {
        const int64_t end  = share_start(n, k + 1, a->threads);
        int64_t       c[2] = { 0 };

        for (int64_t i = share_start(n, k, a->threads); i < end; i += 2 * LANES) {
            c[0] += F(count_beyond)(LOAD(x + i), SPLAT(0.5));
            c[1] += F(count_beyond)(LOAD(x + i + LANES), SPLAT(0.5));
        }
        total += c[0] + c[1];
    }
    *(int64_t *)a->out[0] = total;
}

/* hand_attention.h - causal attention of heads of (n, 64), n a multiple of 64: blocks of 64 rows and 64
 * keys, with the greatest score and the sum so far (Dao and others 2022, "FlashAttention").  Included
 * for each type.
 *
 * Both products are rows times a block of 64 columns in registers. */
#ifndef HAND_ATTENTION_H
#define HAND_ATTENTION_H
enum { SIDE = 64, SIDE_ROWS = 4 };
#endif

/* c (4, 64) += a (4, 64, rows `pitch` apart) times b (64, 64); some registers of columns at a time. */
INLINE void F(times_block)(const REAL *a, int64_t pitch, const REAL *b, REAL *c)
{
    enum { AT_ONCE = 4 * LANES < SIDE ? 4 * LANES : SIDE, ACROSS = AT_ONCE / LANES };

    for (int j = 0; j < SIDE; j += AT_ONCE) {
        V s[SIDE_ROWS][ACROSS];

        UNROLL(4)
        for (int r = 0; r < SIDE_ROWS; r++)
            UNROLL(4)
        for (int u = 0; u < ACROSS; u++)
            s[r][u] = LOAD(c + r * SIDE + j + u * LANES);
        for (int k = 0; k < SIDE; k++)
            UNROLL(4)
        for (int r = 0; r < SIDE_ROWS; r++)
            UNROLL(4)
        for (int u = 0; u < ACROSS; u++)
            s[r][u] += LOAD(b + k * SIDE + j + u * LANES) * a[r * pitch + k];
        UNROLL(4)
        for (int r = 0; r < SIDE_ROWS; r++)
            UNROLL(4)
        for (int u = 0; u < ACROSS; u++)
            STORE(c + r * SIDE + j + u * LANES) = s[r][u];
    }
}

/* Scores of a row and 64 keys, of which the first `count` count, become weights; what the row has so
 * far is scaled to the new greatest score. */
INLINE void F(weigh_keys)(REAL *s, int count, REAL *top, REAL *sum, REAL *out)
{
    REAL most = *top, scale;
    V    all  = { 0 };

    for (int k = count; k < SIDE; k++)
        s[k] = (REAL)-INFINITY;
    V first = LOAD(s);
    for (int k = LANES; k < SIDE; k += LANES)
        first = F(max)(first, LOAD(s + k));
    for (int k = 0; k < LANES; k++)
        most = first[k] > most ? first[k] : most;
    scale = *sum > 0 ? F(exp)(SPLAT(*top - most))[0] : 0;
    for (int k = 0; k < SIDE; k += LANES) {
        const V v = F(exp)(LOAD(s + k) - SPLAT(most));

        STORE(s + k) = v;
        all += v;
    }
    for (int k = 0; k < SIDE; k += LANES)
        STORE(out + k) = LOAD(out + k) * SPLAT(scale);
    *sum = *sum * scale + (REAL)F(total)(all);
    *top = most;
}

/* Rows i..i+3 of a head: keys are turned, a block (64 coordinates, 64 keys) after the other. */
INLINE void F(attend_rows)(const REAL *q, const REAL *turned, const REAL *v, int64_t i, REAL *out)
{
    _Alignas(64) REAL s[SIDE_ROWS * SIDE], x[SIDE_ROWS * SIDE], y[SIDE_ROWS * SIDE] = { 0 };
    REAL              top[SIDE_ROWS], sum[SIDE_ROWS] = { 0 };

    for (int k = 0; k < SIDE_ROWS * SIDE; k++)
        x[k] = q[i * SIDE + k] * (REAL)0.125;
    for (int r = 0; r < SIDE_ROWS; r++)
        top[r] = (REAL)-INFINITY;
    for (int64_t j = 0; j <= i; j += SIDE) {
        memset(s, 0, sizeof s);
        F(times_block)(x, SIDE, turned + j * SIDE, s);
        for (int r = 0; r < SIDE_ROWS; r++)
            F(weigh_keys)
        (s + r * SIDE, i + r - j < SIDE ? (int)(i + r - j) + 1 : SIDE, &top[r], &sum[r],
         y + r * SIDE);
        F(times_block)(s, SIDE, v + j * SIDE, y);
    }
    for (int r = 0; r < SIDE_ROWS; r++)
        for (int k = 0; k < SIDE; k++)
            out[(i + r) * SIDE + k] = y[r * SIDE + k] / sum[r];
}

static void F(causal)(const hand_args *a)
{
    const int64_t heads = a->shape[0], n = a->shape[1];
    REAL         *turned = aligned_alloc(64, (size_t)(heads * n * SIDE) * sizeof *turned);

#pragma omp parallel num_threads(a->threads)
    {
#pragma omp for schedule(static)
        for (int64_t j = 0; j < heads * n; j++)
            for (int c = 0; c < SIDE; c++)
                turned[j / SIDE * SIDE * SIDE + c * SIDE + j % SIDE] =
                    ((const REAL *)a->in[1])[j * SIDE + c];
#pragma omp for schedule(dynamic, 8)
        for (int64_t row = 0; row < heads * n; row += SIDE_ROWS) {
            const int64_t head = row / n * n * SIDE;

            F(attend_rows)
            ((const REAL *)a->in[0] + head, turned + head, (const REAL *)a->in[2] + head, row % n,
             (REAL *)a->out[0] + head);
        }
    }
    free(turned);
}

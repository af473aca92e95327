/* hand_transposes.h - transposed operands, in square tiles that are turned in registers.  Included for each type. */

#ifndef HAND_TRANSPOSES_H
#define HAND_TRANSPOSES_H
enum { TILE_VECTORS = 16 };
#endif

/* out[j] = the sum over i of a[i][j] + b[j][i], or of their products. */
INLINE void F(fold_transposed)(const REAL *a, const REAL *b, int64_t n, REAL *out, int vectors, bool product)
{
    V s[TILE_VECTORS] = { 0 };

    for (int64_t i = 0; i < n; i += LANES)
        for (int w = 0; w < vectors; w++) {
            const REAL *p = a + i * n + w * LANES, *q = b + (int64_t)w * LANES * n + i;
            V           t[LANES], sum[2]              = { 0 };

            for (int k = 0; k < LANES; k++) {
                t[k] = LOAD(q + k * n);
                __builtin_prefetch(q + k * n + 4 * LANES);
            }
            F(transpose)(t);
            for (int k = 0; k < LANES; k++) {
                __builtin_prefetch(p + (k + LANES) * n);
                sum[k % 2] += product ? LOAD(p + k * n) * t[k] : LOAD(p + k * n) + t[k];
            }
            s[w] += sum[0] + sum[1];
        }
    for (int w = 0; w < vectors; w++)
        STORE(out + w * LANES) = s[w];
}

INLINE void F(all_transposed)(const hand_args *args, bool product)
{
    const REAL   *a = args->in[0], *b = args->in[1];
    REAL         *out   = args->out[0];
    const int64_t n     = args->shape[0];
    const int64_t width = block_width(n, TILE_VECTORS * LANES, args->threads);

#pragma omp parallel for num_threads(args->threads) schedule(static)
    for (int64_t j = 0; j < n; j += width)
        F(fold_transposed)(a + j, b + j * n, n, out + j, (int)((j + width < n ? width : n - j) / LANES), product);
}

static void F(add_transposed)(const hand_args *a)
{
    F(all_transposed)(a, false);
}

static void F(mul_transposed)(const hand_args *a)
{
    F(all_transposed)(a, true);
}

/* (a, b, c) to (c, a, b): a matrix of a * b rows, transposed. */
static void F(permute)(const hand_args *args)
{
    const REAL   *x    = args->in[0];
    REAL         *y    = args->out[0];
    const int64_t rows = args->shape[0] * args->shape[1], n = args->shape[2];

#pragma omp parallel for num_threads(args->threads) schedule(static)
    for (int64_t r = 0; r < rows; r += LANES)
        for (int64_t c = 0; c < n; c += LANES) {
            V t[LANES];

            for (int k = 0; k < LANES; k++)
                t[k] = LOAD(x + (r + k) * n + c);
            F(transpose)(t);
            for (int k = 0; k < LANES; k++)
                F(stream)(y + (c + k) * rows + r, t[k]);
        }
}

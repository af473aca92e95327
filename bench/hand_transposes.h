/* hand_transposes.h - transposed operands, in square tiles that are turned in registers.  Included
 * for each type. */

#ifndef HAND_TRANSPOSES_H
#define HAND_TRANSPOSES_H
enum { TILE_VECTORS = 16, TILE_TURNS = 8 };
#endif

/* s plus the LANES rows of a, column by column, with the columns of b's square; b's next square is
 * asked for. */
INLINE V F(fold_square)(V s, const REAL *a, const REAL *b, int64_t n, bool product)
{
    V t[LANES], sum[2] = { 0 };

    for (int k = 0; k < LANES; k++) {
        t[k] = LOAD(b + k * n);
        __builtin_prefetch(b + k * n + TILE_TURNS * LANES, 0, 2);
    }
    F(transpose)(t);
    for (int k = 0; k < LANES; k++)
        sum[k % 2] += product ? LOAD(a + k * n) * t[k] : LOAD(a + k * n) + t[k];
    return s + (sum[0] + sum[1]);
}

/* out[j] = the sum over i of a[i][j] + b[j][i], or of their products.  Tiles of TILE_TURNS squares
 * down and `vectors` across: a row of b is read in runs of TILE_TURNS lines; a's next tile is asked
 * for in the order of memory. */
INLINE void F(fold_transposed)(const REAL *a, const REAL *b, int64_t n, REAL *out, int vectors,
                               bool product)
{
    V s[TILE_VECTORS] = { 0 };

    for (int64_t i = 0; i < n; i += TILE_TURNS * LANES)
        for (int w = 0; w < vectors; w++)
            for (int turn = 0; turn < TILE_TURNS; turn++) {
                const int64_t row  = i + turn * LANES;
                const int     line = (w * TILE_TURNS + turn) * LANES; /* of the next tile */
                const REAL   *next =
                    a + (i + TILE_TURNS * LANES + line / vectors) * n + line % vectors * LANES;

                for (int k = 0; k < LANES; k++)
                    __builtin_prefetch(next + k * LANES, 0, 2);
                s[w] = F(fold_square)(s[w], a + row * n + w * LANES,
                                      b + (int64_t)w * LANES * n + row, n, product);
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
        F(fold_transposed)
    (a + j, b + j * n, n, out + j, (int)((j + width < n ? width : n - j) / LANES), product);
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

/* fields_products.h - products of a tall matrix with itself, in panels of 24 columns. */
enum { WIDE = 24, HIGH = 8 };

/* 8 rows by 24 columns of sum_t a[t, row] b[t, column], in 24 registers. */
static inline void product_tile(const double *a, i64 a_step, i64 a_next, const double *b,
                                i64 b_step, i64 depth, f64x8 sum[HIGH][3])
{
    for (i64 t = 0; t < depth; t++, a += a_step, b += b_step) {
        f64x8 b0 = *(const f64x8 *)b, b1 = *(const f64x8 *)(b + 8), b2 = *(const f64x8 *)(b + 16);
#pragma GCC unroll 8
        for (int r = 0; r < HIGH; r++) {
            double x = a[r * a_next];
            sum[r][0] += x * b0;
            sum[r][1] += x * b1;
            sum[r][2] += x * b2;
        }
    }
}

/* The tile and its mirror image, so that both are written row by row. */
static void gram_tile(const double *left, const double *right, i64 depth, double *c, i64 n, i64 i0,
                      i64 j0)
{
    double out[WIDE][WIDE], mirror[WIDE][WIDE];
    size_t high = (size_t)least(WIDE, n - i0), wide = (size_t)least(WIDE, n - j0);

    for (int part = 0; part < WIDE; part += HIGH) {
        f64x8 sum[HIGH][3] = { 0 };
        product_tile(left + part, WIDE, 1, right, WIDE, depth, sum);
        memcpy(out[part], sum, sizeof sum);
    }
    for (int r = 0; r < WIDE; r++)
        for (int k = 0; k < WIDE; k++)
            mirror[r][k] = out[k][r];
    for (size_t r = 0; r < high; r++)
        memcpy(c + (i0 + (i64)r) * n + j0, out[r], wide * sizeof(double));
    for (size_t r = 0; r < wide; r++)
        memcpy(c + (j0 + (i64)r) * n + i0, mirror[r], high * sizeof(double));
}

/* c = a^T a of a (depth, n) in panels of 24 columns; each pair of panels once. */
static void gram(const double *panels, i64 depth, i64 n, double *c)
{
    i64 parts = (n + WIDE - 1) / WIDE;

#pragma omp parallel for schedule(dynamic)
    for (i64 i = parts - 1; i >= 0; i--)
        for (i64 j = 0; j <= i; j++)
            gram_tile(panels + i * WIDE * depth, panels + j * WIDE * depth, depth, c, n, i * WIDE,
                      j * WIDE);
}

static double *panels_of(i64 depth, i64 n)
{
    return aligned_alloc(64, (size_t)((n + WIDE - 1) / WIDE * WIDE * depth) * sizeof(double));
}

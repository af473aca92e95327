/* product_tile.h - matrix products with the bits of folds of one lane: each element of c adds up
 * blocks of 64 products from the left, and merges blocks by the combine tree.
 *
 * A tile of c stays in registers for a block (register blocking).  It has 8 rows of one vector, or
 * 4 rows of two vectors with lines of b that are read one after the other.  instances/folds_*.c
 * include it once per float type, with ELEM, T and its vectors.
 *
 * A node is the sum of a power of two of blocks, in f64. VEC is a vector, LANES its elements, and
 * JOIN(name, ELEM) a name for one type. */
#define TILE_VECTORS 8

/* Sets a tile `to` of c to the sums of `steps` products along k, in registers: `rows` rows with
 * `wide` vectors of columns, or with the first `cols` columns of one vector (wide 0).  `rows` and
 * `wide` are constants.  Rows of `to` are to_row apart. */
static ALWAYS void JOIN(product_block, ELEM)(const rd_product_tile *q, const T *a, const T *b,
                                             int64_t steps, T *to, int64_t to_row, int rows,
                                             int wide, int64_t cols)
{
    const int n = wide ? wide : 1;
    VEC       s[TILE_VECTORS];

    UNROLL(8)
    for (int v = 0; v < rows * n; v++)
        s[v] = (T)(-0.0) - (VEC){ 0 }; /* leaves any product as it is */
    for (int64_t k = 0; k < steps; k++, a += q->a_step, b += q->b_row) {
        VEC x[2];
        UNROLL(2)
        for (int v = 0; v < n; v++)
            x[v] = wide ? JOIN(load, ELEM)(b + v * LANES) : JOIN(load_part, ELEM)(b, cols);
        UNROLL(8)
        for (int v = 0; v < rows * n; v++)
            s[v] = JOIN(FMA, ELEM)(x[v % n], a[v / n * q->a_row] - (VEC){ 0 }, s[v]);
    }
    UNROLL(8)
    for (int v = 0; v < rows * n; v++)
        JOIN(store_part, ELEM)(to + v / n * to_row + v % n * LANES, s[v], wide ? LANES : cols);
}

/* Adds the sums of block number `block` (64 steps) to the stack of n nodes of the combine tree, in
 * f64, and merges siblings: a node with an odd number merges with the one before it.  Each node has
 * `size` sums.  Returns how many nodes there are. */
static int64_t JOIN(product_push, ELEM)(double *nodes, int64_t n, const T *part, int64_t size,
                                        int64_t block)
{
    double *node = nodes + n * size;

    for (int64_t i = 0; i < size; i++)
        node[i] = part[i];
    for (n++; block & 1; block >>= 1, n--, node -= size)
        for (int64_t i = 0; i < size; i++)
            node[i - size] += node[i];
    return n;
}

/* Merges the n nodes (sums of some blocks) that are left, from the right, as absent nodes of the
 * combine tree are skipped; rounds the sums to `part`. */
static void JOIN(product_finish, ELEM)(double *nodes, int64_t n, T *part, int64_t size)
{
    for (; n > 1; n--)
        for (int64_t i = 0; i < size; i++)
            nodes[(n - 2) * size + i] += nodes[(n - 1) * size + i];
    for (int64_t i = 0; i < size; i++)
        part[i] = (T)nodes[i];
}

/* Computes the tile of c at a row and column.  Up to 64 steps along k it is stored at once; more
 * are blocks of 64, which merge as nodes in f64.  `rows` and `wide` (vectors of columns; 0: part of
 * one) are constants. */
static ALWAYS void JOIN(product_tile, ELEM)(const rd_product_tile *q, int64_t row, int64_t col,
                                            int rows, int wide)
{
    const T      *a = (const T *)q->a + row * q->a_row, *b = (const T *)q->b + col;
    T            *c    = (T *)q->c + row * q->c_row + col;
    const int64_t cols = wide ? wide * LANES : q->cols - col, pitch = wide ? cols : LANES,
                  size = rows * pitch;
    int64_t n          = 0;

    if (q->steps <= RD_TREE_STEPS) {
        JOIN(product_block, ELEM)(q, a, b, q->steps, c, q->c_row, rows, wide, cols);
        return;
    }
    T      part[TILE_VECTORS * LANES] __attribute__((aligned(64))) = { 0 };
    double nodes[RD_PRODUCT_NODES * TILE_VECTORS * LANES];
    for (int64_t k = 0; k < q->steps; k += RD_TREE_STEPS) {
        const int64_t steps = q->steps - k < RD_TREE_STEPS ? q->steps - k : RD_TREE_STEPS;
        JOIN(product_block, ELEM)
        (q, a + k * q->a_step, b + k * q->b_row, steps, part, pitch, rows, wide, cols);
        n = JOIN(product_push, ELEM)(nodes, n, part, size, k / RD_TREE_STEPS);
    }
    JOIN(product_finish, ELEM)(nodes, n, part, size);
    for (int r = 0; r < rows; r++)
        memcpy(c + r * q->c_row, part + r * pitch, (size_t)cols * sizeof(T));
}

/* Computes all rows of c for some columns (`wide` vectors; 0: part of one): tiles of `most` rows,
 * then of two, then of one. */
static ALWAYS void JOIN(product_columns, ELEM)(const rd_product_tile *q, int64_t col, int most,
                                               int wide)
{
    int64_t row = 0;

    for (; row + most <= q->rows; row += most)
        JOIN(product_tile, ELEM)(q, row, col, most, wide);
    for (; row + 2 <= q->rows; row += 2)
        JOIN(product_tile, ELEM)(q, row, col, /*rows=*/2, wide);
    for (; row < q->rows; row++)
        JOIN(product_tile, ELEM)(q, row, col, /*rows=*/1, wide);
}

/* Computes c = a b for a block of a product, tile by tile: two vectors of columns at a time
 * (`wide`), then one, then part of one (0).  A tile of c stays in registers for a block of 64
 * steps. */
void OF_ISA(JOIN(product, ELEM))(const rd_product_tile *q)
{
    int64_t col = 0;

    for (; col + 2 * LANES <= q->cols; col += 2 * LANES)
        JOIN(product_columns, ELEM)(q, col, TILE_VECTORS / 2, /*wide=*/2);
    for (; col + LANES <= q->cols; col += LANES)
        JOIN(product_columns, ELEM)(q, col, TILE_VECTORS, /*wide=*/1);
    if (col < q->cols)
        JOIN(product_columns, ELEM)(q, col, TILE_VECTORS, /*wide=*/0);
}
#undef TILE_VECTORS

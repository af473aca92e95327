/* products.h - matrix products with the bits of folds of one lane: each element of c adds up blocks of 64 products from the
 * left, and what the blocks come to as the combine tree says.
 *
 * A tile of c, 8 rows of one vector, stays in registers as long as a block takes.  (Zen 4: 0.9 of what FMAs reach; rows of
 * two vectors: 0.65.)  table.h includes it once per float type, with ELEM, T and its vectors. */
#define TILE_ROWS 8
#define BLOCK     64

/* `steps` products of `rows` rows, which is a constant, with the first `cols` columns; `whole`, one too: all of a vector. */
static ALWAYS void JOIN(product_block, ELEM)(const rd_product_tile *q, const T *a, const T *b, int64_t steps, T *to,
                                             int64_t to_row, int rows, int64_t cols, bool whole)
{
    VEC s[TILE_ROWS];

    UNROLL(8)
    for (int r = 0; r < rows; r++)
        s[r] = (T)(-0.0) - (VEC){ 0 }; /* leaves any product as it is */
    for (int64_t k = 0; k < steps; k++, a += q->a_step, b += q->b_row) {
        const VEC x = whole ? JOIN(load, ELEM)(b) : JOIN(load_part, ELEM)(b, cols);
        UNROLL(8)
        for (int r = 0; r < rows; r++)
            s[r] = JOIN(FMA, ELEM)(x, a[r * q->a_row] - (VEC){ 0 }, s[r]);
    }
    UNROLL(8)
    for (int r = 0; r < rows; r++)
        JOIN(store_part, ELEM)(to + r * to_row, s[r], whole ? LANES : cols);
}

static ALWAYS void JOIN(product_either, ELEM)(const rd_product_tile *q, const T *a, const T *b, int64_t steps, T *to,
                                              int64_t to_row, int rows, int64_t cols)
{
    if (cols == LANES)
        JOIN(product_block, ELEM)(q, a, b, steps, to, to_row, rows, LANES, true);
    else
        JOIN(product_block, ELEM)(q, a, b, steps, to, to_row, rows, cols, false);
}

/* Nodes of the tree without a sibling yet lie one after another.  Block number `block` joins them; how many there are. */
static int64_t JOIN(product_push, ELEM)(double *nodes, int64_t n, const T *part, int64_t size, int64_t block)
{
    double *node = nodes + n * size;

    for (int64_t i = 0; i < size; i++)
        node[i] = part[i];
    for (n++; block & 1; block >>= 1, n--, node -= size)
        for (int64_t i = 0; i < size; i++)
            node[i - size] += node[i];
    return n;
}

/* Those that are left merge from the right. */
static void JOIN(product_finish, ELEM)(double *nodes, int64_t n, T *part, int64_t size)
{
    for (; n > 1; n--)
        for (int64_t i = 0; i < size; i++)
            nodes[(n - 2) * size + i] += nodes[(n - 1) * size + i];
    for (int64_t i = 0; i < size; i++)
        part[i] = (T)nodes[i];
}

/* The tile at this row and column. */
static ALWAYS void JOIN(product_tile, ELEM)(const rd_product_tile *q, int64_t row, int64_t col, int rows)
{
    const T      *a = (const T *)q->a + row * q->a_row, *b = (const T *)q->b + col;
    T            *c    = (T *)q->c + row * q->c_row + col;
    const int64_t cols = q->cols - col < LANES ? q->cols - col : LANES, size = rows * LANES;
    int64_t       n = 0;

    if (q->steps <= BLOCK) {
        JOIN(product_either, ELEM)(q, a, b, q->steps, c, q->c_row, rows, cols);
        return;
    }
    T      part[TILE_ROWS * LANES] __attribute__((aligned(64))) = { 0 };
    double nodes[RD_PRODUCT_NODES * TILE_ROWS * LANES];
    for (int64_t k = 0; k < q->steps; k += BLOCK) {
        const int64_t steps = q->steps - k < BLOCK ? q->steps - k : BLOCK;
        JOIN(product_either, ELEM)(q, a + k * q->a_step, b + k * q->b_row, steps, part, LANES, rows, cols);
        n = JOIN(product_push, ELEM)(nodes, n, part, size, k / BLOCK);
    }
    JOIN(product_finish, ELEM)(nodes, n, part, size);
    for (int r = 0; r < rows; r++)
        memcpy(c + r * q->c_row, part + r * LANES, (size_t)cols * sizeof(T));
}

static void JOIN(product, ELEM)(const rd_product_tile *q)
{
    for (int64_t col = 0; col < q->cols; col += LANES) {
        int64_t row = 0;

        for (; row + TILE_ROWS <= q->rows; row += TILE_ROWS)
            JOIN(product_tile, ELEM)(q, row, col, TILE_ROWS);
        for (; row + 2 <= q->rows; row += 2)
            JOIN(product_tile, ELEM)(q, row, col, 2);
        for (; row < q->rows; row++)
            JOIN(product_tile, ELEM)(q, row, col, 1);
    }
}
#undef TILE_ROWS
#undef BLOCK

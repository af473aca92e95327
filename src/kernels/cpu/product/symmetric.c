/* symmetric.c - products of a matrix with its own transpose, such as covariances: elements below
 * the diagonal are copies of those above it.
 *
 * Blocks are square.  A block on the diagonal is a call that computes half of it (SYRK), a block
 * above it is a GEMM, and none below it is computed. */
#include "kernels/cpu/product/symmetric.h"

/* True if matrix a has the same stride along the first axis as matrix `other` along the second. */
static bool has_same_steps(const rd_product_axis *a, const rd_product_axis *b, int other)
{
    return a->step[RD_A] == b->step[other];
}

/* With fewer columns SYRK takes up to 2.7 times as long as GEMM (8 columns, sums of 3000).  With
 * shorter sums it takes up to 2.3 times as long, as c is read and written once more (256 columns,
 * sums of 8). */
enum { LEAST_COLUMNS = 96, LEAST_STEPS = 32 };

/* True if the product is a matrix with its own transpose (a and b are one array, read alike), and
 * large enough for SYRK, which computes one half. */
bool rd_product_is_symmetric(const rd_product *of)
{
    const rd_matrix *a = &of->matrix[RD_A], *b = &of->matrix[RD_B];
    bool same = a->slot == b->slot && a->first == b->first && of->m.extent == of->n.extent &&
                of->m.extent >= LEAST_COLUMNS && of->k.extent >= LEAST_STEPS &&
                has_same_steps(&of->m, &of->n, RD_B) && has_same_steps(&of->k, &of->k, RD_B);

    for (int32_t i = 0; i < of->n_axis; i++)
        same &= has_same_steps(&of->axis[i], &of->axis[i], RD_B);
    return same;
}

/* ---- Blocks ----------------------------------------------------------------------------------- */
/* Returns the rows, and columns, of a block of a symmetric product.  Up to 128 rows are one call.
 * Two parts take 1.04 to 1.1 times as long as one call, eight parts 1.1 to 1.3 times (300 to 2000
 * rows, sums of 300 to 2500), but tasks need some parts. */
int64_t rd_symmetric_rows(int64_t extent)
{
    enum { ONE = 128, MOST = 256, WHOLE = 8 };
    const int64_t parts = extent <= ONE ? 1 : extent <= 2 * MOST ? 2 : (extent + MOST - 1) / MOST;

    return ((extent + parts - 1) / parts + WHOLE - 1) / WHOLE * WHOLE;
}

/* Sets the row and column, counted in blocks, of block number `number` on or above the diagonal:
 * row after row, from the diagonal on.  `parts` is the number of blocks in a row. */
void rd_symmetric_block(int64_t number, int64_t parts, int64_t *row, int64_t *col)
{
    int64_t left = parts;

    for (*row = 0; number >= left; ++*row)
        number -= left--;
    *col = *row + number;
}

/* ---- Elements below the diagonal ------------------------------------------------------------- */
/* Copies the elements of a block to their transposed positions, in tiles of 16 x 16 for the cache;
 * of a block on the diagonal only those above it. */
#define MIRROR(name, type)                                                                     \
    static void name(const type *from, type *to, int64_t lead, int64_t rows, int64_t cols,     \
                     bool diagonal)                                                            \
    {                                                                                          \
        enum { TILE = 16 };                                                                    \
        for (int64_t i = 0; i < rows; i += TILE)                                               \
            for (int64_t j = diagonal ? i : 0; j < cols; j += TILE)                            \
                for (int64_t l = j; l < j + TILE && l < cols; l++)                             \
                    for (int64_t k = i; k < i + TILE && k < (diagonal && l < rows ? l : rows); \
                         k++)                                                                  \
                        to[l * lead + k] = from[k * lead + l];                                 \
    }
MIRROR(mirror_f32, float)
MIRROR(mirror_f64, double)

/* Copies a block of rows x cols elements to its transpose; both have `lead` elements from row to
 * row.  `from` is `to` for a block on the diagonal. */
void rd_symmetric_mirror(rd_dtype type, const void *from, void *to, int64_t lead, int64_t rows,
                         int64_t cols)
{
    if (type == RD_F32)
        mirror_f32(from, to, lead, rows, cols, from == to);
    else
        mirror_f64(from, to, lead, rows, cols, from == to);
}

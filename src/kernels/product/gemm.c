/* gemm.c - the parameters of GEMM calls, and the places of the matrices of each call. */
#include "kernels/product/product.h"

/* Returns the parameters of a GEMM call for so many rows and columns of c, without addresses. A
 * matrix is transposed if its elements along a row are not adjacent; then its leading dimension is
 * the stride along the other axis. Fields that are not set (add, symmetric, addresses) are the
 * caller's. */
rd_gemm rd_product_gemm(const rd_product *product, int64_t rows, int64_t cols)
{
    const rd_product_axis *m = &product->m, *n = &product->n, *k = &product->k;
    rd_gemm                g = { .type         = product->type,
                                 .a_transposed = k->step[RD_A] != 1,
                                 .b_transposed = n->step[RD_B] != 1,
                                 .m            = (int)rows,
                                 .n            = (int)cols,
                                 .k            = (int)k->extent };

    g.lead_a = (int)(g.a_transposed ? k : m)->step[RD_A];
    g.lead_b = (int)(g.b_transposed ? n : k)->step[RD_B];
    g.lead_c = (int)m->step[RD_C];
    return g;
}

/* Moves the positions of c, a and b (`at`, in elements from their first ones) by `index` along
 * an axis. Each matrix has a stride of its own. */
void rd_product_move(int64_t *at, const rd_product_axis *axis, int64_t index)
{
    for (int m = 0; m < RD_MATRICES; m++)
        at[m] += index * axis->step[m];
}

/* Moves the positions of c, a and b (`at`, in elements) to combination number `index` of the
 * indices of n axes, of which the last one is fastest. The number is taken apart as digits, with
 * the extents as bases. */
void rd_product_move_along(int64_t *at, const rd_product_axis *axis, int32_t n, int64_t index)
{
    for (int32_t i = n; i-- > 1; index /= axis[i].extent)
        rd_product_move(at, &axis[i], index % axis[i].extent);
    if (n)
        rd_product_move(at, axis, index);
}

/* Returns the address of element `at` of a matrix, counted from the matrix's first one. */
void *rd_product_element(const rd_product *product, void *const *slot, int matrix, int64_t at)
{
    const rd_matrix *m = &product->matrix[matrix];

    return (char *)slot[m->slot] + (m->first + at) * rd_dtype_size(product->type);
}

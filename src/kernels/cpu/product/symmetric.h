/* symmetric.h - products of a matrix with its own transpose. */
#ifndef RD_KERNELS_CPU_PRODUCT_SYMMETRIC_H
#define RD_KERNELS_CPU_PRODUCT_SYMMETRIC_H
#include "kernels/product/product.h"

/* Are a and b one matrix, so that element (i, j) of c is element (j, i)? */
bool rd_product_is_symmetric(const rd_product *of);
/* Rows of a block, which has as many columns, of a matrix of that extent.  Row and column, in blocks, of the
 * block with that number among those on the diagonal and above it. */
int64_t rd_symmetric_rows(int64_t extent);
void    rd_symmetric_block(int64_t number, int64_t parts, int64_t *row, int64_t *col);
/* Copies a block of rows x cols elements to its transpose, with `lead` elements from row to row of both; of
 * a block on the diagonal, which is its own transpose, what is above the diagonal. */
void rd_symmetric_mirror(rd_dtype type, const void *from, void *to, int64_t lead, int64_t rows,
                         int64_t cols);
#endif

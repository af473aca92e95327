/* symmetric.h - products of a matrix with its own transpose. */
#ifndef RD_KERNELS_CPU_PRODUCT_SYMMETRIC_H
#define RD_KERNELS_CPU_PRODUCT_SYMMETRIC_H
#include "kernels/product/product.h"

/* True if a and b are one matrix, so that element (i, j) of c is element (j, i). */
bool rd_product_is_symmetric(const rd_product *of);
/* rd_symmetric_rows: the rows, and columns, of a block of a matrix of that extent.
 * rd_symmetric_block: row and column, in blocks, of block number `number`, counted on and above the
 * diagonal. */
int64_t rd_symmetric_rows(int64_t extent);
void    rd_symmetric_block(int64_t number, int64_t parts, int64_t *row, int64_t *col);
/* Copies a block of rows x cols elements to its transpose, with `lead` elements from row to row of
 * both.  A block on the diagonal is its own transpose: its elements above the diagonal are
 * copied. */
void rd_symmetric_mirror(rd_dtype type, const void *from, void *to, int64_t lead, int64_t rows,
                         int64_t cols);
#endif

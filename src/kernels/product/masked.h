/* masked.h - masked products of sparse matrices: only wanted places are computed. (Davis, 2019,
 * "Algorithm 1000: SuiteSparse:GraphBLAS", ACM TOMS 45, 4, has masks of both kinds.) */
#ifndef RD_KERNELS_PRODUCT_MASKED_H
#define RD_KERNELS_PRODUCT_MASKED_H
#include "kernels/product/sparse_product.h"

/* Computes a masked product, for rd_row_product_run().  A place adds its products in the order
 * of k, so it has the bits of the product without a mask. */
bool rd_masked_product_run(const rd_row_product *p, const void *a, const void *b, void *c,
                           int threads, const rd_row_memory *memory);
#endif

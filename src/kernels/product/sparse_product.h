/* sparse_product.h - products of sparse matrices by rows. (Gustavson, 1978,:
 *
 *     Two Fast Algorithms for Sparse Matrices: Multiplication and Permuted Transposition
 *
 * ACM TOMS 4, 3.) The places of C are known before; only its values are computed here. */
#ifndef RD_KERNELS_PRODUCT_SPARSE_PRODUCT_H
#define RD_KERNELS_PRODUCT_SPARSE_PRODUCT_H
#include "core/row_product.h"

/* The caller's memory: get returns zeroed bytes, or NULL; put frees them. */
typedef struct rd_row_memory {
    void *(*get)(void *user, int64_t bytes);
    void (*put)(void *user, void *memory);
    void *user;
} rd_row_memory;
/* Computes the values of C from those of A and B, by so many threads.  False: no memory.  Bits
 * do not depend on threads: a place of C adds its products in the order of k. */
bool rd_row_product_run(const rd_row_product *p, const void *a, const void *b, void *c, int threads,
                        const rd_row_memory *memory);
#endif

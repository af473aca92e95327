/* cublas.h - matrix products by cuBLAS, in the order of a queue. */
#ifndef RD_KERNELS_CUDA_CUBLAS_H
#define RD_KERNELS_CUDA_CUBLAS_H
#include "kernels/cuda/gpu.h"
#include "kernels/product/product.h"

/* Makes the queue's handle; the first product opens it.  NULL: no memory. */
rd_blas_handle *rd_blas_handle_new(void);
/* Frees it, when no product runs.  The GPU is entered; NULL: the GPU is of no use any more. */
void rd_blas_handle_free(rd_blas_handle *handle, rd_gpu *gpu);

/* A batch of products: matrices in the GPU's memory, `count` of each, `step` elements apart. */
typedef struct rd_gemms {
    rd_gemm   first;             /* the first product of the batch */
    int       count;             /* products */
    long long step[RD_MATRICES]; /* elements from one product's matrix to the next */
} rd_gemms;
bool rd_cublas_run(rd_queue *queue, const rd_gemms *g, bool *full, char why[RD_CUDA_TEXT]);

/* ---- cublas_products.c ----------------------------------------------------------------------- */
/* A program that is a matrix product, as calls of cuBLAS. */
typedef struct rd_gpu_product rd_gpu_product;

/* *product is NULL if the program is no product, there is no cuBLAS, or the bits must be the
 * program's. False: no memory. */
bool rd_gpu_product_prepare(const rd_program *p, rd_get_fn *get, void *pool,
                            const rd_gpu_product **product);
/* "a product by cuBLAS: 37 x 43 x 71, 3 at a time" */
void rd_gpu_product_text(rd_text *to, const rd_gpu_product *product);
bool rd_gpu_product_run(const rd_gpu_product *product, rd_submission *submission, void *const *slot,
                        rd_device_end *end, char why[RD_CUDA_TEXT]);
#endif

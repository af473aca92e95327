/* blas.h - the BLAS that was found when this library was built, if any. */
#ifndef RD_KERNELS_CPU_PRODUCT_BLAS_H
#define RD_KERNELS_CPU_PRODUCT_BLAS_H
#include "kernels/product/product.h"

/* The name of the BLAS; NULL if there is none that several threads may call. */
const char *rd_blas_name(void);
/* The address of another function of that library, such as LAPACK's, which OpenBLAS contains; NULL:
 * it has none of that name. */
void *rd_blas_symbol(const char *name);
/* Its name for symmetric products, of which it computes one half. */
const char *rd_blas_name_of_syrk(void);
/* True if it uses code for processors without AVX2, though this one has AVX2.  OpenBLAS does so on
 * processors newer than itself, and then takes 2 to 7 times as long as our kernels.
 * OPENBLAS_CORETYPE=Haswell is the remedy. */
bool rd_blas_lacks_avx2(void);
/* The most products m * n * k of f32 that it computes from matrices as they lie, of which it copies
 * larger ones first, if b is not transposed; 0: it has no such code. */
int64_t rd_blas_most_uncopied(void);
/* rd_blas_begin() and rd_blas_end() enclose calls of rd_blas_gemm(), which use the calling thread
 * alone.  rd_blas_end() gets what rd_blas_begin() returned.  Any number of threads may be in
 * between. */
int  rd_blas_begin(void);
void rd_blas_end(int before);
void rd_blas_gemm(const rd_gemm *g);
#endif

/* blas.h - the BLAS that was found when this library was built, if any. */
#ifndef RD_KERNELS_CPU_PRODUCT_BLAS_H
#define RD_KERNELS_CPU_PRODUCT_BLAS_H
#include "kernels/product/product.h"

/* Which one it is; NULL: none, or none that several threads may call. */
const char *rd_blas_name(void);
/* The same, of products of which it computes one half. */
const char *rd_blas_name_of_half(void);
/* Does it compute as on processors without AVX2, though this one has it?  OpenBLAS does so on those that are newer than it
 * is, and then takes 2 to 7 times as long as our kernels; OPENBLAS_CORETYPE=Haswell is its remedy. */
bool rd_blas_is_behind(void);
/* Around calls of rd_blas_gemm(), which use the calling thread alone; the end gets what the begin
 * gave.  Any number of threads may be in between. */
int  rd_blas_begin(void);
void rd_blas_end(int before);
void rd_blas_gemm(const rd_gemm *g);
#endif

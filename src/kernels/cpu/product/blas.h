/* blas.h - the BLAS that was found when this library was built, if any. */
#ifndef RD_KERNELS_CPU_PRODUCT_BLAS_H
#define RD_KERNELS_CPU_PRODUCT_BLAS_H
#include "kernels/product/product.h"

/* Which one it is; NULL: none, or none that several threads may call. */
const char *rd_blas_name(void);
/* Around calls of rd_blas_gemm(), which use the calling thread alone; the end gets what the begin
 * gave.  Any number of threads may be in between. */
int  rd_blas_begin(void);
void rd_blas_end(int before);
void rd_blas_gemm(const rd_gemm *g);
#endif

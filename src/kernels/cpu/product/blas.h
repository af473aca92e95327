/* blas.h - the BLAS that was found when this library was built, if any. */
#ifndef RD_KERNELS_CPU_PRODUCT_BLAS_H
#define RD_KERNELS_CPU_PRODUCT_BLAS_H
#include "rdim.h"

/* c = a b, or c += a b: (m, n) = (m, k) (k, n), rows of c side by side in memory; a and b perhaps
 * transposed.  `lead` are the elements from one row, or column, to the next. */
typedef struct rd_gemm {
    rd_dtype    type; /* f32, f64 */
    bool        a_transposed, b_transposed, add;
    int         m, n, k, lead_a, lead_b, lead_c;
    const void *a, *b;
    void       *c;
} rd_gemm;

/* Which one it is; NULL: none, or none that several threads may call. */
const char *rd_blas_name(void);
/* Around calls of rd_blas_gemm(), which use the calling thread alone; the end gets what the begin
 * gave.  Any number of threads may be in between. */
int  rd_blas_begin(void);
void rd_blas_end(int before);
void rd_blas_gemm(const rd_gemm *g);
#endif

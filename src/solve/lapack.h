/* lapack.h - LAPACK of the library that has the BLAS. */
#ifndef RD_SOLVE_LAPACK_H
#define RD_SOLVE_LAPACK_H
#include "expr/expr.h"

/* True if there is one; else records for `call` that there is none. */
bool rd_lapack_here(rd_ctx *ctx, const char *call);
/* Eigenvalues, ascending, of a symmetric matrix (n, n), whose vectors replace it: row k is the
 * vector of value k.  False after recording a failure for `call`. */
bool rd_symmetric_eigen(rd_ctx *ctx, const char *call, int64_t n, double *a, double *value);
#endif

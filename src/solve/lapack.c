/* lapack.c - calls of LAPACK, on the calling thread alone: then bits do not depend on how many
 * threads its library would take. */
#include "solve/lapack.h"
#include "kernels/cpu/product/blas.h"

/* DSYEVD as Fortran compilers have it, with the lengths of both texts at the end. */
typedef void dsyevd_function(const char *job, const char *triangle, const int32_t *n, double *a,
                             const int32_t *lead, double *value, double *work, const int32_t *room,
                             int32_t *whole_work, const int32_t *whole_room, int32_t *info,
                             size_t job_length, size_t triangle_length);

/* Returns LAPACK's DSYEVD of the library that has the BLAS; NULL: there is none. */
static dsyevd_function *dsyevd(void)
{
    return (dsyevd_function *)rd_blas_symbol("dsyevd_");
}

/* True if there is a LAPACK; else records for `call` why there is none. */
bool rd_lapack_here(rd_ctx *ctx, const char *call)
{
    if (dsyevd())
        return true;
    rd_fail(ctx, RD_ERR_DEVICE,
            "%s: there is no LAPACK: it is looked for in OpenBLAS, and this library %s", call,
            rd_blas_name() ? "found a BLAS without it" : "was built without, or does not find it");
    return false;
}

/* Replaces the symmetric matrix a (n, n) by its eigenvectors, and writes its eigenvalues, by
 * DSYEVD ("V": with vectors, "U": the upper triangle is read). work and whole are rooms for
 * doubles and ints, as large as its manual asks for. The BLAS has one thread meanwhile, so that
 * bits do not depend on threads. False after recording a failure. info is not 0 after a failure
 * of LAPACK. */
static bool decompose(rd_ctx *ctx, const char *call, int32_t n, double *a, double *value,
                      double *work, int32_t *whole)
{
    const int32_t room = 1 + 6 * n + 2 * n * n, whole_room = 3 + 5 * n;
    int32_t       info   = 0;
    const int     before = rd_blas_begin();

    dsyevd()("V", "U", &n, a, &n, value, work, &room, whole, &whole_room, &info, 1, 1);
    rd_blas_end(before);
    if (info)
        rd_fail(ctx, RD_ERR_CONVERGENCE,
                "%s: LAPACK's dsyevd failed with %d on a matrix of %d rows; it may have NaN", call,
                (int)info, (int)n);
    return info == 0;
}

/* Computes the eigenvalues of a symmetric matrix a (n, n), ascending, and replaces it by the
 * eigenvectors: row k is that of value k. Matrices that are too large, or have values that are
 * not finite, are refused. False after recording a failure for `call`. work has doubles and then
 * ints. */
bool rd_symmetric_eigen(rd_ctx *ctx, const char *call, int64_t n, double *a, double *value)
{
    enum { MOST = 20000 };
    double *work;
    bool    ok;

    if (!rd_lapack_here(ctx, call))
        return false;
    if (n > MOST)
        return rd_fail(ctx, RD_ERR_LIMIT, "%s: a dense matrix of %lld rows, more than %d", call,
                       (long long)n, MOST) != NULL;
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(a[i]))
            return rd_fail(ctx, RD_ERR_CONVERGENCE, "%s: a matrix of %lld rows has the value %g",
                           call, (long long)n, a[i]) != NULL;
    work = rd_alloc_raw(ctx, (1 + 6 * n + 2 * n * n) * (int64_t)sizeof *work +
                                 (3 + 5 * n) * (int64_t)sizeof(int32_t));
    ok   = work && decompose(ctx, call, (int32_t)n, a, value, work,
                             (int32_t *)(void *)(work + 1 + 6 * n + 2 * n * n));
    rd_free(ctx, work);
    return ok;
}

/* hand_blas.c - the expert's matrix product is a BLAS, where there is one. */
#include "hand.h"

#ifdef HAND_BLAS
#include <cblas.h>

bool hand_has_blas(void)
{
    return true;
}

void hand_blas_f32(const hand_args *a)
{
    const int n = (int)a->shape[0];

    openblas_set_num_threads(a->threads);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a->in[0], n, a->in[1], n, 0,
                a->out[0], n);
}

void hand_blas_f64(const hand_args *a)
{
    const int n = (int)a->shape[0];

    openblas_set_num_threads(a->threads);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a->in[0], n, a->in[1], n, 0,
                a->out[0], n);
}
#else
bool hand_has_blas(void)
{
    return false;
}

/* Never called. */
void hand_blas_f32(const hand_args *a)
{
    (void)a;
}

void hand_blas_f64(const hand_args *a)
{
    (void)a;
}
#endif

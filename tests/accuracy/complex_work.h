/* complex_work.h - what the files of exact complex results compute with, each with numbers of its own. */
#ifndef RD_TESTS_ACCURACY_COMPLEX_WORK_H
#define RD_TESTS_ACCURACY_COMPLEX_WORK_H
#include "accuracy/complex.h"
#include <math.h>

enum { BITS = 440 };

#define N MPFR_RNDN
/* What functions compute with; of BITS, but for angles. */
static mpfr_t t[8];
static mpfr_t x, y, u, v;

static inline void begin(complex_exact *r, const complex_point *p)
{
    static bool begun;

    if (!begun) {
        mpfr_inits2(53, x, y, u, v, (mpfr_ptr)0);
        for (int k = 0; k < 8; k++)
            mpfr_init2(t[k], BITS);
        begun = true;
    }
    r->exponent = 0;
    mpfr_set_d(x, p->x, N);
    mpfr_set_d(y, p->y, N);
    mpfr_set_d(u, p->u, N);
    mpfr_set_d(v, p->v, N);
}

/* f(z), and f(iz) / i. */
#define OF_Z(name, of)                                                  \
    void exact_complex_##name(complex_exact *r, const complex_point *p) \
    {                                                                   \
        begin(r, p);                                                    \
        of(r, x, y);                                                    \
    }
#define OF_IZ(name, of)                                                 \
    void exact_complex_##name(complex_exact *r, const complex_point *p) \
    {                                                                   \
        begin(r, p);                                                    \
        mpfr_neg(y, y, N);                                              \
        of(r, y, x);                                                    \
        mpfr_swap(r->re, r->im);                                        \
        mpfr_neg(r->im, r->im, N);                                      \
    }
#endif

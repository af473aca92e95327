/* reference.c - exact results by MPFR, which rounds each of its functions correctly, to ROUNDED bits:
 * more cost time, of erfc six times as much.  What it does not have is made of them, with so many
 * bits that none of the first hundred is wrong. */
#include "accuracy.h"
#include <math.h>

enum { ROUNDED = 128 };

#define BY_MPFR(name, of)                 \
    void exact_##name(mpfr_t r, mpfr_t x) \
    {                                     \
        mpfr_set_prec(r, ROUNDED);        \
        mpfr_##of(r, x, MPFR_RNDN);       \
    }
BY_MPFR(exp, exp)
BY_MPFR(expm1, expm1)
BY_MPFR(log, log)
BY_MPFR(log1p, log1p)
BY_MPFR(log2, log2)
BY_MPFR(log10, log10)
BY_MPFR(exp2, exp2)
BY_MPFR(exp10, exp10)
BY_MPFR(cbrt, cbrt)
BY_MPFR(sin, sin)
BY_MPFR(cos, cos)
BY_MPFR(tan, tan)
BY_MPFR(tanh, tanh)
BY_MPFR(asin, asin)
BY_MPFR(acos, acos)
BY_MPFR(atan, atan)
BY_MPFR(sinh, sinh)
BY_MPFR(cosh, cosh)
BY_MPFR(asinh, asinh)
BY_MPFR(acosh, acosh)
BY_MPFR(atanh, atanh)
BY_MPFR(erf, erf)
BY_MPFR(erfc, erfc)
BY_MPFR(tgamma, gamma)
BY_MPFR(digamma, digamma)

void exact_lgamma(mpfr_t r, mpfr_t x)
{
    int sign;

    mpfr_set_prec(r, ROUNDED);
    mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}

void exact_deg2rad(mpfr_t r, mpfr_t x)
{
    mpfr_const_pi(r, MPFR_RNDN);
    mpfr_div_ui(r, r, 180, MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
}

void exact_rad2deg(mpfr_t r, mpfr_t x)
{
    mpfr_const_pi(r, MPFR_RNDN);
    mpfr_ui_div(r, 180, r, MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
}

void exact_pow(mpfr_t r, mpfr_t x, mpfr_t y)
{
    mpfr_pow(r, x, y, MPFR_RNDN);
}

void exact_atan2(mpfr_t r, mpfr_t x, mpfr_t y)
{
    mpfr_atan2(r, x, y, MPFR_RNDN);
}

void exact_hypot(mpfr_t r, mpfr_t x, mpfr_t y)
{
    mpfr_hypot(r, x, y, MPFR_RNDN);
}

/* 1 / (1 + exp(-x)) */
void exact_sigmoid(mpfr_t r, mpfr_t x)
{
    mpfr_neg(r, x, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_add_ui(r, r, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

/* Of -infinity the limit. */
void exact_silu(mpfr_t r, mpfr_t x)
{
    exact_sigmoid(r, x);
    mpfr_mul(r, r, x, MPFR_RNDN);
    if (mpfr_inf_p(x) && mpfr_signbit(x))
        mpfr_set_zero(r, -1);
}

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)): exp(x) may be beyond MPFR's range. */
void exact_softplus(mpfr_t r, mpfr_t x)
{
    mpfr_abs(r, x, MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_log1p(r, r, MPFR_RNDN);
    if (!mpfr_nan_p(x) && mpfr_sgn(x) > 0)
        mpfr_add(r, r, x, MPFR_RNDN);
}

/* erfc(-x / sqrt(2)) / 2 */
void exact_ndtr(mpfr_t r, mpfr_t x)
{
    mpfr_t t;

    mpfr_init2(t, ACCURACY_BITS);
    mpfr_sqrt_ui(t, 2, MPFR_RNDN);
    mpfr_div(t, x, t, MPFR_RNDN);
    mpfr_neg(t, t, MPFR_RNDN);
    mpfr_set_prec(r, ROUNDED);
    mpfr_erfc(r, t, MPFR_RNDN);
    mpfr_clear(t);
    mpfr_div_2ui(r, r, 1, MPFR_RNDN);
}

/* x times that, of -infinity the limit. */
void exact_gelu(mpfr_t r, mpfr_t x)
{
    exact_ndtr(r, x);
    mpfr_mul(r, r, x, MPFR_RNDN);
    if (mpfr_inf_p(x) && mpfr_signbit(x))
        mpfr_set_zero(r, -1);
}

/* One step of Newton's from y: (erf(y) - x) / erf'(y), by erfc where x is near 1. */
static void erfinv_step(mpfr_t y, mpfr_t x, mpfr_t off, mpfr_t slope)
{
    mpfr_erfc(off, y, MPFR_RNDN);
    mpfr_ui_sub(slope, 1, x, MPFR_RNDN);
    mpfr_sub(off, off, slope, MPFR_RNDN);
    if (mpfr_cmp_d(x, 0.5) < 0) {
        mpfr_erf(off, y, MPFR_RNDN);
        mpfr_sub(off, x, off, MPFR_RNDN);
    }
    mpfr_sqr(slope, y, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul(off, off, slope, MPFR_RNDN);
    mpfr_const_pi(slope, MPFR_RNDN);
    mpfr_sqrt(slope, slope, MPFR_RNDN);
    mpfr_mul(off, off, slope, MPFR_RNDN);
    mpfr_div_2ui(off, off, 1, MPFR_RNDN);
    mpfr_add(y, y, off, MPFR_RNDN);
}

/* A start of some bits (S. Winitzki's), and steps until none counts. */
void exact_erfinv(mpfr_t r, mpfr_t x)
{
    const double given = mpfr_get_d(x, MPFR_RNDN), a = fabs(given);
    mpfr_t       off, slope, size;

    if (!(a > 0 && a < 1)) {
        mpfr_set_d(r, a == 0 ? given : a == 1 ? given * INFINITY : NAN, MPFR_RNDN);
        return;
    }
    const double l = log1p(-a) + log1p(a), t = 4.33 + l / 2;
    const double start = a < 0.01 ? a * 0.886226925452758 : sqrt(sqrt(t * t - l / 0.147) - t);

    mpfr_inits2(ACCURACY_BITS, off, slope, size, (mpfr_ptr)0);
    mpfr_abs(size, x, MPFR_RNDN);
    mpfr_set_d(r, start, MPFR_RNDN);
    for (int k = 0; k < 20; k++) {
        erfinv_step(r, size, off, slope);
        if (mpfr_zero_p(off) || mpfr_get_exp(off) < mpfr_get_exp(r) - 60)
            break; /* the next is below 2^-110 */
    }
    erfinv_step(r, size, off, slope);
    mpfr_setsign(r, r, given < 0, MPFR_RNDN);
    mpfr_clears(off, slope, size, (mpfr_ptr)0);
}

/* max + log1p(exp(-apart)); infinities that are equal are not apart. */
void exact_logaddexp(mpfr_t r, mpfr_t x, mpfr_t y)
{
    mpfr_ptr most = mpfr_greater_p(x, y) ? x : y;

    mpfr_sub(r, x, y, MPFR_RNDN);
    if (mpfr_equal_p(x, y))
        mpfr_set_zero(r, 1);
    mpfr_abs(r, r, MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_log1p(r, r, MPFR_RNDN);
    mpfr_add(r, r, most, MPFR_RNDN);
    if (mpfr_nan_p(x) || mpfr_nan_p(y))
        mpfr_set_nan(r);
}

/* complex_inverse.c - exact results of complex roots, arithmetic and inverse functions: as in
 * complex_reference.c.  Those of W. Kahan's formulas for inverse functions have terms of one sign. */
#include "accuracy/complex_work.h"

/* ---- Roots and arithmetic -------------------------------------------------------------------- */
/* The root of a + ib: its real part, which is not negative, and the imaginary one. */
static void sqrt_of(mpfr_t re, mpfr_t im, mpfr_t a, mpfr_t b)
{
    mpfr_ptr most = mpfr_signbit(a) ? im : re, other = most == re ? im : re;

    mpfr_hypot(t[7], a, b, N);
    mpfr_abs(t[6], a, N);
    mpfr_add(t[7], t[7], t[6], N);
    mpfr_div_2ui(t[7], t[7], 1, N);
    mpfr_sqrt(t[7], t[7], N);
    mpfr_set_zero(other, 1);
    if (!mpfr_zero_p(t[7])) {
        mpfr_div(other, b, t[7], N);
        mpfr_div_2ui(other, other, 1, N);
    }
    mpfr_set(most, t[7], N);
    mpfr_abs(re, re, N);
    mpfr_setsign(im, im, mpfr_signbit(b), N);
}

void exact_complex_sqrt(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    sqrt_of(r->re, r->im, x, y);
}

/* (re + i im) / (u + iv), and products. */
static void quotient(complex_exact *r, mpfr_t re, mpfr_t im)
{
    mpfr_fmma(t[0], re, u, im, v, N);
    mpfr_fmms(t[1], im, u, re, v, N);
    mpfr_fmma(t[2], u, u, v, v, N);
    mpfr_div(r->re, t[0], t[2], N);
    mpfr_div(r->im, t[1], t[2], N);
}

void exact_complex_mul(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    mpfr_fmms(r->re, x, u, y, v, N);
    mpfr_fmma(r->im, x, v, y, u, N);
}

void exact_complex_square(complex_exact *r, const complex_point *p)
{
    exact_complex_mul(r, &(complex_point){ p->x, p->y, p->x, p->y, 0 });
}

void exact_complex_div(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    quotient(r, x, y);
}

void exact_complex_reciprocal(complex_exact *r, const complex_point *p)
{
    exact_complex_div(r, &(complex_point){ 1, 0, p->x, p->y, 0 });
}

void exact_complex_sign(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    mpfr_hypot(t[0], x, y, N);
    mpfr_div(r->re, x, t[0], N);
    mpfr_div(r->im, y, t[0], N);
}

/* ---- Inverse functions ------------------------------------------------------------------------ */
/* sqrt(1 - z) = t0 + i t1, sqrt(1 + z) = t2 + i t3 of z = a + ib. */
static void roots(mpfr_t a, mpfr_t b)
{
    mpfr_ui_sub(t[4], 1, a, N);
    mpfr_neg(t[5], b, N);
    sqrt_of(t[0], t[1], t[4], t[5]);
    mpfr_add_ui(t[4], a, 1, N);
    sqrt_of(t[2], t[3], t[4], b);
}

static void asin_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    roots(a, b);
    mpfr_fmms(t[4], t[0], t[2], t[1], t[3], N);
    mpfr_atan2(r->re, a, t[4], N);
    mpfr_fmms(t[4], t[0], t[3], t[1], t[2], N);
    mpfr_asinh(r->im, t[4], N);
}

static void acos_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    roots(a, b);
    mpfr_atan2(r->re, t[0], t[2], N);
    mpfr_mul_2ui(r->re, r->re, 1, N);
    mpfr_fmms(t[4], t[1], t[2], t[0], t[3], N);
    mpfr_asinh(r->im, t[4], N);
}

/* log1p(4 |a| / ((1 - |a|)^2 + b^2)) / 4, and half the angle of (1 - a) (1 + a) - b^2 + 2ib. */
static void atanh_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    mpfr_abs(t[0], a, N);
    mpfr_ui_sub(t[1], 1, t[0], N);
    mpfr_add_ui(t[2], t[0], 1, N);
    mpfr_mul(t[2], t[1], t[2], N);
    mpfr_sqr(t[1], t[1], N);
    mpfr_sqr(t[3], b, N);
    mpfr_sub(t[2], t[2], t[3], N);
    mpfr_add(t[1], t[1], t[3], N);
    mpfr_mul_2ui(t[0], t[0], 2, N);
    mpfr_div(t[0], t[0], t[1], N);
    mpfr_log1p(r->re, t[0], N);
    mpfr_div_2ui(r->re, r->re, 2, N);
    mpfr_setsign(r->re, r->re, mpfr_signbit(a), N);
    mpfr_mul_2ui(t[3], b, 1, N);
    mpfr_atan2(r->im, t[3], t[2], N);
    mpfr_div_2ui(r->im, r->im, 1, N);
}

OF_Z(asin, asin_of)
OF_Z(acos, acos_of)
OF_Z(atanh, atanh_of)
OF_IZ(asinh, asin_of)
OF_IZ(atan, atanh_of)

/* i acos(z) or -i acos(z), whose real part is not negative. */
void exact_complex_acosh(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    acos_of(r, x, y);
    mpfr_swap(r->re, r->im);
    mpfr_abs(r->re, r->re, N);
    mpfr_setsign(r->im, r->im, mpfr_signbit(y), N);
}

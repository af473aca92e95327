/* complex_reference.c - exact results of complex exponentials and logarithms, made of MPFR's real
 * functions.
 *
 * Sums in which something cancels are of numbers that BITS hold exactly, or are of no more weight
 * than the other part; so at least the first hundred bits are right.  Arguments of sines are reduced by MPFR; where
 * they are products, these have as many bits more as their whole part has. */
#include "accuracy/complex_work.h"

enum { FAR = 1 << 20 }; /* beyond exp(FAR) all types are at their ends */

/* x, cut to where exponentials are far beyond all types. */
static void cut(mpfr_t to, mpfr_t from)
{
    mpfr_set(to, from, N);
    if (mpfr_cmpabs_ui(from, FAR) > 0)
        mpfr_set_si(to, mpfr_sgn(from) * FAR, N);
}

/* ---- Exponentials ---------------------------------------------------------------------------- */
/* exp(a + ib) */
static void exponential(complex_exact *r, mpfr_t a, mpfr_t b)
{
    mpfr_sin_cos(r->im, r->re, b, N);
    cut(t[7], a);
    mpfr_exp(t[7], t[7], N);
    mpfr_mul(r->re, r->re, t[7], N);
    mpfr_mul(r->im, r->im, t[7], N);
}

static double size_of(mpfr_t a, mpfr_t b)
{
    return hypot(mpfr_get_d(a, N), mpfr_get_d(b, N));
}

/* More bits for what has a whole part of so many. */
static void widen(mpfr_t a, mpfr_t b, double whole)
{
    const int bits = whole < 1 ? 0 : ilogb(whole) + 1;

    mpfr_set_prec(a, BITS + bits);
    mpfr_set_prec(b, BITS + bits);
}

void exact_complex_exp(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    exponential(r, x, y);
}

static void of_base(complex_exact *r, const complex_point *p, unsigned base)
{
    begin(r, p);
    widen(t[0], t[1], fmax(fabs(p->x), fabs(p->y)));
    mpfr_log_ui(t[0], base, N);
    mpfr_mul(t[1], t[0], y, N);
    mpfr_mul(t[0], t[0], x, N);
    exponential(r, t[0], t[1]);
    r->exponent = fabs(mpfr_get_d(t[1], N));
}

void exact_complex_exp2(complex_exact *r, const complex_point *p)
{
    of_base(r, p, 2);
}

void exact_complex_exp10(complex_exact *r, const complex_point *p)
{
    of_base(r, p, 10);
}

/* expm1(x) cos(y) - 2 sin(y / 2)^2: where it cancels the imaginary part is the larger one. */
void exact_complex_expm1(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    exponential(r, x, y);
    cut(t[0], x);
    mpfr_expm1(t[0], t[0], N);
    mpfr_cos(t[1], y, N);
    mpfr_mul(t[0], t[0], t[1], N);
    mpfr_div_2ui(t[1], y, 1, N);
    mpfr_sin(t[1], t[1], N);
    mpfr_sqr(t[1], t[1], N);
    mpfr_mul_2ui(t[1], t[1], 1, N);
    mpfr_sub(r->re, t[0], t[1], N);
}

/* ---- Hyperbolic functions: sinh(a + ib) and so on --------------------------------------------- */
static void sinh_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    cut(t[0], a);
    mpfr_sinh_cosh(r->re, r->im, t[0], N);
    mpfr_sin_cos(t[1], t[2], b, N);
    mpfr_mul(r->re, r->re, t[2], N);
    mpfr_mul(r->im, r->im, t[1], N);
}

static void cosh_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    cut(t[0], a);
    mpfr_sinh_cosh(r->im, r->re, t[0], N);
    mpfr_sin_cos(t[1], t[2], b, N);
    mpfr_mul(r->re, r->re, t[2], N);
    mpfr_mul(r->im, r->im, t[1], N);
}

/* (sinh a cosh a + i sin b cos b) / (sinh(a)^2 + cos(b)^2) */
static void tanh_of(complex_exact *r, mpfr_t a, mpfr_t b)
{
    cut(t[0], a);
    mpfr_sinh_cosh(t[3], t[4], t[0], N);
    mpfr_sin_cos(t[1], t[2], b, N);
    mpfr_mul(r->re, t[3], t[4], N);
    mpfr_mul(r->im, t[1], t[2], N);
    mpfr_sqr(t[3], t[3], N);
    mpfr_sqr(t[2], t[2], N);
    mpfr_add(t[3], t[3], t[2], N);
    mpfr_div(r->re, r->re, t[3], N);
    mpfr_div(r->im, r->im, t[3], N);
}

OF_Z(sinh, sinh_of)
OF_Z(cosh, cosh_of)
OF_Z(tanh, tanh_of)
OF_IZ(sin, sinh_of)
OF_IZ(tan, tanh_of)

void exact_complex_cos(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    mpfr_neg(y, y, N);
    cosh_of(r, y, x);
}

/* ---- Logarithms ------------------------------------------------------------------------------ */
/* log(a + ib) if what |a + ib|^2 has beyond 1 is s. */
static void log_of(complex_exact *r, mpfr_t a, mpfr_t b, mpfr_t s)
{
    mpfr_atan2(r->im, b, a, N);
    if (mpfr_cmp_d(s, -0.5) > 0 && mpfr_cmp_d(s, 0.5) < 0) {
        mpfr_log1p(r->re, s, N);
    } else {
        mpfr_sqr(t[6], a, N);
        mpfr_sqr(t[7], b, N);
        mpfr_add(t[6], t[6], t[7], N);
        mpfr_log(r->re, t[6], N);
    }
    mpfr_div_2ui(r->re, r->re, 1, N);
}

/* (a - 1) (a + 1) + b^2, a the greater part. */
static void log_of_z(complex_exact *r)
{
    mpfr_ptr a = mpfr_cmpabs(x, y) > 0 ? x : y, b = a == x ? y : x;

    mpfr_sub_ui(t[0], a, 1, N);
    mpfr_add_ui(t[1], a, 1, N);
    mpfr_mul(t[0], t[0], t[1], N);
    mpfr_sqr(t[1], b, N);
    mpfr_add(t[0], t[0], t[1], N);
    log_of(r, x, y, t[0]);
}

void exact_complex_log(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    log_of_z(r);
}

static void log_by(complex_exact *r, const complex_point *p, unsigned base)
{
    exact_complex_log(r, p);
    mpfr_log_ui(t[0], base, N);
    mpfr_div(r->re, r->re, t[0], N);
    mpfr_div(r->im, r->im, t[0], N);
}

void exact_complex_log2(complex_exact *r, const complex_point *p)
{
    log_by(r, p, 2);
}

void exact_complex_log10(complex_exact *r, const complex_point *p)
{
    log_by(r, p, 10);
}

/* 2x + y^2 + x^2 */
void exact_complex_log1p(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    mpfr_sqr(t[0], y, N);
    mpfr_add(t[0], t[0], x, N);
    mpfr_add(t[0], t[0], x, N);
    mpfr_sqr(t[1], x, N);
    mpfr_add(t[0], t[0], t[1], N);
    mpfr_add_ui(t[1], x, 1, N);
    log_of(r, t[1], y, t[0]);
}

/* exp((u + iv) log(x + iy)), with bits for the whole part of what the logarithm is multiplied by. */
void exact_complex_pow(complex_exact *r, const complex_point *p)
{
    begin(r, p);
    log_of_z(r);
    widen(t[0], t[1], 0x1p10 * fmax(fabs(p->u), fabs(p->v)));
    mpfr_fmms(t[0], u, r->re, v, r->im, N);
    mpfr_fmma(t[1], u, r->im, v, r->re, N);
    r->exponent = size_of(t[0], t[1]);
    exponential(r, t[0], t[1]);
}

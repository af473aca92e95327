/* complex_functions.c - functions of complex numbers as the library evaluates them, and their errors. */
#include "accuracy/complex.h"
#include "accuracy/starts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- What is searched ------------------------------------------------------------------------ */
#define OF_1(name) rd_##name, NULL
#define OF_2(name) NULL, rd_##name
#define RD_COMPLEX_BOUND(name, n, measure, c64, c128) \
    { #name, OF_##n(name), exact_complex_##name, measure, c64, c128 },
const complex_function complex_functions[] = {
#include "accuracy/complex_bounds.def"
};
#undef RD_COMPLEX_BOUND
const int complex_functions_n = (int)(sizeof complex_functions / sizeof *complex_functions);

/* ---- Evaluation ------------------------------------------------------------------------------ */
/* A function is a plan with two inputs, of which it reads one or both. */
struct complex_map {
    const complex_function *f;
    bool                    is_c64;
    rd_plan                *plan;
    complex_exact           exact;
    double                  in[2][COMPLEX_BATCH][2], out[COMPLEX_BATCH][2];
    float                   in_f32[2][COMPLEX_BATCH][2], out_f32[COMPLEX_BATCH][2];
};

complex_map *complex_begin(rd_ctx *ctx, const complex_function *f, bool is_c64)
{
    const rd_array layout = { .type = is_c64 ? RD_C64 : RD_C128, .shape = RD_SHAPE(COMPLEX_BATCH) };
    rd_expr       *z = rd_input(ctx, "z", &layout), *w = rd_input(ctx, "w", &layout);
    rd_expr       *y = f->of_1 ? f->of_1(z) : f->of_2(z, w);
    complex_map   *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    *m = (complex_map){ .f = f, .is_c64 = is_c64 };
    mpfr_inits2(440, m->exact.re, m->exact.im, (mpfr_ptr)0);
    m->plan = f->of_1 ? rd_plan_new(ctx, RD_EXPRS(z), RD_RESULTS({ y, NULL }), NULL)
                      : rd_plan_new(ctx, RD_EXPRS(z, w), RD_RESULTS({ y, NULL }), NULL);
    if (m->plan)
        return m;
    fprintf(stderr, "%s: %s\n", f->name, rd_error_text(ctx));
    complex_end(m);
    return NULL;
}

void complex_end(complex_map *m)
{
    rd_plan_free(m->plan);
    mpfr_clears(m->exact.re, m->exact.im, (mpfr_ptr)0);
    free(m);
}

static double rounded(const complex_map *m, double x)
{
    return m->is_c64 ? accuracy_as_float(x) : x;
}

static void set_parts(complex_map *m, int i, complex_point *p)
{
    double *const parts[] = { &p->x, &p->y, &p->u, &p->v };

    for (int k = 0; k < 4; k++) {
        *parts[k]                  = rounded(m, *parts[k]);
        m->in[k / 2][i][k % 2]     = *parts[k];
        m->in_f32[k / 2][i][k % 2] = (float)*parts[k];
    }
}

static bool evaluate(complex_map *m)
{
    if (!m->is_c64)
        return rd_plan_run(m->plan, (const void *[]){ m->in[0], m->in[1] }, (void *[]){ m->out }) ==
               RD_OK;
    if (rd_plan_run(m->plan, (const void *[]){ m->in_f32[0], m->in_f32[1] },
                    (void *[]){ m->out_f32 }) != RD_OK)
        return false;
    for (int i = 0; i < COMPLEX_BATCH; i++)
        for (int k = 0; k < 2; k++)
            m->out[i][k] = (double)m->out_f32[i][k];
    return true;
}

/* ---- Which points count ---------------------------------------------------------------------- */
static double larger(double a, double b)
{
    return fmax(fabs(a), fabs(b));
}

/* A product, and a square, is (ac - bd) + i(ad + bc): it may leave the range before the result does.  A
 * power is of neither 0, and its exponent's product with a logarithm stays in the range; so does
 * the angle of a power of 2 or of 10. */
bool complex_counts(const complex_function *f, bool is_c64, const complex_point *p)
{
    const double z = larger(p->x, p->y), w = larger(p->u, p->v), most = is_c64 ? 0x1p126 : 0x1p1022;

    if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->u) || !isfinite(p->v))
        return false;
    if (f->exact == exact_complex_div)
        return w > 0;
    if (f->exact == exact_complex_square)
        return z < sqrt(most);
    if (f->exact == exact_complex_mul)
        return z <= 1 || w <= 1 || z < most / w;
    if (f->exact == exact_complex_pow)
        return z > 0 && w > 0 && w < most / 0x1p12;
    if (f->exact == exact_complex_exp2 || f->exact == exact_complex_exp10)
        return fabs(p->y) < most / 4;
    if (f->exact == exact_complex_log1p)
        return z > 0 && (p->x != -1 || p->y != 0);
    return f->exact == exact_complex_exp || z > 0;
}

/* ---- Errors ---------------------------------------------------------------------------------- */
typedef struct unit {
    long least, most; /* exponents: of the smallest normal number, and of what overflows */
    int  digits;
} unit;

/* What overflows is the power of 2 that does, of its sign: infinity is one, exact or not. */
static void clip(const unit *q, mpfr_t x)
{
    if (mpfr_inf_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) > q->most))
        mpfr_set_si_2exp(x, mpfr_signbit(x) ? -1 : 1, q->most, MPFR_RNDN);
}

/* One more than `most` where a part overflows. */
static long exponent_of(const unit *q, mpfr_t exact)
{
    const long own = mpfr_regular_p(exact) ? (long)mpfr_get_exp(exact) : q->least;

    return own < q->least ? q->least : own;
}

/* |got - exact| in units of a number of that exponent. */
static double apart(const unit *q, double got, mpfr_t exact, long exponent)
{
    double ulps;
    mpfr_t g;

    if (isnan(got) || mpfr_nan_p(exact))
        return INFINITY;
    mpfr_init2(g, 440);
    mpfr_set_d(g, got, MPFR_RNDN);
    clip(q, g);
    mpfr_sub(g, g, exact, MPFR_RNDN);
    mpfr_mul_2si(g, g, q->digits - exponent, MPFR_RNDN);
    ulps = fabs(mpfr_get_d(g, MPFR_RNDN));
    mpfr_clear(g);
    return ulps;
}

/* The modulus of what we got beside that of the exact result; where a part overflows there is none. */
static double size_error(const unit *q, const double *got, complex_exact *exact, long exponent)
{
    double ulps = 0;
    mpfr_t g, h;

    if (isnan(got[0]) || isnan(got[1]))
        return INFINITY;
    mpfr_inits2(440, g, h, (mpfr_ptr)0);
    mpfr_hypot(h, exact->re, exact->im, MPFR_RNDN);
    mpfr_set_d(g, got[1], MPFR_RNDN);
    mpfr_set_d(exact->im, got[0], MPFR_RNDN);
    mpfr_hypot(g, g, exact->im, MPFR_RNDN);
    mpfr_sub(g, g, h, MPFR_RNDN);
    mpfr_mul_2si(g, g, q->digits - exponent, MPFR_RNDN);
    if (exponent <= q->most && isfinite(got[0]) && isfinite(got[1]))
        ulps = fabs(mpfr_get_d(g, MPFR_RNDN));
    mpfr_clears(g, h, (mpfr_ptr)0);
    return ulps;
}

/* Results that a measure is not for.  Where a rounded angle says which infinity a part is, or a
 * quotient overflows, an infinity will do, whose other part may be any number or NaN. */
static bool is_left_out(complex_measure measure, const unit *q, long exponent, const double *got)
{
    const bool is_normal = exponent > q->least + 4;

    if (measure == GROWS && exponent > q->most)
        return !isnan(got[0]) && !isnan(got[1]);
    if (measure == NORMAL && exponent > q->most)
        return isinf(got[0]) || isinf(got[1]);
    return (measure == NORMAL && !is_normal) || (measure == TINY && is_normal);
}

static double error_of(complex_map *m, const double *got, const complex_point *p)
{
    static const unit f32 = { -125, 128, 24 }, f64 = { -1021, 1024, 53 };
    const unit       *q  = m->is_c64 ? &f32 : &f64;
    mpfr_ptr          re = m->exact.re, im = m->exact.im;

    m->f->exact(&m->exact, p);
    clip(q, re);
    clip(q, im);
    const long own[2] = { exponent_of(q, re), exponent_of(q, im) };
    const long most   = own[0] > own[1] ? own[0] : own[1];
    const bool each   = m->f->measure == PARTS;

    if (is_left_out(m->f->measure, q, most, got))
        return 0;
    if (m->f->measure == SIZE)
        return size_error(q, got, &m->exact, most);
    return fmax(apart(q, got[0], re, each ? own[0] : most),
                apart(q, got[1], im, each ? own[1] : most)) /
           (1 + m->exact.exponent * (m->f->measure == GROWS));
}

void complex_errors(complex_map *m, int n, complex_point *p)
{
    for (int i = 0; i < n; i++)
        set_parts(m, i, &p[i]);
    if (!evaluate(m))
        abort();
    for (int i = 0; i < n; i++)
        p[i].ulps = complex_counts(m->f, m->is_c64, &p[i]) ? error_of(m, m->out[i], &p[i]) : 0;
}

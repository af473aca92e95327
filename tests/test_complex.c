/* test_complex.c - complex expressions beside C's own complex numbers: functions within bounds, annex
 * G's special values, and memory of pairs in all layouts.
 *
 * The functions are compared in double complex, which for c64 has bits to spare; of c128 C's own
 * error is in the bounds, in units in the last place of the larger part. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "suite.h"
#include "values.h"
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 2000 };

static double complex z[N], w[N], found[N];
static float complex  zf[N], wf[N], found_f[N];
static uint64_t       state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* Of many sizes, most of them about 1. */
static double any_number(double spread)
{
    const double sign = uniform() < 0.5 ? -1 : 1, v = uniform();

    return sign * (v < 0.5 ? 4 * uniform() : exp(spread * (uniform() - 0.5)));
}

static void fill(double spread)
{
    for (int i = 0; i < N; i++) {
        zf[i] = (float complex)CMPLX(any_number(spread), any_number(spread));
        wf[i] = (float complex)CMPLX(any_number(spread), any_number(spread));
        z[i]  = zf[i];
        w[i]  = wf[i];
    }
}

static double ulp(double x, int digits)
{
    return ldexp(1, (x == 0 ? -1000 : ilogb(x)) - digits + 1);
}

/* In the last place of the larger part; what C has not finite is left to the special values. */
static double distance(double complex got, double complex want, double most, int digits)
{
    const double size = fmax(fabs(creal(want)), fabs(cimag(want)));

    if (!(size < most))
        return 0;
    return fmax(fabs(creal(got) - creal(want)), fabs(cimag(got) - cimag(want))) / ulp(size, digits);
}

static void check_near(const char *name, double most_64, double most_32, double complex (*c)(int i))
{
    for (int i = 0; i < N; i++) {
        const double complex want = c(i);
        const double         a    = distance(found[i], want, 1e300, 53),
                     b            = distance(found_f[i], want, 1e37, 24);

        ck_assert_msg(a <= most_64 && b <= most_32,
                      "%s of %g%+gi, %g%+gi: %g%+gi, of c64 %g%+gi, not %g%+gi: %g and %g ulp",
                      name, creal(z[i]), cimag(z[i]), creal(w[i]), cimag(w[i]), creal(found[i]),
                      cimag(found[i]), crealf(found_f[i]), cimagf(found_f[i]), creal(want),
                      cimag(want), a, b);
    }
}

static void evaluate(rd_expr *wide, rd_expr *narrow)
{
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ wide, RD_INTO(found, RD_SHAPE(N)) },
                                          { narrow, RD_INTO(found_f, RD_SHAPE(N)) }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
}

/* ---- Functions of one number ----------------------------------------------------------------- */
static double complex square(double complex x)
{
    return x * x;
}

static double complex reciprocal(double complex x)
{
    return 1 / x;
}

static double complex negated(double complex x)
{
    return -x;
}

static double complex exp_2(double complex x)
{
    return cexp(x * 0.693147180559945309417);
}

static double complex log_2(double complex x)
{
    return clog(x) / 0.693147180559945309417;
}

static double complex log_10(double complex x)
{
    return clog(x) / 2.302585092994045684018;
}

static double complex exp_10(double complex x)
{
    return cexp(x * 2.302585092994045684018);
}

static double complex exp_less_1(double complex x)
{
    const long double re = creal(x), im = cimag(x), h = sinl(im / 2);

    return CMPLX((double)(expm1l(re) * cosl(im) - 2 * h * h), (double)(expl(re) * sinl(im)));
}

/* Of a modulus near 1 by what its square has beyond 1. */
static double complex log_1_more(double complex x)
{
    const long double re = creal(x), im = cimag(x), size = hypotl(1 + re, im);

    return CMPLX(
        (double)(size > 0.5L && size < 2 ? log1pl(re * (re + 2) + im * im) / 2 : logl(size)),
        (double)atan2l(im, 1 + re));
}

static double complex unit(double complex x)
{
    return x == 0 ? 0 : x / cabs(x);
}

static double complex cube(double complex x)
{
    return x * x * x;
}

static rd_expr *third_power(rd_expr *x)
{
    return rd_pow(x, rd_int(ctx, 3));
}

static const struct {
    const char *name;
    rd_expr *(*ours)(rd_expr *);
    double complex (*c)(double complex);
    double spread, ulp_64, ulp_32;
} functions[] = {
    { "neg", rd_neg, negated, 60, 0, 0 },
    { "conj", rd_conj, conj, 60, 0, 0 },
    { "square", rd_square, square, 60, 4, 2 },
    { "reciprocal", rd_reciprocal, reciprocal, 60, 4, 4 },
    { "sign", rd_sign, unit, 60, 4, 3 },
    { "sqrt", rd_sqrt, csqrt, 60, 4, 3 },
    { "exp", rd_exp, cexp, 9, 4, 3 },
    { "exp2", rd_exp2, exp_2, 4, 40, 40 },
    { "exp10", rd_exp10, exp_10, 3, 40, 40 },
    { "expm1", rd_expm1, exp_less_1, 9, 4, 4 },
    { "log", rd_log, clog, 60, 5, 4 },
    { "log2", rd_log2, log_2, 60, 6, 5 },
    { "log10", rd_log10, log_10, 60, 6, 5 },
    { "log1p", rd_log1p, log_1_more, 60, 5, 5 },
    { "asin", rd_asin, casin, 60, 6, 4 },
    { "acos", rd_acos, cacos, 60, 6, 4 },
    { "atan", rd_atan, catan, 60, 6, 4 },
    { "asinh", rd_asinh, casinh, 60, 6, 4 },
    { "acosh", rd_acosh, cacosh, 60, 6, 4 },
    { "atanh", rd_atanh, catanh, 60, 6, 4 },
    { "sin", rd_sin, csin, 9, 4, 3 },
    { "cos", rd_cos, ccos, 9, 4, 3 },
    { "tan", rd_tan, ctan, 9, 8, 6 },
    { "sinh", rd_sinh, csinh, 9, 4, 3 },
    { "cosh", rd_cosh, ccosh, 9, 4, 3 },
    { "tanh", rd_tanh, ctanh, 9, 8, 6 },
    { "cube", third_power, cube, 20, 8, 6 },
};

static int which; /* of functions */

static double complex of_c(int i)
{
    return functions[which].c(z[i]);
}

START_TEST(functions_are_near)
{
    for (which = 0; which < (int)COUNT(functions); which++) {
        fill(functions[which].spread);
        evaluate(functions[which].ours(rd_wrap(ctx, z, RD_SHAPE(N))),
                 functions[which].ours(rd_wrap(ctx, zf, RD_SHAPE(N))));
        check_near(functions[which].name, functions[which].ulp_64, functions[which].ulp_32, of_c);
    }
}
END_TEST

/* ---- Arithmetic ------------------------------------------------------------------------------ */
static double complex sum(int i)
{
    return z[i] + w[i];
}

static double complex difference(int i)
{
    return z[i] - w[i];
}

static double complex product(int i)
{
    return z[i] * w[i];
}

static double complex quotient(int i)
{
    return z[i] / w[i];
}

static double complex power(int i)
{
    return cpow(z[i], w[i]);
}

static double complex scaled(int i)
{
    return creal(w[i]) * z[i];
}

static double complex shifted(int i)
{
    return CMPLX(creal(w[i]) - creal(z[i]), -cimag(z[i]));
}

static double complex divided(int i)
{
    return CMPLX(creal(z[i]) / creal(w[i]), cimag(z[i]) / creal(w[i]));
}

static double complex inverse(int i)
{
    return creal(w[i]) / z[i];
}

static rd_expr *real_times(rd_expr *x, rd_expr *y)
{
    return rd_mul(rd_real(y), x);
}

static rd_expr *real_minus(rd_expr *x, rd_expr *y)
{
    return rd_sub(rd_real(y), x);
}

static rd_expr *by_real(rd_expr *x, rd_expr *y)
{
    return rd_div(x, rd_real(y));
}

static rd_expr *real_by(rd_expr *x, rd_expr *y)
{
    return rd_div(rd_real(y), x);
}

static const struct {
    const char *name;
    rd_expr *(*ours)(rd_expr *, rd_expr *);
    double complex (*c)(int i);
    double spread, ulp_64, ulp_32;
} pairs[] = {
    { "add", rd_add, sum, 60, 0, 1 },
    { "sub", rd_sub, difference, 60, 0, 1 },
    { "mul", rd_mul, product, 60, 3, 3 },
    { "div", rd_div, quotient, 40, 6, 4 },
    { "pow", rd_pow, power, 2, 300, 300 },
    { "real x complex", real_times, scaled, 60, 0, 1 },
    { "real - complex", real_minus, shifted, 60, 0, 1 },
    { "complex / real", by_real, divided, 40, 0, 1 },
    { "real / complex", real_by, inverse, 40, 6, 4 },
};

START_TEST(arithmetic_is_near)
{
    for (size_t k = 0; k < COUNT(pairs); k++) {
        fill(pairs[k].spread);
        evaluate(pairs[k].ours(rd_wrap(ctx, z, RD_SHAPE(N)), rd_wrap(ctx, w, RD_SHAPE(N))),
                 pairs[k].ours(rd_wrap(ctx, zf, RD_SHAPE(N)), rd_wrap(ctx, wf, RD_SHAPE(N))));
        check_near(pairs[k].name, pairs[k].ulp_64, pairs[k].ulp_32, pairs[k].c);
    }
}
END_TEST

/* A quotient leaves the range only where the true one does. */
START_TEST(quotients_of_all_sizes)
{
    static const double sizes[] = {
        0x1p-1060, 0x1p-1000, 0x1p-500, 1, 0x1p500, 0x1p1000, 0x1p1023
    };
    int n = 0;

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(sizes); j++) {
            z[n]   = CMPLX(1.5 * sizes[i], -sizes[i]);
            w[n++] = CMPLX(-sizes[j], 1.25 * sizes[j]);
        }
    rd_expr *y = rd_div(rd_wrap(ctx, z, RD_SHAPE(n)), rd_wrap(ctx, w, RD_SHAPE(n)));
    ck_assert(rd_eval(ctx, y, RD_INTO(found, RD_SHAPE(n))) == RD_OK);
    for (int i = 0; i < n; i++) {
        const double scale = cimag(z[i]) / creal(w[i]), re = -2.75 / 2.5625 * scale,
                     im = -0.875 / 2.5625 * scale, bound = 8 * ulp(re, 53) + 0x1p-1072;
        const double apart = fmax(fabs(creal(found[i]) - re), fabs(cimag(found[i]) - im));
        ck_assert_msg(isinf(re) ? isinf(creal(found[i])) : apart <= bound,
                      "(%g%+gi) / (%g%+gi) is %g%+gi, not %g%+gi", creal(z[i]), cimag(z[i]),
                      creal(w[i]), cimag(w[i]), creal(found[i]), cimag(found[i]), re, im);
    }
}
END_TEST

/* One that overflows is an infinity, by numbers on the axes, too, whose products with an infinity would
 * be NaN. */
START_TEST(quotients_that_overflow)
{
    static const double of[][4] = {
        { 0x1p83, 0x1p83, 0x1p-1000, 0.0 },       { 0x1p83, -0x1p84, 0.0, 0x1p-1000 },
        { 0x1p744, 0x1p9, 0.0, 0x1p-959 },        { 0x1p744, 0x1p744, 0x1p-959, 0x1p-959 },
        { 0x1p1023, -0x1p1023, -0.0, 0x1p-2 },    { -0x1p60, 0.0, 0x1p-1030, -0.0 },
        { 0x1p1023, 0x1p1000, 0x1p-60, 0x1p-61 }, { 0x1p1000, 1.0, 0x1p-30, 0.0 },
        { 0x1p1023, 0x1p1022, 0x1p-30, 0x1p-31 }, { -3.0, 0x1p900, 0x1p-200, -0x1p-300 },
    };

    for (size_t i = 0; i < COUNT(of); i++) {
        z[i] = CMPLX(of[i][0], of[i][1]);
        w[i] = CMPLX(of[i][2], of[i][3]);
    }
    rd_expr *y = rd_div(rd_wrap(ctx, z, RD_SHAPE(COUNT(of))), rd_wrap(ctx, w, RD_SHAPE(COUNT(of))));
    ck_assert(rd_eval(ctx, y, RD_INTO(found, RD_SHAPE(COUNT(of)))) == RD_OK);
    for (size_t i = 0; i < COUNT(of); i++) { /* long double has a range that suffices */
        const long double x = of[i][0], y_ = of[i][1], u = of[i][2], v = of[i][3];
        const long double size = u * u + v * v;
        const double re = (double)((x * u + y_ * v) / size), im = (double)((y_ * u - x * v) / size);

        ck_assert_msg(isinf(re) || isinf(im), "row %zu does not overflow", i);
        ck_assert_msg(creal(found[i]) == re && cimag(found[i]) == im,
                      "(%g%+gi) / (%g%+gi) is %g%+gi instead of %g%+gi", of[i][0], of[i][1],
                      of[i][2], of[i][3], creal(found[i]), cimag(found[i]), re, im);
    }
}
END_TEST

/* Of parts of all sizes, whose squares leave the range. */
START_TEST(moduli)
{
    static const double parts[] = { 0,      1,         -3,       0x1p1023, -0x1p600, 0x1p-600,
                                    5e-324, 0x1p-1022, INFINITY, NAN,      1e154,    -7e-160 };
    int                 n       = 0;

    for (size_t i = 0; i < COUNT(parts); i++)
        for (size_t j = 0; j < COUNT(parts); j++) {
            z[n]    = CMPLX(parts[i], parts[j]);
            zf[n++] = CMPLXF((float)parts[i], (float)parts[j]);
        }
    double *size   = (double *)found;
    float  *size_f = (float *)found_f;
    ck_assert(
        rd_eval_many(
            ctx,
            RD_RESULTS({ rd_abs(rd_wrap(ctx, z, RD_SHAPE(n))), RD_INTO(size, RD_SHAPE(n)) },
                       { rd_abs(rd_wrap(ctx, zf, RD_SHAPE(n))), RD_INTO(size_f, RD_SHAPE(n)) }),
            NULL) == RD_OK);
    for (int i = 0; i < n; i++) {
        const double want = cabs(z[i]), narrow = (float)cabs(zf[i]);

        ck_assert_msg(isnan(want) ? isnan(size[i])
                                  : size[i] == want || fabs(size[i] - want) <= 1.5 * ulp(want, 53),
                      "|%g%+gi| is %g, not %g", creal(z[i]), cimag(z[i]), size[i], want);
        ck_assert_msg(isnan(narrow) ? isnan(size_f[i])
                                    : (double)size_f[i] == narrow ||
                                          fabs((double)size_f[i] - narrow) <= 1.5 * ulp(narrow, 24),
                      "|%g%+gi| is %g, not %g", crealf(zf[i]), cimagf(zf[i]), size_f[i], narrow);
    }
}
END_TEST

/* ---- Special values: C11, annex G.6 ---------------------------------------------------------- */
#define INF INFINITY
#define PI  3.14159265358979323846
/* Of a part whose sign annex G leaves open, `sign` says so. */
enum { SIGNED = 0, ANY_RE = 1, ANY_IM = 2 };

static const struct special {
    const char *name;
    rd_expr *(*ours)(rd_expr *);
    double re, im, want_re, want_im;
    int    sign;
} specials[] = {
    { "exp", rd_exp, 0.0, 0.0, 1, 0.0, 0 },
    { "exp", rd_exp, 1, INF, NAN, NAN, 0 },
    { "exp", rd_exp, INF, 0.0, INF, 0.0, 0 },
    { "exp", rd_exp, INF, -0.0, INF, -0.0, 0 },
    { "exp", rd_exp, -INF, 1, 0.0, 0.0, 0 },
    { "exp", rd_exp, -INF, 2, -0.0, 0.0, 0 },
    { "exp", rd_exp, INF, 2, -INF, INF, 0 },
    { "exp", rd_exp, -INF, INF, 0.0, 0.0, ANY_RE | ANY_IM },
    { "exp", rd_exp, -INF, NAN, 0.0, 0.0, ANY_RE | ANY_IM },
    { "exp", rd_exp, INF, INF, INF, NAN, ANY_RE },
    { "exp", rd_exp, INF, NAN, INF, NAN, ANY_RE },
    { "exp", rd_exp, NAN, 0.0, NAN, 0.0, 0 },
    { "exp", rd_exp, NAN, 1, NAN, NAN, 0 },
    { "exp", rd_exp, 710, 1.5707963267948966, 0x1.5eeb533bacc4dp970, INF, 0 },
    { "log", rd_log, -0.0, 0.0, -INF, PI, 0 },
    { "log", rd_log, 0.0, -0.0, -INF, -0.0, 0 },
    { "log", rd_log, 1, INF, INF, PI / 2, 0 },
    { "log", rd_log, 1, NAN, NAN, NAN, 0 },
    { "log", rd_log, -INF, 1, INF, PI, 0 },
    { "log", rd_log, INF, 1, INF, 0.0, 0 },
    { "log", rd_log, -INF, INF, INF, 3 * PI / 4, 0 },
    { "log", rd_log, INF, INF, INF, PI / 4, 0 },
    { "log", rd_log, INF, NAN, INF, NAN, 0 },
    { "log", rd_log, NAN, INF, INF, NAN, 0 },
    { "log", rd_log, -1, 0.0, 0.0, PI, 0 },
    { "log", rd_log, -1, -0.0, 0.0, -PI, 0 },
    { "log", rd_log, 0x1p1023, 0x1p1023, 0x1.62b7d369a5aa8p9, PI / 4, 0 },
    { "log", rd_log, 0x1p-1074, 0x1p-1074, -0x1.740bf7c0d927cp9, PI / 4, 0 },
    { "log2", rd_log2, 0x1p-1074, -0x1p-1074, -1073.5, -0x1.22123045b5decp0, 0 },
    { "sqrt", rd_sqrt, -0.0, 0.0, 0.0, 0.0, 0 },
    { "sqrt", rd_sqrt, 0.0, -0.0, 0.0, -0.0, 0 },
    { "sqrt", rd_sqrt, NAN, INF, INF, INF, 0 },
    { "sqrt", rd_sqrt, 1, -INF, INF, -INF, 0 },
    { "sqrt", rd_sqrt, -INF, 1, 0.0, INF, 0 },
    { "sqrt", rd_sqrt, INF, 1, INF, 0.0, 0 },
    { "sqrt", rd_sqrt, -INF, NAN, NAN, INF, ANY_IM },
    { "sqrt", rd_sqrt, INF, NAN, INF, NAN, 0 },
    { "sqrt", rd_sqrt, -4, 0.0, 0.0, 2, 0 },
    { "sqrt", rd_sqrt, -4, -0.0, 0.0, -2, 0 },
    { "sqrt", rd_sqrt, 0x1p1023, 0x1p1023, 0x1.8dc42193d5c03p511, 0x1.49852f983efddp510, 0 },
    { "sqrt", rd_sqrt, 0x1p-1070, 0.0, 0x1p-535, 0.0, 0 },
    { "sinh", rd_sinh, 0.0, 0.0, 0.0, 0.0, 0 },
    { "sinh", rd_sinh, 0.0, INF, 0.0, NAN, ANY_RE },
    { "sinh", rd_sinh, 1, INF, NAN, NAN, 0 },
    { "sinh", rd_sinh, INF, 0.0, INF, 0.0, 0 },
    { "sinh", rd_sinh, INF, 2, -INF, INF, 0 },
    { "sinh", rd_sinh, INF, INF, INF, NAN, ANY_RE },
    { "sinh", rd_sinh, NAN, 0.0, NAN, 0.0, 0 },
    { "cosh", rd_cosh, 0.0, 0.0, 1, 0.0, 0 },
    { "cosh", rd_cosh, 0.0, INF, NAN, 0.0, ANY_IM },
    { "cosh", rd_cosh, INF, 0.0, INF, 0.0, 0 },
    { "cosh", rd_cosh, INF, 2, -INF, INF, 0 },
    { "cosh", rd_cosh, INF, INF, INF, NAN, ANY_RE },
    { "cosh", rd_cosh, NAN, 0.0, NAN, 0.0, ANY_IM },
    { "tanh", rd_tanh, 0.0, 0.0, 0.0, 0.0, 0 },
    { "tanh", rd_tanh, 1, INF, NAN, NAN, 0 },
    { "tanh", rd_tanh, INF, 1, 1, 0.0, ANY_IM },
    { "tanh", rd_tanh, -INF, INF, -1, 0.0, ANY_IM },
    { "tanh", rd_tanh, INF, NAN, 1, 0.0, ANY_IM },
    { "tanh", rd_tanh, NAN, 0.0, NAN, 0.0, 0 },
    { "sin", rd_sin, 0.0, INF, 0.0, INF, 0 },
    { "sin", rd_sin, INF, 0.0, NAN, 0.0, ANY_IM },
    { "cos", rd_cos, 0.0, INF, INF, -0.0, 0 },
    { "tan", rd_tan, 1, INF, 0.0, 1, ANY_RE },
    { "asinh", rd_asinh, 0.0, 0.0, 0.0, 0.0, 0 },
    { "asinh", rd_asinh, -0.0, 0.0, -0.0, 0.0, 0 },
    { "asinh", rd_asinh, 1, INF, INF, PI / 2, 0 },
    { "asinh", rd_asinh, 1, NAN, NAN, NAN, 0 },
    { "asinh", rd_asinh, INF, 1, INF, 0.0, 0 },
    { "asinh", rd_asinh, -INF, 1, -INF, 0.0, 0 },
    { "asinh", rd_asinh, INF, INF, INF, PI / 4, 0 },
    { "asinh", rd_asinh, INF, NAN, INF, NAN, 0 },
    { "asinh", rd_asinh, NAN, 0.0, NAN, 0.0, 0 },
    { "asinh", rd_asinh, NAN, 1, NAN, NAN, 0 },
    { "asinh", rd_asinh, NAN, INF, INF, NAN, ANY_RE },
    { "asinh", rd_asinh, 0.0, 2, 0x1.5124271980435p+0, PI / 2, 0 },
    { "asinh", rd_asinh, -0.0, 2, -0x1.5124271980435p+0, PI / 2, 0 },
    { "asinh", rd_asinh, 0x1p1023, 0x1p1023, 0x1.63108c75a1936p+9, PI / 4, 0 },
    { "asinh", rd_asinh, 0x1p-1070, 0x1p-1074, 0x1p-1070, 0x1p-1074, 0 },
    { "asin", rd_asin, 2, 0.0, PI / 2, 0x1.5124271980435p+0, 0 },
    { "asin", rd_asin, 2, -0.0, PI / 2, -0x1.5124271980435p+0, 0 },
    { "asin", rd_asin, 1, 0.0, PI / 2, 0.0, 0 },
    { "asin", rd_asin, 0.0, NAN, 0.0, NAN, 0 },
    { "asin", rd_asin, INF, 1, PI / 2, INF, 0 },
    { "asin", rd_asin, -INF, INF, -PI / 4, INF, 0 },
    { "acos", rd_acos, 0.0, 0.0, PI / 2, -0.0, 0 },
    { "acos", rd_acos, -0.0, 0.0, PI / 2, -0.0, 0 },
    { "acos", rd_acos, 0.0, NAN, PI / 2, NAN, 0 },
    { "acos", rd_acos, 1, 0.0, 0.0, -0.0, 0 },
    { "acos", rd_acos, 1, INF, PI / 2, -INF, 0 },
    { "acos", rd_acos, 1, NAN, NAN, NAN, 0 },
    { "acos", rd_acos, -INF, 1, PI, -INF, 0 },
    { "acos", rd_acos, INF, 1, 0.0, -INF, 0 },
    { "acos", rd_acos, -INF, INF, 3 * PI / 4, -INF, 0 },
    { "acos", rd_acos, INF, INF, PI / 4, -INF, 0 },
    { "acos", rd_acos, INF, NAN, NAN, INF, ANY_IM },
    { "acos", rd_acos, NAN, 1, NAN, NAN, 0 },
    { "acos", rd_acos, NAN, INF, NAN, -INF, 0 },
    { "acos", rd_acos, 2, 0.0, 0.0, -0x1.5124271980435p+0, 0 },
    { "acos", rd_acos, -2, -0.0, PI, 0x1.5124271980435p+0, 0 },
    { "acos", rd_acos, 1, 0x1p-1000, 0x1p-500, -0x1p-500, 0 },
    { "acosh", rd_acosh, 0.0, 0.0, 0.0, PI / 2, 0 },
    { "acosh", rd_acosh, -0.0, 0.0, 0.0, PI / 2, 0 },
    { "acosh", rd_acosh, 1, INF, INF, PI / 2, 0 },
    { "acosh", rd_acosh, 1, NAN, NAN, NAN, 0 },
    { "acosh", rd_acosh, 0.0, NAN, NAN, PI / 2, ANY_IM },
    { "acosh", rd_acosh, -INF, 1, INF, PI, 0 },
    { "acosh", rd_acosh, INF, 1, INF, 0.0, 0 },
    { "acosh", rd_acosh, -INF, INF, INF, 3 * PI / 4, 0 },
    { "acosh", rd_acosh, INF, INF, INF, PI / 4, 0 },
    { "acosh", rd_acosh, -INF, NAN, INF, NAN, 0 },
    { "acosh", rd_acosh, NAN, 1, NAN, NAN, 0 },
    { "acosh", rd_acosh, NAN, INF, INF, NAN, 0 },
    { "acosh", rd_acosh, -2, 0.0, 0x1.5124271980435p+0, PI, 0 },
    { "acosh", rd_acosh, 0.5, 0.0, 0.0, 0x1.0c152382d7366p+0, 0 },
    { "atanh", rd_atanh, 0.0, 0.0, 0.0, 0.0, 0 },
    { "atanh", rd_atanh, 0.0, NAN, 0.0, NAN, 0 },
    { "atanh", rd_atanh, 1, 0.0, INF, 0.0, 0 },
    { "atanh", rd_atanh, 1, INF, 0.0, PI / 2, 0 },
    { "atanh", rd_atanh, 1, NAN, NAN, NAN, 0 },
    { "atanh", rd_atanh, INF, 1, 0.0, PI / 2, 0 },
    { "atanh", rd_atanh, INF, INF, 0.0, PI / 2, 0 },
    { "atanh", rd_atanh, INF, NAN, 0.0, NAN, 0 },
    { "atanh", rd_atanh, NAN, 1, NAN, NAN, 0 },
    { "atanh", rd_atanh, NAN, INF, 0.0, PI / 2, ANY_RE },
    { "atanh", rd_atanh, 2, 0.0, 0x1.193ea7aad030bp-1, PI / 2, 0 },
    { "atanh", rd_atanh, 2, -0.0, 0x1.193ea7aad030bp-1, -PI / 2, 0 },
    { "atanh", rd_atanh, -1, 0x1p-1074, -0x1.74910d52d3052p+8, PI / 4, 0 },
    { "atanh", rd_atanh, 0x1p1023, 0x1p1023, 0x1p-1024, PI / 2, 0 },
    { "atan", rd_atan, 0.0, 2, PI / 2, 0x1.193ea7aad030bp-1, 0 },
    { "atan", rd_atan, -0.0, 2, -PI / 2, 0x1.193ea7aad030bp-1, 0 },
    { "atan", rd_atan, 0.0, 1, 0.0, INF, 0 },
    { "atan", rd_atan, INF, 1, PI / 2, 0.0, 0 },
    { "expm1", rd_expm1, 0.0, 0.0, 0.0, 0.0, 0 },
    { "expm1", rd_expm1, 1, INF, NAN, NAN, 0 },
    { "expm1", rd_expm1, INF, 0.0, INF, 0.0, 0 },
    { "expm1", rd_expm1, -INF, 2, -1, 0.0, 0 },
    { "expm1", rd_expm1, INF, 2, -INF, INF, 0 },
    { "expm1", rd_expm1, -INF, INF, -1, 0.0, ANY_IM },
    { "expm1", rd_expm1, INF, INF, INF, NAN, ANY_RE },
    { "expm1", rd_expm1, -INF, NAN, -1, 0.0, ANY_IM },
    { "expm1", rd_expm1, INF, NAN, INF, NAN, ANY_RE },
    { "expm1", rd_expm1, NAN, 0.0, NAN, 0.0, 0 },
    { "expm1", rd_expm1, NAN, 1, NAN, NAN, 0 },
    { "expm1", rd_expm1, 710, 1.5707963267948966, 0x1.5eeb533bacc4dp970, INF, 0 },
    { "log1p", rd_log1p, -1, 0.0, -INF, 0.0, 0 },
    { "log1p", rd_log1p, 1, INF, INF, PI / 2, 0 },
    { "log1p", rd_log1p, 1, NAN, NAN, NAN, 0 },
    { "log1p", rd_log1p, -INF, 1, INF, PI, 0 },
    { "log1p", rd_log1p, INF, 1, INF, 0.0, 0 },
    { "log1p", rd_log1p, -INF, INF, INF, 3 * PI / 4, 0 },
    { "log1p", rd_log1p, INF, INF, INF, PI / 4, 0 },
    { "log1p", rd_log1p, INF, NAN, INF, NAN, 0 },
    { "log1p", rd_log1p, NAN, 1, NAN, NAN, 0 },
    { "log1p", rd_log1p, NAN, INF, INF, NAN, 0 },
    { "log1p", rd_log1p, 0x1p1023, 0x1p1023, 0x1.62b7d369a5aa8p9, PI / 4, 0 },
    { "exp2", rd_exp2, 10, 0.0, 1024, 0.0, 0 },
    { "exp2", rd_exp2, -INF, NAN, 0.0, 0.0, ANY_RE | ANY_IM },
    { "exp10", rd_exp10, 3, 0.0, 1000, 0.0, 0 },
    { "sign", rd_sign, INF, 1, 1, 0.0, ANY_IM },
    { "sign", rd_sign, 0x1p-1074, -0x1p-1074, 0x1.6a09e667f3bcdp-1, -0x1.6a09e667f3bcdp-1, 0 },
    { "sign", rd_sign, 0x3p-1074, 0x4p-1074, 0.6, 0.8, 0 },
    { "sign", rd_sign, 1, -INF, 0.0, -1, 0 },
    { "sign", rd_sign, INF, INF, NAN, NAN, 0 },
    { "sign", rd_sign, NAN, 1, NAN, NAN, 0 },
    { "reciprocal", rd_reciprocal, 0.0, 0.0, INF, NAN, 0 },
    { "reciprocal", rd_reciprocal, -0.0, 0.0, -INF, NAN, 0 },
    { "reciprocal", rd_reciprocal, INF, NAN, 0.0, 0.0, ANY_RE | ANY_IM },
    { "reciprocal", rd_reciprocal, INF, INF, 0.0, -0.0, ANY_RE | ANY_IM },
};

static bool is_part(double got, double want, bool any_sign)
{
    if (isnan(want))
        return isnan(got);
    if (any_sign && (isinf(want) || want == 0))
        return fabs(got) == fabs(want);
    return want == 0 || isinf(want) ? got == want && !signbit(got) == !signbit(want)
                                    : fabs(got - want) <= 4 * ulp(want, 53);
}

/* f(conj z) = conj f(z), too. */
START_TEST(special_values)
{
    for (size_t k = 0; k < COUNT(specials); k++) {
        const struct special *s = &specials[k];

        z[0] = CMPLX(s->re, s->im);
        z[1] = conj(z[0]);
        ck_assert(rd_eval(ctx, s->ours(rd_wrap(ctx, z, RD_SHAPE(2))),
                          RD_INTO(found, RD_SHAPE(2))) == RD_OK);
        for (int i = 0; i < 2; i++)
            ck_assert_msg(
                is_part(creal(found[i]), s->want_re, s->sign & ANY_RE) &&
                    is_part(cimag(found[i]), i ? -s->want_im : s->want_im, s->sign & ANY_IM),
                "%s(%g%+gi) is %a%+ai, not %a%+ai", s->name, s->re, i ? -s->im : s->im,
                creal(found[i]), cimag(found[i]), s->want_re, i ? -s->want_im : s->want_im);
    }
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */
static rd_expr *leaf_of(rd_shape shape)
{
    fill(4);
    return rd_wrap(ctx, z, shape);
}

START_TEST(outputs_of_all_layouts)
{
    rd_expr *x     = rd_mul(leaf_of(RD_SHAPE(5, 7)), rd_cnum(ctx, 0, 1));
    rd_array fresh = { 0 };

    ck_assert(rd_eval(ctx, x, RD_INTO(found, RD_SHAPE(5, 7), .order = 1)) == RD_OK);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            ck_assert(found[j * 5 + i] == I * z[i * 7 + j]);
    ck_assert(
        rd_eval(ctx, x, RD_INTO(found + 6 * 20, RD_SHAPE(5, 7), .strides = RD_STRIDES(2, -20))) ==
        RD_OK);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            ck_assert(found[6 * 20 + 2 * i - 20 * j] == I * z[i * 7 + j]);
    ck_assert(rd_eval(ctx, rd_cast(x, RD_C64), &fresh) == RD_OK);
    ck_assert(fresh.type == RD_C64 && fresh.shape.n == 2 && fresh.shape.at[1] == 7);
    ck_assert(((float complex *)fresh.data)[3] == (float complex)(I * z[3]));
    rd_array_free(&fresh);
    ck_assert(rd_eval(ctx, rd_cast(x, RD_C64), RD_INTO(found, RD_SHAPE(5, 7))) == RD_OK);
    ck_assert(found[3] == (float complex)(I * z[3]));
    ck_assert(rd_eval(ctx, rd_real(x), RD_INTO(found, RD_SHAPE(5, 7))) == RD_OK);
    ck_assert(found[3] == creal(I * z[3]));
}
END_TEST

START_TEST(results_over_operands)
{
    rd_expr *x = leaf_of(RD_SHAPE(N));

    memcpy(w, z, sizeof z);
    ck_assert(rd_eval(ctx, rd_square(x), RD_INTO(z, RD_SHAPE(N))) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert(cabs(z[i] - w[i] * w[i]) <= 1e-14 * cabs(z[i]));
    memcpy(w, z, sizeof z);
    ck_assert(rd_eval(ctx, rd_flip(rd_conj(x), RD_DIMS(0)), RD_INTO(z, RD_SHAPE(N))) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert(z[i] == conj(w[N - 1 - i]));
    memcpy(w, z, sizeof z);
    ck_assert(rd_eval(ctx, rd_slice(x, "1:"), RD_INTO(z, RD_SHAPE(N - 1))) == RD_OK);
    ck_assert(memcmp(z, w + 1, (N - 1) * sizeof *z) == 0);
}
END_TEST

START_TEST(plans_of_pairs)
{
    const rd_array layout = { .type = RD_C128, .shape = RD_SHAPE(N) };
    rd_expr       *x = rd_input(ctx, "x", &layout), *y = rd_exp(x);
    rd_plan       *plan;

    ck_assert_ptr_eq(rd_input(ctx, "x", &layout), x);
    plan = rd_plan_new(ctx, RD_EXPRS(x), RD_RESULTS({ y, NULL }, { rd_real(y), NULL }), NULL);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    fill(2);
    ck_assert(rd_plan_run(plan, (const void *[]){ z }, (void *[]){ found, w }) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert(cabs(found[i] - cexp(z[i])) <= 1e-14 * cabs(found[i]) &&
                  ((double *)w)[i] == creal(found[i]));
    rd_plan_free(plan);
}
END_TEST

/* ---- Files and other libraries --------------------------------------------------------------- */
START_TEST(files_of_pairs)
{
    const char *base = getenv("TMPDIR");
    rd_expr    *x    = leaf_of(RD_SHAPE(40, 50)), *y;
    rd_array    read = { 0 };
    char        path[256];

    snprintf(path, sizeof path, "%s/rdim_complex_XXXXXX", base ? base : P_tmpdir);
    const int file = mkstemp(path);
    ck_assert(file >= 0 && close(file) == 0);
    for (int way = 0; way < 4; way++) {
        ck_assert(rd_save(ctx, x, path, .order = way & 1, .big_endian = way > 1) == RD_OK);
        y = rd_load(ctx, path);
        ck_assert_msg(rd_type_of(y) == RD_C128, "%s", rd_error_text(ctx));
        ck_assert(rd_eval(ctx, y, RD_INTO(found, RD_SHAPE(40, 50))) == RD_OK);
        ck_assert(memcmp(found, z, sizeof z) == 0);
        ck_assert(rd_read(ctx, path, &read) == RD_OK && read.type == RD_C128);
        ck_assert(((double complex *)read.data)[way & 1 ? 40 : 1] == z[1]);
        rd_array_free(&read);
        ck_assert(rd_read(ctx, path, RD_INTO(w, RD_SHAPE(40, 50))) == RD_OK);
        ck_assert(memcmp(w, z, sizeof z) == 0);
    }
    ck_assert(rd_save(ctx, rd_cast(x, RD_C64), path) == RD_OK);
    y = rd_load(ctx, path, .read = true);
    ck_assert(rd_eval(ctx, y, RD_INTO(found_f, RD_SHAPE(40, 50))) == RD_OK);
    ck_assert(found_f[7] == (float complex)z[7]);
    ck_assert(strstr(rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL), path));
    unlink(path);
    y = rd_load(ctx, "tests/data/complex_v1.npy"); /* by NumPy */
    ck_assert(rd_type_of(y) == RD_C64 && rd_shape_of(y).at[0] == 2);
}
END_TEST

START_TEST(tensors_of_pairs)
{
    rd_expr *x     = leaf_of(RD_SHAPE(20, 100));
    rd_array array = { 0 }, back;

    ck_assert(rd_eval(ctx, rd_conj(x), &array) == RD_OK);
    ck_assert(rd_from_dlpack(ctx, rd_to_dlpack(ctx, &array), &back) == RD_OK);
    ck_assert(back.type == RD_C128 && back.shape.n == 2);
    ck_assert(rd_eval(ctx, rd_conj(rd_adopt(ctx, &back)), RD_INTO(found, RD_SHAPE(20, 100))) ==
              RD_OK);
    ck_assert(memcmp(found, z, sizeof z) == 0);
}
END_TEST

/* A pair begins where a part may. */
START_TEST(parts_are_aligned)
{
    const double parts[5] = { 9, 1, 2, 3, 4 };
    rd_array     at       = { .in = parts + 1, .type = RD_C128, .shape = RD_SHAPE(2) };

    ck_assert(rd_eval(ctx, rd_conj(rd_leaf(ctx, &at)), RD_INTO(found, RD_SHAPE(2))) == RD_OK);
    ck_assert(found[0] == CMPLX(1, -2) && found[1] == CMPLX(3, -4));
    at.in = (const char *)parts + 4;
    ck_assert(!rd_leaf(ctx, &at) && rd_error(ctx) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
}
END_TEST

START_TEST(equal_nodes_are_one)
{
    rd_expr *x = leaf_of(RD_SHAPE(4, 5)), *y = rd_conj(x);

    ck_assert_ptr_eq(rd_wrap(ctx, z, RD_SHAPE(4, 5)), x);
    ck_assert_ptr_eq(rd_mul(x, y), rd_mul(x, y));
    ck_assert_ptr_eq(rd_real(y), rd_real(x));
    ck_assert_ptr_eq(rd_transpose(rd_transpose(x)), x);
    ck_assert_ptr_eq(rd_complex(rd_real(x), rd_imag(x)), x);
    ck_assert(!rd_mul(x, NULL) && !rd_real(NULL) && !rd_complex(NULL, x) && rd_error(ctx) == RD_OK);
}
END_TEST

START_TEST(texts_say_complex)
{
    rd_expr    *x = rd_label(leaf_of(RD_SHAPE(4, 5)), "field"), *y = rd_mul(x, x);
    const char *text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);

    ck_assert_msg(strstr(text, "y0: c128 (4, 5), its parts along one more axis"), "%s", text);
    ck_assert_msg(strstr(text, "leaf field f64 (4, 5, 2)"), "%s", text);
    text = rd_graphviz(ctx, RD_RESULTS({ y, NULL }));
    ck_assert_msg(strstr(text, "complex\\nc128 (4, 5)") && strstr(text, "[label=\"imag\"]"), "%s",
                  text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        functions_are_near,
        arithmetic_is_near,
        quotients_of_all_sizes,
        quotients_that_overflow,
        moduli,
        special_values,
        outputs_of_all_layouts,
        results_over_operands,
        files_of_pairs,
        tensors_of_pairs,
        plans_of_pairs,
        parts_are_aligned,
        equal_nodes_are_one,
        texts_say_complex,
    };

    return run_suite("complex", tests, COUNT(tests));
}

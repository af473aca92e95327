/* floats.c - the error at each of the 2^32 floats.
 *
 * Our functions are taken by vectors, which have the bits of the scalar ones, and C's functions of
 * double are a filter.  Their errors, and those of what is made of them here, are below MARGIN ulp of
 * f32: 2^-29 for each ulp of double, at most 100 of these.  So a float at which the filter sees an
 * error of more than MARGIN below the worst so far is not worse than that one.  All others are
 * measured by MPFR, a few thousand of a function. */
#include "accuracy.h"
#include "core/bits.h"
#include "digamma.h"
#include "kernels/cpu/simd/simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };
#define MARGIN 0x1p-19
#define LEAST  0.25 /* each function has a greater one: half an ulp or nearly is due to rounding */

/* ---- The filter ------------------------------------------------------------------------------ */
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu(double x)
{
    return x == -INFINITY ? -0.0 : x * sigmoid(x);
}

static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double gelu(double x)
{
    return x == -INFINITY ? -0.0 : 0.5 * x * erfc(x * -0.70710678118654752440);
}

static double ndtr(double x)
{
    return 0.5 * erfc(x * -0.70710678118654752440);
}

/* Near the zeros below 0 its own error would show: MPFR measures all there. */
static double digamma(double x)
{
    const double y = (double)digammal_((long double)x);

    return x < 0 && fabs(y) < 0x1p-16 ? (double)NAN : y;
}

static double ten_to(double x)
{
    return pow(10, x);
}

static double deg2rad(double x)
{
    return x * 0x1.1df46a2529d39p-6;
}

static double rad2deg(double x)
{
    return x * 0x1.ca5dc1a63c1f8p5;
}

/* A step of Newton's from a result that has 20 right bits, with what the step's second order is.
 * 1 - x is exact where it is used. */
static double erfinv_near(double x, double got)
{
    const double y = fabs(got), a = fabs(x);
    const double off = a > 0.5 ? erfc(y) - (1 - a) : a - erf(y);
    const double by  = off * 0.886226925452758 * exp(y * y);

    return isfinite(got) && a < 1 ? copysign(y + by * (1 + y * by), x)
                                  : (a == 1  ? copysign(INFINITY, x)
                                     : a < 1 ? x
                                             : (double)NAN);
}

typedef struct filter {
    const char *name;
    double (*of)(double);
    double (*near)(double, double); /* where C has no such function: of x and of our result */
} filter;

static const filter filters[] = {
    { "exp", exp, NULL },           { "expm1", expm1, NULL },     { "log", log, NULL },
    { "log1p", log1p, NULL },       { "log2", log2, NULL },       { "log10", log10, NULL },
    { "exp2", exp2, NULL },         { "exp10", ten_to, NULL },    { "cbrt", cbrt, NULL },
    { "sin", sin, NULL },           { "cos", cos, NULL },         { "tan", tan, NULL },
    { "tanh", tanh, NULL },         { "asin", asin, NULL },       { "acos", acos, NULL },
    { "atan", atan, NULL },         { "sinh", sinh, NULL },       { "cosh", cosh, NULL },
    { "asinh", asinh, NULL },       { "acosh", acosh, NULL },     { "atanh", atanh, NULL },
    { "erf", erf, NULL },           { "erfc", erfc, NULL },       { "erfinv", NULL, erfinv_near },
    { "gelu", gelu, NULL },         { "sigmoid", sigmoid, NULL }, { "silu", silu, NULL },
    { "softplus", softplus, NULL }, { "tgamma", tgamma, NULL },   { "lgamma", lgamma, NULL },
    { "digamma", digamma, NULL },   { "ndtr", ndtr, NULL },       { "deg2rad", deg2rad, NULL },
    { "rad2deg", rad2deg, NULL },
};

static const filter *filter_of(const function *f)
{
    for (int i = 0; i < (int)(sizeof filters / sizeof *filters); i++)
        if (strcmp(filters[i].name, f->name) == 0)
            return &filters[i];
    return NULL;
}

/* The ulp of the exact result is 2^(e - 1023 - 23), and e at least `least`. */
static double error(float got, double exact, uint64_t least)
{
    const uint64_t exponent = rd_bits_f64(exact) >> 52 & 0x7ff,
                   e        = exponent < least ? least : exponent;

    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    if (isinf(got))
        return got > 0                    ? (exact >= 0x1.ffffffp127 ? 0 : INFINITY)
               : exact <= -0x1.ffffffp127 ? 0
                                          : INFINITY;
    if (exact == 0 && !signbit(got) != !signbit(exact))
        return INFINITY;
    return fabs((double)got - exact) * rd_double_of((2 * 1023 + 23 - e) << 52);
}

/* ---- Blocks of floats ------------------------------------------------------------------------ */
typedef struct block {
    const function *f;
    const filter   *filter;
    rd_simd_map    *map;
    float           x[BLOCK], got[BLOCK];
    int             n;
} block;

static bool begin(block *b, const function *f)
{
    rd_simd_map *const(*maps)[RD_N_FORMS] = rd_simd_here()->map[RD_ELEM_f32];

    *b = (block){ .f = f, .filter = filter_of(f) };
    for (int op = 0; op < RD_N_OPS; op++)
        if (strcmp(rd_op_table[op].name, f->name) == 0)
            b->map = maps[op][0];
    return b->map && b->filter && f->of_1;
}

/* lgamma below 0 has zeros of its own: an ulp there is that of 2. */
static void look(block *b, point *worst)
{
    uint32_t warnings = 0;

    b->map(b->n, b->got, b->x, NULL, NULL, &warnings);
    for (int i = 0; i < b->n; i++) {
        const double x = (double)b->x[i];
        const double exact =
            b->filter->of ? b->filter->of(x) : b->filter->near(x, (double)b->got[i]);
        const uint64_t least = b->f->of_1 == exact_lgamma && x < 0 ? 1024 : 897;

        if (!(error(b->got[i], exact, least) > fmax(worst->ulps - MARGIN, LEAST)))
            continue;
        const double ulps = accuracy_error(b->f, true, x, 0);
        if (ulps > worst->ulps)
            *worst = (point){ x, 0, ulps };
    }
    b->n = 0;
}

bool accuracy_of_floats(const function *f, uint32_t stride, point *worst)
{
    block *b = malloc(sizeof *b);

    *worst = (point){ 0 };
    if (!b || !begin(b, f)) {
        free(b);
        return false;
    }
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
        b->x[b->n++] = rd_float_of((uint32_t)bits);
        if (b->n == BLOCK)
            look(b, worst);
    }
    look(b, worst);
    free(b);
    return true;
}

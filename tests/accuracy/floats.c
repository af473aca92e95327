/* floats.c - the error at each of the 2^32 floats.  C's functions of double are the reference, as they
 * are off by 10^-8 ulp of f32 or so; the worst point is then measured by MPFR. */
#include "accuracy.h"
#include "core/bits.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static double ten_to(double x)
{
    return pow(10, x);
}

static const struct {
    const char *name;
    double (*of)(double);
} references[] = {
    { "exp", exp },       { "expm1", expm1 },       { "log", log },     { "log1p", log1p },
    { "log2", log2 },     { "log10", log10 },       { "exp2", exp2 },   { "exp10", ten_to },
    { "cbrt", cbrt },     { "sin", sin },           { "cos", cos },     { "tan", tan },
    { "tanh", tanh },     { "asin", asin },         { "acos", acos },   { "atan", atan },
    { "sinh", sinh },     { "cosh", cosh },         { "asinh", asinh }, { "acosh", acosh },
    { "atanh", atanh },   { "erf", erf },           { "erfc", erfc },   { "sigmoid", sigmoid },
    { "silu", silu },     { "softplus", softplus }, { "gelu", gelu },   { "tgamma", tgamma },
    { "lgamma", lgamma },
};

/* The ulp of the exact result is 2^(e - 1023 - 23), and that of the least normal number at least. */
static double error(float got, double exact)
{
    const uint64_t exponent = rd_bits_f64(exact) >> 52 & 0x7ff, e = exponent < 897 ? 897 : exponent;

    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    if (isinf(got))
        return got > 0                    ? (exact >= 0x1.ffffffp127 ? 0 : INFINITY)
               : exact <= -0x1.ffffffp127 ? 0
                                          : INFINITY;
    return fabs((double)got - exact) * rd_double_of((2 * 1023 + 23 - e) << 52);
}

/* lgamma's zeros below 0 count by an ulp of 2. */
static double error_at(const function *f, float x, double exact)
{
    const double ulps = error(f->f32_1(x), exact);

    return ulps > 0.5 && f->of_1 == exact_lgamma && x < 0 ? accuracy_error(f, true, (double)x, 0)
                                                          : ulps;
}

bool accuracy_of_all_floats(const function *f, point *worst)
{
    double (*of)(double) = NULL;

    *worst = (point){ 0 };
    for (int i = 0; i < (int)(sizeof references / sizeof *references); i++)
        if (strcmp(references[i].name, f->name) == 0)
            of = references[i].of;
    if (!of || !f->of_1)
        return false;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits++) {
        const float  x    = rd_float_of((uint32_t)bits);
        const double ulps = error_at(f, x, of((double)x));

        if (ulps > worst->ulps)
            *worst = (point){ (double)x, 0, ulps };
    }
    worst->ulps = accuracy_error(f, true, worst->x, 0);
    return true;
}

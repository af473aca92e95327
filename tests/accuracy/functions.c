/* functions.c - what is searched, with the bounds that docs/accuracy.md states, and errors in ulp. */
#include "accuracy.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/math/math.h"
#include "kernels/math/math_digamma.h"
#include <stdlib.h>
#include <string.h>

/* Operators that are a line of ops.def are there as kernels alone. */
#define BY_KERNEL(name)                                                                 \
    static float name##_f32(float x)                                                    \
    {                                                                                   \
        float y;                                                                        \
                                                                                        \
        rd_simd_here()->map[RD_ELEM_f32][RD_OP_##name][0](1, &y, &x, NULL, NULL, NULL); \
        return y;                                                                       \
    }                                                                                   \
    static double name##_f64(double x)                                                  \
    {                                                                                   \
        double y;                                                                       \
                                                                                        \
        rd_simd_here()->map[RD_ELEM_f64][RD_OP_##name][0](1, &y, &x, NULL, NULL, NULL); \
        return y;                                                                       \
    }
BY_KERNEL(deg2rad)
BY_KERNEL(rad2deg)

#define RD_MATH1(name, hard) \
    { #name, rd_math_##name##_f32, rd_math_##name##_f64, NULL, NULL, exact_##name, NULL },
#define RD_MATH2(name, hard) \
    { #name, NULL, NULL, rd_math_##name##_f32, rd_math_##name##_f64, NULL, exact_##name },
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
const function accuracy_functions[] = {
#include "kernels/math/math.def"
    { "tgamma", rd_tgamma_f32, rd_tgamma_f64, NULL, NULL, exact_tgamma, NULL },
    { "lgamma", rd_lgamma_f32, rd_lgamma_f64, NULL, NULL, exact_lgamma, NULL },
    { "digamma", rd_digamma_f32, rd_digamma_f64, NULL, NULL, exact_digamma, NULL },
    { "deg2rad", deg2rad_f32, deg2rad_f64, NULL, NULL, exact_deg2rad, NULL },
    { "rad2deg", rad2deg_f32, rad2deg_f64, NULL, NULL, exact_rad2deg, NULL },
};
const int accuracy_functions_n = (int)(sizeof accuracy_functions / sizeof *accuracy_functions);

double accuracy_bound(const function *f, bool is_f32)
{
    static const struct {
        const char *name;
        double      f32, f64;
    } bounds[] = {
#define RD_BOUND(name, f32, f64) { #name, f32, f64 },
#include "accuracy/bounds.def"
#undef RD_BOUND
    };

    for (int i = 0; i < (int)(sizeof bounds / sizeof *bounds); i++)
        if (strcmp(bounds[i].name, f->name) == 0)
            return is_f32 ? bounds[i].f32 : bounds[i].f64;
    return 1;
}

/* The exponent of the ulp that counts at least.  A sum of logarithms may come to nearly 0: its error is
 * measured by the greater operand then.  So may lgamma below 0, where it is by 2, and digamma of f64 there,
 * by 1/64. */
static long least_exponent(const function *f, bool is_f32, double x, double y)
{
    int exponent = is_f32 ? -125 : -1021;

    if (f->of_2 == exact_logaddexp && isfinite(x) && isfinite(y)) {
        int of_most;

        frexp(fmax(x, y), &of_most);
        return of_most > exponent ? of_most : exponent;
    }
    if (f->of_1 == exact_digamma && x < 0 && !is_f32)
        return -5;
    return f->of_1 == exact_lgamma && x < 0 ? 2 : exponent;
}

/* |got - exact| in units of 2^(exponent - digits); what is infinite counts as 2^limit. */
static double distance(double got, mpfr_t exact, long exponent, int digits, int limit)
{
    double ulps;
    mpfr_t g;

    mpfr_init2(g, ACCURACY_BITS);
    mpfr_set_d(g, got, MPFR_RNDN);
    if (isinf(got)) {
        mpfr_set_si_2exp(g, got > 0 ? 1 : -1, limit, MPFR_RNDN);
        if (mpfr_cmpabs(exact, g) >= 0 && !mpfr_signbit(exact) == (got > 0))
            mpfr_set(g, exact, MPFR_RNDN);
    }
    mpfr_sub(g, g, exact, MPFR_RNDN);
    mpfr_mul_2si(g, g, digits - exponent, MPFR_RNDN);
    ulps = fabs(mpfr_get_d(g, MPFR_RNDN));
    mpfr_clear(g);
    return ulps;
}

static double got_of(const function *f, bool is_f32, double x, double y)
{
    if (f->of_1)
        return is_f32 ? (double)f->f32_1((float)x) : f->f64_1(x);
    return is_f32 ? (double)f->f32_2((float)x, (float)y) : f->f64_2(x, y);
}

/* One number of 53 bits, one of them being enough for all that is asked in a row. */
static mpfr_t operand[2], result;

static void begin(void)
{
    static bool begun;

    if (begun)
        return;
    mpfr_inits2(53, operand[0], operand[1], (mpfr_ptr)0);
    mpfr_init2(result, ACCURACY_BITS);
    begun = true;
}

double accuracy_error(const function *f, bool is_f32, double x, double y)
{
    const double got   = got_of(f, is_f32, x, y);
    const long   least = least_exponent(f, is_f32, x, y);
    const int    limit = is_f32 ? 128 : 1024;

    begin();
    mpfr_set_prec(result, ACCURACY_BITS);
    mpfr_set_d(operand[0], x, MPFR_RNDN);
    mpfr_set_d(operand[1], y, MPFR_RNDN);
    if (f->of_1)
        f->of_1(result, operand[0]);
    else
        f->of_2(result, operand[0], operand[1]);
    if (isnan(got) || mpfr_nan_p(result))
        return isnan(got) && mpfr_nan_p(result) ? 0 : INFINITY;
    if (least == (is_f32 ? -125 : -1021) && f->of_2 != exact_logaddexp &&
        !signbit(got) != !mpfr_signbit(result))
        return INFINITY;
    if (mpfr_inf_p(result))
        return isinf(got) ? 0 : INFINITY;
    const long own = mpfr_zero_p(result) ? least : (long)mpfr_get_exp(result);
    return distance(got, result, own > least ? own : least, is_f32 ? 24 : 53, limit);
}

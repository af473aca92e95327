/* digamma.h - digamma in long double, for suites that have no MPFR: C has no such function.
 *
 * Near the positive zero it is Taylor's series, whose error is relative.  Elsewhere the error is 2^-60 of
 * 1 or of the greatest term, by recurrence up to 20, where the asymptotic series is exact enough. */
#ifndef RD_TESTS_DIGAMMA_H
#define RD_TESTS_DIGAMMA_H
#include <math.h>

/* The zero is the sum of both; t is what x lacks. */
#define DIGAMMA_ZERO      0x1.762d86356be3fp+0L
#define DIGAMMA_ZERO_REST 9.549995429965697715184199e-17L

static inline long double digamma_near_zero(long double x)
{
    static const long double slopes[] = {
        0.967672245447621170427445L,   -0.442763168983592106092865L,
        0.258499760955651010624401L,   -0.163942705442406527504251L,
        0.107824050691262365757183L,   -0.0721995612564547109261218L,
        0.0488042881641431072250925L,  -0.0331611264748473592922584L,
        0.0225976482322181046596248L,  -0.0154247659049489591388003L,
        0.010538791616612175388124L,   -0.00720453438635686824097047L,
        0.00492678139572985344635427L, -0.00336980165543932808279286L,
        0.00230512632673492783693838L, -0.00157693677143019725927093L,
        0.00107882520191629658069192L
    };
    const long double t   = x - DIGAMMA_ZERO - DIGAMMA_ZERO_REST;
    long double       sum = 0;

    for (int k = (int)(sizeof slopes / sizeof *slopes) - 1; k >= 0; k--)
        sum = sum * t + slopes[k];
    return sum * t;
}

/* Of x > 0. */
static inline long double digamma_above(long double x)
{
    static const long double terms[] = { 1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                                         1.0L / 132, -691.0L / 32760, 1.0L / 12,  -3617.0L / 8160 };
    long double              less = 0, series = 0;

    for (; x < 20; x += 1)
        less += 1 / x;
    for (int k = (int)(sizeof terms / sizeof *terms) - 1; k >= 0; k--)
        series = (series + terms[k]) / (x * x);
    return logl(x) - 0.5L / x - series - less;
}

static inline long double digammal_(long double x)
{
    const long double turn = x - rintl(x);

    if (isnan(x) || x == 0 || x == INFINITY)
        return x == 0 ? -1 / x : x;
    if (fabsl(x - DIGAMMA_ZERO) <= 0.0625L)
        return digamma_near_zero(x);
    if (x > 0)
        return digamma_above(x);
    if (!(turn != 0)) /* a whole number, or -infinity */
        return NAN;
    return digamma_above(1 - x) - 3.14159265358979323846264338327950288L /
                                      tanl(3.14159265358979323846264338327950288L * turn);
}
#endif

/* starts.c - where a search begins: numbers of all sizes and beside those where something special
 * happens; and steps from a number to others near it. */
#include "accuracy/starts.h"
#include "core/bits.h"
#include <math.h>
#include <mpfr.h>

uint64_t accuracy_bits(accuracy_random *s)
{
    s->state ^= s->state << 13;
    s->state ^= s->state >> 7;
    s->state ^= s->state << 17;
    return s->state * 0x2545f4914f6cdd1d;
}

double accuracy_uniform(accuracy_random *s, double low, double high)
{
    return low + (high - low) * (double)(accuracy_bits(s) >> 11) * 0x1p-53;
}

/* ---- Where to begin -------------------------------------------------------------------------- */
/* Bounds of ranges that functions compute in ways of their own, zeros, ends of the range. */
static const double centres[] = { 1,
                                  2,
                                  0.5,
                                  0.75,
                                  0.25,
                                  0x1p-28,
                                  0x1p-54,
                                  0x1p-60,
                                  28,
                                  40,
                                  36.7368,
                                  5.9,
                                  6,
                                  20,
                                  800,
                                  745.1332191019411,
                                  708.3964185322641,
                                  709.782712893384,
                                  710.4758600739439,
                                  1074,
                                  1023,
                                  1024,
                                  308.25471555991674,
                                  323.3062153431158,
                                  88.7228391,
                                  87.3365448,
                                  103.972077,
                                  126,
                                  149,
                                  127,
                                  38.53184,
                                  44.853,
                                  0x1p28,
                                  0x1p30,
                                  0x1p100,
                                  0x1p1000,
                                  0.7071067811865476,
                                  1.4142135623730951,
                                  0.41421356237309503,
                                  0.34657359027997264,
                                  0.6875,
                                  0.711,
                                  1.1875,
                                  0.8125,
                                  1.8125,
                                  2.1875,
                                  13,
                                  12,
                                  171.62437695630272,
                                  170.5674972726612,
                                  100,
                                  190,
                                  177.78,
                                  183.5,
                                  1.4616321449683622,
                                  -2.4570247382208005,
                                  -2.7476826467274126,
                                  -3.1435808883499798,
                                  -3.955294284858598,
                                  -4.039361839740537,
                                  -4.991544640560048,
                                  -5.008218168440254,
                                  1.5241321449683622,
                                  1.3991321449683622,
                                  -0.504083008264455,
                                  -1.57349847316239,
                                  -2.61072086844414,
                                  -9.70267254,
                                  1.5,
                                  2.5,
                                  3,
                                  4,
                                  10.5,
                                  26.543258454250,
                                  27.226,
                                  0x1.9582f6f4d288ep+1,
                                  3.75,
                                  0x1.754d9278b51a7p1014,
                                  14.8,
                                  0x1p-450,
                                  0x1p500,
                                  0x1p-1022,
                                  0x1p-126 };
enum { CENTRES = (int)(sizeof centres / sizeof *centres) };

double accuracy_near(accuracy_random *s, double c)
{
    return c + c * ldexp(accuracy_uniform(s, -1, 1), -(int)(accuracy_bits(s) % 56));
}

/* A double nearer to a multiple of pi/2, or of ln 2 / 2, than most: m 2^e with m a numerator of a
 * convergent of the continued fraction of that number over 2^e. */
double accuracy_by_fraction(accuracy_random *s, double up_to)
{
    mpfr_t     left, inverse;
    const long e    = (long)accuracy_uniform(s, -60, up_to);
    const int  stop = (int)(accuracy_bits(s) % 40);
    double     over = 0, before = 1; /* denominators of what multiplies 2^e */

    mpfr_inits2(1300, left, inverse, (mpfr_ptr)0);
    if (accuracy_bits(s) & 1) {
        mpfr_const_pi(left, MPFR_RNDN);
        mpfr_div_2ui(left, left, accuracy_bits(s) % 3, MPFR_RNDN);
    } else {
        mpfr_const_log2(left, MPFR_RNDN);
        mpfr_div_2ui(left, left, accuracy_bits(s) % 5, MPFR_RNDN);
    }
    mpfr_ui_div(left, 1, left, MPFR_RNDN);
    mpfr_mul_2si(left, left, e, MPFR_RNDN); /* m 2^e = n c: n / m is a convergent of 2^e / c */
    for (int k = 0; k < 2 + stop * 4; k++) {
        mpfr_floor(inverse, left);
        const double next = mpfr_get_d(inverse, MPFR_RNDN) * before + over;

        /* denominators p(k) = a p(k-1) + p(k-2), from 1, 0 on */
        over = before;
        mpfr_sub(left, left, inverse, MPFR_RNDN);
        if (k == 0)
            over = 0, before = 1;
        else
            before = next;
        if (mpfr_zero_p(left) || before > 0x1p53)
            break;
        mpfr_ui_div(left, 1, left, MPFR_RNDN);
    }
    const double m = before > 0x1p53 ? over : before;
    mpfr_clears(left, inverse, (mpfr_ptr)0);
    return ldexp(m, (int)e);
}

double accuracy_start_1(accuracy_random *s, long i)
{
    const double sign = accuracy_bits(s) & 1 ? -1 : 1;

    switch (i % 8) {
    case 0: return rd_double_of(accuracy_bits(s));
    case 1:
        return s->is_f32 ? (double)rd_float_of((uint32_t)accuracy_bits(s))
                         : accuracy_uniform(s, -2, 2);
    case 2: return accuracy_uniform(s, -4, 4);
    case 3: return accuracy_uniform(s, -50, 50);
    case 4: return accuracy_uniform(s, -760, 760);
    case 5: return sign * accuracy_by_fraction(s, s->is_f32 ? 104 : 970);
    case 6: return sign * ldexp(accuracy_uniform(s, 1, 2), (int)accuracy_uniform(s, -60, 40));
    default: return sign * accuracy_near(s, centres[accuracy_bits(s) % CENTRES]);
    }
}

/* Two operands: any, of like sizes, such that the power or the sum is near an end of the range, or such
 * that the sum of exponentials is near 1. */
double accuracy_start_2(accuracy_random *s, long i, double *y)
{
    const double range = s->is_f32 ? 127 : 1023,
                 x     = ldexp(accuracy_uniform(s, -2, 2), (int)accuracy_uniform(s, -range, range));

    *y = accuracy_start_1(s, (long)(accuracy_bits(s) % 8));
    switch (i % 8) {
    case 0: return accuracy_start_1(s, (long)(accuracy_bits(s) % 8));
    case 1: *y = x; return accuracy_near(s, x);
    case 2: *y = x; return x * accuracy_uniform(s, -4, 4);
    case 3: *y = accuracy_uniform(s, -range, range) / log2(fabs(x)); return fabs(x);
    case 4:
        *y = accuracy_uniform(s, -range, range) / log2(fabs(accuracy_near(s, 1)));
        return accuracy_near(s, 1);
    case 5:
        *y = accuracy_uniform(s, -40, 1);
        return log1p(-exp(*y < 0 ? *y : -*y)) * accuracy_uniform(s, 0, 2);
    case 6: *y = accuracy_uniform(s, -4, 4); return accuracy_uniform(s, -4, 4);
    default:
        *y = accuracy_near(s, x);
        return *y * ldexp(accuracy_uniform(s, -2, 2), (int)accuracy_uniform(s, -60, 60));
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* By way of memory: gcc 12 leaves two such casts side by side out where it makes a vector of both. */
double accuracy_as_float(double x)
{
    volatile float narrow = (float)x;

    return (double)narrow;
}

/* x some units in the last place further, a number of 1 to 53 (24) bits. */
double accuracy_step(accuracy_random *s, double x)
{
    const int      digits = s->is_f32 ? 24 : 53;
    const uint64_t by     = accuracy_bits(s) >> (64 - 1 - accuracy_bits(s) % (unsigned)digits);
    const uint64_t sign   = accuracy_bits(s) & 1 ? by : 0 - by;
    double         moved;

    if (s->is_f32)
        moved = (double)rd_float_of(rd_bits_f32((float)x) + (uint32_t)sign);
    else
        moved = rd_double_of(rd_bits_f64(x) + sign);
    return isfinite(moved) ? moved : x;
}

/* search.c - hill climbing on the error.
 *
 * The error of a function is a smooth bound times something as good as random.  So a search looks at
 * points in every binade and near all points where something special happens, keeps the worst, and
 * moves each by steps of all sizes, from one unit in the last place to whole binades, to wherever the
 * error is greater.  Each round half of the points are left, with twice the steps. */
#include "accuracy.h"
#include "core/bits.h"
#include <math.h>
#include <stdlib.h>

enum { CLIMBERS = 256, ROUNDS = 7 };

typedef struct search {
    const function *f;
    bool            is_f32;
    uint64_t        state;
    long            looked;
    point           best[CLIMBERS]; /* a heap would be faster; the reference takes the time */
    int             n, least;       /* how many, and which is the least of them */
} search;

static uint64_t bits_of(search *s)
{
    s->state ^= s->state << 13;
    s->state ^= s->state >> 7;
    s->state ^= s->state << 17;
    return s->state * 0x2545f4914f6cdd1d;
}

static double uniform(search *s, double low, double high)
{
    return low + (high - low) * (double)(bits_of(s) >> 11) * 0x1p-53;
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

static double near(search *s, double c)
{
    return c + c * ldexp(uniform(s, -1, 1), -(int)(bits_of(s) % 56));
}

/* A double nearer to a multiple of pi/2, or of ln 2 / 2, than most: m 2^e with m a numerator of a
 * convergent of the continued fraction of that number over 2^e. */
static double by_fraction(search *s, double up_to)
{
    mpfr_t     left, inverse;
    const long e    = (long)uniform(s, -60, up_to);
    const int  stop = (int)(bits_of(s) % 40);
    double     over = 0, before = 1; /* denominators of what multiplies 2^e */

    mpfr_inits2(1300, left, inverse, (mpfr_ptr)0);
    if (bits_of(s) & 1) {
        mpfr_const_pi(left, MPFR_RNDN);
        mpfr_div_2ui(left, left, bits_of(s) % 3, MPFR_RNDN);
    } else {
        mpfr_const_log2(left, MPFR_RNDN);
        mpfr_div_2ui(left, left, bits_of(s) % 5, MPFR_RNDN);
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

static double start_1(search *s, long i)
{
    const double sign = bits_of(s) & 1 ? -1 : 1;

    switch (i % 8) {
    case 0: return rd_double_of(bits_of(s));
    case 1: return s->is_f32 ? (double)rd_float_of((uint32_t)bits_of(s)) : uniform(s, -2, 2);
    case 2: return uniform(s, -4, 4);
    case 3: return uniform(s, -50, 50);
    case 4: return uniform(s, -760, 760);
    case 5: return sign * by_fraction(s, s->is_f32 ? 104 : 970);
    case 6: return sign * ldexp(uniform(s, 1, 2), (int)uniform(s, -60, 40));
    default: return sign * near(s, centres[bits_of(s) % CENTRES]);
    }
}

/* Two operands: any, of like sizes, such that the power or the sum is near an end of the range, or such
 * that the sum of exponentials is near 1. */
static double start_2(search *s, long i, double *y)
{
    const double range = s->is_f32 ? 127 : 1023,
                 x     = ldexp(uniform(s, -2, 2), (int)uniform(s, -range, range));

    *y = start_1(s, (long)(bits_of(s) % 8));
    switch (i % 8) {
    case 0: return start_1(s, (long)(bits_of(s) % 8));
    case 1: *y = x; return near(s, x);
    case 2: *y = x; return x * uniform(s, -4, 4);
    case 3: *y = uniform(s, -range, range) / log2(fabs(x)); return fabs(x);
    case 4: *y = uniform(s, -range, range) / log2(fabs(near(s, 1))); return near(s, 1);
    case 5: *y = uniform(s, -40, 1); return log1p(-exp(*y < 0 ? *y : -*y)) * uniform(s, 0, 2);
    case 6: *y = uniform(s, -4, 4); return uniform(s, -4, 4);
    default: *y = near(s, x); return *y * ldexp(uniform(s, -2, 2), (int)uniform(s, -60, 60));
    }
}

/* ---- Climbing -------------------------------------------------------------------------------- */
/* By way of memory: gcc 12 leaves two such casts side by side out where it makes a vector of both. */
static double as_float(double x)
{
    volatile float narrow = (float)x;

    return (double)narrow;
}

static double look(search *s, point *p)
{
    if (s->is_f32) {
        p->x = as_float(p->x);
        p->y = as_float(p->y);
    }
    s->looked++;
    p->ulps = accuracy_error(s->f, s->is_f32, p->x, p->y);
    return p->ulps;
}

/* x some units in the last place further, a number of 1 to 53 (24) bits. */
static double step(search *s, double x)
{
    const int      digits = s->is_f32 ? 24 : 53;
    const uint64_t by     = bits_of(s) >> (64 - 1 - bits_of(s) % (unsigned)digits);
    const uint64_t sign   = bits_of(s) & 1 ? by : 0 - by;
    double         moved;

    if (s->is_f32)
        moved = (double)rd_float_of(rd_bits_f32((float)x) + (uint32_t)sign);
    else
        moved = rd_double_of(rd_bits_f64(x) + sign);
    return isfinite(moved) ? moved : x;
}

static void keep(search *s, point p)
{
    if (s->n < CLIMBERS) {
        s->best[s->n++] = p;
        s->least        = 0;
    } else if (p.ulps > s->best[s->least].ulps) {
        s->best[s->least] = p;
    } else {
        return;
    }
    for (int i = 0; i < s->n; i++)
        if (s->best[i].ulps < s->best[s->least].ulps)
            s->least = i;
}

static void climb(search *s, point *p, long steps)
{
    for (long k = 0; k < steps; k++) {
        const int which = s->f->of_1 ? 1 : 1 + (int)(bits_of(s) % 3);
        point     next  = *p;

        next.x = which & 1 ? step(s, p->x) : p->x;
        next.y = which & 2 ? step(s, p->y) : p->y;
        if (look(s, &next) > p->ulps)
            *p = next;
    }
}

static int by_ulps(const void *a, const void *b)
{
    const double x = ((const point *)a)->ulps, y = ((const point *)b)->ulps;

    return (x < y) - (x > y);
}

point accuracy_search(const function *f, bool is_f32, long budget, uint64_t seed, long *looked)
{
    search s = { .f = f, .is_f32 = is_f32, .state = seed * 2 + 88172645463325253 };

    for (long i = 0; i < budget / 2; i++) {
        point p = { 0 };

        p.x = f->of_1 ? start_1(&s, i) : start_2(&s, i, &p.y);
        look(&s, &p);
        keep(&s, p);
    }
    for (int round = 0, n = s.n; round < ROUNDS; round++, n = (n + 1) / 2) {
        for (int i = 0; i < n; i++)
            climb(&s, &s.best[i], budget / 2 / ROUNDS / n);
        qsort(s.best, (size_t)s.n, sizeof *s.best, by_ulps);
    }
    if (looked)
        *looked = s.looked;
    return s.best[0];
}

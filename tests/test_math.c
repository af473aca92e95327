/* test_math.c - the elementary functions: error in ulp against long double, special values, and the
 * same bits from each instruction set.  `test_math --table` prints the table of
 * docs/accuracy.md, of 20 times the points that the test looks at, or as often as a number says. */
#include "kernels/math/math.h"
#include "kernels/cpu/simd/simd.h"
#include "digamma.h"
#include "kernels/math/math_digamma.h"
#include "suite.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Sanitizers make a point ten times as dear. */
enum { POINTS = RD_CHECK ? 50000 : 1000000, STRIDE = RD_CHECK ? 65521 : 4093, TABLE = 20 };

/* ---- Rows ------------------------------------------------------------------------------------ */
typedef struct row {
    const char *name;
    int         n;
    float (*f32_1)(float);
    double (*f64_1)(double);
    long double (*ref_1)(long double);
    float (*f32_2)(float, float);
    double (*f64_2)(double, double);
    long double (*ref_2)(long double, long double);
} row;

/* Where C has no such function; errors that are promised beyond 1 ulp. */
static long double exp10l_(long double x)
{
    return powl(10, x);
}

static long double sigmoidl_(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static long double silul_(long double x)
{
    return x == -INFINITY ? -0.0L : x * sigmoidl_(x);
}

static long double softplusl_(long double x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double gelul_(long double x)
{
    const long double c = 0.70710678118654752440084436210484904L, t = x * -c;
    const long double lost = fmal(x, -c, -t) - x * (fmal(-c, c, 0.5L) / (2 * c));
    const long double tail = erfcl(t) * (t > 1 && t < 200 ? 1 - 2 * t * lost : 1); /* of t + lost */

    return x == -INFINITY ? -0.0L : x * tail / 2;
}

/* As gelu's, without the product. */
static long double ndtrl_(long double x)
{
    return x == 0 || isinf(x)    ? (x < 0    ? 0
                                    : x == 0 ? 0.5L
                                             : 1)
           : fabsl(x) < 0x1p-70L ? 0.5L
                                 : gelul_(x) / x;
}

/* By Newton's method, from where it stays on one side. */
static long double erfinvl_(long double x)
{
    const long double a = fabsl(x), left = 1 - a;
    long double       y = 0, step = 1;

    if (!(a < 1))
        return a == 1 ? x / 0.0L : (long double)NAN;
    for (int k = 0; k < 200 && fabsl(step) > 1e-21L * y; k++) {
        const long double off = y < 0.5L ? a - erfl(y) : erfcl(y) - left;

        step = off * 0.88622692545275801364908374167057259L * expl(y * y);
        y += y > 0.5L ? step / (1 + y * step) : step;
    }
    return copysignl(a == 0 ? 0 : y, x);
}

static long double logaddexpl_(long double x, long double y)
{
    const long double most = fmaxl(x, y), apart = x == y ? 0 : fabsl(x - y);

    return isnan(x) || isnan(y) ? (long double)NAN : most + log1pl(expl(-apart));
}

static long double deg2radl_(long double x)
{
    return x * (3.14159265358979323846264338327950288L / 180);
}

static long double rad2degl_(long double x)
{
    return x * (180 / 3.14159265358979323846264338327950288L);
}

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

static const struct {
    const char *name;
    double      f32, f64;
} bounds[] = {
#define RD_BOUND(name, f32, f64) { #name, f32, f64 },
#include "accuracy/bounds.def"
#undef RD_BOUND
};

static double bound_of(const row *r, bool is_f32)
{
    for (int k = 0; k < COUNT(bounds); k++)
        if (strcmp(bounds[k].name, r->name) == 0)
            return is_f32 ? bounds[k].f32 : bounds[k].f64;
    return 1;
}

#define RD_OWN1(name) \
    { #name, 1, rd_math_##name##_f32, rd_math_##name##_f64, name##l_, NULL, NULL, NULL },
#define RD_OWN2(name) \
    { #name, 2, NULL, NULL, NULL, rd_math_##name##_f32, rd_math_##name##_f64, name##l_ },
#define RD_MATH1(name, hard) \
    { #name, 1, rd_math_##name##_f32, rd_math_##name##_f64, name##l, NULL, NULL, NULL },
#define RD_MATH2(name, hard) \
    { #name, 2, NULL, NULL, NULL, rd_math_##name##_f32, rd_math_##name##_f64, name##l },
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
static const row rows[] = {
#include "kernels/math/math.def"
    { "tgamma", 1, rd_tgamma_f32, rd_tgamma_f64, tgammal, NULL, NULL, NULL },
    { "lgamma", 1, rd_lgamma_f32, rd_lgamma_f64, lgammal, NULL, NULL, NULL },
    { "digamma", 1, rd_digamma_f32, rd_digamma_f64, digammal_, NULL, NULL, NULL },
    { "deg2rad", 1, deg2rad_f32, deg2rad_f64, deg2radl_, NULL, NULL, NULL },
    { "rad2deg", 1, rad2deg_f32, rad2deg_f64, rad2degl_, NULL, NULL, NULL },
};

/* ---- Errors ---------------------------------------------------------------------------------- */
typedef struct worst {
    double ulps, x, y;
    long   points;
} worst;

/* The distance in ulps of the exact value, as a result of `digits` bits and exponents from `least`
 * would have them, those of exponents below `lowest` as of that; infinity where one is NaN and the other not, or a zero has the wrong sign. */
static double ulps_off(double got, long double exact, int digits, int least, int lowest)
{
    int exponent;

    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    if (lowest == least && !signbit(got) != !signbit(exact))
        return INFINITY;
    const long double edge = ldexpl(1, 3 - least); /* what infinity stands for: the power of 2 after
                                                    * the largest */
    if (fabsl(exact) >= edge && isinf(got))
        return 0;
    frexpl(exact, &exponent);
    if (exact == 0 || exponent < lowest)
        exponent = lowest;
    return (double)ldexpl(fabsl((isinf(got) ? copysignl(edge, got) : got) - exact),
                          digits - exponent);
}

static void keep(worst *w, double ulps, double x, double y)
{
    w->points++;
    if (ulps > w->ulps) {
        w->ulps = ulps;
        w->x    = x;
        w->y    = y;
    }
}

/* A sum of logarithms may come to nearly 0: its error is measured by the greater operand then.  So may
 * lgamma below 0, where it is by 2, and digamma of f64 there, by 1/64. */
static int least_exponent(const row *r, double x, double y, int least)
{
    int exponent = least;

    if (r->ref_2 == logaddexpl_ && isfinite(x) && isfinite(y))
        frexp(fmax(x, y), &exponent);
    if (r->ref_1 == lgammal && x < 0)
        exponent = 2;
    if (r->ref_1 == digammal_ && x < 0 && least < -1000)
        exponent = -5;
    return exponent > least ? exponent : least;
}

static void point_f32(const row *r, float x, float y, worst *w)
{
    const float       got   = r->n == 1 ? r->f32_1(x) : r->f32_2(x, y);
    const long double exact = r->n == 1 ? r->ref_1(x) : r->ref_2(x, y);

    keep(w, ulps_off(got, exact, 24, -125, least_exponent(r, x, y, -125)), x, y);
}

static void point_f64(const row *r, double x, double y, worst *w)
{
    const double      got   = r->n == 1 ? r->f64_1(x) : r->f64_2(x, y);
    const long double exact = r->n == 1 ? r->ref_1(x) : r->ref_2(x, y);

    keep(w, ulps_off(got, exact, 53, -1021, least_exponent(r, x, y, -1021)), x, y);
}

/* ---- Points ---------------------------------------------------------------------------------- */
static uint64_t random_state = 88172645463325252;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1d;
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}

/* c, or a number so near it that reductions and cancellations differ. */
static double near(double c)
{
    return c + c * ldexp(uniform(-1, 1), -(int)(random_bits() % 56));
}

/* Where results overflow, and where they become subnormal and 0. */
static const double edges[] = { 709.782712893384,
                                -708.3964185322641,
                                -745.1332191019411,
                                88.7228391,
                                -87.3365448,
                                -103.972077,
                                19.0615474653985,
                                9.0109134,
                                0x1p28,
                                0x1.6ac5b262ca1ffp849, /* 2^-61 beside a multiple of pi/2 */
                                36.7368,
                                0.75,
                                5.9 };

static double argument(long i)
{
    switch (i % 8) {
    case 0:
    case 1: return rd_double_of(random_bits());
    case 2: return uniform(-760, 760);
    case 3: return uniform(-4, 4);
    case 4:
        return near(ldexp(0.6931471805599453, -1) * (double)((int)(random_bits() % 4096) - 2048));
    case 5: return near(1.5707963267948966 * (double)(random_bits() >> (36 + random_bits() % 28)));
    case 6:
        return near(
            ldexp(random_bits() & 1 ? 1 : 0.7071067811865476, (int)(random_bits() % 80) - 40));
    default: return near(edges[random_bits() % COUNT(edges)]);
    }
}

/* A base, and an exponent such that the power has up to `range` binary digits before or after the
 * point. */
static double base(long i, double range, double *exponent)
{
    double x;

    switch (i % 6) {
    case 0: *exponent = rd_double_of(random_bits()); return rd_double_of(random_bits() >> 1);
    case 1: *exponent = (double)(random_bits() % 200) - 100; return -(double)(random_bits() % 100);
    case 2: x = near(1); break;
    case 3: x = uniform(0.7, 1.42); break;
    case 4: x = ldexp(uniform(1, 2), (int)uniform(-range, range)); break;
    default: x = uniform(0, 4); break;
    }
    *exponent = uniform(-range, range) / log2(x);
    if (random_bits() & 1)
        *exponent = near(copysign(range, *exponent) / log2(x));
    return x;
}

/* A point whose coordinates are any, or of like sizes, or near the diagonals and the edges of
 * octants; so far that squares leave the range, too. */
static double point(long i, double range, double *across)
{
    static const double slopes[] = { 1, 0.41421356237309503, 0x1p-26, 0x1p-53, 0.75 };
    const double        x        = ldexp(uniform(-2, 2), (int)uniform(-range, range));

    switch (i % 4) {
    case 0: *across = rd_double_of(random_bits()); return rd_double_of(random_bits());
    case 1: *across = x; return x * uniform(-4, 4);
    case 2: *across = x; return x * near(slopes[random_bits() % COUNT(slopes)]);
    default:
        *across = ldexp(uniform(-2, 2), (int)uniform(-range, range));
        return random_bits() & 1 ? x : near(*across) * 0x1p-30;
    }
}

/* What a function of two arguments is measured at; powers of 2 up to this. */
static double first_of(const row *r, long i, double range, double *second)
{
    return strcmp(r->name, "pow") == 0 ? base(i, range, second) : point(i, range, second);
}

static worst measure_f32(const row *r, uint32_t stride)
{
    worst  w = { 0 };
    double y = 0;

    for (uint64_t bits = 0; r->n == 1 && bits <= UINT32_MAX; bits += stride)
        point_f32(r, rd_float_of((uint32_t)bits), 0, &w);
    for (long i = 0; i < (long)(UINT32_MAX / stride); i++) {
        const double x = r->n == 1 ? argument(i | 2) : first_of(r, i, i & 1 ? 127 : 149, &y);
        point_f32(r, (float)x, (float)y, &w);
    }
    return w;
}

static worst measure_f64(const row *r, long points)
{
    worst  w = { 0 };
    double y = 0;

    for (long i = 0; i < points; i++) {
        const double x = r->n == 1 ? argument(i) : first_of(r, i, i & 1 ? 1023 : 1074, &y);
        point_f64(r, x, y, &w);
    }
    return w;
}

START_TEST(within_an_ulp)
{
    const row  *r   = &rows[_i];
    const worst f32 = measure_f32(r, STRIDE), f64 = measure_f64(r, POINTS);

    ck_assert_msg(f32.ulps <= bound_of(r, true), "%s f32: %g ulp at %a, %a", r->name, f32.ulps,
                  f32.x, f32.y);
    ck_assert_msg(f64.ulps <= bound_of(r, false), "%s f64: %g ulp at %a, %a", r->name, f64.ulps,
                  f64.x, f64.y);
}
END_TEST

/* The worst points that tests/accuracy found. */
static const struct {
    const char *name, *type;
    double      x, y;
} worst_points[] = {
#define RD_POINT(name, type, x, y, points) { #name, #type, x, y },
#include "accuracy/points.def"
#undef RD_POINT
};

START_TEST(worst_points_within)
{
    const bool is_f32 = strcmp(worst_points[_i].type, "f32") == 0;
    const row *r      = rows;
    worst      w      = { 0 };

    while (r < rows + COUNT(rows) && strcmp(r->name, worst_points[_i].name) != 0)
        r++;
    ck_assert(r < rows + COUNT(rows));
    if (is_f32)
        point_f32(r, (float)worst_points[_i].x, (float)worst_points[_i].y, &w);
    else
        point_f64(r, worst_points[_i].x, worst_points[_i].y, &w);
    ck_assert_msg(w.ulps <= bound_of(r, is_f32), "%s %s: %g ulp at %a, %a", r->name,
                  worst_points[_i].type, w.ulps, worst_points[_i].x, worst_points[_i].y);
}
END_TEST

/* ---- Special values, where libm is the standard ---------------------------------------------- */
static const double specials[] = { 0,
                                   INFINITY,
                                   NAN,
                                   1,
                                   2,
                                   3,
                                   0.5,
                                   1.5,
                                   100,
                                   101,
                                   1e300,
                                   0x1p24,
                                   0x1.fffffep23,
                                   0x1p53,
                                   0x1.fffffffffffffp52,
                                   0x1p-149,
                                   0x1.fffffep-1,
                                   0x1.fffffffffffffp-1,
                                   0x1p-126,
                                   0x1.fffffcp-127,
                                   0x1p-1022,
                                   0x0.fffffffffffffp-1022,
                                   0x1p-1074,
                                   0x1.fffffep127,
                                   0x1.fffffffffffffp1023,
                                   0x1p28,
                                   0x1.000002p28,
                                   0x1.0000000000001p28,
                                   0x1.6ac5b262ca1ffp849 };

static double special(int i)
{
    return i < COUNT(specials) ? specials[i] : -specials[i - COUNT(specials)];
}

START_TEST(special_values)
{
    const row *r   = &rows[_i];
    worst      f32 = { 0 }, f64 = { 0 };

    for (int i = 0; i < 2 * COUNT(specials); i++)
        for (int j = 0; j < (r->n == 1 ? 1 : 2 * COUNT(specials)); j++) {
            point_f32(r, (float)special(i), (float)special(j), &f32);
            point_f64(r, special(i), special(j), &f64);
        }
    ck_assert_msg(f32.ulps <= bound_of(r, true), "%s f32: %g ulp at %a, %a", r->name, f32.ulps,
                  f32.x, f32.y);
    ck_assert_msg(f64.ulps <= bound_of(r, false), "%s f64: %g ulp at %a, %a", r->name, f64.ulps,
                  f64.x, f64.y);
}
END_TEST

enum { BLOCK = 65536 };
static double x64[BLOCK], y64[BLOCK], z64[2][BLOCK];
static float  x32[BLOCK], y32[BLOCK], z32[2][BLOCK];

/* ---- The same bits, however it is compiled --------------------------------------------------- */
#if defined __x86_64__ && defined __GNUC__
#define ISA_BASE
#define ISA_AVX2   __attribute__((target("avx2,fma")))
#define ISA_AVX512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))

typedef struct loops {
    void (*f32)(float *restrict z, const float *x, const float *y, int n);
    void (*f64)(double *restrict z, const double *x, const double *y, int n);
} loops;

/* Far arguments after the others, so that the loop over these becomes vectors. */
#define FAR_0(type, name)
#define FAR_1(type, name)                    \
    for (int i = 0; i < n; i++)              \
        if (rd_##name##_##type##_hard(x[i])) \
            z[i] = rd_##name##_far_##type(x[i]);
#define LOOP(type, name, hard, isa, target, ...)                                      \
    target static void name##_##type##_##isa(T_##type *restrict z, const T_##type *x, \
                                             const T_##type *y, int n)                \
    {                                                                                 \
        (void)y;                                                                      \
        for (int i = 0; i < n; i++)                                                   \
            z[i] = rd_##name##_##type(__VA_ARGS__);                                   \
        FAR_##hard(type, name)                                                        \
    }
#define T_f32 float
#define T_f64 double
#define LOOPS(name, hard, isa, target, ...)         \
    LOOP(f32, name, hard, isa, target, __VA_ARGS__) \
    LOOP(f64, name, hard, isa, target, __VA_ARGS__)

#define RD_MATH1(name, hard)                \
    LOOPS(name, hard, base, ISA_BASE, x[i]) \
    LOOPS(name, hard, avx2, ISA_AVX2, x[i]) \
    LOOPS(name, hard, avx512, ISA_AVX512, x[i])
#define RD_MATH2(name, hard)                      \
    LOOPS(name, hard, base, ISA_BASE, x[i], y[i]) \
    LOOPS(name, hard, avx2, ISA_AVX2, x[i], y[i]) \
    LOOPS(name, hard, avx512, ISA_AVX512, x[i], y[i])
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
#include "kernels/math/math.def"

#define ENTRY(name)                         \
    { { name##_f32_base, name##_f64_base }, \
      { name##_f32_avx2, name##_f64_avx2 }, \
      { name##_f32_avx512, name##_f64_avx512 } },
#define RD_MATH1(name, hard) ENTRY(name)
#define RD_MATH2(name, hard) ENTRY(name)
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
static const loops all_loops[][3] = {
#include "kernels/math/math.def"
};

static void fill_blocks(const row *r)
{
    for (int i = 0; i < BLOCK; i++) {
        x64[i] = r->n == 1 ? argument(i) : first_of(r, i, 1074, &y64[i]);
        x32[i] = (float)(r->n == 1 ? x64[i] : first_of(r, i, 149, &z64[0][i]));
        y32[i] = (float)z64[0][i];
    }
}

START_TEST(same_bits)
{
    const row   *r     = &rows[_i];
    const loops *l     = all_loops[_i];
    const bool   has[] = { true, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") };

    fill_blocks(r);
    l[0].f32(z32[0], x32, y32, BLOCK);
    l[0].f64(z64[0], x64, y64, BLOCK);
    for (int k = 1; k < 3 && has[k]; k++) {
        l[k].f32(z32[1], x32, y32, BLOCK);
        l[k].f64(z64[1], x64, y64, BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            ck_assert_msg(rd_bits_f32(z32[0][i]) == rd_bits_f32(z32[1][i]) ||
                              (isnan(z32[0][i]) && isnan(z32[1][i])),
                          "%s f32 of %a, %a: %a, but %a", r->name, x32[i], y32[i], z32[0][i],
                          z32[1][i]);
            ck_assert_msg(rd_bits_f64(z64[0][i]) == rd_bits_f64(z64[1][i]) ||
                              (isnan(z64[0][i]) && isnan(z64[1][i])),
                          "%s f64 of %a, %a: %a, but %a", r->name, x64[i], y64[i], z64[0][i],
                          z64[1][i]);
        }
    }
}
END_TEST
#endif

/* exp by vectors (math_exp_strip.h): rows that end within a strip, or within a vector. */
static const struct {
    const char *table;
    int         n;
} strip_cases[] = {
    { "baseline", 1000 }, { "baseline", 3 },   { "avx2", BLOCK }, { "avx2", 61 },
    { "avx2", 1 },        { "avx512", BLOCK }, { "avx512", 127 }, { "avx512", 15 }
};

START_TEST(exp_by_strips)
{
    static const double special[] = { 0.0,    -0.0, INFINITY, -INFINITY, NAN,   1e308,
                                      -1e308, 88.8, -87.4,    -104,      709.8, -745.2 };
    const rd_simd      *simd      = rd_simd_named(strip_cases[_i].table);
    const int           n         = strip_cases[_i].n;

    for (int i = 0; i < n; i++) {
        x64[i] = i < COUNT(special) ? special[i] : argument(i);
        x32[i] = (float)x64[i];
    }
    if (!simd)
        return;
    simd->map[RD_ELEM_f32][RD_OP_exp][0](n, z32[0], x32, NULL, NULL, NULL);
    simd->map[RD_ELEM_f64][RD_OP_exp][0](n, z64[0], x64, NULL, NULL, NULL);
    for (int i = 0; i < n; i++) {
        const float  want32 = rd_exp_f32(x32[i]);
        const double want64 = rd_exp_f64(x64[i]);

        ck_assert_msg(rd_bits_f32(z32[0][i]) == rd_bits_f32(want32) ||
                          (isnan(z32[0][i]) && isnan(want32)),
                      "exp f32 of %a: %a, but %a", x32[i], want32, z32[0][i]);
        ck_assert_msg(rd_bits_f64(z64[0][i]) == rd_bits_f64(want64) ||
                          (isnan(z64[0][i]) && isnan(want64)),
                      "exp f64 of %a: %a, but %a", x64[i], want64, z64[0][i]);
    }
}
END_TEST

/* ---- The table of docs/accuracy.md ----------------------------------------------------------- */
static void print_row(const row *r, const char *type, worst w)
{
    printf("| `%s` | %s | %.3f | ", r->name, type, w.ulps);
    if (r->n == 1)
        printf("%a", w.x);
    else
        printf("%a, %a", w.x, w.y);
    printf(" | %.0f |\n", (double)w.points / 1e6);
}

static int print_table(int times)
{
    printf("| function | type | largest error, ulp | at | points, millions |\n| --- | --- | --- | "
           "--- | --- |\n");
    for (int i = 0; i < COUNT(rows); i++) {
        print_row(&rows[i], "f32", measure_f32(&rows[i], (uint32_t)(STRIDE / times) | 1));
        print_row(&rows[i], "f64", measure_f64(&rows[i], (long)times * POINTS));
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--table") == 0)
        return print_table(argc > 2 ? atoi(argv[2]) : TABLE);

    Suite *suite = suite_create("math");
    TCase *tests = tcase_create("functions");

    tcase_add_loop_test(tests, within_an_ulp, 0, COUNT(rows));
    tcase_add_loop_test(tests, worst_points_within, 0, COUNT(worst_points));
    tcase_add_loop_test(tests, special_values, 0, COUNT(rows));
#if defined __x86_64__ && defined __GNUC__
    tcase_add_loop_test(tests, same_bits, 0, COUNT(all_loops));
#endif
    tcase_add_loop_test(tests, exp_by_strips, 0, COUNT(strip_cases));
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

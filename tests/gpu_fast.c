/* gpu_fast.c - see gpu_fast.h. */
#include "gpu_fast.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- Bounds ---------------------------------------------------------------------------------- */
/* Of f32: at least that of the smallest normal number. */
static double ulp(double x)
{
    int exponent;

    (void)frexp(x, &exponent);
    return ldexp(1, (x == 0 || exponent < -125 ? -125 : exponent) - 24);
}

static double allowed_of_exp(double x, double exact)
{
    return exact < 0x1p-126 ? 0x1p-126 : (2 + 1.2 * fabs(x)) * ulp(exact);
}

static double allowed_of_exp2(double x, double exact)
{
    (void)x;
    return exact < 0x1p-126 ? 0x1p-126 : 4 * ulp(exact);
}

static double allowed_of_log(double x, double exact)
{
    return x >= 0.5 && x <= 2 ? 0x1p-21 : 5 * ulp(exact);
}

static double allowed_of_log2(double x, double exact)
{
    return x >= 0.5 && x <= 2 ? 0x1p-22 : 4 * ulp(exact);
}

static double allowed_of_turns(double x, double exact)
{
    return fabs(x) <= 32768 ? 0x1p-20 : ulp(exact);
}

static double allowed_of_pow(double x, double exact)
{
    (void)x;
    return 4 * ulp(exact);
}

static double two_ulps(double x, double exact)
{
    (void)x;
    return 2 * ulp(exact);
}

/* ---- Functions ------------------------------------------------------------------------------- */
#define OF_ONE(name)                                     \
    static rd_expr *build_##name(rd_expr *x, rd_expr *y) \
    {                                                    \
        (void)y;                                         \
        return rd_##name(x);                             \
    }                                                    \
    static double exact_##name(double x, double y)       \
    {                                                    \
        (void)y;                                         \
        return name(x);                                  \
    }
OF_ONE(exp)
OF_ONE(exp2)
OF_ONE(log)
OF_ONE(log2)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(tanh)
OF_ONE(sqrt)

static rd_expr *build_reciprocal(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_reciprocal(x);
}

static double exact_reciprocal(double x, double y)
{
    (void)y;
    return 1 / x;
}

static rd_expr *build_pow(rd_expr *x, rd_expr *y)
{
    return rd_pow(x, y);
}

static rd_expr *build_div(rd_expr *x, rd_expr *y)
{
    return rd_div(x, y);
}

static double exact_div(double x, double y)
{
    return x / y;
}

/* clang-format off */
const gpu_fast gpu_fasts[] = {
    { "exp",  build_exp,  exact_exp,  allowed_of_exp,   false, true,  { 0, 87 },    { 1, 1 } },
    { "exp2", build_exp2, exact_exp2, allowed_of_exp2,  false, true,  { 0, 126 },    { 1, 1 } },
    { "log",  build_log,  exact_log,  allowed_of_log,   true,  false, { -126, 128 }, { 1, 1 } },
    { "log2", build_log2, exact_log2, allowed_of_log2,  true,  false, { -126, 128 }, { 1, 1 } },
    { "log",  build_log,  exact_log,  allowed_of_log,   false, false, { 0.25, 4 },   { 1, 1 } },
    { "sin",  build_sin,  exact_sin,  allowed_of_turns, false, true,  { 0, 33000 },  { 1, 1 } },
    { "sin",  build_sin,  exact_sin,  allowed_of_turns, false, true,  { 0, 4 },      { 1, 1 } },
    { "cos",  build_cos,  exact_cos,  allowed_of_turns, false, true,  { 0, 33000 },  { 1, 1 } },
    { "cos",  build_cos,  exact_cos,  allowed_of_turns, false, true,  { 0, 4 },      { 1, 1 } },
    { "tanh", build_tanh, exact_tanh, two_ulps,         false, true,  { 0, 12 },     { 1, 1 } },
    { "sqrt", build_sqrt, exact_sqrt, two_ulps,         true,  false, { -126, 128 }, { 1, 1 } },
    { "pow",  build_pow,  pow,        allowed_of_pow,   true,  false, { -20, 20 },   { -6, 6 } },
    { "reciprocal", build_reciprocal, exact_reciprocal, two_ulps, true, true, { -120, 120 },
      { 1, 1 } },
    { "div",  build_div,  exact_div,  two_ulps,         true,  true,  { -60, 60 },   { -60, 60 } },
    { "div",  build_div,  exact_div,  two_ulps,         true,  true,  { 120, 128 },  { 120, 128 } },
};
/* clang-format on */
const int n_gpu_fasts = COUNT(gpu_fasts);

/* ---- Points ---------------------------------------------------------------------------------- */
static const float special[] = {
    0, -0.0F, INFINITY, -INFINITY, NAN, 1, -1, 3, -3, 0x1.fffffep127F
};

/* In [0, 1). */
static double next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static float point(const gpu_fast *f, const double between[2], uint64_t *state)
{
    const double at   = between[0] + (between[1] - between[0]) * next(state);
    const double sign = f->negative && next(state) < 0.5 ? -1 : 1;

    return (float)(sign * (f->powers ? fmin(exp2(at), 0x1.fffffep127) : at));
}

/* pow has exponents as they are. */
static float second(const gpu_fast *f, uint64_t *state)
{
    gpu_fast plain = *f;

    plain.powers &= f->exact != pow;
    return point(&plain, f->y, state);
}

static void fill(const gpu_fast *f, float *x, float *y, int64_t n)
{
    enum { N = COUNT(special) };
    uint64_t state = 7;

    for (int64_t i = 0; i < n; i++) {
        const bool is_special = i < N * N;

        x[i] = is_special ? special[i % N] : point(f, f->x, &state);
        y[i] = is_special ? special[i / N] : second(f, &state);
    }
}

/* ---- Comparisons ----------------------------------------------------------------------------- */
static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* Signs of zeros count. */
static bool is_near(const gpu_fast *f, double x, double y, float found)
{
    const double exact = f->exact(x, y);

    if (isnan(exact) || isinf((float)exact))
        return same(found, (float)exact) ||
               (isfinite(exact) && fabs((double)found) >= 0x1.fffffcp127);
    return fabs((double)found - exact) <= f->allowed(x, exact) ||
           (isinf(found) && fabs(exact) >= 0x1.fffffcp127);
}

static bool evaluate(rd_ctx *ctx, rd_expr *e, int64_t n, rd_backend backend,
                     rd_function_accuracy accuracy, float *to)
{
    const rd_eval_opts opts = { .backend = backend, .accuracy = accuracy };

    return rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(to, RD_SHAPE(n)) }), &opts) == RD_OK;
}

enum { FAST, SAME, CPU_FAST, CPU, WAYS };

static bool evaluate_all(rd_ctx *ctx, rd_expr *e, int64_t n, float *to[WAYS])
{
    return evaluate(ctx, e, n, RD_BACKEND_CUDA, RD_ACCURACY_FAST, to[FAST]) &&
           evaluate(ctx, e, n, RD_BACKEND_CUDA, RD_ACCURACY_SAME, to[SAME]) &&
           evaluate(ctx, e, n, RD_BACKEND_CPU, RD_ACCURACY_FAST, to[CPU_FAST]) &&
           evaluate(ctx, e, n, RD_BACKEND_CPU, RD_ACCURACY_SAME, to[CPU]);
}

/* The point that comes nearest to its bound. */
static void note_error(const gpu_fast *f, double x, double y, double got, gpu_fast_found *found)
{
    const double exact = f->exact(x, y), error = fabs(got - exact);
    const double part = isfinite(error) ? error / f->allowed(x, exact) : 0;

    if (part > found->part)
        *found = (gpu_fast_found){ found->differ, part, error / ulp(exact), error, x };
}

static bool compare(const gpu_fast *f, const float *x, const float *y, float *const *way, int64_t n,
                    gpu_fast_found *found, rd_text *report)
{
    *found = (gpu_fast_found){ 0 };
    for (int64_t i = 0; i < n; i++) {
        const bool alike = same(way[SAME][i], way[CPU][i]) && same(way[CPU_FAST][i], way[CPU][i]);

        note_error(f, (double)x[i], (double)y[i], (double)way[FAST][i], found);
        if (!alike || !is_near(f, (double)x[i], (double)y[i], way[FAST][i])) {
            rd_text_add(report, "%s of %a, %a: FAST %a, SAME %a, CPU FAST %a, SAME %a\n", f->name,
                        (double)x[i], (double)y[i], (double)way[FAST][i], (double)way[SAME][i],
                        (double)way[CPU_FAST][i], (double)way[CPU][i]);
            return false;
        }
        found->differ += !same(way[FAST][i], way[SAME][i]);
    }
    return true;
}

bool gpu_fast_is_near(const gpu_fast *f, int64_t n, gpu_fast_found *found, rd_text *report)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    float *const  all = malloc((size_t)n * (WAYS + 2) * sizeof *all);
    float *const x = all, *const y = all + n;
    float *way[WAYS];
    bool   good;

    for (int k = 0; k < WAYS; k++)
        way[k] = all + (2 + k) * n;
    fill(f, x, y, n);
    good = evaluate_all(ctx, f->of(rd_wrap(ctx, x, RD_SHAPE(n)), rd_wrap(ctx, y, RD_SHAPE(n))), n,
                        way);
    if (!good)
        rd_text_add(report, "%s: %s\n", f->name, rd_error_text(ctx));
    else
        good = compare(f, x, y, way, n, found, report);
    free(all);
    rd_ctx_free(ctx);
    return good;
}

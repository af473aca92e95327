/* test_oracle.c - the referee is tested too: cases computed by hand. */
#include "oracle.h"
#include "suite.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static rd_ctx *ctx;
static oracle *referee;

static void set_up(void)
{
    ctx     = rd_ctx_new(NULL);
    referee = oracle_new();
}

static void tear_down(void)
{
    oracle_free(referee);
    rd_ctx_free(ctx);
}

/* The only element, or the one at i of a vector. */
static oracle_value value_at(rd_expr *x, int64_t i)
{
    oracle_value v;

    ck_assert_msg(x != NULL, "%s", rd_error_text(ctx));
    ck_assert(oracle_at(referee, x, &i, &v));
    return v;
}

static double number_of(const oracle_value *v)
{
    return rd_dtype_kind(v->type) == RD_KIND_FLOAT ? (double)v->v : (double)v->n;
}

/* Equal, NaN to NaN, and zeros of one sign. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && (a != 0 || !signbit(a) == !signbit(b));
}

/* A scalar leaf in memory of its own. */
static rd_expr *scalar(void *memory, double value, rd_dtype type)
{
    oracle_value v = { .type = type, .v = value, .n = (__int128)(isfinite(value) ? value : 0) };

    oracle_store(memory, type, &v);
    return rd_leaf(ctx, &(rd_array){ .data = memory, .type = type });
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    rd_expr *(*f)(rd_expr *, rd_expr *);
    rd_dtype type;
    double   x, y, want;
} two[] = {
    { "i8 wraps", rd_add, RD_I8, 127, 1, -128 },
    { "u8 wraps", rd_sub, RD_U8, 0, 1, 255 },
    { "i16 product wraps", rd_mul, RD_I16, 300, 300, 24464 },
    { "Python's -7 // 2", rd_floordiv, RD_I32, -7, 2, -4 },
    { "Python's 7 // -2", rd_floordiv, RD_I32, 7, -2, -4 },
    { "Python's -7 % 3", rd_remainder, RD_I32, -7, 3, 2 },
    { "Python's 7 % -3", rd_remainder, RD_I32, 7, -3, -2 },
    { "ints by 0", rd_floordiv, RD_I32, 5, 0, 0 },
    { "remainder by 0", rd_remainder, RD_I32, 5, 0, 0 },
    { "least // -1 wraps", rd_floordiv, RD_I8, -128, -1, -128 },
    { "ints divide in f64", rd_div, RD_I32, 1, 4, 0.25 },
    { "pow", rd_pow, RD_I32, -3, 3, -27 },
    { "pow wraps", rd_pow, RD_U8, 2, 8, 0 },
    { "pow, negative exponent", rd_pow, RD_I32, 2, -1, 0 },
    { "pow of -1", rd_pow, RD_I32, -1, -3, -1 },
    { "pow of 0, negative exponent", rd_pow, RD_I32, 0, -1, 0 },
    { "x ^ 0", rd_pow, RD_F64, NAN, 0, 1 },
    { "floats // down", rd_floordiv, RD_F64, -7, 2, -4 },
    { "floats %", rd_remainder, RD_F64, -7, 3, 2 },
    { "numpy: 1 // 0", rd_floordiv, RD_F64, 1, 0, INFINITY },
    { "numpy: 1 % 0", rd_remainder, RD_F64, 1, 0, NAN },
    { "numpy: inf // 1", rd_floordiv, RD_F64, INFINITY, 1, NAN },
    { "numpy: 1 // -inf", rd_floordiv, RD_F64, 1, -INFINITY, -1 },
    { "numpy: 1 % -inf", rd_remainder, RD_F64, 1, -INFINITY, -INFINITY },
    { "numpy: 6 % -3", rd_remainder, RD_F64, 6, -3, -0.0 },
    { "numpy: 1 // 0.1", rd_floordiv, RD_F64, 1, 0.1, 9 },
    { "minimum carries NaN", rd_minimum, RD_F32, 1, NAN, NAN },
    { "maximum carries NaN", rd_maximum, RD_F32, NAN, 1, NAN },
    { "NaN < 1", rd_lt, RD_F64, NAN, 1, 0 },
    { "NaN != NaN", rd_ne, RD_F64, NAN, NAN, 1 },
    { "NaN is true", rd_and, RD_F64, NAN, 1, 1 },
    { "f32 overflows", rd_div, RD_F32, 1e30, 1e-30, INFINITY },
    { "f64 does not", rd_mul, RD_F64, 1e30, 1e30, 1e60 },
    { "0 * inf", rd_mul, RD_F64, 0, INFINITY, NAN },
    { "-1 / 0", rd_div, RD_F64, -1, 0, -INFINITY },
    { "bools add in i64", rd_add, RD_BOOL, 1, 1, 2 },
    { "bools: minimum", rd_minimum, RD_BOOL, 1, 0, 0 },
    { "exclusive or", rd_xor, RD_I32, 2, 3, 0 },
};

START_TEST(two_operands)
{
    double       x, y;
    oracle_value v = value_at(
        two[_i].f(scalar(&x, two[_i].x, two[_i].type), scalar(&y, two[_i].y, two[_i].type)), 0);

    ck_assert(!v.unsure);
    ck_assert_msg(two[_i].want == 1e60 || same(number_of(&v), two[_i].want), "%s: %g", two[_i].what,
                  number_of(&v));
}
END_TEST

static const struct {
    const char *what;
    rd_dtype    from, to;
    double      x, want;
} casts[] = {
    { "truncates", RD_F64, RD_I32, -2.75, -2 },
    { "wraps", RD_F64, RD_I8, 300, 44 },
    { "NaN to int", RD_F64, RD_I64, NAN, 0 },
    { "cut", RD_F64, RD_I32, 1e30, -1 },
    { "cut below", RD_F64, RD_I64, -1e30, -0x1p63 },
    { "unsigned below 0", RD_F64, RD_U8, -1, 0 },
    { "int wraps", RD_I32, RD_U8, -1, 255 },
    { "NaN to bool", RD_F32, RD_BOOL, NAN, 1 },
    { "half to bool", RD_F32, RD_BOOL, 0.5, 1 },
    { "256 to bool", RD_I32, RD_BOOL, 256, 1 },
    { "keeps -0", RD_F64, RD_F32, -0.0, -0.0 },
    { "too large for f32", RD_F64, RD_F32, 1e39, INFINITY },
};

START_TEST(conversions)
{
    double       x;
    oracle_value v = value_at(rd_cast(scalar(&x, casts[_i].x, casts[_i].from), casts[_i].to), 0);

    ck_assert_msg(!v.unsure && same(number_of(&v), casts[_i].want), "%s: %g", casts[_i].what,
                  number_of(&v));
}
END_TEST

static const struct {
    const char *text;
    double      x, want;
} texts[] = {
    { "x > 0 ? x : -1", 3, 3 }, { "x > 0 ? x : -1", -3, -1 },   { "floor(x)", -0.5, -1 },
    { "ceil(x)", -0.5, -0.0 },  { "round(x)", 2.5, 2 },         { "round(x)", -0.25, -0.0 },
    { "trunc(x)", -2.5, -2 },   { "sign(x)", -0.0, -0.0 },      { "sign(x)", NAN, NAN },
    { "sqrt(x)", 2.25, 1.5 },   { "sqrt(x)", -1, NAN },         { "log(x)", 0, -INFINITY },
    { "isnan(x)", NAN, 1 },     { "isfinite(x)", INFINITY, 0 }, { "!x", 0, 1 },
    { "abs(x)", -0.0, 0.0 },    { "x * x - 1", 3, 8 },          { "exp(x)", -INFINITY, 0 },
    { "fmod(x, 3)", -7, -1 },
};

START_TEST(one_operand)
{
    double       x;
    oracle_value v = value_at(rd_map(scalar(&x, texts[_i].x, RD_F64), texts[_i].text), 0);

    ck_assert_msg(!v.unsure && v.err == 0 && same(number_of(&v), texts[_i].want), "%s: %g",
                  texts[_i].text, number_of(&v));
}
END_TEST

/* ---- Reductions of vectors ------------------------------------------------------------------- */

static const struct {
    const char    *what, *reducer;
    int            n;
    double         x[6];
    rd_reduce_opts opts;
    double         want;
} folds[] = {
    { "sum", "sum", 4, { 1, 2, 3, 4 }, { 0 }, 10 },
    { "of nothing", "sum", 0, { 0 }, { 0 }, 0 },
    { "of -0", "sum", 2, { -0.0, -0.0 }, { 0 }, -0.0 },
    { "inf - inf", "sum", 2, { INFINITY, -INFINITY }, { 0 }, NAN },
    { "prod", "prod", 4, { 1, -2, 3, 4 }, { 0 }, -24 },
    { "of nothing", "prod", 0, { 0 }, { 0 }, 1 },
    { "0 * inf", "prod", 2, { 0, INFINITY }, { 0 }, NAN },
    { "min", "min", 4, { 3, -2, 5, 4 }, { 0 }, -2 },
    { "min carries NaN", "min", 3, { 3, NAN, 5 }, { 0 }, NAN },
    { "max skips NaN", "max", 3, { 3, NAN, 5 }, { .skip_nan = true }, 5 },
    { "all skipped", "max", 2, { NAN, NAN }, { .skip_nan = true }, NAN },
    { "lowest of ties", "argmax", 4, { 1, 7, 7, 0 }, { 0 }, 1 },
    { "first NaN", "argmin", 4, { 1, NAN, 0, NAN }, { 0 }, 1 },
    { "emptied", "argmin", 2, { NAN, NAN }, { .skip_nan = true }, -1 },
    { "0 and -0 tie", "argmin", 3, { 1, 0.0, -0.0 }, { 0 }, 1 },
    { "any", "any", 3, { 0, NAN, 0 }, { 0 }, 1 },
    { "all", "all", 3, { 1, 2, 0 }, { 0 }, 0 },
    { "all of nothing", "all", 0, { 0 }, { 0 }, 1 },
    { "count", "count", 4, { 1, 0, NAN, -0.0 }, { 0 }, 2 },
    { "mean", "mean", 4, { 1, 2, 3, 6 }, { 0 }, 3 },
    { "mean of nothing", "mean", 0, { 0 }, { 0 }, NAN },
    { "mean without NaN", "mean", 4, { 1, NAN, 3, NAN }, { .skip_nan = true }, 2 },
    { "var", "var", 4, { 1, 2, 3, 6 }, { 0 }, 3.5 },
    { "var, sample", "var", 4, { 1, 2, 3, 4 }, { .ddof = 1 }, 5.0 / 3 },
    { "var of one", "var", 1, { -5 }, { 0 }, 0 },
    { "var of one, sample", "var", 1, { -5 }, { .ddof = 1 }, NAN },
    { "var of inf", "var", 2, { INFINITY, 1 }, { 0 }, NAN },
    { "std", "std", 2, { 1, 5 }, { 0 }, 2 },
    { "norm", "norm", 2, { 3, -4 }, { 0 }, 5 },
    { "norm 1", "norm", 2, { 3, -4 }, { .p = 1 }, 7 },
    { "norm of the largest", "norm", 2, { 3, -4 }, { .p = INFINITY }, 4 },
    { "logsumexp", "logsumexp", 2, { 1000, 1000 }, { 0 }, 1000.69314718055995 },
    { "logsumexp of nothing", "logsumexp", 0, { 0 }, { 0 }, -INFINITY },
    { "logsumexp of -inf", "logsumexp", 2, { -INFINITY, -INFINITY }, { 0 }, -INFINITY },
    { "logsumexp of inf", "logsumexp", 2, { 1, INFINITY }, { 0 }, INFINITY },
};

START_TEST(reductions)
{
    rd_reduce_opts opts = folds[_i].opts;
    oracle_value   v;

    opts.dims = RD_ALL;
    v         = value_at(
                rd_reduce_name(rd_wrap(ctx, folds[_i].x, RD_SHAPE(folds[_i].n)), folds[_i].reducer, &opts),
                0);
    ck_assert_msg(!v.unsure && (same(number_of(&v), folds[_i].want) ||
                                fabs(number_of(&v) - folds[_i].want) <= (double)v.err + 1e-15),
                  "%s %s: %g", folds[_i].reducer, folds[_i].what, number_of(&v));
    ck_assert_msg(v.err <= 1e-11L, "%s %s: +- %Lg", folds[_i].reducer, folds[_i].what, v.err);
}
END_TEST

static const double scanned[4] = { 3, 1, 4, 1 };
static const struct {
    const char    *reducer;
    rd_reduce_opts opts;
    double         want[4];
} scans[] = {
    { "sum", { 0 }, { 3, 4, 8, 9 } },
    { "sum", { .exclusive = true }, { 0, 3, 4, 8 } },
    { "sum", { .reverse = true }, { 9, 6, 5, 1 } },
    { "sum", { .reverse = true, .exclusive = true }, { 6, 5, 1, 0 } },
    { "prod", { 0 }, { 3, 3, 12, 12 } },
    { "min", { 0 }, { 3, 1, 1, 1 } },
    { "max", { .reverse = true }, { 4, 4, 4, 1 } },
};

START_TEST(running)
{
    rd_reduce_opts opts = scans[_i].opts;
    rd_expr       *y;

    opts.dims = RD_DIMS(0);
    y         = rd_scan_name(rd_wrap(ctx, scanned, RD_SHAPE(4)), scans[_i].reducer, &opts);
    for (int64_t i = 0; i < 4; i++) {
        oracle_value v = value_at(y, i);
        ck_assert_msg(number_of(&v) == scans[_i].want[i], "%s %lld: %g", scans[_i].reducer,
                      (long long)i, number_of(&v));
    }
}
END_TEST

/* ---- Where elements come from ---------------------------------------------------------------- */

static const int32_t counting[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const int64_t some[3]      = { 2, -1, 0 };

static rd_expr *view_named(int which, rd_expr *x)
{
    switch (which) {
    case 0: return rd_slice(x, "1, ::-2");
    case 1: return rd_select(rd_transpose(x), 0, -1);
    case 2: return rd_slice(rd_reshape(rd_transpose(x), RD_SHAPE(-1)), ":5");
    case 3: return rd_diagonal(x, 0, 1, 1);
    case 4: return rd_select(rd_select(rd_window(x, 1, 2, 2), 0, 1), 0, 1);
    case 5: return rd_select(rd_take(x, 0, rd_wrap(ctx, some, RD_SHAPE(3))), 1, 0);
    case 6: return rd_select(rd_concat(1, RD_EXPRS(x, rd_flip(x, RD_DIMS(1)))), 0, 0);
    case 7: return rd_sum(x, RD_DIMS(0));
    case 8: return rd_argmax(rd_flip(x, RD_DIMS(0)), RD_DIMS(0));
    case 9: return rd_reshape(rd_coord(x, 1), RD_SHAPE(4));
    case 10: return rd_sum(rd_broadcast(rd_select(x, 0, 2), RD_SHAPE(3, 4)), RD_DIMS(0));
    default:
        return rd_sum(x, RD_DIMS(1), .where = rd_gt(x, rd_int(ctx, 4)),
                      .initial = rd_int(ctx, 100));
    }
}

static const struct {
    int    n;
    double want[8];
} views[] = {
    { 2, { 7, 5 } },
    { 3, { 3, 7, 11 } },
    { 5, { 0, 4, 8, 1, 5 } },
    { 3, { 1, 6, 11 } },
    { 2, { 6, 7 } },
    { 3, { 8, 8, 0 } },
    { 8, { 0, 1, 2, 3, 3, 2, 1, 0 } },
    { 4, { 12, 15, 18, 21 } },
    { 4, { 0, 0, 0, 0 } },
    { 4, { 0, 1, 2, 3 } },
    { 4, { 24, 27, 30, 33 } },
    { 3, { 100, 118, 138 } },
};

START_TEST(elements)
{
    rd_expr *y = view_named(_i, rd_wrap(ctx, counting, RD_SHAPE(3, 4)));

    ck_assert_msg(y && y->rank == 1 && y->extent[0] == views[_i].n, "case %d: %s", _i,
                  rd_error_text(ctx));
    for (int64_t i = 0; i < views[_i].n; i++) {
        oracle_value v = value_at(y, i);
        ck_assert_msg(!v.unsure && number_of(&v) == views[_i].want[i], "case %d, %lld: %g", _i,
                      (long long)i, number_of(&v));
    }
}
END_TEST

START_TEST(outside)
{
    static const int64_t far[1] = { 3 };
    rd_expr             *x      = rd_wrap(ctx, counting, RD_SHAPE(3));
    oracle_value         v;

    ck_assert(
        !oracle_at(referee, rd_take(x, 0, rd_wrap(ctx, far, RD_SHAPE(1))), (int64_t[]){ 0 }, &v));
    ck_assert(oracle_at(referee, x, (int64_t[]){ 2 }, &v) && v.n == 2);
}
END_TEST

/* ---- The user's functions -------------------------------------------------------------------- */

RD_REDUCER(range_of, double, double, 2, (double lo; double hi;),
           (s->lo = INFINITY; s->hi = -INFINITY;),
           (if (x < s->lo) s->lo = x; if (x > s->hi) s->hi = x;),
           (if (b->lo < a->lo) a->lo = b->lo; if (b->hi > a->hi) a->hi = b->hi;),
           (y[0] = s->lo; y[1] = s->hi;))

static double twice(double x)
{
    return 2 * x;
}

START_TEST(users)
{
    static const double x[4] = { 3, -1, 4, 1.5 };
    rd_expr            *y    = rd_wrap(ctx, x, RD_SHAPE(4));
    oracle_value        lo   = value_at(rd_reduce(y, range_of, RD_DIMS(0)), 0),
                 hi          = value_at(rd_reduce(y, range_of, RD_DIMS(0)), 1),
                 v           = value_at(rd_map(y, twice), 3);

    ck_assert(fabsl(lo.v + 1) <= lo.err && fabsl(hi.v - 4) <= hi.err && fabsl(v.v - 3) <= v.err);
    ck_assert(v.err < 1e-14L && lo.err < 1e-12L);
}
END_TEST

/* ---- Bounds ---------------------------------------------------------------------------------- */

START_TEST(bounds)
{
    static float tenths[1000], ints[1000];
    float        found = 0;
    char         why[ORACLE_WHY];

    for (int i = 0; i < 1000; i++) {
        tenths[i] = 0.1f;
        ints[i]   = (float)(i % 7);
        found += tenths[i];
    }
    oracle_value sum = value_at(rd_sum(rd_wrap(ctx, tenths, RD_SHAPE(1000)), RD_ALL), 0);
    ck_assert_msg(oracle_matches(&sum, &found, RD_F32, why), "%s", why);
    ck_assert(sum.err > 0 && sum.err < 0.02L);
    found = 100.1f;
    ck_assert(!oracle_matches(&sum, &found, RD_F32, why));

    oracle_value exact = value_at(rd_sum(rd_wrap(ctx, ints, RD_SHAPE(1000)), RD_ALL), 0);
    ck_assert(exact.err == 0 && exact.v == 2997);
    found = nextafterf(2997, 0);
    ck_assert(!oracle_matches(&exact, &found, RD_F32, why));
}
END_TEST

START_TEST(unsure)
{
    static const float x[2] = { 0.1f, 3 };
    rd_expr *y = rd_wrap(ctx, x, RD_SHAPE(2)), *third = rd_div(rd_mul(y, rd_num(ctx, 0.3)), y);

    /* may round either way */
    ck_assert(value_at(rd_ge(third, rd_cast(rd_num(ctx, 0.3), RD_F32)), 0).unsure);
    ck_assert(!value_at(rd_ge(third, rd_num(ctx, 0.25)), 0).unsure);
    ck_assert(value_at(rd_floor(rd_div(third, third)), 0).unsure);
    ck_assert(value_at(rd_argmax(third, RD_ALL), 0).unsure);
    ck_assert(!value_at(rd_argmax(y, RD_ALL), 0).unsure);
    ck_assert(value_at(rd_div(y, rd_sub(third, third)), 0).unsure);
}
END_TEST

static const struct {
    const char  *what;
    oracle_value want;
    double       found;
    bool         ok;
} matches[] = {
    { "equal", { .type = RD_F64, .v = 1 }, 1, true },
    { "not within", { .type = RD_F64, .v = 1, .err = 1e-3L }, 1.01, false },
    { "within", { .type = RD_F64, .v = 1, .err = 1e-3L }, 1.0005, true },
    { "sign of zero", { .type = RD_F64, .v = 0 }, -0.0, false },
    { "NaN", { .type = RD_F64, .v = NAN }, NAN, true },
    { "NaN for a number", { .type = RD_F64, .v = 1, .err = 1 }, NAN, false },
    { "number for NaN", { .type = RD_F64, .v = NAN }, 1, false },
    { "infinity", { .type = RD_F64, .v = INFINITY }, DBL_MAX, false },
    { "unsure", { .type = RD_F64, .unsure = true }, 1, true },
    { "int stored wider", { .type = RD_I32, .n = -3 }, -3, true },
    { "another int", { .type = RD_I32, .n = -3 }, 3, false },
};

START_TEST(verdicts)
{
    char why[ORACLE_WHY];

    ck_assert_msg(oracle_matches(&matches[_i].want, &matches[_i].found, RD_F64, why) ==
                      matches[_i].ok,
                  "%s", matches[_i].what);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("oracle");
    TCase   *tc     = tcase_create("by hand");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, two_operands, 0, COUNT(two));
    tcase_add_loop_test(tc, conversions, 0, COUNT(casts));
    tcase_add_loop_test(tc, one_operand, 0, COUNT(texts));
    tcase_add_loop_test(tc, reductions, 0, COUNT(folds));
    tcase_add_loop_test(tc, running, 0, COUNT(scans));
    tcase_add_loop_test(tc, elements, 0, COUNT(views));
    tcase_add_test(tc, outside);
    tcase_add_test(tc, users);
    tcase_add_test(tc, bounds);
    tcase_add_test(tc, unsure);
    tcase_add_loop_test(tc, verdicts, 0, COUNT(matches));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

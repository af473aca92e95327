/* docs/semantics.md on complex numbers.  The page names for each rule the test that shows it. */
#include "values.h"
#include <complex.h>
#include <math.h>

enum { MOST = 16 };

static double complex memory[4][MOST];

static rd_expr *complex_leaf(int k, rd_shape shape, const double *v, int n)
{
    for (int i = 0; i < n / 2; i++)
        memory[k][i] = CMPLX(v[2 * i], v[2 * i + 1]);
    return rd_wrap(ctx, memory[k], shape);
}

/* Values are pairs of parts. */
static void expect_pairs(const char *what, rd_expr *y, rd_dtype type, const double *want, int n)
{
    rd_array out = { 0 };

    ck_assert_msg(y && rd_type_of(y) == type, "%s: type %d: %s", what, (int)rd_type_of(y),
                  rd_error_text(ctx));
    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int k = 0; k < n; k++) {
        const double got = get(out.data, type == RD_C64 ? RD_F32 : RD_F64, k);

        ck_assert_msg(isnan(want[k]) ? isnan(got)
                                     : got == want[k] && !signbit(got) == !signbit(want[k]),
                      "%s: part %d is %g, not %g", what, k, got, want[k]);
    }
    rd_array_free(&out);
}

/* ---- Types ----------------------------------------------------------------------------------- */
START_TEST(complex_promotion)
{
    static const struct {
        rd_dtype real, with_c64;
    } rows[] = {
        { RD_BOOL, RD_C64 }, { RD_I8, RD_C64 },  { RD_I16, RD_C64 },   { RD_I32, RD_C128 },
        { RD_I64, RD_C128 }, { RD_U8, RD_C64 },  { RD_U16, RD_C64 },   { RD_U32, RD_C128 },
        { RD_U64, RD_C128 }, { RD_F16, RD_C64 }, { RD_BF16, RD_C64 },  { RD_F32, RD_C64 },
        { RD_F64, RD_C128 }, { RD_C64, RD_C64 }, { RD_C128, RD_C128 },
    };
    rd_expr *z = complex_leaf(0, RD_SHAPE(1), VALUES(1, 2));

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *x = rd_cast(leaf(RD_F32, VALUES(1)), rows[k].real);

        expect_pairs("with c64", rd_add(rd_cast(z, RD_C64), x), rows[k].with_c64, VALUES(2, 2));
        expect_pairs("with c128", rd_add(x, z), RD_C128, VALUES(2, 2));
        forget_leaves();
    }
    rd_expr *i = rd_cnum(ctx, 0, 1);
    expect_pairs("weak with f32", rd_mul(leaf(RD_F32, VALUES(3)), i), RD_C64, VALUES(0, 3));
    expect_pairs("weak with f16", rd_mul(leaf(RD_F16, VALUES(3)), i), RD_C64, VALUES(0, 3));
    expect_pairs("weak with i8", rd_mul(leaf(RD_I8, VALUES(3)), i), RD_C128, VALUES(0, 3));
    expect_pairs("weak with c64", rd_add(rd_cast(z, RD_C64), i), RD_C64, VALUES(1, 3));
    expect_pairs("weak alone", rd_mul(i, i), RD_C128, VALUES(-1, 0));
    expect_pairs("a number with c64", rd_mul(rd_cast(z, RD_C64), rd_num(ctx, 2)), RD_C64,
                 VALUES(2, 4));
    expect_pairs("of ints", rd_complex(leaf(RD_I32, VALUES(1)), rd_int(ctx, 2)), RD_C128,
                 VALUES(1, 2));
    expect_pairs("of f32", rd_complex(leaf(RD_F32, VALUES(1)), rd_num(ctx, 2)), RD_C64,
                 VALUES(1, 2));
}
END_TEST

START_TEST(complex_casts)
{
    rd_expr *z = complex_leaf(0, RD_SHAPE(4), VALUES(0, 0, 0, 2, -0.0, -0.0, NAN, 0));

    expect("to bool", rd_cast(z, RD_BOOL), RD_BOOL, VALUES(0, 1, 0, 1));
    expect("as truth", rd_not(z), RD_BOOL, VALUES(1, 0, 1, 0));
    expect_pairs("from i8", rd_cast(leaf(RD_I8, VALUES(-3)), RD_C64), RD_C64, VALUES(-3, 0));
    expect_pairs("to c64", rd_cast(z, RD_C64), RD_C64, VALUES(0, 0, 0, 2, -0.0, -0.0, NAN, 0));
    expect_error("to f64", rd_cast(z, RD_F64), RD_ERR_TYPE);
    expect_error("to i32", rd_cast(z, RD_I32), RD_ERR_TYPE);
    rd_array out = { .data = memory[1], .type = RD_F64, .shape = RD_SHAPE(4) };
    ck_assert(rd_eval(ctx, z, &out) == RD_ERR_TYPE);
    rd_error_clear(ctx);
    out.type = RD_C128;
    ck_assert(rd_eval(ctx, leaf(RD_I32, VALUES(1, 2, 3, 4)), &out) == RD_OK);
    ck_assert(memory[1][3] == 4);
}
END_TEST

START_TEST(complex_parts)
{
    rd_expr *z = complex_leaf(0, RD_SHAPE(3), VALUES(3, -4, -1, 0, -1, -0.0));
    rd_expr *x = leaf(RD_F32, VALUES(2, -2, -0.0));

    expect("real", rd_real(z), RD_F64, VALUES(3, -1, -1));
    expect("imag", rd_imag(z), RD_F64, VALUES(-4, 0, -0.0));
    expect("abs", rd_abs(z), RD_F64, VALUES(5, 1, 1));
    expect("arg", rd_slice(rd_arg(z), "1:"), RD_F64, VALUES(3.141592653589793, -3.141592653589793));
    expect_pairs("conj", rd_conj(z), RD_C128, VALUES(3, 4, -1, -0.0, -1, 0));
    expect("real of reals", rd_real(x), RD_F32, VALUES(2, -2, -0.0));
    expect("imag of reals", rd_imag(x), RD_F32, VALUES(0, 0, 0));
    expect("conj of reals", rd_conj(x), RD_F32, VALUES(2, -2, -0.0));
    expect("arg of reals", rd_arg(rd_cast(x, RD_F64)), RD_F64,
           VALUES(0, 3.141592653589793, 3.141592653589793));
    expect_pairs("polar", rd_polar(leaf(RD_F32, VALUES(2)), rd_num(ctx, 0)), RD_C64, VALUES(2, 0));
    expect_error("complex of complex", rd_complex(z, x), RD_ERR_TYPE);
}
END_TEST

/* ---- Maps ------------------------------------------------------------------------------------ */
START_TEST(complex_arithmetic)
{
    rd_expr *z = complex_leaf(0, RD_SHAPE(2), VALUES(1, 2, INFINITY, 1));
    rd_expr *w = complex_leaf(1, RD_SHAPE(2), VALUES(3, -1, 2, 0.0));
    rd_expr *x = leaf(RD_F64, VALUES(2, INFINITY));

    expect_pairs("product", rd_mul(z, w), RD_C128, VALUES(5, 5, INFINITY, NAN));
    expect_pairs("by a real", rd_mul(z, x), RD_C128, VALUES(2, 4, INFINITY, INFINITY));
    expect_pairs("real less complex", rd_sub(x, w), RD_C128, VALUES(-1, 1, INFINITY, -0.0));
    expect("equal", rd_eq(z, rd_conj(rd_conj(z))), RD_BOOL, VALUES(1, 1));
    expect("equal to a real", rd_eq(w, x), RD_BOOL, VALUES(0, 0));
    expect("not equal", rd_ne(w, rd_int(ctx, 2)), RD_BOOL, VALUES(1, 0));
    expect_pairs("chosen", rd_where(rd_gt(x, rd_num(ctx, 5)), rd_num(ctx, 1), w), RD_C128,
                 VALUES(3, -1, 1, 0));
    expect("NaN", rd_isnan(rd_div(z, rd_int(ctx, 0))), RD_BOOL, VALUES(0, 0));
}
END_TEST

START_TEST(complex_quotients)
{
    rd_expr *z = complex_leaf(
        0, RD_SHAPE(7),
        VALUES(4, 2, 1, 0, 0, 0, INFINITY, INFINITY, 1, 1, INFINITY, NAN, 0x1p1023, 0x1p1023));
    rd_expr *w = complex_leaf(
        1, RD_SHAPE(7), VALUES(1, 1, 0, 0, 0, 0, 0, 1, INFINITY, NAN, 1, 1, 0x1p1023, 0x1p1023));

    expect_pairs("quotient", rd_div(z, w), RD_C128,
                 VALUES(3, -1, INFINITY, NAN, NAN, NAN, INFINITY, -INFINITY, 0, 0, INFINITY,
                        -INFINITY, 1, 0));
}
END_TEST

START_TEST(complex_functions)
{
    rd_expr *cut    = complex_leaf(0, RD_SHAPE(2), VALUES(-4, 0.0, -4, -0.0));
    rd_expr *far    = complex_leaf(1, RD_SHAPE(2), VALUES(-INFINITY, INFINITY, INFINITY, 0.0));
    rd_expr *powers = complex_leaf(3, RD_SHAPE(2), VALUES(0.5, -3, 0, 0));

    expect_pairs("above and below the cut", rd_sqrt(cut), RD_C128, VALUES(0, 2, 0, -2));
    expect_pairs("annex G", rd_exp(far), RD_C128, VALUES(0, 0, INFINITY, 0));
    expect_pairs("cube", rd_pow(rd_cnum(ctx, 1, 1), rd_int(ctx, 3)), RD_C128, VALUES(-2, 2));
    expect_pairs("power 0", rd_pow(far, rd_int(ctx, 0)), RD_C128, VALUES(1, 0, 1, 0));
    expect_pairs("powers of 0", rd_pow(rd_cnum(ctx, 0, 0), powers), RD_C128, VALUES(0, 0, 1, 0));
    expect("beside the cut", rd_sign(rd_imag(rd_acos(cut))), RD_F64, VALUES(-1, 1));
    expect_pairs("rounded", rd_round_to(rd_cnum(ctx, 1.26, -0.04), 1), RD_C128, VALUES(1.3, -0.0));
    expect_pairs("no NaN", rd_nan_to_num(complex_leaf(2, RD_SHAPE(1), VALUES(NAN, 1))), RD_C128,
                 VALUES(0, 1));
    expect("close", rd_isclose(cut, rd_cnum(ctx, -4, 1e-9), 1e-5, 0), RD_BOOL, VALUES(1, 1));
    expect_pairs("sign", rd_sign(complex_leaf(2, RD_SHAPE(2), VALUES(0, -2, 0, 0))), RD_C128,
                 VALUES(0, -1, 0, 0));
    expect_pairs("direction", rd_sign(complex_leaf(2, RD_SHAPE(1), VALUES(-INFINITY, 9))), RD_C128,
                 VALUES(-1, 0));
}
END_TEST

static float own_function(float x)
{
    return x + 1;
}

RD_REDUCER(own_sum, float, float, 1, (double v;), (s->v = 0;), (s->v += x;), (a->v += b->v;),
           (y[0] = (float)s->v;))

START_TEST(complex_refusals)
{
    rd_expr *z = complex_leaf(0, RD_SHAPE(2), VALUES(1, 2, 3, 4)), *x = leaf(RD_F64, VALUES(1, 2));

    expect_error("order", rd_lt(z, x), RD_ERR_TYPE);
    expect_error("maximum", rd_maximum(x, z), RD_ERR_TYPE);
    expect_error("clip", rd_clip(z, x, x), RD_ERR_TYPE);
    expect_error("min", rd_min(z, RD_ALL), RD_ERR_TYPE);
    expect_error("argmax", rd_argmax(z, RD_ALL), RD_ERR_TYPE);
    expect_error("scan", rd_scan(z, "max", RD_DIMS(0)), RD_ERR_TYPE);
    expect_error("floor", rd_floor(z), RD_ERR_TYPE);
    expect_error("sort", rd_sort(z, 0), RD_ERR_TYPE);
    expect_error("argsort", rd_argsort(z, 0), RD_ERR_TYPE);
    expect_error("top_k", rd_top_k(z, 1, 0), RD_ERR_TYPE);
    expect_error("median", rd_median(z, RD_ALL), RD_ERR_TYPE);
    expect_error("bins", rd_bins(z, 3, 0, 1), RD_ERR_TYPE);
    expect_error("atan2", rd_atan2(z, x), RD_ERR_TYPE);
    expect_error("bits", rd_bit_and(z, x), RD_ERR_TYPE);
    expect_error("index", rd_take(x, 0, z), RD_ERR_TYPE);
    expect_error("text", rd_map(z, "x + 1"), RD_ERR_TYPE);
    expect_error("function", rd_map(z, own_function), RD_ERR_TYPE);
    expect_error("reducer", rd_reduce(z, own_sum, RD_ALL), RD_ERR_TYPE);
    expect_error("weights", rd_mean(x, RD_ALL, .weights = z), RD_ERR_TYPE);
    expect_error(".type", rd_sum(z, RD_ALL, .type = RD_F64), RD_ERR_TYPE);
    ck_assert(isnan(rd_at(ctx, z, RD_INDEX(0))) && rd_error(ctx) == RD_ERR_TYPE);
    rd_error_clear(ctx);
}
END_TEST

/* ---- Views ----------------------------------------------------------------------------------- */
START_TEST(complex_views)
{
    rd_expr *z = complex_leaf(0, RD_SHAPE(2, 2), VALUES(1, -1, 2, -2, 3, -3, 4, -4));
    rd_expr *x = leaf(RD_I32, VALUES(1, 0));

    expect_pairs("slice", rd_slice(z, "1, ::-1"), RD_C128, VALUES(4, -4, 3, -3));
    expect_pairs("transpose", rd_transpose(z), RD_C128, VALUES(1, -1, 3, -3, 2, -2, 4, -4));
    expect_pairs("diagonal", rd_diagonal(z, 0, 1, 0), RD_C128, VALUES(1, -1, 4, -4));
    expect_pairs("reshape", rd_slice(rd_reshape(z, RD_SHAPE(4)), "1:3"), RD_C128,
                 VALUES(2, -2, 3, -3));
    expect_pairs("window", rd_window(rd_reshape(z, RD_SHAPE(4)), 0, 2, 2), RD_C128,
                 VALUES(1, -1, 2, -2, 3, -3, 4, -4));
    expect_pairs("take", rd_take(z, 0, x), RD_C128, VALUES(3, -3, 4, -4, 1, -1, 2, -2));
    expect_pairs("take along", rd_take_along(z, 1, rd_expand(x, 1)), RD_C128, VALUES(2, -2, 3, -3));
    expect_pairs("concat", rd_concat(0, RD_EXPRS(x, rd_select(z, 0, 0))), RD_C128,
                 VALUES(1, 0, 0, 0, 1, -1, 2, -2));
    expect_pairs("broadcast", rd_broadcast(rd_cnum(ctx, 1, 2), RD_SHAPE(2)), RD_C128,
                 VALUES(1, 2, 1, 2));
    expect_pairs("nothing", rd_slice(z, "2:"), RD_C128, VALUES(0) - 1);
}
END_TEST

/* ---- Reductions ------------------------------------------------------------------------------ */
START_TEST(complex_reductions)
{
    rd_expr *z    = complex_leaf(0, RD_SHAPE(4), VALUES(3, 4, 1, -2, 0, 0, -4, 2));
    rd_expr *n    = complex_leaf(1, RD_SHAPE(3), VALUES(1, 2, NAN, 5, 3, NAN));
    rd_expr *none = rd_slice(z, "4:"), *mask = leaf(RD_BOOL, VALUES(1, 0, 1, 1));

    expect_pairs("sum", rd_sum(z, RD_ALL), RD_C128, VALUES(0, 4));
    expect_pairs("sum of c64", rd_sum(rd_cast(z, RD_C64), RD_ALL), RD_C64, VALUES(0, 4));
    expect_pairs("kept wide", rd_sum(rd_cast(z, RD_C64), RD_ALL, .type = RD_C128), RD_C128,
                 VALUES(0, 4));
    expect_pairs("mean", rd_mean(z, RD_ALL), RD_C128, VALUES(0, 1));
    expect_pairs("where", rd_sum(z, RD_ALL, .where = mask), RD_C128, VALUES(-1, 6));
    expect_pairs("initial", rd_sum(z, RD_ALL, .initial = rd_cnum(ctx, 1, 1)), RD_C128,
                 VALUES(1, 5));
    expect_pairs("NaN in a part", rd_sum(n, RD_ALL, .skip_nan = true), RD_C128, VALUES(1, 2));
    expect_pairs("sum of nothing", rd_sum(none, RD_ALL), RD_C128, VALUES(0, 0));
    expect_pairs("mean of nothing", rd_mean(none, RD_ALL), RD_C128, VALUES(NAN, NAN));
    expect("count", rd_count(z, RD_ALL), RD_I64, VALUES(3));
    expect("any", rd_any(z, RD_ALL), RD_BOOL, VALUES(1));
    expect("var", rd_var(z, RD_ALL), RD_F64, VALUES(11.5));
    expect("var of c64", rd_var(rd_cast(z, RD_C64), RD_ALL, .ddof = 2), RD_F32, VALUES(23));
    expect("norm", rd_norm(rd_slice(z, "0"), RD_ALL), RD_F64, VALUES(5));
    expect("norm 1", rd_norm(rd_slice(z, "::2"), RD_ALL, .p = 1), RD_F64, VALUES(5));
    expect("largest", rd_norm(z, RD_ALL, .p = INFINITY), RD_F64, VALUES(5));
    expect_pairs("dot", rd_sum(rd_mul(z, rd_conj(z)), RD_ALL), RD_C128, VALUES(50, 0));
    expect_pairs("cumulative sum", rd_scan(z, "sum", RD_DIMS(0)), RD_C128,
                 VALUES(3, 4, 4, 2, 4, 2, 0, 4));
    expect_pairs("product", rd_prod(rd_slice(z, "::-3"), RD_ALL), RD_C128, VALUES(-20, -10));
    expect_pairs("product where", rd_prod(z, RD_ALL, .where = rd_ne(z, rd_int(ctx, 0))), RD_C128,
                 VALUES(-40, 30));
    expect_pairs("one more factor",
                 rd_prod(rd_slice(z, ":1"), RD_ALL, .initial = rd_cnum(ctx, 0, 1)), RD_C128,
                 VALUES(-4, 3));
    expect_pairs("product of nothing", rd_prod(none, RD_ALL), RD_C128, VALUES(1, 0));
    expect_pairs("cumulative product", rd_scan(rd_slice(z, ":3"), "prod", RD_DIMS(0)), RD_C128,
                 VALUES(3, 4, 11, -2, 0, 0));
    expect_error("skewness", rd_skewness(z, RD_ALL), RD_ERR_TYPE);
}
END_TEST

START_TEST(complex_groups_and_scans)
{
    rd_expr *z     = complex_leaf(0, RD_SHAPE(5), VALUES(1, 2, 3, -1, -2, 1, NAN, 1, 4, 0));
    rd_expr *w     = complex_leaf(1, RD_SHAPE(3), VALUES(2, 0, 0, 1, 1, 1));
    rd_expr *label = leaf(RD_I32, VALUES(0, 1, 0, 1, 1)), *weight = leaf(RD_F64, VALUES(3, 0, 1));

#define BY(n) .by = RD_EXPRS(label), .groups = RD_SHAPE(n)
    expect_pairs("sum", rd_sum(z, RD_ALL, BY(3), .skip_nan = true), RD_C128,
                 VALUES(-1, 3, 7, -1, 0, 0));
    expect_pairs("product", rd_prod(z, RD_ALL, BY(3), .skip_nan = true), RD_C128,
                 VALUES(-4, -3, 12, -4, 1, 0));
    expect_pairs("mean", rd_mean(z, RD_ALL, BY(1)), RD_C128, VALUES(-0.5, 1.5));
    expect("var", rd_var(z, RD_ALL, BY(2), .skip_nan = true), RD_F64, VALUES(2.5, 0.5));
    expect("count", rd_count(z, RD_ALL, BY(3)), RD_I64, VALUES(2, 3, 0));
    expect("norm", rd_norm(z, RD_ALL, BY(1)), RD_F64, VALUES(sqrt(10)));
#undef BY
    expect_pairs("counts with weights",
                 rd_bincount(RD_EXPRS(rd_slice(label, ":3")), RD_SHAPE(2), w), RD_C128,
                 VALUES(3, 1, 0, 1));
    expect_pairs("weighted mean", rd_mean(w, RD_ALL, .weights = weight), RD_C128,
                 VALUES(1.75, 0.25));
    expect_pairs("means so far", rd_scan(w, "mean", RD_DIMS(0)), RD_C128,
                 VALUES(2, 0, 1, 0.5, 1, 2.0 / 3));
    expect("variances so far", rd_slice(rd_scan(w, "var", RD_DIMS(0)), ":2"), RD_F64,
           VALUES(0, 1.25));
    expect("counts from the end", rd_scan(w, "count", RD_DIMS(0), .reverse = true), RD_I64,
           VALUES(3, 2, 1));
    expect_error("labels", rd_sum(w, RD_ALL, .by = RD_EXPRS(w), .groups = RD_SHAPE(2)),
                 RD_ERR_TYPE);
}
END_TEST

START_TEST(complex_pairs_and_ends)
{
    rd_expr *z    = complex_leaf(0, RD_SHAPE(3), VALUES(1, 2, NAN, 1, 3, -2));
    rd_expr *w    = complex_leaf(1, RD_SHAPE(3), VALUES(0, 1, 9, 9, 2, 1));
    rd_expr *none = rd_lt(rd_abs(w), rd_num(ctx, 0));

    expect_pairs("covariance", rd_cov(z, w, RD_ALL, .skip_nan = true, .ddof = 1), RD_C128,
                 VALUES(2, -4));
    expect_pairs("of reals too", rd_cov(leaf(RD_F32, VALUES(1, 2, 3)), w, RD_ALL), RD_C128,
                 VALUES(2.0 / 3, 0));
    expect_error("correlation", rd_corr(z, w, RD_ALL), RD_ERR_TYPE);
    expect_pairs("first", rd_first(z, RD_ALL, .where = rd_gt(rd_real(z), rd_num(ctx, 2))), RD_C128,
                 VALUES(3, -2));
    expect_pairs("last", rd_last(rd_slice(z, ":2"), RD_ALL, .skip_nan = true), RD_C128,
                 VALUES(1, 2));
    expect_pairs("none", rd_last(z, RD_ALL, .where = none, .initial = rd_cnum(ctx, 7, 8)), RD_C128,
                 VALUES(7, 8));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        complex_promotion,        complex_casts,          complex_parts,
        complex_arithmetic,       complex_quotients,      complex_functions,
        complex_refusals,         complex_views,          complex_reductions,
        complex_groups_and_scans, complex_pairs_and_ends,
    };

    return run_suite("semantics_complex", tests, COUNT(tests));
}

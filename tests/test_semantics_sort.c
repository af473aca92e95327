/* docs/semantics.md on sorting, the first k and quantiles. */
#include "expr/nodes.h"
#include "values.h"

#include <float.h>
#include <math.h>

#define X leaf(RD_F32, VALUES(3, NAN, -1, 2, INFINITY, 2))

/* ---- Order ----------------------------------------------------------------------------------- */
START_TEST(order)
{
    static const rd_dtype all[] = { RD_I8,  RD_I16, RD_I32, RD_I64,  RD_U8,  RD_U16,
                                    RD_U32, RD_U64, RD_F16, RD_BF16, RD_F32, RD_F64 };

    for (size_t k = 0; k < COUNT(all); k++) {
        rd_expr *x = leaf(all[k], VALUES(5, 0, 7, 5, 1, 100, 2));
        expect("rising", rd_sort(x, 0), all[k], VALUES(0, 1, 2, 5, 5, 7, 100));
        expect("falling", rd_sort(x, -1, .descending = true), all[k],
               VALUES(100, 7, 5, 5, 2, 1, 0));
        expect("places", rd_argsort(x, 0), RD_I64, VALUES(1, 4, 6, 0, 3, 2, 5));
        expect("greatest", rd_top_k(x, 3, 0), all[k], VALUES(100, 7, 5));
        expect("their places", rd_arg_top_k(x, 3, 0), RD_I64, VALUES(5, 2, 0));
        forget_leaves();
    }
    expect("signs", rd_sort(leaf(RD_I16, VALUES(5, -3, 0, -30000, 30000)), 0), RD_I16,
           VALUES(-30000, -3, 0, 5, 30000));
    expect("bool", rd_sort(leaf(RD_BOOL, VALUES(1, 0, 1, 0)), 0), RD_BOOL, VALUES(0, 0, 1, 1));
    expect_shape("none", rd_top_k(X, 0, 0), RD_SHAPE(0));
}
END_TEST

START_TEST(nan_comes_last)
{
    expect("rising", rd_sort(X, 0), RD_F32, VALUES(-1, 2, 2, 3, INFINITY, NAN));
    expect("falling", rd_sort(X, 0, .descending = true), RD_F32,
           VALUES(INFINITY, 3, 2, 2, -1, NAN));
    expect("places", rd_argsort(X, 0), RD_I64, VALUES(2, 3, 5, 0, 4, 1));
    expect("falling places", rd_argsort(X, 0, .descending = true), RD_I64,
           VALUES(4, 0, 3, 5, 2, 1));
    expect("greatest", rd_top_k(X, 6, 0), RD_F32, VALUES(INFINITY, 3, 2, 2, -1, NAN));
    expect("several", rd_argsort(leaf(RD_F64, VALUES(NAN, 1, -NAN, 0)), 0), RD_I64,
           VALUES(3, 1, 0, 2));
}
END_TEST

/* Equal ones keep their order, -0 and 0 among them. */
START_TEST(ties_by_place)
{
    rd_expr *x = leaf(RD_F32, VALUES(0., 1, -0., -1, 0., -0.));

    expect("rising", rd_sort(x, 0), RD_F32, VALUES(-1, 0., -0., 0., -0., 1));
    expect("falling", rd_sort(x, 0, .descending = true), RD_F32, VALUES(1, 0., -0., 0., -0., -1));
    expect("places", rd_argsort(x, 0), RD_I64, VALUES(3, 0, 2, 4, 5, 1));
    expect("falling places", rd_argsort(x, 0, .descending = true), RD_I64,
           VALUES(1, 0, 2, 4, 5, 3));
    expect("greatest", rd_top_k(x, 3, 0), RD_F32, VALUES(1, 0., -0.));
    expect("smallest", rd_top_k(x, 2, 0, .smallest = true), RD_F32, VALUES(-1, 0.));
    expect("median", rd_quantile(x, 0.5, RD_ALL, .method = RD_LOWER), RD_F32, VALUES(-0.));
}
END_TEST

START_TEST(axes)
{
    rd_expr *x = leaf_shape(RD_I32, RD_SHAPE(2, 3), VALUES(5, 1, 3, 2, 4, 0));

    expect("rows", rd_sort(x, 1), RD_I32, VALUES(1, 3, 5, 0, 2, 4));
    expect("columns", rd_sort(x, 0), RD_I32, VALUES(2, 1, 0, 5, 4, 3));
    expect("of a map, read by one", rd_neg(rd_sort(rd_neg(x), 1)), RD_I32,
           VALUES(5, 3, 1, 4, 2, 0));
    expect("a slice of one", rd_slice(rd_sort(x, 1), "1, :2"), RD_I32, VALUES(0, 2));
    expect("take along", rd_take_along(x, 0, rd_argsort(x, 0)), RD_I32, VALUES(2, 1, 0, 5, 4, 3));
    expect_shape("top_k", rd_top_k(x, 2, 1), RD_SHAPE(2, 2));
    expect("over both", rd_median(x, RD_ALL), RD_F64, VALUES(2.5));
    expect_shape("kept", rd_median(x, RD_KEEP(1)), RD_SHAPE(2, 1));
    expect("over the first", rd_median(x, RD_DIMS(0)), RD_F64, VALUES(3.5, 2.5, 1.5));
    expect_shape("several, first axis", rd_quantiles(x, RD_QS(0, 1, 0.5), RD_KEEP(1)),
                 RD_SHAPE(3, 2, 1));
    expect("several", rd_quantiles(x, RD_QS(0, 1), RD_DIMS(1)), RD_F64, VALUES(1, 0, 5, 4));
}
END_TEST

/* ---- Quantiles ------------------------------------------------------------------------------- */
/* Numbers are NumPy's, of quantiles 0.1, 0.25, 0.5 and 0.9. */
START_TEST(quantile_methods)
{
    static const struct {
        rd_quantile_method method;
        double             want[4];
    } rows[] = {
        { RD_LINEAR, { 2.5, 4.25, 6.5, 12 } },
        { RD_LOWER, { 1, 4, 5, 11 } },
        { RD_HIGHER, { 4, 5, 8, 13 } },
        { RD_NEAREST, { 1, 4, 5, 11 } },
        { RD_MIDPOINT, { 2.5, 4.5, 6.5, 12 } },
        { RD_INVERTED_CDF, { 1, 4, 5, 13 } },
        { RD_AVERAGED_CDF, { 1, 4, 6.5, 13 } },
        { RD_CLOSEST, { 1, 4, 5, 11 } },
        { RD_INTERPOLATED_CDF, { 1, 2.5, 5, 11.8 } },
        { RD_HAZEN, { 1.3, 4, 6.5, 12.8 } },
        { RD_WEIBULL, { 1, 3.25, 6.5, 13 } },
        { RD_MEDIAN_UNBIASED, { 1, 3.75, 6.5, 13 } },
        { RD_NORMAL_UNBIASED, { 1, 3.8125, 6.5, 13 } },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *x = leaf(RD_F64, VALUES(8, 1, 13, 4, 11, 5));
        rd_expr *y = rd_quantiles(x, RD_QS(0.1, 0.25, 0.5, 0.9), RD_ALL, .method = rows[k].method);
        /* to a few last bits, by which sums of alpha and beta differ */
        expect("methods", rd_all(rd_isclose(y, leaf(RD_F64, rows[k].want, 4), 0, 1e-14), RD_ALL),
               RD_BOOL, VALUES(1));
        forget_leaves();
    }
    expect("percentile", rd_percentile(leaf(RD_I8, VALUES(4, 0, 2)), 75, RD_ALL), RD_F64,
           VALUES(3));
    expect_error("beyond", rd_quantile(X, 1.5, RD_ALL), RD_ERR_ARGUMENT);
    expect_error("not a number", rd_quantile(X, NAN, RD_ALL), RD_ERR_ARGUMENT);
    expect_error("method", rd_median(X, RD_ALL, .method = (rd_quantile_method)13), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(quantile_types)
{
    expect("f32", rd_median(leaf(RD_F32, VALUES(1, 2)), RD_ALL), RD_F32, VALUES(1.5));
    expect("f16", rd_median(leaf(RD_F16, VALUES(1, 2)), RD_ALL), RD_F16, VALUES(1.5));
    expect("u64", rd_median(leaf(RD_U64, VALUES(1, 2)), RD_ALL), RD_F64, VALUES(1.5));
    expect("bool", rd_median(leaf(RD_BOOL, VALUES(1, 0)), RD_ALL), RD_F64, VALUES(0.5));
    /* halves and f32 in f64, rounded once: in f16 the difference would overflow */
    expect("far apart", rd_median(leaf(RD_F16, VALUES(-60000, 60000)), RD_ALL), RD_F16, VALUES(0));
    expect("infinities", rd_median(leaf(RD_F32, VALUES(INFINITY, INFINITY)), RD_ALL), RD_F32,
           VALUES(INFINITY));
}
END_TEST

/* Two elements, and what lies between them. */
static const struct {
    const char *what;
    rd_dtype    type;
    double      low, high, q, want;
} lines[] = {
    { "a number and infinity", RD_F64, 4, INFINITY, 0.5, INFINITY },
    { "nearer to the number", RD_F64, 4, INFINITY, 0.25, INFINITY },
    { "nearer to infinity", RD_F32, 4, INFINITY, 0.75, INFINITY },
    { "at the number", RD_F64, 4, INFINITY, 0, 4 },
    { "-infinity and a number", RD_F16, -INFINITY, 4, 0.5, -INFINITY },
    { "nearer to -infinity", RD_BF16, -INFINITY, 4, 0.25, -INFINITY },
    { "nearer to that number", RD_F64, -INFINITY, 4, 0.75, -INFINITY },
    { "both infinities", RD_F64, -INFINITY, INFINITY, 0.5, NAN },
    { "at one of them", RD_F64, -INFINITY, INFINITY, 1, INFINITY },
    { "a distance that overflows", RD_F64, -1.7e308, 1.7e308, 0.5, 0 },
    { "a sum that overflows", RD_F64, 0x1.8p1023, 0x1.cp1023, 0.5, 0x1.ap1023 },
    { "a quarter of such a distance", RD_F64, -0x1.8p1023, 0x1.8p1023, 0.25, -0x1.8p1022 },
    { "three quarters", RD_F64, -0x1.8p1023, 0x1.8p1023, 0.75, 0x1.8p1022 },
    { "the largest", RD_F64, DBL_MAX, DBL_MAX, 0.3, DBL_MAX },
    { "all numbers", RD_F64, -DBL_MAX, DBL_MAX, 0.5, 0 },
    { "what nearly cancels", RD_F64, -1.5309081871108337, 1.5312977880132672, 0.5,
      0.00019480045121678113 },
    { "the smallest", RD_F64, 0x1p-1074, 0x1.8p-1073, 0.5, 0x1p-1073 },
    { "the largest f32", RD_F32, -FLT_MAX, FLT_MAX, 0.25, -FLT_MAX / 2. },
    { "f32 rounded once", RD_F32, 1, 0x1.000002p0, 0.5, 1 },
    { "f16 rounded once", RD_F16, 1, 0x1.004p0, 0.5, 1 },
    { "the largest f16", RD_F16, -65504, 65504, 0.25, -32752 },
    { "bf16", RD_BF16, -0x1.fep127, 0x1.fep127, 0.75, 0x1.fep126 },
    { "i64", RD_I64, -0x1p63, 0x1p62, 0.5, -0x1p61 },
    { "u64", RD_U64, 0, 0x1.fffffffffffffp63, 0.5, 0x1.fffffffffffffp62 },
};

/* q of both: of three elements that a mask leaves two of, and of three with a NaN that is skipped. */
static void expect_line(int k, rd_quantile_method method)
{
    const bool     real = lines[k].type != RD_I64 && lines[k].type != RD_U64;
    rd_expr       *x    = leaf(lines[k].type, VALUES(lines[k].high, lines[k].low)), *m, *y, *q;
    const rd_dtype type = real ? lines[k].type : RD_F64;

    m = leaf(RD_BOOL, VALUES(1, 0, 1));
    y = leaf(lines[k].type, VALUES(lines[k].low, 1, lines[k].high));
    expect(lines[k].what, rd_quantile(x, lines[k].q, RD_ALL, .method = method), type,
           VALUES(lines[k].want));
    expect(lines[k].what, rd_quantile(y, lines[k].q, RD_ALL, .where = m, .method = method), type,
           VALUES(lines[k].want));
    q = rd_quantiles(x, RD_QS(0, lines[k].q, 1), RD_ALL, .method = method);
    expect(lines[k].what, rd_select(q, 0, 1), type, VALUES(lines[k].want));
    if (lines[k].q == 0.5)
        expect(lines[k].what, rd_median(x, RD_ALL, .method = method), type, VALUES(lines[k].want));
    if (!real)
        return;
    y = leaf(lines[k].type, VALUES(lines[k].high, NAN, lines[k].low));
    expect(lines[k].what, rd_quantile(y, lines[k].q, RD_ALL, .skip_nan = true, .method = method),
           type, VALUES(lines[k].want));
}

START_TEST(lines_of_quantiles)
{
    for (int k = 0; k < (int)(sizeof lines / sizeof *lines); k++) {
        forget_leaves();
        expect_line(k, RD_LINEAR);
        if (lines[k].q == 0.5) {
            expect_line(k, RD_MIDPOINT);
            expect_line(k, RD_AVERAGED_CDF);
            expect_line(k, RD_HAZEN);
        }
    }
}
END_TEST

START_TEST(quantiles_and_nan)
{
    rd_expr *x = leaf(RD_F32, VALUES(3, NAN, -1, 2, 2));
    rd_expr *m = leaf(RD_BOOL, VALUES(1, 0, 1, 1, 0)), *all = leaf(RD_BOOL, VALUES(1, 1, 1, 1, 1));

    expect("carried", rd_median(x, RD_ALL), RD_F32, VALUES(NAN));
    expect("skipped", rd_median(x, RD_ALL, .skip_nan = true), RD_F32, VALUES(2));
    expect("left out", rd_median(x, RD_ALL, .where = m), RD_F32, VALUES(2));
    expect("taking part", rd_median(x, RD_ALL, .where = all), RD_F32, VALUES(NAN));
    expect("both", rd_quantile(x, 0, RD_ALL, .where = all, .skip_nan = true), RD_F32, VALUES(-1));
    expect("ints left out", rd_median(leaf(RD_U8, VALUES(9, 1, 3, 2, 0)), RD_ALL, .where = m),
           RD_F64, VALUES(3));
    expect("nothing is left", rd_median(leaf(RD_F32, VALUES(NAN, NAN)), RD_ALL, .skip_nan = true),
           RD_F32, VALUES(NAN));
    expect("of nothing", rd_median(rd_slice(x, ":0"), RD_ALL), RD_F32, VALUES(NAN));
    expect_shape("no result", rd_median(rd_slice(rd_expand(x, 1), ":0"), RD_DIMS(1)), RD_SHAPE(0));
}
END_TEST

START_TEST(sort_refusals)
{
    rd_expr *x = leaf(RD_F32, VALUES(3, 1));

    expect_error("axis", rd_sort(x, 1), RD_ERR_AXIS);
    expect_error("of no axis", rd_sort(rd_num(ctx, 1), 0), RD_ERR_AXIS);
    expect_error("too many", rd_top_k(x, 3, 0), RD_ERR_ARGUMENT);
    expect_error("too few", rd_arg_top_k(x, -1, 0), RD_ERR_ARGUMENT);
    expect_error("top_k", rd_top_k(x, 1, 0, .descending = true), RD_ERR_ARGUMENT);
    expect_error("sort", rd_sort(x, 0, .smallest = true), RD_ERR_ARGUMENT);
    expect_error("options", rd_sort_by(x, NULL), RD_ERR_ARGUMENT);
    expect_error("dims", rd_median(x, RD_DIMS(3)), RD_ERR_AXIS);
    expect_error("mask", rd_median(x, RD_ALL, .where = leaf(RD_BOOL, VALUES(1, 0, 1))),
                 RD_ERR_SHAPE);
}
END_TEST

/* Rows longer than a digit of their keys counts, of few values and of many. */
START_TEST(long_rows)
{
    enum { N = 5000 };
    rd_expr *i = rd_coord(rd_broadcast(rd_num(ctx, 0), RD_SHAPE(3, N)), 1);
    rd_expr *x = rd_broadcast(rd_remainder(rd_mul(i, rd_int(ctx, 3001)), rd_int(ctx, N)),
                              RD_SHAPE(3, N)); /* a permutation */

    expect("sorted", rd_all(rd_eq(rd_sort(x, 1), i), RD_ALL), RD_BOOL, VALUES(1));
    expect("places", rd_all(rd_eq(rd_take_along(x, 1, rd_argsort(x, 1)), i), RD_ALL), RD_BOOL,
           VALUES(1));
    expect("floats", rd_all(rd_eq(rd_sort(rd_cast(x, RD_F32), 1), i), RD_ALL), RD_BOOL, VALUES(1));
    expect("median", rd_median(rd_cast(x, RD_F32), RD_DIMS(1)), RD_F32,
           VALUES(2499.5, 2499.5, 2499.5));
    expect("greatest", rd_slice(rd_top_k(x, 3, 1), "0"), RD_I64, VALUES(4999, 4998, 4997));
    expect("few", rd_slice(rd_arg_top_k(rd_remainder(x, rd_int(ctx, 2)), 2, 1), "1"), RD_I64,
           VALUES(1, 3));
}
END_TEST

/* ---- Most frequent, places ------------------------------------------------------------------- */
START_TEST(modes)
{
    rd_expr *x   = leaf_shape(RD_I32, RD_SHAPE(2, 4), VALUES(3, 1, 3, 1, 5, 5, 5, -2));
    rd_expr *nan = leaf(RD_F64, VALUES(2, NAN, 2, NAN, 1, NAN));

    expect("rows", rd_mode(x, RD_DIMS(1)), RD_I32, VALUES(1, 5));
    expect("how often", rd_mode_count(x, RD_DIMS(1)), RD_I64, VALUES(2, 3));
    expect("columns", rd_mode(x, RD_DIMS(0)), RD_I32, VALUES(3, 1, 3, -2));
    expect("all", rd_mode(x, RD_ALL), RD_I32, VALUES(5));
    expect("all", rd_mode_count(x, RD_ALL), RD_I64, VALUES(3));
    expect_shape("kept", rd_mode(x, RD_KEEP(1)), RD_SHAPE(2, 1));
    expect_shape("kept", rd_mode_count(x, RD_KEEP_ALL), RD_SHAPE(1, 1));
    expect("floats", rd_mode(leaf(RD_F16, VALUES(0.5, -0., 0, 0.5, 0)), RD_ALL), RD_F16,
           VALUES(0.));
    expect("bools", rd_mode(leaf(RD_BOOL, VALUES(1, 0, 1)), RD_ALL), RD_BOOL, VALUES(1));
    expect("NaN", rd_mode(nan, RD_ALL), RD_F64, VALUES(NAN));
    expect("how often", rd_mode_count(nan, RD_ALL), RD_I64, VALUES(3));
    expect("no number is NaN", rd_mode(rd_slice(nan, "::2"), RD_ALL), RD_F64, VALUES(2));
    expect("of one", rd_mode_count(rd_slice(nan, ":1"), RD_ALL), RD_I64, VALUES(1));
    expect_error("nothing", rd_mode(leaf(RD_I8, NULL, 0), RD_ALL), RD_ERR_EMPTY);
    expect_shape("no rows", rd_mode(leaf_shape(RD_F64, RD_SHAPE(0, 0), NULL, 0), RD_DIMS(1)),
                 RD_SHAPE(0));
    expect_shape("counts", rd_mode_count(leaf_shape(RD_F64, RD_SHAPE(0, 0), NULL, 0), RD_KEEP(1)),
                 RD_SHAPE(0, 1));
    expect_error("axis", rd_mode(x, RD_DIMS(2)), RD_ERR_AXIS);
    expect_error("complex", rd_mode_count(rd_complex(x, x), RD_ALL), RD_ERR_TYPE);
}
END_TEST

/* Of many numbers each is compared with all of a few, and with half of more in turn. */
static bool looks_up(rd_expr *y)
{
    rd_node_list list  = { 0 };
    bool         found = false;

    ck_assert(rd_list_nodes(ctx, RD_RESULTS({ y, NULL }), &list));
    for (int64_t k = 0; k < list.n; k++)
        found |= list.at[k]->kind == RD_EXPR_TAKE;
    rd_free_nodes(ctx, &list);
    return found;
}

START_TEST(searching_few)
{
    rd_expr *row = leaf(RD_F32, VALUES(1, 2, 2, 4, NAN)), *one = rd_slice(row, ":1");
    rd_expr *x      = leaf(RD_F64, VALUES(0, 1, 2, 3, 4, INFINITY, NAN));
    rd_expr *many   = rd_broadcast(x, RD_SHAPE(300, 7));
    rd_expr *twenty = rd_broadcast(rd_int(ctx, 3), RD_SHAPE(20));

    ck_assert(!looks_up(rd_searchsorted(row, many, RD_LEFT)) &&
              looks_up(rd_searchsorted(row, x, RD_LEFT)) &&
              looks_up(rd_searchsorted(twenty, many, RD_LEFT)));
    for (int k = 0; k < 4; k++) {
        rd_expr *const of   = k < 2 ? row : one;
        const rd_side  side = k % 2 ? RD_RIGHT : RD_LEFT;
        rd_expr *const same = rd_searchsorted(of, x, side);

        expect("few", rd_all(rd_eq(rd_searchsorted(of, many, side), same), RD_ALL), RD_BOOL,
               VALUES(true));
    }
}
END_TEST

START_TEST(searching)
{
    rd_expr *row = leaf(RD_F32, VALUES(1, 2, 2, 4, NAN)), *none = leaf(RD_F32, NULL, 0);
    rd_expr *x    = leaf(RD_F64, VALUES(0, 1, 2, 3, 4, INFINITY, NAN));
    rd_expr *rows = leaf_shape(RD_I16, RD_SHAPE(2, 3), VALUES(1, 3, 5, 2, 4, 4));

    expect("left", rd_searchsorted(row, x, RD_LEFT), RD_I64, VALUES(0, 0, 1, 3, 3, 4, 4));
    expect("right", rd_searchsorted(row, x, RD_RIGHT), RD_I64, VALUES(0, 1, 3, 3, 4, 4, 5));
    expect("without NaN", rd_searchsorted(rd_slice(row, ":4"), x, RD_LEFT), RD_I64,
           VALUES(0, 0, 1, 3, 3, 4, 4));
    expect("ints", rd_searchsorted(rd_select(rows, 0, 1), leaf(RD_I8, VALUES(4, 5, -9)), RD_LEFT),
           RD_I64, VALUES(1, 3, 0));
    expect("NaN among ints", rd_searchsorted(rd_select(rows, 0, 1), x, RD_LEFT), RD_I64,
           VALUES(0, 0, 0, 1, 1, 3, 3));
    expect("a number", rd_searchsorted(row, rd_int(ctx, 2), RD_RIGHT), RD_I64, VALUES(3));
    expect("nothing", rd_searchsorted(none, x, RD_RIGHT), RD_I64, VALUES(0, 0, 0, 0, 0, 0, 0));
    expect("nowhere", rd_searchsorted(row, none, RD_RIGHT), RD_I64, NULL, 0);
    expect("row by row",
           rd_searchsorted(rows, leaf_shape(RD_I16, RD_SHAPE(2, 2), VALUES(3, 9, 4, 0)), RD_RIGHT),
           RD_I64, VALUES(2, 3, 3, 0));
    expect("the same for all rows",
           rd_searchsorted(rows, leaf_shape(RD_F32, RD_SHAPE(1, 2), VALUES(4, NAN)), RD_LEFT),
           RD_I64, VALUES(2, 3, 1, 3));
    expect_shape("any shape", rd_searchsorted(row, rows, RD_LEFT), RD_SHAPE(2, 3));
    expect_shape("rows of nothing",
                 rd_searchsorted(leaf_shape(RD_I16, RD_SHAPE(2, 0), NULL, 0),
                                 leaf_shape(RD_I16, RD_SHAPE(1, 2), VALUES(3, 9)), RD_LEFT),
                 RD_SHAPE(2, 2));
    expect_error("side", rd_searchsorted(row, x, (rd_side)2), RD_ERR_ARGUMENT);
    expect_error("no row", rd_searchsorted(rd_int(ctx, 2), x, RD_LEFT), RD_ERR_SHAPE);
    expect_error("rank", rd_searchsorted(rows, x, RD_LEFT), RD_ERR_SHAPE);
    expect_error("rows",
                 rd_searchsorted(rows, leaf_shape(RD_I8, RD_SHAPE(3, 1), VALUES(1, 2, 3)), RD_LEFT),
                 RD_ERR_SHAPE);
    expect_error("complex", rd_searchsorted(row, rd_complex(x, x), RD_LEFT), RD_ERR_TYPE);
}
END_TEST

/* All pairs of rows and elements beside loops that count; in f64 neighbours here are one number. */
START_TEST(searching_beside_u64)
{
    static const int64_t ints[] = {
        INT64_MIN, -((INT64_C(1) << 53) + 1), -1, 0, 0, 1, INT64_MAX - 1, INT64_MAX
    };
    static const uint64_t bits[] = {
        0,         1, INT64_MAX - 1, INT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1,
        UINT64_MAX
    };
    enum { N = COUNT(ints) };
    rd_expr *const i = rd_wrap(ctx, ints, RD_SHAPE(N)), *const u = rd_wrap(ctx, bits, RD_SHAPE(N));

    for (int right = 0; right < 2; right++) {
        double in_ints[N] = { 0 }, in_bits[N] = { 0 };

        for (int e = 0; e < N; e++)
            for (int k = 0; k < N; k++) {
                const bool low = ints[k] < 0, same = !low && (uint64_t)ints[k] == bits[e];

                in_ints[e] += low || (uint64_t)ints[k] < bits[e] || (right && same);
                const bool alike = ints[e] >= 0 && bits[k] == (uint64_t)ints[e];
                in_bits[e] += ints[e] > 0 && bits[k] < (uint64_t)ints[e];
                in_bits[e] += right && alike;
            }
        const rd_side side = right ? RD_RIGHT : RD_LEFT;

        expect("u64 among ints", rd_searchsorted(i, u, side), RD_I64, in_ints, N);
        expect("ints among u64", rd_searchsorted(u, i, side), RD_I64, in_bits, N);
        expect("row by row",
               rd_reshape(rd_searchsorted(rd_reshape(u, RD_SHAPE(1, N)),
                                          rd_reshape(i, RD_SHAPE(1, N)), side),
                          RD_SHAPE(N)),
               RD_I64, in_bits, N);
    }
    expect("bytes", rd_searchsorted(leaf(RD_I8, VALUES(-3, 2, 7)), u, RD_LEFT), RD_I64,
           VALUES(1, 1, 3, 3, 3, 3, 3, 3));
    expect("nothing", rd_searchsorted(leaf(RD_U64, NULL, 0), rd_slice(i, ":2"), RD_RIGHT), RD_I64,
           VALUES(0, 0));
    expect("a number", rd_searchsorted(u, rd_int(ctx, INT64_MAX), RD_LEFT), RD_I64, VALUES(3));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { order,
                                   nan_comes_last,
                                   ties_by_place,
                                   axes,
                                   quantile_methods,
                                   quantile_types,
                                   lines_of_quantiles,
                                   quantiles_and_nan,
                                   sort_refusals,
                                   long_rows,
                                   modes,
                                   searching,
                                   searching_few,
                                   searching_beside_u64 };

    return run_suite("semantics_sort", tests, COUNT(tests));
}

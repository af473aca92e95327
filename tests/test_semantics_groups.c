/* docs/semantics.md on what is chosen by label: first, last, medians, quantiles, modes. */
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BY(label, n) .by = RD_EXPRS(label), .groups = RD_SHAPE(n)

START_TEST(ends_by_label)
{
    rd_expr *x = leaf(RD_F32, VALUES(NAN, 2, 4, 8, NAN)), *g = leaf(RD_I8, VALUES(0, 2, 0, 2, 2));
    rd_expr *i = leaf(RD_U8, VALUES(9, 2, 4, 8, 7)), *b = leaf(RD_BOOL, VALUES(1, 0, 0, 1, 1));
    rd_expr *few = leaf(RD_BOOL, VALUES(0, 0, 1, 1, 1)), *seven = rd_int(ctx, 7);

    expect("first", rd_first(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(NAN, NAN, 2));
    expect("last", rd_last(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(4, NAN, NAN));
    expect("first number", rd_first(x, RD_ALL, BY(g, 3), .skip_nan = true), RD_F32,
           VALUES(4, NAN, 2));
    expect("last number", rd_last(x, RD_ALL, BY(g, 3), .skip_nan = true), RD_F32,
           VALUES(4, NAN, 8));
    expect("where", rd_first(x, RD_ALL, BY(g, 3), .where = few), RD_F32, VALUES(4, NAN, 8));
    expect("ints", rd_first(i, RD_ALL, BY(g, 3), .initial = seven), RD_U8, VALUES(9, 7, 2));
    expect("last int", rd_last(i, RD_ALL, BY(g, 4), .initial = seven), RD_U8, VALUES(4, 7, 7, 7));
    expect("bools", rd_last(b, RD_ALL, BY(g, 3), .initial = leaf(RD_BOOL, VALUES(1))), RD_BOOL,
           VALUES(0, 1, 1));
    expect("as f64", rd_first(x, RD_ALL, BY(g, 3), .type = RD_F64), RD_F64, VALUES(NAN, NAN, 2));
    expect("complex", rd_imag(rd_last(rd_complex(x, i), RD_ALL, BY(g, 3), .skip_nan = true)),
           RD_F32, VALUES(4, NAN, 8));
    expect("of nothing", rd_first(leaf(RD_F64, NULL, 0), RD_ALL, BY(leaf(RD_I64, NULL, 0), 2)),
           RD_F64, VALUES(NAN, NAN));
    expect("in no group", rd_first(x, RD_ALL, BY(rd_int(ctx, -1), 2)), RD_F32, VALUES(NAN, NAN));
    expect("minmax", rd_minmax(x, RD_ALL, BY(g, 3), .skip_nan = true), RD_F32,
           VALUES(4, NAN, 2, 4, NAN, 8));
    expect_error("ints without a value", rd_first(i, RD_ALL, BY(g, 3)), RD_ERR_EMPTY);
    expect_error("labels of floats", rd_first(x, RD_ALL, BY(x, 3)), RD_ERR_TYPE);
}
END_TEST

START_TEST(quantiles_by_label)
{
    rd_expr *x   = leaf(RD_F32, VALUES(5, 1, 3, 2, 8, 6, 4)),
            *g   = leaf(RD_I32, VALUES(0, 0, 2, 2, 2, 2, 9));
    rd_expr *nan = leaf(RD_F64, VALUES(1, NAN, 3, 4, 5, 6, 7)), *i = rd_cast(x, RD_I16);
    rd_expr *few = rd_gt(x, rd_num(ctx, 2));

    expect("median", rd_median(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(3, NAN, 4.5));
    expect("of ints", rd_median(i, RD_ALL, BY(g, 3)), RD_F64, VALUES(3, NAN, 4.5));
    expect("where", rd_median(x, RD_ALL, BY(g, 3), .where = few), RD_F32, VALUES(5, NAN, 6));
    expect("NaN", rd_median(nan, RD_ALL, BY(g, 3)), RD_F64, VALUES(NAN, NAN, 4.5));
    expect("NaN skipped", rd_median(nan, RD_ALL, BY(g, 3), .skip_nan = true), RD_F64,
           VALUES(1, NAN, 4.5));
    expect("NaN left out", rd_median(nan, RD_ALL, BY(g, 3), .where = rd_not(rd_isnan(nan))), RD_F64,
           VALUES(1, NAN, 4.5));
    expect("quantile", rd_quantile(x, 0.25, RD_ALL, BY(g, 3)), RD_F32, VALUES(2, NAN, 2.75));
    expect("percentile", rd_percentile(x, 100, RD_ALL, BY(g, 3)), RD_F32, VALUES(5, NAN, 8));
    expect("several", rd_quantiles(x, RD_QS(0, 1), RD_ALL, BY(g, 3)), RD_F32,
           VALUES(1, NAN, 2, 5, NAN, 8));
    expect("none", rd_quantiles(x, ((rd_qs){ 0 }), RD_ALL, BY(g, 3)), RD_F32, NULL, 0);
    expect("infinities",
           rd_median(leaf(RD_F64, VALUES(-INFINITY, INFINITY, INFINITY, INFINITY, 1, INFINITY, 2)),
                     RD_ALL, BY(leaf(RD_I8, VALUES(0, 0, 1, 1, 2, 2, 3)), 4)),
           RD_F64, VALUES(NAN, INFINITY, INFINITY, 2));
    expect("rounded once",
           rd_median(leaf(RD_F64, VALUES(-0x1p1023, 0x1p1023, 0x1.8p1023, 0x1.8p1023)), RD_ALL,
                     BY(leaf(RD_I8, VALUES(0, 0, 1, 1)), 2)),
           RD_F64, VALUES(0, 0x1.8p1023));
    expect("of nothing", rd_median(leaf(RD_F16, NULL, 0), RD_ALL, BY(leaf(RD_I64, NULL, 0), 2)),
           RD_F16, VALUES(NAN, NAN));
    expect_error("method", rd_quantile(x, 0.5, RD_ALL, BY(g, 3), .method = (rd_quantile_method)99),
                 RD_ERR_ARGUMENT);
    expect_error("labels without groups", rd_median(x, RD_ALL, .by = RD_EXPRS(g)), RD_ERR_ARGUMENT);
    expect_error("complex", rd_median(rd_complex(x, x), RD_ALL, BY(g, 3)), RD_ERR_TYPE);
}
END_TEST

START_TEST(modes_by_label)
{
    rd_expr *x = leaf(RD_I32, VALUES(5, 1, 5, 2, 2, 1, 5, 7)),
            *g = leaf(RD_I32, VALUES(0, 0, 0, 2, 2, 2, 2, -3));
    rd_expr *f = leaf(RD_F32, VALUES(1, NAN, NAN, 2, 2, 0.5, 0.5, 1)), *zero = rd_int(ctx, 0);
    rd_expr *few = leaf(RD_BOOL, VALUES(0, 1, 1, 0, 0, 1, 1, 1));

    expect("mode", rd_mode(x, RD_ALL, BY(g, 3), .initial = zero), RD_I32, VALUES(5, 0, 2));
    expect("count", rd_mode_count(x, RD_ALL, BY(g, 3)), RD_I64, VALUES(2, 0, 2));
    expect("ties", rd_mode(f, RD_ALL, BY(g, 3), .skip_nan = true), RD_F32, VALUES(1, NAN, 0.5));
    expect("NaN", rd_mode(f, RD_ALL, BY(g, 3)), RD_F32, VALUES(NAN, NAN, 0.5));
    expect("count of NaN", rd_mode_count(f, RD_ALL, BY(g, 3)), RD_I64, VALUES(2, 0, 2));
    expect("where", rd_mode(x, RD_ALL, BY(g, 3), .where = few, .initial = zero), RD_I32,
           VALUES(1, 0, 1));
    expect("where alone", rd_mode(x, RD_ALL, .where = few, .initial = zero), RD_I32, VALUES(1));
    expect("count of some", rd_mode_count(x, RD_KEEP_ALL, .where = few), RD_I64, VALUES(2));
    expect("numbers alone", rd_mode(f, RD_ALL, .skip_nan = true), RD_F32, VALUES(0.5));
    expect("none left", rd_mode(f, RD_ALL, .where = rd_gt(f, rd_num(ctx, 9))), RD_F32, VALUES(NAN));
    expect("of nothing", rd_mode(leaf(RD_F64, NULL, 0), RD_ALL, BY(leaf(RD_I8, NULL, 0), 2)),
           RD_F64, VALUES(NAN, NAN));
    expect("count of nothing",
           rd_mode_count(leaf(RD_I8, NULL, 0), RD_ALL, BY(leaf(RD_I8, NULL, 0), 2)), RD_I64,
           VALUES(0, 0));
    expect("as f64", rd_mode(x, RD_ALL, .type = RD_F64), RD_F64, VALUES(5));
    expect_error("ints without a value", rd_mode(x, RD_ALL, BY(g, 3)), RD_ERR_EMPTY);
    expect_error("ints that may be left out", rd_mode(x, RD_ALL, .where = few), RD_ERR_EMPTY);
    expect_error("weights", rd_mode(x, RD_ALL, .weights = x), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(shapes_of_groups)
{
    rd_expr *x   = rd_coord(rd_broadcast(rd_int(ctx, 0), RD_SHAPE(2, 3, 4)), 1);
    rd_expr *row = leaf_shape(RD_I32, RD_SHAPE(3, 1), VALUES(1, 0, 1)), *one = rd_int(ctx, 1);

    x = rd_cast(rd_broadcast(x, RD_SHAPE(2, 3, 4)), RD_F32);
    expect_shape("in place", rd_median(x, RD_DIMS(1), BY(row, 5)), RD_SHAPE(2, 5, 4));
    expect_shape("of the first", rd_first(x, RD_DIMS(2, 0), BY(row, 5)), RD_SHAPE(5, 3));
    expect_shape("kept", rd_mode(x, RD_KEEP(2, 0), BY(row, 5)), RD_SHAPE(5, 3, 1));
    expect_shape("several labels",
                 rd_last(x, RD_DIMS(1), .by = RD_EXPRS(row, one), .groups = RD_SHAPE(5, 6)),
                 RD_SHAPE(2, 5, 6, 4));
    expect_shape("several quantiles", rd_quantiles(x, RD_QS(0, 0.5, 1), RD_KEEP(1, 2), BY(row, 5)),
                 RD_SHAPE(3, 2, 5, 1));
    expect_shape("no group", rd_median(x, RD_ALL, BY(one, 0)), RD_SHAPE(0));
    expect_shape("nothing reduced", rd_mode(x, RD_NONE, BY(one, 2)), RD_SHAPE(2, 3, 4, 2));
    expect("rows", rd_slice(rd_median(x, RD_DIMS(1), BY(row, 2)), "1, :, 0"), RD_F32, VALUES(1, 1));
    expect("bins",
           rd_median(leaf(RD_F64, VALUES(0.1, 0.2, 0.9, 0.7, 0.3)), RD_ALL,
                     BY(rd_bins(leaf(RD_F64, VALUES(0.1, 0.2, 0.9, 0.7, 0.3)), 2, 0, 1), 2)),
           RD_F64, VALUES(0.2, 0.8));
}
END_TEST

/* ---- Beside a loop over groups --------------------------------------------------------------- */
enum { N = 700, ROWS = 3 };

static float   values[ROWS * N];
static int32_t labels[N];
static uint8_t masks[ROWS * N];

/* Each row has NaN in some groups, ties, and groups of no element. */
static void fill(unsigned seed, int groups)
{
    for (int k = 0; k < ROWS * N; k++) {
        seed      = seed * 1664525U + 1013904223U;
        values[k] = (float)((seed >> 10) % 97) / 8 - 5;
        masks[k]  = seed >> 28 != 0;
        if ((seed >> 20) % 331 == 0)
            values[k] = NAN;
        if (k < N)
            labels[k] = (int32_t)((seed >> 7) % (unsigned)(groups + 2)) - 1;
    }
}

typedef rd_expr *build(rd_expr *x, rd_dims d, rd_expr *where, bool skip, rd_exprs by, rd_shape n);
#define BUILD(name, ...)                                                                           \
    static rd_expr *name(rd_expr *x, rd_dims d, rd_expr *where, bool skip, rd_exprs l, rd_shape n) \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define HOW d, .where = where, .skip_nan = skip, .by = l, .groups = n
BUILD(first, rd_first(x, HOW))
BUILD(last, rd_last(x, HOW))
BUILD(median, rd_median(x, HOW))
BUILD(linear, rd_quantile(x, 0.3, HOW))
BUILD(lower, rd_quantile(x, 0.3, HOW, .method = RD_LOWER))
BUILD(higher, rd_quantile(x, 0.3, HOW, .method = RD_HIGHER))
BUILD(nearest, rd_quantile(x, 0.3, HOW, .method = RD_NEAREST))
BUILD(midpoint, rd_quantile(x, 0.3, HOW, .method = RD_MIDPOINT))
BUILD(inverted, rd_quantile(x, 0.25, HOW, .method = RD_INVERTED_CDF))
BUILD(averaged, rd_quantile(x, 0.25, HOW, .method = RD_AVERAGED_CDF))
BUILD(closest, rd_quantile(x, 0.25, HOW, .method = RD_CLOSEST))
BUILD(interpolated, rd_quantile(x, 0.7, HOW, .method = RD_INTERPOLATED_CDF))
BUILD(hazen, rd_quantile(x, 0.7, HOW, .method = RD_HAZEN))
BUILD(weibull, rd_quantile(x, 0.7, HOW, .method = RD_WEIBULL))
BUILD(unbiased, rd_quantile(x, 0.1, HOW, .method = RD_MEDIAN_UNBIASED))
BUILD(normal, rd_quantile(x, 0.9, HOW, .method = RD_NORMAL_UNBIASED))
BUILD(mode, rd_mode(x, HOW))
BUILD(count, rd_cast(rd_mode_count(x, HOW), RD_F32))

static const struct {
    const char *what;
    build      *build;
} kinds[] = {
    { "first", first },
    { "last", last },
    { "median", median },
    { "linear", linear },
    { "lower", lower },
    { "higher", higher },
    { "nearest", nearest },
    { "midpoint", midpoint },
    { "inverted", inverted },
    { "averaged", averaged },
    { "closest", closest },
    { "interpolated", interpolated },
    { "hazen", hazen },
    { "weibull", weibull },
    { "median unbiased", unbiased },
    { "normal unbiased", normal },
    { "mode", mode },
    { "count", count },
};

static void same_as_loop(int kind, int groups, bool mask, bool skip)
{
    static float   all[ROWS * 300], one[ROWS];
    static int32_t group;
    rd_expr *const x = rd_wrap(ctx, values, RD_SHAPE(ROWS, N)), *const g = rd_wrap(ctx, labels,
                                                                                   RD_SHAPE(N));
    rd_expr *const where =
        mask ? rd_ne(rd_wrap(ctx, masks, RD_SHAPE(ROWS, N)), rd_int(ctx, 0)) : NULL;
    rd_expr *const y = kinds[kind].build(x, RD_DIMS(1), where, skip, RD_EXPRS(g), RD_SHAPE(groups));

    ck_assert_msg(rd_eval(ctx, y, RD_INTO(all, RD_SHAPE(ROWS, groups))) == RD_OK, "%s: %s",
                  kinds[kind].what, rd_error_text(ctx));
    /* the group is read from memory, so that all of them are one plan */
    rd_expr *const of = rd_eq(g, rd_wrap(ctx, &group, RD_SCALAR));
    rd_expr *const z  = kinds[kind].build(x, RD_DIMS(1), where ? rd_and(where, of) : of, skip,
                                          (rd_exprs){ 0 }, (rd_shape){ 0 });

    for (group = 0; group < groups; group++) {
        ck_assert(rd_eval(ctx, z, RD_INTO(one, RD_SHAPE(ROWS))) == RD_OK);
        for (int r = 0; r < ROWS; r++) {
            const float a = all[r * groups + group], b = one[r];

            ck_assert_msg(a == b || (isnan(a) && isnan(b)),
                          "%s, row %d, group %d of %d: %a, not %a", kinds[kind].what, r, (int)group,
                          groups, (double)a, (double)b);
        }
    }
}

START_TEST(same_as_a_loop_over_groups)
{
    static const int groups[] = { 1, 7, 299 };

    for (int kind = 0; kind < (int)COUNT(kinds); kind++)
        for (int k = 0; k < (int)COUNT(groups); k++) {
            if (k == 2 && kind % 5)
                continue; /* a loop over many groups takes its time */
            const rd_mark mark = rd_ctx_mark(ctx);

            fill((unsigned)(kind * 77 + k), groups[k]);
            same_as_loop(kind, groups[k], kind % 2, k == 1);
            rd_ctx_release(ctx, mark);
        }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { ends_by_label, quantiles_by_label, modes_by_label,
                                   shapes_of_groups, same_as_a_loop_over_groups };

    return run_suite("semantics_groups", tests, COUNT(tests));
}

/* docs/semantics.md on running places, scans that begin anew, and both extremes. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(running_places)
{
    rd_expr *x = leaf(RD_F32, VALUES(3, 1, 4, 1, 5)), *i = leaf(RD_U8, VALUES(2, 2, 9, 0));
    rd_expr *nan = leaf(RD_F64, VALUES(1, 0, NAN, -1)), *no = leaf(RD_BOOL, VALUES(0, 0, 1, 1));
    rd_expr *m = leaf_shape(RD_I32, RD_SHAPE(2, 2), VALUES(1, 2, 0, 3));

    expect("least", rd_scan(x, "argmin", RD_DIMS(0)), RD_I64, VALUES(0, 1, 1, 1, 1));
    expect("greatest", rd_scan(x, "argmax", RD_DIMS(0)), RD_I64, VALUES(0, 0, 2, 2, 4));
    expect("from the end", rd_scan(x, "argmin", RD_DIMS(0), .reverse = true), RD_I64,
           VALUES(1, 1, 3, 3, 4));
    expect("before", rd_scan(i, "argmax", RD_DIMS(0), .exclusive = true), RD_I64,
           VALUES(-1, 0, 0, 2));
    expect("NaN", rd_scan(nan, "argmin", RD_DIMS(0)), RD_I64, VALUES(0, 1, 2, 2));
    expect("skipped", rd_scan(nan, "argmin", RD_DIMS(0), .skip_nan = true), RD_I64,
           VALUES(0, 1, 1, 3));
    expect("some", rd_scan(nan, "argmax", RD_DIMS(0), .where = no), RD_I64, VALUES(-1, -1, 2, 2));
    expect("columns", rd_scan(m, "argmin", RD_DIMS(0)), RD_I64, VALUES(0, 0, 1, 0));
}
END_TEST

START_TEST(restarts)
{
    rd_expr *x   = leaf(RD_F32, VALUES(1, 2, 3, 4, 5, 6)),
            *r   = leaf(RD_BOOL, VALUES(0, 0, 1, 0, 0, 1));
    rd_expr *odd = leaf(RD_BOOL, VALUES(1, 0, 1, 0, 1, 0)), *b = leaf(RD_I8, VALUES(3, 0, 1, 2));
    rd_expr *labels = leaf(RD_I32, VALUES(7, 7, 2, 2, 2, 7)), *w = leaf(RD_F64, VALUES(1, NAN, 2));
    rd_expr *m = leaf_shape(RD_I32, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));

    expect("sum", rd_scan(x, "sum", RD_DIMS(0), .restart = r), RD_F32, VALUES(1, 3, 3, 7, 12, 6));
    expect("before", rd_scan(x, "sum", RD_DIMS(0), .restart = r, .exclusive = true), RD_F32,
           VALUES(0, 1, 0, 3, 7, 0));
    expect("from the end", rd_scan(x, "sum", RD_DIMS(0), .restart = r, .reverse = true), RD_F32,
           VALUES(6, 5, 3, 15, 11, 6));
    expect("prod", rd_scan(x, "prod", RD_DIMS(0), .restart = r), RD_F32,
           VALUES(1, 2, 3, 12, 60, 6));
    expect("prod before", rd_scan(x, "prod", RD_DIMS(0), .restart = r, .exclusive = true), RD_F32,
           VALUES(1, 1, 1, 3, 12, 1));
    expect("min", rd_scan(rd_neg(x), "min", RD_DIMS(0), .restart = r), RD_F32,
           VALUES(-1, -2, -3, -4, -5, -6));
    expect("max", rd_scan(rd_neg(x), "max", RD_DIMS(0), .restart = r), RD_F32,
           VALUES(-1, -1, -3, -3, -3, -6));
    expect("mean", rd_scan(x, "mean", RD_DIMS(0), .restart = r), RD_F32,
           VALUES(1, 1.5, 3, 3.5, 4, 6));
    expect("some", rd_scan(x, "sum", RD_DIMS(0), .restart = r, .where = odd), RD_F32,
           VALUES(1, 1, 3, 3, 8, 0));
    expect("mean of some", rd_scan(x, "mean", RD_DIMS(0), .restart = r, .where = odd), RD_F32,
           VALUES(1, 1, 3, 3, 4, NAN));
    expect("count", rd_scan(b, "count", RD_DIMS(0), .restart = rd_eq(b, rd_int(ctx, 1))), RD_I64,
           VALUES(1, 1, 1, 2));
    expect("any", rd_scan(odd, "any", RD_DIMS(0), .restart = r), RD_BOOL, VALUES(1, 1, 1, 1, 1, 0));
    expect("all before", rd_scan(odd, "all", RD_DIMS(0), .restart = r, .exclusive = true), RD_BOOL,
           VALUES(1, 1, 1, 1, 0, 1));
    expect("NaN ends with its run",
           rd_scan(w, "max", RD_DIMS(0), .restart = leaf(RD_BOOL, VALUES(0, 0, 1))), RD_F64,
           VALUES(1, NAN, 2));
    expect("each run of a label",
           rd_scan(x, "sum", RD_DIMS(0),
                   .restart = rd_pad(rd_diff(labels, 0, 1), 0, 1, 0, RD_PAD_CONSTANT, NULL)),
           RD_F32, VALUES(1, 3, 3, 7, 12, 6));
    expect("columns", rd_scan(m, "sum", RD_DIMS(0), .restart = leaf(RD_BOOL, VALUES(0, 1, 0))),
           RD_I64, VALUES(1, 2, 3, 5, 5, 9));
    expect("initial", rd_scan(x, "sum", RD_DIMS(0), .restart = r, .initial = rd_num(ctx, 100)),
           RD_F32, VALUES(101, 103, 103, 107, 112, 106));
    expect("complex", rd_imag(rd_scan(rd_complex(x, x), "sum", RD_DIMS(0), .restart = r)), RD_F32,
           VALUES(1, 3, 3, 7, 12, 6));
    expect_error("var", rd_scan(x, "var", RD_DIMS(0), .restart = r), RD_ERR_ARGUMENT);
    expect_error("argmin", rd_scan(x, "argmin", RD_DIMS(0), .restart = r), RD_ERR_ARGUMENT);
    expect_error("no scan", rd_sum(x, RD_DIMS(0), .restart = r), RD_ERR_ARGUMENT);
    expect("min of some", rd_scan(x, "min", RD_DIMS(0), .restart = r, .where = odd), RD_F32,
           VALUES(1, 1, 3, 3, 3, NAN));
    expect(
        "max before",
        rd_scan(x, "max", RD_DIMS(0), .restart = r, .exclusive = true, .initial = rd_num(ctx, 0)),
        RD_F32, VALUES(0, 1, 0, 3, 4, 0));
    expect("min of ints before, from the end",
           rd_scan(b, "min", RD_DIMS(0), .restart = rd_eq(b, rd_int(ctx, 1)), .exclusive = true,
                   .reverse = true, .initial = rd_int(ctx, 7)),
           RD_I8, VALUES(0, 1, 7, 7));
    expect("max of some ints",
           rd_scan(b, "max", RD_DIMS(0), .restart = rd_eq(b, rd_int(ctx, 1)),
                   .initial = rd_int(ctx, -5), .where = rd_ne(b, rd_int(ctx, 3))),
           RD_I8, VALUES(-5, 0, 1, 2));
    expect(
        "NaN skipped",
        rd_scan(w, "max", RD_DIMS(0), .restart = leaf(RD_BOOL, VALUES(0, 1, 0)), .skip_nan = true),
        RD_F64, VALUES(1, NAN, 2));
    expect("norm", rd_scan(rd_neg(x), "norm", RD_DIMS(0), .restart = r, .p = INFINITY), RD_F32,
           VALUES(1, 2, 3, 4, 5, 6));
    expect("norm before",
           rd_scan(x, "norm", RD_DIMS(0), .restart = r, .p = INFINITY, .exclusive = true), RD_F32,
           VALUES(0, 1, 0, 3, 4, 0));
    expect("norm of some",
           rd_scan(x, "norm", RD_DIMS(0), .restart = r, .p = INFINITY, .where = odd), RD_F32,
           VALUES(1, 1, 3, 3, 5, 0));
    expect("least norm", rd_scan(x, "norm", RD_DIMS(0), .restart = r, .p = -INFINITY, .where = odd),
           RD_F32, VALUES(1, 1, 3, 3, 3, INFINITY));
    expect_error("complex prod", rd_scan(rd_complex(x, x), "prod", RD_DIMS(0), .restart = r),
                 RD_ERR_ARGUMENT);
    expect_error("shape", rd_scan(x, "sum", RD_DIMS(0), .restart = b), RD_ERR_SHAPE);
}
END_TEST

/* How many stages an evaluation of these has. */
static int stages_of(rd_results results)
{
    static const char head[] = "\nstage ";
    const char       *text   = rd_explain(ctx, results, NULL);
    int               n      = 0;

    ck_assert_msg(text != NULL, "%s", rd_error_text(ctx));
    for (text = strstr(text, head); text; text = strstr(text + 1, head))
        n++;
    return n;
}

START_TEST(both_extremes)
{
    rd_expr *x     = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(4, 1, 3, 2, NAN, 7)),
            *none  = leaf(RD_I32, NULL, 0);
    rd_array least = { 0 }, place = { 0 };

    expect("rows", rd_minmax(x, RD_DIMS(1)), RD_F32, VALUES(1, NAN, 4, NAN));
    expect("skipped", rd_minmax(x, RD_DIMS(1), .skip_nan = true), RD_F32, VALUES(1, 2, 4, 7));
    expect("all", rd_minmax(rd_slice(x, "0"), RD_ALL), RD_F32, VALUES(1, 4));
    expect_shape("kept", rd_minmax(x, RD_KEEP(0)), RD_SHAPE(2, 1, 3));
    expect("one of them", rd_select(rd_minmax(x, RD_DIMS(0)), 0, 1), RD_F32, VALUES(4, NAN, 7));
    expect_error("nothing", rd_minmax(none, RD_ALL), RD_ERR_EMPTY);
    ck_assert_int_eq(stages_of(RD_RESULTS({ rd_minmax(x, RD_DIMS(1)), &least })), 1);
    ck_assert_int_eq(stages_of(RD_RESULTS({ rd_min(x, RD_DIMS(1)), &least },
                                          { rd_argmin(x, RD_DIMS(1)), &place })),
                     1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { running_places, restarts, both_extremes };

    return run_suite("semantics_scans", tests, COUNT(tests));
}

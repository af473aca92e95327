/* test_semantics_along.c - slopes, convolutions, values between points, fills, ranks, means by distance:
 * what looks along an axis, beside loops written out, and NumPy's numbers. */
#include "values.h"

#include <math.h>
#include <string.h>

enum { MOST = 100 };

/* Numbers from -1 to 1 without an order; every fifth one is NaN where that is asked for. */
static void fill(double *x, int n, int seed, bool holes)
{
    for (int k = 0; k < n; k++)
        x[k] = holes && (k * 7 + seed) % 5 == 0 ? NAN : ((k * 37 + seed * 11) % 101) / 50.5 - 1;
}

static rd_expr *row(const double *x, int n)
{
    return rd_wrap(ctx, x, RD_SHAPE(n));
}

/* The elements of y are those, to some roundings. */
static void near(const char *what, rd_expr *y, const double *want, int n)
{
    double *const got = malloc((size_t)n * sizeof *got);
    rd_array      out = { .data = got, .type = RD_F64, .shape = RD_SHAPE(n) };

    ck_assert_msg(y && rd_eval(ctx, y, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int k = 0; k < n; k++)
        ck_assert_msg(got[k] == want[k] || (isnan(got[k]) && isnan(want[k])) ||
                          fabs(got[k] - want[k]) <= 1e-13 * (1 + fabs(want[k])),
                      "%s: element %d of %d is %.17g, not %.17g", what, k, n, got[k], want[k]);
    free(got);
}

/* ---- Slopes ---------------------------------------------------------------------------------- */
/* NumPy's numbers. */
START_TEST(gradients)
{
    rd_expr *const y = leaf(RD_F64, VALUES(1, 4, 9, 16, 30)), *const x = leaf(
                                                                  RD_F64, VALUES(0, 1, 3, 4, 8));
    rd_expr *const one = rd_int(ctx, 1);

    expect("order 1", rd_gradient(y, one, 0, 1), RD_F64, VALUES(3, 4, 6, 10.5, 14));
    expect("order 2", rd_gradient(y, one, 0, 2), RD_F64, VALUES(2, 4, 6, 10.5, 17.5));
    expect("steps of 1/2", rd_gradient(y, rd_num(ctx, 0.5), -1, 1), RD_F64,
           VALUES(6, 8, 12, 21, 28));
    near("positions", rd_gradient(y, x, 0, 1), (const double[]){ 3, 17. / 6, 5.5, 6.3, 3.5 }, 5);
    near("positions, order 2", rd_gradient(y, x, 0, 2),
         (const double[]){ 19. / 6, 17. / 6, 5.5, 6.3, 0.7 }, 5);
    expect("two", rd_gradient(rd_slice(y, ":2"), one, 0, 1), RD_F64, VALUES(3, 3));
    expect("three", rd_gradient(rd_slice(y, ":3"), one, 0, 2), RD_F64, VALUES(2, 4, 6));
    expect("ints", rd_gradient(leaf(RD_U8, VALUES(9, 4, 1)), one, 0, 1), RD_F64,
           VALUES(-5, -4, -3));
    expect("halves", rd_gradient(leaf(RD_F16, VALUES(9, 4, 1)), one, 0, 1), RD_F16,
           VALUES(-5, -4, -3));
    expect("an infinity", rd_gradient(leaf(RD_F32, VALUES(1, INFINITY, 2, 3, 4)), one, 0, 1),
           RD_F32, VALUES(INFINITY, 0.5, -INFINITY, 1, 1));
    expect("complex", rd_imag(rd_gradient(rd_complex(y, y), one, 0, 1)), RD_F64,
           VALUES(3, 4, 6, 10.5, 14));
    expect("axis 0", rd_gradient(rd_reshape(rd_slice(y, ":4"), RD_SHAPE(2, 2)), one, 0, 1), RD_F64,
           VALUES(8, 12, 8, 12));
    expect_error("one", rd_gradient(rd_slice(y, ":1"), one, 0, 1), RD_ERR_SHAPE);
    expect_error("two of order 2", rd_gradient(rd_slice(y, ":2"), one, 0, 2), RD_ERR_SHAPE);
    expect_error("order", rd_gradient(y, one, 0, 3), RD_ERR_ARGUMENT);
    expect_error("positions that are too few", rd_gradient(y, rd_slice(x, ":3"), 0, 1),
                 RD_ERR_SHAPE);
    expect_error("axis", rd_gradient(y, one, 1, 1), RD_ERR_AXIS);
    expect_error("complex positions", rd_gradient(y, rd_complex(x, x), 0, 1), RD_ERR_TYPE);
    expect_error("a complex distance", rd_gradient(y, rd_cnum(ctx, 1, 1), 0, 1), RD_ERR_TYPE);
}
END_TEST

/* ---- Convolutions ---------------------------------------------------------------------------- */
/* All results, as the sums that they are; NumPy's modes of them. */
static int convolved(const double *x, int n, const double *k, int m, rd_convolve_mode mode,
                     bool correlate, double *want)
{
    const int less = n < m ? n : m, more = n < m ? m : n;
    const int middle = correlate && m > n ? less / 2 : (less - 1) / 2;
    const int first  = mode == RD_CONVOLVE_FULL ? 0 : mode == RD_CONVOLVE_SAME ? middle : less - 1;
    const int count  = mode == RD_CONVOLVE_FULL   ? n + m - 1
                       : mode == RD_CONVOLVE_SAME ? more
                                                  : more - less + 1;

    for (int i = 0; i < count; i++) {
        want[i] = 0;
        for (int j = 0; j < m; j++) {
            const int at = first + i - j;

            if (at >= 0 && at < n)
                want[i] += x[at] * k[correlate ? m - 1 - j : j];
        }
    }
    return count;
}

START_TEST(convolutions)
{
    static const int sizes[] = { 1, 2, 3, 4, 7, 33 };
    double           x[MOST], k[MOST], want[MOST];

    fill(x, MOST, 1, false);
    fill(k, MOST, 2, false);
    for (size_t a = 0; a < COUNT(sizes); a++)
        for (size_t b = 0; b < COUNT(sizes); b++)
            for (int mode = 0; mode < 3; mode++) {
                const int n = sizes[a], m = sizes[b];
                int       count = convolved(x, n, k, m, (rd_convolve_mode)mode, false, want);

                near("convolve", rd_convolve(row(x, n), row(k, m), 0, (rd_convolve_mode)mode), want,
                     count);
                count = convolved(x, n, k, m, (rd_convolve_mode)mode, true, want);
                near("correlate", rd_correlate(row(x, n), row(k, m), 0, (rd_convolve_mode)mode),
                     want, count);
            }
}
END_TEST

START_TEST(convolutions_of_any_type)
{
    rd_expr *const x = leaf(RD_I8, VALUES(100, 100, -3)), *const k = leaf(RD_I8, VALUES(1, 2));
    rd_expr *const b = leaf(RD_BOOL, VALUES(1, 0, 0)), *const two = leaf(RD_BOOL, VALUES(1, 1));
    rd_expr *const far = leaf(RD_F64, VALUES(INFINITY, 1));

    expect("ints wrap", rd_convolve(x, k, 0, RD_CONVOLVE_FULL), RD_I8, VALUES(100, 44, -59, -6));
    expect("bools", rd_convolve(b, two, 0, RD_CONVOLVE_FULL), RD_BOOL, VALUES(1, 1, 0, 0));
    expect("what hangs over takes no part",
           rd_convolve(leaf(RD_F64, VALUES(1, 2, 3)), far, 0, RD_CONVOLVE_FULL), RD_F64,
           VALUES(INFINITY, INFINITY, INFINITY, 3));
    expect("conjugates",
           rd_imag(rd_correlate(rd_complex(rd_num(ctx, 0), leaf(RD_F64, VALUES(1, 2))),
                                rd_complex(rd_num(ctx, 0), leaf(RD_F64, VALUES(1))), 0,
                                RD_CONVOLVE_FULL)),
           RD_F64, VALUES(0, 0));
    expect("conjugates of a longer kernel",
           rd_imag(rd_correlate(rd_complex(rd_num(ctx, 0), leaf(RD_F64, VALUES(1))),
                                leaf(RD_F64, VALUES(1, 2)), 0, RD_CONVOLVE_FULL)),
           RD_F64, VALUES(2, 1));
    expect("conjugates of a longer kernel, which is complex",
           rd_imag(rd_correlate(leaf(RD_F64, VALUES(1, 3)),
                                rd_complex(rd_num(ctx, 0), leaf(RD_F64, VALUES(1, 2, 4))), 0,
                                RD_CONVOLVE_FULL)),
           RD_F64, VALUES(-4, -14, -7, -3));
    expect("along axis 0",
           rd_convolve(leaf_shape(RD_F64, RD_SHAPE(2, 2), VALUES(1, 2, 3, 4)),
                       leaf(RD_F64, VALUES(1, -1)), 0, RD_CONVOLVE_VALID),
           RD_F64, VALUES(2, 2));
    ck_assert_ptr_eq(rd_convolve(k, x, 0, RD_CONVOLVE_SAME),
                     rd_convolve(x, k, 0, RD_CONVOLVE_SAME));
    expect_error("no row", rd_convolve(x, rd_int(ctx, 1), 0, RD_CONVOLVE_FULL), RD_ERR_SHAPE);
    expect_error("an empty row", rd_convolve(x, rd_slice(k, "2:"), 0, RD_CONVOLVE_FULL),
                 RD_ERR_SHAPE);
    expect_error("of nothing", rd_convolve(rd_slice(x, "3:"), k, 0, RD_CONVOLVE_FULL),
                 RD_ERR_SHAPE);
    expect_error("mode", rd_convolve(x, k, 0, (rd_convolve_mode)3), RD_ERR_ARGUMENT);
    expect_error("axis", rd_correlate(x, k, 1, RD_CONVOLVE_FULL), RD_ERR_AXIS);
}
END_TEST

/* ---- Between points -------------------------------------------------------------------------- */
START_TEST(interpolation)
{
    rd_expr *const xp = leaf(RD_F64, VALUES(0, 1, 3)), *const fp = leaf(RD_F64, VALUES(1, 3, -1));
    rd_expr *const x    = leaf(RD_F64, VALUES(-1, 0, 0.5, 1, 2.5, 3, 4, NAN));
    rd_expr *const down = rd_flip(xp, RD_ALL), *const turned = rd_flip(fp, RD_ALL);
    rd_expr *const low = rd_num(ctx, 7), *const nan = rd_num(ctx, NAN);

    expect("lines", rd_interp(x, xp, fp, 0, NULL, NULL), RD_F64,
           VALUES(1, 1, 2, 3, 0, -1, -1, NAN));
    expect("beyond", rd_interp(x, xp, fp, 0, low, nan), RD_F64,
           VALUES(7, 1, 2, 3, 0, -1, NAN, NAN));
    expect("positions that descend", rd_interp(x, down, turned, 0, low, nan), RD_F64,
           VALUES(7, 1, 2, 3, 0, -1, NAN, NAN));
    expect("positions that descend, their ends", rd_interp(x, down, turned, 0, NULL, low), RD_F64,
           VALUES(1, 1, 2, 3, 0, -1, 7, NAN));
    expect("one point", rd_interp(x, rd_slice(xp, ":1"), rd_slice(fp, ":1"), 0, low, nan), RD_F64,
           VALUES(7, 1, NAN, NAN, NAN, NAN, NAN, NAN));
    expect("halves", rd_interp(x, xp, rd_cast(fp, RD_F16), 0, NULL, NULL), RD_F16,
           VALUES(1, 1, 2, 3, 0, -1, -1, NAN));
    expect("ints",
           rd_interp(leaf(RD_I32, VALUES(0, 2)), xp, leaf(RD_I32, VALUES(0, 1, 2)), 0, NULL, NULL),
           RD_F64, VALUES(0, 1.5));
    expect("an infinite value",
           rd_interp(x, xp, leaf(RD_F64, VALUES(INFINITY, 3, 3)), 0, NULL, NULL), RD_F64,
           VALUES(INFINITY, INFINITY, INFINITY, 3, 3, 3, 3, NAN));
    expect("a step",
           rd_interp(leaf(RD_F64, VALUES(0.5, 1, 1.5)), leaf(RD_F64, VALUES(0, 1, 1, 2)),
                     leaf(RD_F64, VALUES(0, 1, 5, 6)), 0, NULL, NULL),
           RD_F64, VALUES(0.5, 5, 5.5));
    expect("complex", rd_imag(rd_interp(x, xp, rd_complex(fp, fp), 0, NULL, NULL)), RD_F64,
           VALUES(1, 1, 2, 3, 0, -1, -1, NAN));
    expect("columns",
           rd_interp(leaf(RD_F64, VALUES(0.5, 2)), xp,
                     leaf_shape(RD_F64, RD_SHAPE(3, 2), VALUES(1, 10, 3, 30, -1, 50)), 0, NULL,
                     NULL),
           RD_F64, VALUES(2, 20, 1, 40));
    expect_shape("one number", rd_interp(rd_num(ctx, 2), xp, fp, 0, NULL, NULL), RD_SCALAR);
    expect_shape("one number, one point",
                 rd_interp(rd_num(ctx, 2), rd_slice(xp, ":1"), rd_slice(fp, ":1"), 0, low, NULL),
                 RD_SCALAR);
    expect_shape("x in place of the axis",
                 rd_interp(rd_broadcast(rd_num(ctx, 1), RD_SHAPE(4, 5)), xp,
                           rd_broadcast(fp, RD_SHAPE(2, 3)), 1, NULL, NULL),
                 RD_SHAPE(2, 4, 5));
    expect("a number", rd_interp(rd_num(ctx, 0.5), xp, fp, 0, low, nan), RD_F64, VALUES(2));
    expect_shape("a number", rd_interp(rd_num(ctx, 0.5), xp, fp, 0, low, nan), RD_SCALAR);
    expect_error("no point", rd_interp(x, rd_slice(xp, "3:"), rd_slice(fp, "3:"), 0, NULL, NULL),
                 RD_ERR_SHAPE);
    expect_error("not as many", rd_interp(x, xp, rd_slice(fp, "1:"), 0, NULL, NULL), RD_ERR_SHAPE);
    expect_error("complex positions", rd_interp(rd_complex(x, x), xp, fp, 0, NULL, NULL),
                 RD_ERR_TYPE);
}
END_TEST

/* ---- Fills ----------------------------------------------------------------------------------- */
START_TEST(fills)
{
    rd_expr *const x = leaf(RD_F32, VALUES(NAN, 1, NAN, NAN, NAN, -0.0, NAN, INFINITY, NAN));
    rd_expr *const z = rd_complex(x, rd_num(ctx, 2));

    expect("ffill", rd_ffill(x, 0, 0), RD_F32,
           VALUES(NAN, 1, 1, 1, 1, -0.0, -0.0, INFINITY, INFINITY));
    expect("bfill", rd_bfill(x, 0, 0), RD_F32,
           VALUES(1, 1, -0.0, -0.0, -0.0, -0.0, INFINITY, INFINITY, NAN));
    expect("ffill, at most 2", rd_ffill(x, 0, 2), RD_F32,
           VALUES(NAN, 1, 1, 1, NAN, -0.0, -0.0, INFINITY, INFINITY));
    expect("bfill, at most 1", rd_bfill(x, 0, 1), RD_F32,
           VALUES(1, 1, NAN, NAN, -0.0, -0.0, INFINITY, INFINITY, NAN));
    expect("complex", rd_real(rd_ffill(z, 0, 0)), RD_F32,
           VALUES(NAN, 1, 1, 1, 1, -0.0, -0.0, INFINITY, INFINITY));
    expect("axis 0",
           rd_ffill(leaf_shape(RD_F64, RD_SHAPE(3, 2), VALUES(1, NAN, NAN, 2, 3, NAN)), 0, 0),
           RD_F64, VALUES(1, NAN, 1, 2, 3, 2));
    expect("axis -1",
           rd_bfill(leaf_shape(RD_F64, RD_SHAPE(3, 2), VALUES(1, NAN, NAN, 2, 3, NAN)), -1, 0),
           RD_F64, VALUES(1, NAN, 2, 2, 3, NAN));
    ck_assert_ptr_eq(rd_ffill(rd_cast(x, RD_I32), 0, 0), rd_cast(x, RD_I32));
    expect_shape("of nothing", rd_ffill(rd_slice(x, "9:"), 0, 0), RD_SHAPE(0));
    expect_error("limit", rd_ffill(x, 0, -1), RD_ERR_ARGUMENT);
    expect_error("axis", rd_bfill(x, 1, 0), RD_ERR_AXIS);
}
END_TEST

/* ---- Ranks ----------------------------------------------------------------------------------- */
static double rank_of(const double *x, int n, int k, rd_rank_method method)
{
    int below = 0, equal = 0, before = 0, distinct = 0;

    for (int i = 0; i < n; i++) {
        below += x[i] < x[k];
        equal += x[i] == x[k];
        before += i < k && x[i] == x[k];
        bool first = x[i] < x[k];
        for (int j = 0; j < i; j++)
            first &= x[j] != x[i];
        distinct += first;
    }
    switch (isnan(x[k]) ? -1 : (int)method) {
    case RD_RANK_AVERAGE: return below + (equal + 1) / 2.;
    case RD_RANK_MIN: return below + 1;
    case RD_RANK_MAX: return below + equal;
    case RD_RANK_DENSE: return distinct + 1;
    case RD_RANK_ORDINAL: return below + before + 1;
    default: return NAN;
    }
}

START_TEST(ranks)
{
    double x[MOST], want[MOST];

    for (int n = 1; n < MOST; n += n < 9 ? 1 : 45)
        for (int method = 0; method <= RD_RANK_ORDINAL; method++) {
            fill(x, n, n, true);
            for (int k = 0; k < n; k++)
                x[k] = floor(x[k] * 4);
            for (int k = 0; k < n; k++)
                want[k] = rank_of(x, n, k, (rd_rank_method)method);
            near("ranks", rd_ranks(row(x, n), 0, (rd_rank_method)method), want, n);
        }
    expect(
        "axis 0",
        rd_ranks(leaf_shape(RD_I8, RD_SHAPE(3, 2), VALUES(5, 1, 5, 0, -3, 9)), 0, RD_RANK_AVERAGE),
        RD_F64, VALUES(2.5, 2, 2.5, 1, 1, 3));
    expect("-0 and infinities",
           rd_ranks(leaf(RD_F32, VALUES(0, -0.0, INFINITY, -INFINITY, NAN)), 0, RD_RANK_MIN),
           RD_F64, VALUES(2, 2, 4, 1, NAN));
    expect_shape("of nothing", rd_ranks(rd_slice(row(x, 1), "1:"), 0, RD_RANK_MIN), RD_SHAPE(0));
    expect_error("method", rd_ranks(row(x, 1), 0, (rd_rank_method)5), RD_ERR_ARGUMENT);
    expect_error("complex", rd_ranks(rd_cnum(ctx, 1, 1), 0, RD_RANK_MIN), RD_ERR_TYPE);
}
END_TEST

/* ---- Medians --------------------------------------------------------------------------------- */
START_TEST(rolling_quantiles)
{
    rd_expr *const x = leaf(RD_F32, VALUES(3, 1, 2, NAN, 5, 4, 9));

    expect("median", rd_rolling_median(x, 0, 2), RD_F32, VALUES(2, 1.5, NAN, NAN, 4.5, 6.5));
    expect("median of 3", rd_rolling_median(x, 0, 3), RD_F32, VALUES(2, NAN, NAN, NAN, 5));
    expect("the least", rd_rolling_quantile(x, 0, 0, 3), RD_F32, VALUES(1, NAN, NAN, NAN, 4));
    expect("a quarter", rd_rolling_quantile(leaf(RD_I16, VALUES(1, 5, 3)), 0.25, 0, 2), RD_F64,
           VALUES(2, 3.5));
    expect_shape("no window", rd_rolling_median(x, 0, 8), RD_SHAPE(0));
    expect_error("n", rd_rolling_median(x, 0, 0), RD_ERR_ARGUMENT);
    expect_error("q", rd_rolling_quantile(x, 1.5, 0, 2), RD_ERR_ARGUMENT);
}
END_TEST

/* Of few neighbours, and of many, that of each window by itself. */
START_TEST(rolling_medians)
{
    double x[MOST], want[MOST];

    for (int holes = 0; holes < 2; holes++)
        for (int n = 1; n < 15; n++) {
            fill(x, MOST, n, holes != 0 && n < 4);
            rd_expr *const each = rd_median(rd_window(row(x, MOST), 0, n, 1), RD_DIMS(-1));

            ck_assert(rd_eval(ctx, each, RD_INTO(want, RD_SHAPE(MOST - n + 1))) == RD_OK);
            near("median", rd_rolling_median(row(x, MOST), 0, n), want, MOST - n + 1);
        }
    expect("bools", rd_rolling_median(leaf(RD_BOOL, VALUES(1, 0, 1, 0)), 0, 3), RD_F64,
           VALUES(1, 0));
    expect("u64", rd_rolling_median(leaf(RD_U64, VALUES(3, 0, 1, 9)), 0, 3), RD_F64, VALUES(1, 1));
    expect("axis 0",
           rd_rolling_median(leaf_shape(RD_F16, RD_SHAPE(3, 2), VALUES(1, 6, 3, 4, 2, 5)), 0, 3),
           RD_F16, VALUES(2, 5));
    expect_error("complex", rd_rolling_median(rd_broadcast(rd_cnum(ctx, 1, 1), RD_SHAPE(3)), 0, 3),
                 RD_ERR_TYPE);
}
END_TEST

#define WEIGHTS(w) .weights = (w), .method = RD_INVERTED_CDF
START_TEST(weighted_quantiles)
{
    rd_expr *const x = leaf(RD_F32, VALUES(5, 1, 3, 2)), *const w =
                                                             leaf(RD_F64, VALUES(1, 2, 0, 5));
    rd_expr *const holes = leaf(RD_F32, VALUES(5, 1, NAN, 2)), *const ones = rd_num(ctx, 1);
    rd_expr *const mask = leaf(RD_BOOL, VALUES(1, 1, 1, 0));

    expect("median", rd_median(x, RD_ALL, WEIGHTS(w)), RD_F32, VALUES(2));
    expect("several", rd_quantiles(x, RD_QS(0, 0.25, 0.26, 0.875, 0.9, 1), RD_ALL, WEIGHTS(w)),
           RD_F32, VALUES(1, 1, 2, 2, 5, 5));
    expect("weights of 1", rd_quantile(x, 0.5, RD_ALL, WEIGHTS(ones)), RD_F32, VALUES(2));
    ck_assert(rd_at(ctx, rd_quantile(x, 0.5, RD_ALL, .method = RD_INVERTED_CDF), RD_SCALAR) == 2);
    expect("NaN", rd_median(holes, RD_ALL, WEIGHTS(ones)), RD_F32, VALUES(NAN));
    expect("NaN that weighs nothing", rd_median(holes, RD_ALL, WEIGHTS(w)), RD_F32, VALUES(2));
    expect("skip_nan", rd_median(holes, RD_ALL, WEIGHTS(ones), .skip_nan = true), RD_F32,
           VALUES(2));
    expect("where", rd_median(x, RD_ALL, WEIGHTS(ones), .where = mask), RD_F32, VALUES(3));
    expect("a negative weight", rd_median(x, RD_ALL, WEIGHTS(rd_sub(w, ones))), RD_F32,
           VALUES(NAN));
    expect("no weight", rd_median(x, RD_ALL, WEIGHTS(rd_num(ctx, 0))), RD_F32, VALUES(NAN));
    expect("of nothing", rd_median(rd_slice(x, "4:"), RD_ALL, WEIGHTS(ones)), RD_F32, VALUES(NAN));
    expect("axis 0, kept",
           rd_median(leaf_shape(RD_I32, RD_SHAPE(3, 2), VALUES(5, 1, 4, 2, 3, 9)), RD_KEEP(0),
                     WEIGHTS(leaf_shape(RD_I32, RD_SHAPE(3, 1), VALUES(1, 1, 3)))),
           RD_F64, VALUES(3, 9));
    expect_error("method", rd_median(x, RD_ALL, .weights = w), RD_ERR_ARGUMENT);
    expect_error(
        "by",
        rd_median(x, RD_ALL, WEIGHTS(w), .by = RD_EXPRS(rd_cast(w, RD_I64)), .groups = RD_SHAPE(6)),
        RD_ERR_ARGUMENT);
    expect_error("shape", rd_median(x, RD_ALL, WEIGHTS(rd_slice(w, "1:"))), RD_ERR_SHAPE);
}
END_TEST

/* ---- Added at places ------------------------------------------------------------------------- */
START_TEST(scattered_sums)
{
    rd_expr *const x = leaf(RD_I32, VALUES(10, 20, 30)), *const i = leaf(
                                                             RD_I8, VALUES(0, 2, 0, -1, 3, -4));
    rd_expr *const v = leaf(RD_I32, VALUES(1, 2, 3, 4, 100, 100));
    rd_expr *const m = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 0, 0, 1, 1, 1));

    expect("again, from the end, outside", rd_scatter_add(x, 0, i, v), RD_I32, VALUES(14, 20, 36));
    expect("a number", rd_scatter_add(x, 0, i, rd_int(ctx, 1)), RD_I32, VALUES(12, 20, 32));
    expect("floats", rd_scatter_add(x, 0, i, rd_num(ctx, 0.5)), RD_F64, VALUES(11, 20, 31));
    expect("one place", rd_scatter_add(x, 0, rd_int(ctx, 1), rd_int(ctx, 5)), RD_I32,
           VALUES(10, 25, 30));
    expect("axis 1",
           rd_scatter_add(m, 1, leaf(RD_I32, VALUES(2, 2, 0)),
                          leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6))),
           RD_F64, VALUES(3, 0, 3, 7, 1, 10));
    expect("axis 0",
           rd_scatter_add(m, 0, leaf(RD_I32, VALUES(1, 1)),
                          leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6))),
           RD_F64, VALUES(0, 0, 0, 6, 8, 10));
    expect("places of rank 2",
           rd_scatter_add(x, 0, leaf_shape(RD_I32, RD_SHAPE(2, 2), VALUES(0, 1, 1, 1)),
                          rd_int(ctx, 1)),
           RD_I32, VALUES(11, 23, 30));
    expect(
        "unsigned places are not from the end",
        rd_scatter_add(x, 0, rd_cast(leaf(RD_I64, VALUES(1, -1, -2)), RD_U64), rd_slice(v, ":3")),
        RD_I32, VALUES(10, 21, 30));
    expect("indices of an axis that does not begin at 0",
           rd_scatter_add(rd_reindex(x, RD_INDEX(5)), 0, leaf(RD_I64, VALUES(7, -1, 0)),
                          rd_slice(v, ":3")),
           RD_I32, VALUES(10, 20, 31));
    expect_error("places that are floats", rd_scatter_add(x, 0, m, v), RD_ERR_TYPE);
    expect_error("shape", rd_scatter_add(x, 0, i, x), RD_ERR_SHAPE);
}
END_TEST

/* ---- Means by distance ----------------------------------------------------------------------- */
static void means(const double *x, int n, double alpha, bool adjust, double *want)
{
    double sum = 0, weight = 0;

    for (int k = 0; k < n; k++) {
        if (adjust) {
            sum    = sum * (1 - alpha) + (isnan(x[k]) ? 0 : x[k]);
            weight = weight * (1 - alpha) + !isnan(x[k]);
        } else {
            sum    = k ? (1 - alpha) * sum + alpha * x[k] : x[k];
            weight = 1;
        }
        want[k] = sum / weight;
    }
}

START_TEST(exponential_means)
{
    static const int sizes[] = { 1, 2, 31, 32, 33, 64, 65, 100 };
    double           x[MOST], want[MOST];

    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int t = 0; t < 6; t++) {
            const double alpha = t < 2 ? 0.1 : t < 4 ? 0.5 : 0.01;
            const int    n     = sizes[k];

            fill(x, n, n, t % 2 == 0);
            means(x, n, alpha, t % 2 == 0, want);
            near("mean", rd_ewm_mean(row(x, n), 0, alpha, t % 2 == 0), want, n);
        }
    expect("alpha 1", rd_ewm_mean(leaf(RD_F32, VALUES(3, 1, 2)), 0, 1, true), RD_F32,
           VALUES(3, 1, 2));
    expect("an infinity",
           rd_ewm_mean(leaf(RD_F32, VALUES(1, 1, INFINITY, 1, -INFINITY)), 0, 0.5, true), RD_F32,
           VALUES(1, 1, INFINITY, INFINITY, NAN));
    for (int adjust = 0; adjust < 2; adjust++)
        expect(
            "alpha 1 of infinities",
            rd_ewm_mean(leaf(RD_F32, VALUES(1, INFINITY, 2, -INFINITY, INFINITY, 3)), 0, 1, adjust),
            RD_F32, VALUES(1, INFINITY, 2, -INFINITY, INFINITY, 3));
    expect("alpha 1 of NaN", rd_ewm_mean(leaf(RD_F32, VALUES(1, NAN, 2)), 0, 1, true), RD_F32,
           VALUES(1, NAN, 2));
    expect("alpha 1 of NaN, not adjusted",
           rd_ewm_mean(leaf(RD_F32, VALUES(1, NAN, 2)), 0, 1, false), RD_F32, VALUES(1, NAN, NAN));
    expect("NaN, not adjusted", rd_ewm_mean(leaf(RD_F32, VALUES(1, NAN, 2)), 0, 0.5, false), RD_F32,
           VALUES(1, NAN, NAN));
    expect("axis 0",
           rd_ewm_mean(leaf_shape(RD_I32, RD_SHAPE(2, 2), VALUES(1, 4, 3, 8)), 0, 0.5, false),
           RD_F64, VALUES(1, 4, 2, 6));
    expect_shape("of nothing", rd_ewm_mean(rd_slice(row(x, 1), "1:"), 0, 0.5, true), RD_SHAPE(0));
    expect_error("alpha 0", rd_ewm_mean(row(x, 1), 0, 0, true), RD_ERR_ARGUMENT);
    expect_error("alpha over 1", rd_ewm_mean(row(x, 1), 0, 1.5, true), RD_ERR_ARGUMENT);
    expect_error("complex",
                 rd_ewm_mean(rd_broadcast(rd_cnum(ctx, 1, 1), RD_SHAPE(2)), 0, 0.5, true),
                 RD_ERR_TYPE);
}
END_TEST

/* Columns side by side go by the recurrence itself, and are what each is alone. */
START_TEST(exponential_means_of_columns)
{
    enum { ROWS = 6, COLUMNS = 16 };
    static const double infinite[] = { INFINITY, -INFINITY };
    double              x[ROWS * COLUMNS], want[ROWS * COLUMNS], one[ROWS], y[ROWS];

    for (int t = 0; t < 8; t++) {
        const bool   adjust = t % 2 == 0;
        const double alpha  = t < 4 ? 0.1 : 1 - 1e-9;

        fill(x, ROWS * COLUMNS, t, t / 2 % 2 == 0);
        x[3 * COLUMNS + 1] = INFINITY;
        x[5 * COLUMNS + 2] = infinite[t % 2];
        for (int c = 0; c < COLUMNS; c++) {
            for (int k = 0; k < ROWS; k++)
                one[k] = x[k * COLUMNS + c];
            means(one, ROWS, alpha, adjust, y);
            for (int k = 0; k < ROWS; k++)
                want[k * COLUMNS + c] = y[k];
        }
        rd_expr *const all = rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS));
        rd_expr *const got = rd_ewm_mean(all, 0, alpha, adjust);

        near("columns", rd_reshape(got, RD_SHAPE(ROWS * COLUMNS)), want, ROWS * COLUMNS);
        if (t == 1)
            ck_assert_ptr_nonnull(
                strstr(rd_explain(ctx, RD_RESULTS({ got, NULL }), NULL), "scan decay"));
    }
}
END_TEST

/* One long row goes by blocks, and has no other means. */
START_TEST(exponential_means_of_a_long_row)
{
    enum { LONG = 70001 };
    double *const x = malloc(LONG * sizeof *x), *const want = malloc(LONG * sizeof *x);

    for (int adjust = 0; adjust < 2; adjust++) {
        fill(x, LONG, 3, adjust);
        means(x, LONG, 0.05, adjust, want);
        near("a long row", rd_ewm_mean(rd_wrap(ctx, x, RD_SHAPE(LONG)), 0, 0.05, adjust), want,
             LONG);
    }
    free(x);
    free(want);
}
END_TEST

/* Axes have their first index, wherever it is. */
START_TEST(origins_stay)
{
    rd_expr *const x = rd_reindex(leaf(RD_F64, VALUES(1, 4, 9)), RD_INDEX(5)), *const one =
                                                                                   rd_int(ctx, 1);

    ck_assert_int_eq(rd_origin_of(rd_gradient(x, one, 0, 1)).at[0], 5);
    ck_assert_int_eq(rd_origin_of(rd_ffill(x, 0, 0)).at[0], 5);
    ck_assert_int_eq(rd_origin_of(rd_ranks(x, 0, RD_RANK_MIN)).at[0], 5);
    ck_assert_int_eq(rd_origin_of(rd_ewm_mean(x, 0, 0.5, true)).at[0], 5);
    expect(
        "convolved",
        rd_convolve(x, rd_reindex(leaf(RD_F64, VALUES(1, 1)), RD_INDEX(-1)), 0, RD_CONVOLVE_VALID),
        RD_F64, VALUES(5, 13));
}
END_TEST

/* So that results have the coordinates of what they are made of.  Along the axis of a gradient, and of
 * what is convolved, there is none that is known. */
START_TEST(axes_that_are_known)
{
    rd_expr *const x =
        leaf_shape(RD_F64, RD_SHAPE(5, 3), VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6));
    rd_expr *const k = leaf(RD_F64, VALUES(1, 2, 1)), *const one = rd_int(ctx, 1);
    rd_expr *const along[]  = { rd_ffill(x, 0, 0),
                                rd_ffill(x, 0, 2),
                                rd_bfill(x, 0, 0),
                                rd_ranks(x, 0, RD_RANK_MIN),
                                rd_ewm_mean(x, 0, 0.5, true),
                                rd_rolling_median(x, 0, 3),
                                rd_rolling_median(x, 0, 2) };
    rd_expr *const beside[] = { rd_gradient(x, one, 0, 1), rd_convolve(x, k, 0, RD_CONVOLVE_SAME),
                                rd_convolve(x, k, 0, RD_CONVOLVE_FULL),
                                rd_median(x, RD_DIMS(0), .weights = x, .method = RD_INVERTED_CDF) };
    rd_axis_from   from;

    for (size_t i = 0; i < COUNT(along); i++)
        for (int a = 0; a < 2; a++)
            ck_assert_msg(rd_axis_source(along[i], a, &from) && from.from == x && from.axis == a &&
                              from.offset == 0,
                          "%zu, axis %d", i, a);
    for (size_t i = 0; i < COUNT(beside); i++)
        ck_assert_msg(rd_axis_source(beside[i], rd_shape_of(beside[i]).n - 1, &from) &&
                          from.from == x && from.axis == 1,
                      "%zu", i);
    ck_assert(rd_axis_source(rd_interp(k, k, rd_slice(x, ":3"), 0, NULL, NULL), 1, &from) &&
              from.axis == 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { axes_that_are_known,
                                   gradients,
                                   convolutions,
                                   convolutions_of_any_type,
                                   interpolation,
                                   fills,
                                   ranks,
                                   rolling_quantiles,
                                   rolling_medians,
                                   weighted_quantiles,
                                   scattered_sums,
                                   exponential_means,
                                   exponential_means_of_columns,
                                   exponential_means_of_a_long_row,
                                   origins_stay };

    return run_suite("semantics_along", tests, COUNT(tests));
}

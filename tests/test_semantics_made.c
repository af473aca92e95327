/* docs/semantics.md on arrays made of others, rolling reductions, and what centres and scales. */
#include "core/dtype.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Values as doubles, the caller's to free. */
static double *evaluated(const char *what, rd_expr *y, int64_t n)
{
    rd_array out  = { 0 };
    double  *made = malloc((size_t)(n + 1) * sizeof *made);
    int64_t  all  = 1;

    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int a = 0; a < out.shape.n; a++)
        all *= out.shape.at[a];
    ck_assert_msg(all == n, "%s: %d elements, not %d", what, (int)all, (int)n);
    for (int64_t i = 0; i < n; i++)
        made[i] = get(out.data, out.type, i);
    rd_array_free(&out);
    return made;
}

static void expect_near(const char *what, rd_expr *y, rd_dtype type, double tolerance,
                        const double *want, int n)
{
    double *got = evaluated(what, y, n);

    ck_assert_msg(rd_type_of(y) == type, "%s: type %d", what, (int)rd_type_of(y));
    for (int i = 0; i < n; i++)
        ck_assert_msg(isnan(want[i]) ? isnan(got[i])
                                     : want[i] == got[i] || fabs(want[i] - got[i]) <= tolerance,
                      "%s: element %d is %.9g, not %.9g", what, i, got[i], want[i]);
    free(got);
}

/* ---- Borders, copies, grids ------------------------------------------------------------------- */
START_TEST(borders)
{
    static const struct {
        const char *what;
        rd_pad_mode mode;
        int         n, before, after;
        double      want[16];
    } rows[] = {
        { "constant", RD_PAD_CONSTANT, 3, 2, 1, { 9, 9, 1, 2, 3, 9 } },
        { "of nothing", RD_PAD_CONSTANT, 0, 1, 1, { 9, 9 } },
        { "edge", RD_PAD_EDGE, 3, 2, 3, { 1, 1, 1, 2, 3, 3, 3, 3 } },
        { "reflect", RD_PAD_REFLECT, 3, 2, 2, { 3, 2, 1, 2, 3, 2, 1 } },
        { "reflect far", RD_PAD_REFLECT, 3, 5, 4, { 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3 } },
        { "reflect one", RD_PAD_REFLECT, 1, 2, 2, { 1, 1, 1, 1, 1 } },
        { "symmetric", RD_PAD_SYMMETRIC, 3, 2, 2, { 2, 1, 1, 2, 3, 3, 2 } },
        { "symmetric far", RD_PAD_SYMMETRIC, 2, 3, 5, { 2, 2, 1, 1, 2, 2, 1, 1, 2, 2 } },
        { "wrap", RD_PAD_WRAP, 3, 2, 1, { 2, 3, 1, 2, 3, 1 } },
        { "wrap far", RD_PAD_WRAP, 2, 3, 4, { 2, 1, 2, 1, 2, 1, 2, 1, 2 } },
        { "none", RD_PAD_EDGE, 3, 0, 0, { 1, 2, 3 } },
    };
    static const rd_dtype types[] = { RD_F32, RD_I8, RD_F16 };

    for (size_t k = 0; k < COUNT(rows); k++)
        for (size_t t = 0; t < COUNT(types); t++) {
            const int n = rows[k].n + rows[k].before + rows[k].after;
            rd_expr  *x = leaf(types[t], (const double[]){ 1, 2, 3 }, rows[k].n);

            expect(rows[k].what,
                   rd_pad(x, -1, rows[k].before, rows[k].after, rows[k].mode, rd_int(ctx, 9)),
                   types[t], rows[k].want, n);
            forget_leaves();
        }
    rd_expr *m = leaf_shape(RD_I32, RD_SHAPE(2, 2), VALUES(1, 2, 3, 4));
    expect("both axes",
           rd_pad(rd_pad(m, 0, 1, 0, RD_PAD_CONSTANT, NULL), 1, 0, 1, RD_PAD_EDGE, NULL), RD_I32,
           VALUES(0, 0, 0, 1, 2, 2, 3, 4, 4));
    expect_error("nothing to repeat", rd_pad(leaf(RD_F32, NULL, 0), 0, 1, 0, RD_PAD_WRAP, NULL),
                 RD_ERR_SHAPE);
    expect_error("negative", rd_pad(m, 0, -1, 0, RD_PAD_EDGE, NULL), RD_ERR_ARGUMENT);
    expect_error("axis", rd_pad(m, 2, 1, 0, RD_PAD_EDGE, NULL), RD_ERR_AXIS);
    expect_error("does not fit",
                 rd_pad(leaf(RD_U8, VALUES(1)), 0, 1, 0, RD_PAD_CONSTANT, rd_int(ctx, -1)),
                 RD_ERR_TYPE);
}
END_TEST

START_TEST(copies)
{
    rd_expr *x = leaf(RD_F32, VALUES(1, 2, 3)),
            *m = leaf_shape(RD_I32, RD_SHAPE(2, 2), VALUES(1, 2, 3, 4));
    rd_expr *part[3];

    expect("roll", rd_roll(x, 0, 1), RD_F32, VALUES(3, 1, 2));
    expect("roll back", rd_roll(x, -1, -4), RD_F32, VALUES(2, 3, 1));
    expect("roll of nothing", rd_roll(leaf(RD_F32, NULL, 0), 0, 1), RD_F32, NULL, 0);
    expect("roll rows", rd_roll(m, 0, 1), RD_I32, VALUES(3, 4, 1, 2));
    expect("repeat", rd_repeat(x, 0, 2), RD_F32, VALUES(1, 1, 2, 2, 3, 3));
    expect("repeat columns", rd_repeat(m, -1, 2), RD_I32, VALUES(1, 1, 2, 2, 3, 3, 4, 4));
    expect("repeat never", rd_repeat(x, 0, 0), RD_F32, NULL, 0);
    expect("tile", rd_tile(x, RD_SHAPE(2)), RD_F32, VALUES(1, 2, 3, 1, 2, 3));
    expect("tile both", rd_tile(m, RD_SHAPE(2, 2)), RD_I32,
           VALUES(1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4));
    expect_shape("tile in front", rd_tile(x, RD_SHAPE(2, 1)), RD_SHAPE(2, 3));
    expect("tile the last", rd_tile(m, RD_SHAPE(2)), RD_I32, VALUES(1, 2, 1, 2, 3, 4, 3, 4));
    expect_error("repeat less", rd_repeat(x, 0, -1), RD_ERR_ARGUMENT);
    expect_error("overflow", rd_repeat(x, 0, INT64_MAX / 2), RD_ERR_SHAPE);
    expect("stack", rd_stack(0, RD_EXPRS(x, rd_neg(x))), RD_F32, VALUES(1, 2, 3, -1, -2, -3));
    expect("stack last", rd_stack(-1, RD_EXPRS(x, rd_neg(x))), RD_F32, VALUES(1, -1, 2, -2, 3, -3));
    ck_assert(rd_split(x, 0, 2, part));
    expect("split", part[0], RD_F32, VALUES(1, 2));
    expect("split", part[1], RD_F32, VALUES(3));
    ck_assert(!rd_split(x, 1, 3, part) && !part[0] && !part[2]);
    expect_error("split", part[1], RD_ERR_AXIS);
    ck_assert(rd_meshgrid(RD_EXPRS(x, leaf(RD_I32, VALUES(7, 8))), part));
    expect("grid", part[0], RD_F32, VALUES(1, 1, 2, 2, 3, 3));
    expect("grid", part[1], RD_I32, VALUES(7, 8, 7, 8, 7, 8));
}
END_TEST

/* What only moves elements changes no type. */
static void keeps_type(rd_dtype type)
{
    rd_expr *const x    = rd_cast(leaf_shape(RD_U8, RD_SHAPE(2, 2), VALUES(1, 0, 1, 1)), type);
    rd_expr *const flat = rd_reshape(x, RD_SHAPE(4)), *const both[] = { x, x };
    rd_expr *const is = leaf(RD_BOOL, VALUES(1, 0)), *const at = leaf(RD_I32, VALUES(1, 0));
    rd_expr *half[2];
    const struct {
        const char *what;
        rd_expr    *y;
    } cases[] = {
        { "tril", rd_tril(x, 0) },
        { "triu", rd_triu(x, 0) },
        { "tri", rd_tri(ctx, 2, 2, 0, type) },
        { "pad", rd_pad(x, 0, 1, 1, RD_PAD_CONSTANT, NULL) },
        { "pad by a number", rd_pad(x, 0, 1, 1, RD_PAD_CONSTANT, rd_int(ctx, 1)) },
        { "edge", rd_pad(x, 0, 1, 1, RD_PAD_EDGE, NULL) },
        { "reflect", rd_pad(x, 0, 1, 1, RD_PAD_REFLECT, NULL) },
        { "symmetric", rd_pad(x, 0, 1, 1, RD_PAD_SYMMETRIC, NULL) },
        { "wrap", rd_pad(x, 0, 1, 1, RD_PAD_WRAP, NULL) },
        { "roll", rd_roll(x, 0, 1) },
        { "repeat", rd_repeat(x, 0, 2) },
        { "tile", rd_tile(x, RD_SHAPE(2, 2)) },
        { "stack", rd_stack(0, (rd_exprs){ both, 2 }) },
        { "concat", rd_concat(0, (rd_exprs){ both, 2 }) },
        { "split", rd_split(x, 0, 2, half) ? half[1] : NULL },
        { "take", rd_take(x, 0, at) },
        { "take along", rd_take_along(x, 0, rd_reshape(at, RD_SHAPE(1, 2))) },
        { "flip", rd_flip(x, RD_DIMS(0)) },
        { "diagonal", rd_diagonal(x, 0, 1, 0) },
        { "window", rd_window(x, 0, 2, 1) },
        { "where", rd_where(is, x, x) },
        { "first", rd_first(x, RD_DIMS(0)) },
        { "last", rd_last(x, RD_DIMS(0)) },
        { "shuffle", rd_shuffle(x, 0, 3) },
        { "dense", rd_dense(flat) },
        { "sort", rd_dtype_is_complex(type) ? x : rd_sort(x, 0) },
        { "top k", rd_dtype_is_complex(type) ? x : rd_top_k(x, 1, 0) },
        { "mode", rd_dtype_is_complex(type) ? x : rd_mode(x, RD_DIMS(0)) },
        { "clip", rd_dtype_is_complex(type) ? x : rd_clip(x, x, x) },
        { "min", rd_dtype_is_complex(type) ? x : rd_min(x, RD_DIMS(0)) },
        { "rolling max", rd_dtype_is_complex(type) ? x : rd_rolling_max(x, 0, 2) },
        { "relu", rd_dtype_is_complex(type) ? x : rd_relu(x) },
        { "nan_to_num", rd_nan_to_num(x) },
    };

    for (size_t k = 0; k < COUNT(cases); k++)
        ck_assert_msg(rd_type_of(cases[k].y) == type, "%s of %s gives %s: %s", cases[k].what,
                      rd_dtype_name(type), rd_dtype_name(rd_type_of(cases[k].y)),
                      rd_error_text(ctx));
}

START_TEST(types_that_are_kept)
{
    for (int type = RD_BOOL; type <= RD_C128; type++) {
        keeps_type((rd_dtype)type);
        forget_leaves();
    }
}
END_TEST

START_TEST(matrices)
{
    rd_expr *m = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(1, NAN, 3, 4, 5, 6));
    rd_expr *x = leaf(RD_I32, VALUES(1, 2, 4, 7)), *y = leaf(RD_I32, VALUES(1, 3));

    expect("tril", rd_tril(m, 0), RD_F32, VALUES(1, 0, 0, 4, 5, 0));
    expect("triu", rd_triu(m, 1), RD_F32, VALUES(0, NAN, 3, 0, 0, 6));
    expect("tri", rd_tri(ctx, 2, 3, -1, RD_U8), RD_U8, VALUES(0, 0, 0, 1, 0, 0));
    expect("kron", rd_kron(y, x), RD_I32, VALUES(1, 2, 4, 7, 3, 6, 12, 21));
    expect("kron of matrices",
           rd_kron(rd_reshape(x, RD_SHAPE(2, 2)), rd_reshape(y, RD_SHAPE(1, 2))), RD_I32,
           VALUES(1, 3, 2, 6, 4, 12, 7, 21));
    expect("diff", rd_diff(x, 0, 1), RD_I32, VALUES(1, 2, 3));
    expect("diff twice", rd_diff(x, -1, 2), RD_I32, VALUES(1, 1));
    expect("diff too often", rd_diff(x, 0, 9), RD_I32, NULL, 0);
    expect("diff of bools", rd_diff(leaf(RD_BOOL, VALUES(0, 1, 1, 0)), 0, 1), RD_BOOL,
           VALUES(1, 0, 1));
    expect("tril of bools", rd_tril(leaf_shape(RD_BOOL, RD_SHAPE(2, 2), VALUES(1, 1, 0, 1)), 0),
           RD_BOOL, VALUES(1, 0, 0, 1));
    expect("triu of bools", rd_triu(leaf_shape(RD_BOOL, RD_SHAPE(2, 2), VALUES(1, 1, 1, 1)), 1),
           RD_BOOL, VALUES(0, 1, 0, 0));
    expect("tri of bools", rd_tri(ctx, 2, 2, 0, RD_BOOL), RD_BOOL, VALUES(1, 0, 1, 1));
    expect_error("no matrix", rd_tril(x, 0), RD_ERR_SHAPE);
    expect_error("less often", rd_diff(x, 0, -1), RD_ERR_ARGUMENT);
}
END_TEST

/* ---- Rolling ---------------------------------------------------------------------------------- */
enum { MOST = 400, WIDE = 9000 };
static float    line[3 * MOST], wide[WIDE];
static uint16_t halves[3 * MOST];
static int8_t   ints[3 * MOST];

typedef rd_expr *rolled(rd_expr *x, int axis, int64_t n);

static rd_expr *rolling_var(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_var(x, axis, n, 1);
}

static rd_expr *rolling_std(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_std(x, axis, n, 0);
}

static const struct {
    const char *name, *reducer;
    rolled     *of;
    double      ddof;
} rollings[] = {
    { "sum", "sum", rd_rolling_sum, 0 }, { "mean", "mean", rd_rolling_mean, 0 },
    { "min", "min", rd_rolling_min, 0 }, { "max", "max", rd_rolling_max, 0 },
    { "var", "var", rolling_var, 1 },    { "std", "std", rolling_std, 0 },
};

/* All windows one by one, in f64. */
static void check_rolling(size_t k, rd_expr *x, int axis, int64_t n, double tolerance)
{
    rd_expr *each = rd_reduce(rd_window(rd_cast(x, RD_F64), axis, n, 1), rollings[k].reducer,
                              RD_DIMS(-1), .ddof = rollings[k].ddof);
    rd_expr *y    = rollings[k].of(x, axis, n);
    rd_shape s    = rd_shape_of(each);
    char     what[64];

    snprintf(what, sizeof what, "%s of %d along %d", rollings[k].name, (int)n, axis);
    expect_shape(what, y, s);
    const int64_t points = s.at[0] * s.at[1];
    double       *want   = evaluated(what, each, points);
    expect_near(what, y, rd_type_of(rd_reduce(x, rollings[k].reducer, RD_ALL)), tolerance, want,
                (int)points);
    free(want);
}

START_TEST(rolling)
{
    static const int lengths[] = { 1, 2, 17, 48, 49, 100, 399, 400, 401 };
    const rd_shape   down = RD_SHAPE(MOST, 3), across = RD_SHAPE(3, MOST);

    for (int i = 0; i < 3 * MOST; i++) {
        line[i]   = (float)(1000 + (i * 7919 % 1009) / 64.0);
        ints[i]   = (int8_t)(i * 7919 % 255 - 127);
        halves[i] = (uint16_t)(0x3c00 + i * 7919 % 1024); /* from 1 to 2 */
    }
    line[200] = INFINITY;
    line[700] = NAN;
    for (size_t k = 0; k < COUNT(rollings); k++)
        for (size_t l = 0; l < COUNT(lengths); l++) {
            const int64_t n     = lengths[l];
            const bool    apart = k < 4; /* sums, of which rounding is that of f32 */

            check_rolling(k, rd_wrap(ctx, line, down), 0, n, apart ? 0.06 : 0.02);
            check_rolling(k, rd_wrap(ctx, line, across), -1, n, apart ? 0.06 : 0.02);
            if (l % 3)
                continue;
            check_rolling(k, rd_wrap(ctx, ints, across), 1, n, k > 0 ? 1e-9 : 0);
            check_rolling(k, rd_wrap(ctx, (const rd_f16 *)(const void *)halves, down), 0, n,
                          k == 0 ? 0.3 : 1e-3);
        }
    for (int i = 0; i < WIDE; i++)
        wide[i] = i == 4000 ? INFINITY : (float)(1000 + (i * 7919 % 1009) / 64.0);
    for (size_t k = 0; k < COUNT(rollings); k++)
        for (int n = 31; n < WIDE / 2; n += 4100) /* rows in cache, and scans */
            check_rolling(k, rd_wrap(ctx, wide, RD_SHAPE(1, WIDE)), 1, n, k ? 0.06 : 0.5);
    expect_error("n", rd_rolling_sum(leaf(RD_F32, VALUES(1)), 0, 0), RD_ERR_ARGUMENT);
    expect_error("axis", rd_rolling_min(leaf(RD_F32, VALUES(1)), 1, 1), RD_ERR_AXIS);
    ck_assert(!rd_rolling_std(NULL, 0, 3, 0));
}
END_TEST

START_TEST(rolling_types)
{
    rd_expr *x = leaf(RD_F32, VALUES(1, 2, 16777216)), *i = leaf(RD_U8, VALUES(255, 1, 3));
    rd_expr *h = leaf(RD_F16, VALUES(60000, 60000, 2)), *z = rd_complex(x, x);

    expect("sum", rd_rolling_sum(x, 0, 3, .type = RD_F64), RD_F64, VALUES(16777219));
    expect("mean", rd_rolling_mean(i, 0, 2, .type = RD_F32), RD_F32, VALUES(128, 2));
    expect("sum of halves", rd_rolling_sum(h, 0, 2, .type = RD_F32), RD_F32, VALUES(120000, 60002));
    expect("sum of ints", rd_rolling_sum(i, 0, 2, .type = RD_I32), RD_I32, VALUES(256, 4));
    expect("narrow", rd_rolling_sum(i, 0, 2, .type = RD_U8), RD_U8, VALUES(0, 4));
    expect("min", rd_rolling_min(i, 0, 2, .type = RD_F64), RD_F64, VALUES(1, 1));
    expect("max", rd_rolling_max(i, 0, 4, .type = RD_I64), RD_I64, NULL, 0);
    expect("var", rd_rolling_var(i, 0, 2, 1, .type = RD_F32), RD_F32, VALUES(32258, 2));
    expect("std", rd_rolling_std(i, 0, 2, .type = RD_F32), RD_F32, VALUES(127, 1));
    expect("to complex", rd_real(rd_rolling_sum(i, 0, 2, .type = RD_C64)), RD_F32, VALUES(256, 4));
    expect("of complex", rd_imag(rd_rolling_sum(z, 0, 3, .type = RD_C128)), RD_F64,
           VALUES(16777219));
    expect("var of complex", rd_rolling_var(z, 0, 2, .type = RD_F64), RD_F64,
           VALUES(0.5, 2. * 8388607 * 8388607));
    expect("by name", rd_rolling_name(i, "mean", RD_ROLLING_OPTS(0, 2)), RD_F64, VALUES(128, 2));
    expect("as a function", (rd_rolling_mean)(i, 0, 2), RD_F64, VALUES(128, 2));
    expect_error("name", rd_rolling_name(i, "prod", RD_ROLLING_OPTS(0, 2)), RD_ERR_TEXT);
    expect_error("type", rd_rolling_sum(x, 0, 2, .type = (rd_dtype)77), RD_ERR_TYPE);
    expect_error("ddof", rd_rolling_sum(x, 0, 2, .ddof = 1), RD_ERR_ARGUMENT);
    expect_error("complex to real", rd_rolling_sum(z, 0, 2, .type = RD_F64), RD_ERR_TYPE);
}
END_TEST

/* ---- Centred and scaled ----------------------------------------------------------------------- */
START_TEST(scaled)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 4)), *h = leaf(RD_F16, VALUES(1, 2, 4));
    rd_expr *i     = leaf(RD_I8, VALUES(-128, 127)),
            *none  = leaf_shape(RD_F32, RD_SHAPE(2, 0), NULL, 0);
    const double s = 1 + exp(1) + exp(3);

    expect_near("softmax", rd_softmax(x, RD_DIMS(0)), RD_F64, 1e-15,
                VALUES(1 / s, exp(1) / s, exp(3) / s));
    expect_near("of halves", rd_softmax(h, RD_ALL), RD_F16, 3e-4,
                VALUES(1 / s, exp(1) / s, exp(3) / s));
    expect_near("of ints", rd_softmax(i, RD_DIMS(-1)), RD_F64, 1e-15, VALUES(exp(-255), 1));
    expect_near("far", rd_softmax(leaf(RD_F32, VALUES(1e30, 1e30)), RD_ALL), RD_F32, 0,
                VALUES(0.5, 0.5));
    expect_near("NaN", rd_softmax(leaf(RD_F32, VALUES(1, NAN)), RD_ALL), RD_F32, 0,
                VALUES(NAN, NAN));
    expect_shape("empty", rd_softmax(none, RD_DIMS(1)), RD_SHAPE(2, 0));
    expect_near("log", rd_log_softmax(x, RD_ALL), RD_F64, 1e-15,
                VALUES(-log(s), 1 - log(s), 3 - log(s)));
    expect_near("standard", rd_standardise(x, RD_ALL, 1), RD_F64, 1e-15,
                VALUES(-4 / sqrt(21), -1 / sqrt(21), 5 / sqrt(21)));
    expect_near("layer",
                rd_layer_norm(x, RD_DIMS(0), leaf(RD_F64, VALUES(1, 2, 3)), rd_num(ctx, 1), 2),
                RD_F64, 1e-15, VALUES(1 - 4 / sqrt(32), 1 - 2 / sqrt(32), 1 + 15 / sqrt(32)));
    expect_near("layer alone", rd_layer_norm(x, RD_ALL, NULL, NULL, 2), RD_F64, 1e-15,
                VALUES(-4 / sqrt(32), -1 / sqrt(32), 5 / sqrt(32)));
    expect_near("rms", rd_rms_norm(x, RD_KEEP(0), leaf(RD_F64, VALUES(3)), 2), RD_F64, 1e-15,
                VALUES(1, 2, 4));
    expect_near("unit", rd_normalise(x, RD_ALL, 2), RD_F64, 1e-15,
                VALUES(1 / sqrt(21), 2 / sqrt(21), 4 / sqrt(21)));
    expect_near("p 3", rd_normalise(x, RD_ALL, 3), RD_F64, 1e-15,
                VALUES(1 / cbrt(73), 2 / cbrt(73), 4 / cbrt(73)));
    expect_near("most", rd_normalise(i, RD_ALL, INFINITY), RD_F64, 0, VALUES(-1, 127 / 128.0));
    expect_near("zero", rd_normalise(leaf(RD_F32, VALUES(0, 0)), RD_ALL, 1), RD_F32, 0,
                VALUES(0, 0));
    expect_error("p", rd_normalise(x, RD_ALL, 0), RD_ERR_ARGUMENT);
    expect_error("axis", rd_softmax(x, RD_DIMS(1)), RD_ERR_AXIS);
}
END_TEST

START_TEST(weighed_by_exponentials)
{
    rd_expr *s     = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 1, 3, -INFINITY, 2, 2));
    rd_expr *v     = leaf(RD_F32, VALUES(1, 2, 4)),
            *k     = leaf_shape(RD_F64, RD_SHAPE(3, 2), VALUES(1, -1, 2, -2, 4, -4));
    rd_expr     *x = leaf(RD_F64, VALUES(1000, 1001)), *w = leaf(RD_F64, VALUES(1, -1));
    const double t = 1 + exp(1) + exp(3), a = (1 + 2 * exp(1) + 4 * exp(3)) / t,
                 d = log(exp(1) - 1);

    expect_near("rows", rd_softmax_sum(s, v, RD_DIMS(1)), RD_F64, 1e-15, VALUES(a, 3));
    expect_near("kept", rd_softmax_sum(s, v, RD_KEEP(-1)), RD_F64, 1e-15, VALUES(a, 3));
    expect_near("attention", rd_softmax_sum(rd_expand(s, 2), rd_expand(k, 0), RD_DIMS(1)), RD_F64,
                1e-15, VALUES(a, -a, 3, -3));
    expect_near("alike", rd_softmax_sum(rd_num(ctx, 7), v, RD_DIMS(0)), RD_F32, 1e-6,
                VALUES(7 / 3.));
    expect_near("ints",
                rd_softmax_sum(leaf(RD_I8, VALUES(127, -128)), leaf(RD_I8, VALUES(5, 9)), RD_ALL),
                RD_F64, 0, VALUES(5));
    expect_near("halves", rd_softmax_sum(leaf(RD_F16, VALUES(0, 1, 3)), rd_cast(v, RD_F16), RD_ALL),
                RD_F16, 2e-3, VALUES(a));
    expect_near("nothing but -inf", rd_softmax_sum(rd_slice(s, "1:, :1"), rd_num(ctx, 1), RD_ALL),
                RD_F64, 0, VALUES(NAN));
    expect_near("nothing", rd_softmax_sum(rd_slice(v, ":0"), rd_num(ctx, 1), RD_ALL), RD_F32, 0,
                VALUES(NAN));
    expect_near("difference", rd_signed_logsumexp(x, w, RD_DIMS(0)), RD_F64, 1e-12,
                VALUES(1000 + d, -1));
    expect_near("columns", rd_signed_logsumexp(rd_expand(x, 1), rd_expand(w, 0), RD_KEEP(0)),
                RD_F64, 1e-12, VALUES(1001 + log1p(exp(-1)), 1001 + log1p(exp(-1)), 1, -1));
    expect_near("nothing is left", rd_signed_logsumexp(rd_int(ctx, 5), w, RD_ALL), RD_F64, 0,
                VALUES(-INFINITY, 0));
    expect_near(
        "weight 0",
        rd_signed_logsumexp(leaf(RD_F32, VALUES(INFINITY, 2)), leaf(RD_F32, VALUES(0, -1)), RD_ALL),
        RD_F32, 0, VALUES(2, -1));
    expect_near("infinite",
                rd_signed_logsumexp(leaf(RD_F64, VALUES(INFINITY, -INFINITY)), w, RD_ALL), RD_F64,
                0, VALUES(INFINITY, 1));
    expect_near("-inf",
                rd_signed_logsumexp(leaf(RD_F64, VALUES(-INFINITY)), rd_int(ctx, 3), RD_ALL),
                RD_F64, 0, VALUES(-INFINITY, 0));
    expect_near("NaN", rd_signed_logsumexp(leaf(RD_F64, VALUES(NAN, 1)), w, RD_ALL), RD_F64, 0,
                VALUES(NAN, NAN));
    expect_error("shapes", rd_softmax_sum(s, rd_slice(v, ":2"), RD_DIMS(1)), RD_ERR_SHAPE);
    expect_error("axis", rd_signed_logsumexp(x, w, RD_DIMS(1)), RD_ERR_AXIS);
    expect_error("complex", rd_softmax_sum(rd_complex(v, v), v, RD_ALL), RD_ERR_TYPE);
}
END_TEST

START_TEST(distances)
{
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(2, 2), VALUES(0, 0, 3, 4));
    rd_expr *y = leaf_shape(RD_U8, RD_SHAPE(3, 2), VALUES(3, 4, 0, 1, 0, 0));

    expect_near("2", rd_cdist(x, y, 2), RD_F32, 1e-6, VALUES(5, 1, 0, 0, sqrt(18), 5));
    expect_near("1", rd_cdist(x, y, 1), RD_F32, 0, VALUES(7, 1, 0, 0, 6, 7));
    expect_near("most", rd_cdist(y, x, INFINITY), RD_F32, 0, VALUES(4, 0, 1, 3, 0, 4));
    expect_near("3", rd_cdist(x, y, 3), RD_F32, 1e-5,
                VALUES(cbrt(91), 1, 0, 0, cbrt(54), cbrt(91)));
    expect_near("cosine", rd_cosine_distance(x, y), RD_F32, 1e-6,
                VALUES(NAN, NAN, NAN, 0, 1 - 0.8, NAN));
    expect_shape("many", rd_cdist(rd_expand(x, 0), rd_broadcast(y, RD_SHAPE(5, 3, 2)), 2),
                 RD_SHAPE(5, 2, 3));
    expect_near("no coordinate",
                rd_cdist(leaf_shape(RD_F64, RD_SHAPE(1, 0), NULL, 0),
                         leaf_shape(RD_F64, RD_SHAPE(2, 0), NULL, 0), INFINITY),
                RD_F64, 0, VALUES(0, 0));
    expect_error("lengths", rd_cdist(x, rd_transpose(y), 2), RD_ERR_SHAPE);
    expect_error("p", rd_cdist(x, y, NAN), RD_ERR_ARGUMENT);
}
END_TEST

/* The nodes are those that a user would write, so that plans are as good. */
START_TEST(made_as_written)
{
    const rd_dims row = RD_DIMS(1), kept = RD_KEEP(1);
    rd_expr      *x  = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
    rd_expr      *g  = leaf(RD_F32, VALUES(1, 2, 3));
    rd_expr      *e  = rd_exp(rd_sub(x, rd_max(x, kept)));
    rd_expr      *d  = rd_sub(x, rd_mean(x, kept));
    rd_expr      *sd = rd_sqrt(rd_add(rd_var(x, kept), rd_num(ctx, 1e-5)));

    ck_assert_ptr_eq(rd_softmax(x, row), rd_div(e, rd_sum(e, kept)));
    ck_assert_ptr_eq(rd_log_softmax(x, row), rd_sub(x, rd_logsumexp(x, kept)));
    ck_assert_ptr_eq(rd_standardise(x, row, 0), rd_div(d, rd_std(x, kept)));
    ck_assert_ptr_eq(rd_layer_norm(x, row, g, g, 1e-5), rd_add(rd_mul(rd_div(d, sd), g), g));
    ck_assert_ptr_eq(rd_cdist(x, x, 2),
                     rd_norm(rd_sub(rd_expand(x, 1), rd_expand(x, 0)), RD_DIMS(2)));
    ck_assert_ptr_eq(rd_rolling_mean(x, 1, 2),
                     rd_div(rd_add(rd_slice(x, ":, :-1"), rd_slice(x, ":, 1:")), rd_num(ctx, 2)));
}
END_TEST

START_TEST(made_of_complex)
{
    rd_expr *z = rd_complex(leaf(RD_F32, VALUES(1, 2, 3)), leaf(RD_F32, VALUES(4, 5, 6)));

    expect("roll", rd_imag(rd_roll(z, 0, 1)), RD_F32, VALUES(6, 4, 5));
    expect("pad", rd_imag(rd_pad(z, 0, 1, 1, RD_PAD_REFLECT, NULL)), RD_F32, VALUES(5, 4, 5, 6, 5));
    expect("pad by 0", rd_imag(rd_pad(z, 0, 1, 0, RD_PAD_CONSTANT, NULL)), RD_F32,
           VALUES(0, 4, 5, 6));
    expect("repeat", rd_imag(rd_repeat(z, 0, 2)), RD_F32, VALUES(4, 4, 5, 5, 6, 6));
    expect("mean", rd_imag(rd_rolling_mean(z, 0, 2)), RD_F32, VALUES(4.5, 5.5));
    expect("var", rd_rolling_var(z, 0, 2, 0), RD_F32, VALUES(0.5, 0.5));
    expect("std", rd_rolling_std(z, 0, 2, 1), RD_F32, VALUES(1, 1));
    expect("trapezoid", rd_imag(rd_trapezoid(z, rd_num(ctx, 2), 0)), RD_F32, VALUES(20));
    expect("standardise", rd_imag(rd_standardise(rd_slice(z, "::2"), RD_ALL, 1)), RD_F32,
           VALUES(-0.5, 0.5));
    expect("normalise",
           rd_imag(rd_normalise(rd_mul(rd_slice(z, ":1"), rd_cnum(ctx, 4, 1)), RD_ALL, INFINITY)),
           RD_F32, VALUES(1));
    expect_error("max", rd_rolling_max(z, 0, 2), RD_ERR_TYPE);
    expect_error("softmax", rd_softmax(z, RD_ALL), RD_ERR_TYPE);
    expect_error("cdist", rd_cdist(rd_expand(z, 0), rd_expand(z, 0), 2), RD_ERR_TYPE);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { borders,         copies,         types_that_are_kept,
                                   matrices,        rolling,        rolling_types,
                                   scaled,          distances,      weighed_by_exponentials,
                                   made_as_written, made_of_complex };

    return run_suite("semantics_made", tests, COUNT(tests));
}

/* test_formula.c - formulas in text are the nodes that calls make: equal nodes are one address. */
#include "rdim.h"
#include "core/text_buffer.h"
#include "formula/formula.h"
#include "random_formula.h"
#include "suite.h"
#include <stddef.h>
#include <stdio.h>

static float   x_data[4][5], y_data[5][6], v_data[5], q_data[4][5];
static int32_t idx_data[3] = { 2, 0, 1 }, label_data[4] = { 0, 1, 0, 1 };

static rd_ctx  *ctx;
static rd_expr *x, *y, *v, *w, *q, *idx, *label;

static void setup(void)
{
    ctx   = rd_ctx_new(NULL);
    x     = rd_wrap(ctx, x_data, RD_SHAPE(4, 5));
    y     = rd_wrap(ctx, y_data, RD_SHAPE(5, 6));
    q     = rd_wrap(ctx, q_data, RD_SHAPE(4, 5));
    v     = rd_wrap(ctx, v_data, RD_SHAPE(5));
    w     = rd_wrap(ctx, &v_data[2], RD_SHAPE(3));
    idx   = rd_wrap(ctx, idx_data, RD_SHAPE(3));
    label = rd_wrap(ctx, label_data, RD_SHAPE(4, 1));
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *formula(const char *text)
{
    return rd_formula(ctx, text,
                      RD_NAMES({ "x", x }, { "y", y }, { "v", v }, { "w", w }, { "q", q },
                               { "idx", idx }, { "label", label }));
}

static rd_expr *num(double value)
{
    return rd_num(ctx, value);
}

static rd_expr *truth(bool value)
{
    return rd_number(ctx, RD_BOOL, rd_word_from_int(value, RD_BOOL));
}

static rd_expr *whole(int64_t value)
{
    return rd_int(ctx, value);
}

/* What is printed, with all parentheses, reads as the same tree. */
static void check_print(const char *text, rd_expr *want)
{
    rd_formula_opts   *opts = rd_alloc(ctx, sizeof *opts);
    rd_formula_reader *r    = rd_alloc(ctx, sizeof *r);
    rd_text            out  = { 0 };

    r->ctx  = ctx;
    r->call = "print";
    r->text = text;
    r->opts = opts;
    ck_assert(rd_formula_tokens(r) && rd_formula_parse(r));
    rd_formula_print(&out, r);
    rd_free(ctx, r->token);
    rd_free(ctx, r->piece);
    rd_free(ctx, r);
    rd_free(ctx, opts);
    ck_assert_msg(formula(out.at) == want, "%s became %s: %s", text, out.at, rd_error_text(ctx));
    rd_text_free(&out);
}

#define SAME_NODES(text, call)                                                             \
    do {                                                                                   \
        rd_expr *want_ = (call), *got_ = formula(text);                                    \
        ck_assert_msg(want_ != NULL, "%s: the call failed: %s", text, rd_error_text(ctx)); \
        ck_assert_msg(got_ != NULL, "%s", rd_error_text(ctx));                             \
        ck_assert_msg(got_ == want_, "%s: not the nodes of " #call, text);                 \
    } while (0)
#define SAME(text, call)                  \
    do {                                  \
        SAME_NODES(text, call);           \
        check_print(text, formula(text)); \
    } while (0)

/* What the text says and no i64 is: a float beside floats. */
START_TEST(whole_numbers_beyond_64_bits)
{
    SAME("x * 10**20", rd_mul(x, num(1e20)));
    SAME("10^20 * x", rd_mul(num(1e20), x));
    SAME("x / 2**64", rd_div(x, num(0x1p64)));
    SAME("idx / 2**64", rd_div(idx, num(0x1p64)));
    SAME("x + 5000000000 * 5000000000", rd_add(x, num(25e18)));
    SAME("x + (9223372036854775807 + 1)", rd_add(x, num(0x1p63)));
    SAME("x - (-9223372036854775807 - 2)", rd_sub(x, num(-0x1p63)));
    SAME("x * -(-9223372036854775807 - 1)", rd_mul(x, num(0x1p63)));
    SAME("x * -10**20", rd_mul(x, num(-1e20)));
    SAME("x * (1 << 64)", rd_mul(x, num(0x1p64)));
    SAME("x < 2^63", rd_lt(x, num(0x1p63)));
    SAME("x > 1 ? x : 2^63", rd_where(rd_gt(x, whole(1)), x, num(0x1p63)));
    SAME("10**20 * 1.5 + x", rd_add(num(1.5e20), x));
    SAME("x * (-1 << 63)", rd_mul(x, rd_shift_left(whole(-1), whole(63))));
    SAME("x[1 << 1]", rd_select(x, 0, 2));
    SAME("x[2**1, 3]", rd_select(rd_select(x, 0, 2), 0, 3));
    SAME("x * 2 ** -1", rd_mul(x, rd_pow(whole(2), whole(-1))));
    SAME("x[-7 // -2]", rd_select(x, 0, 3));
    SAME("x[-7 // 2 + 4]", rd_select(x, 0, 0));
    SAME("x[-6 // 2 + 4, -7 % 4]", rd_slice(x, "1, 1"));
    SAME("histogram(x, 4, 0, 2^64)", rd_histogram(x, 4, 0, 0x1p64, NULL));
    SAME("histogram(x, 4, -1.5, 1.5 * 2)", rd_histogram(x, 4, -1.5, 3, NULL));
    SAME("histogram(x, 4, -pi, 1.5 - 0.25)",
         rd_histogram(x, 4, -3.14159265358979323846, 1.25, NULL));
    SAME("quantile(x, 0.25 + 1/4)", rd_quantile(x, 0.5, RD_ALL));
}
END_TEST

/* Numbers that shapes say. */
START_TEST(sizes)
{
    SAME("x[size(x, axis=0) - 1]", rd_select(x, 0, 3));
    SAME("x[len(x) - 1, size(x, -1) - 1]", rd_slice(x, "3, 4"));
    SAME("x * size(x)", rd_mul(x, whole(20)));
    SAME("x * size(x[2:2])", rd_mul(x, whole(0)));
    SAME("x * size(x[2:2], 1)", rd_mul(x, whole(5)));
    SAME("o[i] = size(v) * v[i]", rd_mul(whole(5), v));
}
END_TEST

/* A matrix has the axes time and lat, a row lat alone. */
static int axis_of_matrix(void *user, rd_expr *of, const char *name)
{
    const bool matrix = rd_shape_of(of).n == 2;

    (void)user;
    return !strcmp(name, "lat") ? matrix : matrix && !strcmp(name, "time") ? 0 : -1;
}

static rd_expr *formula_of_named_axes(const char *text)
{
    const rd_named  in[] = { { .name = "x", .x = x },
                             { .name = "v", .x = v },
                             { .name = "w", .x = w } };
    rd_formula_opts opts = { .size = sizeof opts, .n_in = 3, .in = in, .axis = axis_of_matrix };
    rd_named        out  = { 0 };

    ck_assert_msg(rd_formula_all(ctx, text, &opts, 1, &out) == 1, "%s", rd_error_text(ctx));
    return out.x;
}

/* They are of the array along whose axis the call goes, whatever is said before. */
START_TEST(names_of_axes)
{
    rd_expr *const odd = rd_remainder(formula("arange(5)"), whole(2));

    ck_assert_ptr_eq(formula_of_named_axes("mean(x, axis=lat)"), rd_mean(x, RD_DIMS(1)));
    ck_assert_ptr_eq(formula_of_named_axes("mean(x, by=arange(5) % 2, groups=2, axis=lat)"),
                     rd_mean(x, RD_DIMS(1), .by = RD_EXPRS(odd), .groups = RD_SHAPE(2)));
    ck_assert_ptr_eq(formula_of_named_axes("interp(w, v, x, axis=lat)"),
                     rd_interp(w, v, x, 1, NULL, NULL));
    ck_assert_ptr_eq(formula_of_named_axes("segment_sum(x, arange(5) % 2, 2, axis=lat)"),
                     rd_sum(x, RD_DIMS(1), .by = RD_EXPRS(odd), .groups = RD_SHAPE(2)));
    ck_assert_ptr_eq(formula_of_named_axes("concat([x, x], axis=lat)"),
                     rd_concat(1, RD_EXPRS(x, x)));
    ck_assert_ptr_eq(formula_of_named_axes("x.max(axis=time)"), rd_max(x, RD_DIMS(0)));
}
END_TEST

START_TEST(operators)
{
    SAME("x + q * 2", rd_add(x, rd_mul(q, whole(2))));
    SAME("-x^2", rd_neg(rd_pow(x, whole(2))));
    SAME("2 ** -x", rd_pow(whole(2), rd_neg(x)));
    SAME("x - q - 1e-3", rd_sub(rd_sub(x, q), num(1e-3)));
    SAME("x / q // 2 % 3", rd_remainder(rd_floordiv(rd_div(x, q), whole(2)), whole(3)));
    SAME("x @ y", rd_matmul(x, y));
    SAME("x.T @ q", rd_matmul(rd_transpose(x), q));
    SAME("0 < x <= 5", rd_and(rd_lt(whole(0), x), rd_le(x, whole(5))));
    SAME("not x > 1 and q == 2 or x != q",
         rd_or(rd_and(rd_not(rd_gt(x, whole(1))), rd_eq(q, whole(2))), rd_ne(x, q)));
    SAME("!(x > 1) && q >= 2 || x < q",
         rd_or(rd_and(rd_not(rd_gt(x, whole(1))), rd_ge(q, whole(2))), rd_lt(x, q)));
    SAME("(x > 1) & (q > 1) | ~(x > q)",
         rd_bit_or(rd_bit_and(rd_gt(x, whole(1)), rd_gt(q, whole(1))), rd_not(rd_gt(x, q))));
    SAME("idx << 2 >> 1", rd_shift_right(rd_shift_left(idx, whole(2)), whole(1)));
    SAME("~idx", rd_bit_not(idx));
    SAME("x > 0 ? x : -1.5", rd_where(rd_gt(x, whole(0)), x, num(-1.5)));
    SAME("x * pi + inf", rd_add(rd_mul(x, num(3.14159265358979323846)), num(INFINITY)));
    SAME("+x", x);
    SAME("(x)\n", x);
    SAME("x +\n q # a comment\n", rd_add(x, q));
    SAME("x * True - false", rd_sub(rd_mul(x, truth(true)), truth(false)));
    SAME("x * 2.5e300 + 1e14", rd_add(rd_mul(x, num(2.5e300)), num(1e14)));
}
END_TEST

START_TEST(calls)
{
    SAME("exp(x)", rd_exp(x));
    SAME("atan2(x, q)", rd_atan2(x, q));
    SAME("where(x > 0, x, q)", rd_where(rd_gt(x, whole(0)), x, q));
    SAME("clip(x, -1, 1)", rd_clip(x, whole(-1), whole(1)));
    SAME("float64(x) + int32(q)", rd_add(rd_cast(x, RD_F64), rd_cast(q, RD_I32)));
    SAME("round(x) + round(x, 2)", rd_add(rd_round(x), rd_round_to(x, 2)));
    SAME("softmax(x)", rd_softmax(x, RD_DIMS(-1)));
    SAME("softmax(x, axis=0)", rd_softmax(x, RD_DIMS(0)));
    SAME("standardise(x, axis=(0, 1), ddof=1)", rd_standardise(x, RD_DIMS(0, 1), 1));
    SAME("quantile(x, 0.9, axis=1, keepdims=true)", rd_quantile(x, 0.9, RD_KEEP(1)));
    SAME("quantile(x, 1/4, method=lower)", rd_quantile(x, 0.25, RD_ALL, .method = RD_LOWER));
    SAME("median(x, axis=1, skip_nan=true)", rd_median(x, RD_DIMS(1), .skip_nan = true));
    SAME("roll(x, -1, axis=1)", rd_roll(x, 1, -1));
    SAME("diff(x)", rd_diff(x, -1, 1));
    SAME("diff(x, n=2, axis=0)", rd_diff(x, 0, 2));
    SAME("rolling_mean(x, 3, axis=1)", rd_rolling_mean(x, 1, 3));
    SAME("pad(x, 1, 2, axis=0, mode='edge')", rd_pad(x, 0, 1, 2, RD_PAD_EDGE, NULL));
    SAME("pad(x, 1, 2, axis=0, value=nan)", rd_pad(x, 0, 1, 2, RD_PAD_CONSTANT, num(NAN)));
    SAME("concat((x, q), axis=1)", rd_concat(1, RD_EXPRS(x, q)));
    SAME("stack([x, q])", rd_stack(0, RD_EXPRS(x, q)));
    SAME("reshape(x, (2, -1))", rd_reshape(x, RD_SHAPE(2, -1)));
    SAME("permute(x, (1, 0))", rd_permute(x, RD_INDEX(1, 0)));
    SAME("sort(x, descending=true)", rd_sort(x, -1, .descending = true));
    SAME("top_k(x, 2, axis=0)", rd_top_k(x, 2, 0));
    SAME("take(x, idx, axis=0)", rd_take(x, 0, idx));
    SAME("einsum('ik,kj->ij', x, y)", rd_einsum("ik,kj->ij", x, y));
    SAME("cdist(x, q)", rd_cdist(x, q, 2));
    SAME("histogram(x, 10, 0, 1)", rd_histogram(x, 10, 0, 1, NULL));
    SAME("corr(x, q, axis=0)", rd_corr(x, q, RD_DIMS(0)));
    SAME("last(x, axis=0, skip_nan=true)", rd_last(x, RD_DIMS(0), .skip_nan = true));
    SAME("random_normal(7, (3, 4), dtype=float32)",
         rd_random_normal(ctx, 7, RD_SHAPE(3, 4), RD_F32));
    SAME("arange(size(x, 1)) * 2",
         rd_mul(rd_coord(rd_broadcast(whole(0), RD_SHAPE(5)), 0), whole(2)));
}
END_TEST

START_TEST(reductions)
{
    SAME("mean(x)", rd_mean(x, RD_ALL));
    SAME("mean(x, 0)", rd_mean(x, RD_DIMS(0)));
    SAME("mean(x, axis=(0, -1), keepdims=true)", rd_mean(x, RD_KEEP(0, -1)));
    SAME("sum(x, axis=1, where=x > 0, initial=3)",
         rd_sum(x, RD_DIMS(1), .where = rd_gt(x, whole(0)), .initial = whole(3)));
    SAME("std(x, axis=0, ddof=1, skip_nan=true)",
         rd_std(x, RD_DIMS(0), .ddof = 1, .skip_nan = true));
    SAME("norm(x, axis=1, p=inf)", rd_norm(x, RD_DIMS(1), .p = INFINITY));
    SAME("sum(x, dtype=float64, accuracy=compensated)",
         rd_sum(x, RD_ALL, .type = RD_F64, .accuracy = RD_COMPENSATED));
    SAME("mean(x, axis=1, weights=v)", rd_mean(x, RD_DIMS(1), .weights = v));
    SAME("mean(x, axis=0, by=label, groups=2)",
         rd_mean(x, RD_DIMS(0), .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    SAME("max(x, axis=0) - min(x, axis=0)", rd_sub(rd_max(x, RD_DIMS(0)), rd_min(x, RD_DIMS(0))));
    SAME("cumsum(v)", rd_scan(v, "sum", RD_DIMS(0)));
    SAME("cummax(x, axis=1, reverse=true)", rd_scan(x, "max", RD_DIMS(1), .reverse = true));
    SAME("nanmean(x, axis=0)", rd_mean(x, RD_DIMS(0), .skip_nan = true));
    SAME("nanmedian(x, axis=0)", rd_median(x, RD_DIMS(0), .skip_nan = true));
    SAME("nanmedian(x, axis=0, by=label, groups=2)",
         rd_median(x, RD_DIMS(0), .skip_nan = true, .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    SAME("quantile(x, 0.9, axis=0, by=label, groups=2, where=x > 0)",
         rd_quantile(x, 0.9, RD_DIMS(0), .by = RD_EXPRS(label), .groups = RD_SHAPE(2),
                     .where = rd_gt(x, whole(0))));
    SAME("nanfirst(x, axis=0, by=label, groups=2)",
         rd_first(x, RD_DIMS(0), .skip_nan = true, .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    SAME("nanmode(x, axis=0, by=label, groups=2)",
         rd_mode(x, RD_DIMS(0), .skip_nan = true, .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    SAME("mode(x, axis=0, where=x > 0)", rd_mode(x, RD_DIMS(0), .where = rd_gt(x, whole(0))));
    SAME("minmax(x, axis=0, by=label, groups=2)",
         rd_minmax(x, RD_DIMS(0), .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    SAME("rolling_sum(x, 2, axis=0, dtype=float64)", rd_rolling_sum(x, 0, 2, .type = RD_F64));
    SAME("argmax(x, axis=1)", rd_argmax(x, RD_DIMS(1)));
    SAME("sum(x, axis=None) + sum(x, all)", rd_add(rd_sum(x, RD_ALL), rd_sum(x, RD_ALL)));
    SAME("mean(x, axes=0, keepdims=True)", rd_mean(x, RD_KEEP(0)));
    SAME("mean(x, dims=[1], keepdims=False)", rd_mean(x, RD_DIMS(1)));
    SAME("mean(x, axis=0, keepdims=1) - mean(x, axis=0, keepdims=0)",
         rd_sub(rd_mean(x, RD_KEEP(0)), rd_mean(x, RD_DIMS(0))));
    SAME("sum(x, type='float64', accuracy='wide')",
         rd_sum(x, RD_ALL, .type = RD_F64, .accuracy = RD_WIDE));
    SAME("sum(x, accuracy=serial) + sum(x, accuracy=pairwise)",
         rd_add(rd_sum(x, RD_ALL, .accuracy = RD_SERIAL), rd_sum(x, RD_ALL)));
    SAME("cumsum(x, axis=0, exclusive=true, restart=x > 0)",
         rd_scan(x, "sum", RD_DIMS(0), .exclusive = true, .restart = rd_gt(x, whole(0))));
}
END_TEST

START_TEST(slices)
{
    SAME("x[1]", rd_slice(x, "1"));
    SAME("x[-1]", rd_slice(x, "-1"));
    SAME("x[:, ::2]", rd_slice(x, ":, ::2"));
    SAME("x[::-1, 1:-1]", rd_slice(x, "::-1, 1:-1"));
    SAME("x[..., 0]", rd_slice(x, "..., 0"));
    SAME("x[:, None]", rd_slice(x, ":, new"));
    SAME("v[new, :, newaxis]", rd_slice(v, "new, :, new"));
    SAME("x[idx]", rd_take(x, 0, idx));
    SAME("x[:, idx]", rd_take(x, 1, idx));
    SAME("x[1:][0, 2]", rd_slice(x, "1, 2"));
    SAME("x[size(x, 0) - 1]", rd_slice(x, "3"));
    SAME("n = 1 + 1; x[n]", rd_slice(x, "2"));
    SAME("mean(x, axis=0)[1:3]", rd_slice(rd_mean(x, RD_DIMS(0)), "1:3"));
    SAME("x[idx, idx[0]]", rd_take(rd_take(x, 0, idx), 1, rd_select(idx, 0, 0)));
    SAME("x[idx[0], idx]", rd_take(rd_take(x, 0, rd_select(idx, 0, 0)), 0, idx));
}
END_TEST

/* ---- By index --------------------------------------------------------------------------------- */
static rd_expr *places(int64_t n)
{
    return rd_coord(rd_slice_axis(v, 0, 0, n, 1), 0);
}

/* Indices without a value: nothing is read, wherever that would be. */
START_TEST(no_values)
{
    static const struct {
        const char *text;
        int         rank;
        int64_t     extent[2];
    } rows[] = {
        { "o[i in 0:0] = v[i]", 1, { 0 } },
        { "o[i in 3:3] = v[i + 7]", 1, { 0 } },
        { "o[i] = sum[k in 0:9] v[i + k]", 1, { 0 } }, /* no row of nine */
        { "o[i in 0:0] = v[pad(i + 1, 0)]", 1, { 0 } },
        { "o[i in 0:2, j in 0:0] = x[i, j]", 2, { 2, 0 } },
        { "o[i in 0:0, j] = x[i, j]", 2, { 0, 5 } },
    };

    for (int k = 0; k < (int)(sizeof rows / sizeof *rows); k++) {
        rd_expr *const e = formula(rows[k].text);

        ck_assert_msg(e, "%s: %s", rows[k].text, rd_error_text(ctx));
        ck_assert_int_eq(rd_shape_of(e).n, rows[k].rank);
        for (int a = 0; a < rows[k].rank; a++)
            ck_assert_msg(rd_shape_of(e).at[a] == rows[k].extent[a], "%s: %lld", rows[k].text,
                          (long long)rd_shape_of(e).at[a]);
    }
}
END_TEST

START_TEST(indices)
{
    SAME("o[i, j] = x[i, j]", x);
    SAME("o[j, i] = x[i, j]", rd_transpose(x));
    SAME("o[i] = sum[j] x[i, j]", rd_sum(x, RD_DIMS(1)));
    SAME("o[i] = sum[j] x[i, j] * v[j]", rd_sum(rd_mul(x, rd_expand(v, 0)), RD_DIMS(1)));
    SAME("sum[i, j] x[i, j]", rd_sum(x, RD_ALL));
    SAME(
        "o[i] = sum[j] exp(-sum[d] (x[i, d] - q[j, d])^2) * w[1]",
        rd_sum(rd_mul(rd_exp(rd_neg(rd_sum(
                          rd_pow(rd_sub(rd_expand(x, 1), rd_expand(q, 0)), whole(2)), RD_DIMS(2)))),
                      rd_slice(w, "1")),
               RD_DIMS(1)));
    SAME("o[i, k] = sum[j] x[i, j] * y[j, k]",
         rd_sum(rd_mul(rd_expand(x, 1), rd_expand(rd_transpose(y), 0)), RD_DIMS(2)));
    SAME("o[i in 0:4] = x[i, i]", rd_diagonal(rd_slice(x, ":, :4"), 0, 1, 0));
    SAME("o[i] = v[2*i]", rd_slice(v, "::2"));
    SAME("o[i] = v[size(v) - 1 - i]", rd_flip(v, RD_DIMS(0)));
    SAME("o[i] = sum[k] v[i + k] * w[k]", rd_sum(rd_mul(rd_window(v, 0, 3, 1), w), RD_DIMS(1)));
    SAME("o[i] = x[-1, i]", rd_slice(x, "-1"));
    SAME("o[i, j] = x[idx[i], j]", rd_take(x, 0, idx));
    SAME("o[i] = v[idx[i]] + 1", rd_add(rd_take(v, 0, idx), whole(1)));
    SAME("o[i, j] = x[i, j] - mean(x, axis=0)[j]", rd_sub(x, rd_mean(x, RD_DIMS(0))));
    SAME("o[i] = v[clamp(i - 1)] + 0 * v[i]",
         rd_add(rd_slice(rd_pad(v, 0, 1, 0, RD_PAD_EDGE, NULL), ":5"), rd_mul(whole(0), v)));
    SAME("o[i] = v[wrap(i + 1)] + v[i]",
         rd_add(rd_slice(rd_pad(v, 0, 0, 1, RD_PAD_WRAP, NULL), "1:"), v));
    SAME("o[i] = v[pad(i + 1, 9)] + v[i]",
         rd_add(rd_slice(rd_pad(v, 0, 0, 1, RD_PAD_CONSTANT, whole(9)), "1:"), v));
    SAME("o[i] = v[i] * i", rd_mul(v, rd_coord(v, 0)));
    SAME("o[i in 1:4] = v[i]", rd_slice(v, "1:4"));
    SAME("o[i in 0:5, j in 0:4] = v[i]", rd_broadcast(rd_expand(v, 1), RD_SHAPE(5, 4)));
    SAME("o[i] = v[i] + sum[j where j <= i] v[j]",
         rd_add(v, rd_sum(rd_broadcast(v, RD_SHAPE(5, 5)), RD_DIMS(1),
                          .where =
                              rd_le(rd_expand(rd_coord(v, 0), 0), rd_expand(rd_coord(v, 0), 1)))));
    SAME("o[i] = mean[j, skip_nan=true, weights=v[j]] x[i, j]",
         rd_mean(x, RD_DIMS(1), .skip_nan = true, .weights = rd_expand(v, 0)));
    SAME("o[i] = median[j] x[i, j]", rd_median(x, RD_DIMS(1)));
    SAME("o[i] = quantile[j, q=0.9 where v[j] > 0] x[i, j]",
         rd_quantile(x, 0.9, RD_DIMS(1), .where = rd_expand(rd_gt(v, whole(0)), 0)));
    SAME("o[i, j] = cov[k, y=q[j, k], ddof=1] x[i, k]",
         rd_cov(rd_expand(x, 1), rd_expand(q, 0), RD_DIMS(2), .ddof = 1));
    SAME("o[i] = max[j] (x[i, j]) + 1", rd_add(rd_max(x, RD_DIMS(1)), whole(1)));
    SAME("t[i] = v[i] * 2; o[i] = t[i] + t[4 - i]",
         rd_add(rd_mul(v, whole(2)), rd_flip(rd_mul(v, whole(2)), RD_DIMS(0))));
    SAME("o[i] = v[i]; o[i] += 2 * v[i]", rd_add(v, rd_mul(whole(2), v)));
    SAME("o[i in 0:5] = v[-i + 4]", rd_flip(v, RD_DIMS(0)));
    SAME("o[i] = v[i + 1] + v[i + 2]", rd_add(rd_slice(v, "1:4"), rd_slice(v, "2:5")));
    SAME("o[i] = v[i + 2] + v[i + 1]", rd_add(rd_slice(v, "2:5"), rd_slice(v, "1:4")));
    SAME("o[i in 0:2] = v[idx[1] * i]",
         rd_take(v, 0, rd_mul(rd_select(idx, 0, 1), rd_coord(rd_slice(v, ":2"), 0))));
    SAME("o[i in 0:2] = v[2 * (i * i) + 1]",
         rd_take(v, 0, rd_add(rd_mul(whole(2), rd_mul(places(2), places(2))), whole(1))));
    SAME("o[i in 0:2] = v[1 + i * i]",
         rd_take(v, 0, rd_add(whole(1), rd_mul(places(2), places(2)))));
    SAME("o[i in 0:2] = v[-(i * i)]", rd_take(v, 0, rd_neg(rd_mul(places(2), places(2)))));
    SAME("o[i in 0:3] = v[clamp(i)]", rd_slice(v, ":3"));
}
END_TEST

static int axis_called(void *user, rd_expr *of, const char *name)
{
    (void)user;
    return rd_shape_of(of).n == 2 && !strcmp(name, "lat") ? 1 : -1;
}

START_TEST(axes_by_name)
{
    rd_named        in[] = { { .name = "x", .x = x } }, out[1];
    rd_formula_opts o    = { .size = sizeof o, .n_in = 1, .in = in, .axis = axis_called };

    ck_assert_int_eq(
        rd_formula_all(ctx, "mean(x, axis=('lat', 0)) + cumsum(x, axis=lat)", &o, 1, out), 1);
    ck_assert_ptr_eq(out[0].x, rd_add(rd_mean(x, RD_DIMS(1, 0)), rd_scan(x, "sum", RD_DIMS(1))));
    ck_assert_int_eq(rd_formula_all(ctx, "roll(x, 1, axis=lat)", &o, 1, out), 1);
    ck_assert_ptr_eq(out[0].x, rd_roll(x, 1, 1));
    ck_assert_int_eq(rd_formula_all(ctx, "mean(x, axis=time)", &o, 1, out), 0);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_AXIS);
    ck_assert_msg(strstr(rd_error_text(ctx), "no axis of the name 'time'") != NULL, "%s",
                  rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_formula_all(ctx, "mean(x, axis=1.5)", &o, 1, out), 0);
    ck_assert_msg(strstr(rd_error_text(ctx), "an axis is a whole number") != NULL, "%s",
                  rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_formula_all(ctx, "mean(axis=lat, x=x)", &o, 1, out), 0);
    ck_assert_msg(strstr(rd_error_text(ctx), "axes have names once the array is said") != NULL,
                  "%s", rd_error_text(ctx));
}
END_TEST

START_TEST(statements)
{
    rd_named        in[] = { { .name = "x", .x = x }, { .name = "v", .x = v } }, out[4];
    rd_formula_opts o    = { .size = sizeof o, .n_in = 2, .in = in };

    ck_assert_int_eq(rd_formula_all(ctx, "t = tan(x); y = 1 + t * t\nz[i] += v[i]\n x", &o, 4, out),
                     4);
    ck_assert_str_eq(out[0].name, "t");
    ck_assert_str_eq(out[0].text, "t = tan(x)");
    ck_assert_str_eq(out[2].text, "z[i] += v[i]");
    ck_assert_ptr_eq(out[1].x, rd_add(whole(1), rd_mul(rd_tan(x), rd_tan(x))));
    ck_assert(!out[1].add && out[2].add);
    ck_assert_ptr_eq(out[2].x, v);
    ck_assert_str_eq(out[3].name, "");
    ck_assert_int_eq(rd_formula_all(ctx, "a = x; b = x", &o, 1, out), 0);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_LIMIT);
    ck_assert_int_eq(rd_formula_all(ctx, "x", &o, 1, out), 0); /* the first failure stays */
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_formula_all(ctx, "1 + 2", NULL, 1, out), 1);
    ck_assert_int_eq(rd_formula_all(ctx, "a = x; b = x; c = x", &o, 2, out), 0);
    ck_assert_msg(strstr(rd_error_text(ctx), "more than 2 results") != NULL, "%s",
                  rd_error_text(ctx));
    rd_error_clear(ctx);
}
END_TEST

/* What no text can make right. */
START_TEST(nothing_given)
{
    rd_named        in[] = { { .name = NULL, .x = x }, { .name = "v", .x = v } }, out[1];
    rd_formula_opts o    = { .n_in = 2, .in = in }; /* a size of 0: of this version */

    ck_assert_ptr_null(rd_formula(NULL, "1", (rd_names){ 0 }));
    ck_assert_int_eq(rd_formula_all(NULL, "1", NULL, 1, out), 0);
    ck_assert_int_eq(rd_formula_all(ctx, "v + 1", &o, 1, out), 1);
    ck_assert_ptr_eq(out[0].x, rd_add(v, whole(1)));
    ck_assert_int_eq(rd_formula_all(ctx, NULL, &o, 1, out), 0);
    ck_assert_msg(rd_error(ctx) == RD_ERR_ARGUMENT &&
                      strstr(rd_error_text(ctx), "rd_formula_all: the text is NULL"),
                  "%s", rd_error_text(ctx));
    ck_assert_ptr_null(rd_formula(ctx, "1", (rd_names){ 0 })); /* the first failure stays */
    rd_error_clear(ctx);
}
END_TEST

static rd_expr *find_data(void *user, rd_ctx *of, const char *name)
{
    ++*(int *)user;
    if (!strcmp(name, "bad"))
        return rd_slice(x, "9");
    return strcmp(name, "data") ? NULL : rd_wrap(of, v_data, RD_SHAPE(5));
}

START_TEST(names_that_are_found)
{
    int             asked = 0;
    rd_named        out[2];
    rd_formula_opts o = { .size = sizeof o, .find = find_data, .user = &asked };

    ck_assert_int_eq(rd_formula_all(ctx, "data + data; o[i] = data[i]", &o, 2, out), 2);
    ck_assert_int_eq(asked, 1);
    ck_assert_ptr_eq(out[1].x, v);
    ck_assert_int_eq(rd_formula_all(ctx, "other", &o, 2, out), 0);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TEXT);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_formula_all(ctx, "1 + bad", &o, 2, out), 0);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_AXIS);
    ck_assert_msg(strstr(rd_error_text(ctx), "\n    1 + bad\n        ^") != NULL, "%s",
                  rd_error_text(ctx));
}
END_TEST

/* ---- Names of axes ------------------------------------------------------------------------------ */
/* x and q are (row, col), v is (col), label (row, one without a name). */
static const char *name_of(void *user, rd_expr *of, int axis)
{
    rd_axis_from from;

    (void)user;
    if (!rd_axis_source(of, axis, &from))
        return NULL;
    if (from.from == x || from.from == q)
        return from.axis ? "col" : "row";
    return from.from == v ? "col" : from.from == label && !from.axis ? "row" : NULL;
}

/* Rows of x are other rows than those of q. */
static bool same_rows(void *user, rd_expr **a, int a_axis, rd_expr **b, int b_axis, char *why)
{
    rd_axis_from from, other;

    if (!rd_axis_source(*a, a_axis, &from) || !rd_axis_source(*b, b_axis, &other) ||
        from.from == other.from || from.from == label || other.from == label ||
        strcmp(name_of(user, *a, a_axis), "row") != 0)
        return true;
    snprintf(why, RD_WHY, "other rows");
    return false;
}

static rd_expr *at_number(void *user, rd_expr *of, int axis, bool range,
                          const rd_formula_bound *low, const rd_formula_bound *high, char *why)
{
    (void)user;
    if (low && low->text) {
        snprintf(why, RD_WHY, "no %s", low->text);
        return NULL;
    }
    return range ? rd_slice_axis(of, axis, low ? (int64_t)low->number : RD_OPEN,
                                 high ? (int64_t)high->number + 1 : RD_OPEN, 1)
                 : rd_select(of, axis, (int64_t)low->number);
}

static rd_expr *twice(void *user, rd_ctx *of, const char *name, int n, rd_expr *const *a, char *why)
{
    (void)user;
    (void)of;
    if (strcmp(name, "twice") != 0)
        return NULL;
    if (n != 1)
        snprintf(why, RD_WHY, "twice takes an array");
    return n == 1 ? rd_mul(a[0], whole(2)) : NULL;
}

/* The label itself has two groups; a text that says another number is refused. */
static bool two_groups(void *user, int n, rd_expr **of, int64_t *groups, char *why)
{
    (void)user;
    for (int k = 0; k < n; k++) {
        if (of[k] != label)
            continue;
        if (groups[k] >= 0 && groups[k] != 2) {
            snprintf(why, RD_WHY, "two groups");
            return false;
        }
        groups[k] = 2;
    }
    return true;
}

/* q is in other units, of which each is two of the others; v is in units that none converts to. */
static bool in_units_of(void *user, rd_expr **a, rd_expr **b, char *why)
{
    rd_expr *const first = rd_elements_of(*a), *const second = rd_elements_of(*b);

    (void)user;
    if (first == x && second == q)
        *b = rd_mul(*b, whole(2));
    if (first != x || second != v)
        return true;
    snprintf(why, RD_WHY, "other units");
    return false;
}

static char made[8][16];
static int  n_made;

static void note(void *user, rd_expr *of_it, const char *name, int n, rd_expr *const *of)
{
    (void)user;
    ck_assert(of_it && n > 0 && of[0]);
    snprintf(made[n_made++ % 8], sizeof *made, "%s", name);
}

static int told_axis;

static void tell(void *user, rd_expr *of, int axis, rd_expr *by)
{
    (void)user;
    (void)of;
    told_axis = by == label ? axis : -2;
}

/* Labels count from 1 as an index. */
static rd_expr *from_one(void *user, rd_expr *of, int axis, rd_expr *index, char *why)
{
    (void)user;
    (void)of;
    if (rd_elements_of(index) != label)
        return index;
    if (axis > 0)
        snprintf(why, RD_WHY, "labels along another axis");
    return axis > 0 ? NULL : rd_sub(index, whole(1));
}

static const rd_formula_axes known_axes = { .size    = sizeof known_axes,
                                            .name    = name_of,
                                            .meet    = same_rows,
                                            .select  = at_number,
                                            .gather  = from_one,
                                            .labels  = two_groups,
                                            .grouped = tell,
                                            .call    = twice };

static const rd_formula_axes known_units = { .size  = sizeof known_units,
                                             .alike = in_units_of,
                                             .made  = note };

static const rd_formula_axes *knows = &known_axes;

static int (*finds_axis)(void *user, rd_expr *of, const char *name);

static int first_called(void *user, rd_expr *of, const char *name)
{
    (void)of;
    return !user && !strcmp(name, "col") ? 0 : -1;
}

static rd_expr *with_axes(const char *text)
{
    const rd_named        in[] = { { .name = "x", .x = x },
                                   { .name = "q", .x = q },
                                   { .name = "v", .x = v },
                                   { .name = "label", .x = label } };
    const rd_formula_opts o    = {
           .size = sizeof o, .n_in = 4, .in = in, .axis = finds_axis, .axes = knows
    };
    rd_named all = { 0 };

    return rd_formula_all(ctx, text, &o, 1, &all) == 1 ? all.x : NULL;
}

#define NAMED(text, call)                                                         \
    do {                                                                          \
        rd_expr *want_ = (call), *got_ = with_axes(text);                         \
        ck_assert_msg(want_ &&got_ == want_, "%s: %s", text, rd_error_text(ctx)); \
    } while (0)

START_TEST(arrays_meet_by_names)
{
    rd_expr *const rows   = rd_sum(x, RD_DIMS(1));
    rd_expr *const places = rd_sub(rd_select(label, 1, 0), whole(1));

    NAMED("x - v", rd_sub(x, v));
    NAMED("x - x.T", rd_sub(x, x));
    NAMED("x - sum(x, axis=1)", rd_sub(x, rd_expand(rows, 1)));
    NAMED("sum(x, axis=col) - x", rd_sub(rd_expand(rows, 1), x));
    NAMED("hypot(x, sum(x, axis=1))", rd_hypot(x, rd_expand(rows, 1)));
    NAMED("x > sum(x, axis=1) ? x : v", rd_where(rd_gt(x, rd_expand(rows, 1)), x, v));
    NAMED("v + sum(x, axis=1)", rd_add(rd_expand(v, 1), rd_expand(rows, 0)));
    NAMED("v[:, None] - v[None, :]", rd_sub(rd_expand(v, 1), rd_expand(v, 0)));
    NAMED("mean(x, weights=sum(x, axis=1))", rd_mean(x, RD_ALL, .weights = rd_expand(rows, 1)));
    NAMED("median(x, where=sum(x, axis=1) > 0)",
          rd_median(x, RD_ALL, .where = rd_expand(rd_gt(rows, whole(0)), 1)));
    NAMED("t = x + 0; t += sum(x, axis=1)", rd_add(rd_add(x, whole(0)), rd_expand(rows, 1)));
    NAMED("x[label[:, 0]]", rd_take(x, 0, places));
    NAMED("take(x, label[:, 0], axis=row)", rd_take(x, 0, places));
    NAMED("gather(x, label[:, 0], axis=-2)", rd_take(x, 0, places));
    NAMED("take_along(x, label, 0)", rd_take_along(x, 0, rd_sub(label, whole(1))));
    NAMED("scatter_add(v, label[:, 0], 2)", rd_scatter_add(v, 0, places, whole(2)));
    NAMED("kron(x, x.T)", rd_kron(x, rd_transpose(x)));
    NAMED("kron(v, sum(x, axis=1))", rd_kron(v, rows));
    NAMED("interp(v, v, x, axis=col)", rd_interp(v, v, x, 1, NULL, NULL));
    NAMED("x[row=2]", rd_select(x, 0, 2));
    NAMED("x[1:, col=1..2]", rd_slice(x, "1:, 1:3"));
    NAMED("x[col=..2, row=1]", rd_slice(x, "1, :3"));
    NAMED("twice(v) - v", rd_sub(rd_mul(v, whole(2)), v));
    NAMED("sum(x, axis=row, by=label)",
          rd_sum(x, RD_DIMS(0), .by = RD_EXPRS(label), .groups = RD_SHAPE(2)));
    ck_assert_int_eq(told_axis, 0);
    NAMED("median(x.T, axis=row, by=label[:, 0], groups=2)",
          rd_median(rd_transpose(x), RD_DIMS(1), .by = RD_EXPRS(rd_select(label, 1, 0)),
                    .groups = RD_SHAPE(2)));
}
END_TEST

/* Groups are in place of the first reduced axis, whatever is kept, and what else the result has in front. */
static const struct {
    const char *text;
    int         axis;
} told[] = {
    { "sum(x, axis=0, by=label)", 0 },
    { "sum(x, axis=1, by=label)", 1 },
    { "sum(x, by=label)", 0 },
    { "sum(x, axis=(0, 1), by=label, keepdims=true)", 0 },
    { "sum(x, axis=-1, by=label, keepdims=true)", 1 },
    { "median(x, axis=1, by=label)", 1 },
    { "quantile(x, 0.9, axis=1, by=label, keepdims=true)", 1 },
    { "mode(x, axis=1, by=label)", 1 },
    { "first(x, axis=0, by=label)", 0 },
    { "last(x, axis=1, by=label, groups=2)", 1 },
    { "minmax(x, axis=1, by=label)", 2 },
    { "minmax(x, axis=0, by=label, keepdims=true)", 1 },
    { "sum(x, axis=1, by=(label, label))", 2 }, /* the last of them */
    { "minmax(x, axis=0, by=(label, label))", 2 },
    { "median(x, axis=0, by=(label, label), keepdims=true)", 1 },
};

START_TEST(groups_are_told)
{
    told_axis = -1;
    ck_assert_msg(with_axes(told[_i].text), "%s", rd_error_text(ctx));
    ck_assert_msg(told_axis == told[_i].axis, "%s: %d", told[_i].text, told_axis);
}
END_TEST

START_TEST(operands_are_alike)
{
    rd_expr *const same = rd_mul(q, whole(2));

    knows = &known_units;
    NAMED("x - q", rd_sub(x, same));
    NAMED("q - x", rd_sub(q, x));
    NAMED("x[0] < q[1]", rd_lt(rd_select(x, 0, 0), rd_mul(rd_select(q, 0, 1), whole(2))));
    NAMED("x > 0 ? x : q", rd_where(rd_gt(x, whole(0)), x, same));
    NAMED("minimum(x, q)", rd_minimum(x, same));
    NAMED("clip(x, q, 3)", rd_clip(x, same, whole(3)));
    NAMED("fillna(x, q)", rd_where(rd_isnan(x), same, x));
    NAMED("isclose(x, q, 0.5, 0.25)", rd_isclose(x, same, 0.5, 0.25));
    NAMED("mod(x, q)", rd_remainder(x, same));
    NAMED("t = x[0]; t += q[0]", rd_add(rd_select(x, 0, 0), rd_mul(rd_select(q, 0, 0), whole(2))));
    NAMED("x * q", rd_mul(x, q));
    ck_assert(!with_axes("x + v"));
    ck_assert_msg(strstr(rd_error_text(ctx), "other units"), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    n_made = 0;
    ck_assert(with_axes("mean(x, axis=0) + median(q, axis=0)"));
    ck_assert(n_made == 3 && !strcmp(made[0], "mean") && !strcmp(made[1], "median") &&
              !strcmp(made[2], "add"));
    knows = &known_axes;
}
END_TEST

/* A caller whose memory is short says that arrays meet, and has no part of the second one. */
static bool no_part(void *user, rd_expr **a, int a_axis, rd_expr **b, int b_axis, char *why)
{
    (void)user;
    (void)a;
    (void)a_axis;
    (void)b_axis;
    (void)why;
    *b = NULL;
    return true;
}

static const rd_formula_axes partless = { .size = sizeof partless,
                                          .name = name_of,
                                          .meet = no_part };

START_TEST(parts_that_are_missing)
{
    static const char *const texts[] = { "x - q", "x > 0 ? x : q", "mean(x, where=q > 0)",
                                         "concat([x, q, x], axis=1)", "o[i] = x[i, 0] + q[i, 0]" };

    knows = &partless;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        ck_assert_msg(!with_axes(texts[k]), "%s", texts[k]);
        ck_assert_msg(strstr(rd_error_text(ctx), "nothing comes of this"), "%s: %s", texts[k],
                      rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    knows = &known_axes;
}
END_TEST

START_TEST(several_of_one_name)
{
    finds_axis = first_called;
    ck_assert(with_axes("sum(v, axis=col)"));
    ck_assert(!with_axes("sum(v[:, None] - v[None, :], axis=col)"));
    ck_assert_msg(strstr(rd_error_text(ctx), "axes 0 and 1 are called 'col'"), "%s",
                  rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(!with_axes("sum(x, axis=row)"));
    ck_assert_msg(strstr(rd_error_text(ctx), "no axis of the name 'row'"), "%s",
                  rd_error_text(ctx));
    finds_axis = NULL;
}
END_TEST

static const struct {
    const char *text, *sentence;
} unmet[] = {
    { "sum(x, axis=0, by=label, groups=3)", "two groups" },
    { "sum(x, axis=0, by=label + 1)", "Say groups=" },
    { "x - q", "other rows" },
    { "q[::2] + x[::2]", "other rows" },
    { "o[i] = x[i, 0] + q[i, 0]", "other rows" },
    { "mean(x, where=q > 0)", "other rows" },
    { "concat([x, q], axis=1)", "other rows" },
    { "concat([x, q.T])", "axis 0 is row in one part, col in another" },
    { "mean(v, weights=sum(x, axis=1))", "the first array lacks an axis of the second" },
    { "o[row, col] = x[col, row]", "index 'col' stands at axis 'row' of 'x'" },
    { "sum(x, axis=row, by=(label, label, label, label, label, label, label, label, label, label, "
      "label, label, label, label, label, label))",
      "more than 16 arrays beside each other" },
    { "x[row=\"a\"]", "no a" },
    { "take(x, label[:, 0], axis=1)", "labels along another axis" },
    { "sum(v[:, None] - v[None, :], axis=col)", "axes 0 and 1 are called 'col': say a number" },
    { "(v[:, None] - v[None, :])[col=1]", "axes 0 and 1 are called 'col': say a number" },
    { "x[high=1]", "the array has no axis of the name 'high'" },
    { "x[row=v]", "expected a coordinate" },
    { "o[i] = x[i, col=1]", "a slice among indices" },
    { "twice(x, x)", "twice takes an array" },
    { "thrice(x)", "no function is called 'thrice'" },
};

/* A struct of an older program ends before what is new. */
START_TEST(axes_of_older_programs)
{
    rd_formula_axes older = known_axes;
    rd_named        in[]  = { { .name = "x", .x = x }, { .name = "q", .x = q } }, out;

    older.size              = (uint32_t)offsetof(rd_formula_axes, meet);
    const rd_formula_opts o = { .size = sizeof o, .n_in = 2, .in = in, .axes = &older };
    ck_assert_int_eq(rd_formula_all(ctx, "x - q", &o, 1, &out), 1);
    ck_assert_ptr_eq(out.x, rd_sub(x, q));
    ck_assert_int_eq(rd_formula_all(ctx, "twice(x)", &o, 1, &out), 0);
}
END_TEST

START_TEST(names_that_do_not_meet)
{
    ck_assert_msg(!with_axes(unmet[_i].text), "%s", unmet[_i].text);
    ck_assert_msg(strstr(rd_error_text(ctx), unmet[_i].sentence), "%s", rd_error_text(ctx));
}
END_TEST

/* ---- By chance ---------------------------------------------------------------------------------- */
START_TEST(by_chance)
{
    random_formula f = { .ctx = ctx, .state = 1, .x = x, .q = q, .v = v };

    for (int k = 0; k < (SANITIZED ? 200 : 2000); k++) {
        rd_mark  mark = rd_ctx_mark(ctx);
        rd_expr *want = k % 2 ? random_formula_whole(&f) : random_formula_by_index(&f);

        if (f.n < RANDOM_FORMULA_TEXT) {
            SAME_NODES(f.text, want);
            if (k % 10 == 0)
                check_print(f.text, want);
        }
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Blocks of the page, line by line. */
START_TEST(page)
{
    FILE *file = fopen("docs/formulas.md", "r");
    char  line[512];
    int   n = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        rd_expr *got;

        if (strncmp(line, "    ", 4) != 0)
            continue;
        n++;
        got = formula(line);
        ck_assert_msg(!got == (strstr(line, "# error") != NULL), "%s%s", line, rd_error_text(ctx));
        if (got)
            check_print(line, got);
        rd_error_clear(ctx);
    }
    fclose(file);
    ck_assert_int_gt(n, 30);
}
END_TEST

/* ---- Failures ---------------------------------------------------------------------------------- */
static const struct {
    const char *text, *sentence;
    rd_status   status;
    int         column; /* of the caret */
} failures[] = {
#include "formula_failures.def"
};

START_TEST(says_what_is_wrong)
{
    const int   n = (int)(sizeof failures / sizeof *failures);
    const char *said;

    ck_assert_int_lt(_i, n);
    ck_assert_ptr_null(formula(failures[_i].text));
    said = rd_error_text(ctx);
    ck_assert_msg(rd_error(ctx) == failures[_i].status, "%s", said);
    ck_assert_msg(strstr(said, failures[_i].sentence) != NULL, "%s", said);
    ck_assert_msg((int)(strrchr(said, '^') - strrchr(said, '\n')) - 5 == failures[_i].column, "%s",
                  said);
}
END_TEST

/* `n` times `part`, then `end`. */
static rd_status repeated(const char *start, const char *part, int n, const char *end)
{
    const size_t each = strlen(part);
    char        *text = malloc(strlen(start) + each * (size_t)n + strlen(end) + 1), *at = text;
    rd_status    status;

    at += sprintf(at, "%s", start);
    for (int k = 0; k < n; k++)
        at += sprintf(at, "%s", part);
    sprintf(at, "%s", end);
    formula(text);
    status = rd_error(ctx);
    ck_assert_msg(status == RD_OK || strchr(rd_error_text(ctx), '^') != NULL, "%s",
                  rd_error_text(ctx));
    rd_error_clear(ctx);
    free(text);
    return status;
}

START_TEST(limits)
{
    ck_assert_int_eq(repeated("", "(", 100000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "(", 1000, "x"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "-", 1000, "x"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "x[", 1000, "0"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("x", "^x", 1000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("x", "+x", 2000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("x", "[:]", 2000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("x", "+x", 500, ""), RD_OK);
    ck_assert_int_eq(repeated("x", ".abs()", 150, ""), RD_OK);
    ck_assert_int_eq(repeated("x", ".abs()", 151, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("abs(sum[i] v[i]", ".abs()", 150, ")"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "x;", 1000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "a", 1000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("", "1", 1000, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("n = 1;", "n += n;", 250, "x[n]"), RD_OK);
    ck_assert_int_eq(repeated("o[i in 0:1] = i", "+ sum[k in 0:1] k", 257, ""), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("reshape(x, (1", ", 1", 32, "))"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("sum(x, axis=(0", ", 0", 32, "))"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("concat((x", ", x", 64, "))"), RD_ERR_LIMIT);
    ck_assert_int_eq(repeated("concat((x", ", x", 63, "))"), RD_OK);
    ck_assert_int_eq(repeated("sum[i", ", ddof=1", 16, "] v[i]"), RD_ERR_ARGUMENT);
    ck_assert_int_eq(repeated("v['", "a", 129, "']"), RD_ERR_LIMIT);
    /* Deep, and not asked for twice at each level.  Brackets count twice. */
    ck_assert_int_eq(repeated("", "quantile(v, 0.1 * size(", 30, "v"), RD_ERR_TEXT);
}
END_TEST

/* The deepest tree that may be, of 800 sums, wherever something would stand on it. */
START_TEST(deepest)
{
    static const char *const around[][2] = {
        { "exp(", ")" },
        { "mean(x, axis=", ")" },
        { "x[", "]" },
        { "x[", ":]" },
        { "x[1:", "]" },
        { "(", ")[0]" },
        { "(", ").T" },
        { "[", "]" },
        { "(x, ", ")" },
        { "-(", ")" },
        { "not (", ")" },
        { "(", ")^2" },
        { "2^(", ")" },
        { "2 * (", ")" },
        { "(", ") < x" },
        { "x < (", ")" },
        { "", " ? x : q" },
        { "x > 0 ? ", " : q" },
        { "x > 0 ? x : ", "" },
        { "sum[i] (", ")" },
        { "sum[i where ", "] v[i]" },
        { "sum[i in ", ":3] v[i]" },
        { "sum[i in 0:", "] v[i]" },
        { "sum[i, initial=", "] v[i]" },
    };

    ck_assert_int_eq(repeated("x", "+x", 800, ""), RD_OK);
    for (int k = 0; k < (int)(sizeof around / sizeof *around); k++) {
        char start[40];

        snprintf(start, sizeof start, "%sx", around[k][0]);
        ck_assert_msg(repeated(start, "+x", 800, around[k][1]) == RD_ERR_LIMIT, "%s...%s",
                      around[k][0], around[k][1]);
    }
    ck_assert_int_eq(repeated("x < (x", "+x", 799, ")"), RD_ERR_LIMIT); /* and its link on it */
}
END_TEST

/* `n` names i0, i1, ..., each with `behind` behind it. */
static void put_indices(rd_text *text, int n, const char *behind)
{
    for (int k = 0; k < n; k++)
        rd_text_add(text, "%si%d%s", k ? ", " : "", k, behind);
}

static void put_sum(rd_text *text, int first, int end)
{
    for (int k = first; k < end; k++)
        rd_text_add(text, "%si%d", k > first ? " + " : "", k);
}

/* An array has 32 axes at most. */
START_TEST(most_axes)
{
    for (int row = 0; row < 6; row++) {
        const int n    = row == 0 ? 32 : 33;
        rd_text   text = { 0 };

        rd_text_add(&text, row < 2 ? "o[" : "o[i in 0:1] = v[i] + sum[");
        put_indices(&text, row == 4 ? 32 : n, " in 0:1");
        rd_text_add(&text, row < 2 ? "] = 1" : "] ");
        if (row == 2) /* one subscript of them all */
            rd_text_add(&text, "v["), put_sum(&text, 0, n), rd_text_add(&text, "]");
        if (row == 3) { /* two, whose indices meet */
            rd_text_add(&text, "x["), put_sum(&text, 0, 20), rd_text_add(&text, ", ");
            put_sum(&text, 20, n), rd_text_add(&text, "]");
        }
        if (row == 4) /* a gather beside another axis */
            rd_text_add(&text, "x[i0 * i0 + "), put_sum(&text, 1, 32), rd_text_add(&text, ", i0]");
        if (row == 5) /* all of them at once */
            rd_text_add(&text, "1");
        rd_expr *const e = formula(text.at);

        ck_assert_msg(rd_error(ctx) == (row == 0 ? RD_OK : RD_ERR_LIMIT), "%s: %s", text.at,
                      rd_error_text(ctx));
        ck_assert(row == 0 ? rd_shape_of(e).n == 32 : strchr(rd_error_text(ctx), '^') != NULL);
        rd_error_clear(ctx);
        rd_text_free(&text);
    }
    ck_assert_int_eq(repeated("o[i] = v[i", ", i", 40, "]"), RD_ERR_AXIS);
}
END_TEST

/* All names are there, and of so many arrays no list is kept. */
static rd_expr *find_any(void *user, rd_ctx *of, const char *name)
{
    (void)name;
    ++*(int *)user;
    return rd_wrap(of, v_data, RD_SHAPE(5));
}

START_TEST(most_names)
{
    int             asked = 0;
    rd_named        out[1];
    rd_formula_opts o    = { .size = sizeof o, .find = find_any, .user = &asked };
    rd_text         text = { 0 };

    put_sum(&text, 0, 256);
    ck_assert_int_eq(rd_formula_all(ctx, text.at, &o, 1, out), 1);
    ck_assert_int_eq(asked, 256);
    rd_text_add(&text, " + i256");
    ck_assert_int_eq(rd_formula_all(ctx, text.at, &o, 1, out), 0);
    ck_assert_msg(strstr(rd_error_text(ctx), "more than 256 arrays") != NULL, "%s",
                  rd_error_text(ctx));
    rd_text_free(&text);
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("formula");
    TCase   *tc = tcase_create("formula");
    SRunner *runner;
    int      failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, operators);
    tcase_add_test(tc, names_of_axes);
    tcase_add_test(tc, whole_numbers_beyond_64_bits);
    tcase_add_test(tc, calls);
    tcase_add_test(tc, reductions);
    tcase_add_test(tc, slices);
    tcase_add_test(tc, indices);
    tcase_add_test(tc, axes_by_name);
    tcase_add_test(tc, statements);
    tcase_add_test(tc, names_that_are_found);
    tcase_add_test(tc, arrays_meet_by_names);
    tcase_add_test(tc, axes_of_older_programs);
    tcase_add_loop_test(tc, groups_are_told, 0, (int)(sizeof told / sizeof *told));
    tcase_add_test(tc, operands_are_alike);
    tcase_add_test(tc, parts_that_are_missing);
    tcase_add_test(tc, several_of_one_name);
    tcase_add_loop_test(tc, names_that_do_not_meet, 0, (int)(sizeof unmet / sizeof *unmet));
    tcase_add_loop_test(tc, says_what_is_wrong, 0, (int)(sizeof failures / sizeof *failures));
    tcase_add_test(tc, limits);
    tcase_add_test(tc, deepest);
    tcase_add_test(tc, most_axes);
    tcase_add_test(tc, most_names);
    tcase_add_test(tc, nothing_given);
    tcase_add_test(tc, no_values);
    tcase_add_test(tc, sizes);
    tcase_add_test(tc, by_chance);
    tcase_add_test(tc, page);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

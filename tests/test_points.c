/* test_points.c - nests of pairs of points, whose coordinates are short loops, and of rows that
 * several loops pass over: equals and NaN, flipped points, short axes that do not merge. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "nests.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* Of each point and each of the same points, the last one first. */
static rd_expr *differences(rd_expr *x)
{
    return rd_sub(rd_expand(x, 1), rd_expand(rd_slice(x, "::-1"), 0));
}

/* ---- Equals --------------------------------------------------------------------------------- */
/* Few different coordinates, so that many points are as near as the nearest; one of point number
 * `nan` is NaN. */
static void fill_with_equals(const tile_memory *m, int64_t dims, int64_t nan)
{
    const rd_dtype type = m->slot[0].type;

    for (int64_t k = 0; k < m->slot[0].n; k++)
        rd_word_store(m->slot[0].before + k * rd_dtype_size(type), type,
                      rd_word_from_double((double)(k * 7919 % 10007 % 3), type));
    if (nan >= 0)
        rd_word_store(m->slot[0].before + (nan * dims + 1) * rd_dtype_size(type), type,
                      rd_word_from_double(NAN, type));
}

/* The first of equals wins, the first NaN wins over all: in rows of several blocks, wherever the
 * NaN is. */
START_TEST(first_of_equals)
{
    static const struct {
        rd_dtype type;
        int64_t  n, d;
    } sizes[]                  = { { RD_F32, 400, 3 }, { RD_F64, 400, 3 }, { RD_F32, 100, 12 } };
    static const int64_t nan[] = { -1, 0, 63, 64, 130, 399 };

    for (int k = 0; k < COUNT(nan); k++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        const int64_t n = sizes[_i].n, d = sizes[_i].d;
        tile_memory   m    = { 0 };
        rd_expr      *x    = nest_leaf(&m, sizes[_i].type, RD_SHAPE(n, d), ORDINARY);
        rd_expr      *diff = differences(x);
        nest_batch    b    = { 0 };

        fill_with_equals(&m, d, nan[k] < n ? nan[k] : n - 1);
        snprintf(b.what, sizeof b.what, "equals among %d points, NaN in %d", (int)n, (int)nan[k]);
        nest_add(&b, rd_argmin(rd_sum(rd_square(diff), RD_DIMS(-1)), RD_DIMS(1)));
        nest_add(&b, rd_argmax(rd_max(rd_abs(diff), RD_DIMS(-1)), RD_DIMS(0)));
        nest_agree(&b, many_tasks, 4);
        tile_free(&m);
        rd_ctx_release(ctx, mark);
    }
    nest_mostly();
}
END_TEST

/* ---- Short axes ------------------------------------------------------------------------------- */
/* Two short axes, of which the points that are flipped along one keep the other from merging; and of
 * tables of which some rows and columns are used. */
static rd_expr *tables(rd_expr *x, const char *rows, const char *flipped)
{
    rd_expr *t = rd_slice(rd_reshape(x, RD_SHAPE(rd_shape_of(x).at[0], 4, -1)), rows);
    rd_expr *d = rd_sub(rd_expand(t, 1), rd_expand(rd_slice(t, flipped), 0));

    return rd_sum(rd_mul(rd_square(d), rd_slice(t, "0:1, 0:1, :")), RD_DIMS(-2, -1));
}

START_TEST(short_axes)
{
    static const struct {
        rd_dtype type;
        int64_t  n, d;
    } sizes[]          = { { RD_F32, 90, 84 }, { RD_I16, 75, 20 } };
    const int64_t n    = sizes[_i].n;
    tile_memory   m    = { 0 };
    rd_expr      *x    = nest_leaf(&m, sizes[_i].type, RD_SHAPE(n, sizes[_i].d), ORDINARY);
    rd_expr      *diff = differences(x), *far = rd_sum(rd_square(diff), RD_DIMS(-1));
    rd_expr      *most = rd_expand(rd_expand(rd_max(x, RD_DIMS(1)), 1), 2);
    nest_batch    b    = { .what = "short axes" };

    nest_add(&b, tables(x, ":, :3, :-1", "::-1"));
    nest_add(&b, rd_argmin(tables(x, ":", ":, :, ::-1"), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, rd_argmin(far, RD_DIMS(1)));
    nest_add(&b, rd_var(far, RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_add(rd_sum(rd_mul(diff, most), RD_DIMS(-1)), rd_min(diff, RD_DIMS(-1))),
                        RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b,
             rd_min(rd_prod(diff, RD_DIMS(-1), .where = rd_gt(diff, rd_square(diff))), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Extremes that are compared ---------------------------------------------------------------- */
/* Where rays enter and leave boxes.  What an extreme comes to of a NaN is no constant in the text, as gcc
 * finds no vectors in comparisons that follow from one. */
START_TEST(extremes_that_are_compared)
{
    static const struct {
        rd_dtype    type;
        const char *bits;
    } of[]           = { { RD_F32, "& 0x7f800000)" }, { RD_F64, "& 0x7ff0000000000000)" } };
    tile_memory m    = { 0 };
    rd_expr    *x    = nest_leaf(&m, of[_i].type, RD_SHAPE(130, 3), ORDINARY);
    rd_expr    *diff = differences(x), *sum = rd_add(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr    *near = rd_max(rd_minimum(diff, sum), RD_DIMS(-1)),
            *far     = rd_min(rd_maximum(diff, sum), RD_DIMS(-1));
    rd_expr   *hit   = rd_bit_and(rd_ge(far, near), rd_gt(far, rd_num(ctx, 0)));
    nest_batch b     = { .what = "extremes that are compared" };

    nest_nans(&m, 0);
    nest_seen.words = of[_i].bits;
    nest_add(&b, rd_min(rd_where(hit, near, rd_num(ctx, INFINITY)), RD_DIMS(1)));
    nest_add(&b, rd_sum(hit, RD_DIMS(1)));
    nest_add(&b, near);
    nest_agree(&b, many_tasks, 4);
    ck_assert_int_gt(nest_seen.with_words, 0);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Rows ------------------------------------------------------------------------------------- */
/* What is computed from a row normalises it: up to three loops with folds, one after the other.
 * Less than all lanes, a step and a part of one, a block, several with a part of one. */
START_TEST(rows)
{
    static const struct {
        rd_dtype type;
        int64_t  n, d;
    } sizes[] = {
        { RD_F32, 40, 50 }, { RD_F64, 5, 1000 }, { RD_F32, 2, 9001 }, { RD_I16, 4, 700 }
    };
    tile_memory m    = { 0 };
    rd_expr    *x    = nest_leaf(&m, sizes[_i].type, RD_SHAPE(sizes[_i].n, sizes[_i].d), ORDINARY);
    rd_expr    *less = rd_sub(x, rd_mean(x, RD_KEEP(1)));
    rd_expr    *by   = rd_mul(less, rd_sum(rd_mul(less, x), RD_KEEP(1)));
    rd_expr    *even = rd_div(less, rd_std(x, RD_KEEP(1)));
    nest_batch  b    = { .what = "rows" };

    nest_add(&b, rd_add(by, rd_logsumexp(rd_abs(by), RD_KEEP(1))));
    nest_add(&b, rd_add(rd_mul(even, rd_cast(rd_slice(x, "0"), RD_F64)),
                        rd_mul(rd_slice(x, ":, 0:1"), rd_min(x, RD_KEEP(1)))));
    nest_agree(&b, many_tasks, 4);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Rows that go together -------------------------------------------------------------------- */
/* Each of a few results of a row is a state of its own. */
START_TEST(states_of_short_axes)
{
    const int64_t wide = (int64_t[]){ 12, 16, 5, 7 }[_i], tall = (int64_t[]){ 50, 64, 9, 70 }[_i];
    tile_memory   m = { 0 };
    rd_expr      *x = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, RD_SHAPE(40, tall, wide), ORDINARY);
    rd_expr      *y = nest_leaf(&m, RD_F32, RD_SHAPE(tall, wide), ORDINARY);
    nest_batch    b = { .what = "pairs of a short axis" };

    nest_add(&b, rd_min(rd_add(rd_expand(x, 3), rd_expand(x, 2)), RD_DIMS(1)));
    nest_add(&b, rd_max(rd_sub(rd_expand(y, 2), rd_expand(y, 1)), RD_DIMS(0)));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, rd_min(rd_add(rd_expand(y, 2), rd_expand(y, 1)), RD_DIMS(0)));
    nest_agree(&b, one_task, 1);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* A row stores what its inner loop reads; and points of many dimensions. */
START_TEST(kept_for_an_inner_loop)
{
    const rd_dtype type = _i % 2 ? RD_F64 : RD_F32;
    const int64_t  n = (int64_t[]){ 200, 61 }[_i / 2], k = (int64_t[]){ 50, 20 }[_i / 2];
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(n, 100), ORDINARY);
    rd_expr       *w    = nest_leaf(&m, type, RD_SHAPE(k, 100), ORDINARY);
    rd_expr       *less = rd_sub(rd_num(ctx, 1), x);
    rd_expr       *far  = rd_sub(rd_expand(less, 1), rd_expand(w, 0));
    nest_batch     b    = { .what = "rows kept for an inner loop" };

    nest_add(&b, rd_sum(rd_abs(far), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, less);
    nest_add(&b, rd_max(rd_abs(far), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b,
             rd_argmin(rd_sum(rd_square(rd_sub(rd_expand(rd_transpose(x), 1),
                                               rd_expand(rd_transpose(rd_slice(x, ":, ::-1")), 0))),
                              RD_DIMS(2)),
                       RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Panels of columns within a loop of steps ------------------------------------------------- */
/* t[j] = sum of (x[j] b[i, k])^2 over i and k, y[i] = sum of x[j] b[i, k] (t[j] + a[i, k]) over j
 * and k: a panel goes through all k before the next one does, across the end of a block.  Small
 * ints, so that every order gives the same. */
enum { PANEL_I = 65, PANEL_J = 2, PANEL_K = 50 };

START_TEST(panels_of_columns)
{
    static float x[PANEL_J], a[PANEL_I * PANEL_K], b[PANEL_K * PANEL_I], y[PANEL_I];
    rd_expr     *left, *product, *t;

    rd_tier_force(_i ? "sync" : "off");
    for (int j = 0; j < PANEL_J; j++)
        x[j] = (float)(j % 3 - 1);
    for (int k = 0; k < PANEL_I * PANEL_K; k++) {
        a[k] = (float)(k * 7 % 11 - 5);
        b[k] = (float)(k * 3 % 5 - 2);
    }
    left    = rd_wrap(ctx, x, RD_SHAPE(1, PANEL_J, 1));
    product = rd_mul(left, rd_expand(rd_transpose(rd_wrap(ctx, b, RD_SHAPE(PANEL_K, PANEL_I))), 1));
    product = rd_maximum(product, rd_num(ctx, -1));
    t       = rd_remainder(rd_sum(rd_square(product), RD_KEEP(0, 2)), rd_num(ctx, 8));
    t       = rd_add(t, rd_expand(rd_wrap(ctx, a, RD_SHAPE(PANEL_I, PANEL_K)), 1));
    ck_assert_msg(rd_eval(ctx, rd_sum(rd_mul(product, t), RD_DIMS(1, 2)),
                          RD_INTO(y, RD_SHAPE(PANEL_I))) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int i = 0; i < PANEL_I; i++) {
        float expected = 0;

        for (int j = 0; j < PANEL_J; j++) {
            float squares = 0;

            for (int k = 0; k < PANEL_I * PANEL_K; k++)
                squares += fmaxf(x[j] * b[k], -1) * fmaxf(x[j] * b[k], -1);
            for (int k = 0; k < PANEL_K; k++)
                expected +=
                    fmaxf(x[j] * b[k * PANEL_I + i], -1) * (fmodf(squares, 8) + a[i * PANEL_K + k]);
        }
        ck_assert_float_eq(y[i], expected);
    }
}
END_TEST

/* log of the sum of w[k, j, l] exp(2 x[k, j + l]) over k: panels are no part of the axis of j,
 * so a row of a tile has columns of several groups. */
enum { PART_K = 4, PART_J = 98, PART_L = 27, PART_N = PART_J + PART_L - 1 };

START_TEST(panels_that_are_no_part)
{
    static float x[PART_K][PART_N], w[PART_K][PART_J][PART_L], y[PART_J][PART_L];
    rd_expr     *seen, *weight;

    rd_tier_force(_i ? "sync" : "off");
    for (int k = 0; k < PART_K * PART_N; k++)
        (&x[0][0])[k] = (float)(k * 7 % 11 - 5);
    for (int k = 0; k < PART_K * PART_J * PART_L; k++)
        (&w[0][0][0])[k] = (float)(k * 3 % 5);
    seen   = rd_mul(rd_wrap(ctx, &x[0][0], RD_SHAPE(PART_K, PART_N)), rd_num(ctx, 2));
    seen   = rd_window(seen, 1, PART_L, 1);
    weight = rd_wrap(ctx, &w[0][0][0], RD_SHAPE(PART_K, PART_J, PART_L));
    ck_assert_msg(rd_eval(ctx, rd_logsumexp(seen, RD_DIMS(0), .weights = weight),
                          RD_INTO(&y[0][0], RD_SHAPE(PART_J, PART_L))) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int j = 0; j < PART_J; j++)
        for (int l = 0; l < PART_L; l++) {
            double sum = 0;

            for (int k = 0; k < PART_K; k++)
                sum += (double)w[k][j][l] * exp(2 * (double)x[k][j + l]);
            ck_assert_msg(sum == 0 ? isinf(y[j][l]) : fabs(y[j][l] - log(sum)) < 1e-4,
                          "[%d, %d] is %g, not %g", j, l, (double)y[j][l], log(sum));
        }
}
END_TEST

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Borders of n indices: clusters of nothing, of one, and of several strips. */
static void borders_of(int64_t n, int clusters, int64_t *border)
{
    border[0] = 0;
    for (int k = 1; k < clusters; k++)
        border[k] = k % 5 == 3   ? border[k - 1]
                    : k % 5 == 1 ? border[k - 1] + 1
                                 : n * k / clusters + k % 3 - 1;
    border[clusters] = n;
    for (int k = 1; k <= clusters; k++)
        border[k] = border[k] < border[k - 1] ? border[k - 1] : border[k] > n ? n : border[k];
}

/* Of pairs, those in blocks: each reducer, along either axis, beside the tested mask; slices of the
 * mask, and other masks beside it. */
START_TEST(blocks_of_pairs)
{
    enum { ROWS = 11, COLUMNS = 7 };
    static const int full[] = { 0, 15, 60, 100 };
    const rd_mark    mark   = rd_ctx_mark(ctx);
    const rd_dtype   type   = _i % 2 ? RD_F32 : RD_F64;
    const int64_t    n = 700 + _i, m = 900 - 3 * _i;
    int64_t          of_rows[ROWS + 1], columns[COLUMNS + 1];
    bool             pair[ROWS * COLUMNS];
    tile_memory      t = { 0 };
    nest_batch       b = { 0 };

    borders_of(n, ROWS, of_rows);
    borders_of(m, COLUMNS, columns);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        pair[k] = k * 7919 % 101 < full[_i];
    rd_expr *const x    = nest_leaf(&t, type, RD_SHAPE(n, 3), ORDINARY);
    rd_expr *const y    = nest_leaf(&t, type, RD_SHAPE(m, 3), ORDINARY);
    rd_expr *const diff = rd_sub(rd_expand(x, 1), rd_expand(y, 0));
    rd_expr *const d    = rd_sum(rd_square(diff), RD_DIMS(2));
    rd_expr *const is   = rd_blocks(ctx, ROWS, of_rows, COLUMNS, columns, pair);

    snprintf(b.what, sizeof b.what, "blocks of pairs, case %d", _i);
    for (int a = 0; a < 2; a++) {
        nest_add(&b, rd_sum(rd_exp(rd_neg(d)), RD_DIMS(a), .where = is));
        nest_add(&b, rd_max(d, RD_DIMS(a), .where = is));
        nest_add(&b, rd_argmin(d, RD_DIMS(a), .where = is));
        nest_add(&b, rd_logsumexp(rd_neg(d), RD_DIMS(a), .where = is));
        nest_add(&b, rd_var(d, RD_DIMS(a), .where = is));
    }
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, rd_sum(d, RD_ALL, .where = is));
    nest_add(&b, rd_any(rd_lt(d, rd_num(ctx, 0.01)), RD_DIMS(1), .where = is));
    nest_add(&b, rd_sum(rd_slice(d, "3:, ::-1"), RD_DIMS(1), .where = rd_slice(is, "3:, ::-1")));
    nest_add(&b, rd_sum(d, RD_DIMS(1), .where = rd_and(is, rd_gt(d, rd_num(ctx, 1)))));
    nest_add(&b, rd_sum(d, RD_DIMS(0), .where = rd_not(is)));
    nest_add(&b, rd_count(is, RD_DIMS(1)));
    nest_agree(&b, many_tasks, 3);
    tile_free(&t);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

/* ---- The first few ------------------------------------------------------------------------------ */
/* Values and places of the nearest and farthest, among many equals and with a NaN, which come in
 * strips: of rows in ranges, of few rows, and along the other axis. */
START_TEST(first_few)
{
    static const struct {
        rd_dtype type;
        int64_t  m, n, d;
    } sizes[]                 = { { RD_F32, 21, 4099, 3 },
                                  { RD_F64, 19, 5000, 2 },
                                  { RD_F32, 3, 4500, 12 },
                                  { RD_F32, 2, 40000, 1 } };
    static const int64_t k[]  = { 1, 5, 20, 64 };
    const rd_mark        mark = rd_ctx_mark(ctx);
    const rd_dtype       type = sizes[_i].type;
    tile_memory          s = { 0 }, t = { 0 };
    rd_expr             *x    = nest_leaf(&s, type, RD_SHAPE(sizes[_i].m, sizes[_i].d), ORDINARY);
    rd_expr             *y    = nest_leaf(&t, type, RD_SHAPE(sizes[_i].n, sizes[_i].d), ORDINARY);
    rd_expr             *each = rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), *far;
    nest_batch           b    = { 0 };

    if (_i != 1)
        fill_with_equals(&t, sizes[_i].d, sizes[_i].d > 1 ? 4000 : -1);
    far = rd_sum(each, RD_DIMS(2));
    snprintf(b.what, sizeof b.what, "the first few of %d", (int)sizes[_i].n);
    for (int way = 0; way < 2; way++)
        for (int j = 0; j < COUNT(k); j++) {
            nest_add(&b, rd_top_k(far, k[j], 1, .smallest = way));
            nest_add(&b, rd_arg_top_k(far, k[j], 1, .smallest = way));
        }
    nest_agree(&b, many_tasks, 2);
    nest_add(&b, rd_arg_top_k(rd_permute(far, RD_INDEX(1, 0)), 5, 0, .smallest = true));
    nest_add(&b, rd_sum(rd_mul(far, rd_num(ctx, 0.5)), RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_top_k(far, 5, 1), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 2);
    tile_free(&s);
    tile_free(&t);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

/* ---- Gradients --------------------------------------------------------------------------------- */
/* The gradient of sums over pairs by one of the operands x, y and w: two loops over coordinates in
 * each round, of which several are jammed.  Points of odd numbers, some coordinates NaN, and points
 * that are equal. */
static const struct {
    rd_dtype type;
    int64_t  n, m, d;
    bool     jammed;
} gradients[] = {
    { RD_F32, 133, 97, 50, true },  { RD_F32, 65, 131, 17, true }, { RD_F32, 130, 66, 3, false },
    { RD_F64, 71, 129, 20, false }, { RD_F32, 64, 5, 21, false },
};

static rd_expr *sum_of_pairs(rd_expr *x, rd_expr *y, rd_expr *w, bool root)
{
    rd_expr *d2 = rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), RD_DIMS(2));
    rd_expr *k  = root ? rd_div(rd_num(ctx, 1), rd_add(rd_num(ctx, 1), d2))
                       : rd_exp(rd_mul(d2, rd_num(ctx, -0.5)));

    return rd_sum(rd_mul(k, w), RD_ALL);
}

START_TEST(gradients_of_pairs)
{
    static const char *const passes[] = { "unroll_jam_outer", "contract_scratch",
                                          "reverse_squares" };
    const rd_dtype           type     = gradients[_i].type;
    const int64_t            n = gradients[_i].n, m = gradients[_i].m, d = gradients[_i].d;
    tile_memory              s = { 0 };
    rd_expr                 *x = nest_leaf(&s, type, RD_SHAPE(n, d), ORDINARY),
            *y                 = nest_leaf(&s, type, RD_SHAPE(m, d), ORDINARY),
            *w                 = nest_leaf(&s, type, RD_SHAPE(m), ORDINARY);
    int changed[3]             = { 0 };

    nest_nans(&s, 2);
    for (int k = 0; k < 6; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        nest_batch    b    = { 0 };
        rd_exprs      g    = rd_grad(sum_of_pairs(x, y, w, k >= 3), RD_EXPRS(x, y, w));

        snprintf(b.what, sizeof b.what, "gradient %d of %d and %d points, %d coordinates, %s", k,
                 (int)n, (int)m, (int)d, rd_dtype_name(type));
        nest_seen.pass    = passes[k % 3];
        nest_seen.changed = 0;
        nest_add(&b, g.at[k % 3]);
        nest_agree(&b, many_tasks, k < 3 ? 4 : 2);
        nest_seen.pass = passes[(k + 1) % 3];
        nest_add(&b, g.at[k % 3]);
        nest_agree(&b, one_task, 1);
        changed[k % 3] += nest_seen.changed;
        rd_ctx_release(ctx, mark);
    }
    nest_seen.pass = NULL;
    ck_assert_msg(!gradients[_i].jammed || SANITIZED || (changed[0] > 0 && changed[1] > 0),
                  "no pass jams the loops over coordinates");
    nest_mostly();
    tile_free(&s);
}
END_TEST

/* ---- Rows of exponentials ---------------------------------------------------------------------- */
static const struct {
    int64_t n, m, d;
} of_exponentials[] = { { 80, 130, 3 }, { 133, 79, 2 }, { 17, 64, 1 }, { 64, 47, 3 } };

/* Sums over pairs by one exponential, or two, of which the second takes what the first has made.
 * Some are also weighted, masked by place, or taken by the greatest. */
static void add_exponentials(nest_batch *b, rd_expr *x, rd_expr *y, rd_expr *w)
{
    rd_expr *const d2   = rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), RD_DIMS(2));
    rd_expr *const r    = rd_sqrt(rd_add(rd_mul(d2, rd_num(ctx, 3)), rd_num(ctx, 1e-3)));
    rd_expr *const near = rd_exp(rd_neg(r)), *const both = rd_mul(rd_add(r, rd_num(ctx, 1)), near);
    rd_expr *const twice = rd_exp(rd_mul(rd_sub(near, r), w));

    nest_add(b, rd_sum(rd_mul(both, w), RD_DIMS(1)));
    nest_add(b, rd_sum(rd_mul(twice, near), RD_DIMS(1)));
    nest_add(b, rd_max(rd_sub(twice, d2), RD_DIMS(1)));
    nest_add(b, rd_sum(near, RD_DIMS(1), .where = rd_lt(rd_coord(near, 1), rd_coord(near, 0))));
    nest_add(b, rd_sum(rd_mul(rd_expand(near, 2), rd_expand(y, 0)), RD_DIMS(1)));
}

/* Rows of pairs go together through the phases of their exponentials, and those that are left one by
 * one.  Some coordinates are NaN. */
START_TEST(rows_of_exponentials)
{
    const int64_t n = of_exponentials[_i].n, m = of_exponentials[_i].m, d = of_exponentials[_i].d;
    tile_memory   s = { 0 };
    rd_expr      *x = nest_leaf(&s, RD_F32, RD_SHAPE(n, d), ORDINARY),
            *y      = nest_leaf(&s, RD_F32, RD_SHAPE(m, d), ORDINARY),
            *w      = nest_leaf(&s, RD_F32, RD_SHAPE(m), ORDINARY);

    nest_nans(&s, 2);
    nest_seen.pass    = "exp_rows";
    nest_seen.changed = 0;
    for (int k = 0; k < 6; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        nest_batch    all = { 0 }, b = { 0 };

        snprintf(b.what, sizeof b.what, "exponentials %d of %d and %d points, %d coordinates", k,
                 (int)n, (int)m, (int)d);
        add_exponentials(&all, x, y, w);
        for (int i = 0; i < all.n; i++)
            if (k == all.n || i == k)
                nest_add(&b, all.y[i]);
        nest_agree(&b, many_tasks, 4);
        rd_ctx_release(ctx, mark);
    }
    ck_assert_msg(nest_seen.changed > 0 || m < 64 || rd_cpu_vector() < 64 || SANITIZED,
                  "no rows go together");
    nest_seen.pass = NULL;
    nest_mostly();
    tile_free(&s);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { first_of_equals, 0, SANITIZED ? 1 : 3 },
        { short_axes, 0, SANITIZED ? 1 : 2 },
        { extremes_that_are_compared, 0, 2 },
        { rows, 0, SANITIZED ? 2 : 4 },
        { states_of_short_axes, 0, SANITIZED ? 2 : 4 },
        { kept_for_an_inner_loop, 0, SANITIZED ? 2 : 4 },
        { panels_of_columns, 0, 2 },
        { panels_that_are_no_part, 0, 2 },
        { first_few, 0, SANITIZED ? 2 : 4 },
        { blocks_of_pairs, SANITIZED ? 1 : 0, SANITIZED ? 2 : 4 },
        { gradients_of_pairs, 0, SANITIZED ? 1 : 5 },
        { rows_of_exponentials, 0, SANITIZED ? 1 : 4 },
    };

    return nest_suite("points", begin, cases, COUNT(cases));
}

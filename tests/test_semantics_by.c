/* docs/semantics.md on reductions by label. */
#include "isa.h"
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

RD_REDUCER(first_and_last, double, double, 2, (double first; double last; int64_t n;),
           (s->first = s->last = -1; s->n = 0;),
           (if (s->n == 0) s->first = x; s->last = x; s->n++;), (if (b->n > 0) {
               if (a->n == 0)
                   a->first = b->first;
               a->last = b->last;
               a->n += b->n;
           }),
           (y[0] = s->first; y[1] = s->last;))

#define BY(label, n) .by = RD_EXPRS(label), .groups = RD_SHAPE(n)

START_TEST(by_label)
{
    rd_expr *x = leaf(RD_F32, VALUES(1, 2, 4, 8, 16)), *g = leaf(RD_I32, VALUES(0, 2, 0, 2, 2));
    rd_expr *even = leaf(RD_BOOL, VALUES(1, 0, 1, 0, 0)), *heavy = rd_gt(x, rd_num(ctx, 1));

    expect("sum", rd_sum(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(5, 0, 26));
    expect("prod", rd_prod(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(4, 1, 256));
    expect("mean", rd_mean(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(2.5, NAN, 26.0F / 3));
    expect("var", rd_var(x, RD_ALL, BY(g, 1)), RD_F32, VALUES(2.25));
    expect("std", rd_std(x, RD_ALL, BY(g, 2), .ddof = 1), RD_F32, VALUES(sqrtf(4.5F), NAN));
    expect("min", rd_min(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(1, NAN, 2));
    expect("max", rd_max(x, RD_ALL, BY(g, 3)), RD_F32, VALUES(4, NAN, 16));
    expect("argmax", rd_argmax(x, RD_ALL, BY(g, 3)), RD_I64, VALUES(2, -1, 4));
    expect("argmin", rd_argmin(x, RD_ALL, BY(g, 3)), RD_I64, VALUES(0, -1, 1));
    expect("count", rd_count(rd_sub(x, rd_num(ctx, 2)), RD_ALL, BY(g, 3)), RD_I64, VALUES(2, 0, 2));
    expect("any", rd_any(heavy, RD_ALL, BY(g, 3)), RD_BOOL, VALUES(1, 0, 1));
    expect("all", rd_all(heavy, RD_ALL, BY(g, 3)), RD_BOOL, VALUES(0, 1, 1));
    expect("norm", rd_norm(x, RD_ALL, BY(g, 2), .p = 1), RD_F32, VALUES(5, 0));
    expect("logsumexp", rd_logsumexp(x, RD_ALL, BY(even, 3), .where = rd_le(x, rd_num(ctx, 1))),
           RD_F32, VALUES(-INFINITY, 1, -INFINITY));
    expect("bits_or", rd_reduce(rd_cast(x, RD_U8), "bits_or", RD_ALL, BY(g, 3)), RD_U8,
           VALUES(5, 0, 26));
    expect("a user's", rd_reduce(x, first_and_last, RD_ALL, BY(g, 3)), RD_F64,
           VALUES(1, 4, -1, -1, 2, 16));
    expect("weights", rd_mean(x, RD_ALL, BY(g, 1), .weights = leaf(RD_F32, VALUES(3, 9, 1, 9, 9))),
           RD_F32, VALUES(1.75));
    expect("where", rd_sum(x, RD_ALL, BY(g, 3), .where = heavy), RD_F32, VALUES(4, 0, 26));
    expect("skip_nan",
           rd_min(leaf(RD_F64, VALUES(NAN, 3, NAN)), RD_ALL, BY(leaf(RD_I8, VALUES(0, 0, 1)), 2),
                  .skip_nan = true),
           RD_F64, VALUES(3, NAN));
    expect("initial",
           rd_max(leaf(RD_I32, VALUES(5, 7)), RD_ALL, BY(leaf(RD_I8, VALUES(1, 1)), 2),
                  .initial = rd_int(ctx, 6)),
           RD_I32, VALUES(6, 7));
    expect("nan, -0",
           rd_sum(leaf(RD_F64, VALUES(-0.0, NAN, 1)), RD_ALL, BY(leaf(RD_U16, VALUES(0, 1, 2)), 4)),
           RD_F64, VALUES(0, NAN, 1, 0));
}
END_TEST

START_TEST(labels_outside)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 4, 8)), *g = leaf(RD_I64, VALUES(-1, 0, 3, 2));

    expect("below 0 and from n on", rd_sum(x, RD_ALL, BY(g, 3)), RD_F64, VALUES(2, 0, 8));
    expect("the greatest ints",
           rd_sum(x, RD_ALL, BY(rd_add(rd_cast(g, RD_U64), rd_int(ctx, 0)), 2)), RD_F64,
           VALUES(2, 0));
    expect("count", rd_count(x, RD_ALL, BY(g, 3)), RD_I64, VALUES(1, 0, 1));
    expect("one of two",
           rd_sum(x, RD_ALL, .by = RD_EXPRS(g, leaf(RD_I8, VALUES(0, 1, 1, -1))),
                  .groups = RD_SHAPE(3, 2)),
           RD_F64, VALUES(0, 2, 0, 0, 0, 0));
    expect_error("floats", rd_sum(x, RD_ALL, BY(x, 3)), RD_ERR_TYPE);
}
END_TEST

START_TEST(place_of_groups)
{
    rd_expr *x =
        leaf_shape(RD_F64, RD_SHAPE(2, 3, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    rd_expr *row = leaf_shape(RD_I32, RD_SHAPE(3, 1), VALUES(1, 0, 1)), *one = rd_int(ctx, 1);

    expect_shape("in place", rd_sum(x, RD_DIMS(1), BY(row, 4)), RD_SHAPE(2, 4, 2));
    expect_shape("of the first", rd_sum(x, RD_DIMS(2, 0), BY(row, 4)), RD_SHAPE(4, 3));
    expect_shape("kept", rd_sum(x, RD_KEEP(2, 0), BY(row, 4)), RD_SHAPE(4, 3, 1));
    expect_shape("several",
                 rd_sum(x, RD_DIMS(1), .by = RD_EXPRS(row, one), .groups = RD_SHAPE(4, 5)),
                 RD_SHAPE(2, 4, 5, 2));
    expect_shape("nothing reduced", rd_sum(x, RD_NONE, BY(one, 4)), RD_SHAPE(2, 3, 2, 4));
    expect_shape("outputs", rd_reduce(x, first_and_last, RD_DIMS(0), BY(one, 4)),
                 RD_SHAPE(4, 3, 2, 2));
    expect_shape("no group", rd_sum(x, RD_ALL, BY(one, 0)), RD_SHAPE(0));
    expect("rows", rd_sum(x, RD_DIMS(1), BY(row, 2)), RD_F64, VALUES(3, 4, 6, 8, 9, 10, 18, 20));
    expect("rows of f32", rd_sum(rd_cast(x, RD_F32), RD_DIMS(1), BY(row, 2)), RD_F32,
           VALUES(3, 4, 6, 8, 9, 10, 18, 20));
    expect("of floats in memory",
           rd_max(leaf_shape(RD_F32, RD_SHAPE(3, 2), VALUES(1, 2, 3, 4, 5, 6)), RD_DIMS(0),
                  BY(row, 2)),
           RD_F32, VALUES(3, 4, 5, 6));
    expect("sums of floats in memory",
           rd_sum(leaf_shape(RD_F32, RD_SHAPE(3, 2), VALUES(1, 2, 3, 4, 5, 6)), RD_DIMS(0),
                  BY(row, 2)),
           RD_F32, VALUES(3, 4, 6, 8));
    expect("rows and columns",
           rd_sum(rd_slice(x, "0"), RD_ALL, .by = RD_EXPRS(row, leaf(RD_I8, VALUES(1, 0))),
                  .groups = RD_SHAPE(2, 2)),
           RD_F64, VALUES(4, 3, 8, 6));
    expect("a slice", rd_slice(rd_sum(x, RD_DIMS(1), BY(row, 2)), "1, :, 0"), RD_F64,
           VALUES(9, 18));
    expect("two of them",
           rd_sub(rd_slice(rd_sum(x, RD_ALL, BY(row, 2)), "1"),
                  rd_slice(rd_sum(x, RD_ALL, BY(row, 2)), "0")),
           RD_F64, VALUES(52 - 26));
    expect("scalar", rd_sum(rd_num(ctx, 3), RD_ALL, BY(one, 2)), RD_F64, VALUES(0, 3));
    expect_error("scans", rd_scan(x, "sum", RD_DIMS(0), BY(one, 4)), RD_ERR_ARGUMENT);
    expect_error("labels without groups", rd_sum(x, RD_ALL, .by = RD_EXPRS(one)), RD_ERR_ARGUMENT);
    expect_error("groups below 0", rd_sum(x, RD_ALL, BY(one, -1)), RD_ERR_SHAPE);
    expect_error("too many",
                 rd_sum(x, RD_ALL, .by = RD_EXPRS(one, one), .groups = RD_SHAPE(INT64_MAX / 2, 8)),
                 RD_ERR_SHAPE);
    expect_error("shapes", rd_sum(x, RD_ALL, BY(leaf(RD_I8, VALUES(1, 2, 3)), 4)), RD_ERR_SHAPE);
}
END_TEST

START_TEST(groups_without_elements)
{
    rd_expr *none = rd_slice(leaf(RD_F64, VALUES(1)), "1:"),
            *g    = rd_slice(leaf(RD_I8, VALUES(1)), "1:");

    expect("sum", rd_sum(none, RD_ALL, BY(g, 2)), RD_F64, VALUES(0, 0));
    expect("prod", rd_prod(none, RD_ALL, BY(g, 2)), RD_F64, VALUES(1, 1));
    expect("mean", rd_mean(none, RD_ALL, BY(g, 2)), RD_F64, VALUES(NAN, NAN));
    expect("min", rd_min(none, RD_ALL, BY(g, 2)), RD_F64, VALUES(NAN, NAN));
    expect("argmin", rd_argmin(none, RD_ALL, BY(g, 2)), RD_I64, VALUES(-1, -1));
    expect_error("ints", rd_max(rd_cast(none, RD_I8), RD_ALL, BY(g, 2)), RD_ERR_EMPTY);
}
END_TEST

START_TEST(histograms)
{
    rd_expr *x     = leaf(RD_F32, VALUES(0, 0.25, 0.5, 1, NAN, -0.1, 1.5, 0.75, INFINITY, 0.99));
    rd_expr *edges = leaf(RD_F64, VALUES(0, 0.1, 0.75, 1)), *twice = leaf(RD_F64, VALUES(0, 0, 1));
    rd_expr *pair = leaf(RD_F64, VALUES(0.25, 0.75));

    expect("bins", rd_bins(x, 4, 0, 1), RD_I64, VALUES(0, 1, 2, 3, -1, -1, -1, 3, -1, 3));
    expect("the last edge", rd_bins(leaf(RD_F64, VALUES(0.7, 1.4)), 7, 0, 1.4), RD_I64,
           VALUES(3, 6));
    expect("ints", rd_bins(leaf(RD_I16, VALUES(-3, 0, 9)), 3, -3, 6), RD_I64, VALUES(0, 1, -1));
    expect("histogram", rd_histogram(x, 4, 0, 1, NULL), RD_I64, VALUES(1, 1, 1, 3));
    expect("weights", rd_histogram(pair, 2, 0, 1, rd_num(ctx, 0.5)), RD_F64, VALUES(0.5, 0.5));
    expect("between edges", rd_bins_between(x, edges), RD_I64,
           VALUES(0, 1, 1, 2, -1, -1, -1, 2, -1, 2));
    expect("an empty bin", rd_bins_between(leaf(RD_F64, VALUES(0, 0.5, 1, 2)), twice), RD_I64,
           VALUES(1, 1, 1, -1));
    expect("two edges", rd_bins_between(pair, leaf(RD_F64, VALUES(0.5, 1))), RD_I64, VALUES(-1, 0));
    expect("counts", rd_bincount(RD_EXPRS(leaf(RD_U8, VALUES(1, 2, 1, 7))), RD_SHAPE(3), NULL),
           RD_I64, VALUES(0, 2, 1));
    expect("of pairs",
           rd_bincount(RD_EXPRS(rd_bins(pair, 2, 0, 1), rd_bins(rd_expand(pair, 1), 2, 0, 1)),
                       RD_SHAPE(2, 2), NULL),
           RD_I64, VALUES(1, 1, 1, 1));
    expect_error("no bin", rd_bins(x, 0, 0, 1), RD_ERR_ARGUMENT);
    expect_error("no width", rd_bins(x, 3, 1, 1), RD_ERR_ARGUMENT);
    expect_error("an edge", rd_bins_between(x, rd_slice(edges, ":1")), RD_ERR_SHAPE);
    expect_error("no label", rd_bincount((rd_exprs){ 0 }, RD_SHAPE(3), x), RD_ERR_ARGUMENT);
    expect_error("floats", rd_bincount(RD_EXPRS(x), RD_SHAPE(3), NULL), RD_ERR_TYPE);
    ck_assert(!rd_bincount(RD_EXPRS(pair, pair), RD_SHAPE(3), NULL) &&
              strstr(rd_error_text(ctx), "rd_bincount: 2 labels"));
    rd_error_clear(ctx);
}
END_TEST

/* ---- Bits: of long operands, whoever computes them ------------------------------------------- */
enum { N = 100000, COLUMNS = 2, BLOCK = 1 << 15, LANES = 4 };

/* Sum of what lane l of a group has in block k, or in all blocks in [k, k + 2^level), as the tree has
 * it. */
static double tree_sum(const double *x, const int8_t *g, int group, int64_t l, int64_t k, int level,
                       bool *any)
{
    bool   left = false, right = false;
    double a = 0, b = 0;

    *any = false;
    if (k * BLOCK >= N)
        return 0;
    if (level == 0) {
        for (int64_t i = k * BLOCK + l; i < N && i < (k + 1) * BLOCK; i += LANES)
            if (g[i] == group) {
                a    = *any ? a + x[i] : x[i];
                *any = true;
            }
        return a;
    }
    a    = tree_sum(x, g, group, l, k, level - 1, &left);
    b    = tree_sum(x, g, group, l, k + ((int64_t)1 << (level - 1)), level - 1, &right);
    *any = left || right;
    return left && right ? a + b : left ? a : b;
}

static double lanes_sum(const double *x, const int8_t *g, int group)
{
    double lane[LANES];
    bool   any[LANES];

    for (int l = 0; l < LANES; l++)
        lane[l] = tree_sum(x, g, group, l, 0, 2, &any[l]);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) {
            lane[l] = any[l] && any[l + half] ? lane[l] + lane[l + half]
                      : any[l]                ? lane[l]
                                              : lane[l + half];
            any[l] |= any[l + half];
        }
    return lane[0];
}

static double *numbers(int64_t n)
{
    double  *x = malloc((size_t)n * sizeof *x);
    uint32_t s = 12345;

    for (int64_t i = 0; i < n; i++) {
        s    = s * 1664525 + 1013904223;
        x[i] = (double)(int32_t)s / 3e5;
    }
    return x;
}

/* Group 3 has elements in one block alone, 4 has none. */
static int8_t *labels(int64_t n)
{
    int8_t *g = malloc((size_t)n);

    for (int64_t i = 0; i < n; i++)
        g[i] = (int8_t)(i == 70000 || i == 70001 ? 3 : (i * i / 7) % 4 - 1);
    return g;
}

enum { GROUPS = 5, RESULTS = 6 };

static void evaluate(rd_expr *const *y, int threads, double *out)
{
    rd_array  a[RESULTS];
    rd_result r[RESULTS];

    for (int k = 0; k < RESULTS; k++) {
        a[k] = (rd_array){ .data  = out + (int64_t)k * GROUPS * COLUMNS,
                           .type  = RD_F64,
                           .shape = rd_shape_of(y[k]) };
        r[k] = (rd_result){ y[k], &a[k] };
    }
    ck_assert_msg(rd_eval_many(ctx, (rd_results){ r, RESULTS },
                               &(rd_eval_opts){ .threads = threads }) == RD_OK,
                  "%s", rd_error_text(ctx));
}

START_TEST(bits_of_groups)
{
    double *x = numbers((int64_t)N * COLUMNS), want[RESULTS * GROUPS * COLUMNS] = { 0 },
           got[RESULTS * GROUPS * COLUMNS] = { 0 };
    int8_t  *g                             = labels(N);
    rd_expr *in                            = rd_wrap(ctx, x, RD_SHAPE(N)),
            *label                         = rd_wrap(ctx, (signed char *)g, RD_SHAPE(N));
    rd_expr       *m                       = rd_wrap(ctx, x, RD_SHAPE(N, COLUMNS));
    rd_expr       *columns                 = rd_transpose(rd_wrap(ctx, x, RD_SHAPE(COLUMNS, N)));
    rd_expr *const y[RESULTS]              = { rd_sum(in, RD_ALL, BY(label, GROUPS)),
                                               rd_mean(in, RD_ALL, BY(label, GROUPS)),
                                               rd_cast(rd_argmax(in, RD_ALL, BY(label, GROUPS)), RD_F64),
                                               rd_var(m, RD_DIMS(0), BY(rd_expand(label, 1), GROUPS)),
                                               rd_logsumexp(m, RD_DIMS(0), BY(rd_expand(label, 1), GROUPS)),
                                               rd_sum(columns, RD_DIMS(0), BY(rd_expand(label, 1), GROUPS)) };

    for (int isa = 0; isa < isa_count(); isa++) {
        isa_begin(ctx, isa);
        for (int threads = 1; threads < 4; threads += 2) {
            evaluate(y, threads, isa + threads == 1 ? want : got);
            if (isa + threads == 1)
                continue;
            ck_assert_msg(!memcmp(want, got, sizeof got), "%s, %d threads", isa_name(isa), threads);
        }
    }
    isa_end(ctx);
    for (int k = 0; k < GROUPS; k++)
        ck_assert(want[k] == lanes_sum(x, g, k));
    free(x);
    free(g);
}
END_TEST

/* Its bits show in which order elements and blocks come. */
RD_REDUCER(fading, double, double, 1, (double v;), (s->v = 0;), (s->v = s->v * 0.75 + x;),
           (a->v = a->v * 0.5 + b->v;), (y[0] = s->v;))
RD_REDUCER2(fading2, float, double, float, 1, (float v;), (s->v = 0;),
            (s->v = s->v * 0.75F + x * (float)w;), (a->v = a->v * 0.5F + b->v;), (y[0] = s->v;))

static void run_on_tiles(rd_expr *const *y, int n)
{
    for (int k = 0; k < n; k++) {
        rd_array     a        = { .type = RD_F64, .shape = rd_shape_of(y[k]) };
        isa_programs programs = { 0 };
        rd_plan     *plan     = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y[k], &a }), NULL);

        ck_assert_msg(plan, "%s", rd_error_text(ctx));
        isa_count_programs(plan, &programs);
        ck_assert_msg(programs.scalar == 0, "result %d", k);
        rd_plan_free(plan);
    }
}

/* A user's reducer has the same on tiles, and on threads, as on the reference. */
START_TEST(users_by_label)
{
    double *x = numbers((int64_t)N * COLUMNS), want[RESULTS * GROUPS * COLUMNS] = { 0 },
           got[RESULTS * GROUPS * COLUMNS] = { 0 };
    int8_t  *g                             = labels(N);
    rd_expr *in                            = rd_wrap(ctx, x, RD_SHAPE(N)),
            *label                         = rd_wrap(ctx, (signed char *)g, RD_SHAPE(N));
    rd_expr       *m                       = rd_wrap(ctx, x, RD_SHAPE(N, COLUMNS));
    rd_expr       *columns                 = rd_transpose(rd_wrap(ctx, x, RD_SHAPE(COLUMNS, N)));
    rd_expr       *of_all                  = rd_expand(label, 1);
    rd_expr *const y[RESULTS]              = {
                     rd_reduce(in, fading, RD_ALL, BY(label, GROUPS)),
                     rd_reduce(in, fading, RD_ALL, .where = rd_gt(in, rd_num(ctx, 0)), BY(label, GROUPS)),
                     rd_reduce(in, first_and_last, RD_ALL, BY(label, GROUPS)),
                     rd_reduce(m, fading, RD_DIMS(0), BY(of_all, GROUPS)),
                     rd_reduce(columns, fading, RD_DIMS(0), BY(of_all, GROUPS)),
                     rd_cast(rd_reduce2(in, rd_sqrt(rd_abs(in)), fading2, RD_ALL, BY(label, GROUPS)), RD_F64)
    };

    for (int isa = 0; isa < isa_count(); isa++) {
        isa_begin(ctx, isa);
        if (isa)
            run_on_tiles(y, RESULTS);
        for (int threads = 1; threads < 4; threads += 2) {
            evaluate(y, threads, isa + threads == 1 ? want : got);
            ck_assert_msg(isa + threads == 1 || !memcmp(want, got, sizeof got), "%s, %d threads",
                          isa_name(isa), threads);
        }
    }
    isa_end(ctx);
    free(x);
    free(g);
}
END_TEST

/* All in one group: sums of f32 that added in f32 would stop at 2^24. */
START_TEST(sums_of_groups)
{
    enum { MANY = 1 << 17 };
    rd_expr *x = rd_broadcast(leaf(RD_F32, VALUES(1000.1)), RD_SHAPE(MANY));

    expect("f32", rd_sum(x, RD_ALL, BY(rd_int(ctx, 0), 1)), RD_F32,
           VALUES((float)((double)1000.1F * MANY)));
    expect("f16",
           rd_mean(rd_broadcast(leaf(RD_F16, VALUES(100)), RD_SHAPE(MANY)), RD_ALL,
                   BY(rd_int(ctx, 0), 1)),
           RD_F16, VALUES(100));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        by_label,       labels_outside, place_of_groups,         bits_of_groups,
        users_by_label, sums_of_groups, groups_without_elements, histograms
    };

    return run_suite("semantics_by", tests, COUNT(tests));
}

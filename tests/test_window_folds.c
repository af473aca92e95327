/* Reductions of views of windows are made of rolling ones, axis by axis: their values, what is read for
 * one of them, and how many operations all of them take. */
#include "eval/plan.h"
#include "values.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 67, COLUMNS = 93, CHANNELS = 3, MOST = ROWS * COLUMNS * CHANNELS };

static float         floats[MOST];
static double        doubles[MOST];
static uint8_t       bytes[MOST];
static const int64_t by_column[] = { 1, ROWS }, by_row[] = { COLUMNS, 1 };

static void fill(void)
{
    for (int i = 0; i < MOST; i++) {
        bytes[i]   = (uint8_t)(i * 2654435761u >> 23);
        floats[i]  = 1000 + (float)bytes[i] / 7;
        doubles[i] = -3 + bytes[i] / 11.0;
    }
}

/* A picture of numbers that lie along rows or along columns. */
static rd_expr *picture(rd_dtype type, const int64_t *stride)
{
    rd_array a = { .data  = type == RD_F32   ? (void *)floats
                            : type == RD_F64 ? (void *)doubles
                                             : (void *)bytes,
                   .type  = type,
                   .shape = RD_SHAPE(ROWS, COLUMNS) };

    a.strides = (rd_strides){ .n = 2, .at = { stride[0], stride[1] } };
    return rd_leaf(ctx, &a);
}

static double element(rd_dtype type, const int64_t *stride, int64_t i, int64_t j)
{
    const int64_t at = i * stride[0] + j * stride[1];

    return type == RD_F32 ? (double)floats[at] : type == RD_F64 ? doubles[at] : bytes[at];
}

static rd_expr *windows(rd_expr *x, int64_t m, int64_t n)
{
    return rd_window(rd_window(x, 0, m, 1), 1, n, 1);
}

/* ---- Values ---------------------------------------------------------------------------------- */
typedef struct state {
    long double n, sum, least, most, squares, far; /* far: squares of x - 1 */
    bool        nan;
} state;

static state window_of(rd_dtype type, const int64_t *stride, int64_t i, int64_t j, int64_t m,
                       int64_t n)
{
    state s = { .least = INFINITY, .most = -INFINITY };

    for (int64_t k = i; k < i + m; k++)
        for (int64_t l = j; l < j + n; l++) {
            const double x = element(type, stride, k, l);

            s.n++;
            s.sum += x;
            s.nan |= isnan(x);
            s.least = x < s.least ? x : s.least;
            s.most  = x > s.most ? x : s.most;
        }
    for (int64_t k = i; k < i + m; k++)
        for (int64_t l = j; l < j + n; l++) {
            const long double d = element(type, stride, k, l) - s.sum / s.n;

            s.squares += d * d;
            s.far +=
                (long double)(element(type, stride, k, l) - 1) * (element(type, stride, k, l) - 1);
        }
    return s;
}

static rd_expr *sums(rd_expr *w)
{
    return rd_sum(w, RD_DIMS(-2, -1));
}

static rd_expr *means(rd_expr *w)
{
    return rd_mean(w, RD_DIMS(-2, -1));
}

static rd_expr *least(rd_expr *w)
{
    return rd_min(w, RD_DIMS(-2, -1));
}

static rd_expr *most(rd_expr *w)
{
    return rd_squeeze(rd_max(w, RD_KEEP(-2, -1)), RD_DIMS(-2, -1));
}

static rd_expr *variances(rd_expr *w)
{
    return rd_var(w, RD_DIMS(-2, -1), .ddof = 1);
}

static rd_expr *deviations(rd_expr *w)
{
    return rd_std(w, RD_DIMS(-1, -2));
}

static rd_expr *norms(rd_expr *w)
{
    return rd_square(rd_norm(rd_sub(w, rd_num(ctx, 1)), RD_DIMS(-2, -1)));
}

static double sum_of(const state *s)
{
    return (double)s->sum;
}

static double mean_of(const state *s)
{
    return (double)(s->sum / s->n);
}

static double least_of(const state *s)
{
    return s->nan ? NAN : (double)s->least;
}

static double most_of(const state *s)
{
    return s->nan ? NAN : (double)s->most;
}

static double variance_of(const state *s)
{
    return (double)(s->squares / (s->n - 1));
}

static double deviation_of(const state *s)
{
    return (double)sqrtl(s->squares / s->n);
}

static double norm_of(const state *s)
{
    return (double)s->far;
}

/* `rounds`: units in the last place of the greatest numbers that are met, at most. */
static const struct {
    const char *what;
    rd_expr *(*build)(rd_expr *w);
    double (*of)(const state *s);
    double rounds;
} folds[] = {
    { "sum", sums, sum_of, 16 },
    { "mean", means, mean_of, 16 },
    { "min", least, least_of, 0 },
    { "max", most, most_of, 0 },
    { "var", variances, variance_of, 512 },
    { "std", deviations, deviation_of, 512 },
    { "norm of x - 1, squared", norms, norm_of, 64 },
};

static void expect_windows(size_t f, rd_dtype type, const int64_t *stride, int64_t m, int64_t n)
{
    rd_expr      *y    = folds[f].build(windows(picture(type, stride), m, n));
    rd_array      out  = { 0 };
    const double  unit = rd_type_of(y) == RD_F32 ? FLT_EPSILON : DBL_EPSILON;
    const int64_t rows = ROWS - m + 1, columns = COLUMNS - n + 1;

    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", folds[f].what, rd_error_text(ctx));
    ck_assert(out.shape.n == 2 && out.shape.at[0] == rows && out.shape.at[1] == columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const state  s    = window_of(type, stride, i, j, m, n);
            const double want = folds[f].of(&s), got = get(out.data, out.type, i * columns + j);

            ck_assert_msg(want == got || (isnan(want) && isnan(got)) ||
                              fabs(want - got) <= folds[f].rounds * unit * fabs(want),
                          "%s of %d x %d of type %d, (%d, %d): %.9g, not %.9g", folds[f].what,
                          (int)m, (int)n, (int)type, (int)i, (int)j, got, want);
        }
    rd_array_free(&out);
}

START_TEST(rolled_windows)
{
    static const int64_t  sizes[][2] = { { 3, 3 },  { 15, 15 }, { 2, 31 }, { 33, 4 }, { 1, 20 },
                                         { 30, 1 }, { 41, 1 },  { 1, 37 }, { 13, 1 } };
    static const rd_dtype types[]    = { RD_F32, RD_F64, RD_U8 };

    fill();
    for (size_t f = 0; f < COUNT(folds); f++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (size_t s = 0; s < COUNT(sizes); s++) {
                expect_windows(f, types[t], by_row, sizes[s][0], sizes[s][1]);
                expect_windows(f, types[t], by_column, sizes[s][0], sizes[s][1]);
            }
}
END_TEST

/* What is no number ends with its windows. */
START_TEST(no_numbers)
{
    fill();
    floats[20 * COLUMNS + 30]  = NAN;
    floats[50 * COLUMNS + 60]  = INFINITY;
    doubles[33 * COLUMNS + 46] = -INFINITY; /* in the middle, from where variances are measured */
    for (size_t f = 0; f < COUNT(folds); f++) {
        expect_windows(f, RD_F32, by_row, 9, 7);
        expect_windows(f, RD_F64, by_row, 7, 9);
        expect_windows(f, RD_F32, by_column, 5, 8);
    }
}
END_TEST

/* Beside a step variances keep their digits: squares about a number on the other side would cancel. */
START_TEST(beside_a_step)
{
    static const int64_t sizes[][2] = { { 15, 15 }, { 31, 3 }, { 33, 1 }, { 1, 33 }, { 20, 20 } };

    fill();
    for (int i = MOST / CHANNELS / 2; i < MOST; i++)
        floats[i] += 1000;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        expect_windows(4, RD_F32, by_row, sizes[s][0], sizes[s][1]);
        expect_windows(5, RD_F32, by_column, sizes[s][0], sizes[s][1]);
    }
}
END_TEST

/* Any and all of what a map makes of windows; and axes that are reduced without being windows. */
START_TEST(others)
{
    enum { N = 5, UP = ROWS - N + 1, LEFT = COLUMNS - N + 1 };
    rd_array any = { 0 }, all = { 0 }, three = { 0 };
    rd_expr *w   = windows(picture(RD_U8, by_row), N, N);
    rd_expr *x   = rd_wrap(ctx, doubles, RD_SHAPE(ROWS, COLUMNS, CHANNELS));
    rd_expr *sum = rd_sum(windows(x, N, N), RD_DIMS(2, 3, 4));

    fill();
    ck_assert(rd_eval(ctx, rd_any(rd_gt(w, rd_int(ctx, 200)), RD_DIMS(-2, -1)), &any) == RD_OK);
    ck_assert(rd_eval(ctx, rd_all(rd_gt(w, rd_int(ctx, 20)), RD_DIMS(-2, -1)), &all) == RD_OK);
    ck_assert(rd_eval(ctx, sum, &three) == RD_OK);
    for (int64_t i = 0; i < UP; i++)
        for (int64_t j = 0; j < LEFT; j++) {
            const state s     = window_of(RD_U8, by_row, i, j, N, N);
            double      total = 0;

            for (int64_t k = 0; k < N; k++)
                for (int64_t l = 0; l < N * CHANNELS; l++)
                    total += doubles[((i + k) * COLUMNS + j) * CHANNELS + l];
            ck_assert_int_eq(((const bool *)any.data)[i * LEFT + j], s.most > 200);
            ck_assert_int_eq(((const bool *)all.data)[i * LEFT + j], s.least > 20);
            ck_assert(fabs(((const double *)three.data)[i * LEFT + j] - total) < 1e-11);
        }
    rd_array_free(&any);
    rd_array_free(&all);
    rd_array_free(&three);
}
END_TEST

/* More rows than are added up by parts: whether any and whether all of a window are true. */
START_TEST(long_windows)
{
    enum { LONG = 400, WIDE = 6, N = 49, LEFT = LONG - N + 1 };
    static bool    bits[LONG * WIDE];
    rd_expr *const x = rd_wrap(ctx, bits, RD_SHAPE(LONG, WIDE)), *const w = rd_window(x, 0, N, 1);
    rd_array got[4] = { 0 };

    for (int k = 0; k < LONG * WIDE; k++)
        bits[k] = k % WIDE < 3 ? k % 211 == 0 : k % 211 != 0;
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ rd_any(w, RD_DIMS(-1)), &got[0] },
                                          { rd_all(w, RD_DIMS(-1)), &got[1] },
                                          { rd_max(w, RD_DIMS(-1)), &got[2] },
                                          { rd_min(w, RD_DIMS(-1)), &got[3] }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int64_t i = 0; i < LEFT * WIDE; i++) {
        bool any = false, all = true;

        for (int64_t k = 0; k < N; k++) {
            any |= bits[i + k * WIDE];
            all &= bits[i + k * WIDE];
        }
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(((const bool *)got[k].data)[i], k % 2 ? all : any);
    }
    for (int k = 0; k < 4; k++)
        rd_array_free(&got[k]);
}
END_TEST

/* ---- Costs ----------------------------------------------------------------------------------- */
static rd_run_stats stats_of(rd_expr *y)
{
    rd_array     out   = { .data  = malloc((size_t)MOST * sizeof(double)),
                           .type  = rd_type_of(y),
                           .shape = rd_shape_of(y) };
    rd_plan     *plan  = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &out }), NULL);
    rd_run_stats stats = { 0 };

    ck_assert_msg(plan && rd_plan_execute(plan, NULL, NULL, NULL, &stats) == RD_OK, "%s",
                  rd_error_text(ctx));
    rd_plan_free(plan);
    free(out.data);
    return stats;
}

/* Loads of all windows grow with the sum of a window's extents, not with their product; of one window no
 * more than its elements are loaded. */
START_TEST(loads)
{
    enum { N = 15, ALL = (ROWS - N + 1) * (COLUMNS - N + 1) };

    fill();
    for (size_t f = 0; f < 4; f++) {
        rd_expr *y = folds[f].build(windows(picture(RD_F32, by_row), N, N));

        ck_assert_int_le(stats_of(y).loads, 3 * N * ALL);
        ck_assert_int_le(stats_of(rd_slice(y, "7, 9")).loads, 2 * N * N);
        ck_assert_int_le(stats_of(rd_slice(y, "::20, ::30")).loads, 2 * 9 * N * N);
    }
}
END_TEST

/* Windows across memory have parts, which are added up once. */
START_TEST(parts)
{
    static const int64_t sizes[] = { 17, 23, 30, 31 };

    fill();
    for (size_t k = 0; k < COUNT(sizes); k++) {
        const int64_t all = (ROWS - sizes[k] + 1) * COLUMNS;
        rd_expr      *x   = picture(RD_F64, by_row);
        rd_expr      *y   = rd_rolling_mean(x, 0, sizes[k]);
        rd_expr      *w   = rd_mean(rd_window(x, 0, sizes[k], 1), RD_DIMS(-1));

        ck_assert_msg(y == w, "windows of %d are rolled", (int)sizes[k]);
        ck_assert_int_le(stats_of(y).loads, 10 * MOST / CHANNELS + 5 * all);
        ck_assert_int_le(stats_of(rd_slice(y, "3, 9")).loads, sizes[k] + 8);
    }
}
END_TEST

/* Sums of narrow ints are made in types that have just enough room for them. */
START_TEST(narrow_ints)
{
    enum { MANY = 9000 };
    static int8_t  lowest[MANY];
    static uint8_t highest[MANY];
    static bool    truths[MANY];
    static const struct {
        rd_dtype    type;
        const void *data;
        int64_t     n;
        double      each;
    } rows[] = {
        { RD_I8, lowest, 2, -128 },   { RD_I8, lowest, 256, -128 }, { RD_I8, lowest, 257, -128 },
        { RD_U8, highest, 256, 255 }, { RD_U8, highest, 259, 255 }, { RD_BOOL, truths, 128, 1 },
        { RD_BOOL, truths, 255, 1 },  { RD_BOOL, truths, 256, 1 },  { RD_BOOL, truths, 257, 1 },
    };

    memset(lowest, -128, sizeof lowest);
    memset(highest, 255, sizeof highest);
    memset(truths, 1, sizeof truths);
    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_array a   = { .data  = (void *)rows[k].data, /* a leaf is not written */
                               .type  = rows[k].type,
                               .shape = RD_SHAPE(MANY) };
        rd_expr       *x   = rd_leaf(ctx, &a);
        rd_expr       *y   = rd_rolling_sum(x, 0, rows[k].n);
        rd_array       sum = { 0 }, mean = { 0 };

        ck_assert(rd_eval(ctx, y, &sum) == RD_OK);
        ck_assert(rd_eval(ctx, rd_rolling_mean(x, 0, rows[k].n), &mean) == RD_OK);
        for (int64_t i = 0; i < MANY - rows[k].n + 1; i++)
            ck_assert_msg(get(sum.data, sum.type, i) == rows[k].each * (double)rows[k].n &&
                              get(mean.data, mean.type, i) == rows[k].each,
                          "row %d", (int)k);
        rd_array_free(&sum);
        rd_array_free(&mean);
    }
}
END_TEST

/* A mean of 40 truths is one of bytes, of which scratch takes an eighth of what f64 would. */
START_TEST(narrow_scratch)
{
    rd_expr *x = rd_gt(picture(RD_U8, by_row), rd_int(ctx, 99));

    ck_assert_int_eq(times_in(plan_text(rd_rolling_mean(x, 1, 40)), "= u8("), 1);
}
END_TEST

/* A padded picture is two concatenations, of which one holds the other: windows ask for either, and both
 * are one array. */
START_TEST(of_padded)
{
    rd_expr *x = rd_pad(picture(RD_F32, by_row), 0, 1, 1, RD_PAD_CONSTANT, NULL);
    rd_expr *y = rd_sum(most(windows(rd_pad(x, 1, 1, 1, RD_PAD_CONSTANT, NULL), 3, 3)), RD_ALL);

    ck_assert_int_eq(times_in(plan_text(y), "a concatenation is stored"), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { rolled_windows, no_numbers, beside_a_step, others,
                                   long_windows,   loads,      parts,         narrow_ints,
                                   narrow_scratch, of_padded };

    return run_suite("window_folds", tests, COUNT(tests));
}

/* test_narrow.c - arrays between loops that hold small ints: plans give them small types, and what
 * comes of them is what plain loops of 64 bits make, by tiles and by compiled loops, where all
 * elements are as large as their type has them. */
#include "nests.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/nest.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { ROWS = 5, LONG = 1200 };

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* ---- Windows ---------------------------------------------------------------------------------- */
typedef enum made { SUM, MEAN_EQUAL, SUM_OF_SUMS, DIFFERENCE } made;

/* What explain says of the first array that is a sum. */
static const struct {
    made        made;
    rd_dtype    type;
    int64_t     window, value;
    const char *says;
} windows[] = {
    { MEAN_EQUAL, RD_U8, 101, 71, "u8(" },  { MEAN_EQUAL, RD_U8, 255, 71, "u16(" },
    { MEAN_EQUAL, RD_U8, 256, 71, "u16(" }, { MEAN_EQUAL, RD_U8, 257, 71, "u16(" },
    { SUM, RD_U8, 128, 255, "u16(" },       { SUM, RD_U8, 129, 255, "u16(" },
    { SUM, RD_U8, 257, 255, "i16(" },       { SUM, RD_U8, 258, 255, "i16(" },
    { SUM, RD_I8, 255, -128, "i16(" },      { SUM, RD_I8, 256, -128, "i16(" },
    { SUM, RD_I8, 257, -128, "i16(" },      { SUM, RD_I16, 300, -32768, "i32(" },
    { SUM_OF_SUMS, RD_U8, 7, 255, "i16(" }, { SUM_OF_SUMS, RD_I8, 7, -128, "i16(" },
    { DIFFERENCE, RD_U8, 31, 255, NULL },   { DIFFERENCE, RD_I16, 31, -32768, NULL },
};

static int64_t element(rd_dtype type, const char *at, int64_t i)
{
    return rd_word_load(at + i * rd_dtype_size(type), type).i64;
}

static int64_t counted(int k, const char *at, int64_t i)
{
    const int64_t x = element(windows[k].type, at, i);

    return windows[k].made == MEAN_EQUAL ? x == windows[k].value : x;
}

/* The sum of a window that begins there. */
static int64_t sum_of(int k, const char *at, int64_t i)
{
    int64_t sum = 0;

    for (int64_t j = 0; j < windows[k].window; j++)
        sum += counted(k, at, i + j);
    return sum;
}

static double wanted(int k, const char *at, int64_t i)
{
    int64_t sum = 0;

    switch (windows[k].made) {
    case MEAN_EQUAL: return (double)sum_of(k, at, i) / (double)windows[k].window;
    case SUM_OF_SUMS:
        for (int64_t j = 0; j < windows[k].window; j++)
            sum += sum_of(k, at, i + j);
        return (double)sum;
    case DIFFERENCE: return (double)(sum_of(k, at, i) - sum_of(k, at, i + 1));
    default: return (double)sum_of(k, at, i);
    }
}

static rd_expr *windows_of(int k, rd_expr *x)
{
    const int64_t n = windows[k].window;
    rd_expr      *sums;

    if (windows[k].made == MEAN_EQUAL)
        return rd_rolling_mean(rd_eq(x, rd_num(ctx, (double)windows[k].value)), 1, n);
    sums = rd_rolling_sum(x, 1, n);
    if (windows[k].made == SUM_OF_SUMS)
        return rd_rolling_sum(sums, 1, n);
    return windows[k].made == DIFFERENCE ? rd_neg(rd_diff(sums, 1, 1)) : sums;
}

/* All of them the value; or that and another one, in turn of 5. */
static rd_expr *leaf(tile_memory *m, int k, bool all)
{
    const rd_dtype type = windows[k].type;
    rd_expr       *x    = nest_leaf(m, type, RD_SHAPE(ROWS, LONG), ORDINARY);

    for (int64_t i = 0; i < ROWS * LONG; i++)
        if (all || i % 5)
            rd_word_store(m->slot[0].before + i * rd_dtype_size(type), type,
                          rd_word_from_int(windows[k].value, type));
    return x;
}

static void check(int k, const char *data, rd_expr *y, int threads, const char *how)
{
    const int64_t cols = rd_shape_of(y).at[1];
    rd_array      out  = { 0 };

    ck_assert_msg(
        rd_eval_many(ctx, RD_RESULTS({ y, &out }), &(rd_eval_opts){ .threads = threads }) == RD_OK,
        "%s", rd_error_text(ctx));
    for (int64_t i = 0; i < ROWS * cols; i++) {
        const double want = wanted(k, data, i / cols * LONG + i % cols);
        const double found =
            out.type == RD_F64 ? ((const double *)out.in)[i] : (double)((const int64_t *)out.in)[i];

        ck_assert_msg(want == found, "row %d, %s: element %d is %.17g, not %.17g", k, how, (int)i,
                      found, want);
    }
    rd_array_free(&out);
}

START_TEST(rolling)
{
    for (int all = 0; all < 2; all++) {
        tile_memory m = { 0 };
        rd_expr    *x = leaf(&m, _i, all);
        rd_expr    *y = windows_of(_i, x);

        for (int threads = 1; threads <= 3; threads++)
            check(_i, m.slot[0].before, y, threads, "compiled loops");
        rd_nest_force("never");
        check(_i, m.slot[0].before, windows_of(_i, x), 2, "tiles");
        rd_nest_force("always");
        tile_free(&m);
    }
}
END_TEST

START_TEST(rolling_types)
{
    tile_memory m = { 0 };
    const char *text;

    text = rd_explain(ctx, RD_RESULTS({ windows_of(_i, leaf(&m, _i, true)), NULL }), NULL);
    ck_assert_msg(text && (!windows[_i].says || strstr(text, windows[_i].says)), "row %d: %s", _i,
                  text ? text : rd_error_text(ctx));
    tile_free(&m);
}
END_TEST

/* ---- Blocks that match ------------------------------------------------------------------------ */
/* Sums of 7 x 7 absolute differences, and which shift has the least. */
enum { HIGH = 12, WIDE = 90, SHIFTS = 4, PATCH = 7, ACROSS = WIDE - SHIFTS + 1 };

static int64_t patch(const uint8_t *a, const uint8_t *b, int64_t i, int64_t d, int64_t j)
{
    int64_t sum = 0;

    for (int64_t y = i; y < i + PATCH; y++)
        for (int64_t x = j; x < j + PATCH; x++)
            sum += llabs((int64_t)a[y * WIDE + x + SHIFTS - 1] - b[y * WIDE + x + d]);
    return sum;
}

START_TEST(matching)
{
    enum { N = ACROSS - PATCH + 1, M = HIGH - PATCH + 1 };
    tile_memory m = { 0 };
    rd_expr    *x = nest_leaf(&m, RD_U8, RD_SHAPE(HIGH, WIDE), ORDINARY);
    rd_expr    *y = nest_leaf(&m, RD_U8, RD_SHAPE(HIGH, WIDE), ORDINARY);
    uint8_t    *a = (uint8_t *)m.slot[0].before, *b = (uint8_t *)m.slot[1].before;
    rd_array    at = { 0 }, all = { 0 };
    rd_expr    *left, *right, *sums;

    for (int i = 0; i < HIGH * WIDE; i++) {
        a[i] = _i == 0 ? 255 : (uint8_t)(i * 7919 % 251);
        b[i] = _i == 0 ? 0 : (uint8_t)(i * 5077 % 241);
    }
    left  = rd_expand(rd_slice(rd_cast(x, RD_I16), ":, 3:"), 1);
    right = rd_window(rd_cast(y, RD_I16), 1, ACROSS, 1);
    sums  = rd_rolling_sum(rd_rolling_sum(rd_abs(rd_sub(left, right)), 0, PATCH), 2, PATCH);
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ rd_argmin(sums, RD_DIMS(1)), &at }),
                               &(rd_eval_opts){ .threads = 2 }) == RD_OK,
                  "%s", rd_error_text(ctx));
    ck_assert_int_eq(rd_eval(ctx, sums, &all), RD_OK);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            int64_t best = 0;

            for (int64_t d = 0; d < SHIFTS; d++) {
                ck_assert_int_eq(((const int64_t *)all.in)[(i * SHIFTS + d) * N + j],
                                 patch(a, b, i, d, j));
                if (patch(a, b, i, d, j) < patch(a, b, i, best, j))
                    best = d;
            }
            ck_assert_int_eq(((const int64_t *)at.in)[i * N + j], best);
        }
    rd_array_free(&at);
    rd_array_free(&all);
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { rolling, 0, COUNT(windows) },
        { rolling_types, 0, COUNT(windows) },
        { matching, 0, 2 },
    };

    return nest_suite("narrow", begin, cases, COUNT(cases));
}

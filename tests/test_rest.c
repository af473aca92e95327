/* test_rest.c - floats divided with a remainder: by nests and by tiles the bits of the scalar
 * interpreter, near whole quotients, where these are huge, and of zeros, infinities and NaN; and
 * the scalar interpreter's by what fmod() leaves. */
#include "nests.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { N = 200, ROWS = 4 };

/* The public header leaves it to formulas. */
rd_expr *rd_fmod(rd_expr *x, rd_expr *y);

static const rd_dtype types[] = { RD_F32, RD_F64, RD_F16 };
static const double   by[] = { 360, -45, 0.1, 1.0 / 3, -1e-30, 3e38, INFINITY, -INFINITY, NAN, 0 };

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* A row of ordinary numbers; one of products with the divisors, and their neighbours, of all sizes;
 * one of small ones, which are not far for a product; and one that has what is hard at some places. */
static double element(rd_dtype type, int row, int i)
{
    const double ordinary = (i * 7919 % 1009 - 500) / 7.0, b = by[i % COUNT(by)];
    const double wide = ldexp((i * 31 % 97 - 40) * b, i % (row == 1 ? 50 : 14)),
                 side = i % 3 * 1e30 - 1e30;

    if (row == 0)
        return ordinary;
    if (row < 3)
        return type == RD_F64 ? nextafter(wide, side)
                              : (double)nextafterf((float)wide, (float)side);
    return i % 70 == 3   ? -0.0
           : i % 70 == 5 ? INFINITY
           : i % 70 == 7 ? NAN
           : i % 70 == 9 ? 1e38 * ordinary
                         : ordinary;
}

static rd_expr *dividends(tile_memory *m, rd_dtype type)
{
    const int size = rd_dtype_size(type);
    rd_expr  *x    = nest_leaf(m, type, RD_SHAPE(ROWS, N), ORDINARY);
    char     *at   = m->slot[0].before;

    for (int k = 0; k < ROWS * N; k++)
        rd_word_store(at + k * size, type, rd_word_from_double(element(type, k / N, k % N), type));
    return x;
}

static void add_all(nest_batch *b, rd_expr *x, rd_expr *y)
{
    nest_add(b, rd_floordiv(x, y));
    nest_add(b, rd_remainder(x, y));
    nest_add(b, rd_fmod(x, y));
}

/* By some of the numbers, and by elements: a text of all would keep a busy compiler too long. */
START_TEST(divided)
{
    enum { SOME = 4 };
    const rd_dtype type = types[_i / SOME];
    tile_memory    m    = { 0 };
    rd_expr       *x    = dividends(&m, type);
    nest_batch     made = { 0 }, same;

    nest_seen.words = "|= rd_rest_hard_";
    snprintf(made.what, sizeof made.what, "%s, part %d", rd_dtype_name(type), _i % SOME);
    for (int k = _i % SOME; k < COUNT(by); k += SOME)
        add_all(&made, x, rd_cast(rd_num(ctx, by[k]), type));
    add_all(&made, x, rd_flip(x, RD_DIMS(1)));
    same = made;
    nest_agree(&made, one_task, 1);
    nest_agree_on_tiles(&same, one_task, 1);
    ck_assert_int_gt(nest_seen.with_words, 0);
    tile_free(&m);
}
END_TEST

/* Of f64 by the definition: what fmod() leaves, with the sign of the divisor. */
static double remainder_of(double a, double b)
{
    const double rest = fmod(a, b);

    return rest == 0 ? copysign(0, b) : (b < 0) != (rest < 0) ? rest + b : rest;
}

/* A product takes the place of the division where the divisor is a number above 0.  A text of all
 * divisors keeps a compiler for ten seconds, so a plain run takes each third. */
START_TEST(by_a_number)
{
    const int      step = suite_is_plain() ? 3 : 1;
    const rd_dtype type = types[_i];
    tile_memory    m    = { 0 };
    rd_expr       *x    = dividends(&m, type);
    nest_batch     made = { 0 }, same;

    nest_seen.words = "|= rd_rest_far_";
    snprintf(made.what, sizeof made.what, "%s", rd_dtype_name(type));
    for (int k = 0; k < COUNT(by); k += step) {
        rd_expr *y = rd_cast(rd_num(ctx, by[k]), type);

        nest_add(&made, rd_remainder(rd_mul(x, rd_num(ctx, 0.875)), y));
        nest_add(&made, rd_floordiv(x, y));
    }
    same = made;
    nest_agree(&made, one_task, 1);
    nest_agree_on_tiles(&same, one_task, 1);
    ck_assert_int_gt(nest_seen.with_words, 0);
    tile_free(&m);
}
END_TEST

START_TEST(defined)
{
    const double b = by[_i];
    tile_memory  m = { 0 };
    rd_expr     *x = dividends(&m, RD_F64);
    rd_array     y = { 0 };

    ck_assert_int_eq(rd_eval(ctx, rd_remainder(x, rd_num(ctx, b)), &y), RD_OK);
    for (int k = 0; k < ROWS * N; k++) {
        const double want = remainder_of(((double *)m.slot[0].before)[k], b);
        const double got  = ((const double *)y.in)[k];

        ck_assert_msg(isnan(want) ? isnan(got) : memcmp(&want, &got, sizeof got) == 0,
                      "%.17g by %g: %.17g, not %.17g", ((double *)m.slot[0].before)[k], b, got,
                      want);
    }
    rd_array_free(&y);
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { divided, 0, 4 * COUNT(types) },
        { defined, 0, COUNT(by) },
        { by_a_number, 0, 2 }, /* halves are rounded behind a division */
    };

    return nest_suite("rest", begin, cases, COUNT(cases));
}

/* test_intervals.c - floats that are known to lie in the range of an int become ints by vectors, in
 * the loop that makes them: by nests, against the scalar interpreter. */
#include "nests.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static const rd_dtype ints[] = { RD_U8, RD_I8, RD_U16, RD_I16, RD_I32 };

static rd_expr *number(double x)
{
    return rd_num(ctx, x);
}

static rd_expr *between(rd_expr *x, double low, double high)
{
    return rd_clip(x, number(low), number(high));
}

/* Of so many programs of the batch the text has such a cast, or of none. */
static void agree(nest_batch *b, bool bounded)
{
    nest_seen.words      = "(int32_t)rd_or_0_";
    nest_seen.with_words = 0;
    nest_agree(b, many_tasks, COUNT(many_tasks));
    ck_assert_msg((nest_seen.with_words > 0) == bounded, "%s: %d texts", b->what,
                  nest_seen.with_words);
    nest_seen.words = NULL;
}

/* NaN, infinities and -0 among them; what is cut off behind the point; rounds that are written
 * out. */
START_TEST(bounded)
{
    const rd_dtype type = ints[_i % 5], from = _i < 5 ? RD_F32 : RD_F64;
    tile_memory    m = { 0 };
    rd_expr       *x = nest_leaf(&m, from, RD_SHAPE(7, 300), UGLY),
            *bytes   = nest_leaf(&m, RD_U8, RD_SHAPE(7, 300), UGLY),
            *some    = nest_leaf(&m, RD_BOOL, RD_SHAPE(7, 300), FLAGS);
    rd_expr   *y     = rd_cast(bytes, from);
    nest_batch b     = { 0 };

    snprintf(b.what, sizeof b.what, "%s of bounded %s", rd_dtype_name(type), rd_dtype_name(from));
    nest_add(&b, rd_cast(between(x, 0, 255), type));
    nest_add(&b, rd_cast(rd_add(rd_mul(between(x, -0.99, 1), number(0.99)), number(0.5)), type));
    nest_add(&b, rd_cast(rd_sqrt(rd_mul(y, number(3))), type));
    nest_add(&b, rd_cast(rd_where(some, rd_abs(between(x, -3, 2)), rd_div(y, number(7))), type));
    agree(&b, true);
    nest_add(&b, rd_cast(rd_pow(between(x, 0, 1), number(0.4)), type));
    nest_add(&b, rd_cast(rd_mul(rd_exp(rd_neg(rd_abs(x))), between(x, 0, 9)), type));
    nest_add(&b, rd_sum(rd_cast(between(x, 0, 9), type), RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_cast(between(x, 0, 9), type), RD_DIMS(1)));
    agree(&b, true);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* An end that is missing, too far, or below 0 for an unsigned type; fmin of NaN; sums of
 * infinities. */
START_TEST(unbounded)
{
    const rd_dtype type = ints[_i % 5], from = _i < 5 ? RD_F32 : RD_F64;
    const bool     sign = rd_dtype_name(type)[0] == 'i';
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, from, RD_SHAPE(7, 300), UGLY);
    nest_batch     b    = { 0 };

    snprintf(b.what, sizeof b.what, "%s of any %s", rd_dtype_name(type), rd_dtype_name(from));
    nest_add(&b, rd_cast(rd_minimum(x, number(200)), type));
    nest_add(&b, rd_cast(between(x, 0, 3e9), type));
    nest_add(&b, rd_cast(between(x, sign ? -3e9 : -1, 100), type));
    nest_add(&b, rd_cast(rd_fmin(rd_abs(x), number(100)), type));
    nest_add(&b, rd_cast(rd_mul(between(x, 0, 1), x), type));
    agree(&b, false);
    nest_mostly();
    tile_free(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("intervals");
    TCase *tests = tcase_create("intervals");

    tcase_add_checked_fixture(tests, begin, nest_end);
    tcase_add_loop_test(tests, bounded, 0, 10);
    tcase_add_loop_test(tests, unbounded, 0, 10);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

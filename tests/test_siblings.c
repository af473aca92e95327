/* Bits of a result do not depend on what else is asked for: every expression alone, and beside each
 * of the others.
 *
 * The others are chosen to change how it is evaluated: they store its operands (windows, reshapes),
 * read its reductions at other places, or walk the same arrays in another order. */
#include "suite.h"
#include <math.h>
#include <rdim.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 120, COLUMNS = 90 };

static rd_ctx *ctx;
static float   data[3][ROWS][COLUMNS];

/* x in C order, z in Fortran order. */
static rd_expr *x(void)
{
    return rd_wrap(ctx, &data[0][0][0], RD_SHAPE(ROWS, COLUMNS));
}

static rd_expr *z(void)
{
    return rd_wrap(ctx, &data[1][0][0], RD_SHAPE(ROWS, COLUMNS), .order = 1);
}

static rd_expr *c(void)
{
    return rd_wrap(ctx, &data[2][0][0], RD_SHAPE(ROWS, COLUMNS));
}

static rd_expr *p(void)
{
    return rd_mul(rd_exp(x()), z());
}

static rd_expr *sum_of_p(rd_dims dims)
{
    return rd_reduce_name(p(), "sum",
                          &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = dims });
}

enum { EXPRESSIONS = 18 };

static rd_expr *expression(int k)
{
    switch (k) {
    case 0: return rd_sum(rd_exp(z()), RD_ALL);
    case 1: return rd_sum(rd_flip(rd_exp(z()), RD_DIMS(0)), RD_DIMS(0));
    case 2: return rd_sum(rd_window(rd_exp(z()), 1, 40, 1), RD_DIMS(2));
    /* multiply-add through a view */
    case 3: return rd_add(rd_slice(p(), "1:"), rd_slice(c(), "1:"));
    case 4: return rd_sum(rd_window(p(), 0, 30, 1), RD_DIMS(2));
    case 5: return sum_of_p(RD_DIMS(1));
    case 6: return rd_sum(rd_reshape(rd_transpose(p()), RD_SHAPE(ROWS, COLUMNS)), RD_ALL);
    case 7:
        return rd_reshape(rd_sum(rd_reshape(x(), RD_SHAPE(ROWS, 9, 10)), RD_DIMS(2)),
                          RD_SHAPE(ROWS * 9));
    case 8: return rd_sum(x(), RD_DIMS(0));
    case 9: return rd_sum(rd_add(x(), z()), RD_ALL);
    case 10: return rd_mean(rd_sub(x(), rd_mean(x(), RD_KEEP(1))), RD_DIMS(0));
    case 11: return rd_scan(p(), "sum", RD_DIMS(0));
    case 12: return rd_slice(rd_scan(p(), "sum", RD_DIMS(1)), ":, -1");
    case 13: return rd_sum(rd_scan(p(), "sum", RD_DIMS(1)), RD_DIMS(0));
    case 14: return rd_var(p(), RD_DIMS(0));
    case 15:
        return rd_take(rd_sum(rd_exp(z()), RD_DIMS(1)), 0,
                       rd_remainder(rd_coord(x(), 0), rd_int(ctx, 7)));
    case 16: return rd_max(x(), RD_DIMS(1));
    /* softmax's sum */
    default: return rd_sum(rd_exp(rd_sub(x(), rd_max(x(), RD_KEEP(1)))), RD_DIMS(1));
    }
}

static size_t bytes_of(const rd_array *a)
{
    size_t n = a->type == RD_F32 ? 4 : 8;

    for (int k = 0; k < a->shape.n; k++)
        n *= (size_t)a->shape.at[k];
    return n;
}

static void set_up(void)
{
    srand(1);
    ctx = rd_ctx_new(NULL);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                data[k][i][j] = (float)rand() / (float)RAND_MAX * (k ? 1 : 3);
}

static void tear_down(void)
{
    rd_ctx_free(ctx);
}

START_TEST(same_bits_beside_each_other)
{
    rd_array alone = { 0 };

    ck_assert_msg(rd_eval(ctx, expression(_i), &alone) == RD_OK, "%s", rd_error_text(ctx));
    for (int k = 0; k < EXPRESSIONS; k++) {
        rd_array  mine = { 0 }, other = { 0 };
        rd_status status = rd_eval_many(
            ctx, RD_RESULTS({ expression(_i), &mine }, { expression(k), &other }), NULL);

        ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
        ck_assert_msg(memcmp(mine.data, alone.data, bytes_of(&alone)) == 0,
                      "%d beside %d has other bits", _i, k);
        rd_array_free(&mine);
        rd_array_free(&other);
    }
    rd_array_free(&alone);
}
END_TEST

/* The largest of a long row and the sum of its exponentials are one reduction, also where somebody asks for
 * either of them: 768 KiB are more than a row that stays in cache. */
enum { LONG = 3 << 16 };
static float long_rows[2][LONG];

static rd_expr *of_long_rows(int k)
{
    rd_expr *const y    = rd_wrap(ctx, &long_rows[0][0], RD_SHAPE(2, LONG));
    rd_expr *const most = rd_max(y, RD_KEEP(1)), *const e = rd_exp(rd_sub(y, most));
    rd_expr *const sum = rd_sum(e, RD_KEEP(1));

    switch (k) {
    case 0: return most;
    case 1: return sum;
    case 2: return rd_add(most, rd_log(sum));
    default: return rd_sum(rd_div(e, sum), RD_KEEP(1));
    }
}

START_TEST(softmax_of_long_rows)
{
    float alone[4][2], found[4][2];

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < LONG; j++)
            long_rows[i][j] = (float)((i + 3) * j % 1009) / 100 - 5;
    for (int k = 0; k < 4; k++)
        ck_assert(rd_eval(ctx, of_long_rows(k), RD_INTO(alone[k], RD_SHAPE(2, 1))) == RD_OK);
    for (int i = 0; i < 2; i++) {
        double most = -10, sum = 0;

        for (int j = 0; j < LONG; j++)
            most = long_rows[i][j] > most ? long_rows[i][j] : most;
        for (int j = 0; j < LONG; j++)
            sum += exp(long_rows[i][j] - most);
        ck_assert(alone[0][i] == (float)most);
        ck_assert(fabs(alone[1][i] - sum) < 1e-5 * sum);
        ck_assert(fabs(alone[2][i] - (most + log(sum))) < 1e-5);
        ck_assert(fabs(alone[3][i] - 1) < 1e-5);
    }
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ of_long_rows(0), RD_INTO(found[0], RD_SHAPE(2, 1)) },
                                          { of_long_rows(1), RD_INTO(found[1], RD_SHAPE(2, 1)) },
                                          { of_long_rows(2), RD_INTO(found[2], RD_SHAPE(2, 1)) },
                                          { of_long_rows(3), RD_INTO(found[3], RD_SHAPE(2, 1)) }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    ck_assert(memcmp(found, alone, sizeof found) == 0);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("siblings");
    TCase   *tc     = tcase_create("bits");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, same_bits_beside_each_other, 0, EXPRESSIONS);
    tcase_add_test(tc, softmax_of_long_rows);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

/* test_formula_results.c - formulas beside loops by hand, and where memory runs out while they are read. */
#include "rdim.h"
#include "suite.h"
#include <math.h>

static float   x_data[4][5];
static int32_t idx_data[3] = { 2, 0, 1 };

static rd_ctx  *ctx;
static rd_expr *x, *idx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
    x   = rd_wrap(ctx, x_data, RD_SHAPE(4, 5));
    idx = rd_wrap(ctx, idx_data, RD_SHAPE(3));
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* ---- Beside loops by hand ------------------------------------------------------------------------ */
static double element(int i, int j) /* of x */
{
    return i * 10 + j;
}

static int inside(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static double by_hand(int row, int i, int j)
{
    double sum = 0;

    switch (row) {
    case 0: return element(idx_data[i + 1], j) * (i + 1);
    case 1:
        for (int k = -2; k < 3; k++)
            sum += element(i, inside(j + k, 5)) * k;
        return sum;
    case 2: return element(i, (2 * (j + 1) + 5) % 5);
    case 3: return element(i, idx_data[i]) + j;
    case 4: return j - 2 * i < 0 || j - 2 * i > 4 ? 7 : element(1, j - 2 * i);
    case 5:
        for (int k = 0; k < j; k++)
            sum += element(i, k) > 11 ? element(i, k) : 0;
        return sum;
    case 6:
        for (int k = 0; k < 4; k++)
            sum = fmax(sum, element(k, j) * (k % 2));
        return sum + i;
    default: return element(inside(i - 1, 4), inside(j + 3, 5));
    }
}

START_TEST(beside_loops)
{
    static const struct {
        const char *text;
        int         n, m;
    } rows[] = {
        { "o[i in 1:3, j] = x[idx[i], j] * i", 2, 5 },
        { "o[i, j] = 0 * x[i, j] + sum[k in -2:3] x[i, clamp(j + k)] * k", 4, 5 },
        { "o[i, j in 1:6] = x[i, wrap(2 * j - 5)]", 4, 5 },
        { "o[i in 0:3, j in 0:4] = x[i, idx[i]] + j", 3, 4 },
        { "o[i in 0:4, j in 0:5] = x[1, pad(j - 2 * i, 7)]", 4, 5 },
        { "o[i, j] = 0 * x[i, j] + sum[k where k < j and x[i, k] > 11] x[i, k]", 4, 5 },
        { "o[i in 0:2, j] = (max[k] x[k, j] * (k % 2)) + i", 2, 5 },
        { "o[i in 0:4, j in 0:5] = x[clamp(i - 1), clamp(j + 3)]", 4, 5 },
    };

    for (int k = 0; k < 20; k++)
        x_data[k / 5][k % 5] = (float)element(k / 5, k % 5);
    for (int k = 0; k < (int)(sizeof rows / sizeof *rows); k++) {
        rd_expr *e   = rd_formula(ctx, rows[k].text, RD_NAMES({ "x", x }, { "idx", idx }));
        rd_array out = { 0 };

        ck_assert_msg(e && rd_eval(ctx, rd_cast(e, RD_F64), &out) == RD_OK, "%s: %s", rows[k].text,
                      rd_error_text(ctx));
        ck_assert(out.shape.n == 2 && out.shape.at[0] == rows[k].n && out.shape.at[1] == rows[k].m);
        for (int i = 0; i < rows[k].n; i++)
            for (int j = 0; j < rows[k].m; j++)
                ck_assert_msg(((double *)out.data)[i * rows[k].m + j] == by_hand(k, i, j),
                              "%s at %d, %d: %g, not %g", rows[k].text, i, j,
                              ((double *)out.data)[i * rows[k].m + j], by_hand(k, i, j));
        rd_array_free(&out);
    }
}
END_TEST

/* ---- Memory that runs out ------------------------------------------------------------------------ */
static int64_t allowed, held;

static void *allocate(void *user, int64_t bytes)
{
    (void)user;
    if (allowed-- <= 0)
        return NULL;
    held++;
    return malloc((size_t)bytes);
}

static void release(void *user, void *p)
{
    (void)user;
    held -= p != NULL;
    free(p);
}

START_TEST(out_of_memory)
{
    static const char text[] = "t = softmax(x[:, ::2]); o[i] = sum[k] x[i, clamp(k + 1)] * x[0, k]";
    const rd_ctx_opts hooks  = { .allocate = allocate, .release = release };
    bool              done   = false;

    for (int k = 0; k < 200 && !done; k++) {
        allowed        = 1000;
        rd_ctx  *small = rd_ctx_new(&hooks);
        rd_expr *leaf  = rd_wrap(small, x_data, RD_SHAPE(4, 5));

        allowed = k;
        done    = rd_formula(small, text, RD_NAMES({ "x", leaf })) != NULL;
        ck_assert_msg(rd_error(small) == (done ? RD_OK : RD_ERR_MEMORY), "%s",
                      rd_error_text(small));
        rd_ctx_free(small);
        ck_assert_int_eq(held, 0);
    }
    ck_assert(done);
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("formula_results");
    TCase   *tc = tcase_create("formula_results");
    SRunner *runner;
    int      failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, beside_loops);
    tcase_add_test(tc, out_of_memory);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

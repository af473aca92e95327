/* test_row_blocks.c - attention in blocks of rows: what it comes to, by loops in double; its memory;
 * the same bits by any number of threads; and when it runs whole. */
#include "kernels/cpu/product/blas.h"
#include "suite.h"

#include <math.h>
#include <rdim.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, ROWS = 2100, D = 64, N = HEADS * ROWS * D, SCORES = HEADS * ROWS * ROWS * 4 };

static rd_ctx          *ctx;
static float            q[N], k[N], v[N], got[N];
static _Atomic(int64_t) held, most;

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Counts bytes, which stand before each piece. */
static void *counted(void *user, int64_t bytes)
{
    int64_t *const p   = malloc((size_t)bytes + 64);
    const int64_t  now = atomic_fetch_add(&held, bytes) + bytes;
    int64_t        was = atomic_load(&most);

    (void)user;
    while (was < now && !atomic_compare_exchange_weak(&most, &was, now))
        ;
    *p = bytes;
    return (char *)p + 64;
}

static void forget(void *user, void *p)
{
    int64_t *const piece = p ? (int64_t *)(void *)((char *)p - 64) : NULL;

    (void)user;
    if (piece)
        atomic_fetch_sub(&held, *piece);
    free(piece);
}

static void setup(void)
{
    unsigned s = 12345;

    ctx = rd_ctx_new(
        &(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .allocate = counted, .release = forget });
    for (int i = 0; i < N; i++) {
        q[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
        k[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
        v[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
    }
}

static void teardown(void)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    rd_ctx_free(ctx);
    ck_assert_msg(atomic_load(&held) == 0, "%lld bytes are left", (long long)atomic_load(&held));
}

/* ---- Attention ------------------------------------------------------------------------------- */
static rd_expr *heads_of(const float *p)
{
    return rd_wrap(ctx, p, RD_SHAPE(HEADS, ROWS, D));
}

static rd_expr *scores(bool causal)
{
    rd_expr *s = rd_matmul(heads_of(q), rd_permute(heads_of(k), RD_INDEX(0, 2, 1)));

    s = rd_mul(s, rd_num(ctx, 0.125));
    return causal ? rd_where(rd_le(rd_coord(s, 2), rd_coord(s, 1)), s, rd_num(ctx, -INFINITY)) : s;
}

/* As users write it: three ways. */
static rd_expr *attention(int way, bool causal)
{
    rd_expr *s = scores(causal);

    switch (way) {
    case 0: return rd_matmul(rd_softmax(s, RD_DIMS(-1)), heads_of(v));
    case 1: return rd_einsum("hqk,hkd->hqd", rd_softmax(s, RD_DIMS(-1)), heads_of(v));
    default: return rd_softmax_sum(rd_expand(s, 3), rd_expand(heads_of(v), 1), RD_DIMS(2));
    }
}

/* Element d of a row of a head, by loops. */
static double wanted(int h, int row, int d, bool causal)
{
    const int n   = causal ? row + 1 : ROWS;
    double    sum = 0, weights = 0;

    for (int j = 0; j < n; j++) {
        double s = 0;

        for (int c = 0; c < D; c++)
            s += (double)q[(h * ROWS + row) * D + c] * k[(h * ROWS + j) * D + c];
        sum += exp(s / 8) * v[(h * ROWS + j) * D + d];
        weights += exp(s / 8);
    }
    return sum / weights;
}

static bool in_blocks(rd_expr *y, const rd_eval_opts *opts)
{
    rd_array out = { 0 };

    return strstr(rd_explain(ctx, RD_RESULTS({ y, &out }), opts), "\nin blocks: ") != NULL;
}

/* Weights are at most 1, and values 2: some 60 roundings of f32 in the scores, of up to 32. */
static void check_rows(const float *y, bool causal, const char *what)
{
    for (int row = 0; row < ROWS; row += 61)
        for (int h = 0; h < HEADS; h++) {
            const double want = wanted(h, row, row % D, causal);

            ck_assert_msg(fabs(y[(h * ROWS + row) * D + row % D] - want) < 2e-4, "%s: %g, not %g",
                          what, (double)y[(h * ROWS + row) * D + row % D], want);
        }
}

/* ---- Tests ----------------------------------------------------------------------------------- */
/* Right, the same by any number of threads, in the memory of a few blocks. */
START_TEST(any_threads)
{
    rd_expr *y     = attention(_i / 2, _i % 2);
    float   *first = NULL;

    if (!rd_blas_name()) /* blocks are for products by a library */
        return;
    ck_assert(in_blocks(y, NULL));
    for (int threads = 1; threads <= 3; threads++) {
        const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };

        memset(got, 0, sizeof got);
        atomic_store(&most, atomic_load(&held));
        ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)) }),
                                   &opts) == RD_OK,
                      "%s", rd_error_text(ctx));
        ck_assert_msg(atomic_load(&most) < SCORES / 2, "%lld bytes by %d threads",
                      (long long)atomic_load(&most), threads);
        check_rows(got, _i % 2, "attention");
        if (threads == 1)
            memcpy(first = malloc(sizeof got), got, sizeof got);
        else
            ck_assert_msg(memcmp(first, got, sizeof got) == 0, "%d threads", threads);
    }
    free(first);
}
END_TEST

/* An output with other strides, and one over an operand, for which it runs whole. */
START_TEST(outputs)
{
    rd_expr *y    = attention(0, true);
    float   *wide = calloc(N, 2 * sizeof *wide);

    ck_assert(rd_eval(ctx, y,
                      RD_INTO(wide, RD_SHAPE(HEADS, ROWS, D),
                              .strides = RD_STRIDES(2 * ROWS * D, 2 * D, 2))) == RD_OK);
    for (int i = 0; i < N; i++) {
        ck_assert(wide[2 * i + 1] == 0);
        got[i] = wide[2 * i];
    }
    check_rows(got, true, "strides");
    free(wide);
    memcpy(got, q, sizeof q);
    ck_assert(rd_eval(ctx, y, RD_INTO(q, RD_SHAPE(HEADS, ROWS, D))) == RD_OK);
    for (int i = 0; i < N; i++) {
        const float x = q[i];

        q[i]   = got[i];
        got[i] = x;
    }
    check_rows(got, true, "in place");
}
END_TEST

/* Cancelled by who is told of progress; the next evaluation is whole. */
static int end_at_once(void *user, double done, double left)
{
    (void)left;
    *(double *)user = done;
    return 1;
}

START_TEST(cancelled)
{
    rd_expr     *y    = attention(0, false);
    double       done = 0;
    rd_eval_opts opts = { .size = sizeof opts, .progress = end_at_once, .user = &done };
    rd_status    status;

    rd_cancel(ctx);
    status = rd_eval(ctx, y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)));
    ck_assert_msg(status == RD_ERR_CANCELLED, "%d", status);
    rd_error_clear(ctx);
    status = rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)) }), &opts);
    ck_assert(status == (done > 0 ? RD_ERR_CANCELLED : RD_OK)); /* fast machines are done before */
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D))) == RD_OK);
    check_rows(got, false, "after it");
}
END_TEST

/* With the bits of loops, no library's; and where a reader needs all rows. */
START_TEST(whole)
{
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };
    rd_expr           *s     = rd_softmax(scores(false), RD_DIMS(-1));

    ck_assert(!in_blocks(attention(0, false), &exact));
    ck_assert(!in_blocks(rd_matmul(rd_div(s, rd_max(s, RD_KEEP(1))), heads_of(v)), NULL));
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("row_blocks");
    TCase   *tc     = tcase_create("row_blocks");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, any_threads, 0, 6);
    tcase_add_test(tc, outputs);
    tcase_add_test(tc, cancelled);
    tcase_add_test(tc, whole);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

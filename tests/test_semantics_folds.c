/* docs/semantics.md on reductions and scans. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "core/dtype.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types and bits -------------------------------------------------------------------------- */
START_TEST(result_types)
{
    static const struct {
        const char *reducer;
        rd_dtype    in, want;
    } rows[] = {
        { "sum", RD_BOOL, RD_I64 },    { "sum", RD_I8, RD_I64 },       { "sum", RD_I64, RD_I64 },
        { "sum", RD_U8, RD_U64 },      { "sum", RD_U32, RD_U64 },      { "sum", RD_F32, RD_F32 },
        { "sum", RD_F64, RD_F64 },     { "prod", RD_I16, RD_I64 },     { "prod", RD_U16, RD_U64 },
        { "mean", RD_I32, RD_F64 },    { "mean", RD_BOOL, RD_F64 },    { "mean", RD_F32, RD_F32 },
        { "var", RD_U8, RD_F64 },      { "std", RD_F32, RD_F32 },      { "norm", RD_I32, RD_F64 },
        { "min", RD_I8, RD_I8 },       { "max", RD_U8, RD_U8 },        { "max", RD_F32, RD_F32 },
        { "argmax", RD_F32, RD_I64 },  { "count", RD_F32, RD_I64 },    { "any", RD_F32, RD_BOOL },
        { "all", RD_I32, RD_BOOL },    { "sum", RD_F16, RD_F16 },      { "mean", RD_BF16, RD_BF16 },
        { "max", RD_F16, RD_F16 },     { "argmin", RD_F16, RD_I64 },   { "var", RD_F16, RD_F16 },
        { "skewness", RD_U8, RD_F64 }, { "kurtosis", RD_F16, RD_F16 },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_expr *y = rd_reduce(leaf(rows[k].in, VALUES(0, 1)), rows[k].reducer, RD_ALL);
        ck_assert_msg(rd_type_of(y) == rows[k].want, "%s of type %d: %d", rows[k].reducer,
                      (int)rows[k].in, (int)rd_type_of(y));
        forget_leaves();
    }
    expect("bytes", rd_sum(leaf(RD_U8, VALUES(255, 255, 255)), RD_ALL), RD_U64, VALUES(765));
    expect("asked for", rd_sum(leaf(RD_F32, VALUES(1, 2)), RD_ALL, .type = RD_F64), RD_F64,
           VALUES(3));
}
END_TEST

/* Of halves, sums are made in f32, and rounded at the end; so are means, which sums beyond their
 * range do not spoil. */
START_TEST(sums_of_halves)
{
    enum { N = 3000 };
    uint16_t *bits = malloc(N * sizeof *bits);

    for (int i = 0; i < N; i++)
        bits[i] = 0x5640; /* 100 */
    rd_expr *x = rd_wrap(ctx, (const rd_f16 *)(const void *)bits, RD_SHAPE(N));
    expect("sum", rd_sum(rd_slice(x, ":601"), RD_ALL), RD_F16, VALUES(60096));
    expect("too large", rd_sum(x, RD_ALL), RD_F16, VALUES(INFINITY));
    expect("in f32", rd_sum(x, RD_ALL, .type = RD_F32), RD_F32, VALUES(300000));
    expect("mean", rd_mean(x, RD_ALL), RD_F16, VALUES(100));
    expect("norm", rd_norm(rd_slice(x, ":400"), RD_ALL), RD_F16, VALUES(2000));
    expect("scan", rd_slice(rd_scan(x, "sum", RD_DIMS(0)), "598:601"), RD_F16,
           VALUES(59904, 60000, 60096));
    /* In bf16 one cannot count to 300: 256 + 1 is 256 again. */
    for (int i = 0; i < N; i++)
        bits[i] = 0x3f80; /* 1 */
    x = rd_wrap(ctx, (const rd_bf16 *)(const void *)bits, RD_SHAPE(N));
    expect("ones", rd_sum(rd_slice(x, ":300"), RD_ALL), RD_BF16, VALUES(300));
    expect("serial", rd_sum(x, RD_ALL, .accuracy = RD_SERIAL), RD_BF16, VALUES(3008));
    free(bits);
}
END_TEST

/* exp(-20) is 0 in f16, also in a row too long for the cache, over which maximum and sum of f32 are
 * one reduction. */
START_TEST(softmax_of_halves)
{
    enum { N = 200000 };
    uint16_t *bits = malloc(N * sizeof *bits);

    for (int i = 0; i < N; i++)
        bits[i] = i == 1234 ? 0 : 0xcd00; /* 0, -20 */
    rd_expr *x = rd_wrap(ctx, (const rd_f16 *)(const void *)bits, RD_SHAPE(N));
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP_ALL)));
    expect("sum", rd_sum(e, RD_ALL, .type = RD_F32), RD_F32, VALUES(1));
    expect("softmax", rd_slice(rd_div(e, rd_sum(e, RD_KEEP_ALL)), "1233:1236"), RD_F16,
           VALUES(0, 1, 0));
    free(bits);
}
END_TEST

/* A million times 0.1f: a plain loop in f32 is wrong in the third digit.  The tree folds 64 steps
 * from the left in f32: 63 roundings, each of at most 2^-24 of a partial sum; the rest is f64 but
 * for one rounding at the end. */
START_TEST(accuracy)
{
    enum { N = 1 << 20 };
    float       *x = malloc(N * sizeof *x), plain = 0;
    const double exact = (double)0.1F * N, ulp = ldexp(1, -7); /* of f32 from 2^16 to 2^17 */

    for (int i = 0; i < N; i++)
        plain += x[i] = 0.1F;
    rd_expr *y = rd_wrap(ctx, x, RD_SHAPE(N));
    ck_assert(fabs((double)plain - exact) > 50);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL), RD_SCALAR) - exact) <=
              63 * 0x1p-24 * exact + ulp / 2);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_COMPENSATED), RD_SCALAR) - exact) <=
              ulp);
    ck_assert(fabs(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_WIDE), RD_SCALAR) - exact) <= ulp);
    ck_assert(rd_at(ctx, rd_sum(y, RD_ALL, .accuracy = RD_SERIAL), RD_SCALAR) == (double)plain);
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    free(x);
}
END_TEST

/* Down columns of two elements: the first product is rounded, the second one is added as it is, or
 * has been rounded, too. */
START_TEST(sums_of_products)
{
    enum { N = 64 };
    static double a[2 * N], b[2 * N], squares[2 * N], y[N];
    static float  c[2 * N], z[N];
    const double  one = 1 + 0x1p-30;

    for (int i = 0; i < 2 * N; i++) {
        a[i]       = i < N ? 1 : one;
        b[i]       = i < N ? -1 : one;
        c[i]       = i < N ? 1 : 1 + 0x1p-20F;
        squares[i] = i < N ? sqrt(0x1p-53 - 0x1p-61) : one;
    }
    rd_expr *x = rd_wrap(ctx, a, RD_SHAPE(2, N)), *u = rd_wrap(ctx, b, RD_SHAPE(2, N)),
            *product = rd_mul(x, u);
    rd_expr     *f = rd_wrap(ctx, c, RD_SHAPE(2, N)), *w = rd_wrap(ctx, squares, RD_SHAPE(2, N));
    const double added = 0x1p-29 + 0x1p-60, rounded = 0x1p-29,
                 square = fma(one, one, squares[0] * squares[0]);
    struct {
        rd_expr *sum;
        double   want;
    } const rows[] = {
        { rd_sum(product, RD_DIMS(0)), added },
        { rd_sum(rd_map2(x, u, "x * y"), RD_DIMS(0)), added },
        { rd_sum(rd_permute(product, RD_INDEX(1, 0)), RD_DIMS(1)), added },
        { rd_mean(product, RD_DIMS(0)), added / 2 },
        { rd_mean(x, RD_DIMS(0), .weights = u), added / 0x1p-30 },
        { rd_sum(rd_square(w), RD_DIMS(0)), square },
        { rd_sum(rd_mul(w, w), RD_DIMS(0)), square },
        { rd_norm(w, RD_DIMS(0)), sqrt(square) },
        { rd_sum(product, RD_DIMS(0), .where = rd_lt(u, rd_num(ctx, 2))), rounded },
        { rd_sum(product, RD_DIMS(0), .accuracy = RD_SERIAL), rounded },
        { rd_select(rd_scan(product, "sum", RD_DIMS(0)), 0, 1), rounded },
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int kept = 0; kept < 2; kept++) {
            static double all[2 * N];
            ck_assert_msg((kept ? rd_eval_many(ctx,
                                               RD_RESULTS({ product, RD_INTO(all, RD_SHAPE(2, N)) },
                                                          { rows[k].sum, RD_INTO(y, RD_SHAPE(N)) }),
                                               NULL)
                                : rd_eval(ctx, rows[k].sum, RD_INTO(y, RD_SHAPE(N)))) == RD_OK,
                          "%s", rd_error_text(ctx));
            for (int i = 0; i < N; i++)
                ck_assert_msg(y[i] == rows[k].want, "row %d: %a, not %a", (int)k, y[i],
                              rows[k].want);
        }
    /* Of f32 in f32. */
    ck_assert(rd_eval(ctx, rd_sum(rd_square(f), RD_DIMS(0)), RD_INTO(z, RD_SHAPE(N))) == RD_OK);
    ck_assert(z[0] == fmaf(c[N], c[N], 1));
}
END_TEST

/* Of up to 64 products a sum that neighbours do not share is what a plain loop of fma comes to;
 * another order of adding is wrong by at most a rounding of each partial sum. */
START_TEST(products_by_blas)
{
    enum { N = 64 };
    static double a[N * N], b[N * N], plain[N * N], y[N * N];

    for (int i = 0; i < N * N; i++) {
        a[i] = (i * 7919) % 10007 / 10007.0;
        b[i] = (i * 6053) % 10009 / 10009.0;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            plain[i * N + j] = a[i * N] * b[j];
            for (int k = 1; k < N; k++)
                plain[i * N + j] = fma(a[i * N + k], b[k * N + j], plain[i * N + j]);
        }
    rd_expr *ab = rd_sum(rd_mul(rd_expand(rd_wrap(ctx, a, RD_SHAPE(N, N)), 2),
                                rd_expand(rd_wrap(ctx, b, RD_SHAPE(N, N)), 0)),
                         RD_DIMS(1));
    for (int threads = 0; threads <= 3; threads++) {
        const rd_eval_opts opts = { .size          = sizeof opts,
                                    .threads       = threads,
                                    .deterministic = true };

        ck_assert(rd_eval(ctx, ab, RD_INTO(y, RD_SHAPE(N, N))) == RD_OK);
        for (int i = 0; i < N * N; i++)
            ck_assert(fabs(y[i] - plain[i]) <= N * N * 0x1p-53);
        ck_assert(rd_eval_many(ctx, RD_RESULTS({ ab, RD_INTO(y, RD_SHAPE(N, N)) }), &opts) ==
                  RD_OK);
        ck_assert_msg(memcmp(y, plain, sizeof y) == 0, "%d threads", threads);
    }
}
END_TEST

/* Beside the sum of each pair of rows by itself, which a mask asks for; on any number of threads the same
 * bits. */
START_TEST(covariances_of_all_pairs)
{
    enum { ROWS = 40, STEPS = 70 };
    static double a[ROWS * STEPS], all[2][ROWS * ROWS], each[ROWS * ROWS];

    for (int i = 0; i < ROWS * STEPS; i++)
        a[i] = (i * 7919) % 10007 / 10007.0;
    rd_expr *x = rd_wrap(ctx, a, RD_SHAPE(STEPS, ROWS)), *left = rd_expand(x, 2),
            *right  = rd_expand(x, 1);
    rd_expr *y      = rd_cov(left, right, RD_DIMS(0)),
            *masked = rd_cov(left, right, RD_DIMS(0), .where = rd_lt(left, rd_num(ctx, 2)));

    ck_assert(rd_eval(ctx, masked, RD_INTO(each, RD_SHAPE(ROWS, ROWS))) == RD_OK);
    for (int threads = 1; threads <= 3; threads++) {
        const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };
        double *const      to   = all[threads > 1];

        ck_assert(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(to, RD_SHAPE(ROWS, ROWS)) }), &opts) ==
                  RD_OK);
        for (int i = 0; i < ROWS * ROWS; i++)
            ck_assert(fabs(to[i] - each[i]) <= STEPS * 0x1p-50);
        ck_assert(memcmp(to, all[0], sizeof all[0]) == 0);
    }
}
END_TEST

/* Neither threads nor the traversal nor other results of the call may show in the bits. */
START_TEST(same_bits)
{
    enum { N = 300, M = 333 };
    static float x[N * M], want[N + M + 1], got[N + M + 1];

    for (int i = 0; i < N * M; i++)
        x[i] = (float)((i * 7919) % 10007) / 3001;
    rd_expr *e = rd_exp(rd_wrap(ctx, x, RD_SHAPE(N, M)));
    for (int k = 0; k < 9; k++) {
        float          *y    = k ? got : want;
        rd_eval_opts    opts = { .size      = sizeof opts,
                                 .threads   = 1 + k % 3,
                                 .traversal = (rd_traversal)(k / 3) };
        const rd_status status =
            rd_eval_many(ctx,
                         RD_RESULTS({ rd_sum(e, RD_DIMS(1)), RD_INTO(y, RD_SHAPE(N)) },
                                    { rd_mean(e, RD_DIMS(0)), RD_INTO(y + N, RD_SHAPE(M)) },
                                    { rd_std(e, RD_ALL), RD_INTO(y + N + M, RD_SCALAR) }),
                         &opts);
        ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
        ck_assert_msg(memcmp(y, want, sizeof want) == 0, "%d threads, traversal %d", opts.threads,
                      (int)opts.traversal);
    }
    ck_assert(rd_eval(ctx, rd_mean(e, RD_DIMS(0)), RD_INTO(got, RD_SHAPE(M))) == RD_OK);
    ck_assert(memcmp(got, want + N, M * sizeof *got) == 0);
}
END_TEST

START_TEST(same_bits_on_a_gpu)
{
    enum { N = 70, M = 333, FUNCTIONS = 5 };
    static float  x[N * M], want[N + M + 1], got[N + M + 1];
    static double far[M], of_far[2][FUNCTIONS][M];

    if (!fake_is_here())
        return;
    fake_use();
    for (int i = 0; i < N * M; i++)
        x[i] = (float)((i * 7919) % 10007) / 3001;
    for (int i = 0; i < M; i++)
        far[i] = ldexp(1 + i / 997.0, 3 * i);
    rd_expr *e = rd_exp(rd_wrap(ctx, x, RD_SHAPE(N, M))), *f = rd_wrap(ctx, far, RD_SHAPE(M));
    rd_expr *g = rd_flip(f, RD_ALL);
    for (int k = 0; k < 2; k++) {
        float             *y    = k ? got : want;
        const rd_eval_opts opts = { .backend       = k ? RD_BACKEND_CUDA : RD_BACKEND_CPU,
                                    .deterministic = true };
        const rd_status    status =
            rd_eval_many(ctx,
                         RD_RESULTS({ rd_sum(e, RD_DIMS(1)), RD_INTO(y, RD_SHAPE(N)) },
                                    { rd_mean(e, RD_DIMS(0)), RD_INTO(y + N, RD_SHAPE(M)) },
                                    { rd_std(e, RD_ALL), RD_INTO(y + N + M, RD_SCALAR) },
                                    { rd_sin(f), RD_INTO(of_far[k][0], RD_SHAPE(M)) },
                                    { rd_cos(f), RD_INTO(of_far[k][1], RD_SHAPE(M)) },
                                    { rd_tan(f), RD_INTO(of_far[k][2], RD_SHAPE(M)) },
                                    { rd_atan2(f, g), RD_INTO(of_far[k][3], RD_SHAPE(M)) },
                                    { rd_hypot(f, g), RD_INTO(of_far[k][4], RD_SHAPE(M)) }),
                         &opts);
        ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
    }
    ck_assert(memcmp(got, want, sizeof want) == 0);
    ck_assert(memcmp(of_far[0], of_far[1], sizeof *of_far) == 0);
    rd_ctx_free(ctx);
    ctx = NULL;
    rd_gpu_close_all();
}
END_TEST

/* Of a sum of all, and of rows, of enough for three. */
START_TEST(same_bits_on_several_gpus)
{
    enum { N = 2050, M = 400 };
    static float x[N * M], want[N + 1], got[N + 1];

    if (!fake_is_here())
        return;
    setenv("RDIM_FAKE_DEVICES", "3", 1);
    fake_use();
    for (int i = 0; i < N * M; i++)
        x[i] = (float)((i * 7919LL) % 10007) / 3001;
    for (int k = 0; k < 2; k++) {
        const rd_eval_opts opts = { .backend = k ? RD_BACKEND_CUDA : RD_BACKEND_CPU };
        rd_ctx *const      own  = rd_ctx_new(&(rd_ctx_opts){ .device = RD_CUDA_ALL });
        rd_expr           *e    = rd_wrap(own, x, RD_SHAPE(N, M));
        float             *y    = k ? got : want;
        const rd_results   all  = RD_RESULTS({ rd_sum(e, RD_ALL), RD_INTO(y + N, RD_SCALAR) },
                                             { rd_std(e, RD_DIMS(1)), RD_INTO(y, RD_SHAPE(N)) });

        if (k) {
            const char *text = rd_explain(own, all, &opts);

            ck_assert_msg(text && strstr(text, "is dealt out to 3 GPUs"), "%s", text ? text : "");
        }
        ck_assert_msg(rd_eval_many(own, all, &opts) == RD_OK, "%s", rd_error_text(own));
        rd_ctx_free(own);
    }
    rd_gpu_close_all();
    ck_assert(memcmp(want, got, sizeof want) == 0);
}
END_TEST

/* On a GPU alone, and of functions alone. */
START_TEST(fast_functions)
{
    enum { N = 500 };
    static float x[N], y[2][N], sum[2];

    if (!fake_is_here())
        return;
    fake_use();
    for (int i = 0; i < N; i++)
        x[i] = (float)(i * 7919 % 1009) / 50 - 10;
    rd_expr *a = rd_wrap(ctx, x, RD_SHAPE(N));
    for (int k = 0; k < 4; k++) {
        const rd_eval_opts opts = { .backend  = k < 2 ? RD_BACKEND_CUDA : RD_BACKEND_CPU,
                                    .accuracy = k % 2 ? RD_ACCURACY_FAST : RD_ACCURACY_SAME };

        ck_assert(rd_eval_many(ctx,
                               RD_RESULTS({ rd_exp(a), RD_INTO(y[k % 2], RD_SHAPE(N)) },
                                          { rd_sum(a, RD_ALL), RD_INTO(&sum[k % 2], RD_SCALAR) }),
                               &opts) == RD_OK);
        if (k == 1)
            for (int i = 0; i < N; i++)
                ck_assert(fabs(y[1][i] - exp((double)x[i])) <=
                          (2 + 1.2 * fabs((double)x[i])) * 0x1p-23 * exp((double)x[i]));
        if (k % 2)
            ck_assert((memcmp(y[0], y[1], sizeof *y) == 0) == (k == 3) && sum[0] == sum[1]);
    }
    rd_ctx_free(ctx);
    ctx = NULL;
    rd_gpu_close_all();
}
END_TEST

/* Alone a column is added along lanes, beside its sum by one; both are right to some bits. */
START_TEST(parts_of_a_reduction)
{
    enum { N = 200, M = 33 };
    static float x[N * M], all[M], column[N];
    int          apart = 0;

    for (int i = 0; i < N * M; i++)
        x[i] = 1e6f + (float)(i * 7919 % 1000) / 1000;
    rd_expr *m = rd_wrap(ctx, x, RD_SHAPE(N, M)), *s = rd_sum(m, RD_DIMS(0));
    for (int k = 0; k < M; k++) {
        rd_expr *one = rd_select(s, 0, k), *of_part = rd_sum(rd_select(m, 1, k), RD_ALL);
        float    alone, beside, own, pair[2];

        ck_assert(rd_eval(ctx, one, RD_INTO(&alone, RD_SCALAR)) == RD_OK);
        ck_assert(rd_eval(ctx, of_part, RD_INTO(&own, RD_SCALAR)) == RD_OK);
        ck_assert(alone == own);
        ck_assert(rd_eval_many(ctx,
                               RD_RESULTS({ one, RD_INTO(&beside, RD_SCALAR) },
                                          { s, RD_INTO(all, RD_SHAPE(M)) }),
                               NULL) == RD_OK);
        ck_assert(beside == all[k]);
        apart += alone != beside;
        /* Parts that are no more than the whole stay what they are alone. */
        ck_assert(
            rd_eval_many(ctx,
                         RD_RESULTS({ one, RD_INTO(&pair[0], RD_SCALAR) },
                                    { rd_select(s, 0, (k + 1) % M), RD_INTO(&pair[1], RD_SCALAR) }),
                         NULL) == RD_OK);
        ck_assert(pair[0] == alone);
    }
    ck_assert_int_gt(apart, 0);
    ck_assert(rd_eval(ctx, rd_sub(s, rd_select(s, 0, 3)), RD_INTO(column, RD_SHAPE(M))) == RD_OK);
    ck_assert(column[3] == 0);
}
END_TEST

/* A sum over what a reshape joins has one tree, whether a scan of the same runs beside it or not. */
START_TEST(sums_beside_scans)
{
    enum { N = 37, M = 100 };
    static double        v[N * M], joined[N * M], scanned[N * M];
    const rd_reduce_opts back = { .size = sizeof back, .dims = RD_DIMS(0), .reverse = true };

    for (int i = 0; i < N * M; i++)
        v[i] = (double)(i * 7919 % 1000) / 999;
    rd_expr *const x      = rd_wrap(ctx, v, RD_SHAPE(N, M));
    rd_expr *const from[] = { rd_transpose(x), rd_exp(rd_transpose(x)),
                              rd_mul(x, rd_cast(rd_add(rd_coord(x, 0), rd_int(ctx, 1)), RD_F64)) };
    for (size_t k = 0; k < 2 * COUNT(from); k++) {
        rd_expr *const r = rd_reshape(from[k / 2], RD_SHAPE(-1)), *s = rd_sum(r, RD_DIMS(0));
        rd_expr *const scan = rd_scan_name(r, k % 2 ? "sum" : "min", &back);
        double         alone, beside;

        ck_assert(rd_eval(ctx, s, RD_INTO(&alone, RD_SCALAR)) == RD_OK);
        ck_assert(rd_eval_many(ctx,
                               RD_RESULTS({ r, RD_INTO(joined, RD_SHAPE(N * M)) },
                                          { s, RD_INTO(&beside, RD_SCALAR) },
                                          { scan, RD_INTO(scanned, RD_SHAPE(N * M)) }),
                               NULL) == RD_OK);
        ck_assert_msg(alone == beside, "%d: %.17g alone, %.17g beside a scan", (int)k, alone,
                      beside);
    }
}
END_TEST

START_TEST(calls_in_parts)
{
    enum { N = 100, LEVELS = 400 };
    static float  x[N], y[N], again[N];
    static double want[N];

    for (int i = 0; i < N; i++)
        want[i] = x[i] = (float)(i * 7919 % 1000) / 1000;
    rd_expr *e = rd_wrap(ctx, x, RD_SHAPE(N));
    for (int k = 0; k < LEVELS; k++) {
        double sum = 0;

        e = rd_add(rd_mul(e, rd_num(ctx, 0.5)), rd_mean(e, RD_KEEP(0)));
        for (int i = 0; i < N; i++)
            sum += want[i];
        for (int i = 0; i < N; i++)
            want[i] = 0.5 * want[i] + sum / N;
        if (k % 2)
            e = rd_sub(e, rd_mul(rd_mean(e, RD_KEEP(0)), rd_num(ctx, 1. / 3)));
        for (int i = 0, n = k % 2 ? N : 0; i < n; i++)
            sum = i ? sum + want[i] : want[i];
        for (int i = 0, n = k % 2 ? N : 0; i < n; i++)
            want[i] -= sum / N / 3;
    }
    for (int threads = 1; threads <= 3; threads++) {
        const rd_eval_opts opts = { .threads = threads };

        ck_assert_msg(rd_eval_many(ctx,
                                   RD_RESULTS({ e, RD_INTO(threads > 1 ? again : y, RD_SHAPE(N)) }),
                                   &opts) == RD_OK,
                      "%s", rd_error_text(ctx));
        ck_assert(threads == 1 || memcmp(y, again, sizeof y) == 0);
    }
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(y[i] - want[i]) <= 1e-3 * fabs(want[i]), "%g, not %g", y[i], want[i]);
}
END_TEST

/* ---- NaN ------------------------------------------------------------------------------------- */
/* Rows of reductions of all of a vector. */
typedef struct reduce_row {
    const char *reducer;
    rd_dtype    want_type;
    double      want;
} reduce_row;

static void check_reductions(const reduce_row *row, size_t n, rd_expr *x, bool skip_nan)
{
    for (; n--; row++)
        expect(row->reducer, rd_reduce(x, row->reducer, RD_ALL, .skip_nan = skip_nan),
               row->want_type, VALUES(row->want));
}

START_TEST(nan_carried)
{
    static const reduce_row rows[] = {
        { "min", RD_F32, NAN },       { "max", RD_F32, NAN }, { "argmin", RD_I64, 1 },
        { "argmax", RD_I64, 1 },      { "sum", RD_F32, NAN }, { "prod", RD_F32, NAN },
        { "mean", RD_F32, NAN },      { "var", RD_F32, NAN }, { "norm", RD_F32, NAN },
        { "logsumexp", RD_F32, NAN },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F32, VALUES(3, NAN, 1, NAN)), false);
}
END_TEST

START_TEST(nan_is_true)
{
    static const reduce_row rows[] = { { "any", RD_BOOL, 1 },
                                       { "all", RD_BOOL, 1 },
                                       { "count", RD_I64, 2 } };

    check_reductions(rows, COUNT(rows), leaf(RD_F64, VALUES(NAN, NAN)), false);
}
END_TEST

START_TEST(nan_skipped)
{
    static const reduce_row rows[] = {
        { "min", RD_F64, 1 },    { "max", RD_F64, 3 }, { "argmin", RD_I64, 2 },
        { "argmax", RD_I64, 0 }, { "sum", RD_F64, 4 }, { "prod", RD_F64, 3 },
        { "mean", RD_F64, 2 },   { "var", RD_F64, 1 }, { "count", RD_I64, 2 },
        { "any", RD_BOOL, 1 },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F64, VALUES(3, NAN, 1, NAN)), true);
}
END_TEST

/* ---- Nothing to reduce ----------------------------------------------------------------------- */
START_TEST(empty_reductions)
{
    static const reduce_row rows[] = {
        { "sum", RD_F32, 0 },        { "prod", RD_F32, 1 },  { "any", RD_BOOL, 0 },
        { "all", RD_BOOL, 1 },       { "count", RD_I64, 0 }, { "mean", RD_F32, NAN },
        { "var", RD_F32, NAN },      { "std", RD_F32, NAN }, { "skewness", RD_F32, NAN },
        { "kurtosis", RD_F32, NAN }, { "norm", RD_F32, 0 },  { "logsumexp", RD_F32, -INFINITY },
    };
    check_reductions(rows, COUNT(rows), leaf(RD_F32, NULL, 0), false);
}
END_TEST

START_TEST(empty_extremes)
{
    static const char *const names[] = { "min", "max", "argmin", "argmax" };
    rd_expr *none = leaf(RD_F32, NULL, 0), *no_rows = leaf_shape(RD_F32, RD_SHAPE(0, 0), NULL, 0);

    for (size_t k = 0; k < COUNT(names); k++) {
        expect_error(names[k], rd_reduce(none, names[k], RD_ALL), RD_ERR_EMPTY);
        expect_shape("empty result", rd_reduce(no_rows, names[k], RD_DIMS(1)), RD_SHAPE(0));
    }
    expect("min with initial", rd_min(none, RD_ALL, .initial = rd_num(ctx, 5)), RD_F32, VALUES(5));
    expect("max with initial", rd_max(none, RD_ALL, .initial = rd_num(ctx, 5)), RD_F32, VALUES(5));
}
END_TEST

START_TEST(emptied_by_data)
{
    static const struct {
        const char *reducer;
        double      want;
    } rows[] = {
        { "min", NAN },  { "max", NAN }, { "argmin", -1 }, { "argmax", -1 },
        { "mean", NAN }, { "var", NAN }, { "sum", 0 },     { "prod", 1 },
        { "count", 0 },  { "any", 0 },   { "all", 1 },     { "logsumexp", -INFINITY },
    };
    rd_expr *nans = leaf(RD_F64, VALUES(NAN, NAN)), *x = leaf(RD_F64, VALUES(1, 2)),
            *no = leaf(RD_BOOL, VALUES(0, 0));

    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *skipped = rd_reduce(nans, rows[k].reducer, RD_ALL, .skip_nan = true);
        rd_expr *masked  = rd_reduce(x, rows[k].reducer, RD_ALL, .where = no);
        expect(rows[k].reducer, skipped, rd_type_of(skipped), VALUES(rows[k].want));
        expect(rows[k].reducer, masked, rd_type_of(masked), VALUES(rows[k].want));
    }
    rd_expr *ints = leaf(RD_I32, VALUES(7, 8)), *five = rd_int(ctx, 5);
    expect("min of masked ints", rd_min(ints, RD_ALL, .where = no, .initial = five), RD_I32,
           VALUES(5));
    ck_assert_msg(!rd_min(ints, RD_ALL, .where = no), "ints need .initial: no NaN to answer with");
}
END_TEST

START_TEST(initial_is_an_element)
{
    rd_expr *x = leaf(RD_I32, VALUES(1, 2, 3)), *ten = rd_int(ctx, 10);

    expect("sum", rd_sum(x, RD_ALL, .initial = ten), RD_I64, VALUES(16));
    expect("prod", rd_prod(x, RD_ALL, .initial = ten), RD_I64, VALUES(60));
    expect("min", rd_min(x, RD_ALL, .initial = ten), RD_I32, VALUES(1));
    expect("max", rd_max(x, RD_ALL, .initial = ten), RD_I32, VALUES(10));
    expect_error("mean", rd_mean(x, RD_ALL, .initial = ten), RD_ERR_ARGUMENT);
}
END_TEST

/* ---- Axes and keywords ----------------------------------------------------------------------- */
START_TEST(ties)
{
    rd_expr *x = leaf(RD_I32, VALUES(2, 7, 1, 7, 1));
    rd_expr *m = leaf_shape(RD_F32, RD_SHAPE(2, 2, 3), VALUES(0, 5, 1, 5, 2, 0, 3, 9, 9, 9, 0, 0));

    expect("argmax", rd_argmax(x, RD_ALL), RD_I64, VALUES(1));
    expect("argmin", rd_argmin(x, RD_ALL), RD_I64, VALUES(2));
    expect("flat", rd_argmax(m, RD_ALL), RD_I64, VALUES(7));
    expect("flat in the reduced dims", rd_argmax(m, RD_DIMS(1, 2)), RD_I64, VALUES(1, 1));
    expect("whatever their order", rd_argmax(m, RD_DIMS(2, 1)), RD_I64, VALUES(1, 1));
    expect("outer and inner dims", rd_argmax(m, RD_DIMS(0, 2)), RD_I64, VALUES(4, 3));
    expect("0 and -0 tie", rd_argmin(leaf(RD_F64, VALUES(0.0, -0.0)), RD_ALL), RD_I64, VALUES(0));
}
END_TEST

START_TEST(dims)
{
    static const struct {
        const char *what;
        rd_dims     dims;
        rd_shape    want;
    } rows[] = {
        { "one", { 1, 0, { 1 } }, { 2, 0, { 2, 4 } } },
        { "from the end", { 1, 0, { -1 } }, { 2, 0, { 2, 3 } } },
        { "any order", { 2, 0, { 2, 0 } }, { 1, 0, { 3 } } },
        { "all", { 0, RD_DIMS_EXCEPT, { 0 } }, { 0, 0, { 0 } } },
        { "none", { 0, 0, { 0 } }, { 3, 0, { 2, 3, 4 } } },
        { "all but one", { 1, RD_DIMS_EXCEPT, { -3 } }, { 1, 0, { 2 } } },
        { "kept", { 2, RD_DIMS_KEEP, { 0, 2 } }, { 3, 0, { 1, 3, 1 } } },
        { "all kept", { 0, RD_DIMS_EXCEPT | RD_DIMS_KEEP, { 0 } }, { 3, 0, { 1, 1, 1 } } },
    };
    static float x[24];
    rd_expr     *y = rd_wrap(ctx, x, RD_SHAPE(2, 3, 4));

    for (size_t k = 0; k < COUNT(rows); k++)
        expect_shape(rows[k].what, rd_sum(y, rows[k].dims), rows[k].want);
    expect_error("not there", rd_sum(y, RD_DIMS(3)), RD_ERR_AXIS);
    expect_error("not there, from the end", rd_sum(y, RD_DIMS(-4)), RD_ERR_AXIS);
    expect_error("twice", rd_sum(y, RD_DIMS(0, 0)), RD_ERR_AXIS);
    expect_error("twice, named differently", rd_sum(y, RD_DIMS(0, -3)), RD_ERR_AXIS);
    expect("empty set", rd_sum(leaf(RD_F32, VALUES(1, 2)), RD_NONE), RD_F32, VALUES(1, 2));
}
END_TEST

START_TEST(masks_of_places)
{
    rd_expr *x     = leaf_shape(RD_F32, RD_SHAPE(3, 3), VALUES(1, NAN, NAN, 2, 3, NAN, 4, 5, 6));
    rd_expr *zeros = leaf_shape(RD_F32, RD_SHAPE(2, 2), VALUES(-0., -0., -0., -0.));
    rd_expr *i = rd_coord(x, 0), *j = rd_coord(x, 1);
    rd_expr *lower = rd_le(rd_coord(zeros, 1), rd_coord(zeros, 0));

    expect("rows of a triangle", rd_sum(x, RD_DIMS(1), .where = rd_le(j, i)), RD_F32,
           VALUES(1, 5, 15));
    expect("its columns", rd_sum(x, RD_DIMS(0), .where = rd_ge(i, j)), RD_F32, VALUES(7, 8, 6));
    expect("all of it", rd_max(x, RD_ALL, .where = rd_lt(j, i), .initial = rd_num(ctx, 0)), RD_F32,
           VALUES(5));
    expect("a band",
           rd_sum(rd_nan_to_num(x), RD_DIMS(1),
                  .where = rd_le(rd_abs(rd_sub(rd_mul(i, rd_int(ctx, 2)), j)), rd_int(ctx, 1))),
           RD_F32, VALUES(1, 3, 0));
    expect("no triangle", rd_count(x, RD_ALL, .where = rd_gt(j, rd_add(i, rd_int(ctx, 2)))), RD_I64,
           VALUES(0));
    expect("signs of zeros", rd_sum(zeros, RD_DIMS(1), .where = lower), RD_F32, VALUES(0., -0.));
}
END_TEST

START_TEST(where_and_weights)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 3, 4)), *ends = leaf(RD_F64, VALUES(1, 0, 0, 1));
    rd_expr *m     = leaf_shape(RD_F64, RD_SHAPE(2, 2), VALUES(1, 2, 3, 5)),
            *first = leaf(RD_BOOL, VALUES(1, 0));

    expect("where", rd_sum(x, RD_ALL, .where = rd_gt(x, rd_num(ctx, 2))), RD_F64, VALUES(7));
    expect("left out is 0, not -0",
           rd_div(rd_num(ctx, 1), rd_sum(leaf(RD_F64, VALUES(-0.0, 1)), RD_ALL, .where = first)),
           RD_F64, VALUES(INFINITY));
    expect("where broadcasts", rd_sum(m, RD_DIMS(0), .where = first), RD_F64, VALUES(4, 0));
    expect("index of all elements", rd_argmin(x, RD_ALL, .where = rd_gt(x, rd_num(ctx, 2))), RD_I64,
           VALUES(2));
    expect("mean", rd_mean(x, RD_ALL, .weights = ends), RD_F64, VALUES(2.5));
    expect("var", rd_var(x, RD_ALL, .weights = ends), RD_F64, VALUES(2.25));
    expect("var, ddof of weights", rd_var(x, RD_ALL, .weights = ends, .ddof = 1), RD_F64,
           VALUES(4.5));
    expect("var, ddof", rd_var(leaf(RD_F64, VALUES(1, 3)), RD_ALL, .ddof = 1), RD_F64, VALUES(2));
    expect("var of one, ddof 1", rd_var(leaf(RD_F64, VALUES(1)), RD_ALL, .ddof = 1), RD_F64,
           VALUES(NAN));
    expect("skewness", rd_skewness(leaf(RD_F64, VALUES(0, 0, 0, 4)), RD_ALL), RD_F64,
           VALUES(2 * sqrt(1.0 / 3)));
    expect("skewness, weights",
           rd_skewness(leaf(RD_F64, VALUES(0, 4)), RD_ALL, .weights = leaf(RD_F64, VALUES(3, 1))),
           RD_F64, VALUES(2 * sqrt(1.0 / 3)));
    expect("skewness of equals", rd_skewness(leaf(RD_F64, VALUES(3, 3)), RD_ALL), RD_F64,
           VALUES(NAN));
    expect("kurtosis", rd_kurtosis(leaf(RD_F64, VALUES(1, 3)), RD_ALL), RD_F64, VALUES(-2));
    expect("kurtosis, weights",
           rd_kurtosis(leaf(RD_F64, VALUES(0, 4)), RD_ALL, .weights = leaf(RD_F64, VALUES(2, 2))),
           RD_F64, VALUES(-2));
    expect("kurtosis of equals", rd_kurtosis(leaf(RD_F64, VALUES(3, 3)), RD_ALL), RD_F64,
           VALUES(NAN));
    expect_error("weights of a sum", rd_sum(x, RD_ALL, .weights = ends), RD_ERR_ARGUMENT);
    expect_error("where that does not fit", rd_sum(x, RD_ALL, .where = first), RD_ERR_SHAPE);
}
END_TEST

/* n numbers, number `at` of which is much greater: its square overflows. */
static rd_expr *with_one_large(rd_dtype type, int64_t n, int64_t at, double large)
{
    rd_expr *const i = rd_coord(rd_broadcast(rd_int(ctx, 0), RD_SHAPE(n)), 0);

    return rd_where(rd_eq(i, rd_int(ctx, at)), rd_cast(rd_num(ctx, large), type),
                    rd_cast(rd_remainder(i, rd_int(ctx, 7)), type));
}

/* In whole, in columns, and weighted: the variance of x, whose elements `count`. */
static void expect_variances(const char *what, rd_expr *x, rd_expr *count, double want)
{
    const rd_dtype type = rd_type_of(x);
    const rd_shape wide = RD_SHAPE(rd_shape_of(x).at[0], 3);
    rd_expr *const all = rd_eq(count, count), *const two = rd_broadcast(rd_expand(x, 1), wide);
    rd_expr *const y[] = { rd_var(x, RD_ALL),
                           rd_std(x, RD_ALL),
                           rd_var(x, RD_ALL, .weights = count),
                           rd_var(x, RD_ALL, .where = all),
                           rd_select(rd_var(two, RD_DIMS(0)), 0, 1),
                           rd_var(two, RD_ALL),
                           rd_select(rd_scan(x, "var", RD_DIMS(0)), 0, -1) };

    for (int k = 0; k < (int)COUNT(y); k++)
        expect(what, y[k], type, VALUES(want));
}

START_TEST(variances_that_overflow)
{
    static const int64_t sizes[] = { 2, 3, 63, 64, 65, 129, 1000, 5000 };

    for (int k = 0; k < (int)COUNT(sizes) * 3; k++) {
        const int64_t n = sizes[k / 3], at = k % 3 == 0 ? 0 : k % 3 == 1 ? n / 2 : n - 1;
        rd_expr      *x = with_one_large(RD_F64, n, at, 1e200), *y;
        rd_expr      *i = rd_coord(x, 0),
                *w      = rd_cast(rd_add(rd_remainder(i, rd_int(ctx, 3)), rd_int(ctx, 1)), RD_F64);

        expect_variances("1e200", x, w, INFINITY);
        expect_variances("f32", with_one_large(RD_F32, n, at, -1e30), rd_cast(w, RD_F32), INFINITY);
        expect_variances("an infinity", with_one_large(RD_F64, n, at, INFINITY), w, NAN);
        expect_variances("NaN", with_one_large(RD_F32, n, at, NAN), rd_cast(w, RD_F32), NAN);
        y = with_one_large(RD_F64, n, at, 1e200);
        expect("covariance", rd_cov(x, y, RD_ALL), RD_F64, VALUES(INFINITY));
        expect("of opposites", rd_cov(x, rd_neg(y), RD_ALL), RD_F64, VALUES(-INFINITY));
        expect("of an infinity", rd_cov(with_one_large(RD_F64, n, at, INFINITY), y, RD_ALL), RD_F64,
               VALUES(NAN));
        expect("norm", rd_norm(x, RD_ALL), RD_F64, VALUES(INFINITY));
        forget_leaves();
    }
}
END_TEST

/* Of real elements a complex type is a conversion of the result, which is that of its parts' type. */
START_TEST(complex_types)
{
    static const char *const names[]    = { "sum",      "prod",     "min",  "max",
                                            "argmin",   "argmax",   "any",  "all",
                                            "count",    "mean",     "var",  "std",
                                            "skewness", "kurtosis", "norm", "logsumexp" };
    static const rd_dtype    types[][2] = { { RD_C64, RD_F32 }, { RD_C128, RD_F64 } };
    rd_expr *const           g          = leaf(RD_I8, VALUES(0, 1, 0, 0));

    for (size_t k = 0; k < 2 * COUNT(names); k++)
        for (rd_dtype from = RD_BOOL; from <= RD_F64; from++) {
            rd_expr *const  x    = rd_cast(leaf(RD_F64, VALUES(3, 0, 1, 2)), from);
            const rd_dtype *type = types[k % 2];
            const char     *name = names[k / 2];
            const struct {
                rd_expr *y, *same;
            } pairs[] = {
                { rd_reduce(x, name, RD_ALL, .type = type[0]),
                  rd_reduce(x, name, RD_ALL, .type = type[1]) },
                { rd_scan(x, name, RD_DIMS(0), .type = type[0]),
                  rd_scan(x, name, RD_DIMS(0), .type = type[1]) },
                { rd_reduce(rd_cast(x, RD_F32), name, RD_KEEP_ALL, .by = RD_EXPRS(g),
                            .groups = RD_SHAPE(2), .type = type[0]),
                  rd_reduce(rd_cast(x, RD_F32), name, RD_KEEP_ALL, .by = RD_EXPRS(g),
                            .groups = RD_SHAPE(2), .type = type[1]) },
            };

            for (size_t p = 0; p < COUNT(pairs); p++)
                ck_assert_msg(pairs[p].y && rd_type_of(pairs[p].y) == type[0] &&
                                  rd_real(pairs[p].y) == pairs[p].same,
                              "%s of %s as %s, %d: %s", name, rd_dtype_name(from),
                              rd_dtype_name(type[0]), (int)p, rd_error_text(ctx));
            forget_leaves();
        }
    rd_expr *const x = leaf(RD_F32, VALUES(1, 2)), *const z = rd_complex(x, x);
    expect("imaginary", rd_imag(rd_sum(x, RD_ALL, .type = RD_C128)), RD_F64, VALUES(0));
    expect("first", rd_real(rd_first(x, RD_ALL, .type = RD_C64)), RD_F32, VALUES(1));
    expect("cov", rd_real(rd_cov(x, x, RD_ALL, .type = RD_C128)), RD_F64, VALUES(0.25));
    expect("minmax", rd_real(rd_minmax(x, RD_ALL, .type = RD_C128)), RD_F64, VALUES(1, 2));
    expect("initial", rd_real(rd_sum(x, RD_ALL, .type = RD_C128, .initial = rd_int(ctx, 4))),
           RD_F64, VALUES(7));
    expect_error("complex to real", rd_sum(z, RD_ALL, .type = RD_F64), RD_ERR_TYPE);
    expect_error("no type", rd_sum(x, RD_ALL, .type = (rd_dtype)77), RD_ERR_TYPE);
}
END_TEST

/* clang-format off */
RD_REDUCER_FIRST(longest, float, float, 1, (float x;), (s->x = x;),
                 (if (fabsf(x) > fabsf(s->x)) s->x = x;),
                 (if (fabsf(b->x) > fabsf(a->x)) *a = *b;), (y[0] = s->x;))
RD_REDUCER_FIRST_COMMUTES(nearest_ints, int32_t, int32_t, 2, (int32_t low, high;),
                          (s->low = s->high = x;),
                          (if (x < s->low) s->low = x; if (x > s->high) s->high = x;),
                          (if (b->low < a->low) a->low = b->low; if (b->high > a->high) a->high = b->high;),
                          (y[0] = s->low; y[1] = s->high;))
RD_REDUCER2_FIRST(of_heaviest, double, double, double, 1, (double x, w;), (s->x = x; s->w = w;),
                  (if (w > s->w) { s->x = x; s->w = w; }), (if (b->w > a->w) *a = *b;),
                  (y[0] = s->x;))
/* clang-format on */

START_TEST(first_elements)
{
    enum { N = 100000 };
    rd_expr *x = leaf(RD_F32, VALUES(1, -4, 3, 4, -2)), *i = leaf(RD_I8, VALUES(5, -7, 5, 9, 0));
    rd_expr *g = leaf(RD_I8, VALUES(0, 2, 2, 0, 0)), *none = leaf(RD_BOOL, VALUES(0, 0, 0, 0, 0));
    rd_expr *few = leaf(RD_BOOL, VALUES(0, 0, 1, 0, 1)), *nine = rd_int(ctx, 9);
    rd_expr *f = leaf(RD_F32, NULL, 0);

    expect("all", rd_reduce(x, longest, RD_ALL), RD_F32, VALUES(-4));
    expect("some", rd_reduce(x, longest, RD_ALL, .where = few), RD_F32, VALUES(3));
    expect("none", rd_reduce(x, longest, RD_ALL, .where = none), RD_F32, VALUES(NAN));
    expect("none, with a value", rd_reduce(x, longest, RD_ALL, .where = none, .initial = nine),
           RD_F32, VALUES(9));
    expect("a value that is not taken", rd_reduce(x, longest, RD_ALL, .initial = nine), RD_F32,
           VALUES(-4));
    expect("of nothing, with a value", rd_reduce(f, longest, RD_ALL, .initial = nine), RD_F32,
           VALUES(9));
    expect("no result", rd_reduce(leaf_shape(RD_F32, RD_SHAPE(0, 0), NULL, 0), longest, RD_DIMS(1)),
           RD_F32, NULL, 0);
    expect("groups", rd_reduce(x, longest, RD_ALL, .by = RD_EXPRS(g), .groups = RD_SHAPE(3)),
           RD_F32, VALUES(4, NAN, -4));
    expect("groups of ints",
           rd_reduce(i, nearest_ints, RD_KEEP_ALL, .by = RD_EXPRS(g), .groups = RD_SHAPE(3),
                     .initial = nine),
           RD_I32, VALUES(0, 9, 9, 9, -7, 5));
    expect("NaN skipped",
           rd_reduce(leaf(RD_F32, VALUES(NAN, 1, NAN, -2)), longest, RD_ALL, .skip_nan = true),
           RD_F32, VALUES(-2));
    expect("scan", rd_scan(x, longest, RD_DIMS(0)), RD_F32, VALUES(1, -4, -4, -4, -4));
    expect("scan of some", rd_scan(x, longest, RD_DIMS(0), .where = few), RD_F32,
           VALUES(NAN, NAN, 3, 3, 3));
    expect("before",
           rd_scan(x, longest, RD_DIMS(0), .exclusive = true, .reverse = true, .initial = nine),
           RD_F32, VALUES(4, 4, 4, -2, 9));
    expect("two operands", rd_reduce2(x, i, of_heaviest, RD_ALL), RD_F64, VALUES(4));
    expect("as f64", rd_reduce(x, longest, RD_ALL, .type = RD_F64), RD_F64, VALUES(-4));
    expect_error("of nothing", rd_reduce(f, longest, RD_ALL), RD_ERR_EMPTY);
    expect_error("ints without a value", rd_reduce(i, nearest_ints, RD_ALL, .where = few),
                 RD_ERR_EMPTY);
    expect_error("groups without a value",
                 rd_reduce(i, nearest_ints, RD_ALL, .by = RD_EXPRS(g), .groups = RD_SHAPE(3)),
                 RD_ERR_EMPTY);
    expect_error("exclusive", rd_scan(x, longest, RD_DIMS(0), .exclusive = true), RD_ERR_EMPTY);
    expect_error("a value that does not fit",
                 rd_reduce(i, nearest_ints, RD_ALL, .initial = rd_num(ctx, 0.5)), RD_ERR_TYPE);

    /* masks leave whole blocks and lanes without an element */
    float *const long_row = malloc(sizeof *long_row * N);
    rd_expr     *y, *place;
    float        found[3];
    for (int k = 0; k < N; k++)
        long_row[k] = (float)((k * 7919L) % N) - 3;
    y     = rd_wrap(ctx, long_row, RD_SHAPE(N));
    place = rd_coord(y, 0);
    ck_assert(rd_eval(ctx, rd_reduce(y, longest, RD_ALL, .where = rd_gt(place, rd_int(ctx, N - 2))),
                      RD_INTO(&found[0], RD_SCALAR)) == RD_OK);
    ck_assert(
        rd_eval(ctx,
                rd_reduce(y, longest, RD_ALL,
                          .where = rd_eq(rd_remainder(place, rd_int(ctx, 9973)), rd_int(ctx, 11))),
                RD_INTO(&found[1], RD_SCALAR)) == RD_OK);
    ck_assert(rd_eval(ctx, rd_reduce(y, longest, RD_ALL), RD_INTO(&found[2], RD_SCALAR)) == RD_OK);
    float most = long_row[11];
    for (int k = 11; k < N; k += 9973)
        most = fabsf(long_row[k]) > fabsf(most) ? long_row[k] : most;
    ck_assert(found[0] == long_row[N - 1] && found[1] == most && found[2] == (float)(N - 1) - 3);
    free(long_row);

    /* who was compiled with a smaller struct has an identity */
    rd_reducer old = *longest;
    old.size       = (uint32_t)offsetof(rd_reducer, no_identity);
    ck_assert(rd_reduce_user(f, &old, &(rd_reduce_opts){ .dims = RD_ALL }) != NULL);
    expect_error("initial",
                 rd_reduce_user(x, &old, &(rd_reduce_opts){ .dims = RD_ALL, .initial = nine }),
                 RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(norms)
{
    rd_expr *x = leaf(RD_F64, VALUES(3, -4));

    expect("2", rd_norm(x, RD_ALL), RD_F64, VALUES(5));
    expect("1", rd_norm(x, RD_ALL, .p = 1), RD_F64, VALUES(7));
    expect("infinity", rd_norm(x, RD_ALL, .p = INFINITY), RD_F64, VALUES(4));
    expect("-infinity", rd_norm(x, RD_ALL, .p = -INFINITY), RD_F64, VALUES(3));
    expect("-infinity of nothing", rd_norm(leaf(RD_F64, NULL, 0), RD_ALL, .p = -INFINITY), RD_F64,
           VALUES(INFINITY));
    expect("-infinity of NaN", rd_norm(leaf(RD_F64, VALUES(NAN, 1)), RD_ALL, .p = -INFINITY),
           RD_F64, VALUES(NAN));
    expect("of some", rd_norm(x, RD_ALL, .p = -INFINITY, .where = rd_lt(x, rd_num(ctx, 0))), RD_F64,
           VALUES(4));
    expect_error("3", rd_norm(x, RD_ALL, .p = 3), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(logsumexp_range)
{
    rd_expr *x    = leaf(RD_F64, VALUES(-INFINITY, 1000)),
            *none = leaf(RD_F64, VALUES(-INFINITY, -INFINITY));

    expect("no overflow", rd_logsumexp(x, RD_ALL), RD_F64, VALUES(1000));
    expect("all -inf", rd_logsumexp(none, RD_ALL), RD_F64, VALUES(-INFINITY));
    expect("inf", rd_logsumexp(leaf(RD_F64, VALUES(1, INFINITY)), RD_ALL), RD_F64,
           VALUES(INFINITY));
}
END_TEST

START_TEST(scans)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 4)), *b = leaf(RD_I8, VALUES(100, 100, 100));

    expect("to here", rd_scan(x, "sum", RD_DIMS(0)), RD_F64, VALUES(1, 3, 7));
    expect("before", rd_scan(x, "sum", RD_DIMS(0), .exclusive = true), RD_F64, VALUES(0, 1, 3));
    expect("from the end", rd_scan(x, "sum", RD_DIMS(0), .reverse = true), RD_F64, VALUES(7, 6, 4));
    expect("both", rd_scan(x, "prod", RD_DIMS(0), .exclusive = true, .reverse = true), RD_F64,
           VALUES(8, 4, 1));
    expect("max", rd_scan(leaf(RD_F64, VALUES(1, 3, 2)), "max", RD_DIMS(0)), RD_F64,
           VALUES(1, 3, 3));
    expect("ints are widened", rd_scan(b, "sum", RD_DIMS(0)), RD_I64, VALUES(100, 200, 300));
}
END_TEST

/* What is made of a state, or of another scan, is that of the elements so far. */
START_TEST(scans_of_all_reducers)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 3, 8)), *no = leaf(RD_BOOL, VALUES(1, 0, 1));
    rd_expr *w = leaf(RD_F64, VALUES(1, 3, 0));

    expect("mean", rd_scan(x, "mean", RD_DIMS(0)), RD_F64, VALUES(1, 2, 4));
    expect("mean before", rd_scan(x, "mean", RD_DIMS(0), .exclusive = true), RD_F64,
           VALUES(NAN, 1, 2));
    expect("mean from the end", rd_scan(x, "mean", RD_DIMS(0), .reverse = true), RD_F64,
           VALUES(4, 5.5, 8));
    expect("mean of some", rd_scan(x, "mean", RD_DIMS(0), .where = no), RD_F64, VALUES(1, 1, 4.5));
    expect("mean with weights", rd_scan(x, "mean", RD_DIMS(0), .weights = w), RD_F64,
           VALUES(1, 2.5, 2.5));
    expect("var", rd_scan(x, "var", RD_DIMS(0), .ddof = 1), RD_F64, VALUES(NAN, 2, 13));
    expect("std from the end", rd_scan(x, "std", RD_DIMS(0), .reverse = true, .where = no), RD_F64,
           VALUES(3.5, 0, 0));
    expect("norm", rd_scan(leaf(RD_F64, VALUES(3, -4, 0)), "norm", RD_DIMS(0)), RD_F64,
           VALUES(3, 5, 5));
    expect("count", rd_scan(no, "count", RD_DIMS(0)), RD_I64, VALUES(1, 1, 2));
    expect("any before", rd_scan(no, "any", RD_DIMS(0), .exclusive = true), RD_BOOL,
           VALUES(0, 1, 1));
    expect("all", rd_scan(no, "all", RD_DIMS(0)), RD_BOOL, VALUES(1, 0, 0));
    expect("logsumexp", rd_scan(leaf(RD_F64, VALUES(-INFINITY, 1000)), "logsumexp", RD_DIMS(0)),
           RD_F64, VALUES(-INFINITY, 1000));
}
END_TEST

START_TEST(pairs_of_operands)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 3)), *y = leaf(RD_F64, VALUES(2, 4, 6)),
            *gap = leaf(RD_F32, VALUES(1, NAN, 3)), *w = leaf(RD_F64, VALUES(1, 0, 1));

    expect("cov", rd_cov(x, y, RD_ALL, .ddof = 1), RD_F64, VALUES(2));
    expect("of a number", rd_cov(x, rd_num(ctx, 5), RD_KEEP(0)), RD_F64, VALUES(0));
    expect("weights", rd_cov(x, y, RD_ALL, .weights = w), RD_F64, VALUES(2));
    expect("weights, no freedom", rd_cov(x, y, RD_ALL, .weights = w, .ddof = 2), RD_F64,
           VALUES(NAN));
    expect("NaN", rd_cov(x, gap, RD_ALL), RD_F64, VALUES(NAN));
    expect("no NaN", rd_cov(x, gap, RD_ALL, .skip_nan = true), RD_F64, VALUES(1));
    expect("no NaN in the first", rd_cov(gap, x, RD_ALL, .skip_nan = true), RD_F64, VALUES(1));
    expect("of ints", rd_cov(leaf(RD_I8, VALUES(1, 3)), leaf(RD_U8, VALUES(0, 4)), RD_ALL), RD_F64,
           VALUES(2));
    expect("corr", rd_corr(x, rd_neg(y), RD_ALL), RD_F64, VALUES(-1));
    expect("corr, where", rd_corr(x, y, RD_ALL, .where = rd_lt(x, rd_num(ctx, 3))), RD_F64,
           VALUES(1));
    expect("corr of equals", rd_corr(x, rd_num(ctx, 1), RD_ALL), RD_F64, VALUES(NAN));
    expect("of nothing", rd_cov(rd_slice(x, ":0"), rd_slice(y, ":0"), RD_ALL), RD_F64, VALUES(NAN));
    expect_error("ddof", rd_corr(x, y, RD_ALL, .ddof = 1), RD_ERR_ARGUMENT);
    expect_error("shapes", rd_cov(x, rd_slice(y, ":2"), RD_ALL), RD_ERR_SHAPE);
}
END_TEST

START_TEST(ends)
{
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(NAN, 2, 3, 4, 5, NAN)),
            *i = leaf(RD_I8, VALUES(7, 8, 9)), *none = leaf(RD_BOOL, VALUES(0, 0, 0));

    expect("first", rd_first(x, RD_DIMS(0)), RD_F32, VALUES(NAN, 2, 3));
    expect("last of all", rd_last(x, RD_ALL), RD_F32, VALUES(NAN));
    expect("first number", rd_first(x, RD_DIMS(1), .skip_nan = true), RD_F32, VALUES(2, 4));
    expect("last number", rd_last(x, RD_ALL, .skip_nan = true), RD_F32, VALUES(5));
    expect_shape("kept", rd_last(x, RD_KEEP(0), .skip_nan = true), RD_SHAPE(1, 3));
    expect("some", rd_last(i, RD_ALL, .where = rd_lt(i, rd_int(ctx, 9)), .initial = rd_int(ctx, 0)),
           RD_I8, VALUES(8));
    expect("none", rd_first(i, RD_ALL, .where = none, .initial = rd_int(ctx, 1)), RD_I8, VALUES(1));
    expect("no number", rd_first(rd_slice(x, "1, 2:"), RD_ALL, .skip_nan = true), RD_F32,
           VALUES(NAN));
    expect_error("ints", rd_first(i, RD_ALL, .where = none), RD_ERR_EMPTY);
    expect_error("nothing", rd_first(rd_slice(i, ":0"), RD_ALL), RD_ERR_EMPTY);
    x = rd_num(ctx, 1);
    for (int a = 0; a < RD_MAX_RANK; a++)
        x = rd_expand(x, 0);
    expect_error("no room for rows", rd_first(x, (rd_dims){ 0 }), RD_ERR_SHAPE);
}
END_TEST

RD_REDUCER(sum_until_1, float, float, 1, (float sum; int32_t over;), (s->sum = 0; s->over = 0;),
           (s->over |= x == 1; s->sum += s->over ? 0 : x;), (if (!a->over) {
               a->sum += b->sum;
               a->over = b->over;
           }),
           (y[0] = s->sum;), (s->over))

START_TEST(test_of_a_reducer)
{
    enum { N = 3000 };
    static float x[N];
    rd_reducer   without = *sum_until_1;
    rd_expr     *e       = rd_wrap(ctx, x, RD_SHAPE(N));
    float        y[2][N];

    without.done = NULL;
    for (int k = 0; k < N; k++)
        x[k] = k == 1999 ? 1 : (float)(k % 7) / 9;
    for (int k = 0; k < 2; k++)
        ck_assert(rd_eval(ctx, rd_reduce(e, k ? &without : sum_until_1, RD_ALL),
                          RD_INTO(y[k], RD_SCALAR)) == RD_OK);
    ck_assert(memcmp(y[0], y[1], sizeof *y[0]) == 0);
    for (int k = 0; k < 2; k++)
        ck_assert(rd_eval(ctx, rd_scan(e, k ? &without : sum_until_1, RD_DIMS(0)),
                          RD_INTO(y[k], RD_SHAPE(N))) == RD_OK);
    ck_assert(memcmp(y[0], y[1], sizeof y[0]) == 0);
    ck_assert(rd_eval(ctx,
                      rd_reduce(rd_take(e, 0, leaf(RD_I64, VALUES(1999, N))), sum_until_1, RD_ALL),
                      RD_INTO(y[0], RD_SCALAR)) == RD_ERR_AXIS);
    rd_error_clear(ctx);
}
END_TEST

START_TEST(trapezoids)
{
    rd_expr *y = leaf(RD_F64, VALUES(1, 3, 4)), *x = leaf(RD_F64, VALUES(0, 1, 3));
    rd_expr *two = rd_concat(0, RD_EXPRS(rd_expand(y, 0), rd_expand(x, 0)));

    expect("distance", rd_trapezoid(y, rd_num(ctx, 2), 0), RD_F64, VALUES(11));
    expect("positions", rd_trapezoid(y, x, 0), RD_F64, VALUES(9));
    expect("rows", rd_trapezoid(two, x, 1), RD_F64, VALUES(9, 4.5));
    expect("of ints", rd_trapezoid(leaf(RD_U8, VALUES(200, 100)), leaf(RD_U8, VALUES(2, 1)), 0),
           RD_F64, VALUES(-150));
    expect("of one", rd_trapezoid(rd_slice(y, ":1"), rd_num(ctx, 1), 0), RD_F64, VALUES(0));
    expect_error("extents", rd_trapezoid(y, rd_slice(x, ":2"), 0), RD_ERR_SHAPE);
    expect_error("complex positions", rd_trapezoid(y, rd_complex(x, x), 0), RD_ERR_TYPE);
    expect_error("axis", rd_trapezoid(y, x, 1), RD_ERR_AXIS);
}
END_TEST

/* Of pairs that are the same in either order the sum is twice that of one order, and what is on the
 * diagonal. */
START_TEST(pairs_once)
{
    enum { N = 513 };
    static double points[N];
    double        sum = 0;

    for (int k = 0; k < N; k++)
        points[k] = k * k % 31;
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(N));
    rd_expr *d = rd_abs(rd_sub(rd_expand(x, 1), rd_expand(x, 0)));
    rd_expr *y = rd_add(d, rd_num(ctx, 1));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += fabs(points[i] - points[j]) + 1;
    expect("a sum", rd_sum(y, RD_ALL), RD_F64, &sum, 1);
    expect("extremes", rd_max(y, RD_ALL), RD_F64, VALUES(29));
    expect("extremes", rd_min(y, RD_ALL), RD_F64, VALUES(1));
    points[100] = NAN;
    expect("NaN", rd_sum(y, RD_ALL), RD_F64, VALUES(NAN));
    points[100] = INFINITY;
    expect("infinity, less itself", rd_sum(y, RD_ALL), RD_F64, VALUES(NAN));
    expect("without what is no number", rd_max(y, RD_ALL, .skip_nan = true), RD_F64,
           VALUES(INFINITY));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { result_types,
                                   sums_of_halves,
                                   softmax_of_halves,
                                   accuracy,
                                   sums_of_products,
                                   same_bits,
                                   same_bits_on_a_gpu,
                                   same_bits_on_several_gpus,
                                   fast_functions,
                                   parts_of_a_reduction,
                                   sums_beside_scans,
                                   calls_in_parts,
                                   products_by_blas,
                                   covariances_of_all_pairs,
                                   nan_carried,
                                   nan_is_true,
                                   nan_skipped,
                                   empty_reductions,
                                   empty_extremes,
                                   emptied_by_data,
                                   initial_is_an_element,
                                   ties,
                                   dims,
                                   masks_of_places,
                                   where_and_weights,
                                   variances_that_overflow,
                                   complex_types,
                                   first_elements,
                                   norms,
                                   logsumexp_range,
                                   scans,
                                   scans_of_all_reducers,
                                   pairs_of_operands,
                                   ends,
                                   test_of_a_reducer,
                                   trapezoids,
                                   pairs_once };

    return run_suite("semantics_folds", tests, COUNT(tests));
}

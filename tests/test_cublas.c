/* test_cublas.c - matrix products by cuBLAS: when, in which calls, and what happens when it fails;
 * on the fakes. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define IS_OK(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

enum { M = 40, N = 50, K = 30 };

static const rd_eval_opts cuda  = { .backend = RD_BACKEND_CUDA },
                          exact = { .backend = RD_BACKEND_CUDA, .deterministic = true };
static float   a[M * K], b[K * N], c[M * N];
static rd_ctx *ctx;

static void fill(float *x, int n, int seed)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)((i % 1009 * 7919 + seed) % 1009) / 1009 - 0.5F;
}

static void begin(void)
{
    fake_use();
    ctx = rd_ctx_new(NULL);
    fill(a, COUNT(a), 1);
    fill(b, COUNT(b), 2);
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

/* (..., m, k) times (..., k, n). */
static rd_expr *times(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_mul(rd_expand(x, -1), rd_expand(y, -3)), RD_DIMS(-2));
}

static rd_expr *product(rd_ctx *of)
{
    return times(rd_wrap(of, a, RD_SHAPE(M, K)), rd_wrap(of, b, RD_SHAPE(K, N)));
}

static rd_status multiply(void)
{
    return rd_eval_many(ctx, RD_RESULTS({ product(ctx), RD_INTO(c, RD_SHAPE(M, N)) }), &cuda);
}

static void is_product(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want = 0;

            for (int k = 0; k < K; k++)
                want += (double)a[i * K + k] * (double)b[k * N + j];
            ck_assert_msg(fabs(c[i * N + j] - want) < 1e-6, "element %d, %d: %g, not %g", i, j,
                          (double)c[i * N + j], want);
        }
}

static bool explained(rd_expr *y, const rd_eval_opts *opts, const char *part)
{
    const char *text = rd_explain(ctx, RD_RESULTS({ y, NULL }), opts);

    ck_assert_msg(text, "%s", rd_error_text(ctx));
    return strstr(text, part);
}

static void refused(rd_status status, const char *part)
{
    ck_assert_msg(rd_error(ctx) == status && strstr(rd_error_text(ctx), part), "%d: %s, not %s",
                  (int)rd_error(ctx), rd_error_text(ctx), part);
    rd_error_clear(ctx);
}

/* ---- When ------------------------------------------------------------------------------------ */
START_TEST(multiplies)
{
    ck_assert(explained(product(ctx), &cuda, "a product by cuBLAS: 40 x 50 x 30"));
    IS_OK(multiply());
    is_product();
    ck_assert_int_eq(fake_calls_of(fake_cublas, "cublasGemmEx"), 1);
}
END_TEST

/* Neither asked nor loaded. */
START_TEST(not_if_deterministic)
{
    float on_cpu[M * N];

    setenv("RDIM_LIBCUBLAS", "/nonexistent/libcublas.so", 1);
    ck_assert(!explained(product(ctx), &exact, "cublas"));
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ product(ctx), RD_INTO(c, RD_SHAPE(M, N)) }), &exact));
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ product(ctx), RD_INTO(on_cpu, RD_SHAPE(M, N)) }),
                       &(rd_eval_opts){ .backend = RD_BACKEND_CPU, .deterministic = true }));
    ck_assert(memcmp(c, on_cpu, sizeof c) == 0);
}
END_TEST

START_TEST(missing)
{
    setenv("RDIM_LIBCUBLAS", "/nonexistent/libcublas.so", 1);
    ck_assert(explained(product(ctx), &cuda,
                        "why: products run as loops: /nonexistent/libcublas.so not found"));
    IS_OK(multiply());
    is_product();
}
END_TEST

/* Of a library without one of the functions nothing is used. */
START_TEST(lacks_functions)
{
    setenv("RDIM_LIBCUBLAS", fake_nvrtc, 1);
    ck_assert(explained(product(ctx), &cuda, "lacks cublasGetProperty"));
    IS_OK(multiply());
    is_product();
}
END_TEST

/* Found below CUDA_HOME, where the loader finds none that suits: of no later CUDA than the driver. */
START_TEST(suits_the_driver)
{
    char home[FAKE_PATH], path[FAKE_PATH + 40];

    if (dlopen("libcublas.so.12", RTLD_LAZY)) {
        puts("skipped: the loader finds a cuBLAS of CUDA 12");
        return;
    }
    /* NVIDIA's of CUDA 13 leaves memory behind when who refuses it closes it: it stays open here */
    (void)dlopen("libcublas.so.13", RTLD_LAZY);
    fake_directory(home);
    snprintf(path, sizeof path, "%s/lib64", home);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/lib64/libcublas.so", home);
    ck_assert_int_eq(symlink(fake_cublas, path), 0);
    unsetenv("RDIM_LIBCUBLAS");
    setenv("CUDA_HOME", home, 1);
    setenv("RDIM_FAKE_VERSION", "12080", 1);
    setenv("RDIM_FAKE_CUBLAS", _i ? "14" : "12", 1);
    ck_assert(explained(product(ctx), &cuda, _i ? ", the driver of CUDA 12" : "by cuBLAS"));
    fake_remove(home);
}
END_TEST

/* Each call takes the time of a small kernel. */
START_TEST(many_calls)
{
    enum { PARTS = 1100, SIDE = 8 };
    const int n = PARTS * SIDE * (SIDE + 1);
    float    *x = calloc((size_t)n, sizeof *x);
    rd_expr  *y = rd_slice(rd_wrap(ctx, x, RD_SHAPE(PARTS, SIDE, SIDE + 1)), "..., :8");
    rd_expr  *sums =
        rd_sum(rd_mul(rd_expand(y, -1), rd_expand(rd_slice(y, ":, :, :8"), -3)), RD_DIMS(0, 2));

    ck_assert(!explained(sums, &cuda, "by cuBLAS"));
    free(x);
}
END_TEST

/* ---- Calls ----------------------------------------------------------------------------------- */
/* More at a time than cuBLAS takes. */
START_TEST(many_at_a_time)
{
    enum { BATCH = 70000, SIDE = 4, EACH = SIDE * SIDE };
    float   *x = malloc(sizeof(float) * BATCH * EACH), *y = malloc(sizeof(float) * BATCH * EACH);
    rd_expr *m = rd_wrap(ctx, x, RD_SHAPE(BATCH, SIDE, SIDE));

    fill(x, BATCH * EACH, 3);
    ck_assert(explained(times(m, m), &cuda, "by cuBLAS: 4 x 4 x 4, 70000 at a time"));
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ times(m, m), RD_INTO(y, RD_SHAPE(BATCH, SIDE, SIDE)) }),
                       &cuda));
    ck_assert_int_eq(fake_calls_of(fake_cublas, "cublasGemmStridedBatchedEx"), 2);
    for (int i = 0; i < BATCH * EACH; i++) {
        const float *one  = &x[i / EACH * EACH];
        double       want = 0;

        for (int k = 0; k < SIDE; k++)
            want += (double)one[i % EACH / SIDE * SIDE + k] * (double)one[k * SIDE + i % SIDE];
        ck_assert(fabs(y[i] - want) < 1e-6);
    }
    free(x);
    free(y);
}
END_TEST

/* Left to go on by itself, between other stages, with a driver that does nothing before somebody
 * waits; twice, in one workspace. */
START_TEST(goes_on_by_itself)
{
    const rd_eval_opts async = { .async = true };
    rd_array           x = { .device = RD_CUDA(0) }, y[2] = { x, x };
    rd_expr           *twice;

    fake_use_order(FAKE_ORDERS);
    IS_OK(rd_eval(ctx, rd_wrap(ctx, a, RD_SHAPE(M, K)), &x));
    for (int k = 0; k < 2; k++) {
        twice = rd_mul(rd_leaf(ctx, &x), rd_num(ctx, k + 1));
        IS_OK(rd_eval_many(
            ctx, RD_RESULTS({ rd_neg(times(twice, rd_wrap(ctx, b, RD_SHAPE(K, N)))), &y[k] }),
            &async));
    }
    IS_OK(rd_wait(ctx));
    for (int k = 0; k < 2; k++) {
        IS_OK(rd_eval(ctx, rd_mul(rd_leaf(ctx, &y[k]), rd_num(ctx, -1.0 / (k + 1))),
                      RD_INTO(c, RD_SHAPE(M, N))));
        is_product();
        rd_array_free(&y[k]);
    }
    ck_assert_int_eq(fake_calls_of(fake_cublas, "cublasCreate_v2"), 1);
    rd_array_free(&x);
}
END_TEST

static CUstream last_stream(void)
{
    CUstream (*stream)(void);

    *(void **)&stream = fake_find(fake_cublas, "fake_stream");
    return stream();
}

/* In the caller's stream, or the context's own. */
START_TEST(streams)
{
    gpu     g     = gpu_begin();
    rd_ctx *other = rd_ctx_new(&(rd_ctx_opts){ .stream = g.stream });

    IS_OK(multiply());
    ck_assert(last_stream() && last_stream() != g.stream);
    ck_assert(rd_eval_many(other, RD_RESULTS({ product(other), RD_INTO(c, RD_SHAPE(M, N)) }),
                           &cuda) == RD_OK);
    ck_assert(last_stream() == g.stream);
    is_product();
    rd_ctx_free(other);
    gpu_end(&g);
}
END_TEST

/* ---- Failures -------------------------------------------------------------------------------- */
static const char *const functions[] = { "cublasCreate_v2", "cublasSetStream_v2",
                                         "cublasSetWorkspace_v2", "cublasGemmEx" };

/* A status and a sentence that names the function; nothing is lost, and the next one works. */
START_TEST(each_fails)
{
    char bare[64];

    snprintf(bare, sizeof bare, "%s", functions[_i]);
    if (strstr(bare, "_v2"))
        *strstr(bare, "_v2") = 0;
    fake_break(fake_cublas, functions[_i], 1, 13);
    ck_assert_int_eq(multiply(), RD_ERR_DEVICE);
    strcat(bare, ": 13, CUBLAS_STATUS_EXECUTION_FAILED");
    refused(RD_ERR_DEVICE, bare);
    IS_OK(multiply());
    is_product();
}
END_TEST

/* Where memory is full, what is kept makes way; where it is full even then, that is said. */
static const char *const takers[] = { "cublasCreate_v2", "cublasGemmEx" };

START_TEST(memory_is_full)
{
    const int     times_full = 1 + _i % 2;
    char          why[RD_CUDA_TEXT];
    bool          full;
    rd_gpu *const device = rd_gpu_of(0, why);

    rd_gpu_put(device, rd_gpu_get(device, 1 << 20, &full, why));
    for (int call = 1; call <= times_full; call++)
        fake_break(fake_cublas, takers[_i / 2], call, 3);
    ck_assert_int_eq(multiply(), times_full == 1 ? RD_OK : RD_ERR_MEMORY);
    ck_assert_int_gt(fake_calls_of(fake_cuda, "cuMemFree_v2"), 0);
    if (times_full > 1)
        refused(RD_ERR_MEMORY, ": 3, CUBLAS_STATUS_ALLOC_FAILED");
    IS_OK(multiply());
    is_product();
}
END_TEST

/* No room for the workspace. */
START_TEST(no_workspace)
{
    for (int call = 1; call <= 40; call++)
        fake_break(fake_cuda, "cuMemAlloc_v2", call, 2);
    ck_assert_int_eq(multiply(), RD_ERR_MEMORY);
    rd_error_clear(ctx);
    fake_break(fake_cuda, "cuMemAlloc_v2", 0, 0);
    IS_OK(multiply());
    is_product();
}
END_TEST

static void add(TCase *tc)
{
    const TTest *const tests[] = {
        multiplies,     not_if_deterministic, missing, lacks_functions, many_calls,
        many_at_a_time, goes_on_by_itself,    streams, no_workspace
    };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
    tcase_add_loop_test(tc, suits_the_driver, 0, 2);
    tcase_add_loop_test(tc, each_fails, 0, COUNT(functions));
    tcase_add_loop_test(tc, memory_is_full, 0, 2 * COUNT(takers));
}

int main(void)
{
    return fake_run("cublas", add);
}

/* test_cuda_fast.c - `accuracy` FAST on the fake GPU, whose units are an ulp off: it takes them, and
 * SAME does not. */
#include "fake_gpu.h"
#include "gpu_fast.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static rd_ctx *ctx;

static void begin(void)
{
    fake_use();
    ctx = rd_ctx_new(NULL);
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

START_TEST(functions)
{
    enum { N = 5000, MANY = N / 8 };
    rd_text        report = { 0 };
    gpu_fast_found found  = { 0 };

    ck_assert_msg(gpu_fast_is_near(&gpu_fasts[_i], N, &found, &report), "%s",
                  report.at ? report.at : "");
    ck_assert_msg(found.differ >= MANY, "%s: %d of %d points have other bits than with SAME",
                  gpu_fasts[_i].name, (int)found.differ, N);
    rd_text_free(&report);
}
END_TEST

static void evaluate(rd_expr *y, rd_function_accuracy accuracy, rd_array *out)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .accuracy = accuracy };

    *out = (rd_array){ .data = NULL };
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, out }), &opts) == RD_OK, "%s",
                  rd_error_text(ctx));
}

static double get(const rd_array *x, int64_t i)
{
    rd_array one = { .data = NULL, .type = RD_F64 };
    double   y   = 0;

    one.data = &y;
    ck_assert(rd_eval(ctx, rd_cast(rd_select(rd_leaf(ctx, x), 0, i), RD_F64), &one) == RD_OK);
    return y;
}

/* Programs with exponentials in reducers, over pairs, in several phases; of few and many bits. */
static const struct {
    const char *program;
    rd_dtype    type;
    int64_t     rows, columns;
    double      most; /* relative */
} programs[] = {
    { "logsumexp of rows", RD_F32, 40, 300, 1e-6 },
    { "logsumexp of rows", RD_BF16, 40, 300, 1e-2 },
    { "logsumexp of columns", RD_F32, 300, 64, 1e-6 },
    { "gauss", RD_F32, 150, 3, 1e-5 },
    { "logsumexp of pairs", RD_F32, 150, 3, 1e-5 },
};

START_TEST(whole_programs)
{
    const gpu_program *p = gpu_program_of(programs[_i].program);
    rd_array           x = gpu_matrix(programs[_i].type, programs[_i].rows, programs[_i].columns);
    rd_array           fast, same;
    rd_expr           *y[GPU_MOST_RESULTS];

    (void)p->build(rd_leaf(ctx, &x), y);
    evaluate(y[0], RD_ACCURACY_FAST, &fast);
    evaluate(y[0], RD_ACCURACY_SAME, &same);
    for (int64_t i = 0; i < same.shape.at[0]; i++) {
        const double a = get(&fast, i), b = get(&same, i);

        ck_assert_msg(fabs(a - b) <= programs[_i].most * fabs(b), "%s, result %d: %g, not %g",
                      p->name, (int)i, a, b);
    }
    ck_assert(programs[_i].type != RD_F32 ||
              memcmp(fast.data, same.data, (size_t)same.shape.at[0] * 4) != 0);
    rd_array_free(&fast);
    rd_array_free(&same);
    free(x.data);
}
END_TEST

/* Sums, f64, and what has no unit are as ever. */
START_TEST(all_else)
{
    enum { N = 3000 };
    static float  x[N];
    static double d[N];
    rd_expr      *f = rd_wrap(ctx, x, RD_SHAPE(N)), *g = rd_wrap(ctx, d, RD_SHAPE(N));
    rd_expr      *exprs[] = { rd_sum(f, RD_ALL),
                              rd_max(f, RD_ALL),
                              rd_erf(f),
                              rd_expm1(f),
                              rd_atan2(f, rd_num(ctx, 2)),
                              rd_exp(g),
                              rd_div(g, rd_num(ctx, 3)),
                              rd_scan(f, "sum", RD_DIMS(0)) };

    for (int i = 0; i < N; i++) {
        x[i] = (float)(i * 7919 % 3001) / 700 - 2;
        d[i] = (double)x[i];
    }
    for (size_t k = 0; k < sizeof exprs / sizeof *exprs; k++) {
        rd_array fast, same;
        size_t   bytes;

        evaluate(exprs[k], RD_ACCURACY_FAST, &fast);
        evaluate(exprs[k], RD_ACCURACY_SAME, &same);
        bytes = (size_t)rd_dtype_size(same.type) * (size_t)(same.shape.n ? same.shape.at[0] : 1);
        ck_assert_msg(memcmp(fast.data, same.data, bytes) == 0, "expression %d", (int)k);
        rd_array_free(&fast);
        rd_array_free(&same);
    }
}
END_TEST

START_TEST(explains)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .accuracy = RD_ACCURACY_FAST },
                       cpu  = { .accuracy = RD_ACCURACY_FAST };
    float       x[2]        = { 1, 2 };
    rd_expr    *y           = rd_exp(rd_wrap(ctx, x, RD_SHAPE(2)));
    const char *text        = rd_explain(ctx, RD_RESULTS({ y, NULL }), &opts);

    ck_assert_msg(text && strstr(text, ", fast functions"), "%s", text ? text : "");
    text = rd_explain(ctx, RD_RESULTS({ y, NULL }), &cpu);
    ck_assert_msg(text && !strstr(text, "fast functions"), "%s", text ? text : "");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, all_else);
    tcase_add_test(tc, explains);
    tcase_add_loop_test(tc, functions, 0, n_gpu_fasts);
    tcase_add_loop_test(tc, whole_programs, 0, (int)(sizeof programs / sizeof *programs));
}

int main(void)
{
    return fake_run("cuda fast", add);
}

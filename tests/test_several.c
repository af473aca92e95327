/* test_several.c - work that several GPUs share, on the fake driver: the bits of one and of the CPU,
 * whoever is asked, cancels or fails. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define IS_OK(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

enum { GPUS = 3 };

static void use_gpus(int n)
{
    char text[8];

    snprintf(text, sizeof text, "%d", n);
    setenv("RDIM_FAKE_DEVICES", text, 1);
}

static rd_ctx *new_ctx(void)
{
    return rd_ctx_new(&(rd_ctx_opts){ .device = RD_CUDA_ALL });
}

/* ---- Programs -------------------------------------------------------------------------------- */
/* Of f32, 4 MB, which is enough for three; which stages are dealt out, as bits. */
static const struct several_case {
    const char *program;
    gpu_size    size;
    int         dealt;
} cases[] = {
    { "sum of all", { 8001, 130 }, 1 << 0 },
    { "sum of rows", { 8001, 130 }, 1 << 0 },
    { "var of rows", { 3, 333339 }, 1 << 0 },
    { "argmax of rows", { 8001, 130 }, 1 << 0 },
    { "logsumexp of columns", { 8001, 130 }, 1 << 0 },
    { "rows and columns", { 8001, 130 }, 1 << 0 | 1 << 1 },
    { "map", { 8001, 130 }, 1 << 0 },
    { "softmax", { 8001, 130 }, 1 << 0 },
    { "softmax", { 6, 170003 }, 1 << 0 },
    { "standardised", { 8001, 130 }, 1 << 0 | 1 << 3 }, /* mean and deviation are one number each */
    { "scan of rows", { 8001, 130 }, 1 << 0 },
    { "scan of rows", { 3, 333339 }, 0 },
    { "transpose", { 8001, 130 }, 0 },
};

static int dealt_stages(const char *text)
{
    int stages = 0;

    for (const char *at = text; (at = strstr(at, "\nstage ")); at++) {
        int stage, n;

        if (sscanf(at, "\nstage %d is dealt out to %d GPUs", &stage, &n) == 2 && n == GPUS)
            stages |= 1 << stage;
    }
    return stages;
}

static void is_dealt_as_expected(const struct several_case *c)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA, .deterministic = true };
    rd_ctx *const      own  = new_ctx();
    rd_array           x    = gpu_matrix(RD_F32, c->size.rows, c->size.columns);
    gpu_results        all  = { .n = 0 };

    gpu_build(gpu_program_of(c->program), rd_leaf(own, &x), &all);
    const char *text = rd_explain(own, (rd_results){ all.at, all.n }, &cuda);
    ck_assert_msg(text && dealt_stages(text) == c->dealt, "%s: %s", c->program,
                  text ? text : rd_error_text(own));
    rd_ctx_free(own);
    free(x.data);
}

/* On one to three GPUs.  gpu_same_bits() has a context of its own. */
START_TEST(same_bits)
{
    const struct several_case *const c      = &cases[_i / GPUS];
    const int                        n      = 1 + _i % GPUS;
    rd_text                          report = { 0 };
    bool                             same;

    if (_i / GPUS % (SANITIZED ? 4 : 1))
        return;
    use_gpus(n);
    fake_use_order(_i);
    setenv("RDIM_CUDA_DEVICES", "all", 1);
    same = gpu_same_bits(
        &(gpu_case){ gpu_program_of(c->program), RD_F32, c->size.rows, c->size.columns, 0, true },
        &report);
    ck_assert_msg(same, "on %d: %s", n, report.at);
    rd_text_free(&report);
    if (n == GPUS)
        is_dealt_as_expected(c);
}
END_TEST

/* ---- Arrays as they come --------------------------------------------------------------------- */
enum { N = 1100000 };

static float   x[N], y[N], want[N];
static rd_ctx *ctx;

static void number_all(void)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1013) / 7 - 50;
}

static void same_on_both(rd_expr *e, rd_array *found, int64_t n)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA }, cpu = { .backend = RD_BACKEND_CPU };
    float *const       to    = found->data;
    rd_array           alone = *found;

    memcpy(want, to, sizeof *to * (size_t)n);
    alone.data = want;
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ e, &alone }), &cpu));
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ e, found }), &cuda));
    ck_assert(memcmp(want, to, sizeof *to * (size_t)n) == 0);
}

/* Each has worked: it holds memory. */
static void all_have_worked(void)
{
    char why[RD_CUDA_TEXT];

    for (int k = 0; k < GPUS; k++)
        ck_assert_int_gt(rd_gpu_held(rd_gpu_of(k, why)), 0);
}

START_TEST(arrays)
{
    rd_expr *a, *b;

    number_all();
    a = rd_wrap(ctx, x, RD_SHAPE(N));
    b = rd_wrap(ctx, x, RD_SHAPE(N / 100, 100));
    /* a result with gaps */
    rd_array gaps = {
        .data = y, .type = RD_F32, .shape = RD_SHAPE(N / 2), .strides = RD_STRIDES(2)
    };
    same_on_both(rd_slice(a, "::2"), &gaps, N);
    /* it begins anywhere */
    rd_array late = { .data = y + 3, .type = RD_F32, .shape = RD_SHAPE(N - 3) };
    same_on_both(rd_mul(rd_slice(a, "3:"), rd_num(ctx, 3)), &late, N - 3);
    /* the first row and any: one GPU has them all */
    rd_array whole = { .data = y, .type = RD_F32, .shape = RD_SHAPE(N / 100, 100) };
    same_on_both(rd_sub(b, rd_slice(b, ":1")), &whole, N);
    all_have_worked();
}
END_TEST

/* What is read is what was there, whoever has stored meanwhile. */
START_TEST(in_place)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    rd_expr           *a    = rd_wrap(ctx, x, RD_SHAPE(N));

    number_all();
    memcpy(y, x, sizeof y);
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ rd_flip(rd_neg(a), RD_DIMS(0)), RD_INTO(x, RD_SHAPE(N)) }),
                       &cuda));
    for (int i = 0; i < N; i++)
        ck_assert(x[i] == -y[N - 1 - i]);
    /* the later of two results stays where they overlap */
    IS_OK(rd_eval_many(ctx,
                       RD_RESULTS({ rd_neg(a), RD_INTO(y, RD_SHAPE(N)) },
                                  { rd_abs(rd_slice(a, "9:")), RD_INTO(y, RD_SHAPE(N - 9)) }),
                       &cuda));
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == (i < N - 9 ? (x[i + 9] < 0 ? -x[i + 9] : x[i + 9]) : -x[i]));
}
END_TEST

/* Data on a GPU are that one's. */
START_TEST(data_there)
{
    rd_array there = { .device = RD_CUDA(1) };
    float    total = 0;

    number_all();
    IS_OK(rd_eval(ctx, rd_wrap(ctx, x, RD_SHAPE(N)), &there));
    rd_expr    *sum  = rd_sum(rd_leaf(ctx, &there), RD_ALL);
    const char *text = rd_explain(ctx, RD_RESULTS({ sum, NULL }), NULL);

    ck_assert_msg(text && strstr(text, "stage 0 on cuda:1 ") && !strstr(text, "dealt out"), "%s",
                  text ? text : rd_error_text(ctx));
    IS_OK(rd_eval(ctx, sum, RD_INTO(&total, RD_SCALAR)));
    ck_assert(total == (float)rd_at(ctx, rd_sum(rd_wrap(ctx, x, RD_SHAPE(N)), RD_ALL), RD_INDEX()));
    rd_array_free(&there);
}
END_TEST

/* ---- Who shares ------------------------------------------------------------------------------ */
static void explains(rd_ctx *of, const char *part)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    const char        *text =
        rd_explain(of, RD_RESULTS({ rd_sum(rd_wrap(of, x, RD_SHAPE(N)), RD_ALL), NULL }), &cuda);

    ck_assert_msg(text && strstr(text, part), "not %s: %s", part, text ? text : rd_error_text(of));
}

/* A context's options; the environment, for those that name none; GPUs that are like the first. */
START_TEST(who_shares)
{
    rd_ctx *own = rd_ctx_new(NULL);

    explains(ctx, "stage 0 is dealt out to 3 GPUs");
    explains(own, "stage 0 on cuda:0 ");
    rd_ctx_free(own);
    setenv("RDIM_CUDA_DEVICES", "2", 1);
    own = rd_ctx_new(NULL);
    explains(own, "stage 0 is dealt out to 2 GPUs");
    rd_ctx_free(own);
    own = rd_ctx_new(&(rd_ctx_opts){ .device = RD_CUDA(2) });
    explains(own, "stage 0 on cuda:2 ");
    rd_ctx_free(own);
    own = rd_ctx_new(&(rd_ctx_opts){ .device = -2 });
    ck_assert_int_eq(rd_error(own), RD_ERR_ARGUMENT);
    rd_ctx_free(own);
    own = rd_ctx_new(&(rd_ctx_opts){ .device = RD_CUDA_ALL, .stream = x });
    ck_assert(rd_error(own) == RD_ERR_ARGUMENT && strstr(rd_error_text(own), "RD_CUDA_ALL"));
    rd_ctx_free(own);
}
END_TEST

START_TEST(another_kind)
{
    setenv("RDIM_FAKE_OTHER", "2", 1);
    explains(ctx, "stage 0 is dealt out to 2 GPUs");
}
END_TEST

START_TEST(why_one)
{
    const rd_eval_opts cuda  = { .backend = RD_BACKEND_CUDA };
    rd_expr           *a     = rd_wrap(ctx, x, RD_SHAPE(N));
    int32_t            at[1] = { 1 };
    const struct {
        rd_expr    *y;
        const char *why;
    } rows[] = {
        { rd_sum(rd_wrap(ctx, x, RD_SHAPE(1000)), RD_ALL), "its work is too little to be divided" },
        { rd_scan(a, "sum", RD_DIMS(0)), "its scans go on from element to element" },
        { rd_transpose(rd_wrap(ctx, x, RD_SHAPE(1000, 1100))), "an operand lies the other way" },
        { rd_mul(a, rd_take(a, 0, rd_wrap(ctx, at, RD_SHAPE(1)))), "it takes elements by indices" },
    };

    for (int k = 0; k < COUNT(rows); k++) {
        const char *text = rd_explain(ctx, RD_RESULTS({ rows[k].y, NULL }), &cuda);

        ck_assert_msg(text && strstr(text, " runs on one of 3 GPUs: ") && strstr(text, rows[k].why),
                      "not %s: %s", rows[k].why, text ? text : rd_error_text(ctx));
    }
}
END_TEST

/* ---- Asking on the way ----------------------------------------------------------------------- */
typedef struct teller {
    int    calls, most;
    double last;
} teller;

static int note(void *user, double done, double seconds_left)
{
    teller *t = user;

    ck_assert(done >= t->last && done <= 1 && seconds_left >= 0);
    t->last = done;
    return ++t->calls == t->most;
}

/* Rows' exponentials, of long rows: two kernels, which are asked between blocks. */
static rd_status told(teller *t)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA, .progress = note, .user = t };
    rd_expr           *a    = rd_wrap(ctx, x, RD_SHAPE(6, N / 6));
    gpu_results        all  = { .n = 0 };

    gpu_build(gpu_program_of("softmax"), rd_tanh(rd_sin(a)), &all);
    rd_eval_many(ctx, (rd_results){ all.at, all.n }, &cuda);
    rd_array_free(&all.out[0]);
    return rd_error(ctx);
}

START_TEST(progress)
{
    teller all = { 0 }, first = { .most = 1 };

    number_all();
    IS_OK(told(&all));
    if (all.calls) /* a machine that needs less than a tenth of a second is told nothing */
        ck_assert(all.calls > 1 && all.last == 1);
    if (told(&first) != RD_OK)
        ck_assert(rd_error(ctx) == RD_ERR_CANCELLED && first.calls == 1);
    else
        ck_assert_int_eq(first.calls, 0);
    rd_error_clear(ctx);
}
END_TEST

/* Once; and the next one is whole. */
START_TEST(cancelled)
{
    teller t = { 0 };

    number_all();
    rd_cancel(ctx);
    ck_assert_int_eq(told(&t), RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    IS_OK(rd_wait(ctx));
    IS_OK(told(&t));
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};
static const int calls[] = { 1, 2, 3, 5, 8, 13, 21 };

static rd_status sum_all(float *total)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    return rd_eval_many(
        ctx,
        RD_RESULTS({ rd_sum(rd_wrap(ctx, x, RD_SHAPE(N)), RD_ALL), RD_INTO(total, RD_SCALAR) }),
        &cuda);
}

/* One of so many failures: a test that has nothing to do is a process, too. */
enum { FAILURES = SANITIZED ? 5 : 1 };

/* A function of the driver fails at one of its calls, of whichever GPU: that is said once, or the
 * work is done without; nothing is lost, and the next one works. */
START_TEST(driver_fails)
{
    const int         way   = _i * FAILURES;
    const char *const name  = functions[way / COUNT(calls)];
    const int         call  = calls[way % COUNT(calls)];
    float             total = 0, other = 0;

    if (!SANITIZED && way % suite_part(3))
        return;
    use_gpus(GPUS);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    fake_break(fake_cuda, name, call, 1);
    if (sum_all(&total) != RD_OK) {
        ck_assert_msg(rd_error(ctx) == RD_ERR_DEVICE && strstr(rd_error_text(ctx), ": 1, "),
                      "%s, call %d: %s", name, call, rd_error_text(ctx));
        rd_error_clear(ctx);
        IS_OK(rd_wait(ctx));
    } else
        ck_assert(total == N || rd_device_count() < GPUS);
    fake_break(fake_cuda, name, 0, 0);
    if (rd_device_count() == 0)
        return;
    IS_OK(sum_all(&other));
    ck_assert(other == N);
}
END_TEST

/* A kernel of one GPU faults: it is of no more use, others are. */
START_TEST(gpu_is_lost)
{
    rd_ctx *own   = rd_ctx_new(NULL);
    float   total = 0;
    int     alive = 0;

    number_all();
    IS_OK(sum_all(&total));
    fake_break(fake_cuda, "cuLaunchKernel", 2, 700);
    ck_assert_int_eq(sum_all(&total), RD_ERR_DEVICE);
    ck_assert(strstr(rd_error_text(ctx), "cuLaunchKernel: 700"));
    rd_error_clear(ctx);
    ck_assert_int_eq(sum_all(&total), RD_ERR_DEVICE);
    for (int k = 0; k < GPUS; k++) {
        rd_array there = { .device = RD_CUDA(k) };

        alive += rd_eval(own, rd_wrap(own, x, RD_SHAPE(9)), &there) == RD_OK;
        rd_error_clear(own);
    }
    ck_assert_int_eq(alive, GPUS - 1);
    setenv("RDIM_FAKE_STRICT", "0", 1); /* what a dead context holds is lost */
    fflush(stdout);
    _Exit(0);
}
END_TEST

static void begin(void)
{
    use_gpus(GPUS);
    setenv("RDIM_CUDA_THREADS", "1024", 1);
    fake_use();
    ctx = new_ctx();
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

static void add(TCase *tc)
{
    const TTest *const tests[] = { arrays,  in_place, data_there, who_shares, another_kind,
                                   why_one, progress, cancelled,  gpu_is_lost };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
    tcase_add_loop_test(tc, same_bits, 0, COUNT(cases) * GPUS);
    tcase_add_loop_test(tc, driver_fails, 0, COUNT(functions) * COUNT(calls) / FAILURES);
}

int main(void)
{
    return fake_run("several", add);
}

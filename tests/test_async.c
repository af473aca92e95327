/* test_async.c - evaluations that are left to go on by themselves, on the fake driver; most with
 * one that does nothing before somebody waits. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define IS_OK(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

enum { N = 5000 };

static const rd_eval_opts async = { .async = true };
static float              x[N], y[N];
static rd_ctx            *ctx;

static void begin(void)
{
    fake_use_order(FAKE_ORDERS); /* lazily */
    ctx = rd_ctx_new(NULL);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i * 7 % 13) - 3;
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

static rd_array there(void)
{
    return (rd_array){ .device = RD_CUDA(0) };
}

static rd_array uploaded(void)
{
    rd_array array = there();

    IS_OK(rd_eval(ctx, rd_wrap(ctx, x, RD_SHAPE(N)), &array));
    return array;
}

/* To fresh memory of the GPU, which the caller frees. */
static rd_array left(rd_expr *e)
{
    rd_array out = there();

    IS_OK(rd_eval_many(ctx, RD_RESULTS({ e, &out }), &async));
    return out;
}

static void download(rd_array *from)
{
    IS_OK(rd_eval(ctx, rd_leaf(ctx, from), RD_INTO(y, RD_SHAPE(N))));
}

/* ---- Results --------------------------------------------------------------------------------- */
/* Nothing is done before it is waited for; later evaluations read what earlier ones will have
 * made. */
START_TEST(goes_on_by_itself)
{
    rd_array  given    = uploaded();
    const int launched = fake_calls_of(fake_cuda, "cuStreamSynchronize");
    rd_array  twice    = left(rd_mul(rd_leaf(ctx, &given), rd_num(ctx, 2)));
    rd_array  more     = left(rd_add(rd_leaf(ctx, &twice), rd_num(ctx, 1)));

    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuStreamSynchronize"), launched);
    IS_OK(rd_wait(ctx));
    download(&more);
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == 2 * x[i] + 1);
    rd_array_free(&more);
    rd_array_free(&twice);
    rd_array_free(&given);
}
END_TEST

/* Sums whose items are cut: nodes and counters stay until the end. */
START_TEST(long_sums)
{
    static float many[1 << 18];
    float        sum   = 0;
    rd_array     given = there(), total;

    for (int i = 0; i < COUNT(many); i++)
        many[i] = (float)(i % 5);
    IS_OK(rd_eval(ctx, rd_wrap(ctx, many, RD_SHAPE(COUNT(many))), &given));
    total = left(rd_sum(rd_leaf(ctx, &given), RD_ALL));
    for (int k = 0; k < 3; k++) {
        rd_array other = left(rd_sum(rd_neg(rd_leaf(ctx, &given)), RD_ALL));

        rd_array_free(&other);
    }
    IS_OK(rd_wait(ctx));
    IS_OK(rd_eval(ctx, rd_leaf(ctx, &total), RD_INTO(&sum, RD_SCALAR)));
    ck_assert(sum == (float)(COUNT(many) / 5 * 10 + 0 + 1 + 2 + 3));
    rd_array_free(&total);
    rd_array_free(&given);
}
END_TEST

/* Memory that is given back while a run still reads it is no one else's before its end. */
START_TEST(freed_meanwhile)
{
    rd_array given = uploaded(), kept = left(rd_neg(rd_leaf(ctx, &given)));

    rd_array_free(&given);
    for (int k = 0; k < 4; k++) {
        rd_array other = left(rd_mul(rd_wrap(ctx, x, RD_SHAPE(N)), rd_num(ctx, 3)));

        rd_array_free(&other);
    }
    IS_OK(rd_wait(ctx));
    download(&kept);
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == -x[i]);
    rd_array_free(&kept);
}
END_TEST

/* The owner of lent memory puts it to another use. */
static void spoil(void *user)
{
    rd_array *memory = user;

    IS_OK(rd_eval(ctx, rd_broadcast(rd_cast(rd_num(ctx, 77), RD_F32), RD_SHAPE(N)), memory));
}

/* Memory that somebody else owns is not given back before runs that were left are done with it. */
START_TEST(lent_memory)
{
    rd_array memory = uploaded(), lent = memory, kept = there();
    rd_ctx  *borrower = rd_ctx_new(NULL);

    lent.owner = NULL;
    ck_assert(rd_array_own(borrower, &lent, spoil, &memory) == RD_OK);
    const rd_mark mark = rd_ctx_mark(borrower);
    ck_assert(rd_eval_many(borrower, RD_RESULTS({ rd_neg(rd_adopt(borrower, &lent)), &kept }),
                           &async) == RD_OK);
    ck_assert(rd_ctx_release(borrower, mark) == RD_OK);
    ck_assert(rd_eval(borrower, rd_leaf(borrower, &kept), RD_INTO(y, RD_SHAPE(N))) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == -x[i]);
    download(&memory);
    ck_assert(y[5] == 77);
    rd_array_free(&kept);
    rd_ctx_free(borrower);
    rd_array_free(&memory);
}
END_TEST

/* A tensor's elements are there when it is. */
START_TEST(given_away)
{
    rd_array given = uploaded(), twice = left(rd_mul(rd_leaf(ctx, &given), rd_num(ctx, 2)));
    rd_ctx  *other = rd_ctx_new(NULL);

    ck_assert(rd_from_dlpack(other, rd_to_dlpack(ctx, &twice), &twice) == RD_OK);
    ck_assert(rd_eval(other, rd_adopt(other, &twice), RD_INTO(y, RD_SHAPE(N))) == RD_OK);
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == 2 * x[i]);
    rd_ctx_free(other);
    rd_array_free(&given);
}
END_TEST

/* What is wanted in this process's memory is there when the call returns. */
START_TEST(results_here_are_waited_for)
{
    rd_array given = uploaded();

    IS_OK(rd_eval_many(ctx, RD_RESULTS({ rd_neg(rd_leaf(ctx, &given)), RD_INTO(y, RD_SHAPE(N)) }),
                       &async));
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == -x[i]);
    rd_array_free(&given);
}
END_TEST

/* Runs of a plan, the second on what the first will have made. */
START_TEST(plans)
{
    rd_array    given = uploaded(), first = uploaded(), second = uploaded();
    rd_array    layout = { .type = RD_F32, .shape = RD_SHAPE(N), .device = RD_CUDA(0) };
    rd_expr    *in     = rd_input(ctx, "x", &layout);
    rd_plan    *plan   = rd_plan_new(ctx, RD_EXPRS(in),
                                     RD_RESULTS({ rd_add(rd_max(in, RD_ALL), in), &layout }), &async);
    const void *from[] = { given.data };
    void       *to[]   = { first.data };

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    IS_OK(rd_plan_run(plan, from, to));
    from[0] = first.data;
    to[0]   = second.data;
    IS_OK(rd_plan_run(plan, from, to));
    rd_plan_free(plan);
    IS_OK(rd_wait(ctx));
    download(&second);
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == x[i] + 9 + 18);
    rd_array_free(&given);
    rd_array_free(&first);
    rd_array_free(&second);
}
END_TEST

/* A stream of the caller's: an evaluation sees what was asked of it before, and what is asked later
 * sees results, and nobody waits.  The stream outlives the context. */
START_TEST(in_callers_stream)
{
    gpu               g     = gpu_begin();
    CUdeviceptr       given = gpu_get(&g, sizeof x);
    const rd_ctx_opts opts  = { .stream = g.stream };
    rd_ctx           *other = rd_ctx_new(&opts);
    rd_array          in    = { .data   = (void *)(uintptr_t)given,
                                .type   = RD_F32,
                                .shape  = RD_SHAPE(N),
                                .device = RD_CUDA(0) },
             out            = there();
    void     *pinned        = NULL;
    const int waits         = fake_calls_of(fake_cuda, "cuStreamSynchronize");

    (void)GPU_CALL(&g, cuMemAllocHost_v2, &pinned, sizeof x);
    memcpy(pinned, x, sizeof x);
    (void)GPU_CALL(&g, cuMemcpyHtoDAsync_v2, given, pinned, sizeof x, g.stream);
    ck_assert(rd_eval_many(other, RD_RESULTS({ rd_neg(rd_leaf(other, &in)), &out }), &async) ==
              RD_OK);
    (void)GPU_CALL(&g, cuMemsetD8Async, given, 0, sizeof x, g.stream);
    (void)GPU_CALL(&g, cuMemcpyDtoHAsync_v2, pinned, (CUdeviceptr)(uintptr_t)out.data, sizeof x,
                   g.stream);
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuStreamSynchronize"), waits);
    (void)GPU_CALL(&g, cuStreamSynchronize, g.stream);
    for (int i = 0; i < N; i++)
        ck_assert(((float *)pinned)[i] == -x[i]);
    rd_array_free(&out);
    rd_ctx_free(other);
    (void)GPU_CALL(&g, cuMemsetD8Async, given, 0, sizeof x, g.stream);
    GPU_RELEASE(&g, cuMemFreeHost, pinned);
    GPU_RELEASE(&g, cuMemFree_v2, given);
    gpu_end(&g);
    ck_assert_str_eq(g.why, "");
}
END_TEST

/* Many are left: their memory does not pile up. */
START_TEST(many)
{
    enum {
        RUNS      = 400,
        AT_A_TIME = 80,
        ROOM      = 25000
    }; /* bytes that an array of 20000 takes, about */
    char     why[RD_CUDA_TEXT];
    rd_array given = uploaded();

    for (int k = 0; k < RUNS; k++) {
        rd_array again = left(rd_add(rd_leaf(ctx, &given), rd_num(ctx, k % 3)));

        rd_array_free(&again);
        ck_assert_int_le(rd_gpu_held(rd_gpu_of(0, why)), AT_A_TIME * ROOM);
    }
    rd_array_free(&given);
}
END_TEST

/* ---- Errors ---------------------------------------------------------------------------------- */
static void is_told_once(rd_status status, const char *part)
{
    ck_assert_int_eq(rd_wait(ctx), status);
    ck_assert_msg(strstr(rd_error_text(ctx), part), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    IS_OK(rd_wait(ctx));
}

START_TEST(index_outside)
{
    int32_t  at[]  = { 1, 0, 5001, 2 };
    rd_array given = uploaded();
    rd_array taken = left(rd_take(rd_leaf(ctx, &given), 0, rd_wrap(ctx, at, RD_SHAPE(COUNT(at)))));
    rd_array other = left(rd_neg(rd_leaf(ctx, &given)));

    is_told_once(RD_ERR_AXIS, "rd_take: index 5001 is outside an axis of extent 5000");
    download(&other);
    ck_assert(y[1] == -x[1]);
    rd_array_free(&taken);
    rd_array_free(&other);
    rd_array_free(&given);
}
END_TEST

/* Of several the first is told, also when its run is long over. */
START_TEST(index_outside_long_ago)
{
    int32_t  at[]  = { 77, 1 };
    rd_array given = uploaded();

    for (int k = 0; k < 200; k++) {
        rd_array taken =
            left(rd_take(rd_slice(rd_leaf(ctx, &given), ":50"), 0, rd_wrap(ctx, at, RD_SHAPE(2))));

        rd_array_free(&taken);
        at[0] = k == 0 ? 78 : 1;
    }
    ck_assert_int_eq(rd_wait(ctx), RD_ERR_AXIS);
    ck_assert(strstr(rd_error_text(ctx), " is outside an axis of extent 50"));
    rd_error_clear(ctx);
    IS_OK(rd_wait(ctx));
    rd_array_free(&given);
}
END_TEST

START_TEST(warnings)
{
    int32_t  zeros[] = { 0, 1 };
    rd_expr *few     = rd_wrap(ctx, zeros, RD_SHAPE(2));
    rd_array given   = there(), quotient;

    IS_OK(rd_eval(ctx, few, &given));
    quotient = left(rd_floordiv(rd_leaf(ctx, &given), rd_leaf(ctx, &given)));
    ck_assert_uint_eq(rd_warnings(ctx), 0);
    IS_OK(rd_wait(ctx));
    ck_assert_uint_ne(rd_warnings(ctx), 0);
    rd_array_free(&quotient);
    rd_array_free(&given);
}
END_TEST

/* The event that tells when a run is over is not to be had: then it is waited for. */
START_TEST(without_events)
{
    rd_array given = uploaded(), negated;

    fake_break(fake_cuda, "cuEventCreate", 1, 1);
    negated = left(rd_neg(rd_leaf(ctx, &given)));
    fake_break(fake_cuda, "cuEventCreate", 0, 0);
    download(&negated);
    ck_assert(y[2] == -x[2]);
    rd_array_free(&negated);
    rd_array_free(&given);
}
END_TEST

/* The GPU fails after the call has returned. */
START_TEST(lost_meanwhile)
{
    rd_array given = uploaded(), negated = left(rd_neg(rd_leaf(ctx, &given)));

    (void)negated;
    fake_break(fake_cuda, "cuStreamSynchronize", 1, 700);
    ck_assert_int_eq(rd_wait(ctx), RD_ERR_DEVICE);
    ck_assert_msg(strstr(rd_error_text(ctx), "rd_wait: cuStreamSynchronize: 700"), "%s",
                  rd_error_text(ctx));
    setenv("RDIM_FAKE_STRICT", "0", 1); /* what a dead context holds is lost */
    fflush(stdout);
    _exit(0);
}
END_TEST

/* Memory that runs have left is waited for before it is refused. */
START_TEST(full_meanwhile)
{
    rd_array given = uploaded(), first = left(rd_neg(rd_leaf(ctx, &given))), second;

    fake_break(fake_cuda, "cuMemAlloc_v2", 1, 2);
    second = left(rd_sum(rd_neg(rd_leaf(ctx, &given)), RD_ALL));
    fake_break(fake_cuda, "cuMemAlloc_v2", 0, 0);
    IS_OK(rd_wait(ctx));
    rd_array_free(&first);
    rd_array_free(&second);
    rd_array_free(&given);
}
END_TEST

/* Without a GPU in it an evaluation is done when it returns. */
START_TEST(on_the_cpu)
{
    IS_OK(rd_eval_many(
        ctx, RD_RESULTS({ rd_neg(rd_wrap(ctx, x, RD_SHAPE(N))), RD_INTO(y, RD_SHAPE(N)) }),
        &async));
    ck_assert(y[3] == -x[3]);
    IS_OK(rd_wait(ctx));
    ck_assert_int_eq(rd_wait(NULL), rd_error(NULL));
}
END_TEST

/* The context goes before anybody has waited. */
START_TEST(never_waited_for)
{
    rd_array given = uploaded(), negated = left(rd_neg(rd_leaf(ctx, &given)));

    rd_array_free(&negated);
    rd_array_free(&given);
}
END_TEST

static void add(TCase *tc)
{
    const TTest *const tests[] = { goes_on_by_itself,
                                   long_sums,
                                   freed_meanwhile,
                                   lent_memory,
                                   given_away,
                                   results_here_are_waited_for,
                                   in_callers_stream,
                                   plans,
                                   many,
                                   index_outside,
                                   index_outside_long_ago,
                                   warnings,
                                   without_events,
                                   full_meanwhile,
                                   never_waited_for,
                                   on_the_cpu,
                                   lost_meanwhile };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
}

int main(void)
{
    return fake_run("async", add);
}

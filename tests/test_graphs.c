/* test_graphs.c - runs of plans whose stages are recorded, and asked again by one call of the driver, on
 * the fake one. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define IS_OK(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

enum { ROWS = 20, COLUMNS = 150, N = ROWS * COLUMNS };

static float   x[N], want[N], found[N];
static rd_ctx *ctx;

/* ---- A plan of several stages ---------------------------------------------------------------- */
/* Columns less their means, and rows of that over their largest, which have loops of their own. */
static rd_expr *centred(rd_expr *e)
{
    rd_expr *c = rd_sub(e, rd_mean(e, RD_KEEP(0)));

    return rd_div(c, rd_max(rd_abs(c), RD_KEEP(1)));
}

static rd_array layout(int32_t device)
{
    return (rd_array){ .type = RD_F32, .shape = RD_SHAPE(ROWS, COLUMNS), .device = device };
}

static rd_plan *plan_of(int32_t device, const rd_eval_opts *opts)
{
    rd_array where = layout(device);
    rd_expr *in    = rd_input(ctx, "x", &where);
    rd_plan *plan  = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ centred(in), &where }), opts);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    return plan;
}

/* ---- Data ------------------------------------------------------------------------------------ */
static rd_array there(void)
{
    rd_array array = { .device = RD_CUDA(0) };

    IS_OK(rd_eval(ctx, rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS)), &array));
    return array;
}

/* Other numbers, here and where the array is. */
static void renew(const rd_array *to, int seed)
{
    rd_array out = *to;

    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 7919LL + seed * 31LL) % 1009) / 31;
    out.owner = NULL;
    if (out.data)
        IS_OK(rd_eval(ctx, rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS)), &out));
}

/* It is what the CPU makes of x. */
static void is_right_here(const float *y, const char *what)
{
    const rd_eval_opts cpu = { .backend = RD_BACKEND_CPU };

    IS_OK(rd_eval_many(ctx,
                       RD_RESULTS({ centred(rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS))),
                                    RD_INTO(want, RD_SHAPE(ROWS, COLUMNS)) }),
                       &cpu));
    ck_assert_msg(memcmp(want, y, sizeof want) == 0, "%s", what);
}

static void is_right(const rd_array *y, const char *what)
{
    rd_array own = *y;

    own.owner = NULL;
    IS_OK(rd_eval(ctx, rd_leaf(ctx, &own), RD_INTO(found, RD_SHAPE(ROWS, COLUMNS))));
    is_right_here(found, what);
}

static rd_status run(const rd_plan *plan, const void *from, void *to)
{
    return rd_plan_run(plan, (const void *[]){ from }, (void *[]){ to });
}

/* ---- What the driver was asked --------------------------------------------------------------- */
static int launches(void)
{
    return fake_calls_of(fake_cuda, "cuLaunchKernel");
}

static int replays(void)
{
    return fake_calls_of(fake_cuda, "cuGraphLaunch");
}

static int recordings(void)
{
    return fake_calls_of(fake_cuda, "cuStreamEndCapture");
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

/* ---- Tests ----------------------------------------------------------------------------------- */
/* The first run is as ever, the second one is recorded, all are asked by one call from then on. */
START_TEST(same_addresses)
{
    rd_array a = there(), b = there();
    rd_plan *plan  = plan_of(RD_CUDA(0), NULL);
    int      asked = 0;

    for (int k = 0; k < 5; k++) {
        renew(&a, k);
        const int before = launches();

        IS_OK(run(plan, a.data, b.data));
        if (k == 0)
            asked = launches() - before;
        ck_assert_int_eq(launches() - before, k < 2 ? asked : 0);
        ck_assert_int_eq(replays(), k);
        is_right(&b, "the same");
    }
    ck_assert_int_gt(asked, 1);
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* There and back by turns: both are recorded. */
START_TEST(other_addresses)
{
    rd_array a = there(), b = there(), c = there();
    rd_plan *plan = plan_of(RD_CUDA(0), NULL);

    for (int k = 0; k < 8; k++) {
        const rd_array *const from = k % 2 ? &b : &a, *const to = k % 2 ? &a : &b;

        renew(from, k);
        IS_OK(run(plan, from->data, to->data));
        is_right(to, "by turns");
        ck_assert_int_eq(replays(), k < 2 ? 0 : k - 1);
    }
    ck_assert_int_eq(recordings(), 2);
    for (int k = 0; k < 9; k++) { /* each in the place of the one that was used longest ago */
        const rd_array *const to = (const rd_array *[]){ &c, &b, &a }[k / 3]; /* a: in place */

        renew(&a, k);
        IS_OK(run(plan, a.data, to->data));
        is_right(to, "others");
    }
    ck_assert_int_eq(recordings(), 5);
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
    rd_array_free(&c);
}
END_TEST

/* Addresses in this process's memory may be others each time. */
START_TEST(data_here)
{
    const rd_array nowhere = { 0 };
    rd_plan       *plan    = plan_of(0, &(rd_eval_opts){ .backend = RD_BACKEND_CUDA });
    static float   from[3][N], to[3][N];

    for (int k = 0; k < 7; k++) {
        renew(&nowhere, k);
        memcpy(from[k % 3], x, sizeof x);
        IS_OK(run(plan, from[k % 3], to[(k + k / 3) % 3]));
        is_right_here(to[(k + k / 3) % 3], "here");
        ck_assert_int_eq(replays(), k);
    }
    ck_assert_int_eq(recordings(), 1);
    rd_plan_free(plan);
}
END_TEST

/* Evaluations, whose plan the context keeps. */
START_TEST(kept_plan)
{
    rd_array a = there(), b = there(), out = b;

    out.owner = NULL;
    for (int k = 0; k < 4; k++) {
        renew(&a, k);
        rd_array in = a;

        in.owner = NULL;
        IS_OK(rd_eval(ctx, centred(rd_leaf(ctx, &in)), &out));
        ck_assert_int_eq(replays(), k);
        is_right(&b, "kept");
    }
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* ---- Plans that go without ------------------------------------------------------------------- */
static const rd_array *unused(rd_array *a)
{
    *a = layout(RD_CUDA(0));
    return a;
}

static rd_expr *one_launch(rd_expr *e)
{
    return rd_add(e, e);
}

/* What an index is told of is read after each run. */
static rd_expr *reports(rd_expr *e)
{
    static int32_t at[ROWS] = { 3, 2, 1 };

    return centred(rd_take(e, 0, rd_wrap(ctx, at, RD_SHAPE(ROWS))));
}

static rd_expr *by_library(rd_expr *e)
{
    return rd_matmul(rd_matmul(e, rd_transpose(e)), centred(e));
}

static const struct {
    const char *what;
    rd_expr *(*expr)(rd_expr *e);
    rd_eval_opts opts;
    const char  *graphs, *memory;
} without[] = {
    { "not asked for", centred, { 0 }, NULL, NULL },
    { "0", centred, { 0 }, "0", NULL },
    { "left to go on", centred, { .async = true }, "1", NULL },
    { "one launch", one_launch, { 0 }, "1", NULL },
    { "told of indices", reports, { 0 }, "1", NULL },
    { "by a library", by_library, { 0 }, "1", NULL },
    { "arrays too large to be held", centred, { 0 }, "1", "1000000" },
};

START_TEST(goes_without)
{
    if (without[_i].graphs)
        setenv("RDIM_CUDA_GRAPHS", without[_i].graphs, 1);
    else
        unsetenv("RDIM_CUDA_GRAPHS");
    if (without[_i].memory)
        setenv("RDIM_FAKE_MEMORY", without[_i].memory, 1);
    rd_array where, a = there(), b = there();
    rd_expr *in   = rd_input(ctx, "x", unused(&where));
    rd_plan *plan = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ without[_i].expr(in), &where }),
                                &without[_i].opts);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    for (int k = 0; k < 3; k++) {
        renew(&a, k);
        IS_OK(run(plan, a.data, b.data));
        IS_OK(rd_wait(ctx));
        if (without[_i].expr == centred)
            is_right(&b, without[_i].what);
    }
    ck_assert_msg(replays() == 0, "%s", without[_i].what);
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* A driver that has none: plans are run as ever. */
START_TEST(old_driver)
{
    rd_array a, b;
    rd_plan *plan;

    setenv("RDIM_LIBCUDA", fake_old_cuda, 1);
    a = there(), b = there();
    plan = plan_of(RD_CUDA(0), NULL);
    for (int k = 0; k < 4; k++) {
        renew(&a, k);
        IS_OK(run(plan, a.data, b.data));
        is_right(&b, "an old driver");
    }
    ck_assert_int_eq(fake_calls_of(fake_old_cuda, "cuStreamBeginCapture_v2"), 0);
    ck_assert_int_gt(fake_calls_of(fake_old_cuda, "cuLaunchKernel"), 4);
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* ---- What fails ------------------------------------------------------------------------------ */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters)   #name,
#define RD_OPTIONAL(name, parameters) RD_DRIVER(name, parameters)
#include "kernels/cuda/api.def"
};
enum { RUNS = 2, CALLS = 3, OF_FAILURES = SANITIZED ? 5 : 1 };

/* Each function of the driver fails at one of its calls, in the run that is recorded or in the next
 * one: it is done without, or it is told, once.  The next run works; nothing is lost. */
START_TEST(driver_fails)
{
    const int         place = OF_FAILURES * _i;
    const char *const name  = functions[place / (RUNS * CALLS)];
    const int         at = 1 + place / CALLS % RUNS, call = 1 + place % CALLS;

    rd_array a = there(), b = there();
    rd_plan *plan = plan_of(RD_CUDA(0), NULL);

    for (int k = 0; k < 4; k++) {
        renew(&a, k);
        if (k == at)
            fake_break(fake_cuda, name, call, 1);
        const bool done = run(plan, a.data, b.data) == RD_OK;

        fake_break(fake_cuda, name, 0, 0);
        if (!done) {
            ck_assert_msg(k == at && rd_error(ctx) == RD_ERR_DEVICE &&
                              strstr(rd_error_text(ctx), "rd_plan_run: cu") &&
                              strstr(rd_error_text(ctx), ": 1, "),
                          "%s, call %d of run %d: %s", name, call, k, rd_error_text(ctx));
            rd_error_clear(ctx);
            IS_OK(run(plan, a.data, b.data));
        }
        is_right(&b, name);
    }
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* What is for graphs alone is always done without. */
static const char *const of_graphs[] = {
#define RD_OPTIONAL(name, parameters) #name,
#include "kernels/cuda/api.def"
};

START_TEST(graphs_fail)
{
    rd_array a = there(), b = there();
    rd_plan *plan = plan_of(RD_CUDA(0), NULL);

    fake_break(fake_cuda, of_graphs[_i], 1, 1);
    for (int k = 0; k < 4; k++) {
        renew(&a, k);
        IS_OK(run(plan, a.data, b.data));
        is_right(&b, of_graphs[_i]);
    }
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* A GPU that fails for good in a recorded run: it is told, and then it is dead. */
START_TEST(dies)
{
    enum { LAUNCH_FAILED = 719 };
    rd_array a = there(), b = there();
    rd_plan *plan = plan_of(RD_CUDA(0), NULL);

    for (int k = 0; k < 3; k++)
        IS_OK(run(plan, a.data, b.data));
    fake_break(fake_cuda, "cuGraphLaunch", 1, LAUNCH_FAILED);
    for (int k = 0; k < 2; k++) {
        ck_assert(run(plan, a.data, b.data) == RD_ERR_DEVICE);
        ck_assert_msg(strstr(rd_error_text(ctx), "cuGraphLaunch: 719, "), "%s", rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
    end();
    setenv("RDIM_FAKE_STRICT", "0", 1); /* what a dead context holds is lost */
    fflush(stdout);
    _Exit(0);
}
END_TEST

/* ---- Several threads, and the end ------------------------------------------------------------ */
typedef struct work {
    const rd_plan *plan;
    const void    *from;
    void          *to;
} work;

static void *work_on(void *of)
{
    const work *const w = of;

    for (int k = 0; k < 6; k++)
        if (run(w->plan, w->from, w->to) != RD_OK)
            return of;
    return NULL;
}

/* Of runs at the same time some go without, or are recorded anew. */
START_TEST(threads)
{
    enum { THREADS_HERE = 3 };
    rd_array  a    = there(), y[THREADS_HERE];
    rd_plan  *plan = plan_of(RD_CUDA(0), NULL);
    work      all[THREADS_HERE];
    pthread_t thread[THREADS_HERE];

    renew(&a, 1);
    for (int i = 0; i < THREADS_HERE; i++) {
        y[i]   = there();
        all[i] = (work){ plan, a.data, y[i].data };
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work_on, &all[i]), 0);
    }
    for (int i = 0; i < THREADS_HERE; i++) {
        void *failed;

        pthread_join(thread[i], &failed);
        ck_assert_msg(!failed, "%s", rd_error_text(ctx));
    }
    for (int i = 0; i < THREADS_HERE; i++) {
        is_right(&y[i], "threads");
        rd_array_free(&y[i]);
    }
    rd_plan_free(plan);
    rd_array_free(&a);
}
END_TEST

/* The context frees its plans. */
START_TEST(never_freed)
{
    rd_array a = there(), b = there();
    rd_plan *plan = plan_of(RD_CUDA(0), NULL);

    for (int k = 0; k < 3; k++)
        IS_OK(run(plan, a.data, b.data));
    ck_assert_int_eq(replays(), 2);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

/* Nothing is done before somebody waits. */
static void begin(void)
{
    setenv("RDIM_CUDA_GRAPHS", "1", 1);
    setenv("RDIM_FAKE_LAZY", "1", 1);
    fake_use();
    ctx = rd_ctx_new(NULL);
}

static void add(TCase *tc)
{
    const TTest *const tests[] = { same_addresses, other_addresses, data_here,
                                   kept_plan,      old_driver,      dies,
                                   threads,        never_freed };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
    tcase_add_loop_test(tc, goes_without, 0, COUNT(without));
    tcase_add_loop_test(tc, graphs_fail, 0, COUNT(of_graphs));
    if (!THREAD_SANITIZED) /* one thread each */
        tcase_add_loop_test(tc, driver_fails, 0,
                            (COUNT(functions) * RUNS * CALLS + OF_FAILURES - 1) / OF_FAILURES);
}

int main(void)
{
    return fake_run("graphs", add);
}

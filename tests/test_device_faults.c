/* test_device_faults.c - memory of this process that fails at each allocation of an evaluation on a GPU,
 * on several, and by a plan that runs again, and functions of the driver that fail while stages visit one
 * of several GPUs: on the fake driver.  There are RD_ERR_MEMORY or RD_ERR_DEVICE with a sentence, or the
 * bits that there are with memory; and no leak. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "eval/pool.h"
#include "expr/ctx.h"
#include "fake_gpu.h"
#include "faulty_heap.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

enum { ROWS = 20, COLUMNS = 150, N = ROWS * COLUMNS };

static float x[N], y[2 * N], want[2 * N];

/* ---- Evaluations ----------------------------------------------------------------------------- */
static const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

/* Stages of which one has an array between them. */
static rd_expr *centred(rd_expr *e)
{
    rd_expr *const c = rd_sub(e, rd_mean(e, RD_KEEP(0)));

    return rd_div(c, rd_max(rd_abs(c), RD_KEEP(1)));
}

static rd_expr *leaf(rd_ctx *ctx)
{
    return rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS));
}

static rd_status evaluated(rd_ctx *ctx)
{
    return rd_eval_many(
        ctx, RD_RESULTS({ centred(leaf(ctx)), RD_INTO(y, RD_SHAPE(ROWS, COLUMNS)) }), &cuda);
}

/* The result comes back to memory of the run, and from there to its places. */
static rd_status with_gaps(rd_ctx *ctx)
{
    rd_array out = { .data    = y,
                     .type    = RD_F32,
                     .shape   = RD_SHAPE(ROWS, COLUMNS),
                     .strides = RD_STRIDES(2 * COLUMNS, 2) };

    return rd_eval_many(ctx, RD_RESULTS({ centred(leaf(ctx)), &out }), &cuda);
}

static rd_status over_a_leaf(rd_ctx *ctx)
{
    rd_expr *const e = rd_wrap(ctx, y, RD_SHAPE(N));

    memcpy(y, x, sizeof x);
    return rd_eval_many(
        ctx, RD_RESULTS({ rd_flip(rd_neg(e), RD_DIMS(0)), RD_INTO(y, RD_SHAPE(N)) }), &cuda);
}

/* The second run is recorded, the third one replayed. */
static rd_status planned(rd_ctx *ctx)
{
    rd_array       there = { .device = RD_CUDA(0) }, back = { .device = RD_CUDA(0) };
    const rd_array as_it = { .type   = RD_F32,
                             .shape  = RD_SHAPE(ROWS, COLUMNS),
                             .device = RD_CUDA(0) };
    rd_array       to    = as_it;
    rd_plan       *plan  = NULL;

    if (rd_eval(ctx, leaf(ctx), &there) == RD_OK && rd_eval(ctx, leaf(ctx), &back) == RD_OK) {
        rd_expr *const in = rd_input(ctx, "x", &as_it);

        plan = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ centred(in), &to }), NULL);
    }
    for (int k = 0; k < 3 && plan && rd_error(ctx) == RD_OK; k++)
        rd_plan_run(plan, (const void *[]){ there.data }, (void *[]){ back.data });
    rd_plan_free(plan);
    if (rd_error(ctx) == RD_OK) {
        rd_array seen = back;

        seen.owner = NULL;
        rd_eval(ctx, rd_leaf(ctx, &seen), RD_INTO(y, RD_SHAPE(ROWS, COLUMNS)));
    }
    rd_array_free(&there);
    rd_array_free(&back);
    return rd_error(ctx);
}

static const struct {
    const char *what;
    rd_status (*does)(rd_ctx *ctx);
    int gpus;
} works[] = {
    { "an evaluation", evaluated, 1 },
    { "a result with gaps", with_gaps, 1 },
    { "a result over a leaf", over_a_leaf, 1 },
    { "a plan", planned, 1 },
    { "visits", evaluated, 2 },
    { "visits, with gaps", with_gaps, 2 },
};

/* ---- Failures -------------------------------------------------------------------------------- */
static void begin(void)
{
    fake_use();
    setenv("RDIM_FAKE_DEVICES", "2", 1);
    rd_arena_chunks_of(0);
    rd_pool_pieces_apart();
    for (int k = 0; k < N; k++)
        x[k] = (float)(k * 7919LL % 1009) / 31 - 10;
}

static rd_ctx *new_ctx(faulty_heap *h, int work)
{
    return faulty_heap_ctx(h, works[work].gpus > 1 ? RD_CUDA_ALL : 0);
}

/* How many allocations there were behind the context's own. */
static long long run(int work, long long k, bool lasting)
{
    faulty_heap     h    = { .fail_at = -1 };
    rd_ctx *const   ctx  = new_ctx(&h, work);
    const long long base = atomic_load(&h.calls);

    memset(y, 0, sizeof y);
    h.fail_at              = k < 0 ? -1 : base + k;
    h.lasting              = lasting;
    const rd_status status = works[work].does(ctx);
    const long long n      = atomic_load(&h.calls) - base;

    h.fail_at = -1;
    ck_assert_msg(status == RD_OK || (k >= 0 && status == RD_ERR_MEMORY), "%s, allocation %lld: %s",
                  works[work].what, k, rd_error_text(ctx));
    ck_assert_msg(status == RD_OK || strlen(rd_error_text(ctx)) > 10, "%s, allocation %lld",
                  works[work].what, k);
    if (k < 0)
        memcpy(want, y, sizeof y);
    ck_assert_msg(status != RD_OK || memcmp(want, y, sizeof y) == 0,
                  "%s, allocation %lld: another result", works[work].what, k);
    rd_error_clear(ctx);
    ck_assert_msg(works[work].does(ctx) == RD_OK && memcmp(want, y, sizeof y) == 0,
                  "%s, after allocation %lld: %s", works[work].what, k, rd_error_text(ctx));
    rd_ctx_free(ctx);
    ck_assert_msg(atomic_load(&h.live) == 0, "%s, allocation %lld: %lld leak", works[work].what, k,
                  (long long)atomic_load(&h.live));
    return n;
}

START_TEST(no_memory_here)
{
    const int       part = suite_part(SANITIZED ? 16 : 4);
    const long long n    = run(_i / 2, -1, false);

    for (long long k = _i % part; k < n; k += part)
        run(_i / 2, k, _i % 2);
    rd_gpu_close_all();
}
END_TEST

/* What a stage finds wrong where it runs has the CPU's sentence. */
START_TEST(index_outside)
{
    static const int64_t at[5] = { 0, 3, ROWS, 1, -ROWS - 1 };
    faulty_heap          h     = { .fail_at = -1 };
    char                 said[300];

    for (int way = 0; way < 3; way++) {
        const rd_eval_opts opts = { .backend = way ? RD_BACKEND_CUDA : RD_BACKEND_CPU };
        rd_ctx *const      ctx  = faulty_heap_ctx(&h, way == 2 ? RD_CUDA_ALL : 0);
        rd_expr *const     e    = rd_take(centred(leaf(ctx)), 0, rd_wrap(ctx, at, RD_SHAPE(5)));

        ck_assert_int_eq(
            rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(y, RD_SHAPE(5, COLUMNS)) }), &opts),
            RD_ERR_AXIS);
        if (way == 0)
            snprintf(said, sizeof said, "%s", rd_error_text(ctx));
        ck_assert_str_eq(rd_error_text(ctx), said);
        rd_ctx_free(ctx);
    }
    rd_gpu_close_all();
    ck_assert(atomic_load(&h.live) == 0);
}
END_TEST

static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};
enum { CALLS = 2 };

/* Of several GPUs one is visited, and its driver fails. */
START_TEST(driver_fails)
{
    const char *const name = functions[_i / CALLS];
    faulty_heap       h    = { .fail_at = -1 };

    if (_i % (SANITIZED ? 5 : 1))
        return;
    rd_ctx *const ctx = faulty_heap_ctx(&h, RD_CUDA_ALL);

    fake_break(fake_cuda, name, 1 + _i % CALLS, 1);
    if (evaluated(ctx) != RD_OK)
        ck_assert_msg(rd_error(ctx) == RD_ERR_DEVICE && strstr(rd_error_text(ctx), ": 1, "),
                      "%s: %s", name, rd_error_text(ctx));
    fake_break(fake_cuda, name, 0, 0);
    rd_error_clear(ctx);
    if (rd_device_count() > 0)
        ck_assert_msg(evaluated(ctx) == RD_OK, "%s: %s", name, rd_error_text(ctx));
    rd_ctx_free(ctx);
    rd_gpu_close_all();
    ck_assert(atomic_load(&h.live) == 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_loop_test(tc, no_memory_here, 0, 2 * COUNT(works));
    tcase_add_test(tc, index_outside);
    tcase_add_loop_test(tc, driver_fails, 0, COUNT(functions) * CALLS);
}

int main(void)
{
    return fake_run("device_faults", add);
}

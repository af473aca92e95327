/* test_windows.c - data of this process's memory that a GPU has no room for, on the fake driver:
 * the CPU's bits, by parts; and what cannot be had so. */
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

enum { MEMORY = 4000000 };

/* ---- Programs -------------------------------------------------------------------------------- */
/* Some 12 MB each. */
static const gpu_size sizes[] = { { 24001, 129 }, { 3000, 800 }, { 1, 3000003 }, { 64, 47000 } };

/* A block of the tree of 64 rows is more than there is room for. */
enum { LAST = 1 << 3, APART = 1 << 0 | 1 << 1 | 1 << 3 };

static const struct {
    const char *program;
    int         refused; /* at which sizes, as bits */
} programs[] = {
    { "sum of all", 0 },
    { "sum of rows", 0 },
    { "sum of columns", LAST },
    { "max of rows", 0 },
    { "argmax of rows", 0 },
    { "argmin of columns", LAST },
    { "var of rows", 0 },
    { "var of columns", LAST },
    { "mean where", 0 },
    { "logsumexp of rows", 0 },
    { "logsumexp of columns", LAST },
    { "dot", APART }, /* rows from both ends */
    { "softmax", LAST },
    { "layer norm", 0 },
    { "centred columns", LAST },
    { "map", 0 },
    { "map exp", APART }, /* the first row, and any */
    { "map to f16", 0 },
    { "var of channels", LAST },
    { "rows and columns", LAST },
    { "siblings", 0 },
    { "standardised", 0 },
    { "softmax of columns", LAST },
};

/* As late as can be, or at random. */
static void use_lazy(int seed)
{
    char lazy[16];

    snprintf(lazy, sizeof lazy, "%d", seed % 2 ? 1 : 2 + seed);
    setenv("RDIM_FAKE_LAZY", lazy, 1);
}

START_TEST(same_bits)
{
    const int k = _i / COUNT(sizes), size = _i % COUNT(sizes);
    rd_text   report = { 0 };
    bool      same;

    if ((k + size) % (SANITIZED ? COUNT(sizes) : suite_part(COUNT(sizes))) || (SANITIZED && k % 7))
        return;
    setenv("RDIM_CUDA_THREADS", "4096", 1);
    fake_use_order(_i % FAKE_ORDERS);
    use_lazy(k);
    same = gpu_same_bits(&(gpu_case){ gpu_program_of(programs[k].program), RD_F32, sizes[size].rows,
                                      sizes[size].columns, 0, true },
                         &report);
    ck_assert_msg(same == !(programs[k].refused >> size & 1), "%s of %d x %d: %s",
                  programs[k].program, (int)sizes[size].rows, (int)sizes[size].columns,
                  same ? "not refused" : report.at);
    ck_assert(same || strstr(report.at, "out of memory"));
    rd_text_free(&report);
}
END_TEST

/* Short rows, as many as do not fit: 128 of them are one block of threads. */
START_TEST(short_rows)
{
    static const struct {
        const char *program;
        int64_t     columns;
    } cases[] = { { "sum of rows", 10 },    { "softmax", 10 },       { "scan of rows", 33 },
                  { "sums by threes", 12 }, { "steps", 7 },          { "softmax of parts", 10 },
                  { "every other row", 9 }, { "rows of blocks", 10 } };

    for (int k = _i; k < COUNT(cases); k += 4) {
        rd_text report = { 0 };

        setenv("RDIM_CUDA_THREADS", "4096", 1);
        fake_use_order(k);
        ck_assert_msg(
            gpu_same_bits(&(gpu_case){ gpu_program_of(cases[k].program), RD_F32,
                                       3000001 / cases[k].columns, cases[k].columns, 0, true },
                          &report),
            "%s", report.at);
        rd_text_free(&report);
    }
}
END_TEST

/* ---- Arrays as they come --------------------------------------------------------------------- */
enum { N = 2000000 };

static float   x[N], y[N], want[N];
static rd_ctx *ctx;

static void same_on_both(rd_expr *e, rd_shape shape, float *found)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA, .deterministic = true },
                       cpu  = { .backend = RD_BACKEND_CPU, .deterministic = true };
    size_t n                = sizeof(float);

    for (int a = 0; a < shape.n; a++)
        n *= (size_t)shape.at[a];
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(want, shape) }), &cpu));
    IS_OK(rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(found, shape) }), &cuda));
    ck_assert(memcmp(want, found, n) == 0);
}

/* They do not begin at vectors; with two of them; with one that all blocks read; a result that is
 * as large; the first axis fastest. */
START_TEST(arrays)
{
    rd_expr *a, *b;

    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1013) / 7 - 50;
    a = rd_wrap(ctx, x + 1, RD_SHAPE(N - 1));
    same_on_both(rd_sum(a, RD_ALL), RD_SCALAR, y);
    same_on_both(rd_mul(a, rd_num(ctx, 3)), RD_SHAPE(N - 1), y + 1);
    b = rd_slice(rd_wrap(ctx, x, RD_SHAPE(N)), "1:");
    same_on_both(rd_sub(rd_mul(a, a), b), RD_SHAPE(N - 1), y);
    a = rd_wrap(ctx, x, RD_SHAPE(N / 500, 500));
    b = rd_wrap(ctx, y, RD_SHAPE(500));
    same_on_both(rd_sum(rd_mul(a, b), RD_DIMS(1)), RD_SHAPE(N / 500), y + 500);
    rd_array columns = { .data = x, .type = RD_F32, .order = 1, .shape = RD_SHAPE(1000, 2000) };
    same_on_both(rd_max(rd_leaf(ctx, &columns), RD_DIMS(0)), RD_SHAPE(2000), y);
    same_on_both(rd_var(rd_leaf(ctx, &columns), RD_DIMS(1)), RD_SHAPE(1000), y);
}
END_TEST

/* What is said of it before; of data that fit nothing is. */
START_TEST(explained)
{
    const rd_eval_opts cuda  = { .backend = RD_BACKEND_CUDA };
    rd_expr           *large = rd_wrap(ctx, x, RD_SHAPE(2000, 1000)),
            *small           = rd_wrap(ctx, x, RD_SHAPE(200, 1000));
    const char *text         = rd_explain(ctx, RD_RESULTS({ rd_sum(large, RD_ALL), NULL }), &cuda);

    ck_assert_msg(text && strstr(text, "stage 0 goes by blocks: 0.00745 GiB that it takes lie "
                                       "here; data are 0.00745 GiB in all, the GPU has room for "),
                  "%s", text ? text : rd_error_text(ctx));
    text = rd_explain(ctx, RD_RESULTS({ rd_transpose(large), NULL }), &cuda);
    ck_assert_msg(text && strstr(text, "stage 0 wants its data there at once: 0.0149 GiB"), "%s",
                  text ? text : rd_error_text(ctx));
    text = rd_explain(ctx, RD_RESULTS({ rd_sum(small, RD_ALL), NULL }), &cuda);
    ck_assert_msg(text && !strstr(text, "stage 0 goes by") && !strstr(text, "stage 0 wants"), "%s",
                  text ? text : rd_error_text(ctx));
}
END_TEST

/* It is read where it is written: a block must not see another's result. */
START_TEST(in_place)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    for (int i = 0; i < N; i++)
        y[i] = (float)i;
    rd_eval_many(
        ctx,
        RD_RESULTS({ rd_flip(rd_wrap(ctx, y, RD_SHAPE(N)), RD_DIMS(0)), RD_INTO(y, RD_SHAPE(N)) }),
        &cuda);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_MEMORY);
    rd_error_clear(ctx);
}
END_TEST

/* The later result is what stays where two overlap; by blocks they would come in turns. */
START_TEST(results_overlap)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    rd_expr           *a    = rd_wrap(ctx, x, RD_SHAPE(N - 1000));

    rd_eval_many(ctx,
                 RD_RESULTS({ rd_neg(a), RD_INTO(y, RD_SHAPE(N - 1000)) },
                            { rd_exp(a), RD_INTO(y + 1000, RD_SHAPE(N - 1000)) }),
                 &cuda);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_MEMORY);
    rd_error_clear(ctx);
}
END_TEST

/* ---- Beside each other ----------------------------------------------------------------------- */
/* As much up as down, in vectors. */
static rd_status move_all(void)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    return rd_eval_many(
        ctx, RD_RESULTS({ rd_neg(rd_wrap(ctx, x, RD_SHAPE(N))), RD_INTO(y, RD_SHAPE(N)) }), &cuda);
}

static double part_of_time(void)
{
    const fake_times before = fake_times_now();

    IS_OK(move_all());
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == -x[i]);
    return (double)(fake_times_now().taken - before.taken) /
           (double)(fake_times_now().busy - before.busy);
}

static void number_all(void)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1013) + 1;
}

/* Where a kernel takes as long as either of its copies, the three go on at the same time: a third
 * of the time that they take one behind the other, and what the first and the last block add. */
START_TEST(copies_beside_kernels)
{
    setenv("RDIM_FAKE_KERNEL", "250000", 1); /* as half a block's windows */
    setenv("RDIM_FAKE_LAZY", "1", 1);
    number_all();
    const double part = part_of_time();

    ck_assert_msg(part > 0.32 && part < 0.45, "%.3f", part);
}
END_TEST

/* Where one set of windows fits only, its copies run beside each other at most. */
START_TEST(one_set)
{
    enum { HELD = 3100000 };
    rd_array held = { .device = RD_CUDA(0) };

    IS_OK(rd_eval(ctx, rd_broadcast(rd_cast(rd_num(ctx, 1), RD_U8), RD_SHAPE(HELD)), &held));
    setenv("RDIM_FAKE_KERNEL", "250000", 1);
    setenv("RDIM_FAKE_LAZY", "1", 1);
    number_all();
    const double part = part_of_time();

    ck_assert_msg(part > 0.6 && part < 0.8, "%.3f", part);
    rd_array_free(&held);
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};
static const int calls[] = { 1, 2, 3, 4, 5, 6, 8, 11, 16, 23 };

/* One of so many failures: a test that has nothing to do is a process, too. */
enum { FAILURES = SANITIZED ? 3 : 1 };

/* A function of the driver fails at one of its calls: that is said, or the work is done without;
 * nothing is lost, and the next one works. */
START_TEST(driver_fails)
{
    const int         way  = _i * FAILURES;
    const char *const name = functions[way / COUNT(calls)];
    const int         call = calls[way % COUNT(calls)];

    if (call > 1 && _i % suite_part(COUNT(calls)))
        return;
    use_lazy(way);
    number_all();
    fake_break(fake_cuda, name, call, 1);
    if (move_all() != RD_OK) {
        ck_assert_msg(rd_error(ctx) == RD_ERR_DEVICE && strstr(rd_error_text(ctx), ": 1, "),
                      "%s, call %d: %s", name, call, rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    fake_break(fake_cuda, name, 0, 0);
    if (rd_device_count() == 0)
        return;
    IS_OK(move_all());
    for (int i = 0; i < N; i++)
        ck_assert(y[i] == -x[i]);
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

static rd_status told(teller *t)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA, .progress = note, .user = t };
    rd_expr           *a    = rd_wrap(ctx, x, RD_SHAPE(N));

    return rd_eval_many(
        ctx, RD_RESULTS({ rd_sum(rd_tanh(rd_exp(rd_sin(a))), RD_ALL), RD_INTO(y, RD_SCALAR) }),
        &cuda);
}

START_TEST(progress)
{
    teller all = { 0 }, first = { .most = 1 };

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

/* Between two blocks. */
START_TEST(cancelled)
{
    teller t = { 0 };

    rd_cancel(ctx);
    ck_assert_int_eq(told(&t), RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    IS_OK(told(&t));
}
END_TEST

static void begin(void)
{
    char memory[24];

    snprintf(memory, sizeof memory, "%d", (int)MEMORY);
    setenv("RDIM_FAKE_MEMORY", memory, 1);
    setenv("RDIM_CUDA_THREADS", "1024", 1);
    fake_use();
    ctx = rd_ctx_new(NULL);
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

static void add(TCase *tc)
{
    const TTest *const tests[] = {
        arrays,  explained, in_place, results_overlap, copies_beside_kernels,
        one_set, progress,  cancelled
    };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
    tcase_add_loop_test(tc, driver_fails, 0, COUNT(functions) * COUNT(calls) / FAILURES);
    tcase_add_loop_test(tc, same_bits, 0, COUNT(programs) * COUNT(sizes));
    tcase_add_loop_test(tc, short_rows, 0, 4);
}

int main(void)
{
    return fake_run("windows", add);
}

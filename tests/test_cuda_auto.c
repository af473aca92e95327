/* test_cuda_auto.c - when AUTO takes a GPU for data of this process's memory: by rates that are
 * given, or that are measured on the fake driver. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "eval/auto.h"
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/rates.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static rd_ctx *ctx;

static void begin(void)
{
    fake_use();
    setenv("RDIM_FAKE_MEMORY", "134217728", 1);
    ctx = rd_ctx_new(NULL);
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

/* ---- The arithmetic -------------------------------------------------------------------------- */
/* About an H100 and 16 cores; one of 6 GiB for games, whose doubles are slow; one behind a slow
 * bus. */
static const rd_rates large = { .key        = 1,
                                .device     = { .up      = 25e9,
                                                .down    = 25e9,
                                                .memory  = 3e12,
                                                .floats  = 3e13,
                                                .doubles = 1.5e13,
                                                .room    = 80e9 },
                                .memory     = 60e9,
                                .operations = 150e9 },
                      game  = { .key        = 1,
                                .device     = { .up      = 12e9,
                                                .down    = 12e9,
                                                .memory  = 2e11,
                                                .floats  = 5e12,
                                                .doubles = 8e10,
                                                .room    = 6e9 },
                                .memory     = 40e9,
                                .operations = 60e9 },
                      far   = { .key        = 1,
                                .device     = { .up      = 1e7,
                                                .down    = 1e7,
                                                .memory  = 3e12,
                                                .floats  = 3e13,
                                                .doubles = 1.5e13,
                                                .room    = 80e9 },
                                .memory     = 60e9,
                                .operations = 150e9 };

static const struct {
    const char     *program;
    rd_dtype        type;
    int64_t         rows, columns;
    const rd_rates *rates;
    bool            takes;
} verdicts[] = {
    { "gauss", RD_F32, 20000, 3, &large, true },         /* much arithmetic */
    { "gauss", RD_F32, 20000, 3, &game, true },          /* also there      */
    { "gauss", RD_F32, 40000, 3, &far, true },           /* little is copied, even there */
    { "gauss", RD_F32, 1000, 3, &large, false },         /* less than 2 ms */
    { "gauss", RD_F64, 20000, 3, &large, true },         /* ... */
    { "gauss", RD_F64, 20000, 3, &game, false },         /* doubles are slow */
    { "sum of all", RD_F32, 8192, 8192, &large, false }, /* to copy takes longer than to add */
    { "softmax", RD_F32, 8192, 8192, &large, false },
    { "map", RD_F32, 8192, 8192, &large, false },
    { "nearest", RD_F32, 4000, 50, &far, false }, /* ten times as long on the bus as here */
};

START_TEST(arithmetic)
{
    const rd_eval_opts cpu = { .backend = RD_BACKEND_CPU, .deterministic = true };
    static float       some; /* nobody reads it */
    rd_array           x   = { .data  = &some,
                               .type  = verdicts[_i].type,
                               .shape = RD_SHAPE(verdicts[_i].rows, verdicts[_i].columns) };
    rd_array           out = { .data = NULL };
    rd_expr           *y[GPU_MOST_RESULTS];

    (void)gpu_program_of(verdicts[_i].program)->build(rd_leaf(ctx, &x), y);
    rd_result      result = { y[0], &out };
    rd_plan *const plan   = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, &cpu);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    const rd_auto_choice v =
        rd_auto_verdict(verdicts[_i].rates, plan->n_stage, plan->program, plan->n_slot, plan->slot);
    rd_text text = { 0 };

    rd_verdict_text(&text, &v);
    ck_assert_msg(v.takes == verdicts[_i].takes, "%s of %s, %d x %d: %s", verdicts[_i].program,
                  rd_dtype_name(verdicts[_i].type), (int)verdicts[_i].rows,
                  (int)verdicts[_i].columns, text.at);
    ck_assert(v.copies > 0 && v.there > v.copies && v.here > 0);
    rd_text_free(&text);
    rd_plan_free(plan);
}
END_TEST

/* Copies are what is read and written, each once, and no more than that. */
START_TEST(copies)
{
    const rd_eval_opts cpu = { .backend = RD_BACKEND_CPU };
    static float       x[100][300], z[100];
    rd_expr           *part   = rd_slice(rd_wrap(ctx, &x[0][0], RD_SHAPE(100, 300)), "10:20");
    rd_array           out    = { .data = z, .type = RD_F32, .shape = RD_SHAPE(10) };
    rd_result          result = { rd_sum(rd_add(rd_square(part), part), RD_DIMS(1)), &out };
    rd_plan *const     plan  = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, &cpu);
    const rd_rates     rates = { .key        = 1,
                                 .device     = { .up      = 1,
                                                 .down    = 100,
                                                 .memory  = 1e12,
                                                 .floats  = 1e12,
                                                 .doubles = 1e12,
                                                 .room    = 1e12 },
                                 .memory     = 1e9,
                                 .operations = 1e9 };

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    const rd_auto_choice v =
        rd_auto_verdict(&rates, plan->n_stage, plan->program, plan->n_slot, plan->slot);

    ck_assert_double_eq_tol(v.copies, 10 * 300 * 4 / 1. + 10 * 4 / 100., 1e-6);
    rd_plan_free(plan);
}
END_TEST

/* ---- Evaluations ----------------------------------------------------------------------------- */
enum { POINTS = 300, MANY = 3000 };
static float points[MANY], want[MANY], found[MANY];

static rd_expr *pairs(rd_ctx *c, int n)
{
    rd_expr *x = rd_wrap(c, points, RD_SHAPE(n));

    return rd_sum(rd_exp(rd_neg(rd_square(rd_sub(rd_expand(x, 1), rd_expand(x, 0))))), RD_DIMS(1));
}

static void evaluate(rd_ctx *c, int n, const rd_eval_opts *opts, float *y)
{
    ck_assert_msg(rd_eval_many(c, RD_RESULTS({ pairs(c, n), RD_INTO(y, RD_SHAPE(n)) }), opts) ==
                      RD_OK,
                  "%s", rd_error_text(c));
}

static void fill(int n)
{
    const rd_eval_opts cpu = { .backend = RD_BACKEND_CPU };

    for (int k = 0; k < n; k++)
        points[k] = (float)(k * 37 % 101) / 50 - 1;
    evaluate(ctx, n, &cpu, want);
}

static const char *explain(rd_ctx *c, rd_expr *y)
{
    const char *text = rd_explain(c, RD_RESULTS({ y, NULL }), NULL);

    ck_assert_msg(text, "%s", rd_error_text(c));
    return text;
}

/* A file of what measuring found, with this line at its end, is read. */
static rd_status load(const char *line)
{
    char      dir[FAKE_PATH], path[FAKE_PATH + 8];
    FILE     *file;
    rd_status status;

    fake_directory(dir);
    snprintf(path, sizeof path, "%s/found", dir);
    ck_assert_int_eq(rd_measured_save(ctx, path), RD_OK);
    file = fopen(path, "a");
    ck_assert(file && fputs(line, file) >= 0 && fclose(file) == 0);
    status = rd_measured_load(ctx, path);
    fake_remove(dir);
    return status;
}

/* Rates of a processor that is slow, beside a GPU with this key and bus. */
static void load_rates(uint64_t key, const char *bus)
{
    char line[300];

    snprintf(line, sizeof line,
             "%016" PRIx64 " rates up %s down %s memory 1e12 floats 1e13 doubles 1e13 room 1e10 "
             "here memory 1e9 operations 1e8\n",
             key, bus, bus);
    ck_assert_msg(load(line) == RD_OK, "%s", rd_error_text(ctx));
}

/* Rates are saved with what else was found, and another process has them. */
START_TEST(there_and_back)
{
    char          dir[FAKE_PATH], path[FAKE_PATH + 8];
    rd_ctx *const other = rd_ctx_new(NULL);

    load_rates(rd_gpu_name_key(0), "1e10");
    fake_directory(dir);
    snprintf(path, sizeof path, "%s/found", dir);
    ck_assert_msg(rd_measured_save(ctx, path) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert_msg(rd_measured_load(other, path) == RD_OK, "%s", rd_error_text(other));
    fake_remove(dir);
    const rd_rates *const a = rd_rates_of(ctx), *const b = rd_rates_of(other);

    ck_assert(a && b && a->key == b->key && a->memory == b->memory &&
              a->operations == b->operations && a->device.up == b->device.up &&
              a->device.down == b->device.down && a->device.memory == b->device.memory &&
              a->device.floats == b->device.floats && a->device.doubles == b->device.doubles &&
              a->device.room == b->device.room);
    rd_ctx_free(other);
}
END_TEST

START_TEST(taken)
{
    fill(POINTS);
    load_rates(rd_gpu_name_key(0), "1e10");
    evaluate(ctx, POINTS, NULL, found);
    ck_assert_int_gt(fake_calls_of(fake_cuda, "cuLaunchKernel"), 0);
    ck_assert(memcmp(want, found, POINTS * sizeof *want) == 0);
    ck_assert_msg(strstr(explain(ctx, pairs(ctx, POINTS)), "\non CUDA: about ") &&
                      strstr(explain(ctx, pairs(ctx, POINTS)), "backend: cuda"),
                  "%s", explain(ctx, pairs(ctx, POINTS)));
}
END_TEST

/* Another GPU's rates, a slow bus, little to do, and what is asked for. */
START_TEST(not_taken)
{
    const rd_eval_opts cpu  = { .backend = RD_BACKEND_CPU };
    const bool         slow = _i == 1;

    fill(POINTS);
    load_rates(_i == 0 ? 1 : rd_gpu_name_key(0), slow ? "1e3" : "1e10");
    evaluate(ctx, _i == 2 ? 50 : POINTS, _i == 3 ? &cpu : NULL, found);
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuLaunchKernel"), 0);
    ck_assert(!strstr(explain(ctx, pairs(ctx, _i == 2 ? 50 : POINTS)), "backend: cuda") ==
              (_i < 3));
    if (_i == 0)
        ck_assert_msg(strstr(explain(ctx, pairs(ctx, POINTS)), "these rates are another GPU's"),
                      "%s", explain(ctx, pairs(ctx, POINTS)));
    if (slow)
        ck_assert_msg(strstr(explain(ctx, pairs(ctx, POINTS)), "\nnot on CUDA: about "), "%s",
                      explain(ctx, pairs(ctx, POINTS)));
}
END_TEST

RD_REDUCER(log_of_product, float, float, 1, (double sum;), (s->sum = 0;), (s->sum += log(x);),
           (a->sum += b->sum;), (y[0] = (float)s->sum;))

static float slowly(float v)
{
    return v + 1;
}

/* What the GPU would refuse, or has functions of its own for, or has no compiler for. */
START_TEST(stays)
{
    fill(POINTS);
    load_rates(rd_gpu_name_key(0), "1e10");
    rd_expr *y = rd_map(pairs(ctx, POINTS), slowly);
    ck_assert_int_eq(rd_eval(ctx, y, RD_INTO(found, RD_SHAPE(POINTS))), RD_OK);
    ck_assert(found[7] == want[7] + 1);
    ck_assert(strstr(explain(ctx, y), "backend: cpu"));
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(POINTS));
    y = rd_reduce(rd_exp(rd_sub(rd_expand(x, 1), rd_expand(x, 0))), log_of_product, RD_DIMS(1));
    ck_assert_int_eq(rd_eval(ctx, y, RD_INTO(found, RD_SHAPE(POINTS))), RD_OK);
    ck_assert_msg(strstr(explain(ctx, y), "backend: cpu"), "%s", explain(ctx, y));
    setenv("RDIM_LIBNVRTC", "/nonexistent/libnvrtc.so", 1);
    evaluate(ctx, POINTS, NULL, found);
    ck_assert(memcmp(want, found, POINTS * sizeof *want) == 0);
    ck_assert_msg(strstr(explain(ctx, pairs(ctx, POINTS)), "backend: cpu") &&
                      strstr(explain(ctx, pairs(ctx, POINTS)), "not on CUDA: "),
                  "%s", explain(ctx, pairs(ctx, POINTS)));
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuLaunchKernel"), 0);
}
END_TEST

/* What is asked for wrongly is told, too, where AUTO would take a GPU. */
START_TEST(asked_wrongly)
{
    fill(POINTS);
    load_rates(rd_gpu_name_key(0), "1e10");
    setenv("RDIM_CUDA_TUNING", "ahead=3", 1);
    ck_assert_int_eq(rd_eval(ctx, pairs(ctx, POINTS), RD_INTO(found, RD_SHAPE(POINTS))),
                     RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(!rd_explain(ctx, RD_RESULTS({ pairs(ctx, POINTS), NULL }), NULL));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
}
END_TEST

/* A GPU that fails where AUTO has taken it: this processor does it, without an error, as often as
 * it is asked; but what may be stored in part is an error. */
static const struct {
    const char *function;
    int         error;
    bool        stored;
} faults[] = {
    { "cuStreamCreate", 1, false },       { "cuMemAlloc_v2", 2, false },
    { "cuLaunchKernel", 1, false },       { "cuLaunchKernel", 2, false },
    { "cuMemcpyHtoDAsync_v2", 1, false }, { "cuMemcpyDtoHAsync_v2", 1, true },
};

START_TEST(fails_there)
{
    fill(POINTS);
    load_rates(rd_gpu_name_key(0), "1e10");
    for (int call = 1; call <= 4; call++)
        fake_break(fake_cuda, faults[_i].function, call, faults[_i].error);
    if (faults[_i].stored) {
        ck_assert_int_eq(rd_eval(ctx, pairs(ctx, POINTS), RD_INTO(found, RD_SHAPE(POINTS))),
                         RD_ERR_DEVICE);
        rd_error_clear(ctx);
    } else {
        evaluate(ctx, POINTS, NULL, found);
        ck_assert(memcmp(want, found, POINTS * sizeof *want) == 0);
    }
    fake_break(fake_cuda, faults[_i].function, 0, 0);
    memset(found, 0, sizeof found);
    evaluate(ctx, POINTS, NULL, found);
    ck_assert(memcmp(want, found, POINTS * sizeof *want) == 0);
    ck_assert_int_gt(fake_calls_of(fake_cuda, "cuLaunchKernel"), 0);
}
END_TEST

static const char *const bad_lines[] = {
    "0000000000000000 rates up 1 down 1 memory 1 floats 1 doubles 1 room 1 here memory 1 "
    "operations 1\n",
    "0000000000000001 rates up 1 down 1 memory 0 floats 1 doubles 1 room 1 here memory 1 "
    "operations 1\n",
    "0000000000000001 rates up 1 down 1 memory 1 floats 1 doubles 1 room 1 here memory 1\n",
    "0000000000000001 rates up 1 down x memory 1 floats 1 doubles 1 room 1 here memory 1 "
    "operations 1\n",
};

START_TEST(lines_that_are_refused)
{
    ck_assert_int_eq(load(bad_lines[_i]), RD_ERR_TEXT);
    ck_assert(strstr(rd_error_text(ctx), "line 2"));
    rd_error_clear(ctx);
}
END_TEST

/* ---- Learning -------------------------------------------------------------------------------- */
static const rd_eval_opts measure = { .measure = true };

static double slow_kernels(const char *kernel, unsigned blocks, unsigned threads)
{
    (void)kernel, (void)blocks, (void)threads;
    return 1;
}

/* By an evaluation that asks to measure and takes long enough; once in a process. */
START_TEST(learned)
{
    rd_ctx *other = rd_ctx_new(NULL);

    fake_time(slow_kernels, 2e9, 1e11);
    fill(MANY);
    evaluate(ctx, 50, &measure, found);
    ck_assert(!rd_rates_of(ctx)); /* so little is no reason */
    evaluate(ctx, MANY, &measure, found);
    ck_assert(memcmp(want, found, sizeof want) == 0);
    const rd_rates *r = rd_rates_of(ctx);
    ck_assert(r && r->key == rd_gpu_name_key(0));
    ck_assert_double_eq_tol(r->device.up, 2e9, 4e7);
    ck_assert_double_eq_tol(r->device.down, 2e9, 4e7);
    ck_assert_double_eq_tol(r->device.memory, 2e11, 2e10);
    ck_assert(r->device.floats > 0 && r->memory > 1e8 && r->operations > 1e7);
    ck_assert_msg(strstr(explain(ctx, pairs(ctx, MANY)), "\nnot on CUDA: about "), "%s",
                  explain(ctx, pairs(ctx, MANY)));
    const int asked = fake_calls_of(fake_cuda, "cuEventElapsedTime");

    evaluate(other, MANY, &measure, found);
    ck_assert(rd_rates_of(other) && rd_rates_of(other)->memory == r->memory);
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuEventElapsedTime"), asked);
    rd_ctx_free(other);
}
END_TEST

/* What the driver refuses leaves all as it was. */
static const char *const needed[] = { "cuEventElapsedTime",   "cuMemAlloc_v2",
                                      "cuLaunchKernel",       "cuMemcpyHtoDAsync_v2",
                                      "cuMemcpyDtoDAsync_v2", "cuDevicePrimaryCtxRetain" };

START_TEST(not_learned)
{
    fake_time(slow_kernels, 2e9, 1e11);
    fill(MANY);
    fake_break(fake_cuda, needed[_i], 1, 1);
    evaluate(ctx, MANY, &measure, found);
    ck_assert(memcmp(want, found, sizeof want) == 0 && !rd_rates_of(ctx));
    ck_assert(strstr(explain(ctx, pairs(ctx, MANY)), "not on CUDA: nothing lies on a GPU"));
}
END_TEST

START_TEST(no_gpu)
{
    setenv("RDIM_FAKE_DEVICES", "0", 1);
    fill(MANY);
    evaluate(ctx, MANY, &measure, found);
    ck_assert(memcmp(want, found, sizeof want) == 0 && !rd_rates_of(ctx));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_loop_test(tc, arithmetic, 0, COUNT(verdicts));
    tcase_add_test(tc, copies);
    tcase_add_test(tc, there_and_back);
    tcase_add_test(tc, taken);
    tcase_add_loop_test(tc, not_taken, 0, 4);
    tcase_add_test(tc, stays);
    tcase_add_test(tc, asked_wrongly);
    tcase_add_loop_test(tc, fails_there, 0, COUNT(faults));
    tcase_add_loop_test(tc, lines_that_are_refused, 0, COUNT(bad_lines));
    tcase_add_test(tc, learned);
    tcase_add_loop_test(tc, not_learned, 0, COUNT(needed));
    tcase_add_test(tc, no_gpu);
}

int main(void)
{
    return fake_run("cuda_auto", add);
}

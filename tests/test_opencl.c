/* test_opencl.c - OpenCL gives the bits of the CPU: all operators on all types, reductions and scans
 * of sizes around blocks, indices outside their axes, and random expressions.  It runs on PoCL, whose
 * device is this processor.
 *
 *     RD_DIFF_COUNT=2000 build/release/tests/test_opencl        a long run
 *     RD_DIFF_SEED=77 RD_DIFF_COUNT=1 ...                       one seed
 *
 * Nothing is forked, as OpenCL's threads would not be in the child. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "core/dtype.h"
#include "differential.h"
#include "expr/expr.h"
#include "kernels/program.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static const rd_eval_opts opencl = { .backend = RD_BACKEND_OPENCL, .deterministic = true },
                          cpu    = { .backend = RD_BACKEND_CPU, .deterministic = true };

static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* ---- Results of both -------------------------------------------------------------------------- */
enum { MOST = 16 };

static bool is_nan(rd_dtype type, const char *at)
{
    switch (type) {
    case RD_F16: return (*(const uint16_t *)at & 0x7fff) > 0x7c00;
    case RD_BF16: return (*(const uint16_t *)at & 0x7fff) > 0x7f80;
    case RD_F32: return *(const float *)at != *(const float *)at;
    case RD_F64: return *(const double *)at != *(const double *)at;
    default: return false;
    }
}

static void compare(const char *what, const rd_expr *x, const rd_array *a, const rd_array *b)
{
    const size_t bytes = (size_t)rd_dtype_size(x->type);

    for (int64_t i = 0; i < rd_points(x->rank, x->extent); i++) {
        const char *const one  = (const char *)a->data + (size_t)i * bytes,
                          *two = (const char *)b->data + (size_t)i * bytes;

        ck_assert_msg(memcmp(one, two, bytes) == 0 ||
                          (is_nan(x->type, one) && is_nan(x->type, two)),
                      "%s of %s: element %" PRId64 " differs", what, rd_dtype_name(x->type), i);
    }
}

/* The same bits, and the same warnings? */
static void expect_same(const char *const *what, rd_expr *const *x, int n)
{
    rd_array  out[2][MOST];
    rd_result result[2][MOST];
    uint32_t  warnings[2];

    memset(out, 0, sizeof out);
    for (int way = 0; way < 2; way++) {
        for (int k = 0; k < n; k++)
            result[way][k] = (rd_result){ x[k], &out[way][k] };
        ck_assert_msg(rd_eval_many(ctx, (rd_results){ result[way], n }, way ? &opencl : &cpu) ==
                          RD_OK,
                      "%s: %s", what[0], rd_error_text(ctx));
        warnings[way] = rd_warnings(ctx);
    }
    ck_assert_msg(warnings[0] == warnings[1], "%s: warnings differ", what[0]);
    for (int k = 0; k < n; k++) {
        compare(what[k], x[k], &out[0][k], &out[1][k]);
        rd_array_free(&out[0][k]);
        rd_array_free(&out[1][k]);
    }
}

/* ---- Operators -------------------------------------------------------------------------------- */
enum { N = 777 };

rd_expr *rd_fmod(rd_expr *x, rd_expr *y); /* in formulas alone */
rd_expr *rd_pow_half(rd_expr *x, rd_expr *y);

static const struct {
    const char *what;
    rd_expr *(*of_1)(rd_expr *);
    rd_expr *(*of_2)(rd_expr *, rd_expr *);
} operators[] = {
#define OF_1(name)            { #name, rd_##name, NULL },
#define OF_2(name)            { #name, NULL, rd_##name },
#define OF_3(name)            /* the evaluator makes it */
#define RD_OP(name, n, ...)   OF_##n(name)
#define RD_TEST(name, n, ...) OF_##n(name)
#include "core/ops.def"
};

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Half of them between -8 and 8, the others any bits. */
static void fill(rd_dtype type, char *at, uint64_t state)
{
    for (int i = 0; i < N; i++) {
        const uint64_t bits  = next(&state);
        const double   small = (double)(int64_t)next(&state) / 0x1p60;
        float          f32   = (float)small;

        memcpy(at + i * rd_dtype_size(type), &bits, (size_t)rd_dtype_size(type));
        if (type == RD_BOOL)
            at[i] = bits & 1;
        else if (i % 2 && type == RD_F64)
            memcpy(at + i * 8, &small, 8);
        else if (i % 2 && type == RD_F32)
            memcpy(at + i * 4, &f32, 4);
        else if (i % 2 && rd_dtype_kind(type) != RD_KIND_FLOAT && rd_dtype_size(type) > 1)
            memset(at + i * rd_dtype_size(type) + 1, small < 0 && type < RD_U8 ? 255 : 0,
                   (size_t)rd_dtype_size(type) - 1);
    }
}

static rd_expr *operand(rd_dtype type, uint64_t seed, char *memory)
{
    fill(type, memory, seed);
    return rd_leaf(ctx, &(rd_array){ .in = memory, .type = type, .shape = RD_SHAPE(N) });
}

START_TEST(every_operator)
{
    static _Alignas(16) char memory[2][8 * N];
    const rd_dtype           type = (rd_dtype)_i;
    rd_expr *const a = operand(type, 0x9e3779b97f4a7c15, memory[0]), *const b = operand(
                                                                         type, 0xd1b54a32d192ed03,
                                                                         memory[1]);
    const char *what[MOST];
    rd_expr    *x[MOST];
    int         n = 0, compared = 0;

    for (int k = 0; k < COUNT(operators); k++) {
        x[n]    = operators[k].of_1 ? operators[k].of_1(a) : operators[k].of_2(a, b);
        what[n] = operators[k].what;
        if (!x[n])
            rd_error_clear(ctx); /* it is not for the type */
        else
            n++;
        if (n == 0 || (n < MOST && k + 1 < COUNT(operators)))
            continue;
        expect_same(what, x, n);
        compared += n;
        n = 0;
    }
    ck_assert_int_gt(compared, COUNT(operators) / 2);
}
END_TEST

START_TEST(every_cast)
{
    static _Alignas(16) char memory[8 * N];
    rd_expr *const           a = operand((rd_dtype)_i, 0x9e3779b97f4a7c15, memory);
    const char              *what[MOST];
    rd_expr                 *x[MOST];
    int                      n = 0;

    for (rd_dtype to = RD_BOOL; to <= RD_F64; to++) {
        what[n] = rd_dtype_name(to);
        x[n++]  = rd_cast(a, to);
    }
    expect_same(what, x, n);
}
END_TEST

/* ---- Reductions and scans --------------------------------------------------------------------- */
static const char *const reductions[] = {
#define RD_REDUCTION(name, ...) #name,
#include "core/reducers.def"
};

/* Along either axis there is more than a block. */
enum { ROWS = 130, COLUMNS = 4200 };

START_TEST(every_reduction)
{
    static const rd_dtype types[] = { RD_F32, RD_I16 };
    static float          memory[ROWS * COLUMNS];
    rd_expr              *x = rd_wrap(ctx, memory, RD_SHAPE(ROWS, COLUMNS));
    const char           *what[MOST];
    rd_expr              *y[MOST];
    int                   n = 0;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        memory[i] = (float)(i % 4001 * 7919 % 1009) / 64 - 7;
    x = rd_cast(x, types[_i]);
    for (int k = 0; k < 4 * COUNT(reductions); k++) {
        const char *const    name = reductions[k / 4];
        const rd_reduce_opts opts = { .dims = RD_DIMS(k & 1) };

        what[n] = name;
        y[n]    = k & 2 ? rd_scan_name(x, name, &opts) : rd_reduce_name(x, name, &opts);
        if (!y[n])
            rd_error_clear(ctx); /* it is not for the type, or has no scan */
        else
            n++;
        if (n == 6 || (n > 0 && k + 1 == 4 * COUNT(reductions))) {
            expect_same(what, y, n);
            n = 0;
        }
    }
}
END_TEST

static rd_status evaluate(rd_expr *y, rd_array *out, const rd_eval_opts *opts)
{
    return rd_eval_many(ctx, RD_RESULTS({ y, out }), opts);
}

/* Scans of few rows go by ranges, twice: a kernel for what these come to, for each level of nodes above, and for
 * results. */
static const struct {
    int64_t     rows, columns;
    const char *kernels;
} long_scans[] = {
    { 1, 1024, "kernel of 1 items" },
    { 1, 1025, "kernel of 2 items, kernel of 1 items, kernel of 2 items" },
    { 1, 5000, "kernel of 5 items, kernel of 2 items, kernel of 1 items, kernel of 5 items" },
    { 3, 3000, "kernel of 9 items, kernel of 3 items, kernel of 9 items" },
    { 2, 9217,
      "kernel of 20 items, kernel of 10 items, kernel of 4 items, kernel of 2 items, kernel of 20 "
      "items" },
    { 1024, 2000, "kernel of 1024 items" },
};

START_TEST(scans_by_ranges)
{
    enum { MOST_ELEMENTS = 1024 * 2000 };
    static float      memory[MOST_ELEMENTS];
    const int64_t     rows = long_scans[_i].rows, columns = long_scans[_i].columns;
    rd_expr *const    x      = rd_wrap(ctx, memory, RD_SHAPE(rows, columns));
    rd_expr *const    k      = rd_cast(x, RD_I32);
    rd_expr *const    y[]    = { rd_scan(x, "sum", RD_DIMS(1)),
                                 rd_sub(rd_scan(x, "sum", RD_DIMS(1), .exclusive = true), x),
                                 rd_scan(rd_cast(x, RD_F64), "sum", RD_DIMS(1)),
                                 rd_scan(k, "sum", RD_DIMS(1)),
                                 rd_scan(x, "max", RD_DIMS(1)),
                                 rd_scan(x, "sum", RD_DIMS(1), .reverse = true) };
    const char *const what[] = { "sum",         "sum before", "sum in f64",
                                 "sum of ints", "max",        "from the end" };
    const char       *explained;

    for (int64_t i = 0; i < rows * columns; i++)
        memory[i] = (float)(i % 4001 * 7919 % 1009) / 64 - 7;
    for (int j = 0; j < COUNT(y); j++)
        expect_same(&what[j], &y[j], 1);
    explained = rd_explain(ctx, RD_RESULTS({ y[0], NULL }), &opencl);
    ck_assert_msg(strstr(explained, long_scans[_i].kernels) != NULL, "%s", explained);
}
END_TEST

/* ---- Errors ----------------------------------------------------------------------------------- */
/* The first index in the order of elements is the one that is told. */
START_TEST(index_outside)
{
    static const float   x[]  = { 1, 2, 3, 4, 5 };
    static const int32_t at[] = { 0, -5, 4, 3, -6, 5, 9, 2 };
    rd_expr *const y = rd_take(rd_wrap(ctx, x, RD_SHAPE(5)), 0, rd_wrap(ctx, at, RD_SHAPE(8)));
    char           sentence[256];
    rd_array       out = { .data = NULL };

    ck_assert_int_eq(evaluate(y, &out, &cpu), RD_ERR_AXIS);
    snprintf(sentence, sizeof sentence, "%s", strstr(rd_error_text(ctx), "index"));
    rd_error_clear(ctx);
    ck_assert_int_eq(evaluate(y, &out, &opencl), RD_ERR_AXIS);
    ck_assert_msg(strstr(rd_error_text(ctx), sentence) != NULL, "%s, not %s", rd_error_text(ctx),
                  sentence);
}
END_TEST

static float twice(float x)
{
    return 2 * x;
}

/* What it cannot run is told, and where AUTO prefers it the CPU does it. */
START_TEST(refused)
{
    static const float x[] = { 1, 2, 3 };
    rd_expr           *y   = rd_map(rd_wrap(ctx, x, RD_SHAPE(3)), twice);
    rd_array           out = { .data = NULL };

    ck_assert_int_eq(evaluate(y, &out, &opencl), RD_ERR_DEVICE);
    ck_assert(strstr(rd_error_text(ctx), "user's function") != NULL);
    rd_error_clear(ctx);
    rd_ctx_free(ctx);
    setenv("RDIM_BACKEND", "opencl", 1);
    ctx = rd_ctx_new(NULL);
    unsetenv("RDIM_BACKEND");
    y = rd_neg(rd_wrap(ctx, x, RD_SHAPE(3)));
    ck_assert(strstr(rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL), "backend: opencl") != NULL);
    ck_assert_int_eq(rd_eval(ctx, rd_map(rd_wrap(ctx, x, RD_SHAPE(3)), twice), &out), RD_OK);
    ck_assert(((float *)out.data)[2] == 6);
    rd_array_free(&out);
}
END_TEST

/* ---- Random expressions ----------------------------------------------------------------------- */
static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

START_TEST(random_expressions)
{
    const uint64_t     first = (uint64_t)from_environment("RD_DIFF_SEED", 1);
    const int64_t      count = from_environment("RD_DIFF_COUNT", 60);
    differential_stats stats = { 0 };

    for (int64_t k = 0; k < count; k++) {
        rd_text report = { 0 };

        if (!differential_opencl_trial(first + (uint64_t)k, &stats, &report)) {
            fprintf(stderr, "seed %" PRIu64 ":\n%s\n", first + (uint64_t)k,
                    report.at ? report.at : "");
            ck_abort_msg("seed %" PRIu64, first + (uint64_t)k);
        }
        rd_text_free(&report);
    }
    printf("%" PRId64 " results, %" PRId64 " elements, %" PRId64 " runs, %" PRId64 " refused\n",
           stats.results, stats.elements, stats.on_gpu, stats.refused);
    ck_assert_int_gt(stats.on_gpu, 0);
}
END_TEST

static TCase *case_of(Suite *suite, const char *name)
{
    enum { LONG = 1800 };
    TCase *tests = tcase_create(name);

    tcase_set_timeout(tests, LONG);
    tcase_add_checked_fixture(tests, setup, teardown);
    suite_add_tcase(suite, tests);
    return tests;
}

static SRunner *runner_of_all(void)
{
    Suite *suite = suite_create("opencl");
    TCase *tests = case_of(suite, "operators");

    suite_add_compiled(tests, every_operator, RD_BOOL, RD_F64 + 1);
    suite_add_compiled(tests, every_cast, RD_BOOL, RD_F64 + 1);
    tcase_add_loop_test(case_of(suite, "reductions"), every_reduction, 0, 2);
    tcase_add_loop_test(case_of(suite, "scans"), scans_by_ranges, 0, COUNT(long_scans));
    tests = case_of(suite, "errors");
    tcase_add_test(tests, index_outside);
    tcase_add_test(tests, refused);
    tcase_add_test(case_of(suite, "random"), random_expressions);
    return srunner_create(suite);
}

int main(void)
{
    enum { SKIPPED = 77 };
    const char *why = NULL;
    SRunner    *runner;
    int         failed;

    if (SANITIZED || rd_backend_opencl.device->count(&why) == 0) {
        printf("skipped: %s\n", SANITIZED ? "sanitizers do not know what compilers make" : why);
        return SKIPPED;
    }
    runner = runner_of_all();
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

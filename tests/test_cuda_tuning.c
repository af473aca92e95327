/* test_cuda_tuning.c - numbers of a GPU's kernels on which nothing but speed depends: asked for by
 * the environment, and measured, on the fake driver, whose clock the tests set. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/kernel_choice.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <rdim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

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

/* ---- The table ------------------------------------------------------------------------------- */
/* Rules take what the table offers, and rows are in rising order. */
START_TEST(rules_are_candidates)
{
    const rd_tuning none = { { 0 } };
    rd_cuda_choice  rule = rd_cuda_choose(1, &none);

    for (rd_cuda_tuned row = 0; row < RD_N_TUNED; row++) {
        const int16_t *values;
        const int32_t  n     = rd_cuda_tuned_values(row, &values);
        bool           found = false;

        ck_assert_int_gt(n, 1);
        for (int32_t k = 0; k < n; k++) {
            ck_assert(k == 0 || values[k] > values[k - 1]);
            found |= values[k] == *rd_cuda_tuned_field(&rule, row);
        }
        ck_assert_msg(found, "row %d", (int)row);
    }
}
END_TEST

START_TEST(text_and_back)
{
    rd_tuning tuning = { { 0 } }, read;
    rd_text   text   = { 0 };
    char      why[RD_CUDA_TEXT];

    tuning.at[RD_TUNED_vector]    = 8;
    tuning.at[RD_TUNED_most_tile] = 64;
    rd_cuda_tuning_text(&text, &tuning);
    ck_assert_str_eq(text.at, "vector=8,most_tile=64");
    ck_assert(rd_cuda_tuning_read(text.at, &read, why));
    ck_assert(memcmp(&tuning, &read, sizeof read) == 0);
    ck_assert(rd_cuda_tuning_read("", &read, why) && !read.at[RD_TUNED_vector]);
    rd_text_free(&text);
}
END_TEST

/* ---- The variable ---------------------------------------------------------------------------- */
static const struct {
    const char *asked, *sentence;
} bad[] = {
    { "aheed=4",
      "RDIM_CUDA_TUNING: \"aheed=4\" is no name=number of block, fit, cut_fit, vector, ahead" },
    { "ahead", "\"ahead\" is no name=number of " },
    { "=4", "\"=4\" is no name=number of " },
    { "vector=8,ahead=5", "RDIM_CUDA_TUNING: \"ahead=5\": ahead may be 2, 4, 8, 16" },
    { "ahead=4x", "\"ahead=4x\": ahead may be " },
    { "ahead=", "\"ahead=\": ahead may be " },
    { "block=-64", "\"block=-64\": block may be 64, 128, 256" },
};

START_TEST(bad_values)
{
    static float eight[8], y;
    rd_expr     *sum = rd_sum(rd_wrap(ctx, eight, RD_SHAPE(8)), RD_ALL);

    setenv("RDIM_CUDA_TUNING", bad[_i].asked, 1);
    ck_assert_int_eq(rd_eval_many(ctx, RD_RESULTS({ sum, RD_INTO(&y, RD_SCALAR) }), &cuda),
                     RD_ERR_ARGUMENT);
    ck_assert_msg(strstr(rd_error_text(ctx), bad[_i].sentence), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(!rd_explain(ctx, RD_RESULTS({ sum, NULL }), &cuda));
    ck_assert_msg(strstr(rd_error_text(ctx), bad[_i].sentence), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, sum, RD_INTO(&y, RD_SCALAR)) == RD_OK); /* the CPU does not ask */
}
END_TEST

START_TEST(explained)
{
    static float many[100][256];
    rd_expr     *sum  = rd_sum(rd_wrap(ctx, &many[0][0], RD_SHAPE(100, 256)), RD_DIMS(1));
    const char  *text = rd_explain(ctx, RD_RESULTS({ sum, NULL }), &cuda);

    ck_assert_msg(
        text && strstr(text, ", 4 side by side") &&
            strstr(text,
                   "choices of stage 0: block=128, fit=1024, cut_fit=768, vector=16, ahead=8, "),
        "%s", text ? text : rd_error_text(ctx));
    setenv("RDIM_CUDA_TUNING", "ahead=4,vector=8", 1);
    text = rd_explain(ctx, RD_RESULTS({ sum, NULL }), &cuda);
    ck_assert_msg(text && strstr(text, ", 2 side by side") &&
                      strstr(text, ", cut_fit=768, vector=8 (by rule 16), ahead=4 (by rule 8), "),
                  "%s", text ? text : rd_error_text(ctx));
}
END_TEST

/* ---- The same bits --------------------------------------------------------------------------- */
/* Each number of a row, with programs that it changes. */
static const struct {
    const char *asked, *program;
    int64_t     rows, columns;
} same[] = {
    { "block=64", "softmax", 37, 1000 },
    { "block=256", "sum of columns", 1000, 100 },
    { "block=256,vector=8", "layer norm", 33, 516 },
    { "block=64,batch=4", "transpose", 67, 130 },
    { "block=256,batch=16", "transpose", 67, 130 },
    { "vector=8", "var of rows", 19, 4100 },
    { "vector=8,ahead=16", "sum of all", 130, 1028 },
    { "ahead=2", "map exp", 40, 1030 },
    { "ahead=16", "sum of columns", 1300, 36 },
    { "ahead=16", "sum of rows", 300, 24 },
    { "work=50", "var of channels", 4200, 3 },
    { "work=400,vector=8", "argmax of rows", 3, 20000 },
    { "resident=4", "softmax", 21, 2048 },
    { "resident=2", "softmax", 21, 2048 },
    { "scan_range=2,work=400", "scan of columns", 3000, 4 },
    { "scan_range=16", "scan of columns", 3000, 4 },
    { "most_results=1,most_tile=64", "gauss", 300, 3 },
    { "most_results=2,pair_bytes=32,block=64", "nearest", 300, 5 },
    { "most_tile=256,vector=8", "forces", 700, 3 },
    { "most_tile=256,resident=2,block=256", "gauss", 700, 20 },
};

START_TEST(same_bits)
{
    static const rd_dtype    types[]   = { RD_F32, RD_F64, RD_F16 };
    static const char *const threads[] = { "1", "4096" };
    rd_text                  report    = { 0 };
    const gpu_case           c         = { gpu_program_of(same[_i].program),
                                           types[_i % COUNT(types)],
                                           same[_i].rows,
                                           same[_i].columns,
                                           _i % 2,
                                           false };

    fake_use_order(_i);
    setenv("RDIM_CUDA_TUNING", same[_i].asked, 1);
    setenv("RDIM_CUDA_THREADS", threads[_i / 2 % 2], 1);
    ck_assert_msg(gpu_same_bits(&c, &report), "%s: %s", same[_i].asked, report.at);
    rd_text_free(&report);
}
END_TEST

/* Tiles of scans have at most what a warp and a lane can do, whatever is asked for. */
static const char *const of_scans[] = { "block=256", "ahead=16", "block=256,ahead=16", "block=64",
                                        "block=64,vector=8,ahead=16" };
static const char *const scans[]    = { "scan of rows", "scans together", "scan back",
                                        "scan exclusive" };

START_TEST(same_bits_of_scans)
{
    static const rd_dtype types[] = { RD_F32, RD_F16 };
    const char *const     asked   = of_scans[_i / COUNT(scans)];
    rd_text               report  = { 0 };

    setenv("RDIM_CUDA_TUNING", asked, 1);
    for (int k = 0; k < COUNT(types); k++) {
        const gpu_case c = {
            gpu_program_of(scans[_i % COUNT(scans)]), types[k], 3, 12296, 0, false
        };

        fake_use_order(_i + k);
        ck_assert_msg(gpu_same_bits(&c, &report), "%s: %s", asked, report.at);
    }
    rd_text_free(&report);
}
END_TEST

/* ---- Measuring ------------------------------------------------------------------------------- */
static const rd_eval_opts measure = { .backend = RD_BACKEND_CUDA, .measure = true };

enum { N = 3000, WIDTH = 32 };
static float x[N][WIDTH], want[WIDTH], found[WIDTH];
static int   rows = N;

static rd_expr *columns(rd_ctx *c)
{
    return rd_sum(rd_wrap(c, &x[0][0], RD_SHAPE(rows, WIDTH)), RD_DIMS(0));
}

static rd_status evaluate(rd_ctx *c, const rd_eval_opts *opts, float *y)
{
    return rd_eval_many(c, RD_RESULTS({ columns(c), RD_INTO(y, RD_SHAPE(WIDTH)) }), opts);
}

static const char *explain(rd_ctx *c)
{
    const char *text =
        rd_explain(c, RD_RESULTS({ columns(c), RD_INTO(found, RD_SHAPE(WIDTH)) }), &cuda);

    ck_assert_msg(text, "%s", rd_error_text(c));
    return text;
}

static void fill(void)
{
    for (int k = 0; k < N * WIDTH; k++)
        x[k / WIDTH][k % WIDTH] = (float)(k % 7919) / 997 - 3;
    ck_assert_int_eq(rd_eval(ctx, columns(ctx), RD_INTO(want, RD_SHAPE(WIDTH))), RD_OK);
}

/* Fake times: some prefer blocks of 256 threads, some many blocks, some few, one nothing. */
static double large_blocks(const char *kernel, unsigned blocks, unsigned threads)
{
    (void)kernel, (void)blocks;
    return threads == 256 ? 1e-3 : threads == 64 ? 4e-3 : 2e-3;
}

static double many_blocks(const char *kernel, unsigned blocks, unsigned threads)
{
    (void)kernel, (void)threads;
    return 1e-2 / blocks;
}

static double few_blocks(const char *kernel, unsigned blocks, unsigned threads)
{
    (void)kernel, (void)threads;
    return 1e-4 * blocks;
}

static double all_alike(const char *kernel, unsigned blocks, unsigned threads)
{
    (void)kernel, (void)blocks, (void)threads;
    return 1e-3;
}

/* What is asked for is not tried: so few kernels are compiled. */
static const struct {
    double (*time)(const char *, unsigned, unsigned);
    const char *asked, *explained[3], *kept;
} measured[] = {
    { large_blocks,
      "vector=16,ahead=8,work=100",
      { "block=256 (by rule 128)", "measured: stage 0 takes 1 ms, by rule 2 ms", "vector=16," },
      " kernels block=256 seconds 0.001 by rule 0.002\n" },
    { many_blocks,
      "block=128,vector=16,ahead=8",
      { "work=200 (by rule 100)", "measured: stage 0 takes ", ", by rule " },
      " kernels work=200 seconds " },
    { few_blocks,
      "block=128,vector=16,ahead=8",
      { "work=50 (by rule 100)", "measured: stage 0 takes ", ", by rule " },
      " kernels work=50 seconds " },
    { all_alike,
      "vector=16,work=100",
      { "block=128, ", "ahead=8, ", "measured: stage 0 takes 1 ms, by rule 1 ms" },
      " kernels rule seconds 0.001 by rule 0.001\n" },
};

static void read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");

    ck_assert(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* Measured once; the same bits; kept in a file, by which another context has what was found. */
START_TEST(finds_the_fastest)
{
    char    dir[FAKE_PATH], path[FAKE_PATH + 8], text[1000];
    rd_ctx *other = rd_ctx_new(NULL);

    setenv("RDIM_CUDA_TUNING", measured[_i].asked, 1);
    setenv("RDIM_CUDA_THREADS", "256", 1);
    fill();
    fake_time(measured[_i].time, 1e10, 1e12);
    ck_assert(!strstr(explain(ctx), "measured: "));
    ck_assert_msg(evaluate(ctx, &measure, found) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(memcmp(want, found, sizeof want) == 0);
    const int asked = fake_calls_of(fake_cuda, "cuEventElapsedTime");
    ck_assert_int_gt(asked, 3);
    for (int k = 0; k < 3; k++)
        ck_assert_msg(strstr(explain(ctx), measured[_i].explained[k]), "%s\n%s",
                      measured[_i].explained[k], explain(ctx));
    ck_assert(evaluate(ctx, &measure, found) == RD_OK && evaluate(ctx, &cuda, found) == RD_OK);
    ck_assert(memcmp(want, found, sizeof want) == 0);

    fake_directory(dir);
    snprintf(path, sizeof path, "%s/found", dir);
    ck_assert_int_eq(rd_measured_save(ctx, path), RD_OK);
    read_file(path, text, sizeof text);
    ck_assert_msg(strstr(text, measured[_i].kept), "%s\n%s", measured[_i].kept, text);
    ck_assert_msg(rd_measured_load(other, path) == RD_OK, "%s", rd_error_text(other));
    fake_remove(dir);
    ck_assert_str_eq(explain(other), explain(ctx));
    memset(found, 0, sizeof found);
    ck_assert_int_eq(evaluate(other, &measure, found), RD_OK);
    ck_assert(memcmp(want, found, sizeof want) == 0);
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuEventElapsedTime"), asked);
    rd_ctx_free(other);
}
END_TEST

/* Candidates run on what the stage reads, which its result then takes the place of; a cancelled
 * evaluation ends as ever; an index that fails is told once. */
START_TEST(other_ends)
{
    static const int64_t far[WIDTH] = { 3, N * WIDTH };
    rd_expr             *flat       = rd_wrap(ctx, &x[0][0], RD_SHAPE(N * WIDTH));

    setenv("RDIM_CUDA_TUNING", "vector=16,ahead=8,work=100", 1);
    fill();
    fake_time(large_blocks, 1e10, 1e12);
    rd_cancel(ctx);
    ck_assert_int_eq(evaluate(ctx, &measure, found), RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_eval_many(ctx,
                                  RD_RESULTS({ rd_take(flat, 0, rd_wrap(ctx, far, RD_SHAPE(WIDTH))),
                                               RD_INTO(found, RD_SHAPE(WIDTH)) }),
                                  &measure),
                     RD_ERR_AXIS);
    ck_assert(strstr(rd_error_text(ctx), "index 96000 is outside an axis of extent 96000"));
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_eval_many(ctx,
                                  RD_RESULTS({ rd_add(flat, rd_num(ctx, 1)),
                                               RD_INTO(&x[0][0], RD_SHAPE(N * WIDTH)) }),
                                  &measure),
                     RD_OK);
    for (int k = 0; k < N * WIDTH; k++)
        ck_assert(x[k / WIDTH][k % WIDTH] == (float)(k % 7919) / 997 - 3 + 1);
}
END_TEST

/* Data that lie on the GPU and are overwritten there. */
START_TEST(in_place_there)
{
    rd_array there = { .device = RD_CUDA(0) };

    setenv("RDIM_CUDA_TUNING", "vector=16,ahead=8,work=100", 1);
    fill();
    fake_time(all_alike, 1e10, 1e12);
    ck_assert_int_eq(rd_eval(ctx, rd_wrap(ctx, &x[0][0], RD_SHAPE(N, WIDTH)), &there), RD_OK);
    rd_array over = {
        .data = there.data, .type = RD_F32, .shape = RD_SHAPE(N, WIDTH), .device = RD_CUDA(0)
    };
    rd_expr *flipped = rd_flip(rd_leaf(ctx, &there), RD_DIMS(0));
    ck_assert_int_eq(rd_eval_many(ctx, RD_RESULTS({ flipped, &over }), &measure), RD_OK);
    ck_assert_int_eq(
        rd_eval(ctx, rd_select(rd_leaf(ctx, &over), 0, 2), RD_INTO(found, RD_SHAPE(WIDTH))), RD_OK);
    ck_assert(memcmp(found, x[N - 3], sizeof found) == 0);
    rd_array_free(&there);
}
END_TEST

/* What the driver refuses while it is measured leaves the rule, and the result. */
static const char *const needed[] = { "cuEventCreate", "cuEventRecord", "cuEventElapsedTime",
                                      "cuStreamSynchronize" };

START_TEST(cannot_be_measured)
{
    setenv("RDIM_CUDA_TUNING", "vector=16,ahead=8,work=100", 1);
    rows = 300; /* so little is copied without events */
    fill();
    fake_break(fake_cuda, needed[_i], 1, 1);
    ck_assert_msg(evaluate(ctx, &measure, found) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(memcmp(want, found, sizeof want) == 0);
    ck_assert_msg(strstr(explain(ctx), "\nstage 0 could not be measured\n"), "%s", explain(ctx));
    ck_assert(evaluate(ctx, &measure, found) == RD_OK && memcmp(want, found, sizeof want) == 0);
}
END_TEST

/* Each function of the driver fails at one of its calls: a status that is the driver's, or the
 * result; then all is as ever, and nothing is lost. */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};

START_TEST(driver_fails)
{
    setenv("RDIM_CUDA_TUNING", "vector=16,ahead=8,work=100", 1);
    rows = 300;
    fill();
    fake_time(large_blocks, 1e10, 1e12);
    ck_assert_int_gt(rd_device_count(), 0);
    for (int k = 0; k < COUNT(functions) * 3; k++) {
        rd_ctx *const c = rd_ctx_new(NULL);

        fake_break(fake_cuda, functions[k / 3], 1 + k % 3, 1);
        if (evaluate(c, &measure, found) != RD_OK)
            ck_assert_msg(rd_error(c) == RD_ERR_DEVICE && strstr(rd_error_text(c), ": 1, "),
                          "%s, call %d: %s", functions[k / 3], 1 + k % 3, rd_error_text(c));
        rd_error_clear(c);
        fake_break(fake_cuda, functions[k / 3], 0, 0);
        ck_assert_msg(evaluate(c, &measure, found) == RD_OK && evaluate(c, &cuda, found) == RD_OK,
                      "%s", rd_error_text(c));
        ck_assert(memcmp(want, found, sizeof want) == 0);
        rd_ctx_free(c);
    }
}
END_TEST

static const char *const bad_lines[] = {
    "0000000000000001 kernels vector=7 seconds 1 by rule 1\n",
    "0000000000000001 kernels rule seconds 0 by rule 1\n",
    "0000000000000001 kernels rule seconds 1 by rule\n",
    "0000000000000001 kernels rule seconds 1 by rule 1 more\n",
    "000000000000000g kernels rule seconds 1 by rule 1\n",
};

START_TEST(lines_that_are_refused)
{
    char  dir[FAKE_PATH], path[FAKE_PATH + 8];
    FILE *file;

    fake_directory(dir);
    snprintf(path, sizeof path, "%s/found", dir);
    ck_assert_int_eq(rd_measured_save(ctx, path), RD_OK);
    file = fopen(path, "a");
    ck_assert(file && fputs(bad_lines[_i], file) >= 0 && fclose(file) == 0);
    ck_assert_int_eq(rd_measured_load(ctx, path), RD_ERR_TEXT);
    ck_assert(strstr(rd_error_text(ctx), "line 2"));
    rd_error_clear(ctx);
    fake_remove(dir);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, rules_are_candidates);
    tcase_add_test(tc, text_and_back);
    tcase_add_loop_test(tc, bad_values, 0, COUNT(bad));
    tcase_add_test(tc, explained);
    tcase_add_loop_test(tc, same_bits, 0, COUNT(same));
    tcase_add_loop_test(tc, same_bits_of_scans, 0, COUNT(of_scans) * COUNT(scans));
    tcase_add_loop_test(tc, finds_the_fastest, 0, COUNT(measured));
    tcase_add_test(tc, other_ends);
    tcase_add_test(tc, in_place_there);
    tcase_add_test(tc, driver_fails);
    tcase_add_loop_test(tc, cannot_be_measured, 0, COUNT(needed));
    tcase_add_loop_test(tc, lines_that_are_refused, 0, COUNT(bad_lines));
}

int main(void)
{
    return fake_run("cuda_tuning", add);
}

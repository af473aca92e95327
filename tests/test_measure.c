/* Measured evaluations: the same bits, measured once, kept in text files. */
#define _POSIX_C_SOURCE 200809L
#include "eval/cache/cache.h"
#include "values.h"
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 300, WIDTH = 500 };
static float data[ROWS * WIDTH];

static void fill(void)
{
    for (int i = 0; i < ROWS * WIDTH; i++)
        data[i] = (float)sin(i);
}

/* Axes are walked in more than one way. */
static rd_expr *work(rd_ctx *c)
{
    rd_expr *x = rd_wrap(c, data, RD_SHAPE(ROWS, WIDTH));
    return rd_sum(rd_exp(rd_sub(x, rd_mean(x, RD_KEEP(0)))), RD_DIMS(0));
}

static const rd_eval_opts measure = { .measure = true };

static void eval_into(rd_ctx *c, const rd_eval_opts *opts, float *y)
{
    ck_assert_msg(rd_eval_many(c, RD_RESULTS({ work(c), RD_INTO(y, RD_SHAPE(WIDTH)) }), opts) ==
                      RD_OK,
                  "%s", rd_error_text(c));
}

static const char *path_in(const char *name)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/rdim_measure_%ld_%s",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid(), name);
    return path;
}

/* ---- Measuring ------------------------------------------------------------------------------- */
START_TEST(the_same_bits)
{
    float y[WIDTH], z[WIDTH];

    fill();
    eval_into(ctx, NULL, y);
    ck_assert(!strstr(rd_explain(ctx, RD_RESULTS({ work(ctx), RD_INTO(z, RD_SHAPE(WIDTH)) }), NULL),
                      "measured: "));
    eval_into(ctx, &measure, z);
    ck_assert(memcmp(y, z, sizeof y) == 0);
    ck_assert(strstr(rd_explain(ctx, RD_RESULTS({ work(ctx), RD_INTO(z, RD_SHAPE(WIDTH)) }), NULL),
                     "measured: "));
}
END_TEST

/* Counted calls: the second evaluation runs once, and so do those that do not ask. */
static atomic_int calls;

static float counted(float x)
{
    atomic_fetch_add(&calls, 1);
    return x;
}

static int calls_of(const rd_eval_opts *opts)
{
    float y;

    atomic_store(&calls, 0);
    ck_assert(rd_eval_many(
                  ctx,
                  RD_RESULTS({ rd_sum(rd_map(rd_wrap(ctx, data, RD_SHAPE(100)), counted), RD_ALL),
                               RD_INTO(&y, RD_SCALAR) }),
                  opts) == RD_OK);
    return atomic_load(&calls);
}

START_TEST(measured_once)
{
    ck_assert(calls_of(NULL) == 100);
    ck_assert(calls_of(&measure) > 200);
    ck_assert(calls_of(&measure) == 100);
    ck_assert(calls_of(NULL) == 100);
    ck_assert(rd_cache_stats_of(ctx).plans == 1);
}
END_TEST

/* Candidates write elsewhere: x is read by all of them, and the result takes its place. */
START_TEST(outputs_that_overlap_inputs)
{
    float x[100];

    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    ck_assert(rd_eval_many(ctx,
                           RD_RESULTS({ rd_add(rd_wrap(ctx, x, RD_SHAPE(100)), rd_num(ctx, 1)),
                                        RD_INTO(x, RD_SHAPE(100)) }),
                           &measure) == RD_OK);
    for (int i = 0; i < 100; i++)
        ck_assert(x[i] == (float)i + 1);
}
END_TEST

START_TEST(failures_are_the_evaluation_s)
{
    rd_expr *x = rd_wrap(ctx, data, RD_SHAPE(100));
    float    y[100];

    rd_cancel(ctx);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ rd_neg(x), RD_INTO(y, RD_SHAPE(100)) }), &measure) ==
              RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    static const int64_t far[50] = { 3, 100 };
    rd_expr             *bad     = rd_take(x, 0, rd_wrap(ctx, far, RD_SHAPE(50)));
    ck_assert(bad);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ bad, RD_INTO(y, RD_SHAPE(50)) }), &measure) ==
              RD_ERR_AXIS);
}
END_TEST

START_TEST(by_the_environment)
{
    setenv("RDIM_PLAN_MEASURE", "1", 1);
    rd_ctx *c = rd_ctx_new(NULL);
    float   y[WIDTH];

    unsetenv("RDIM_PLAN_MEASURE");
    fill();
    eval_into(c, NULL, y);
    ck_assert(strstr(rd_explain(c, RD_RESULTS({ work(c), RD_INTO(y, RD_SHAPE(WIDTH)) }), NULL),
                     "measured: "));
    rd_ctx_free(c);
}
END_TEST

/* ---- Files ----------------------------------------------------------------------------------- */
START_TEST(learned_by_another_process)
{
    const char *path = path_in("kept");
    rd_ctx     *other;
    float       y[WIDTH], z[WIDTH];

    fill();
    eval_into(ctx, &measure, y);
    ck_assert_msg(rd_measured_save(ctx, path) == RD_OK, "%s", rd_error_text(ctx));
    other = rd_ctx_new(NULL);
    ck_assert_msg(rd_measured_load(other, path) == RD_OK, "%s", rd_error_text(other));
    const char *text =
        rd_explain(other, RD_RESULTS({ work(other), RD_INTO(z, RD_SHAPE(WIDTH)) }), NULL);
    const char *mine =
        rd_explain(ctx, RD_RESULTS({ work(ctx), RD_INTO(z, RD_SHAPE(WIDTH)) }), NULL);
    ck_assert(strstr(text, "measured: "));
    ck_assert_str_eq(text, mine);
    eval_into(other, NULL, z);
    ck_assert(memcmp(y, z, sizeof y) == 0);
    rd_ctx_free(other);
    unlink(path);
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A file as this machine writes it, with `more` at its end. */
static void write_with(const char *path, const char *more)
{
    FILE *file;

    ck_assert(rd_measured_save(ctx, path) == RD_OK);
    file = fopen(path, "a");
    ck_assert(file && fputs(more, file) >= 0 && fclose(file) == 0);
}

static void refused(const char *path, rd_status want, const char *words)
{
    const rd_status got = rd_measured_load(ctx, path);

    ck_assert_msg(got == want && strstr(rd_error_text(ctx), words), "%s: %s", rd_status_name(got),
                  rd_error_text(ctx));
    rd_error_clear(ctx);
}

START_TEST(files_that_are_refused)
{
    static const char *const lines[] = {
        "zz auto panel 0 tile 0 threads any seconds 1\n",
        "0000000000000001 sideways panel 0 tile 0 threads any seconds 1\n",
        "0000000000000001 auto panel 99 tile 0 threads any seconds 1\n",
        "0000000000000001 auto panel 0 tile -99 threads any seconds 1\n",
        "0000000000000001 auto panel 0 tile 0 threads 3 seconds 1\n",
        "0000000000000001 auto panel 0 tile 0 threads any seconds\n",
        "0000000000000001 auto panel 0 tile 0 threads any seconds 1 more\n",
    };
    const char *path = path_in("bad");

    ck_assert(rd_measured_save(ctx, NULL) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_measured_save(ctx, "/nowhere/at/all") == RD_ERR_FILE);
    rd_error_clear(ctx);
    refused("", RD_ERR_ARGUMENT, "no path");
    refused(path, RD_ERR_FILE, "rd_measured_load");
    write_file(path, "");
    refused(path, RD_ERR_TEXT, "measured here");
    write_file(path, "rdim measured, release 000000, z80, processors 1\n");
    refused(path, RD_ERR_TEXT, "z80");
    for (size_t k = 0; k < COUNT(lines); k++) {
        write_with(path, lines[k]);
        refused(path, RD_ERR_TEXT, "line 2");
    }
    write_with(path, "0000000000000001 auto panel 0 tile 0 threads any seconds 1\n"
                     "00000000000000ff lazy panel -2 tile 1 threads 1 seconds 0.5");
    ck_assert_msg(rd_measured_load(ctx, path) == RD_OK, "%s", rd_error_text(ctx));
    const rd_findings *found = rd_findings_of(ctx);
    const rd_found    *last  = rd_findings_get(found, 255);
    ck_assert(found->n == 2 && last && last->choice.traversal == RD_TRAVERSE_LAZY &&
              last->choice.panel == -2);
    ck_assert(last->choice.tile == 1 && last->choice.one_thread && last->seconds == 0.5 &&
              !rd_findings_get(found, 2));
    unlink(path);
}
END_TEST

/* Many, in no order, later ones in place of earlier ones. */
START_TEST(findings_are_sorted)
{
    rd_findings f = { 0 };

    for (uint64_t k = 0; k < 1000; k++) {
        const rd_found v = { .key = k * 7919 % 503, .seconds = (double)k };
        ck_assert(rd_findings_put(ctx, &f, &v));
    }
    ck_assert(f.n == 503);
    for (uint64_t k = 497; k < 1000; k++)
        ck_assert(rd_findings_get(&f, k * 7919 % 503)->seconds == (double)k);
    rd_findings_free(ctx, &f);
}
END_TEST

/* Nobody waits for a FIFO's writer, and a device has no end. */
START_TEST(files_of_other_kinds)
{
    const char *path = path_in("fifo");

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    refused(path, RD_ERR_FILE, "not a regular file");
    unlink(path);
    refused("/", RD_ERR_FILE, "a directory");
    refused("/dev/zero", RD_ERR_FILE, "not a regular file");
}
END_TEST

/* In no order, and later ones in place of earlier ones.  A time by the square of their number was
 * minutes for these. */
START_TEST(files_of_many_lines)
{
    enum { LINES = 200000, KEYS = 150001 };
    const char *path = path_in("many");
    FILE       *file;

    write_with(path, "");
    file = fopen(path, "a");
    ck_assert(file);
    for (uint64_t k = 0; k < LINES; k++)
        fprintf(file, "%016" PRIx64 " auto panel 0 tile 0 threads any seconds %d\n",
                k * 7919 % KEYS + 1, (int)k + 1);
    ck_assert(fclose(file) == 0);
    ck_assert_msg(rd_measured_load(ctx, path) == RD_OK, "%s", rd_error_text(ctx));
    const rd_findings *found = rd_findings_of(ctx);
    ck_assert_int_eq(found->n, KEYS);
    for (uint64_t k = LINES - KEYS; k < LINES; k += 997)
        ck_assert(rd_findings_get(found, k * 7919 % KEYS + 1)->seconds == (double)k + 1);
    write_with(path, "0000000000000002 auto panel 0 tile 0 threads any seconds 1\n"
                     "0000000000000001 auto panel 0 tile 0 threads any seconds 1\nno line\n");
    refused(path, RD_ERR_TEXT, "line 150005");
    ck_assert(rd_findings_get(found, 1)->seconds == 1 && found->n == KEYS);
    unlink(path);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { the_same_bits,
                                   measured_once,
                                   outputs_that_overlap_inputs,
                                   by_the_environment,
                                   failures_are_the_evaluation_s,
                                   learned_by_another_process,
                                   files_that_are_refused,
                                   files_of_other_kinds,
                                   files_of_many_lines,
                                   findings_are_sorted };

    return run_suite("measure", tests, COUNT(tests));
}

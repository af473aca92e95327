/* test_cuda.c - the CUDA backend on the fake driver: random expressions have the scalar
 * interpreter's bits.
 *
 *     RD_DIFF_COUNT=20000 build/release/tests/test_cuda         a long run
 *     RD_DIFF_SEED=77 RD_DIFF_COUNT=1 RD_DIFF_ORDER=1 ...       one seed, backwards */
#define _XOPEN_SOURCE 700 /* setenv */
#include "differential.h"
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = SANITIZED ? 48 : 200, PARTS = 2 * FAKE_ORDERS };

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* Seeds from `first` on, a part of them in each order of threads, blocks and work. */
static void run_part(int part, uint64_t first, int64_t count)
{
    differential_stats stats = { 0 };

    fake_use_order((int)from_environment("RD_DIFF_ORDER", part));
    for (int64_t k = part; k < count; k += PARTS) {
        const uint64_t seed   = first + (uint64_t)k;
        rd_text        report = { 0 };

        if (!differential_cuda_trial(seed, &stats, &report)) {
            fprintf(stderr, "seed %" PRIu64 ":\n%s\n", seed, report.at ? report.at : "");
            ck_abort_msg("seed %" PRIu64, seed);
        }
        rd_text_free(&report);
    }
    rd_gpu_close_all();
    /* a part of the large ones is a seed, which may be refused */
    ck_assert_msg(stats.seeds == 0 || stats.on_gpu > 0 ||
                      (first >= RANDOM_LARGE && stats.refused > 0),
                  "nothing was compared");
    printf("part %d: %" PRId64 " results, %" PRId64 " elements, %" PRId64 " refused\n", part,
           stats.results, stats.elements, stats.refused);
}

START_TEST(random_expressions)
{
    run_part(_i, (uint64_t)from_environment("RD_DIFF_SEED", 1),
             from_environment("RD_DIFF_COUNT", DEFAULT_COUNT));
}
END_TEST

/* Seeds that once showed a fault: a team's packs in a loop that is not spread. */
START_TEST(seeds_that_failed)
{
    run_part(0, 103770, 1);
}
END_TEST

START_TEST(large_expressions)
{
    run_part(_i, RANDOM_LARGE + (uint64_t)from_environment("RD_DIFF_SEED", 1),
             from_environment("RD_DIFF_LARGE", DEFAULT_COUNT / 25));
}
END_TEST

/* ---- States that the threads of a team share ------------------------------------------------- */
enum { SHARED_MOST = 200 * 40 * 70 };

/* Results of one call, such that loops over lanes and over cells stand in one another. */
typedef struct shared_case {
    rd_shape shape;
    int      what;
} shared_case;

static const shared_case shared_cases[] = {
    { { 3, 0, { 100, 5, 150 } }, 0 }, { { 3, 0, { 100, 5, 150 } }, 1 },
    { { 3, 0, { 30, 3, 90 } }, 0 },   { { 3, 0, { 200, 5, 200 } }, 2 },
    { { 3, 0, { 60, 5, 200 } }, 2 },  { { 3, 0, { 200, 40, 70 } }, 2 },
    { { 3, 0, { 200, 5, 200 } }, 3 }, { { 3, 0, { 70, 40, 33 } }, 3 },
};

static int shared_results(rd_expr *x, int what, rd_expr **y)
{
    rd_expr *rows = rd_sum(x, RD_DIMS(2));

    switch (what) {
    case 0:
        y[0] = rd_sum(x, RD_DIMS(0, 2));
        y[1] = rd_max(rows, RD_DIMS(1));
        return 2;
    case 1:
        y[0] = rd_sum(x, RD_DIMS(0, 2));
        y[1] = rd_scan(rows, "sum", RD_DIMS(1));
        return 2;
    case 2:
        y[0] = rd_sum(rd_mul(rows, rows), RD_DIMS(0));
        y[1] = rd_max(rows, RD_DIMS(1));
        return 2;
    default:
        y[0] = rd_var(rows, RD_DIMS(0));
        y[1] = rd_argmax(rows, RD_DIMS(1));
        return 2;
    }
}

/* Like those of the CPU, bit for bit? */
START_TEST(states_of_a_team)
{
    static const char *const threads[] = { "1", "256", "1048576" };
    static float             x[SHARED_MOST];
    const shared_case       *c = &shared_cases[_i];

    for (int k = 0; k < SHARED_MOST; k++)
        x[k] = (float)(k % 7919) / 997 - 3;
    for (int run = 0; run < 3 * FAKE_ORDERS; run++) {
        rd_ctx  *ctx;
        rd_expr *y[2];
        rd_array out[2][2] = { { { .data = NULL } } };
        int      n         = 0;

        fake_use_order(run / 3);
        setenv("RDIM_CUDA_THREADS", threads[run % 3], 1);
        ctx = rd_ctx_new(NULL);
        n   = shared_results(rd_wrap(ctx, x, c->shape), c->what, y);
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            const rd_eval_opts opts   = { .backend       = on_gpu ? RD_BACKEND_CUDA : RD_BACKEND_CPU,
                                          .deterministic = true };
            const rd_status    status = rd_eval_many(
                   ctx, RD_RESULTS({ y[0], &out[on_gpu][0] }, { y[1], &out[on_gpu][1] }), &opts);

            ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
        }
        for (int k = 0; k < n; k++) {
            const size_t bytes =
                (size_t)(rd_points(y[k]->rank, y[k]->extent) * rd_dtype_size(y[k]->type));

            ck_assert_msg(memcmp(out[0][k].data, out[1][k].data, bytes) == 0,
                          "result %d of case %d, order %s, %s threads", k, _i, fake_orders[run / 3],
                          threads[run % 3]);
            rd_array_free(&out[0][k]);
            rd_array_free(&out[1][k]);
        }
        rd_ctx_free(ctx);
        rd_gpu_close_all();
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, states_of_a_team, 0, (int)(sizeof shared_cases / sizeof *shared_cases));
    tcase_add_test(tc, seeds_that_failed);
    tcase_add_loop_test(tc, random_expressions, 0, PARTS);
    tcase_add_loop_test(tc, large_expressions, 0, PARTS);
}

int main(void)
{
    return fake_run("cuda", add);
}

/* test_cuda.c - the CUDA backend on the fake driver: random expressions have the scalar interpreter's
 * bits.
 *
 *     RD_DIFF_COUNT=20000 build/release/tests/test_cuda         a long run
 *     RD_DIFF_SEED=77 RD_DIFF_COUNT=1 RD_DIFF_ORDER=1 ...       one seed, backwards */
#include "differential.h"
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    printf("part %d: %" PRId64 " results, %" PRId64 " elements, %" PRId64 " refused\n", part,
           stats.results, stats.elements, stats.refused);
}

START_TEST(random_expressions)
{
    run_part(_i, (uint64_t)from_environment("RD_DIFF_SEED", 1),
             from_environment("RD_DIFF_COUNT", DEFAULT_COUNT));
}
END_TEST

START_TEST(large_expressions)
{
    run_part(_i, RANDOM_LARGE + (uint64_t)from_environment("RD_DIFF_SEED", 1),
             from_environment("RD_DIFF_LARGE", DEFAULT_COUNT / 25));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, random_expressions, 0, PARTS);
    tcase_add_loop_test(tc, large_expressions, 0, PARTS);
}

int main(void)
{
    return fake_run("cuda", add);
}

/* test_loops_random.c - loop trees of the programs of random expressions mean their programs.
 *
 *     RD_LOOPS_COUNT=100000 build/release/tests/test_loops_random   a long run
 *     RD_LOOPS_SEED=77 RD_LOOPS_COUNT=1 ...                         one seed
 *     RD_LOOPS_LARGE=2000                                           so many of large expressions */
#define _GNU_SOURCE
#include "differential.h"
#include "dirt.h"
#include "loops.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>

enum { DEFAULT_COUNT = THREAD_SANITIZED ? 15 : SANITIZED ? 40 : 200, PARTS = 4 };

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* Some of the pool's last nodes. */
static int results_of(random_pool *pool, rd_result *result, rd_array *out)
{
    const int64_t asked = 1 + random_below(pool, MOST_RESULTS);
    int           n     = 0;

    for (int64_t k = 0; k < asked; k++) {
        rd_expr *x = k ? random_pick(pool)->x : pool->node[pool->n_node - 1].x;
        bool new   = true;

        for (int i = 0; i < n; i++)
            new &= result[i].expr != x;
        if (new) {
            out[n]    = (rd_array){ 0 };
            result[n] = (rd_result){ x, &out[n] };
            n++;
        }
    }
    return n;
}

static bool holds(uint64_t seed, loop_counts *counts, rd_text *report)
{
    rd_ctx      *ctx  = dirty_context(true);
    random_pool *pool = random_pool_new(ctx, seed);
    rd_result    result[MOST_RESULTS];
    rd_array     out[MOST_RESULTS];
    rd_expr     *in[RANDOM_BLOCKS];
    const void  *data[RANDOM_BLOCKS];
    const int    n    = results_of(pool, result, out);
    const int    n_in = pool->inputs ? differential_inputs(pool, in, data) : 0;
    rd_plan     *plan = loop_plan(ctx, (rd_exprs){ in, n_in }, (rd_results){ result, n });
    const bool   good = !plan || loop_plan_holds(ctx, plan, counts, report);

    random_pool_free(pool);
    rd_ctx_free(ctx);
    return good;
}

static void run_seeds(uint64_t lo, uint64_t hi)
{
    enum { MOST_FAILURES = 5 };
    loop_counts counts   = { 0 };
    int         failures = 0;

    for (uint64_t seed = lo; seed < hi && failures < MOST_FAILURES; seed++) {
        rd_text report = { 0 };

        if (!holds(seed, &counts, &report)) {
            failures++;
            fprintf(stderr, "seed %" PRIu64 ": (RD_LOOPS_SEED=%" PRIu64 " RD_LOOPS_COUNT=1)\n%s\n",
                    seed, seed, report.at ? report.at : "");
        }
        rd_text_free(&report);
    }
    if (hi > lo)
        printf(
            "seeds %" PRIu64 " to %" PRIu64 ": %" PRId64 " trees, %" PRId64 " hold, %" PRId64
            " are too long to run, of %" PRId64 " programs there is no tree; %" PRId64 " by rows\n",
            lo, hi - 1, counts.trees, counts.holds, counts.skipped, counts.refused, counts.by_rows);
    fflush(stdout);
    ck_assert_msg(failures == 0, "%d seeds failed", failures);
    ck_assert_msg(counts.trees < 50 || counts.holds * 10 >= counts.trees * 8,
                  "too few trees are run");
}

START_TEST(seeds)
{
    const int64_t  count = from_environment("RD_LOOPS_COUNT", DEFAULT_COUNT);
    const uint64_t first = (uint64_t)from_environment("RD_LOOPS_SEED", 1);

    run_seeds(first + (uint64_t)(count * _i / PARTS), first + (uint64_t)(count * (_i + 1) / PARTS));
}
END_TEST

START_TEST(large_seeds)
{
    const int64_t count =
        from_environment("RD_LOOPS_LARGE", getenv("RD_LOOPS_SEED") ? 0 : DEFAULT_COUNT / 20);

    run_seeds(RANDOM_LARGE, RANDOM_LARGE + (uint64_t)count);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("loops of random expressions");
    TCase   *tc     = tcase_create("random expressions");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 0);
    tcase_add_loop_test(tc, seeds, 0, PARTS);
    tcase_add_test(tc, large_seeds);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

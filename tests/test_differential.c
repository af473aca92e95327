/* test_differential.c - random expressions, evaluated every way by every interpreter, against the
 * oracle.
 *
 *     RD_DIFF_COUNT=1000000 build/release/tests/test_differential   a long run
 *     RD_DIFF_SEED=77 RD_DIFF_COUNT=1 .../test_differential         one seed
 *     RD_DIFF_SEED=77 RD_DIFF_COUNT=1 RD_DIFF_SHRINK=1 ...   and the smallest part that fails
 *     RD_DIFF_FAILURES=1000                  failing seeds before a part of the run gives up
 *     RD_DIFF_LARGE=20000                    so many seeds of large expressions */
#define _GNU_SOURCE
#include "differential.h"
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_COUNT = THREAD_SANITIZED ? 400
                    : SANITIZED      ? 1200
                                     : 20000,
    DEFAULT_LARGE = DEFAULT_COUNT / 50
};

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
extern void                                 __sanitizer_set_death_callback(void (*callback)(void));
#else
static void __sanitizer_set_death_callback(void (*callback)(void))
{
    (void)callback;
}
#endif
enum { PARTS = 8, SECONDS_A_SEED = 120 };

static uint64_t current_seed;

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* ---- Which seed was it, when the process dies ------------------------------------------------ */

static void say_seed(void)
{
    char      text[200];
    const int n = snprintf(text, sizeof text,
                           "differential: died at seed %" PRIu64 ": RD_DIFF_SEED=%" PRIu64
                           " RD_DIFF_COUNT=1 RD_DIFF_SHRINK=1\n",
                           current_seed, current_seed);

    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        return;
}

static void on_signal(int number)
{
    say_seed();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

    __sanitizer_set_death_callback(say_seed);
    for (int i = 0; !SANITIZED && i < 5; i++)
        signal(numbers[i], on_signal);
    signal(SIGALRM, on_signal); /* a seed that never ends */
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

/* With RD_DIFF_SHRINK the evaluations run in children: a process that has used OpenMP cannot fork
 * and use it again. */
static bool holds_in_child(uint64_t seed)
{
    int         status = 0;
    const pid_t child  = fork();

    if (child == 0) {
        differential_stats stats  = { 0 };
        rd_text            report = { 0 };
        bool               ok;

        alarm(SECONDS_A_SEED);
        ok = differential_trial(seed, &stats, &report);
        if (!ok)
            fprintf(stderr, "seed %" PRIu64 ":\n%s\n", seed, report.at);
        rd_text_free(&report);
        _exit(ok ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool shrunk(uint64_t seed)
{
    rd_text report = { 0 };

    if (holds_in_child(seed))
        return true;
    differential_shrink(seed, &report);
    fprintf(stderr, "seed %" PRIu64 ", shrunk:\n%s\n", seed, report.at);
    rd_text_free(&report);
    return false;
}

static bool holds(uint64_t seed, differential_stats *stats)
{
    rd_text report = { 0 };
    bool    ok;

    current_seed = seed;
    if (from_environment("RD_DIFF_SHRINK", 0))
        return shrunk(seed);
    alarm(SECONDS_A_SEED);
    ok = differential_trial(seed, stats, &report);
    if (!ok)
        fprintf(stderr,
                "seed %" PRIu64 ": (RD_DIFF_SEED=%" PRIu64
                " RD_DIFF_COUNT=1 RD_DIFF_SHRINK=1)\n%s\n",
                seed, seed, report.at);
    rd_text_free(&report);
    return ok;
}

static void print_stats(const differential_stats *s, uint64_t first, uint64_t last)
{
    printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRId64 " results, %" PRId64 " elements (%" PRId64
           " within a bound, %" PRId64 " unsure), %" PRId64 " by plan, %" PRId64 " in place;",
           first, last, s->results, s->elements, s->bounded, s->unsure, s->by_plan, s->in_place);
    for (int k = 0; k <= RD_EXPR_COMPLEX; k++)
        printf(" %s %" PRId64, rd_expr_kind_name((rd_expr_kind)k), s->kind[k]);
    printf("; %" PRId64 " steps refused, %" PRId64 " dropped; %" PRId64
           " programs on tiles, %" PRId64 " not\n",
           s->refused, s->dropped, s->programs.tiles, s->programs.scalar);
    fflush(stdout);
}

static void run_seeds(uint64_t lo, uint64_t hi)
{
    const int64_t      most     = from_environment("RD_DIFF_FAILURES", 5);
    differential_stats stats    = { 0 };
    int                failures = 0;

    watch();
    for (uint64_t seed = lo; seed < hi && failures < most; seed++)
        failures += !holds(seed, &stats);
    alarm(0);
    if (stats.seeds)
        print_stats(&stats, lo, hi - 1);
    ck_assert_msg(failures == 0, "%d seeds failed", failures);
    ck_assert_msg(stats.unsure * 50 <= stats.elements, "too much is unsure to call this a test");
    rd_tier_wait();
    ck_assert_msg(rd_tier_stats_now().failed == 0, "%lld texts of loops cannot be compiled",
                  (long long)rd_tier_stats_now().failed);
    ck_assert_msg(stats.programs.scalar < 50 || stats.programs.tiles >= 3 * stats.programs.scalar,
                  "too few programs run on tiles");
}

START_TEST(seeds)
{
    const int64_t count =
        from_environment("RD_DIFF_COUNT", DEFAULT_COUNT / (SANITIZED ? 1 : suite_long_part(8)));
    const uint64_t first = (uint64_t)from_environment("RD_DIFF_SEED", 1);

    run_seeds(first + (uint64_t)(count * _i / PARTS), first + (uint64_t)(count * (_i + 1) / PARTS));
}
END_TEST

START_TEST(large_seeds)
{
    const int64_t count = from_environment(
        "RD_DIFF_LARGE",
        getenv("RD_DIFF_SEED") ? 0 : DEFAULT_LARGE / (SANITIZED ? 1 : suite_long_part(8)));

    run_seeds(RANDOM_LARGE + (uint64_t)(count * _i / PARTS),
              RANDOM_LARGE + (uint64_t)(count * (_i + 1) / PARTS));
}
END_TEST

/* A machine that lacks some of them says so. */
START_TEST(interpreters)
{
    for (int isa = 0; isa < isa_count(); isa++)
        printf("%s%s", isa ? ", " : "interpreters: ", isa_name(isa));
    printf("\n");
    ck_assert_int_ge(isa_count(), 2);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("differential");
    TCase   *tc     = tcase_create("random expressions");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, interpreters);
    tcase_add_loop_test(tc, seeds, 0, PARTS);
    tcase_add_loop_test(tc, large_seeds, 0, PARTS);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* suite.h - Check, as all suites use it. */
#ifndef RD_TESTS_SUITE_H
#define RD_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tests ask for threads to see tasks, of however little work.  Weak: suites of the public library alone
 * have no such call. */
void                                     rd_team_share_all(_Bool share) __attribute__((weak));
__attribute__((constructor)) static void share_all_work(void)
{
    if (rd_team_share_all)
        rd_team_share_all(1);
}

/* Check writes the place of every assertion that holds to a file: in loops over elements that took
 * most of the time. */
#define _mark_point(file, line) ((void)0)

/* A failure has the line of the test, not of a helper that checks for many tests: failure.c. */
void suite_failed(const char *file, int line, const char *expr, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
#define _ck_assert_failed suite_failed

/* RDIM_CASE=NAME or NAME:ROW runs one test alone, or one row of its table: "shapes:3". */
static inline void suite_add(TCase *tc, const TTest *test, int signal, signed char status,
                             int start, int end)
{
    const char  *only = getenv("RDIM_CASE");
    const size_t n    = only ? strcspn(only, ":") : 0;

    if (only && (strlen(test->name) != n || strncmp(only, test->name, n) != 0))
        return;
    if (only && only[n] == ':') {
        const int row = atoi(only + n + 1);

        if (row < start || row >= end)
            return;
        start = row;
        end   = row + 1;
    }
    _tcase_add_test(tc, test, signal, status, start, end);
}
#define _tcase_add_test suite_add

extern char *program_invocation_name; /* the C library's */

/* After failures says how to run one of them alone; Check's line of each has the test and its row. */
static inline void suite_run_all(SRunner *runner, enum print_output print)
{
    srunner_run_all(runner, print);
    if (srunner_ntests_failed(runner) > 0 && !getenv("RDIM_CASE"))
        printf("\"file:line:F:group:TEST:ROW: ...\" alone: RDIM_CASE=TEST:ROW %s\n",
               program_invocation_name);
}
#define srunner_run_all suite_run_all

/* Sanitizers see as much in a part of the cases. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* By the thread sanitizer, which is the slowest and has least to find where nothing runs at the
 * same time. */
#ifdef __SANITIZE_THREAD__
enum { THREAD_SANITIZED = 1 };
#else
enum { THREAD_SANITIZED = 0 };
#endif

/* True in a plain run, which has minutes. script/test all sets RDIM_TESTS. */
static inline bool suite_is_plain(void)
{
    return !getenv("RDIM_TESTS");
}

/* Adds rows of a table of which each runs a compiler, so that all take minutes.  A plain run takes
 * three or so of a long table; with RDIM_TESTS, as in script/test all, it takes all. The step is
 * odd, as tables often have an even number of columns. */
static inline void suite_add_compiled(TCase *tc, const TTest *test, int first, int end)
{
    const int n    = end - first;
    const int step = !suite_is_plain() || n < 4 ? 1 : n < 9 ? 3 : ((n + 2) / 3) | 1;

    for (int row = first; row < end; row += step)
        tcase_add_loop_test(tc, test, row, row + 1);
}

/* The longest suites take one case of `part`, as script/test has minutes; all cases where RDIM_TESTS
 * is `every`, for who has an evening. */
static inline int suite_part(int part)
{
    const char *tests = getenv("RDIM_TESTS");

    return tests && strcmp(tests, "every") == 0 ? 1 : part;
}

/* The same for tables of hundreds of cases, of which a plain run takes about a third as many. Its
 * step is odd and has no common factor with `part`, so the cases still come from all columns of a
 * table. */
static inline int suite_long_part(int part)
{
    return suite_is_plain() ? 3 * part + 1 + part % 2 : suite_part(part);
}

#endif

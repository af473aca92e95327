/* suite.h - Check, as all suites use it. */
#ifndef RD_TESTS_SUITE_H
#define RD_TESTS_SUITE_H

#include <check.h>
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

/* The longest suites take one case of `part`, as script/test has minutes; each where RDIM_TESTS is
 * `every`, for who has an evening. */
static inline int suite_part(int part)
{
    const char *tests = getenv("RDIM_TESTS");

    return tests && strcmp(tests, "every") == 0 ? 1 : part;
}

#endif

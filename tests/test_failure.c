/* test_failure.c - a failure in a helper is reported at the line of the test that called it. */
#include "suite.h"

enum { WANTED = 3 };

/* A helper that checks, as many suites have them. */
__attribute__((noinline)) static void expect(int found, int row)
{
    ck_assert_msg(found == WANTED, "row %d: %d, not %d", row, found, WANTED);
}

enum { LINE_OF_CALL = __LINE__ + 3 };
START_TEST(in_a_helper)
{
    expect(4 + _i, _i);
}
END_TEST

enum { LINE_OF_CHECK = __LINE__ + 3 };
START_TEST(in_the_test)
{
    ck_assert_int_eq(_i, WANTED);
}
END_TEST

/* The first failure of a suite of that test alone, with two rows. */
static TestResult *run_inner(SRunner **runner, const TTest *test)
{
    Suite       *s  = suite_create("inner");
    TCase       *tc = tcase_create("inner");
    TestResult **failures, *first;

    _tcase_add_test(tc, test, 0, 0, 1, 3);
    suite_add_tcase(s, tc);
    *runner = srunner_create(s);
    srunner_set_fork_status(*runner, CK_FORK);
    srunner_run(*runner, NULL, NULL, CK_SILENT);
    ck_assert_int_eq(srunner_ntests_failed(*runner), 2);
    failures = srunner_failures(*runner);
    first    = failures[0];
    free(failures);
    return first;
}

START_TEST(has_the_line_of_the_test)
{
    SRunner    *runner;
    TestResult *result = run_inner(&runner, in_a_helper);

    ck_assert_int_eq(tr_lno(result), LINE_OF_CALL);
    ck_assert_ptr_nonnull(strstr(tr_lfile(result), "tests/test_failure.c"));
    ck_assert_ptr_nonnull(strstr(tr_msg(result), "row 1: 5, not 3"));
    ck_assert_ptr_nonnull(strstr(tr_msg(result), "test_failure.c:9 in expect"));
    srunner_free(runner);
}
END_TEST

START_TEST(keeps_the_line_of_a_test)
{
    SRunner    *runner;
    TestResult *result = run_inner(&runner, in_the_test);

    ck_assert_int_eq(tr_lno(result), LINE_OF_CHECK);
    ck_assert_ptr_nonnull(strstr(tr_msg(result), "_i == 1, WANTED == 3"));
    ck_assert_ptr_null(strstr(tr_msg(result), "checked at"));
    srunner_free(runner);
}
END_TEST

int main(void)
{
    Suite   *s      = suite_create("failure");
    TCase   *tc     = tcase_create("failure");
    SRunner *runner = srunner_create(s);
    int      failed;

    tcase_add_test(tc, has_the_line_of_the_test);
    tcase_add_test(tc, keeps_the_line_of_a_test);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}

/* failure.c - where a check failed: the line of the test that the suite's reader looks for.
 *
 * Many checks stand in helpers that all rows of a suite share, so the line of the check itself says
 * little.  Here the line of the test function is put in its place, and the message names the
 * helpers on the way:
 *
 *     tests/test_reduce.c:120:F:reduce:types:3: Assertion '..' failed: argmin: 3, not 4
 *         (checked at tests/oracle.c:88 in expect_equal, called at tests/test_reduce.c:97 in one_type)
 *
 * The lines are in the debugging information (-g1); addr2line of binutils reads it. */
#define _GNU_SOURCE
#include <check.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 32, MOST_TEXT = 200 };

/* A call on the stack: a function, and where it calls the next one. */
typedef struct caller {
    char function[MOST_TEXT], file[MOST_TEXT];
    int  line;
} caller;

void suite_failed(const char *file, int line, const char *expr, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* True if START_TEST made the function: it puts "_fn" behind the name of the test. */
static bool is_test(const char *function)
{
    const size_t n = strlen(function);

    return n > 3 && strcmp(function + n - 3, "_fn") == 0;
}

/* Starts addr2line for the frames of this program from that of the check on.  NULL: there is
 * none. */
static FILE *ask_for_lines(const void *check)
{
    void   *frame[MOST_FRAMES];
    char    command[4096];
    int     n     = backtrace(frame, MOST_FRAMES), used;
    bool    begun = false;
    Dl_info program;

    if (!dladdr((void *)(uintptr_t)suite_failed, &program))
        return NULL;
    used = snprintf(command, sizeof command, "addr2line -f -i -e /proc/%d/exe", (int)getpid());
    for (int k = 0; k < n && used < (int)sizeof command - 32; k++) {
        Dl_info   info;
        uintptr_t at = (uintptr_t)frame[k] - 1; /* the call, not the instruction behind it */

        begun |= frame[k] == check;
        if (begun && dladdr(frame[k], &info) && info.dli_fbase == program.dli_fbase)
            used += snprintf(command + used, sizeof command - (size_t)used, " %#lx",
                             (unsigned long)(at - (uintptr_t)info.dli_fbase));
    }
    snprintf(command + used, sizeof command - (size_t)used, " 2> /dev/null");
    return popen(command, "r");
}

/* Reads one caller: addr2line writes the function on a line, and FILE:LINE on the next. */
static bool read_caller(FILE *lines, caller *c)
{
    char *colon;

    if (!fgets(c->function, sizeof c->function, lines) || !fgets(c->file, sizeof c->file, lines))
        return false;
    c->function[strcspn(c->function, "\n")] = '\0';
    colon                                   = strrchr(c->file, ':');
    if (!colon)
        return false;
    c->line = atoi(colon + 1);
    *colon  = '\0';
    return true;
}

/* Finds the test function among the callers, and writes the helpers between it and the check.
 * False: the check stands in the test itself, or the lines are not known. */
static bool find_test(const void *check, const char *file, int line, caller *test, char *helpers,
                      size_t size)
{
    FILE  *lines = ask_for_lines(check);
    bool   found = false;
    size_t used  = 0;
    int    n     = 0;

    while (lines && !found && read_caller(lines, test)) {
        const char *tests = strstr(test->file, "tests/");

        if (tests)
            memmove(test->file, tests, strlen(tests) + 1);
        found = is_test(test->function);
        if (!found && test->line > 0 && used < size)
            used += (size_t)snprintf(helpers + used, size - used, "%s at %s:%d in %s",
                                     n ? ", called" : "checked", n ? test->file : file,
                                     n ? test->line : line, test->function);
        n++;
    }
    if (lines)
        pclose(lines);
    return found && n > 1;
}

/* Takes the place of Check's own function in the macros of all assertions. */
void suite_failed(const char *file, int line, const char *expr, const char *format, ...)
{
    char    text[2048] = "", helpers[1024] = "";
    caller  test;
    va_list list;

    va_start(list, format);
    if (format)
        vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (find_test(__builtin_return_address(0), file, line, &test, helpers, sizeof helpers))
        _ck_assert_failed(test.file, test.line, expr, "%s%s(%s)", format ? text : expr,
                          format ? "\n    " : " ", helpers);
    if (format)
        _ck_assert_failed(file, line, expr, "%s", text);
    _ck_assert_failed(file, line, expr, NULL);
}

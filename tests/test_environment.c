/* test_environment.c - what the environment may tell: the table is the page's, and a program that was
 * started with rights which its user has not is told nothing that names code or files. */
#define _GNU_SOURCE
#include "core/environment.h"
#include "suite.h"
#include <errno.h>
#include <fcntl.h>
#include <rdim.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NOBODY = 65534, ROWS = 300, COLUMNS = 100 };

/* ---- The page -------------------------------------------------------------------------------- */
START_TEST(page_has_each_variable)
{
    FILE *page        = fopen("docs/environment.md", "r");
    char  text[20000] = "", row[80];

    ck_assert_ptr_nonnull(page);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, page), 0);
    fclose(page);
    for (int v = 0; v < RD_N_VARIABLES; v++) {
        snprintf(row, sizeof row, "| `%s` |", rd_variable_name((rd_variable)v));
        ck_assert_msg(strstr(text, row) != NULL, "no row %s", row);
    }
}
END_TEST

/* ---- A privileged program -------------------------------------------------------------------- */
/* What this program does as the victim: it evaluates with all that the environment asks for, and says
 * what it was told. */
static int victim(const char *how)
{
    static float x[ROWS * COLUMNS], y[ROWS];

    if (!strcmp(how, "setuid0") && setuid(0) != 0)
        return 3;
    if (getauxval(AT_SECURE) == 0)
        return 2; /* the file system does not give rights */
    rd_ctx  *ctx = rd_ctx_new(NULL);
    rd_expr *a   = rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS));

    rd_eval(ctx, rd_sum(rd_exp(rd_neg(rd_square(rd_sub(a, rd_num(ctx, 3))))), RD_DIMS(1)),
            RD_INTO(y, RD_SHAPE(ROWS)));
    const bool done = rd_error(ctx) == RD_OK;
    rd_ctx_free(ctx);
    for (int v = 0; v < RD_N_VARIABLES; v++)
        if (!strcmp(rd_variable_name((rd_variable)v), "RDIM_CC") && rd_environment((rd_variable)v))
            return 4;
    return done ? 0 : 5;
}

static char place[64], program[100], precious[100], marker[100], compiler[100];

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static void copy_program(void)
{
    static char bytes[1 << 16];
    FILE       *from = fopen("/proc/self/exe", "rb"), *to = fopen(program, "wb");

    ck_assert(from && to);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        ck_assert_uint_eq(fwrite(bytes, 1, n, to), n);
    fclose(from);
    ck_assert_int_eq(fclose(to), 0);
}

/* A directory that all may enter, with the program, a file of root's, and one that all may write. */
static void begin(void)
{
    char text[200];

    snprintf(place, sizeof place, P_tmpdir "/rdim-environment-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place));
    ck_assert_int_eq(chmod(place, 0755), 0);
    snprintf(program, sizeof program, "%s/victim", place);
    snprintf(precious, sizeof precious, "%s/precious", place);
    snprintf(marker, sizeof marker, "%s/marker", place);
    snprintf(compiler, sizeof compiler, "%s/compiler", place);
    write_file(precious, "precious", 0600);
    write_file(marker, "", 0666);
    snprintf(text, sizeof text, "#!/bin/sh\necho ran >> %s\nexit 1\n", marker);
    write_file(compiler, text, 0755);
    copy_program();
}

static void end(void)
{
    unlink(program);
    unlink(precious);
    unlink(marker);
    unlink(compiler);
    rmdir(place);
}

static void give_file_capability(void)
{
    /* struct vfs_cap_data, version 2, effective: CAP_DAC_OVERRIDE is bit 1. */
    const uint32_t data[5] = { 0x02000001, 1u << 1, 0, 0, 0 };

    ck_assert_int_eq(chmod(program, 0755), 0);
    ck_assert_msg(setxattr(program, "security.capability", data, sizeof data, 0) == 0 ||
                      errno == EOPNOTSUPP || errno == EPERM,
                  "setxattr: %s", strerror(errno));
}

/* Runs the program as nobody, who controls the environment: its exit status. */
static int run_as_nobody(const char *how)
{
    char        cc[120], trace[120], cache[120];
    const pid_t pid = fork();
    int         status;

    snprintf(cc, sizeof cc, "RDIM_CC=%s", compiler);
    snprintf(trace, sizeof trace, "RDIM_TRACE=%s", precious);
    snprintf(cache, sizeof cache, "XDG_CACHE_HOME=%s", place);
    if (pid == 0) {
        char *const argv[] = { program, (char *)"victim", (char *)(uintptr_t)how, NULL };
        char *const env[]  = { cc,
                               trace,
                               cache,
                               (char *)"RDIM_DEBUG=trace",
                               (char *)"RDIM_TIER1=sync",
                               (char *)"RDIM_CODEGEN=always",
                               (char *)"PATH=/usr/bin:/bin",
                               NULL };

        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
            _exit(6);
        execve(program, argv, env);
        _exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static bool has_text(const char *path, const char *text)
{
    char  line[40] = "";
    FILE *file     = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    (void)!fgets(line, sizeof line, file);
    fclose(file);
    return !strcmp(line, text);
}

START_TEST(privileged_program_is_told_nothing)
{
    static const char *const ways[] = { "setuid", "setuid0", "capability" };
    int                      status;

    if (geteuid() != 0 || SANITIZED) {
        printf("skipped: a privileged program can be made by root alone, without sanitizers\n");
        return;
    }
    if (_i == 2)
        give_file_capability();
    else
        ck_assert_int_eq(chmod(program, 04755), 0);
    status = run_as_nobody(ways[_i]);
    if (status == 2) {
        printf("skipped: files give no rights in %s (%s)\n", place, ways[_i]);
        return;
    }
    ck_assert_msg(status == 0, "%s: status %d", ways[_i], status);
    ck_assert_msg(has_text(precious, "precious"), "%s: a file of root's has changed", ways[_i]);
    ck_assert_msg(has_text(marker, ""), "%s: the user's compiler has run", ways[_i]);
}
END_TEST

/* The same questions, asked of a program without such rights: each of them can fail. */
START_TEST(ordinary_program_is_told_all)
{
    setenv("RDIM_CC", "/nonexistent", 1);
    ck_assert_str_eq(rd_environment(RD_ENV_RDIM_CC), "/nonexistent");
    rd_environment_distrust(true);
    ck_assert_ptr_null(rd_environment(RD_ENV_RDIM_CC));
    ck_assert_ptr_null(rd_environment(RD_ENV_PATH));
    setenv("RDIM_ISA", "scalar", 1);
    ck_assert_str_eq(rd_environment(RD_ENV_RDIM_ISA), "scalar");
    rd_environment_distrust(false);
    unsetenv("RDIM_CC");
    unsetenv("RDIM_ISA");
}
END_TEST

/* ---- Files that it names --------------------------------------------------------------------- */
/* A FIFO that nobody reads must not stop an evaluation. */
START_TEST(trace_into_a_fifo_is_refused)
{
    char    fifo[120];
    float   x[4] = { 1, 2, 3, 4 }, y;
    rd_ctx *ctx  = rd_ctx_new(NULL);

    snprintf(fifo, sizeof fifo, "%s/fifo", place);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    setenv("RDIM_DEBUG", "trace", 1);
    setenv("RDIM_TRACE", fifo, 1);
    ck_assert(rd_eval(ctx, rd_sum(rd_wrap(ctx, x, RD_SHAPE(4)), RD_ALL), RD_INTO(&y, RD_SCALAR)) ==
              RD_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), fifo));
    rd_ctx_free(ctx);
    unlink(fifo);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "victim"))
        return victim(argv[2]);
    Suite   *s  = suite_create("environment");
    TCase   *tc = tcase_create("environment");
    SRunner *r  = srunner_create(s);

    tcase_set_timeout(tc, 300);
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, page_has_each_variable);
    tcase_add_test(tc, ordinary_program_is_told_all);
    tcase_add_loop_test(tc, privileged_program_is_told_nothing, 0, 3);
    tcase_add_test(tc, trace_into_a_fifo_is_refused);
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}

/* Compiled objects: what goes into the store, what comes out of it, and what must not. */
#define _GNU_SOURCE
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/jit/object.h"
#include "kernels/store/store.h"
#include "suite.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const flags[] = { "-std=gnu11", "-O1", "-fPIC", "-shared", NULL };
static char              base[64], store[80]; /* $XDG_CACHE_HOME, and the directory in it */

static const char *function_of(int number)
{
    static char text[80];
    snprintf(text, sizeof text, "int number(void) { return %d; }\n", number);
    return text;
}

static void begin(void)
{
    const char *place = getenv("TMPDIR");

    snprintf(base, sizeof base, "%s/rdim-objects-XXXXXX", place ? place : P_tmpdir);
    ck_assert_ptr_nonnull(mkdtemp(base));
    snprintf(store, sizeof store, "%s/rdim", base);
    setenv("XDG_CACHE_HOME", base, 1);
    unsetenv("RDIM_CC");
}

static void empty(const char *path)
{
    DIR *dir = opendir(path);

    for (struct dirent *e; dir && (e = readdir(dir));)
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
}

static void end(void)
{
    empty(store);
    unlink(store);
    rmdir(store);
    empty(base);
    rmdir(base);
}

/* Makes the object in a process of its own, as objects stay loaded: where it came from, or 9 if it
 * is another's. */
static int make_with(const char *text, int number, bool compile)
{
    const pid_t pid = fork();
    int         status;

    if (pid == 0) {
        void                *found;
        const rd_object_from from = rd_object_make(text, flags, "number", rd_env_snapshot_now(),
                                                   compile ? RD_LONG_PATIENCE : 0, NULL, &found);
        int (*call)(void);

        if ((from == RD_OBJECT_NONE) != !found)
            _exit(9);
        memcpy(&call, &found, sizeof call);
        _exit(found && call() != number ? 9 : (int)from);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static int make(int number)
{
    return make_with(function_of(number), number, true);
}

/* Files in the store, and the name of one that is an object. */
static int files(char *object)
{
    DIR *dir = opendir(store);
    int  n   = 0;

    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            n++;
            if (object && strstr(e->d_name, ".so"))
                snprintf(object, 400, "%s/%s", store, e->d_name);
        }
    if (dir)
        closedir(dir);
    return n;
}

START_TEST(compiles_once)
{
    ck_assert_int_eq(make_with(function_of(1), 1, false), RD_OBJECT_NONE);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
    ck_assert_int_eq(make_with(function_of(1), 1, false), RD_OBJECT_STORED);
    ck_assert_int_eq(make(2), RD_OBJECT_COMPILED);
    ck_assert_int_eq(files(NULL), 2);
}
END_TEST

START_TEST(keeps_the_directory_closed)
{
    struct stat  facts;
    char         object[400];
    const mode_t before = umask(0);

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    umask(before);
    ck_assert_int_eq(stat(store, &facts), 0);
    ck_assert_int_eq(facts.st_mode & 07777, 0700);
    files(object);
    ck_assert_int_eq(stat(object, &facts), 0);
    ck_assert_int_eq(facts.st_mode & 07777, 0600);
}
END_TEST

/* ---- Directories that others may have filled ------------------------------------------------- */
START_TEST(refuses_an_open_directory)
{
    static const mode_t modes[] = { 0701, 0710, 0750, 0755, 0770, 0777, 01777 };

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        chmod(store, modes[k]);
        ck_assert_msg(make(1) == RD_OBJECT_NONE, "mode %o", (unsigned)modes[k]);
    }
    chmod(store, 0700);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
}
END_TEST

START_TEST(refuses_anothers_directory)
{
    if (geteuid() != 0)
        return; /* only root can give a directory away */
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    ck_assert_int_eq(chown(store, 1, 1), 0);
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
    ck_assert_int_eq(chown(store, 0, 0), 0);
}
END_TEST

START_TEST(refuses_a_link)
{
    char aside[100];

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    snprintf(aside, sizeof aside, "%s/aside", base);
    ck_assert_int_eq(rename(store, aside), 0);
    ck_assert_int_eq(symlink(aside, store), 0);
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
    unlink(store);
    ck_assert_int_eq(rename(aside, store), 0);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
}
END_TEST

START_TEST(refuses_a_file)
{
    close(open(store, O_WRONLY | O_CREAT, 0600));
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
    unlink(store);
}
END_TEST

START_TEST(wants_an_absolute_path)
{
    setenv("HOME", base, 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED); /* in ~/.cache */
    ck_assert_int_ne(access("relative", F_OK), 0);
    snprintf(store, sizeof store, "%s/.cache", base);
    setenv("XDG_CACHE_HOME", store, 1);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
    snprintf(store, sizeof store, "%s/.cache/rdim", base);
    empty(store);
    rmdir(store);
    snprintf(store, sizeof store, "%s/.cache", base);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
}
END_TEST

/* ---- Objects that are not what they should be ------------------------------------------------ */
static long size_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (long)facts.st_size : -1;
}

START_TEST(compiles_again_what_is_cut_short)
{
    char object[400];
    long whole;

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    files(object);
    whole = size_of(object);
    for (int k = 0; k <= 8; k++) {
        ck_assert_int_eq(truncate(object, k < 8 ? whole * k / 8 : whole - 1), 0);
        ck_assert_msg(make_with(function_of(1), 1, false) == RD_OBJECT_NONE, "%d eighths", k);
        ck_assert_msg(make(1) == RD_OBJECT_COMPILED, "%d eighths", k);
        ck_assert_int_eq(size_of(object), whole);
    }
}
END_TEST

START_TEST(compiles_again_what_is_damaged)
{
    char object[400];
    long whole;

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    files(object);
    whole = size_of(object);
    for (int k = 0; k < 8; k++) {
        const int fd = open(object, O_RDWR);
        char      byte;

        ck_assert_int_eq(pread(fd, &byte, 1, whole * k / 8 + k), 1);
        byte ^= 64;
        ck_assert_int_eq(pwrite(fd, &byte, 1, whole * k / 8 + k), 1);
        close(fd);
        ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    }
}
END_TEST

START_TEST(compiles_again_what_others_may_write)
{
    char object[400];

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    files(object);
    chmod(object, 0620);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    chmod(object, 0602);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
}
END_TEST

START_TEST(compiles_again_what_is_a_link)
{
    char object[400], aside[100];

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    files(object);
    snprintf(aside, sizeof aside, "%s/aside", base);
    ck_assert_int_eq(rename(object, aside), 0);
    ck_assert_int_eq(symlink(aside, object), 0);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
}
END_TEST

/* Whole and sealed, but under another's name. */
START_TEST(refuses_what_cannot_prove_itself)
{
    char one[400], two[400];

    ck_assert_int_eq(make(2), RD_OBJECT_COMPILED);
    files(two);
    unlink(two);
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    files(one);
    ck_assert_int_eq(rename(one, two), 0);
    ck_assert_int_eq(make(2), RD_OBJECT_NONE);
    ck_assert_int_eq(files(NULL), 0);
    ck_assert_int_eq(make(2), RD_OBJECT_COMPILED);
}
END_TEST

/* ---- Compilers ------------------------------------------------------------------------------- */
START_TEST(does_without_a_compiler)
{
    static const char *const none[] = { "/nonexistent/cc", "no-such-compiler", "./cc", "/tmp",
                                        "/dev/null" };

    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        setenv("RDIM_CC", none[k], 1);
        ck_assert_msg(make(1) == RD_OBJECT_NONE, "%s", none[k]);
    }
    unsetenv("RDIM_CC");
    setenv("PATH", "", 1);
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
    unsetenv("PATH");
    ck_assert_int_eq(make(1), RD_OBJECT_NONE);
}
END_TEST

static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    chmod(path, 0700);
}

/* The object's name is the argument after -o. */
START_TEST(does_without_one_that_fails)
{
    static const char *const scripts[] = {
        "exit 1",
        "exit 0",
        "kill -9 $$",
        "while [ \"$1\" != -o ]; do shift; done; exit 0 > \"$2\"",           /* of no bytes */
        "while [ \"$1\" != -o ]; do shift; done; echo junk > \"$2\"",        /* no object */
        "while [ \"$1\" != -o ]; do shift; done; cp /bin/sh \"$2\"; exit 0", /* no library */
        /* no proof */
        "while [ \"$1\" != -o ]; do shift; done; cc -shared -o \"$2\" -x c /dev/null",
        "cc \"$@\"; exit 1",
    };
    char script[100];

    snprintf(script, sizeof script, "%s/compiler", base);
    setenv("RDIM_CC", script, 1);
    for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++) {
        write_script(script, scripts[k]);
        ck_assert_msg(make(1) == RD_OBJECT_NONE, "%s", scripts[k]);
        ck_assert_msg(make(1) == RD_OBJECT_NONE, "%s", scripts[k]);
        ck_assert_msg(files(NULL) == 0, "%s", scripts[k]);
    }
    write_script(script, "exec cc \"$@\"");
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
    write_script(script, "exec  cc \"$@\""); /* another compiler */
    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
}
END_TEST

START_TEST(refuses_what_is_no_c)
{
    ck_assert_int_eq(make_with("int number(void) { return }", 0, true), RD_OBJECT_NONE);
    ck_assert_int_eq(make_with("int another(void) { return 0; }", 0, true), RD_OBJECT_NONE);
    ck_assert_int_le(files(NULL), 1);
}
END_TEST

START_TEST(does_not_ask_how_it_ended)
{
    signal(SIGCHLD, SIG_IGN); /* nobody can be told */
    const pid_t pid = fork();

    if (pid == 0) {
        void *found;
        _exit((int)rd_object_make(function_of(1), flags, "number", rd_env_snapshot_now(),
                                  RD_LONG_PATIENCE, NULL, &found));
    }
    signal(SIGCHLD, SIG_DFL);
    int status = 0;
    waitpid(pid, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), RD_OBJECT_COMPILED);
}
END_TEST

START_TEST(does_without_standard_streams)
{
    const pid_t pid = fork();
    int         status;

    if (pid == 0) {
        void *found;
        close(0), close(1), close(2);
        _exit((int)rd_object_make(function_of(1), flags, "number", rd_env_snapshot_now(),
                                  RD_LONG_PATIENCE, NULL, &found));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WEXITSTATUS(status), RD_OBJECT_COMPILED);
}
END_TEST

/* A process that ends while it compiles leaves what another one removes, once that cannot be of use
 * any more. */
START_TEST(sweeps_what_is_left)
{
    static const struct {
        const char *name;
        int         age; /* seconds */
        bool        stays;
    } rows[] = { { "a.1.0.c", 7200, false }, { "a.1.1.tmp", 7200, false }, { "b.1.0.c", 60, true },
                 { "b.1.1.tmp", 60, true },  { "other", 7200, true },      { ".c", 7200, true } };
    char path[200];

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct timespec then[2] = { { time(NULL) - rows[k].age, 0 },
                                          { time(NULL) - rows[k].age, 0 } };

        snprintf(path, sizeof path, "%s/%s", store, rows[k].name);
        write_script(path, "");
        ck_assert_int_eq(utimensat(AT_FDCWD, path, then, 0), 0);
    }
    ck_assert_int_eq(make(2), RD_OBJECT_COMPILED);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(path, sizeof path, "%s/%s", store, rows[k].name);
        ck_assert_msg((access(path, F_OK) == 0) == rows[k].stays, "%s", rows[k].name);
    }
}
END_TEST

/* ---- A limit --------------------------------------------------------------------------------- */
/* An object of 1000 bytes that was used so many seconds ago. */
static void put_object(const char *name, int age)
{
    const struct timespec then[2] = { { time(NULL) - age, 0 }, { time(NULL) - age, 0 } };
    char                  path[200];
    FILE                 *file;

    snprintf(path, sizeof path, "%s/%s", store, name);
    ck_assert_ptr_nonnull(file = fopen(path, "w"));
    for (int k = 0; k < 1000; k++)
        putc('x', file);
    fclose(file);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, then, 0), 0);
}

static bool is_there(const char *name)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", store, name);
    return access(path, F_OK) == 0;
}

START_TEST(keeps_to_the_limit)
{
    static const struct {
        const char *limit;
        int         kept; /* of the four objects, those that were used last */
    } rows[]      = { { NULL, 4 },
                      { "4000", 4 },
                      { "3999", 3 },
                      { "2K", 2 },
                      { "1000", 1 },
                      { "0", 0 },
                      { "1G", 4 },
                      { "-1", 4 },
                      { "2 GiB", 4 },
                      { "", 4 },
                      { "99999999999999999999G", 4 } };
    const int dir = rd_store_open(base, NULL);

    ck_assert_int_ge(dir, 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int o = 0; o < 4; o++)
            put_object((const char[]){ (char)('a' + o), 0 }, 4000 * (o + 1));
        put_object("z.1.0.tmp", 60); /* which some process writes just now */
        rd_store_trim(dir, rows[k].limit);
        for (int o = 0; o < 4; o++)
            ck_assert_msg(is_there((const char[]){ (char)('a' + o), 0 }) == (o < rows[k].kept),
                          "limit %s, object %d", rows[k].limit ? rows[k].limit : "none", o);
        ck_assert(is_there("z.1.0.tmp"));
    }
    close(dir);
}
END_TEST

/* What was used is kept, however long ago it was made. */
START_TEST(counts_uses)
{
    static const struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
    char                         path[400];
    struct stat                  facts;

    ck_assert_int_eq(make(1), RD_OBJECT_COMPILED);
    DIR *files = opendir(store);
    for (struct dirent *e; (e = readdir(files));)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", store, e->d_name);
            ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
        }
    closedir(files);
    ck_assert_int_eq(make(1), RD_OBJECT_STORED);
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_int_gt(facts.st_mtime, 1);
}
END_TEST

/* A compiler that joins its parent's process group is not stopped with its own one. */
START_TEST(stops_one_that_leaves_its_group)
{
    char         script[100];
    const time_t begun = time(NULL);
    void        *found;

    snprintf(script, sizeof script, "%s/compiler", base);
    write_script(script, "exec perl -MPOSIX -e 'POSIX::setpgid(0, getpgrp(getppid())); sleep 600'");
    setenv("RDIM_CC", script, 1);
    ck_assert_int_eq(
        rd_object_make(function_of(1), flags, "number", rd_env_snapshot_now(), 1, NULL, &found),
        RD_OBJECT_NONE);
    ck_assert_int_lt(time(NULL) - begun, 300);
}
END_TEST

/* A text that takes too long goes without; others are compiled, until three in a row take too long. */
START_TEST(blames_the_text)
{
    char  script[100];
    void *found;

    snprintf(script, sizeof script, "%s/compiler", base);
    write_script(script,
                 "for a; do case $a in *.c) grep -q 'return 7' $a && sleep 600;; esac; done\n"
                 "exec cc \"$@\"");
    setenv("RDIM_CC", script, 1);
    for (int k = 1; k <= 3; k++) {
        ck_assert_int_eq(
            rd_object_make(function_of(k), flags, "number", rd_env_snapshot_now(), 9, NULL, &found),
            RD_OBJECT_COMPILED);
        ck_assert_int_eq(
            rd_object_make(function_of(7), flags, "number", rd_env_snapshot_now(), 1, NULL, &found),
            RD_OBJECT_NONE);
        ck_assert_int_eq(rd_compiler_stopped(), 0);
    }
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(
            rd_object_make(function_of(7), flags, "number", rd_env_snapshot_now(), 1, NULL, &found),
            RD_OBJECT_NONE);
    ck_assert_int_gt(rd_compiler_stopped(), 0);
}
END_TEST

/* ---- At once --------------------------------------------------------------------------------- */
START_TEST(many_processes_make_one_object)
{
    enum { MANY = 6 };
    pid_t pid[MANY];

    for (int k = 0; k < MANY; k++)
        if ((pid[k] = fork()) == 0) {
            void                *found;
            const rd_object_from from =
                rd_object_make(function_of(7), flags, "number", rd_env_snapshot_now(),
                               RD_LONG_PATIENCE, NULL, &found);
            int (*call)(void);

            memcpy(&call, &found, sizeof call);
            _exit(from != RD_OBJECT_NONE && call() == 7 ? 0 : 1);
        }
    for (int k = 0; k < MANY; k++) {
        int status;
        ck_assert_int_eq(waitpid(pid[k], &status, 0), pid[k]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(files(NULL), 1);
}
END_TEST

int main(void)
{
    Suite   *suite = suite_create("objects");
    TCase   *tc    = tcase_create("all");
    SRunner *runner;

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, compiles_once);
    tcase_add_test(tc, keeps_the_directory_closed);
    tcase_add_test(tc, refuses_an_open_directory);
    tcase_add_test(tc, refuses_anothers_directory);
    tcase_add_test(tc, refuses_a_link);
    tcase_add_test(tc, refuses_a_file);
    tcase_add_test(tc, wants_an_absolute_path);
    tcase_add_test(tc, compiles_again_what_is_cut_short);
    tcase_add_test(tc, compiles_again_what_is_damaged);
    tcase_add_test(tc, compiles_again_what_others_may_write);
    tcase_add_test(tc, compiles_again_what_is_a_link);
    tcase_add_test(tc, refuses_what_cannot_prove_itself);
    tcase_add_test(tc, does_without_a_compiler);
    tcase_add_test(tc, does_without_one_that_fails);
    tcase_add_test(tc, refuses_what_is_no_c);
    tcase_add_test(tc, does_not_ask_how_it_ended);
    tcase_add_test(tc, does_without_standard_streams);
    tcase_add_test(tc, sweeps_what_is_left);
    tcase_add_test(tc, keeps_to_the_limit);
    tcase_add_test(tc, counts_uses);
    tcase_add_test(tc, stops_one_that_leaves_its_group);
    tcase_add_test(tc, blames_the_text);
    tcase_add_test(tc, many_processes_make_one_object);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

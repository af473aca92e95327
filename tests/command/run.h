/* run.h - runs of the command in a directory of their own, and what they print. */
#ifndef TESTS_COMMAND_RUN_H
#define TESTS_COMMAND_RUN_H
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { ROOM = 1 << 16 };

static char dir[256], out[ROOM], err[ROOM];

static inline void read_text(const char *name, char text[ROOM])
{
    FILE        *f = fopen(name, "rb");
    const size_t n = f ? fread(text, 1, ROOM - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
}

/* A line for the shell; the exit status. */
static inline int run_into(const char *files, const char *line)
{
    char     *whole  = NULL;
    const int n      = asprintf(&whole, "R='%s'; D='%s'; { %s; } > %s < /dev/null", RDIM_COMMAND,
                                RDIM_FILES, line, files);
    const int status = n > 0 ? system(whole) : -1;

    free(whole);
    ck_assert_msg(WIFEXITED(status), "%s: %d", line, status);
    return WEXITSTATUS(status);
}

/* R is the command and D the directory of files of others.  `out` is what is said, and `err` where it goes
 * to stderr. */
static inline int run(const char *line)
{
    const int status = run_into("out 2> err", line);

    read_text("out", out);
    read_text("err", err);
    return status;
}

/* The same, and `out` has both. */
static inline int run_together(const char *line)
{
    const int status = run_into("out 2>&1", line);

    read_text("out", out);
    return status;
}

/* It must succeed. */
static inline void run_well(const char *line)
{
    const int status = run_together(line);

    ck_assert_msg(status == 0, "%s: %d\n%s", line, status, out);
}

/* A directory for this suite, and into it. */
static inline void enter(const char *suite)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/rdim_%s_XXXXXX", base ? base : "/tmp", suite);
    ck_assert(mkdtemp(dir) && chdir(dir) == 0);
}

static inline void leave(void)
{
    char line[300];

    snprintf(line, sizeof line, "rm -r '%s'", dir);
    ck_assert(chdir("/") == 0 && system(line) == 0);
}
#endif

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

/* A line for the shell, in which R is the command; the exit status. */
static inline int run(const char *line)
{
    char     *whole = NULL;
    const int n = asprintf(&whole, "R='%s'; { %s; } > out 2> err < /dev/null", RDIM_COMMAND, line);
    const int status = n > 0 ? system(whole) : -1;

    free(whole);
    read_text("out", out);
    read_text("err", err);
    ck_assert_msg(WIFEXITED(status), "%s: %d", line, status);
    return WEXITSTATUS(status);
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
    ck_assert(system("rm -f ./*") == 0 && chdir("/") == 0 && rmdir(dir) == 0);
}
#endif

/* env_snapshot.c - copies of the part of the environment that compiling needs. */
#include "kernels/cpu/jit/env_snapshot.h"
#include "core/environment.h"
#include "core/text_buffer.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Variables of the library itself; those that compilers need to start, and to find their parts
 * and a place for files; and where a compiler that RDIM_CC names may keep its own cache. */
static const rd_variable variables[] = { RD_ENV_RDIM_CC,        RD_ENV_PATH,
                                         RD_ENV_HOME,           RD_ENV_TMPDIR,
                                         RD_ENV_XDG_CACHE_HOME, RD_ENV_LD_LIBRARY_PATH,
                                         RD_ENV_CCACHE_DIR,     RD_ENV_RDIM_CACHE_LIMIT };
enum { NAMES = sizeof variables / sizeof *variables };

struct rd_env_snapshot {
    const rd_env_snapshot *older;               /* the one before; all stay in this list */
    size_t                 bytes;               /* of the text */
    char                  *variable[NAMES + 2]; /* in the text */
    char                   text[];              /* "NAME=value", each ends with 0 */
};

static _Atomic(const rd_env_snapshot *) newest;

/* Adds "NAME=value" of all variables that are set, each followed by a 0 byte; LC_ALL=C comes first,
 * so that messages are in English. */
static void add_all(rd_text *text)
{
    rd_text_add(text, "LC_ALL=C%c", 0);
    for (int k = 0; k < NAMES; k++) {
        const char *value = rd_environment(variables[k]);

        if (value)
            rd_text_add(text, "%s=%s%c", rd_variable_name(variables[k]), value, 0);
    }
}

/* Makes a snapshot of the text ("NAME=value", each followed by a 0 byte), with pointers to its
 * variables.  NULL: no memory. */
static rd_env_snapshot *make_snapshot(const rd_text *text)
{
    rd_env_snapshot *s = malloc(sizeof *s + text->n);
    int              n = 0;

    if (!s)
        return NULL;
    s->bytes = text->n;
    memcpy(s->text, text->at, text->n);
    for (char *at = s->text; at < s->text + s->bytes; at += strlen(at) + 1)
        s->variable[n++] = at;
    s->variable[n] = NULL; /* the end of the list */
    return s;
}

/* Returns the newest snapshot, or makes one if the environment has changed.  Snapshots are never
 * freed, as threads may hold them.  NULL: no memory. */
const rd_env_snapshot *rd_env_snapshot_now(void)
{
    const rd_env_snapshot *s    = atomic_load(&newest);
    rd_text                text = { 0 };
    rd_env_snapshot       *made = NULL;

    add_all(&text);
    if (text.failed || !s || s->bytes != text.n || memcmp(s->text, text.at, text.n) != 0) {
        made = text.failed ? NULL : make_snapshot(&text);
        if (made) {
            made->older = s;
            /* else older = what another thread has put there */
            while (!atomic_compare_exchange_weak(&newest, &made->older, made))
                ;
        }
        s = made;
    }
    rd_text_free(&text);
    return s;
}

/* Returns the value of a variable in a snapshot; NULL: it is not set, or there is no snapshot. */
const char *rd_env_snapshot_get(const rd_env_snapshot *s, const char *name)
{
    const size_t n = strlen(name);

    for (char *const *at = s ? s->variable : NULL; at && *at; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

/* Returns all variables of a snapshot as an environment for a child process, with NULL at the
 * end. */
char *const *rd_env_snapshot_all(const rd_env_snapshot *s)
{
    static char *const none[] = { NULL };

    return s ? s->variable : none;
}

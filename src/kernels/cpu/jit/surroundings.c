/* surroundings.c - copies of the part of the environment that compiling needs. */
#include "kernels/cpu/jit/surroundings.h"
#include "core/environment.h"
#include "core/text_buffer.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the library itself asks for, what compilers need to start and to find their parts and a
 * place for files, and where the one that RDIM_CC names may keep what it has compiled before. */
static const rd_variable variables[] = { RD_ENV_RDIM_CC,        RD_ENV_PATH,
                                         RD_ENV_HOME,           RD_ENV_TMPDIR,
                                         RD_ENV_XDG_CACHE_HOME, RD_ENV_LD_LIBRARY_PATH,
                                         RD_ENV_CCACHE_DIR,     RD_ENV_RDIM_CACHE_LIMIT };
enum { NAMES = sizeof variables / sizeof *variables };

struct rd_surroundings {
    const rd_surroundings *older;
    size_t                 bytes;
    char                  *variable[NAMES + 2]; /* in the text */
    char                   text[];              /* "NAME=value", each ends with 0 */
};

static _Atomic(const rd_surroundings *) newest;

/* Each followed by 0, one after the other. */
static void add_all(rd_text *text)
{
    rd_text_add(text, "LC_ALL=C%c", 0);
    for (int k = 0; k < NAMES; k++) {
        const char *value = rd_environment(variables[k]);

        if (value)
            rd_text_add(text, "%s=%s%c", rd_variable_name(variables[k]), value, 0);
    }
}

static rd_surroundings *make(const rd_text *text)
{
    rd_surroundings *s = malloc(sizeof *s + text->n);
    int              n = 0;

    if (!s)
        return NULL;
    s->bytes = text->n;
    memcpy(s->text, text->at, text->n);
    for (char *at = s->text; at < s->text + s->bytes; at += strlen(at) + 1)
        s->variable[n++] = at;
    s->variable[n] = NULL;
    return s;
}

const rd_surroundings *rd_surroundings_now(void)
{
    const rd_surroundings *s    = atomic_load(&newest);
    rd_text                text = { 0 };
    rd_surroundings       *made = NULL;

    add_all(&text);
    if (text.failed || !s || s->bytes != text.n || memcmp(s->text, text.at, text.n) != 0) {
        made = text.failed ? NULL : make(&text);
        if (made) {
            made->older = s;
            while (!atomic_compare_exchange_weak(&newest, &made->older, made))
                ;
        }
        s = made;
    }
    rd_text_free(&text);
    return s;
}

const char *rd_surroundings_get(const rd_surroundings *s, const char *name)
{
    const size_t n = strlen(name);

    for (char *const *at = s ? s->variable : NULL; at && *at; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

char *const *rd_surroundings_all(const rd_surroundings *s)
{
    static char *const none[] = { NULL };

    return s ? s->variable : none;
}

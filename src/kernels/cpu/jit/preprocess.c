/* preprocess.c - runs the compiler's preprocessor on emitted text, in the store's directory. */
#define _XOPEN_SOURCE 700 /* openat */
#include "kernels/cpu/jit/preprocess.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/store/store.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 80 };

/* Marks where the wanted text begins; it is no word of C. */
static const char MARK[] = "rdim_text_begins_here";

/* Adds the text of a file in directory `dir`.  False: it cannot be read to its end. */
static bool read_file(int dir, const char *name, rd_text *text)
{
    const int file = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char      part[4096];
    ssize_t   n = -1;

    while (file >= 0 && (n = read(file, part, sizeof part)) > 0)
        rd_text_add(text, "%.*s", (int)n, part);
    if (file >= 0)
        close(file);
    return n == 0 && !text->failed;
}

/* Writes the text to a file of the store, preprocesses it (cc -E) and reads the result.  False:
 * `out` has nothing that can be used. */
static bool expand(const rd_compiler *cc, int dir, const rd_text *all, rd_text *out)
{
    static const char *const flags[] = { "-E", "-P", NULL };
    char                     source[NAME], result[NAME];
    bool                     done;

    if (!rd_store_aside(dir, "preprocess", ".c", source, sizeof source) ||
        !rd_store_aside(dir, "preprocess", ".i", result, sizeof result))
        return false;
    done = rd_store_write(dir, source, all->at, (long)all->n) &&
           rd_compiler_run(cc, dir, flags, source, result, RD_SHORT_PATIENCE) &&
           read_file(dir, result, out);
    rd_store_remove(dir, source);
    rd_store_remove(dir, result);
    return done;
}

/* Opens the store's directory; -1: there is none. */
static int open_store(const rd_compiler *cc)
{
    return rd_store_open(rd_env_snapshot_get(cc->surroundings, "XDG_CACHE_HOME"),
                         rd_env_snapshot_get(cc->surroundings, "HOME"));
}

/* Adds `text` to `into` with the macros of `before` expanded, for people to read.  MARK between
 * both says where the wanted part of the preprocessor's result begins.  Without a compiler the text
 * is added as it stands. */
void rd_preprocess(rd_text *into, const char *before, const char *text)
{
    rd_text     all = { 0 }, out = { 0 };
    rd_compiler cc;
    const char *from = NULL;
    const int   dir  = rd_compiler_find(&cc, rd_env_snapshot_now()) ? open_store(&cc) : -1;

    rd_text_add(&all, "%s\n%s\n%s", before, MARK, text);
    if (dir >= 0 && !all.failed && expand(&cc, dir, &all, &out) && out.at)
        from = strstr(out.at, MARK);
    if (from)
        from += strlen(MARK) + (from[strlen(MARK)] == '\n'); /* and the end of its line */
    rd_text_add(into, "%s", from ? from : text);
    if (dir >= 0)
        close(dir);
    rd_text_free(&all);
    rd_text_free(&out);
}

/* measured.c - saves and loads measurements as a text file.  The first line names release and
 * machine; each further line is one measurement.
 *
 *     rdim measured, release 010000, avx2, processors 8 */
#define _POSIX_C_SOURCE 200809L
#include "eval/choice.h"
#include "io/aside.h"
#include "kernels/program.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes of the first line, and of a file that is read. */
enum { FIRST_LINE = 100, MOST_TEXT = 64 << 20 };

/* Writes the first line of a file of measurements: release and machine, for which they hold. */
static void first_line(char line[FIRST_LINE])
{
    snprintf(line, FIRST_LINE, "rdim measured, release %06x, %s, processors %ld\n", RD_VERSION,
             rd_backend_cpu.kernels(), sysconf(_SC_NPROCESSORS_ONLN));
}

/* True if there is a path and no earlier error; records a missing path. */
static bool path_is_given(rd_ctx *ctx, const char *call, const char *path)
{
    if (!path || !*path)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: no path", call);
    return rd_error(ctx) == RD_OK;
}

/* The public call: writes all measurements of the context to a file, by atomic replacement.
 * Returns the context's status. */
rd_status rd_measured_save(rd_ctx *ctx, const char *path)
{
    static const char call[] = "rd_measured_save";
    rd_text           text   = { 0 };
    char              line[FIRST_LINE];
    rd_aside          file;
    rd_findings      *found;

    if (!ctx || rd_error(ctx) != RD_OK || !path_is_given(ctx, call, path))
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    found = rd_findings_of(ctx);
    first_line(line);
    rd_text_add(&text, "%s", line);
    if (found)
        rd_findings_text(&text, found);
    if (text.failed || !found) {
        rd_fail(ctx, RD_ERR_MEMORY, "%s: %s: no memory for its text", call, path);
    } else {
        const bool open = rd_aside_open(&file, ctx, call, path);
        (void)rd_aside_close(&file, open && rd_aside_write(&file, text.at, (int64_t)text.n));
    }
    rd_text_free(&text);
    return rd_error(ctx);
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Returns why the file is not read, or NULL.  FIFOs and devices are refused: opening could block,
 * or reading never end. */
static const char *why_unreadable(int fd, struct stat *facts)
{
    if (fd < 0 || fstat(fd, facts) != 0)
        return strerror(errno);
    if (!S_ISREG(facts->st_mode))
        return S_ISDIR(facts->st_mode) ? "a directory" : "not a regular file";
    return facts->st_size > MOST_TEXT ? "too long to be such a file" : NULL;
}

/* Reads up to n bytes of a file, however many calls that takes; returns how many there were, or -1
 * on an error. */
static int64_t read_all(int fd, char *text, int64_t n)
{
    int64_t done = 0;

    while (done < n) {
        const ssize_t got = read(fd, text + done, (size_t)(n - done));

        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? got : 0;
    }
    return done;
}

/* Reads the whole file into memory of the context, which the caller frees; NULL after recording
 * why. */
static char *read_text(rd_ctx *ctx, const char *call, const char *path)
{
    struct stat facts = { 0 };
    const int   fd    = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    const char *why   = why_unreadable(fd, &facts);
    char       *text  = why ? NULL : rd_alloc(ctx, (int64_t)facts.st_size + 1);
    int64_t     n     = 0;

    if (text && (n = read_all(fd, text, (int64_t)facts.st_size)) < 0) {
        why = strerror(errno);
        rd_free(ctx, text);
        text = NULL;
    }
    if (why)
        rd_fail(ctx, RD_ERR_FILE, "%s: %s: %s", call, path, why);
    if (text)
        text[n] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

/* Checks the first line of a file of measurements against this release and machine, then parses
 * the others into the context; failures are recorded. */
static void parse_text(rd_ctx *ctx, const char *call, const char *path, char *text)
{
    rd_findings *found = rd_findings_of(ctx);
    char         line[FIRST_LINE];
    int          bad;

    first_line(line);
    if (strncmp(text, line, strlen(line)) != 0)
        rd_fail(ctx, RD_ERR_TEXT,
                "%s: %s: it begins \"%.*s\", measured here it would begin \"%.*s\"", call, path,
                (int)strcspn(text, "\n") < FIRST_LINE ? (int)strcspn(text, "\n") : FIRST_LINE, text,
                (int)strlen(line) - 1, line);
    else if (!found)
        rd_fail(ctx, RD_ERR_MEMORY, "%s: %s: no memory", call, path);
    else if ((bad = rd_findings_read(ctx, found, text + strlen(line))) == RD_NOT_SORTED)
        rd_fail(ctx, RD_ERR_MEMORY, "%s: %s: no memory to sort its lines", call, path);
    else if (bad)
        rd_fail(ctx, RD_ERR_TEXT, "%s: %s: line %d cannot be read", call, path, bad + 1);
}

/* The public call: reads a file of measurements into the context.  Returns the context's status. */
rd_status rd_measured_load(rd_ctx *ctx, const char *path)
{
    static const char call[] = "rd_measured_load";
    char             *text;

    if (!ctx || rd_error(ctx) != RD_OK || !path_is_given(ctx, call, path))
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    text = read_text(ctx, call, path);
    if (text)
        parse_text(ctx, call, path, text);
    rd_free(ctx, text);
    return rd_error(ctx);
}

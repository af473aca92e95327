/* measured.c - what measuring found, as a text file: a line that names the release and the machine,
 * then a line each. */
#define _POSIX_C_SOURCE 200809L
#include "eval/choice.h"
#include "io/aside.h"
#include "kernels/program.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_LINE = 100, MOST_TEXT = 64 << 20 };

static void first_line(char line[FIRST_LINE])
{
    snprintf(line, FIRST_LINE, "rdim measured, release %06x, %s, processors %ld\n", RD_VERSION,
             rd_backend_cpu.kernels(), sysconf(_SC_NPROCESSORS_ONLN));
}

static bool path_is_given(rd_ctx *ctx, const char *call, const char *path)
{
    if (!path || !*path)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: no path", call);
    return rd_error(ctx) == RD_OK;
}

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
/* The context's memory, to be freed; NULL after recording why. */
static char *read_text(rd_ctx *ctx, const char *call, const char *path)
{
    FILE *file = fopen(path, "r");
    long  n    = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = NULL;

    if (n < 0 || n > MOST_TEXT) {
        rd_fail(ctx, RD_ERR_FILE, "%s: %s: %s", call, path,
                n < 0 ? strerror(errno) : "too long to be such a file");
    } else if ((text = rd_alloc(ctx, n + 1)) != NULL) {
        rewind(file);
        text[fread(text, 1, (size_t)n, file)] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

static void take(rd_ctx *ctx, const char *call, const char *path, const char *text)
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
    else if ((bad = rd_findings_read(ctx, found, text + strlen(line))) != 0)
        rd_fail(ctx, RD_ERR_TEXT, "%s: %s: line %d cannot be read", call, path, bad + 1);
}

rd_status rd_measured_load(rd_ctx *ctx, const char *path)
{
    static const char call[] = "rd_measured_load";
    char             *text;

    if (!ctx || rd_error(ctx) != RD_OK || !path_is_given(ctx, call, path))
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    text = read_text(ctx, call, path);
    if (text)
        take(ctx, call, path, text);
    rd_free(ctx, text);
    return rd_error(ctx);
}

/* hear.h - what the command's readers make of a file, within the suite's process: what it lists, sums of what is
 * in it, or the sentence of a refusal. */
#ifndef TESTS_COMMAND_HEAR_H
#define TESTS_COMMAND_HEAR_H
#include "base.h"
#include "command/run.h"
#include "files/file.h"

static rd_ctx *ctx;

static inline void begin(const char *suite)
{
    enter(suite);
    ctx = rd_ctx_new(NULL);
    ck_assert(ctx != NULL);
}

static inline void end(void)
{
    rd_ctx_free(ctx);
    leave();
}

static inline void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static inline void list(void *path)
{
    const cmd_file *file = cmd_open(ctx, path);
    size_t          n    = 0;

    for (int k = 0; k < file->n && n < ROOM - 1000; k++) {
        const cmd_variable *v = &file->variable[k];
        n += (size_t)snprintf(out + n, ROOM - n, "%s%s %s %s%s%.400s", k ? "; " : "", v->name,
                              v->why ? "-" : cmd_type_name(v->type), cmd_shape_text(&v->shape),
                              v->why ? ": " : "", v->why ? v->why : "");
    }
}

/* Sums of all that can be read, as far as that goes. */
static inline void sum(void *path)
{
    cmd_file *file = cmd_open(ctx, path);
    size_t    n    = 0;

    for (int k = 0; k < file->n && n < ROOM - 100; k++) {
        double value;

        ck_assert(rd_eval(ctx, rd_sum(rd_cast(cmd_read(file, &file->variable[k]), RD_F64), RD_ALL),
                          RD_INTO(&value, RD_SCALAR)) == RD_OK);
        n += (size_t)snprintf(out + n, ROOM - n, "%s%.9g", k ? " " : "", value);
    }
}

/* `out`: what work(path) says, or why it failed. */
static inline void hear(void (*work)(void *path), const char *path)
{
    out[0]                = '\0';
    const char *const why = cmd_try(work, (void *)path);
    rd_error_clear(ctx);

    if (why)
        snprintf(out, ROOM, "%s", why);
}

static inline void says(void (*work)(void *path), const char *path, const char *about,
                        const char *want)
{
    hear(work, path);
    ck_assert_msg(strcmp(out, want) == 0, "%s\n%s\nnot: %s", about, out, want);
}
#endif

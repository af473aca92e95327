/* raw.c - files of elements without a header. Type and shape stand behind the name:
 * "file.bin:f4:100x200". */
#include "files/formats.h"
#include "result.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the program: the user gave a path without type and shape. */
static void open_raw(cmd_file *file)
{
    cmd_misuse("%s: a file without a header is given with type and shape: name=%s:f4:100x200",
               file->path, file->path);
}

/* Makes the leaf (input array) of the file's elements, which begin at byte 0. */
static rd_expr *read_raw(cmd_file *file, cmd_variable *v)
{
    return cmd_read_dense(file->ctx, file->path, v);
}

/* Parses a shape such as "100x200"; false: it is none. An 'x' must have a number behind it. */
static bool read_extents(const char *text, rd_shape *shape)
{
    *shape = (rd_shape){ 0 };
    for (char *end; *text; text = *end ? end + 1 : end) {
        errno             = 0;
        const long long n = strtoll(text, &end, 10);
        if (errno || end == text || n < 0 || shape->n == RD_MAX_RANK || (*end && *end != 'x') ||
            (*end && !end[1]))
            return false;
        shape->at[shape->n++] = n;
    }
    return shape->n > 0;
}

/* Ends the program unless the file has exactly the bytes of that type and shape, as a wrong shape
 * would else go unnoticed. */
static void check_size(const char *path, const cmd_variable *v)
{
    int64_t       size;
    const int     fd    = cmd_open_to_read(path, &size);
    const int64_t bytes = cmd_points(&v->shape, v->type, path) * cmd_size_of(v->type);

    close(fd);
    if (size != bytes)
        cmd_fail("%s: %s %s is %lld bytes, and the file has %lld", path, cmd_type_name(v->type),
                 cmd_shape_text(&v->shape), (long long)bytes, (long long)size);
}

/* Splits the text "PATH:TYPE:SHAPE" at its last two colons, and makes a file with one variable.
 * NULL: it has no type, so it is a path alone. */
cmd_file *cmd_open_raw(rd_ctx *ctx, const char *text)
{
    const char *shape_at = strrchr(text, ':'), *type_at = shape_at;
    rd_shape    shape;
    bool        big;

    if (!shape_at)
        return NULL;
    while (type_at > text && type_at[-1] != ':')
        type_at--;
    if (type_at <= text + 1)
        return NULL;
    const rd_dtype type = cmd_type_of(type_at, (size_t)(shape_at - type_at), &big);
    if (type == RD_AUTO)
        return NULL;
    if (!read_extents(shape_at + 1, &shape))
        cmd_misuse("%s: the shape is written like 100x200", text);
    cmd_file *file  = cmd_room(sizeof *file);
    *file           = (cmd_file){ .ctx    = ctx,
                                  .path   = cmd_copy(text, (size_t)(type_at - 1 - text)),
                                  .format = &cmd_raw };
    cmd_variable *v = cmd_add_variables(file, 1);
    v->name         = cmd_stem(file->path);
    v->layout       = "raw";
    v->swapped      = big && cmd_size_of(type) > 1;
    cmd_set_shape(v, type, &shape);
    check_size(file->path, v);
    return file;
}

/* Sets the offset of the elements to 0, as there is no header. */
static bool begin(const char *path, const char *aside, const cmd_results *results, int64_t *place)
{
    (void)path;
    (void)aside;
    (void)results;
    place[0] = 0;
    return true;
}

const cmd_format cmd_raw = { .name     = "raw binary",
                             .suffixes = ".bin .raw .dat ",
                             .open     = open_raw,
                             .read     = read_raw,
                             .most     = 1,
                             .begin    = begin };

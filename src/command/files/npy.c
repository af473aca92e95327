/* npy.c - NumPy's .npy: read by the library, written so that results are evaluated right into the
 * file. */
#include "files/formats.h"
#include "result.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* The library's sentence begins with the path that it was given. */
static _Noreturn void refuse(const cmd_file *file)
{
    const char  *text = cmd_error_text(file->ctx), *opened = cmd_path_to_open(file->path);
    const size_t n = strlen(opened);

    if (strncmp(text, opened, n) != 0)
        cmd_fail_of(file->ctx);
    cmd_fail("%s%s", file->path, text + n);
}

static void open_npy(cmd_file *file)
{
    cmd_variable *v = cmd_add_variables(file, 1);
    rd_expr      *x = rd_load(file->ctx, cmd_path_to_open(file->path));

    if (!x)
        refuse(file);
    const rd_shape shape = rd_shape_of(x);
    v->name              = cmd_stem(file->path);
    v->layout            = "mapped";
    cmd_set_shape(v, rd_type_of(x), &shape);
    file->state = x;
}

static rd_expr *read_npy(cmd_file *file, cmd_variable *v)
{
    (void)v;
    return file->state;
}

/* As NumPy writes it: a dict padded with spaces to a multiple of 64 bytes, a newline last. */
int64_t cmd_npy_header(rd_dtype type, const rd_shape *shape, char header[CMD_NPY_HEADER])
{
    static const char kinds[] = {
        [RD_BOOL] = 'b', [RD_I8] = 'i',  [RD_I16] = 'i', [RD_I32] = 'i', [RD_I64] = 'i',
        [RD_U8] = 'u',   [RD_U16] = 'u', [RD_U32] = 'u', [RD_U64] = 'u', [RD_F16] = 'f',
        [RD_F32] = 'f',  [RD_F64] = 'f', [RD_C64] = 'c', [RD_C128] = 'c'
    };
    static const char magic[] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    const int64_t     size    = cmd_size_of(type);
    char             *at = header + 10, *end = header + CMD_NPY_HEADER;

    at += snprintf(at, (size_t)(end - at), "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                   size == 1 ? '|' : '<', kinds[type], (int)size);
    for (int k = 0; k < shape->n; k++)
        at += snprintf(at, (size_t)(end - at), "%lld,%s", (long long)shape->at[k],
                       k + 1 < shape->n ? " " : "");
    at += snprintf(at, (size_t)(end - at), "), }");
    while ((at - header + 1) % 64)
        *at++ = ' ';
    *at++             = '\n';
    const int64_t len = at - header - 10;
    memcpy(header, magic, sizeof magic);
    header[8] = (char)(len & 255);
    header[9] = (char)(len >> 8);
    return at - header;
}

static bool begin(const char *path, const char *aside, const cmd_results *results, int64_t *place)
{
    const cmd_result *r     = &results->at[0];
    const rd_shape    shape = rd_shape_of(r->x);
    char              header[CMD_NPY_HEADER];
    const int64_t     n  = cmd_npy_header(rd_type_of(r->x), &shape, header);
    const int         fd = open(aside, O_WRONLY | O_CLOEXEC);

    cmd_write_at(fd, path, header, n, 0);
    cmd_close_written(fd, path);
    place[0] = n;
    return true;
}

const cmd_format cmd_npy = { .name     = "NumPy .npy",
                             .suffixes = ".npy ",
                             .matches  = matches,
                             .open     = open_npy,
                             .read     = read_npy,
                             .most     = 1,
                             .begin    = begin };

/* npy.c - NumPy's .npy: read by rd_load(), written so that results are computed in place in the
 * file. */
#include "files/formats.h"
#include "files/records.h"
#include "result.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* True if the bytes are the start of a .npy file: \x93 and "NUMPY". */
static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* Ends the program with the library's sentence. The library was given another path for a stream,
 * which is replaced by the user's. */
static _Noreturn void refuse(const cmd_file *file)
{
    const char  *text = cmd_error_text(file->ctx), *opened = cmd_path_to_open(file->path);
    const size_t n = strlen(opened);

    if (strncmp(text, opened, n) != 0)
        cmd_fail_of(file->ctx);
    cmd_fail("%s%s", file->path, text + n);
}

/* Reads the fields of an array of a type that rd_load() refuses, such as records and dates; NULL:
 * there are none. */
static cmd_records *records_of(const cmd_file *file)
{
    cmd_npy_place p = { .path = file->path };

    if (rd_error(file->ctx) != RD_ERR_TYPE)
        return NULL;
    p.fd           = cmd_open_to_read(file->path, &p.size);
    cmd_records *r = cmd_read_records(&p);
    close(p.fd);
    return r;
}

/* Loads the array as a leaf (input array), or lists the fields of its records as variables.
 * file->state is the leaf, or the fields. */
static void open_npy(cmd_file *file)
{
    rd_expr     *x = rd_load(file->ctx, cmd_path_to_open(file->path));
    cmd_records *r = x ? NULL : records_of(file);

    if (!x && !r)
        refuse(file);
    file->state = x ? (void *)x : r;
    if (r) {
        rd_error_clear(file->ctx);
        cmd_add_fields(file, r, /*prefix=*/NULL, 0);
        return;
    }
    cmd_variable  *v     = cmd_add_variables(file, 1);
    const rd_shape shape = rd_shape_of(x);
    v->name              = cmd_stem(file->path);
    v->layout            = "mapped";
    cmd_set_shape(v, rd_type_of(x), &shape);
}

/* Returns the leaf (input array) of the array (v->bytes is 0), or reads a field and the coordinates
 * of its axis. v->bytes is the number of the field, from 1. */
static rd_expr *read_npy(cmd_file *file, cmd_variable *v)
{
    cmd_npy_place p = { .path = file->path };

    if (v->bytes == 0)
        return file->state;
    p.fd       = cmd_open_to_read(file->path, &p.size);
    rd_expr *x = cmd_read_field(file->ctx, &p, file->state, v);
    close(p.fd);
    if (!v->is_axis)
        cmd_read_record_axis(file, v);
    return x;
}

/* Writes a header as NumPy does, padded with spaces to a multiple of 64 bytes:
 *
 *     "\x93NUMPY" 1 0 len16 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2,), }   \n" */
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

/* Writes the header. The elements begin behind it, at byte place[0], so that the result can be
 * computed in the mapped file. */
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

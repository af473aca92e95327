/* formats.c - the table of formats; opening, finding and reading variables of any format. Formats
 * with `decode` are read by a library in the reader process (reader.h). */
#include "files/chunks.h"
#include "files/formats.h"
#include "files/late.h"
#include "files/packing.h"
#include "files/reader.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const cmd_format *const cmd_formats[] = { &cmd_npy,  &cmd_npz,         &cmd_netcdf,
                                          &cmd_hdf5, &cmd_zarr_format, &cmd_grib_format,
                                          &cmd_csv,  &cmd_raw,         NULL };

/* True if the path ends with one of the suffixes: its last '.' and what follows, found in the list
 * with a blank behind it. A '/' behind the '.' means that a folder has the suffix. */
bool cmd_has_suffix(const char *path, const char *suffixes)
{
    const char *dot = strrchr(path, '.');

    if (!dot || strchr(dot, '/') || strchr(dot, ' '))
        return false;
    for (const char *at = suffixes; (at = strstr(at, dot)); at++)
        if (at[strlen(dot)] == ' ')
            return true;
    return false;
}

/* Returns the stream that a path such as "-:csv" names: the path without its last colon and suffix;
 * the path itself if it is a stream; else NULL. */
const char *cmd_stream_named(const char *path)
{
    const char *colon = strrchr(path, ':'),
               *name  = colon ? cmd_copy(path, (size_t)(colon - path)) : "";

    return cmd_is_stream(path) ? path : colon && cmd_is_stream(name) ? name : NULL;
}

/* Finds the format by the suffix of a name; NULL: none has it. A stream may have a suffix behind
 * it: "-:csv" counts as ".csv". */
const cmd_format *cmd_format_of_name(const char *path)
{
    const char *stream = cmd_stream_named(path);

    if (stream && stream != path)
        path = cmd_text(".%s", path + strlen(stream) + 1);
    for (int k = 0; cmd_formats[k]; k++)
        if (cmd_has_suffix(path, cmd_formats[k]->suffixes))
            return cmd_formats[k];
    return NULL;
}

/* Copies the name of a path without its folders and without its last suffix. A '.' at the start of
 * the name is no suffix. */
const char *cmd_stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return cmd_copy(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* Finds the format of a file by its first bytes. If two formats begin alike, as NetCDF-4 and HDF5,
 * the name's suffix decides. Formats without `matches` are found by the suffix alone. */
static const cmd_format *format_of(const char *path, const uint8_t *bytes, size_t n)
{
    const cmd_format *first = NULL;

    for (int k = 0; cmd_formats[k]; k++)
        if (cmd_formats[k]->matches && cmd_formats[k]->matches(bytes, n)) {
            if (cmd_has_suffix(path, cmd_formats[k]->suffixes))
                return cmd_formats[k];
            first = first ? first : cmd_formats[k];
        }
    if (first)
        return first;
    const cmd_format *named = cmd_format_of_name(path);
    return named && !named->matches ? named : NULL;
}

/* True if an HDF5 file begins at byte 512, 1024, 2048, and so on, behind a user block of another
 * program, as in MATLAB's files. */
static bool begins_later(int fd, const char *path, int64_t size)
{
    uint8_t first[8];

    for (int64_t at = 512; at <= size - (int64_t)sizeof first; at *= 2) {
        cmd_read_at(fd, path, first, sizeof first, at);
        if (cmd_hdf5.matches(first, sizeof first))
            return true;
    }
    return false;
}

/* True if the bytes look like text: no zero, and no control characters but tabs and ends of lines.
 * A stream without a suffix that begins so is taken for a table. */
static bool is_text(const uint8_t *bytes, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if ((bytes[k] < ' ' && !strchr("\t\r\n", bytes[k])) || bytes[k] == 0)
            return false;
    return true;
}

/* Ends the program if the path is a stream, and the format needs random access: those that a
 * library reads (decode), and .npz. */
static void check_stream(const char *path, const cmd_format *format)
{
    if (cmd_is_stream(path) && (format->decode || format == &cmd_npz))
        cmd_fail(
            "%s: the parts of a %s file are read in any order, and a pipe is not: save it as a "
            "file first",
            path, format->name);
}

/* True if the path is an existing folder, and no stream. */
static bool is_folder(const char *path)
{
    struct stat facts;

    return !cmd_is_stream(path) && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Opens a file of a format that this program reads itself, without the reader process. */
static cmd_file *open_in_process(rd_ctx *ctx, const char *path, const cmd_format *format)
{
    cmd_file *file = cmd_room(sizeof *file);

    *file = (cmd_file){ .ctx = ctx, .path = path, .format = format };
    format->open(file);
    return file;
}

/* Opens a store in a folder, such as Zarr. Slashes at the end of the folder's name are removed. */
static cmd_file *open_folder(rd_ctx *ctx, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    path = cmd_copy(path, n);
    for (int k = 0; cmd_formats[k]; k++)
        if (cmd_formats[k]->is_folder && cmd_formats[k]->is_folder(path))
            return open_in_process(ctx, path, cmd_formats[k]);
    cmd_fail("%s: a directory, and no Zarr store", path);
}

/* Opens a file by its first bytes, and then by its name. Formats that a library reads (decode) are
 * opened in the reader process. HDF5 may begin behind foreign bytes. Text from a stream without a
 * suffix is a table. */
cmd_file *cmd_open(rd_ctx *ctx, const char *path)
{
    if (is_folder(path))
        return open_folder(ctx, path);
    uint8_t       first[16] = { 0 };
    int64_t       size;
    const int     fd = cmd_open_to_read(path, &size);
    const int64_t n  = size < (int64_t)sizeof first ? size : (int64_t)sizeof first;

    cmd_read_at(fd, path, first, n, 0);
    const cmd_format *format = format_of(path, first, (size_t)n);
    if ((!format || !format->matches) && begins_later(fd, path, size))
        format = &cmd_hdf5;
    close(fd);
    if (!format && cmd_is_stream(path) && is_text(first, n))
        format = &cmd_csv;
    if (!format) {
        const cmd_format *named = cmd_format_of_name(path);
        cmd_fail("%s: %s; a file without a header is given with type and shape: "
                 "name=%s:f4:100x200",
                 path,
                 named ? cmd_text("not a %s file, whatever its name", named->name)
                       : "not a file of a known format",
                 path);
    }
    check_stream(path, format);
    if (format->decode)
        return cmd_reader_open(ctx, path, format);
    return open_in_process(ctx, path, format);
}

/* Appends n zeroed variables, and returns the first of them. The list doubles when it is full, as
 * the old list is not freed. */
cmd_variable *cmd_add_variables(cmd_file *file, int n)
{
    if (file->n + n > file->room) {
        const int     room = file->n + n > 2 * file->room ? file->n + n : 2 * file->room;
        cmd_variable *all  = cmd_room((size_t)room * sizeof *all);

        if (file->n)
            memcpy(all, file->variable, (size_t)file->n * sizeof *all);
        file->variable = all;
        file->room     = room;
    }
    file->n += n;
    return file->variable + file->n - n;
}

/* Sets type and shape of a variable, and makes its axes: only their extents are known. */
void cmd_set_shape(cmd_variable *v, rd_dtype type, const rd_shape *shape)
{
    v->type  = type;
    v->shape = *shape;
    v->axis  = cmd_room((size_t)shape->n * sizeof *v->axis);
    for (int k = 0; k < shape->n; k++)
        v->axis[k].n = shape->at[k];
}

/* Returns the middles of the bounds of an axis, or NULL. `ends` has two ends for each coordinate,
 * and each coordinate must be the second of its ends, above the first. */
const double *cmd_middle_of(const cmd_axis *axis, const double *ends)
{
    double *middle = ends && axis->at ? cmd_room((size_t)axis->n * sizeof *middle) : NULL;

    for (int64_t i = 0; middle && i < axis->n; i++) {
        if (axis->at[i] != ends[2 * i + 1] || !(ends[2 * i] < ends[2 * i + 1]))
            return NULL;
        middle[i] = ends[2 * i] + (ends[2 * i + 1] - ends[2 * i]) / 2;
    }
    return middle;
}

/* Returns the last part of a path such as "a/b/t": the name without its groups. */
static const char *name_in_group(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* Finds the variable of exactly this path; NULL: none. */
static cmd_variable *find_path(const cmd_file *file, const char *path)
{
    for (int k = 0; k < file->n; k++)
        if (strcmp(file->variable[k].name, path) == 0)
            return &file->variable[k];
    return NULL;
}

/* Replaces another name of a group, at the start of a path, by the path under which the group is
 * listed (same_as), which is "" for the root group. NULL: the path begins with no such name. */
static const char *listed_path(const cmd_file *file, const char *path)
{
    for (int k = 0; k < file->n; k++) {
        const cmd_variable *v = &file->variable[k];
        const size_t        n = strlen(v->name);

        if (v->same_as && strncmp(path, v->name, n) == 0 && path[n] == '/')
            return *v->same_as ? cmd_text("%s%s", v->same_as, path + n)
                               : cmd_text("%s", path + n + 1);
    }
    return NULL;
}

/* Finds a variable by the last part of its path. Several links to one dataset (equal id) count
 * once; several datasets of one name end the program. Other names of groups (same_as) are no
 * variables. */
static cmd_variable *find_in_any_group(const cmd_file *file, const char *name)
{
    cmd_variable *found = NULL;

    for (int k = 0; k < file->n; k++) {
        cmd_variable *v = &file->variable[k];

        if (v->same_as || strcmp(name_in_group(v->name), name) != 0 ||
            (found && found->id == v->id))
            continue;
        if (found)
            cmd_fail("%s: %s is in several groups, as %s and as %s: say which, as in %s=%s:%s",
                     file->path, name, found->name, v->name, name, file->path, found->name);
        found = v;
    }
    return found;
}

/* Finds a variable by its path, if necessary by way of other names of its groups. Each round
 * removes a group's other name from the front of the path, so the rounds end. Last, any group may
 * have it. */
cmd_variable *cmd_find_by_path(const cmd_file *file, const char *name)
{
    cmd_variable *found = find_path(file, name);
    const char   *path  = name;

    while (!found && strchr(path, '/') && (path = listed_path(file, path)))
        found = find_path(file, path);
    return found ? found : find_in_any_group(file, name);
}

/* Finds a variable by rules of the format, or by its path; NULL: there is none. */
cmd_variable *cmd_find(const cmd_file *file, const char *name)
{
    return file->format->find ? file->format->find(file, name) : cmd_find_by_path(file, name);
}

/* Removes "PATH: " from the start of a sentence, if it is there, for a list that names the file
 * once. */
const char *cmd_reason(const char *sentence, const char *path)
{
    const size_t n = strlen(path);

    return strncmp(sentence, path, n) == 0 && strncmp(sentence + n, ": ", 2) == 0 ? sentence + n + 2
                                                                                  : sentence;
}

/* Decodes all elements in the reader process, into a file that is mapped here. */
static const void *decode_by_library(cmd_file *file, const cmd_variable *v, int64_t bytes)
{
    const int fd = cmd_storage_file(bytes, v->name);

    cmd_reader_decode(file, v, 0, v->shape.n ? v->shape.at[0] : 1, fd, bytes);
    const void *at = cmd_map(fd, 0, bytes);
    close(fd);
    if (!at)
        cmd_fail("%s: no memory for %lld bytes", v->name, (long long)bytes);
    return at;
}

/* Makes the leaf (input array) of a variable of a format with a library. Elements at a known offset
 * are mapped, and those in known chunks are read by all threads. Else the library decodes them.
 * Large variables are read late, after the formula. */
static rd_expr *read_leaf(cmd_file *file, cmd_variable *v)
{
    const int64_t bytes = cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type);
    if (bytes == 0)
        return cmd_leaf(file->ctx, v, NULL);
    const cmd_place place = cmd_reader_place(file, v);
    if (place.offset >= 0) {
        v->offset = place.offset;
        return cmd_read_dense(file->ctx, file->path, v);
    }
    if (cmd_may_be_late(v, bytes))
        return cmd_leaf_late(file, v, &place, bytes);
    if (place.chunk) {
        void *const to = cmd_storage(bytes, v->name);

        if (cmd_read_chunks(file->path, v, &place, &(rd_part){ .shape = v->shape }, to))
            return cmd_leaf(file->ctx, v, to);
    }
    return cmd_leaf(file->ctx, v, decode_by_library(file, v, bytes));
}

/* Returns all attributes of v, or of the file if v is NULL. They are read at the first call; NULL:
 * the format has none. */
const cmd_said *cmd_said_about(cmd_file *file, cmd_variable *v)
{
    cmd_said *const *said = v ? &v->said : &file->said;

    if (!*said && file->format->say)
        cmd_reader_say(file, v);
    return *said;
}

/* Makes the leaf (input array) of the stored elements. Small variables are decoded at once, as
 * asking for their offset takes longer. */
static rd_expr *read_stored(cmd_file *file, cmd_variable *v)
{
    enum { FEW = 1 << 14 };
    const int64_t bytes = cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type);

    return bytes > 0 && bytes <= FEW ? cmd_leaf(file->ctx, v, decode_by_library(file, v, bytes))
                                     : read_leaf(file, v);
}

/* Makes the leaf (input array) of the elements as they are stored. Texts become pointers (u64), and
 * characters bytes. NULL: the elements are of another kind, or the format has no attributes. */
rd_expr *cmd_read_stored(cmd_file *file, cmd_variable *v)
{
    cmd_said *said = cmd_said_about(file, v) ? v->said : NULL;

    if (!said || said->kind == CMD_OTHERS)
        return NULL;
    if (said->x)
        return said->x;
    if (said->kind == CMD_TEXTS)
        cmd_reader_texts(file, v);
    if (said->kind != CMD_NUMBERS) /* it had no type, as no formula can read it */
        v->type = said->kind == CMD_TEXTS ? RD_U64 : RD_U8;
    said->x = said->kind == CMD_TEXTS ? cmd_leaf(file->ctx, v, said->texts) : read_stored(file, v);
    return said->x;
}

/* Makes the leaf (input array) of a variable, unpacks it, and reads the coordinates of its axes. It
 * is made only once (v->x). A variable with a reason against reading (why) ends the program. */
rd_expr *cmd_read(cmd_file *file, cmd_variable *v)
{
    const cmd_format *format = file->format;

    if (v->x)
        return v->x;
    if (v->why)
        cmd_fail("%s: %s cannot be read: %s", file->path, v->name, v->why);
    rd_expr *raw = format->decode ? read_leaf(file, v) : format->read(file, v);
    v->x         = raw ? cmd_unpack(file->ctx, &v->packing, raw) : NULL;
    if (!v->x)
        cmd_fail_of(file->ctx);
    if (format->coordinates && format->decode)
        cmd_reader_coordinates(file, v);
    else if (format->coordinates)
        format->coordinates(file, v);
    return v->x;
}

/* classic.c - reads the header of a classic NetCDF file (CDF-1, -2, -5), as far as it says where
 * elements are.
 *
 * The format is described in appendix B of the NetCDF user's guide. Numbers are big-endian; texts
 * and values are padded to 4 bytes. Counts have 8 bytes in CDF-5 and 4 bytes before; offsets have 8
 * bytes from CDF-2 on.
 *
 * A record holds one row of each variable that has the unlimited dimension. Records follow one
 * another at the end of the file. */
#include "files/classic.h"
#include <string.h>
#include <unistd.h>

/* Tags of lists in the header, and the greatest number of a type. */
enum { DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12, MOST_TYPE = 11 };

/* Bytes of an element by the number of its type: byte, char, short, int, float, double, and the
 * types of CDF-5. */
static const int64_t sizes[MOST_TYPE + 1] = { 0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8 };

/* A mapped header, and how far it was read. */
typedef struct header {
    const char    *path;
    const uint8_t *bytes;
    int64_t        n, at;
    int            version;
    int64_t       *extent; /* of dimensions, in elements; 0: the unlimited dimension */
    int64_t        n_extents;
} header;

/* Ends the program with a sentence about a broken header; `what` is its end, as "is cut short". */
static _Noreturn void refuse(const header *h, const char *what)
{
    cmd_fail("%s: the header of this classic NetCDF file %s", h->path, what);
}

/* Reads a big-endian unsigned integer of `bytes` bytes. Values above INT64_MAX / 2 are clamped to
 * that, so that sums of two do not overflow. */
static int64_t read_integer(header *h, int bytes)
{
    uint64_t value = 0;

    if (h->n - h->at < bytes)
        refuse(h, "is cut short");
    for (int k = 0; k < bytes; k++)
        value = value << 8 | h->bytes[h->at++];
    return value > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)value;
}

/* Reads a count of items. Each takes at least one byte, so a count above the file's size is
 * refused. */
static int64_t read_count(header *h)
{
    const int64_t n = read_integer(h, h->version == 5 ? 8 : 4);

    if (n > h->n)
        refuse(h, "counts more than the file has room for");
    return n;
}

/* Skips bytes and their padding to a multiple of 4. */
static void skip_padded(header *h, int64_t bytes)
{
    const int64_t padded = (bytes + 3) / 4 * 4;

    if (padded > h->n - h->at)
        refuse(h, "is cut short");
    h->at += padded;
}

/* Reads the tag and the length of a list of this kind. An empty list may have any tag. */
static int64_t read_list_length(header *h, int64_t kind)
{
    const int64_t found = read_integer(h, 4), n = read_count(h);

    if (n > 0 && found != kind)
        refuse(h, "has another list where one is announced");
    return n;
}

/* Reads the number of a type, and returns the size of its elements; ends the program if there is no
 * such type. */
static int64_t read_type_size(header *h)
{
    const int64_t type = read_integer(h, 4);

    if (type < 1 || type > MOST_TYPE)
        refuse(h, "has a type that there is not");
    return sizes[type];
}

/* Skips a list of attributes: each has a name, a type, a count, and padded values. */
static void skip_attributes(header *h)
{
    for (int64_t n = read_list_length(h, ATTRIBUTES); n > 0; n--) {
        skip_padded(h, read_count(h));
        const int64_t size = read_type_size(h);
        skip_padded(h, size * read_count(h));
    }
}

/* Reads the extents of all dimensions, and skips their names. An extent of 0 marks the unlimited
 * dimension. */
static void read_dimensions(header *h)
{
    h->n_extents = read_list_length(h, DIMENSIONS);
    h->extent    = cmd_room((size_t)h->n_extents * sizeof *h->extent);
    for (int64_t k = 0; k < h->n_extents; k++) {
        skip_padded(h, read_count(h));
        h->extent[k] = read_integer(h, h->version == 5 ? 8 : 4);
    }
}

/* Reads the entry of a variable: its size, its offset, and whether its first axis is unlimited
 * (extent 0). Only the first axis may be so. The size is clamped, as no file has so many bytes. */
static cmd_classic_place read_variable(header *h, bool *grows)
{
    cmd_classic_place p = { .bytes = 1 };

    skip_padded(h, read_count(h));
    const int64_t rank = read_count(h);
    *grows             = false;
    for (int64_t k = 0; k < rank; k++) {
        const int64_t dimension = read_integer(h, h->version == 5 ? 8 : 4);

        if (dimension >= h->n_extents)
            refuse(h, "has a dimension that there is not");
        const int64_t extent = h->extent[dimension];
        if (k == 0 && extent == 0)
            *grows = true;
        else if (__builtin_mul_overflow(p.bytes, extent, &p.bytes) || p.bytes > INT64_MAX / 16)
            p.bytes = INT64_MAX / 16;
    }
    skip_attributes(h);
    p.bytes *= read_type_size(h);
    (void)read_integer(
        h, h->version == 5 ? 8 : 4); /* its size, which is wrong if it needs more than 4 bytes */
    p.begin = read_integer(h, h->version == 1 ? 4 : 8);
    return p;
}

/* Sets the distance of records (step) of each record variable. A record has a piece of each of
 * them, padded to 4 bytes unless there is only one such variable. Sums are clamped. */
static void set_steps(cmd_classic *file, const bool *grows)
{
    int64_t step = 0;
    int     n = 0, only = 0;

    for (int k = 0; k < file->n; k++)
        if (grows[k]) {
            n++;
            only = k;
            step += file->at[k].bytes > INT64_MAX / 16 ? INT64_MAX / 32
                                                       : (file->at[k].bytes + 3) / 4 * 4;
            step = step > INT64_MAX / 32 ? INT64_MAX / 32 : step;
        }
    for (int k = 0; k < file->n; k++)
        if (grows[k])
            file->at[k].step = n == 1 ? file->at[only].bytes : step;
}

/* Reads the header behind the magic number, in its order: number of records, dimensions, attributes
 * of the file, variables. */
static void read_header(cmd_classic *file, header *h)
{
    h->version = h->bytes[3];
    h->at      = 4;
    (void)read_integer(h, h->version == 5 ? 8 : 4); /* the number of records: the caller knows it */
    read_dimensions(h);
    skip_attributes(h);
    const int64_t n = read_list_length(h, VARIABLES);
    if (n > INT32_MAX)
        refuse(h, "counts more than there can be");
    file->n     = (int)n;
    file->at    = cmd_room((size_t)file->n * sizeof *file->at);
    bool *grows = cmd_room((size_t)file->n);
    for (int k = 0; k < file->n; k++)
        file->at[k] = read_variable(h, &grows[k]);
    set_steps(file, grows);
}

/* Maps a classic file, reads its header, and unmaps it. A file of at most 4 bytes has no header
 * behind the magic number. */
cmd_classic *cmd_classic_read(const char *path)
{
    cmd_classic *file = cmd_room(sizeof *file);
    header       h    = { .path = path };

    file->path   = path;
    const int fd = cmd_open_to_read(path, &h.n);
    h.bytes      = h.n > 4 ? cmd_map(fd, 0, h.n) : NULL;
    close(fd);
    if (!h.bytes)
        refuse(&h, h.n > 4 ? "cannot be mapped" : "is cut short");
    file->size = h.n;
    read_header(file, &h);
    cmd_unmap(h.bytes, h.n);
    return file;
}

/* Ends the program if the file is shorter than the end of the variable's last element. The last
 * piece of a record variable (step > 0) begins (records - 1) * step bytes behind its first one. */
void cmd_classic_check(const cmd_classic *file, int variable, const char *name, int64_t records)
{
    int64_t before = 0, end = 0;

    if (variable < 0 || variable >= file->n)
        cmd_fail("%s: %s is not in its header", file->path, name);
    const cmd_classic_place *p = &file->at[variable];
    if (p->bytes == 0 || (p->step > 0 && records == 0))
        return;
    if ((p->step > 0 && __builtin_mul_overflow(p->step, records - 1, &before)) ||
        __builtin_add_overflow(before, p->begin + p->bytes, &end))
        end = INT64_MAX;
    if (end > file->size)
        cmd_fail("%s: truncated: %s ends at byte %lld, and the file has %lld", file->path, name,
                 (long long)end, (long long)file->size);
}

/* The number of rows in a chunk. If rows are adjacent, a chunk has about 1 MB (PIECE), which makes
 * a call worthwhile. Else it is one record. */
static int64_t rows_of_chunk(const cmd_classic_place *p, int64_t row, int64_t rows)
{
    enum { PIECE = 1 << 20 };
    const int64_t wanted = p->step == 0 || p->step == row ? PIECE / row : 1;

    return wanted < 1 ? 1 : wanted < rows ? wanted : rows;
}

/* Cuts the variable into chunks of whole rows, with the offset of each. A place without chunks is
 * returned if chunks have less than 4 KB (LEAST) or are more than a million (MOST): the library is
 * then as fast. */
cmd_place cmd_classic_rows(const cmd_classic *file, int variable, const cmd_variable *v)
{
    enum { LEAST = 1 << 12, MOST = 1 << 20 };
    cmd_place                place = { .offset = -1 };
    const cmd_classic_place *p     = &file->at[variable];
    const int64_t rows = v->shape.n > 0 ? v->shape.at[0] : 0, size = cmd_size_of(v->type);
    const int64_t row  = rows == 0 ? 0 : p->step > 0 ? p->bytes : p->bytes / rows;
    const int64_t each = row > 0 ? rows_of_chunk(p, row, rows) : 0;

    if (each == 0 || each * row < LEAST || rows / each >= MOST || p->bytes > INT64_MAX / 16)
        return place;
    place.n          = (rows + each - 1) / each;
    place.swapped    = size > 1 ? size : 0;
    place.extent[0]  = each;
    cmd_chunk *chunk = cmd_room((size_t)place.n * sizeof *chunk);
    for (int a = 1; a < v->shape.n; a++)
        place.extent[a] = v->shape.at[a];
    for (int64_t k = 0; k < place.n; k++) {
        const int64_t first = k * each, here = rows - first < each ? rows - first : each;

        chunk[k] = (cmd_chunk){ p->begin + first * (p->step > 0 ? p->step : row), here * row, 0 };
    }
    place.chunk = chunk;
    return place;
}

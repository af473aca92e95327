/* late.c - lazy reading: decodes the elements of leaves that a formula needs.
 *
 * A formula is read before anything is evaluated. Its expressions then tell which box of each leaf
 * they read (rd_part_read()). Until then a leaf has addresses, but no memory. Small variables are
 * read at once, as coordinates and labels may be needed earlier. A part is a box of a variable's
 * elements. */
#include "files/chunks.h"
#include "files/late.h"
#include "files/reader.h"
#include <sys/mman.h>
#include <unistd.h>

enum { SMALL = 1 << 22 }; /* bytes of a variable that is read at once */

/* A leaf that is read late, in the list of all of them. */
typedef struct late {
    struct late        *next;
    cmd_file           *file;
    const cmd_variable *v;
    cmd_place           place;
    int64_t             bytes;
    void               *at;
    rd_expr            *leaf;
    rd_part             known; /* the box that was read */
} late;

static late *all; /* all late leaves, the newest first */

/* True if a variable of so many bytes may be read after the formula. It may not if it is small, has
 * no axis, or is unpacked only if some values are missing (by_need), which its elements tell. */
bool cmd_may_be_late(const cmd_variable *v, int64_t bytes)
{
    return bytes > SMALL && v->shape.n > 0 && !v->packing.by_need;
}

/* Makes a leaf (input array) that is read later: it has addresses, but no memory yet. The leaf is
 * added to the list of all such leaves. */
rd_expr *cmd_leaf_late(cmd_file *file, const cmd_variable *v, const cmd_place *place, int64_t bytes)
{
    late *l = cmd_room(sizeof *l);

    *l             = (late){ .next  = all,
                             .file  = file,
                             .v     = v,
                             .place = *place,
                             .bytes = bytes,
                             .at    = cmd_reserve(bytes, v->name) };
    all            = l;
    return l->leaf = cmd_leaf(file->ctx, v, l->at);
}

/* ---- The part to read ------------------------------------------------------------------------ */
/* True if the part has no elements. */
static bool is_empty(const rd_part *part)
{
    for (int a = 0; a < part->shape.n; a++)
        if (part->shape.at[a] == 0)
            return true;
    return false;
}

/* Extends the part to the smallest box that also holds the part `known` that was read before.
 * False: nothing new is in it. A rank of 0 means that nothing was read. */
static bool add_known(rd_part *part, const rd_part *known)
{
    bool more = known->shape.n == 0;

    for (int a = 0; a < known->shape.n; a++) {
        const int64_t first = part->first.at[a], end = first + part->shape.at[a];
        const int64_t low = known->first.at[a], high = low + known->shape.at[a];

        more |= first < low || end > high;
        part->first.at[a] = first < low ? first : low;
        part->shape.at[a] = (end > high ? end : high) - part->first.at[a];
    }
    return more;
}

/* The multiple to which the bounds of a part along axis a are rounded. It is 1 for chunks without
 * filters, else the extent of a chunk. Without chunks (extent 0) whole rows along the first axis
 * are decoded. */
static int64_t granularity(const late *l, int a)
{
    if (l->place.chunk && l->place.n_filter == 0)
        return 1;
    return l->place.extent[0] ? l->place.extent[a] : a == 0 ? 1 : l->v->shape.at[a];
}

/* Rounds a part up to what can be read: whole chunks, whole rows along the first axis, or any box
 * of chunks without filters. */
static void round_up(rd_part *part, const late *l)
{
    for (int a = 0; a < part->shape.n; a++) {
        const int64_t n     = l->v->shape.at[a];
        const int64_t each  = granularity(l, a);
        const int64_t first = part->first.at[a] / each * each;
        int64_t       end   = part->first.at[a] + part->shape.at[a];

        end               = (end + each - 1) / each * each;
        part->first.at[a] = first;
        part->shape.at[a] = (end < n ? end : n) - first;
    }
}

/* Estimates the bytes of memory that a part touches. A run is the elements that are adjacent in
 * memory; each run also touches the rest of its pages, of 4 KB each. */
static int64_t bytes_touched(const rd_part *part, const late *l)
{
    enum { PAGE = 1 << 12 };
    int64_t run = cmd_size_of(l->v->type), runs = 1;
    int     a = part->shape.n - 1;

    for (; a > 0 && part->shape.at[a] == l->v->shape.at[a]; a--)
        run *= part->shape.at[a];
    run *= part->shape.at[a];
    while (a-- > 0)
        runs *= part->shape.at[a];
    return runs > l->bytes / (run + PAGE) ? l->bytes : runs * (run + PAGE);
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Decodes the part's rows by the format's library (libnetcdf, libhdf5), which runs in the reader
 * process (reader.c), into a sparse file. Maps the file in place of the reserved addresses. The
 * file has room for all l->bytes, but only bytes_touched() of them take memory, so only these are
 * asked for. */
static void decode_by_library(const late *l, const rd_part *part)
{
    const int64_t n  = part->shape.at[0];
    const int     fd = cmd_storage_file_for(l->bytes, bytes_touched(part, l), l->v->name);

    cmd_reader_decode(l->file, l->v, part->first.at[0], n, fd, l->bytes);
    if (mmap(l->at, (size_t)l->bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        cmd_fail("%s: no memory for %lld bytes", l->v->name, (long long)l->bytes);
    close(fd);
}

/* Reads the part by offsets of chunks, or by the format's read_part(). False: there is neither, or
 * a chunk is damaged, so the library must decode the part. */
static bool read_by_offsets(const late *l, const rd_part *part)
{
    const cmd_format *format = l->file->format;

    if (!l->place.chunk && !format->read_part)
        return false;
    cmd_fill_reserve(l->at, l->bytes, bytes_touched(part, l), l->v->name);
    if (!format->read_part)
        return cmd_read_chunks(l->file->path, l->v, &l->place, part, l->at);
    format->read_part(l->file, l->v, part, l->at);
    return true;
}

/* Finds the part of each late leaf (input array) that the results read, and reads it unless it was
 * read before. The leaf's memory then has the smallest box that holds all parts. */
void cmd_read_wanted(rd_ctx *ctx, rd_results results)
{
    for (late *l = all; l; l = l->next) {
        rd_part part;

        if (!rd_part_read(ctx, results, l->leaf, &part))
            cmd_fail_of(ctx);
        if (is_empty(&part) || !add_known(&part, &l->known))
            continue;
        round_up(&part, l);
        if (!read_by_offsets(l, &part))
            decode_by_library(l, &part);
        l->known = part;
    }
}

/* Reads and evaluates one row of n elements as doubles; ends the program if that fails. */
void cmd_read_now(rd_ctx *ctx, rd_expr *row, double *to, int64_t n)
{
    cmd_read_wanted(ctx, RD_RESULTS({ row, NULL }));
    if (rd_eval(ctx, rd_cast(row, RD_F64), RD_INTO(to, RD_SHAPE(n))) != RD_OK)
        cmd_fail_of(ctx);
}

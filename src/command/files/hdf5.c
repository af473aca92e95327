/* hdf5.c - HDF5 files: datasets of all groups.  What lies in one piece in this machine's order is
 * mapped; else it is decoded.  Axes have names and coordinates where scales are attached. */
#include "files/formats.h"
#include "result.h"
#include <string.h>
#include <unistd.h>

static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

#if RDIM_HDF5
#include "files/hdf5_api.h"
#include "files/hdf5_attributes.h"
#include "files/hdf5_write.h"
#include "files/packing.h"
#include "files/slabs.h"

enum { MOST_OBJECTS = 1 << 16, MOST_DEPTH = 32, MOST_NAME = 4096 };

static const cmd_hdf5_api *load(const char *path)
{
    const cmd_hdf5_api *h5 = cmd_hdf5_load();

    if (!h5)
        cmd_fail("%s: HDF5 files need the library %s, which is not installed here", path,
                 RDIM_HDF5_NAME);
    return h5;
}

/* ---- What is in a file ----------------------------------------------------------------------- */
typedef struct walk {
    cmd_file           *file;
    const cmd_hdf5_api *h5;
    int                 objects;
} walk;

static void describe(const walk *w, hid_t set, const char *name)
{
    const cmd_hdf5_api *h5    = w->h5;
    const hid_t         space = h5->H5Dget_space(set), plan = h5->H5Dget_create_plist(set);
    const int           rank = h5->H5Sget_simple_extent_ndims(space);
    hsize_t             extent[H5S_MAX_RANK], most[H5S_MAX_RANK];
    rd_shape            shape = { .n = rank };

    if (rank >= 0 && rank <= RD_MAX_RANK && h5->H5Sget_simple_extent_type(space) != H5S_NULL &&
        h5->H5Sget_simple_extent_dims(space, extent, most) >= 0) {
        cmd_variable *v = cmd_add_variables(w->file, 1);

        for (int k = 0; k < rank; k++)
            shape.at[k] = extent[k] < INT64_MAX / 2 ? (int64_t)extent[k] : -1;
        v->name = cmd_copy(name, strlen(name));
        cmd_set_shape(v, cmd_hdf5_type(h5, set), &shape);
        for (int k = 0; k < rank; k++)
            v->axis[k].record = most[k] == H5S_UNLIMITED;
        v->layout         = h5->H5Pget_layout(plan) != H5D_CHUNKED ? "mapped"
                            : h5->H5Pget_nfilters(plan) > 0        ? "chunks, deflated"
                                                                   : "chunks";
        v->units          = cmd_hdf5_text(h5, set, "units");
        v->title          = cmd_hdf5_text(h5, set, "long_name");
        v->standard       = cmd_hdf5_text(h5, set, "standard_name");
        const char *class = cmd_hdf5_text(h5, set, "CLASS");
        v->is_axis        = class && strcmp(class, "DIMENSION_SCALE") == 0;
        cmd_read_packing(v, cmd_hdf5_numbers, &(cmd_hdf5_object){ h5, set });
    }
    h5->H5Pclose(plan);
    h5->H5Sclose(space);
}

static void list_group(walk *w, hid_t group, const char *prefix, int depth)
{
    H5G_info_t info;
    char       name[MOST_NAME];

    if (depth > MOST_DEPTH || w->h5->H5Gget_info(group, &info) < 0)
        return;
    for (hsize_t k = 0; k < info.nlinks && w->objects++ < MOST_OBJECTS; k++) {
        const ssize_t n = w->h5->H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name,
                                                    sizeof name, H5P_DEFAULT);
        const hid_t object = n > 0 && n < MOST_NAME ? w->h5->H5Oopen(group, name, H5P_DEFAULT) : -1;
        if (object < 0) /* a link that leads nowhere */
            continue;
        const H5I_type_t type = w->h5->H5Iget_type(object);
        const char      *path = cmd_text("%s%s", prefix, name);
        if (type == H5I_DATASET)
            describe(w, object, path);
        else if (type == H5I_GROUP)
            list_group(w, object, cmd_text("%s/", path), depth + 1);
        w->h5->H5Oclose(object);
        cmd_may_go_on();
    }
}

static void open_hdf5(cmd_file *file)
{
    const cmd_hdf5_api *h5 = load(file->path);
    const hid_t         id = h5->H5Fopen(file->path, CMD_HDF5_READ, H5P_DEFAULT);
    hid_t              *at = cmd_room(sizeof *at);

    if (id < 0)
        cmd_fail("%s: a broken HDF5 file (truncated?)", file->path);
    *at         = id;
    file->state = at;
    list_group(&(walk){ .file = file, .h5 = h5 }, id, "", 0);
}

/* ---- Elements -------------------------------------------------------------------------------- */
static bool place(const cmd_hdf5_api *h5, hid_t set, int64_t *offset)
{
    const hid_t type = h5->H5Dget_type(set), plan = h5->H5Dget_create_plist(set);
    const bool  own = h5->H5Tget_size(type) == 1 || h5->H5Tget_order(type) == H5T_ORDER_LE;
    const bool  whole =
        h5->H5Pget_layout(plan) == H5D_CONTIGUOUS && h5->H5Pget_external_count(plan) == 0;
    const haddr_t at = own && whole ? h5->H5Dget_offset(set) : HADDR_UNDEF;

    h5->H5Tclose(type);
    h5->H5Pclose(plan);
    if (at == HADDR_UNDEF || at > INT64_MAX / 2)
        return false;
    *offset = (int64_t)at; /* counted from the file's first byte, whatever is before the format's */
    return true;
}

/* ---- Chunks as they are ---------------------------------------------------------------------- */
/* Elements in this machine's order, in chunks without filters that each are one run of the array:
 * of one index of some first axes, some of the next, and all of the others.  How many there are,
 * 0: it is not so; *each has so many bytes. */
static int64_t runs_of(const cmd_hdf5_api *h5, hid_t set, const cmd_variable *v, hsize_t *chunk,
                       int64_t *each)
{
    const int64_t most = INT32_MAX;
    const hid_t   type = h5->H5Dget_type(set), plan = h5->H5Dget_create_plist(set);
    const int     rank = v->shape.n;
    const bool    own  = (h5->H5Tget_size(type) == 1 || h5->H5Tget_order(type) == H5T_ORDER_LE) &&
                     (int64_t)h5->H5Tget_size(type) == cmd_size_of(v->type) && v->type != RD_BOOL;
    int64_t n = own && h5->chunk && rank > 0 && h5->H5Pget_layout(plan) == H5D_CHUNKED &&
                        h5->H5Pget_nfilters(plan) == 0 &&
                        h5->H5Pget_chunk(plan, H5S_MAX_RANK, chunk) == rank
                    ? 1
                    : 0;
    int     k = 0;

    *each = cmd_size_of(v->type);
    while (k < rank && n > 0 && chunk[k] == 1)
        n *= v->shape.at[k++];
    for (int a = k; a < rank && n > 0; a++) {
        const int64_t extent = v->shape.at[a], here = (int64_t)chunk[a];

        if (here < 1 || here > most || *each > most) { /* a broken file's */
            n = 0;
            break;
        }
        *each *= here;
        if (a == k)
            n *= (extent + here - 1) / here;
        else if (here != extent)
            n = 0;
    }
    /* a chunk that juts out begins no other row */
    if (k > 0 && k < rank && n > 0 && v->shape.at[k] % (int64_t)chunk[k] != 0)
        n = 0;
    h5->H5Tclose(type);
    h5->H5Pclose(plan);
    return n;
}

/* Where they are in a file of `size` bytes.  False: some are nowhere. */
static bool find_runs(const cmd_hdf5_api *h5, hid_t set, const cmd_variable *v,
                      const hsize_t *chunk, int64_t n, int64_t each, int64_t size, int64_t *offset)
{
    hsize_t at[H5S_MAX_RANK] = { 0 };

    for (int64_t k = 0; k < n; k++) {
        unsigned filters;
        haddr_t  address = HADDR_UNDEF;
        hsize_t  bytes   = 0;

        if (h5->chunk(set, at, &filters, &address, &bytes) < 0 || address == HADDR_UNDEF ||
            bytes != (hsize_t)each || address > (haddr_t)size || bytes > (haddr_t)size - address)
            return false;
        offset[k] = (int64_t)address;
        for (int a = v->shape.n; a-- > 0; at[a] = 0)
            if ((at[a] += chunk[a]) < (hsize_t)v->shape.at[a])
                break;
    }
    return true;
}

/* Reads a dataset by all threads, without the library's copies.  False: it must be decoded. */
static bool read_runs(const cmd_hdf5_api *h5, hid_t set, const char *path, const cmd_variable *v,
                      char *to)
{
    enum { MOST_RUNS = 1 << 20 };
    hsize_t       chunk[H5S_MAX_RANK];
    int64_t       each, size = 0;
    const int64_t n = runs_of(h5, set, v, chunk, &each);

    if (n < 1 || n > MOST_RUNS)
        return false;
    int64_t *const offset = cmd_room((size_t)n * sizeof *offset);
    const int      fd     = cmd_open_to_read(path, &size);
    const bool     found  = find_runs(h5, set, v, chunk, n, each, size, offset);

    if (found)
        cmd_read_chunks(fd, path, to,
                        cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type), each,
                        offset);
    close(fd);
    return found;
}

bool cmd_hdf5_read_chunks(const char *path, const cmd_variable *v, char *to)
{
    const cmd_hdf5_api *h5   = cmd_hdf5_load();
    const hid_t         file = h5 ? h5->H5Fopen(path, CMD_HDF5_READ, H5P_DEFAULT) : -1;
    const hid_t         set  = file >= 0 ? h5->H5Dopen2(file, v->name, H5P_DEFAULT) : -1;
    const bool          read = set >= 0 && read_runs(h5, set, path, v, to);

    if (set >= 0)
        h5->H5Dclose(set);
    if (file >= 0)
        h5->H5Fclose(file);
    return read;
}

/* ---- Elements -------------------------------------------------------------------------------- */
bool cmd_hdf5_place(const char *path, const char *name, rd_dtype type, int64_t bytes,
                    int64_t *offset)
{
    const cmd_hdf5_api *h5    = cmd_hdf5_load();
    const hid_t         file  = h5 ? h5->H5Fopen(path, CMD_HDF5_READ, H5P_DEFAULT) : -1;
    const hid_t         set   = file >= 0 ? h5->H5Dopen2(file, name, H5P_DEFAULT) : -1;
    int64_t             size  = -1;
    bool                there = false;

    if (set >= 0) {
        const rd_dtype stored = cmd_hdf5_type(h5, set);
        const int      fd     = cmd_open_to_read(path, &size);

        there = cmd_size_of(stored) == cmd_size_of(type) && place(h5, set, offset) &&
                *offset <= size && bytes <= size - *offset;
        close(fd);
        h5->H5Dclose(set);
    }
    if (file >= 0)
        h5->H5Fclose(file);
    return there;
}

bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place)
{
    bool there = true;

    for (int k = 0; k < results->n && there; k++) {
        const cmd_result *r = &results->at[k];

        there = cmd_hdf5_place(path, r->name, r->array.type, cmd_result_bytes(r), &place[k]) &&
                place[k] % cmd_size_of(r->array.type) == 0;
    }
    return there;
}

static void decode(const cmd_hdf5_api *h5, hid_t set, const char *path, const cmd_variable *v,
                   char *to)
{
    const hid_t space = h5->H5Dget_space(set), plan = h5->H5Dget_create_plist(set);
    const hid_t type = cmd_hdf5_memory_type(h5, set, v->type);
    hsize_t     chunk[H5S_MAX_RANK], start[RD_MAX_RANK], count[RD_MAX_RANK];
    int64_t     chunks[RD_MAX_RANK];
    const int   rank   = v->shape.n;
    const bool  chunky = h5->H5Pget_layout(plan) == H5D_CHUNKED &&
                        h5->H5Pget_chunk(plan, H5S_MAX_RANK, chunk) == rank;
    cmd_slabs t;

    for (int k = 0; chunky && k < rank; k++)
        chunks[k] = chunk[k] <= (hsize_t)v->shape.at[k] ? (int64_t)chunk[k] : v->shape.at[k];
    cmd_slabs_begin(&t, &v->shape, cmd_size_of(v->type), chunky ? chunks : NULL);
    do {
        cmd_may_go_on();
        for (int k = 0; k < rank; k++) {
            start[k] = (hsize_t)t.start[k];
            count[k] = (hsize_t)t.count[k];
        }
        if (rank)
            h5->H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        const hid_t memory =
            rank ? h5->H5Screate_simple(rank, count, NULL) : h5->H5Screate(H5S_SCALAR);
        if (h5->H5Dread(set, type, memory, space, H5P_DEFAULT, to) < 0)
            cmd_fail("%s: %s cannot be read (damaged, or a filter that is not installed)", path,
                     v->name);
        h5->H5Sclose(memory);
        to += cmd_slab_bytes(&t);
    } while (cmd_slabs_next(&t));
    h5->H5Sclose(space);
    h5->H5Pclose(plan);
}

static rd_expr *read_hdf5(cmd_file *file, cmd_variable *v)
{
    const cmd_hdf5_api *h5  = load(file->path);
    const hid_t         id  = *(const hid_t *)file->state;
    const hid_t         set = h5->H5Dopen2(id, v->name, H5P_DEFAULT);

    if (v->type == RD_AUTO)
        cmd_fail("%s: %s has elements that are no numbers", file->path, v->name);
    if (set < 0)
        cmd_fail("%s: %s cannot be opened", file->path, v->name);
    const int64_t points = cmd_points(&v->shape, v->type, v->name);
    const int64_t bytes  = points * cmd_size_of(v->type);
    if (points == 0)
        return cmd_leaf(file->ctx, v, NULL);
    if (place(h5, set, &v->offset)) {
        h5->H5Dclose(set);
        return cmd_read_dense(file->ctx, file->path, v);
    }
    char *to = cmd_storage(bytes, v->name);
    if (!read_runs(h5, set, file->path, v, to))
        decode(h5, set, file->path, v, to);
    for (int64_t i = 0; v->type == RD_BOOL && i < bytes; i++)
        to[i] = to[i] != 0;
    h5->H5Dclose(set);
    return cmd_leaf(file->ctx, v, to);
}

static void coordinates(cmd_file *file, cmd_variable *v)
{
    const cmd_hdf5_api *h5  = load(file->path);
    const hid_t         id  = *(const hid_t *)file->state;
    const hid_t         set = h5->H5Dopen2(id, v->name, H5P_DEFAULT);

    if (set < 0)
        return;
    cmd_hdf5_scales(h5, id, set, v);
    h5->H5Dclose(set);
}

const cmd_format cmd_hdf5 = { .name        = "HDF5",
                              .suffixes    = ".h5 .hdf5 .he5 .hdf ",
                              .matches     = matches,
                              .guarded     = true,
                              .open        = open_hdf5,
                              .read        = read_hdf5,
                              .coordinates = coordinates,
                              .write       = cmd_hdf5_write,
                              .begin       = cmd_hdf5_begin };
#else
static void open_hdf5(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without HDF5 (Debian: libhdf5-dev, then build again)",
             file->path);
}

bool cmd_hdf5_place(const char *path, const char *name, rd_dtype type, int64_t bytes,
                    int64_t *offset)
{
    (void)path;
    (void)name;
    (void)type;
    (void)bytes;
    (void)offset;
    return false;
}

bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place)
{
    (void)path;
    (void)results;
    (void)place;
    return false;
}

bool cmd_hdf5_read_chunks(const char *path, const cmd_variable *v, char *to)
{
    (void)path;
    (void)v;
    (void)to;
    return false;
}

const cmd_format cmd_hdf5 = { .name     = "HDF5 (not in this build)",
                              .suffixes = ".h5 .hdf5 .he5 .hdf ",
                              .matches  = matches,
                              .open     = open_hdf5 };
#endif

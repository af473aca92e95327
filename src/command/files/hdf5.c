/* hdf5.c - HDF5 files: datasets of all groups.  What lies in one piece in this machine's order is
 * mapped; else it is decoded.  Axes have names and coordinates where scales are attached. */
#include "files/formats.h"
#include "result.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

#if RDIM_HDF5
#include "files/hdf5_api.h"
#include "files/hdf5_attributes.h"
#include "files/hdf5_list.h"
#include "files/hdf5_said.h"
#include "files/hdf5_types.h"
#include "files/hdf5_write.h"
#include "files/inflate.h"

static void load(const char *path)
{
    if (!cmd_hdf5_load())
        cmd_fail("%s: HDF5 files need the library %s, which is not installed here", path,
                 RDIM_HDF5_NAME);
}

/* ---- Files ---------------------------------------------------------------------------------- */
static void open_hdf5(cmd_file *file)
{
    const cmd_hdf5_api *h5 = cmd_hdf5_load();
    const hid_t         id = h5->H5Fopen(file->path, CMD_HDF5_READ, H5P_DEFAULT);
    hid_t              *at = cmd_room(sizeof *at);

    if (id < 0)
        cmd_fail("%s: a broken HDF5 file (truncated?)", file->path);
    *at         = id;
    file->state = at;
    cmd_hdf5_list(file, id);
}

static void close_hdf5(cmd_file *file)
{
    cmd_hdf5_load()->H5Fclose(*(const hid_t *)file->state);
}

static void reopen_hdf5(cmd_file *file)
{
    hid_t *id = file->state;

    *id = cmd_hdf5_load()->H5Fopen(file->path, CMD_HDF5_READ, H5P_DEFAULT);
    if (*id < 0)
        cmd_fail("%s: cannot be opened again", file->path);
}

/* ---- Where elements are ---------------------------------------------------------------------- */
typedef struct dataset {
    const cmd_hdf5_api *h5;
    hid_t               file;
    hid_t               id, type, plan;
    rd_dtype            as; /* what it is read as, and of which shape */
    const rd_shape     *shape;
} dataset;

/* False: there is none of that name. */
static bool open_set(dataset *d, hid_t file, const char *name, rd_dtype as, const rd_shape *shape)
{
    const cmd_hdf5_api *h5 = cmd_hdf5_load();

    *d = (dataset){ .h5    = h5,
                    .file  = file,
                    .id    = h5->H5Dopen2(file, name, H5P_DEFAULT),
                    .as    = as,
                    .shape = shape };
    if (d->id < 0)
        return false;
    d->type = h5->H5Dget_type(d->id);
    d->plan = h5->H5Dget_create_plist(d->id);
    return true;
}

static void close_set(const dataset *d)
{
    d->h5->H5Tclose(d->type);
    d->h5->H5Pclose(d->plan);
    d->h5->H5Dclose(d->id);
}

/* Are the bytes in the file what they are read as? */
static bool usable(const dataset *d)
{
    const cmd_hdf5_type found = cmd_hdf5_type_of(d->h5, d->type);

    return found.as_is && cmd_size_of(found.type) == cmd_size_of(d->as);
}

/* The offset of a dataset in one piece, counted from the file's first byte even where other bytes stand before the
 * format's; -1: it is not in one piece. */
static int64_t offset_of(const dataset *d)
{
    const bool whole = d->h5->H5Pget_layout(d->plan) == H5D_CONTIGUOUS &&
                       d->h5->H5Pget_external_count(d->plan) == 0;
    const haddr_t at = whole ? d->h5->H5Dget_offset(d->id) : HADDR_UNDEF;

    return at == HADDR_UNDEF || at > INT64_MAX / 2 ? -1 : (int64_t)at;
}

/* False: there is a filter that is not ours. */
static bool find_filters(const dataset *d, cmd_place *p)
{
    p->n_filter = d->h5->H5Pget_nfilters(d->plan);
    if (p->n_filter < 0 || p->n_filter > CMD_MOST_FILTERS)
        return false;
    for (int k = 0; k < p->n_filter; k++) {
        unsigned           flags, number = 0;
        size_t             n = 1;
        const H5Z_filter_t filter =
            d->h5->H5Pget_filter2(d->plan, (unsigned)k, &flags, &n, &number, 0, NULL, NULL);

        if (filter == H5Z_FILTER_SHUFFLE && n > 0 && number == (unsigned)cmd_size_of(d->as))
            p->filter[k] = CMD_SHUFFLED;
        else if (filter == H5Z_FILTER_DEFLATE && cmd_can_inflate())
            p->filter[k] = CMD_DEFLATED;
        else
            return false;
    }
    return true;
}

/* Extents of chunks, and how many there are; 0: there are none, or too large ones. */
static int64_t count_chunks(const dataset *d, cmd_place *p)
{
    enum { MOST = 1 << 20, MOST_BYTES = 1 << 28 };
    hsize_t   chunk[H5S_MAX_RANK];
    const int rank  = d->shape->n;
    int64_t   bytes = cmd_size_of(d->as), n = 1;

    if (rank < 1 || d->h5->H5Pget_layout(d->plan) != H5D_CHUNKED ||
        d->h5->H5Pget_chunk(d->plan, H5S_MAX_RANK, chunk) != rank)
        return 0;
    for (int a = 0; a < rank; a++) {
        if (chunk[a] < 1 || chunk[a] > MOST_BYTES)
            return 0;
        p->extent[a]         = (int64_t)chunk[a];
        const int64_t beside = (d->shape->at[a] + p->extent[a] - 1) / p->extent[a];
        if (p->extent[a] > MOST_BYTES / bytes || beside > MOST / n)
            return 0;
        bytes *= p->extent[a];
        n *= beside;
    }
    return n;
}

/* Finds the chunks in a file of `size` bytes.  False: some are nowhere, or not as large as they must be. */
static bool find_chunks(const dataset *d, const cmd_place *p, int64_t size, cmd_chunk *to)
{
    hsize_t at[H5S_MAX_RANK] = { 0 };
    int64_t whole            = cmd_size_of(d->as);

    for (int a = 0; a < d->shape->n; a++)
        whole *= p->extent[a];
    for (int64_t k = 0; k < p->n; k++) {
        unsigned left_out = 0;
        haddr_t  address  = HADDR_UNDEF;
        hsize_t  bytes    = 0;

        if (d->h5->chunk(d->id, at, &left_out, &address, &bytes) < 0 || address == HADDR_UNDEF ||
            address > (haddr_t)size || bytes > (haddr_t)size - address ||
            (p->n_filter == 0 && bytes != (hsize_t)whole))
            return false;
        to[k] = (cmd_chunk){ (int64_t)address, (int64_t)bytes, left_out };
        for (int a = d->shape->n; a-- > 0; at[a] = 0)
            if ((at[a] += (hsize_t)p->extent[a]) < (hsize_t)d->shape->at[a])
                break;
    }
    return true;
}

/* The library walks the index of chunks from its beginning for each one, some 10 ns an entry, so that a time axis
 * of a million chunks of one element would take hours.  Where it decodes all itself it takes 30 us a chunk, and
 * its bytes by one thread. */
static bool are_worth_a_search(const dataset *d, const cmd_place *p)
{
    const double search  = (double)p->n * (double)p->n * 5e-9;
    const double library = (double)p->n * 3e-5 + (double)cmd_points(d->shape, d->as, "a variable") *
                                                     (double)cmd_size_of(d->as) / 2e8;

    return search < 60 && search < library + 0.5;
}

/* Is there something before the first byte of the format?  Releases of the library differ in whether
 * addresses of chunks count it, so it reads these itself. */
static bool has_user_block(const dataset *d)
{
    const hid_t plan  = d->h5->H5Fget_create_plist(d->file);
    hsize_t     bytes = 0;
    const bool  said  = plan >= 0 && d->h5->H5Pget_userblock(plan, &bytes) >= 0;

    if (plan >= 0)
        d->h5->H5Pclose(plan);
    return !said || bytes > 0;
}

static cmd_place place_of(const dataset *d, const char *path)
{
    cmd_place p = { .offset = usable(d) ? offset_of(d) : -1 };
    int64_t   size;

    if (p.offset >= 0 || !usable(d) || d->as == RD_BOOL || !d->h5->chunk || has_user_block(d) ||
        !find_filters(d, &p))
        return p;
    p.n = count_chunks(d, &p);
    if (p.n == 0 || !are_worth_a_search(d, &p))
        return p;
    cmd_chunk *const chunk = cmd_room((size_t)p.n * sizeof *chunk);
    const int        fd    = cmd_open_to_read(path, &size);
    p.chunk                = find_chunks(d, &p, size, chunk) ? chunk : NULL;
    close(fd);
    return p;
}

cmd_place cmd_hdf5_place(const char *path, const char *name, rd_dtype type, const rd_shape *shape)
{
    const cmd_hdf5_api *h5    = cmd_hdf5_load();
    const hid_t         file  = h5 ? h5->H5Fopen(path, CMD_HDF5_READ, H5P_DEFAULT) : -1;
    cmd_place           found = { .offset = -1 };
    dataset             d;

    if (file >= 0 && open_set(&d, file, name, type, shape)) {
        found = place_of(&d, path);
        close_set(&d);
    }
    if (file >= 0)
        h5->H5Fclose(file);
    return found;
}

/* The offset of elements that are in one piece, such as chunks of whole records one behind the other; -1: they are
 * not. */
static int64_t piece_of(const cmd_place *p, const rd_shape *shape, rd_dtype type)
{
    int64_t bytes = cmd_size_of(type);

    if (p->offset >= 0 || !p->chunk || p->n_filter > 0)
        return p->offset;
    for (int a = 0; a < shape->n; a++) {
        bytes *= p->extent[a];
        if (a > 0 && p->extent[a] != shape->at[a])
            return -1;
    }
    for (int64_t k = 0; k < p->n; k++)
        if (p->chunk[k].at != p->chunk[0].at + k * bytes)
            return -1;
    return p->chunk[0].at;
}

bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place)
{
    int64_t   size;
    bool      there = true;
    const int fd    = cmd_open_to_read(path, &size);

    close(fd);
    for (int k = 0; k < results->n && there; k++) {
        const cmd_result *r = &results->at[k];

        const cmd_place p = cmd_hdf5_place(path, r->name, r->array.type, &r->array.shape);
        place[k]          = piece_of(&p, &r->array.shape, r->array.type);
        there             = place[k] >= 0 && place[k] % cmd_size_of(r->array.type) == 0 &&
                place[k] <= size - cmd_result_bytes(r);
    }
    return there;
}

static hid_t id_of(const cmd_file *file)
{
    return *(const hid_t *)file->state;
}

static cmd_place place(const cmd_file *file, const cmd_variable *v)
{
    dataset d;

    if (!open_set(&d, id_of(file), v->name, v->type, &v->shape))
        cmd_fail("%s: %s cannot be opened", file->path, v->name);
    const cmd_place found = place_of(&d, file->path);
    close_set(&d);
    return found;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Some rows along the first axis, as places in the file and in memory. */
typedef struct rows {
    hid_t in_file, in_memory;
} rows;

static rows select_rows(const dataset *d, int64_t first, int64_t n)
{
    hsize_t start[H5S_MAX_RANK] = { (hsize_t)first }, count[H5S_MAX_RANK];

    if (d->shape->n == 0 || n == d->shape->at[0])
        return (rows){ H5S_ALL, H5S_ALL };
    for (int a = 0; a < d->shape->n; a++)
        count[a] = (hsize_t)(a ? d->shape->at[a] : n);
    const rows r = { d->h5->H5Dget_space(d->id),
                     d->h5->H5Screate_simple(d->shape->n, count, NULL) };
    d->h5->H5Sselect_hyperslab(r.in_file, H5S_SELECT_SET, start, NULL, count, NULL);
    return r;
}

static void drop_rows(const dataset *d, const rows *r)
{
    if (r->in_file == H5S_ALL)
        return;
    d->h5->H5Sclose(r->in_file);
    d->h5->H5Sclose(r->in_memory);
}

static void decode(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to)
{
    rd_shape some = v->shape;
    char    *at   = to;
    dataset  d;

    if (!open_set(&d, id_of(file), v->name, v->type, &v->shape))
        cmd_fail("%s: %s cannot be opened", file->path, v->name);
    const hid_t memory = cmd_hdf5_memory_type(d.h5, d.type);
    const rows  r      = select_rows(&d, first, n);
    if (d.h5->H5Dread(d.id, memory, r.in_memory, r.in_file, H5P_DEFAULT, to) < 0)
        cmd_fail("%s: %s cannot be read (damaged, or a filter that is not installed)", file->path,
                 v->name);
    drop_rows(&d, &r);
    d.h5->H5Tclose(memory);
    close_set(&d);
    some.at[0]           = n;
    const int64_t points = cmd_points(&some, v->type, v->name);
    for (int64_t i = 0; v->type == RD_BOOL && i < points; i++)
        at[i] = at[i] != 0;
}

static void coordinates(cmd_file *file, cmd_variable *v)
{
    const cmd_hdf5_api *h5  = cmd_hdf5_load();
    const hid_t         set = h5->H5Dopen2(id_of(file), v->name, H5P_DEFAULT);

    if (set < 0)
        return;
    cmd_hdf5_coordinates(h5, set, v);
    h5->H5Dclose(set);
}

/* ---- What is said beside numbers ------------------------------------------------------------- */
static hid_t opened(const cmd_file *file, const cmd_variable *v)
{
    const hid_t object = cmd_hdf5_load()->H5Oopen(id_of(file), v ? v->name : "/", H5P_DEFAULT);

    if (object < 0)
        cmd_fail("%s: %s cannot be opened", file->path, v ? v->name : "/");
    return object;
}

static cmd_said *say(cmd_file *file, const cmd_variable *v)
{
    const cmd_hdf5_api *h5     = cmd_hdf5_load();
    const hid_t         object = opened(file, v);
    cmd_said *const     said   = cmd_hdf5_said(h5, file->path, object, v != NULL);

    h5->H5Oclose(object);
    return said;
}

static const void *texts(const cmd_file *file, const cmd_variable *v)
{
    const cmd_hdf5_api *h5    = cmd_hdf5_load();
    const hid_t         set   = opened(file, v);
    const void *const   found = cmd_hdf5_texts(h5, file->path, set, v);

    h5->H5Oclose(set);
    return found;
}

const cmd_format cmd_hdf5 = { .name        = "HDF5",
                              .suffixes    = ".h5 .hdf5 .he5 .hdf ",
                              .matches     = matches,
                              .open        = open_hdf5,
                              .load        = load,
                              .close       = close_hdf5,
                              .reopen      = reopen_hdf5,
                              .place       = place,
                              .decode      = decode,
                              .coordinates = coordinates,
                              .say         = say,
                              .texts       = texts,
                              .keeps       = true,
                              .write       = cmd_hdf5_write,
                              .begin       = cmd_hdf5_begin };
#else
static void open_hdf5(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without HDF5 (Debian: libhdf5-dev, then build again)",
             file->path);
}

cmd_place cmd_hdf5_place(const char *path, const char *name, rd_dtype type, const rd_shape *shape)
{
    (void)path;
    (void)name;
    (void)type;
    (void)shape;
    return (cmd_place){ .offset = -1 };
}

bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place)
{
    (void)path;
    (void)results;
    (void)place;
    return false;
}

const cmd_format cmd_hdf5 = { .name     = "HDF5 (not in this build)",
                              .suffixes = ".h5 .hdf5 .he5 .hdf ",
                              .matches  = matches,
                              .open     = open_hdf5 };
#endif

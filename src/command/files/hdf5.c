/* hdf5.c - HDF5 files: datasets of all groups. Contiguous datasets in this machine's byte order are
 * memory-mapped; others are decoded. Axes have names and coordinates where dimension scales are
 * attached.
 *
 * The library's words: a "set" is a dataset, and its "plan" is the list of its creation properties,
 * such as chunks and filters. A user block is foreign bytes before the format's first byte. */
#include "files/formats.h"
#include "result.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* True if the bytes are HDF5's signature. A file with a user block is recognised in formats.c. */
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

/* Loads libhdf5, or ends the program if it is not installed. */
static void load(const char *path)
{
    if (!cmd_hdf5_load())
        cmd_fail("%s: HDF5 files need the library %s, which is not installed here", path,
                 RDIM_HDF5_NAME);
}

/* ---- Files ----------------------------------------------------------------------------------- */
/* Opens a file in the reader process, and lists its datasets. file->state points to the library's
 * identifier of the file. */
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

/* Closes the file in the library, to keep the number of open files small; reopen_hdf5() opens it
 * again. */
static void close_hdf5(cmd_file *file)
{
    cmd_hdf5_load()->H5Fclose(*(const hid_t *)file->state);
}

/* Opens a file again that close_hdf5() has closed. Its list of variables is still there. */
static void reopen_hdf5(cmd_file *file)
{
    hid_t *id = file->state;

    *id = cmd_hdf5_load()->H5Fopen(file->path, CMD_HDF5_READ, H5P_DEFAULT);
    if (*id < 0)
        cmd_fail("%s: cannot be opened again", file->path);
}

/* ---- Offsets of elements --------------------------------------------------------------------- */
/* An open dataset, with identifiers of the library; plan: its creation properties. */
typedef struct dataset {
    const cmd_hdf5_api *h5;
    hid_t               file;
    hid_t               id, type, plan;
    rd_dtype            as; /* the type that its elements are read as */
    const rd_shape     *shape;
} dataset;

/* Opens a dataset, its type and its creation properties. False: there is no dataset of that
 * name. */
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

/* Closes a dataset that open_set() has opened. */
static void close_set(const dataset *d)
{
    d->h5->H5Tclose(d->type);
    d->h5->H5Pclose(d->plan);
    d->h5->H5Dclose(d->id);
}

/* True if the bytes in the file are elements of the type that they are read as, so that no
 * conversion is needed. */
static bool is_stored_as_read(const dataset *d)
{
    const cmd_hdf5_type found = cmd_hdf5_type_of(d->h5, d->type);

    return found.as_is && cmd_size_of(found.type) == cmd_size_of(d->as);
}

/* The offset of a contiguous dataset, from the file's first byte even where a user block stands
 * there. -1: the dataset is not contiguous, its bytes are in other files, or there are none yet. */
static int64_t offset_of(const dataset *d)
{
    const bool whole = d->h5->H5Pget_layout(d->plan) == H5D_CONTIGUOUS &&
                       d->h5->H5Pget_external_count(d->plan) == 0;
    const haddr_t at = whole ? d->h5->H5Dget_offset(d->id) : HADDR_UNDEF;

    return at == HADDR_UNDEF || at > INT64_MAX / 2 ? -1 : (int64_t)at;
}

/* Lists the filters of a chunked dataset in the order in which they were applied. False: one is not
 * known here, or shuffles other units than whole elements. */
static bool find_known_filters(const dataset *d, cmd_place *p)
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

/* Sets the shape of chunks and returns their number. 0: the dataset has no chunks, one is larger
 * than 256 MB, or they are more than a million. `beside` is the number of chunks along an axis. */
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

/* Finds offset and size of each chunk, in C order. False: a chunk is missing (never written), lies
 * outside of the file, or, without filters, has another size than its elements. */
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

/* True if a search for all chunks is faster than decoding by the library, or at most half a second
 * slower, and takes less than a minute. Each look-up scans the index of chunks from its start, on
 * average half of it, at 10 ns an entry. That is quadratic: a million chunks would take hours. The
 * library decodes in one thread, at 30 us a chunk and 200 MB/s. */
static bool are_worth_a_search(const dataset *d, const cmd_place *p)
{
    const double search  = (double)p->n * (double)p->n * 5e-9;
    const double library = (double)p->n * 3e-5 + (double)cmd_points(d->shape, d->as, "a variable") *
                                                     (double)cmd_size_of(d->as) / 2e8;

    return search < 60 && search < library + 0.5;
}

/* True if a user block stands before the format's first byte, or if that is not known. Releases of
 * the library disagree whether addresses of chunks count it, so the library then decodes. */
static bool has_user_block(const dataset *d)
{
    const hid_t plan  = d->h5->H5Fget_create_plist(d->file);
    hsize_t     bytes = 0;
    const bool  said  = plan >= 0 && d->h5->H5Pget_userblock(plan, &bytes) >= 0;

    if (plan >= 0)
        d->h5->H5Pclose(plan);
    return !said || bytes > 0;
}

/* Finds where the elements are: at one offset, in chunks with known filters, or neither. Neither
 * means an offset of -1 and no chunks. Bools are not read from chunks, as their bytes must become 0
 * or 1. */
static cmd_place place_of(const dataset *d, const char *path)
{
    cmd_place p = { .offset = is_stored_as_read(d) ? offset_of(d) : -1 };
    int64_t   size;

    if (p.offset >= 0 || !is_stored_as_read(d) || d->as == RD_BOOL || !d->h5->chunk ||
        has_user_block(d) || !find_known_filters(d, &p))
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

/* Opens the file and finds the elements of one dataset. An offset of -1 without chunks means that
 * the library must decode them. */
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

/* The offset of elements that are contiguous: in a contiguous dataset, or in chunks without filters
 * that hold whole records (extents differ along axis 0 alone) and follow one another. -1: they are
 * not contiguous. */
static int64_t contiguous_offset(const cmd_place *p, const rd_shape *shape, rd_dtype type)
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

/* Finds the offset of each result. False: one is not contiguous, not aligned to its element size,
 * or does not lie in the file. */
bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place)
{
    int64_t   size;
    bool      there = true;
    const int fd    = cmd_open_to_read(path, &size);

    close(fd);
    for (int k = 0; k < results->n && there; k++) {
        const cmd_result *r = &results->at[k];

        const cmd_place p = cmd_hdf5_place(path, r->name, r->array.type, &r->array.shape);
        place[k]          = contiguous_offset(&p, &r->array.shape, r->array.type);
        there             = place[k] >= 0 && place[k] % cmd_size_of(r->array.type) == 0 &&
                place[k] <= size - cmd_result_bytes(r);
    }
    return there;
}

/* The library's identifier of an open file. */
static hid_t id_of(const cmd_file *file)
{
    return *(const hid_t *)file->state;
}

/* Finds where the elements of a variable are, for the reader process. */
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
/* A selection of rows along the first axis: a dataspace of the file and one of memory. */
typedef struct row_selection {
    hid_t in_file, in_memory;
} row_selection;

/* Selects n rows along the first axis, from `first` on, as a hyperslab. All rows, and a scalar,
 * need no selection (H5S_ALL). */
static row_selection select_rows(const dataset *d, int64_t first, int64_t n)
{
    hsize_t start[H5S_MAX_RANK] = { (hsize_t)first }, count[H5S_MAX_RANK];

    if (d->shape->n == 0 || n == d->shape->at[0])
        return (row_selection){ H5S_ALL, H5S_ALL };
    for (int a = 0; a < d->shape->n; a++)
        count[a] = (hsize_t)(a ? d->shape->at[a] : n);
    const row_selection r = { d->h5->H5Dget_space(d->id),
                              d->h5->H5Screate_simple(d->shape->n, count, NULL) };
    d->h5->H5Sselect_hyperslab(r.in_file, H5S_SELECT_SET, start, NULL, count, NULL);
    return r;
}

/* Closes a selection that select_rows() has made. H5S_ALL means all rows, and is no object. */
static void drop_rows(const dataset *d, const row_selection *r)
{
    if (r->in_file == H5S_ALL)
        return;
    d->h5->H5Sclose(r->in_file);
    d->h5->H5Sclose(r->in_memory);
}

/* Reads n rows along the first axis, from `first` on, by the library, which converts them to the
 * type in memory. Bytes of bools become 0 or 1. */
static void decode(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to)
{
    rd_shape some = v->shape;
    char    *at   = to;
    dataset  d;

    if (!open_set(&d, id_of(file), v->name, v->type, &v->shape))
        cmd_fail("%s: %s cannot be opened", file->path, v->name);
    const hid_t         memory = cmd_hdf5_memory_type(d.h5, d.type);
    const row_selection r      = select_rows(&d, first, n);
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

/* Reads the coordinates of a variable's axes from the dimension scales attached to it. */
static void coordinates(cmd_file *file, cmd_variable *v)
{
    const cmd_hdf5_api *h5  = cmd_hdf5_load();
    const hid_t         set = h5->H5Dopen2(id_of(file), v->name, H5P_DEFAULT);

    if (set < 0)
        return;
    cmd_hdf5_coordinates(h5, set, v);
    h5->H5Dclose(set);
}

/* ---- Attributes and texts -------------------------------------------------------------------- */
/* Opens the dataset of a variable, or the root group if v is NULL. */
static hid_t open_object(const cmd_file *file, const cmd_variable *v)
{
    const hid_t object = cmd_hdf5_load()->H5Oopen(id_of(file), v ? v->name : "/", H5P_DEFAULT);

    if (object < 0)
        cmd_fail("%s: %s cannot be opened", file->path, v ? v->name : "/");
    return object;
}

/* Reads all attributes of a variable, or of the file if v is NULL. */
static cmd_said *say(cmd_file *file, const cmd_variable *v)
{
    const cmd_hdf5_api *h5     = cmd_hdf5_load();
    const hid_t         object = open_object(file, v);
    cmd_said *const     said   = cmd_hdf5_said(h5, file->path, object, v != NULL);

    h5->H5Oclose(object);
    return said;
}

/* Reads the elements of a variable of text, as pointers. */
static const void *texts(const cmd_file *file, const cmd_variable *v)
{
    const cmd_hdf5_api *h5    = cmd_hdf5_load();
    const hid_t         set   = open_object(file, v);
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
/* Ends the program, as this build has no HDF5. */
static void open_hdf5(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without HDF5 (Debian: libhdf5-dev, then build again)",
             file->path);
}

/* Without HDF5 no elements are found. */
cmd_place cmd_hdf5_place(const char *path, const char *name, rd_dtype type, const rd_shape *shape)
{
    (void)path;
    (void)name;
    (void)type;
    (void)shape;
    return (cmd_place){ .offset = -1 };
}

/* Without HDF5 no offsets are found. */
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

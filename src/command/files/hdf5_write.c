/* hdf5_write.c - writes the contents of a file of results as HDF5.
 *
 * Dimensions are scales, and attributes have the form of NetCDF's library, so that it reads the
 * whole file. An axis without a name has no scale. */
#if RDIM_HDF5
#include "files/hdf5_write.h"
#include "files/formats.h"
#include "files/hdf5_writer.h"
#include <string.h>

typedef cmd_hdf5_writer writer;

/* Ends the program if `status`, a result of the library, is negative, which means a failure. */
void cmd_hdf5_check(const cmd_hdf5_writer *w, const char *what, int64_t status)
{
    if (status < 0)
        cmd_fail("%s: %s cannot be written", w->path, what);
}

/* ---- The file -------------------------------------------------------------------------------- */
/* Creates a property list of the class; 0: the default one. The caller closes it by
 * close_properties(). */
static hid_t properties(const cmd_hdf5_api *h5, hid_t class)
{
    const hid_t made = class ? h5->H5Pcreate(class) : -1;

    return made < 0 ? H5P_DEFAULT : made;
}

/* Closes a property list, unless it is the default one, which is no object. */
static void close_properties(const cmd_hdf5_api *h5, hid_t properties)
{
    if (properties != H5P_DEFAULT)
        h5->H5Pclose(properties);
}

/* Creates the file. If `aligned`, large datasets begin at a page. Creation order is tracked, which
 * NetCDF's library requires before it changes a file. */
static hid_t create(const writer *w, const char *aside, bool aligned)
{
    enum { ORDER = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED };
    const cmd_hdf5_api *h5     = w->h5;
    const hid_t         access = properties(h5, aligned ? h5->file_access : 0),
                plan           = properties(h5, h5->file_create);

    if (access != H5P_DEFAULT)
        h5->H5Pset_alignment(access, CMD_LARGE_SET, CMD_PAGE);
    if (plan != H5P_DEFAULT) {
        h5->H5Pset_link_creation_order(plan, ORDER);
        h5->H5Pset_attr_creation_order(plan, ORDER);
    }
    const hid_t file = h5->H5Fcreate(aside, CMD_HDF5_TRUNCATE, plan, access);
    close_properties(h5, access);
    close_properties(h5, plan);
    cmd_hdf5_check(w, "the file", file);
    return file;
}

/* ---- Datasets -------------------------------------------------------------------------------- */
/* Makes the HDF5 type of a variable's elements; ends the program if there is none, as for complex
 * numbers. */
static hid_t type_of(const writer *w, const cmd_content *c)
{
    const hid_t made = cmd_hdf5_made_type(w->h5, c->kind, c->type);

    if (made < 0)
        cmd_fail("%s: no type %s is written to HDF5; of complex numbers real() and imag() can be",
                 w->path, cmd_type_name(c->type));
    return made;
}

/* Makes the dataspace of a variable: its extents, and the largest ones, which are unlimited along
 * dimensions that grow. */
static hid_t space_of(const writer *w, const cmd_content *c)
{
    hsize_t extent[RD_MAX_RANK], most[RD_MAX_RANK];

    if (c->shape.n == 0)
        return w->h5->H5Screate(H5S_SCALAR);
    for (int k = 0; k < c->shape.n; k++) {
        extent[k] = (hsize_t)c->shape.at[k];
        most[k]   = w->all->dimension[c->dimension[k]].grows ? H5S_UNLIMITED : extent[k];
    }
    return w->h5->H5Screate_simple(c->shape.n, extent, most);
}

/* Makes the creation properties of a dataset: fill value, chunks (extent 0: none), filters.
 * Elements are not filled, as each one is written. H5P_DEFAULT: this release of the library has
 * other names for such properties. */
static hid_t plan_of(const writer *w, const cmd_content *c, hid_t type)
{
    const cmd_hdf5_api  *h5   = w->h5;
    const hid_t          plan = properties(h5, h5->set_create);
    const cmd_attribute *fill = cmd_attribute_named(&c->attributes, "_FillValue");
    hsize_t              extent[RD_MAX_RANK];

    if (plan == H5P_DEFAULT)
        return plan;
    h5->H5Pset_attr_creation_order(plan, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (c->kind != CMD_TEXTS) /* the library requires that places of text are filled */
        h5->H5Pset_fill_time(plan, H5D_FILL_TIME_NEVER);
    if (fill && fill->kind == CMD_NUMBERS && c->kind == CMD_NUMBERS && fill->type == c->type)
        h5->H5Pset_fill_value(plan, type, fill->at);
    for (int k = 0; k < c->shape.n; k++)
        extent[k] = (hsize_t)c->layout.extent[k];
    if (c->shape.n > 0 && c->layout.extent[0] > 0)
        cmd_hdf5_check(w, c->name, h5->H5Pset_chunk(plan, c->shape.n, extent));
    if (c->layout.level > 0 && c->layout.shuffled)
        cmd_hdf5_check(w, c->name, h5->H5Pset_shuffle(plan));
    if (c->layout.level > 0)
        cmd_hdf5_check(w, c->name, h5->H5Pset_deflate(plan, (unsigned)c->layout.level));
    return plan;
}

/* Creates a dataset with its attributes, without elements. */
hid_t cmd_hdf5_define(const cmd_hdf5_writer *w, const cmd_content *c)
{
    const hid_t type = type_of(w, c), space = space_of(w, c), plan = plan_of(w, c, type);
    const hid_t set =
        w->h5->H5Dcreate2(w->file, c->name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);

    cmd_hdf5_check(w, c->name, set);
    cmd_hdf5_put_attributes(w->h5, w->path, set, &c->attributes);
    close_properties(w->h5, plan);
    w->h5->H5Sclose(space);
    w->h5->H5Tclose(type);
    return set;
}

/* ---- Definitions ----------------------------------------------------------------------------- */
/* Creates the file with all datasets, attributes and scales. */
static writer begin(const char *path, const char *aside, const cmd_results *results, bool aligned)
{
    writer w = { .h5 = cmd_hdf5_load(), .path = path };

    if (!w.h5)
        cmd_fail("%s: HDF5 files need the library %s, which is not installed here", path,
                 RDIM_HDF5_NAME);
    w.all   = cmd_contents_of(path, results);
    w.set   = cmd_room((size_t)w.all->n * sizeof *w.set);
    w.scale = cmd_room((size_t)w.all->n_dimensions * sizeof *w.scale);
    w.file  = create(&w, aside, aligned);
    cmd_hdf5_put_attributes(w.h5, path, w.file, &w.all->about);
    for (int k = 0; k < w.all->n; k++)
        w.set[k] = cmd_hdf5_define(&w, &w.all->at[k]);
    cmd_hdf5_make_scales(&w);
    return w;
}

/* Closes all datasets and the file. Some failures to write are reported only here. */
static void end(const writer *w)
{
    for (int k = 0; k < w->all->n; k++)
        w->h5->H5Dclose(w->set[k]);
    cmd_hdf5_check(w, "the file", w->h5->H5Fclose(w->file));
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Writes the elements of variable k. A NULL pointer means that there are none. */
static void write_elements(const writer *w, int k)
{
    const cmd_content *c    = &w->all->at[k];
    const void        *from = cmd_content_elements(c);
    const hid_t        type = type_of(w, c);

    if (from)
        cmd_hdf5_check(w, c->name,
                       w->h5->H5Dwrite(w->set[k], type, H5S_ALL, H5S_ALL, H5P_DEFAULT, from));
    w->h5->H5Tclose(type);
}

/* Opens the closed file again, and writes variable k by the library. This is needed where threads
 * cannot deflate. */
static void write_by_library(writer *w, const char *aside, int k)
{
    w->file = w->h5->H5Fopen(aside, CMD_HDF5_CHANGE, H5P_DEFAULT);
    cmd_hdf5_check(w, w->all->at[k].name, w->file);
    w->set[k] = w->h5->H5Dopen2(w->file, w->all->at[k].name, H5P_DEFAULT);
    cmd_hdf5_check(w, w->all->at[k].name, w->set[k]);
    write_elements(w, k);
    w->h5->H5Dclose(w->set[k]);
    cmd_hdf5_check(w, "the file", w->h5->H5Fclose(w->file));
}

/* Writes all elements. Large compressed results follow after the file is closed, as all threads
 * deflate them. */
void cmd_hdf5_write(const char *path, const char *aside, const cmd_results *results)
{
    writer w = begin(path, aside, results, /*aligned=*/false);

    for (int k = 0; k < w.all->n; k++) {
        if (!cmd_is_for_threads(&w.all->at[k]))
            write_elements(&w, k);
        cmd_may_go_on();
    }
    end(&w);
    for (int k = 0; k < w.all->n; k++) {
        const cmd_content *c = &w.all->at[k];
        if (cmd_is_for_threads(c) && !cmd_hdf5_put_deflated(path, aside, c->result, &c->layout))
            write_by_library(&w, aside, k);
    }
}

/* Writes the last element of a dataset, as zero. The library allocates a dataset at its first
 * write, and so the file gets its full length. */
static void write_last_element(const writer *w, int k)
{
    static const char   none[16];
    const cmd_hdf5_api *h5   = w->h5;
    const cmd_content  *c    = &w->all->at[k];
    const hid_t         type = type_of(w, c);
    const hid_t         all = h5->H5Dget_space(w->set[k]), one = h5->H5Screate(H5S_SCALAR);
    hsize_t             at[RD_MAX_RANK], count[RD_MAX_RANK];

    for (int d = 0; d < c->shape.n; d++) {
        at[d]    = (hsize_t)c->shape.at[d] - 1;
        count[d] = 1;
    }
    if (c->shape.n > 0)
        h5->H5Sselect_hyperslab(all, H5S_SELECT_SET, at, NULL, count, NULL);
    if (cmd_count(c->result) > 0)
        cmd_hdf5_check(w, c->name, h5->H5Dwrite(w->set[k], type, one, all, H5P_DEFAULT, none));
    h5->H5Sclose(one);
    h5->H5Sclose(all);
    h5->H5Tclose(type);
}

/* Writes all but the results, allocates room for these, and finds their offsets. False: a result
 * cannot be contiguous. A contiguous result (extent 0 of its chunks) gets its room by its last
 * element, one in chunks by cmd_hdf5_make_records(). */
bool cmd_hdf5_begin(const char *path, const char *aside, const cmd_results *results, int64_t *place)
{
    const writer w   = begin(path, aside, results, /*aligned=*/true);
    const bool   are = cmd_are_pieces(w.all);

    for (int k = 0; k < w.all->n && are; k++)
        if (!w.all->at[k].result)
            write_elements(&w, k);
        else if (w.all->at[k].layout.extent[0] == 0)
            write_last_element(&w, k);
    end(&w);
    return are && cmd_hdf5_make_records(path, aside, w.all) &&
           cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_hdf5_writer;
#endif

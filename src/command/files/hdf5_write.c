/* hdf5_write.c - results as an HDF5 file: a dataset each, and scales of its axes. */
#if RDIM_HDF5
#include "files/hdf5_write.h"
#include "files/formats.h"
#include "files/hdf5_api.h"
#include "files/hdf5_types.h"
#include "result.h"
#include <string.h>

typedef struct writer {
    const cmd_hdf5_api *h5;
    const char         *path;
    hid_t               file;
} writer;

static void check(const writer *w, const char *what, int64_t status)
{
    if (status < 0)
        cmd_fail("%s: %s cannot be written", w->path, what);
}

/* FALSE and TRUE of a byte, as h5py writes bools. */
static hid_t bool_type(const cmd_hdf5_api *h5)
{
    const hid_t  type = h5->H5Tenum_create(h5->NATIVE_INT8);
    const int8_t no = 0, yes = 1;

    h5->H5Tenum_insert(type, "FALSE", &no);
    h5->H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

static hid_t type_of(const writer *w, const cmd_result *r)
{
    const rd_dtype type = r->array.type;
    const hid_t    made = type == RD_BOOL ? bool_type(w->h5) : cmd_hdf5_native_type(w->h5, type);

    if (made < 0)
        cmd_fail("%s: no type %s is written to HDF5; of complex numbers real() and imag() can be",
                 w->path, cmd_type_name(type));
    return made;
}

static void put_text(const writer *w, hid_t set, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    const hid_t type = w->h5->H5Tcopy(w->h5->C_S1), space = w->h5->H5Screate(H5S_SCALAR);
    w->h5->H5Tset_size(type, strlen(text) + 1);
    const hid_t id = w->h5->H5Acreate2(set, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(w, name, id);
    check(w, name, w->h5->H5Awrite(id, type, text));
    w->h5->H5Aclose(id);
    w->h5->H5Sclose(space);
    w->h5->H5Tclose(type);
}

static hid_t put_set(const writer *w, const char *name, hid_t type, int rank, const int64_t *extent,
                     const void *data)
{
    hsize_t size[RD_MAX_RANK];

    for (int k = 0; k < rank; k++)
        size[k] = (hsize_t)extent[k];
    const hid_t space =
        rank ? w->h5->H5Screate_simple(rank, size, NULL) : w->h5->H5Screate(H5S_SCALAR);
    const hid_t set =
        w->h5->H5Dcreate2(w->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(w, name, set);
    if (data)
        check(w, name, w->h5->H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    w->h5->H5Sclose(space);
    return set;
}

/* The scale of an axis that has coordinates: there already, where another result has the same. */
static bool put_scale(const writer *w, const cmd_result *r, int k, const cmd_results *results,
                      hobj_ref_t *reference)
{
    const cmd_axis *axis = &r->axis[k];
    const char     *name = axis->name;

    if (!name || !axis->at)
        return false;
    for (const cmd_result *other = results->at; other < results->at + results->n; other++) {
        if (strcmp(other->name, name) == 0)
            return false; /* the name is a result's */
        for (int a = 0; a < other->array.shape.n && (other < r || (other == r && a < k)); a++)
            if (other->axis[a].name && other->axis[a].at && strcmp(other->axis[a].name, name) == 0)
                return other->axis[a].n == axis->n &&
                       memcmp(other->axis[a].at, axis->at, (size_t)axis->n * sizeof(double)) == 0 &&
                       w->h5->H5Rcreate(reference, w->file, name, H5R_OBJECT, -1) >= 0;
    }
    const hid_t set = put_set(w, name, w->h5->NATIVE_DOUBLE, 1, &axis->n, axis->at);
    put_text(w, set, "CLASS", "DIMENSION_SCALE");
    put_text(w, set, "NAME", name);
    put_text(w, set, "units", axis->units);
    put_text(w, set, "long_name", axis->title);
    put_text(w, set, "standard_name", axis->standard);
    put_text(w, set, "calendar", axis->calendar);
    w->h5->H5Dclose(set);
    return w->h5->H5Rcreate(reference, w->file, name, H5R_OBJECT, -1) >= 0;
}

static void attach_scales(const writer *w, hid_t set, const cmd_result *r,
                          const cmd_results *results)
{
    hobj_ref_t    references[RD_MAX_RANK];
    hvl_t         lists[RD_MAX_RANK];
    bool          any  = false;
    const hsize_t rank = (hsize_t)r->array.shape.n;

    for (int k = 0; k < r->array.shape.n; k++) {
        const bool there = put_scale(w, r, k, results, &references[k]);
        lists[k]         = (hvl_t){ .len = there, .p = &references[k] };
        any |= there;
    }
    if (!any)
        return;
    const hid_t type  = w->h5->H5Tvlen_create(w->h5->STD_REF_OBJ);
    const hid_t space = w->h5->H5Screate_simple(1, &rank, NULL);
    const hid_t id =
        w->h5->H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(w, "DIMENSION_LIST", id);
    check(w, "DIMENSION_LIST", w->h5->H5Awrite(id, type, lists));
    w->h5->H5Aclose(id);
    w->h5->H5Sclose(space);
    w->h5->H5Tclose(type);
}

/* Large datasets begin a page, if so. */
static hid_t create(const writer *w, const char *aside, bool aligned)
{
    const cmd_hdf5_api *h5 = w->h5;
    const hid_t access = aligned && h5->file_access ? h5->H5Pcreate(h5->file_access) : H5P_DEFAULT;

    if (access != H5P_DEFAULT)
        h5->H5Pset_alignment(access, CMD_LARGE_SET, CMD_PAGE);
    const hid_t file = h5->H5Fcreate(aside, CMD_HDF5_TRUNCATE, H5P_DEFAULT, access);
    if (access != H5P_DEFAULT)
        h5->H5Pclose(access);
    check(w, "the file", file);
    return file;
}

/* The library gives a dataset its place when the first element is written: the last one is, so that
 * the file is as long as it will be. */
static void put_last(const writer *w, hid_t set, hid_t type, const cmd_result *r)
{
    static const char none[16];
    const hid_t       all = w->h5->H5Dget_space(set), one = w->h5->H5Screate(H5S_SCALAR);
    hsize_t           at[RD_MAX_RANK], count[RD_MAX_RANK];

    for (int k = 0; k < r->array.shape.n; k++) {
        at[k]    = (hsize_t)r->array.shape.at[k] - 1;
        count[k] = 1;
    }
    if (r->array.shape.n > 0)
        w->h5->H5Sselect_hyperslab(all, H5S_SELECT_SET, at, NULL, count, NULL);
    if (cmd_count(r) > 0)
        check(w, r->name, w->h5->H5Dwrite(set, type, one, all, H5P_DEFAULT, none));
    w->h5->H5Sclose(one);
    w->h5->H5Sclose(all);
}

/* Elements: all of them, or the last of each. */
static void write_file(const char *path, const char *aside, const cmd_results *results,
                       bool elements)
{
    writer w = { .h5 = cmd_hdf5_load(), .path = path };

    if (!w.h5)
        cmd_fail("%s: HDF5 files need the library %s, which is not installed here", path,
                 RDIM_HDF5_NAME);
    w.file = create(&w, aside, !elements);
    for (int k = 0; k < results->n; k++) {
        const cmd_result *r    = &results->at[k];
        const hid_t       type = type_of(&w, r);
        const hid_t       set  = put_set(&w, r->name, type, r->array.shape.n, r->array.shape.at,
                                  elements ? r->array.in : NULL);

        if (!elements)
            put_last(&w, set, type, r);
        put_text(&w, set, "units", r->units);
        put_text(&w, set, "calendar", r->calendar);
        put_text(&w, set, "long_name", r->title);
        put_text(&w, set, "rdim_formula", r->formula);
        attach_scales(&w, set, r, results);
        w.h5->H5Dclose(set);
        cmd_may_go_on();
    }
    check(&w, "the file", w.h5->H5Fclose(w.file));
}

void cmd_hdf5_write(const char *path, const char *aside, const cmd_results *results)
{
    write_file(path, aside, results, true);
}

bool cmd_hdf5_begin(const char *path, const char *aside, const cmd_results *results, int64_t *place)
{
    write_file(path, aside, results, false);
    return cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_hdf5_writer;
#endif

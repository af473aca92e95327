/* hdf5_attributes.c - reads the attributes of a dataset, and the names and coordinates of its axes
 * from dimension scales.
 *
 * A dimension scale is a dataset that holds the coordinates of an axis. It is attached to a dataset
 * by references in the attribute DIMENSION_LIST. */
#if RDIM_HDF5
#include "files/hdf5_attributes.h"
#include "files/hdf5_types.h"
#include "files/packing.h"
#include <stdlib.h>
#include <string.h>

/* Reads facts of an axis from its dimension scale. */
typedef void scale_visit(const cmd_hdf5_api *h5, hid_t scale, cmd_axis *axis);

/* Bytes of a text and of a path; coordinates of an axis. */
enum { MOST_TEXT = 1 << 16, MOST_NAME = 4096, MOST_COORDINATES = 1 << 22 };

/* Opens an attribute; -1: there is none. If it cannot be read, the program ends, as an array would
 * lose its scale or its missing values. */
static hid_t open_attribute(const cmd_hdf5_api *h5, hid_t object, const char *name)
{
    const htri_t there = h5->H5Aexists(object, name);
    const hid_t  id    = there > 0 ? h5->H5Aopen(object, name, H5P_DEFAULT) : -1;

    if (there < 0 || (there > 0 && id < 0))
        cmd_fail("an attribute %s of this HDF5 file cannot be read (damaged?)", name);
    return id;
}

/* Reads an attribute that is one text (a scalar), of fixed or variable length. NULL: it is missing,
 * empty, no text, or too long. */
const char *cmd_hdf5_text(const cmd_hdf5_api *h5, hid_t object, const char *name)
{
    const hid_t id   = open_attribute(h5, object, name);
    char       *text = NULL;

    if (id < 0)
        return NULL;
    const hid_t  type = h5->H5Aget_type(id), space = h5->H5Aget_space(id);
    const size_t size = h5->H5Tget_size(type);
    if (h5->H5Tget_class(type) == H5T_STRING && h5->H5Sget_simple_extent_ndims(space) == 0) {
        if (h5->H5Tis_variable_str(type) > 0) {
            char *given = NULL;
            if (h5->H5Aread(id, type, &given) >= 0 && given) {
                text = cmd_copy(given, strlen(given));
                h5->H5free_memory(given);
            }
        } else if (size > 0 && size < MOST_TEXT) {
            text = cmd_room(size + 1);
            if (h5->H5Aread(id, type, text) < 0)
                *text = '\0';
        }
    }
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    h5->H5Aclose(id);
    return text && *text ? text : NULL;
}

/* The number of elements of a dataspace with at most one axis; 0: it has more axes, or no
 * elements. */
static int64_t points_of(const cmd_hdf5_api *h5, hid_t space)
{
    hsize_t   extent[H5S_MAX_RANK];
    const int rank = h5->H5Sget_simple_extent_ndims(space);

    if (rank < 0 || rank > 1 || h5->H5Sget_simple_extent_type(space) == H5S_NULL ||
        h5->H5Sget_simple_extent_dims(space, extent, NULL) < 0)
        return 0;
    return rank == 0 ? 1 : extent[0] < INT64_MAX ? (int64_t)extent[0] : 0;
}

/* Reads n integers or floats of an attribute as the widest type of their class, which holds each of
 * them. */
static bool read_values(const cmd_hdf5_api *h5, hid_t id, rd_dtype type, int n, cmd_exact *at)
{
    union {
        double   f[CMD_MOST_NUMBERS];
        int64_t  i[CMD_MOST_NUMBERS];
        uint64_t u[CMD_MOST_NUMBERS];
    } read;
    const bool is_float  = cmd_is_float(type),
               is_signed = type == RD_I8 || type == RD_I16 || type == RD_I32 || type == RD_I64;

    if (h5->H5Aread(id,
                    is_float    ? h5->NATIVE_DOUBLE
                    : is_signed ? h5->NATIVE_INT64
                                : h5->NATIVE_UINT64,
                    &read) < 0)
        return false;
    for (int k = 0; k < n; k++)
        at[k] = is_float    ? cmd_real(read.f[k])
                : is_signed ? cmd_integer(read.i[k])
                            : cmd_unsigned(read.u[k]);
    return true;
}

/* Reads an attribute of numbers and their stored type. Returns how many, 0 if it is missing or has
 * no numbers. The program ends if there are too many, or if they cannot be read. */
int cmd_hdf5_numbers(void *user, const char *name, cmd_exact **at, rd_dtype *type)
{
    const cmd_hdf5_object *o  = user;
    const cmd_hdf5_api    *h5 = o->h5;
    const hid_t            id = open_attribute(h5, o->id, name);

    if (id < 0)
        return 0;
    const hid_t stored = h5->H5Aget_type(id), space = h5->H5Aget_space(id);
    const H5T_class_t class = h5->H5Tget_class(stored);
    int64_t n               = points_of(h5, space);
    bool    good            = n <= CMD_MOST_NUMBERS;
    *type                   = cmd_hdf5_type_of(h5, stored).type;
    if (*type == RD_AUTO || (class != H5T_INTEGER && class != H5T_FLOAT))
        n = 0;
    else if (good && n > 0) {
        *at  = cmd_room((size_t)n * sizeof **at);
        good = read_values(h5, id, *type, (int)n, *at);
    }
    h5->H5Sclose(space);
    h5->H5Tclose(stored);
    h5->H5Aclose(id);
    if (n > 0 && !good)
        cmd_fail("an attribute %s of this HDF5 file cannot be read (damaged?)", name);
    return (int)n;
}

/* Unpacks coordinates by scale_factor and add_offset, as elements are unpacked. */
static void unpack_coordinates(const cmd_hdf5_api *h5, hid_t scale, double *at, int64_t n)
{
    cmd_variable v = { .type = RD_F64 };

    cmd_read_packing(&v, /*sign=*/NULL, cmd_hdf5_numbers,
                     &(cmd_hdf5_object){ .h5 = h5, .id = scale });
    for (int64_t i = 0; v.packing.type != RD_AUTO && i < n; i++)
        at[i] = at[i] * v.packing.scale + v.packing.add;
}

/* ---- Scales ---------------------------------------------------------------------------------- */
/* True if the scale says, in the words of NetCDF's library, that it has no coordinates. */
bool cmd_hdf5_is_bare(const cmd_hdf5_api *h5, hid_t set)
{
    const char *name = cmd_hdf5_text(h5, set, "NAME");

    return name && strncmp(name, "This is a netCDF dimension", 26) == 0;
}

/* Names the axis by the last part of the scale's path. An anonymous scale gives no name. */
static void read_name(const cmd_hdf5_api *h5, hid_t scale, cmd_axis *axis)
{
    char path[MOST_NAME];

    if (h5->H5Iget_name(scale, path, sizeof path) > 0) {
        const char *slash = strrchr(path, '/');
        axis->name        = cmd_text("%s", slash ? slash + 1 : path);
    }
}

/* Returns labels of the coordinates 1, 2, ... from CF's flags, with blanks between them. NULL:
 * there are none, or flag_values are not 1, 2, ... */
static const char *labels_of(const cmd_hdf5_api *h5, hid_t scale)
{
    cmd_hdf5_object o = { .h5 = h5, .id = scale };
    cmd_exact      *flag;
    rd_dtype        type;
    const int       n = cmd_hdf5_numbers(&o, "flag_values", &flag, &type);

    for (int k = 0; k < n; k++)
        if (!(flag[k].type == RD_F64 ? flag[k].f == k + 1 : flag[k].i == k + 1))
            return NULL;
    return n > 0 && n <= CMD_MOST_WORDS ? cmd_hdf5_text(h5, scale, "flag_meanings") : NULL;
}

/* Reads the bounds (n, 2) that the scale names in its attribute "bounds": a dataset in the scale's
 * own group. NULL: there are none of this shape, or they are no numbers. */
static double *bounds_of(const cmd_hdf5_api *h5, hid_t scale, int64_t n)
{
    const char *name = cmd_hdf5_text(h5, scale, "bounds");
    char        path[MOST_NAME];
    hsize_t     extent[H5S_MAX_RANK];
    double     *ends = NULL;

    if (!name || strchr(name, '/') || h5->H5Iget_name(scale, path, sizeof path) <= 0 ||
        !strrchr(path, '/'))
        return NULL;
    const int   length = (int)(strrchr(path, '/') + 1 - path);
    const hid_t set    = h5->H5Dopen2(scale, cmd_text("%.*s%s", length, path, name), H5P_DEFAULT);
    if (set < 0)
        return NULL;
    const hid_t space = h5->H5Dget_space(set);
    if (h5->H5Sget_simple_extent_ndims(space) == 2 &&
        h5->H5Sget_simple_extent_dims(space, extent, NULL) == 2 && extent[0] == (hsize_t)n &&
        extent[1] == 2 && cmd_hdf5_type_of_set(h5, set).type != RD_AUTO) {
        ends = cmd_room(2 * (size_t)n * sizeof *ends);
        if (h5->H5Dread(set, h5->NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, ends) < 0)
            ends = NULL;
    }
    h5->H5Sclose(space);
    h5->H5Dclose(set);
    return ends;
}

/* Reads the coordinates, attributes and bounds of a scale into an axis. A scale without
 * coordinates, of another length, or without numbers is left out, and so is one of over 4 million
 * coordinates. */
static void read_coordinates(const cmd_hdf5_api *h5, hid_t scale, cmd_axis *axis)
{
    const hid_t space = h5->H5Dget_space(scale);

    if (!cmd_hdf5_is_bare(h5, scale) && points_of(h5, space) == axis->n && axis->n > 0 &&
        axis->n <= MOST_COORDINATES && h5->H5Sget_simple_extent_ndims(space) == 1 &&
        cmd_hdf5_type_of_set(h5, scale).type != RD_AUTO) {
        double *at = cmd_room((size_t)axis->n * sizeof *at);
        if (h5->H5Dread(scale, h5->NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, at) >= 0)
            axis->at = at;
        unpack_coordinates(h5, scale, at, axis->n);
        axis->units    = cmd_hdf5_text(h5, scale, "units");
        axis->title    = cmd_hdf5_text(h5, scale, "long_name");
        axis->standard = cmd_hdf5_text(h5, scale, "standard_name");
        axis->calendar = cmd_hdf5_text(h5, scale, "calendar");
        axis->words    = labels_of(h5, scale);
        axis->middle   = cmd_middle_of(axis, bounds_of(h5, scale, axis->n));
    }
    h5->H5Sclose(space);
}

/* Calls visit() with the first scale of each axis of a dataset. DIMENSION_LIST has a list of object
 * references for each axis; the list of an axis without a scale is empty. */
static void visit_scales(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v, scale_visit *visit)
{
    const hid_t id = open_attribute(h5, set, "DIMENSION_LIST");

    if (id < 0)
        return;
    const hid_t type = h5->H5Aget_type(id), space = h5->H5Aget_space(id);
    hvl_t       lists[RD_MAX_RANK] = { 0 };
    if (h5->H5Tget_class(type) == H5T_VLEN && points_of(h5, space) == v->shape.n &&
        v->shape.n > 0) {
        const hid_t memory = h5->H5Tvlen_create(h5->STD_REF_OBJ);

        if (h5->H5Aread(id, memory, lists) >= 0) {
            for (int k = 0; k < v->shape.n; k++) {
                const hid_t scale =
                    lists[k].len > 0 && lists[k].p
                        ? h5->H5Rdereference2(set, H5P_DEFAULT, H5R_OBJECT, lists[k].p)
                        : -1;
                if (scale >= 0 && h5->H5Iget_type(scale) == H5I_DATASET)
                    visit(h5, scale, &v->axis[k]);
                if (scale >= 0)
                    h5->H5Oclose(scale);
            }
            h5->H5Dvlen_reclaim(memory, space, H5P_DEFAULT, lists);
        }
        h5->H5Tclose(memory);
    }
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    h5->H5Aclose(id);
}

/* True if the dataset is itself a dimension scale of one axis, its own. */
static bool is_own_scale(const cmd_variable *v)
{
    return v->is_axis && v->shape.n == 1;
}

/* Names the axes of a dataset after the scales that are attached. A dataset that is itself a scale
 * names its own axis. */
void cmd_hdf5_name_axes(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v)
{
    if (is_own_scale(v))
        read_name(h5, set, &v->axis[0]);
    else
        visit_scales(h5, set, v, read_name);
}

/* Reads the coordinates of a dataset's axes from its scales, or, for a scale, from the dataset
 * itself. */
void cmd_hdf5_coordinates(const cmd_hdf5_api *h5, hid_t set, cmd_variable *v)
{
    if (is_own_scale(v))
        read_coordinates(h5, set, &v->axis[0]);
    else
        visit_scales(h5, set, v, read_coordinates);
}
#else
typedef int cmd_no_hdf5_attributes;
#endif

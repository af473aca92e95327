/* hdf5_scales.c - writes the dimensions of an HDF5 file as dimension scales, and attaches them to
 * datasets. A scale is a dataset that holds the coordinates of a dimension. It has attributes CLASS
 * and NAME. A dataset has DIMENSION_LIST, with references to its scales; a scale has
 * REFERENCE_LIST, with references to its datasets. A bare scale has no coordinates. */
#if RDIM_HDF5
#include "files/hdf5_writer.h"
#include <stddef.h>
#include <string.h>

typedef cmd_hdf5_writer writer;

/* True if a variable of the file has this name. */
static bool is_variable(const cmd_contents *all, const char *name)
{
    for (int k = 0; k < all->n; k++)
        if (strcmp(all->at[k].name, name) == 0)
            return true;
    return false;
}

/* Defines a scale without elements for a dimension without coordinates. -1: the dimension's name is
 * made up here, or another variable has it. Chunks of 1 let an unlimited one grow. */
static hid_t define_bare_scale(const writer *w, int place)
{
    const cmd_dimension *d = &w->all->dimension[place];
    const cmd_content    c = { .name      = d->name,
                               .kind      = CMD_NUMBERS,
                               .type      = RD_F32,
                               .shape     = { .n = 1, .at = { d->n } },
                               .dimension = { place },
                               .layout    = { .extent = { d->grows } } };

    return d->nameless || is_variable(w->all, d->name) ? -1 : cmd_hdf5_define(w, &c);
}

/* Makes a scale of dimension number `place`: of its variable of coordinates, or, if it has none
 * (variable < 0), of a dataset without elements. Without a scale w->scale is -1. */
static void make_scale(const writer *w, int place)
{
    const cmd_dimension *d    = &w->all->dimension[place];
    const bool           bare = d->variable < 0;
    const hid_t          set  = bare ? define_bare_scale(w, place) : w->set[d->variable];
    const char *const    name =
        bare ? cmd_text("This is a netCDF dimension but not a netCDF variable.%10lld",
                           (long long)d->n)
                : d->name;

    w->scale[place] = set;
    if (set < 0)
        return;
    cmd_hdf5_check(w, d->name, cmd_hdf5_put_text(w->h5, set, "CLASS", "DIMENSION_SCALE"));
    cmd_hdf5_check(w, d->name, cmd_hdf5_put_text(w->h5, set, "NAME", name));
}

/* True if variable k holds the coordinates of a dimension. */
static bool is_scale(const writer *w, int k)
{
    for (int d = 0; d < w->all->n_dimensions; d++)
        if (w->all->dimension[d].variable == k)
            return true;
    return false;
}

/* Makes an object reference to a dataset. */
static void make_reference(const writer *w, hid_t set, const char *what, hobj_ref_t *to)
{
    cmd_hdf5_check(w, what, w->h5->H5Rcreate(to, set, ".", H5R_OBJECT, -1));
}

/* Writes DIMENSION_LIST of variable k: for each axis a list of its scales, which has one or none.
 * If no axis has a scale, there is no such attribute. */
static void attach_scales(const writer *w, int k)
{
    const cmd_content *c    = &w->all->at[k];
    const hsize_t      rank = (hsize_t)c->shape.n;
    hobj_ref_t         to[RD_MAX_RANK];
    hvl_t              lists[RD_MAX_RANK];
    bool               any = false;

    for (int a = 0; a < c->shape.n; a++) {
        const hid_t scale = w->scale[c->dimension[a]];

        if (scale >= 0)
            make_reference(w, scale, c->name, &to[a]);
        lists[a] = (hvl_t){ .len = scale >= 0, .p = &to[a] };
        any |= scale >= 0;
    }
    if (any)
        cmd_hdf5_check(w, "DIMENSION_LIST",
                       cmd_hdf5_put(w->h5, w->set[k], "DIMENSION_LIST",
                                    w->h5->H5Tvlen_create(w->h5->STD_REF_OBJ),
                                    w->h5->H5Screate_simple(1, &rank, NULL), lists));
}

/* An entry of REFERENCE_LIST: an axis of a dataset that uses the scale. */
typedef struct use {
    hobj_ref_t set;
    int32_t    axis;
} use;

/* Makes the HDF5 type of an entry of REFERENCE_LIST: a reference to a dataset, and the number of
 * its axis. */
static hid_t use_type(const cmd_hdf5_api *h5)
{
    const hid_t type = h5->H5Tcreate(H5T_COMPOUND, sizeof(use));

    h5->H5Tinsert(type, "dataset", offsetof(use, set), h5->STD_REF_OBJ);
    h5->H5Tinsert(type, "dimension", offsetof(use, axis), h5->NATIVE_INT32);
    return type;
}

/* Writes REFERENCE_LIST of the scale of dimension `place`: all axes of datasets that use it. Scales
 * themselves do not count. */
static void put_uses(const writer *w, int place)
{
    const cmd_contents *all = w->all;
    use                *at  = cmd_room((size_t)all->n * RD_MAX_RANK * sizeof *at);
    hsize_t             n   = 0;

    for (int k = 0; k < all->n; k++)
        for (int a = 0; a < all->at[k].shape.n && !is_scale(w, k); a++)
            if (all->at[k].dimension[a] == place) {
                make_reference(w, w->set[k], all->at[k].name, &at[n].set);
                at[n++].axis = a;
            }
    if (n > 0 && w->scale[place] >= 0)
        cmd_hdf5_check(w, "REFERENCE_LIST",
                       cmd_hdf5_put(w->h5, w->scale[place], "REFERENCE_LIST", use_type(w->h5),
                                    w->h5->H5Screate_simple(1, &n, NULL), at));
}

/* Makes the scales first, then the references in both directions. Scales without coordinates are no
 * variables, and are closed here. */
void cmd_hdf5_make_scales(const cmd_hdf5_writer *w)
{
    for (int d = 0; d < w->all->n_dimensions; d++)
        make_scale(w, d);
    for (int k = 0; k < w->all->n; k++)
        if (!is_scale(w, k))
            attach_scales(w, k);
    for (int d = 0; d < w->all->n_dimensions; d++) {
        put_uses(w, d);
        if (w->scale[d] >= 0 && w->all->dimension[d].variable < 0)
            w->h5->H5Dclose(w->scale[d]);
    }
}
#else
typedef int cmd_no_hdf5_scales;
#endif

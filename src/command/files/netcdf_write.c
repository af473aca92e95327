/* netcdf_write.c - writes the contents of a file of results as NetCDF-4. */
#if RDIM_NETCDF
#include "files/netcdf_write.h"
#include "files/contents.h"
#include "files/formats.h"
#include "files/netcdf_api.h"
#include <string.h>

/* A NetCDF file that is being written. */
typedef struct writer {
    const cmd_netcdf_api *nc;
    const char           *path;
    cmd_contents         *all;
    int id, *dimension, *variable; /* NetCDF's numbers: file, each dimension, each variable */
} writer;

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Writes one attribute of a variable, or of the file (NC_GLOBAL). Returns the library's status. */
static int put_attribute(const writer *w, int variable, const cmd_attribute *a)
{
    const size_t n = (size_t)a->n;

    if (a->kind == CMD_CHARACTERS)
        return w->nc->put_att_text(w->id, variable, a->name, n, a->at);
    if (a->kind == CMD_TEXTS)
        return w->nc->put_att_string(w->id, variable, a->name, n, (const char **)a->at);
    return w->nc->put_att(w->id, variable, a->name, cmd_netcdf_type(a->type), n, a->at);
}

/* Writes attributes. One that the library refuses is left out with a warning. */
static void put_attributes(const writer *w, int variable, const cmd_attributes *all)
{
    for (int k = 0; k < all->n; k++) {
        const int status = put_attribute(w, variable, &all->at[k]);
        if (status != NC_NOERR)
            cmd_warn("%s: the attribute %s is not kept: %s", w->path, all->at[k].name,
                     w->nc->strerror(status));
    }
}

/* ---- Definitions ----------------------------------------------------------------------------- */
/* The NetCDF type of a variable. A bool is a byte. */
static nc_type type_of(const cmd_content *c)
{
    return c->kind == CMD_TEXTS        ? NC_STRING
           : c->kind == CMD_CHARACTERS ? NC_CHAR
                                       : cmd_netcdf_type(c->type == RD_BOOL ? RD_I8 : c->type);
}

/* Ends the program if NetCDF has no type or no shape for a result. */
static void check_results(const cmd_contents *all)
{
    for (int i = 0; i < all->n; i++) {
        const cmd_content *c = &all->at[i];

        if (!c->result)
            continue;
        if (type_of(c) == NC_NAT)
            cmd_fail("%s: NetCDF has no type %s; of complex numbers real() and imag() can be "
                     "written",
                     all->path, cmd_type_name(c->type));
        for (int k = 0; k < c->shape.n; k++)
            if (c->shape.at[k] == 0)
                cmd_fail("%s: %s has shape %s, and an extent of 0 cannot be written to NetCDF",
                         all->path, c->name, cmd_shape_text(&c->shape));
    }
}

/* Sets chunks and compression of a variable, if it has chunks. */
static void set_layout(const writer *w, const cmd_content *c, int variable)
{
    size_t extent[RD_MAX_RANK];

    if (c->shape.n == 0 || c->layout.extent[0] == 0)
        return;
    for (int k = 0; k < c->shape.n; k++)
        extent[k] = (size_t)c->layout.extent[k];
    cmd_netcdf_check(w->path, c->name,
                     w->nc->def_var_chunking(w->id, variable, NC_CHUNKED, extent));
    if (c->layout.level > 0)
        cmd_netcdf_check(
            w->path, c->name,
            w->nc->def_var_deflate(w->id, variable, c->layout.shuffled, 1, c->layout.level));
}

/* Defines a variable with its chunks and attributes, and returns its number. */
static int define(const writer *w, const cmd_content *c)
{
    int ids[RD_MAX_RANK] = { 0 }, variable;

    for (int k = 0; k < c->shape.n; k++)
        ids[k] = w->dimension[c->dimension[k]];
    cmd_netcdf_check(w->path, c->name,
                     w->nc->def_var(w->id, c->name, type_of(c), c->shape.n, ids, &variable));
    set_layout(w, c, variable);
    put_attributes(w, variable, &c->attributes);
    return variable;
}

/* Creates the file with all dimensions, variables and attributes, and ends its definition. Elements
 * are not filled before they are written. */
static writer create(const char *path, const char *aside, const cmd_results *results)
{
    writer w = { .nc = cmd_netcdf_load(path), .path = path };
    int    before;

    w.all       = cmd_contents_of(path, results);
    w.dimension = cmd_room((size_t)w.all->n_dimensions * sizeof *w.dimension);
    w.variable  = cmd_room((size_t)w.all->n * sizeof *w.variable);
    check_results(w.all);
    cmd_netcdf_check(path, "cannot be written",
                     w.nc->create(aside, NC_CLOBBER | NC_NETCDF4, &w.id));
    w.nc->set_fill(w.id, NC_NOFILL, &before); /* no fill values: each element is written */
    put_attributes(&w, NC_GLOBAL, &w.all->about);
    for (int k = 0; k < w.all->n_dimensions; k++) {
        const cmd_dimension *d = &w.all->dimension[k];
        cmd_netcdf_check(
            path, d->name,
            w.nc->def_dim(w.id, d->name, d->grows ? NC_UNLIMITED : (size_t)d->n, &w.dimension[k]));
    }
    for (int k = 0; k < w.all->n; k++)
        w.variable[k] = define(&w, &w.all->at[k]);
    cmd_netcdf_check(path, "cannot be written", w.nc->enddef(w.id));
    return w;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Writes all elements of variable k, if there are any. */
static void write_elements(const writer *w, int k)
{
    const cmd_content *c                  = &w->all->at[k];
    const void        *from               = cmd_content_elements(c);
    size_t             start[RD_MAX_RANK] = { 0 }, count[RD_MAX_RANK], n = 1;

    for (int d = 0; d < c->shape.n; d++)
        n *= count[d] = (size_t)c->shape.at[d];
    if (n > 0)
        cmd_netcdf_check(
            w->path, c->name,
            c->kind == CMD_TEXTS
                ? w->nc->put_vara_string(w->id, w->variable[k], start, count, (const char **)from)
                : w->nc->put_vara(w->id, w->variable[k], start, count, from));
}

/* Writes the elements of all variables that are no results, such as coordinates. */
static void write_auxiliary(const writer *w)
{
    for (int k = 0; k < w->all->n; k++)
        if (!w->all->at[k].result)
            write_elements(w, k);
}

/* Opens the closed file again, and writes variable k by the library. This is needed where threads
 * cannot deflate. */
static void write_by_library(writer *w, const char *aside, int k)
{
    cmd_netcdf_check(w->path, "cannot be written", w->nc->open(aside, NC_WRITE, &w->id));
    write_elements(w, k);
    cmd_netcdf_check(w->path, "cannot be written", w->nc->close(w->id));
}

/* Writes all elements. Large compressed results follow after the file is closed, as all threads
 * deflate them. */
void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results)
{
    writer w = create(path, aside, results);

    write_auxiliary(&w);
    for (int k = 0; k < w.all->n; k++) {
        cmd_may_go_on();
        if (w.all->at[k].result && !cmd_is_for_threads(&w.all->at[k]))
            write_elements(&w, k);
    }
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
    for (int k = 0; k < w.all->n; k++) {
        const cmd_content *c = &w.all->at[k];
        if (cmd_is_for_threads(c) && !cmd_hdf5_put_deflated(path, aside, c->result, &c->layout))
            write_by_library(&w, aside, k);
    }
}

/* Writes the last element of a variable, as zero. The library allocates a variable at its first
 * write, and so the file gets its full length. */
static void write_last_element(const writer *w, int k)
{
    static const double none = 0;
    const cmd_content  *c    = &w->all->at[k];
    size_t              at[RD_MAX_RANK], one[RD_MAX_RANK];

    for (int d = 0; d < c->shape.n; d++) {
        at[d]  = (size_t)c->shape.at[d] - 1;
        one[d] = 1;
    }
    cmd_netcdf_check(w->path, c->name, w->nc->put_vara(w->id, w->variable[k], at, one, &none));
}

/* Writes all but the results, allocates room for these, and finds their offsets. Large variables
 * begin at a page, if the library can do so, and can be mapped. False: a result cannot be
 * contiguous. Contiguous results (extent 0 of their chunks) get their room by their last
 * element. */
bool cmd_netcdf_begin(const char *path, const char *aside, const cmd_results *results,
                      int64_t *place)
{
    const cmd_netcdf_api *nc = cmd_netcdf_load(path);

    if (nc->set_alignment)
        nc->set_alignment(CMD_LARGE_SET, CMD_PAGE);
    const writer        w   = create(path, aside, results);
    const cmd_contents *all = w.all;
    const bool          are = cmd_are_pieces(all);
    if (are)
        write_auxiliary(&w);
    for (int k = 0; k < all->n && are; k++)
        if (all->at[k].result && all->at[k].layout.extent[0] == 0)
            write_last_element(&w, k);
    cmd_netcdf_check(path, "cannot be written", nc->close(w.id));
    return are && cmd_hdf5_make_records(path, aside, all) && cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_netcdf_writer;
#endif

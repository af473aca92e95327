/* netcdf_write.c - contents of a file of results as NetCDF-4. */
#if RDIM_NETCDF
#include "files/netcdf_write.h"
#include "files/contents.h"
#include "files/formats.h"
#include "files/netcdf_api.h"
#include <string.h>

typedef struct writer {
    const cmd_netcdf_api *nc;
    const char           *path;
    cmd_contents         *all;
    int                   id, *dimension, *variable; /* identifiers, by places in the contents */
} writer;

/* ---- Attributes ------------------------------------------------------------------------------ */
static int put_attribute(const writer *w, int variable, const cmd_attribute *a)
{
    const size_t n = (size_t)a->n;

    if (a->kind == CMD_CHARACTERS)
        return w->nc->put_att_text(w->id, variable, a->name, n, a->at);
    if (a->kind == CMD_TEXTS)
        return w->nc->put_att_string(w->id, variable, a->name, n, (const char **)a->at);
    return w->nc->put_att(w->id, variable, a->name, cmd_netcdf_type(a->type), n, a->at);
}

/* One that the library does not take is left out with a warning. */
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
/* A bool is a byte. */
static nc_type type_of(const cmd_content *c)
{
    return c->kind == CMD_TEXTS        ? NC_STRING
           : c->kind == CMD_CHARACTERS ? NC_CHAR
                                       : cmd_netcdf_type(c->type == RD_BOOL ? RD_I8 : c->type);
}

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
    w.nc->set_fill(w.id, NC_NOFILL, &before); /* each element is written */
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
static void put(const writer *w, int k)
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

static void put_beside(const writer *w)
{
    for (int k = 0; k < w->all->n; k++)
        if (!w->all->at[k].result)
            put(w, k);
}

static void put_by_library(writer *w, const char *aside, int k)
{
    cmd_netcdf_check(w->path, "cannot be written", w->nc->open(aside, NC_WRITE, &w->id));
    put(w, k);
    cmd_netcdf_check(w->path, "cannot be written", w->nc->close(w->id));
}

void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results)
{
    writer w = create(path, aside, results);

    put_beside(&w);
    for (int k = 0; k < w.all->n; k++) {
        cmd_may_go_on();
        if (w.all->at[k].result && !cmd_is_for_threads(&w.all->at[k]))
            put(&w, k);
    }
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
    for (int k = 0; k < w.all->n; k++) {
        const cmd_content *c = &w.all->at[k];
        if (cmd_is_for_threads(c) && !cmd_hdf5_put_deflated(path, aside, c->result, &c->layout))
            put_by_library(&w, aside, k);
    }
}

/* The library gives a variable its place in the file when the first element is written: the last
 * one is, so that the file is as long as it will be. */
static void put_last(const writer *w, int k)
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

/* Asks the library to begin large variables at pages, so that they can be mapped.  A library that
 * cannot do so begins them at any byte. */
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
        put_beside(&w);
    for (int k = 0; k < all->n && are; k++)
        if (all->at[k].result && all->at[k].layout.extent[0] == 0)
            put_last(&w, k);
    cmd_netcdf_check(path, "cannot be written", nc->close(w.id));
    return are && cmd_hdf5_make_records(path, aside, all) && cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_netcdf_writer;
#endif

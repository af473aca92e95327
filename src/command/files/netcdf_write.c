/* netcdf_write.c - results as a NetCDF-4 file: axes that are the same are one dimension, and their
 * coordinates a variable of its name. */
#if RDIM_NETCDF
#include "files/netcdf_write.h"
#include "files/formats.h"
#include "files/netcdf_writer.h"
#include <math.h>
#include <string.h>

typedef cmd_netcdf_writer    writer;
typedef cmd_netcdf_dimension dimension;

static nc_type type_of(const cmd_result *r, const char *path)
{
    const nc_type type = cmd_netcdf_type(r->array.type == RD_BOOL ? RD_I8 : r->array.type);

    if (type == NC_NAT)
        cmd_fail("%s: NetCDF has no type %s; of complex numbers real() and imag() can be written",
                 path, cmd_type_name(r->array.type));
    return type;
}

/* ---- Dimensions ------------------------------------------------------------------------------ */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_axis(const cmd_axis *a, const cmd_axis *b)
{
    return a && a->name && b->name && strcmp(a->name, b->name) == 0 && a->n == b->n &&
           !a->at == !b->at && same_text(a->units, b->units) &&
           (!a->at || memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0);
}

static bool is_taken(const writer *w, const char *name)
{
    for (int k = 0; k < w->n; k++)
        if (strcmp(w->at[k].name, name) == 0)
            return true;
    for (int k = 0; k < w->results->n; k++)
        if (strcmp(w->results->at[k].name, name) == 0)
            return true;
    return false;
}

dimension *cmd_netcdf_add_dimension(writer *w, const char *base, int64_t n, bool grows)
{
    const char *name = base ? base : "axis";

    for (int k = 2; !base || is_taken(w, name); k++) {
        name = cmd_text("%s_%d", base ? base : "axis", base ? k : w->n + k - 2);
        if (!is_taken(w, name))
            break;
    }
    if (w->n == w->room) { /* what is beside results has dimensions of its own */
        dimension *more = cmd_room(((size_t)w->room + RD_MAX_RANK) * 2 * sizeof *more);
        if (w->n)
            memcpy(more, w->at, (size_t)w->n * sizeof *more);
        w->at   = more;
        w->room = (w->room + RD_MAX_RANK) * 2;
    }
    dimension *d = &w->at[w->n++];
    *d           = (dimension){ .name = name, .n = n, .variable = -1, .grows = grows };
    cmd_netcdf_check(w->path, name,
                     w->nc->def_dim(w->id, name, grows ? NC_UNLIMITED : (size_t)n, &d->id));
    return d;
}

static int dimension_of(writer *w, const cmd_result *r, int axis)
{
    for (int k = 0; k < w->n; k++)
        if (same_axis(w->at[k].axis, &r->axis[axis]))
            return w->at[k].id;
    dimension *d =
        cmd_netcdf_add_dimension(w, r->axis[axis].name, r->axis[axis].n, r->axis[axis].record);
    d->axis       = &r->axis[axis];
    d->coordinate = r->kept ? r->kept->coordinate[axis] : NULL;
    cmd_netcdf_define_coordinates(w, d);
    return d->id;
}

/* ---- Variables ------------------------------------------------------------------------------- */
static void put_fill(const writer *w, const cmd_result *r, int variable, nc_type type)
{
    const double fill   = r->kept ? r->kept->fill : (double)NAN;
    const float  narrow = (float)fill;

    if (type == NC_FLOAT || type == NC_DOUBLE)
        cmd_netcdf_check(w->path, r->name,
                         w->nc->put_att(w->id, variable, "_FillValue", type, 1,
                                        type == NC_FLOAT ? (const void *)&narrow : &fill));
}

/* Records in a chunk, where chunks have whole ones, as they lie; 0: it is in one piece; -1: neither. */
static int64_t records_of(const cmd_layout *layout, const rd_shape *shape)
{
    if (layout->level > 0)
        return -1;
    for (int k = 1; k < shape->n; k++)
        if (layout->extent[0] > 0 && layout->extent[k] != shape->at[k])
            return -1;
    return layout->extent[0];
}

static int add_variable(writer *w, const cmd_result *r, cmd_layout *layout)
{
    int           ids[RD_MAX_RANK] = { 0 }, variable;
    const int     rank             = r->array.shape.n;
    const nc_type type             = type_of(r, w->path);

    for (int k = 0; k < rank; k++) {
        if (r->array.shape.at[k] == 0)
            cmd_fail("%s: %s has shape %s, and an extent of 0 cannot be written to NetCDF", w->path,
                     r->name, cmd_shape_text(&r->array.shape));
        ids[k] = dimension_of(w, r, k);
    }
    *layout = cmd_netcdf_layout(w, r->kept ? &r->kept->layout : &(cmd_layout){ 0 }, rank, ids,
                                cmd_size_of(r->array.type));
    cmd_netcdf_check(w->path, r->name, w->nc->def_var(w->id, r->name, type, rank, ids, &variable));
    cmd_netcdf_set_layout(w, r->name, variable, rank, layout);
    put_fill(w, r, variable, type);
    if (r->kept)
        cmd_netcdf_put_attributes(w, variable, &r->kept->attributes);
    else {
        cmd_netcdf_put_text(w, variable, "units", r->units);
        cmd_netcdf_put_text(w, variable, "calendar", r->calendar);
        cmd_netcdf_put_text(w, variable, "long_name", r->title);
    }
    cmd_netcdf_put_text(w, variable, "rdim_formula", r->formula);
    cmd_netcdf_define_beside(w, r, ids);
    return variable;
}

/* All definitions; the variables of results, and how each is kept. */
static int *create(writer *w, const char *aside, cmd_layout *layouts)
{
    int *variables = cmd_room((size_t)w->results->n * sizeof *variables), before, most = 0;

    for (int k = 0; k < w->results->n; k++)
        most += w->results->at[k].kept ? w->results->at[k].kept->n : 0;
    w->beside   = cmd_room((size_t)most * sizeof(cmd_beside *));
    w->variable = cmd_room((size_t)most * sizeof *w->variable);
    cmd_netcdf_check(w->path, "cannot be written",
                     w->nc->create(aside, NC_CLOBBER | NC_NETCDF4, &w->id));
    w->nc->set_fill(w->id, NC_NOFILL, &before); /* each element is written */
    if (w->results->about.n > 0)
        cmd_netcdf_put_attributes(w, NC_GLOBAL, &w->results->about);
    else
        cmd_netcdf_put_text(w, NC_GLOBAL, "Conventions", "CF-1.8");
    for (int k = 0; k < w->results->n; k++)
        variables[k] = add_variable(w, &w->results->at[k], &layouts[k]);
    cmd_netcdf_check(w->path, "cannot be written", w->nc->enddef(w->id));
    return variables;
}

static void put_all(const writer *w, int variable, const cmd_result *r)
{
    size_t start[RD_MAX_RANK] = { 0 }, count[RD_MAX_RANK];

    for (int k = 0; k < r->array.shape.n; k++)
        count[k] = (size_t)r->array.shape.at[k];
    cmd_netcdf_check(w->path, r->name, w->nc->put_vara(w->id, variable, start, count, r->array.in));
}

/* Few bytes are deflated at once. */
static bool is_for_threads(const cmd_result *r, const cmd_layout *layout)
{
    enum { LARGE = 1 << 20 };

    return layout->level > 0 && cmd_result_bytes(r) >= LARGE;
}

static void put_by_library(writer *w, const char *aside, int variable, const cmd_result *r)
{
    cmd_netcdf_check(w->path, "cannot be written", w->nc->open(aside, NC_WRITE, &w->id));
    put_all(w, variable, r);
    cmd_netcdf_check(w->path, "cannot be written", w->nc->close(w->id));
}

void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results)
{
    writer           w         = { .nc = cmd_netcdf_load(path), .path = path, .results = results };
    cmd_layout      *layouts   = cmd_room((size_t)results->n * sizeof *layouts);
    const int *const variables = create(&w, aside, layouts);

    cmd_netcdf_put_beside(&w);
    for (int k = 0; k < results->n; k++) {
        cmd_may_go_on();
        if (!is_for_threads(&results->at[k], &layouts[k]))
            put_all(&w, variables[k], &results->at[k]);
    }
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
    for (int k = 0; k < results->n; k++) {
        const cmd_result *r = &results->at[k];
        if (is_for_threads(r, &layouts[k]) && !cmd_hdf5_put_deflated(path, aside, r, &layouts[k]))
            put_by_library(&w, aside, variables[k], r);
    }
}

/* The library gives a variable its place in the file when the first element is written: the last
 * one is, so that the file is as long as it will be. */
static void put_last(const writer *w, int variable, const cmd_result *r)
{
    static const double none = 0;
    size_t              at[RD_MAX_RANK], one[RD_MAX_RANK];

    for (int k = 0; k < r->array.shape.n; k++) {
        at[k]  = (size_t)r->array.shape.at[k] - 1;
        one[k] = 1;
    }
    cmd_netcdf_check(w->path, r->name, w->nc->put_vara(w->id, variable, at, one, &none));
}

/* All but the elements of results, if these will be in one piece each. */
static bool put_others(const writer *w, const int *variables, const cmd_layout *layouts)
{
    const cmd_result *r = w->results->at;

    for (int k = 0; k < w->results->n; k++)
        if (records_of(&layouts[k], &r[k].array.shape) < 0)
            return false;
    cmd_netcdf_put_beside(w);
    for (int k = 0; k < w->results->n; k++)
        if (layouts[k].extent[0] == 0)
            put_last(w, variables[k], &r[k]);
    return true;
}

/* Where the library does not know how, variables begin at any byte, and only by chance where an
 * element can. */
bool cmd_netcdf_begin(const char *path, const char *aside, const cmd_results *results,
                      int64_t *place)
{
    writer      w       = { .nc = cmd_netcdf_load(path), .path = path, .results = results };
    cmd_layout *layouts = cmd_room((size_t)results->n * sizeof *layouts);

    if (w.nc->set_alignment)
        w.nc->set_alignment(CMD_LARGE_SET, CMD_PAGE);
    const int *const variables = create(&w, aside, layouts);
    bool             good      = put_others(&w, variables, layouts);
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
    for (int k = 0; k < results->n && good; k++)
        if (layouts[k].extent[0] > 0)
            good = cmd_hdf5_make_records(path, aside, &results->at[k], layouts[k].extent[0]);
    return good && cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_netcdf_writer;
#endif

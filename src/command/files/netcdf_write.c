/* netcdf_write.c - results as a NetCDF-4 file: axes that are the same are one dimension, and their
 * coordinates a variable of its name. */
#if RDIM_NETCDF
#include "files/netcdf_write.h"
#include "files/formats.h"
#include "files/netcdf_api.h"
#include "result.h"
#include <math.h>
#include <string.h>

typedef struct dimension {
    const cmd_axis *axis;
    const char     *name;
    int             id, variable; /* -1: no coordinates */
} dimension;

typedef struct writer {
    const cmd_netcdf_api *nc;
    const char           *path;
    int                   id, n;
    dimension            *at;
} writer;

static nc_type type_of(const cmd_result *r, const char *path)
{
    switch (r->array.type) {
    case RD_BOOL:
    case RD_I8: return NC_BYTE;
    case RD_U8: return NC_UBYTE;
    case RD_I16: return NC_SHORT;
    case RD_U16: return NC_USHORT;
    case RD_I32: return NC_INT;
    case RD_U32: return NC_UINT;
    case RD_I64: return NC_INT64;
    case RD_U64: return NC_UINT64;
    case RD_F32: return NC_FLOAT;
    case RD_F64: return NC_DOUBLE;
    default:
        cmd_fail("%s: NetCDF has no type %s; of complex numbers real() and imag() can be written",
                 path, cmd_type_name(r->array.type));
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_axis(const cmd_axis *a, const cmd_axis *b)
{
    return a->name && b->name && strcmp(a->name, b->name) == 0 && a->n == b->n &&
           !a->at == !b->at && same_text(a->units, b->units) &&
           (!a->at || memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0);
}

static bool is_taken(const writer *w, const char *name, const cmd_results *results)
{
    for (int k = 0; k < w->n; k++)
        if (strcmp(w->at[k].name, name) == 0)
            return true;
    for (int k = 0; k < results->n; k++)
        if (strcmp(results->at[k].name, name) == 0)
            return true;
    return false;
}

static void put_text(const writer *w, int variable, const char *name, const char *text)
{
    if (text)
        cmd_netcdf_check(w->path, name,
                         w->nc->put_att_text(w->id, variable, name, strlen(text), text));
}

static int add_dimension(writer *w, const cmd_axis *axis, const cmd_results *results)
{
    for (int k = 0; k < w->n; k++)
        if (same_axis(w->at[k].axis, axis))
            return w->at[k].id;
    const char *base = axis->name ? axis->name : "axis", *name = base;
    for (int k = 2; !axis->name || is_taken(w, name, results); k++) {
        name = cmd_text("%s_%d", base, axis->name ? k : w->n + k - 2);
        if (!is_taken(w, name, results))
            break;
    }
    dimension *d = &w->at[w->n++];
    *d           = (dimension){ .axis = axis, .name = name, .variable = -1 };
    cmd_netcdf_check(w->path, name, w->nc->def_dim(w->id, name, (size_t)axis->n, &d->id));
    if (axis->at) {
        cmd_netcdf_check(w->path, name,
                         w->nc->def_var(w->id, name, NC_DOUBLE, 1, &d->id, &d->variable));
        put_text(w, d->variable, "units", axis->units);
        put_text(w, d->variable, "long_name", axis->title);
        put_text(w, d->variable, "standard_name", axis->standard);
        put_text(w, d->variable, "calendar", axis->calendar);
    }
    return d->id;
}

static int add_variable(writer *w, const cmd_result *r, const cmd_results *results)
{
    int           ids[RD_MAX_RANK], variable;
    const nc_type type = type_of(r, w->path);

    for (int k = 0; k < r->array.shape.n; k++) {
        if (r->array.shape.at[k] == 0)
            cmd_fail("%s: %s has shape %s, and an extent of 0 cannot be written to NetCDF", w->path,
                     r->name, cmd_shape_text(&r->array.shape));
        ids[k] = add_dimension(w, &r->axis[k], results);
    }
    cmd_netcdf_check(w->path, r->name,
                     w->nc->def_var(w->id, r->name, type, r->array.shape.n, ids, &variable));
    if (type == NC_FLOAT)
        cmd_netcdf_check(
            w->path, r->name,
            w->nc->put_att_float(w->id, variable, "_FillValue", type, 1, (const float[]){ NAN }));
    if (type == NC_DOUBLE)
        cmd_netcdf_check(w->path, r->name,
                         w->nc->put_att_double(w->id, variable, "_FillValue", type, 1,
                                               (const double[]){ (double)NAN }));
    put_text(w, variable, "units", r->units);
    put_text(w, variable, "calendar", r->calendar);
    put_text(w, variable, "long_name", r->title);
    put_text(w, variable, "rdim_formula", r->formula);
    return variable;
}

/* Variables and the coordinates of their axes; the results' variables. */
static int *create(writer *w, const char *aside, const cmd_results *results)
{
    int *variables = cmd_room((size_t)results->n * sizeof *variables), before;

    w->nc = cmd_netcdf_load(w->path);
    w->at = cmd_room((size_t)results->n * RD_MAX_RANK * sizeof *w->at);
    cmd_netcdf_check(w->path, "cannot be written",
                     w->nc->create(aside, NC_CLOBBER | NC_NETCDF4, &w->id));
    w->nc->set_fill(w->id, NC_NOFILL, &before); /* each element is written */
    put_text(w, NC_GLOBAL, "Conventions", "CF-1.8");
    for (int k = 0; k < results->n; k++)
        variables[k] = add_variable(w, &results->at[k], results);
    cmd_netcdf_check(w->path, "cannot be written", w->nc->enddef(w->id));
    for (int k = 0; k < w->n; k++)
        if (w->at[k].variable >= 0)
            cmd_netcdf_check(w->path, w->at[k].name,
                             w->nc->put_var_double(w->id, w->at[k].variable, w->at[k].axis->at));
    return variables;
}

void cmd_netcdf_write(const char *path, const char *aside, const cmd_results *results)
{
    writer           w         = { .path = path };
    const int *const variables = create(&w, aside, results);

    for (int k = 0; k < results->n; k++) {
        cmd_may_go_on();
        cmd_netcdf_check(path, results->at[k].name,
                         w.nc->put_var(w.id, variables[k], results->at[k].array.in));
    }
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
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

/* Where the library does not know how, variables begin at any byte, and only by chance where an
 * element can. */
bool cmd_netcdf_begin(const char *path, const char *aside, const cmd_results *results,
                      int64_t *place)
{
    writer w = { .nc = cmd_netcdf_load(path), .path = path };

    if (w.nc->set_alignment)
        w.nc->set_alignment(CMD_LARGE_SET, CMD_PAGE);
    const int *const variables = create(&w, aside, results);
    for (int k = 0; k < results->n; k++)
        put_last(&w, variables[k], &results->at[k]);
    cmd_netcdf_check(path, "cannot be written", w.nc->close(w.id));
    return cmd_hdf5_places(aside, results, place);
}
#else
typedef int cmd_no_netcdf_writer;
#endif

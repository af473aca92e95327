/* netcdf_beside.c - attributes, and variables beside results, as they are written. */
#if RDIM_NETCDF
#include "files/netcdf_writer.h"
#include <string.h>

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Names that the library keeps for itself. */
static bool is_reserved(const char *name)
{
    return cmd_is_listed(" _NCProperties _IsNetcdf4 _SuperblockVersion _NetCDF4Dimid "
                         "_Netcdf4Coordinates _nc3_strict CLASS NAME DIMENSION_LIST "
                         "REFERENCE_LIST ",
                         name);
}

void cmd_netcdf_put_text(const cmd_netcdf_writer *w, int variable, const char *name,
                         const char *text)
{
    if (text)
        cmd_netcdf_check(w->path, name,
                         w->nc->put_att_text(w->id, variable, name, strlen(text), text));
}

static int put_attribute(const cmd_netcdf_writer *w, int variable, const cmd_attribute *a)
{
    const size_t n = (size_t)a->n;

    if (a->kind == CMD_CHARACTERS)
        return w->nc->put_att_text(w->id, variable, a->name, n, a->at);
    if (a->kind == CMD_TEXTS)
        return w->nc->put_att_string(w->id, variable, a->name, n, (const char **)a->at);
    return w->nc->put_att(w->id, variable, a->name, cmd_netcdf_type(a->type), n, a->at);
}

void cmd_netcdf_put_attributes(const cmd_netcdf_writer *w, int variable, const cmd_attributes *all)
{
    for (int k = 0; k < all->n; k++) {
        const cmd_attribute *a = &all->at[k];
        const int status       = is_reserved(a->name) ? NC_NOERR : put_attribute(w, variable, a);
        if (status != NC_NOERR)
            cmd_warn("%s: the attribute %s is not kept: %s", w->path, a->name,
                     w->nc->strerror(status));
    }
}

/* ---- Definitions ----------------------------------------------------------------------------- */
static nc_type type_of(const cmd_beside *b)
{
    return b->kind == CMD_NUMBERS ? cmd_netcdf_type(b->type)
           : b->kind == CMD_TEXTS ? NC_STRING
                                  : NC_CHAR;
}

static int64_t size_of(const cmd_beside *b)
{
    return b->kind == CMD_NUMBERS ? cmd_size_of(b->type)
           : b->kind == CMD_TEXTS ? (int64_t)sizeof(char *)
                                  : 1;
}

static int define(cmd_netcdf_writer *w, const char *name, const cmd_beside *b, const int *ids)
{
    const int        rank   = b->shape.n;
    const cmd_layout layout = cmd_netcdf_layout(w, &b->layout, rank, ids, size_of(b));
    int              variable;

    cmd_netcdf_check(w->path, name, w->nc->def_var(w->id, name, type_of(b), rank, ids, &variable));
    cmd_netcdf_set_layout(w, name, variable, rank, &layout);
    cmd_netcdf_put_attributes(w, variable, &b->attributes);
    return variable;
}

/* As CF has words for numbers: 1, 2, ... and what they mean. */
static void put_words(const cmd_netcdf_writer *w, int variable, const cmd_axis *axis)
{
    double flag[CMD_MOST_WORDS];
    int    n = 0;

    if (!axis->words)
        return;
    for (const char *at = axis->words; at && n < CMD_MOST_WORDS; at = strchr(at + 1, ' ')) {
        flag[n] = n + 1;
        n++;
    }
    cmd_netcdf_check(
        w->path, "flag_values",
        w->nc->put_att_double(w->id, variable, "flag_values", NC_DOUBLE, (size_t)n, flag));
    cmd_netcdf_put_text(w, variable, "flag_meanings", axis->words);
}

void cmd_netcdf_define_coordinates(cmd_netcdf_writer *w, cmd_netcdf_dimension *d)
{
    cmd_beside b = { .kind = CMD_NUMBERS, .type = RD_F64, .shape = { .n = 1, .at = { d->n } } };

    if (d->coordinate) {
        d->variable = define(w, d->name, d->coordinate, &d->id);
        return;
    }
    if (!d->axis->at)
        return;
    d->variable = define(w, d->name, &b, &d->id);
    cmd_netcdf_put_text(w, d->variable, "units", d->axis->units);
    cmd_netcdf_put_text(w, d->variable, "long_name", d->axis->title);
    cmd_netcdf_put_text(w, d->variable, "standard_name", d->axis->standard);
    cmd_netcdf_put_text(w, d->variable, "calendar", d->axis->calendar);
    put_words(w, d->variable, d->axis);
}

/* A dimension that no result has: of bounds, or of characters. */
static int own_dimension(cmd_netcdf_writer *w, const char *name, int64_t n)
{
    for (int k = 0; k < w->n; k++)
        if (!w->at[k].axis && w->at[k].n == n && strcmp(w->at[k].name, name) == 0)
            return w->at[k].id;
    return cmd_netcdf_add_dimension(w, name, n, false)->id;
}

static bool is_defined(const cmd_netcdf_writer *w, const cmd_beside *b)
{
    for (int k = 0; k < w->n_beside; k++)
        if (w->beside[k] == b)
            return true;
    for (int k = 0; k < w->n; k++)
        if (w->at[k].coordinate == b)
            return true;
    return false;
}

static bool is_coordinate(const struct cmd_kept *kept, const cmd_beside *b)
{
    for (int k = 0; k < RD_MAX_RANK; k++)
        if (kept->coordinate[k] == b)
            return true;
    return false;
}

void cmd_netcdf_define_beside(cmd_netcdf_writer *w, const cmd_result *r, const int *dimensions)
{
    int ids[RD_MAX_RANK];

    for (int k = 0; r->kept && k < r->kept->n; k++) {
        const cmd_beside *b = r->kept->beside[k];

        if (is_defined(w, b) || is_coordinate(r->kept, b))
            continue;
        for (int d = 0; d < b->shape.n; d++)
            ids[d] = b->axis[d] >= 0 ? dimensions[b->axis[d]]
                                     : own_dimension(w, b->dimension[d], b->shape.at[d]);
        w->beside[w->n_beside]     = b;
        w->variable[w->n_beside++] = define(w, b->name, b, ids);
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */
static void put(const cmd_netcdf_writer *w, const char *name, int variable, const cmd_beside *b)
{
    size_t start[RD_MAX_RANK] = { 0 }, count[RD_MAX_RANK], n = 1;

    for (int d = 0; d < b->shape.n; d++)
        n *= count[d] = (size_t)b->shape.at[d];
    if (n > 0)
        cmd_netcdf_check(
            w->path, name,
            b->kind == CMD_TEXTS
                ? w->nc->put_vara_string(w->id, variable, start, count, (const char **)b->at)
                : w->nc->put_vara(w->id, variable, start, count, b->at));
}

void cmd_netcdf_put_beside(const cmd_netcdf_writer *w)
{
    for (int k = 0; k < w->n; k++) {
        const cmd_netcdf_dimension *d = &w->at[k];
        if (d->variable >= 0 && d->coordinate)
            put(w, d->name, d->variable, d->coordinate);
        else if (d->variable >= 0)
            put(w, d->name, d->variable,
                &(cmd_beside){ .kind  = CMD_NUMBERS,
                               .type  = RD_F64,
                               .shape = { .n = 1, .at = { d->n } },
                               .at    = d->axis->at });
    }
    for (int k = 0; k < w->n_beside; k++)
        put(w, w->beside[k]->name, w->variable[k], w->beside[k]);
}
#else
typedef int cmd_no_netcdf_beside;
#endif

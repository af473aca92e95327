/* grib.c - GRIB files, editions 1 and 2: messages decoded by ecCodes and joined to variables.
 *
 * A message is one field of one time and level. A "kind" is the set of messages that form one
 * variable; "number" is the member of an ensemble. A place is a combination of number, time, step
 * and level. */
#include "files/formats.h"
#include <string.h>

/* True if the bytes begin a GRIB message of edition 1 or 2, which byte 7 says. */
static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, "GRIB", 4) == 0 && (bytes[7] == 1 || bytes[7] == 2);
}

#if RDIM_ECCODES
#include "files/grib.h"
#include <math.h>
#include <stdlib.h>

/* Loads ecCodes, or ends the program if it is not installed. */
static void load(const char *path)
{
    cmd_grib_load(path);
}

/* ---- Variables ------------------------------------------------------------------------------- */
/* True if the variable has this axis: if it has several coordinates, or is the time, along which
 * files can be joined. */
static bool has_axis(const cmd_grib_kind *k, int axis)
{
    return k->n[axis] > 1 || axis == CMD_TIME;
}

/* Describes an axis: CF's names, units and calendar. Levels are named by their type. */
static cmd_axis axis_of(const cmd_grib_kind *k, int axis)
{
    static const cmd_axis axes[] = {
        [CMD_NUMBER] = { .name = "number", .standard = "realization" },
        [CMD_TIME]   = { .name     = "time",
                         .units    = "seconds since 1970-01-01 00:00:00",
                         .calendar = "proleptic_gregorian",
                         .title    = "initial time of forecast",
                         .standard = "forecast_reference_time",
                         .record   = true },
        [CMD_STEP]   = { .name     = "step",
                         .units    = "hours",
                         .title    = "time since forecast_reference_time",
                         .standard = "forecast_period" },
        [CMD_LEVEL]  = { .units = NULL },
    };
    cmd_axis a = axes[axis];

    a.n  = k->n[axis];
    a.at = k->at[axis];
    if (axis == CMD_LEVEL) {
        a.name  = k->level;
        a.units = strcmp(k->level, "isobaricInhPa") == 0         ? "hPa"
                  : strcmp(k->level, "isobaricInPa") == 0        ? "Pa"
                  : strncmp(k->level, "heightAbove", 11) == 0    ? "m"
                  : strncmp(k->level, "depthBelowLand", 14) == 0 ? "m"
                                                                 : NULL;
    }
    return a;
}

/* Appends an axis to the variable's shape and axes. */
static void add_axis(cmd_variable *v, cmd_axis axis)
{
    v->shape.at[v->shape.n] = axis.n;
    v->axis[v->shape.n++]   = axis;
}

/* Sets the axes of a variable: those of its messages, and then those of the grid. A grid that is
 * unknown (CMD_VALUES) has one axis of points; only a regular one has latitudes and longitudes. */
static void set_axes(cmd_variable *v, const cmd_grib_kind *k)
{
    v->axis  = cmd_room((CMD_PLACES + 2) * sizeof *v->axis);
    v->shape = (rd_shape){ 0 };
    for (int axis = 0; axis < CMD_PLACES; axis++)
        if (has_axis(k, axis))
            add_axis(v, axis_of(k, axis));
    if (k->shape == CMD_VALUES) {
        add_axis(v, (cmd_axis){ .name = "values", .n = k->points });
        return;
    }
    const bool regular = k->shape == CMD_REGULAR;
    add_axis(v, (cmd_axis){ .name     = regular ? "latitude" : "y",
                            .n        = k->rows,
                            .at       = k->latitudes,
                            .units    = regular ? "degrees_north" : NULL,
                            .standard = regular ? "latitude" : NULL });
    add_axis(v, (cmd_axis){ .name     = regular ? "longitude" : "x",
                            .n        = k->across,
                            .at       = k->longitudes,
                            .units    = regular ? "degrees_east" : NULL,
                            .standard = regular ? "longitude" : NULL });
}

/* Makes the name "level/parameter", as "isobaricInhPa/t". If it is taken, the kind of step is
 * appended, and then a number. */
static const char *name_of(const cmd_file *file, const cmd_grib_kind *k)
{
    const char *name = cmd_text("%s/%s", k->level, k->name);

    for (int n = 0;; n++) {
        bool there = false;

        for (int i = 0; i < file->n; i++)
            there |= file->variable[i].name && strcmp(file->variable[i].name, name) == 0;
        if (!there)
            return name;
        name = n == 0 ? cmd_text("%s/%s_%s", k->level, k->name, k->step)
                      : cmd_text("%s/%s_%s_%d", k->level, k->name, k->step, n + 1);
    }
}

/* The row-major index of a message among all places of its variable. */
static int64_t index_in_variable(const cmd_grib_kind *k, const cmd_message *m)
{
    int64_t at = 0;

    for (int axis = 0; axis < CMD_PLACES; axis++)
        at = at * k->n[axis] + m->index[axis];
    return at;
}

/* Orders indices for qsort(). */
static int compare_places(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Marks a variable as unreadable if two messages have the same place: one would silently replace
 * the other. Equal indices are adjacent after sorting. Without memory nothing is checked. */
static void check_places(const cmd_grib *all, cmd_variable *v)
{
    const cmd_grib_kind *k  = &all->kind[v->id];
    int64_t             *at = malloc((size_t)(all->n_messages + 1) * sizeof *at), n = 0;

    for (int64_t i = 0; at && i < all->n_messages; i++)
        if (all->message[i].variable == v->id)
            at[n++] = index_in_variable(k, &all->message[i]);
    if (at)
        qsort(at, (size_t)n, sizeof *at, compare_places);
    for (int64_t i = 1; i < n && !v->why; i++)
        if (at[i] == at[i - 1])
            v->why = "two messages are of the same time, step, level and number";
    free(at);
}

/* Lists the messages of the file, and makes a variable of each kind, of type f64 only if values are
 * 64-bit floats. */
static void open_grib(cmd_file *file)
{
    cmd_grib *const all = cmd_grib_list(cmd_grib_load(file->path), file->path);

    file->state = all;
    for (int i = 0; i < all->n_kinds; i++) {
        const cmd_grib_kind *k    = &all->kind[i];
        const char *const    name = name_of(file, k);
        cmd_variable        *v    = cmd_add_variables(file, 1);

        v->name     = name;
        v->id       = i;
        v->type     = k->wide ? RD_F64 : RD_F32;
        v->units    = k->units;
        v->title    = k->title;
        v->standard = k->standard;
        v->layout   = "messages";
        v->packing  = (cmd_packing){ .scale = 1 };
        v->why      = k->why;
        set_axes(v, k);
        check_places(all, v);
    }
    if (file->n == 0)
        cmd_fail("%s: no message is in it", file->path);
}

/* Does nothing: messages are found by their offset, and the library keeps no file open. */
static void close_grib(cmd_file *file)
{
    (void)file;
}

/* Tells the reader that elements have no offset: the library must decode them. */
static cmd_place unknown_place(const cmd_file *file, const cmd_variable *v)
{
    (void)file;
    (void)v;
    return (cmd_place){ .offset = -1 };
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Arguments of decode_field(). */
typedef struct decoding {
    const cmd_grib_api  *g;
    const char          *path;
    const cmd_grib_kind *k;
    int                  field; /* the wanted field of the message */
    double              *values;
    void                *to;
} decoding;

/* The row-major index of point i of a message. The message runs along columns if k->columns, else
 * along rows; each second line runs backwards if k->snake. */
static int64_t point_of(const cmd_grib_kind *k, int64_t i)
{
    if (k->shape == CMD_VALUES || (!k->columns && !k->snake))
        return i;
    const int64_t along = k->columns ? k->rows : k->across;
    const int64_t line = i / along, in_line = i % along;
    const int64_t at = k->snake && line % 2 ? along - 1 - in_line : in_line;
    return k->columns ? at * k->across + line : line * k->across + at;
}

/* Stores the points of a message in row-major order, in the variable's type. The value 1e300 stands
 * for missing points, which become NaN (decode_field). */
static void store_points(const decoding *d)
{
    for (int64_t i = 0; i < d->k->points; i++) {
        const double  value = d->values[i] == 1e300 ? (double)NAN : d->values[i];
        const int64_t at    = point_of(d->k, i);

        if (d->k->wide)
            ((double *)d->to)[at] = value;
        else
            ((float *)d->to)[at] = (float)value;
    }
}

/* Decodes the wanted field of a message into d->to. Points that its bitmap leaves out get 1e300, a
 * value that no message has. False: the field was found, so the visit ends. */
static bool decode_field(void *user, codes_handle *h, int64_t offset, int field)
{
    const decoding *d     = user;
    size_t          n     = (size_t)d->k->points;
    int             error = 0;

    (void)offset;
    if (field != d->field)
        return true;
    (void)d->g->codes_set_double(h, "missingValue", 1e300);
    error = d->g->codes_get_double_array(h, "values", d->values, &n);
    if (error || n != (size_t)d->k->points)
        cmd_fail("%s: a message at byte %lld cannot be decoded: %s", d->path, (long long)offset,
                 error ? d->g->codes_get_error_message(error) : "it has other points");
    store_points(d);
    return false;
}

/* Sets n elements to NaN, in the variable's type. */
static void fill_with_nan(const cmd_grib_kind *k, void *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (k->wide)
            ((double *)to)[i] = (double)NAN;
        else
            ((float *)to)[i] = NAN;
}

/* Decodes n rows along the first axis, from `first` on. Each message holds k->points elements of
 * one place; `row` is the number of places in a row. Places without a message are NaN. */
static void decode(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to)
{
    const cmd_grib      *all = file->state;
    const cmd_grib_kind *k   = &all->kind[v->id];
    const int64_t        row = cmd_points(&v->shape, v->type, v->name) / v->shape.at[0] / k->points;
    double              *values = malloc((size_t)k->points * sizeof *values);

    if (!values)
        cmd_fail("%s: no memory for %lld points", file->path, (long long)k->points);
    fill_with_nan(k, to, n * row * k->points);
    for (int64_t i = 0; i < all->n_messages; i++) {
        const cmd_message *m  = &all->message[i];
        const int64_t      at = m->variable == v->id ? index_in_variable(k, m) - first * row : -1;

        if (at < 0 || at >= n * row)
            continue;
        cmd_grib_each(cmd_grib_load(file->path), file->path, m->offset, decode_field,
                      &(decoding){ cmd_grib_load(file->path), file->path, k, m->field, values,
                                   (char *)to + at * k->points * cmd_size_of(v->type) });
    }
    free(values);
}

/* Does nothing: coordinates are known when a file is listed. */
static void coordinates(cmd_file *file, cmd_variable *v)
{
    (void)file;
    (void)v;
}

const cmd_format cmd_grib_format = { .name        = "GRIB",
                                     .suffixes    = ".grib .grb .grib1 .grb1 .grib2 .grb2 .gb ",
                                     .matches     = matches,
                                     .open        = open_grib,
                                     .load        = load,
                                     .close       = close_grib,
                                     .reopen      = close_grib,
                                     .place       = unknown_place,
                                     .decode      = decode,
                                     .coordinates = coordinates };
#else
/* Ends the program, as this build has no GRIB. */
static void open_grib(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without GRIB (Debian: libeccodes-dev, then build again)",
             file->path);
}

const cmd_format cmd_grib_format = { .name     = "GRIB (not in this build)",
                                     .suffixes = ".grib .grb .grib1 .grb1 .grib2 .grb2 .gb ",
                                     .matches  = matches,
                                     .open     = open_grib };
#endif

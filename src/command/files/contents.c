/* contents.c - lists the dimensions, variables and attributes of a file of results. For a result
 * t(time) with coordinates that is: dimension time, variables time(time) and t(time), and their
 * attributes.
 *
 * "Beside" a result means auxiliary variables of its source file that are written with it, such as
 * bounds. A "place" is an index into the list of dimensions. */
#include "files/contents.h"
#include <math.h>
#include <string.h>

/* Bytes of an element: of its type, of a pointer to a text, or of one character. */
int64_t cmd_content_size(const cmd_content *c)
{
    return c->kind == CMD_NUMBERS ? cmd_size_of(c->type)
           : c->kind == CMD_TEXTS ? (int64_t)sizeof(char *)
                                  : 1;
}

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Adds copies of attributes, except those that the libraries of NetCDF and HDF5 write
 * themselves. */
static void add_all(cmd_attributes *to, const cmd_attributes *from)
{
    for (int k = 0; k < from->n; k++)
        if (!cmd_is_reserved(from->at[k].name))
            cmd_add_attribute(to, &from->at[k]);
}

/* Adds a text attribute, unless the text is NULL, which means that it is unknown. */
static void add_text(cmd_attributes *to, const char *name, const char *text)
{
    if (text)
        cmd_add_text(to, name, text);
}

/* Adds labels of the coordinates 1, 2, ... as CF's flag_values and flag_meanings. `words` has the
 * labels with blanks between them, so there are as many flags as words. */
static void add_words(cmd_attributes *to, const char *words)
{
    double *flag = cmd_room(CMD_MOST_WORDS * sizeof *flag);
    int     n    = 0;

    if (!words)
        return;
    for (const char *at = words; at && n < CMD_MOST_WORDS; at = strchr(at + 1, ' ')) {
        flag[n] = n + 1;
        n++;
    }
    cmd_add_attribute(to, &(cmd_attribute){ "flag_values", CMD_NUMBERS, RD_F64, n, flag });
    cmd_add_text(to, "flag_meanings", words);
}

/* Adds _FillValue to a result of floats, in its type: the value that stands for missing ones in the
 * source file (kept), or NaN. */
static void add_fill(cmd_attributes *to, const cmd_result *r)
{
    const rd_dtype type = r->array.type;
    const double   fill = r->kept ? r->kept->fill : (double)NAN;
    double        *wide = cmd_room(sizeof *wide);
    float         *slim = cmd_room(sizeof *slim);

    *wide = fill;
    *slim = (float)fill;
    if (type == RD_F32 || type == RD_F64)
        cmd_add_attribute(to, &(cmd_attribute){ "_FillValue", CMD_NUMBERS, type, 1,
                                                type == RD_F32 ? (const void *)slim : wide });
}

/* ---- Variables ------------------------------------------------------------------------------- */
/* Appends a variable and chooses its chunks. `source` is the layout of the variable in the input
 * file that it comes from. */
static cmd_content *add_content(cmd_contents *all, const cmd_content *c, const cmd_layout *source)
{
    cmd_content *to = &all->at[all->n++];

    *to        = *c;
    to->layout = cmd_layout_of(all, to, source);
    return to;
}

/* Adds an auxiliary variable under this name. `place` has the numbers of its dimensions. */
static void add_beside(cmd_contents *all, const char *name, const cmd_beside *b, const int *place)
{
    cmd_content c = {
        .name = name, .beside = b, .kind = b->kind, .type = b->type, .shape = b->shape, .at = b->at
    };

    memcpy(c.dimension, place, (size_t)b->shape.n * sizeof *place);
    add_all(&c.attributes, &b->attributes);
    add_content(all, &c, &b->layout);
}

/* ---- Dimensions ------------------------------------------------------------------------------ */
/* True if both texts are equal, or both are NULL. */
static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* True if both axes share a dimension: they have the same name, extent and units, and the same
 * coordinates, if any. Axes without names never do. */
static bool is_same_axis(const cmd_axis *a, const cmd_axis *b)
{
    return a && a->name && b->name && strcmp(a->name, b->name) == 0 && a->n == b->n &&
           !a->at == !b->at && is_same_text(a->units, b->units) &&
           (!a->at || memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0);
}

/* True if a dimension or a result has the name. */
static bool is_taken(const cmd_contents *all, const char *name)
{
    for (int k = 0; k < all->n_dimensions; k++)
        if (strcmp(all->dimension[k].name, name) == 0)
            return true;
    for (int k = 0; k < all->results->n; k++)
        if (strcmp(all->results->at[k].name, name) == 0)
            return true;
    return false;
}

/* Makes a name that begins with `base` and that no dimension or result has: "x", "x_2", "x_3".
 * Without a base it is "axis_" and the number of the dimension. */
static const char *new_name(const cmd_contents *all, const char *base)
{
    const char *name = base ? base : "axis";

    for (int k = 2; !base || is_taken(all, name); k++) {
        name = cmd_text("%s_%d", base ? base : "axis", base ? k : all->n_dimensions + k - 2);
        if (!is_taken(all, name))
            break;
    }
    return name;
}

/* Appends a dimension and returns its index. The list grows, as auxiliary variables have dimensions
 * of their own. */
static int add_dimension(cmd_contents *all, const char *base, int64_t n, bool grows)
{
    if (all->n_dimensions == all->room) { /* auxiliary variables have dimensions of their own */
        const int      room = (all->room + RD_MAX_RANK) * 2;
        cmd_dimension *more = cmd_room((size_t)room * sizeof *more);
        if (all->n_dimensions)
            memcpy(more, all->dimension, (size_t)all->n_dimensions * sizeof *more);
        all->dimension = more;
        all->room      = room;
    }
    all->dimension[all->n_dimensions] = (cmd_dimension){
        .name = new_name(all, base), .n = n, .variable = -1, .grows = grows, .nameless = !base
    };
    return all->n_dimensions++;
}

/* Adds the variable of a dimension's coordinates: copied from the source file (coordinate), or made
 * of the axis. Without coordinates there is no variable. */
static void add_coordinates(cmd_contents *all, int place)
{
    cmd_dimension  *d    = &all->dimension[place];
    const cmd_axis *axis = d->axis;
    cmd_content     c    = { .name      = d->name,
                             .kind      = CMD_NUMBERS,
                             .type      = RD_F64,
                             .shape     = { .n = 1, .at = { d->n } },
                             .dimension = { place },
                             .at        = axis->at };

    if (!d->coordinate && !axis->at)
        return;
    d->variable = all->n;
    if (d->coordinate) {
        add_beside(all, d->name, d->coordinate, &place);
        return;
    }
    add_text(&c.attributes, "units", axis->units);
    add_text(&c.attributes, "long_name", axis->title);
    add_text(&c.attributes, "standard_name", axis->standard);
    add_text(&c.attributes, "calendar", axis->calendar);
    add_words(&c.attributes, axis->words);
    add_content(all, &c, &(cmd_layout){ 0 });
}

/* Finds the dimension of a result's axis, or adds it with its coordinates. */
static int dimension_of(cmd_contents *all, const cmd_result *r, int axis)
{
    for (int k = 0; k < all->n_dimensions; k++)
        if (is_same_axis(all->dimension[k].axis, &r->axis[axis]))
            return k;
    const int place = add_dimension(all, r->axis[axis].name, r->axis[axis].n, r->axis[axis].record);
    all->dimension[place].axis       = &r->axis[axis];
    all->dimension[place].coordinate = r->kept ? r->kept->coordinate[axis] : NULL;
    add_coordinates(all, place);
    return place;
}

/* Finds or adds a dimension that no axis of a result has, such as the two ends of bounds or the
 * characters of text. Dimensions of results (`axis` not NULL) are not reused. */
static int auxiliary_dimension(cmd_contents *all, const char *name, int64_t n)
{
    for (int k = 0; k < all->n_dimensions && name; k++)
        if (!all->dimension[k].axis && all->dimension[k].n == n &&
            strcmp(all->dimension[k].name, name) == 0)
            return k;
    return add_dimension(all, name, n, /*grows=*/false);
}

/* ---- Results --------------------------------------------------------------------------------- */
/* True if this auxiliary variable is listed already, as several results may share it. */
static bool is_added(const cmd_contents *all, const cmd_beside *b)
{
    for (int k = 0; k < all->n; k++)
        if (all->at[k].beside == b)
            return true;
    return false;
}

/* True if the auxiliary variable holds the coordinates of an axis. It is then added with its
 * dimension. */
static bool is_coordinate(const struct cmd_kept *kept, const cmd_beside *b)
{
    for (int k = 0; k < RD_MAX_RANK; k++)
        if (kept->coordinate[k] == b)
            return true;
    return false;
}

/* Adds the auxiliary variables of a result. `dimension` has the numbers of the dimensions of its
 * axes. An axis that the result lacks (b->axis is -1) gets a dimension of its own. */
static void add_all_beside(cmd_contents *all, const cmd_result *r, const int *dimension)
{
    int place[RD_MAX_RANK];

    for (int k = 0; r->kept && k < r->kept->n; k++) {
        const cmd_beside *b = r->kept->beside[k];

        if (is_added(all, b) || is_coordinate(r->kept, b))
            continue;
        for (int d = 0; d < b->shape.n; d++)
            place[d] = b->axis[d] >= 0 ? dimension[b->axis[d]]
                                       : auxiliary_dimension(all, b->dimension[d], b->shape.at[d]);
        add_beside(all, b->name, b, place);
    }
}

/* Adds the variable of a result, with its dimensions, attributes and auxiliary variables. Where
 * attributes of source files are kept, they include units and title. */
static void add_result(cmd_contents *all, const cmd_result *r)
{
    cmd_content c = { .name   = r->name,
                      .result = r,
                      .kind   = CMD_NUMBERS,
                      .type   = r->array.type,
                      .shape  = r->array.shape };

    for (int k = 0; k < c.shape.n; k++)
        c.dimension[k] = dimension_of(all, r, k);
    add_fill(&c.attributes, r);
    if (r->kept)
        add_all(&c.attributes, &r->kept->attributes);
    else {
        add_text(&c.attributes, "units", r->units);
        add_text(&c.attributes, "calendar", r->calendar);
        add_text(&c.attributes, "long_name", r->title);
    }
    add_text(&c.attributes, "rdim_formula", r->formula);
    add_content(all, &c, r->kept ? &r->kept->layout : &(cmd_layout){ 0 });
    add_all_beside(all, r, c.dimension);
}

/* Makes variable k the coordinates of its dimension, if it has one axis and the dimension's name,
 * even if it is text. A dimension that has such a variable keeps it. */
static void find_dimension(cmd_contents *all, int k)
{
    const cmd_content *c = &all->at[k];
    cmd_dimension     *d = c->shape.n == 1 ? &all->dimension[c->dimension[0]] : NULL;

    if (d && d->variable < 0 && strcmp(d->name, c->name) == 0)
        d->variable = k;
}

/* Lists all that the file will hold: global attributes, then result after result. Last, variables
 * of coordinates are linked to their dimensions. */
cmd_contents *cmd_contents_of(const char *path, const cmd_results *results)
{
    cmd_contents *all  = cmd_room(sizeof *all);
    size_t        most = 0;

    for (int k = 0; k < results->n; k++)
        most += 1 + RD_MAX_RANK + (results->at[k].kept ? (size_t)results->at[k].kept->n : 0);
    *all = (cmd_contents){ .path    = path,
                           .results = results,
                           .at      = cmd_room(most * sizeof(cmd_content)) };
    add_all(&all->about, &results->about);
    for (int k = 0; k < results->n; k++)
        add_result(all, &results->at[k]);
    for (int k = 0; k < all->n; k++)
        find_dimension(all, k);
    return all;
}

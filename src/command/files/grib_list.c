/* grib_list.c - groups the messages of a GRIB file to variables, as cfgrib does. Messages with the
 * same parameter, type of level, kind of step and grid form one variable, with the axes number,
 * time, step and level. A kind is the set of messages that form one variable. */
#if RDIM_ECCODES
#include "files/grib.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds in a file; points of a grid with coordinates that are read. */
enum { MOST_KINDS = 1 << 12, MOST_POINTS = 1 << 26 };

/* Argument of add_message(): the list that grows. */
typedef struct listing {
    const cmd_grib_api *g;
    const char         *path;
    cmd_grib           *all;
} listing;

/* ---- Keys ------------------------------------------------------------------------------------ */
/* Reads an integer key of a message; `other` if the message has none. */
static long read_long(const listing *l, const codes_handle *h, const char *key, long other)
{
    long value;

    return l->g->codes_get_long(h, key, &value) == 0 ? value : other;
}

/* Reads a text key into a buffer; "unknown" where the message has none. */
static void read_text(const listing *l, const codes_handle *h, const char *key, char *to,
                      size_t room)
{
    size_t n = room;

    if (l->g->codes_get_string(h, key, to, &n) != 0)
        snprintf(to, room, "unknown");
}

/* Reads a text key into memory; NULL: it is missing, empty or "unknown". */
static const char *text_or_null(const listing *l, const codes_handle *h, const char *key)
{
    char text[256];

    read_text(l, h, key, text, sizeof text);
    return strcmp(text, "unknown") == 0 || !*text ? NULL : cmd_copy(text, strlen(text));
}

/* ---- Grids ----------------------------------------------------------------------------------- */
/* Finds the shape of a grid by ecCodes' gridType. An unknown grid is one axis of values
 * (CMD_VALUES). */
static cmd_grid grid_named(const char *name)
{
    static const struct {
        const char *name;
        cmd_grid    grid;
    } grids[] = { { "regular_ll", CMD_REGULAR },
                  { "regular_gg", CMD_REGULAR },
                  { "rotated_ll", CMD_ROWS },
                  { "rotated_gg", CMD_ROWS },
                  { "lambert", CMD_ROWS },
                  { "lambert_azimuthal_equal_area", CMD_ROWS },
                  { "albers", CMD_ROWS },
                  { "mercator", CMD_ROWS },
                  { "polar_stereographic", CMD_ROWS } };

    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++)
        if (strcmp(grids[k].name, name) == 0)
            return grids[k].grid;
    return CMD_VALUES;
}

/* Reads the latitudes or longitudes of all points (`key`), and keeps each `step`-th one, n in all:
 * the points of a row share one latitude. NULL: they cannot be read. */
static double *coordinates_of(const listing *l, const codes_handle *h, const cmd_grib_kind *k,
                              const char *key, int64_t n, int64_t step)
{
    size_t     found = (size_t)k->points;
    double    *all = malloc(found * sizeof *all), *at = cmd_room((size_t)n * sizeof *at);
    const bool ok =
        all && l->g->codes_get_double_array(h, key, all, &found) == 0 && found == (size_t)k->points;

    for (int64_t i = 0; ok && i < n; i++)
        at[i] = all[i * step];
    free(all);
    return ok ? at : NULL;
}

/* Reads the grid's shape and order of points, and the coordinates of a regular grid. Nj is the
 * number of rows, Ni that of columns. If their product is not the number of points, the grid is one
 * axis of values. */
static void read_grid(const listing *l, const codes_handle *h, cmd_grib_kind *k)
{
    char name[64];

    read_text(l, h, "gridType", name, sizeof name);
    k->shape   = grid_named(name);
    k->rows    = read_long(l, h, "Nj", 0);
    k->across  = read_long(l, h, "Ni", 0);
    k->columns = read_long(l, h, "jPointsAreConsecutive", 0) != 0;
    k->snake   = read_long(l, h, "alternativeRowScanning", 0) != 0;
    if (k->rows < 1 || k->across < 1 || k->rows > k->points || k->rows * k->across != k->points)
        k->shape = CMD_VALUES;
    if (k->shape != CMD_REGULAR || k->points > MOST_POINTS)
        return;
    k->latitudes  = coordinates_of(l, h, k, "latitudes", k->rows, k->columns ? 1 : k->across);
    k->longitudes = coordinates_of(l, h, k, "longitudes", k->across, k->columns ? k->rows : 1);
}

/* ---- Kinds of messages ----------------------------------------------------------------------- */
/* Fills in the facts of a new kind from its first message: type, name, attributes, grid. Only
 * 64-bit IEEE floats (precision 2) need doubles. */
static void describe(const listing *l, const codes_handle *h, cmd_grib_kind *k)
{
    char packing[64];

    read_text(l, h, "packingType", packing, sizeof packing);
    k->wide     = strcmp(packing, "grid_ieee") == 0 && read_long(l, h, "precision", 1) == 2;
    k->name     = text_or_null(l, h, "cfVarName");
    k->name     = k->name ? k->name : text_or_null(l, h, "shortName");
    k->name     = k->name ? k->name : cmd_text("parameter_%s", k->parameter);
    k->units    = text_or_null(l, h, "units");
    k->title    = text_or_null(l, h, "name");
    k->standard = text_or_null(l, h, "cfName");
    read_grid(l, h, k);
}

/* Finds the kind of a message, or adds a new one. A kind has equal parameter, type of level, kind
 * of step, grid (by its digest) and number of points. The search goes backwards, as messages of one
 * kind are often adjacent. */
static int kind_of(const listing *l, const codes_handle *h)
{
    cmd_grib     *all = l->all;
    cmd_grib_kind k   = { .points = read_long(l, h, "numberOfPoints", 0) };
    size_t        values;

    if (l->g->codes_get_size(h, "values", &values) == 0 && values > 0 && values < INT64_MAX / 64)
        k.points = (int64_t)values;
    read_text(l, h, "paramId", k.parameter, sizeof k.parameter);
    read_text(l, h, "typeOfLevel", k.level, sizeof k.level);
    read_text(l, h, "stepType", k.step, sizeof k.step);
    read_text(l, h, "md5GridSection", k.grid, sizeof k.grid);
    for (int i = all->n_kinds; i-- > 0;) {
        const cmd_grib_kind *other = &all->kind[i];

        if (k.points == other->points && strcmp(k.parameter, other->parameter) == 0 &&
            strcmp(k.level, other->level) == 0 && strcmp(k.step, other->step) == 0 &&
            strcmp(k.grid, other->grid) == 0)
            return i;
    }
    if (all->n_kinds == MOST_KINDS)
        cmd_fail("%s: more than %d variables", l->path, MOST_KINDS);
    if (all->n_kinds == all->kinds_room) {
        all->kinds_room     = 2 * all->kinds_room + 8;
        cmd_grib_kind *more = cmd_room((size_t)all->kinds_room * sizeof *more);
        if (all->n_kinds)
            memcpy(more, all->kind, (size_t)all->n_kinds * sizeof *more);
        all->kind = more;
    }
    describe(l, h, &k);
    all->kind[all->n_kinds] = k;
    return all->n_kinds++;
}

/* Appends a message to the list, with its kind and coordinates. The list doubles, as memory is not
 * freed. Always true, as all messages are visited. */
static bool add_message(void *user, codes_handle *h, int64_t offset, int field)
{
    const listing *l   = user;
    cmd_grib      *all = l->all;

    if (all->n_messages == all->room) {
        all->room         = 2 * all->room + 64;
        cmd_message *more = cmd_room((size_t)all->room * sizeof *more);
        if (all->n_messages)
            memcpy(more, all->message, (size_t)all->n_messages * sizeof *more);
        all->message = more;
    }
    cmd_message *m = &all->message[all->n_messages++];
    *m             = (cmd_message){ .offset = offset, .field = field, .variable = kind_of(l, h) };
    cmd_grib_read_place(l->g, h, &all->kind[m->variable], m->place);
    return true;
}

/* ---- Coordinates along axes ------------------------------------------------------------------ */
/* Orders doubles for qsort(), the smallest first. */
static int compare_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Orders doubles for qsort(), the largest first. */
static int compare_descending(const void *a, const void *b)
{
    return compare_ascending(b, a);
}

/* Sorts the coordinates of a kind's messages along one axis, and keeps the distinct ones. Pressure
 * levels ("isobaric...") descend, so that the height ascends. */
static void find_coordinates(cmd_grib *all, int kind, int axis, const double *unsorted, int64_t n)
{
    cmd_grib_kind *const k     = &all->kind[kind];
    const bool           falls = axis == CMD_LEVEL && strncmp(k->level, "isobaric", 8) == 0;
    double *const        at    = cmd_room((size_t)n * sizeof *at);

    memcpy(at, unsorted, (size_t)n * sizeof *at);
    qsort(at, (size_t)n, sizeof *at, falls ? compare_descending : compare_ascending);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || at[i] != at[k->n[axis] - 1])
            at[k->n[axis]++] = at[i];
    k->at[axis] = at;
}

/* Collects the coordinates of all messages of one kind, axis by axis, in the buffer `room`, and
 * keeps the distinct ones. */
static void find_all_coordinates(cmd_grib *all, int kind, double *room)
{
    for (int axis = 0; axis < CMD_PLACES; axis++) {
        int64_t n = 0;

        for (int64_t i = 0; i < all->n_messages; i++)
            if (all->message[i].variable == kind)
                room[n++] = all->message[i].place[axis];
        find_coordinates(all, kind, axis, room, n);
    }
}

/* Finds the index of a message along each axis by binary search in the sorted coordinates, which
 * may descend (`falls`). A file may have a message for each hour of many years. */
static void find_indices(const cmd_grib *all, cmd_message *m)
{
    const cmd_grib_kind *k = &all->kind[m->variable];

    for (int axis = 0; axis < CMD_PLACES; axis++) {
        const double *const at    = k->at[axis];
        const bool          falls = k->n[axis] > 1 && at[0] > at[k->n[axis] - 1];
        int64_t             low = 0, high = k->n[axis] - 1;

        while (low < high) {
            const int64_t middle = low + (high - low) / 2;

            if (falls ? at[middle] > m->place[axis] : at[middle] < m->place[axis])
                low = middle + 1;
            else
                high = middle;
        }
        m->index[axis] = low;
    }
}

/* Reads message after message, and calls visit() until it returns false. A message may have several
 * fields (multi-field support), which have the same offset and are counted from 0. */
void cmd_grib_each(const cmd_grib_api *g, const char *path, int64_t from, cmd_grib_visit *visit,
                   void *user)
{
    FILE   *f     = fopen(path, "rbe");
    int64_t last  = -1;
    int     field = 0, error = 0;
    bool    more = true;

    if (!f || fseeko(f, (off_t)from, SEEK_SET) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    g->codes_grib_multi_support_on(NULL);
    /* ecCodes keeps state by the address of a FILE, which a closed file may have had before */
    (void)g->codes_grib_multi_support_reset_file(NULL, f);
    for (codes_handle *h;
         more && (h = g->codes_handle_new_from_file(NULL, f, PRODUCT_GRIB, &error));
         g->codes_handle_delete(h)) {
        off_t offset = 0;

        if (g->codes_get_message_offset(h, &offset) != 0)
            cmd_fail("%s: a message that is nowhere", path);
        field = offset == last ? field + 1 : 0;
        last  = offset;
        more  = visit(user, h, (int64_t)offset, field);
    }
    fclose(f);
    if (more && error)
        cmd_fail("%s: %s", path, g->codes_get_error_message(error));
}

/* Lists all messages with their kinds, then the coordinates of each kind's axes, and the indices of
 * each message along these. Messages are read from byte 0 on; room has places for the coordinates
 * of all messages. */
cmd_grib *cmd_grib_list(const cmd_grib_api *g, const char *path)
{
    cmd_grib *all = cmd_room(sizeof *all);

    cmd_grib_each(g, path, 0, add_message, &(listing){ g, path, all });
    double *room = cmd_room((size_t)(all->n_messages + 1) * sizeof *room);
    for (int k = 0; k < all->n_kinds; k++)
        find_all_coordinates(all, k, room);
    for (int64_t i = 0; i < all->n_messages; i++)
        find_indices(all, &all->message[i]);
    return all;
}
#else
typedef int cmd_no_grib_list;
#endif

/* around.c - axes of longitudes, which are cyclic: tas[lon=-60..60] of longitudes from 0 to 359
 * takes 300 to 359, then 0 to 60. A place is an index along the axis; a turn is 360 degrees. */
#include "around.h"
#include "axes.h"
#include "places.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if the text is one of the names, a list that ends with NULL. A NULL text is none of them. */
static bool is_among(const char *text, const char *const *names)
{
    for (; text && *names; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

/* True if the axis has longitudes, which are cyclic. CF uses these units for longitudes alone;
 * longitudes of a rotated pole are known by their standard name. */
bool cmd_goes_around(const cmd_axis *axis)
{
    static const char *const units[] = { "degrees_east", "degree_east", "degree_E", "degrees_E",
                                         "degreeE",      "degreesE",    NULL };
    static const char *const names[] = { "longitude", "grid_longitude", NULL };
    static const char *const plain[] = { "degrees", "degree", NULL };

    return axis->at && (is_among(axis->units, units) ||
                        (is_among(axis->standard, names) && is_among(axis->units, plain)));
}

/* The distance of two longitudes in degrees, the shorter way around the circle: the remainder by
 * 360 lies in [-180, 180]. */
double cmd_way_around(double coordinate, double value)
{
    return fabs(remainder(coordinate - value, 360));
}

/* An index of the axis, with its coordinate moved by whole turns into the range that is looked
 * for. */
typedef struct place {
    double  value;
    int64_t at;
    bool    turned;
} place;

/* Compares entries by coordinate, then by index, for qsort(). Among equal coordinates the one that
 * was not moved by whole turns of 360 degrees is the first. */
static int by_value(const void *a, const void *b)
{
    const place *x = a, *y = b;

    return x->value != y->value     ? (x->value > y->value) - (x->value < y->value)
           : x->turned != y->turned ? x->turned - y->turned
                                    : (x->at > y->at) - (x->at < y->at);
}

/* True if b repeats a, which precedes it in order: some files have the first longitude again at the
 * end of the axis, 360 degrees later. `most` is the tolerance. */
static bool is_repeated(const place *a, const place *b, double most)
{
    return fabs(a->value - b->value) <= most && (a->turned || b->turned);
}

/* True if the coordinates of the axis descend at most of its steps. One step may jump by a whole
 * turn of 360 degrees, and does not decide. */
static bool is_descending(const cmd_axis *axis)
{
    int64_t down = 0;

    for (int64_t i = 1; i < axis->n; i++)
        down += axis->at[i] < axis->at[i - 1] ? 1 : -1;
    return down > 0;
}

/* Finds the indices with longitudes from `low` to `high` modulo 360, within the tolerance `most`,
 * in the direction of the axis. Each longitude is moved by whole turns to the first such value from
 * low - most on. at[] gets the indices, value[] the moved longitudes. Returns their number. */
int64_t cmd_places_around(const cmd_axis *axis, double low, double high, double most, int64_t *at,
                          double *value)
{
    place       *found = cmd_room((size_t)(axis->n ? axis->n : 1) * sizeof *found);
    const bool   down  = is_descending(axis);
    int64_t      n = 0, kept = 0;
    const double first = low - most, last = high + most;

    for (int64_t i = 0; i < axis->n; i++) {
        const double turns = ceil((first - axis->at[i]) / 360), v = axis->at[i] + 360 * turns;

        if (v >= first && v <= last)
            found[n++] = (place){ v, i, turns != 0 };
    }
    qsort(found, (size_t)n, sizeof *found, by_value);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || !is_repeated(&found[kept - 1], &found[i], most))
            found[kept++] = found[i];
    for (int64_t i = 0; i < kept; i++) {
        at[i]    = found[down ? kept - 1 - i : i].at;
        value[i] = found[down ? kept - 1 - i : i].value;
    }
    return kept;
}

/* Takes the n indices `at` as two adjacent slices, which are copied faster than gathered elements;
 * `cut` is the number in the first one. NULL: they are one slice, or more than two. */
static rd_expr *take_two_slices(rd_expr *x, int axis, const int64_t *at, int64_t n)
{
    int64_t cut = 1;

    while (cut < n && at[cut] - at[cut - 1] == 1)
        cut++;
    for (int64_t i = cut + 1; i < n; i++)
        if (at[i] - at[i - 1] != 1)
            return NULL;
    if (cut == n)
        return NULL;
    return rd_concat(axis, RD_EXPRS(rd_slice_axis(x, axis, at[0], at[0] + cut, 1),
                                    rd_slice_axis(x, axis, at[cut], at[cut] + n - cut, 1)));
}

/* Takes n indices at[] of an axis of x, as two slices if they are two ranges, else by a gather.
 * `is`: that axis of the result, which is remembered for it. */
rd_expr *cmd_pick_around(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is)
{
    rd_expr *y = take_two_slices(x, axis, at, n);

    if (y) {
        cmd_know_axis(in, y, axis, is);
        return cmd_with_single_axes(in, x, y, /*dropped=*/-1);
    }
    return cmd_take_places(in, x, axis, at, n, is);
}

/* match.c - compares two axes by their coordinates, and finds the coordinates of one in the other.
 * A place is an index along an axis. */
#include "match.h"
#include "convert.h"
#include "quantities.h"
#include "times.h"
#include <math.h>
#include <stdlib.h>

/* Returns the range of an axis as a text, "90 to -90 (73)", with dates if they are times. Without
 * coordinates it is the number of elements. */
const char *cmd_axis_range(const cmd_axis *a)
{
    const char *first, *last;

    if (!a->at || a->n == 0)
        return cmd_text("%lld places", (long long)a->n);
    first = cmd_date_text(a->at[0], a->units, a->calendar);
    last  = cmd_date_text(a->at[a->n - 1], a->units, a->calendar);
    if (first && last)
        return cmd_text("%s to %s (%lld)", first, last, (long long)a->n);
    return cmd_text("%.9g to %.9g (%lld)", a->at[0], a->at[a->n - 1], (long long)a->n);
}

/* Returns the least distance of neighbouring coordinates that is not 0; INFINITY if there is
 * none. */
double cmd_least_distance(const cmd_axis *a)
{
    double least = INFINITY;

    for (int64_t i = 1; i < a->n; i++) {
        const double distance = fabs(a->at[i] - a->at[i - 1]);

        least = distance > 0 ? fmin(least, distance) : least;
    }
    return least;
}

/* Returns how far the last digits of f32 reach: a millionth of the greatest coordinate. Times get
 * at most half a second, because days since 1850 would get more than an hour. */
static double digits_of_f32(const cmd_axis *a)
{
    cmd_since s;
    double    most = 0;

    for (int64_t i = 0; i < a->n; i++)
        most = fmax(most, fabs(a->at[i]));
    return cmd_read_since(a->units, a->calendar, &s) ? fmin(most * 1e-6, 0.5 / s.seconds)
                                                     : most * 1e-6;
}

/* Returns how much two coordinates may differ and still be equal: a thousandth of the distance of
 * neighbours, or, without neighbours, the last digits of f32. */
double cmd_tolerance(const cmd_axis *a)
{
    const double least = cmd_least_distance(a);

    return isfinite(least) ? least / 1000 : digits_of_f32(a);
}

/* True if x and y differ by at most `most`, or if both are NaN. */
static bool is_near(double x, double y, double most)
{
    return fabs(x - y) <= most || (isnan(x) && isnan(y));
}

/* Finds the conversion from coordinates of b to those of a; it changes nothing if one axis has no
 * units. False: the units do not convert. */
bool cmd_turn_of_axes(const cmd_axis *a, const cmd_axis *b, cmd_turn *conversion)
{
    *conversion = (cmd_turn){ .times = 1, .by = 1 };
    return !a->units || !b->units ||
           cmd_units_meet(a->units, a->calendar, b->units, b->calendar, conversion);
}

/* Converts the coordinates of b to the units of a, into at[]. False: the units do not convert. */
static bool coordinates_in_units(const cmd_axis *a, const cmd_axis *b, double *at)
{
    cmd_turn conversion;

    if (!cmd_turn_of_axes(a, b, &conversion))
        return false;
    for (int64_t i = 0; i < b->n; i++)
        at[i] = cmd_turned(&conversion, b->at[i]);
    return true;
}

/* True if all coordinates of a and b agree up to the tolerance, in the same order, or in the
 * opposite one if `backwards`. b[] has as many as a. */
static bool has_near_coordinates(const cmd_axis *a, const double *b, bool backwards)
{
    const double most = cmd_tolerance(a);

    for (int64_t i = 0; i < a->n; i++)
        if (!is_near(a->at[i], b[backwards ? a->n - 1 - i : i], most))
            return false;
    return true;
}

/* Says why two axes differ, with the range of both; NULL: they do not. Without coordinates only
 * their lengths are compared. */
const char *cmd_axes_differ(const cmd_axis *a, const cmd_axis *b)
{
    const char *name = a->name ? a->name : "an axis";

    if (a->at && b->at) {
        double *at = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *at);

        if (!coordinates_in_units(a, b, at))
            return cmd_text("along %s one is in %s%s%s, the other in %s%s%s%s", name, a->units,
                            a->calendar ? " of the calendar " : "", a->calendar ? a->calendar : "",
                            b->units, b->calendar ? " of the calendar " : "",
                            b->calendar ? b->calendar : "", cmd_units_hint());
        if (a->n == b->n && has_near_coordinates(a, at, /*backwards=*/false))
            return NULL;
        return cmd_text("along %s one has %s, the other %s%s", name, cmd_axis_range(a),
                        cmd_axis_range(b),
                        a->n == b->n && has_near_coordinates(a, at, /*backwards=*/true)
                            ? ", the same in the other order"
                            : "");
    }
    return a->n == b->n ? NULL
                        : cmd_text("along %s one has %lld places, the other %lld", name,
                                   (long long)a->n, (long long)b->n);
}

/* ---- Where the coordinates of one are in the other ------------------------------------------- */
/* A coordinate with its index, for sorting. */
typedef struct coordinate {
    double  value;
    int64_t at;
} coordinate;

/* Orders coordinates by value, and equal ones by index, for qsort(). */
static int by_value(const void *a, const void *b)
{
    const coordinate *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->at > y->at) - (x->at < y->at);
}

/* Says which coordinate of a cannot be matched: NaN, or one that occurs twice; equal ones are
 * neighbours in sorted[]. NULL: all can. */
static const char *why_unmatchable(const cmd_axis *a, const coordinate *sorted)
{
    const char *name = a->name ? a->name : "an axis", *date;

    for (int64_t i = 0; i < a->n; i++)
        if (isnan(a->at[i]))
            return cmd_text(
                "along %s one has no coordinate at place %lld, NaN, which is none to look "
                "for",
                name, (long long)i);
    for (int64_t i = 1; i < a->n; i++)
        if (sorted[i].value == sorted[i - 1].value) {
            const double value = a->at[sorted[i].at];

            date = cmd_date_text(value, a->units, a->calendar);
            return cmd_text("along %s one has %s twice, at places %lld and %lld, and nothing says "
                            "which one is meant",
                            name, date ? date : cmd_text("%.9g", value),
                            (long long)sorted[i - 1].at, (long long)sorted[i].at);
        }
    return NULL;
}

/* Sorts the values at[] of axis a, with their indices. NULL: one cannot be matched (NaN, or it
 * occurs twice); *why says so. */
static coordinate *sort_coordinates(const cmd_axis *a, const double *at, const char **why)
{
    coordinate *sorted = cmd_room((size_t)(a->n ? a->n : 1) * sizeof *sorted);

    for (int64_t i = 0; i < a->n; i++)
        sorted[i] = (coordinate){ at[i], i };
    qsort(sorted, (size_t)a->n, sizeof *sorted, by_value);
    *why = why_unmatchable(a, sorted);
    return *why ? NULL : sorted;
}

/* Finds the index of the coordinate nearest to x, by bisection among n sorted ones. -1: it is
 * farther than `most`, or n is 0. */
static int64_t find_nearest(const coordinate *sorted, int64_t n, double x, double most)
{
    int64_t low = 0, high = n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (sorted[middle].value < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n || (low > 0 && x - sorted[low - 1].value <= sorted[low].value - x))
        low--;
    return low >= 0 && is_near(sorted[low].value, x, most) ? sorted[low].at : -1;
}

/* Returns the tolerance for two axes: a thousandth of the least distance of neighbours in either,
 * as a short axis may have no neighbours. at[]: coordinates of b in the units of a. */
static double tolerance_of(const cmd_axis *a, const cmd_axis *b, const double *at)
{
    cmd_axis converted = *b;

    converted.at       = at;
    const double least = fmin(cmd_least_distance(a), cmd_least_distance(&converted));
    return isfinite(least) ? least / 1000 : cmd_tolerance(a);
}

/* Finds each coordinate of a in b: place[i] is its index, or -1. Returns how many were found.
 * `most` is the tolerance in units of a; below 0 the default one. 0 if units do not convert, or
 * with *why a NaN or a coordinate that occurs twice. */
int64_t cmd_match_axes(const cmd_axis *a, const cmd_axis *b, double most, int64_t *place,
                       const char **why)
{
    double *at = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *at);
    int64_t n  = 0;

    *why = NULL;
    for (int64_t i = 0; i < a->n; i++)
        place[i] = -1;
    if (!coordinates_in_units(a, b, at) || !sort_coordinates(a, a->at, why))
        return 0;
    const coordinate *sorted = sort_coordinates(b, at, why);
    if (!sorted)
        return 0;
    most = most < 0 ? tolerance_of(a, b, at) : most;
    for (int64_t i = 0; i < a->n; i++) {
        place[i] = find_nearest(sorted, b->n, a->at[i], most);
        n += place[i] >= 0;
    }
    return n;
}

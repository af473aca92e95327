/* match.c - are two axes the same places, and where are the coordinates of one in the other? */
#include "match.h"
#include "convert.h"
#include "quantities.h"
#include "times.h"
#include <math.h>
#include <stdlib.h>

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

double cmd_least_distance(const cmd_axis *a)
{
    double least = INFINITY;

    for (int64_t i = 1; i < a->n; i++)
        least = fmin(least, fabs(a->at[i] - a->at[i - 1]));
    return least;
}

double cmd_tolerance(const cmd_axis *a)
{
    const double least = cmd_least_distance(a);
    double       most  = 0;

    for (int64_t i = 0; i < a->n; i++)
        most = fmax(most, fabs(a->at[i]));
    return least > 0 && isfinite(least) ? least / 1000 : most * 1e-6;
}

static bool is_near(double x, double y, double most)
{
    return fabs(x - y) <= most || (isnan(x) && isnan(y));
}

bool cmd_turn_of_axes(const cmd_axis *a, const cmd_axis *b, cmd_turn *turn)
{
    *turn = (cmd_turn){ .times = 1, .by = 1 };
    return !a->units || !b->units ||
           cmd_units_meet(a->units, a->calendar, b->units, b->calendar, turn);
}

/* In the units of a.  False: they have units of which neither is the other. */
static bool coordinates_in_units(const cmd_axis *a, const cmd_axis *b, double *at)
{
    cmd_turn turn;

    if (!cmd_turn_of_axes(a, b, &turn))
        return false;
    for (int64_t i = 0; i < b->n; i++)
        at[i] = cmd_turned(&turn, b->at[i]);
    return true;
}

static bool are_near(const cmd_axis *a, const double *b, bool backwards)
{
    const double most = cmd_tolerance(a);

    for (int64_t i = 0; i < a->n; i++)
        if (!is_near(a->at[i], b[backwards ? a->n - 1 - i : i], most))
            return false;
    return true;
}

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
        if (a->n == b->n && are_near(a, at, false))
            return NULL;
        return cmd_text(
            "along %s one has %s, the other %s%s", name, cmd_axis_range(a), cmd_axis_range(b),
            a->n == b->n && are_near(a, at, true) ? ", the same in the other order" : "");
    }
    return a->n == b->n ? NULL
                        : cmd_text("along %s one has %lld places, the other %lld", name,
                                   (long long)a->n, (long long)b->n);
}

/* ---- Where the coordinates of one are in the other --------------------------------------------- */
typedef struct coordinate {
    double  value;
    int64_t at;
} coordinate;

static int by_value(const void *a, const void *b)
{
    const double x = ((const coordinate *)a)->value, y = ((const coordinate *)b)->value;

    return (x > y) - (x < y);
}

/* Where the coordinate nearest to x is, if it is near enough; -1. */
static int64_t place_of(const coordinate *sorted, int64_t n, double x, double most)
{
    int64_t low = 0, high = n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (sorted[middle].value < x - most)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && is_near(sorted[low].value, x, most) ? sorted[low].at : -1;
}

int64_t cmd_match_axes(const cmd_axis *a, const cmd_axis *b, double most, int64_t *place)
{
    coordinate *sorted = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *sorted);
    double     *at     = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *at);
    int64_t     n      = 0;

    for (int64_t i = 0; i < a->n; i++)
        place[i] = -1;
    if (!coordinates_in_units(a, b, at))
        return 0;
    for (int64_t i = 0; i < b->n; i++)
        sorted[i] = (coordinate){ at[i], i };
    qsort(sorted, (size_t)b->n, sizeof *sorted, by_value);
    for (int64_t i = 0; i < a->n; i++) {
        place[i] = place_of(sorted, b->n, a->at[i], most);
        n += place[i] >= 0;
    }
    return n;
}

/* select.c - takes elements of an axis by coordinate: x[lat=45], x[lat=-30..30],
 * x[time='1990-06'].
 *
 * A number takes the nearest element. A range takes all elements inside it, and so does a date,
 * which is an interval of times. A place is an index along an axis. */
#include "select.h"
#include "around.h"
#include "axes.h"
#include "date_parts.h"
#include "dates.h"
#include "match.h"
#include "places.h"
#include "times.h"
#include <math.h>
#include <stdio.h>

/* A bound of a selection: a number in units of the axis, or a date, which lasts from `from`
 * until before `to`, in seconds of cmd_instant(). */
typedef struct span {
    double from, to;
    bool   date;
} span;

/* A search along an axis. */
typedef struct search {
    const cmd_axis *axis;
    cmd_since       since; /* the units, if it is an axis of times */
    double          most;  /* tolerance: coordinates this near to a number equal it */
    span            low, high;
} search;

/* True if the coordinates are times in a known calendar. */
static bool is_time(const cmd_axis *axis)
{
    return cmd_read_since(axis->units, axis->calendar, &(cmd_since){ 0 });
}

/* Reads a bound of a selection to *s: a number, a word of the axis (JJA) or a date. False: the text
 * is neither word nor date, and `why` says so. */
static bool read_bound(const cmd_axis *axis, const rd_formula_bound *b, span *s, char *why)
{
    cmd_since since;

    *s = (span){ b->number, b->number, false };
    if (!b->text)
        return true;
    if (cmd_value_of_word(axis, b->text, &s->from)) {
        s->to = s->from;
        return true;
    }
    s->date = true;
    if (cmd_read_since(axis->units, axis->calendar, &since) &&
        cmd_interval(b->text, &since, &s->from, &s->to))
        return true;
    snprintf(why, RD_WHY, "%s=\"%s\": %s", axis->name, b->text,
             is_time(axis)
                 ? "no date of the calendar, such as 1990, 1990-06, 1990-06-15 or 1990-06-15 12:00"
             : axis->words ? cmd_text("this axis has the words %s", axis->words)
                           : "this axis has no dates: its coordinates are numbers");
    return false;
}

/* ---- The nearest one ------------------------------------------------------------------------- */
/* Returns the distance of coordinate i from a value; around the circle for longitudes
 * (`around`). */
static double distance_to(const cmd_axis *seen, int64_t i, double value, bool around)
{
    return around ? cmd_way_around(seen->at[i], value) : fabs(seen->at[i] - value);
}

/* Finds the index of the nearest coordinate; *off: its distance. If two longitudes are equally near
 * around the circle, the one without a whole turn of 360 degrees wins. */
static int64_t find_nearest(const cmd_axis *seen, double value, bool around, double *off)
{
    int64_t best = 0;

    *off = INFINITY;
    for (int64_t i = 0; i < seen->n; i++) {
        const double way = distance_to(seen, i, value, around);

        if (way < *off ||
            (way == *off && fabs(seen->at[i] - value) < fabs(seen->at[best] - value))) {
            best = i;
            *off = way;
        }
    }
    return best;
}

/* Finds another index with the same coordinate as index `place`, which could be meant as well. -1:
 * none. */
static int64_t find_twin(const cmd_axis *seen, int64_t place)
{
    for (int64_t i = 0; i < seen->n; i++)
        if (i != place && seen->at[i] == seen->at[place])
            return i;
    return -1;
}

/* Returns how far the nearest coordinate may be: the distance of neighbours, or the last digits of
 * a number if there are none. Groups of months, years and seasons must match exactly, because
 * nothing lies between them: such an axis has the name of a function of times, and no units. */
static double most_distance(const cmd_axis *seen, double value)
{
    const double distance = cmd_least_distance(seen);

    if (seen->name && !seen->units && cmd_date_part_called(seen->name))
        return 0;
    return isfinite(distance) ? distance : fmax(1e-6 * fabs(value), 1e-9);
}

/* Returns a hint for axes of times, as people write 1990 for the year: a date stands in quotes. ""
 * for other axes. */
static const char *date_hint(const cmd_axis *seen)
{
    return is_time(seen)
               ? cmd_text(".  A number is %s, and a date stands in quotes, as in %s='%.4s'",
                          seen->units, seen->name,
                          cmd_date_text(seen->at[0], seen->units, seen->calendar))
               : "";
}

/* Writes coordinate i of an axis: a date, a word or a number. */
static const char *coordinate_text(const cmd_axis *seen, int64_t i)
{
    const char *text = cmd_date_text(seen->at[i], seen->units, seen->calendar);

    text = text ? text : cmd_word_of_value(seen, seen->at[i]);
    return text ? text : cmd_text("%.9g", seen->at[i]);
}

/* Selects the element of x nearest to a number, and drops the axis. NULL: it is too far, or the
 * same coordinate is there twice (twin), and `why` says so. */
static rd_expr *select_nearest(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *seen,
                               double value, char *why)
{
    double        off;
    const int64_t best = find_nearest(seen, value, cmd_goes_around(seen), &off),
                  twin = find_twin(seen, best);
    const double most  = most_distance(seen, value);

    if (off <= most && twin < 0)
        return cmd_with_single_axes(in, x, rd_select(x, axis, best), axis);
    if (off <= most)
        snprintf(why, RD_WHY,
                 "%s=%.9g is at two places, %lld and %lld: say one of these, as in x[%lld]",
                 seen->name, value, (long long)best, (long long)twin, (long long)best);
    else
        snprintf(why, RD_WHY, "%s=%.9g is not among its coordinates, %s%s", seen->name, value,
                 cmd_axis_range(seen),
                 isfinite(off) ? cmd_text(": the nearest one is %s%s", coordinate_text(seen, best),
                                          date_hint(seen))
                               : "");
    return NULL;
}

/* ---- From one to another --------------------------------------------------------------------- */
/* True if the coordinate lies between the bounds of the search. A date is half-open in seconds; a
 * number has the tolerance s->most. */
static bool is_within(const search *s, double at)
{
    const double instant = s->low.date || s->high.date ? cmd_instant(&s->since, at) : 0;

    return (s->low.date ? instant >= s->low.from : at >= s->low.from - s->most) &&
           (s->high.date ? instant < s->high.to : at <= s->high.to + s->most);
}

/* Writes a bound as it was given, for error messages. */
static const char *bound_text(const rd_formula_bound *b)
{
    return b->text ? cmd_text("'%s'", b->text) : cmd_text("%.9g", b->number);
}

/* Puts the bounds of a range in ascending order. They may be given as coordinates go: 30..-30 along
 * latitudes from the north. False: they contradict the axis, and `why` says so. A number and a date
 * are not compared. */
static bool put_in_order(search *s, const rd_formula_bound *low, const rd_formula_bound *high,
                         char *why)
{
    const cmd_axis *axis  = s->axis;
    const span      other = s->low;

    if (s->low.date != s->high.date ||
        (s->low.date ? s->low.from < s->high.to : s->low.from <= s->high.to))
        return true;
    if (axis->n > 1 && axis->at[axis->n - 1] < axis->at[0]) {
        s->low  = s->high;
        s->high = other;
        return true;
    }
    snprintf(why, RD_WHY,
             "%s=%s..%s: the first is behind the second, and coordinates go up, %s: say %s=%s..%s",
             axis->name, bound_text(low), bound_text(high), cmd_axis_range(axis), axis->name,
             bound_text(high), bound_text(low));
    return false;
}

/* Writes to `why` that no coordinate lies between the bounds of the search; returns NULL. */
static rd_expr *refuse_none(const search *s, char *why)
{
    snprintf(why, RD_WHY, "none of its coordinates is there: axis %s has %s%s", s->axis->name,
             cmd_axis_range(s->axis), s->low.date || s->high.date ? "" : date_hint(s->axis));
    return NULL;
}

/* Selects all elements between the bounds of the search. NULL: there are none, and `why` says
 * so. */
static rd_expr *select_places(cmd_inputs *in, rd_expr *x, int axis, const search *s, char *why)
{
    const cmd_axis *seen = s->axis;
    int64_t        *at = cmd_room((size_t)(seen->n ? seen->n : 1) * sizeof *at), n = 0;

    for (int64_t i = 0; i < seen->n; i++)
        if (is_within(s, seen->at[i]))
            at[n++] = i;
    const cmd_axis is = cmd_axis_at_places(seen, at, n);
    return n ? cmd_pick(in, x, axis, at, n, &is) : refuse_none(s, why);
}

/* Selects longitudes around the circle: -60..60 of an axis from 0 to 359. If that finds no more
 * than a comparison without whole turns (plain), the latter is used, which may be a slice. */
static rd_expr *select_around(cmd_inputs *in, rd_expr *x, int axis, search *s, char *why)
{
    const cmd_axis *seen  = s->axis;
    const size_t    room  = (size_t)(seen->n ? seen->n : 1);
    int64_t        *at    = cmd_room(room * sizeof *at);
    double         *value = cmd_room(room * sizeof *value);
    int64_t         plain = 0;

    if (s->low.from > s->high.to)
        s->high.to += 360 * ceil((s->low.from - s->high.to) / 360);
    for (int64_t i = 0; i < seen->n; i++)
        plain += is_within(s, seen->at[i]);
    const int64_t n = cmd_places_around(seen, s->low.from, s->high.to, s->most, at, value);
    if (n <= plain)
        return select_places(in, x, axis, s, why);
    cmd_axis is = cmd_axis_at_places(seen, at, n);
    is.at       = value;
    return cmd_pick_around(in, x, axis, at, n, &is);
}

/* Selects elements by number, date or range. A single number takes the nearest element; a date is a
 * range of times. `low` and `high` are NULL for open ends. NULL: refused; `why` says the reason. */
rd_expr *cmd_select(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                    const rd_formula_bound *high, char *why)
{
    cmd_inputs    *in   = user;
    const cmd_axis seen = cmd_axis_seen(in, x, axis);
    const span     open = { -INFINITY, INFINITY, false };
    search         s    = { .axis = &seen, .low = open, .high = open };

    if (!seen.at) {
        snprintf(why, RD_WHY, "axis %s has no coordinates: say a place, as in x[3]",
                 seen.name ? seen.name : "without a name");
        return NULL;
    }
    if ((low && !read_bound(&seen, low, &s.low, why)) ||
        (high && !read_bound(&seen, high, &s.high, why)))
        return NULL;
    if (!range && low && !low->text)
        return select_nearest(in, x, axis, &seen, low->number, why);
    if (!range)
        s.high = s.low;
    (void)cmd_read_since(seen.units, seen.calendar, &s.since);
    s.most = cmd_tolerance(&seen);
    if (range && low && high && !low->text && !high->text && cmd_goes_around(&seen))
        return select_around(in, x, axis, &s, why);
    if (range && low && high && !put_in_order(&s, low, high, why))
        return NULL;
    return select_places(in, x, axis, &s, why);
}

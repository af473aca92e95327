/* select.c - parts of an axis by coordinate: lat=45, time='1990-06'. */
#include "select.h"
#include "axes.h"
#include "dates.h"
#include "match.h"
#include "places.h"
#include "times.h"
#include <math.h>
#include <stdio.h>

/* What a bound says, in units of the axis: from, up to below `to` for a text, which is all of a day or of a
 * month. */
typedef struct span {
    double from, to;
    bool   open; /* `to` is no part of it */
} span;

/* Hours are no whole part of a day, so that 5 * (1 / 24.) is less than 5 / 24: coordinates are of an instant from
 * half a millisecond before it on. */
static bool read_dates(const cmd_axis *axis, const char *text, span *s)
{
    cmd_since since;

    if (!cmd_interval(text, axis->units, axis->calendar, &s->from, &s->to) ||
        !cmd_read_since(axis->units, axis->calendar, &since))
        return false;
    s->from -= 0.0005 / since.seconds;
    s->to -= 0.0005 / since.seconds;
    return s->open = true;
}

static bool read_bound(const cmd_axis *axis, const rd_formula_bound *b, span *s, char *why)
{
    *s = (span){ b->number, b->number, false };
    if (!b->text)
        return true;
    if (cmd_value_of_word(axis, b->text, &s->from)) {
        s->to = s->from;
        return true;
    }
    if (read_dates(axis, b->text, s))
        return true;
    snprintf(why, RD_WHY, "%s=\"%s\": %s", axis->name, b->text,
             cmd_date_text(0, axis->units, axis->calendar)
                 ? "no date of the calendar, such as 1990, 1990-06, 1990-06-15 or 1990-06-15 12:00"
                 : "this axis has no dates: its coordinates are numbers");
    return false;
}

/* The nearest one, but none farther away than neighbours are. */
static rd_expr *select_nearest(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *seen,
                               double value, char *why)
{
    const double distance = cmd_least_distance(seen);
    int64_t      best     = 0;

    for (int64_t i = 1; i < seen->n; i++)
        if (fabs(seen->at[i] - value) < fabs(seen->at[best] - value))
            best = i;
    const double off  = fabs(seen->at[best] - value);
    const double most = isfinite(distance) ? distance : fmax(1e-6 * fabs(value), 1e-9);
    if (off <= most)
        return cmd_with_single_axes(in, x, rd_select(x, axis, best), axis);
    snprintf(why, RD_WHY, "%s=%.9g is not among its coordinates, %s", seen->name, value,
             cmd_axis_range(seen));
    return NULL;
}

rd_expr *cmd_select(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                    const rd_formula_bound *high, char *why)
{
    cmd_inputs    *in   = user;
    const cmd_axis seen = cmd_axis_seen(in, x, axis);
    span           from = { -INFINITY, INFINITY, false }, to = from;

    if (!seen.at) {
        snprintf(why, RD_WHY, "axis %s has no coordinates: say a place, as in x[3]",
                 seen.name ? seen.name : "without a name");
        return NULL;
    }
    if ((low && !read_bound(&seen, low, &from, why)) ||
        (high && !read_bound(&seen, high, &to, why)))
        return NULL;
    if (!range && low && !low->text)
        return select_nearest(in, x, axis, &seen, low->number, why);
    if (!range)
        to = from;
    int64_t *at = cmd_room((size_t)(seen.n ? seen.n : 1) * sizeof *at), n = 0;
    for (int64_t i = 0; i < seen.n; i++)
        if (seen.at[i] >= from.from && (to.open ? seen.at[i] < to.to : seen.at[i] <= to.to))
            at[n++] = i;
    const cmd_axis is = cmd_axis_at_places(&seen, at, n);
    if (n)
        return cmd_pick(in, x, axis, at, n, &is);
    snprintf(why, RD_WHY, "none of its coordinates is there: axis %s has %s", seen.name,
             cmd_axis_range(&seen));
    return NULL;
}

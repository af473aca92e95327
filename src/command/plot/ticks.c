/* ticks.c - ticks of an axis: nice numbers (Heckbert, 1990, "Nice Numbers for Graph Labels",
 * Graphics Gems), degrees, and dates. */
#include "plot/ticks.h"
#include "base.h"
#include "times.h"
#include <math.h>
#include <string.h>

/* Adds a tick, unless the list is full. */
static void add_tick(cmd_ticks *t, double at, const char *label)
{
    if (t->n == CMD_MOST_TICKS)
        return;
    t->at[t->n]      = at;
    t->label[t->n++] = label;
}

/* ---- Numbers --------------------------------------------------------------------------------- */
/* Finds the step between ticks: 1, 2 or 5 times a power of ten, or 15, 30, 60, 90 degrees. `raw` is
 * the step of exactly `wanted` ticks. The least step is taken that is not more than 1.2 times (of
 * degrees 1.3 times) smaller than that. */
static double nice_step(double span, int wanted, bool degrees)
{
    static const double of_ten[] = { 1, 2, 5, 10 }, of_circle[] = { 15, 30, 60, 90 };
    const double        raw = span / wanted, power = pow(10, floor(log10(raw)));

    for (int k = 0; degrees && raw > 8 && k < 4; k++)
        if (raw <= of_circle[k] * 1.3)
            return of_circle[k];
    for (int k = 0; k < 4; k++)
        if (raw <= of_ten[k] * power * 1.2)
            return of_ten[k] * power;
    return 10 * power;
}

/* Writes an angle with a degree sign, as 30 N or 120 W. `plus` and `minus` are the letters.
 * Longitudes (plus is E) are moved into (-180, 180]. */
static const char *degrees_text(double at, char plus, char minus)
{
    double here = at;

    if (plus == 'E') {
        here = fmod(at, 360);
        here = here > 180 ? here - 360 : here <= -180 ? here + 360 : here;
    }
    if (here == 0 || (plus == 'E' && here == 180))
        return cmd_text("%g\u00b0", here);
    return cmd_text("%g\u00b0%c", fabs(here), here > 0 ? plus : minus);
}

/* ---- Dates ----------------------------------------------------------------------------------- */
/* Returns the number of the first day of a month. */
static int64_t first_of(const cmd_since *s, int64_t year, int month)
{
    return cmd_day_of(s->calendar, (cmd_date){ year, month, 1 });
}

/* Adds ticks at beginnings of days, months or years, about `wanted` of them. Spans below 28 days
 * for each tick get days; then come steps of 1, 2, 3 or 6 months of 30.44 days in the mean, and
 * then years. `each` is the length of a unit in days, `since` the reference. */
static void date_ticks(cmd_ticks *t, double lo, double hi, int wanted, const cmd_since *s)
{
    static const char *const names[]  = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    static const int         months[] = { 1, 2, 3, 6 };
    const double             each = s->seconds / 86400, since = (double)s->day + s->second / 86400;
    const double             from = lo * each + since, to = hi * each + since, span = to - from;
    int                      step = 0;

    if (!(fabs(from) < 1e8 && fabs(to) < 1e8))
        return;
    cmd_date date = cmd_date_of(s->calendar, (int64_t)floor(from));
    if (span < 28.0 * wanted) { /* days */
        const int64_t by = span <= wanted ? 1 : (int64_t)ceil(span / wanted);

        for (int64_t d = (int64_t)ceil(from); (double)d <= to; d += by) {
            date = cmd_date_of(s->calendar, d);
            add_tick(t, ((double)d - since) / each,
                     cmd_text("%d %s", date.day, names[date.month - 1]));
        }
        return;
    }
    for (int k = 0; k < 4 && !step; k++)
        if (span / 30.44 / months[k] <= wanted * 1.3)
            step = months[k];
    if (step) {
        int64_t year = date.year;
        for (int month = (date.month - 1) / step * step;
             (double)first_of(s, year, month + 1) <= to;) {
            const double at = (double)first_of(s, year, month + 1);

            if (at >= from)
                add_tick(t, (at - since) / each,
                         month == 0 ? cmd_text("%lld", cmd_year_shown(s, year)) : names[month]);
            month += step;
            year += month / 12;
            month %= 12;
        }
        return;
    }
    const double by = fmax(1, nice_step(span / 365.25, wanted, false));
    for (double y = ceil((double)date.year / by) * by; (double)first_of(s, (int64_t)y, 1) <= to;
         y += by)
        if ((double)first_of(s, (int64_t)y, 1) >= from)
            add_tick(t, ((double)first_of(s, (int64_t)y, 1) - since) / each,
                     cmd_text("%lld", cmd_year_shown(s, (int64_t)y)));
}

/* ---------------------------------------------------------------------------------------------- */
/* Finds the ticks of [lo, hi], about `wanted`: dates, degrees or numbers, by the units. An empty
 * range has one tick. A tolerance of a billionth of a step keeps ticks at the ends. Steps that
 * doubles near lo cannot tell, as above 2^53, make no tick. */
cmd_ticks cmd_ticks_of(double lo, double hi, int wanted, const char *units, const char *calendar)
{
    const bool east =
        units && (strncmp(units, "degrees_e", 9) == 0 || strncmp(units, "degree_e", 8) == 0);
    const bool north =
        units && (strncmp(units, "degrees_n", 9) == 0 || strncmp(units, "degree_n", 8) == 0);
    cmd_ticks t = { 0 };
    cmd_since since;

    if (!(hi > lo) || !isfinite(hi - lo)) {
        if (isfinite(lo))
            add_tick(&t, lo, cmd_text("%g", lo));
        return t;
    }
    if (cmd_read_since(units, calendar, &since)) {
        date_ticks(&t, lo, hi, wanted, &since);
        if (t.n)
            return t;
    }
    const double step = nice_step(hi - lo, wanted, east || north), first = ceil(lo / step - 1e-9);
    for (int k = 0; k < CMD_MOST_TICKS && (first + k) * step <= hi + 1e-9 * step; k++) {
        const double at = fabs(first + k) < 0.5 ? 0 : (first + k) * step;

        if (at >= lo - 1e-6 * step && (t.n == 0 || at > t.at[t.n - 1]))
            add_tick(&t, at,
                     east    ? degrees_text(at, 'E', 'W')
                     : north ? degrees_text(at, 'N', 'S')
                             : cmd_text("%.10g", at));
    }
    return t;
}

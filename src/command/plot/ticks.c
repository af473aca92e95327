/* ticks.c - nice numbers (Heckbert, 1990, "Nice Numbers for Graph Labels", Graphics Gems), degrees, and
 * dates. */
#include "plot/ticks.h"
#include "base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(cmd_ticks *t, double at, const char *label)
{
    if (t->n == CMD_MOST_TICKS)
        return;
    t->at[t->n]      = at;
    t->label[t->n++] = label;
}

/* ---- Numbers --------------------------------------------------------------------------------- */
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
/* Days since 1970-01-01 of the Gregorian calendar, and back. */
static int64_t days_of(int64_t year, int month, int day)
{
    const int64_t y   = year - (month <= 2);
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    const int64_t era     = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t of_era  = days - era * 146097;
    const int64_t y       = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    const int64_t m       = (5 * of_year + 2) / 153;

    *day   = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year  = y + era * 400 + (*month <= 2);
}

/* The number behind `before`, one of these characters; else *to stays. */
static void read_part(const char **at, const char *before, int *to)
{
    char *end;

    if (!**at || !strchr(before, **at))
        return;
    const long n = strtol(*at + 1, &end, 10);
    if (end != *at + 1 && n >= 0 && n < 100000) {
        *to = (int)n;
        *at = end;
    }
}

/* "days since 1950-1-1": how many days one of the unit is, and since when; false: it is no such unit. */
static bool is_time(const char *units, double *each, double *since)
{
    static const struct {
        const char *name;
        double      days;
    } rows[] = {
        { "day", 1 }, { "hour", 1.0 / 24 }, { "minute", 1.0 / 1440 }, { "second", 1.0 / 86400 }
    };
    const char *at   = units ? strstr(units, " since ") : NULL;
    int         year = -1, month = 1, day = 1, hour = 0, minute = 0;

    if (!at)
        return false;
    at += 6;
    read_part(&at, " ", &year);
    read_part(&at, "-", &month);
    read_part(&at, "-", &day);
    read_part(&at, " T", &hour);
    read_part(&at, ":", &minute);
    if (year < 0 || month < 1 || month > 12)
        return false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strncmp(units, rows[k].name, strlen(rows[k].name)) == 0) {
            *each  = rows[k].days;
            *since = (double)days_of(year, month, day) + hour / 24.0 + minute / 1440.0;
            return true;
        }
    return false;
}

/* Every so many years, months or days. */
static void date_ticks(cmd_ticks *t, double lo, double hi, int wanted, double each, double since)
{
    static const char *const names[]  = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    static const int         months[] = { 1, 2, 3, 6 };
    const double             from = lo * each + since, to = hi * each + since, span = to - from;
    int64_t                  year;
    int                      month, day, step = 0;

    if (!(fabs(from) < 1e8 && fabs(to) < 1e8))
        return;
    date_of((int64_t)floor(from), &year, &month, &day);
    if (span < 28.0 * wanted) { /* days */
        const int64_t by = span <= wanted ? 1 : (int64_t)ceil(span / wanted);

        for (int64_t d = (int64_t)ceil(from); (double)d <= to; d += by) {
            date_of(d, &year, &month, &day);
            add(t, ((double)d - since) / each, cmd_text("%d %s", day, names[month - 1]));
        }
        return;
    }
    for (int k = 0; k < 4 && !step; k++)
        if (span / 30.44 / months[k] <= wanted * 1.3)
            step = months[k];
    if (step) {
        for (month = (month - 1) / step * step; (double)days_of(year, month + 1, 1) <= to;) {
            const double at = (double)days_of(year, month + 1, 1);

            if (at >= from)
                add(t, (at - since) / each,
                    month == 0 ? cmd_text("%lld", (long long)year) : names[month]);
            month += step;
            year += month / 12;
            month %= 12;
        }
        return;
    }
    const double by = fmax(1, nice_step(span / 365.25, wanted, false));
    for (double y = ceil((double)year / by) * by; (double)days_of((int64_t)y, 1, 1) <= to; y += by)
        if ((double)days_of((int64_t)y, 1, 1) >= from)
            add(t, ((double)days_of((int64_t)y, 1, 1) - since) / each, cmd_text("%.0f", y));
}

/* ---------------------------------------------------------------------------------------------- */
cmd_ticks cmd_ticks_of(double lo, double hi, int wanted, const char *units)
{
    const bool east =
        units && (strncmp(units, "degrees_e", 9) == 0 || strncmp(units, "degree_e", 8) == 0);
    const bool north =
        units && (strncmp(units, "degrees_n", 9) == 0 || strncmp(units, "degree_n", 8) == 0);
    cmd_ticks t = { 0 };
    double    each, since;

    if (!(hi > lo) || !isfinite(hi - lo)) {
        if (isfinite(lo))
            add(&t, lo, cmd_text("%g", lo));
        return t;
    }
    if (is_time(units, &each, &since)) {
        date_ticks(&t, lo, hi, wanted, each, since);
        if (t.n)
            return t;
    }
    const double step = nice_step(hi - lo, wanted, east || north);
    for (double k = ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) {
        const double at = fabs(k) < 0.5 ? 0 : k * step;

        add(&t, at,
            east    ? degrees_text(at, 'E', 'W')
            : north ? degrees_text(at, 'N', 'S')
                    : cmd_text("%.10g", at));
    }
    return t;
}

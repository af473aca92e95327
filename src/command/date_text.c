/* date_text.c - writes a time as text: "1990-01-16", "1990-01-16 12:30". */
#include "times.h"
#include "base.h"
#include <math.h>
#include <stdlib.h>

/* Writes a fraction of a second, ".25", with at most `digits` digits, and without zeros at the end;
 * "" for 0. */
static const char *fraction_text(double fraction, int digits)
{
    long parts = lround(fraction * pow(10, digits));

    for (; digits > 0 && parts % 10 == 0; digits--)
        parts /= 10;
    return digits ? cmd_text(".%0*ld", digits, parts) : "";
}

/* Writes the time of day, " 12:30", " 12:30:05", " 12:30:05.25"; "" at midnight. `second` counts
 * from midnight; `digits` are those of the fraction. */
static const char *clock_text(double second, int digits)
{
    const int   whole    = (int)second;
    const char *fraction = fraction_text(second - whole, digits);

    if (whole == 0 && !*fraction)
        return "";
    if (whole % 60 == 0 && !*fraction)
        return cmd_text(" %02d:%02d", whole / 3600, whole / 60 % 60);
    return cmd_text(" %02d:%02d:%02d%s", whole / 3600, whole / 60 % 60, whole % 60, fraction);
}

/* Writes a coordinate as a date, and a time of day unless it is midnight. NULL: units and calendar
 * are none of times, or the value is no date. */
const char *cmd_date_text(double value, const char *units, const char *calendar)
{
    cmd_since  s;
    cmd_moment m;

    if (!cmd_read_since(units, calendar, &s) || !cmd_moment_of(&s, value, &m))
        return NULL;
    const long long year = cmd_year_shown(&s, m.date.year);
    return cmd_text("%s%04lld-%02d-%02d%s", year < 0 ? "-" : "", llabs(year), m.date.month,
                    m.date.day, clock_text(m.second, cmd_second_digits(&s, value)));
}

/* times.c - reads units of times, "days since 1990-01-01 06:00 +1:00", and converts coordinates
 * to dates and back. */
#include "times.h"
#include "quantities.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Units ----------------------------------------------------------------------------------- */
/* The tropical year. UDUNITS has it as the year, and a twelfth of it as the month, whatever the
 * calendar. Neither makes sense for calendars with other years. In the 360_day calendar a month
 * is 30 days, as in cftime. */
#define YEAR (365.242198781 * 86400)

/* Known units of times, and their lengths. of_sun: a month or year of UDUNITS. */
static const struct unit {
    const char *name;
    double      seconds;
    bool        of_sun;
} units_known[] = {
    { "day", 86400, 0 },
    { "d", 86400, 0 },
    { "hour", 3600, 0 },
    { "hr", 3600, 0 },
    { "h", 3600, 0 },
    { "minute", 60, 0 },
    { "min", 60, 0 },
    { "second", 1, 0 },
    { "sec", 1, 0 },
    { "s", 1, 0 },
    { "millisecond", 1e-3, 0 },
    { "msec", 1e-3, 0 },
    { "ms", 1e-3, 0 },
    { "microsecond", 1e-6, 0 },
    { "usec", 1e-6, 0 },
    { "nanosecond", 1e-9, 0 },
    { "nsec", 1e-9, 0 },
    { "picosecond", 1e-12, 0 },
    { "femtosecond", 1e-15, 0 },
    { "attosecond", 1e-18, 0 },
    { "week", 604800, 0 },
    { "common_year", 365 * 86400.0, 0 },
    { "month", YEAR / 12, 1 },
    { "year", YEAR, 1 },
    { "yr", YEAR, 1 },
};

/* The month of the 360_day calendar. */
static const struct unit month_of_30 = { "month", 30 * 86400.0, 0 };

/* Finds a unit of time by a name of n characters, in any case of letters, singular or with an s
 * behind it. NULL: none. */
static const struct unit *unit_named(const char *unit, size_t n)
{
    for (int plural = 0; plural < 2; plural++) /* 1: with s */
        for (size_t k = 0; k < sizeof units_known / sizeof *units_known; k++) {
            const char  *name = units_known[k].name;
            const size_t all  = strlen(name) + (size_t)plural;
            if (all == n && strncasecmp(unit, name, strlen(name)) == 0 &&
                (!plural || tolower((unsigned char)unit[n - 1]) == 's'))
                return &units_known[k];
        }
    return NULL;
}

/* ---- References ------------------------------------------------------------------------------ */
/* Moves *at to the next character that is no blank. */
static void skip_blanks(const char **at)
{
    while (**at == ' ')
        ++*at;
}

/* Reads 1 to `most` digits behind the character `before`, or without one if it is 0, to *number.
 * False: there are none, or more, and *at stays. */
static bool read_digits(const char **at, char before, int most, long *number)
{
    const char *from = *at + (before != 0);
    char       *end;

    if ((before && **at != before) || !isdigit((unsigned char)*from))
        return false;
    *number = strtol(from, &end, 10);
    if (end - from > most)
        return false;
    *at = end;
    return true;
}

/* True if the calendar has a year 0: historical calendars go from -1 to 1. */
static bool has_year_0(cmd_calendar calendar)
{
    return calendar != CMD_STANDARD && calendar != CMD_JULIAN;
}

/* Converts an astronomical year (0 is before 1) to the one that people write: in a calendar without
 * a year 0, the year 0 is -1. */
long long cmd_year_shown(const cmd_since *s, int64_t year)
{
    return year - (year <= 0 && !has_year_0(s->calendar));
}

/* Converts a year as people write it to an astronomical one: in a calendar without a year 0, -1
 * means 0. */
int64_t cmd_year_meant(const cmd_since *s, long long shown)
{
    return shown + (shown <= 0 && !has_year_0(s->calendar));
}

/* Reads a date, "1990-01-01", with a sign or without. False: it has another form, or is no date of
 * the calendar. Without a year 0, the year -1 is 0 in astronomical years. */
static bool read_date(const char **at, cmd_calendar calendar, cmd_date *date)
{
    const bool negative = **at == '-';
    long       year, month, day;

    *at += negative || **at == '+';
    if (!read_digits(at, 0, 6, &year) || !read_digits(at, '-', 2, &month) ||
        !read_digits(at, '-', 2, &day))
        return false;
    if (year == 0 && !has_year_0(calendar))
        return false;
    *date = (cmd_date){ negative ? -year : year, (int)month, (int)day };
    date->year += negative && !has_year_0(calendar);
    return cmd_is_date(calendar, *date);
}

/* Reads a time of day: "6", "06:30", "06:30:00.5", as seconds. False: it is none. 24 hours and a
 * leap second are allowed. */
static bool read_clock(const char **at, double *second)
{
    long   hour = 0, minute = 0;
    double seconds = 0;
    char  *end;

    if (!read_digits(at, 0, 2, &hour))
        return false;
    if (read_digits(at, ':', 2, &minute) && **at == ':' && isdigit((unsigned char)(*at)[1])) {
        seconds = strtod(*at + 1, &end);
        *at     = end;
    }
    *second = (double)(hour * 3600 + minute * 60) + seconds;
    return hour <= 24 && minute < 60 && seconds < 61;
}

/* Reads a time zone, "UTC", "Z", "+1", "-06:00", "+0530", as seconds ahead of UTC. False: other
 * text is there; no text means UTC. A number above 99 has hours and minutes. */
static bool read_zone(const char **at, double *ahead)
{
    static const char *const none[] = { "UTC", "GMT", "Z" };
    const char               sign   = **at;
    long                     hour, minute = 0;

    *ahead = 0;
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (strncasecmp(*at, none[k], strlen(none[k])) == 0) {
            *at += strlen(none[k]);
            return true;
        }
    if ((sign != '+' && sign != '-') || !read_digits(at, sign, 4, &hour))
        return !sign;
    if (hour > 99) {
        minute = hour % 100;
        hour /= 100;
    } else
        read_digits(at, ':', 2, &minute);
    *ahead = (double)(hour * 3600 + minute * 60) * (sign == '-' ? -1 : 1);
    return hour < 25 && minute < 60;
}

/* Reads units of times, "UNIT since DATE [CLOCK] [ZONE]". False: they are no times of a known
 * calendar. Months and years of UDUNITS (of_sun: 30.44 and 365.24 days) fit only calendars with
 * such years; in the 360_day calendar a month has 30 days, and a year is refused. */
bool cmd_read_since(const char *units, const char *calendar, cmd_since *s)
{
    static const char word[] = " since ";
    const char       *at     = units ? strcasestr(units, word) : NULL;
    cmd_date          date;
    double            ahead;

    *s = (cmd_since){ 0 };
    if (!at || !cmd_calendar_named(calendar, &s->calendar))
        return false;
    const struct unit *unit = unit_named(units, (size_t)(at - units));
    if (unit && unit->of_sun && s->calendar == CMD_360_DAY)
        unit = unit->seconds < YEAR / 2 ? &month_of_30 : NULL;
    if (!unit || (unit->of_sun && s->calendar > CMD_JULIAN))
        return false;
    at += strlen(word);
    skip_blanks(&at);
    if (!read_date(&at, s->calendar, &date))
        return false;
    at += *at == 'T' || *at == 't';
    skip_blanks(&at);
    if (isdigit((unsigned char)*at) && !read_clock(&at, &s->second))
        return false;
    skip_blanks(&at);
    if (!read_zone(&at, &ahead))
        return false;
    skip_blanks(&at);
    s->of_sun  = unit->of_sun;
    s->seconds = unit->seconds;
    s->day     = cmd_day_of(s->calendar, date);
    s->second -= ahead;
    return !*at;
}

/* ---- Instants -------------------------------------------------------------------------------- */
static const double powers_of_10[CMD_MOST_SECOND_DIGITS + 1] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };

/* Returns how many decimal digits of the second a coordinate can tell: one unit of its last bit
 * must be an eighth of the digit or less. The last bit of days since the year 1 is a
 * hundred-thousandth of a second, so an hour that is a few such bits short is rounded to the next.
 * The months and years of UDUNITS (of_sun) have no digits. */
int cmd_second_digits(const cmd_since *s, double value)
{
    const double last   = (nextafter(fabs(value), INFINITY) - fabs(value)) * s->seconds;
    int          digits = s->of_sun ? 0 : CMD_MOST_SECOND_DIGITS;

    while (digits > 0 && 8 * last * powers_of_10[digits] > 1)
        digits--;
    return digits;
}

/* The seconds from the beginning of the reference day to a coordinate, rounded to the digits that
 * the coordinate can tell. */
double cmd_instant(const cmd_since *s, double value)
{
    const double scale = powers_of_10[cmd_second_digits(s, value)];

    return round((value * s->seconds + s->second) * scale) / scale;
}

/* Converts a coordinate to a date and a second of the day. False: NaN, more than 3e8 days (about
 * 820000 years) from the reference, or a year of more than six digits. */
bool cmd_moment_of(const cmd_since *s, double value, cmd_moment *m)
{
    const double seconds = cmd_instant(s, value), days = floor(seconds / 86400);

    if (!(fabs(days) < 3e8))
        return false;
    m->day    = s->day + (int64_t)days;
    m->date   = cmd_date_of(s->calendar, m->day);
    m->second = seconds - days * 86400;
    return m->date.year >= -999999 && m->date.year <= 999999;
}

/* Converts a date and a second of the day to a coordinate in these units. */
double cmd_coordinate_of(const cmd_since *s, cmd_date date, double second)
{
    const double days = (double)(cmd_day_of(s->calendar, date) - s->day);

    return (days * 86400 + second - s->second) / s->seconds;
}

/* ---- Conversion ------------------------------------------------------------------------------ */
/* True if both texts are equal, or both are NULL. */
static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Finds the conversion of units that are no known times. Equal texts need nothing; others convert
 * by UDUNITS. Units "... since ..." that are not understood must be equal texts, and so must their
 * calendars. False: they do not convert, and *conversion stays. */
static bool values_meet(const char *units, const char *calendar, const char *other,
                        const char *other_calendar, cmd_turn *conversion)
{
    cmd_scaling s;

    if ((units && strcasestr(units, " since ")) || (other && strcasestr(other, " since ")))
        return is_same(units, other) && is_same(calendar, other_calendar);
    if (!units || !other)
        return units == other;
    const cmd_relation found = cmd_relate_units(other, units, &s);
    if (found != CMD_SAME_UNITS && found != CMD_CONVERTS)
        return false;
    conversion->times = s.times;
    conversion->after = s.plus;
    return true;
}

/* Finds the conversion from the units `other` to `units`, of times or values. For times the shift
 * is added in the smaller unit, where it is a whole number, and there is one division. False: they
 * do not convert, and *conversion changes nothing. */
bool cmd_units_meet(const char *units, const char *calendar, const char *other,
                    const char *other_calendar, cmd_turn *conversion)
{
    cmd_since to, from;

    *conversion = (cmd_turn){ .times = 1, .by = 1 };
    if (!cmd_read_since(units, calendar, &to) || !cmd_read_since(other, other_calendar, &from))
        return values_meet(units, calendar, other, other_calendar, conversion);
    if (!cmd_calendars_meet(to.calendar, from.calendar))
        return false;
    const double shift = (double)(from.day - to.day) * 86400 + from.second - to.second;
    if (from.seconds >= to.seconds) {
        conversion->times = from.seconds / to.seconds;
        conversion->after = shift / to.seconds;
    } else {
        conversion->before = shift / from.seconds;
        conversion->by     = to.seconds / from.seconds;
    }
    return true;
}

/* Converts one coordinate by (x + before) * times / by + after. */
double cmd_turned(const cmd_turn *conversion, double x)
{
    return (x + conversion->before) * conversion->times / conversion->by + conversion->after;
}

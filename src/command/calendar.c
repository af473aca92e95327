/* calendar.c - dates of the calendars of climate files from numbers of days, and back.
 *
 * Inside, years begin in March, so the leap day is the last day of its year. Day 0 is
 * 1970-01-01. Months from March on have 31, 30, 31, 30, 31 days, and so again: 153 days in five
 * months. (153 * m + 2) / 5 is the number of days before month m, where March is 0. */
#include "calendar.h"
#include <stddef.h>
#include <strings.h>

/* Leap years of a calendar, and the number of days from 0000-03-01 to 1970-01-01. */
static const struct rule {
    int64_t year;             /* days of a common year */
    bool    fours, centuries; /* every 4th year; every 100th is none unless it is a 400th */
    int64_t epoch;
} rules[CMD_CALENDARS] = {
    [CMD_PROLEPTIC_GREGORIAN] = { 365, true, true, 719468 },
    [CMD_JULIAN]              = { 365, true, false, 719470 },
    [CMD_NOLEAP]              = { 365, false, false, 365 * 1969 + 306 },
    [CMD_ALL_LEAP]            = { 366, false, false, 366 * 1969 + 306 },
};

enum { FIRST_GREGORIAN = -141427 }; /* 1582-10-15 */

/* Finds a calendar by its CF name, in any case of letters. No name means the standard calendar.
 * False: the name is unknown. */
bool cmd_calendar_named(const char *name, cmd_calendar *calendar)
{
    static const struct name {
        const char  *name;
        cmd_calendar calendar;
    } names[] = {
        { "standard", CMD_STANDARD },
        { "gregorian", CMD_STANDARD },
        { "proleptic_gregorian", CMD_PROLEPTIC_GREGORIAN },
        { "julian", CMD_JULIAN },
        { "noleap", CMD_NOLEAP },
        { "365_day", CMD_NOLEAP },
        { "all_leap", CMD_ALL_LEAP },
        { "366_day", CMD_ALL_LEAP },
        { "360_day", CMD_360_DAY },
    };

    *calendar = CMD_STANDARD;
    for (size_t k = 0; name && k < sizeof names / sizeof *names; k++)
        if (strcasecmp(name, names[k].name) == 0) {
            *calendar = names[k].calendar;
            return true;
        }
    return !name || !*name;
}

/* True if a day number means the same physical day in both calendars: they are equal, or both are
 * among the first three of the enum, standard, Gregorian and Julian. */
bool cmd_calendars_meet(cmd_calendar a, cmd_calendar b)
{
    return a == b || (a <= CMD_JULIAN && b <= CMD_JULIAN);
}

/* Divides and rounds down; b is positive. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- Years from March on --------------------------------------------------------------------- */
/* Counts the days from 0000-03-01 to March 1 of a year. Years begin in March here, so the leap day
 * of year y stands before March 1 of y. Thus y / 4 leap days have passed, less one for each
 * century, plus one for each fourth century. */
static int64_t first_day_of(const struct rule *r, int64_t year)
{
    return year * r->year + (r->fours ? floor_div(year, 4) : 0) -
           (r->centuries ? floor_div(year, 100) - floor_div(year, 400) : 0);
}

/* Converts a date to a day number by the rule of its calendar. Years begin in March here, so
 * January and February belong to the year before. Months from March on have 31, 30, 31, 30, 31 days
 * and so again: 153 days in five months, and (153 m + 2) / 5 days before month m. */
static int64_t day_by_rule(const struct rule *r, cmd_date d)
{
    const int     month   = (d.month + 9) % 12; /* March is 0 */
    const int64_t of_year = (153 * month + 2) / 5 + d.day - 1;

    return first_day_of(r, d.year - (d.month <= 2)) + of_year - r->epoch;
}

/* Converts a day number to a date by the rule of its calendar, the reverse of day_by_rule(): years
 * begin in March. The year is estimated from the number of days, less one in 1460 for leap days,
 * and then corrected. (5 d + 2) / 153 is the month of day d of such a year. */
static cmd_date date_by_rule(const struct rule *r, int64_t day)
{
    day += r->epoch;
    int64_t year = floor_div(day, r->year); /* an estimate: leap days make it too far from 0 */

    year -= floor_div(year, 1460);
    while (first_day_of(r, year) > day)
        year--;
    while (first_day_of(r, year + 1) <= day)
        year++;
    const int of_year = (int)(day - first_day_of(r, year)), month = (5 * of_year + 2) / 153;
    const int in_year = month < 10 ? month + 3 : month - 9;

    return (cmd_date){ year + (in_year <= 2), in_year, of_year - (153 * month + 2) / 5 + 1 };
}

/* ---- Calendars ------------------------------------------------------------------------------- */
/* True if the date is 1582-10-15 or later. */
static bool is_gregorian(cmd_date d)
{
    return d.year != 1582 ? d.year > 1582 : d.month != 10 ? d.month > 10 : d.day >= 15;
}

/* Finds the calendar that applies to a date: the standard calendar is Julian up to October 1582,
 * and then Gregorian; all others are themselves. */
static cmd_calendar calendar_at(cmd_calendar calendar, cmd_date d)
{
    if (calendar != CMD_STANDARD)
        return calendar;
    return is_gregorian(d) ? CMD_PROLEPTIC_GREGORIAN : CMD_JULIAN;
}

/* Converts a date to a number of days; day 0 is 1970-01-01. In the 360_day calendar all months have
 * 30 days. */
int64_t cmd_day_of(cmd_calendar calendar, cmd_date d)
{
    if (calendar == CMD_360_DAY)
        return (d.year - 1970) * 360 + (d.month - 1) * 30 + d.day - 1;
    return day_by_rule(&rules[calendar_at(calendar, d)], d);
}

/* Converts a number of days since 1970-01-01 to a date. The standard calendar is Gregorian from day
 * FIRST_GREGORIAN (1582-10-15) on. In the 360_day calendar all months have 30 days. */
cmd_date cmd_date_of(cmd_calendar calendar, int64_t day)
{
    if (calendar == CMD_360_DAY) {
        const int64_t year = floor_div(day, 360);
        const int     rest = (int)(day - year * 360);

        return (cmd_date){ year + 1970, rest / 30 + 1, rest % 30 + 1 };
    }
    if (calendar == CMD_STANDARD)
        calendar = day >= FIRST_GREGORIAN ? CMD_PROLEPTIC_GREGORIAN : CMD_JULIAN;
    return date_by_rule(&rules[calendar], day);
}

/* Returns the day of the year, from 1 on. In the standard calendar the whole year is counted by the
 * calendar of the date, Julian or Gregorian. */
int cmd_day_of_year(cmd_calendar calendar, cmd_date d)
{
    const cmd_calendar c = calendar_at(calendar, d);

    return (int)(cmd_day_of(c, d) - cmd_day_of(c, (cmd_date){ d.year, 1, 1 })) + 1;
}

/* Returns the number of days from the first of the month to the first of the next one, by the
 * calendar of the date. */
int cmd_days_in_month(cmd_calendar calendar, cmd_date d)
{
    const cmd_calendar c    = calendar_at(calendar, d);
    const cmd_date     next = { d.year + (d.month == 12), d.month % 12 + 1, 1 };

    return (int)(cmd_day_of(c, next) - cmd_day_of(c, (cmd_date){ d.year, d.month, 1 }));
}

/* True if the date exists. It is converted to a day and back: a day behind the end of its month,
 * or in the gap of October 1582, comes back as another date. */
bool cmd_is_date(cmd_calendar calendar, cmd_date d)
{
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 || d.year < -999999 ||
        d.year > 999999)
        return false;
    const cmd_date back = cmd_date_of(calendar, cmd_day_of(calendar, d));
    return back.year == d.year && back.month == d.month && back.day == d.day;
}

/* calendar.c - days of the calendars of climate files as dates, and back.
 *
 * Inside, years begin in March, so that the day of a leap year is the last one. */
#include "calendar.h"
#include <stddef.h>
#include <strings.h>

/* A row says which years are leap years, and which day 1970-01-01 is, counted from 0000-03-01. */
static const struct rule {
    int64_t year;             /* days of a year without that day */
    bool    fours, centuries; /* every fourth year; of every hundredth year only one in four */
    int64_t epoch;
} rules[CMD_CALENDARS] = {
    [CMD_PROLEPTIC_GREGORIAN] = { 365, true, true, 719468 },
    [CMD_JULIAN]              = { 365, true, false, 719470 },
    [CMD_NOLEAP]              = { 365, false, false, 365 * 1969 + 306 },
    [CMD_ALL_LEAP]            = { 366, false, false, 366 * 1969 + 306 },
};

enum { FIRST_GREGORIAN = -141427 }; /* 1582-10-15 */

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

bool cmd_calendars_meet(cmd_calendar a, cmd_calendar b)
{
    return a == b || (a <= CMD_JULIAN && b <= CMD_JULIAN);
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- Years from March on --------------------------------------------------------------------- */
static int64_t day_of_year(const struct rule *r, int64_t year)
{
    return year * r->year + (r->fours ? floor_of(year, 4) : 0) -
           (r->centuries ? floor_of(year, 100) - floor_of(year, 400) : 0);
}

static int64_t day_by(const struct rule *r, cmd_date d)
{
    const int     month   = (d.month + 9) % 12; /* March is 0 */
    const int64_t of_year = (153 * month + 2) / 5 + d.day - 1;

    return day_of_year(r, d.year - (d.month <= 2)) + of_year - r->epoch;
}

static cmd_date date_by(const struct rule *r, int64_t day)
{
    day += r->epoch;
    int64_t year = floor_of(day, r->year); /* too far from 0, by one day in 1461 */

    year -= floor_of(year, 1460);
    while (day_of_year(r, year) > day)
        year--;
    while (day_of_year(r, year + 1) <= day)
        year++;
    const int of_year = (int)(day - day_of_year(r, year)), month = (5 * of_year + 2) / 153;
    const int in_year = month < 10 ? month + 3 : month - 9;

    return (cmd_date){ year + (in_year <= 2), in_year, of_year - (153 * month + 2) / 5 + 1 };
}

/* ---- Calendars ------------------------------------------------------------------------------- */
static bool is_gregorian(cmd_date d)
{
    return d.year != 1582 ? d.year > 1582 : d.month != 10 ? d.month > 10 : d.day >= 15;
}

/* The calendar that counts the days of that date's year. */
static cmd_calendar counting(cmd_calendar calendar, cmd_date d)
{
    if (calendar != CMD_STANDARD)
        return calendar;
    return is_gregorian(d) ? CMD_PROLEPTIC_GREGORIAN : CMD_JULIAN;
}

int64_t cmd_day_of(cmd_calendar calendar, cmd_date d)
{
    if (calendar == CMD_360_DAY)
        return (d.year - 1970) * 360 + (d.month - 1) * 30 + d.day - 1;
    return day_by(&rules[counting(calendar, d)], d);
}

cmd_date cmd_date_of(cmd_calendar calendar, int64_t day)
{
    if (calendar == CMD_360_DAY) {
        const int64_t year = floor_of(day, 360);
        const int     rest = (int)(day - year * 360);

        return (cmd_date){ year + 1970, rest / 30 + 1, rest % 30 + 1 };
    }
    if (calendar == CMD_STANDARD)
        calendar = day >= FIRST_GREGORIAN ? CMD_PROLEPTIC_GREGORIAN : CMD_JULIAN;
    return date_by(&rules[calendar], day);
}

int cmd_day_of_year(cmd_calendar calendar, cmd_date d)
{
    const cmd_calendar c = counting(calendar, d);

    return (int)(cmd_day_of(c, d) - cmd_day_of(c, (cmd_date){ d.year, 1, 1 })) + 1;
}

int cmd_days_in_month(cmd_calendar calendar, cmd_date d)
{
    const cmd_calendar c    = counting(calendar, d);
    const cmd_date     next = { d.year + (d.month == 12), d.month % 12 + 1, 1 };

    return (int)(cmd_day_of(c, next) - cmd_day_of(c, (cmd_date){ d.year, d.month, 1 }));
}

/* A day that there is comes back as it was; one behind the end of a month, or in the gap of October
 * 1582, comes back as another. */
bool cmd_is_date(cmd_calendar calendar, cmd_date d)
{
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 || d.year < -999999 ||
        d.year > 999999)
        return false;
    const cmd_date back = cmd_date_of(calendar, cmd_day_of(calendar, d));
    return back.year == d.year && back.month == d.month && back.day == d.day;
}

/* times.c - times as files have them. */
#include "times.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct since {
    double  seconds; /* of a unit */
    int64_t day;     /* days from 1970-01-01, and seconds of that day */
    double  second;
} since;

/* Days from 1970-01-01 of the Gregorian calendar, run backwards too; years begin in March so that
 * the day of a leap year is the last. */
static int64_t day_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    const int64_t years   = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    const int     m       = (int)((5 * of_year + 2) / 153);

    *day   = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = m < 10 ? m + 3 : m - 9;
    *year  = years + era * 400 + (*month <= 2);
}

/* Whole numbers, each behind one of the separators of its place, as many as there are. */
static int read_fields(const char *at, int most, const char *const separators[], long *field)
{
    int n = 0;

    for (char *end; n < most; at = end) {
        if (n > 0 && (!*at || !strchr(separators[n], *at++)))
            break;
        field[n] = strtol(at, &end, 10);
        if (end == at)
            break;
        n++;
    }
    return n;
}

static double seconds_of(const char *unit, size_t n)
{
    static const struct unit {
        const char *name;
        double      seconds;
    } names[] = { { "day", 86400 }, { "d", 86400 },   { "hour", 3600 },  { "hr", 3600 },
                  { "h", 3600 },    { "minute", 60 }, { "min", 60 },     { "second", 1 },
                  { "sec", 1 },     { "s", 1 },       { "week", 604800 } };

    n -= n > 1 && unit[n - 1] == 's';
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k].name) == n && strncasecmp(unit, names[k].name, n) == 0)
            return names[k].seconds;
    return 0;
}

static bool read_since(const char *units, since *s)
{
    static const char *const separators[] = { "", "-", "-", " T", ":", ":" };
    const char              *at           = units ? strstr(units, " since ") : NULL;
    long                     f[6]         = { 0 };

    if (!at || read_fields(at + 7, 6, separators, f) < 3)
        return false;
    s->seconds = seconds_of(units, (size_t)(at - units));
    if (s->seconds == 0 || f[1] < 1 || f[1] > 12 || f[2] < 1 || f[2] > 31 || labs(f[0]) > 99999 ||
        labs(f[3]) > 24 || labs(f[4]) > 60 || labs(f[5]) > 60)
        return false;
    s->day    = day_of(f[0], (int)f[1], (int)f[2]);
    s->second = (double)(f[3] * 3600 + f[4] * 60 + f[5]);
    return true;
}

bool cmd_units_meet(const char *units, const char *other, double *scale, double *shift)
{
    since to, from;

    *scale = 1;
    *shift = 0;
    if (units == other || (units && other && strcmp(units, other) == 0))
        return true;
    if (!read_since(units, &to) || !read_since(other, &from))
        return false;
    *scale = from.seconds / to.seconds;
    *shift = ((double)(from.day - to.day) * 86400 + from.second - to.second) / to.seconds;
    return true;
}

const char *cmd_date_text(double value, const char *units, const char *calendar)
{
    since   s;
    int64_t year;
    int     month, day;

    if (calendar && strcasecmp(calendar, "standard") != 0 &&
        strcasecmp(calendar, "gregorian") != 0 && strcasecmp(calendar, "proleptic_gregorian") != 0)
        return NULL;
    if (!read_since(units, &s))
        return NULL;
    const double seconds = round(value * s.seconds + s.second), days = floor(seconds / 86400);
    if (!(fabs(days) < 1e8))
        return NULL;
    date_of(s.day + (int64_t)days, &year, &month, &day);
    const int rest = (int)(seconds - days * 86400);
    if (year < 1583 && (!calendar || strcasecmp(calendar, "proleptic_gregorian") != 0))
        return NULL; /* Julian dates, which nobody expects of a climatology's year 0 */
    return rest ? cmd_text("%04d-%02d-%02d %02d:%02d", (int)year, month, day, rest / 3600,
                           rest / 60 % 60)
                : cmd_text("%04d-%02d-%02d", (int)year, month, day);
}

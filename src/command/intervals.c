/* intervals.c - reads a date as an interval of times: "1990" is the whole year, "1990-06" the
 * month, "1990-06-15" the day, "1990-06-15 12:30" the minute; seconds and fractions of them work
 * alike. */
#include "times.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a date, year first, as many as it has. */
typedef struct parts {
    int    n;
    long   at[6];
    double fraction; /* of a second */
    int    digits;
} parts;

/* Indices of the numbers of a date. */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND };

/* Reads the fraction of a second, ".25", if there is one. False: a dot without digits, or more
 * digits than times are told apart by. */
static bool read_fraction(char **at, parts *p)
{
    const char *from = *at;

    if (*from != '.' || !isdigit((unsigned char)from[1]))
        return *from != '.';
    p->fraction = strtod(from, at);
    p->digits   = (int)(*at - from) - 1;
    return p->digits <= CMD_MOST_SECOND_DIGITS &&
           strspn(from + 1, "0123456789") == (size_t)p->digits;
}

/* Reads all numbers of a date, with the separator before each but the first (before[]). False: it
 * has another form. A year has up to 6 digits, all others up to 2. */
static bool read_parts(const char *text, parts *p)
{
    static const char *const before[] = { "", "-", "-", "T ", ":", ":" };
    const bool               negative = *text == '-';
    char                    *end;

    text += negative;
    for (*p = (parts){ 0 }; p->n < 6; text = end) {
        if (!isdigit((unsigned char)*text))
            return false;
        p->at[p->n++] = strtol(text, &end, 10);
        if (end - text > (p->n == 1 ? 6 : 2))
            return false;
        if (p->n == 6 && !read_fraction(&end, p))
            return false;
        if (!*end)
            break;
        if (p->n == 6 || !strchr(before[p->n], *end))
            return false;
        end++;
    }
    p->at[YEAR] = negative ? -p->at[YEAR] : p->at[YEAR];
    return p->n > 0 && !*end && p->at[HOUR] < 24 && p->at[MINUTE] < 60 && p->at[SECOND] < 60;
}

/* Rounds seconds to the digits by which times are told apart (CMD_MOST_SECOND_DIGITS); a sum may be
 * off by its last bits. */
static double round_seconds(double seconds)
{
    const double scale = pow(10, CMD_MOST_SECOND_DIGITS);

    return round(seconds * scale) / scale;
}

/* Returns the seconds of a date and time from the beginning of the reference day (s->day) on. */
static double seconds_of(const cmd_since *s, cmd_date date, const parts *p)
{
    const double clock = (double)(p->at[HOUR] * 3600 + p->at[MINUTE] * 60 + p->at[SECOND]);

    return round_seconds((double)(cmd_day_of(s->calendar, date) - s->day) * 86400 + clock +
                         p->fraction);
}

/* Reads a date as the interval [*from, *to). False: it is no date of the calendar. The last number
 * that is given says how long it lasts: a day, hour, minute, or the last digit of the second. A
 * year or month lasts until the next one begins. */
bool cmd_interval(const char *text, const cmd_since *s, double *from, double *to)
{
    static const double length[] = { 0, 0, 86400, 3600, 60 };
    parts               p;

    if (!read_parts(text, &p))
        return false;
    cmd_date date = { cmd_year_meant(s, p.at[YEAR]), p.n > MONTH ? (int)p.at[MONTH] : 1,
                      p.n > DAY ? (int)p.at[DAY] : 1 };
    if (!cmd_is_date(s->calendar, date) || (p.at[YEAR] == 0 && date.year != 0))
        return false;
    *from = seconds_of(s, date, &p);
    *to   = round_seconds(*from + (p.n > SECOND ? pow(10, -p.digits) : length[p.n - 1]));
    if (p.n <= MONTH + 1) {
        date.month += p.n == MONTH + 1;
        date.year += p.n == 1 || date.month > 12;
        date.month = date.month > 12 ? 1 : date.month;
        *to        = seconds_of(s, date, &p);
    }
    return true;
}

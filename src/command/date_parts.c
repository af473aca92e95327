/* date_parts.c - parts of dates, such as month, and periods, such as monthly, by the calendar.
 *
 * A winter is one season: December belongs to the next January, also in season_year.
 *
 * A part recurs, as the month of a year does. A period does not: the periods of one kind follow one
 * another, and are numbered in a row. */
#include "date_parts.h"
#include <string.h>

/* Divides and rounds down; b is positive. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- Parts that come again ------------------------------------------------------------------- */
/* The year of an instant (a time with its date). */
static int64_t year_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.year;
}

/* The year of the season of an instant: December belongs to the winter of the next year. */
static int64_t season_year_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.year + (m->date.month == 12);
}

/* The month of an instant, 1 to 12. */
static int64_t month_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.month;
}

/* The season of an instant: 1 is December to February, 4 is September to November. */
static int64_t season_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.month % 12 / 3 + 1;
}

/* The day of the month of an instant, 1 to 31. */
static int64_t day_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.day;
}

/* The day of the year of an instant, 1 to 366. */
static int64_t day_of_year(const cmd_since *s, const cmd_moment *m)
{
    return cmd_day_of_year(s->calendar, m->date);
}

/* The length of the month of an instant, in days. */
static int64_t days_in_month(const cmd_since *s, const cmd_moment *m)
{
    return cmd_days_in_month(s->calendar, m->date);
}

/* The hour of the day of an instant, 0 to 23. */
static int64_t hour_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return (int64_t)(m->second / 3600);
}

/* The minute of the hour of an instant, 0 to 59. */
static int64_t minute_of(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return (int64_t)(m->second / 60) % 60;
}

/* ---- Periods --------------------------------------------------------------------------------- */
/* The number of the month of an instant among all months, counted from January of the year 0. */
static int64_t month_in_a_row(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->date.year * 12 + m->date.month - 1;
}

/* The number of the season of an instant among all seasons; a season begins in December, March,
 * June or September. Season 0 begins in December of the year -1. */
static int64_t season_in_a_row(const cmd_since *s, const cmd_moment *m)
{
    return floor_div(month_in_a_row(s, m) + 1, 3);
}

/* The number of the day of an instant, counted from 1970-01-01. */
static int64_t day_in_a_row(const cmd_since *s, const cmd_moment *m)
{
    (void)s;
    return m->day;
}

/* The number of the hour of an instant, counted from 1970-01-01. */
static int64_t hour_in_a_row(const cmd_since *s, const cmd_moment *m)
{
    return m->day * 24 + hour_of(s, m);
}

/* The first day of a year; `hour` stays 0. */
static cmd_date year_begins(const cmd_since *s, int64_t number, int *hour)
{
    (void)s, (void)hour;
    return (cmd_date){ number, 1, 1 };
}

/* The first day of a month that month_in_a_row() counts. */
static cmd_date month_begins(const cmd_since *s, int64_t number, int *hour)
{
    const int64_t year = floor_div(number, 12);

    (void)s, (void)hour;
    return (cmd_date){ year, (int)(number - 12 * year) + 1, 1 };
}

/* The first day of a season that season_in_a_row() counts: season 0 begins in December of the year
 * -1, which is month -1. */
static cmd_date season_begins(const cmd_since *s, int64_t number, int *hour)
{
    return month_begins(s, 3 * number - 1, hour);
}

/* The date of a day that day_in_a_row() counts. */
static cmd_date day_begins(const cmd_since *s, int64_t number, int *hour)
{
    (void)hour;
    return cmd_date_of(s->calendar, number);
}

/* The date of an hour that hour_in_a_row() counts, and in *hour the hour of the day. */
static cmd_date hour_begins(const cmd_since *s, int64_t number, int *hour)
{
    const int64_t day = floor_div(number, 24);

    *hour = (int)(number - 24 * day);
    return cmd_date_of(s->calendar, day);
}

/* ---- Shown as digits of dates: 1990, 199006, 19900615 ---------------------------------------- */
/* The year as the user sees it: in calendars without a year 0, the year before 1 is -1. */
static int64_t year_shown(const cmd_since *s, int64_t number)
{
    return cmd_year_shown(s, number);
}

/* Year and month as one number, 199006. */
static int64_t month_digits(const cmd_since *s, cmd_date d)
{
    return cmd_year_shown(s, d.year) * 100 + d.month;
}

/* The number that is shown for a month, as month_in_a_row() counts it: 199006. */
static int64_t month_shown(const cmd_since *s, int64_t number)
{
    return month_digits(s, month_begins(s, number, /*hour=*/NULL));
}

/* The number that is shown for a season, as season_in_a_row() counts it: year and month of its
 * beginning, 199006. */
static int64_t season_shown(const cmd_since *s, int64_t number)
{
    return month_digits(s, season_begins(s, number, /*hour=*/NULL));
}

/* The number that is shown for a day of day_in_a_row(): 19900615. */
static int64_t day_shown(const cmd_since *s, int64_t number)
{
    const cmd_date d = cmd_date_of(s->calendar, number);

    return month_digits(s, d) * 100 + d.day;
}

/* The number that is shown for an hour of hour_in_a_row(): 1990061512. */
static int64_t hour_shown(const cmd_since *s, int64_t number)
{
    const int64_t day = floor_div(number, 24);

    return day_shown(s, day) * 100 + number - 24 * day;
}

static const cmd_date_part parts[] = {
    { "year", "year", NULL, year_of, year_shown, NULL, 0, 0 },
    { "season_year", "year of the season, December in the next one", NULL, season_year_of,
      year_shown, NULL, 0, 0 },
    { "month", "month of the year", NULL, month_of, NULL, NULL, 1, 12 },
    { "season", "season of the year", "DJF MAM JJA SON", season_of, NULL, NULL, 1, 4 },
    { "day", "day of the month", NULL, day_of, NULL, NULL, 1, 31 },
    { "dayofyear", "day of the year", NULL, day_of_year, NULL, NULL, 1, 366 },
    { "days_in_month", "days of the month", NULL, days_in_month, NULL, NULL, 28, 31 },
    { "hour", "hour of the day", NULL, hour_of, NULL, NULL, 0, 23 },
    { "minute", "minute of the hour", NULL, minute_of, NULL, NULL, 0, 59 },
    { "yearly", NULL, NULL, year_of, year_shown, year_begins, 0, 0 },
    { "seasonal", NULL, NULL, season_in_a_row, season_shown, season_begins, 0, 0 },
    { "monthly", NULL, NULL, month_in_a_row, month_shown, month_begins, 0, 0 },
    { "daily", NULL, NULL, day_in_a_row, day_shown, day_begins, 0, 0 },
    { "hourly", NULL, NULL, hour_in_a_row, hour_shown, hour_begins, 0, 0 },
};

/* Finds the function of times by its name, such as "month" for month(time). NULL: there is none. */
const cmd_date_part *cmd_date_part_called(const char *name)
{
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strcmp(parts[k].name, name) == 0)
            return &parts[k];
    return NULL;
}

/* Returns the number of the last group of a part of dates in a calendar, such as 365 for the day of
 * the year without leap days. 0 means that the data say it. */
int64_t cmd_date_part_last(const cmd_date_part *part, cmd_calendar calendar)
{
    if (part->number != day_of_year)
        return part->number == day_of && calendar == CMD_360_DAY ? 30 : part->last;
    return calendar == CMD_360_DAY ? 360 : calendar == CMD_NOLEAP ? 365 : part->last;
}

/* Returns the coordinate of the first instant of a period, in the units of the times. */
double cmd_period_begin(const cmd_date_part *part, const cmd_since *s, int64_t number)
{
    int            hour = 0;
    const cmd_date date = part->begins(s, number, &hour);

    return cmd_coordinate_of(s, date, hour * 3600.0);
}

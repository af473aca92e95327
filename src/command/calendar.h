/* calendar.h - dates of the calendars of climate files (CF conventions, 4.4.1) from numbers of
 * days, and back.
 *
 * Years are astronomical: the year 0 is before the year 1. Day 0 is 1970-01-01. In the standard,
 * Gregorian and Julian calendars a day number is one physical day, so they convert to each
 * other. All is exact, for years of up to six digits. */
#ifndef CMD_CALENDAR_H
#define CMD_CALENDAR_H
#include <stdbool.h>
#include <stdint.h>

/* Calendars of the CF conventions. */
typedef enum cmd_calendar {
    CMD_STANDARD, /* Julian up to 1582-10-04, Gregorian from the next day on, 1582-10-15 */
    CMD_PROLEPTIC_GREGORIAN,
    CMD_JULIAN,
    CMD_NOLEAP,   /* every year has 365 days */
    CMD_ALL_LEAP, /* every year has 366 days */
    CMD_360_DAY,  /* every month has 30 days */
    CMD_CALENDARS
} cmd_calendar;

/* A date of some calendar. */
typedef struct cmd_date {
    int64_t year;
    int     month, day; /* both count from 1 */
} cmd_date;

/* Finds the calendar that a file names; NULL stands for the standard one. False: no calendar has
 * that name. */
bool cmd_calendar_named(const char *name, cmd_calendar *calendar);
/* True if the date exists in the calendar. */
bool cmd_is_date(cmd_calendar calendar, cmd_date date);
/* Converts a date to a number of days, and back. */
int64_t  cmd_day_of(cmd_calendar calendar, cmd_date date);
cmd_date cmd_date_of(cmd_calendar calendar, int64_t day);
/* Returns the day of the year, 1 to 366. In 1582 of the standard calendar the ten skipped days
 * count, as in cftime. */
int cmd_day_of_year(cmd_calendar calendar, cmd_date date);
/* Returns the number of days of a month. October 1582 of the standard calendar has 31, as in
 * cftime. */
int cmd_days_in_month(cmd_calendar calendar, cmd_date date);
/* True if both calendars convert to each other. */
bool cmd_calendars_meet(cmd_calendar a, cmd_calendar b);
#endif

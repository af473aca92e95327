/* calendar.h - days of the calendars of climate files (CF conventions, 4.4.1) as dates, and back.
 *
 * Years are counted as astronomers do it, with a year 0 before the year 1.  Days are counted from
 * 1970-01-01; the standard, the Gregorian and the Julian calendar name the same days, and from that day
 * of the Gregorian one.  All is exact, for years of up to six digits. */
#ifndef CMD_CALENDAR_H
#define CMD_CALENDAR_H
#include <stdbool.h>
#include <stdint.h>

typedef enum cmd_calendar {
    CMD_STANDARD, /* Julian up to 1582-10-04, Gregorian from the next day on, 1582-10-15 */
    CMD_PROLEPTIC_GREGORIAN,
    CMD_JULIAN,
    CMD_NOLEAP,   /* every year has 365 days */
    CMD_ALL_LEAP, /* 366 */
    CMD_360_DAY,  /* every month has 30 */
    CMD_CALENDARS
} cmd_calendar;

typedef struct cmd_date {
    int64_t year;
    int     month, day; /* from 1 */
} cmd_date;

/* Finds the calendar that a file names; NULL stands for the standard one.  False: no calendar has
 * that name. */
bool     cmd_calendar_named(const char *name, cmd_calendar *calendar);
bool     cmd_is_date(cmd_calendar calendar, cmd_date date);
int64_t  cmd_day_of(cmd_calendar calendar, cmd_date date);
cmd_date cmd_date_of(cmd_calendar calendar, int64_t day);
/* 1 to 366.  Of 1582 in the standard calendar as if the ten days had been, as cftime has it. */
int cmd_day_of_year(cmd_calendar calendar, cmd_date date);
/* The number of days of that month.  October 1582 of the standard calendar counts as 31, as in cftime. */
int cmd_days_in_month(cmd_calendar calendar, cmd_date date);
/* Do both name the same days? */
bool cmd_calendars_meet(cmd_calendar a, cmd_calendar b);
#endif

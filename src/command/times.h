/* times.h - times of files: "days since 1990-01-01 06:00 +1:00", of a calendar. */
#ifndef CMD_TIMES_H
#define CMD_TIMES_H
#include "base.h"
#include "calendar.h"

/* Units of times, as cmd_read_since() reads them. */
typedef struct cmd_since {
    cmd_calendar calendar;
    double       seconds; /* length of the unit */
    int64_t      day;     /* the reference in UTC: a day of calendar.h, and the second of it */
    double       second;
    bool         of_sun; /* the unit is UDUNITS' month or year, of no calendar */
} cmd_since;

/* An instant as a date of the calendar, and the second of the day. */
typedef struct cmd_moment {
    cmd_date date;
    int64_t  day; /* number of the day, as in calendar.h */
    double   second;
} cmd_moment;

/* A conversion between units: x becomes (x + before) * times / by + after. */
typedef struct cmd_turn {
    double before, times, by, after;
} cmd_turn;

/* Reads units. False: they are no times, or the calendar is unknown. */
bool cmd_read_since(const char *units, const char *calendar, cmd_since *s);
/* Returns the seconds of a coordinate from the beginning of the reference day on, rounded to a
 * microsecond, or to fewer digits if the coordinate has fewer. Times are shown, grouped and
 * compared by this number. */
enum { CMD_MOST_SECOND_DIGITS = 6 };
double cmd_instant(const cmd_since *s, double value);
/* Returns how many digits of the second a coordinate can tell. */
int cmd_second_digits(const cmd_since *s, double value);
/* Converts a coordinate to a date. False: NaN, or a year of more than six digits. */
bool cmd_moment_of(const cmd_since *s, double value, cmd_moment *m);
/* Converts a date to a coordinate. */
double cmd_coordinate_of(const cmd_since *s, cmd_date date, double second);
/* Finds the conversion from units `other` to `units`, of times or of values. False: they do not
 * convert, and *conversion leaves numbers as they are. */
bool cmd_units_meet(const char *units, const char *calendar, const char *other,
                    const char *other_calendar, cmd_turn *conversion);
/* Converts one coordinate. */
double cmd_turned(const cmd_turn *conversion, double x);
/* Reads a date such as "1990-06" or "1990-06-15 12:00" as the interval [*from, *to) in seconds
 * of cmd_instant() (intervals.c). False: it is no date. */
bool cmd_interval(const char *text, const cmd_since *s, double *from, double *to);
/* Converts a year to the one that is shown: without a year 0, the year before 1 is -1. */
long long cmd_year_shown(const cmd_since *s, int64_t year);
/* The inverse. In a calendar without a year 0, it makes another year of 0. */
int64_t cmd_year_meant(const cmd_since *s, long long shown);
/* Writes a time as text, "1990-01-16 12:30", up to microseconds (date_text.c). NULL: it is no
 * time. */
const char *cmd_date_text(double value, const char *units, const char *calendar);
#endif

/* times.h - times as files have them: "days since 1990-01-01 06:00 +1:00", of a calendar. */
#ifndef CMD_TIMES_H
#define CMD_TIMES_H
#include "base.h"
#include "calendar.h"

typedef struct cmd_since {
    cmd_calendar calendar;
    double       seconds; /* of the unit */
    int64_t day; /* the reference, in UTC: calendar.h's day, and seconds from its beginning on */
    double  second;
    bool of_sun; /* the unit is UDUNITS' month or year, which no month or year of a calendar is */
} cmd_since;

/* An instant as a calendar has it. */
typedef struct cmd_moment {
    cmd_date date;
    int64_t  day; /* calendar.h's */
    double   second;
} cmd_moment;

/* Converts coordinates of times from some units to others: (x + before) * times / by + after. */
typedef struct cmd_turn {
    double before, times, by, after;
} cmd_turn;

/* False: units of no time, or of a calendar that is not known. */
bool cmd_read_since(const char *units, const char *calendar, cmd_since *s);
/* Seconds of a coordinate from the beginning of the reference day on: the microsecond nearest to it, or the tenth,
 * hundredth, ... of a second that its last digits can tell.  What is shown, grouped and compared with dates is
 * this. */
enum { CMD_MOST_SECOND_DIGITS = 6 };
double cmd_instant(const cmd_since *s, double value);
/* How many digits of the second that is. */
int cmd_second_digits(const cmd_since *s, double value);
/* The same by the calendar.  False: it is none, such as NaN, or of a year of more than six digits. */
bool cmd_moment_of(const cmd_since *s, double value, cmd_moment *m);
/* And back. */
double cmd_coordinate_of(const cmd_since *s, cmd_date date, double second);
/* Turns coordinates in units `other` into `units`, of times or of values.  False: they do not meet. */
bool   cmd_units_meet(const char *units, const char *calendar, const char *other,
                      const char *other_calendar, cmd_turn *turn);
double cmd_turned(const cmd_turn *turn, double x);
/* Reads a time such as "1990-06" or "1990-06-15 12:00" as the interval from its first instant up to the first one
 * behind it, in seconds as cmd_instant() has them (intervals.c).  False: it is no time. */
bool cmd_interval(const char *text, const cmd_since *s, double *from, double *to);
/* As people count years: in calendars without a year 0 the one before 1 is -1. */
long long cmd_year_shown(const cmd_since *s, int64_t year);
/* And back; the year 0 of a calendar without one is the year 1 before it, which is another. */
int64_t cmd_year_meant(const cmd_since *s, long long shown);
/* "1990-01-16", with the time of day where there is one, up to microseconds (date_text.c); NULL: no
 * time. */
const char *cmd_date_text(double value, const char *units, const char *calendar);
#endif

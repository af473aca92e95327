/* date_parts.h - what a calendar says of an instant: a table of functions, year, month, season, and of periods,
 * days, months, years in a row. */
#ifndef CMD_DATE_PARTS_H
#define CMD_DATE_PARTS_H
#include "times.h"

/* A part of a date, which comes again each year or day; or a period, which begins at an instant. */
typedef struct cmd_date_part {
    const char *name, *title;
    const char *words; /* of the values from 1 on, between blanks; NULL: they are numbers */
    /* A number that grows by one from one group to the next. */
    int64_t (*number)(const cmd_since *s, const cmd_moment *m);
    /* Turns the number into the one that is shown; NULL: the number itself is shown. */
    int64_t (*shown)(const cmd_since *s, int64_t number);
    /* The first instant of a period; NULL: it is a part that comes again. */
    cmd_date (*begins)(const cmd_since *s, int64_t number, int *hour);
    int first, last; /* groups, as numbers; both 0: those between the least and the greatest */
} cmd_date_part;

/* NULL: no function has that name. */
const cmd_date_part *cmd_date_part_called(const char *name);
/* The greatest group that there is in a calendar. */
int64_t cmd_date_part_last(const cmd_date_part *part, cmd_calendar calendar);
/* The coordinate at which a period begins. */
double cmd_period_begin(const cmd_date_part *part, const cmd_since *s, int64_t number);
#endif

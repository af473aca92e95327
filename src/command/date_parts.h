/* date_parts.h - functions of times: parts of a date (year, month, season) and periods (years,
 * months, days in a row). */
#ifndef CMD_DATE_PARTS_H
#define CMD_DATE_PARTS_H
#include "times.h"

/* A part of a date, which recurs each year or day; or a period, which begins at an instant. */
typedef struct cmd_date_part {
    const char *name, *title;
    const char *words; /* words of the values from 1 on, "DJF MAM ..."; NULL: numbers */
    /* The number of the group of an instant; adjacent groups differ by 1. */
    int64_t (*number)(const cmd_since *s, const cmd_moment *m);
    /* Converts the number to the value that is shown; NULL: they are the same. */
    int64_t (*shown)(const cmd_since *s, int64_t number);
    /* The first instant of a period; NULL: it is a part, not a period. */
    cmd_date (*begins)(const cmd_since *s, int64_t number, int *hour);
    int first, last; /* first and last group; both 0: as the data say */
} cmd_date_part;

/* Finds the function of that name. NULL: none. */
const cmd_date_part *cmd_date_part_called(const char *name);
/* The last group in a calendar. */
int64_t cmd_date_part_last(const cmd_date_part *part, cmd_calendar calendar);
/* Returns the coordinate of the first instant of a period. */
double cmd_period_begin(const cmd_date_part *part, const cmd_since *s, int64_t number);
#endif

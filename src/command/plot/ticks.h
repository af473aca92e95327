/* ticks.h - ticks of an axis, with their labels. */
#ifndef CMD_TICKS_H
#define CMD_TICKS_H
#include "files/file.h"

enum { CMD_MOST_TICKS = 24 };

/* Ticks: their coordinates and labels. */
typedef struct cmd_ticks {
    int         n;
    double      at[CMD_MOST_TICKS];
    const char *label[CMD_MOST_TICKS];
} cmd_ticks;

/* Finds about `wanted` ticks in [lo, hi]: multiples of 1, 2 or 5 times a power of ten; for
 * degrees of longitude and latitude also of 15, 30, 60 or 90; for "days since ..." the
 * beginnings of days, months or years. */
cmd_ticks cmd_ticks_of(double lo, double hi, int wanted, const char *units, const char *calendar);
#endif

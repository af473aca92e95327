/* ticks.h - ticks of an axis, with their labels. */
#ifndef CMD_TICKS_H
#define CMD_TICKS_H
#include "files/file.h"

/* Ticks of an axis. */
enum { CMD_MOST_TICKS = 24 };

/* Ticks: their coordinates and labels. */
typedef struct cmd_ticks {
    int         n;
    double      at[CMD_MOST_TICKS];
    const char *label[CMD_MOST_TICKS];
} cmd_ticks;

/* Finds about `wanted` ticks in [lo, hi]. Ticks are multiples of 1, 2 or 5 times a power of ten.
 * Degrees of longitude and latitude also have multiples of 15, 30, 60 or 90. Units such as "days
 * since ..." have the beginnings of days, months or years. */
cmd_ticks cmd_ticks_of(double lo, double hi, int wanted, const char *units, const char *calendar);
#endif

/* ticks.h - numbers along an axis: nice ones, and what they are called. */
#ifndef CMD_TICKS_H
#define CMD_TICKS_H
#include "files/file.h"

enum { CMD_MOST_TICKS = 24 };

typedef struct cmd_ticks {
    int         n;
    double      at[CMD_MOST_TICKS];
    const char *label[CMD_MOST_TICKS];
} cmd_ticks;

/* About `wanted` multiples of 1, 2 or 5 times a power of ten in [lo, hi]; of degrees of longitude and
 * latitude those of 15, 30 or 90 too; of "days since ..." beginnings of days, months or years of the
 * calendar. */
cmd_ticks cmd_ticks_of(double lo, double hi, int wanted, const char *units, const char *calendar);
#endif

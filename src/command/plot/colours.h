/* colours.h - colour maps whose lightness is even. */
#ifndef CMD_COLOURS_H
#define CMD_COLOURS_H
#include <stdbool.h>

typedef struct cmd_colour {
    double red, green, blue; /* 0 to 1 */
} cmd_colour;

/* Dark to light; or, of what lies on both sides of 0, blue by way of white to red.  t from 0 to 1. */
cmd_colour cmd_colour_of(double t, bool diverging);
/* The colour of line k.  Okabe and Ito (2008) chose them so that all eyes tell them apart. */
cmd_colour cmd_line_colour(int k);
#endif

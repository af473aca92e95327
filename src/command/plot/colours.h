/* colours.h - colour maps with evenly changing lightness, and colours of lines. */
#ifndef CMD_COLOURS_H
#define CMD_COLOURS_H
#include <stdbool.h>

/* A colour in sRGB. */
typedef struct cmd_colour {
    double red, green, blue; /* 0 to 1 */
} cmd_colour;

/* Returns the colour of t in [0, 1]: from dark to light; or, diverging, from blue through white
 * to red. */
cmd_colour cmd_colour_of(double t, bool diverging);
/* Returns the colour of line k. Okabe and Ito (2008) chose these for colour-blind readers, too. */
cmd_colour cmd_line_colour(int k);
#endif

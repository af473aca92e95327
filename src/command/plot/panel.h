/* panel.h - panels and the pen, which all files that draw a picture share. */
#ifndef CMD_PANEL_H
#define CMD_PANEL_H
#include "plot/cairo_api.h"
#include "result.h"
#include <math.h>

/* Width and greatest height of a panel, in points; lines of a chart. */
enum { CMD_WIDTH = 900, CMD_MOST_HEIGHT = 620, CMD_MOST_LINES = 16 };

/* One panel of the picture; filled by plot.c. */
typedef struct cmd_panel {
    const cmd_result *r[CMD_MOST_LINES];
    int               n;       /* number of results; several are lines of one chart */
    int               axis[2]; /* axes of rows and of columns of an image; of lines: the second */
    bool              image, down;              /* the first row of the image is at its top */
    double            lo, hi;                   /* least and greatest value */
    double            left, top, width, height; /* the inside of the frame, in points */
    double            x0, x1, y0, y1;           /* coordinates at its left, right, bottom and top */
} cmd_panel;

/* Functions of cairo, and the drawing that they draw to. */
typedef struct cmd_pen {
    const cmd_cairo_api *c;
    cairo_t             *to;
} cmd_pen;

/* Returns the number of indices along an axis. */
static inline int64_t cmd_extent(const cmd_result *r, int axis)
{
    return rd_shape_of(r->x).at[axis];
}

/* Returns coordinate i of an axis, or i itself if there are no coordinates. */
static inline double cmd_coordinate(const cmd_result *r, int axis, int64_t i)
{
    return r->axis[axis].at ? r->axis[axis].at[i] : (double)i;
}

/* Returns the room beside a single number on an axis: 1, or a millionth of a number so large that
 * adding 1 might not change it. */
static inline double cmd_room_beside(double x)
{
    return fmax(1, fabs(x) * 1e-6);
}

/* Returns where x lies between lo (0) and hi (1). Halves are used if the range is beyond the
 * greatest double. */
static inline double cmd_place_between(double x, double lo, double hi)
{
    const double part = isfinite(hi - lo) ? 1 : 0.5;

    return (x * part - lo * part) / (hi * part - lo * part);
}

/* ---- Text, lines, axes (pen.c) --------------------------------------------------------------- */
/* Sets the colour of what is drawn next: 0 is black, 1 is white. */
void cmd_ink(const cmd_pen *pen, double grey);
/* Writes a text; align: 0 begins at x, 0.5 is centred, 1 ends at x. Returns its width. */
double cmd_write_text(const cmd_pen *pen, double x, double y, double align, double size,
                      const char *what);
/* Draws a straight line. */
void cmd_draw_line(const cmd_pen *pen, double x0, double y0, double x1, double y1, double width);
/* Converts a coordinate or a value to a position in the picture. */
double cmd_across(const cmd_panel *p, double x);
double cmd_up(const cmd_panel *p, double y);
/* Returns the title of an axis, with units. */
const char *cmd_axis_title(const cmd_result *r, int axis);
void        cmd_draw_frame(const cmd_pen *pen, const cmd_panel *p);
/* Draws ticks, a grid (not over an image), and the titles of both axes. */
void cmd_draw_axes(const cmd_pen *pen, const cmd_panel *p, const cmd_axis *x_axis,
                   const char *x_title, const cmd_axis *y_axis, const char *y_title);
void cmd_draw_title(const cmd_pen *pen, const cmd_panel *p);

/* ---- What is in a panel (image.c, lines.c) --------------------------------------------------- */
void cmd_draw_image(const cmd_pen *pen, const cmd_panel *p);
void cmd_draw_lines(const cmd_pen *pen, const cmd_panel *p);
#endif

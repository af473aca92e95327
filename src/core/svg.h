/* svg.h - pictures of boxes, lines of text and arrows, as SVG 1.1: text alone, no library.  Lengths are
 * in pixels. */
#ifndef RD_CORE_SVG_H
#define RD_CORE_SVG_H
#include "core/text.h"

/* Of a letter of the fixed-width font, and of a line. */
#define RD_SVG_LETTER 7.25
enum { RD_SVG_LINE = 16, RD_SVG_MARGIN = 8 };

typedef struct rd_svg {
    rd_text body;
    double  width, height; /* of all that has been drawn */
} rd_svg;

typedef struct rd_box {
    double x, y, width, height;
} rd_box;

/* How large a box around lines is that '\n' ends; of each at most `most` letters are shown. */
rd_box rd_svg_size(const char *lines, int most);
/* Draws it, the first line bold. */
void rd_svg_box(rd_svg *to, const rd_box *box, const char *fill, const char *lines, int most);
/* A line of text that begins at x; y is its foot. */
void rd_svg_line(rd_svg *to, double x, double y, const char *line, int most);
/* From one point to another; it leaves and arrives level, or upright. */
void rd_svg_arrow(rd_svg *to, double x0, double y0, double x1, double y1, bool upright);
/* The file: what has been drawn, in a frame. */
void rd_svg_file(rd_text *to, const rd_svg *svg);
#endif

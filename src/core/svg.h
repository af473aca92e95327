/* svg.h - pictures of boxes, lines of text and arrows as SVG 1.1, written without a library.
 * Lengths are in pixels. */
#ifndef RD_CORE_SVG_H
#define RD_CORE_SVG_H
#include "core/text_buffer.h"

/* Width of a letter of the fixed-width font, and height of a line. */
#define RD_SVG_LETTER 7.25
enum { RD_SVG_LINE = 16, RD_SVG_MARGIN = 8 };

/* A picture in progress. */
typedef struct rd_svg {
    rd_text body;          /* the SVG elements */
    double  width, height; /* of everything drawn so far */
} rd_svg;

/* A rectangle; (x, y) is its upper left corner. */
typedef struct rd_box {
    double x, y, width, height;
} rd_box;

/* The size of a box around lines that end in '\n', each cut to `most` letters. */
rd_box rd_svg_size(const char *lines, int most);
/* Draws a box with its lines, the first in bold. */
void rd_svg_box(rd_svg *to, const rd_box *box, const char *fill, const char *lines, int most);
/* Draws a line of text from (x, y), y being its baseline. */
void rd_svg_line(rd_svg *to, double x, double y, const char *line, int most);
/* Draws an arrow, which leaves and arrives horizontally, or vertically if `upright`. */
void rd_svg_arrow(rd_svg *to, double x0, double y0, double x1, double y1, bool upright);
/* Writes the whole file: what was drawn, in a frame. */
void rd_svg_file(rd_text *to, const rd_svg *svg);
#endif

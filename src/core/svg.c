/* svg.c - boxes, text and arrows as SVG. */
#include "core/svg.h"
#include <string.h>

/* Grows the picture so that it contains the point (x, y). */
static void grow(rd_svg *to, double x, double y)
{
    to->width  = x > to->width ? x : to->width;
    to->height = y > to->height ? y : to->height;
}

/* ---- Text ------------------------------------------------------------------------------------ */
/* Returns the bytes of the UTF-8 character at `s`, 1 to 4; 0: it is invalid (RFC 3629;
 * surrogates are not looked for). The first byte says how many there are; further ones begin
 * with the bits 10. */
static int letter(const char *s)
{
    const unsigned char c = (unsigned char)*s;
    const int           n = c < 0x80                ? 1
                            : c >= 0xc2 && c < 0xe0 ? 2
                            : c >= 0xe0 && c < 0xf0 ? 3
                            : c >= 0xf0 && c < 0xf5 ? 4
                                                    : 0;

    for (int k = 1; k < n; k++)
        if (((unsigned char)s[k] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Adds up to `most` characters of a line of `bytes` bytes, escaped for XML; a longer one ends in
 * "...". Names may hold anything, so what XML does not allow becomes a question mark. letter()
 * is 0 for a byte that begins no character; characters of 4 bytes, and control characters, are
 * replaced, too. */
static void add_letters(rd_text *to, const char *line, size_t bytes, int most)
{
    size_t at = 0;

    for (int k = 0; at < bytes; k++) {
        const int n = letter(line + at);

        if (k == most) {
            rd_text_add(to, "...");
            return;
        }
        switch (line[at]) {
        case '<': rd_text_add(to, "&lt;"); break;
        case '>': rd_text_add(to, "&gt;"); break;
        case '&': rd_text_add(to, "&amp;"); break;
        case '"': rd_text_add(to, "&quot;"); break;
        default:
            if (n == 0 || (unsigned char)line[at] < ' ' || line[at] == 0x7f || n > 3)
                rd_text_add(to, "?");
            else
                rd_text_add(to, "%.*s", n, line + at);
        }
        at += n ? (size_t)n : 1;
    }
}

/* The bytes of a line, without its end. */
static size_t length_of(const char *line)
{
    return strcspn(line, "\n");
}

/* Returns the number of characters that a line shows, if it is cut to `most` of them and then
 * gets "...". letter() is a character's length in bytes; an invalid byte counts as one. */
static int letters_of(const char *line, int most)
{
    int          n     = 0;
    const size_t bytes = length_of(line);

    for (size_t at = 0; at < bytes; n++) {
        const int step = letter(line + at);

        at += step ? (size_t)step : 1;
    }
    return n > most ? most + 3 : n;
}

/* Adds a line of text at (x, y), cut to `most` letters, and grows the picture to hold it:
 *
 *     <text x="8" y="24" font-weight="bold" xml:space="preserve">stage 0</text> */
static void add_line(rd_svg *to, double x, double y, const char *line, int most, bool bold)
{
    rd_text_add(&to->body, "<text x=\"%.0f\" y=\"%.0f\"%s xml:space=\"preserve\">", x, y,
                bold ? " font-weight=\"bold\"" : "");
    add_letters(&to->body, line, length_of(line), most);
    rd_text_add(&to->body, "</text>\n");
    grow(to, x + RD_SVG_LETTER * letters_of(line, most), y + RD_SVG_MARGIN);
}

/* Draws a line of text from (x, y), its baseline, cut to `most` letters. */
void rd_svg_line(rd_svg *to, double x, double y, const char *line, int most)
{
    add_line(to, x, y, line, most, /*bold=*/false);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */
/* The size of a box around lines, each cut to `most` letters; its place is (0, 0). */
rd_box rd_svg_size(const char *lines, int most)
{
    rd_box box = { .height = RD_SVG_MARGIN };
    int    n   = 0;

    for (const char *line = lines; *line; line += length_of(line), line += *line == '\n') {
        const int letters = letters_of(line, most);

        n = letters > n ? letters : n;
        box.height += RD_SVG_LINE;
    }
    box.width = RD_SVG_LETTER * n + 2 * RD_SVG_MARGIN;
    return box;
}

/* Draws a box with its lines, the first in bold:
 *
 *     <rect x="8" y="24" width="120" height="40" rx="4" fill="#fff" stroke="#555"/>
 * y goes down by RD_SVG_LINE for each; grow() makes the picture large enough. */
void rd_svg_box(rd_svg *to, const rd_box *box, const char *fill, const char *lines, int most)
{
    double y = box->y;

    rd_text_add(&to->body,
                "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"4\" fill=\"%s\" "
                "stroke=\"#555\"/>\n",
                box->x, box->y, box->width, box->height, fill);
    for (const char *line = lines; *line; line += length_of(line), line += *line == '\n')
        add_line(to, box->x + RD_SVG_MARGIN, y += RD_SVG_LINE, line, most, line == lines);
    grow(to, box->x + box->width, box->y + box->height);
}

/* Draws a curved arrow, a cubic Bezier curve that leaves and arrives horizontally, or vertically if
 * `upright`:
 *
 *     <path d="M8 24 C8 40 60 40 60 56" fill="none" stroke="#555" marker-end="url(#tip)"/>
 * From (x0, y0) to (x1, y1); dx and dy are how far the control points are from the ends. grow()
 * makes the picture large enough. */
void rd_svg_arrow(rd_svg *to, double x0, double y0, double x1, double y1, bool upright)
{
    const double dx = upright ? 0 : (x1 - x0) / 2, dy = upright ? (y1 - y0) / 2 : 0;

    rd_text_add(&to->body,
                "<path d=\"M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f\" fill=\"none\" "
                "stroke=\"#555\" marker-end=\"url(#tip)\"/>\n",
                x0, y0, x0 + dx, y0 + dy, x1 - dx, y1 - dy, x1, y1);
    grow(to, x0 > x1 ? x0 : x1, y0 > y1 ? y0 : y1);
}

/* Writes the whole file: header, the tip of arrows, white ground, and what was drawn, in a
 * frame. */
void rd_svg_file(rd_text *to, const rd_svg *svg)
{
    const double width = svg->width + 2 * RD_SVG_MARGIN, height = svg->height + 2 * RD_SVG_MARGIN;

    rd_text_add(to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
                "monospace\" font-size=\"12\">\n"
                "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
                "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                "<path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555\"/></marker></defs>\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n",
                width, height, width, height, svg->body.at ? svg->body.at : "");
    to->failed |= svg->body.failed;
}

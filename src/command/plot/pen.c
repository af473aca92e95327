/* pen.c - draws texts, lines and axes of a picture. */
#if RDIM_CAIRO
#include "plot/panel.h"
#include "base.h"
#include "plot/ticks.h"
#include <math.h>
#include <string.h>

/* ---- Text and lines -------------------------------------------------------------------------- */
/* Sets a grey for what is drawn next: 0 is black, 1 is white. */
void cmd_ink(const cmd_pen *pen, double grey)
{
    pen->c->set_source_rgb(pen->to, grey, grey, grey);
}

/* Writes a text; align: 0 begins at x, 0.5 is centred, 1 ends at x. Returns its width. */
double cmd_write_text(const cmd_pen *pen, double x, double y, double align, double size,
                      const char *what)
{
    cairo_text_extents_t e;

    pen->c->set_font_size(pen->to, size);
    pen->c->text_extents(pen->to, what, &e);
    pen->c->move_to(pen->to, x - align * e.x_advance, y);
    pen->c->show_text(pen->to, what);
    return e.x_advance;
}

/* Draws a straight line. */
void cmd_draw_line(const cmd_pen *pen, double x0, double y0, double x1, double y1, double width)
{
    pen->c->set_line_width(pen->to, width);
    pen->c->move_to(pen->to, x0, y0);
    pen->c->line_to(pen->to, x1, y1);
    pen->c->stroke(pen->to);
}

/* Returns a title with its units. Dates and degrees need none, as labels of ticks show them. */
static const char *cmd_with_units(const char *title, const char *units)
{
    return units && *units && !strstr(units, " since ") && strncmp(units, "degree", 6) != 0
               ? cmd_text("%s (%s)", title, units)
               : title;
}

/* Returns the title of an axis: its long name, or its name, with units. */
const char *cmd_axis_title(const cmd_result *r, int axis)
{
    const cmd_axis *a = &r->axis[axis];

    return cmd_with_units(a->title && *a->title ? a->title : cmd_axis_name(r, axis), a->units);
}

/* ---- Axes ------------------------------------------------------------------------------------ */
/* Converts a coordinate to a horizontal position in the picture, in points. */
double cmd_across(const cmd_panel *p, double x)
{
    return p->left + cmd_place_between(x, p->x0, p->x1) * p->width;
}

/* Converts a coordinate or a value to a vertical position in the picture, in points from the
 * top. */
double cmd_up(const cmd_panel *p, double y)
{
    return p->top + p->height - cmd_place_between(y, p->y0, p->y1) * p->height;
}

/* Draws the frame of a panel. */
void cmd_draw_frame(const cmd_pen *pen, const cmd_panel *p)
{
    cmd_ink(pen, 0.25);
    pen->c->set_line_width(pen->to, 1);
    pen->c->rectangle(pen->to, p->left, p->top, p->width, p->height);
    pen->c->stroke(pen->to);
}

/* Draws ticks, a grid (not over an image), labels, and the titles of both axes. */
void cmd_draw_axes(const cmd_pen *pen, const cmd_panel *p, const cmd_axis *x_axis,
                   const char *x_title, const cmd_axis *y_axis, const char *y_title)
{
    const cmd_ticks x =
        cmd_ticks_of(fmin(p->x0, p->x1), fmax(p->x0, p->x1), 8, x_axis->units, x_axis->calendar);
    const cmd_ticks y =
        cmd_ticks_of(fmin(p->y0, p->y1), fmax(p->y0, p->y1), 6, y_axis->units, y_axis->calendar);

    for (int k = 0; k < x.n; k++) {
        const double at = cmd_across(p, x.at[k]);

        if (!p->image) {
            cmd_ink(pen, 0.88);
            cmd_draw_line(pen, at, p->top, at, p->top + p->height, 1);
        }
        cmd_ink(pen, 0.25);
        cmd_draw_line(pen, at, p->top + p->height, at, p->top + p->height + 5, 1);
        cmd_write_text(pen, at, p->top + p->height + 19, 0.5, 12, x.label[k]);
    }
    for (int k = 0; k < y.n; k++) {
        const double at = cmd_up(p, y.at[k]);

        if (!p->image) {
            cmd_ink(pen, 0.88);
            cmd_draw_line(pen, p->left, at, p->left + p->width, at, 1);
        }
        cmd_ink(pen, 0.25);
        cmd_draw_line(pen, p->left - 5, at, p->left, at, 1);
        cmd_write_text(pen, p->left - 9, at + 4, 1, 12, y.label[k]);
    }
    cmd_ink(pen, 0.15);
    cmd_write_text(pen, p->left + p->width / 2, p->top + p->height + 39, 0.5, 13, x_title);
    pen->c->save(pen->to);
    pen->c->translate(pen->to, p->left - 60, p->top + p->height / 2);
    pen->c->rotate(pen->to, -M_PI / 2);
    cmd_write_text(pen, 0, 0, 0.5, 13, y_title);
    pen->c->restore(pen->to);
}

/* Writes the title of a panel with one result, its long name and formula, cut off behind MOST
 * characters. Several lines have a legend instead. */
void cmd_draw_title(const cmd_pen *pen, const cmd_panel *p)
{
    enum { MOST = 110 };
    const cmd_result *r     = p->r[0];
    const char       *what  = r->formula ? r->formula : r->name;
    const char       *whole = r->title && *r->title ? cmd_text("%s: %s", r->title, what) : what;

    if (p->n > 1)
        return;
    cmd_ink(pen, 0.1);
    cmd_write_text(pen, p->left, p->top - 12, 0, 14,
                   strlen(whole) > MOST ? cmd_text("%.*s ...", MOST, whole) : whole);
}

#else
typedef int cmd_no_pen;
#endif

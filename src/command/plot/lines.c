/* lines.c - draws results of one axis as lines of a chart. */
#if RDIM_CAIRO
#include "plot/colours.h"
#include "plot/panel.h"
#include <math.h>

enum { MOST_POINTS = 1 << 13 }; /* in a path: the time of cairo grows with the square */

/* A line that is drawn. If there are more points than the picture can show, all points in one
 * half of a pixel (a column) become a line between the lowest and the highest. */
typedef struct line {
    const cmd_pen *pen;
    bool           thin, open, waits;          /* points are thinned; path begun; a column waits */
    int            points;                     /* number in the current path */
    double         column, x, low, high, last; /* the column that waits */
} line;

/* Adds a point to the path; a long path is drawn, and a new one begun at its end. The first point
 * behind a gap (not open) begins a new line. */
static void put_point(line *l, double x, double y)
{
    if (!l->open)
        l->pen->c->move_to(l->pen->to, x, y);
    else
        l->pen->c->line_to(l->pen->to, x, y);
    l->open = true;
    if (++l->points < MOST_POINTS)
        return;
    l->pen->c->stroke(l->pen->to);
    l->pen->c->move_to(l->pen->to, x, y);
    l->points = 0;
    cmd_may_go_on();
}

/* Adds the points of the waiting column to the path: the lowest, the highest, and the last one,
 * from which the line goes on. */
static void put_column(line *l)
{
    if (l->waits) {
        put_point(l, l->x, l->low);
        put_point(l, l->x, l->high);
        put_point(l, l->x, l->last);
    }
    l->waits = false;
}

/* Adds a point to the line, or to the waiting column if it is in the same half pixel. Only a
 * thinned line has columns. */
static void add_point(line *l, double x, double y)
{
    const double column = floor(2 * x);

    if (l->waits && column == l->column) {
        l->low  = fmin(l->low, y);
        l->high = fmax(l->high, y);
        l->last = y;
        return;
    }
    put_column(l);
    put_point(l, x, y);
    l->waits  = l->thin;
    l->column = column;
    l->x      = x;
    l->low = l->high = l->last = y;
}

/* Draws the line of result k, with gaps at missing elements. A single point between gaps (alone)
 * becomes a dot: a line of a hundredth of a point. */
static void draw_result(const cmd_pen *pen, const cmd_panel *p, int k)
{
    const cmd_result *r = p->r[k];
    const cmd_colour  c = cmd_line_colour(k);
    const int64_t     n = cmd_extent(r, p->axis[1]);
    line              l = { .pen = pen, .thin = n > MOST_POINTS };

    pen->c->set_source_rgb(pen->to, c.red, c.green, c.blue);
    pen->c->set_line_width(pen->to, 1.8);
    pen->c->new_path(pen->to);
    for (int64_t i = 0; i < n; i++) {
        const double y = cmd_value(r, i), x = cmd_coordinate(r, p->axis[1], i);
        const bool   here = isfinite(y) && isfinite(x);

        if (!here) {
            put_column(&l);
            l.open = false;
            continue;
        }
        const bool alone = !l.open && (i + 1 == n || !isfinite(cmd_value(r, i + 1)));
        add_point(&l, cmd_across(p, x), cmd_up(p, y));
        if (alone)
            add_point(&l, cmd_across(p, x) + 0.01, cmd_up(p, y));
    }
    put_column(&l);
    pen->c->stroke(pen->to);
}

/* Draws the names of the lines above the chart. */
static void draw_legend(const cmd_pen *pen, const cmd_panel *p)
{
    double x = p->left;

    for (int k = 0; k < p->n && p->n > 1; k++) {
        const cmd_colour c = cmd_line_colour(k);

        pen->c->set_source_rgb(pen->to, c.red, c.green, c.blue);
        cmd_draw_line(pen, x, p->top - 17, x + 22, p->top - 17, 2.5);
        cmd_ink(pen, 0.15);
        x += 28 + cmd_write_text(pen, x + 28, p->top - 12, 0, 13, p->r[k]->name) + 18;
    }
}

/* Draws a panel with lines: axes, lines, frame, legend, title. */
void cmd_draw_lines(const cmd_pen *pen, const cmd_panel *p)
{
    const cmd_result *r = p->r[0];

    cmd_draw_axes(pen, p, &r->axis[p->axis[1]], cmd_axis_title(r, p->axis[1]), &(cmd_axis){ 0 },
                  r->units ? r->units : "");
    pen->c->save(pen->to);
    pen->c->rectangle(pen->to, p->left, p->top, p->width, p->height);
    pen->c->clip(pen->to);
    pen->c->set_line_join(pen->to, CAIRO_LINE_JOIN_ROUND);
    pen->c->set_line_cap(pen->to, CAIRO_LINE_CAP_ROUND);
    for (int k = 0; k < p->n; k++)
        draw_result(pen, p, k);
    pen->c->restore(pen->to);
    cmd_draw_frame(pen, p);
    draw_legend(pen, p);
    cmd_draw_title(pen, p);
}

#else
typedef int cmd_no_lines;
#endif

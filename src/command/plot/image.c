/* image.c - draws a result of two axes as an image with a colour bar. */
#if RDIM_CAIRO
#include "base.h"
#include "plot/colours.h"
#include "plot/panel.h"
#include "plot/ticks.h"
#include <math.h>

/* True if the values lie on both sides of 0, and the nearer end is at least 15 % as far from 0 as
 * the other one. Then the colour map is diverging, with white at 0. */
static bool is_diverging(const cmd_panel *p)
{
    return p->lo < 0 && p->hi > 0 && fmin(-p->lo, p->hi) > 0.15 * fmax(-p->lo, p->hi);
}

/* Finds the values of the first and the last colour: those of the panel, or, in a diverging map,
 * the same distance on both sides of 0. They must differ. */
static void colour_range(const cmd_panel *p, double *lo, double *hi)
{
    *lo = p->lo;
    *hi = p->hi;
    if (is_diverging(p)) {
        *hi = fmax(-p->lo, p->hi);
        *lo = -*hi;
    }
    if (*lo == *hi)
        *hi = *lo + cmd_room_beside(*lo);
}

/* Returns the mean of the elements that a pixel covers; missing elements do not count. */
static double mean_of(const cmd_panel *p, int64_t row0, int64_t row1, int64_t column0,
                      int64_t column1)
{
    const int64_t all = cmd_extent(p->r[0], p->axis[1]);
    double        sum = 0;
    int64_t       n   = 0;

    for (int64_t i = row0; i < row1; i++)
        for (int64_t j = column0; j < column1; j++) {
            const double x = cmd_value(p->r[0], i * all + j);

            sum += isfinite(x) ? x : 0;
            n += isfinite(x);
        }
    return n ? sum / (double)n : NAN;
}

/* Returns the pixel of a value between lo and hi, 0xrrggbb; grey if it is missing. */
static uint32_t pixel_of(double x, double lo, double hi, bool diverging)
{
    const cmd_colour none = { 0.74, 0.74, 0.74 };
    const cmd_colour c =
        isfinite(x) ? cmd_colour_of(cmd_place_between(x, lo, hi), diverging) : none;

    return (uint32_t)(c.red * 255 + 0.5) << 16 | (uint32_t)(c.green * 255 + 0.5) << 8 |
           (uint32_t)(c.blue * 255 + 0.5);
}

/* Makes the image: a pixel for each element, or for each block of elements if there are more than
 * twice as many as the picture has points. */
static cairo_surface_t *image_of(const cmd_pen *pen, const cmd_panel *p)
{
    const int64_t rows = cmd_extent(p->r[0], p->axis[0]), columns = cmd_extent(p->r[0], p->axis[1]);
    const int64_t high = rows > 2 * CMD_MOST_HEIGHT ? 2 * CMD_MOST_HEIGHT : rows;
    const int64_t wide = columns > 2 * CMD_WIDTH ? 2 * CMD_WIDTH : columns;
    double        lo, hi;
    cairo_surface_t *image = pen->c->image_surface_create(CAIRO_FORMAT_RGB24, (int)wide, (int)high);
    unsigned char   *data  = pen->c->image_surface_get_data(image);
    const int        line_bytes = pen->c->image_surface_get_stride(image);

    if (!data)
        cmd_fail("--plot: out of memory");
    colour_range(p, &lo, &hi);
    pen->c->surface_flush(image);
    for (int64_t i = 0; i < high; i++) {
        cmd_may_go_on();
        for (int64_t j = 0; j < wide; j++) {
            const int64_t row = p->down ? i : high - 1 - i;
            const double  x   = mean_of(p, row * rows / high, (row + 1) * rows / high,
                                        j * columns / wide, (j + 1) * columns / wide);

            ((uint32_t *)(void *)(data + i * line_bytes))[j] = pixel_of(x, lo, hi, is_diverging(p));
        }
    }
    pen->c->surface_mark_dirty(image);
    return image;
}

/* Draws the colour bar at the right of the panel, with its ticks and units. */
static void draw_bar(const cmd_pen *pen, const cmd_panel *p)
{
    enum { STEPS = 256 };
    const double left = p->left + p->width + 22, wide = 16;
    double       lo, hi;

    colour_range(p, &lo, &hi);
    for (int k = 0; k < STEPS; k++) {
        const cmd_colour c = cmd_colour_of((k + 0.5) / STEPS, is_diverging(p));

        pen->c->set_source_rgb(pen->to, c.red, c.green, c.blue);
        pen->c->rectangle(pen->to, left, p->top + p->height * (STEPS - 1 - k) / STEPS, wide,
                          p->height / STEPS + 1);
        pen->c->fill(pen->to);
    }
    cmd_ink(pen, 0.25);
    pen->c->set_line_width(pen->to, 1);
    pen->c->rectangle(pen->to, left, p->top, wide, p->height);
    pen->c->stroke(pen->to);
    const cmd_ticks t = cmd_ticks_of(lo, hi, 6, NULL, NULL);
    for (int k = 0; k < t.n; k++) {
        const double at = p->top + p->height * (1 - cmd_place_between(t.at[k], lo, hi));

        cmd_draw_line(pen, left + wide, at, left + wide + 4, at, 1);
        cmd_write_text(pen, left + wide + 8, at + 4, 0, 12, t.label[k]);
    }
    if (p->r[0]->units && *p->r[0]->units)
        cmd_write_text(pen, left + wide / 2, p->top - 10, 0.5, 12, p->r[0]->units);
}

/* Draws a panel with an image: pixels, frame, axes, colour bar, title. */
void cmd_draw_image(const cmd_pen *pen, const cmd_panel *p)
{
    cairo_surface_t *image = image_of(pen, p);
    const int64_t rows = cmd_extent(p->r[0], p->axis[0]), columns = cmd_extent(p->r[0], p->axis[1]);
    const double  high = (double)(rows > 2 * CMD_MOST_HEIGHT ? 2 * CMD_MOST_HEIGHT : rows);
    const double  wide = (double)(columns > 2 * CMD_WIDTH ? 2 * CMD_WIDTH : columns);

    pen->c->save(pen->to);
    pen->c->translate(pen->to, p->left, p->top);
    pen->c->scale(pen->to, p->width / wide, p->height / high);
    pen->c->set_source_surface(pen->to, image, 0, 0);
    pen->c->pattern_set_filter(pen->c->get_source(pen->to),
                               p->width < wide ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
    pen->c->rectangle(pen->to, 0, 0, wide, high);
    pen->c->fill(pen->to);
    pen->c->restore(pen->to);
    pen->c->surface_destroy(image);
    cmd_draw_frame(pen, p);
    cmd_draw_axes(pen, p, &p->r[0]->axis[p->axis[1]], cmd_axis_title(p->r[0], p->axis[1]),
                  &p->r[0]->axis[p->axis[0]], cmd_axis_title(p->r[0], p->axis[0]));
    draw_bar(pen, p);
    cmd_draw_title(pen, p);
}

#else
typedef int cmd_no_image;
#endif

/* plot.c - draws results as a picture of panels, one below the other: an image with a colour
 * bar, or a chart of lines. */
#include "plot/plot.h"
#include "base.h"
#include <string.h>

/* Finds the first two axes with an extent other than 1. Returns how many such axes there are. */
static int long_axes(const cmd_result *r, int axis[2])
{
    const rd_shape shape = rd_shape_of(r->x);
    int            n     = 0;

    for (int k = 0; k < shape.n; k++)
        if (shape.at[k] != 1) {
            if (n < 2)
                axis[n] = k;
            n++;
        }
    return n;
}

/* The suffix of a path with its '.'; "" if there is none. */
static const char *suffix_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot ? dot : "";
}

/* Checks, before anything is computed, that the file has a known suffix, and that each result has
 * one or two axes of several indices, and elements. */
void cmd_plan_plot(const char *path, const cmd_results *results)
{
    static const char *const known[] = { ".png", ".svg", ".pdf" };
    bool                     is      = false;
    int                      axis[2];

#if !RDIM_CAIRO
    cmd_fail("--plot: this rdim was built without cairo, which draws pictures");
#endif
    for (int k = 0; k < 3; k++)
        is |= strcmp(suffix_of(path), known[k]) == 0;
    if (!is)
        cmd_misuse("--plot %s: the name ends with .png, .svg or .pdf", path);
    for (int k = 0; k < results->n; k++) {
        const rd_shape shape = rd_shape_of(results->at[k].x);
        const int      n     = long_axes(&results->at[k], axis);

        if (n < 1 || n > 2)
            cmd_misuse(
                "--plot: %s has shape %s; a picture is of one axis or two, --only '...' takes a "
                "part",
                results->at[k].name, cmd_shape_text(&shape));
        for (int a = 0; a < shape.n; a++)
            if (shape.at[a] == 0)
                cmd_misuse("--plot: %s has no elements", results->at[k].name);
    }
}

#if RDIM_CAIRO
#include "plot/panel.h"
#include <float.h>
#include <math.h>

/* Points around the inside of a panel; BAR: at the right, with a colour bar. */
enum { LEFT = 78, RIGHT = 24, TOP = 44, BOTTOM = 52, BAR = 118 };

/* True if coordinates are evenly spaced, up to 2 % of a step; otherwise an image shows indices. */
static bool is_even(const cmd_result *r, int axis)
{
    const int64_t n = cmd_extent(r, axis);
    const double *x = r->axis[axis].at;

    if (!x || n < 2)
        return false;
    const double step = (x[n - 1] - x[0]) / (double)(n - 1);
    for (int64_t i = 1; i < n; i++)
        if (!(fabs(x[i] - x[i - 1] - step) <= 0.02 * fabs(step)))
            return false;
    return step != 0;
}

/* Finds the least and the greatest finite value of a panel; both are 0 if there is none. */
static void find_range(cmd_panel *p)
{
    p->lo = INFINITY;
    p->hi = -INFINITY;
    for (int k = 0; k < p->n; k++)
        for (int64_t i = 0, n = cmd_count(p->r[k]); i < n; i++) {
            const double x = cmd_value(p->r[k], i);

            if (isfinite(x)) {
                p->lo = fmin(p->lo, x);
                p->hi = fmax(p->hi, x);
            }
        }
    if (!(p->lo <= p->hi))
        p->lo = p->hi = 0;
}

/* ---- Panels ---------------------------------------------------------------------------------- */
/* True if the axis of r has the same extent and coordinates as the axis of the lines of the
 * panel. */
static bool has_same_axis(const cmd_panel *p, const cmd_result *r, int axis)
{
    const cmd_axis *a = &p->r[0]->axis[p->axis[1]], *b = &r->axis[axis];

    if (a->n != b->n || !a->at != !b->at)
        return false;
    for (int64_t i = 0; a->at && i < a->n; i++)
        if (a->at[i] != b->at[i])
            return false;
    return true;
}

/* Makes the panels: one for each image, and one for each chart. Lines with the same axis as those
 * of the previous panel go into its chart. Returns how many there are. */
static int make_panels(const cmd_results *results, cmd_panel *list)
{
    int n = 0;

    for (int k = 0; k < results->n; k++) {
        const cmd_result *r       = &results->at[k];
        int               axis[2] = { 0, 0 };
        const bool        image   = long_axes(r, axis) == 2;

        if (!image)
            axis[1] = axis[0];
        if (!image && n && !list[n - 1].image && list[n - 1].n < CMD_MOST_LINES &&
            has_same_axis(&list[n - 1], r, axis[1])) {
            list[n - 1].r[list[n - 1].n++] = r;
            continue;
        }
        list[n++] = (cmd_panel){ .r = { r }, .n = 1, .axis = { axis[0], axis[1] }, .image = image };
    }
    return n;
}

/* Finds the edges of an image: half a step beyond the first and the last coordinate, or, if these
 * are not evenly spaced, index. */
static void edges_of(const cmd_result *r, int axis, double *from, double *to)
{
    const int64_t n = cmd_extent(r, axis);

    if (is_even(r, axis)) {
        const double *x = r->axis[axis].at, half = (x[n - 1] - x[0]) / (double)(n - 1) / 2;
        *from = x[0] - half;
        *to   = x[n - 1] + half;
    } else {
        *from = -0.5;
        *to   = (double)n - 0.5;
    }
}

/* Sets the size and the coordinates of an image; a map in degrees keeps its proportions. Without
 * evenly spaced coordinates the first row is at the top, as in matrices. Else coordinates grow
 * upward, and the first row is at the top if they descend. */
static void place_image(cmd_panel *p)
{
    const cmd_result *r    = p->r[0];
    const int64_t     rows = cmd_extent(r, p->axis[0]), columns = cmd_extent(r, p->axis[1]);
    const bool        even = is_even(r, p->axis[0]);

    p->width = CMD_WIDTH - LEFT - BAR;
    edges_of(r, p->axis[1], &p->x0, &p->x1);
    edges_of(r, p->axis[0], &p->y0, &p->y1);
    double shape = (double)rows / (double)columns;
    if (even && is_even(r, p->axis[1]) && r->axis[p->axis[0]].units &&
        strncmp(r->axis[p->axis[0]].units, "degree", 6) == 0)
        shape = fabs(p->y1 - p->y0) / fabs(p->x1 - p->x0);
    p->height = p->width * shape;
    if (p->height > CMD_MOST_HEIGHT) {
        p->width *= CMD_MOST_HEIGHT / p->height;
        p->height = CMD_MOST_HEIGHT;
    }
    p->width  = fmax(p->width, 160);
    p->height = fmax(p->height, 140);
    p->down   = !even || p->y1 < p->y0;
    if (p->down) {
        const double first = p->y0;
        p->y0              = p->y1;
        p->y1              = first;
    }
}

/* Sets the size and the coordinates of a chart. Values get a margin of 5 % above and below. */
static void place_lines(cmd_panel *p)
{
    const cmd_result *r    = p->r[0];
    const int64_t     n    = cmd_extent(r, p->axis[1]);
    const double      room = p->hi > p->lo ? 0.05 * p->hi - 0.05 * p->lo : cmd_room_beside(p->lo);

    p->x0 = INFINITY;
    p->x1 = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        p->x0 = fmin(p->x0, cmd_coordinate(r, p->axis[1], i));
        p->x1 = fmax(p->x1, cmd_coordinate(r, p->axis[1], i));
    }
    if (!(p->x1 > p->x0))
        p->x1 = p->x0 + cmd_room_beside(p->x0);
    p->y0     = fmax(p->lo - room, -DBL_MAX);
    p->y1     = fmin(p->hi + room, DBL_MAX);
    p->width  = CMD_WIDTH - LEFT - RIGHT;
    p->height = 300;
}

/* Places all panels, one below the other. Returns the height of the picture. */
static double place_panels(cmd_panel *list, int n)
{
    double top = 0;

    for (int k = 0; k < n; k++) {
        cmd_panel *p = &list[k];

        find_range(p);
        if (p->image)
            place_image(p);
        else
            place_lines(p);
        p->left = LEFT;
        p->top  = top + TOP;
        top     = p->top + p->height + BOTTOM;
    }
    return top;
}

/* Makes the surface that cairo draws to, by the suffix of the file. */
static cairo_surface_t *surface_of(const cmd_cairo_api *c, const char *path, const char *suffix,
                                   double height, double scale)
{
    if (strcmp(suffix, ".svg") == 0)
        return c->svg_surface_create(path, CMD_WIDTH, height);
    if (strcmp(suffix, ".pdf") == 0)
        return c->pdf_surface_create(path, CMD_WIDTH, height);
    return c->image_surface_create(CAIRO_FORMAT_RGB24, (int)(CMD_WIDTH * scale),
                                   (int)(height * scale));
}

/* Draws all panels into a temporary file, then renames it. A .png has 1.5 pixels for each point. */
void cmd_plot(const char *path, const cmd_results *results)
{
    const cmd_cairo_api *c      = cmd_cairo_load();
    cmd_panel           *list   = cmd_room((size_t)results->n * sizeof *list);
    const int            n      = make_panels(results, list);
    const double         height = place_panels(list, n);
    const char          *aside = cmd_aside(path), *suffix = suffix_of(path);
    const bool           png     = strcmp(suffix, ".png") == 0;
    const double         scale   = png ? 1.5 : 1;
    cairo_surface_t     *surface = surface_of(c, aside, suffix, height, scale);
    const cmd_pen        pen     = { c, c->create(surface) };

    c->scale(pen.to, scale, scale);
    c->set_source_rgb(pen.to, 1, 1, 1);
    c->paint(pen.to);
    c->select_font_face(pen.to, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    for (int k = 0; k < n; k++) {
        if (list[k].image)
            cmd_draw_image(&pen, &list[k]);
        else
            cmd_draw_lines(&pen, &list[k]);
    }
    cairo_status_t status = c->status(pen.to);
    c->destroy(pen.to);
    if (status == CAIRO_STATUS_SUCCESS && png)
        status = c->surface_write_to_png(surface, aside);
    c->surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = c->surface_status(surface);
    if (status != CAIRO_STATUS_SUCCESS)
        cmd_fail("%s: the picture cannot be written: %s", path, c->status_to_string(status));
    c->surface_destroy(surface);
    cmd_aside_done(path, aside);
}
#else
/* Without cairo nothing is drawn; cmd_plan_plot() has ended the program before. */
void cmd_plot(const char *path, const cmd_results *results)
{
    (void)path;
    (void)results;
}
#endif

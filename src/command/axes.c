/* axes.c - names and coordinates of axes, and whether two axes are the same places. */
#include "axes.h"
#include "convert.h"
#include "dates.h"
#include "quantities.h"
#include "times.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Where axes come from -------------------------------------------------------------------- */
static const cmd_axis *made_axis(const cmd_inputs *in, const rd_axis_from *from)
{
    for (const cmd_made_axis *m = in->made; m; m = m->older)
        if (m->from == from->from && m->axis == from->axis)
            return &m->is;
    return NULL;
}

const cmd_axis *cmd_axis_at(const cmd_inputs *in, rd_expr *x, int axis, rd_axis_from *from)
{
    const rd_axis_from itself = { x, axis, 0, 1 };
    const cmd_axis    *own    = made_axis(in, &itself);

    *from = itself;
    if (own)
        return own;
    if (!rd_axis_source(x, axis, from))
        return NULL;
    for (int k = 0; k < in->n_known; k++) {
        const cmd_known *known = &in->known[k];

        for (int a = 0; a < known->v.shape.n; a++)
            if (known->from[a].from == from->from && known->from[a].axis == from->axis)
                return &known->v.axis[a];
    }
    return made_axis(in, from);
}

static const double *part_of(const double *at, const rd_axis_from *from, int64_t n)
{
    double *part = at ? cmd_room((size_t)n * sizeof *part) : NULL;

    for (int64_t i = 0; at && i < n; i++)
        part[i] = at[from->offset + from->step * i];
    return part;
}

/* Coordinates of a part of an axis: index i of it is index offset + step i of the whole. */
static void cut(cmd_axis *axis, const cmd_axis *whole, const rd_axis_from *from, int64_t n)
{
    *axis              = *whole;
    axis->n            = n;
    axis->at           = NULL;
    axis->middle       = NULL;
    const int64_t last = from->offset + from->step * (n - 1);
    if (n == 0 || from->offset < 0 || from->offset >= whole->n || last < 0 || last >= whole->n)
        return;
    axis->at     = part_of(whole->at, from, n);
    axis->middle = part_of(whole->middle, from, n);
}

cmd_axis cmd_axis_seen(const cmd_inputs *in, rd_expr *x, int axis)
{
    rd_axis_from    from;
    const rd_shape  shape = rd_shape_of(x);
    const cmd_axis *whole = cmd_axis_at(in, x, axis, &from);
    cmd_axis        seen  = { .n = shape.at[axis] };

    if (whole)
        cut(&seen, whole, &from, shape.at[axis]);
    return seen;
}

void cmd_know_axis(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *is)
{
    rd_axis_from   from;
    cmd_made_axis *m = cmd_room(sizeof *m);

    if (!rd_axis_source(x, axis, &from)) /* an axis of one group beside others */
        from = (rd_axis_from){ .from = x, .axis = axis, .step = 1 };
    if (from.offset || from.step != 1)
        return;
    *m       = (cmd_made_axis){ from.from, from.axis, *is, in->made };
    in->made = m;
}

/* A view does not say where an axis of one element comes from: so that of the expression itself is told. */
static void know_itself(cmd_inputs *in, rd_expr *y, int axis, const cmd_axis *is)
{
    cmd_made_axis *m = cmd_room(sizeof *m);

    if (is->n != 1 || cmd_axis_at(in, y, axis, &(rd_axis_from){ 0 }))
        return;
    *m       = (cmd_made_axis){ y, axis, *is, in->made };
    in->made = m;
}

/* Axes of one element that x had and y, a part of it along other axes, still has. */
static rd_expr *with_single_axes(cmd_inputs *in, rd_expr *x, rd_expr *y, int dropped)
{
    const int n = y ? rd_shape_of(y).n : 0;

    for (int k = 0; k < n; k++) {
        const cmd_axis is = cmd_axis_seen(in, x, k + (dropped >= 0 && k >= dropped));

        if (is.name)
            know_itself(in, y, k, &is);
    }
    return y;
}

/* Names that programs give to dimensions without any: of one variable, though others have as many. */
static bool is_invented(const cmd_axis *axis)
{
    static const char *const begins[] = { "axis_", "dim_", "phony_dim_" };
    const char              *name     = axis->name;

    for (size_t k = 0; k < sizeof begins / sizeof *begins && !axis->at; k++) {
        const size_t n = strlen(begins[k]);

        if (strncmp(name, begins[k], n) == 0 && name[n] &&
            strspn(name + n, "0123456789") == strlen(name + n))
            return true;
    }
    return false;
}

/* Under --align=position no name says what meets. */
static const char *name_to_meet(void *user, rd_expr *x, int axis)
{
    const cmd_inputs *in    = user;
    const cmd_axis   *known = cmd_axis_at(in, x, axis, &(rd_axis_from){ 0 });

    return in->align != CMD_POSITION && known && known->name && !is_invented(known) ? known->name
                                                                                    : NULL;
}

int cmd_axis_of(void *user, rd_expr *x, const char *name)
{
    const rd_shape shape = rd_shape_of(x);

    for (int k = 0; k < shape.n; k++) {
        const cmd_axis *known = cmd_axis_at(user, x, k, &(rd_axis_from){ 0 });

        if (known && known->name && strcmp(known->name, name) == 0)
            return k;
    }
    return -1;
}

/* ---- The same places? ------------------------------------------------------------------------ */
/* "90 to -90 (73)", dates where they are times. */
static const char *range_text(const cmd_axis *a)
{
    const char *first, *last;

    if (!a->at || a->n == 0)
        return cmd_text("%lld places", (long long)a->n);
    first = cmd_date_text(a->at[0], a->units, a->calendar);
    last  = cmd_date_text(a->at[a->n - 1], a->units, a->calendar);
    if (first && last)
        return cmd_text("%s to %s (%lld)", first, last, (long long)a->n);
    return cmd_text("%.9g to %.9g (%lld)", a->at[0], a->at[a->n - 1], (long long)a->n);
}

static double least_distance(const cmd_axis *a)
{
    double least = INFINITY;

    for (int64_t i = 1; i < a->n; i++)
        least = fmin(least, fabs(a->at[i] - a->at[i - 1]));
    return least;
}

/* What one place may differ from the same: a thousandth of the distance of neighbours, and where there are
 * none, or two are at one place, the last digits of f32. */
static double tolerance(const cmd_axis *a)
{
    const double least = least_distance(a);
    double       most  = 0;

    for (int64_t i = 0; i < a->n; i++)
        most = fmax(most, fabs(a->at[i]));
    return least > 0 && isfinite(least) ? least / 1000 : most * 1e-6;
}

static bool is_near(double x, double y, double most)
{
    return fabs(x - y) <= most || (isnan(x) && isnan(y));
}

static bool turn_of(const cmd_axis *a, const cmd_axis *b, cmd_turn *turn)
{
    *turn = (cmd_turn){ .times = 1, .by = 1 };
    return !a->units || !b->units ||
           cmd_units_meet(a->units, a->calendar, b->units, b->calendar, turn);
}

/* In the units of a.  False: they have units of which neither is the other. */
static bool coordinates_in_units(const cmd_axis *a, const cmd_axis *b, double *at)
{
    cmd_turn turn;

    if (!turn_of(a, b, &turn))
        return false;
    for (int64_t i = 0; i < b->n; i++)
        at[i] = cmd_turned(&turn, b->at[i]);
    return true;
}

static bool are_near(const cmd_axis *a, const double *b, bool backwards)
{
    const double most = tolerance(a);

    for (int64_t i = 0; i < a->n; i++)
        if (!is_near(a->at[i], b[backwards ? a->n - 1 - i : i], most))
            return false;
    return true;
}

const char *cmd_axes_differ(const cmd_axis *a, const cmd_axis *b)
{
    const char *name = a->name ? a->name : "an axis";

    if (a->at && b->at) {
        double *at = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *at);

        if (!coordinates_in_units(a, b, at))
            return cmd_text("along %s one is in %s%s%s, the other in %s%s%s%s", name, a->units,
                            a->calendar ? " of the calendar " : "", a->calendar ? a->calendar : "",
                            b->units, b->calendar ? " of the calendar " : "",
                            b->calendar ? b->calendar : "", cmd_units_hint());
        if (a->n == b->n && are_near(a, at, false))
            return NULL;
        return cmd_text("along %s one has %s, the other %s%s", name, range_text(a), range_text(b),
                        a->n == b->n && are_near(a, at, true) ? ", the same in the other order"
                                                              : "");
    }
    return a->n == b->n ? NULL
                        : cmd_text("along %s one has %lld places, the other %lld", name,
                                   (long long)a->n, (long long)b->n);
}

/* ---- Meeting --------------------------------------------------------------------------------- */
/* An axis with the coordinates at these places. */
static cmd_axis at_places(const cmd_axis *axis, const int64_t *place, int64_t n)
{
    cmd_axis is     = *axis;
    double  *at     = cmd_room((size_t)(n ? n : 1) * sizeof *at);
    double  *middle = axis->middle ? cmd_room((size_t)(n ? n : 1) * sizeof *middle) : NULL;

    for (int64_t i = 0; i < n; i++) {
        at[i] = axis->at[place[i]];
        if (middle)
            middle[i] = axis->middle[place[i]];
    }
    is.n      = n;
    is.at     = at;
    is.middle = middle;
    return is;
}

/* The places `at` of an axis of x, in their order, as a slice where they are one.  `is`: that axis of the
 * result. */
static rd_expr *pick(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                     const cmd_axis *is)
{
    const int64_t step = n > 1 ? at[1] - at[0] : 1;
    bool          even = step != 0;

    for (int64_t i = 1; i < n; i++)
        even &= at[i] - at[i - 1] == step;
    if (even) {
        const int64_t stop = at[n - 1] + (step > 0 ? 1 : -1);
        rd_expr      *y    = rd_slice_axis(x, axis, at[0], stop < 0 ? RD_OPEN : stop, step);

        if (y)
            know_itself(in, y, axis, is);
        return with_single_axes(in, x, y, -1);
    }
    rd_expr *index =
        rd_leaf(in->ctx, &(rd_array){ .in = at, .type = RD_I64, .shape = RD_SHAPE(n) });
    if (index)
        cmd_know_axis(in, index, 0, is);
    return index ? rd_take(x, axis, index) : NULL;
}

typedef struct coordinate {
    double  value;
    int64_t at;
} coordinate;

static int by_value(const void *a, const void *b)
{
    const double x = ((const coordinate *)a)->value, y = ((const coordinate *)b)->value;

    return (x > y) - (x < y);
}

/* Where the coordinate nearest to x is, if it is near enough; -1. */
static int64_t place_of(const coordinate *sorted, int64_t n, double x, double most)
{
    int64_t low = 0, high = n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (sorted[middle].value < x - most)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && is_near(sorted[low].value, x, most) ? sorted[low].at : -1;
}

int64_t cmd_match_axes(const cmd_axis *a, const cmd_axis *b, double most, int64_t *place)
{
    coordinate *sorted = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *sorted);
    double     *at     = cmd_room((size_t)(b->n ? b->n : 1) * sizeof *at);
    int64_t     n      = 0;

    for (int64_t i = 0; i < a->n; i++)
        place[i] = -1;
    if (!coordinates_in_units(a, b, at))
        return 0;
    for (int64_t i = 0; i < b->n; i++)
        sorted[i] = (coordinate){ at[i], i };
    qsort(sorted, (size_t)b->n, sizeof *sorted, by_value);
    for (int64_t i = 0; i < a->n; i++) {
        place[i] = place_of(sorted, b->n, a->at[i], most);
        n += place[i] >= 0;
    }
    return n;
}

/* y at the coordinates of x; NaN where it has none. */
static rd_expr *like_left(cmd_inputs *in, rd_expr *y, int axis, int64_t *place, int64_t n,
                          const cmd_axis *is)
{
    const rd_shape shape  = rd_shape_of(y);
    bool          *there  = cmd_room((size_t)n);
    bool           all    = true;
    rd_shape       beside = { .n = shape.n };

    for (int64_t i = 0; i < n; i++) {
        there[i] = place[i] >= 0;
        all &= there[i];
        place[i] = there[i] ? place[i] : 0;
    }
    rd_expr *taken = pick(in, y, axis, place, n, is);
    if (all || !taken)
        return taken;
    for (int k = 0; k < shape.n; k++)
        beside.at[k] = k == axis ? n : 1;
    rd_expr *mask =
        rd_leaf(in->ctx, &(rd_array){ .in = there, .type = RD_BOOL, .shape = RD_SHAPE(n) });
    if (mask)
        cmd_know_axis(in, mask, 0, is);
    return mask ? rd_where(rd_reshape(mask, beside), taken, rd_num(in->ctx, NAN)) : NULL;
}

/* Both at the coordinates that both have, in the order of the first. */
static bool inner(cmd_inputs *in, rd_expr **x, int x_axis, rd_expr **y, int y_axis,
                  const int64_t *place, const cmd_axis *a)
{
    int64_t *of_x = cmd_room((size_t)a->n * sizeof *of_x);
    int64_t *of_y = cmd_room((size_t)a->n * sizeof *of_y);
    int64_t  n    = 0;

    for (int64_t i = 0; i < a->n; i++)
        if (place[i] >= 0) {
            of_x[n]   = i;
            of_y[n++] = place[i];
        }
    const cmd_axis is = at_places(a, of_x, n);
    *x                = pick(in, *x, x_axis, of_x, n, &is);
    *y                = pick(in, *y, y_axis, of_y, n, &is);
    return *x && *y;
}

/* Parts of one axis of a file, with as many elements between neighbours, are where the formula puts them:
 * x[1:] - x[:-1]. */
static bool is_one_axis(const cmd_inputs *in, rd_expr *x, int x_axis, rd_expr *y, int y_axis)
{
    rd_axis_from    of_x, of_y;
    const cmd_axis *a = cmd_axis_at(in, x, x_axis, &of_x), *b = cmd_axis_at(in, y, y_axis, &of_y);

    return a && b && of_x.step == of_y.step &&
           (a == b || (a->at && b->at && !cmd_axes_differ(a, b)));
}

static bool units_meet(const cmd_axis *a, const cmd_axis *b)
{
    cmd_turn turn;

    return a->at && b->at && turn_of(a, b, &turn);
}

bool cmd_axes_meet(void *user, rd_expr **x, int x_axis, rd_expr **y, int y_axis, char *why)
{
    cmd_inputs    *in = user;
    const cmd_axis a = cmd_axis_seen(in, *x, x_axis), b = cmd_axis_seen(in, *y, y_axis);

    if (a.n == b.n && is_one_axis(in, *x, x_axis, *y, y_axis))
        return true;
    const char *differ = cmd_axes_differ(&a, &b);
    if (!differ)
        return true;
    if (in->align != CMD_EXACT && units_meet(&a, &b)) {
        int64_t      *place = cmd_room((size_t)(a.n ? a.n : 1) * sizeof *place);
        const int64_t n     = cmd_match_axes(&a, &b, tolerance(&a), place);

        if (n > 0 && in->align == CMD_INNER)
            return inner(in, x, x_axis, y, y_axis, place, &a);
        if (n > 0)
            return (*y = like_left(in, *y, y_axis, place, a.n, &a)) != NULL;
        snprintf(why, RD_WHY, "%s: none is in both", differ);
        return false;
    }
    snprintf(
        why, RD_WHY,
        "%s.  --align=inner takes the coordinates that both have, left those of the first, and "
        "position takes both as they lie",
        differ);
    return false;
}

/* ---- By coordinate --------------------------------------------------------------------------- */
/* What a bound says, in units of the axis: from, up to below `to` for a text, which is all of a day or of a
 * month. */
typedef struct span {
    double from, to;
    bool   open; /* `to` is no part of it */
} span;

static bool read_bound(const cmd_axis *axis, const rd_formula_bound *b, span *s, char *why)
{
    *s = (span){ b->number, b->number, false };
    if (!b->text)
        return true;
    if (cmd_value_of_word(axis, b->text, &s->from)) {
        s->to = s->from;
        return true;
    }
    s->open = true;
    if (cmd_interval(b->text, axis->units, axis->calendar, &s->from, &s->to))
        return true;
    snprintf(why, RD_WHY, "%s=\"%s\": %s", axis->name, b->text,
             cmd_date_text(0, axis->units, axis->calendar)
                 ? "no date of the calendar, such as 1990, 1990-06, 1990-06-15 or 1990-06-15 12:00"
                 : "this axis has no dates: its coordinates are numbers");
    return false;
}

/* The nearest one, but none farther away than neighbours are. */
static rd_expr *select_nearest(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *seen,
                               double value, char *why)
{
    const double distance = least_distance(seen);
    int64_t      best     = 0;

    for (int64_t i = 1; i < seen->n; i++)
        if (fabs(seen->at[i] - value) < fabs(seen->at[best] - value))
            best = i;
    const double off  = fabs(seen->at[best] - value);
    const double most = isfinite(distance) ? distance : fmax(1e-6 * fabs(value), 1e-9);
    if (off <= most)
        return with_single_axes(in, x, rd_select(x, axis, best), axis);
    snprintf(why, RD_WHY, "%s=%.9g is not among its coordinates, %s", seen->name, value,
             range_text(seen));
    return NULL;
}

rd_expr *cmd_select(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                    const rd_formula_bound *high, char *why)
{
    cmd_inputs    *in   = user;
    const cmd_axis seen = cmd_axis_seen(in, x, axis);
    span           from = { -INFINITY, INFINITY, false }, to = from;

    if (!seen.at) {
        snprintf(why, RD_WHY, "axis %s has no coordinates: say a place, as in x[3]",
                 seen.name ? seen.name : "without a name");
        return NULL;
    }
    if ((low && !read_bound(&seen, low, &from, why)) ||
        (high && !read_bound(&seen, high, &to, why)))
        return NULL;
    if (!range && !low->text)
        return select_nearest(in, x, axis, &seen, low->number, why);
    if (!range)
        to = from;
    int64_t *at = cmd_room((size_t)(seen.n ? seen.n : 1) * sizeof *at), n = 0;
    for (int64_t i = 0; i < seen.n; i++)
        if (seen.at[i] >= from.from && (to.open ? seen.at[i] < to.to : seen.at[i] <= to.to))
            at[n++] = i;
    const cmd_axis is = at_places(&seen, at, n);
    if (n)
        return pick(in, x, axis, at, n, &is);
    snprintf(why, RD_WHY, "none of its coordinates is there: axis %s has %s", seen.name,
             range_text(&seen));
    return NULL;
}

const rd_formula_axes cmd_formula_axes = {
    .size    = sizeof cmd_formula_axes,
    .name    = name_to_meet,
    .meet    = cmd_axes_meet,
    .select  = cmd_select,
    .gather  = cmd_date_places,
    .labels  = cmd_date_labels,
    .grouped = cmd_date_groups,
    .call    = cmd_date_function,
    .alike   = cmd_units_alike,
    .made    = cmd_units_made,
};

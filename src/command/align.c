/* align.c - aligns two arrays along a common axis, as --align says.
 *
 * exact: other coordinates are an error. inner: both keep the coordinates that both have. left:
 * the second array is read at the coordinates of the first, NaN where it has none. position:
 * nothing is compared.
 *
 * A place is an index along an axis; the axis of the second array that has no such coordinate has
 * place -1. */
#include "align.h"
#include "axes.h"
#include "match.h"
#include "places.h"
#include <math.h>
#include <stdio.h>

/* Takes y at the coordinates of x (a left join), NaN where y has none. place[]: for each of the n
 * coordinates the index in y, -1 for none, which becomes 0 here and is masked. `is`: that axis of
 * x, which the result gets. */
static rd_expr *take_at_left(cmd_inputs *in, rd_expr *y, int axis, int64_t *place, int64_t n,
                             const cmd_axis *is)
{
    const rd_shape shape     = rd_shape_of(y);
    bool          *there     = cmd_room((size_t)n);
    bool           all_there = true;
    rd_shape       beside    = { .n = shape.n };

    for (int64_t i = 0; i < n; i++) {
        there[i] = place[i] >= 0;
        all_there &= there[i];
        place[i] = there[i] ? place[i] : 0;
    }
    rd_expr *taken = cmd_pick(in, y, axis, place, n, is);
    if (all_there || !taken)
        return taken;
    for (int k = 0; k < shape.n; k++)
        beside.at[k] = k == axis ? n : 1;
    rd_expr *mask =
        rd_leaf(in->ctx, &(rd_array){ .in = there, .type = RD_BOOL, .shape = RD_SHAPE(n) });
    if (mask)
        cmd_know_axis(in, mask, 0, is);
    return mask ? rd_where(rd_reshape(mask, beside), taken, rd_num(in->ctx, NAN)) : NULL;
}

/* Takes both arrays at the coordinates that both have (an inner join), in the order of the first
 * array. place[]: the index in y of each coordinate of x, -1 for none; `a`: the axis of x. False
 * after a failure. */
static bool take_common(cmd_inputs *in, rd_expr **x, int x_axis, rd_expr **y, int y_axis,
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
    const cmd_axis is = cmd_axis_at_places(a, of_x, n); /* the common axis */
    *x                = cmd_pick(in, *x, x_axis, of_x, n, &is);
    *y                = cmd_pick(in, *y, y_axis, of_y, n, &is);
    return *x && *y;
}

/* True if both axes are parts of one axis of a file, or of equal ones, with the same step. Then
 * x[1:] - x[:-1] pairs elements by position, as the formula says, although their coordinates
 * differ. */
static bool is_one_axis(const cmd_inputs *in, rd_expr *x, int x_axis, rd_expr *y, int y_axis)
{
    rd_axis_from    of_x, of_y;
    const cmd_axis *a = cmd_axis_at(in, x, x_axis, &of_x), *b = cmd_axis_at(in, y, y_axis, &of_y);

    return a && b && of_x.step == of_y.step &&
           (a == b || (a->at && b->at && !cmd_axes_differ(a, b)));
}

/* True if both axes have coordinates (at), in units that convert to each other. */
static bool units_meet(const cmd_axis *a, const cmd_axis *b)
{
    cmd_turn conversion;

    return a->at && b->at && cmd_turn_of_axes(a, b, &conversion);
}

/* Aligns *x and *y along the two axes, as --align says. False: refused, and `why` says the reason.
 * Equal coordinates need nothing, and so do two parts of one axis with equal lengths. Under `inner`
 * and `left` the axes must share a coordinate. */
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
        const char   *unsure;
        const int64_t n = cmd_match_axes(&a, &b, -1, place, &unsure); /* coordinates in both */

        if (n > 0 && in->align == CMD_INNER)
            return take_common(in, x, x_axis, y, y_axis, place, &a);
        if (n > 0)
            return (*y = take_at_left(in, *y, y_axis, place, a.n, &a)) != NULL;
        if (unsure)
            snprintf(why, RD_WHY, "%s.  --align=position takes both as they lie", unsure);
        else
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

/* places.c - takes elements of arrays at positions along an axis, so that all axes stay known. */
#include "places.h"
#include "axes.h"

/* Remembers the description `is` of an axis of one element of y, by y itself, because a view does
 * not say where such an axis comes from. Longer axes, and those known already, are left out. */
static void know_itself(cmd_inputs *in, rd_expr *y, int axis, const cmd_axis *is)
{
    cmd_made_axis *m = cmd_room(sizeof *m);

    if (is->n != 1 || cmd_axis_at(in, y, axis, &(rd_axis_from){ 0 }))
        return;
    *m       = (cmd_made_axis){ y, axis, *is, in->made };
    in->made = m;
}

/* Remembers for y the axes of one element that it has from x, as views do not say where these come
 * from. Axes without a name in x have nothing to remember. `dropped`: the axis of x that y lacks,
 * so later axes of x have a number one higher; -1: none. Returns y. */
rd_expr *cmd_with_single_axes(cmd_inputs *in, rd_expr *x, rd_expr *y, int dropped)
{
    const int n = y ? rd_shape_of(y).n : 0;

    for (int k = 0; k < n; k++) {
        const cmd_axis is = cmd_axis_seen(in, x, k + (dropped >= 0 && k >= dropped));

        if (is.name)
            know_itself(in, y, k, &is);
    }
    return y;
}

/* Returns the description of a part of an axis: its coordinates at n indices place[], and the
 * middles of their bounds, where it has them. */
cmd_axis cmd_axis_at_places(const cmd_axis *axis, const int64_t *place, int64_t n)
{
    cmd_axis is     = *axis;
    double  *at     = axis->at ? cmd_room((size_t)(n ? n : 1) * sizeof *at) : NULL;
    double  *middle = axis->middle ? cmd_room((size_t)(n ? n : 1) * sizeof *middle) : NULL;

    for (int64_t i = 0; i < n; i++) {
        if (at)
            at[i] = axis->at[place[i]];
        if (middle)
            middle[i] = axis->middle[place[i]];
    }
    is.n      = n;
    is.at     = at;
    is.middle = middle;
    return is;
}

/* Gathers n indices at[] along an axis of x, in their order. `is`: that axis of the result, which
 * is remembered by the index array. NULL after a failure. */
rd_expr *cmd_take_places(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is)
{
    rd_expr *index =
        rd_leaf(in->ctx, &(rd_array){ .in = at, .type = RD_I64, .shape = RD_SHAPE(n) });

    if (index)
        cmd_know_axis(in, index, 0, is);
    return index ? cmd_with_single_axes(in, x, rd_take(x, axis, index), /*dropped=*/-1) : NULL;
}

/* Takes n positions at[] along an axis of x: as a slice if they are evenly spaced, else by a
 * gather. Equal positions (step 0) are no slice. A stop before index 0 is RD_OPEN, as -1 would
 * count from the end. `is`: that axis of the result. */
rd_expr *cmd_pick(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                  const cmd_axis *is)
{
    const int64_t step = n > 1 ? at[1] - at[0] : 1;
    bool          even = step != 0;

    for (int64_t i = 1; i < n; i++)
        even &= at[i] - at[i - 1] == step;
    if (!even)
        return cmd_take_places(in, x, axis, at, n, is);
    const int64_t stop = at[n - 1] + (step > 0 ? 1 : -1);
    rd_expr      *y    = rd_slice_axis(x, axis, at[0], stop < 0 ? RD_OPEN : stop, step);
    if (y)
        know_itself(in, y, axis, is);
    return cmd_with_single_axes(in, x, y, /*dropped=*/-1);
}

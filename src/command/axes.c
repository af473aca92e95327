/* axes.c - finds the axis of a file that an axis of an expression comes from, with its name and
 * coordinates.
 *
 * x[2:] is made of axis 0 of x with the offset 2; its coordinates are those of x from index 2
 * on. */
#include "axes.h"
#include <string.h>

/* ---- Where axes come from -------------------------------------------------------------------- */
/* Finds the description of an axis that comes from no file, such as an axis of groups, by the
 * expression and axis where it begins. NULL: none. */
static const cmd_axis *made_axis(const cmd_inputs *in, const rd_axis_from *from)
{
    for (const cmd_made_axis *m = in->made; m; m = m->older)
        if (m->from == from->from && m->axis == from->axis)
            return &m->is;
    return NULL;
}

/* Finds the described axis that an axis of x comes from: one remembered for x itself, one of a
 * file, or another remembered one. *from gets the expression where it begins, and offset and step
 * in it. NULL: none. */
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

/* Copies the n coordinates of a part of an axis: index i of the part is index from->offset +
 * from->step * i of the whole. NULL stays NULL. */
static const double *part_of(const double *at, const rd_axis_from *from, int64_t n)
{
    double *part = at ? cmd_room((size_t)n * sizeof *part) : NULL;

    for (int64_t i = 0; at && i < n; i++)
        part[i] = at[from->offset + from->step * i];
    return part;
}

/* Describes the axis of a part: index i of it is index from->offset + from->step * i of the whole
 * axis. A part that does not lie inside the whole has no coordinates (at NULL). */
static void fill_part(cmd_axis *axis, const cmd_axis *whole, const rd_axis_from *from, int64_t n)
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

/* Describes an axis of x, with the coordinates of its part of a known axis. One that comes from no
 * known axis has only its length. */
cmd_axis cmd_axis_seen(const cmd_inputs *in, rd_expr *x, int axis)
{
    rd_axis_from    from;
    const rd_shape  shape = rd_shape_of(x);
    const cmd_axis *whole = cmd_axis_at(in, x, axis, &from);
    cmd_axis        seen  = { .n = shape.at[axis] };

    if (whole)
        fill_part(&seen, whole, &from, shape.at[axis]);
    return seen;
}

/* Remembers that an axis of x has the description `is`, for an axis that comes from no file. If it
 * is only a part of another axis (offset, step), nothing is remembered. */
void cmd_know_axis(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *is)
{
    rd_axis_from   from;
    cmd_made_axis *m = cmd_room(sizeof *m);

    if (!rd_axis_source(x, axis, &from)) /* an axis of one group has no source */
        from = (rd_axis_from){ .from = x, .axis = axis, .step = 1 };
    if (from.offset || from.step != 1)
        return;
    *m       = (cmd_made_axis){ from.from, from.axis, *is, in->made };
    in->made = m;
}

/* Finds the axis of x by the name that files give it. -1: none. */
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

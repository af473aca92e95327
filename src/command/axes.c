/* axes.c - which axis of a file an axis of an expression is, with its name and coordinates. */
#include "axes.h"
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

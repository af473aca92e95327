/* join.c - joins variables of several files: parts of a time series along time, members of an
 * ensemble along a new axis. */
#include "join.h"
#include "match.h"
#include "convert.h"
#include "quantities.h"
#include "times.h"
#include <string.h>

/* Finds the axis of that name; -1: none. */
int cmd_axis_called(const cmd_variable *v, const char *name)
{
    for (int k = 0; k < v->shape.n; k++)
        if (v->axis[k].name && strcmp(v->axis[k].name, name) == 0)
            return k;
    return -1;
}

/* Finds the axis along which parts are joined: the one that --join names, else the record
 * (unlimited) axis, else time, else the first. -1: a new first axis. */
int cmd_joined_axis(const cmd_variable *v, const char *join)
{
    if (join)
        return cmd_axis_called(v, join);
    for (int k = 0; k < v->shape.n; k++)
        if (v->axis[k].record)
            return k;
    const int time = cmd_axis_called(v, "time");
    return time >= 0 ? time : v->shape.n > 0 ? 0 : -1;
}

/* Returns units and calendar as text, for error messages. */
static const char *units_text(const cmd_axis *axis)
{
    if (!axis->units)
        return "not said";
    return axis->calendar ? cmd_text("%s (%s)", axis->units, axis->calendar) : axis->units;
}

/* Returns the coordinates of an axis, or (middle) the middles of its bounds; NULL: it has none. */
static const double *coordinates_of(const cmd_axis *axis, bool middle)
{
    return middle ? axis->middle : axis->at;
}

/* Concatenates the coordinates of axis k of all n parts (variables of several files), converted to
 * one unit: `total` in all. NULL: a part has none. `middle`: the middles of bounds instead. */
static const double *join_coordinates(int64_t total, int k, int n, const cmd_part *parts,
                                      const cmd_turn *conversion, bool middle)
{
    double *all = cmd_room((size_t)(total ? total : 1) * sizeof *all);
    int64_t at  = 0;

    for (int i = 0; i < n; i++) {
        const int64_t extent = parts[i].v->shape.at[k];
        const double *part   = coordinates_of(&parts[i].v->axis[k], middle);

        if (extent && !part)
            return NULL;
        for (int64_t j = 0; j < extent; j++)
            all[at++] = cmd_turned(&conversion[i], part[j]);
    }
    return all;
}

/* Describes the joined axis, axis k of all n parts (variables of several files): its length, and
 * its coordinates if all parts have them. Units that do not convert end the program, unless
 * --align=position takes them as they are. */
static void join_axis(cmd_axis *axis, int k, int n, const cmd_part *parts, cmd_align align)
{
    cmd_turn *conversion       = cmd_room((size_t)n * sizeof *conversion);
    int64_t   total            = 0;
    bool      have_coordinates = true;

    for (int i = 0; i < n; i++) {
        total += parts[i].v->shape.at[k];
        have_coordinates &= parts[i].v->axis[k].at != NULL || parts[i].v->shape.at[k] == 0;
    }
    for (int i = 0; i < n && have_coordinates; i++) {
        const cmd_axis *part = &parts[i].v->axis[k];

        if (!cmd_units_meet(axis->units, axis->calendar, part->units, part->calendar,
                            &conversion[i]) &&
            align != CMD_POSITION)
            cmd_fail(
                "%s: along %s units are %s, those of %s %s%s; --align=position takes both as they are",
                parts[i].file->path, axis->name ? axis->name : "the joined axis", units_text(part),
                parts[0].file->path, units_text(axis), cmd_units_hint());
    }
    const double *middle = have_coordinates && total
                               ? join_coordinates(total, k, n, parts, conversion, /*middle=*/true)
                               : NULL;
    axis->n              = total;
    axis->at = have_coordinates ? join_coordinates(total, k, n, parts, conversion, /*middle=*/false)
                                : NULL;
    axis->middle = middle;
}

/* Puts a new first axis with this name in front of the others: it numbers the n files. */
static void add_axis(cmd_variable *v, const char *name, int64_t n)
{
    cmd_axis *all = cmd_room(((size_t)v->shape.n + 1) * sizeof *all);

    for (int k = 0; k < v->shape.n; k++)
        all[k + 1] = v->axis[k];
    v->axis    = all;
    v->axis[0] = (cmd_axis){ .name = name, .n = n };
}

/* Ends the program if an axis other than the joined one differs between the variables of two files:
 * in its name, extent or coordinates. */
static void check_axes(const cmd_part *first, const cmd_part *other, int joined)
{
    for (int k = 0; k < first->v->shape.n; k++) {
        const cmd_axis *a = &first->v->axis[k], *b = &other->v->axis[k];
        const char     *differ;

        if (k == joined)
            continue;
        differ = a->name && b->name && strcmp(a->name, b->name) != 0
                     ? cmd_text("axis %d is %s in one, %s in the other", k, a->name, b->name)
                     : cmd_axes_differ(a, b);
        if (differ)
            cmd_fail(
                "%s of %s and of %s cannot be joined: %s.  --align=position takes them as they lie",
                first->v->name, first->file->path, other->file->path, differ);
    }
}

/* The calendar of a variable that holds the coordinates of an axis of times; NULL: it holds
 * none. */
static const char *calendar_of(const cmd_variable *v)
{
    return v->is_axis && v->shape.n ? v->axis[0].calendar : NULL;
}

/* Converts the values x of a variable of a further file to the units of the first one's. If only
 * one of them has units, they are taken as the same, with a warning. */
static rd_expr *convert_part(const cmd_inputs *in, const cmd_part *first, const cmd_part *part,
                             rd_expr *x)
{
    const char *units = first->v->units, *other = part->v->units;
    cmd_turn    conversion;

    if (!units || !other) {
        if (units || other)
            cmd_warn("%s: %s has no units, and in %s it has: taken as the same",
                     units ? part->file->path : first->file->path, first->v->name,
                     units ? first->file->path : part->file->path);
        return x;
    }
    if (!cmd_units_meet(units, calendar_of(first->v), other, calendar_of(part->v), &conversion))
        cmd_fail(
            "%s: %s is in %s, in %s in %s, and these do not convert%s; --units=ignore takes both "
            "as they are",
            part->file->path, part->v->name, other, first->file->path, units, cmd_units_hint());
    return cmd_convert(in->ctx, x, &conversion);
}

/* Reads all parts (variables of several files), checks axes, converts units, and concatenates them
 * along an axis, or stacks them along a new first one (axis is -1). One part is returned as it
 * is. */
cmd_variable cmd_join_parts(const cmd_inputs *in, int n, const cmd_part *parts)
{
    rd_expr    **x = cmd_room((size_t)n * sizeof(rd_expr *));
    cmd_variable v;

    for (int i = 0; i < n; i++)
        x[i] = cmd_read(parts[i].file, parts[i].v);
    v = *parts[0].v;
    if (n == 1)
        return v;
    const int axis = cmd_joined_axis(&v, in->join);
    for (int i = 1; i < n; i++)
        if (parts[i].v->shape.n != v.shape.n)
            cmd_fail("%s: %s has shape %s, and in %s %s: they cannot be joined",
                     parts[i].file->path, v.name, cmd_shape_text(&parts[i].v->shape),
                     parts[0].file->path, cmd_shape_text(&v.shape));
    for (int i = 1; i < n && in->align != CMD_POSITION; i++)
        check_axes(&parts[0], &parts[i], axis);
    for (int i = 1; i < n && !in->ignore_units; i++)
        x[i] = convert_part(in, &parts[0], &parts[i], x[i]);
    const rd_exprs all = { x, n };
    v.x                = axis >= 0 ? rd_concat(axis, all) : rd_stack(/*axis=*/0, all);
    if (!v.x)
        cmd_fail("%s of %s and others cannot be joined: %s", v.name, parts[0].file->path,
                                cmd_error_text(in->ctx));
    v.axis =
        cmd_room((size_t)v.shape.n * sizeof *v.axis); /* a copy: the first part keeps its axes */
    for (int k = 0; k < v.shape.n; k++)
        v.axis[k] = parts[0].v->axis[k];
    if (axis >= 0)
        join_axis(&v.axis[axis], axis, n, parts, in->align);
    else
        add_axis(&v, in->join ? in->join : "member", n);
    v.shape = rd_shape_of(v.x);
    return v;
}

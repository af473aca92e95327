/* results.c - builds the results of a formula: expressions, axes, units. */
#include "results.h"
#include "axes.h"
#include "conditions.h"
#include "date_parts.h"
#include "made_of.h"
#include <string.h>

/* The number of elements of a result, once its array is set. */
int64_t cmd_count(const cmd_result *r)
{
    return cmd_points(&r->array.shape, r->array.type, r->name);
}

/* Returns the name of an axis, or "axis 1" if it has none. */
const char *cmd_axis_name(const cmd_result *r, int axis)
{
    return r->axis[axis].name ? r->axis[axis].name : cmd_text("axis %d", axis);
}

/* Finds the names and coordinates of a result's axes. A matrix of pairs has one axis twice; the
 * second gets another name, as time_1. */
static void set_axes(const cmd_inputs *in, cmd_result *r)
{
    const rd_shape shape = rd_shape_of(r->x);

    for (int k = 0; k < shape.n; k++) {
        r->axis[k] = cmd_axis_seen(in, r->x, k);
        for (int j = 0; j < k; j++)
            if (r->axis[j].name && r->axis[k].name && strcmp(r->axis[j].name, r->axis[k].name) == 0)
                r->axis[k].name = cmd_text("%s_%d", r->axis[k].name, k);
    }
}

/* Takes units and title from the one variable that describes the result. Counts and comparisons
 * have none: their type is an integer or bool, and not the variable's. Differences of times are no
 * times. A result of tas - 273.15 gets a warning, as numbers of a formula have no units. */
static void set_units(const cmd_inputs *in, cmd_result *r)
{
    const cmd_known *only = cmd_only_operand(in, r->made);
    const rd_dtype   type = rd_type_of(r->x);
    const bool       date = only && only->v.units && strcasestr(only->v.units, " since ");

    r->keeps[CMD_UNITS] &= !date || r->keeps[CMD_DATES];
    if (!only || !r->keeps[CMD_UNITS] || !(cmd_is_float(type) || type == rd_type_of(only->v.x)))
        return;
    r->units    = only->v.units;
    r->title    = only->v.title;
    r->calendar = date ? only->v.calendar : NULL;
    if (r->units && cmd_changes_scale(r->bare))
        cmd_warn("%s: the units stay %s, as numbers of a formula have none", r->formula, r->units);
}

/* True if a file is given on the command line, and not only numbers. */
static bool has_input(const cmd_inputs *in)
{
    for (int k = 0; k < in->n; k++)
        if (in->sources[k].n)
            return true;
    return false;
}

/* Ends the program with the error of the formula. If a name was not found, a hint follows: a
 * function of times without its argument, or the names that there are. */
static _Noreturn void refuse(const char *why, const cmd_inputs *in)
{
    const char *names = cmd_names(in);

    if (!in->missing)
        cmd_misuse("%s", why);
    if (cmd_date_part_called(in->missing))
        cmd_misuse("%s\n%s is a function of times: %s(time)", why, in->missing, in->missing);
    cmd_misuse("%s\n%s", why,
               *names          ? cmd_text("names here are: %s", names)
               : has_input(in) ? "no variable is in the files"
                               : "no file is given: say NAME=FILE behind the formula");
}

/* Finds the facts (units, dates, quantity) that the result keeps from its operands, r->keeps.
 * lost[fact] lists the names of earlier results that have lost it; r->name is added if so. */
static void set_keeps(cmd_result *r, cmd_lost *lost)
{
    for (cmd_keeping what = 0; what < CMD_KEEPINGS; what++) {
        r->keeps[what] = cmd_keeps(what, r->bare, &lost[what]);
        if (r->named && !r->keeps[what])
            lost[what].name[lost[what].n++] = r->name;
    }
}

/* Takes the part of a result that --only asks for: a slice text, or, with '=' in it, subscripts as
 * in a formula, "lat=45". NULL after a failure. */
static rd_expr *part_of(cmd_inputs *in, rd_expr *x, const char *only)
{
    const rd_named        named = { .name = "result", .x = x };
    const rd_formula_opts opts  = { .size = sizeof opts,
                                    .n_in = 1,
                                    .in   = &named,
                                    .find = cmd_lookup,
                                    .user = in,
                                    .axis = cmd_axis_of,
                                    .axes = &cmd_formula_axes };
    rd_named              part;

    if (!strchr(only, '='))
        return rd_slice(x, only);
    return rd_formula_all(in->ctx, cmd_text("result[%s]", only), &opts, 1, &part) == 1 ? part.x
                                                                                       : NULL;
}

/* Builds all results of the formula, with axes and units, and cuts them as --only says. Results
 * with names that begin with _ are helpers, and are dropped. Errors end the program. */
cmd_results cmd_read_formula(const cmd_options *options, cmd_inputs *inputs)
{
    rd_named              named[CMD_MOST_RESULTS];
    const rd_formula_opts opts               = { .size = sizeof opts,
                                                 .find = cmd_lookup,
                                                 .user = inputs,
                                                 .axis = cmd_axis_of,
                                                 .axes = &cmd_formula_axes };
    cmd_lost              lost[CMD_KEEPINGS] = { 0 };
    cmd_statements        statements         = { 0 };
    const int   n   = rd_formula_all(inputs->ctx, options->formula, &opts, CMD_MOST_RESULTS, named);
    cmd_results all = { .at = cmd_room((size_t)(n > 0 ? n : 1) * sizeof *all.at) };

    if (n <= 0)
        refuse(cmd_error_text(inputs->ctx), inputs);
    for (int k = 0; k < n; k++) {
        cmd_result        *r    = &all.at[all.n];
        const bool         said = named[k].name && *named[k].name;
        const char        *bare = cmd_without_comments(named[k].text);
        const cmd_made_of *made = cmd_read_statement(&statements, inputs, named[k].name, bare);

        if (named[k].add)
            cmd_misuse("%s: += adds to a result of the formula, and there is none of this name",
                       named[k].text);
        *r = (cmd_result){ .name = said ? cmd_copy(named[k].name, strlen(named[k].name)) : "result",
                           .named   = said,
                           .formula = named[k].text,
                           .bare    = bare,
                           .x       = named[k].x,
                           .made    = made };
        set_keeps(r, lost);
        if (said && named[k].name[0] == '_') /* a helper that only other results use */
            continue;
        if (options->only)
            r->x = part_of(inputs, r->x, options->only);
        if (!r->x)
            cmd_misuse("--only: %s", cmd_error_text(inputs->ctx));
        set_axes(inputs, r);
        set_units(inputs, r);
        all.n++;
    }
    return all;
}

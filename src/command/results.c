/* results.c - from a formula to results. */
#include "results.h"
#include "join.h"
#include "made_of.h"
#include <string.h>

enum { MOST_RESULTS = 64 };

int64_t cmd_count(const cmd_result *r)
{
    return cmd_points(&r->array.shape, r->array.type, r->name);
}

const char *cmd_axis_name(const cmd_result *r, int axis)
{
    return r->axis[axis].name ? r->axis[axis].name : cmd_text("axis %d", axis);
}

/* The last names that were looked for and not found: for what is said then. */
typedef struct finder {
    cmd_inputs *inputs;
    const char *missing;
} finder;

static rd_expr *find(void *user, rd_ctx *ctx, const char *name)
{
    finder  *f = user;
    rd_expr *x = cmd_lookup(f->inputs, ctx, name);

    if (!x)
        f->missing = cmd_copy(name, strlen(name));
    return x;
}

static int axis_of(void *user, rd_expr *x, const char *name)
{
    const finder *f = user;

    return cmd_axis_of(f->inputs, x, name);
}

/* Coordinates of a part of an axis: index i of it is index offset + step i of the whole. */
static void cut_axis(cmd_axis *axis, const cmd_axis *whole, const rd_axis_from *from, int64_t n)
{
    *axis              = *whole;
    axis->n            = n;
    axis->at           = NULL;
    const int64_t last = from->offset + from->step * (n - 1);
    if (!whole->at || n == 0 || from->offset < 0 || from->offset >= whole->n || last < 0 ||
        last >= whole->n)
        return;
    double *at = cmd_room((size_t)n * sizeof *at);
    for (int64_t i = 0; i < n; i++)
        at[i] = whole->at[from->offset + from->step * i];
    axis->at = at;
}

static void set_axes(const cmd_inputs *in, cmd_result *r)
{
    const rd_shape shape = rd_shape_of(r->x);

    for (int k = 0; k < shape.n; k++) {
        rd_axis_from    from;
        const cmd_axis *whole = cmd_axis_at(in, r->x, k, &from);

        r->axis[k] = (cmd_axis){ .n = shape.at[k] };
        if (whole)
            cut_axis(&r->axis[k], whole, &from, shape.at[k]);
        for (int j = 0; j < k; j++) /* a matrix of pairs has one axis twice */
            if (r->axis[j].name && r->axis[k].name && strcmp(r->axis[j].name, r->axis[k].name) == 0)
                r->axis[k].name = cmd_text("%s_%d", r->axis[k].name, k);
    }
}

/* Of the one variable that it is made of.  What is counted or compared has a type of integers that no
 * variable need have. */
static void set_units(const cmd_inputs *in, cmd_result *r)
{
    const cmd_known *only = cmd_only_operand(in, r->made);
    const rd_dtype   type = rd_type_of(r->x);

    if (!only || !r->keeps || !(cmd_is_float(type) || type == rd_type_of(only->v.x)))
        return;
    r->units = only->v.units;
    r->title = only->v.title;
}

static bool has_input(const cmd_inputs *in)
{
    for (int k = 0; k < in->n; k++)
        if (in->sources[k].n)
            return true;
    return false;
}

static _Noreturn void refuse(const char *why, const finder *f)
{
    const char *names = cmd_names(f->inputs);

    if (!f->missing)
        cmd_misuse("%s", why);
    cmd_misuse("%s\n%s", why,
               *names                 ? cmd_text("names here are: %s", names)
               : has_input(f->inputs) ? "no variable is in the files"
                                      : "no file is given: say NAME=FILE behind the formula");
}

cmd_results cmd_read_formula(const cmd_options *options, cmd_inputs *inputs)
{
    rd_named              named[MOST_RESULTS];
    finder                f    = { .inputs = inputs };
    const rd_formula_opts opts = { .size = sizeof opts, .find = find, .user = &f, .axis = axis_of };
    const char           *lost[MOST_RESULTS];
    cmd_statements        statements = { 0 };
    int                   n_lost     = 0;
    const int   n   = rd_formula_all(inputs->ctx, options->formula, &opts, MOST_RESULTS, named);
    cmd_results all = { .at = cmd_room((size_t)(n > 0 ? n : 1) * sizeof *all.at) };

    if (n <= 0)
        refuse(cmd_error_text(inputs->ctx), &f);
    for (int k = 0; k < n; k++) {
        cmd_result        *r     = &all.at[all.n];
        const bool         said  = named[k].name && *named[k].name;
        const bool         keeps = cmd_keeps_units(named[k].text, n_lost, lost);
        const cmd_made_of *made =
            cmd_read_statement(&statements, inputs, named[k].name, named[k].text);

        if (named[k].add)
            cmd_misuse("%s: += adds to a result of the formula, and there is none of this name",
                       named[k].text);
        if (said && !keeps)
            lost[n_lost++] = named[k].name;

        if (said && named[k].name[0] == '_') /* for other results to be made of */
            continue;
        *r = (cmd_result){ .name = said ? cmd_copy(named[k].name, strlen(named[k].name)) : "result",
                           .named   = said,
                           .formula = named[k].text,
                           .x       = named[k].x,
                           .keeps   = keeps,
                           .made    = made };
        if (options->only)
            r->x = rd_slice(r->x, options->only);
        if (!r->x)
            cmd_misuse("--only: %s", cmd_error_text(inputs->ctx));
        set_axes(inputs, r);
        set_units(inputs, r);
        all.n++;
    }
    return all;
}

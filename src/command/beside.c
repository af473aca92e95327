/* beside.c - gathers what is written beside the numbers of a result: coordinates, bounds,
 * attributes.
 *
 * An operand is "known" if the formula has looked it up. "Kept" is all that is written beside a
 * result. The lead is the operand that the result's axes come from. */
#include "beside_gather.h"
#include "made_of.h"
#include <math.h>
#include <string.h>

/* Gives the result the chunks of the file that operand k comes from, along the axes that come from
 * it. INT32_MAX along all other axes means whole axes. g.shift is 1 if k has a new first axis of
 * joined files, which the file's chunks lack. g.to[a] is the axis of the result that axis a of k
 * became, -1 for none. */
static void set_layout(cmd_result *r, const cmd_inputs *in, const cmd_known *k)
{
    const cmd_said *said = cmd_said_about(k->parts[0].file, k->parts[0].v);
    cmd_gathering   g    = { .in = in, .r = r, .k = k };

    if (!said || said->layout.extent[0] == 0)
        return;
    cmd_map_axes(&g);
    r->kept->layout = said->layout;
    for (int i = 0; i < RD_MAX_RANK; i++)
        r->kept->layout.extent[i] = INT32_MAX;
    for (int a = g.shift; a < k->v.shape.n; a++)
        if (g.to[a] >= 0)
            r->kept->layout.extent[g.to[a]] = said->layout.extent[a - g.shift];
}

/* True if an axis of the result comes from an axis of operand k: both begin at the same axis of the
 * same expression. */
static bool is_source(const cmd_result *r, const cmd_known *k)
{
    rd_axis_from from;

    for (int i = 0; i < rd_shape_of(r->x).n; i++)
        for (int a = 0; rd_axis_source(r->x, i, &from) && a < k->v.shape.n; a++)
            if (k->from[a].from == from.from && k->from[a].axis == from.axis)
                return true;
    return false;
}

/* True if the result has all axes of operand `lead` in their full length, except that times
 * (unlimited, or units with "since") may be reduced or cut. Variables in no file, such as areas of
 * cells, may then stay named in attributes: they belong to the grid. */
static bool has_whole_grid(const cmd_inputs *in, cmd_result *r, const cmd_known *lead)
{
    cmd_gathering g = { .in = in, .r = r, .k = lead };

    cmd_map_axes(&g);
    for (int a = 0; a < lead->v.shape.n; a++) {
        const cmd_axis *axis  = &lead->v.axis[a];
        const bool      whole = g.to[a] >= 0 && rd_shape_of(r->x).at[g.to[a]] == axis->n;
        if (!whole && !axis->record && !(axis->units && strstr(axis->units, " since ")))
            return false;
    }
    return true;
}

/* True if each file that gets the result is of a format that stores attributes (keeps), and no plot
 * is drawn. Then missing values may be written as the fill value. */
static bool is_only_for_keepers(const cmd_options *o, const cmd_result *r,
                                const cmd_targets *targets)
{
    bool only = !o->plot;

    for (int k = 0; k < targets->n; k++) {
        const cmd_target *t = &targets->at[k];
        only &= t->format->keeps || r < t->results.at || r >= t->results.at + t->results.n;
    }
    return only;
}

/* Replaces NaN in the result by the fill value, unless that is NaN itself. */
static void fill_missing(const cmd_inputs *in, cmd_result *r)
{
    const double fill = r->kept->fill;

    if (fill == fill)
        r->x = rd_where(rd_isnan(r->x), rd_num(in->ctx, fill), r->x);
    if (!r->x)
        cmd_fail_of(in->ctx);
}

/* Names a result after its variable if the statement is just that name; not after an axis, which
 * has its coordinates beside it. */
static void name_after(cmd_result *r, const cmd_known *only)
{
    if (!r->named && only && !only->v.is_axis && strcmp(only->name, r->bare) == 0)
        r->name = only->name;
}

/* Gathers what is written beside one result: variables and attributes of its operands. `alone`:
 * only files that keep attributes get the result, so it may get a fill value and another name.
 * Names of variables in no file (outside) stay only if the result has the whole grid of the operand
 * that it has its axes from (lead). */
static void gather_result(const cmd_inputs *in, cmd_result *r, bool alone)
{
    const cmd_known *only = cmd_only_operand(in, r->made), *lead = NULL;

    r->kept          = cmd_room(sizeof *r->kept);
    r->kept->beside  = cmd_room(CMD_MOST_BESIDE * sizeof *r->kept->beside);
    r->kept->outside = " ";
    r->kept->fill    = (double)NAN;
    if (alone)
        name_after(r, only);
    if (alone && cmd_is_float(rd_type_of(r->x)))
        r->kept->fill = cmd_kept_fill(only, r);
    for (int k = 0; k < in->n_known; k++)
        if (&in->known[k] == only || is_source(r, &in->known[k])) {
            cmd_gather_from(in, r, &in->known[k]);
            if (!lead || &in->known[k] == only)
                lead = &in->known[k];
        }
    if (!lead || !has_whole_grid(in, r, lead))
        r->kept->outside = " ";
    if (only)
        set_layout(r, in, only);
    r->kept->attributes = cmd_kept_attributes(only, lead, r);
    fill_missing(in, r);
}

/* ---- All results ----------------------------------------------------------------------------- */
/* True if two dimensions have the same name, or neither has one, as in HDF5 without scales. */
static bool is_same_dimension(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* True if two variables written beside results are equal: name in the file, kind, type, shape,
 * dimensions, attributes and elements. Texts are compared by their pointers alone. */
static bool is_same_beside(const cmd_beside *a, const cmd_beside *b)
{
    if (strcmp(a->from, b->from) != 0 || a->kind != b->kind || a->type != b->type ||
        a->shape.n != b->shape.n || a->attributes.n != b->attributes.n)
        return false;
    int64_t n = 1;
    for (int d = 0; d < a->shape.n; d++) {
        if (a->shape.at[d] != b->shape.at[d] ||
            !is_same_dimension(a->dimension[d], b->dimension[d]))
            return false;
        n *= a->shape.at[d];
    }
    for (int k = 0; k < a->attributes.n; k++)
        if (!cmd_is_same_attribute(&a->attributes.at[k], &b->attributes.at[k]))
            return false;
    const int64_t size = a->kind == CMD_NUMBERS ? cmd_size_of(a->type)
                         : a->kind == CMD_TEXTS ? (int64_t)sizeof(char *)
                                                : 1;
    return memcmp(a->at, b->at, (size_t)(n * size)) == 0;
}

/* True if a result, or a variable that comes before variable i beside result k, has the name in the
 * output. */
static bool is_taken(const cmd_results *results, int k, int i, const char *name)
{
    for (int r = 0; r < results->n; r++)
        if (strcmp(results->at[r].name, name) == 0)
            return true;
    for (int r = 0; r <= k; r++) {
        const struct cmd_kept *kept = results->at[r].kept;
        for (int j = 0; kept && j < (r < k ? kept->n : i); j++)
            if (strcmp(kept->beside[j]->name, name) == 0)
                return true;
    }
    return false;
}

/* Makes variable i beside result k the same as an equal variable of an earlier result, which is
 * written once. Otherwise it gets a name that no result and no earlier variable has; coordinates
 * keep theirs, as they are named after their dimension. */
static void share_variable(cmd_results *results, int k, int i)
{
    cmd_beside **mine = &results->at[k].kept->beside[i];

    for (int before = 0; before < k; before++) {
        const struct cmd_kept *kept = results->at[before].kept;
        for (int j = 0; kept && j < kept->n; j++)
            if (is_same_beside(kept->beside[j], *mine)) {
                for (int a = 0; a < RD_MAX_RANK; a++)
                    if (results->at[k].kept->coordinate[a] == *mine)
                        results->at[k].kept->coordinate[a] = kept->beside[j];
                *mine = kept->beside[j];
                return;
            }
    }
    for (int a = 0; a < RD_MAX_RANK; a++)
        if (results->at[k].kept->coordinate[a] == *mine)
            return;
    for (int n = 2; is_taken(results, k, i, (*mine)->name); n++)
        (*mine)->name = cmd_text("%s_%d", (*mine)->from, n);
}

/* True if a file of a format that stores attributes gets the result, and it is computed (x is not
 * NULL). */
static bool is_wanted(const cmd_result *r, const cmd_targets *targets)
{
    for (int k = 0; k < targets->n; k++) {
        const cmd_target *t = &targets->at[k];
        if (t->format->keeps && r >= t->results.at && r < t->results.at + t->results.n)
            return r->x != NULL;
    }
    return false;
}

/* Replaces names of variables in all attributes beside a result by those of the output, once for
 * each variable, as results share them (fitted). */
static void fit_names(struct cmd_kept *kept)
{
    for (int i = 0; i < kept->n; i++)
        if (!kept->beside[i]->fitted) {
            cmd_fit_names(&kept->beside[i]->attributes, kept);
            kept->beside[i]->fitted = true;
        }
    cmd_fit_names(&kept->attributes, kept);
}

/* Gathers what is written beside all results that go to a format with attributes. Equal variables
 * of several results become one, and attributes get the final names of variables. Then each file
 * gets attributes of its own. */
void cmd_keep_beside(const cmd_inputs *in, const cmd_options *o, cmd_results *results,
                     cmd_targets *targets)
{
    for (int k = 0; k < results->n; k++)
        if (is_wanted(&results->at[k], targets))
            gather_result(in, &results->at[k], is_only_for_keepers(o, &results->at[k], targets));
    for (int k = 0; k < results->n; k++)
        for (int i = 0; results->at[k].kept && i < results->at[k].kept->n; i++)
            share_variable(results, k, i);
    for (int k = 0; k < results->n; k++)
        if (results->at[k].kept)
            fit_names(results->at[k].kept);
    for (int k = 0; k < targets->n; k++)
        if (targets->at[k].format->keeps)
            targets->at[k].results.about =
                cmd_attributes_of_file(in, o->command, &targets->at[k].results);
}

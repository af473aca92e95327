/* conditions.c - the answers of the command to questions of formulas about axes: names,
 * coordinates, masks, times, units. */
#include "conditions.h"
#include "align.h"
#include "axes.h"
#include "convert.h"
#include "dates.h"
#include "masks.h"
#include "select.h"
#include <string.h>

/* True if the name was invented by a program for a dimension without a name, as dim_0. Such names
 * say nothing about other variables. An axis with coordinates (at) has a name of its own. */
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

/* Returns the name by which an axis of x is matched with axes of other operands. NULL: none is
 * known, a program invented it (dim_0), or --align=position says that names do not count. */
static const char *name_to_meet(void *user, rd_expr *x, int axis)
{
    const cmd_inputs *in    = user;
    const cmd_axis   *known = cmd_axis_at(in, x, axis, &(rd_axis_from){ 0 });

    return in->align != CMD_POSITION && known && known->name && !is_invented(known) ? known->name
                                                                                    : NULL;
}

const rd_formula_axes cmd_formula_axes = {
    .size    = sizeof cmd_formula_axes,
    .name    = name_to_meet,
    .meet    = cmd_axes_meet,
    .select  = cmd_select,
    .gather  = cmd_gather,
    .labels  = cmd_date_labels,
    .grouped = cmd_date_groups,
    .call    = cmd_date_function,
    .alike   = cmd_units_alike,
    .made    = cmd_units_made,
};

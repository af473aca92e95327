/* beside.c - what stands beside the array of a reduction: masks, weights and labels, whose axes are put where
 * the array has those of their names; labels that say how many groups they have; and parts that are joined. */
#include "formula/formula.h"
#include <string.h>

static bool is_called(const rd_arguments *a, int k, const char *name)
{
    return (size_t)a->name_length[k] == strlen(name) && !memcmp(a->name[k], name, strlen(name));
}

/* Places of the arguments whose axes are the first array's; how many. */
static int others(const rd_arguments *a, int place[RD_ARGUMENTS])
{
    static const char *const names[] = { "y", "where", "weights", "restart" };
    int                      n       = 0;

    for (int k = 1; k < a->n; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (a->kind[k] == 'x' && a->x[k].x && is_called(a, k, names[i]))
                place[n++] = k;
    return n;
}

static bool has_labels(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->kind[k] == 'l' && is_called(a, k, "by"))
            return a->n_list > 0;
    return false;
}

/* Where the text says no groups, the caller may know how many there are. */
static bool read_labels(rd_arguments *a)
{
    rd_formula_reader     *r    = a->r;
    const rd_formula_axes *axes = r->opts->axes;
    const bool             said = a->s.n > 0;

    for (int k = 0; k < a->n_list && k < RD_MAX_RANK; k++) {
        a->by[k] = a->list[k];
        if (said || !axes->label)
            continue;
        int64_t groups = -1;
        *r->why        = '\0';
        a->list[k] = rd_formula_answer(r, axes->label(r->opts->user, a->list[k], &groups, r->why),
                                       a->call->at);
        if (!a->list[k])
            return false;
        if (groups >= 0)
            a->s.at[a->s.n++] = groups;
    }
    return true;
}

/* Part k beside the first one: axes have the same names, and along those that are not joined the same
 * coordinates. */
static bool part_fits(rd_arguments *a, int k, int joined)
{
    rd_formula_reader *r    = a->r;
    const int          rank = a->list[0]->rank;

    for (int axis = 0; axis < rank; axis++) {
        const char *first = rd_formula_axis_name(r, a->list[0], axis);
        const char *other = rd_formula_axis_name(r, a->list[k], axis);

        if (!first || !other)
            continue;
        if (strcmp(first, other) != 0)
            return rd_formula_fail(r, RD_ERR_SHAPE, a->call->at,
                                   "axis %d is %s in one part, %s in another", axis, first, other);
        *r->why = '\0';
        if (axis != joined && r->opts->axes->meet &&
            !r->opts->axes->meet(r->opts->user, &a->list[0], axis, &a->list[k], axis, r->why))
            return rd_formula_answer(r, NULL, a->call->at);
    }
    return true;
}

/* concat(parts, axis) and stack(parts, axis). */
static bool parts_fit(rd_arguments *a)
{
    const bool concat = rd_formula_is(a->r, a->call->at, a->call->length, "concat");
    int        joined = concat && a->n_list ? (int)a->i[1] : INT32_MAX;

    if (joined < 0)
        joined += a->list[0]->rank;
    for (int k = 1; k < a->n_list; k++)
        if (a->list[k]->rank == a->list[0]->rank && !part_fits(a, k, joined))
            return false;
    return true;
}

bool rd_formula_beside(rd_arguments *a)
{
    int       place[RD_ARGUMENTS], n_list;
    rd_expr  *x[RD_ARGUMENTS];
    const int n = others(a, place);

    if (!a->r->opts->axes)
        return true;
    if (a->n && a->kind[0] == 'l' && is_called(a, 0, "parts"))
        return parts_fit(a);
    if (!a->x[0].x)
        return true;
    n_list = has_labels(a) ? a->n_list : 0;
    if (n_list && !read_labels(a))
        return false;
    if (1 + n + n_list > RD_ARGUMENTS)
        return true;
    x[0] = a->x[0].x;
    for (int k = 0; k < n; k++)
        x[1 + k] = a->x[place[k]].x;
    for (int k = 0; k < n_list; k++)
        x[1 + n + k] = a->list[k];
    if (!rd_formula_meet(a->r, 1 + n + n_list, x, true, a->call->at))
        return false;
    a->x[0].x = x[0];
    for (int k = 0; k < n; k++)
        a->x[place[k]].x = x[1 + k];
    for (int k = 0; k < n_list; k++)
        a->list[k] = x[1 + n + k];
    return true;
}

/* Axes of groups lie side by side, in the order of the labels. */
void rd_formula_grouped(const rd_arguments *a, rd_expr *x)
{
    const rd_formula_axes *axes = a->r->opts->axes;
    int                    next = 0;

    if (!axes || !axes->grouped || !x || !has_labels(a))
        return;
    for (int k = 0; k < x->rank && next < a->n_list; k++) {
        rd_axis_from from;
        bool         old = false;

        if (!rd_axis_source(x, k, &from) ||
            (from.from->kind != RD_EXPR_REDUCE && from.from->kind != RD_EXPR_RESHAPE))
            continue;
        for (int j = 0; j < a->x[0].x->rank; j++) {
            rd_axis_from before;

            old |= rd_axis_source(a->x[0].x, j, &before) && before.from == from.from &&
                   before.axis == from.axis;
        }
        if (!old)
            axes->grouped(a->r->opts->user, x, k, a->by[next++]);
    }
}

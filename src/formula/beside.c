/* beside.c - what stands beside the array of a reduction: masks, weights and labels, whose axes are put where
 * the array has those of their names; labels that say how many groups they have; and parts that are joined. */
#include "formula/formula.h"
#include <string.h>

static bool is_called(const rd_arguments *a, int k, const char *name)
{
    return (size_t)a->name_length[k] == strlen(name) && !memcmp(a->name[k], name, strlen(name));
}

/* Are axes reduced?  Then a second array y is read beside the first one; of kron(x, y) and cdist(x, y)
 * it has axes of its own. */
static bool takes_axes(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->kind[k] == 'd')
            return true;
    return false;
}

/* Places of the arguments whose axes are the first array's; how many. */
static int others(const rd_arguments *a, int place[RD_ARGUMENTS])
{
    static const char *const names[] = { "where", "weights", "restart", "y" };
    const size_t             n_names = sizeof names / sizeof *names - !takes_axes(a);
    int                      n       = 0;

    for (int k = 1; k < a->n; k++)
        for (size_t i = 0; i < n_names; i++)
            if (a->kind[k] == 'x' && a->x[k].x && is_called(a, k, names[i]))
                place[n++] = k;
    return n;
}

static bool has_labels(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->kind[k] == 'l' && (is_called(a, k, "by") || is_called(a, k, "labels")))
            return a->n_list > 0;
    return false;
}

/* The caller may know what labels are, and how many groups they have, where the text does not say. */
static bool read_labels(rd_arguments *a)
{
    rd_formula_reader     *r    = a->r;
    const rd_formula_axes *axes = r->opts->axes;
    const int              n = a->n_list, said = a->s.n;
    int64_t                groups[RD_MAX_RANK];

    if (!axes->labels || n > RD_MAX_RANK || (said && said != n))
        return true;
    for (int k = 0; k < n; k++) {
        a->by[k]  = a->list[k];
        groups[k] = said ? a->s.at[k] : -1;
    }
    *r->why = '\0';
    if (!axes->labels(r->opts->user, n, a->list, groups, r->why))
        return rd_formula_answer(r, NULL, a->call->at);
    for (int k = 0; k < n; k++)
        if (groups[k] < 0)
            return rd_formula_fail(r, RD_ERR_ARGUMENT, a->call->at,
                                   "how many groups has label %d?  Say groups=12 where labels are "
                                   "whole numbers from 0 to 11",
                                   k);
    a->s.n = n;
    for (int k = 0; k < n; k++)
        a->s.at[k] = groups[k];
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
        if (axis != joined &&
            !rd_formula_side_by_side(r, &a->list[0], axis, &a->list[k], axis, a->call->at))
            return false;
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

rd_expr *rd_formula_places(rd_formula_reader *r, rd_expr *x, int axis, rd_expr *index, size_t at)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (!axes || !axes->gather)
        return index;
    *r->why = '\0';
    return rd_formula_answer(r, axes->gather(r->opts->user, x, axis, index, r->why), at);
}

/* take(x, index, axis), and others that read or write at an index: it may be one that the caller knows. */
static bool read_index(rd_arguments *a)
{
    rd_expr *const x    = a->x[0].x;
    int64_t        axis = 0;
    int            index;

    for (index = 1; index < a->n && !is_called(a, index, "index"); index++)
        ;
    for (int k = 0; k < a->n; k++)
        if (is_called(a, k, "axis"))
            axis = a->i[k];
    axis += axis < 0 ? x->rank : 0;
    if (index == a->n || !a->x[index].x || axis < 0 || axis >= x->rank)
        return true;
    a->x[index].x = rd_formula_places(a->r, x, (int)axis, a->x[index].x, a->call->at);
    return a->x[index].x != NULL;
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
    n_list = has_labels(a) ? a->n_list : 0;
    if (n_list && !read_labels(a))
        return false;
    if (!a->x[0].x)
        return true;
    if (!read_index(a))
        return false;
    if (1 + n + n_list > RD_ARGUMENTS)
        return rd_formula_fail(a->r, RD_ERR_LIMIT, a->call->at,
                               "more than %d arrays beside each other, which have names of axes",
                               RD_ARGUMENTS);
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

/* The first reduced axis of the operand; its rank where none is. */
static int first_reduced(const rd_arguments *a)
{
    const rd_expr *x = a->x[0].x;
    uint64_t       bits;
    int            axis = 0;

    if (!x) /* bincount has labels alone */
        return 0;
    if (!rd_dims_bits(x, &a->d, a->r->call, &bits))
        return -1;
    while (axis < x->rank && !(bits >> axis & 1))
        axis++;
    return axis;
}

/* How many axes the result has in front of what one reduction has: 1 of minmax, 0 of others. */
static int in_front(const rd_arguments *a, const rd_expr *y)
{
    const rd_expr *x     = a->x[0].x;
    uint64_t       bits  = 0;
    int            kept  = 0;
    bool           keeps = a->d.flags & RD_DIMS_KEEP;

    if (!x)
        return y->rank - a->n_list;
    for (int k = 0; k < a->n; k++)
        keeps |= is_called(a, k, "keepdims") && a->i[k];
    rd_dims_bits(x, &a->d, a->r->call, &bits);
    for (int k = 0; k < x->rank; k++)
        kept += !(bits >> k & 1);
    return y->rank - a->n_list - (keeps && kept < x->rank ? x->rank - 1 : kept);
}

/* Axes of groups lie side by side, in the order of the labels, in place of the first reduced axis. */
void rd_formula_grouped(const rd_arguments *a, rd_expr *y)
{
    const rd_formula_axes *axes = a->r->opts->axes;

    if (!axes || !axes->grouped || !axes->labels || !y || !has_labels(a) || a->n_list > RD_MAX_RANK)
        return;
    const int front = in_front(a, y), first = first_reduced(a);
    for (int k = 0; k < a->n_list && first >= 0 && front >= 0; k++)
        axes->grouped(a->r->opts->user, y, front + first + k, a->by[k]);
}

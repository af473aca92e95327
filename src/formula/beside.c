/* beside.c - arguments that stand beside the array of a call: masks, weights, labels, indices,
 * parts.
 *
 * Axes of masks, weights and labels are put where the array has axes of the same names. Labels
 * say how many groups they have. Parts of concat() and stack() must fit each other.
 *
 * The *caller* is the program that gave the text; r->opts->axes has its functions, which know names
 * of axes, coordinates and labels. *Group labels* are the arrays of by= in a group-by. */
#include "formula/formula.h"
#include <string.h>

/* True if the name of the call's parameter k is `name`. */
static bool is_called(const rd_arguments *a, int k, const char *name)
{
    return (size_t)a->name_length[k] == strlen(name) && !memcmp(a->name[k], name, strlen(name));
}

/* True if the call has a parameter of axes (kind d). A second array y is then read beside the first
 * one; y of kron(x, y) and cdist(x, y), which have no such parameter, has axes of its own. */
static bool has_axes_parameter(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->kind[k] == 'd')
            return true;
    return false;
}

/* Finds the arguments that have the axes of the first array: masks, weights, restart flags, a
 * second operand y. Returns how many there are; place[] gets their positions among the
 * arguments. y, the last of `names`, is one only if the call has a parameter of axes. Only
 * arrays that are given count (kind x, a->x[k].x is not NULL). */
static int find_companions(const rd_arguments *a, int place[RD_ARGUMENTS])
{
    static const char *const names[] = { "where", "weights", "restart", "y" };
    const size_t             n_names = sizeof names / sizeof *names - !has_axes_parameter(a);
    int                      n       = 0;

    for (int k = 1; k < a->n; k++)
        for (size_t i = 0; i < n_names; i++)
            if (a->kind[k] == 'x' && a->x[k].x && is_called(a, k, names[i]))
                place[n++] = k;
    return n;
}

/* True if the call has group labels, by=[...]. They are parameters of kind l called by or
 * labels, and stand in a->list; none are given if n_list is 0. */
static bool has_labels(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->kind[k] == 'l' && (is_called(a, k, "by") || is_called(a, k, "labels")))
            return a->n_list > 0;
    return false;
}

/* Asks the caller (the program that gave the text) what the labels of a group-by are as numbers,
 * and how many groups each has, unless the text says groups=. a->by keeps the labels as they
 * were given. False after an error. `said` counts the numbers of groups=, in a->s; groups[k] is
 * -1 until it is known. The caller replaces a->list[k] by numbers. Nothing is asked, and the
 * library checks the call, if:
 * - the caller knows no labels (axes->labels is NULL);
 * - they are more than RD_MAX_RANK;
 * - groups= has another number of items than there are labels. */
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
        return rd_formula_answer(r, /*x=*/NULL, a->call->at);
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

/* True if part k of concat() or stack() fits the first part: axes have the same names, and the
 * same coordinates along all axes but the one along which they are joined. False after recording
 * why not. a->list has the parts. An axis without a name in either is not compared. `joined` is
 * the axis along which they are joined. */
static bool can_join_part(rd_arguments *a, int k, int joined)
{
    rd_formula_reader *r    = a->r;
    const int          rank = a->list[0]->rank;

    for (int axis = 0; axis < rank; axis++) {
        const char *first     = rd_formula_axis_name(r, a->list[0], axis);
        const char *name_of_k = rd_formula_axis_name(r, a->list[k], axis);

        if (!first || !name_of_k)
            continue;
        if (strcmp(first, name_of_k) != 0)
            return rd_formula_fail(r, RD_ERR_SHAPE, a->call->at,
                                   "axis %d is %s in one part, %s in another", axis, first,
                                   name_of_k);
        if (axis != joined &&
            !rd_formula_side_by_side(r, &a->list[0], axis, &a->list[k], axis, a->call->at))
            return false;
    }
    return true;
}

/* True if all parts of concat(parts, axis) or stack(parts, axis) fit the first one. concat() joins
 * them along an axis, where coordinates may differ; stack() has no such axis. a->i[1] is the
 * argument axis, below 0 counted from the end; for stack(), `joined` is INT32_MAX, which no axis
 * is. A part of another rank is left to the library, which refuses it. */
static bool can_join_parts(rd_arguments *a)
{
    const bool concat = rd_formula_is(a->r, a->call->at, a->call->length, "concat");
    int        joined = concat && a->n_list ? (int)a->i[1] : INT32_MAX;

    if (joined < 0)
        joined += a->list[0]->rank;
    for (int k = 1; k < a->n_list; k++)
        if (a->list[k]->rank == a->list[0]->rank && !can_join_part(a, k, joined))
            return false;
    return true;
}

/* Asks the caller (the program that gave the text) which positions along an axis of x an index
 * means, such as months along an axis of months. A caller that knows none leaves the index as it
 * is. NULL: refused, with an error. The caller's function is axes->gather, and r->why is where
 * it writes a reason. */
rd_expr *rd_formula_places(rd_formula_reader *r, rd_expr *x, int axis, rd_expr *index, size_t at)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (!axes || !axes->gather)
        return index;
    *r->why = '\0';
    return rd_formula_answer(r, axes->gather(r->opts->user, x, axis, index, r->why), at);
}

/* Lets the caller translate the index of take(x, index, axis) and similar calls to positions
 * along the axis. Calls without an index, or with a bad axis, which the library refuses, are
 * left alone. False after an error. `index` is the number of the parameter called index, a->n if
 * there is none; `axis` the value of the one called axis, else 0. */
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

/* Prepares the arguments of a call for a caller (the program that gave the text) that knows names
 * of axes. It checks parts that are joined, reads labels of groups and indices, then views masks,
 * weights and labels with axes in the order of the first array. Without such a caller it does
 * nothing. False after an error. x[] are the first array, the n companions (place[k]: their numbers
 * among the arguments) and the n_list labels, in that order; rd_formula_broadcast_by_names()
 * replaces them by views, which then go back to where they came from. A call whose first parameter
 * is `parts` (kind l) joins arrays. Without a first array, as for bincount, only labels are
 * read. */
bool rd_formula_prepare_arguments(rd_arguments *a)
{
    int       place[RD_ARGUMENTS], n_list;
    rd_expr  *x[RD_ARGUMENTS];
    const int n = find_companions(a, place);

    if (!a->r->opts->axes)
        return true;
    if (a->n && a->kind[0] == 'l' && is_called(a, 0, "parts"))
        return can_join_parts(a);
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
    if (!rd_formula_broadcast_by_names(a->r, 1 + n + n_list, x, /*into=*/true, a->call->at))
        return false;
    a->x[0].x = x[0];
    for (int k = 0; k < n; k++)
        a->x[place[k]].x = x[1 + k];
    for (int k = 0; k < n_list; k++)
        a->list[k] = x[1 + n + k];
    return true;
}

/* Returns the first axis of the first array that the call reduces; its rank if none is reduced;
 * -1 after an error. `bits` is the set of reduced axes, bit k for axis k. */
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

/* Counts the axes of the result y in front of those that one reduction gives: 1 for minmax, 0
 * for others. The rest of y's axes are the groups, and the axes that are kept; with keepdims all
 * but one of the operand's. `bits` is the set of the operand's reduced axes, `kept` counts the
 * others, and the n_list groups are one axis each. `keeps` is keepdims, as a flag or as an
 * argument. Without an operand (bincount), all axes but the groups are in front. */
static int count_front_axes(const rd_arguments *a, const rd_expr *y)
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

/* Tells the caller (the program that gave the text) which axes of the result y of a group-by are
 * its groups. They are adjacent, in the order of the labels, at the position of the first
 * reduced axis. a->by[k] is label k as the text gave it. Nothing is told to a caller without the
 * functions `grouped` and `labels`, nor if y is NULL, or the call has no labels. */
void rd_formula_grouped(const rd_arguments *a, rd_expr *y)
{
    const rd_formula_axes *axes = a->r->opts->axes;

    if (!axes || !axes->grouped || !axes->labels || !y || !has_labels(a) || a->n_list > RD_MAX_RANK)
        return;
    const int front = count_front_axes(a, y), first = first_reduced(a);
    for (int k = 0; k < a->n_list && first >= 0 && front >= 0; k++)
        axes->grouped(a->r->opts->user, y, front + first + k, a->by[k]);
}

/* meet.c - broadcasts whole arrays by the names of their axes, if the caller knows names.
 *
 * If each name stands at one position of all operands, counted from the last axis, arrays
 * broadcast by position, as in NumPy. So `lat[None, :, None]` and arrays without names work as
 * in NumPy. Otherwise names decide. The result has the axes of the first operand, then those
 * that the next operands add, and every operand is a view with its axes in that order:
 *
 *      tas (time, lat, lon) - lat (lat)           lat is seen as (1, lat, 1)
 *      a (lat, lon) - b (lon, lat)                b is seen transposed
 *
 * An axis without a name keeps its position among the axes of its operand. If two operands have
 * such an axis, names do not say how the axes belong together, and the operation fails.
 *
 * The *caller* is the program that gave the text; r->opts->axes has its functions, which know names
 * and coordinates of axes. */
#include "formula/formula.h"
#include <stdio.h>
#include <string.h>

/* The n operands of an operation, and the names of their axes; NULL: an axis without a name. */
typedef struct named_operands {
    rd_formula_reader *r;
    size_t             at; /* byte of the text for errors */
    int                n;
    rd_expr          **x;
    const char        *name[RD_ARGUMENTS][RD_MAX_RANK];
} named_operands;

/* The axes of the result, each with its position in each operand; -1: the operand lacks the
 * axis. */
typedef struct union_of_axes {
    int         n;
    const char *name[RD_MAX_RANK];
    int         place[RD_MAX_RANK][RD_ARGUMENTS];
} union_of_axes;

/* Returns the name of an axis of x; NULL: it has none, or the caller (the program that gave the
 * text) knows no names. */
const char *rd_formula_axis_name(rd_formula_reader *r, rd_expr *x, int axis)
{
    const rd_formula_axes *axes = r->opts->axes;

    return axes && axes->name ? axes->name(r->opts->user, x, axis) : NULL;
}

/* Finds the axis of x by name: by the caller's function `axis`, if there is one, or by comparing
 * the name of each axis. -1: there is none, or an error is recorded as there are several. Where
 * the caller's function finds the name (`found` >= 0), the loop looks only for a second axis of
 * it; where it finds none, the answer stands. */
int rd_formula_axis_called(rd_formula_reader *r, rd_expr *x, const char *name, size_t at)
{
    int found = r->opts->axis ? r->opts->axis(r->opts->user, x, name) : -1;

    for (int k = 0; k < x->rank && (found >= 0 || !r->opts->axis); k++) {
        const char *this_name = rd_formula_axis_name(r, x, k);

        if (!this_name || strcmp(this_name, name) != 0 || k == found)
            continue;
        if (found >= 0) {
            rd_formula_fail(r, RD_ERR_AXIS, at, "axes %d and %d are called '%s': say a number",
                            found, k, name);
            return -1;
        }
        found = k;
    }
    return found;
}

/* Records that x has no axis of that name, with the names that it has. Returns NULL, also as
 * false. */
void *rd_formula_no_axis(rd_formula_reader *r, rd_expr *x, const char *name, size_t at)
{
    char   names[256];
    size_t n = 0;

    for (int k = 0; k < x->rank && n < sizeof names; k++) {
        const char *name_of_k = rd_formula_axis_name(r, x, k);

        if (name_of_k)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", name_of_k);
    }
    if (n == 0)
        return rd_formula_fail(r, RD_ERR_AXIS, at, "the array has no axis of the name '%s'%s", name,
                               x->rank ? "" : ": it is one number");
    return rd_formula_fail(r, RD_ERR_AXIS, at, "the array has no axis of the name '%s', but %s%s",
                           name, names, n < sizeof names ? "" : " ...");
}

/* Returns the answer x of the caller (the program that gave the text). If it is NULL, the reason
 * that the caller has written to r->why becomes the error, under byte `at`. */
rd_expr *rd_formula_answer(rd_formula_reader *r, rd_expr *x, size_t at)
{
    if (!x && *r->why && rd_error(r->ctx) == RD_OK)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, at, "%s", r->why);
    return rd_formula_made(r, x, at);
}

/* True if both axes have a name, and it is the same. */
static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Reads the names of the axes of all operands. False: fewer than two operands have any, so names
 * decide nothing. x[i] NULL: an operand that is not given. */
static bool read_names(named_operands *o)
{
    int named = 0;

    for (int i = 0; i < o->n; i++) {
        bool has_one = false;

        for (int k = 0; o->x[i] && k < o->x[i]->rank; k++) {
            o->name[i][k] = rd_formula_axis_name(o->r, o->x[i], k);
            has_one |= o->name[i][k] != NULL;
        }
        named += has_one;
    }
    return named > 1;
}

/* The rank of operand i; 0 if there is none (NULL). */
static int rank_of(const named_operands *o, int i)
{
    return o->x[i] ? o->x[i]->rank : 0;
}

/* True if operand i has an axis of extent 1 without a name: the text has made it by None, to
 * broadcast by position as in NumPy. */
static bool has_new_axis(const named_operands *o, int i)
{
    for (int k = 0; k < rank_of(o, i); k++)
        if (!o->name[i][k] && o->x[i]->extent[k] == 1)
            return true;
    return false;
}

/* True if names and positions of the axes of operands i and j disagree: two names at one
 * position, or one name at two. Positions are counted from the last axis, as arrays broadcast
 * (`shift` is the difference of ranks). One name at two positions is meant if both operands have
 * new axes: lat[:, None] - lat[None, :] is a matrix of pairs. `pairs`: same rank, and both have
 * such an axis. Axes a of i and b of j are at one position if a + shift is b: then both names
 * must be the same, and else they must differ, but for pairs. */
static bool has_conflict(const named_operands *o, int i, int j)
{
    const int  shift = rank_of(o, j) - rank_of(o, i);
    const bool pairs = !shift && has_new_axis(o, i) && has_new_axis(o, j);

    for (int a = 0; a < rank_of(o, i); a++)
        for (int b = 0; b < rank_of(o, j) && o->name[i][a]; b++) {
            const bool same = is_same(o->name[i][a], o->name[j][b]);

            if (o->name[j][b] && (a + shift == b ? !same : same && !pairs))
                return true;
        }
    return false;
}

/* True if positions and names of axes agree for all pairs of operands, so that they can
 * broadcast by position, as in NumPy. */
static bool is_by_place(const named_operands *o)
{
    for (int i = 0; i < o->n; i++)
        for (int j = 0; j < i; j++)
            if (has_conflict(o, i, j))
                return false;
    return true;
}

/* Writes the names of the axes of operand i, "time, lat, one without a name", for error
 * messages. */
static void say_axes(const named_operands *o, int i, char text[200])
{
    size_t n = 0;

    for (int k = 0; k < rank_of(o, i) && n < 160; k++)
        n += (size_t)snprintf(text + n, 200 - n, "%s%.40s", k ? ", " : "",
                              o->name[i][k] ? o->name[i][k] : "one without a name");
    if (!n)
        text[0] = '\0';
}

/* Records why operands i and j do not broadcast, with the axes of both; returns false. */
static bool refuse(const named_operands *o, int i, int j, const char *why)
{
    char a[200], b[200];

    say_axes(o, i, a);
    say_axes(o, j, b);
    return rd_formula_fail(o->r, RD_ERR_SHAPE, o->at, "axes (%s) meet (%s): %s", a, b, why);
}

/* Returns the position of a name among the axes of the result (the union of all operands'); -1:
 * it is not there, or NULL. */
static int position_of(const union_of_axes *all, const char *name)
{
    for (int k = 0; k < all->n; k++)
        if (is_same(all->name[k], name))
            return k;
    return -1;
}

/* Adds axis k of operand i to the axes of the result, unless one of that name is there. `into`:
 * the first operand must have all axes. False after recording that it has not, or that one
 * operand has the name twice. all->place[at][i] is the number of the axis in operand i, -1: i
 * lacks it. A name that is NULL is always a new axis. */
static bool add_axis(const named_operands *o, union_of_axes *all, int i, int k, bool into)
{
    int at = position_of(all, o->name[i][k]);

    if (at >= 0 && all->place[at][i] >= 0)
        return refuse(o, 0, i, "one name stands twice, so names cannot say what belongs together");
    if (at < 0 && into && i > 0)
        return refuse(o, 0, i, "the first array lacks an axis of the second");
    if (at < 0) {
        if (all->n == RD_MAX_RANK)
            return refuse(o, 0, i, "the result would have too many axes");
        at            = all->n++;
        all->name[at] = o->name[i][k];
        for (int j = 0; j < o->n; j++)
            all->place[at][j] = -1;
    }
    all->place[at][i] = k;
    return true;
}

/* Collects the axes of all operands into those of the result, by name, in the order in which
 * they occur. Only one operand may have axes without names. False after an error. `unnamed` is
 * the operand that has such an axis, -1: none so far. */
static bool collect_axes(const named_operands *o, bool into, union_of_axes *all)
{
    int unnamed = -1;

    for (int i = 0; i < o->n; i++)
        for (int k = 0; k < rank_of(o, i); k++) {
            if (!o->name[i][k] && unnamed >= 0 && unnamed != i)
                return refuse(o, unnamed, i,
                              "names decide here, and two arrays have an axis without one");
            unnamed = o->name[i][k] ? unnamed : i;
            if (!add_axis(o, all, i, k, into))
                return false;
        }
    return true;
}

/* Views operand i with an axis for each axis of the result (the union), of extent 1 where it
 * lacks the axis. NULL after an error. `number` is that of rd_view(): offsets of x's axes, which
 * are 0, and then a row for each of them, with 1 at the axis k that reads it. `place` is that
 * axis of x, -1: none. */
static rd_expr *view_of(const named_operands *o, const union_of_axes *all, int i)
{
    const rd_expr *x = o->x[i];
    int64_t        extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];

    memset(number, 0, sizeof number);
    for (int k = 0; k < all->n; k++) {
        const int place = all->place[k][i];

        extent[k] = place < 0 ? 1 : x->extent[place];
        if (place >= 0)
            number[x->rank + place * all->n + k] = 1;
    }
    return rd_formula_made(o->r, rd_view(o->x[i], all->n, extent, number, /*origin=*/NULL), o->at);
}

/* True if two operands have one shape of two or more axes, and no name of an axis in common. By
 * names the result would have all axes of both, which is surely not meant. An axis without a
 * name may belong to any, so then it is false. */
static bool has_no_common_name(const named_operands *o, int i, int j)
{
    const int rank = rank_of(o, i);

    for (int a = 0; a < rank && rank == rank_of(o, j); a++) {
        if (o->x[i]->extent[a] != o->x[j]->extent[a])
            return false;
        for (int b = 0; b < rank; b++)
            if (!o->name[i][a] || !o->name[j][b] || is_same(o->name[i][a], o->name[j][b]))
                return false;
    }
    return rank > 1 && rank == rank_of(o, j);
}

/* Replaces each operand by a view with the axes of the result, which are found by names, and
 * updates the names. `into`: the result has the axes of the first operand. False after an error.
 * Operands of rank 0 stay. Of the others, o->name becomes the names of the result's axes, NULL
 * where the operand lacks the axis. */
static bool broadcast_by_names(named_operands *o, bool into)
{
    union_of_axes all = { 0 };

    for (int i = 0; i < o->n; i++)
        for (int j = 0; j < i; j++)
            if (has_no_common_name(o, j, i))
                return refuse(o, j, i,
                              "they are of one shape, and no name is common: places must be meant, "
                              "which names do not say");
    if (!collect_axes(o, into, &all))
        return false;
    for (int i = 0; i < o->n; i++) {
        if (rank_of(o, i) && !(o->x[i] = view_of(o, &all, i)))
            return false;
        for (int k = 0; k < all.n && rank_of(o, i); k++)
            o->name[i][k] = all.place[k][i] < 0 ? NULL : all.name[k];
    }
    return true;
}

/* Asks the caller (the program that gave the text) to align the coordinates of two axes of one
 * name; both arrays may become parts of themselves, where coordinates are common. False: they do
 * not fit, which is recorded. A caller without the function `meet` compares nothing. */
bool rd_formula_side_by_side(rd_formula_reader *r, rd_expr **x, int x_axis, rd_expr **y, int y_axis,
                             size_t at)
{
    const rd_formula_axes *axes = r->opts->axes;

    *r->why = '\0';
    if (!axes->meet || (axes->meet(r->opts->user, x, x_axis, y, y_axis, r->why) && *x && *y))
        return true;
    return rd_formula_answer(r, /*x=*/NULL, at);
}

/* Aligns the coordinates of operands i and j along each common axis, counted from the last one,
 * as the caller knows them. An axis of extent 1 broadcasts, and is not compared. False after an
 * error. n and m are the extents; axes without a name are not compared. */
static bool align_coordinates(named_operands *o, int i, int j)
{
    const int a = rank_of(o, i), b = rank_of(o, j);

    for (int k = 1; k <= a && k <= b; k++) {
        const int64_t n = o->x[i]->extent[a - k], m = o->x[j]->extent[b - k];

        if (!o->name[i][a - k] || !o->name[j][b - k] || (n != m && (n == 1 || m == 1)))
            continue;
        if (!rd_formula_side_by_side(o->r, &o->x[i], a - k, &o->x[j], b - k, o->at))
            return false;
    }
    return true;
}

/* Makes n arrays fit each other: they broadcast by position, as in NumPy, or by names of axes
 * where positions and names disagree; then their coordinates are aligned. `into`: the result has
 * the axes of x[0]. Without names it does nothing. False after an error. Places decide if names
 * agree with them, and with `into` no operand has more axes than x[0]. Nothing is done for a
 * single operand, for more than RD_ARGUMENTS, or if the caller knows no names. */
bool rd_formula_broadcast_by_names(rd_formula_reader *r, int n, rd_expr **x, bool into, size_t at)
{
    named_operands o = { .r = r, .at = at, .n = n, .x = x };

    if (!r->opts->axes || n < 2 || n > RD_ARGUMENTS || !read_names(&o))
        return true;
    bool places = is_by_place(&o);
    for (int i = 1; i < n && into; i++)
        places &= rank_of(&o, i) <= rank_of(&o, 0); /* names say which axis is too many */
    if (!places && !broadcast_by_names(&o, into))
        return false;
    /* Aligning one pair may shorten an array that an earlier pair has aligned. */
    for (int round = 0; round < n - 1; round++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                if (!align_coordinates(&o, j, i))
                    return false;
    return true;
}

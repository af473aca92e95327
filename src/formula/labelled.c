/* labelled.c - values with indices as axes, in ascending order, so that operands broadcast by
 * index.
 *
 * x[i, k] has the labels i and k, y[k, j] the labels k and j; the product has i, k, j. Each
 * operand is seen as a view with an axis for each label, of extent 1 where it lacks the label. A
 * *label* is the number of an index; axis k of a value v belongs to v.label[k]. */
#include "formula/formula.h"
#include <string.h>

/* True if v has an axis for the index with this label (its number); *place becomes that axis. */
bool rd_labelled_has(const rd_labelled *v, int label, int *place)
{
    for (int k = 0; k < v->n; k++)
        if (v->label[k] == label) {
            *place = k;
            return true;
        }
    return false;
}

/* Inserts a label (the number of an index) into the ascending list of `all`, if it is not in it.
 * False after recording that they are too many. `place` is where it goes: larger labels move up. */
static bool add_label(rd_formula_reader *r, rd_labelled *all, int label, size_t at)
{
    int place = all->n;

    if (rd_labelled_has(all, label, &place))
        return true;
    if (all->n == RD_MAX_RANK)
        return rd_formula_fail(r, RD_ERR_LIMIT, at, "more than %d indices meet", RD_MAX_RANK);
    while (place > 0 && all->label[place - 1] > label) {
        all->label[place] = all->label[place - 1];
        place--;
    }
    all->label[place] = (int16_t)label;
    all->n++;
    return true;
}

/* Collects the labels (numbers of indices) of n values into `all`, ascending. False after
 * recording that an array without indices meets a value with some: its axes could not be told
 * apart. v[i].n counts the labels of a value; x NULL: an operand that is not given; a number has
 * rank 0 and no labels. */
bool rd_labelled_union(rd_formula_reader *r, int n, const rd_labelled *v, size_t at,
                       rd_labelled *all)
{
    *all = (rd_labelled){ 0 };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < v[i].n; k++)
            if (!add_label(r, all, v[i].label[k], at))
                return false;
    if (!all->n)
        return true;
    for (int i = 0; i < n; i++)
        if (v[i].x && !v[i].n && v[i].x->rank)
            return rd_formula_fail(r, RD_ERR_SHAPE, at,
                                   "an array of rank %d meets indices: give each of its axes one, "
                                   "as in x[i, j]",
                                   (int)v[i].x->rank);
    return true;
}

/* Views v with an axis for each label of `all` (the numbers of indices, ascending). An axis that
 * v lacks has extent 1, or with `whole` the index's extent, along which v is repeated. A number
 * without labels stays as it is, unless `whole`. NULL after an error. `number` is that of
 * rd_view(): offsets of v's axes, which are 0, and then a row for each of them, with 1 at the
 * axis k that reads it. r->label[..].n is an index's extent. */
rd_expr *rd_labelled_seen(rd_formula_reader *r, const rd_labelled *v, const rd_labelled *all,
                          bool whole, size_t at)
{
    int64_t extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    int     place = 0;

    if (!v->x || (!v->n && !whole))
        return v->x;
    memset(number, 0, sizeof number);
    for (int k = 0; k < all->n; k++) {
        const bool has = rd_labelled_has(v, all->label[k], &place);

        extent[k] = has || whole ? r->label[all->label[k]].n : 1;
        if (has)
            number[v->n + place * all->n + k] = 1;
    }
    return rd_formula_made(r, rd_view(v->x, all->n, extent, number, /*origin=*/NULL), at);
}

/* in_memory.c - removes the copy before a sort if the rows to sort are contiguous in a leaf:
 * they are read there.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. A term of
 * a subscript with `axis` -1 is a gathered index, the value of an array. */
#include "eval/ir.h"

/* The loop axis along the rows that a sort takes: the one storage dim of `rows` along which the
 * sort's results do not vary. -1: there are several, or none. */
int rd_sorted_axis(const rd_value *sort, const rd_value *rows)
{
    int axis = -1;

    for (int d = 0; d < rows->n_dim; d++)
        if (!rd_in(sort->axes, rows->dim[d])) {
            if (axis >= 0)
                return -1;
            axis = rows->dim[d];
        }
    return axis;
}

/* True if the subscript moves by one element for each index of the axis, and has no gathered
 * index, so that elements along the axis are contiguous. */
static bool runs_along(const rd_subscript *at, int axis)
{
    int64_t coef = 0;

    for (int t = 0; t < at->n_term; t++) {
        if (at->term[t].axis < 0)
            return false;
        coef += at->term[t].axis == axis ? at->term[t].coef : 0;
    }
    return coef == 1;
}

/* If `rows` is a plain copy of elements of a leaf, in the leaf's type, returns the READ of that
 * leaf; else NULL. */
static const rd_value *copied(const rd_graph *g, const rd_value *rows)
{
    const rd_value *read;

    if (rows->kind != RD_VALUE_MAP || rows->op != RD_OP_cast)
        return NULL;
    read = &g->value[rows->in[0]];
    return read->kind == RD_VALUE_READ && read->slot >= 0 && read->type == rows->type &&
                   g->slot[read->slot].type == rows->type
               ? read
               : NULL;
}

/* Lets one sort read its rows in the leaf, in place of a copy, if they are contiguous there. The
 * sort's subscript becomes the address of a row's first element. That is the read's address
 * without the axis along the row. False: no memory. copied() is the read of a leaf that the rows
 * are a copy of, NULL: none; rd_sorted_axis() the axis along a row. runs_along(): contiguous
 * along it. */
static bool read_in_memory(rd_graph *g, rd_value *sort)
{
    const rd_value *rows = &g->value[sort->target], *read = copied(g, rows);
    const int       axis = rd_sorted_axis(sort, rows);
    rd_subscript   *at;

    if (!read || axis < 0 || !runs_along(&read->at[0], axis))
        return true;
    at = rd_pool_get(g->pool, sizeof *at);
    if (!at)
        return false;
    *at        = read->at[0];
    at->n_term = 0;
    for (int t = 0; t < read->at[0].n_term; t++)
        if (read->at[0].term[t].axis != axis)
            at->term[at->n_term++] = read->at[0].term[t];
    sort->slot   = read->slot;
    sort->target = -1;
    sort->at     = at;
    sort->n_at   = 1;
    return true;
}

/* Lets all sorts read rows in the leaf where possible, and sorts the graph again if that left
 * copies without readers, which drops them. False: no memory. */
bool rd_read_rows_in_memory(rd_graph *g)
{
    bool any = false;

    for (int i = 0; i < g->n_value; i++) {
        if (g->value[i].kind != RD_VALUE_SORT)
            continue;
        if (!read_in_memory(g, &g->value[i]))
            return false;
        any |= g->value[i].target < 0;
    }
    return !any || rd_graph_sort_results(g);
}

/* stored.c - finds the axis along which each value is stored.  A reduction of pairs, with its
 * operands packed either way, has its lanes along that axis.
 *
 * Fields. An operand in[k] of -1 is not there. A value is a result if `out` >= 0, and a part of a
 * concatenation if `into` >= 0. `group` is the axis of a group-by's groups, `inner` that of a
 * reducer's outputs or of a sorted row, -1: none. A term of a subscript with `axis` -1 is a
 * gathered index, the value of an array. */
#include "eval/collect/reduction_accesses.h"
#include <stdlib.h>
#include <string.h>

/* The axis along which a result is contiguous in the caller's memory, with stride 1 or -1; -1:
 * there is none. */
static int32_t axis_of_neighbours(const rd_subscript *store)
{
    for (int t = 0; t < store->n_term; t++)
        if (store->term[t].axis >= 0 && llabs(store->term[t].coef) == 1)
            return store->term[t].axis;
    return -1;
}

/* The axis along which a value's own storage is contiguous: in the caller's memory for a result,
 * the last dim of an array; -1: the value has no storage of its own. */
static int32_t own_axis(const rd_value *v)
{
    if (v->out >= 0)
        return axis_of_neighbours(v->store);
    return v->is_whole_array && v->n_dim > 0 && v->inner < 0 ? v->dim[v->n_dim - 1] : -1;
}

/* Returns by value: the axis along which its elements are contiguous in memory; -1: it is not
 * stored. Users come first: a value that an elementwise operation reads gets the axis of that.
 * NULL: no memory. own_axis() is the axis of a value that is itself stored, -1: it is not. */
int32_t *rd_stored_along(const rd_graph *graph)
{
    const int n     = graph->n_value;
    int32_t  *along = rd_pool_get(graph->pool, (size_t)n * sizeof *along);

    if (!along)
        return NULL;
    memset(along, -1, (size_t)n * sizeof *along);
    for (int i = n - 1; i >= 0; i--) {
        const rd_value *v   = &graph->value[i];
        const int32_t   own = own_axis(v);

        along[i] = own >= 0 ? own : along[i];
        for (int k = 0; k < v->n_in && v->kind == RD_VALUE_MAP; k++)
            if (v->in[k] >= 0)
                along[v->in[k]] = along[i];
    }
    return along;
}

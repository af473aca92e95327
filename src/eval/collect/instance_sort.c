/* instance_sort.c - makes the values for uses of sorted rows: a row is stored, sorted as a
 * whole, and its results are stored and read. */
#include "eval/collect/collect.h"
#include <string.h>

/* Stores the operand of a sort along a new last axis, so that rows are contiguous, as sorting
 * needs. Rows are at subscripts `kept`, with axes dim[0..n); dim[n] becomes the new axis. Returns
 * the value's number or -1. The copy is a cast to its own type; `row` marks it as rows to be
 * sorted, `is_whole_array` as an array that is read at other places. */
static int store_rows(rd_collector *c, const rd_expr *e, const rd_subscript *kept, int n,
                      int32_t *dim)
{
    const rd_expr *x    = e->in[0];
    const int      v    = rd_value_new(c, RD_VALUE_MAP, x->type, x);
    const int      axis = rd_axes_new(c->axes, x->extent[x->rank - 1]);
    int32_t       *in   = rd_pool_get(c->pool, sizeof *in);
    rd_subscript   at[RD_MAX_RANK];

    if (v < 0 || axis < 0 || !in)
        return -1;
    for (int d = 0; d < n; d++)
        rd_axes_apart(c->axes, axis, dim[d]);
    memcpy(at, kept, (size_t)(x->rank - 1) * sizeof *at);
    at[x->rank - 1] = rd_subscript_axis(axis);
    dim[n]          = axis;
    in[0]           = rd_use_new(c, x, at);
    if (in[0] < 0 || !rd_set_dims(c, v, n + 1, dim))
        return -1;
    c->graph->value[v].op             = RD_OP_cast;
    c->graph->value[v].in             = in;
    c->graph->value[v].n_in           = 1;
    c->graph->value[v].is_whole_array = true;
    c->graph->value[v].row            = true;
    return v;
}

/* Makes the sort of stored rows (value number `rows`). Its results lie along axis `inner`, behind
 * the n axes dim[0..n) of the rows. Returns the value's number or -1. It costs RD_SORT_OPS
 * operations for each element of the row. */
static int sort_rows(rd_collector *c, const rd_expr *e, int rows, int n, int32_t *dim, int inner)
{
    const int     v    = rd_value_new(c, RD_VALUE_SORT, e->type, e);
    const int64_t most = e->in[0]->extent[e->rank - 1];
    rd_subscript *at   = rd_subscripts(c, n + 1);

    if (v < 0 || !at)
        return -1;
    for (int d = 0; d < n; d++)
        at[d] = rd_subscript_axis(dim[d]);
    at[n] = rd_subscript_const(0); /* from the row's first element */
    rd_axes_apart(c->axes, inner, c->graph->value[rows].dim[n]);
    dim[n] = inner;

    rd_value *value = &c->graph->value[v];

    value->target         = rows;
    value->at             = at;
    value->n_at           = n + 1;
    value->inner          = inner;
    value->is_whole_array = true;
    value->ops            = RD_SORT_OPS * (float)most;
    return rd_set_dims(c, v, n + 1, dim) ? v : -1;
}

/* Sorts only the rows that one use (reader's request) wants, and answers it by a read along the
 * sorted row. False on failure. All axes along which it is stored are fixed: no reshape may
 * split them. */
static bool sort_inlined(rd_collector *c, const rd_expr *e, int use)
{
    const rd_subscript *at = rd_use_of(c, use)->at;
    int32_t             dim[RD_RAW_AXES + 1];
    const int           kept = e->rank - 1, n = rd_axes_of_subscripts(c, kept, at, dim);
    const int           inner = rd_axes_new(c->axes, e->extent[kept]);
    rd_subscript       *own   = rd_subscripts(c, n + 1);
    int                 rows, v;

    if (inner < 0 || !own)
        return false;
    for (int d = 0; d < n; d++) {
        own[d]                                           = rd_subscript_axis(dim[d]);
        c->axes->at[rd_axes_root(c->axes, dim[d])].fixed = true;
        rd_axes_apart(c->axes, inner, dim[d]);
    }
    c->axes->at[inner].fixed = true;
    rows                     = store_rows(c, e, at, n, dim);
    v                        = rows >= 0 ? sort_rows(c, e, rows, n, dim, inner) : -1;
    own[n]                   = rd_use_of(c, use)->at[kept];
    if (v < 0)
        return false;

    const rd_subscript along = rd_subscript_axis(inner);

    rd_unify_subscripts(c, &own[n], &along);
    return rd_answer(c, use, rd_read_value(c, e->type, v, n + 1, own));
}

/* Sorts all rows once, and answers the uses (readers' requests) by reads. False on failure.
 * store_rows() stores the rows, and sort_rows() makes the sort of them; `inner` is the axis
 * along its results. */
static bool sort_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t             dim[RD_MAX_RANK + 1];
    const rd_subscript *at   = rd_own_axes(c, e, dim);
    const int           kept = e->rank - 1, inner = dim[kept];
    const int           rows = at ? store_rows(c, e, at, kept, dim) : -1;
    const int           v    = rows >= 0 ? sort_rows(c, e, rows, kept, dim, inner) : -1;

    return v >= 0 && rd_answer_reads(c, e, v, list, n);
}

/* The number of rows that the uses (readers' requests) together want. dim[] are the loop axes in
 * a use's subscripts but the last, along which the row lies. */
static double rows_asked_for(const rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    double rows = 0;

    for (int k = 0; k < n; k++) {
        int32_t             dim[RD_RAW_AXES];
        const rd_subscript *at   = rd_use_of(c, list[k])->at;
        double              here = 1;

        for (int d = rd_axes_of_subscripts(c, e->rank - 1, at, dim); d-- > 0;)
            here *= (double)c->axes->at[rd_axes_root(c->axes, dim[d])].extent;
        rows += here;
    }
    return rows;
}

/* Makes the values of a sort: row by row at each use (a reader's request), or all rows at once if
 * the uses want more rows than there are.  So no row is sorted twice. */
bool rd_instances_sort(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    if (rows_asked_for(c, e, list, n) > (double)rd_points(e->rank - 1, e->extent))
        return sort_whole(c, e, list, n);
    for (int k = 0; k < n; k++)
        if (!sort_inlined(c, e, list[k]))
            return false;
    return true;
}

/* instance_fold.c - makes the values for uses of reductions and scans: inlined at each place, or
 * materialised once, so that no element is computed twice.
 *
 * A fold is a reduction or a scan.  Its kept axes are those that are not reduced; groups are the
 * results of a group-by; outputs are the several results of a user's reducer.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. */
#include "eval/collect/collect.h"
#include <string.h>

/* ---- Reductions ------------------------------------------------------------------------------ */
/* The number of result axes that are axes of the operand; the axis of groups and that of a
 * reducer's several outputs come behind them. */
static int kept_rank(const rd_expr *e)
{
    return e->rank - rd_is_grouped(e) - (rd_outputs_of(e) > 1);
}

/* Requests the two factors of a sum of products (a dot) and, in a group-by, the labels, which are
 * operand 3. False on failure. in[2] is the mask, -1: none. */
static bool use_product(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    const int32_t *factor = rd_use_factors(c, v, e->in[0], at);
    int32_t       *in     = rd_pool_get(c->pool, 4 * sizeof *in);

    if (!factor || !in || !rd_is_grouped(e))
        return factor && in;
    memcpy(in, factor, 3 * sizeof *in);
    in[3]                   = rd_use_new(c, e->in[3], at);
    c->graph->value[v].in   = in;
    c->graph->value[v].n_in = 4;
    return in[3] >= 0;
}

/* True if a reshape may split the reduced axis and floats are added, so that the split changes the
 * order of additions and the bits. */
static bool is_tree_split(const rd_collector *c, const rd_expr *e)
{
    return rd_seen_of(c, e)->splits && e->as.fold->law != RD_LAW_exact &&
           rd_dtype_kind(e->in[0]->type) == RD_KIND_FLOAT;
}

/* Requests the operands of a reduction at subscripts `kept` along kept axes, and at a new loop
 * axis along each reduced one, distinct from the kept ones. combine->index becomes the flat
 * C-order index of a reduced element; its terms list the reduced axes. False on failure. dim[]
 * lists the axes that are taken already. An axis is marked `tree` if floats are added along it
 * and a reshape may split it. */
static bool fold_operands(rd_collector *c, const rd_expr *e, int v, const rd_subscript *kept)
{
    const rd_expr *x = e->in[0];
    rd_subscript   at[RD_MAX_RANK], index = rd_subscript_const(0);
    int32_t        dim[RD_RAW_AXES];
    int            n_dim = rd_axes_of_subscripts(c, kept_rank(e), kept, dim), k = 0;
    int64_t        weight = 1; /* coefficient in the flat index */

    for (int a = 0; a < x->rank; a++) {
        bool reduced = e->as.fold->dims >> a & 1;

        at[a] = rd_subscript_const(0);
        if (!reduced)
            at[a] = kept[k++];
        else if (x->extent[a] != 1) {
            int axis = rd_axes_new(c->axes, x->extent[a]);

            if (axis < 0)
                return false;
            for (int d = 0; d < n_dim; d++)
                rd_axes_apart(c->axes, axis, dim[d]);
            c->axes->at[axis].tree = is_tree_split(c, e);
            dim[n_dim++]           = axis;
            at[a]                  = rd_subscript_axis(axis);
        }
    }
    for (int a = x->rank; a-- > 0;)
        if (e->as.fold->dims >> a & 1) {
            if (!rd_subscript_add(c->axes, &index, &at[a], weight))
                return false;
            weight *= x->extent[a] ? x->extent[a] : 1; /* an empty axis must not erase the others */
        }
    c->graph->value[v].combine = rd_pool_get(c->pool, sizeof(rd_combine));
    if (!c->graph->value[v].combine)
        return false;
    c->graph->value[v].combine->index = index;
    return rd_sums_products(e) ? use_product(c, v, e, at) : rd_use_operands(c, v, e, at);
}

/* Makes a reduction or scan without operands; its number or -1. A sum of products becomes the
 * reducer dot. rd_sums_products(): e sums products. */
static int fold_value(rd_collector *c, const rd_expr *e)
{
    const int32_t reducer = rd_sums_products(e) ? RD_RED_dot : e->as.fold->reducer;
    int           v =
        rd_value_new(c, e->kind == RD_EXPR_REDUCE ? RD_VALUE_REDUCE : RD_VALUE_SCAN, e->type, e);

    if (v >= 0) {
        c->graph->value[v].reducer = reducer;
        c->graph->value[v].ops     = rd_reducer_table[reducer].cost;
    }
    return v;
}

/* Keeps an axis of groups or outputs distinct from the reduced and the n kept axes, because the
 * reduction has no loop along it. */
static void keep_apart(rd_collector *c, int v, int axis, int n, const int32_t *dim)
{
    const rd_subscript *index = &c->graph->value[v].combine->index;

    for (int t = 0; t < index->n_term; t++)
        rd_axes_apart(c->axes, axis, index->term[t].axis);
    for (int d = 0; d < n; d++)
        rd_axes_apart(c->axes, axis, dim[d]);
}

/* Notes which storage dims of a reduction have no loop: dim[n] is the axis of groups if it is a
 * group-by, and the next one that of a reducer's several outputs. They stay distinct from all loop
 * axes. */
static void name_own_dims(rd_collector *c, const rd_expr *e, int v, int n, const int32_t *dim)
{
    rd_value *value = &c->graph->value[v];
    int       d     = n;

    if (rd_is_grouped(e))
        value->group = dim[d++];
    if (rd_outputs_of(e) > 1)
        value->inner = dim[d++];
    while (d-- > n)
        keep_apart(c, v, dim[d], d, dim);
}

/* Makes the reduction at the subscripts of one use (reader's request). Groups, and several outputs
 * of a reducer, become storage dims without a loop. Then the reduction is stored and read at the
 * last subscripts of the use. False on failure. own[] are the subscripts of that read, one for
 * each storage dim: first the axes of the use (n), then those of groups and outputs. Such stored
 * axes are fixed, so that no reshape splits them. */
static bool reduce_inlined(rd_collector *c, const rd_expr *e, int use)
{
    int32_t             dim[RD_RAW_AXES];
    int                 kept = kept_rank(e), v = fold_value(c, e), n;
    const rd_subscript *at = rd_use_of(c, use)->at;
    rd_subscript       *own;

    if (v < 0 || !fold_operands(c, e, v, at))
        return false;
    at = rd_use_of(c, use)->at;
    n  = rd_axes_of_subscripts(c, kept, at, dim); /* `at` again, as uses may have moved in memory */
    if (kept == e->rank)
        return rd_set_dims(c, v, n, dim) && rd_answer(c, use, v);
    own = rd_subscripts(c, n + e->rank - kept);
    if (!own)
        return false;
    for (int d = 0; d < n; d++) {
        own[d]                                           = rd_subscript_axis(dim[d]);
        c->axes->at[rd_axes_root(c->axes, dim[d])].fixed = true;
    }
    for (int k = 0; k < e->rank - kept; k++) {
        dim[n + k] = rd_axes_new(c->axes, e->extent[kept + k]);
        if (dim[n + k] < 0)
            return false;
        c->axes->at[dim[n + k]].fixed = true;
        own[n + k]                    = at[kept + k];
    }
    name_own_dims(c, e, v, n, dim);
    /* a reader that goes group by group may read each when it is finished */
    if (rd_is_grouped(e)) {
        const rd_subscript axis = rd_subscript_axis(dim[n]);

        rd_unify_subscripts(c, &own[n], &axis);
    }
    c->graph->value[v].is_whole_array = true;
    n += e->rank - kept;
    return rd_set_dims(c, v, n, dim) && rd_answer(c, use, rd_read_value(c, e->type, v, n, own));
}

/* Materialises a reduction: stores it as an array with new loop axes for all its dims, and answers
 * its uses (readers' requests) by reads. False on failure. fold_operands() requests its
 * operands; kept_rank() counts the kept axes. */
static bool reduce_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_MAX_RANK];
    rd_subscript *at = rd_own_axes(c, e, dim);
    int           v  = fold_value(c, e);

    if (v < 0 || !at || !fold_operands(c, e, v, at) || !rd_set_dims(c, v, e->rank, dim))
        return false;
    name_own_dims(c, e, v, kept_rank(e), dim);
    return rd_answer_reads(c, e, v, list, n);
}

/* The number of results that n uses (readers' requests) of a reduction or scan want, added up. */
static double fold_evaluations(const rd_collector *c, const int32_t *list, int n)
{
    double evaluations = 0;

    for (int k = 0; k < n; k++)
        evaluations += rd_use_points(c, rd_use_of(c, list[k]));
    return evaluations;
}

/* True if some use reads the reduction at gathered indices, and the uses want at least half of all
 * results. It is stored then. Inlined, it would gather whole rows in another order, and no mask of
 * indices would shorten its loops. */
static bool gathers_most(const rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    bool gathered = false;

    for (int k = 0; k < n; k++)
        gathered |= rd_use_is_gathered(c, rd_use_of(c, list[k]));
    return gathered && 2 * fold_evaluations(c, list, n) >= rd_expr_points(e);
}

/* Makes the values of a reduction.  Slices reduce only what they need, but no element is computed
 * twice, except distances of many pairs.  The reduction is materialised if its uses (readers'
 * requests) together want more elements than it has, or if several want groups, as each element may
 * belong to any group.  fold_evaluations() counts the elements that uses want. False on failure. */
bool rd_instances_reduce(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    const bool more = fold_evaluations(c, list, n) > rd_expr_points(e);

    if ((more && !rd_is_cheap_pair_function(c, rd_seen_of(c, e), list, n)) ||
        gathers_most(c, e, list, n) || (n > 1 && rd_is_grouped(e)))
        return reduce_whole(c, e, list, n);
    for (int k = 0; k < n; k++)
        if (!reduce_inlined(c, e, list[k]))
            return false;
    return true;
}

/* The axis along which a scan runs: the only bit of `dims`. */
static int scan_axis(const rd_expr *e)
{
    return __builtin_ctzll(e->as.fold->dims);
}

/* Makes a scan at subscripts `at`, which are one whole loop axis along the scan's direction;
 * returns its number or -1. The axis becomes fixed: no reshape may split it. scan_axis() is the
 * scanned axis of e. */
static int scan_at(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int         v = fold_value(c, e), axis = at[scan_axis(e)].term[0].axis;
    rd_combine *combine = rd_pool_get(c->pool, sizeof *combine);

    if (v < 0 || !combine || !rd_use_operands(c, v, e, at))
        return -1;
    combine->index                                 = at[scan_axis(e)];
    c->graph->value[v].combine                     = combine;
    c->axes->at[rd_axes_root(c->axes, axis)].fixed = true;
    return v;
}

/* Makes the scan of one row for a use that reads only a part of it, or reads it otherwise than in
 * order, and answers the use by a read. A new loop axis runs along the whole row. The other
 * subscripts stay the use's, and their axes become fixed, as the scan is stored along them. s is
 * the scanned axis of e, `axis` the new one along it, dim[] are the axes of the other
 * subscripts, n of them. own[] are where the use reads the stored scan. */
static bool scan_row(rd_collector *c, const rd_expr *e, int use)
{
    rd_subscript at[RD_MAX_RANK], *own;
    int32_t      dim[RD_RAW_AXES];
    int          s = scan_axis(e), axis = rd_axes_new(c->axes, e->extent[s]), n, v;

    if (axis < 0)
        return false;
    memcpy(at, rd_use_of(c, use)->at, (size_t)e->rank * sizeof *at);
    at[s] = rd_subscript_const(0);
    n     = rd_axes_of_subscripts(c, e->rank, at, dim);
    own   = rd_subscripts(c, n + 1);
    for (int d = 0; own && d < n; d++) {
        own[d] = rd_subscript_axis(dim[d]);
        rd_axes_apart(c->axes, axis, dim[d]);
        c->axes->at[rd_axes_root(c->axes, dim[d])].fixed = true;
    }
    at[s] = rd_subscript_axis(axis);
    v     = own ? scan_at(c, e, at) : -1;
    if (v < 0)
        return false;
    c->graph->value[v].is_whole_array = true;
    own[n]                            = rd_use_of(c, use)->at[s];
    dim[n]                            = axis;
    return rd_set_dims(c, v, n + 1, dim) &&
           rd_answer(c, use, rd_read_value(c, e->type, v, n + 1, own));
}

/* The loop axis of a use (reader's request) along the scan's direction, if the scan may run along
 * it: it goes from end to end in order, is not split, and occurs in no other subscript. Else -1.
 * rd_subscript_pure() is the axis of a subscript that is one axis and nothing else, -1: it is
 * not; outer >= 0: it is split; scan_axis() is the scanned axis of e. */
static int scanned_axis(const rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int axis = rd_subscript_pure(c->axes, &at[scan_axis(e)]);

    if (axis < 0 || c->axes->at[axis].extent != e->extent[scan_axis(e)] ||
        c->axes->at[axis].outer >= 0)
        return -1;
    for (int a = 0; a < e->rank; a++)
        for (int t = 0; t < at[a].n_term && a != scan_axis(e); t++)
            if (at[a].term[t].axis < 0 || rd_axes_root(c->axes, at[a].term[t].axis) == axis)
                return -1;
    return axis;
}

/* Makes the values of a scan. With one use (reader's request) that wants no element twice it is
 * computed at that use; else it is stored as a whole and read. False on failure.
 * fold_evaluations() counts the elements that uses want; scanned_axis() < 0: the use does not
 * read the rows in order. */
bool rd_instances_scan(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_RAW_AXES];
    rd_subscript *at;
    int           v;

    if (n == 1 && fold_evaluations(c, list, n) <= rd_expr_points(e)) {
        at = rd_use_of(c, list[0])->at;
        if (scanned_axis(c, e, at) < 0)
            return scan_row(c, e, list[0]);
        v = scan_at(c, e, at);
        return v >= 0 && rd_set_dims(c, v, rd_axes_of_subscripts(c, e->rank, at, dim), dim) &&
               rd_answer(c, list[0], v);
    }
    at = rd_own_axes(c, e, dim);
    v  = at ? scan_at(c, e, at) : -1;
    return v >= 0 && rd_set_dims(c, v, e->rank, dim) && rd_answer_reads(c, e, v, list, n);
}

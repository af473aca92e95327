/* merge.c - finds the virtual shape: merges two axes that every access steps through as one
 * (loop collapsing), if they have the same role everywhere.
 *
 * An array of shape (3,4,5,2) summed over its first axis has the virtual shape (3,40); summed
 * over the middle two it has (3,20,2).
 *
 * Merging x into y keeps one loop in place of two, if x is the outer one: each index of x is
 * extent(y) indices of y.  A dense value is stored in C order and read by one flat index.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. */
#include "eval/ir.h"
#include <stdio.h>
#include <string.h>

/* The coefficient (stride) of an axis in a subscript; 0: it does not occur. */
static int64_t coef_of(const rd_subscript *at, int axis)
{
    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis == axis)
            return at->term[t].coef;
    return 0;
}

/* True if, in a subscript, one index of x is as far as the whole extent of y, so that (x, y) may
 * become one axis with y inside. */
static bool is_linear(const rd_graph *g, const rd_subscript *at, int x, int y)
{
    return coef_of(at, x) == coef_of(at, y) * g->axis[y].extent;
}

/* True if a reduction's order of loops allows merging x into y: y comes just behind x, and the
 * lane position (SIMD accumulators, from c->first_lane on) does not begin between them. Also true
 * if x is not reduced. order[] lists the reduced axes, outermost first. */
static bool order_allows(const rd_combine *c, int x, int y)
{
    for (int k = 0; k < c->n_order; k++)
        if (c->order[k] == x)
            return k + 1 < c->n_order && c->order[k + 1] == y && k + 1 != c->first_lane;
    return true;
}

/* True for a read of another value of the graph, which is kept in memory; false for a leaf. */
static bool reads_kept(const rd_value *v)
{
    return v->kind == RD_VALUE_READ && v->slot < 0;
}

/* True if all readers take dims d and d + 1 of stored value v exactly at the loop indices x and y,
 * so that one index can replace both, wherever they read along other dims. A sort reads
 * otherwise. r->slot < 0 and r->target: r reads value v, not memory of the caller. */
static bool are_dims_read_as_loops(const rd_graph *g, const rd_value *v, int d, int x, int y)
{
    const int32_t number = (int32_t)(v - g->value);

    for (int i = 0; i < g->n_value; i++) {
        const rd_value *r = &g->value[i];

        if (r->kind != RD_VALUE_READ && r->kind != RD_VALUE_SORT)
            continue;
        if (r->slot < 0 && r->target == number &&
            (r->kind == RD_VALUE_SORT || !rd_subscript_is_axis(&r->at[d], x) ||
             !rd_subscript_is_axis(&r->at[d + 1], y)))
            return false;
    }
    return true;
}

/* True if dims x and y of a stored value may become one: y follows x, and all readers take both at
 * the loop indices. A dense array, which is read at one flat index, needs only the C order. Parts
 * of concatenations (into) and rows to sort keep their dims. Only values that are read at other
 * places (whole) are asked; y follows x also if dims of one index lie between (before). */
static bool storage_allows(const rd_graph *g, const rd_value *v, int x, int y)
{
    int before = -1; /* the last dim so far of more than one index */

    for (int d = 0; d < v->n_dim && v->is_whole_array; d++) {
        /* read by an index per dim: y must follow x, and readers must step through both as one */
        if (!v->dense && (v->dim[d] == x || v->dim[d] == y))
            return v->dim[d] == x && d + 1 < v->n_dim && v->dim[d + 1] == y && !v->row &&
                   v->into < 0 && are_dims_read_as_loops(g, v, d, x, y);
        if (v->dim[d] == y)
            return before == x;
        if (g->axis[v->dim[d]].extent != 1)
            before = v->dim[d];
    }
    return true;
}

/* True if subscript d of a READ is just the index of axis x or y, and the value that it reads is
 * stored along that axis in its dim d; storage_allows() then decides. */
static bool is_kept_dim(const rd_graph *g, const rd_value *v, int d, int x, int y)
{
    const rd_value *t    = &g->value[v->target];
    const int       axis = !t->dense && d < t->n_dim ? t->dim[d] : -1;

    return (axis == x || axis == y) && rd_subscript_is_axis(&v->at[d], axis);
}

/* True if merging axes x and y into one leaves this value correct:
 * - it varies along both or neither, and reduces both or neither
 * - neither is an axis of groups or of a reducer's outputs (rd_own_dims()), or the axis of a
 *   scan
 * - every address in a leaf, index used as a number (COORD), and address of a result (store)
 *   steps through both as one (is_linear()); a stored value is read along neither, or right at
 *   their indices (is_kept_dim())
 * - neither is an axis of the storage of a concatenation (JOIN)
 * - of a reduction, x is not the lane axis (along which SIMD accumulators lie), the flat index
 *   steps through both as one if the reducer needs it, and the order of its loops allows it */
static bool value_allows(const rd_graph *g, const rd_value *v, int x, int y)
{
    if (rd_in(v->axes, x) != rd_in(v->axes, y) || rd_in(v->reduced, x) != rd_in(v->reduced, y) ||
        rd_own_dims(v) & (rd_bit(x) | rd_bit(y)) ||
        (v->kind == RD_VALUE_SCAN && rd_in(v->reduced, x)))
        return false;
    for (int d = 0; d < v->n_at; d++) {
        /* a coordinate or an address in a leaf; a read of a stored value has one index per dim */
        bool affine = v->kind == RD_VALUE_COORD || v->slot >= 0;

        if (reads_kept(v) && is_kept_dim(g, v, d, x, y))
            continue;
        if (affine ? !is_linear(g, &v->at[d], x, y)
                   : coef_of(&v->at[d], x) || coef_of(&v->at[d], y))
            return false;
    }
    if (v->out >= 0 && !is_linear(g, v->store, x, y))
        return false;
    if (!storage_allows(g, v, x, y))
        return false;
    if (v->kind == RD_VALUE_JOIN && (rd_in(v->axes, x) || rd_in(v->axes, y)))
        return false;
    return !v->combine || (v->combine->lane_axis != x &&
                           (!rd_needs_flat_index(v) || is_linear(g, &v->combine->index, x, y)) &&
                           order_allows(v->combine, x, y));
}

/* True if axes x and y have more than one index each, and all values stay correct if the pair
 * becomes one axis (loop collapsing), with x outside. */
static bool may_merge(const rd_graph *g, int x, int y)
{
    if (x == y || g->axis[x].extent < 2 || g->axis[y].extent < 2)
        return false;
    for (int i = 0; i < g->n_value; i++)
        if (!value_allows(g, &g->value[i], x, y))
            return false;
    return true;
}

/* Removes the terms of axis x from a subscript. */
static void drop_term(rd_subscript *at, int x)
{
    int n = 0;

    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis != x)
            at->term[n++] = at->term[t];
    at->n_term = n;
}

/* Removes axis x from list[0..n) and returns its new length. */
static int drop_axis(int32_t *list, int n, int x)
{
    int kept = 0;

    for (int k = 0; k < n; k++)
        if (list[k] != x)
            list[kept++] = list[k];
    return kept;
}

/* Removes axis x, now part of y, from all sets, subscripts and lists of a value. Coefficients of y
 * stay, as y is the inner one. drop_term() removes x from a subscript, drop_axis() from a list,
 * and returns its new length. c->order has the outer axes, then from first_lane on the lane
 * axes; v->store is where a result is stored. */
static void merge_value(rd_value *v, int x)
{
    v->axes &= ~rd_bit(x);
    v->reduced &= ~rd_bit(x);
    for (int d = 0; d < v->n_at; d++)
        drop_term(&v->at[d], x);
    if (v->out >= 0)
        drop_term(v->store, x);
    v->n_dim = drop_axis(v->dim, v->n_dim, x);
    if (v->combine) {
        rd_combine *c     = v->combine;
        int         outer = drop_axis(c->order, c->first_lane, x);
        /* the lane position moves up to the others' new end */
        int lane = drop_axis(c->order + c->first_lane, c->n_order - c->first_lane, x);

        memmove(c->order + outer, c->order + c->first_lane, (size_t)lane * sizeof *c->order);
        c->first_lane = outer;
        c->n_order    = outer + lane;
        drop_term(&c->index, x);
    }
}

/* Removes the subscript along storage dim x from all READs of values stored along x, as that dim
 * is merged away. reads_kept(): v reads a stored value, its target. A dense array is read at one
 * flat index, which stays. */
static void drop_places(rd_graph *g, int x)
{
    for (int i = 0; i < g->n_value; i++) {
        rd_value *v = &g->value[i];

        for (int d = 0; reads_kept(v) && d < v->n_at; d++)
            if (!g->value[v->target].dense && rd_subscript_is_axis(&v->at[d], x) &&
                d < g->value[v->target].n_dim && g->value[v->target].dim[d] == x) {
                v->n_at--;
                memmove(v->at + d, v->at + d + 1, (size_t)(v->n_at - d) * sizeof *v->at);
                break;
            }
    }
}

/* True if some value is evaluated over the axis. */
static bool is_used(const rd_graph *g, int axis)
{
    for (int i = 0; i < g->n_value; i++)
        if (rd_in(rd_space(&g->value[i]), axis))
            return true;
    return false;
}

/* Merges axis x into y (loop collapsing): y gets the product of the extents and both names; x is
 * left with extent 1 and no use. */
static void merge(rd_graph *g, int x, int y)
{
    char name[2 * sizeof g->axis[0].name];

    drop_places(g, x);
    for (int i = 0; i < g->n_value; i++)
        merge_value(&g->value[i], x);
    g->axis[y].extent *= g->axis[x].extent;
    g->axis[x].extent = 1;
    snprintf(name, sizeof name, "%s%s", g->axis[x].name, g->axis[y].name);
    if (strlen(name) < sizeof g->axis[0].name)
        memcpy(g->axis[y].name, name, strlen(name) + 1);
}

/* Merges the first pair of axes that allows it; false: there is none. */
static bool merge_one(rd_graph *g)
{
    for (int x = 0; x < g->n_axis; x++)
        for (int y = 0; y < g->n_axis; y++)
            if (is_used(g, x) && is_used(g, y) && may_merge(g, x, y)) {
                merge(g, x, y);
                return true;
            }
    return false;
}

/* Merges axes (loop collapsing) until no pair allows it, because a merged axis may merge
 * further. */
void rd_merge_axes(rd_graph *g)
{
    while (merge_one(g))
        ; /* a merged axis may merge further */
}

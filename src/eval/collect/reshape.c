/* reshape.c - subscripts through a reshape: computes the flat C-order index, and divides it by
 * the operand's extents.
 *
 * Axes of the operand and of the result are taken in groups with equal products of extents, such
 * as 6 and 2 x 3.  Strides of a group merge if its axes are one axis in memory.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. */
#include "eval/collect/collect.h"
#include <string.h>

/* Returns the leaf (input array) that e is, or is a view of; NULL: e is something else. *base and
 * stride[k]: element offset and strides of e in the leaf's memory. A view's `number` has the
 * offsets of the leaf's axes, then for each of them a row of factors. */
const rd_expr *rd_affine_leaf(const rd_expr *e, int64_t *base, int64_t *stride)
{
    const rd_expr *leaf = e->kind == RD_EXPR_VIEW ? e->in[0] : e;

    if (leaf->kind != RD_EXPR_LEAF)
        return NULL;
    *base = 0;
    if (leaf == e) {
        memcpy(stride, leaf->as.leaf->stride, (size_t)leaf->rank * sizeof *stride);
        return leaf;
    }
    memset(stride, 0, (size_t)e->rank * sizeof *stride);
    for (int a = 0; a < leaf->rank; a++) {
        *base += e->as.view->number[a] * leaf->as.leaf->stride[a];
        for (int k = 0; k < e->rank; k++)
            stride[k] +=
                e->as.view->number[leaf->rank + a * e->rank + k] * leaf->as.leaf->stride[a];
    }
    return leaf;
}

/* A run of the operand's axes, and a run of the result's axes with the same number of elements. */
typedef struct group {
    int x0, x1, e0, e1; /* the operand's axes [x0, x1), the result's [e0, e1) */
} group;

/* Finds the next pair of runs of axes, in x and in e, with equal numbers of elements: (6, 4) and
 * (2, 3, 4) pair as 6 with (2, 3), then 4 with 4. False behind the last. px, pe: the products of
 * extents. g->x0 to x1 and e0 to e1 are the runs. */
static bool next_group(const rd_expr *x, const rd_expr *e, group *g)
{
    int64_t px, pe;

    g->x0 = g->x1;
    g->e0 = g->e1;
    if (g->x0 == x->rank && g->e0 == e->rank)
        return false;
    px = g->x1 < x->rank ? x->extent[g->x1++] : 1;
    pe = g->e1 < e->rank ? e->extent[g->e1++] : 1;
    while (px != pe)
        if (px < pe)
            px *= x->extent[g->x1++];
        else
            pe *= e->extent[g->e1++];
    return true;
}

/* True if the run of x's axes is one axis in memory: each stride is the next inner one times that
 * axis' extent. *joined: the stride of its flat index. Axes of one index do not matter. The run
 * is axes g->x0 to x1 - 1; `expected` is the stride that the next one must have. */
static bool joined_stride(const rd_expr *x, const int64_t *stride, const group *g, int64_t *joined)
{
    int64_t expected = 0;
    bool    any      = false;

    *joined = 0;
    for (int a = g->x1; a-- > g->x0;) {
        if (x->extent[a] == 1)
            continue;
        if (!any)
            *joined = expected = stride[a];
        if (stride[a] != expected)
            return false;
        expected *= x->extent[a];
        any = true;
    }
    return true;
}

/* True if the reshape may have to split loop axes of its users: its operand is no view of a leaf,
 * or that view's strides do not merge, so that no flat address will do. */
bool rd_reshape_splits(const rd_expr *e)
{
    int64_t base, stride[RD_MAX_RANK], joined;
    group   g = { 0 };

    if (e->kind != RD_EXPR_RESHAPE || rd_points(e->rank, e->extent) == 0)
        return false;
    if (!rd_affine_leaf(e->in[0], &base, stride))
        return true;
    while (next_group(e->in[0], e, &g))
        if (!joined_stride(e->in[0], stride, &g, &joined))
            return true;
    return false;
}

/* Makes a READ of the leaf behind reshape e at one flat address; returns the value's number. -1:
 * there is no leaf, or its strides do not merge; -2: a failure. rd_affine_leaf() finds the leaf
 * with base and strides. Each group of axes of x must be one axis in memory, of stride `joined`;
 * that of e's axis a is multiplied by the extents of the inner ones in its group. */
int rd_reshape_leaf(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    const rd_expr *x = e->in[0], *leaf;
    int64_t        base, stride[RD_MAX_RANK], joined;
    group          g = { 0 };
    int            v, slot;

    if (!(leaf = rd_affine_leaf(x, &base, stride)) || rd_points(x->rank, x->extent) == 0)
        return -1;
    for (group t = { 0 }; next_group(x, e, &t);)
        if (!joined_stride(x, stride, &t, &joined))
            return -1;
    v    = rd_value_new(c, RD_VALUE_READ, e->type, leaf);
    slot = rd_leaf_slot(c, leaf);
    if (v < 0 || slot < 0 || !(c->graph->value[v].at = rd_subscripts(c, 1)))
        return -2;
    c->graph->value[v].slot  = slot;
    c->graph->value[v].n_at  = 1;
    c->graph->value[v].at[0] = rd_subscript_const(base);
    while (next_group(x, e, &g)) {
        joined_stride(x, stride, &g, &joined);
        for (int a = g.e1; a-- > g.e0; joined *= e->extent[a])
            if (!rd_subscript_add(c->axes, c->graph->value[v].at, &at[a], joined))
                return -2;
    }
    return v;
}

/* The value of a term at its last index, which is its greatest, or its least if the coefficient is
 * negative. A gathered index (axis -1) is below the extent that it is checked against. */
static int64_t extreme_of(const rd_collector *c, const rd_subscript_term *t)
{
    int64_t extent = t->axis < 0 ? c->graph->value[t->value].value.i64
                                 : c->axes->at[rd_axes_root(c->axes, t->axis)].extent;

    return t->coef * (extent - 1);
}

/* Splits loop axes of the flat index so that each term is a multiple of n or stays below n, and
 * flat / n and flat % n are sums of terms. For n = 4, index i of extent 12 becomes 4 * outer +
 * inner. *ok is false if an axis may not be split. False after a failure. No split is needed, or
 * possible, for a term that is a multiple of n, is gathered (axis < 0) or falling, whose
 * coefficient does not divide n, that stays below n, or whose extent is no multiple of n /
 * coefficient. */
static bool split_straddling(rd_collector *c, rd_subscript *flat, int64_t n, bool *ok)
{
    for (int t = 0; t < flat->n_term; t++) {
        const rd_subscript_term *term = &flat->term[t];
        int64_t                  extent;

        if (term->coef % n == 0 || term->axis < 0 || term->coef < 0 || n % term->coef)
            continue;
        extent = c->axes->at[rd_axes_root(c->axes, term->axis)].extent;
        if (term->coef * extent <= n || extent % (n / term->coef))
            continue;
        if (!rd_axes_split(c->axes, term->axis, n / term->coef)) {
            *ok = false;
            return true;
        }
        if (!rd_subscript_normal(c->axes, flat))
            return false;
        t = -1; /* examine all terms again */
    }
    return true;
}

/* Divides: flat = n * quotient + rest with 0 <= rest < n for all indices, term by term; *ok is
 * false if that does not work. False after a failure. A coefficient that n divides goes to the
 * quotient, others to the rest. extreme_of() is the farthest value of a term from 0. */
static bool divide(rd_collector *c, const rd_subscript *flat, int64_t n, rd_subscript *rest,
                   rd_subscript *quotient, bool *ok)
{
    int64_t lo, hi;

    *quotient = rd_subscript_const(flat->offset / n - (flat->offset % n < 0));
    *rest     = rd_subscript_const(flat->offset - n * quotient->offset);
    lo = hi = rest->offset; /* bounds of rest */
    for (int t = 0; t < flat->n_term; t++) {
        rd_subscript_term term = flat->term[t];

        if (term.coef % n == 0) {
            term.coef /= n;
            quotient->term[quotient->n_term++] = term;
        } else {
            int64_t far = extreme_of(c, &term);

            *(far < 0 ? &lo : &hi) += far;
            rest->term[rest->n_term++] = term;
        }
    }
    *ok = lo >= 0 && hi < n;
    return rd_subscript_normal(c->axes, quotient) && rd_subscript_normal(c->axes, rest);
}

/* Computes the subscripts at which reshape e, read at `at`, reads its operand: the flat C-order
 * index, divided by the operand's extents from the last axis on. *ok is false if these are no
 * linear forms of loop indices, so that a copy is needed. False after a failure. The first axis
 * of more than one index takes what is left undivided. */
bool rd_reshape_subscripts(rd_collector *c, const rd_expr *e, const rd_subscript *at,
                           rd_subscript *in, bool *ok)
{
    const rd_expr *x      = e->in[0];
    rd_subscript   flat   = rd_subscript_const(0);
    int64_t        weight = 1;
    int            first  = 0; /* the first axis of more than one index */

    *ok = true;
    for (int a = 0; a < x->rank; a++)
        in[a] = rd_subscript_const(0);
    if (rd_points(x->rank, x->extent) == 0)
        return true; /* nothing is ever read */
    for (int a = e->rank; a-- > 0; weight *= e->extent[a])
        if (!rd_subscript_add(c->axes, &flat, &at[a], weight))
            return false;
    if (!rd_subscript_normal(c->axes, &flat))
        return false;
    while (first < x->rank && x->extent[first] == 1)
        first++;
    for (int a = x->rank; a-- > first && *ok;) {
        rd_subscript quotient = flat;

        if (a == first)
            in[a] = flat;
        if (a == first || x->extent[a] == 1)
            continue;
        if (!split_straddling(c, &flat, x->extent[a], ok) ||
            (*ok && !divide(c, &flat, x->extent[a], &in[a], &quotient, ok)))
            return false;
        flat = quotient;
    }
    return true;
}

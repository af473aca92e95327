/* axis_source.c - traces an axis of a result back to an axis of a leaf, so that a caller who
 * knows the coordinates of leaves (times, latitudes) can label results.
 *
 *     y = x[10::2] + 1, axis 0  ->  leaf x, axis 0, offset 10, step 2
 *
 * The trace follows operands from a node down.  The first operand that leads to a leaf counts.
 * Else the first one counts that leads to a node which makes the axis: a group-by, or a reshape
 * that splits it. */
#include "expr/expr.h"

/* The most nodes to visit: operands are shared, so there may be more paths than nodes. */
enum { MOST_STEPS = 4096 };

/* A trace on its way down the operands. */
typedef struct trace {
    rd_axis_from at; /* the node reached, its axis, and offset and step of the result's indices */
    int          steps; /* nodes visited */
} trace;

/* Follows axis t->at.axis of a view to the one axis of the operand that steps along it, by a
 * coefficient other than 0, and composes offset and step.  False if there is none, or more than
 * one. */
static bool through_view(trace *t)
{
    const rd_expr *x      = t->at.from;
    const int64_t *offset = x->as.view->number, *coef = offset + x->in[0]->rank;
    const int      k     = t->at.axis;
    int            found = -1;

    for (int a = 0; a < x->in[0]->rank; a++)
        if (coef[(int64_t)a * x->rank + k] != 0) {
            if (found >= 0) /* two axes step together: a diagonal */
                return false;
            found = a;
        }
    if (found < 0) /* a repeated axis, or one of extent 1 that may be new */
        return false;
    const int64_t step = coef[(int64_t)found * x->rank + k];
    t->at.offset       = offset[found] + step * t->at.offset;
    t->at.step *= step;
    t->at.axis = found;
    t->at.from = x->in[0];
    return true;
}

/* Follows a reshape if the operand has an axis of the same extent with as many elements behind it
 * (inside it in C order): it is the same axis then. */
static bool through_reshape(trace *t)
{
    const rd_expr *x = t->at.from, *in = x->in[0];
    const int64_t  behind = rd_points(x->rank - t->at.axis - 1, x->extent + t->at.axis + 1);

    for (int a = 0; a < in->rank; a++)
        if (in->extent[a] == x->extent[t->at.axis] &&
            rd_points(in->rank - a - 1, in->extent + a + 1) == behind) {
            t->at.axis = a;
            t->at.from = x->in[0];
            return true;
        }
    return false;
}

/* Follows an axis of a reduction to the operand's axis, the one of this number among those not
 * reduced.  Axes of groups and of a user's outputs lie behind these and end the trace: false. */
static bool through_reduce(trace *t)
{
    const rd_expr *x = t->at.from;

    for (int a = 0, left = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1) && left++ == t->at.axis) {
            t->at.axis = a;
            t->at.from = x->in[0];
            return true;
        }
    return false;
}

/* Follows an axis of a gather y = x[index].  With `along`, the index has y's axes, and the gathered
 * axis is the index's.  Otherwise the index's axes stand in place of the gathered axis and lead to
 * the index.  All other axes are x's. */
static bool through_take(trace *t)
{
    const rd_expr *x    = t->at.from;
    const int      axis = (int)x->as.axis->axis;

    if (x->as.axis->along && t->at.axis == axis) {
        t->at.from = x->in[1];
        return true;
    }
    if (!x->as.axis->along && t->at.axis >= axis && t->at.axis < axis + x->in[1]->rank) {
        t->at.axis -= axis;
        t->at.from = x->in[1];
        return true;
    }
    if (!x->as.axis->along && t->at.axis > axis)
        t->at.axis -= x->in[1]->rank - 1;
    t->at.from = x->in[0];
    return true;
}

/* Follows an axis of a sort to the operand; false for the last axis, along which elements move. */
static bool through_sort(trace *t)
{
    if (t->at.axis == t->at.from->rank - 1) /* the sorted axis */
        return false;
    t->at.from = t->at.from->in[0];
    return true;
}

static bool trace_axis(trace *t);

/* Follows the axis into the operands in order, until one leads to a leaf.  If none does, the first
 * trace counts that ended at a reduction or reshape which makes the axis. */
static bool through_operands(trace *t)
{
    const trace    start = *t;
    const rd_expr *x     = t->at.from;
    trace          made;
    bool           found = false;

    for (int k = 0; k < x->n_in; k++) {
        /* a number, or a missing operand */
        if (!x->in[k] || x->in[k]->rank != x->rank)
            continue;
        const int steps = t->steps;
        *t              = start;
        t->steps        = steps;
        t->at.from      = x->in[k];
        if (!trace_axis(t))
            continue;
        if (t->at.from->kind != RD_EXPR_REDUCE && t->at.from->kind != RD_EXPR_RESHAPE)
            return true;
        if (!found)
            made = *t;
        found = true;
    }
    if (found) {
        made.steps = t->steps;
        *t         = made;
    }
    return found;
}

/* True if the axis is the one that a group-by makes: the first one behind the axes that are not
 * reduced. */
static bool is_group_axis(const trace *t)
{
    const rd_expr *x    = t->at.from;
    int            kept = 0;

    for (int a = 0; a < x->in[0]->rank; a++)
        kept += !(x->as.fold->dims >> a & 1);
    return rd_is_grouped(x) && t->at.axis == kept;
}

/* Follows an axis down the operands until it reaches a leaf or a node that makes the axis (a
 * group-by, a split reshape); false if there is none.  *t then has the node, its axis, offset and
 * step. */
static bool trace_axis(trace *t)
{
    for (;;) {
        const rd_expr *x        = t->at.from;
        bool           followed = false;

        if (t->steps++ > MOST_STEPS)
            return false;
        switch (x->kind) {
        case RD_EXPR_LEAF: return true;
        case RD_EXPR_CONCAT: return x->as.axis->axis == t->at.axis || through_operands(t);
        case RD_EXPR_VIEW: followed = through_view(t); break;
        case RD_EXPR_RESHAPE:
            if (!through_reshape(t))
                /* A split axis is made here; one of extent 1 means nothing. */
                return x->extent[t->at.axis] != 1;
            followed = true;
            break;
        case RD_EXPR_REDUCE:
            if (is_group_axis(t))
                return true;
            followed = through_reduce(t);
            break;
        case RD_EXPR_TAKE: followed = through_take(t); break;
        case RD_EXPR_SORT: followed = through_sort(t); break;
        case RD_EXPR_MAP:
        case RD_EXPR_CALL:
        case RD_EXPR_COMPLEX: return through_operands(t);
        case RD_EXPR_SCAN:
            t->at.from = x->in[0];
            followed   = true;
            break;
        case RD_EXPR_PRODUCT:
        case RD_EXPR_NUMBER:
        case RD_EXPR_COORD:
        case RD_EXPR_SPARSE:
        case RD_EXPR_LATER: break;
        }
        if (!followed)
            return false;
    }
}

/* Finds the axis of a leaf from which an axis of y comes: the public call.  *out gets leaf, axis,
 * offset and step: index i of y is offset + step * i of the leaf. */
bool rd_axis_source(rd_expr *y, int axis, rd_axis_from *out)
{
    int found;

    if (out)
        *out = (rd_axis_from){ 0 };
    if (!y || !rd_is_here(y->ctx, "rd_axis_source", "operand", 0, y) ||
        (found = rd_axis(y, axis, "rd_axis_source")) < 0)
        return false;
    if (!out) {
        rd_fail(y->ctx, RD_ERR_ARGUMENT, "rd_axis_source: no place for what is found");
        return false;
    }
    trace t = { .at = { .from = y, .axis = found, .step = 1 } };
    if (!trace_axis(&t))
        return false;
    *out = t.at;
    return true;
}

/* Skips views, reshapes and gathers: returns the node that computes the elements. */
rd_expr *rd_elements_of(rd_expr *y)
{
    while (y && (y->kind == RD_EXPR_VIEW || y->kind == RD_EXPR_RESHAPE || y->kind == RD_EXPR_TAKE))
        y = y->in[0];
    return y;
}

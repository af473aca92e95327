/* axis_source.c - where the indices along an axis come from: so that whoever knows what the axes of
 * his leaves are, times and latitudes, knows those of results.
 *
 * Followed from a node to its operands, of which the first that leads to a leaf counts, else the first that
 * leads to an axis that begins where it is made: the groups of a reduction by label, or what a reshape cuts. */
#include "expr/expr.h"

/* Nodes looked at: operands are shared, and there may be more ways than nodes. */
enum { MOST_STEPS = 4096 };

typedef struct trace {
    rd_axis_from at; /* the node's own axis, and how the result's indices go along it */
    int          steps;
} trace;

/* The one axis of the operand that moves with axis k of a view, where all others of it stay. */
static bool through_view(trace *t)
{
    const rd_expr *x      = t->at.from;
    const int64_t *offset = x->as.view->number, *coef = offset + x->in[0]->rank;
    const int      k     = t->at.axis;
    int            found = -1;

    for (int a = 0; a < x->in[0]->rank; a++)
        if (coef[(int64_t)a * x->rank + k] != 0) {
            if (found >= 0) /* a diagonal */
                return false;
            found = a;
        }
    if (found < 0) /* repeated, or of one element, which may be a new one */
        return false;
    const int64_t step = coef[(int64_t)found * x->rank + k];
    t->at.offset       = offset[found] + step * t->at.offset;
    t->at.step *= step;
    t->at.axis = found;
    t->at.from = x->in[0];
    return true;
}

/* An axis stays one where there are as many elements before it, and behind it, as there were. */
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

/* Kept axes come first; behind them those of groups, where the trace ends, and a user's outputs. */
static bool through_reduce(trace *t)
{
    const rd_expr *x = t->at.from;

    for (int a = 0, k = 0; a < x->in[0]->rank; a++)
        if (!(x->as.fold->dims >> a & 1) && k++ == t->at.axis) {
            t->at.axis = a;
            t->at.from = x->in[0];
            return true;
        }
    return false;
}

/* Axes of the index take the place of the one that is read. */
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

static bool through_sort(trace *t)
{
    if (t->at.axis == t->at.from->rank - 1) /* elements are where others were */
        return false;
    t->at.from = t->at.from->in[0];
    return true;
}

static bool follow(trace *t);

static bool through_any(trace *t)
{
    const trace    start = *t;
    const rd_expr *x     = t->at.from;
    trace          made;
    bool           found = false;

    for (int k = 0; k < x->n_in; k++) {
        if (!x->in[k] || x->in[k]->rank != x->rank)
            continue;
        const int steps = t->steps;
        *t              = start;
        t->steps        = steps;
        t->at.from      = x->in[k];
        if (!follow(t))
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

static bool is_of_groups(const trace *t)
{
    const rd_expr *x    = t->at.from;
    int            kept = 0;

    for (int a = 0; a < x->in[0]->rank; a++)
        kept += !(x->as.fold->dims >> a & 1);
    return rd_is_grouped(x) && t->at.axis == kept;
}

static bool follow(trace *t)
{
    for (;;) {
        const rd_expr *x    = t->at.from;
        bool           goes = false;

        if (t->steps++ > MOST_STEPS)
            return false;
        switch (x->kind) {
        case RD_EXPR_LEAF: return true;
        case RD_EXPR_CONCAT: return x->as.axis->axis == t->at.axis || through_any(t);
        case RD_EXPR_VIEW: goes = through_view(t); break;
        case RD_EXPR_RESHAPE:
            if (!through_reshape(t))
                return x->extent[t->at.axis] != 1;
            goes = true;
            break;
        case RD_EXPR_REDUCE:
            if (is_of_groups(t))
                return true;
            goes = through_reduce(t);
            break;
        case RD_EXPR_TAKE: goes = through_take(t); break;
        case RD_EXPR_SORT: goes = through_sort(t); break;
        case RD_EXPR_MAP:
        case RD_EXPR_CALL:
        case RD_EXPR_COMPLEX: return through_any(t);
        case RD_EXPR_SCAN:
            t->at.from = x->in[0];
            goes       = true;
            break;
        case RD_EXPR_PRODUCT:
        case RD_EXPR_NUMBER:
        case RD_EXPR_COORD:
        case RD_EXPR_SPARSE:
        case RD_EXPR_LATER: break;
        }
        if (!goes)
            return false;
    }
}

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
    if (!follow(&t))
        return false;
    *out = t.at;
    return true;
}

rd_expr *rd_elements_of(rd_expr *y)
{
    while (y && (y->kind == RD_EXPR_VIEW || y->kind == RD_EXPR_RESHAPE || y->kind == RD_EXPR_TAKE))
        y = y->in[0];
    return y;
}

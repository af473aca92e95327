/* linear.c - products of vectors and matrices, with the rules of the Array API and NumPy.
 *
 *     matmul (2, 3, 4) x (4, 5)  ->  contraction of labels  0 r s, s c -> 0 r c */
#include "expr/contract.h"
#include <string.h>

/* Labels: batch axes are numbered from the last one on; these are the summed axis and each
 * operand's own axis. */
enum { SUMMED = 32, ROW = 33, COLUMN = 34 };

/* Records RD_ERR_SHAPE with both shapes; returns NULL. */
static void *refuse_shapes(const char *call, const char *what, const rd_expr *a, const rd_expr *b)
{
    char own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];

    return rd_fail(a->ctx, RD_ERR_SHAPE, "%s: %s, shapes %s and %s", call, what,
                   rd_shape_text(a->rank, a->extent, own),
                   rd_shape_text(b->rank, b->extent, other));
}

/* Labels the axes of t before its last `own` ones as batch axes: the last of them gets 0, those to
 * the left of it 1, 2 and so on.  Thus batch axes of both operands are aligned at the end.  Returns
 * their number. */
static int label_batch(rd_term *t, int own)
{
    const int n = t->x->rank - own;

    for (int a = 0; a < n; a++)
        t->label[a] = (int8_t)(n - 1 - a);
    return n;
}

/* True if the batch axes of a and b broadcast, aligned at the end. own_a and own_b are the numbers
 * of last axes of each operand that are no batch axes. */
static bool can_broadcast_batches(const rd_expr *a, int own_a, const rd_expr *b, int own_b)
{
    for (int k = 1; k <= a->rank - own_a && k <= b->rank - own_b; k++) {
        const int64_t n = a->extent[a->rank - own_a - k], m = b->extent[b->rank - own_b - k];

        if (n != m && n != 1 && m != 1)
            return false;
    }
    return true;
}

/* Makes a matrix product by labels: sums over the last axis of a and the second to last axis of b
 * (its only one, if b is a vector).  Axes before these are batch axes.  NULL after recording that
 * shapes do not fit. */
static rd_expr *multiply(const char *call, rd_expr *a, rd_expr *b)
{
    rd_term   t[2]  = { { a, { 0 } }, { b, { 0 } } }; /* operand, labels of its axes */
    const int own_a = a->rank > 1 ? 2 : 1, own_b = b->rank > 1 ? 2 : 1;
    const int n_a = label_batch(&t[0], own_a), n_b = label_batch(&t[1], own_b);
    int8_t    out[RD_MAX_RANK + 2];
    int       n = 0;

    if (a->extent[a->rank - 1] != b->extent[b->rank - own_b])
        return refuse_shapes(call,
                             "the last axis of the first is not as long as the axis that "
                             "the second is summed over",
                             a, b);
    if (!can_broadcast_batches(a, own_a, b, own_b))
        return refuse_shapes(call, "the axes before the matrices do not broadcast", a, b);
    t[0].label[a->rank - 1]     = SUMMED;
    t[1].label[b->rank - own_b] = SUMMED;
    for (int k = n_a > n_b ? n_a : n_b; k-- > 0;)
        out[n++] = (int8_t)k;
    if (own_a == 2)
        out[n++] = t[0].label[a->rank - 2] = ROW;
    if (own_b == 2)
        out[n++] = t[1].label[b->rank - 1] = COLUMN;
    return rd_contract(call, 2, t, n, out);
}

/* Makes the matrix product.  A vector is a row on the left and a column on the right; axes before
 * the matrices are batch axes, as in NumPy. */
rd_expr *rd_matmul(rd_expr *a, rd_expr *b)
{
    static const char call[] = "rd_matmul";

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }))
        return NULL;
    if (a->rank == 0 || b->rank == 0)
        return refuse_shapes(call, "a number is no matrix", a, b);
    return multiply(call, a, b);
}

/* Sums over axes of_a[k] of a and of_b[k] of b, n of each.  The other axes of a, then those of b,
 * remain.  Labels 0 to n - 1 are the summed ones. */
static rd_expr *tensordot(const char *call, rd_expr *a, rd_expr *b, int n, const int *of_a,
                          const int *of_b)
{
    rd_term t[2] = { { a, { 0 } }, { b, { 0 } } };
    int8_t  out[2 * RD_MAX_RANK];
    int     n_out = 0;

    for (int k = 0; k < 2; k++)
        memset(t[k].label, -1, sizeof t[k].label);
    for (int k = 0; k < n; k++) {
        if (a->extent[of_a[k]] != b->extent[of_b[k]])
            return refuse_shapes(call, "axes that are summed over differ in extent", a, b);
        t[0].label[of_a[k]] = t[1].label[of_b[k]] = (int8_t)k;
    }
    if (a->rank + b->rank - n > RD_MAX_LABELS)
        return refuse_shapes(call, "more than 64 axes in all", a, b);
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < t[k].x->rank; d++)
            if (t[k].label[d] < 0) {
                t[k].label[d] = (int8_t)(n + n_out);
                out[n_out++]  = t[k].label[d];
            }
    return rd_contract(call, 2, t, n_out, out);
}

/* Resolves a list of axes to numbers from 0.  False after recording that one does not exist or is
 * named twice.  Numbers too large for an int become RD_MAX_RANK, which no operand has. */
static bool find_axes(const char *call, const rd_expr *x, const rd_index *given, int *axis)
{
    uint64_t seen = 0;

    for (int k = 0; k < given->n; k++) {
        const bool in_range = given->at[k] >= -RD_MAX_RANK && given->at[k] < RD_MAX_RANK;

        axis[k] = rd_axis(x, in_range ? (int)given->at[k] : RD_MAX_RANK, call);
        if (axis[k] < 0)
            return false;
        if (seen >> axis[k] & 1) {
            rd_fail(x->ctx, RD_ERR_AXIS, "%s: axis %d is named twice", call, axis[k]);
            return false;
        }
        seen |= (uint64_t)1 << axis[k];
    }
    return true;
}

/* Sums products over the axes of_a[k] of a and of_b[k] of b: the public call, which checks both
 * lists. */
rd_expr *rd_tensordot(rd_expr *a, rd_expr *b, rd_index of_a, rd_index of_b)
{
    static const char call[] = "rd_tensordot";
    int               axis_a[RD_MAX_RANK], axis_b[RD_MAX_RANK];

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }))
        return NULL;
    if (of_a.n != of_b.n || of_a.n < 0 || of_a.n > RD_MAX_RANK)
        return rd_fail(a->ctx, RD_ERR_ARGUMENT,
                       "%s: %d axes of the first operand, %d of the second", call, (int)of_a.n,
                       (int)of_b.n);
    if (!find_axes(call, a, &of_a, axis_a) || !find_axes(call, b, &of_b, axis_b))
        return NULL;
    return tensordot(call, a, b, of_a.n, axis_a, axis_b);
}

/* Sums over the last axis of a and the second to last of b, as numpy.dot does; a number
 * multiplies. */
rd_expr *rd_dot(rd_expr *a, rd_expr *b)
{
    static const char call[] = "rd_dot";

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }))
        return NULL;
    const bool numbers = a->rank == 0 || b->rank == 0;

    return tensordot(call, a, b, /*n=*/!numbers, (int[]){ a->rank - 1 },
                     (int[]){ b->rank > 1 ? b->rank - 2 : 0 });
}

/* Multiplies all elements of a with all elements of b, both flattened. */
rd_expr *rd_outer(rd_expr *a, rd_expr *b)
{
    static const char call[] = "rd_outer";

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }))
        return NULL;
    a = rd_reshape(a, RD_SHAPE(rd_points(a->rank, a->extent)));
    b = rd_reshape(b, RD_SHAPE(rd_points(b->rank, b->extent)));
    return a && b ? tensordot(call, a, b, /*n=*/0, /*of_a=*/NULL, /*of_b=*/NULL) : NULL;
}

/* Moves one axis of x to the end; the others keep their order. */
static rd_expr *axis_last(rd_expr *x, int axis)
{
    rd_index order = { .n = x->rank };
    int      n     = 0;

    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            order.at[n++] = a;
    order.at[n] = axis;
    return rd_permute(x, order);
}

/* Sums products over one axis of both operands, with a conjugated: the inner product of vectors.
 * Other axes broadcast as batch axes.  The axis is moved to the end of both first. */
rd_expr *rd_vecdot(rd_expr *a, rd_expr *b, int axis)
{
    static const char call[] = "rd_vecdot";
    int               at_a, at_b;

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }) || (at_a = rd_axis(a, axis, call)) < 0 ||
        (at_b = rd_axis(b, axis, call)) < 0)
        return NULL;
    if (axis >= 0 && a->rank != b->rank)
        return refuse_shapes(call, "of operands of different ranks an axis is counted from the end",
                             a, b);
    a = axis_last(rd_dtype_is_complex(a->type) ? rd_conj(a) : a, at_a);
    b = axis_last(b, at_b);
    if (!a || !b)
        return NULL;
    if (a->extent[a->rank - 1] != b->extent[b->rank - 1])
        return refuse_shapes(call, "the axes that are summed over differ in extent", a, b);
    if (!can_broadcast_batches(a, /*own_a=*/1, b, /*own_b=*/1))
        return refuse_shapes(call, "the other axes do not broadcast", a, b);

    rd_term t[2] = { { a, { 0 } }, { b, { 0 } } };
    int8_t  out[RD_MAX_RANK];
    int     n_a = label_batch(&t[0], 1), n_b = label_batch(&t[1], 1), n = 0;

    t[0].label[n_a] = t[1].label[n_b] = SUMMED;
    for (int k = n_a > n_b ? n_a : n_b; k-- > 0;)
        out[n++] = (int8_t)k;
    return rd_contract(call, 2, t, n, out);
}

/* The sum of a diagonal of each matrix. */
rd_expr *rd_trace(rd_expr *x, int axis1, int axis2, int64_t offset)
{
    rd_expr *y = rd_diagonal(x, axis1, axis2, offset);

    return y ? rd_sum(y, RD_DIMS(-1)) : NULL;
}

/* scatter.c - adds values at places of an axis, the transpose of a gather, as sums by label. */
#include "expr/maps.h"
#include "expr/origin.h"

static const char call[] = "rd_scatter_add";

/* Fills in the shape that a gather by `index` along an axis has, and that the values must have:
 * x's, with the index's axes in place of one.  False after recording that there are too many
 * axes. */
static bool gathered_shape(const rd_expr *x, const rd_expr *index, int axis, rd_shape *shape)
{
    *shape = (rd_shape){ .n = x->rank - 1 + index->rank };
    if (shape->n > RD_MAX_RANK) {
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: more than %d axes", call, RD_MAX_RANK);
        return false;
    }
    for (int a = 0, k = 0; a < x->rank; a++)
        if (a != axis)
            shape->at[k++] = x->extent[a];
        else
            for (int b = 0; b < index->rank; b++)
                shape->at[k++] = index->extent[b];
    return true;
}

/* Makes the group labels of a scatter: the index as i64, shaped to broadcast against the values.
 * Negative indices of a signed type count from the end. */
static rd_expr *labels_of(const rd_expr *x, rd_expr *index, int axis)
{
    rd_shape       shape = { .n = index->rank + x->rank - 1 - axis };
    rd_expr *const i     = rd_cast_to(index, RD_I64);
    rd_expr       *y     = i;

    /* Unsigned indices never count from the end.  One that no i64 holds is negative after the
     * cast, and so outside. */
    if (rd_dtype_kind(index->type) == RD_KIND_INT)
        y = map_where(call, map_2(RD_OP_lt, call, i, rd_int(x->ctx, 0)),
                      map_2(RD_OP_add, call, i, rd_int(x->ctx, x->extent[axis])), i);
    for (int a = 0; a < shape.n; a++)
        shape.at[a] = a < index->rank ? index->extent[a] : 1;
    return y ? rd_reshape(y, shape) : NULL;
}

/* Sums the values by group, the label of which is the index, over the index's axes.  An axis of
 * groups, as long as x's axis, replaces these. */
static rd_expr *sums_by_label(rd_expr *x, rd_expr *index, rd_expr *values, int axis)
{
    rd_dims        dims = RD_NONE;
    rd_expr *const by   = labels_of(x, index, axis);

    for (int k = 0; k < index->rank; k++)
        dims.axis[dims.n++] = axis + k;
    if (!by)
        return NULL;
    if (!index->rank) { /* a single place needs an axis to reduce */
        values              = rd_expand(values, axis);
        dims.axis[dims.n++] = axis;
    }
    return values ? rd_sum(values, dims, .by = RD_EXPRS(index->rank ? by : rd_expand(by, 0)),
                           .groups = RD_SHAPE(x->extent[axis]))
                  : NULL;
}

/* True if the index has an int type.  False after recording that it has not. */
static bool index_ok(const rd_expr *index)
{
    const rd_kind kind = rd_dtype_kind(index->type);

    if (kind == RD_KIND_INT || kind == RD_KIND_UINT)
        return true;
    rd_fail(index->ctx, RD_ERR_TYPE, "%s: places are ints, not %s", call,
            rd_dtype_name(index->type));
    return false;
}

/* Adds values to x at indices of an axis; equal indices add up (the transpose of a gather).  It is
 * x + sums of the values by group.  All axes count from 0 meanwhile. */
rd_expr *rd_scatter_add(rd_expr *x, int axis, rd_expr *index, rd_expr *values)
{
    rd_expr *const all[] = { x, index, values };
    rd_shape       shape;
    int            a;

    if (!rd_operands(call, 3, all) || (a = rd_axis(x, axis, call)) < 0 || !index_ok(index) ||
        !gathered_shape(x, index, a, &shape))
        return NULL;
    const rd_dtype type = rd_rule_type(RD_RULE_ARITH, 2, (rd_expr *const[]){ x, values });

    values = rd_broadcast_to(values, shape.n, shape.at, call);
    values = values ? rd_with_origins(rd_cast_to(values, type), /*origin=*/NULL) : NULL;
    index  = rd_with_origins(index, /*origin=*/NULL);
    index  = index ? rd_places_of(call, x, a, index) : NULL;
    if (!values || !index)
        return NULL;
    rd_expr *const y = sums_by_label(x, index, values, a);
    rd_expr *const z = map_2(RD_OP_add, call, rd_with_origins(x, /*origin=*/NULL), y);

    return z ? rd_with_origins(rd_cast_to(z, type), x->origin) : NULL;
}

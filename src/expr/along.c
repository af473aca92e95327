/* along.c - positions along an axis, for trapezoids and gradients. */
#include "expr/along.h"
#include "expr/complex.h"

/* True if x can give positions of the elements of y along `axis`: it is real, and a number (the
 * distance), a row as long as the axis, or of y's rank.  False after recording what is wrong. */
bool rd_positions_ok(const char *call, const rd_expr *x, const rd_expr *y, int axis)
{
    char own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];

    if (rd_is_complex(x))
        rd_fail(y->ctx, RD_ERR_TYPE,
                "%s: positions are %s, and must be real numbers: rd_real(), rd_imag() and rd_abs() "
                "are",
                call, rd_dtype_name(x->type));
    else if (x->rank == 1 && x->extent[0] != y->extent[axis])
        rd_fail(y->ctx, RD_ERR_SHAPE, "%s: positions of shape %s along axis %d of shape %s", call,
                rd_shape_text(x->rank, x->extent, other), axis,
                rd_shape_text(y->rank, y->extent, own));
    else if (x->rank > 1 && (x->rank != y->rank || x->extent[axis] != y->extent[axis]))
        rd_fail(y->ctx, RD_ERR_SHAPE,
                "%s: positions are a number, of rank 1, or of the other's rank and extent along "
                "axis %d, not of shape %s beside %s",
                call, axis, rd_shape_text(x->rank, x->extent, other),
                rd_shape_text(y->rank, y->extent, own));
    else
        return true;
    return false;
}

/* Reshapes a row of positions so that it lies along `axis` of y and has extent 1 along all others;
 * positions of any other rank stay as they are. */
rd_expr *rd_positions_along(rd_expr *x, const rd_expr *y, int axis)
{
    rd_shape shape = { .n = y->rank };

    if (x->rank != 1)
        return x;
    for (int a = 0; a < y->rank; a++)
        shape.at[a] = a == axis ? x->extent[0] : 1;
    return rd_reshape(x, shape);
}

/* Casts bools and ints to f64, as their differences and sums would wrap; returns floats as they
 * are. */
rd_expr *rd_real_numbers(rd_expr *x)
{
    return rd_dtype_kind(x->type) < RD_KIND_FLOAT ? rd_as_real(x, RD_F64) : x;
}

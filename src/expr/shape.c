/* shape.c - checks of shapes and axes, and the messages when they fail. */
#include "expr/expr.h"
#include <stdio.h>
#include <string.h>

#define LARGEST ((int64_t)1 << 62) /* elements of a shape */

/* Writes a shape as text, "(3, 4)", into a buffer; "(3, 4, ...)" beyond RD_MAX_RANK axes.  Returns
 * the buffer. */
const char *rd_shape_text(int rank, const int64_t *extent, char text[RD_SHAPE_TEXT])
{
    size_t n = 0;

    text[n++] = '(';
    for (int a = 0; a < rank && a < RD_MAX_RANK; a++)
        n += (size_t)snprintf(text + n, RD_SHAPE_TEXT - n, "%s%lld", a ? ", " : "",
                              (long long)extent[a]);
    snprintf(text + n, RD_SHAPE_TEXT - n, rank > RD_MAX_RANK ? ", ...)" : ")");
    return text;
}

/* The product of the extents: the number of elements. -1 if one is negative or the product exceeds
 * 2^62.  An extent of 0 counts as 1 there: a later reduction may remove that axis, and must not
 * leave a shape that overflows. */
int64_t rd_points(int rank, const int64_t *extent)
{
    int64_t points   = 1;
    bool    has_zero = false;

    for (int a = 0; a < rank; a++) {
        if (extent[a] < 0)
            return -1;
        if (extent[a] > 0 && points > LARGEST / extent[a])
            return -1;
        if (extent[a] == 0)
            has_zero = true;
        else
            points *= extent[a];
    }
    return has_zero ? 0 : points;
}

/* Resolves an axis number of x, counted from the end if negative. -1 after recording for `call`
 * that x has no such axis. */
int rd_axis(const rd_expr *x, int axis, const char *call)
{
    char text[RD_SHAPE_TEXT];

    if (axis >= -x->rank && axis < x->rank)
        return axis < 0 ? axis + x->rank : axis;
    rd_fail(x->ctx, RD_ERR_AXIS, "%s: no axis %d in an operand of rank %d, shape %s", call, axis,
            x->rank, rd_shape_text(x->rank, x->extent, text));
    return -1;
}

/* Fills in the set of axes that `dims` names (bit a: axis a), or all others with RD_DIMS_EXCEPT.
 * False after recording what is wrong for `call`. */
bool rd_dims_bits(const rd_expr *x, const rd_dims *dims, const char *call, uint64_t *bits)
{
    const uint64_t every = ((uint64_t)1 << x->rank) - 1;
    char           text[RD_SHAPE_TEXT];

    *bits = 0;
    if (dims->n < 0 || dims->n > RD_MAX_RANK) {
        rd_fail(x->ctx, RD_ERR_AXIS, "%s: %d axes given, at most %d are possible", call,
                (int)dims->n, RD_MAX_RANK);
        return false;
    }
    if (dims->flags & ~(uint32_t)(RD_DIMS_KEEP | RD_DIMS_EXCEPT)) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: dims have unknown flags, 0x%x", call,
                (unsigned)dims->flags);
        return false;
    }
    for (int k = 0; k < dims->n; k++) {
        const int axis = rd_axis(x, dims->axis[k], call);
        if (axis < 0)
            return false;
        if (*bits >> axis & 1) {
            rd_fail(x->ctx, RD_ERR_AXIS, "%s: axis %d is named twice, shape %s", call,
                    (int)dims->axis[k], rd_shape_text(x->rank, x->extent, text));
            return false;
        }
        *bits |= (uint64_t)1 << axis;
    }
    if (dims->flags & RD_DIMS_EXCEPT)
        *bits = every & ~*bits;
    return true;
}

/* Fills in the strides, in elements, of a dense array: C order, or Fortran order if `order` is 1.
 * Axes with fewer than 2 elements have stride 0, as it does not matter. */
void rd_dense_strides(int rank, const int64_t *extent, int order, int64_t *stride)
{
    int64_t step = 1;

    for (int k = 0; k < rank; k++) {
        const int a = order == 1 ? k : rank - 1 - k;
        stride[a]   = extent[a] < 2 ? 0 : step;
        if (extent[a] > 1)
            step *= extent[a];
    }
}

/* ---- Facts of a node ------------------------------------------------------------------------- */
/* The shape of x; for NULL a rank of -1. */
rd_shape rd_shape_of(const rd_expr *x)
{
    rd_shape shape = { .n = x ? x->rank : -1 };

    if (x)
        memcpy(shape.at, x->extent, (size_t)x->rank * sizeof *x->extent);
    return shape;
}

/* The type of x's elements; RD_AUTO for NULL. */
rd_dtype rd_type_of(const rd_expr *x)
{
    return x ? x->type : RD_AUTO;
}

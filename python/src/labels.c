/* labels.c - labels and weights of one axis, beside arrays of several. */
#include "core.h"

/* An axis from 0 on, where the array has more axes behind it; else -1. */
static int axis_before_last(rd_dims dims, int rank)
{
    const int axis = dims.n != 1 || dims.flags & RD_DIMS_EXCEPT ? -1
                     : dims.axis[0] < 0                         ? dims.axis[0] + rank
                                                                : dims.axis[0];

    return axis < rank - 1 ? axis : -1;
}

/* A row that fits both axes must not silently mean one of them. */
rd_expr *rdpy_along(const char *call, const char *what, rd_expr *x, rd_expr *row, rd_dims dims)
{
    if (!row) /* as most often */
        return NULL;
    const rd_shape of = rd_shape_of(x), own = rd_shape_of(row);
    const int      axis = axis_before_last(dims, of.n);

    if (!x || own.n != 1 || axis < 0 || own.at[0] == 1 || own.at[0] != of.at[axis])
        return row;
    if (own.at[0] == of.at[of.n - 1]) {
        PyErr_Format(PyExc_ValueError,
                     "rdim.%s(): a row of %lld %s fits axis %d and the last axis: give it %d axes",
                     call, (long long)own.at[0], what, axis, of.n);
        return NULL;
    }
    rd_ints shape = { .n = of.n - axis, .at = { own.at[0] } };

    for (int k = 1; k < shape.n; k++)
        shape.at[k] = 1;
    return rd_reshape(row, shape);
}

bool rdpy_has_groups(const char *call, int n_label, rd_ints groups)
{
    if (n_label == 0 || groups.n > 0)
        return true;
    PyErr_Format(PyExc_ValueError,
                 "rdim.%s(): by= is given, and groups= is not: say how many groups there are, as "
                 "in groups=int(rd.max(labels)) + 1",
                 call);
    return false;
}

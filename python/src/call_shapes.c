/* call_shapes.c - NumPy's rules of shapes, where the library's calls have others. */
#include "calls.h"
#include <stdarg.h>
#include <string.h>

void *rdpy_refuse(PyObject *exception, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    PyErr_FormatV(exception, format, arguments);
    va_end(arguments);
    return NULL;
}

rd_expr *rdpy_flat(rd_expr *x)
{
    return x && rd_shape_of(x).n == 1 ? x : rd_reshape(x, RD_SHAPE(-1));
}

rd_dims rdpy_dims_of(const rd_ints *ints)
{
    rd_dims dims = { .n = ints->n };

    for (int k = 0; k < ints->n; k++)
        dims.axis[k] = ints->at[k] == (int32_t)ints->at[k] ? (int32_t)ints->at[k] : INT32_MAX;
    return dims;
}

int rdpy_choice(const rdpy_call *A, const char *const *names, int absent)
{
    if (!A->text)
        return absent;
    for (int k = 0; names[k]; k++)
        if (strcmp(names[k], A->text) == 0)
            return k;
    rdpy_refuse(PyExc_ValueError, "rdim.%s() knows no %s; it knows %s, %s and their like", A->name,
                A->text, names[0], names[1]);
    return -1;
}

rd_expr *rdpy_typed(rd_expr *x, rd_dtype type)
{
    return type == RD_AUTO ? x : rd_cast(x, type);
}

/* An axis from 0 on; -1 with an exception. */
static int axis_of(const rdpy_call *A, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank)
        return (int)(axis < 0 ? axis + rank : axis);
    rdpy_refuse(rdpy_axis_error(), "rdim.%s: axis %lld of an array of %d axes", A->name,
                (long long)axis, rank);
    return -1;
}

/* ---- Orders of axes --------------------------------------------------------------------------- */
rd_expr *rdpy_transposed(rd_expr *x, const rd_ints *order)
{
    rd_ints reversed = { 0 };

    if (!x || order)
        return x ? rd_permute(x, *order) : NULL;
    for (int rank = rd_shape_of(x).n; reversed.n < rank; reversed.n++)
        reversed.at[reversed.n] = rank - 1 - reversed.n;
    return reversed.n < 2 ? x : rd_permute(x, reversed);
}

/* 'C', or 'F': the first axis fastest; 'K' and 'A' are 'C' of what has no memory.  -1 with an exception. */
static int order_of(const rdpy_call *A)
{
    static const char *const names[] = { "C", "F", "A", "K", NULL };

    return rdpy_choice(A, names, 0);
}

static rd_ints reversed(rd_ints ints)
{
    rd_ints back = { .n = ints.n };

    for (int k = 0; k < ints.n; k++)
        back.at[k] = ints.at[ints.n - 1 - k];
    return back;
}

static rd_expr *reshaped(const rdpy_call *A, rd_expr *x, rd_ints shape)
{
    const int order = order_of(A);

    if (order != 1)
        return order < 0 ? NULL : rd_reshape(x, shape);
    return rdpy_transposed(rd_reshape(rdpy_transposed(x, NULL), reversed(shape)), NULL);
}

rd_expr *rdpy_reshaped(rdpy_call *A)
{
    return reshaped(A, A->x[0], A->s[0]);
}

rd_expr *rdpy_raveled(rdpy_call *A)
{
    return reshaped(A, A->x[0], RD_SHAPE(-1));
}

rd_expr *rdpy_swapped(rdpy_call *A, rd_expr *x, int64_t one, int64_t other)
{
    const int rank  = rd_shape_of(x).n;
    const int a     = axis_of(A, one, rank);
    const int b     = a < 0 ? -1 : axis_of(A, other, rank);
    rd_ints   order = { .n = rank };

    if (b < 0)
        return NULL;
    for (int k = 0; k < rank; k++)
        order.at[k] = k == a ? b : k == b ? a : k;
    return rd_permute(x, order);
}

/* moveaxis: those that are not moved keep their order in the places that are left. */
rd_expr *rdpy_moved(rdpy_call *A, rd_expr *x)
{
    const int rank               = rd_shape_of(x).n;
    rd_ints   order              = { .n = rank };
    bool      taken[RD_MAX_RANK] = { 0 }, placed[RD_MAX_RANK] = { 0 };

    if (A->s[0].n != A->s[1].n)
        return rdpy_refuse(PyExc_ValueError, "rdim.moveaxis: %d axes to %d places", A->s[0].n,
                           A->s[1].n);
    for (int k = 0; k < A->s[0].n; k++) {
        const int from = axis_of(A, A->s[0].at[k], rank);
        const int to   = from < 0 ? -1 : axis_of(A, A->s[1].at[k], rank);

        if (to < 0)
            return NULL;
        if (taken[from] || placed[to])
            return rdpy_refuse(PyExc_ValueError,
                               "rdim.moveaxis: an axis or a place is named twice");
        taken[from] = placed[to] = true;
        order.at[to]             = from;
    }
    for (int to = 0, from = 0; to < rank; to++)
        if (!placed[to]) {
            while (taken[from])
                from++;
            order.at[to] = from++;
        }
    return rd_permute(x, order);
}

/* ---- Axes of one element ---------------------------------------------------------------------- */
/* Axes in the result, ascending or not, negative ones from its end. */
rd_expr *rdpy_expanded(rdpy_call *A, rd_expr *x)
{
    const int rank               = rd_shape_of(x).n + A->s[0].n;
    bool      isnew[RD_MAX_RANK] = { 0 };

    if (rank > RD_MAX_RANK)
        return rdpy_refuse(PyExc_ValueError, "rdim.expand_dims: %d axes, at most %d are possible",
                           rank, RD_MAX_RANK);
    for (int k = 0; k < A->s[0].n; k++) {
        const int axis = axis_of(A, A->s[0].at[k], rank);

        if (axis < 0)
            return NULL;
        if (isnew[axis])
            return rdpy_refuse(PyExc_ValueError, "rdim.expand_dims: axis %d is named twice", axis);
        isnew[axis] = true;
    }
    for (int axis = 0; x && axis < rank; axis++)
        if (isnew[axis])
            x = rd_expand(x, axis);
    return x;
}

/* Without axes all that have one element. */
rd_expr *rdpy_squeezed(rdpy_call *A, rd_expr *x)
{
    const rd_shape shape = rd_shape_of(x);
    rd_dims        dims  = rdpy_dims_of(&A->s[0]);

    if (!A->given[1])
        for (int k = 0; k < shape.n; k++)
            if (shape.at[k] == 1)
                dims.axis[dims.n++] = k;
    return dims.n ? rd_squeeze(x, dims) : x;
}

/* ---- Moved and joined elements ---------------------------------------------------------------- */
rd_expr *rdpy_rolled(rdpy_call *A, rd_expr *x)
{
    const rd_ints  shift = A->s[0], axis = A->s[1];
    const int      n     = shift.n > axis.n ? shift.n : axis.n;
    const rd_shape shape = rd_shape_of(x);

    if (!A->given[2])
        return shift.n == 1
                   ? rd_reshape(rd_roll(rdpy_flat(x), 0, shift.at[0]), shape)
                   : rdpy_refuse(PyExc_ValueError, "rdim.roll: %d shifts of no axis", shift.n);
    if (shift.n != axis.n && shift.n != 1 && axis.n != 1)
        return rdpy_refuse(PyExc_ValueError, "rdim.roll: %d shifts of %d axes", shift.n, axis.n);
    for (int k = 0; x && k < n; k++) {
        const int at = axis_of(A, axis.at[axis.n == 1 ? 0 : k], shape.n);

        x = at < 0 ? NULL : rd_roll(x, at, shift.at[shift.n == 1 ? 0 : k]);
    }
    return x;
}

/* Along no axis the elements of all, in C order. */
rd_expr *rdpy_joined(rdpy_call *A)
{
    rd_expr **const part = (rd_expr **)A->list.at;

    for (int k = 0; !A->given[1] && k < A->list.n; k++)
        part[k] = rdpy_flat(part[k]);
    return rdpy_cast(A, rd_concat(A->given[1] ? (int)A->i[1] : 0, A->list), A->t, "same_kind");
}

rd_expr *rdpy_padded(rdpy_call *A)
{
    static const char *const names[] = { "constant", "edge", "reflect", "symmetric", "wrap", NULL };
    const int                mode    = rdpy_choice(A, names, RD_PAD_CONSTANT);

    return mode < 0 ? NULL
                    : rd_pad(A->x[0], (int)A->i[3], A->i[1], A->i[2], (rd_pad_mode)mode, A->x[5]);
}

/* ---- Windows ---------------------------------------------------------------------------------- */
/* Without axes there is a window along each one.  Axes of windows are the last ones, in the order given; an axis
 * that is named twice has windows of windows, as in NumPy. */
rd_expr *rdpy_windows(rdpy_call *A, rd_expr *x, int64_t step)
{
    const rd_ints window = A->s[0], axes = A->s[1];
    const int     rank = rd_shape_of(x).n, n = A->given[2] ? axes.n : rank;

    if (window.n != n)
        return rdpy_refuse(PyExc_ValueError,
                           "rdim.sliding_window_view: %d window extents for %d axes%s", window.n, n,
                           A->given[2] ? "" : ", as axis is None");
    for (int k = 0; x && k < n; k++) {
        const int     axis   = A->given[2] ? axis_of(A, axes.at[k], rank) : k;
        const int64_t extent = axis < 0 ? 0 : rd_shape_of(x).at[axis];

        if (axis < 0)
            return NULL;
        if (window.at[k] > extent)
            return rdpy_refuse(
                PyExc_ValueError,
                "rdim.sliding_window_view: a window of %lld elements along axis %d of extent %lld",
                (long long)window.at[k], axis, (long long)extent);
        x = rd_window(x, axis, window.at[k], step);
    }
    return x;
}

/* layout.c - checks array descriptors and computes their strides; each failure has its sentence. */
#include "expr/origin.h"
#include <string.h>

/* The most bytes or elements of an array: sums of two such numbers fit in 64 bits. */
#define LARGEST ((int64_t)1 << 62)

/* True if type, rank and extents of an array's descriptor are valid, and its size does not
 * overflow.  False after recording for `call` what is wrong. */
static bool check_type_and_shape(rd_ctx *ctx, const rd_array *array, const char *call)
{
    const rd_shape *shape = &array->shape;
    char            text[RD_SHAPE_TEXT];
    int64_t         points;

    if (!rd_dtype_ok(array->type)) {
        rd_fail(ctx, RD_ERR_TYPE, "%s: type %s (%d) is not an element type of this release", call,
                rd_dtype_name(array->type), (int)array->type);
        return false;
    }
    if (shape->n < 0 || shape->n > RD_MAX_RANK) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: the shape has rank %d, possible are 0 to %d", call,
                (int)shape->n, RD_MAX_RANK);
        return false;
    }
    points = rd_points(shape->n, shape->at);
    if (points < 0 || points > LARGEST / rd_dtype_size(array->type)) {
        rd_fail(ctx, RD_ERR_SHAPE,
                "%s: an extent is negative or the size overflows, shape %s of %s", call,
                rd_shape_text(shape->n, shape->at, text), rd_dtype_name(array->type));
        return false;
    }
    return true;
}

/* True if all elements have addresses.  It adds up the bytes that lie below the first element, for
 * negative strides, and above it, for positive ones. */
static bool is_in_address_space(const rd_array *array, const int64_t *stride)
{
    const uint64_t size = (uint64_t)rd_dtype_size(array->type),
                   base = (uint64_t)(uintptr_t)array->in;
    uint64_t below = 0, above = size;

    for (int a = 0; a < array->shape.n; a++) {
        const uint64_t length = stride[a] < 0 ? 0 - (uint64_t)stride[a] : (uint64_t)stride[a];
        uint64_t      *side   = stride[a] < 0 ? &below : &above;
        uint64_t       bytes;
        if (stride[a] == 0)
            continue;
        if (__builtin_mul_overflow(length, (uint64_t)array->shape.at[a] - 1, &bytes) ||
            bytes > LARGEST / size)
            return false;
        *side += bytes * size;
        if (*side > (uint64_t)LARGEST)
            return false;
    }
    return !array->in || (base >= below && base <= UINTPTR_MAX - above);
}

/* Checks all fields of a descriptor and writes its strides in elements: the given ones, or dense
 * ones in its order (0: C, 1: Fortran).  False after recording for `call` what is wrong. */
bool rd_array_layout(rd_ctx *ctx, const rd_array *array, const char *call, int64_t *stride)
{
    const rd_shape *shape   = &array->shape;
    const int32_t   n_given = array->strides.n;
    char            shown[RD_SHAPE_TEXT], given[RD_SHAPE_TEXT];

    if (!check_type_and_shape(ctx, array, call))
        return false;
    if (array->order != 0 && array->order != 1) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: order is %d, possible are 0 (C) and 1 (Fortran)", call,
                (int)array->order);
        return false;
    }
    if (array->device < 0 || array->device > RD_MOST_DEVICES) {
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: device is %d, possible are 0 and RD_CUDA(0) to RD_CUDA(%d)", call,
                (int)array->device, RD_MOST_DEVICES - 1);
        return false;
    }
    if (array->flags & ~RD_READ_ONLY) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the array has unknown flags, 0x%x", call,
                (unsigned)array->flags);
        return false;
    }
    if (array->origin.n != 0 && !rd_origin_ok(ctx, call, &array->origin, shape->n))
        return false;
    if (n_given != 0 && n_given != shape->n) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: %d strides for rank %d, shape %s", call, (int)n_given,
                (int)shape->n, rd_shape_text(shape->n, shape->at, shown));
        return false;
    }
    rd_dense_strides(shape->n, shape->at, array->order, stride);
    for (int a = 0; a < n_given; a++)
        stride[a] = shape->at[a] < 2 ? 0 : array->strides.at[a];
    if (rd_points(shape->n, shape->at) == 0) /* no element: all layouts are the same */
        memset(stride, 0, (size_t)shape->n * sizeof *stride);
    if (!is_in_address_space(array, stride)) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: elements outside the address space, shape %s, strides %s",
                call, rd_shape_text(shape->n, shape->at, shown),
                rd_shape_text(shape->n, stride, given));
        return false;
    }
    return true;
}

/* True if the array's address can hold elements: it is not NULL, and aligned, as unaligned reads
 * are undefined in C.  An array without elements needs no address.  False after recording for
 * `call`. */
bool rd_array_readable(rd_ctx *ctx, const rd_array *array, const char *call)
{
    char text[RD_SHAPE_TEXT];

    if (rd_points(array->shape.n, array->shape.at) == 0)
        return true;
    if (!array->in)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: no data (NULL) for shape %s", call,
                rd_shape_text(array->shape.n, array->shape.at, text));
    else if ((uintptr_t)array->in % (uintptr_t)rd_dtype_align(array->type) != 0)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: address %p is not aligned for %s", call, array->in,
                rd_dtype_name(array->type));
    else
        return true;
    return false;
}

/* True if results may be written to the array.  False after recording for `call` that it is
 * read-only. */
bool rd_array_writable(rd_ctx *ctx, const rd_array *array, const char *call)
{
    if (array->flags & RD_READ_ONLY)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output is read-only", call);
    return !(array->flags & RD_READ_ONLY);
}

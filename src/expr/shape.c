/* shape.c - shapes, axes and layouts: their checks, and the sentences when they fail. */
#include "expr/origin.h"
#include <stdio.h>
#include <string.h>

#define LARGEST ((int64_t)1 << 62)

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

int64_t rd_points(int rank, const int64_t *extent)
{
    int64_t points = 1;
    bool    none   = false;

    for (int a = 0; a < rank; a++) {
        if (extent[a] < 0)
            return -1;
        if (extent[a] > 0 && points > LARGEST / extent[a])
            return -1;
        if (extent[a] == 0)
            none = true;
        else
            points *= extent[a];
    }
    return none ? 0 : points;
}

int rd_axis(const rd_expr *x, int axis, const char *call)
{
    char text[RD_SHAPE_TEXT];

    if (axis >= -x->rank && axis < x->rank)
        return axis < 0 ? axis + x->rank : axis;
    rd_fail(x->ctx, RD_ERR_AXIS, "%s: no axis %d in an operand of rank %d, shape %s", call, axis,
            x->rank, rd_shape_text(x->rank, x->extent, text));
    return -1;
}

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

/* ---- Descriptors ----------------------------------------------------------------------------- */
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

/* Do all elements have an address?  Bytes below and above the first one are added up on each
 * side. */
static bool in_address_space(const rd_array *array, const int64_t *stride)
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
    if (rd_points(shape->n, shape->at) == 0) /* nothing is addressed: all layouts are one */
        memset(stride, 0, (size_t)shape->n * sizeof *stride);
    if (!in_address_space(array, stride)) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: elements outside the address space, shape %s, strides %s",
                call, rd_shape_text(shape->n, shape->at, shown),
                rd_shape_text(shape->n, stride, given));
        return false;
    }
    return true;
}

/* Kernels read whole elements, and C leaves it undefined where they are not aligned. */
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

bool rd_array_writable(rd_ctx *ctx, const rd_array *array, const char *call)
{
    if (array->flags & RD_READ_ONLY)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output is read-only", call);
    return !(array->flags & RD_READ_ONLY);
}

/* ---- Operands that meet ---------------------------------------------------------------------- */
bool rd_same_ctx(const char *call, int n, rd_expr *const *x)
{
    rd_ctx *ctx  = NULL;
    bool    same = true;

    for (int k = 0; k < n; k++) {
        if (!x[k])
            continue;
        ctx = ctx ? ctx : x[k]->ctx;
        same &= rd_is_here(x[k]->ctx, call, "operand", k, x[k]);
        if (x[k]->ctx == ctx)
            continue;
        /* Told to both, because the caller may ask either. */
        rd_fail(x[k]->ctx, RD_ERR_ARGUMENT, "%s: operand %d belongs to another context", call, k);
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: operand %d belongs to another context", call, k);
        same = false;
    }
    return same;
}

rd_expr *rd_broadcast_to(rd_expr *x, int rank, const int64_t *extent, const char *call)
{
    int64_t number[RD_MAX_RANK * (RD_MAX_RANK + 1)]; /* 8 KiB: what is not used is not touched */
    int64_t origin[RD_MAX_RANK] = { 0 };
    char    from[RD_SHAPE_TEXT], to[RD_SHAPE_TEXT];

    if (!x)
        return NULL;
    const int lead = rank - x->rank;

    if (lead == 0 && (!rank || !memcmp(x->extent, extent, (size_t)rank * sizeof *extent)))
        return x;
    memset(number, 0, (size_t)(x->rank * (rank + 1)) * sizeof *number);
    for (int a = 0; a < x->rank; a++) {
        if (lead < 0 || (x->extent[a] != 1 && x->extent[a] != extent[lead + a]))
            return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shape %s does not broadcast to %s", call,
                           rd_shape_text(x->rank, x->extent, from),
                           rd_shape_text(rank, extent, to));
        /* An axis of one element that stays is told from one that repeats it. */
        const bool stays = x->extent[a] == extent[lead + a];

        number[x->rank + a * rank + lead + a] = stays;
        origin[lead + a]                      = stays ? rd_origin(x, a) : 0;
    }
    return rd_view(x, rank, extent, number, origin);
}

/* Where the shape of operand k does not fit to what those before it have: says so for the first
 * that clashes. */
static bool clash(const char *call, const rd_expr *x, int k, int rank, const int64_t *extent)
{
    char own[RD_SHAPE_TEXT], common[RD_SHAPE_TEXT];

    rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shapes do not broadcast: operand %d has shape %s, %s %s",
            call, k, rd_shape_text(x->rank, x->extent, own),
            k == 1 ? "operand 0 has" : "those before it have", rd_shape_text(rank, extent, common));
    return false;
}

bool rd_common_shape(const char *call, int n, rd_expr *const *x, int *rank, int64_t *extent)
{
    char text[RD_SHAPE_TEXT];

    *rank = 0;
    for (int k = 0; k < n; k++) {
        const int grow = x[k]->rank > *rank ? x[k]->rank - *rank : 0;
        int64_t   joined[RD_MAX_RANK];
        for (int a = 0; a < *rank + grow; a++)
            joined[a] = a < grow ? 1 : extent[a - grow];
        for (int a = 0; a < x[k]->rank; a++) {
            int64_t *common = &joined[*rank + grow - x[k]->rank + a];
            if (*common != x[k]->extent[a] && *common != 1 && x[k]->extent[a] != 1)
                return clash(call, x[k], k, *rank, extent);
            *common = *common == 1 ? x[k]->extent[a] : *common;
        }
        *rank += grow;
        memcpy(extent, joined, (size_t)*rank * sizeof *extent);
    }
    if (rd_points(*rank, extent) >= 0)
        return rd_ranges_meet(call, n, x);
    rd_fail(x[0]->ctx, RD_ERR_SHAPE, "%s: the size of the common shape overflows, %s", call,
            rd_shape_text(*rank, extent, text));
    return false;
}

/* request.c - checks the results and outputs of an evaluation. */
#include "eval/request.h"
#include "expr/array.h"
#include "expr/lists.h"
#include "expr/origin.h"
#include <stdlib.h>
#include <string.h>

/* A sufficient test that no elements overlap: sorted by stride, each axis steps further than all
 * finer ones reach together. step: absolute strides. `reach` is how far the axes that are used
 * reach together; n counts the axes. */
static bool is_surely_without_overlap(int n, const int64_t *extent, const int64_t *step)
{
    int64_t reach             = 0;
    bool    used[RD_MAX_RANK] = { false };

    for (int k = 0; k < n; k++) {
        int best = -1;

        for (int a = 0; a < n; a++)
            if (!used[a] && (best < 0 || step[a] < step[best]))
                best = a;
        used[best] = true;
        if (step[best] <= reach)
            return false;
        reach += step[best] * (extent[best] - 1);
    }
    return true;
}

/* Compares two numbers, for qsort(). */
static int by_value(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

    return (p > q) - (p < q);
}

/* True if no two elements share an address. This is exact for up to 4096 elements, by sorting
 * their addresses. Larger arrays that fail the sufficient test count as overlapping. at[] has
 * the addresses of all elements, axis by axis. */
static bool is_without_overlap(int n, const int64_t *extent, const int64_t *step)
{
    enum { SMALL = 4096 };
    int64_t at[SMALL], count = 1, points = rd_points(n, extent);

    if (is_surely_without_overlap(n, extent, step))
        return true;
    if (points > SMALL)
        return false;
    at[0] = 0;
    for (int a = 0; a < n; a++) {
        for (int64_t i = 1; i < extent[a]; i++)
            for (int64_t k = 0; k < count; k++)
                at[i * count + k] = at[k] + i * step[a];
        count *= extent[a];
    }
    qsort(at, (size_t)count, sizeof *at, by_value);
    for (int64_t k = 1; k < count; k++)
        if (at[k] == at[k - 1])
            return false;
    return true;
}

/* True if an output's strides make elements overlap; axes of one index do not matter. */
static bool overlaps_itself(const rd_expr *y, const int64_t *stride)
{
    int64_t extent[RD_MAX_RANK], step[RD_MAX_RANK];
    int     n = 0;

    if (rd_points(y->rank, y->extent) == 0)
        return false;
    for (int a = 0; a < y->rank; a++)
        if (y->extent[a] > 1) {
            extent[n] = y->extent[a];
            step[n++] = llabs(stride[a]);
        }
    return !is_without_overlap(n, extent, step);
}

/* True if the output has no origin, or begins at the same indices as y; else records the axis that
 * differs. */
bool rd_output_begins(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out)
{
    if (out->origin.n && !rd_origin_ok(ctx, call, &out->origin, y->rank))
        return false;
    for (int a = 0; a < out->origin.n; a++)
        if (out->origin.at[a] != rd_origin(y, a)) {
            rd_fail(ctx, RD_ERR_SHAPE,
                    "%s: axis %d of the result begins at %lld, that of the output at %lld", call, a,
                    (long long)rd_origin(y, a), (long long)out->origin.at[a]);
            return false;
        }
    return true;
}

/* True if an output's layout, type, origin and alignment suit y, and its elements do not overlap;
 * fills in its strides.  Else records what is wrong.  rd_array_layout() fills in the strides,
 * rd_array_writable() checks that memory may be written, rd_output_begins() the first indices. */
bool rd_check_output(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out,
                     int64_t *stride)
{
    char want[RD_SHAPE_TEXT], found[RD_SHAPE_TEXT];

    if (!rd_array_layout(ctx, out, call, stride) || !rd_array_writable(ctx, out, call))
        return false;
    if (out->shape.n != y->rank ||
        (y->rank && memcmp(out->shape.at, y->extent, (size_t)y->rank * sizeof *y->extent) != 0)) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: the result has shape %s, the output %s", call,
                rd_shape_text(y->rank, y->extent, want),
                rd_shape_text(out->shape.n, out->shape.at, found));
        return false;
    }
    if (!rd_output_begins(ctx, call, y, out))
        return false;
    if (!rd_dtype_safe(y->type, out->type)) {
        rd_fail(ctx, RD_ERR_TYPE,
                "%s: a result of type %s does not fit an output of type %s; rd_cast() it first",
                call, rd_dtype_name(y->type), rd_dtype_name(out->type));
        return false;
    }
    if ((uintptr_t)out->data % (uintptr_t)rd_dtype_align(out->type) != 0) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output's address %p is not aligned for %s", call,
                out->data, rd_dtype_name(out->type));
        return false;
    }
    if (overlaps_itself(y, stride)) {
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: the output of shape %s has strides by which its elements overlap", call,
                rd_shape_text(y->rank, y->extent, want));
        return false;
    }
    return true;
}

/* Checks result k and fills in its request and output. If the output has no memory, the layout is
 * dense, or as it asks. Its elements are at [lo, hi) around the base address. False after
 * recording what is wrong. y->extent and strides give how far each axis reaches; slot -1: no
 * program stores it yet. Without an output the layout is dense. */
static bool check_result(rd_ctx *ctx, const char *call, int k, const rd_result *result,
                         rd_request *r, rd_output *o)
{
    const rd_expr *y = result->expr;

    if (!y) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the expression of a result is NULL", call);
        return false;
    }
    if (y->ctx != ctx) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: an expression belongs to another context", call);
        return false;
    }
    if (!rd_is_here(ctx, call, "result", k, y))
        return false;
    *r = (rd_request){ .expr = (rd_expr *)y, .type = y->type };
    *o =
        (rd_output){ .rank = y->rank, .slot = -1, .device = result->out ? result->out->device : 0 };
    r->device = o->device;
    if (!result->out)
        rd_dense_strides(y->rank, y->extent, 0, r->stride);
    else if (rd_array_asks_memory(result->out)) {
        if (!rd_array_fresh_strides(ctx, call, y, result->out, r->stride))
            return false;
    } else {
        if (!rd_check_output(ctx, call, y, result->out, r->stride))
            return false;
        r->type = result->out->type;
        o->data = result->out->data;
    }
    o->type = r->type;
    for (int a = 0; a < y->rank; a++) {
        int64_t reach = (y->extent[a] - 1) * r->stride[a];

        o->extent[a] = y->extent[a];
        o->stride[a] = r->stride[a];
        *(reach < 0 ? &o->lo : &o->hi) += reach;
    }
    o->hi += 1;
    return true;
}

/* Checks all results and fills in their requests and outputs; false after recording what is
 * wrong. */
bool rd_check_results(rd_ctx *ctx, const char *call, rd_results results, rd_request *request,
                      rd_output *out)
{
    if (!rd_list_ok(ctx, call, "results", results.at, results.n, 1))
        return false;
    for (int k = 0; k < results.n; k++)
        if (!check_result(ctx, call, k, &results.at[k], &request[k], &out[k]))
            return false;
    return true;
}

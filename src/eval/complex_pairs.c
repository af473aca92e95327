/* complex_pairs.c - converts complex and sparse results for plans, which know real dense ones: a
 * complex result gets one more axis of two reals.
 *
 * A pair is the real and the imaginary part of a complex number, adjacent in memory. */
#include "eval/complex_pairs.h"
#include "eval/request.h"
#include "expr/array.h"
#include "expr/complex.h"

/* True if the caller gives the output's memory, rather than asking for fresh memory. */
static bool is_given(const rd_array *out)
{
    return out && !rd_array_asks_memory(out);
}

/* True if a result is complex or sparse, or goes to complex memory: loops know only real dense
 * arrays. */
static bool needs_conversion(const rd_result *r)
{
    return r->expr && (rd_is_complex(r->expr) || rd_is_sparse(r->expr) ||
                       (is_given(r->out) && rd_dtype_is_complex(r->out->type)));
}

/* Describes memory to be allocated for the pairs (real, imaginary) of a complex y: like *out, with
 * one more axis of two. Strides here only say the order of axes, and INT64_MIN puts the axis of
 * parts innermost. False after a failure. Axes in C order without wishes (order 0, no strides)
 * need none. */
static bool fresh_pairs(rd_ctx *ctx, const rd_expr *y, const rd_array *out, rd_array *array)
{
    int64_t stride[RD_MAX_RANK];

    *array = *out;
    if (!rd_array_fresh_strides(ctx, rd_call_name(ctx), y, out, stride))
        return false;
    /* C order needs no strides; too many axes are refused later */
    if (y->rank == RD_MAX_RANK || (!out->order && !out->strides.n))
        return true;
    array->order     = 0;
    array->strides.n = y->rank + 1;
    for (int a = 0; a < y->rank && !out->strides.n; a++)
        array->strides.at[a] = a;
    array->strides.at[y->rank] = INT64_MIN;
    return true;
}

/* Describes the memory of pairs (real, imaginary) as the caller's complex array: without the axis
 * of parts, with half the strides. y is the complex expression; out->order and whether strides
 * are given stay the caller's. No type: the evaluation has allocated nothing. */
static void as_complex(const rd_expr *y, const rd_array *pairs, rd_array *out)
{
    const int32_t order = out->order;
    const bool    given = out->strides.n != 0;

    if (!pairs->type)
        return; /* no memory was allocated */
    *out         = *pairs;
    out->type    = y->type;
    out->shape   = rd_shape_of(y);
    out->order   = order;
    out->strides = (rd_strides){ .n = given ? y->rank : 0 };
    for (int a = 0; a < out->strides.n; a++)
        out->strides.at[a] = pairs->strides.at[a] / 2;
    if (y->origin)
        out->origin = rd_origin_of(y);
}

/* Makes `to`, a real result, of a complex or sparse one: a complex one gets one more axis of two
 * parts, a sparse one becomes dense. `array` then describes its output as reals. False after a
 * failure. A result of another context is left as it is, as planning reports it. */
static bool as_real(rd_ctx *ctx, const rd_result *from, rd_result *to, rd_array *array)
{
    rd_expr *y = from->expr;
    int64_t  stride[RD_MAX_RANK];

    *to = *from;
    if (!needs_conversion(from) || y->ctx != ctx)
        return true;
    if (!(y = to->expr = rd_dense(y)))
        return false;
    if (!rd_is_complex(y) && !(is_given(from->out) && rd_dtype_is_complex(from->out->type)))
        return true;
    if (is_given(from->out)) {
        if (!rd_check_output(ctx, rd_call_name(ctx), y, from->out, stride) ||
            !(y = rd_cast_to(y, from->out->type)) ||
            !rd_complex_array(ctx, from->out, rd_call_name(ctx), array))
            return false;
    } else if (from->out && !fresh_pairs(ctx, y, from->out, array))
        return false;
    if (from->out)
        to->out = array;
    to->expr = rd_complex_pairs(y);
    return to->expr != NULL;
}

/* Converts complex and sparse results to real ones; pairs->own is NULL if there are none. False
 * after recording what is wrong. After success the caller ends it by rd_pairs_end(), which frees
 * `own`; after a failure nothing is left. */
bool rd_pairs_begin(rd_ctx *ctx, rd_results results, rd_pairs *pairs)
{
    bool any = false, all = true;

    *pairs = (rd_pairs){ .results = results };
    for (int k = 0; results.at && k < results.n; k++)
        any |= needs_conversion(&results.at[k]);
    if (!any)
        return true;
    pairs->own = rd_alloc(ctx, results.n * (int64_t)(sizeof(rd_result) + sizeof(rd_array)));
    if (!pairs->own)
        return false;
    pairs->array      = (rd_array *)(pairs->own + results.n);
    pairs->results.at = pairs->own;
    for (int k = 0; all && k < results.n; k++)
        all = as_real(ctx, &results.at[k], &pairs->own[k], &pairs->array[k]);
    if (!all)
        rd_pairs_end(ctx, (rd_results){ 0 }, pairs);
    return all;
}

/* Describes outputs with fresh memory as complex arrays again, and frees the converted results.
 * Outputs that were not converted, or that have the caller's memory (given), are left alone. */
void rd_pairs_end(rd_ctx *ctx, rd_results results, rd_pairs *pairs)
{
    for (int k = 0; k < results.n && pairs->own; k++) {
        rd_array *out = results.at[k].out;

        if (pairs->own[k].out == out || is_given(out))
            continue;
        as_complex(results.at[k].expr, &pairs->array[k], out);
    }
    rd_free(ctx, pairs->own);
}

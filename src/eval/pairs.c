/* pairs.c - results as those that loops know: of complex type with one more axis of reals, and
 * sparse ones at all places. */
#include "eval/pairs.h"
#include "eval/request.h"
#include "expr/array.h"
#include "expr/complex.h"

static bool is_given(const rd_array *out)
{
    return out && !rd_array_is_zeroed(out);
}

static bool is_pairs(const rd_result *r)
{
    return r->expr && (rd_is_complex(r->expr) || rd_is_sparse(r->expr) ||
                       (is_given(r->out) && rd_dtype_is_complex(r->out->type)));
}

/* The result as one of reals; `array` describes its output then. */
static bool as_real(rd_ctx *ctx, const rd_result *from, rd_result *to, rd_array *array)
{
    rd_expr *y = from->expr;
    int64_t  stride[RD_MAX_RANK];

    *to = *from;
    if (!is_pairs(from) || y->ctx != ctx)
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
    } else if (from->out)
        *array = *from->out;
    if (from->out)
        to->out = array;
    to->expr = rd_complex_pairs(y);
    return to->expr != NULL;
}

bool rd_pairs_begin(rd_ctx *ctx, rd_results results, rd_pairs *pairs)
{
    bool any = false, all = true;

    *pairs = (rd_pairs){ .results = results };
    for (int k = 0; results.at && k < results.n; k++)
        any |= is_pairs(&results.at[k]);
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

void rd_pairs_end(rd_ctx *ctx, rd_results results, rd_pairs *pairs)
{
    for (int k = 0; k < results.n && pairs->own; k++) {
        rd_array *out = results.at[k].out;

        if (pairs->own[k].out == out || is_given(out))
            continue;
        *out = pairs->array[k];
        if (out->type) { /* memory was given */
            out->type  = results.at[k].expr->type;
            out->shape = rd_shape_of(results.at[k].expr);
            if (results.at[k].expr->origin)
                out->origin = rd_origin_of(results.at[k].expr);
        }
    }
    rd_free(ctx, pairs->own);
}

/* eval.c - evaluation as callers see it: memory for results, a plan, its run. */
#include "core/bytes.h"
#include "eval/cache/cache.h"
#include "eval/pairs.h"
#include "eval/request.h"
#include "eval/run/device.h"
#include "expr/array.h"
#include "expr/complex.h"
#include <math.h>
#include <string.h>

static bool wants_memory(const rd_result *r)
{
    return r->expr && r->out && rd_array_is_zeroed(r->out);
}

/* Fresh memory for zeroed outputs; on failure those given so far are zeroed again. */
static bool give_memory(rd_ctx *ctx, rd_results results, bool *fresh)
{
    for (int k = 0; k < results.n; k++) {
        const rd_expr *y   = results.at[k].expr;
        rd_array      *out = results.at[k].out;
        int64_t        points, bytes;

        fresh[k] = wants_memory(&results.at[k]);
        if (!fresh[k])
            continue;
        points = rd_points(y->rank, y->extent);
        bytes  = rd_bytes_times(points, rd_dtype_size(y->type));
        if (out->device) {
            if (!rd_device_memory(ctx, bytes, out))
                return false;
        } else
            out->data = bytes < INT64_MAX ? rd_array_memory(ctx, bytes, &out->owner) : NULL;
        if (!out->data) {
            *out = (rd_array){ 0 };
            rd_fail_memory(ctx, bytes, "%s: no memory for a result of %lld elements",
                           rd_call_name(ctx), (long long)points);
            return false;
        }
        out->type  = y->type;
        out->shape = rd_shape_of(y);
        if (y->origin)
            out->origin = rd_origin_of(y);
    }
    return true;
}

static bool check_outputs(rd_ctx *ctx, rd_results results)
{
    if (results.n <= 0 || !results.at) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: no results are asked for", rd_call_name(ctx));
        return false;
    }
    for (int k = 0; k < results.n; k++) {
        const rd_array *out = results.at[k].out;

        if (!results.at[k].expr || !out ||
            (!rd_array_is_zeroed(out) && !out->data &&
             rd_points(out->shape.n, out->shape.at) != 0)) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "%s: result %d has %s", rd_call_name(ctx), k,
                    !results.at[k].expr ? "no expression (NULL)"
                    : !out              ? "no output (NULL)"
                                        : "an output without memory");
            return false;
        }
        if (!rd_is_here(ctx, rd_call_name(ctx), "result", k, results.at[k].expr) ||
            !rd_output_begins(ctx, rd_call_name(ctx), results.at[k].expr, out))
            return false;
    }
    return true;
}

static rd_status eval_real(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    enum { FEW = 16 };
    bool      few[FEW], *fresh = few;
    rd_status status;

    if (results.n > FEW && !(fresh = rd_alloc(ctx, results.n)))
        return rd_error(ctx);
    memset(fresh, 0, (size_t)results.n);
    status = give_memory(ctx, results, fresh) ? rd_cache_run(ctx, results, opts) : rd_error(ctx);
    if (status != RD_OK)
        (void)rd_cancel_taken(ctx); /* it has ended before it saw to that */
    for (int k = 0; status != RD_OK && k < results.n; k++)
        if (fresh[k] && results.at[k].out->owner) {
            const int32_t device = results.at[k].out->device;

            rd_array_free(results.at[k].out);
            results.at[k].out->device = device;
        }
    if (fresh != few)
        rd_free(ctx, fresh);
    return status;
}

static rd_status eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_pairs  pairs;
    rd_status status;

    if (!check_outputs(ctx, results) || !rd_pairs_begin(ctx, results, &pairs))
        return rd_error(ctx);
    status = eval_real(ctx, pairs.results, opts);
    rd_pairs_end(ctx, results, &pairs);
    return status;
}

static rd_status eval_for(rd_ctx *ctx, const char *call, rd_results results,
                          const rd_eval_opts *opts)
{
    const char *before;
    rd_status   status;

    if (!ctx)
        return RD_ERR_ARGUMENT;
    if (rd_error(ctx) != RD_OK)
        return rd_error(ctx);
    before = rd_begin_call(ctx, call);
    status = eval_many(ctx, results, opts);
    rd_begin_call(ctx, before);
    return status;
}

rd_status rd_eval_for(rd_ctx *ctx, const char *call, rd_expr *y, rd_array *out)
{
    rd_result one = { y, out };

    return eval_for(ctx, call, (rd_results){ &one, 1 }, NULL);
}

rd_status rd_eval(rd_ctx *ctx, rd_expr *y, rd_array *out)
{
    return rd_eval_for(ctx, "rd_eval", y, out);
}

rd_status rd_eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    return eval_for(ctx, "rd_eval_many", results, opts);
}

double rd_at(rd_ctx *ctx, rd_expr *y, rd_index index)
{
    rd_mark   mark;
    rd_word   memory = { 0 };
    rd_array  out    = { .data = &memory };
    rd_status status;

    if (!ctx || rd_error(ctx) != RD_OK)
        return NAN;
    if (!y) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_at: the expression is NULL");
        return NAN;
    }
    if (index.n != y->rank) {
        rd_fail(ctx, RD_ERR_AXIS, "rd_at: %d indices for an expression of rank %d", (int)index.n,
                y->rank);
        return NAN;
    }
    if (!rd_is_here(ctx, "rd_at", "expression", 0, y) || rd_refuse_complex("rd_at", 1, &y))
        return NAN;
    mark     = rd_ctx_mark(ctx);
    out.type = y->type;
    for (int a = 0; a < index.n && y; a++)
        y = rd_select(y, 0, index.at[a]);
    status = rd_eval_for(ctx, "rd_at", y, &out);
    rd_ctx_release(ctx, mark);
    return status == RD_OK ? rd_word_to_double(rd_word_load(&memory, out.type), out.type) : NAN;
}

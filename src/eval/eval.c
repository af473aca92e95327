/* eval.c - evaluation as callers see it: memory for results, a plan, its run. */
#include "eval/cache/cache.h"
#include "expr/array.h"
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
        int64_t        points, size;

        fresh[k] = wants_memory(&results.at[k]);
        if (!fresh[k])
            continue;
        points = rd_points(y->rank, y->extent);
        size   = rd_dtype_size(y->type);
        out->data =
            points > INT64_MAX / size ? NULL : rd_array_memory(ctx, points * size, &out->owner);
        if (!out->data) {
            *out = (rd_array){ 0 };
            rd_fail(ctx, RD_ERR_MEMORY, "rd_eval: no memory for a result of %lld elements",
                    (long long)points);
            return false;
        }
        out->type  = y->type;
        out->shape = rd_shape_of(y);
    }
    return true;
}

static bool check_outputs(rd_ctx *ctx, rd_results results)
{
    if (results.n <= 0 || !results.at) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_eval_many: no results are asked for");
        return false;
    }
    for (int k = 0; k < results.n; k++) {
        const rd_array *out = results.at[k].out;

        if (!results.at[k].expr || !out ||
            (!rd_array_is_zeroed(out) && !out->data &&
             rd_points(out->shape.n, out->shape.at) != 0)) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "rd_eval: result %d has %s", k,
                    !results.at[k].expr ? "no expression (NULL)"
                    : !out              ? "no output (NULL)"
                                        : "an output without memory");
            return false;
        }
    }
    return true;
}

rd_status rd_eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    enum { FEW = 16 };
    bool      few[FEW], *fresh = few;
    rd_status status;

    if (!ctx)
        return RD_ERR_ARGUMENT;
    if (rd_error(ctx) != RD_OK || !check_outputs(ctx, results))
        return rd_error(ctx);
    if (results.n > FEW && !(fresh = rd_alloc(ctx, results.n)))
        return rd_error(ctx);
    memset(fresh, 0, (size_t)results.n);
    status = give_memory(ctx, results, fresh) ? rd_cache_run(ctx, results, opts) : rd_error(ctx);
    if (status != RD_OK)
        (void)rd_cancel_taken(ctx); /* it has ended before it saw to that */
    for (int k = 0; status != RD_OK && k < results.n; k++)
        if (fresh[k] && results.at[k].out->owner)
            rd_array_free(results.at[k].out);
    if (fresh != few)
        rd_free(ctx, fresh);
    return status;
}

rd_status rd_eval(rd_ctx *ctx, rd_expr *y, rd_array *out)
{
    rd_result one = { y, out };

    return rd_eval_many(ctx, (rd_results){ &one, 1 }, NULL);
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
    mark     = rd_ctx_mark(ctx);
    out.type = y->type;
    for (int a = 0; a < index.n && y; a++)
        y = rd_select(y, 0, index.at[a]);
    status = rd_eval(ctx, y, &out);
    rd_ctx_release(ctx, mark);
    return status == RD_OK ? rd_word_to_double(rd_word_load(&memory, out.type), out.type) : NAN;
}

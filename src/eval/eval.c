/* eval.c - the public calls that evaluate: memory for results, a plan, its run. */
#include "core/bytes.h"
#include "eval/cache/cache.h"
#include "eval/complex_pairs.h"
#include "eval/request.h"
#include "eval/run/device.h"
#include "expr/array.h"
#include "expr/complex.h"
#include "expr/lists.h"
#include <math.h>

/* True if the output of a result asks for fresh memory. */
static bool wants_memory(const rd_result *r)
{
    return r->expr && r->out && rd_array_asks_memory(r->out);
}

/* The wishes of an output: fresh memory, and an order of axes. */
typedef struct asked {
    bool       fresh;
    rd_strides strides;
} asked;

/* After a failure, frees an output's memory and restores what it asked for: its device and order
 * of axes. */
static void restore_output(const asked *a, rd_array *out)
{
    const rd_array was = { .device = out->device, .order = out->order };

    rd_array_free(out);
    *out = was;
    if (a->strides.n)
        out->strides = a->strides;
}

/* Allocates memory for outputs that ask for it, in this process or on a device, and describes it
 * there. a[k] keeps what output k asked for. On failure false; the caller then restores those that
 * were allocated. a[k].fresh: it was allocated here. An output on a device has its number in
 * `device`, 0: host memory. INT64_MAX bytes are an overflow. */
static bool allocate_outputs(rd_ctx *ctx, rd_results results, asked *a)
{
    for (int k = 0; k < results.n; k++) {
        const rd_expr *y   = results.at[k].expr;
        rd_array      *out = results.at[k].out;
        int64_t        points, bytes, stride[RD_MAX_RANK];

        a[k].strides.n = 0;
        if (!wants_memory(&results.at[k]))
            continue;
        if (out->strides.n)
            a[k].strides = out->strides;
        if (!rd_array_fresh_strides(ctx, rd_call_name(ctx), y, out, stride))
            return false;
        a[k].fresh = true;
        points     = rd_points(y->rank, y->extent);
        bytes      = rd_bytes_times(points, rd_dtype_size(y->type));
        if (out->device) {
            if (!rd_device_memory(ctx, bytes, out))
                return false;
        } else
            out->data = bytes < INT64_MAX ? rd_array_memory(ctx, bytes, &out->owner) : NULL;
        if (!out->data) {
            restore_output(&a[k], out);
            rd_fail_memory(ctx, bytes, "%s: no memory for a result of %lld elements",
                           rd_call_name(ctx), (long long)points);
            return false;
        }
        out->type  = y->type;
        out->shape = rd_shape_of(y);
        for (int axis = 0; axis < out->strides.n; axis++)
            out->strides.at[axis] = stride[axis];
        if (y->origin)
            out->origin = rd_origin_of(y);
    }
    return true;
}

/* True if all results have an expression and a suitable output; else records the error.  An output
 * without elements needs no memory.  rd_array_asks_memory(): the library allocates the output.
 * rd_is_here(): the expression is of this context. */
static bool check_outputs(rd_ctx *ctx, rd_results results)
{
    if (!rd_list_ok(ctx, rd_call_name(ctx), "results", results.at, results.n, 1))
        return false;
    for (int k = 0; k < results.n; k++) {
        const rd_array *out = results.at[k].out;

        if (!results.at[k].expr || !out ||
            (!rd_array_asks_memory(out) && !out->data &&
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

/* Evaluates results that are real and dense: allocates outputs, runs a cached or new plan. After a
 * failure it frees outputs that it allocated and restores what they asked for. Up to 16 results
 * need no memory for their records. */
static rd_status eval_real(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    enum { FEW = 16 };
    asked     few[FEW], *a = few;
    rd_status status;

    if (results.n > FEW && !(a = rd_alloc(ctx, results.n * (int64_t)sizeof *a)))
        return rd_error(ctx);
    for (int k = 0; k < results.n; k++)
        a[k].fresh = false;
    status = allocate_outputs(ctx, results, a) ? rd_cache_run(ctx, results, opts) : rd_error(ctx);
    if (status != RD_OK)
        (void)rd_cancel_taken(ctx); /* clears a cancel that arrived too late for this evaluation */
    for (int k = 0; status != RD_OK && k < results.n; k++)
        if (a[k].fresh && results.at[k].out->owner)
            restore_output(&a[k], results.at[k].out);
    if (a != few)
        rd_free(ctx, a);
    return status;
}

/* Checks the outputs, and evaluates the results; complex ones are evaluated as pairs of reals. */
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

/* Evaluates under the name of a public call, which error sentences begin with. */
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

/* Evaluates one result under a call's name. */
rd_status rd_eval_for(rd_ctx *ctx, const char *call, rd_expr *y, rd_array *out)
{
    rd_result one = { y, out };

    return eval_for(ctx, call, (rd_results){ &one, 1 }, /*opts=*/NULL);
}

/* The public call: evaluates one expression. */
rd_status rd_eval(rd_ctx *ctx, rd_expr *y, rd_array *out)
{
    return rd_eval_for(ctx, "rd_eval", y, out);
}

/* The public call: evaluates several expressions together, with options. */
rd_status rd_eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    return eval_for(ctx, "rd_eval_many", results, opts);
}

/* The public call: evaluates one element, by a view of one element that the context forgets
 * afterwards. A sparse y becomes dense first; without a fill value it has 0 where nothing is
 * stored. NAN after an error. */
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
    y        = rd_dense(y);
    for (int a = 0; a < index.n && y; a++)
        y = rd_select(y, /*axis=*/0, index.at[a]); /* which removes that axis */
    status = rd_eval_for(ctx, "rd_at", y, &out);
    rd_ctx_release(ctx, mark);
    return status == RD_OK ? rd_word_to_double(rd_word_load(&memory, out.type), out.type) : NAN;
}

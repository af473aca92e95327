/* plan_blocks.c - evaluates the results of a caller's plan in blocks, in a context of the run.
 *
 *     rd_plan_new    results over inputs       copied to a context of the plan
 *     rd_plan_run    inputs at addresses       copied to a context of the run, over leaves there
 *
 * The run's context keeps plans of blocks, and the plan keeps the context, so a later run finds them
 * again.  Runs that go on at a time have a context each. */
#include "eval/cache/plan_blocks.h"
#include "eval/cache/cache.h"
#include "eval/cache/in_blocks.h"
#include "eval/tuning.h"
#include "expr/cancel.h"
#include "expr/nodes.h"
#include "expr/origin.h"
#include <pthread.h>
#include <string.h>

/* Most inputs of such a plan; most contexts that wait for a run. */
enum { MOST_INPUTS = 64, MOST_IDLE = 16 };

static const char call[] = "rd_plan_run";

struct rd_plan_blocks {
    rd_ctx         *ctx; /* has the results, over leaves that stand for inputs */
    rd_eval_opts    opts;
    int             n, n_in;
    rd_expr        *result[RD_MOST_CUT_RESULTS], *leaf[MOST_INPUTS];
    pthread_mutex_t lock; /* guards idle */
    int             n_idle;
    rd_ctx         *idle[MOST_IDLE];
};

/* ---- The copy -------------------------------------------------------------------------------- */
/* A leaf in `ctx` of the layout of a leaf, at an address. */
static rd_expr *leaf_at(rd_ctx *ctx, const rd_expr *x, const void *address)
{
    rd_array array = { .type = x->type, .in = address };

    array.device    = x->device;
    array.shape     = rd_shape_of(x);
    array.strides.n = x->rank;
    memcpy(array.strides.at, x->as.leaf->stride, (size_t)x->rank * sizeof *array.strides.at);
    if (x->origin)
        array.origin = rd_origin_of(x);
    return rd_leaf_of(ctx, &array, call);
}

/* Copies all results x[k] into a context, with leaves of n inputs replaced by those at addresses. */
static bool copy(rd_ctx *ctx, int n, rd_expr *const *x, int n_in, rd_expr *const *leaf,
                 const void *const *address, rd_expr **made)
{
    rd_replacement with[MOST_INPUTS];

    for (int k = 0; k < n_in; k++) {
        with[k] = (rd_replacement){ leaf[k], leaf_at(ctx, leaf[k], address[k]) };
        if (!with[k].to)
            return false;
    }
    for (int k = 0; k < n; k++)
        if (!(made[k] = rd_clone_with(ctx, x[k], n_in, with)))
            return false;
    return true;
}

/* True if the copied results, in outputs of these layouts, come in blocks.  A plan of them is made
 * to find out. */
static bool come_in_blocks(struct rd_plan_blocks *b, const rd_plan *plan)
{
    rd_result        result[RD_MOST_CUT_RESULTS];
    rd_array         out[RD_MOST_CUT_RESULTS];
    const rd_results results = { result, b->n };
    const rd_mark    mark    = rd_ctx_mark(b->ctx);
    rd_plan         *same;
    bool             are;

    for (int k = 0; k < b->n; k++) {
        out[k]       = (rd_array){ .type = plan->out[k].type, .data = (void *)(uintptr_t)64 };
        out[k].shape = rd_shape_of(b->result[k]);
        result[k]    = (rd_result){ b->result[k], &out[k] };
    }
    same = rd_plan_make(b->ctx, (rd_exprs){ 0 }, results, &b->opts);
    are  = same && rd_block_points(same, results, &b->opts, /*depth=*/0) != 0;
    rd_plan_free(same);
    rd_free(b->ctx, rd_take_spare(b->ctx));
    (void)rd_ctx_release(b->ctx, mark);
    return are && rd_error(b->ctx) == RD_OK;
}

/* Frees a plan's copy and the contexts of its runs. */
void rd_plan_blocks_end(rd_plan *plan)
{
    struct rd_plan_blocks *const b = plan->blocks;

    if (!b)
        return;
    for (int k = 0; k < b->n_idle; k++)
        rd_ctx_free(b->idle[k]);
    rd_ctx_free(b->ctx);
    pthread_mutex_destroy(&b->lock);
    rd_free(plan->ctx, b);
    plan->blocks = NULL;
}

/* Copies the results, if it is worth asking whether they come in blocks.  Leaves that stand for
 * inputs have addresses that differ, as equal leaves would be one. */
void rd_plan_blocks_begin(rd_plan *plan, rd_exprs in, rd_results results, const rd_eval_opts *opts)
{
    struct rd_plan_blocks *b;
    const void            *address[MOST_INPUTS];
    rd_expr               *y[RD_MOST_CUT_RESULTS];

    if (results.n > RD_MOST_CUT_RESULTS || in.n > MOST_INPUTS || opts->async || opts->measure ||
        plan->parts || plan->instead || rd_plan_uses_device(plan) ||
        !rd_may_be_in_blocks(results, rd_plan_between(plan)) ||
        !(b = rd_alloc_quiet(plan->ctx, sizeof *b)))
        return;
    b->opts = *opts;
    b->n    = results.n;
    b->n_in = in.n;
    b->ctx  = rd_ctx_new_alike(plan->ctx);
    if (!b->ctx || pthread_mutex_init(&b->lock, NULL) != 0) {
        rd_ctx_free(b->ctx);
        rd_free(plan->ctx, b);
        return;
    }
    plan->blocks = b;
    for (int k = 0; k < in.n; k++) {
        address[k] = (const void *)(uintptr_t)(64 * (k + 1));
        b->leaf[k] = leaf_at(b->ctx, in.at[k], address[k]);
    }
    for (int k = 0; k < results.n; k++)
        y[k] = results.at[k].expr;
    if (rd_error(b->ctx) != RD_OK || !copy(b->ctx, b->n, y, in.n, in.at, address, b->result) ||
        !come_in_blocks(b, plan))
        rd_plan_blocks_end(plan);
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* Takes a context that waits, or makes one; NULL: no memory. */
static rd_ctx *take(struct rd_plan_blocks *b)
{
    rd_ctx *ctx = NULL;

    pthread_mutex_lock(&b->lock);
    if (b->n_idle > 0)
        ctx = b->idle[--b->n_idle];
    pthread_mutex_unlock(&b->lock);
    return ctx ? ctx : rd_ctx_new_alike(b->ctx);
}

/* Lets a context wait for the next run, or frees it where many wait. */
static void give(struct rd_plan_blocks *b, rd_ctx *ctx)
{
    pthread_mutex_lock(&b->lock);
    if (b->n_idle < MOST_IDLE) {
        b->idle[b->n_idle++] = ctx;
        ctx                  = NULL;
    }
    pthread_mutex_unlock(&b->lock);
    rd_ctx_free(ctx);
}

/* True if an address is one of elements of this type. */
static bool is_address(const void *p, rd_dtype type)
{
    return p && ((uintptr_t)p & ((uintptr_t)rd_dtype_size(type) - 1)) == 0;
}

/* Describes the outputs of a run.  False: an address is none, which a run of the whole reports. */
static bool describe(const rd_plan *plan, void *const *out, rd_array *array)
{
    for (int k = 0; k < plan->n_out; k++) {
        const rd_output *const o = &plan->out[k];

        array[k]           = (rd_array){ .type = o->type, .data = out ? out[k] : o->data };
        array[k].shape.n   = o->rank;
        array[k].strides.n = o->rank;
        memcpy(array[k].shape.at, o->extent, (size_t)o->rank * sizeof *o->extent);
        memcpy(array[k].strides.at, o->stride, (size_t)o->rank * sizeof *o->stride);
        if (o->device || !is_address(array[k].data, o->type))
            return false;
    }
    return true;
}

/* True if each input has an address. */
static bool have_addresses(const struct rd_plan_blocks *b, const void *const *in)
{
    for (int k = 0; k < b->n_in; k++)
        if (!in || !is_address(in[k], b->leaf[k]->type))
            return false;
    return true;
}

/* Tells the caller of progress, and whether the plan's context was cancelled: the run's context does
 * not know. */
static int tell(void *user, double done, double left)
{
    const rd_plan *const plan = user;

    if (atomic_load(rd_cancel_flag(plan->ctx)))
        return 1;
    return plan->progress.tell ? plan->progress.tell(plan->progress.user, done, left) : 0;
}

/* Evaluates in a context, and records failures and warnings in the plan's. */
static rd_status evaluate(const rd_plan *plan, rd_ctx *ctx, const void *const *in, rd_array *array)
{
    struct rd_plan_blocks *const b    = plan->blocks;
    const rd_mark                mark = rd_ctx_mark(ctx);
    rd_eval_opts                 opts = b->opts;
    rd_result                    result[RD_MOST_CUT_RESULTS];
    rd_expr                     *y[RD_MOST_CUT_RESULTS];
    rd_status                    status;

    opts.size     = sizeof opts;
    opts.progress = tell;
    opts.user     = (void *)(uintptr_t)plan;
    rd_begin_call(ctx, call);
    if (copy(ctx, b->n, b->result, b->n_in, b->leaf, in, y)) {
        for (int k = 0; k < b->n; k++)
            result[k] = (rd_result){ y[k], &array[k] };
        status = rd_cache_run(ctx, (rd_results){ result, b->n }, &opts);
    } else {
        status = rd_error(ctx);
    }
    /* A cancel that came during this run must not cancel the next one. */
    if (rd_cancel_taken(plan->ctx) && status == RD_OK)
        status = rd_fail_run(plan->ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
    else if (status != RD_OK)
        status = rd_fail_run(plan->ctx, status, rd_error_text(ctx));
    rd_warn(plan->ctx, rd_warnings(ctx));
    (void)rd_ctx_release(ctx, mark); /* before errors are cleared: there may be no mark */
    rd_error_clear(ctx);
    return status;
}

/* Runs the plan in blocks. */
bool rd_plan_blocks_run(const rd_plan *plan, const void *const *in, void *const *out,
                        rd_status *status)
{
    struct rd_plan_blocks *const b = plan->blocks;
    rd_array                     array[RD_MOST_CUT_RESULTS];
    rd_ctx                      *ctx;

    if (!b || rd_error(plan->ctx) != RD_OK || !have_addresses(b, in) ||
        !describe(plan, out, array) || atomic_load(rd_cancel_flag(plan->ctx)) || !(ctx = take(b)))
        return false;
    *status = evaluate(plan, ctx, in, array);
    give(b, ctx);
    return true;
}

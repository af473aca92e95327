/* settings.c - the options of a context, and the request to cancel its evaluation. */
#include "expr/cancel.h"
#include "expr/ctx.h"

/* The number of threads that the options of the context ask for; 0: OpenMP's choice. */
int32_t rd_ctx_threads(const rd_ctx *ctx)
{
    return ctx->opts.threads > 0 ? ctx->opts.threads : 0;
}

/* True if the options ask for the same bits on every machine. */
bool rd_ctx_deterministic(const rd_ctx *ctx)
{
    return ctx->opts.deterministic;
}

/* True if every evaluation is measured to choose its plan, as the environment variable
 * RDIM_PLAN_MEASURE asked when the context was made. */
bool rd_ctx_measures(const rd_ctx *ctx)
{
    return ctx->measures;
}

/* The GPU to use if no array of an expression decides it: RD_CUDA(0) unless the options name
 * another. */
int32_t rd_ctx_device(const rd_ctx *ctx)
{
    return ctx->opts.device > 0 ? ctx->opts.device : RD_CUDA(0);
}

/* How many GPUs may share an evaluation, at most. */
int32_t rd_ctx_devices(const rd_ctx *ctx)
{
    return ctx->devices;
}

/* The CUDA stream of the options; NULL: none. */
void *rd_ctx_stream(const rd_ctx *ctx)
{
    return ctx->opts.stream;
}

/* The backend (CPU, CUDA, OpenCL) that the environment variable RDIM_BACKEND named when the context
 * was made; AUTO: none. */
rd_backend rd_ctx_prefers(const rd_ctx *ctx)
{
    return ctx->prefers;
}

/* Asks the evaluation that runs in a context to end; any thread may call it.  The first run that
 * sees the flag ends and clears it. */
void rd_cancel(rd_ctx *ctx)
{
    if (ctx)
        atomic_store(&ctx->cancel, true);
}

/* The flag that rd_cancel() sets, for readers that do not clear it. */
const atomic_bool *rd_cancel_flag(const rd_ctx *ctx)
{
    return &ctx->cancel;
}

/* Clears the flag of rd_cancel(); true if it was set: the caller must end.  The relaxed load comes
 * first, as an exchange at each check would be slow. */
bool rd_cancel_taken(rd_ctx *ctx)
{
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed) &&
           atomic_exchange(&ctx->cancel, false);
}

/* True if planning may go on.  False if something has failed in this context, or if rd_cancel() was
 * called, which is then recorded as a failure. */
bool rd_goes_on(rd_ctx *ctx)
{
    if (rd_cancel_taken(ctx))
        rd_fail(ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
    return rd_error(ctx) == RD_OK;
}

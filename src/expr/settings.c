/* settings.c - the options of a context, and the request to cancel its evaluation. */
#include "expr/cancel.h"
#include "expr/ctx.h"

int32_t rd_ctx_threads(const rd_ctx *ctx)
{
    return ctx->opts.threads > 0 ? ctx->opts.threads : 0;
}

bool rd_ctx_deterministic(const rd_ctx *ctx)
{
    return ctx->opts.deterministic;
}

bool rd_ctx_measures(const rd_ctx *ctx)
{
    return ctx->measures;
}

int32_t rd_ctx_device(const rd_ctx *ctx)
{
    return ctx->opts.device > 0 ? ctx->opts.device : RD_CUDA(0);
}

int32_t rd_ctx_devices(const rd_ctx *ctx)
{
    return ctx->devices;
}

void *rd_ctx_stream(const rd_ctx *ctx)
{
    return ctx->opts.stream;
}

rd_backend rd_ctx_prefers(const rd_ctx *ctx)
{
    return ctx->prefers;
}

void rd_cancel(rd_ctx *ctx)
{
    if (ctx)
        atomic_store(&ctx->cancel, true);
}

const atomic_bool *rd_cancel_flag(const rd_ctx *ctx)
{
    return &ctx->cancel;
}

bool rd_cancel_taken(rd_ctx *ctx)
{
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed) &&
           atomic_exchange(&ctx->cancel, false);
}

/* False after a failure, or after recording that the caller has cancelled. */
bool rd_goes_on(rd_ctx *ctx)
{
    if (rd_cancel_taken(ctx))
        rd_fail(ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
    return rd_error(ctx) == RD_OK;
}

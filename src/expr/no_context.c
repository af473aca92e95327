/* no_context.c - see the header.  Contexts are of one thread at a time, so what waits is the thread's. */
#include "expr/no_context.h"
#include "expr/ctx.h"

static _Thread_local const char *waiting;

void *rd_fail_without_operand(const char *call)
{
    if (!waiting)
        waiting = call;
    return NULL;
}

bool rd_take_failure(rd_ctx *ctx)
{
    const char *const call = waiting;

    if (!call || !ctx)
        return false;
    waiting = NULL;
    rd_fail(ctx, RD_ERR_ARGUMENT, "%s: a list of no operand", call);
    return true;
}

void rd_drop_failure(void)
{
    waiting = NULL;
}

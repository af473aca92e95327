/* lists.c - failures about lists.  A refused list may leave no context to record them in, so
 * they wait in a variable of the thread.  See lists.h. */
#include "expr/lists.h"
#include "expr/ctx.h"
#include <inttypes.h>

/* A failure about a list. */
typedef struct refused {
    const char *call, *what; /* call NULL: no failure waits */
    bool        is_null;     /* the list is a null pointer */
    int64_t     n;           /* its elements */
} refused;

static _Thread_local refused waiting;

/* Records in a context that a list was refused: "call: a list of 3 parts, which is NULL". */
static void record(rd_ctx *ctx, const refused *r)
{
    if (r->n == 0)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: a list of no %s", r->call, r->what);
    else
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: a list of %" PRId64 " %s%s", r->call, r->n, r->what,
                r->is_null ? ", which is NULL" : "");
}

/* Records that a list of n `what` (such as "parts") was refused.  Without a context the failure
 * waits in a variable of the thread until one is known (rd_take_failure()).  The first failure
 * counts. */
void rd_list_refuse(rd_ctx *ctx, const char *call, const char *what, const void *at, int64_t n)
{
    const refused r = { .call = call, .what = what, .is_null = !at, .n = n };

    if (ctx)
        record(ctx, &r);
    else if (!waiting.call)
        waiting = r;
}

/* Records in ctx the failure that waits in this thread, if any; true if there was one. It waits if
 * a list was refused and no context was known (lists.h). */
bool rd_take_failure(rd_ctx *ctx)
{
    const refused r = waiting;

    if (!r.call || !ctx)
        return false;
    rd_drop_failure();
    record(ctx, &r);
    return true;
}

/* Discards the failure that waits in this thread. */
void rd_drop_failure(void)
{
    waiting.call = NULL;
}

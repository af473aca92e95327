/* keeper.c - memory that the evaluator keeps in a context between evaluations, and things that
 * are freed with the context. */
#include "expr/ctx.h"

/* The evaluator's caches in this context; NULL: none yet.  Any thread may ask. */
rd_keeper *rd_ctx_keeper(const rd_ctx *ctx)
{
    return atomic_load_explicit(&ctx->keeper, memory_order_acquire);
}

/* The newest of the things to free after all else. */
rd_kept_last *rd_ctx_kept_last(const rd_ctx *ctx)
{
    return atomic_load_explicit(&ctx->last, memory_order_acquire);
}

/* Adds a thing that is freed after all else of the context.  It is pushed to a list without a lock,
 * as other threads may push at the same time. */
void rd_ctx_keep_last(rd_ctx *ctx, rd_kept_last *thing)
{
    thing->older = atomic_load(&ctx->last);
    while (!atomic_compare_exchange_weak(&ctx->last, &thing->older, thing))
        ;
}

/* Takes the block of memory that the last planning left for reuse; NULL: another planning has it,
 * or there is none yet. */
void *rd_take_spare(rd_ctx *ctx)
{
    return atomic_exchange(&ctx->planning, NULL);
}

/* Leaves memory for the next planning.  False if there is such a block already: the caller frees
 * its own. */
bool rd_keep_spare(rd_ctx *ctx, void *p)
{
    void *empty = NULL;

    return atomic_compare_exchange_strong(&ctx->planning, &empty, p);
}

/* Sets the evaluator's caches of the context, once. */
void rd_ctx_set_keeper(rd_ctx *ctx, rd_keeper *keeper)
{
    atomic_store_explicit(&ctx->keeper, keeper, memory_order_release);
}

/* ---- Things freed with the context ----------------------------------------------------------- */
/* Adds a thing (a plan, a mapped file) that the context frees when it ends, at the front of a
 * list. */
void rd_own(rd_ctx *ctx, rd_owned *thing)
{
    thing->prev = NULL;
    thing->next = ctx->owned;
    if (ctx->owned)
        ctx->owned->prev = thing;
    ctx->owned = thing;
}

/* Removes a thing from the list of things that the context frees, so that it may end earlier. */
void rd_disown(rd_ctx *ctx, rd_owned *thing)
{
    if (!thing->prev && ctx->owned != thing)
        return; /* removed already: rd_ctx_free() unlinks before it drops */
    if (thing->prev)
        thing->prev->next = thing->next;
    else
        ctx->owned = thing->next;
    if (thing->next)
        thing->next->prev = thing->prev;
    thing->next = thing->prev = NULL;
}

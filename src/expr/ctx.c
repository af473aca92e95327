/* ctx.c - the life of a context: creation, marks, releases, end.  A *mark* is a position in the
 * life of a context; a release frees all nodes and memory made after it. */
#include "expr/ctx.h"
#include "core/backends.h"
#include "core/environment.h"
#include <stdlib.h>
#include <string.h>

/* Records the first invalid option as the failure of the new context. */
static void check_opts(rd_ctx *ctx)
{
    const rd_ctx_opts *opts = &ctx->opts;

    if (opts->size != 0 && opts->size < sizeof *opts)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "rd_ctx_new: size is %u, the options of release 1 have %zu bytes",
                (unsigned)opts->size, sizeof *opts);
    if (opts->threads < 0)
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_ctx_new: threads is %d, less than 0", (int)opts->threads);
    if (opts->device < RD_CUDA_ALL || opts->device > RD_MOST_DEVICES)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "rd_ctx_new: device is %d, possible are 0, RD_CUDA(0) to RD_CUDA(%d), and "
                "RD_CUDA_ALL",
                (int)opts->device, RD_MOST_DEVICES - 1);
    if (opts->device == RD_CUDA_ALL && opts->stream)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "rd_ctx_new: a stream is of one GPU, and device is RD_CUDA_ALL");
    if (opts->memory_limit < 0)
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_ctx_new: memory_limit is %lld, less than 0",
                (long long)opts->memory_limit);
}

/* True if the environment asks to measure every evaluation (RDIM_PLAN_MEASURE=1). */
static bool measures_by_default(void)
{
    const char *text = rd_environment(RD_ENV_RDIM_PLAN_MEASURE);

    return text && strcmp(text, "1") == 0;
}

/* The number of GPUs that may share an evaluation: all with RD_CUDA_ALL, else one if the options
 * name a device or a stream, else what the environment variable RDIM_CUDA_DEVICES says ("all" or a
 * number). */
static int32_t devices_of(const rd_ctx_opts *opts)
{
    const char *text =
        opts->device || opts->stream ? NULL : rd_environment(RD_ENV_RDIM_CUDA_DEVICES);
    const long number = text ? strtol(text, NULL, 10) : 1;

    if (opts->device == RD_CUDA_ALL || (text && strcmp(text, "all") == 0))
        return RD_MOST_DEVICES;
    return number > 1 && number < RD_MOST_DEVICES ? (int32_t)number : 1;
}

/* Allocates a context by the caller's hooks and reads options and environment.  NULL without
 * memory, or if only one of the two hooks is given. */
rd_ctx *rd_ctx_new(const rd_ctx_opts *opts)
{
    const rd_ctx_opts defaults = { 0 };
    rd_ctx           *ctx;

    opts = opts ? opts : &defaults;
    if (!opts->allocate != !opts->release)
        return NULL;
    ctx = rd_hook_allocate(opts, (int64_t)sizeof *ctx, /*zeroed=*/true);
    if (!ctx)
        return NULL;
    ctx->opts     = *opts;
    ctx->bucket   = ctx->first;
    ctx->n_bucket = RD_FIRST_BUCKETS;
    ctx->measures = measures_by_default();
    ctx->prefers  = rd_backend_named(rd_environment(RD_ENV_RDIM_BACKEND));
    ctx->devices  = devices_of(opts);
    check_opts(ctx);
    return ctx;
}

/* Makes a context with the options of another one. */
rd_ctx *rd_ctx_new_alike(const rd_ctx *ctx)
{
    return rd_ctx_new(&ctx->opts);
}

/* Frees all that belongs to the context.  Owned things (plans, files) go first, as they may refer
 * to nodes; the evaluator's caches follow, and the context itself goes last. */
void rd_ctx_free(rd_ctx *ctx)
{
    rd_ctx_opts opts;
    rd_keeper  *keeper;

    if (!ctx)
        return;
    while (ctx->owned) {
        rd_owned *thing = ctx->owned;
        rd_disown(ctx, thing);
        thing->drop(thing);
    }
    rd_abandon(ctx, /*last=*/NULL); /* all arrays that leaves own */
    keeper = atomic_exchange(&ctx->keeper, NULL);
    if (keeper)
        keeper->drop(keeper);
    for (rd_kept_last *at = rd_ctx_kept_last(ctx), *older; at; at = older) {
        older = at->older;
        at->drop(at);
        rd_free(ctx, at);
    }
    rd_free(ctx, rd_take_spare(ctx));
    rd_arena_free(ctx);
    rd_drop_kept(ctx);
    rd_free(ctx, ctx->moment);
    if (ctx->bucket != ctx->first)
        rd_free(ctx, ctx->bucket);
    opts = ctx->opts;
    rd_hook_release(&opts, ctx);
}

/* ---- Marks ----------------------------------------------------------------------------------- */
/* The newest entry of each list of the context (nodes, names, arrays) and the end of its arena: the
 * state to which a release can return. */
static rd_moment present_state(const rd_ctx *ctx)
{
    return (rd_moment){ .chunk   = ctx->chunk,
                        .used    = ctx->chunk ? ctx->chunk->used : 0,
                        .newest  = ctx->newest,
                        .named   = ctx->named,
                        .adopted = ctx->adopted,
                        .nodes   = ctx->nodes };
}

/* Makes room for one more mark in the list of marks (states to which a release can return); false:
 * no memory. */
static bool grow_marks(rd_ctx *ctx)
{
    const int64_t room = ctx->room_moment ? 2 * ctx->room_moment : 16, size = sizeof *ctx->moment;
    rd_moment    *moment;

    if (ctx->n_moment < ctx->room_moment)
        return true;
    moment = rd_realloc(ctx, ctx->moment, ctx->n_moment * size, room * size);
    if (!moment)
        return false;
    ctx->moment      = moment;
    ctx->room_moment = room;
    return true;
}

/* The number of marks made in this process: no context can take another's mark for its own. */
static _Atomic(uint64_t) marks;

/* Makes a mark: notes the present state of the context, to which rd_ctx_release() returns.  The
 * zeroed mark, which no release accepts, comes back without memory. */
rd_mark rd_ctx_mark(rd_ctx *ctx)
{
    const rd_mark none = { 0, 0 };
    rd_moment     present;

    if (!ctx)
        return none;
    present = present_state(ctx);
    /* A loop of mark, build, release returns to the mark that it has just released.  It gets the
     * same mark again, else the list would grow without end. */
    if (ctx->n_moment > 0) {
        const rd_moment *last = &ctx->moment[ctx->n_moment - 1];
        if (last->released && last->chunk == present.chunk && last->used == present.used)
            return (rd_mark){ .at = (uint64_t)ctx->n_moment - 1, .serial = last->serial };
    }
    if (!grow_marks(ctx))
        return none;
    present.serial               = atomic_fetch_add(&marks, 1) + 1;
    ctx->moment[ctx->n_moment++] = present;
    return (rd_mark){ .at = (uint64_t)ctx->n_moment - 1, .serial = present.serial };
}

/* Returns the context to the state of a mark: frees nodes, arrays and strings made since.  Marks
 * made later end. */
rd_status rd_ctx_release(rd_ctx *ctx, rd_mark mark)
{
    rd_moment *moment;

    if (!ctx)
        return rd_error(NULL);
    if (mark.at >= (uint64_t)ctx->n_moment || ctx->moment[mark.at].serial != mark.serial) {
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "rd_ctx_release: mark %llu is not a mark of this context, or has ended: a mark "
                "made before it was released",
                (unsigned long long)mark.serial);
        return RD_ERR_ARGUMENT;
    }
    moment           = &ctx->moment[mark.at];
    moment->released = true;
    ctx->n_moment    = (int64_t)mark.at + 1;
    ctx->named       = moment->named;
    ctx->nodes       = moment->nodes;
    rd_abandon(ctx, moment->adopted);
    rd_forget(ctx, moment->newest);
    rd_arena_rewind(ctx, moment->chunk, moment->used);
    return RD_OK;
}

/* The number of nodes that the context has now; 0 for NULL. */
int64_t rd_ctx_nodes(const rd_ctx *ctx)
{
    return ctx ? ctx->nodes : 0;
}

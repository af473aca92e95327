/* memory.c - memory of a context: allocated by the caller's hooks (rd_ctx_opts) and counted against
 * the limit, from any thread.  The context *keeps* large blocks that were freed, for reuse. */
#include "expr/ctx.h"
#include "core/machine_memory.h"
#include "core/pages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Precedes every allocation and holds its size, which rd_free() subtracts from the count.  It is
 * as large as malloc's alignment, so that the memory behind it is aligned, too. */
typedef union header {
    int64_t     bytes; /* header included */
    max_align_t align;
} header;

/* Allocates by the caller's hook if there is one, else by malloc or calloc.  Nothing is counted. */
void *rd_hook_allocate(const rd_ctx_opts *opts, int64_t bytes, bool zeroed)
{
    void *p;

    if (!opts->allocate)
        /* calloc does not touch fresh pages */
        return zeroed ? calloc(1, (size_t)bytes) : malloc((size_t)bytes);
    p = opts->allocate(opts->user, bytes);
    if (p && zeroed)
        memset(p, 0, (size_t)bytes);
    return p;
}

/* Frees by the caller's hook if there is one, else by free(). */
void rd_hook_release(const rd_ctx_opts *opts, void *p)
{
    if (opts->release)
        opts->release(opts->user, p);
    else
        free(p);
}

/* Adds `bytes` to the count of allocated bytes of the context, and raises its peak; false if that
 * would pass the limit.  Compare-and-swap loops, as any thread may call it. */
static bool count_bytes(rd_ctx *ctx, int64_t bytes)
{
    const int64_t limit = ctx->opts.memory_limit > 0 ? ctx->opts.memory_limit : INT64_MAX;
    int64_t       held  = atomic_load(&ctx->held), peak;

    do {
        if (bytes > limit - held)
            return false;
    } while (!atomic_compare_exchange_weak(&ctx->held, &held, held + bytes));
    peak = atomic_load(&ctx->peak);
    while (peak < held + bytes && !atomic_compare_exchange_weak(&ctx->peak, &peak, held + bytes)) {
    }
    return true;
}

/* Allocates `bytes`, header included, and counts them; NULL, with nothing recorded, over the limit
 * or without memory. */
static header *allocate(rd_ctx *ctx, int64_t bytes, bool zeroed)
{
    header *p;

    if (!count_bytes(ctx, bytes))
        return NULL;
    p = rd_hook_allocate(&ctx->opts, bytes, zeroed);
    if (p)
        p->bytes = bytes;
    else
        atomic_fetch_sub(&ctx->held, bytes);
    return p;
}

/* ---- Large blocks kept for reuse ------------------------------------------------------------- */
/* True if a freed block may be kept for reuse: it has 128 KiB or more, and is no memory of the
 * caller's hooks.  Checking builds keep none, as they must see each use of freed memory: they do
 * not reuse released chunks (RD_GRAVES), or have a sanitizer. */
static bool can_keep(const rd_ctx *ctx, int64_t bytes)
{
#if RD_GRAVES || defined(RD_ASAN)
    (void)ctx;
    (void)bytes;
    return false;
#else
    enum { LEAST = 1 << 17 };

    return !ctx->opts.allocate && bytes >= LEAST;
#endif
}

/* Frees a block that was kept for reuse; NULL is allowed.  Kept blocks are counted in
 * ctx->large_bytes, not in ctx->held, the bytes in use. */
static void free_block(rd_ctx *ctx, header *block)
{
    if (!block)
        return;
    atomic_fetch_sub(&ctx->large_bytes, block->bytes);
    rd_hook_release(&ctx->opts, block);
}

/* Stores a freed block in an empty slot, where take_kept() finds it; false if there is none. */
static bool keep_block(rd_ctx *ctx, header *block)
{
    for (int k = 0; k < RD_LARGE_KEPT; k++) {
        void *empty = NULL;

        if (atomic_compare_exchange_strong(&ctx->large[k], &empty, block))
            return true;
    }
    return false;
}

/* Takes a block that was kept for reuse: one large enough, but not more than twice as large; NULL
 * if there is none.  A block is out of its slot while it is looked at, so that no other thread
 * takes it. */
static header *take_kept(rd_ctx *ctx, int64_t bytes)
{
    for (int k = 0; k < RD_LARGE_KEPT && atomic_load(&ctx->large_bytes) >= bytes; k++) {
        header *block = atomic_exchange(&ctx->large[k], NULL);

        if (block && block->bytes >= bytes && block->bytes / 2 <= bytes &&
            count_bytes(ctx, block->bytes)) {
            atomic_fetch_sub(&ctx->large_bytes, block->bytes);
            return block;
        }
        if (block && !keep_block(ctx, block))
            free_block(ctx, block);
    }
    return NULL;
}

/* Frees the blocks that were kept for reuse; true if there were any. */
bool rd_drop_kept(rd_ctx *ctx)
{
    bool any = false;

    for (int k = 0; k < RD_LARGE_KEPT; k++) {
        header *block = atomic_exchange(&ctx->large[k], NULL);

        any |= block != NULL;
        free_block(ctx, block);
    }
    return any;
}

/* Frees a block, or keeps it for reuse.  Kept blocks take at most an eighth of the machine's
 * memory; else older ones are freed in turn.  The system may take back the pages of kept blocks,
 * except while they are at most 16 MiB together (HELD).  There the advice, and writing the pages
 * again, would take 18 ns a KiB, as long as some kernels run (EPYC, Linux 6). */
void rd_free_work(rd_ctx *ctx, void *p)
{
    enum { HELD = 16 << 20 };
    header *block = p;
    int64_t bytes;

    if (!p || !can_keep(ctx, (bytes = (--block)->bytes)) || bytes > rd_machine_memory() / 8) {
        rd_free(ctx, p);
        return;
    }
    atomic_fetch_sub(&ctx->held, bytes);
    if (atomic_load(&ctx->large_bytes) + bytes > HELD)
        rd_let_take_back(block + 1, (size_t)bytes - sizeof *block);
    while (atomic_fetch_add(&ctx->large_bytes, bytes) + bytes > rd_machine_memory() / 8 ||
           !keep_block(ctx, block)) {
        atomic_fetch_sub(&ctx->large_bytes, bytes);
        free_block(
            ctx, atomic_exchange(&ctx->large[atomic_fetch_add(&ctx->large_turn, 1) % RD_LARGE_KEPT],
                                 NULL));
    }
}

/* Frees what the context holds and does not use, as memory is short: kept blocks, the spare block
 * for planning, and unused parts of the evaluator's caches.  False if there was nothing to free. */
bool rd_reclaim(rd_ctx *ctx)
{
    void      *spare  = rd_take_spare(ctx);
    rd_keeper *keeper = rd_ctx_keeper(ctx);
    const bool kept   = rd_drop_kept(ctx);

    rd_free(ctx, spare);
    return (keeper && keeper->reclaim(keeper)) || spare || kept;
}

/* Allocates behind a header that holds the size.  If that fails, it frees unused memory of the
 * context and tries once more.  It notes the size of a request that failed, for the message. */
static void *allocate_or_reclaim(rd_ctx *ctx, int64_t bytes, bool zeroed)
{
    header *p;

    if (bytes < 0 || bytes > INT64_MAX - (int64_t)sizeof *p) {
        atomic_store(&ctx->refused, INT64_MAX);
        return NULL;
    }
    bytes += (int64_t)sizeof *p;
    p = allocate(ctx, bytes, zeroed);
    if (!p && rd_reclaim(ctx))
        p = allocate(ctx, bytes, zeroed);
    if (!p)
        atomic_store(&ctx->refused, bytes);
    return p ? p + 1 : NULL;
}

/* Allocates zeroed memory; records nothing on failure, so any thread may call it. */
void *rd_alloc_quiet(rd_ctx *ctx, int64_t bytes)
{
    return allocate_or_reclaim(ctx, bytes, /*zeroed=*/true);
}

/* Allocates memory that is not zeroed, and asks for large pages for 4 MiB and more; records
 * nothing. */
void *rd_alloc_pages(rd_ctx *ctx, int64_t bytes)
{
    enum { LARGE = 4 << 20 }; /* large enough to be worth a system call */
    void *const p = allocate_or_reclaim(ctx, bytes, /*zeroed=*/false);

    if (p && bytes >= LARGE && !ctx->opts.allocate) /* memory of hooks belongs to the caller */
        rd_ask_for_large_pages(p, (size_t)bytes);
    return p;
}

/* Allocates scratch memory for one evaluation, not zeroed: takes a block kept for reuse if one
 * fits. rd_free_work() frees it. */
void *rd_alloc_work(rd_ctx *ctx, int64_t bytes)
{
    header *kept =
        bytes > 0 && can_keep(ctx, bytes) ? take_kept(ctx, bytes + (int64_t)sizeof *kept) : NULL;

    return kept ? kept + 1 : rd_alloc_pages(ctx, bytes);
}

/* Records RD_ERR_MEMORY: the sentence, then the bytes asked for, held, and allowed. bytes 0: as
 * many as the context refused last.  Returns NULL. */
void *rd_fail_memory(rd_ctx *ctx, int64_t bytes, const char *format, ...)
{
    char    what[RD_SENTENCE / 2], limit[64] = "";
    va_list list;

    if (!ctx)
        return NULL;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (ctx->opts.memory_limit > 0)
        snprintf(limit, sizeof limit, " of a memory_limit of %lld",
                 (long long)ctx->opts.memory_limit);
    if (!bytes)
        bytes = atomic_load(&ctx->refused);
    return rd_fail(ctx, RD_ERR_MEMORY, "%s: %lld bytes asked for, %lld held%s", what,
                   (long long)bytes, (long long)rd_memory_now(ctx), limit);
}

/* Records that so many bytes could not be allocated; returns NULL. */
void *rd_alloc_failed(rd_ctx *ctx, int64_t bytes)
{
    return rd_fail_memory(ctx, bytes, "%s%sno memory", ctx->call ? ctx->call : "",
                          ctx->call ? ": " : "");
}

/* Allocates, or records the failure. */
static void *allocate_or_fail(rd_ctx *ctx, int64_t bytes, bool zeroed)
{
    void *p = allocate_or_reclaim(ctx, bytes, zeroed);

    return p ? p : rd_alloc_failed(ctx, bytes);
}

/* Allocates zeroed memory, or records the failure. */
void *rd_alloc(rd_ctx *ctx, int64_t bytes)
{
    return allocate_or_fail(ctx, bytes, /*zeroed=*/true);
}

/* Allocates memory that is not zeroed, or records the failure. */
void *rd_alloc_raw(rd_ctx *ctx, int64_t bytes)
{
    return allocate_or_fail(ctx, bytes, /*zeroed=*/false);
}

/* Moves a block to a new one of `bytes`; what is behind the old bytes is 0.  On failure p stays,
 * and NULL is returned after recording. */
void *rd_realloc(rd_ctx *ctx, void *p, int64_t old_bytes, int64_t bytes)
{
    void *q = rd_alloc(ctx, bytes);

    if (q && p) {
        memcpy(q, p, (size_t)(old_bytes < bytes ? old_bytes : bytes));
        rd_free(ctx, p);
    }
    return q;
}

/* Frees memory of the context and subtracts its bytes from those held; NULL is allowed. */
void rd_free(rd_ctx *ctx, void *p)
{
    header *h = p;

    if (!p)
        return;
    h--;
    atomic_fetch_sub(&ctx->held, h->bytes);
    rd_hook_release(&ctx->opts, h);
}

/* Subtracts a block from the count of allocated bytes. rd_free() still frees it, and then subtracts
 * 0. */
void rd_uncount(rd_ctx *ctx, void *p)
{
    header *h = (header *)p - 1;

    atomic_fetch_sub(&ctx->held, h->bytes);
    h->bytes = 0;
}

/* Lets a block outlive its context: it is no longer counted, and rd_free_detached() frees it by the
 * hooks that are returned. */
rd_ctx_opts rd_detach(rd_ctx *ctx, void *p)
{
    rd_uncount(ctx, p);
    return ctx->opts;
}

/* Frees a block that rd_detach() has detached. */
void rd_free_detached(const rd_ctx_opts *hooks, void *p)
{
    rd_hook_release(hooks, (header *)p - 1);
}

/* The bytes that the context holds now. */
int64_t rd_memory_now(const rd_ctx *ctx)
{
    return atomic_load(&ctx->held);
}

/* The most bytes that the context has held since the last reset. */
int64_t rd_memory_peak(const rd_ctx *ctx)
{
    return atomic_load(&ctx->peak);
}

/* Lets the peak begin again at the bytes held now. */
void rd_memory_reset_peak(rd_ctx *ctx)
{
    atomic_store(&ctx->peak, atomic_load(&ctx->held));
}

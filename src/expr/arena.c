/* arena.c - the arena of a context: memory that is taken piece by piece and released together.  It
 * is a stack of chunks, ctx->chunk on top, and a release pops it down to a mark. */
#include "expr/ctx.h"
#include <string.h>

/* With the address sanitizer each allocation is a chunk of its own, which a release really
 * frees.  The sanitizer then sees uses of released nodes and overruns.  Debug builds do the
 * same, but free later. */
#if RD_GRAVES || defined(RD_ASAN)
enum { CHUNK = 0 };
#else
enum { CHUNK = 1 << 14 }; /* bytes: room for dozens of nodes */
#endif

static size_t chunk_bytes = CHUNK;

/* Sets the least size in bytes of the chunks that arenas allocate from now on; for tests. 0 makes
 * each allocation a chunk of its own. */
void rd_arena_chunks_of(size_t bytes)
{
    chunk_bytes = bytes;
}

/* Rounds up to a multiple of 16 bytes, which aligns any type. */
static size_t align(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

/* Pushes a chunk with room for at least `bytes` on the arena's stack: the spare one if it is large
 * enough, else a new one.  NULL after recording a failure. */
static rd_chunk *new_chunk(rd_ctx *ctx, size_t bytes)
{
    rd_chunk    *chunk = ctx->spare;
    const size_t room  = bytes > chunk_bytes ? bytes : chunk_bytes;

    if (chunk && chunk->room >= bytes) {
        ctx->spare = NULL;
    } else {
        chunk = rd_alloc_work(ctx, (int64_t)(sizeof *chunk + room));
        if (!chunk)
            return rd_alloc_failed(ctx, (int64_t)(sizeof *chunk + room));
        chunk->room = room;
    }
    chunk->used       = 0;
    chunk->older      = ctx->chunk;
    return ctx->chunk = chunk;
}

/* Takes bytes, aligned to 16, from the arena's top chunk, or from a new one if they do not fit.
 * They are not zeroed.  NULL after recording a failure. */
void *rd_arena_room(rd_ctx *ctx, size_t bytes)
{
    const size_t size  = align(bytes ? bytes : 1);
    rd_chunk    *chunk = ctx->chunk;
    char        *p;

    if (bytes > INT64_MAX / 2)
        return rd_fail(ctx, RD_ERR_MEMORY, "no memory: %zu bytes asked for", bytes);
    if (!chunk || chunk->room - chunk->used < size)
        chunk = new_chunk(ctx, size);
    if (!chunk)
        return NULL;
    p = (char *)(chunk + 1) + chunk->used;
    chunk->used += size;
    return p;
}

/* Takes zeroed bytes of the arena; NULL after recording a failure. */
void *rd_arena(rd_ctx *ctx, size_t bytes)
{
    void *const p = rd_arena_room(ctx, bytes);

    return p ? memset(p, 0, align(bytes ? bytes : 1))
             : NULL; /* a chunk may hold bytes from before a release */
}

/* Copies a string to the arena; NULL after recording a failure. */
const char *rd_arena_text(rd_ctx *ctx, const char *text)
{
    const size_t size = strlen(text) + 1;
    char        *copy = rd_arena(ctx, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

/* Frees a released chunk, or keeps one as spare: a loop of mark, build, release then never calls
 * the allocator.  Debug builds put the last RD_GRAVES chunks in a ring and do not reuse them, so
 * that uses of released nodes are recognised. */
static void drop_chunk(rd_ctx *ctx, rd_chunk *chunk)
{
#if RD_GRAVES
    void **grave = &ctx->grave[ctx->n_grave++ % RD_GRAVES];

    rd_free(ctx, *grave); /* the chunk released RD_GRAVES releases ago */
    *grave = chunk;
    rd_uncount(ctx, chunk); /* no longer counts against the memory limit */
#else
    if (chunk_bytes > 0 && !ctx->spare && chunk->room == chunk_bytes)
        ctx->spare = chunk;
    else
        rd_free_work(ctx, chunk);
#endif
}

/* Releases all that was taken from the arena after the moment when `chunk` was on top with `used`
 * bytes taken. */
void rd_arena_rewind(rd_ctx *ctx, rd_chunk *chunk, size_t used)
{
    while (ctx->chunk != chunk) {
        rd_chunk *top = ctx->chunk;
        ctx->chunk    = top->older;
        drop_chunk(ctx, top);
    }
    if (chunk)
        chunk->used = used;
}

/* Frees all memory of the arena at the end of the context. */
void rd_arena_free(rd_ctx *ctx)
{
    rd_arena_rewind(ctx, /*chunk=*/NULL, /*used=*/0);
    rd_free(ctx, ctx->spare);
    ctx->spare = NULL;
#if RD_GRAVES
    for (int k = 0; k < RD_GRAVES; k++)
        rd_free(ctx, ctx->grave[k]);
#endif
}

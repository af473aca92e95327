/* pool.c - an arena: chunks taken from the context's memory and freed together. */
#include "eval/pool.h"
#include "expr/expr.h"
#include <string.h>

/* Chunks grow, so that small plans hold little and large graphs need few chunks.  They double up to
 * DOUBLED, and grow by a quarter from there on, as a kept plan holds what is left of the last. */
enum { FIRST_CHUNK = 2 << 10, DOUBLED = 32 << 10, MOST_CHUNK = 256 << 10 };

/* For tests: each piece of memory is a chunk of its own. */
static bool apart;

/* For tests: makes new pools allocate each piece by itself, so that each may be the one that
 * fails. */
void rd_pool_pieces_apart(void)
{
    apart = true;
}

/* A pool: a list of chunks, from the first of which memory is taken. */
struct rd_pool {
    rd_ctx        *ctx;
    rd_pool_chunk *chunks;   /* the newest, which has room, first */
    size_t         next;     /* bytes of the next chunk */
    bool           planning; /* the context keeps one of its chunks */
    bool           quiet;    /* records nothing if there is no memory */
};

/* Makes an empty pool; its first chunk will have that many bytes.  NULL after recording the
 * failure. */
static rd_pool *new_pool(rd_ctx *ctx, size_t first)
{
    rd_pool *pool = rd_alloc(ctx, sizeof *pool);

    if (pool)
        *pool = (rd_pool){ .ctx = ctx, .next = apart ? 0 : first };
    return pool;
}

/* Makes a pool for the memory of a plan; NULL after recording RD_ERR_MEMORY. */
rd_pool *rd_pool_new(rd_ctx *ctx)
{
    return new_pool(ctx, FIRST_CHUNK);
}

/* Makes a pool that records nothing if there is no memory, for any thread; NULL without memory. */
rd_pool *rd_pool_quiet(rd_ctx *ctx)
{
    rd_pool *pool = rd_alloc_quiet(ctx, sizeof *pool);

    if (pool)
        *pool = (rd_pool){ .ctx = ctx, .next = apart ? 0 : FIRST_CHUNK, .quiet = true };
    return pool;
}

/* Makes a pool for planning, with the chunk that the context keeps for it. */
rd_pool *rd_pool_planning(rd_ctx *ctx)
{
    rd_pool *pool = new_pool(ctx, RD_PLANNING_CHUNK);

    if (pool) {
        pool->planning = true;
        pool->chunks   = rd_take_spare(ctx);
    }
    return pool;
}

/* Adds a chunk of at least `need` bytes in front of the pool's list; NULL: no memory. The next one
 * will be larger, up to MOST_CHUNK. A quiet pool records no error. pool->next is the
 * size of the next one. */
static rd_pool_chunk *new_chunk(rd_pool *pool, size_t need)
{
    size_t         room = need > pool->next ? need : pool->next;
    rd_pool_chunk *chunk =
        (pool->quiet ? rd_alloc_pages : rd_alloc_raw)(pool->ctx, (int64_t)(sizeof *chunk + room));

    if (!chunk)
        return NULL;
    if (pool->next < MOST_CHUNK)
        pool->next += pool->next < DOUBLED ? pool->next : pool->next / 4 / 16 * 16;
    *chunk              = (rd_pool_chunk){ .next = pool->chunks, .room = room };
    return pool->chunks = chunk;
}

/* Returns zeroed memory of the pool; NULL without memory. */
void *rd_pool_get(rd_pool *pool, size_t bytes)
{
    void *p = rd_pool_raw(pool, bytes);

    return p ? memset(p, 0, bytes) : NULL;
}

/* Returns memory of the pool that is not zeroed, aligned to 16 bytes; NULL without memory. The
 * newest chunk is asked first; what is left in an older one is not used again. */
void *rd_pool_raw(rd_pool *pool, size_t bytes)
{
    size_t         need  = (bytes + 15) & ~(size_t)15;
    rd_pool_chunk *chunk = pool->chunks;

    if ((!chunk || chunk->room - chunk->used < need) && !(chunk = new_chunk(pool, need)))
        return NULL;
    chunk->used += need;
    return chunk->at + chunk->used - need;
}

/* Copies n items of `size` bytes into a new array of `room` items; the rest is zeroed.  The old
 * array stays until the pool is freed. */
void *rd_pool_grow(rd_pool *pool, const void *old, size_t n, size_t room, size_t size)
{
    char *p = rd_pool_raw(pool, room * size);

    if (!p)
        return NULL;
    if (n)
        memcpy(p, old, n * size);
    memset(p + n * size, 0, (room - n) * size);
    return p;
}

/* Bytes that a pool holds. */
int64_t rd_pool_bytes(const rd_pool *pool)
{
    int64_t bytes = sizeof *pool;

    for (const rd_pool_chunk *c = pool->chunks; c; c = c->next)
        bytes += (int64_t)(sizeof *c + c->room);
    return bytes;
}

/* Frees all chunks of a pool; the context keeps one chunk of planning for the next time. Pools
 * of planning hand one chunk of RD_PLANNING_CHUNK bytes back, if the context wants it. NULL does
 * nothing. */
void rd_pool_free(rd_pool *pool)
{
    if (!pool)
        return;
    for (rd_pool_chunk *c = pool->chunks, *next; c; c = next) {
        next = c->next;
        *c   = (rd_pool_chunk){ .room = c->room };
        if (!pool->planning || c->room != RD_PLANNING_CHUNK || !rd_keep_spare(pool->ctx, c))
            rd_free(pool->ctx, c);
    }
    rd_free(pool->ctx, pool);
}

/* pool.c - chunks taken from the context's memory, freed together. */
#include "eval/pool.h"
#include "expr/expr.h"
#include <string.h>

enum { CHUNK = 16 << 10 };

typedef struct chunk {
    struct chunk *next;
    size_t        used, room;
    _Alignas(16) char at[];
} chunk;

struct rd_pool {
    rd_ctx *ctx;
    chunk  *chunks;
};

rd_pool *rd_pool_new(rd_ctx *ctx)
{
    rd_pool *pool = rd_alloc(ctx, sizeof *pool);

    if (pool)
        pool->ctx = ctx;
    return pool;
}

void *rd_pool_get(rd_pool *pool, size_t bytes)
{
    size_t need = (bytes + 15) & ~(size_t)15;
    chunk *c    = pool->chunks;

    if (!c || c->room - c->used < need) {
        size_t room = need > CHUNK ? need : CHUNK;

        c = rd_alloc(pool->ctx, (int64_t)(sizeof *c + room));
        if (!c)
            return NULL;
        c->room      = room;
        c->next      = pool->chunks;
        pool->chunks = c;
    }
    c->used += need;
    return c->at + c->used - need;
}

void *rd_pool_grow(rd_pool *pool, const void *old, size_t n, size_t room, size_t size)
{
    void *p = rd_pool_get(pool, room * size);

    if (p && n)
        memcpy(p, old, n * size);
    return p;
}

void rd_pool_free(rd_pool *pool)
{
    if (!pool)
        return;
    for (chunk *c = pool->chunks, *next; c; c = next) {
        next = c->next;
        rd_free(pool->ctx, c);
    }
    rd_free(pool->ctx, pool);
}

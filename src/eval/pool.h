/* pool.h - an arena of memory that is freed at once: a plan's, or that of planning. */
#ifndef RD_EVAL_POOL_H
#define RD_EVAL_POOL_H
#include "core/bytes.h"
#include "rdim.h"
#include <stddef.h>

typedef struct rd_pool rd_pool;

/* A chunk of memory of a pool. */
typedef struct rd_pool_chunk {
    struct rd_pool_chunk *next;       /* older chunk */
    size_t                used, room; /* bytes */
    _Alignas(16) char at[];
} rd_pool_chunk;

/* Size of the first chunk of planning, enough for a graph of some twenty values.  The context
 * keeps one for the next time. */
enum { RD_PLANNING_CHUNK = 128 << 10 };

rd_pool *rd_pool_new(rd_ctx *ctx);
/* A pool for memory that is freed as soon as a plan is made. */
rd_pool *rd_pool_planning(rd_ctx *ctx);
/* A pool that records nothing if there is no memory, for any thread. */
rd_pool *rd_pool_quiet(rd_ctx *ctx);
/* Returns zeroed memory; NULL after recording RD_ERR_MEMORY. */
void *rd_pool_get(rd_pool *pool, size_t bytes);
/* The same, not zeroed. */
void *rd_pool_raw(rd_pool *pool, size_t bytes);
/* Makes a larger copy of an array of n items, for growing lists.  The old one stays until the
 * pool is freed. */
void   *rd_pool_grow(rd_pool *pool, const void *old, size_t n, size_t room, size_t size);
int64_t rd_pool_bytes(const rd_pool *pool);
void    rd_pool_free(rd_pool *pool);
/* For tests: new pools allocate each piece by itself.  So each may be the one that fails, and
 * the address sanitizer sees overruns. */
void rd_pool_pieces_apart(void);
#endif

/* pool.h - memory that goes all at once: a plan's, or that of planning. */
#ifndef RD_EVAL_POOL_H
#define RD_EVAL_POOL_H
#include "rdim.h"
#include <stddef.h>

typedef struct rd_pool rd_pool;

rd_pool *rd_pool_new(rd_ctx *ctx);
/* Zeroed; NULL after recording RD_ERR_MEMORY. */
void *rd_pool_get(rd_pool *pool, size_t bytes);
/* A larger copy of an array of n items, for vectors that grow; the old one stays until the pool goes. */
void *rd_pool_grow(rd_pool *pool, const void *old, size_t n, size_t room, size_t size);
void  rd_pool_free(rd_pool *pool);
#endif

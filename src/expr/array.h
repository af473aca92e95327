/* array.h - fresh memory for results, released by rd_array_free(). */
#ifndef RD_EXPR_ARRAY_H
#define RD_EXPR_ARRAY_H
#include "expr/expr.h"

/* Zeroed memory of the context, 64-byte aligned, never NULL for 0 bytes.  *owner goes into
 * rd_array.owner, from where rd_array_free() releases it.  NULL without memory or over the limit;
 * nothing is recorded, any thread may ask. */
void *rd_array_memory(rd_ctx *ctx, int64_t bytes, void **owner);
/* What an owner begins with.  `drop` gives back memory that is not behind it; NULL: there is none. */
typedef struct rd_array_block {
    rd_ctx *ctx;
    void (*drop)(struct rd_array_block *block);
} rd_array_block;
/* Does the descriptor, all zero but for the device, ask for fresh memory? */
bool rd_array_is_zeroed(const rd_array *array);
#endif

/* array.h - who owns the memory of an array: fresh memory for results, and what callers own.  All
 * of it is released by rd_array_free(), or with the leaf that adopts it. */
#ifndef RD_EXPR_ARRAY_H
#define RD_EXPR_ARRAY_H
#include "expr/expr.h"

/* Zeroed memory of the context, 64-byte aligned, never NULL for 0 bytes.  *owner goes into
 * rd_array.owner, from where rd_array_free() releases it.  NULL without memory or over the limit;
 * nothing is recorded, any thread may ask. */
void *rd_array_memory(rd_ctx *ctx, int64_t bytes, void **owner);
/* What an owner begins with: memory of the context.  `drop` gives back what is not behind it; NULL:
 * there is nothing. */
typedef struct rd_array_block {
    rd_ctx *ctx; /* NULL: it has left it, and all that the context asked of GPUs is done */
    void (*drop)(struct rd_array_block *block);
} rd_array_block;
/* The block goes when the nodes are released that are made now.  False: no memory, it is the
 * caller's. */
bool rd_adopt_block(rd_ctx *ctx, rd_array_block *block);
/* False, recorded for `call`: there is no array, or its owner is of another context. */
bool rd_array_is_of(rd_ctx *ctx, const rd_array *array, const char *call);
/* Does the descriptor, all zero but for the device, ask for fresh memory? */
bool rd_array_is_zeroed(const rd_array *array);
/* Does an output ask for fresh memory?  It is zeroed, but for the device, and for what says in which
 * order axes lie. */
bool rd_array_asks_memory(const rd_array *array);
/* The strides of fresh memory for a result y, as the output asks; false after recording what is wrong
 * with it. */
bool rd_array_fresh_strides(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *array,
                            int64_t *stride);
#endif

/* array.h - ownership of array memory: fresh memory for results, and memory of the caller.
 * rd_array_free() releases it, or the release of the leaf that has adopted it. */
#ifndef RD_EXPR_ARRAY_H
#define RD_EXPR_ARRAY_H
#include "expr/expr.h"

/* Allocates memory of the context, 64-byte aligned, never NULL for 0 bytes.  *owner is for
 * rd_array.owner, from where rd_array_free() releases it.  Returns NULL without memory or over
 * the limit and records nothing; any thread may call it. */
void *rd_array_memory(rd_ctx *ctx, int64_t bytes, void **owner);
/* The header of every owner; memory of the context.  `drop` releases what the owner refers to
 * outside its own block (NULL: nothing). */
typedef struct rd_array_block {
    rd_ctx *ctx; /* NULL: the owner has left its context, and no work on a GPU is pending */
    void (*drop)(struct rd_array_block *block);
} rd_array_block;
/* Ties the block to the nodes that are made next: it is freed when they are released.  False
 * without memory; the block then stays the caller's. */
bool rd_adopt_block(rd_ctx *ctx, rd_array_block *block);
/* True if there is an array and its owner, if any, is of this context; else records for `call`. */
bool rd_array_is_of(rd_ctx *ctx, const rd_array *array, const char *call);
/* True if all fields of the descriptor are zero, except the device. */
bool rd_array_is_zeroed(const rd_array *array);
/* True if an output asks for fresh memory: all fields are zero, except the device and the fields
 * that give the order of axes. */
bool rd_array_asks_memory(const rd_array *array);
/* Computes the strides of fresh memory for a result y as the output asks; false after recording
 * what is wrong with the request. */
bool rd_array_fresh_strides(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *array,
                            int64_t *stride);
#endif

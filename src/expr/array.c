/* array.c - fresh memory for results.
 *
 * rd_array_free() gets no context, and the caller's hooks promise no more than malloc's alignment:
 * a small header at the start of the block remembers the context, the data follows at the next
 * multiple of 64. */
#include "expr/array.h"
#include <stddef.h>
#include <string.h>

enum { ARRAY_ALIGN = 64 }; /* a cache line, and the widest vector */

void *rd_array_memory(rd_ctx *ctx, int64_t bytes, void **owner)
{
    const int64_t spare = (int64_t)sizeof(rd_array_block) + ARRAY_ALIGN;

    *owner = NULL;
    if (bytes < 0 || bytes > INT64_MAX - spare)
        return NULL;
    rd_array_block *block = rd_alloc_quiet(ctx, bytes + spare);
    if (!block)
        return NULL;
    block->ctx = ctx;
    *owner     = block;

    char *data = (char *)(block + 1);
    return data + (-(uintptr_t)data & (ARRAY_ALIGN - 1));
}

bool rd_array_is_zeroed(const rd_array *array)
{
    static const rd_array zeroed;

    /* it has no padding, and `device` and `reserved` are its last */
    return array->reserved == 0 && memcmp(array, &zeroed, offsetof(rd_array, device)) == 0;
}

void rd_array_free(rd_array *array)
{
    if (!array)
        return;
    rd_array_block *block = array->owner;
    if (block && block->drop)
        block->drop(block);
    if (block)
        rd_free(block->ctx, block);
    *array = (rd_array){ 0 };
}

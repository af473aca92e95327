/* array.c - owners of arrays.
 *
 * Fresh memory for results begins with a small header, which holds the context: rd_array_free()
 * gets no context.  The data begins at the next multiple of 64 bytes, as the caller's allocator
 * promises no more alignment than malloc.
 *
 * An *owner* is what rd_array.owner points to: a block with this header.  A leaf *adopts* an array:
 * the context then frees the array when it releases the leaf. */
#include "expr/array.h"
#include "expr/ctx.h"
#include <stddef.h>
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

enum { ARRAY_ALIGN = 64 }; /* a cache line, and the widest vector */

/* Allocates memory for an array: header and data in one block, with the data aligned to 64 bytes.
 * *owner gets the header, which rd_array_free() needs.  NULL without memory; nothing is
 * recorded. */
void *rd_array_memory(rd_ctx *ctx, int64_t bytes, void **owner)
{
    const int64_t spare = (int64_t)sizeof(rd_array_block) + ARRAY_ALIGN;

    *owner = NULL;
    if (bytes < 0 || bytes > INT64_MAX - spare)
        return NULL;
    rd_array_block *block = rd_alloc_pages(ctx, bytes + spare);
    if (!block)
        return NULL;
    *block = (rd_array_block){ .ctx = ctx };
    *owner = block;

    char *data = (char *)(block + 1);
    data += -(uintptr_t)data & (ARRAY_ALIGN - 1); /* up to the next multiple */
    if (RD_CHECK)                                 /* no reader may rely on zeros */
        memset(data, 0xA5, (size_t)bytes);
    return data;
}

/* True if all fields of the descriptor are 0, except the device. */
bool rd_array_is_zeroed(const rd_array *array)
{
    static const rd_array zeroed;

    /* the struct has no padding, and `device` and `flags` are its last fields */
    return array->flags == 0 && memcmp(array, &zeroed, offsetof(rd_array, device)) == 0;
}

/* True if an output asks for fresh memory: all fields are 0, except the device and the fields that
 * give the order of axes. */
bool rd_array_asks_memory(const rd_array *array)
{
    rd_array rest;

    if (array->data || array->type || array->shape.n)
        return false;
    rest         = *array;
    rest.order   = 0;
    rest.strides = (rd_strides){ 0 };
    return rd_array_is_zeroed(&rest);
}

/* Computes strides of a dense array from a number for each axis, its rank: the axis of the least
 * rank is contiguous, the next one goes around it, and so on. */
static void strides_by_rank(const rd_expr *y, const rd_strides *rank, int64_t *stride)
{
    bool    used[RD_MAX_RANK] = { false };
    int64_t step              = 1;

    for (int k = 0; k < y->rank; k++) {
        int least = -1;

        for (int a = 0; a < y->rank; a++)
            if (!used[a] && (least < 0 || rank->at[a] < rank->at[least]))
                least = a;
        used[least]   = true;
        stride[least] = y->extent[least] < 2 ? 0 : step;
        step *= y->extent[least] > 1 ? y->extent[least] : 1;
    }
}

/* Computes strides of fresh memory for the result y.  The output's `order` (0: C, 1: Fortran) says
 * which axes are contiguous, or its `strides` if given, of which only the order counts.  False
 * after recording what is wrong with them. */
bool rd_array_fresh_strides(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *array,
                            int64_t *stride)
{
    const rd_strides *rank = &array->strides;

    if (array->order != 0 && array->order != 1) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: order is %d, possible are 0 (C) and 1 (Fortran)", call,
                (int)array->order);
        return false;
    }
    if (rank->n != 0 && rank->n != y->rank) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: %d strides of fresh memory for a result of rank %d", call,
                (int)rank->n, y->rank);
        return false;
    }
    for (int a = 0; a < rank->n; a++)
        for (int b = 0; b < a; b++)
            if (rank->at[a] == rank->at[b]) {
                rd_fail(ctx, RD_ERR_ARGUMENT,
                        "%s: strides of fresh memory say the order of axes, and those of axes %d "
                        "and %d are both %lld",
                        call, b, a, (long long)rank->at[a]);
                return false;
            }
    if (rank->n && rd_points(y->rank, y->extent) > 0)
        strides_by_rank(y, rank, stride);
    else
        rd_dense_strides(y->rank, y->extent, array->order, stride);
    return true;
}

/* Releases the array's memory, if it has an owner, and zeroes the descriptor. */
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

/* True if the array is not NULL, and its owner (the block that frees its memory), if any, belongs
 * to this context.  False after recording for `call`. */
bool rd_array_is_of(rd_ctx *ctx, const rd_array *array, const char *call)
{
    const rd_array_block *block = array ? array->owner : NULL;

    if (!array)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the array is NULL", call);
    else if (block && block->ctx != ctx)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the array is of another context", call);
    else
        return true;
    return false;
}

/* ---- Owners of the caller's ------------------------------------------------------------------ */
/* The owner of memory that the caller has allocated. */
typedef struct callers_block {
    rd_array_block block;        /* first: its address is the owner's */
    void (*release)(void *user); /* the caller's function, called once */
    void *user;                  /* the function's argument */
} callers_block;

/* Frees memory that the caller gave to an array (rd_array_own()): calls the caller's function, once
 * no evaluation can read the memory any more. */
static void call_release(rd_array_block *block)
{
    const callers_block *mine = (const callers_block *)block;

    if (block->ctx) /* pending evaluations may still read the memory */
        (void)rd_wait(block->ctx);
    mine->release(mine->user);
}

/* Makes a block that calls `release` once and stores it as the array's owner.  False after
 * recording a failure. */
static bool give_owner(rd_ctx *ctx, rd_array *array, void (*release)(void *user), void *user)
{
    callers_block *block;

    if (!rd_array_is_of(ctx, array, "rd_array_own"))
        return false;
    if (array->owner) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_array_own: the array has an owner");
        return false;
    }
    block = rd_alloc(ctx, sizeof *block);
    if (!block)
        return false;
    *block = (callers_block){ { ctx, call_release }, release, user };

    array->owner = block;
    return true;
}

/* Hands memory of the caller to the array, which then has an owner that calls `release` once.
 * After a failure it calls `release` at once. */
rd_status rd_array_own(rd_ctx *ctx, rd_array *array, void (*release)(void *user), void *user)
{
    if (!release) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_array_own: no function to release the memory");
        return rd_error(ctx);
    }
    if (rd_error(ctx) == RD_OK && give_owner(ctx, array, release, user))
        return RD_OK;
    release(user);
    if (array && !array->owner)
        *array = (rd_array){ 0 };
    return rd_error(ctx);
}

/* ---- Nodes that own memory ------------------------------------------------------------------- */
/* Ties an owner's block to the nodes that are made next: it is freed when the context releases
 * them.  False without memory. */
bool rd_adopt_block(rd_ctx *ctx, rd_array_block *block)
{
    rd_adopted *const adopted = rd_arena(ctx, sizeof *adopted);

    if (!adopted)
        return false;
    *adopted     = (rd_adopted){ .older = ctx->adopted, .owner = block };
    ctx->adopted = adopted;
    return true;
}

/* Ties the array's owner, if any, to the nodes made now, which then own its memory, and takes it
 * out of the array.  False without memory. */
static bool adopt_owner(rd_ctx *ctx, rd_array *array)
{
    if (array->owner && !rd_adopt_block(ctx, array->owner))
        return false;
    array->owner = NULL;
    return true;
}

/* Makes a leaf that owns the array's memory.  A failure releases the array. */
rd_expr *rd_adopt(rd_ctx *ctx, rd_array *array)
{
    rd_expr *leaf = NULL;

    if (ctx && rd_array_is_of(ctx, array, "rd_adopt"))
        leaf = rd_leaf_of(ctx, array, "rd_adopt");
    if (leaf && adopt_owner(ctx, array))
        return leaf;
    rd_array_free(array);
    return NULL;
}

/* Frees the arrays that leaves have adopted (own) after `last`, newest first: called at a release,
 * and at the end with NULL. */
void rd_abandon(rd_ctx *ctx, const rd_adopted *last)
{
    while (ctx->adopted != last) {
        rd_array array = { .owner = ctx->adopted->owner };

        ctx->adopted = ctx->adopted->older;
        rd_array_free(&array);
    }
}

/* dirt.c - memory that holds something from the start. */
#include "dirt.h"
#include <stdlib.h>
#include <string.h>

enum { DIRT = 0x7e };

void *dirty_memory(int64_t bytes)
{
    void *p = malloc((size_t)bytes);

    return p ? memset(p, DIRT, (size_t)bytes) : NULL;
}

static void *allocate(void *user, int64_t bytes)
{
    (void)user;
    return dirty_memory(bytes);
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

rd_ctx *dirty_context(bool deterministic)
{
    return rd_ctx_new(
        &(rd_ctx_opts){ .deterministic = deterministic, .allocate = allocate, .release = release });
}

/* lists.h - checks of lists that a caller passes: a pointer and a count. */
#ifndef RD_EXPR_LISTS_H
#define RD_EXPR_LISTS_H
#include <stdbool.h>
#include <stdint.h>

struct rd_ctx;

void rd_list_refuse(struct rd_ctx *ctx, const char *call, const char *what, const void *at,
                    int64_t n);

/* True if the list has `least` or more elements and is not NULL; else records "call: a list of n
 * what ...".  A refused list of operands leaves no context to record it in: ctx is then NULL, and
 * the next context that this thread uses records it.  Otherwise the call's NULL could pass for a
 * keyword that was left out. */
static inline bool rd_list_ok(struct rd_ctx *ctx, const char *call, const char *what,
                              const void *at, int64_t n, int64_t least)
{
    if (n >= least && (at || n == 0))
        return true;
    rd_list_refuse(ctx, call, what, at, n);
    return false;
}
/* Records in ctx the failure that waits in this thread, if any; true if there was one. */
bool rd_take_failure(struct rd_ctx *ctx);
/* Discards the failure that waits in this thread. */
void rd_drop_failure(void);
#endif

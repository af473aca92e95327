/* lists.h - lists that a caller gives: a pointer and a count. */
#ifndef RD_EXPR_LISTS_H
#define RD_EXPR_LISTS_H
#include <stdbool.h>
#include <stdint.h>

struct rd_ctx;

void rd_list_refuse(struct rd_ctx *ctx, const char *call, const char *what, const void *at,
                    int64_t n);

/* Has the list n elements, `least` or more, and a place where they lie?  Else that is recorded as
 * "call: a list of n what ...".  A list of operands that is refused leaves no context to record it
 * in: then ctx is NULL, and the context that this thread uses next records it.  Else the call's NULL
 * could pass for a keyword that was left out. */
static inline bool rd_list_ok(struct rd_ctx *ctx, const char *call, const char *what,
                              const void *at, int64_t n, int64_t least)
{
    if (n >= least && (at || n == 0))
        return true;
    rd_list_refuse(ctx, call, what, at, n);
    return false;
}
/* Records in ctx what this thread has not recorded yet; true: there was something. */
bool rd_take_failure(struct rd_ctx *ctx);
/* Nothing is left to record. */
void rd_drop_failure(void);
#endif

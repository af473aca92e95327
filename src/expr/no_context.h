/* no_context.h - calls that got no operand, and so have no context to record that in. */
#ifndef RD_EXPR_NO_CONTEXT_H
#define RD_EXPR_NO_CONTEXT_H
#include <stdbool.h>

struct rd_ctx;

/* `call` got an empty list of operands: the context that this thread uses next records it.  Else its
 * NULL could pass for a keyword that was left out.  Returns NULL. */
void *rd_fail_without_operand(const char *call);
/* Records in ctx what this thread has not recorded yet; true: there was something. */
bool rd_take_failure(struct rd_ctx *ctx);
/* Nothing is left to record. */
void rd_drop_failure(void);
#endif

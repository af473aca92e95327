/* cancel.h - the flag that rd_cancel() sets, for readers that do not clear it. */
#ifndef RD_EXPR_CANCEL_H
#define RD_EXPR_CANCEL_H
#include "expr/expr.h"
#include <stdatomic.h>

/* The reader that ends because of it clears it afterwards by rd_cancel_taken(). */
const atomic_bool *rd_cancel_flag(const rd_ctx *ctx);
#endif

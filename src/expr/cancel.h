/* cancel.h - the flag that rd_cancel() sets, for those that look at it without taking it. */
#ifndef RD_EXPR_CANCEL_H
#define RD_EXPR_CANCEL_H
#include "expr/expr.h"
#include <stdatomic.h>

/* Whoever ends by it takes it afterwards: rd_cancel_taken(). */
const atomic_bool *rd_cancel_flag(const rd_ctx *ctx);
#endif

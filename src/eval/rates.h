/* rates.h - what this processor and a GPU do in a second, measured when an evaluation asks to
 * `measure`, or read from a file of what measuring found. */
#ifndef RD_EVAL_RATES_H
#define RD_EVAL_RATES_H
#include "eval/choice.h"

/* NULL: the context knows none. */
const rd_rates *rd_rates_of(rd_ctx *ctx);
/* Are they of the context's GPU?  This looks for it. */
bool rd_rates_are_of(rd_ctx *ctx, const rd_rates *rates);
/* Measured, once in a process for each GPU asked for in turn, unless the context knows its GPU's.
 * False: there is no GPU, or it cannot be measured; nothing is recorded. */
bool rd_rates_learn(rd_ctx *ctx);
#endif

/* rates.h - measured rates of this processor and a GPU, per second.  They are measured when an
 * evaluation asks to `measure`, or read from a file of measurements. */
#ifndef RD_EVAL_RATES_H
#define RD_EVAL_RATES_H
#include "eval/choice.h"

/* The context's rates; NULL: it has none. */
const rd_rates *rd_rates_of(rd_ctx *ctx);
/* True if the rates are those of the context's GPU. Opens the driver to find out. */
bool rd_rates_are_of(rd_ctx *ctx, const rd_rates *rates);
/* Measures, unless the context knows its GPU's rates; a process measures each GPU once.  False:
 * there is no GPU, or it cannot be measured; nothing is recorded. */
bool rd_rates_learn(rd_ctx *ctx);
#endif

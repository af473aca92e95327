/* request.h - checks of requested results. */
#ifndef RD_EVAL_REQUEST_H
#define RD_EVAL_REQUEST_H
#include "eval/plan.h"

/* Checks results and fills in requests and outputs; `call` is named in error sentences.  Zeroed
 * and NULL outputs get a dense layout of the expression's type. */
bool rd_check_results(rd_ctx *ctx, const char *call, rd_results results, rd_request *request,
                      rd_output *out);
/* True if layout and type of an output that is not zeroed suit y; fills in its strides. */
bool rd_check_output(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out,
                     int64_t *stride);
/* True if an output without an origin, or with the same one as y.  Checked in each run, because
 * plans do not depend on it. */
bool rd_output_begins(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out);
/* rd_eval() in the name of another call. */
rd_status rd_eval_for(rd_ctx *ctx, const char *call, rd_expr *y, rd_array *out);
#endif

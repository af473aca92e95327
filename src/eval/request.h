/* request.h - results asked for, checked. */
#ifndef RD_EVAL_REQUEST_H
#define RD_EVAL_REQUEST_H
#include "eval/plan.h"

/* Checks results and gives the requests and outputs; `call` names the caller in sentences.  Zeroed
 * outputs and NULL ones mean a dense layout of the expression's own type. */
bool rd_check_results(rd_ctx *ctx, const char *call, rd_results results, rd_request *request,
                      rd_output *out);
/* Are the layout and type of an output, which is not zeroed, those of y?  Gives its strides. */
bool rd_check_output(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out,
                     int64_t *stride);
/* Does an output that says where its axes begin say what y does?  Looked at each time, as plans do not
 * depend on it. */
bool rd_output_begins(rd_ctx *ctx, const char *call, const rd_expr *y, const rd_array *out);
/* rd_eval() in the name of another call. */
rd_status rd_eval_for(rd_ctx *ctx, const char *call, rd_expr *y, rd_array *out);
#endif

/* forms.h - what the stages of a plan run as: what explain says of it, what the strict mode
 * refuses. */
#ifndef RD_EVAL_FORMS_H
#define RD_EVAL_FORMS_H
#include "eval/ir.h"
#include "eval/backend.h"

/* Form and cost of each stage, warnings, the first run, the tier.  False: no memory. */
bool rd_forms_text(rd_text *text, rd_nest *nest, rd_pool *pool, rd_results results, int threads,
                   rd_backend_use *use);
/* False after recording which of these prepared programs has a slow form in the end. */
bool rd_check_fast(rd_ctx *ctx, const rd_backend_table *backend, int n, const rd_program *p,
                   rd_pool *pool);
#endif

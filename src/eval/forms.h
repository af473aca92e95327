/* forms.h - what the stages of a plan run as: what explain says of it, what the strict mode
 * refuses. */
#ifndef RD_EVAL_FORMS_H
#define RD_EVAL_FORMS_H
#include "eval/ir.h"
#include "eval/backend.h"
#include "kernels/loop/price.h"

typedef struct rd_stage_form {
    const rd_backend_table *backend;
    const rd_program       *p;
    rd_form                 form;
    rd_work                 cost;
    rd_price                price; /* 0 ns: there is no loop tree */
    int                     number, threads;
    int                     most;           /* threads that there are for much work */
    double                  seconds, first; /* of a run in the end, and of the first */
} rd_stage_form;

/* Programs of all stages, and what each runs as; NULL on a GPU. */
typedef struct rd_stages {
    int            n;
    rd_program    *program;
    rd_stage_form *form;
} rd_stages;

/* Form and cost of each stage, warnings, the first run, the tier.  False: no memory. */
bool rd_forms_text(rd_text *text, rd_nest *nest, rd_pool *pool, rd_results results, int threads,
                   rd_backend_use *use, rd_stages *stages);
/* "compiled loops"; "20 us". */
void rd_form_text(rd_text *text, const rd_stage_form *s);
void rd_time_text(rd_text *text, double seconds);
/* False after recording which of these prepared programs has a slow form in the end. */
bool rd_check_fast(rd_ctx *ctx, const rd_backend_table *backend, int n, const rd_program *p,
                   rd_pool *pool);
#endif

/* forms.h - the form of each stage of a plan (how it runs): what explain says, and what the
 * strict mode refuses. */
#ifndef RD_EVAL_FORMS_H
#define RD_EVAL_FORMS_H
#include "eval/ir.h"
#include "eval/backend_choice.h"
#include "kernels/loop/price.h"

/* A stage: its form, counts and predicted times. */
typedef struct rd_stage_form {
    const rd_backend_table *backend; /* runs the stage */
    const rd_program       *p;
    rd_form                 form;            /* how it runs */
    rd_work                 cost;            /* bytes and operations of a run */
    rd_price                price;           /* predicted time; 0 ns: there is no loop tree */
    int                     number, threads; /* of the stage among all; that share it */
    int                     most;            /* threads that a stage of much work would have */
    double                  seconds, first;  /* time of a later run, and of the first one */
} rd_stage_form;

/* The programs of all stages and their forms; form is NULL on a GPU. */
typedef struct rd_stages {
    int            n; /* stages */
    rd_program    *program;
    rd_stage_form *form;
} rd_stages;

/* Writes form and cost of each stage, warnings, the first run, and the tier.  False: no memory. */
bool rd_forms_text(rd_text *text, rd_nest *nest, rd_pool *pool, rd_results results, int threads,
                   rd_backend_use *use, rd_stages *stages);
/* Write a form, as "compiled loops", and a time, as "20 us". */
void rd_form_text(rd_text *text, const rd_stage_form *s);
void rd_time_text(rd_text *text, double seconds);
/* False after recording which of these prepared programs would keep a slow form. */
bool rd_check_fast(rd_ctx *ctx, const rd_backend_table *backend, int n, const rd_program *p,
                   rd_pool *pool);
#endif

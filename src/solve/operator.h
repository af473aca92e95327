/* operator.h - linear operators: an expression of one input, planned once and run on vectors. */
#ifndef RD_SOLVE_OPERATOR_H
#define RD_SOLVE_OPERATOR_H
#include "expr/expr.h"

/* An operator, or a preconditioner.  Vectors are dense f64 in C order of the input's shape. */
typedef struct rd_operator {
    const char *call; /* for messages: "rd_solve" */
    rd_ctx     *ctx;
    rd_expr    *input;
    rd_plan    *plan;
    int64_t     n;            /* elements of a vector */
    char       *staged;       /* memory of the input; NULL: vectors are read where they are */
    int64_t     staged_first; /* bytes from there to element [0, ..., 0] */
    int64_t     runs;
} rd_operator;

/* Plans y, an expression of the input v; y_name and v_name are for messages.  False after recording
 * what is wrong; rd_operator_end() is due in any case. */
bool rd_operator_begin(rd_operator *op, const char *call, rd_expr *y, const char *y_name,
                       rd_expr *v, const char *v_name, const rd_eval_opts *eval);
/* Sets out = A in.  False after a failure or a cancel, which is recorded. */
bool rd_operator_run(rd_operator *op, const double *in, double *out);
void rd_operator_end(rd_operator *op);
/* The address that a plan takes for the input if this is its contents. */
const void *rd_operator_stage(rd_operator *op, const double *in);
/* True if v is an input whose contents a solve can give; else records why not. */
bool rd_is_vector_input(rd_ctx *ctx, const char *call, const rd_expr *v, const char *name);
/* The only input below y.  NULL after recording that there is none, or a second one. */
rd_expr *rd_only_input(rd_ctx *ctx, const char *call, rd_expr *y, const char *name);
/* True if y reads no input but v, with v NULL: none; else records which one it reads. */
bool rd_reads_only(rd_ctx *ctx, const char *call, rd_expr *y, const char *name, const rd_expr *v);
/* Records for `call` that a keyword has this value, unless it is ok, which is returned. */
bool rd_keyword_ok(rd_ctx *ctx, const char *call, const char *keyword, double value, bool ok);
/* Options of evaluations inside a solve: the caller's, waited for and without progress. */
rd_eval_opts rd_inner_options(const rd_eval_opts *eval);
/* Evaluates an expression that broadcasts to v's shape into a vector. */
bool rd_eval_vector(rd_ctx *ctx, const char *call, rd_expr *x, const rd_expr *v, double *out);
/* Writes vectors of v's shape to an output in v's type.  `last`: the extent of one more axis at the
 * end; 0: there is none. */
bool rd_deliver(rd_ctx *ctx, const char *call, const double *x, const rd_expr *v, int64_t last,
                rd_array *out);
#endif

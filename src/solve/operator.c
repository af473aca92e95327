/* operator.c - linear operators: an expression of one input, planned once and run on vectors. */
#include "solve/operator.h"
#include "eval/request.h"
#include "expr/nodes.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Inputs ---------------------------------------------------------------------------------- */
/* True if the expression is an rd_input(): a leaf with a name and without data. */
static bool is_input(const rd_expr *x)
{
    return x->kind == RD_EXPR_LEAF && !x->as.leaf->data && x->as.leaf->name;
}

/* True if v is an input whose contents a solve can give: an rd_input() of f32 or f64 in this
 * process's memory; else records for `call` why not. name: what messages call it. */
bool rd_is_vector_input(rd_ctx *ctx, const char *call, const rd_expr *v, const char *name)
{
    if (!v)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is NULL", call, name);
    else if (v->ctx != ctx)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is of another context", call, name);
    else if (!rd_is_here(ctx, call, "operand", 0, v))
        return false;
    else if (v->type != RD_F32 && v->type != RD_F64)
        rd_fail(ctx, RD_ERR_TYPE, "%s: %s is %s; vectors are f32 or f64", call, name,
                rd_dtype_name(v->type));
    else if (!is_input(v))
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is %s, and must be an rd_input()", call, name,
                rd_expr_kind_name(v->kind));
    else if (v->device)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: input \"%s\" is on GPU %d; make it without .device, as vectors are in this "
                "process's memory; the rest of the operator may be on a GPU",
                call, v->as.leaf->name, (int)v->device - 1);
    else
        return true;
    return false;
}

/* Finds inputs that y reads: *first is the first one, *other the first that is not v; NULL:
 * there is none. False: no memory. */
static bool find_inputs(rd_ctx *ctx, rd_expr *y, const rd_expr *v, rd_expr **first, rd_expr **other)
{
    rd_node_list list = { 0 };
    const bool   ok   = rd_list_nodes(ctx, (rd_results){ &(rd_result){ y, NULL }, 1 }, &list);

    *first = *other = NULL;
    for (int64_t i = 0; ok && i < list.n; i++) {
        rd_expr *const x = list.at[i];

        if (!is_input(x))
            continue;
        if (!*first)
            *first = x;
        if (x != v && !*other)
            *other = x;
    }
    rd_free_nodes(ctx, &list);
    return ok;
}

/* True if y reads no input but v (v NULL: none at all); else records which one it reads. name:
 * what messages call y. */
bool rd_reads_only(rd_ctx *ctx, const char *call, rd_expr *y, const char *name, const rd_expr *v)
{
    rd_expr *first, *other;

    if (!find_inputs(ctx, y, v, &first, &other))
        return false;
    if (other)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s reads the input \"%s\", whose contents are not given",
                call, name, other->as.leaf->name);
    return !other;
}

/* Returns the only input that y reads; NULL after recording that there is none, or a second one. */
rd_expr *rd_only_input(rd_ctx *ctx, const char *call, rd_expr *y, const char *name)
{
    rd_expr *first, *other;

    if (y->ctx != ctx)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is of another context", call, name);
    if (!rd_is_here(ctx, call, "operand", 0, y) || !find_inputs(ctx, y, /*v=*/NULL, &first, &other))
        return NULL;
    if (!first)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s reads no rd_input()", call, name);
    return rd_reads_only(ctx, call, y, name, first) ? first : NULL;
}

/* ---- Memory of an input ---------------------------------------------------------------------- */
/* True if the input can read a dense vector of f64 where it lies: it has that type, and the
 * strides of C order. */
static bool reads_dense(const rd_expr *v)
{
    int64_t dense[RD_MAX_RANK];

    rd_dense_strides(v->rank, v->extent, 0, dense);
    return v->type == RD_F64 && !memcmp(dense, v->as.leaf->stride, (size_t)v->rank * sizeof *dense);
}

/* Allocates memory with the input's type and strides, to which vectors are copied, unless it can
 * read dense f64. Strides may be negative, so element [0, .., 0] lies staged_first bytes behind
 * the begin. False: no memory, which is recorded. lo and hi are the least and the greatest
 * offset of an element. rd_operator_end() frees it. */
static bool allocate_staged(rd_operator *op)
{
    const rd_expr *const v    = op->input;
    const int64_t        size = rd_dtype_size(v->type);
    int64_t              lo = 0, hi = 0;

    if (reads_dense(v) || op->n == 0)
        return true;
    for (int axis = 0; axis < v->rank; axis++) {
        const int64_t reach = v->as.leaf->stride[axis] * (v->extent[axis] - 1);

        if (reach < 0)
            lo += reach;
        else
            hi += reach;
    }
    op->staged       = rd_alloc(op->ctx, (hi - lo + 1) * size);
    op->staged_first = -lo * size;
    return op->staged != NULL;
}

/* Stores a number as f32 or f64. */
static void store(char *to, rd_dtype type, double value)
{
    if (type == RD_F32)
        *(float *)(void *)to = (float)value;
    else
        *(double *)(void *)to = value;
}

/* Copies a dense vector of f64 to the input's memory, converted to its type, row by row of its
 * last axis; `at` counts the indices of the others, as an odometer does. A scalar (rank 0) has
 * one row of one element. */
static void fill_staged(const rd_operator *op, const double *in)
{
    const rd_expr *const v               = op->input;
    const int64_t        size            = rd_dtype_size(v->type);
    const int            inner           = v->rank - 1;
    const int64_t        row             = inner < 0 ? 1 : v->extent[inner];
    const int64_t        step            = inner < 0 ? 0 : v->as.leaf->stride[inner] * size;
    int64_t              at[RD_MAX_RANK] = { 0 };

    for (int64_t done = 0; done < op->n; done += row) {
        char *to = op->staged + op->staged_first;

        for (int axis = 0; axis < inner; axis++)
            to += at[axis] * v->as.leaf->stride[axis] * size;
        for (int64_t k = 0; k < row; k++)
            store(to + k * step, v->type, in[done + k]);
        for (int axis = inner - 1; axis >= 0 && ++at[axis] == v->extent[axis]; axis--)
            at[axis] = 0;
    }
}

/* Returns the address that a plan takes for the input if `in` is its contents: the vector
 * itself, or its copy in the input's type and strides. */
const void *rd_operator_stage(rd_operator *op, const double *in)
{
    if (!op->staged)
        return in;
    fill_staged(op, in);
    return op->staged + op->staged_first;
}

/* ---- Options ------------------------------------------------------------------------------------- */
/* Returns ok; if it is false, records for `call` that the option has this value. */
bool rd_keyword_ok(rd_ctx *ctx, const char *call, const char *keyword, double value, bool ok)
{
    if (!ok)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: .%s is %g", call, keyword, value);
    return ok;
}

/* Returns options for evaluations inside a solve: the caller's, of which older callers have
 * fewer bytes (size), but waited for, and without its progress function. */
rd_eval_opts rd_inner_options(const rd_eval_opts *eval)
{
    rd_eval_opts inner = { 0 };

    if (eval)
        memcpy(&inner, eval, eval->size && eval->size < sizeof inner ? eval->size : sizeof inner);
    inner.size     = sizeof inner;
    inner.progress = NULL;
    inner.async    = false;
    return inner;
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* True if y can be the operator A v: a real float array with v's shape that reads no other input
 * than v; else records what is wrong. y_name and v_name are what messages call y and v. */
static bool operator_ok(rd_operator *op, rd_expr *y, const char *y_name, const char *v_name)
{
    const rd_expr *const v = op->input;
    char                 of_y[RD_SHAPE_TEXT], of_v[RD_SHAPE_TEXT];

    if (!y)
        rd_fail(op->ctx, RD_ERR_ARGUMENT, "%s: %s is NULL", op->call, y_name);
    else if (y->ctx != op->ctx)
        rd_fail(op->ctx, RD_ERR_ARGUMENT, "%s: %s is of another context", op->call, y_name);
    else if (!rd_is_here(op->ctx, op->call, "operand", 0, y))
        return false;
    else if (rd_dtype_kind(y->type) != RD_KIND_FLOAT)
        rd_fail(op->ctx, RD_ERR_TYPE, "%s: %s is %s, and must be a real float", op->call, y_name,
                rd_dtype_name(y->type));
    else if (y->rank != v->rank ||
             memcmp(y->extent, v->extent, (size_t)v->rank * sizeof *v->extent) != 0)
        rd_fail(op->ctx, RD_ERR_SHAPE, "%s: %s has shape %s, and %s %s; they must be the same",
                op->call, y_name, rd_shape_text(y->rank, y->extent, of_y), v_name,
                rd_shape_text(v->rank, v->extent, of_v));
    else
        return rd_reads_only(op->ctx, op->call, y, y_name, v);
    return false;
}

/* Plans y, an expression of the input v, so that it can run on many vectors; y_name and v_name
 * are for messages. An operator on an empty vector has no plan. False after recording what is
 * wrong; rd_operator_end() is due in any case. Results of the plan have no origins, so that
 * vectors are plain. */
bool rd_operator_begin(rd_operator *op, const char *call, rd_expr *y, const char *y_name,
                       rd_expr *v, const char *v_name, const rd_eval_opts *eval)
{
    rd_eval_opts inner = rd_inner_options(eval);
    rd_array     out   = { .type = RD_F64 };

    op->call  = call;
    op->ctx   = v->ctx;
    op->input = v;
    op->n     = rd_points(v->rank, v->extent);
    for (int axis = 0; axis < v->rank; axis++)
        if (v->extent[axis] == 0)
            op->n = 0;
    if (!operator_ok(op, y, y_name, v_name) || !allocate_staged(op))
        return false;
    out.shape = rd_shape_of(y);
    if (op->n)
        op->plan = rd_plan_new(
            op->ctx, (rd_exprs){ &v, 1 },
            (rd_results){ &(rd_result){ rd_with_origins(y, /*origin=*/NULL), &out }, 1 }, &inner);
    return op->plan || !op->n;
}

/* Sets out = A in, both dense f64 vectors, and counts the run. False after a failure or a
 * cancel, which is recorded. */
bool rd_operator_run(rd_operator *op, const double *in, double *out)
{
    if (!op->n)
        return true;
    op->runs++;
    return rd_plan_run(op->plan, (const void *const[]){ rd_operator_stage(op, in) },
                       (void *const[]){ out }) == RD_OK;
}

/* Frees the plan and the input's memory; also of an operator that was never begun. */
void rd_operator_end(rd_operator *op)
{
    rd_plan_free(op->plan);
    if (op->ctx)
        rd_free(op->ctx, op->staged);
    op->plan   = NULL;
    op->staged = NULL;
}

/* ---- Vectors in and out ---------------------------------------------------------------------- */
/* Evaluates an expression that broadcasts to v's shape into `out`, a dense f64 vector. It must
 * be real and read no input. False after recording the failure. */
bool rd_eval_vector(rd_ctx *ctx, const char *call, rd_expr *x, const rd_expr *v, double *out)
{
    rd_array to = { .data = out, .type = RD_F64, .shape = rd_shape_of(v) };

    if (!rd_operands(call, 1, &x))
        return false;
    if (x->ctx != ctx)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "%s: an operand is of another context", call) != NULL;
    if (rd_dtype_is_complex(x->type))
        return rd_fail(ctx, RD_ERR_TYPE, "%s: an operand is complex; vectors are real", call) !=
               NULL;
    x = rd_cast_to(rd_with_origins(x, /*origin=*/NULL), RD_F64);
    x = x ? rd_broadcast_to(x, v->rank, v->extent, call) : NULL;
    return x && rd_reads_only(ctx, call, x, "an operand", /*v=*/NULL) &&
           rd_eval_for(ctx, call, x, &to) == RD_OK;
}

/* Writes a dense f64 vector x of v's shape to an output, in v's type and with v's origins.
 * `last` > 0: x holds so many vectors, along one more axis at the end. False after recording the
 * failure. */
bool rd_deliver(rd_ctx *ctx, const char *call, const double *x, const rd_expr *v, int64_t last,
                rd_array *out)
{
    rd_array from = { .in = x, .type = RD_F64, .shape = rd_shape_of(v) };
    rd_expr *y;

    if (last)
        from.shape.at[from.shape.n++] = last;
    y = rd_cast_to(rd_leaf_of(ctx, &from, call), v->type);
    if (y && v->origin && !last)
        y = rd_with_origins(y, v->origin);
    return y && rd_eval_for(ctx, call, y, out) == RD_OK;
}

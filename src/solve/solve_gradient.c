/* solve_gradient.c - rd_solve_grad(): gradients through a solve, by the implicit function theorem.
 *
 * A x = b.  If b and A change, A dx = db - dA x.  So with A^T w = g the change of L = g . x is
 * w . db - w . (dA x): the gradient by b is w, and that by an operand of A is the gradient of
 * -w . (A x) with x and w held constant. */
#include "eval/request.h"
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "solve/linear_solve.h"

static const char call[] = "rd_solve_grad";

/* Returns another input of v's shape and type, which the transposed operator reads in v's place. */
static rd_expr *another_input(rd_expr *v, const char *name)
{
    rd_array layout = { .type = v->type, .shape = rd_shape_of(v) };

    return rd_input(v->ctx, name, &layout);
}

/* Returns A^T u as an expression of u, where y = A v: as y is linear in v, it is the gradient of
 * sum(u y) by v, which then does not read v. NULL after a failure. */
static rd_expr *transposed(rd_expr *y, rd_expr *v, rd_expr *u)
{
    return u ? rd_grad_of(
                   y, &(rd_grad_opts){ .size = sizeof(rd_grad_opts), .x = { &v, 1 }, .seed = u })
                   .at[0]
             : NULL;
}

/* Solves A^T w = g; w is left in s->x. Methods for symmetric operators take A as it is; others
 * get the transposed operator and the transposed preconditioner. False after a failure. The
 * caller ends the solve by rd_linear_solve_end(). rd_linear_solve_run() refuses an unknown
 * method. */
static bool solve_transposed(rd_linear_solve *s, rd_expr *Av, rd_expr *v, rd_expr *g,
                             const rd_solve_opts *opts)
{
    rd_solve_opts          o      = *opts;
    const rd_method *const method = rd_method_of(o.method);
    const bool             turned = method && !method->symmetric;
    rd_expr               *u = v, *y = Av;

    if (turned) {
        u = another_input(v, "rd_solve_grad: u");
        y = transposed(Av, v, u);
    }
    if (y && turned && o.preconditioner) {
        rd_expr *const r = rd_only_input(v->ctx, call, o.preconditioner, "the preconditioner");

        o.preconditioner = r ? transposed(o.preconditioner, r, u) : NULL;
        if (!o.preconditioner)
            return false;
    }
    return y && rd_linear_solve_run(s, call, v->ctx, y, u, g, &o);
}

/* Returns -w, the negated solution of the transposed system, as an expression of v's shape and
 * type. */
static rd_expr *negative_of(const rd_linear_solve *s, const rd_expr *v)
{
    rd_array       array = { .in = s->x, .type = RD_F64, .shape = rd_shape_of(v) };
    rd_expr *const w     = rd_leaf_of(v->ctx, &array, call);

    return rd_cast_to(map_1(RD_OP_neg, call, w), v->type);
}

/* Evaluates the gradients of -w . A v by the operands, at v = x: all in one plan, into fresh
 * dense arrays made[k], so that the caller's outputs may have any layout later. False after a
 * failure; the caller frees made[k].data. The plan and the lists are freed here. */
static bool run_operands(rd_operator *A, rd_exprs gradients, const double *x, rd_array *made,
                         const rd_eval_opts *eval)
{
    rd_ctx *const    ctx    = A->ctx;
    rd_eval_opts     inner  = rd_inner_options(eval);
    rd_result *const result = rd_alloc(ctx, gradients.n * (int64_t)sizeof *result);
    void **const     out    = rd_alloc(ctx, gradients.n * (int64_t)sizeof *out);
    bool             ok     = result && out;
    rd_plan         *plan   = NULL;

    for (int32_t k = 0; ok && k < gradients.n; k++) {
        const rd_expr *const y      = gradients.at[k];
        const int64_t        points = rd_points(y->rank, y->extent);

        made[k]   = (rd_array){ .type = y->type, .shape = rd_shape_of(y) };
        ok        = (made[k].data = rd_alloc(ctx, points * rd_dtype_size(y->type) + 1)) != NULL;
        out[k]    = made[k].data;
        result[k] = (rd_result){ rd_with_origins(gradients.at[k], /*origin=*/NULL), &made[k] };
    }
    if (ok)
        plan = rd_plan_new(ctx, (rd_exprs){ &A->input, 1 }, (rd_results){ result, gradients.n },
                           &inner);
    ok = plan && rd_plan_run(plan, (const void *const[]){ rd_operator_stage(A, x) }, out) == RD_OK;
    rd_plan_free(plan);
    rd_free(ctx, result);
    rd_free(ctx, out);
    return ok;
}

/* Writes the gradients made[k] to the caller's outputs of_p[k], with the origins of the operands
 * p. False after a failure. */
static bool write_operands(rd_ctx *ctx, rd_exprs p, rd_array *made, rd_array *of_p)
{
    for (int32_t k = 0; k < p.n; k++) {
        rd_expr *const y = rd_with_origins(rd_leaf_of(ctx, &made[k], call), p.at[k]->origin);

        if (!y || rd_eval_for(ctx, call, y, &of_p[k]) != RD_OK)
            return false;
    }
    return true;
}

/* Computes the gradients dL/dp of all operands p of A: those of -w . (A x), with x and w held
 * constant, by rd_grad() with the seed -w. x is evaluated to a vector first. False after a
 * failure. n is the number of rows of A. All that it allocates is freed here. */
static bool solve_operands(const rd_linear_solve *s, rd_expr *Av, rd_expr *v, rd_expr *x,
                           rd_exprs p, rd_array *of_p, const rd_solve_opts *opts)
{
    rd_ctx *const ctx  = s->ctx;
    rd_operator   A    = { 0 };
    const int64_t n    = s->A.n;
    double *const at   = rd_alloc(ctx, (n + 1) * (int64_t)sizeof *at);
    rd_array     *made = rd_alloc(ctx, p.n * (int64_t)sizeof *made);
    rd_exprs      g    = { 0 };
    bool          ok   = at && made && rd_eval_vector(ctx, call, x, v, at) &&
              rd_operator_begin(&A, call, Av, "A v", v, "v", opts->eval);

    if (ok)
        g = rd_grad_of(
            Av, &(rd_grad_opts){ .size = sizeof(rd_grad_opts), .x = p, .seed = negative_of(s, v) });
    ok = ok && rd_error(ctx) == RD_OK && g.n == p.n;
    ok = ok && run_operands(&A, g, at, made, opts->eval) && write_operands(ctx, p, made, of_p);
    for (int32_t k = 0; made && k < p.n; k++)
        rd_free(ctx, made[k].data);
    rd_free(ctx, made);
    rd_free(ctx, at);
    rd_operator_end(&A);
    return ok;
}

/* True if the operands are proper, and there are outputs for their gradients; else records what
 * is wrong. */
static bool lists_ok(rd_ctx *ctx, rd_exprs p, const rd_solve_opts *opts)
{
    if (!rd_list_ok(ctx, call, "operands", p.at, p.n, 0) || !rd_operands(call, p.n, p.at))
        return false;
    if (p.n && (!opts || !opts->x))
        return rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %d operands, and no outputs (NULL)", call,
                       (int)p.n) != NULL;
    return true;
}

/* The public call rd_solve_grad(): gradients of a number L through x = A^-1 b, given g = dL/dx.
 * of_b gets dL/db = w with A^T w = g; NULL: it is not wanted. opts->x gets dL/dp of each operand
 * p of A. Returns the context's status. solve_transposed() solves for w in s.x, solve_operands()
 * makes the gradients; without p there are none. */
rd_status rd_solve_grad_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, rd_expr *x, rd_expr *g,
                           rd_array *of_b, rd_exprs p, const rd_solve_opts *opts)
{
    static const rd_solve_opts none = { .size = sizeof(rd_solve_opts) };
    rd_linear_solve            s    = { .call = call, .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (!Av || !x || !g)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is NULL", call, !Av ? "A v" : !x ? "x" : "g");
    else if (lists_ok(ctx, p, opts) && rd_is_vector_input(ctx, call, v, "v") &&
             solve_transposed(&s, Av, v, g, opts ? opts : &none) &&
             (!p.n || solve_operands(&s, Av, v, x, p, opts->x, opts)) && of_b)
        rd_deliver(ctx, call, s.x, v, /*last=*/0, of_b);
    rd_linear_solve_judge(&s);
    rd_linear_solve_end(&s);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

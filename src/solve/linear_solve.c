/* linear_solve.c - rd_solve(): right sides, cycles of a method, results. */
#include "solve/linear_solve.h"
#include "expr/array.h"
#include "expr/origin.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

/* A cycle aims at 0.9 of the tolerance, because its own estimate of the residual is a little
 * off. */
static const double AIM = 0.9;
/* A solve ends after so many cycles that reached their targets by their estimates, or diverged, and
 * yet did not halve the residual: rounding allows no more, or the method does not. */
enum { MOST_IN_VAIN = 3 };

/* ---- The table of methods -------------------------------------------------------------------- */
/* Returns the method of this name, NULL if there is none. A row here, its
 * file and its line in linear_solve.h are all that the library knows of a method. */
const rd_method *rd_method_of(rd_solver name)
{
    static const rd_method *const methods[] = {
        [RD_CG]       = &rd_method_cg,
        [RD_MINRES]   = &rd_method_minres,
        [RD_GMRES]    = &rd_method_gmres,
        [RD_BICGSTAB] = &rd_method_bicgstab,
    };

    return (size_t)name < sizeof methods / sizeof *methods ? methods[name] : NULL;
}

/* ---- What methods call ----------------------------------------------------------------------- */
/* Records that a number of the method is what no proper operator gives: NaN, infinite, or not
 * above 0, with the iteration and a remedy (may be ""). Returns false. */
bool rd_solve_broken(const rd_linear_solve *s, const char *what, double value, const char *remedy)
{
    if (isnan(value) || isinf(value))
        rd_fail(s->ctx, RD_ERR_CONVERGENCE,
                "%s: %s is %g in iteration %lld: the operator, the preconditioner or b has values "
                "that are not finite",
                s->call, what, value, (long long)s->iterations + 1);
    else
        rd_fail(s->ctx, RD_ERR_CONVERGENCE, "%s: %s is %g in iteration %lld%s%s", s->call, what,
                value, (long long)s->iterations + 1, *remedy ? "; " : "", remedy);
    return false;
}

/* Sets z = P r, about A^-1 r, by the preconditioner; without one it copies r. False after a
 * failure. */
bool rd_precondition(rd_linear_solve *s, const double *r, double *z)
{
    if (s->has_P)
        return rd_operator_run(&s->P, r, z);
    memcpy(z, r, (size_t)(s->space.rows * s->space.n_rhs) * sizeof *z);
    return true;
}

/* Returns the residual relative to |b|, the norm of its right-hand side; for b = 0 it is 0 or
 * infinite. */
static double relative(double residual, double b)
{
    return residual > 0 ? residual / b : 0;
}

/* Counts an iteration, whose estimates of the residuals the method has left in s->side.
 * Right-hand sides that have reached their targets become inactive; history and progress
 * function get the greatest relative residual. Returns whether the cycle goes on (RD_NEXT_GO),
 * ends, or failed. A side's `target` is the residual that it has to reach, and relative() is its
 * residual beside the norm of its b. */
rd_next rd_solve_step(rd_linear_solve *s)
{
    double greatest = 0;
    bool   active   = false;

    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        rd_right_side *const side = &s->side[k];

        if (!isfinite(side->estimate)) {
            rd_solve_broken(s, "a residual", side->estimate, "");
            return RD_NEXT_FAIL;
        }
        side->active = side->active && side->estimate > side->target;
        active |= side->active;
        greatest = fmax(greatest, relative(side->estimate, side->b));
    }
    s->iterations++;
    if (s->opts.history)
        s->opts.history[s->iterations - 1] = greatest;
    if (s->opts.progress && s->opts.progress(s->opts.user, s->iterations, greatest)) {
        rd_fail(s->ctx, RD_ERR_CANCELLED, "%s: the progress function ended it in iteration %lld",
                s->call, (long long)s->iterations);
        return RD_NEXT_FAIL;
    }
    return active && s->iterations < s->opts.most ? RD_NEXT_GO : RD_NEXT_END;
}

/* ---- Cycles ---------------------------------------------------------------------------------- */
/* Computes the residual r = b - A x from x itself, not by a recurrence, and its norm for each
 * right-hand side. A side is active if that is above the tolerance; the solve has converged if
 * none is. `first`: x is 0, so r is b. False after a failure. Sides are the vectors b; side->b
 * is the norm of one. */
static bool find_residual(rd_linear_solve *s, bool first, double *norm)
{
    const int64_t n = s->space.rows * s->space.n_rhs;

    if (first)
        memcpy(s->r, s->b, (size_t)n * sizeof *s->r);
    else if (rd_operator_run(&s->A, s->x, s->r))
        rd_subtract_from(&s->space, s->r, s->b);
    else
        return false;
    rd_norms(&s->space, s->r, norm);
    s->residual  = 0;
    s->converged = true;
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        rd_right_side *const side = &s->side[k];

        if (!isfinite(norm[k]))
            return rd_solve_broken(s, "|b - A x|", norm[k], "");
        side->active = norm[k] > s->opts.tolerance * side->b;
        s->converged = s->converged && !side->active;
        s->residual  = fmax(s->residual, relative(norm[k], side->b));
    }
    return true;
}

/* Sets where a cycle begins, and the estimate at which it may end, for each right-hand side.
 * After cycles in vain (their estimates reached the targets, but not the residual) targets are
 * lower, by a factor of 10 each. */
static void begin_cycle(rd_linear_solve *s, const double *norm, int in_vain)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        rd_right_side *const side = &s->side[k];

        side->begun = side->estimate = norm[k];
        side->target                 = AIM * s->opts.tolerance * side->b * pow(0.1, in_vain);
    }
}

/* True if the method reached the targets of all right-hand sides by its own estimates, or gave them
 * up as diverging. If the residual is still too large, only rounding can be in the way of others. */
static bool all_ended(const rd_linear_solve *s)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++)
        if (s->side[k].active)
            return false;
    return true;
}

/* Runs cycles of the method until the residual, computed from x, is within the tolerance,
 * iterations end, or three cycles were in vain. In those the estimates reached their targets or
 * diverged, and the residual was not halved. from_zero: x is 0. False after a failure.
 * find_residual() computes it in s->r, its norms, s->residual and s->converged; all_ended(): no
 * side takes another step from where it is. */
static bool run_cycles(rd_linear_solve *s, const rd_method *method, bool from_zero, double *norm)
{
    int    in_vain = 0;
    double before;

    if (!find_residual(s, from_zero, norm))
        return false;
    while (!s->converged && s->iterations < s->opts.most && in_vain < MOST_IN_VAIN) {
        bool ended;

        begin_cycle(s, norm, in_vain);
        before = s->residual;
        if (!method->cycle(s))
            return false;
        ended = all_ended(s);
        if (!find_residual(s, /*first=*/false, norm))
            return false;
        in_vain += ended && s->residual > 0.5 * before;
    }
    return true;
}

/* ---- Setting up ------------------------------------------------------------------------------ */
/* Fills in the defaults of options: tolerance 1e-6 (1e-5 for f32), 1000 iterations, 50 kept
 * vectors. False after recording an option that makes no sense. rd_keyword_ok() records an
 * option for which its last argument is false. */
static bool options_ok(rd_linear_solve *s, const rd_expr *v)
{
    rd_solve_opts *const o = &s->opts;

    if (!rd_keyword_ok(s->ctx, s->call, "tolerance", o->tolerance,
                       o->tolerance >= 0 && o->tolerance < 1) ||
        !rd_keyword_ok(s->ctx, s->call, "most", (double)o->most, o->most >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "restart", o->restart, o->restart >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "method", o->method, rd_method_of(o->method)))
        return false;
    if (!o->tolerance) /* kernels of f32 are rounded by more than 1e-6 of their sums */
        o->tolerance = v->type == RD_F32 ? 1e-5 : 1e-6;
    o->most    = o->most ? o->most : 1000;
    o->restart = o->restart ? o->restart : 50;
    return true;
}

/* Plans the preconditioner, if there is one: an expression of one input r, which is found below
 * it and must have the shape of v. False after recording what is wrong. s->P is its plan, and
 * s->has_P says that there is one. */
static bool begin_preconditioner(rd_linear_solve *s, const rd_expr *v)
{
    rd_expr *const y = s->opts.preconditioner;
    rd_expr       *r;
    char           of_r[RD_SHAPE_TEXT], of_v[RD_SHAPE_TEXT];

    if (!y)
        return true;
    r = rd_only_input(s->ctx, s->call, y, "the preconditioner");
    if (!r || !rd_is_vector_input(s->ctx, s->call, r, "the preconditioner's input"))
        return false;
    if (r->rank != v->rank ||
        memcmp(r->extent, v->extent, (size_t)r->rank * sizeof *r->extent) != 0)
        return rd_fail(s->ctx, RD_ERR_SHAPE,
                       "%s: the preconditioner's input \"%s\" has shape %s, and v %s; they must be "
                       "the same",
                       s->call, r->as.leaf->name, rd_shape_text(r->rank, r->extent, of_r),
                       rd_shape_text(v->rank, v->extent, of_v)) != NULL;
    s->has_P = true;
    return rd_operator_begin(&s->P, s->call, y, "the preconditioner", r, "its input", s->opts.eval);
}

/* Allocates the vectors b, x and r and those of the method, each for all right-hand sides
 * (`sides`), the method's numbers, and the facts of each side. A method that restarts keeps
 * `restart` vectors more, but never more than rows. False: no memory, which is recorded. A method
 * says how many vectors and numbers it needs: fixed ones, and those for each kept vector
 * (per_restart) and each pair of them (per_restart_2). */
static bool allocate(rd_linear_solve *s, int64_t sides)
{
    const rd_method *const m    = rd_method_of(s->opts.method);
    int64_t                kept = m->per_restart ? s->opts.restart : 0;
    const int64_t          rows = s->A.n / sides, n = s->A.n;

    if (kept > n) /* more are not independent */
        s->opts.restart = (int32_t)(kept = n);
    if (!rd_vectors_begin(&s->space, s->ctx, rows, sides, s->opts.eval ? s->opts.eval->threads : 0))
        return false;
    s->memory  = rd_new_vectors(&s->space, 3 + m->vectors + kept);
    s->numbers = rd_alloc(
        s->ctx, sides * (int64_t)sizeof(double) *
                        (m->numbers + m->per_restart * kept + m->per_restart_2 * kept * kept + 1) +
                    8);
    s->side = rd_alloc(s->ctx, (sides + 1) * (int64_t)sizeof *s->side);
    if (!s->memory || !s->numbers || !s->side)
        return false;
    s->b       = s->memory;
    s->x       = s->b + n;
    s->r       = s->x + n;
    s->vectors = s->r + n;
    return true;
}

/* Evaluates b, the start of x (0 without one), and the norm of each right-hand side. A side of b
 * that is 0 has the solution 0, where it begins. One whose squares underflow is refused. False
 * after a failure. Element i of side k is at i * sides + k. */
static bool read_vectors(rd_linear_solve *s, rd_expr *b, const rd_expr *v, double *norm)
{
    if (!rd_eval_vector(s->ctx, s->call, b, v, s->b) ||
        (s->opts.start && !rd_eval_vector(s->ctx, s->call, s->opts.start, v, s->x)))
        return false;
    rd_norms(&s->space, s->b, norm);
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        s->side[k].b = norm[k];
        if (!isfinite(norm[k]))
            return rd_solve_broken(s, "|b|", norm[k], "");
        for (int64_t i = k; norm[k] == 0 && i < s->A.n; i += s->space.n_rhs) {
            if (s->b[i] != 0)
                return rd_fail(s->ctx, RD_ERR_ARGUMENT,
                               "%s: b is %g, so small that its squares are 0; scale it", s->call,
                               s->b[i]) != NULL;
            s->x[i] = 0;
        }
    }
    return true;
}

/* Returns the number of right-hand sides: the last axis of v, if it has two axes or more and
 * they are not one vector (coupled). */
static int64_t sides_of(const rd_linear_solve *s, const rd_expr *v)
{
    return v->rank < 2 || s->opts.coupled ? 1 : v->extent[v->rank - 1];
}

/* Sets up and solves A x = b, and leaves x in s->x. False after a failure; missing the tolerance
 * is none. rd_linear_solve_end() is due in any case. An empty v has the empty solution. Options
 * of older callers have fewer bytes (size). In an operator without rows (A.n 0) nothing is to be
 * done. */
bool rd_linear_solve_run(rd_linear_solve *s, const char *call, rd_ctx *ctx, rd_expr *Av, rd_expr *v,
                         rd_expr *b, const rd_solve_opts *opts)
{
    double *norm;
    bool    ok;

    s->call = call;
    s->ctx  = ctx;
    if (opts)
        memcpy(&s->opts, opts,
               opts->size && opts->size < sizeof s->opts ? opts->size : sizeof s->opts);
    if (!rd_is_vector_input(ctx, call, v, "v") || !options_ok(s, v) ||
        !rd_operator_begin(&s->A, call, Av, "A v", v, "v", s->opts.eval) ||
        !begin_preconditioner(s, v))
        return false;
    s->epsilon   = v->type == RD_F32 ? FLT_EPSILON : DBL_EPSILON;
    s->converged = true;
    if (!s->A.n)
        return true;
    if (!allocate(s, sides_of(s, v)))
        return false;
    norm = rd_alloc(ctx, s->space.n_rhs * (int64_t)sizeof *norm);
    ok   = norm && read_vectors(s, b, v, norm) &&
         run_cycles(s, rd_method_of(s->opts.method), !s->opts.start, norm);
    rd_free(ctx, norm);
    return ok;
}

/* Frees the operator, the preconditioner, and all memory of a solve. */
void rd_linear_solve_end(rd_linear_solve *s)
{
    rd_operator_end(&s->A);
    rd_operator_end(&s->P);
    rd_vectors_end(&s->space);
    rd_free(s->ctx, s->memory);
    rd_free(s->ctx, s->numbers);
    rd_free(s->ctx, s->side);
}

/* Fills in the caller's info, if there is one: iterations, evaluations, the residual, and
 * whether it is within the tolerance. */
static void fill_info(const rd_linear_solve *s)
{
    if (s->opts.info)
        *s->opts.info = (rd_solve_info){ .iterations  = s->iterations,
                                         .evaluations = s->A.runs,
                                         .residual    = s->residual,
                                         .converged   = s->converged && rd_error(s->ctx) == RD_OK };
}

/* True if A 0 is 0, as a linear operator has it; it is run once more to see. A failure counts as
 * true, as it is recorded. b and r are overwritten. */
static bool keeps_zero(rd_linear_solve *s)
{
    const int64_t n     = s->space.rows * s->space.n_rhs;
    bool          all_0 = true;

    if (!s->b) /* it has not begun, so the failure is recorded */
        return true;
    memset(s->b, 0, (size_t)n * sizeof *s->b);
    if (!rd_operator_run(&s->A, s->b, s->r))
        return true;
    for (int64_t i = 0; i < n; i++)
        all_0 = all_0 && s->r[i] == 0;
    return all_0;
}

/* Returns why the tolerance was missed. room: memory for a sentence that has numbers. b and r are
 * overwritten. */
static const char *reason(rd_linear_solve *s, char *room, size_t size)
{
    if (!keeps_zero(s))
        return "the operator is not linear: it is not 0 where v is 0";
    if (s->risen_to > 0) {
        snprintf(
            room, size,
            "the method diverges: the residual of a side rose from %.3g to %.3g of b, and x is "
            "the best there was; RD_GMRES does not diverge",
            s->risen_from, s->risen_to);
        return room;
    }
    if (s->iterations < s->opts.most)
        return "rounding of the operator allows no less, or it is not linear";
    return "give more iterations (.most), a preconditioner, or .info to take x as it is";
}

/* Fills in the caller's info. Without info a missed tolerance is recorded, with the likely
 * reason: too few iterations, divergence, rounding, or an operator that is not linear. b and r are
 * not needed any more. True if nothing failed. */
bool rd_linear_solve_judge(rd_linear_solve *s)
{
    char room[200];

    fill_info(s);
    if (rd_error(s->ctx) != RD_OK || s->converged || s->opts.info)
        return rd_error(s->ctx) == RD_OK;
    rd_fail(s->ctx, RD_ERR_CONVERGENCE,
            "%s: the residual is %.3g of b after %lld iteration%s, above the tolerance %g; %s",
            s->call, s->residual, (long long)s->iterations, s->iterations == 1 ? "" : "s",
            s->opts.tolerance, reason(s, room, sizeof room));
    return false;
}

/* ---- The public call ------------------------------------------------------------------------- */
/* The public call rd_solve(): solves A x = b and writes x to the output. All that is made in the
 * context meanwhile is released at the end. Returns the context's status. rd_linear_solve_run()
 * is false after a failure; rd_linear_solve_judge() fills in info; rd_linear_solve_end() frees. */
rd_status rd_solve_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, rd_expr *b, const rd_solve_opts *opts)
{
    static const char call[] = "rd_solve";
    rd_linear_solve   s      = { .call = call, .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (!opts || !opts->x)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output of the solution is NULL", call);
    else if (rd_linear_solve_run(&s, call, ctx, Av, v, b, opts))
        rd_deliver(ctx, call, s.x, v, /*last=*/0, opts->x);
    rd_linear_solve_judge(&s);
    rd_linear_solve_end(&s);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

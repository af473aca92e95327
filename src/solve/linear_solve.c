/* linear_solve.c - rd_solve(): right sides, cycles of a method, results. */
#include "solve/linear_solve.h"
#include "expr/array.h"
#include "expr/origin.h"
#include <string.h>

/* A cycle aims a little lower than the tolerance, as its estimate is a little off. */
static const double AIM = 0.9;
/* Cycles that reached their targets and yet did not halve the residual: rounding allows no more. */
enum { MOST_IN_VAIN = 3 };

/* ---- What methods call ----------------------------------------------------------------------- */
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

bool rd_precondition(rd_linear_solve *s, const double *r, double *z)
{
    if (s->has_P)
        return rd_operator_run(&s->P, r, z);
    memcpy(z, r, (size_t)(s->space.rows * s->space.sides) * sizeof *z);
    return true;
}

/* The residual relative to |b|; of b = 0 it is 0 or infinite. */
static double relative(double residual, double b)
{
    return residual > 0 ? residual / b : 0;
}

rd_next rd_solve_step(rd_linear_solve *s)
{
    double greatest = 0;
    bool   any      = false;

    for (int64_t k = 0; k < s->space.sides; k++) {
        rd_right_side *const side = &s->side[k];

        if (!isfinite(side->estimate)) {
            rd_solve_broken(s, "a residual", side->estimate, "");
            return RD_NEXT_FAIL;
        }
        side->active = side->active && side->estimate > side->target;
        any |= side->active;
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
    return any && s->iterations < s->opts.most ? RD_NEXT_GO : RD_NEXT_END;
}

/* ---- Cycles ---------------------------------------------------------------------------------- */
/* r = b - A x, and how large it is.  `first`: x is 0. */
static bool find_residual(rd_linear_solve *s, bool first, double *norm)
{
    const int64_t n = s->space.rows * s->space.sides;

    if (first)
        memcpy(s->r, s->b, (size_t)n * sizeof *s->r);
    else if (rd_operator_run(&s->A, s->x, s->r))
        rd_subtract_from(&s->space, s->r, s->b);
    else
        return false;
    rd_norms(&s->space, s->r, norm);
    s->residual  = 0;
    s->converged = true;
    for (int64_t k = 0; k < s->space.sides; k++) {
        rd_right_side *const side = &s->side[k];

        if (!isfinite(norm[k]))
            return rd_solve_broken(s, "|b - A x|", norm[k], "");
        side->active = norm[k] > s->opts.tolerance * side->b;
        s->converged = s->converged && !side->active;
        s->residual  = fmax(s->residual, relative(norm[k], side->b));
    }
    return true;
}

/* Sets the targets of a cycle.  After cycles in vain they are lower. */
static void begin_cycle(rd_linear_solve *s, const double *norm, int in_vain)
{
    for (int64_t k = 0; k < s->space.sides; k++) {
        rd_right_side *const side = &s->side[k];

        side->begun = side->estimate = norm[k];
        side->target                 = AIM * s->opts.tolerance * side->b * pow(0.1, in_vain);
    }
}

/* True if the method reached the targets, so that only rounding can be in the way. */
static bool all_reached(const rd_linear_solve *s)
{
    for (int64_t k = 0; k < s->space.sides; k++)
        if (s->side[k].active)
            return false;
    return true;
}

static bool run_cycles(rd_linear_solve *s, const rd_method *method, bool from_zero, double *norm)
{
    int    in_vain = 0;
    double before;

    if (!find_residual(s, from_zero, norm))
        return false;
    while (!s->converged && s->iterations < s->opts.most && in_vain < MOST_IN_VAIN) {
        bool reached;

        begin_cycle(s, norm, in_vain);
        before = s->residual;
        if (!method->cycle(s))
            return false;
        reached = all_reached(s);
        if (!find_residual(s, false, norm))
            return false;
        in_vain += reached && s->residual > 0.5 * before;
    }
    return true;
}

/* ---- Setting up ------------------------------------------------------------------------------ */
/* Fills in defaults; false after recording a keyword that makes no sense. */
static bool options_ok(rd_linear_solve *s, const rd_expr *v)
{
    rd_solve_opts *const o = &s->opts;

    if (!rd_keyword_ok(s->ctx, s->call, "tolerance", o->tolerance,
                       o->tolerance >= 0 && o->tolerance < 1) ||
        !rd_keyword_ok(s->ctx, s->call, "most", (double)o->most, o->most >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "restart", o->restart, o->restart >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "method", o->method, (unsigned)o->method <= RD_GMRES))
        return false;
    if (!o->tolerance) /* kernels of f32 are rounded by more than 1e-6 of their sums */
        o->tolerance = v->type == RD_F32 ? 1e-5 : 1e-6;
    o->most    = o->most ? o->most : 1000;
    o->restart = o->restart ? o->restart : 50;
    return true;
}

static const rd_method *method_of(const rd_linear_solve *s)
{
    return s->opts.method == RD_CG       ? &rd_method_cg
           : s->opts.method == RD_MINRES ? &rd_method_minres
                                         : &rd_method_gmres;
}

/* Plans the preconditioner, whose input is found below it. */
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

/* Allocates vectors and numbers: b, x and r, the method's, and |r| at the end. */
static bool allocate(rd_linear_solve *s, int64_t sides)
{
    const rd_method *const m    = method_of(s);
    int64_t                kept = s->opts.method == RD_GMRES ? s->opts.restart : 0;
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

/* Evaluates b, and x to begin with.  A right side of 0 begins at 0, its solution. */
static bool read_vectors(rd_linear_solve *s, rd_expr *b, const rd_expr *v, double *norm)
{
    if (!rd_eval_vector(s->ctx, s->call, b, v, s->b) ||
        (s->opts.start && !rd_eval_vector(s->ctx, s->call, s->opts.start, v, s->x)))
        return false;
    rd_norms(&s->space, s->b, norm);
    for (int64_t k = 0; k < s->space.sides; k++) {
        s->side[k].b = norm[k];
        if (!isfinite(norm[k]))
            return rd_solve_broken(s, "|b|", norm[k], "");
        for (int64_t i = k; norm[k] == 0 && i < s->A.n; i += s->space.sides) {
            if (s->b[i] != 0)
                return rd_fail(s->ctx, RD_ERR_ARGUMENT,
                               "%s: b is %g, so small that its squares are 0; scale it", s->call,
                               s->b[i]) != NULL;
            s->x[i] = 0;
        }
    }
    return true;
}

/* The number of right sides. */
static int64_t sides_of(const rd_linear_solve *s, const rd_expr *v)
{
    return v->rank < 2 || s->opts.coupled ? 1 : v->extent[v->rank - 1];
}

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
    s->converged = true;
    if (!s->A.n)
        return true;
    if (!allocate(s, sides_of(s, v)))
        return false;
    norm = rd_alloc(ctx, s->space.sides * (int64_t)sizeof *norm);
    ok   = norm && read_vectors(s, b, v, norm) && run_cycles(s, method_of(s), !s->opts.start, norm);
    rd_free(ctx, norm);
    return ok;
}

void rd_linear_solve_end(rd_linear_solve *s)
{
    rd_operator_end(&s->A);
    rd_operator_end(&s->P);
    rd_vectors_end(&s->space);
    rd_free(s->ctx, s->memory);
    rd_free(s->ctx, s->numbers);
    rd_free(s->ctx, s->side);
}

static void fill_info(const rd_linear_solve *s)
{
    if (s->opts.info)
        *s->opts.info = (rd_solve_info){ .iterations  = s->iterations,
                                         .evaluations = s->A.runs,
                                         .residual    = s->residual,
                                         .converged   = s->converged && rd_error(s->ctx) == RD_OK };
}

/* True if A 0 is 0. */
static bool keeps_zero(rd_linear_solve *s)
{
    const int64_t n  = s->space.rows * s->space.sides;
    bool          is = true;

    memset(s->b, 0, (size_t)n * sizeof *s->b);
    if (!rd_operator_run(&s->A, s->b, s->r))
        return true;
    for (int64_t i = 0; i < n; i++)
        is = is && s->r[i] == 0;
    return is;
}

bool rd_linear_solve_judge(rd_linear_solve *s)
{
    const char *why = "give more iterations (.most), a preconditioner, or .info to take x as it is";

    fill_info(s);
    if (rd_error(s->ctx) != RD_OK || s->converged || s->opts.info)
        return rd_error(s->ctx) == RD_OK;
    if (!keeps_zero(s))
        why = "the operator is not linear: it is not 0 where v is 0";
    else if (s->iterations < s->opts.most)
        why = "rounding of the operator allows no less, or it is not linear";
    rd_fail(s->ctx, RD_ERR_CONVERGENCE,
            "%s: the residual is %.3g of b after %lld iteration%s, above the tolerance %g; %s",
            s->call, s->residual, (long long)s->iterations, s->iterations == 1 ? "" : "s",
            s->opts.tolerance, why);
    return false;
}

/* ---- The public call ------------------------------------------------------------------------- */
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
        rd_deliver(ctx, call, s.x, v, 0, opts->x);
    rd_linear_solve_judge(&s);
    rd_linear_solve_end(&s);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

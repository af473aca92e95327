/* estimates.c - traces by Hutchinson's method (1990), and log-determinants by stochastic Lanczos
 * quadrature (Ubaru, Chen and Saad 2017).
 *
 * Both take the mean of z^T f(A) z over vectors z of random signs.  For the logarithm Lanczos'
 * method from z makes a small tridiagonal matrix T, and z^T log(A) z is |z|^2 times the element
 * [0, 0] of log(T).  All vectors are kept, and each new one is made orthogonal to them. */
#include "eval/request.h"
#include "solve/lapack.h"
#include "solve/operator.h"
#include "solve/vectors.h"
#include <string.h>

typedef struct estimate {
    const char      *call;
    rd_ctx          *ctx;
    rd_estimate_opts opts; /* defaults are filled in */
    rd_operator      A;
    rd_vectors       space;
    int64_t          n;            /* elements of a probe, a vector of random signs */
    int64_t          batches;      /* evaluations of `sides` probes */
    double          *v;            /* vectors: the probes first */
    double          *numbers;      /* of each side and step */
    double           sum, squares; /* of what each probe gave; less the first one */
    double           first;
    int64_t          count;
} estimate;

/* Sets value[k] to z^T f(A) z for each probe z of a batch (column k), a vector of random signs;
 * the probes are in e->v. False after a failure. */
typedef bool batch_values(estimate *e, double *value);

/* Copies the caller's options, of which older callers have fewer bytes (size), and fills in
 * defaults: 16 probes, 50 steps. False after recording an option that makes no sense, or that
 * there is no output. rd_keyword_ok() records an option for which its last argument is false. */
static bool options_ok(estimate *e, const rd_estimate_opts *given)
{
    rd_estimate_opts *const o = &e->opts;

    if (given)
        memcpy(o, given, given->size && given->size < sizeof *o ? given->size : sizeof *o);
    if (!rd_keyword_ok(e->ctx, e->call, "probes", (double)o->probes, o->probes >= 0) ||
        !rd_keyword_ok(e->ctx, e->call, "steps", o->steps, o->steps >= 0))
        return false;
    o->probes = o->probes ? o->probes : 16;
    o->steps  = o->steps ? o->steps : 50;
    if (!o->value)
        rd_fail(e->ctx, RD_ERR_ARGUMENT, "%s: the output of the value is NULL", e->call);
    return o->value != NULL;
}

/* Sets up an estimate: checks options and v, and plans the operator A v. If v has two axes or
 * more, its last one holds several probes (vectors of random signs) that run in one evaluation,
 * unless they are coupled. False after recording a failure; finish() is due in any case. Coupled
 * probes: all axes of v are one vector. n: elements of a probe; batches: evaluations for all
 * probes. */
static bool begin(estimate *e, rd_expr *Av, rd_expr *v, const rd_estimate_opts *given)
{
    int64_t sides;

    if (!options_ok(e, given) || !rd_is_vector_input(e->ctx, e->call, v, "v") ||
        !rd_operator_begin(&e->A, e->call, Av, "A v", v, "v", e->opts.eval))
        return false;
    if (e->A.n < 1)
        return rd_fail(e->ctx, RD_ERR_SHAPE, "%s: v has no element", e->call) != NULL;
    sides      = v->rank < 2 || e->opts.coupled ? 1 : v->extent[v->rank - 1];
    e->n       = e->A.n / sides;
    e->batches = (e->opts.probes - 1) / sides + 1;
    return rd_vectors_begin(&e->space, e->ctx, e->n, sides,
                            e->opts.eval ? e->opts.eval->threads : 0);
}

/* Fills e->v with the probes of batch b, columns of random signs. Probes are rows of one random
 * array of all probes, so that element i of probe p is the same however many run together. False
 * after a failure. Nodes that it makes are released. */
static bool draw(const estimate *e, int64_t b)
{
    const int64_t  sides = e->space.n_rhs;
    rd_array       out   = { .data = e->v, .type = RD_F64, .shape = RD_SHAPE(e->n, sides) };
    const rd_mark  mark  = rd_ctx_mark(e->ctx);
    rd_expr *const uniform =
        rd_random_uniform(e->ctx, e->opts.seed, RD_SHAPE(e->batches * sides, e->n), RD_F64);
    rd_expr *const rows = uniform ? rd_slice_axis(uniform, 0, b * sides, (b + 1) * sides, 1) : NULL;
    rd_expr *const sign =
        rows ? rd_where(rd_lt(rows, rd_num(e->ctx, 0.5)), rd_num(e->ctx, -1), rd_num(e->ctx, 1))
             : NULL;
    const bool ok =
        sign && rd_eval_for(e->ctx, e->call, rd_cast(rd_transpose(sign), RD_F64), &out) == RD_OK;

    rd_ctx_release(e->ctx, mark);
    return ok;
}

/* Runs the operator, out = A in, and calls the caller's progress function. False after a
 * failure, or if that function ends the call. A.runs counts evaluations. */
static bool run_operator(estimate *e, const double *in, double *out)
{
    if (!rd_operator_run(&e->A, in, out))
        return false;
    if (e->opts.progress && e->opts.progress(e->opts.user, e->A.runs, 0))
        return rd_fail(e->ctx, RD_ERR_CANCELLED,
                       "%s: the progress function ended it in evaluation %lld", e->call,
                       (long long)e->A.runs) != NULL;
    return true;
}

/* Adds the number that a probe gave to the sums for mean and variance. Sums are of distances
 * from the first one, because squares of large numbers that differ little would cancel. False,
 * after recording it, if the number is not finite. */
static bool add(estimate *e, double value)
{
    if (!isfinite(value))
        return rd_fail(e->ctx, RD_ERR_CONVERGENCE,
                       "%s: a probe gave %g: the operator has values that are not finite", e->call,
                       value) != NULL;
    if (e->count == 0)
        e->first = value;
    e->sum += value - e->first;
    e->squares += (value - e->first) * (value - e->first);
    e->count++;
    return true;
}

/* Writes the estimate, the mean over all probes, to the caller's outputs, and its standard
 * error, which is infinite for one probe. */
static void report(const estimate *e)
{
    const double n = (double)e->count, mean = e->sum / n;

    *e->opts.value = e->first + mean;
    if (e->opts.error)
        *e->opts.error =
            n > 1 ? sqrt(fmax(e->squares - n * mean * mean, 0) / (n - 1) / n) : INFINITY;
}

/* Runs all batches of probes with the given function and reports the mean. `vectors`: how many
 * vectors it needs for each probe that runs; `numbers`: how many scalars. False after a failure.
 * All memory that it takes is freed. */
static bool run_batches(estimate *e, batch_values *values, int64_t vectors, int64_t numbers)
{
    double *const value = rd_alloc(e->ctx, e->space.n_rhs * (int64_t)sizeof *value);
    bool          ok;

    e->v       = rd_new_vectors(&e->space, vectors);
    e->numbers = rd_alloc(e->ctx, numbers * e->space.n_rhs * (int64_t)sizeof *e->numbers);
    ok         = value && e->v && e->numbers;
    for (int64_t b = 0; ok && b < e->batches; b++) {
        ok = draw(e, b) && values(e, value);
        for (int64_t k = 0; ok && k < e->space.n_rhs; k++)
            ok = add(e, value[k]);
    }
    if (ok)
        report(e);
    rd_free(e->ctx, value);
    rd_free(e->ctx, e->v);
    rd_free(e->ctx, e->numbers);
    return ok;
}

/* Frees the operator and the sums of products. */
static void finish(estimate *e)
{
    rd_operator_end(&e->A);
    rd_vectors_end(&e->space);
}

/* ---- Traces ---------------------------------------------------------------------------------- */
/* Sets value[k] = z^T A z for each probe z of the batch (Hutchinson's estimate of the trace):
 * one evaluation of A, and a sum of products. False after a failure. */
static bool trace_values(estimate *e, double *value)
{
    double *const out = e->v + e->n * e->space.n_rhs;

    if (!run_operator(e, e->v, out))
        return false;
    rd_dots(&e->space, e->v, out, value);
    return true;
}

/* The public call rd_estimate_trace(): the trace of A as a mean over random probes. All that is
 * made in the context meanwhile is released at the end. Returns the context's status.
 * run_batches() runs trace_values() for each batch of probes, with room for 2 vectors and 1
 * number a probe. finish() writes the mean, and frees. */
rd_status rd_estimate_trace_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, const rd_estimate_opts *opts)
{
    estimate e = { .call = "rd_estimate_trace", .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (begin(&e, Av, v, opts))
        run_batches(&e, trace_values, /*vectors=*/2, /*numbers=*/1);
    finish(&e);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

/* ---- Log-determinants ------------------------------------------------------------------------ */
/* Numbers of a batch; those of step j and side k are at j * sides + k. */
typedef struct quadrature {
    int64_t sides, most;
    double *alpha, *beta;  /* T's diagonal, and what is below it */
    double *steps, *ended; /* of each side: rows of T; 1: no more follow */
    double *length, *scale, *dot;
} quadrature;

enum { N_STEP_NUMBERS = 2, N_NUMBERS = 5 };

/* Lays out the numbers of a batch in e->numbers: for each of its probes (sides), `most` elements
 * of T's diagonal and as many below it, then five scalars. most is the number of steps,
 * opts.steps. By probe: steps taken, length, scale, dot and whether it ended. */
static quadrature quadrature_of(const estimate *e)
{
    const int64_t sides = e->space.n_rhs, most = e->opts.steps;
    double *const at = e->numbers;

    return (quadrature){ .sides  = sides,
                         .most   = most,
                         .alpha  = at,
                         .beta   = at + most * sides,
                         .steps  = at + 2 * most * sides,
                         .length = at + (2 * most + 1) * sides,
                         .scale  = at + (2 * most + 2) * sides,
                         .dot    = at + (2 * most + 3) * sides,
                         .ended  = at + (2 * most + 4) * sides };
}

/* Makes step j of Lanczos' method for all probes (sides) of the batch: A v_j gives element j of
 * T's diagonal, and what is left of it, made orthogonal to all vectors before, is vector j + 1
 * after scaling. If nothing but rounding is left (1e-14), the vectors of that probe span an
 * invariant space: its T ends here, and its further vectors are 0. False after a failure.
 * `length` is the norm of A v before; scale[k] is 0 for a probe that has ended. */
static bool quadrature_step(estimate *e, const quadrature *q, int64_t j)
{
    const int64_t n = e->n * q->sides;
    double *const v = e->v + j * n, *const w = v + n;

    if (!run_operator(e, v, w))
        return false;
    rd_dots(&e->space, v, w, q->alpha + j * q->sides);
    rd_norms(&e->space, w, q->length);
    rd_make_orthogonal(&e->space, e->v, j + 1, w, /*column=*/NULL, /*step=*/0, q->scale);
    rd_norms(&e->space, w, q->beta + j * q->sides);
    for (int64_t k = 0; k < q->sides; k++) {
        double *const beta = q->beta + j * q->sides + k;

        if (*beta <= 1e-14 * q->length[k])
            *beta = 0;
        q->scale[k] = *beta > 0 ? 1 / *beta : 0;
        if (!q->ended[k])
            q->steps[k]++;
        if (*beta == 0)
            q->ended[k] = 1;
    }
    rd_multiple(&e->space, w, q->scale, w);
    return true;
}

/* Computes z^T log(A) z of probe k as |z|^2 = n times element [0, 0] of log(T). That element is
 * the sum of log(eigenvalue) times the square of its eigenvector's first element. t is room for
 * T, a dense matrix, and for its eigenvalues behind it. False, after recording it, if an
 * eigenvalue is not above 0. T has m = steps[k] rows: alpha on the diagonal, beta beside it.
 * rd_symmetric_eigen() leaves eigenvector j in row j of t. */
static bool log_of(const estimate *e, const quadrature *q, int64_t k, double *t, double *value)
{
    const int64_t m   = (int64_t)q->steps[k];
    double *const at  = t + m * m;
    double        sum = 0;

    memset(t, 0, (size_t)(m * m) * sizeof *t);
    for (int64_t j = 0; j < m; j++) {
        t[j * m + j] = q->alpha[j * q->sides + k];
        if (j + 1 < m)
            t[j * m + j + 1] = t[(j + 1) * m + j] = q->beta[j * q->sides + k];
    }
    if (!rd_symmetric_eigen(e->ctx, e->call, m, t, at))
        return false;
    for (int64_t j = 0; j < m; j++) {
        if (!(at[j] > 0))
            return rd_fail(e->ctx, RD_ERR_CONVERGENCE,
                           "%s: the operator is not positive definite: it has a value of %g or "
                           "less",
                           e->call, at[j]) != NULL;
        sum += t[j * m] * t[j * m] * log(at[j]);
    }
    *value = sum * (double)e->n;
    return true;
}

/* Sets value[k] to z^T log(A) z for each probe z of the batch (stochastic Lanczos quadrature):
 * steps of Lanczos' method from z, and the logarithm of the small matrix T that they make. False
 * after a failure. quadrature_step() is one step of all probes, and log_of() the logarithm for
 * probe k; t is room for T and its eigenvalues. q.scale makes norm 1. */
static bool logdet_values(estimate *e, double *value)
{
    const quadrature q    = quadrature_of(e);
    const int64_t    most = q.most;
    double *const    t    = rd_alloc(e->ctx, (most * most + most) * (int64_t)sizeof *t);
    bool             ok   = t != NULL;

    for (int64_t k = 0; k < q.sides; k++) {
        q.steps[k] = q.ended[k] = 0;
        q.scale[k]              = 1 / sqrt((double)e->n); /* signs have norm sqrt(n) */
    }
    rd_multiple(&e->space, e->v, q.scale, e->v);
    for (int64_t j = 0; ok && j < most; j++)
        ok = quadrature_step(e, &q, j);
    for (int64_t k = 0; ok && k < q.sides; k++)
        ok = log_of(e, &q, k, t, &value[k]);
    rd_free(e->ctx, t);
    return ok;
}

/* The public call rd_estimate_logdet(): the logarithm of the determinant, which is the trace of
 * log(A), as a mean over random probes. More steps than rows give nothing. Returns the context's
 * status. rd_lapack_here() records that there is no LAPACK. run_batches() runs logdet_values()
 * for each batch of probes, with room for steps + 1 vectors a probe. finish() writes the mean,
 * and frees. */
rd_status rd_estimate_logdet_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, const rd_estimate_opts *opts)
{
    estimate e = { .call = "rd_estimate_logdet", .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (rd_lapack_here(ctx, e.call) && begin(&e, Av, v, opts)) {
        if (e.opts.steps > e.n)
            e.opts.steps = (int32_t)e.n;
        run_batches(&e, logdet_values, e.opts.steps + 1, N_STEP_NUMBERS * e.opts.steps + N_NUMBERS);
    }
    finish(&e);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

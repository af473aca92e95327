/* eigenvalues.c - power iteration, and Lanczos' method with a thick restart (Wu and Simon 2000). */
#include "eval/request.h"
#include "expr/origin.h"
#include "solve/lapack.h"
#include "solve/operator.h"
#include "solve/vectors.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef struct eigen_solve {
    const char   *call;
    rd_ctx       *ctx;
    rd_eigen_opts opts; /* defaults are filled in */
    rd_operator   A;
    rd_vectors    space;
    rd_expr      *v;
    int64_t       n;
    double        residual;
    bool          converged;
} eigen_solve;

/* ---- What both methods share ----------------------------------------------------------------- */
/* Copies the caller's options, of which older callers have fewer bytes (size), and fills in
 * defaults: a tolerance of 1e-6, 1000 evaluations. False after recording an option that makes no
 * sense. */
static bool options_ok(eigen_solve *s, const rd_eigen_opts *given)
{
    rd_eigen_opts *const o = &s->opts;

    if (given)
        memcpy(o, given, given->size && given->size < sizeof *o ? given->size : sizeof *o);
    if (!rd_keyword_ok(s->ctx, s->call, "tolerance", o->tolerance,
                       o->tolerance >= 0 && o->tolerance < 1) ||
        !rd_keyword_ok(s->ctx, s->call, "most", (double)o->most, o->most >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "basis", o->basis, o->basis >= 0) ||
        !rd_keyword_ok(s->ctx, s->call, "which", o->which, (unsigned)o->which <= RD_FARTHEST))
        return false;
    o->tolerance = o->tolerance > 0 ? o->tolerance : 1e-6;
    o->most      = o->most ? o->most : 1000;
    return true;
}

/* Sets up a solve: checks options and v, plans the operator A v, and makes room for sums of
 * products of vectors. False after recording a failure; finish() is due in any case. The
 * operator has n rows. threads: as asked for, 0: the context's. */
static bool begin(eigen_solve *s, const char *call, rd_ctx *ctx, rd_expr *Av, rd_expr *v,
                  const rd_eigen_opts *opts)
{
    s->call = call;
    s->ctx  = ctx;
    s->v    = v;
    if (!options_ok(s, opts) || !rd_is_vector_input(ctx, call, v, "v") ||
        !rd_operator_begin(&s->A, call, Av, "A v", v, "v", s->opts.eval))
        return false;
    s->n = s->A.n;
    if (s->n < 1)
        return rd_fail(ctx, RD_ERR_SHAPE, "%s: v has no element", call) != NULL;
    return rd_vectors_begin(&s->space, ctx, s->n, 1, s->opts.eval ? s->opts.eval->threads : 0);
}

/* Fills in the caller's info; without info, a missed tolerance is recorded as an error. Frees
 * the operator and the sums, and returns the context's status. A.runs counts evaluations of the
 * operator; s->residual is relative. */
static rd_status finish(eigen_solve *s)
{
    if (s->opts.info)
        *s->opts.info = (rd_solve_info){ .iterations  = s->A.runs,
                                         .evaluations = s->A.runs,
                                         .residual    = s->residual,
                                         .converged   = s->converged && rd_error(s->ctx) == RD_OK };
    else if (rd_error(s->ctx) == RD_OK && !s->converged)
        rd_fail(s->ctx, RD_ERR_CONVERGENCE,
                "%s: a residual is %.3g of its eigenvalue after %lld evaluations, above the "
                "tolerance %g; give more (.most), or .info to take what was found",
                s->call, s->residual, (long long)s->A.runs, s->opts.tolerance);
    rd_operator_end(&s->A);
    rd_vectors_end(&s->space);
    return rd_error(s->ctx);
}

/* Fills x with normal random numbers and scales it to norm 1. They are row `draw` of the random
 * array that the seed gives, so each draw is another vector. False after a failure. rd_norms()
 * is the norm of x; s->n is its length. */
static bool random_vector(const eigen_solve *s, int64_t draw, double *x)
{
    rd_array       out   = { .data = x, .type = RD_F64, .shape = RD_SHAPE(s->n) };
    rd_expr *const draws = rd_random_normal(s->ctx, s->opts.seed, RD_SHAPE(draw + 1, s->n), RD_F64);
    double         norm;

    if (!draws || rd_eval_for(s->ctx, s->call, rd_select(draws, 0, draw), &out) != RD_OK)
        return false;
    rd_norms(&s->space, x, &norm);
    norm = 1 / norm;
    rd_multiple(&s->space, x, &norm, x);
    return true;
}

/* Notes the relative residual of this evaluation, whether it is within the tolerance, and calls
 * the caller's progress function. False, after recording why, if the residual is not finite, or
 * if that function ends the call. */
static bool tell(eigen_solve *s, double residual)
{
    if (!isfinite(residual))
        return rd_fail(s->ctx, RD_ERR_CONVERGENCE,
                       "%s: a residual is %g in evaluation %lld: the operator has values that are "
                       "not finite",
                       s->call, residual, (long long)s->A.runs) != NULL;
    s->residual  = residual;
    s->converged = residual <= s->opts.tolerance;
    if (s->opts.progress && s->opts.progress(s->opts.user, s->A.runs, residual))
        return rd_fail(s->ctx, RD_ERR_CANCELLED,
                       "%s: the progress function ended it in evaluation %lld", s->call,
                       (long long)s->A.runs) != NULL;
    return true;
}

/* Returns a residual relative to its eigenvalue; 0 for a residual of 0, also beside an
 * eigenvalue of 0. */
static double relative(double residual, double value)
{
    return residual > 0 ? residual / fabs(value) : 0;
}

/* ---- Power iteration ------------------------------------------------------------------------- */
/* Makes one step of power iteration: x becomes A x, scaled to norm 1. *value gets the Rayleigh
 * quotient x A x, and the residual |A x - value x| is noted. y is room for a vector. If the
 * tolerance is reached, or A x is 0, x stays. False after a failure. norm is that of A x. */
static bool power_step(eigen_solve *s, double *x, double *y, double *value)
{
    double minus, norm;

    if (!rd_operator_run(&s->A, x, y))
        return false;
    rd_dots(&s->space, x, y, value);
    rd_norms(&s->space, y, &norm);
    minus = -*value;
    rd_add_multiple(&s->space, y, &minus, x); /* y is A x - value x, the residual */
    double residual;
    rd_norms(&s->space, y, &residual);
    if (!tell(s, relative(residual, *value)))
        return false;
    if (s->converged || norm == 0)
        return true;
    rd_add_multiple(&s->space, y, value, x); /* y is A x again */
    norm = 1 / norm;
    rd_multiple(&s->space, x, &norm, y);
    return true;
}

/* Runs power iteration from a random vector until the tolerance is reached or evaluations end,
 * and writes the vector to the caller's output, if there is one. False after a failure. A.runs
 * counts evaluations, and opts.most limits them. Both vectors are freed at the end. */
static bool power(eigen_solve *s, double *value)
{
    double *const x  = rd_new_vectors(&s->space, 2); /* x, and room behind it */
    bool          ok = x && random_vector(s, 0, x);

    while (ok && !s->converged && s->A.runs < s->opts.most)
        ok = power_step(s, x, x + s->n, value);
    if (ok && s->opts.vectors)
        ok = rd_deliver(s->ctx, s->call, x, s->v, /*last=*/0, s->opts.vectors);
    rd_free(s->ctx, x);
    return ok;
}

/* The public call rd_power(): the eigenvalue of A that is farthest from 0, by power iteration,
 * in *value, and its vector if options ask for it. All that is made in the context meanwhile is
 * released at the end. Returns the context's status. begin() checks the arguments and plans the
 * operator, and is false after recording a failure; finish() fills in info, and frees. */
rd_status rd_power_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, double *value,
                      const rd_eigen_opts *opts)
{
    eigen_solve s = { .call = "rd_power", .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (!value)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output of the eigenvalue is NULL", s.call);
    else if (begin(&s, s.call, ctx, Av, v, opts))
        power(&s, value);
    const rd_status status = finish(&s);
    rd_ctx_release(ctx, mark);
    return status;
}

/* ---- Lanczos --------------------------------------------------------------------------------- *
 * V^T A V = T is kept as a dense matrix: after a restart it is no longer tridiagonal.  Each new
 * vector is made orthogonal to all before, twice, and the coefficients are T's column. */
typedef struct lanczos {
    eigen_solve *s;
    int64_t      k, most; /* wanted values, kept vectors */
    int64_t      have;    /* columns of T that are computed */
    double      *v;       /* most + 1 orthonormal vectors, of n elements each */
    double      *t;       /* (most, most) */
    double      *vectors; /* eigenvectors of T, row by row */
    double      *value, *row;
    int64_t     *order; /* of the eigenvalues, best first */
    double       beta;  /* the length of what is left */
} lanczos;

/* Allocates the vectors v of Lanczos' method; T, its eigenvectors, its eigenvalues and a row, in
 * one piece; and the order of eigenvalues. False: no memory, which is recorded. m is the size of
 * T, (m, m): l->t, l->vectors, l->value and l->row are the parts of that piece. */
static bool allocate(lanczos *l)
{
    const int64_t m = l->most;

    l->v     = rd_new_vectors(&l->s->space, m + 1);
    l->t     = rd_alloc(l->s->ctx, (2 * m * m + 2 * m) * (int64_t)sizeof *l->t);
    l->order = rd_alloc(l->s->ctx, m * (int64_t)sizeof *l->order);
    if (!l->v || !l->t || !l->order)
        return false;
    l->vectors = l->t + m * m;
    l->value   = l->vectors + m * m;
    l->row     = l->value + m;
    return true;
}

/* Scales w, the next Lanczos vector, to norm 1; it is number n, and l->beta gets its norm, the
 * element of T below the diagonal. `before` is the norm of A v before the others were taken out.
 * If nothing but rounding is left (1e-14 of it), the n vectors span an invariant space: beta is
 * 0, and a random direction, orthogonal to all, goes on. False after a failure. w has n elements
 * for an operator of n rows, so n vectors are all; `room` is for sums. */
static bool next_vector(lanczos *l, double *w, int64_t n, double before)
{
    rd_norms(&l->s->space, w, &l->beta);
    if (!isfinite(l->beta))
        return tell(l->s, l->beta);
    if (l->beta <= 1e-14 * before) {
        double norm, room[2];

        l->beta = 0;
        if (n >= l->s->n)
            return true;
        if (!random_vector(l->s, n, w))
            return false;
        rd_make_orthogonal(&l->s->space, l->v, n, w, /*column=*/NULL, /*step=*/0, room);
        rd_norms(&l->s->space, w, &norm);
        norm = 1 / norm;
        rd_multiple(&l->s->space, w, &norm, w);
        return true;
    }
    const double scale = 1 / l->beta;
    rd_multiple(&l->s->space, w, &scale, w);
    return true;
}

/* Makes step j of Lanczos' method. w = A v_j is made orthogonal to vectors 0 to j; the
 * coefficients become column j of the symmetric matrix T = V^T A V, and its row j. What is left
 * of w, scaled, is vector j + 1. False after a failure. `most` is the length of a row of T,
 * `have` the number of its columns that are known. */
static bool lanczos_step(lanczos *l, int64_t j)
{
    double *const w = l->v + (j + 1) * l->s->n;
    double        before, room[2];

    if (!rd_operator_run(&l->s->A, l->v + j * l->s->n, w))
        return false;
    rd_norms(&l->s->space, w, &before);
    for (int64_t i = 0; i <= j; i++)
        l->t[i * l->most + j] = 0;
    rd_make_orthogonal(&l->s->space, l->v, j + 1, w, l->t + j, l->most, room);
    for (int64_t i = 0; i < j; i++)
        l->t[j * l->most + i] = l->t[i * l->most + j];
    l->have = j + 1;
    return next_vector(l, w, j + 1, before);
}

/* Compares two eigenvalues by the option `which`: below 0 if value a is wanted before b, above 0
 * if behind it. RD_FARTHEST: the farthest from 0 first; else the largest first, unless
 * RD_SMALLEST. */
static int compare(const lanczos *l, double a, double b)
{
    switch (l->s->opts.which) {
    case RD_SMALLEST: return (a > b) - (a < b);
    case RD_FARTHEST: return (fabs(a) < fabs(b)) - (fabs(a) > fabs(b));
    default: return (a < b) - (a > b);
    }
}

/* Sorts the numbers of T's eigenvalues into l->order, the most wanted first, by an insertion
 * sort: they are few, and qsort() takes no context for the comparison. compare() is below 0 if
 * the first value is wanted more. l->have is the size of T now. */
static void sort_values(lanczos *l)
{
    for (int64_t i = 0; i < l->have; i++) {
        int64_t at = i;

        for (; at > 0 && compare(l, l->value[i], l->value[l->order[at - 1]]) < 0; at--)
            l->order[at] = l->order[at - 1];
        l->order[at] = i;
    }
}

/* Computes the eigenvalues and eigenvectors of T, which approximate those of A. The residual of
 * one of them is beta times the last element of its vector in T (Lanczos' estimate); the worst
 * of the k wanted ones, relative to its value, is noted. False after a failure. The last element
 * of eigenvector `at` of m elements is vectors[at * m + m - 1]. */
static bool find_values(lanczos *l)
{
    const int64_t m     = l->have;
    double        worst = 0, scale = 0;

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            l->vectors[i * m + j] = l->t[i * l->most + j];
    if (!rd_symmetric_eigen(l->s->ctx, l->s->call, m, l->vectors, l->value))
        return false;
    sort_values(l);
    for (int64_t i = 0; i < m; i++)
        scale = fmax(scale, fabs(l->value[i]));
    for (int64_t i = 0; i < l->k; i++) {
        const int64_t at   = l->order[i];
        const double  left = l->beta * fabs(l->vectors[at * m + m - 1]);

        /* An eigenvalue of about 0 is no more exact than rounding of the greatest one. */
        worst = fmax(worst, relative(left, fmax(fabs(l->value[at]), 1e-10 * scale)));
    }
    return tell(l->s, worst);
}

/* Replaces the first `keep` Lanczos vectors by combinations of all: the Ritz vectors, V times
 * the `keep` most wanted eigenvectors of T. They are computed element by element of the vectors,
 * so that they can replace V in place. l->v has m vectors of n elements, l->vectors the
 * eigenvectors of T as rows; l->row is room for one element of each. */
static void rotate_vectors(lanczos *l, int64_t keep)
{
    const int64_t m = l->have, n = l->s->n;

    for (int64_t e = 0; e < n; e++) {
        for (int64_t i = 0; i < keep; i++) {
            const double *const of  = l->vectors + l->order[i] * m;
            double              sum = 0;

            for (int64_t j = 0; j < m; j++)
                sum += of[j] * l->v[j * n + e];
            l->row[i] = sum;
        }
        for (int64_t i = 0; i < keep; i++)
            l->v[i * n + e] = l->row[i];
    }
}

/* Restarts Lanczos' method when its vectors are full (thick restart). The most wanted Ritz
 * vectors are kept, the k wanted ones and half of the others, and behind them the vector that
 * came next. T becomes diagonal, with their eigenvalues; the step that follows fills in its next
 * row and column. At least one vector less than all is kept, so that steps can follow. */
static void restart(lanczos *l)
{
    const int64_t m = l->have, n = l->s->n;
    int64_t       keep = l->k + (m - l->k) / 2;

    keep = keep < m - 1 ? keep : m - 1;
    rotate_vectors(l, keep);
    memcpy(l->v + keep * n, l->v + m * n, (size_t)n * sizeof *l->v);
    memset(l->t, 0, (size_t)(l->most * l->most) * sizeof *l->t);
    for (int64_t i = 0; i < keep; i++)
        l->t[i * l->most + i] = l->value[l->order[i]];
    l->have = keep;
}

/* Runs Lanczos' method from a random vector: steps until its vectors are full or evaluations end
 * (but at least k), then eigenvalues of T, and a restart unless the residuals are small enough.
 * False after a failure. l->have counts vectors, l->most is the room, A.runs counts evaluations
 * and opts.most is their limit; l->k eigenvalues are wanted. restart() keeps the best. */
static bool run(lanczos *l)
{
    eigen_solve *const s = l->s;

    if (!random_vector(s, 0, l->v))
        return false;
    for (;;) {
        while (l->have < l->most && (s->A.runs < s->opts.most || l->have < l->k))
            if (!lanczos_step(l, l->have))
                return false;
        if (!find_values(l))
            return false;
        if (s->converged || s->A.runs >= s->opts.most)
            return true;
        restart(l);
    }
}

/* Writes the k wanted eigenvalues to `values`, and the vectors, as the columns of an array (n,
 * k), to the caller's output, if there is one. False after a failure. l->value[l->order[i]] is
 * the i-th wanted eigenvalue; `out` is room for the vectors, freed here. */
static bool deliver(lanczos *l, rd_array *values)
{
    eigen_solve *const s    = l->s;
    double *const      out  = rd_alloc(s->ctx, l->k * (s->n + 1) * (int64_t)sizeof *out);
    rd_array           best = { .in = l->row, .type = RD_F64, .shape = RD_SHAPE(l->k) };
    bool               ok   = out != NULL;

    if (ok && s->opts.vectors) {
        rotate_vectors(l, l->k);
        for (int64_t e = 0; e < s->n; e++)
            for (int64_t i = 0; i < l->k; i++)
                out[e * l->k + i] = l->v[i * s->n + e];
        ok = rd_deliver(s->ctx, s->call, out, s->v, l->k, s->opts.vectors);
    }
    for (int64_t i = 0; i < l->k; i++)
        l->row[i] = l->value[l->order[i]];
    ok = ok && rd_eval_for(s->ctx, s->call, rd_leaf_of(s->ctx, &best, s->call), values) == RD_OK;
    rd_free(s->ctx, out);
    return ok;
}

/* Computes the k eigenvalues of a symmetric operator that options want, by Lanczos' method. It
 * keeps `basis` vectors, 2 k + 20 if the caller does not say, and never more than there are
 * rows. False after recording a failure. The vectors, T and the order are freed here. */
static bool eigsh(eigen_solve *s, int64_t k, rd_array *values)
{
    lanczos l = { .s = s, .k = k };
    bool    ok;

    if (k < 1 || k > s->n)
        return rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: %lld eigenvalues of an operator of %lld rows",
                       s->call, (long long)k, (long long)s->n) != NULL;
    if (s->opts.basis && s->opts.basis <= k && s->opts.basis < s->n)
        return rd_fail(s->ctx, RD_ERR_ARGUMENT,
                       "%s: .basis is %d, and must be more than the %lld eigenvalues", s->call,
                       (int)s->opts.basis, (long long)k) != NULL;
    l.most = s->opts.basis ? s->opts.basis : 2 * k + 20;
    l.most = l.most < s->n ? l.most : s->n;
    ok     = rd_lapack_here(s->ctx, s->call) && allocate(&l) && run(&l) && deliver(&l, values);
    rd_free(s->ctx, l.v);
    rd_free(s->ctx, l.t);
    rd_free(s->ctx, l.order);
    return ok;
}

/* The public call rd_eigsh(): k eigenvalues of a symmetric operator, and their vectors if
 * options ask for them. All that is made in the context meanwhile is released at the end.
 * Returns the context's status. begin() checks the arguments and plans the operator, and is
 * false after recording a failure; finish() fills in info, and frees. */
rd_status rd_eigsh_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, int64_t k, rd_array *values,
                      const rd_eigen_opts *opts)
{
    eigen_solve s = { .call = "rd_eigsh", .ctx = ctx };

    if (!ctx || rd_error(ctx) != RD_OK)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (!values)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the output of the eigenvalues is NULL", s.call);
    else if (begin(&s, s.call, ctx, Av, v, opts))
        eigsh(&s, k, values);
    const rd_status status = finish(&s);
    rd_ctx_release(ctx, mark);
    return status;
}

/* gmres.c - generalised minimal residuals with restarts: Saad and Schultz (1986), preconditioned
 * from the right, so that estimates are of the residual itself.
 *
 * Arnoldi's method keeps `restart` vectors.  Each new one is made orthogonal to all before.
 * Sides may end at different steps: each has its own columns. */
#include "solve/linear_solve.h"

enum { Z, W, N_VECTORS }; /* then restart + 1 vectors V */
enum { SCALE, DOT, STEPS, LENGTH, N_NUMBERS };

/* The numbers of a cycle; h[i, j] of side k is at (j * (most + 1) + i) * sides + k. */
typedef struct arnoldi {
    int64_t n, sides, most;
    double *z, *w, *v;
    double *scale, *dot, *steps, *length;
    double *cosine, *sine, *g; /* rotations of each step; the rotated right side */
    double *h;
} arnoldi;

/* Lays out the vectors and numbers of a cycle. Numbers of right-hand side k (of `sides`) stand
 * side by side, so that each pointer is to the first side's; `most` is how many Arnoldi vectors
 * the cycle keeps. n is the length of a vector of all sides; Z, W and V are the vectors' places,
 * SCALE and the like those of numbers. */
static arnoldi arnoldi_of(const rd_linear_solve *s)
{
    const int64_t sides = s->space.n_rhs, n = s->space.rows * sides, most = s->opts.restart;
    double *const at = s->numbers;

    return (arnoldi){ .n      = n,
                      .sides  = sides,
                      .most   = most,
                      .z      = s->vectors + Z * n,
                      .w      = s->vectors + W * n,
                      .v      = s->vectors + N_VECTORS * n,
                      .scale  = at + SCALE * sides,
                      .dot    = at + DOT * sides,
                      .steps  = at + STEPS * sides,
                      .length = at + LENGTH * sides,
                      .cosine = at + N_NUMBERS * sides,
                      .sine   = at + (N_NUMBERS + most + 1) * sides,
                      .g      = at + (N_NUMBERS + 2 * (most + 1)) * sides,
                      .h      = at + (N_NUMBERS + 3 * (most + 1)) * sides };
}

/* Returns the elements [i, j] of the Hessenberg matrices h, one for each right-hand side; h[i,
 * j] is the coefficient of vector i in A P v_j. */
static double *h_at(const arnoldi *a, int64_t i, int64_t j)
{
    return a->h + (j * (a->most + 1) + i) * a->sides;
}

/* Makes step j of Arnoldi's method for all right-hand sides. w = A P v_j is made orthogonal to
 * vectors 0 to j, with the coefficients in column j of h. What is left, scaled to norm 1, is
 * vector j + 1. If nothing but rounding is left (1e-15 of w), it is 0, and the side ends with
 * this step. False after a failure. `length` is the norm of w before, `dot` that of what is
 * left. */
static bool arnoldi_step(rd_linear_solve *s, const arnoldi *a, int64_t j)
{
    if (!rd_precondition(s, a->v + j * a->n, a->z) || !rd_operator_run(&s->A, a->z, a->w))
        return false;
    for (int64_t i = 0; i <= j + 1; i++)
        for (int64_t k = 0; k < a->sides; k++)
            h_at(a, i, j)[k] = 0;
    rd_norms(&s->space, a->w, a->length);
    rd_make_orthogonal(&s->space, a->v, j + 1, a->w, h_at(a, 0, j), a->sides, a->scale);
    rd_norms(&s->space, a->w, a->dot);
    for (int64_t k = 0; k < a->sides; k++) {
        if (s->side[k].active && !isfinite(a->dot[k]))
            return rd_solve_broken(s, "the length of A v", a->dot[k], "");
        if (a->dot[k] <= 1e-15 * a->length[k]) /* rounding of a vector in the span: the end */
            a->dot[k] = 0;
        h_at(a, j + 1, j)[k] = a->dot[k];
        a->scale[k]          = a->dot[k] > 0 ? 1 / a->dot[k] : 0;
    }
    rd_multiple(&s->space, a->v + (j + 1) * a->n, a->scale, a->w);
    return true;
}

/* Makes the Hessenberg matrix of right-hand side k triangular in column j. The Givens rotations
 * of the columns before are applied to it; a new one makes the element below its diagonal 0, and
 * is applied to the right side g, whose next element is then the residual. False, after
 * recording it, if the column is 0. c and d are a rotation's cosine and sine; `length` is the
 * new diagonal element. The side's estimate is that residual, and steps[k] counts its columns. */
static bool rotate(const rd_linear_solve *s, const arnoldi *a, int64_t j, int64_t k)
{
    const int64_t sides = a->sides;
    double *const below = h_at(a, j + 1, j) + k, *const at = h_at(a, j, j) + k;

    for (int64_t i = 0; i < j; i++) {
        double *const upper = h_at(a, i, j) + k, *const lower = h_at(a, i + 1, j) + k;
        const double c = a->cosine[i * sides + k], d = a->sine[i * sides + k];
        const double u = *upper, l = *lower;

        *upper = c * u + d * l;
        *lower = c * l - d * u;
    }
    const double length = hypot(*at, *below);

    if (!(length > 0) || !isfinite(length))
        return rd_solve_broken(s, "a pivot", length,
                               "the operator is singular, and b is not in its range");
    a->cosine[j * sides + k]  = *at / length;
    a->sine[j * sides + k]    = *below / length;
    *at                       = length;
    a->g[(j + 1) * sides + k] = -a->sine[j * sides + k] * a->g[j * sides + k];
    a->g[j * sides + k] *= a->cosine[j * sides + k];
    a->steps[k]         = (double)(j + 1);
    s->side[k].estimate = fabs(a->g[(j + 1) * sides + k]);
    return true;
}

/* Solves the triangular system h y = g of right-hand side k by back substitution. y takes the
 * place of g. a->steps[k] is the size of the system, and h_at(a, i, j) the element of row i and
 * column j, for all sides. */
static void solve_triangle(const arnoldi *a, int64_t k)
{
    for (int64_t i = (int64_t)a->steps[k] - 1; i >= 0; i--) {
        double sum = a->g[i * a->sides + k];

        for (int64_t j = i + 1; j < (int64_t)a->steps[k]; j++)
            sum -= h_at(a, i, j)[k] * a->g[j * a->sides + k];
        a->g[i * a->sides + k] = sum / h_at(a, i, i)[k];
    }
}

/* Adds the cycle's result to x: x += P V y, where y combines the first `steps` Arnoldi vectors V
 * so that the residual is least, and P is the preconditioner. A right-hand side that ended
 * earlier has fewer of them. False after a failure. scale[k] is the coefficient of vector j for
 * each side; w is cleared first by factors 0. */
static bool move(rd_linear_solve *s, const arnoldi *a, int64_t steps)
{
    for (int64_t k = 0; k < a->sides; k++) {
        solve_triangle(a, k);
        a->scale[k] = 0;
    }
    rd_multiple(&s->space, a->w, a->scale, a->w);
    for (int64_t j = 0; j < steps; j++) {
        for (int64_t k = 0; k < a->sides; k++)
            a->scale[k] = (double)j < a->steps[k] ? a->g[j * a->sides + k] : 0;
        rd_add_multiple(&s->space, a->w, a->scale, a->v + j * a->n);
    }
    if (!rd_precondition(s, a->w, a->z))
        return false;
    for (int64_t k = 0; k < a->sides; k++)
        a->scale[k] = 1;
    rd_add_multiple(&s->space, s->x, a->scale, a->z);
    return true;
}

/* Runs one cycle of GMRES from the residual in s->r, at most `restart` steps, until all
 * right-hand sides have reached their targets or iterations end; then s->x moves. V begins with
 * r scaled to norm 1, and the right side g with |r|. False after a failure. begun is |r|;
 * `active`: the side has not converged. arnoldi_step() makes the next vector, rotate() one
 * column of h triangular, and rd_solve_step() says how it goes on. */
static bool cycle(rd_linear_solve *s)
{
    const arnoldi a     = arnoldi_of(s);
    rd_next       next  = RD_NEXT_GO;
    int64_t       steps = 0;

    for (int64_t k = 0; k < a.sides; k++) {
        a.steps[k] = 0;
        a.g[k]     = s->side[k].begun;
        a.scale[k] = s->side[k].active ? 1 / s->side[k].begun : 0;
    }
    rd_multiple(&s->space, a.v, a.scale, s->r);
    for (; steps < a.most && next == RD_NEXT_GO; steps++) {
        if (!arnoldi_step(s, &a, steps))
            return false;
        for (int64_t k = 0; k < a.sides; k++)
            if (s->side[k].active && !rotate(s, &a, steps, k))
                return false;
        next = rd_solve_step(s);
    }
    return next != RD_NEXT_FAIL && move(s, &a, steps);
}

const rd_method rd_method_gmres = { .vectors       = N_VECTORS + 1,
                                    .numbers       = N_NUMBERS + 3,
                                    .per_restart   = 3 + 1,
                                    .per_restart_2 = 1,
                                    .cycle         = cycle };

/* minres.c - minimal residuals for symmetric operators: Paige and Saunders (1975).
 *
 * Lanczos' method makes a tridiagonal matrix of A, and rotations make it triangular a column at
 * a time. x moves along w, the columns of V R^-1, so few vectors are kept. With a preconditioner
 * all of it happens in the norm of P, and so does the estimate. */
#include "solve/linear_solve.h"
#include <float.h>

enum { V, Y, R1, R2, W, W1, W2, N_VECTORS };

/* Numbers of one side, named as in the paper. */
typedef struct rotation {
    double beta, old_beta, first_beta;            /* lengths of Lanczos vectors */
    double d_bar, epsilon, phi_bar, cosine, sine; /* of the last rotation       */
    double old_epsilon, delta, gamma, phi;        /* of this one                */
} rotation;

enum { SCALARS = 3, N_NUMBERS = (int)(sizeof(rotation) / sizeof(double)) + SCALARS };

/* The vectors of a cycle; they change places from step to step. */
typedef struct lanczos {
    double   *v, *y, *r1, *r2, *w, *w1, *w2;
    rotation *at;
    double   *a, *b, *alpha; /* scalars of loops; v A v; each of all right-hand sides */
} lanczos;

/* Lays out the vectors and numbers of a cycle in the solve's memory, each for all right-hand
 * sides. V, Y and the like are the places of vectors of n numbers; behind SCALARS numbers for
 * each side stand the rotations. */
static lanczos lanczos_of(const rd_linear_solve *s)
{
    const int64_t n = s->space.rows * s->space.n_rhs;
    double *const m = s->vectors;

    return (lanczos){
        .v     = m + V * n,
        .y     = m + Y * n,
        .r1    = m + R1 * n,
        .r2    = m + R2 * n,
        .w     = m + W * n,
        .w1    = m + W1 * n,
        .w2    = m + W2 * n,
        .a     = s->numbers,
        .b     = s->numbers + s->space.n_rhs,
        .alpha = s->numbers + 2 * s->space.n_rhs,
        .at    = (rotation *)(void *)(s->numbers + SCALARS * s->space.n_rhs),
    };
}

/* Exchanges two pointers to vectors. */
static void swap(double **x, double **y)
{
    double *const was = *x;

    *x = *y;
    *y = was;
}

/* Sets *length to that of the next Lanczos vector in the norm of the preconditioner P: the root
 * of r P r. False, after recording it, if that is negative or not finite, as P is then not
 * positive definite. */
static bool length_of(const rd_linear_solve *s, double square, double *length)
{
    if (!(square >= 0) || !isfinite(square))
        return rd_solve_broken(s, s->has_P ? "r P r of the preconditioner" : "r r", square,
                               "it must be symmetric and positive definite");
    *length = sqrt(square);
    return true;
}

/* Begins a cycle: the first Lanczos vector is the residual r, y = P r, and all directions w are
 * 0. The rotations of each right-hand side begin with cosine -1, as in the paper. False after a
 * failure. beta is the length of the first vector; phi_bar is what is left of the residual, at
 * first all of it. */
static bool begin(rd_linear_solve *s, lanczos *l)
{
    const int64_t n = s->space.rows * s->space.n_rhs;

    for (int64_t i = 0; i < n; i++) {
        l->r2[i] = s->r[i];
        l->r1[i] = l->w[i] = l->w1[i] = l->w2[i] = 0;
    }
    if (!rd_precondition(s, l->r2, l->y))
        return false;
    rd_dots(&s->space, l->r2, l->y, l->a);
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        l->at[k] = (rotation){ .cosine = -1 };
        if (s->side[k].active && !length_of(s, l->a[k], &l->at[k].beta))
            return false;
        l->at[k].first_beta = l->at[k].phi_bar = l->at[k].beta;
    }
    return true;
}

/* Makes the next Lanczos vector r2, and y = P r2. The vector v is y scaled to norm 1, and A v is
 * taken apart along the last two vectors. The part along v, alpha = v A v, is the diagonal
 * element of the tridiagonal matrix, and what is left is new. Sides that have converged have
 * factors 0. False after a failure. Factors in order: a: 1 / beta, which scales y to v; b: -beta
 * / old_beta along the vector before the last; b: -alpha / beta along the last one. */
static bool lanczos_step(rd_linear_solve *s, lanczos *l)
{
    const int64_t sides = s->space.n_rhs;
    double *const alpha = l->alpha;

    for (int64_t k = 0; k < sides; k++)
        l->a[k] = s->side[k].active && l->at[k].beta > 0 ? 1 / l->at[k].beta : 0;
    rd_multiple(&s->space, l->v, l->a, l->y);
    if (!rd_operator_run(&s->A, l->v, l->y))
        return false;
    for (int64_t k = 0; k < sides; k++)
        l->b[k] = l->at[k].old_beta > 0 ? -l->at[k].beta / l->at[k].old_beta : 0;
    rd_add_multiple(&s->space, l->y, l->b, l->r1);
    rd_dots(&s->space, l->v, l->y, alpha);
    for (int64_t k = 0; k < sides; k++) {
        if (s->side[k].active && !isfinite(alpha[k]))
            return rd_solve_broken(s, "v A v of the operator", alpha[k], "");
        l->b[k] = s->side[k].active ? -alpha[k] * l->a[k] : 0;
    }
    rd_add_multiple(&s->space, l->y, l->b, l->r2);
    swap(&l->r1, &l->r2); /* the vector before the last is not needed */
    swap(&l->r2, &l->y);
    return rd_precondition(s, l->r2, l->y);
}

/* Takes right-hand side k one column on in making its tridiagonal matrix triangular. The last
 * two Givens rotations apply to the column, with alpha on the diagonal. A new one makes the
 * element below it 0. It gives phi, the step along the next direction w, and phi_bar, what is
 * left of the residual. `square` is r P r of the next vector. False after a failure. Names are
 * the paper's. The estimate is the residual's norm at the begin of the cycle times the share of
 * phi_bar that is left. */
static bool rotate(rd_linear_solve *s, int64_t k, double alpha, double square)
{
    rotation *const r = &lanczos_of(s).at[k];

    r->old_beta = r->beta;
    if (!length_of(s, square, &r->beta))
        return false;
    r->old_epsilon     = r->epsilon;
    r->delta           = r->cosine * r->d_bar + r->sine * alpha;
    const double g_bar = r->sine * r->d_bar - r->cosine * alpha;
    r->epsilon         = r->sine * r->beta;
    r->d_bar           = -r->cosine * r->beta;
    r->gamma           = hypot(g_bar, r->beta);
    if (!(r->gamma > 0))
        return rd_solve_broken(s, "a pivot", r->gamma,
                               "the operator is singular, and b is not in its range");
    r->cosine = g_bar / r->gamma;
    r->sine   = r->beta / r->gamma;
    r->phi    = r->cosine * r->phi_bar;
    r->phi_bar *= r->sine;
    s->side[k].estimate = s->side[k].begun * (r->phi_bar / r->first_beta);
    return true;
}

/* Moves x along the next direction of each right-hand side: w = (v - old_epsilon w1 - delta w2)
 * / gamma, x += phi w, where w1 and w2 are the directions before the last and the last one.
 * Sides that have converged have factors 0. l->b is room for a factor of each side; l->at[k] has
 * the numbers of side k. */
static void move(rd_linear_solve *s, lanczos *l)
{
    const int64_t sides = s->space.n_rhs;

    swap(&l->w1, &l->w2);
    swap(&l->w2, &l->w); /* w1, w2: the last two; w: room */
    for (int64_t i = 0; i < s->space.rows * sides; i++)
        l->w[i] = l->v[i];
    for (int64_t k = 0; k < sides; k++)
        l->b[k] = s->side[k].active ? -l->at[k].old_epsilon : 0;
    rd_add_multiple(&s->space, l->w, l->b, l->w1);
    for (int64_t k = 0; k < sides; k++)
        l->b[k] = s->side[k].active ? -l->at[k].delta : 0;
    rd_add_multiple(&s->space, l->w, l->b, l->w2);
    for (int64_t k = 0; k < sides; k++)
        l->b[k] = s->side[k].active ? 1 / l->at[k].gamma : 0;
    rd_multiple(&s->space, l->w, l->b, l->w);
    for (int64_t k = 0; k < sides; k++)
        l->b[k] = s->side[k].active ? l->at[k].phi : 0;
    rd_add_multiple(&s->space, s->x, l->b, l->w);
}

/* Runs MINRES from the residual in s->r until all right-hand sides have reached their targets
 * or iterations end; s->x moves to the solution. False after a failure. begin() sets up the
 * first vectors, lanczos_step() makes the next; rotate() makes one column of T triangular, and
 * rd_solve_step() says how it goes on. l.a gets r2 y of each side. */
static bool cycle(rd_linear_solve *s)
{
    lanczos l    = lanczos_of(s);
    rd_next next = RD_NEXT_GO;

    if (!begin(s, &l))
        return false;
    while (next == RD_NEXT_GO) {
        if (!lanczos_step(s, &l))
            return false;
        rd_dots(&s->space, l.r2, l.y, l.a);
        for (int64_t k = 0; k < s->space.n_rhs; k++)
            if (s->side[k].active && !rotate(s, k, l.alpha[k], l.a[k]))
                return false;
        move(s, &l);
        next = rd_solve_step(s);
    }
    return next != RD_NEXT_FAIL;
}

const rd_method rd_method_minres = {
    .vectors = N_VECTORS, .numbers = N_NUMBERS, .symmetric = true, .cycle = cycle
};

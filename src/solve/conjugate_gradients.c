/* conjugate_gradients.c - Hestenes and Stiefel (1952), with a preconditioner. */
#include "solve/linear_solve.h"

enum { Z, P, Q, N_VECTORS };
enum { RZ, PQ, ALPHA, BETA, RR, N_NUMBERS };

/* Computes the step length alpha = r z / p A p along the search direction p, for each right-hand
 * side; 0 for sides that have converged. pq: p A p of each side; rz: r z. False, after recording
 * it, if A is not positive definite. Sides are the vectors b that are solved together. */
static bool find_alpha(const rd_linear_solve *s, const double *rz, const double *pq, double *alpha)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        alpha[k] = 0;
        if (!s->side[k].active)
            continue;
        if (!(pq[k] > 0) || !isfinite(pq[k]))
            return rd_solve_broken(s, "p A p of the operator", pq[k],
                                   "conjugate gradients need a positive definite operator; "
                                   "RD_MINRES takes a symmetric one");
        alpha[k] = rz[k] / pq[k];
    }
    return true;
}

/* Computes beta = new r z / old r z for each right-hand side, by which the old search direction
 * counts in the new one, p = z + beta p. It is 0 in the first iteration of a cycle, where rz is
 * 0. Then rz gets the new values. False, after recording it, if the preconditioner is not
 * positive definite. `active`: the side has not converged. */
static bool find_beta(const rd_linear_solve *s, double *rz, const double *new_rz, double *beta)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        beta[k] = 0;
        if (!s->side[k].active)
            continue;
        if (!(new_rz[k] > 0) || !isfinite(new_rz[k]))
            return rd_solve_broken(s, "r P r of the preconditioner", new_rz[k],
                                   "it must be symmetric and positive definite");
        beta[k] = rz[k] > 0 ? new_rz[k] / rz[k] : 0;
        rz[k]   = new_rz[k];
    }
    return true;
}

/* Makes a step: x += alpha p, r -= alpha q, with q = A p. The estimates of the residuals are the
 * norms of the new r, whose squares are left in rr. */
static void move(const rd_linear_solve *s, const double *alpha, const double *p, const double *q,
                 double *rr)
{
    rd_step_along(&s->space, alpha, p, q, s->x, s->r, rr);
    for (int64_t k = 0; k < s->space.n_rhs; k++)
        if (s->side[k].active)
            s->side[k].estimate = sqrt(rr[k]);
}

/* Sets *z = P r, the preconditioned residual, and rr = r z for each right-hand side. Without a
 * preconditioner *z is r itself, and rr already is its square. False after a failure. s->has_P:
 * there is a preconditioner. *z is room for it. */
static bool precondition(rd_linear_solve *s, double **z, double *rr)
{
    if (!s->has_P) {
        *z = s->r;
        return true;
    }
    if (!rd_precondition(s, s->r, *z))
        return false;
    rd_dots(&s->space, s->r, *z, rr);
    return true;
}

/* Runs conjugate gradients from the residual in s->r until all right-hand sides have reached
 * their targets or iterations end. Vectors z, p and q = A p lie in s->vectors, and the scalars
 * of each side in s->numbers. s->x moves to the solution. False after a failure. begun is the
 * norm of the residual at the begin of the cycle. rd_solve_step() counts an iteration and says
 * whether the cycle goes on, ends or failed. */
static bool cycle(rd_linear_solve *s)
{
    const int64_t n = s->space.rows * s->space.n_rhs, sides = s->space.n_rhs;
    double *z = s->vectors + Z * n, *const p = s->vectors + P * n, *const q = s->vectors + Q * n;
    double *const rz = s->numbers + RZ * sides, *const pq = s->numbers + PQ * sides,
                  *const alpha = s->numbers + ALPHA * sides,
                  *const beta = s->numbers + BETA * sides, *const rr = s->numbers + RR * sides;
    rd_next next = RD_NEXT_GO;

    for (int64_t k = 0; k < sides; k++) {
        rz[k] = 0;
        rr[k] = s->side[k].begun * s->side[k].begun;
    }
    while (next == RD_NEXT_GO) {
        if (!precondition(s, &z, rr) || !find_beta(s, rz, rr, beta))
            return false;
        rd_multiply_add(&s->space, p, beta, z);
        if (!rd_operator_run(&s->A, p, q))
            return false;
        rd_dots(&s->space, p, q, pq);
        if (!find_alpha(s, rz, pq, alpha))
            return false;
        move(s, alpha, p, q, rr);
        next = rd_solve_step(s);
    }
    return next != RD_NEXT_FAIL;
}

const rd_method rd_method_cg = {
    .vectors = N_VECTORS, .numbers = N_NUMBERS, .symmetric = true, .cycle = cycle
};

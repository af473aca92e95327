/* bicgstab.c - stabilised biconjugate gradients: van der Vorst (1992), preconditioned from the
 * right, so that estimates are of the residual itself.
 *
 * An iteration takes two steps: along a direction p, which makes the residual r orthogonal to one
 * more vector of the Krylov space of A^T, and along r itself, as far as makes r least.  It keeps
 * few vectors for any A, and evaluates it twice.  A side whose numbers break down begins anew: its
 * shadow, the vector that stands for that other space, becomes its residual.
 *
 * Nothing bounds the residual on its way.  So each side keeps the best x that it had, which it goes
 * back to if the residual has risen so far above that x's that rounding has spoilt the recurrence,
 * or if iterations end. */
#include "solve/linear_solve.h"

enum { SHADOW, P, Q, T, Z, BEST, N_VECTORS };
enum { RHO, ALPHA, OMEGA, BETA, LENGTH, DOT, SQUARE, RR, LEAST, N_NUMBERS };

/* The vectors and numbers of a cycle, each for all right-hand sides. */
typedef struct recurrence {
    double *shadow, *p, *q, *t, *z;     /* q = A P p, t = A P r; z: room of the preconditioner */
    double *best, *least;               /* an x of the cycle, and the estimate of its residual */
    double *rho, *alpha, *omega, *beta; /* shadow . r; the steps; how much of p stays          */
    double *length;                     /* |shadow|; 0: the side begins anew                   */
    double *dot, *square, *rr;          /* products now; the squares of r                      */
} recurrence;

/* Lays out the vectors and numbers of a cycle in the solve's memory. SHADOW and the like are the
 * places of vectors of n numbers, RHO and the like those of numbers, one for each side. */
static recurrence recurrence_of(const rd_linear_solve *s)
{
    const int64_t sides = s->space.n_rhs, n = s->space.rows * sides;
    double *const v = s->vectors, *const at = s->numbers;

    return (recurrence){ .shadow = v + SHADOW * n,
                         .p      = v + P * n,
                         .q      = v + Q * n,
                         .t      = v + T * n,
                         .z      = v + Z * n,
                         .best   = v + BEST * n,
                         .least  = at + LEAST * sides,
                         .rho    = at + RHO * sides,
                         .alpha  = at + ALPHA * sides,
                         .omega  = at + OMEGA * sides,
                         .beta   = at + BETA * sides,
                         .length = at + LENGTH * sides,
                         .dot    = at + DOT * sides,
                         .square = at + SQUARE * sides,
                         .rr     = at + RR * sides };
}

/* True if a product of two vectors is nothing but rounding beside their lengths: some units in the
 * last place of what the operator makes, which is of v's type. */
static bool is_rounding(const rd_linear_solve *s, double dot, double length_x, double length_y)
{
    return fabs(dot) <= 40 * s->epsilon * length_x * length_y;
}

/* Returns P x, the preconditioned vector, which is x itself without a preconditioner and else in
 * c->z; NULL after a failure. */
static const double *preconditioned(rd_linear_solve *s, const recurrence *c, const double *x)
{
    return !s->has_P ? x : rd_precondition(s, x, c->z) ? c->z : NULL;
}

/* Makes the residual of right-hand side k its shadow. Then shadow . r is |r|^2, which is in
 * c->rr. */
static void begin_anew(const rd_linear_solve *s, const recurrence *c, int64_t k)
{
    for (int64_t i = k; i < s->space.rows * s->space.n_rhs; i += s->space.n_rhs)
        c->shadow[i] = s->r[i];
    c->length[k] = sqrt(c->rr[k]);
    c->rho[k]    = c->rr[k];
}

/* Sets the next direction of each right-hand side: p = r + beta (p - omega q), with beta = new
 * rho / rho * alpha / omega. A side begins anew with p = r if it has no shadow yet, if its last
 * steps were 0, or if its shadow is orthogonal to r. c->dot has the new rho, and then -omega. */
static void next_direction(const rd_linear_solve *s, const recurrence *c)
{
    rd_dots(&s->space, c->shadow, s->r, c->dot);
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        const double before = c->rho[k] * c->omega[k];

        c->rho[k]  = c->dot[k];
        c->dot[k]  = -c->omega[k];
        c->beta[k] = 0;
        if (!s->side[k].active)
            continue;
        if (c->length[k] > 0 && before != 0 &&
            !is_rounding(s, c->rho[k], c->length[k], s->side[k].estimate))
            c->beta[k] = c->rho[k] / before * c->alpha[k];
        if (c->beta[k] == 0)
            begin_anew(s, c, k);
    }
    rd_add_multiple(&s->space, c->p, c->dot, c->q);
    rd_multiply_add(&s->space, c->p, c->beta, s->r);
}

/* Records that the product of the residual of right-hand side k and what the operator makes of it
 * is nothing but rounding, so that there is no first step. Returns false. The sentence has the
 * product relative to the vectors' lengths: "r A r / |r| |A r| of the operator is 1e-17 in
 * iteration 1; BiCGStab does not go on ...". */
static bool refuse(const rd_linear_solve *s, const recurrence *c, int64_t k)
{
    const double lengths = c->length[k] * sqrt(c->square[k]);

    return rd_solve_broken(s,
                           s->has_P ? "r A P r / |r| |A P r| of the operator A and the "
                                      "preconditioner P"
                                    : "r A r / |r| |A r| of the operator A",
                           lengths > 0 ? c->dot[k] / lengths : 0,
                           "BiCGStab does not go on from there; RD_GMRES does, unless the "
                           "operator is singular");
}

/* Sets alpha = rho / shadow . q for each right-hand side: 0 if that product is nothing but
 * rounding, which the step along r can mend unless the shadow is r itself. False, after recording
 * it, in that case. */
static bool find_alpha(const rd_linear_solve *s, const recurrence *c)
{
    rd_dots(&s->space, c->q, c->q, c->square);
    rd_dots(&s->space, c->shadow, c->q, c->dot);
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        c->alpha[k] = 0;
        if (!s->side[k].active)
            continue;
        if (!isfinite(c->dot[k]))
            return rd_solve_broken(s, "r A p of the operator", c->dot[k], "");
        if (!is_rounding(s, c->dot[k], c->length[k], sqrt(c->square[k])))
            c->alpha[k] = c->rho[k] / c->dot[k];
        else if (c->beta[k] == 0)
            return refuse(s, c, k);
    }
    return true;
}

/* Sets omega = t . r / t . t for each right-hand side, the step along r that makes the residual
 * least; 0 if t . r is nothing but rounding, by which beta would be divided. */
static void find_omega(const rd_linear_solve *s, const recurrence *c)
{
    rd_dots(&s->space, c->t, s->r, c->dot);
    rd_dots(&s->space, c->t, c->t, c->square);
    for (int64_t k = 0; k < s->space.n_rhs; k++)
        c->omega[k] =
            s->side[k].active && !is_rounding(s, c->dot[k], sqrt(c->square[k]), s->side[k].estimate)
                ? c->dot[k] / c->square[k]
                : 0;
}

/* Makes a step: x += by * of, r -= by * image, where image = A of. The estimates of the residuals
 * are the norms of the new r. True if that of some side is above its target. */
static bool move(const rd_linear_solve *s, const recurrence *c, const double *by, const double *of,
                 const double *image)
{
    bool active = false;

    rd_step_along(&s->space, by, of, image, s->x, s->r, c->rr);
    for (int64_t k = 0; k < s->space.n_rhs; k++)
        if (s->side[k].active) {
            s->side[k].estimate = sqrt(c->rr[k]);
            active |= !(s->side[k].estimate <= s->side[k].target);
        }
    return active;
}

/* Makes both steps of an iteration. If the first one reaches the targets of all right-hand sides,
 * there is no second one. False after a failure. */
static bool iterate(rd_linear_solve *s, const recurrence *c)
{
    const double *z;

    next_direction(s, c);
    if (!(z = preconditioned(s, c, c->p)) || !rd_operator_run(&s->A, z, c->q) || !find_alpha(s, c))
        return false;
    if (!move(s, c, c->alpha, z, c->q))
        return true;
    if (!(z = preconditioned(s, c, s->r)) || !rd_operator_run(&s->A, z, c->t))
        return false;
    find_omega(s, c);
    move(s, c, c->omega, z, c->t);
    return true;
}

/* ---- The best x ------------------------------------------------------------------------------ */
/* Copies the column of right-hand side k from one vector to another. */
static void copy_side(const rd_linear_solve *s, int64_t k, const double *from, double *to)
{
    for (int64_t i = k; i < s->space.rows * s->space.n_rhs; i += s->space.n_rhs)
        to[i] = from[i];
}

/* Sets x of right-hand side k back to the best one. The residual in s->r is that of the x it had,
 * so the side must not take another step in this cycle. */
static void go_back(const rd_linear_solve *s, const recurrence *c, int64_t k)
{
    copy_side(s, k, c->best, s->x);
    s->side[k].estimate = c->least[k];
}

/* Keeps x of the sides whose residual has halved since the last one that was kept; rarer copies
 * cost less, and what is kept is the best x to a factor of 2. A side whose residual has risen from
 * there by the root of the operator's precision goes back and ends with this cycle: half of the
 * digits are lost then. The next cycle begins with the residual of the x that it went back to. */
static void keep_best(rd_linear_solve *s, const recurrence *c)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        rd_right_side *const side = &s->side[k];

        if (!side->active)
            continue;
        if (side->estimate <= 0.5 * c->least[k]) {
            c->least[k] = side->estimate;
            copy_side(s, k, s->x, c->best);
        } else if (isfinite(side->estimate) && side->estimate * sqrt(s->epsilon) > c->least[k]) {
            s->risen_from = c->least[k] / side->b;
            s->risen_to   = side->estimate / side->b;
            side->active  = false;
            go_back(s, c, k);
        }
    }
}

/* ---- A cycle --------------------------------------------------------------------------------- */
/* Begins a cycle: no side has a shadow or a step yet, and the best x is that of its beginning. */
static void begin(const rd_linear_solve *s, const recurrence *c)
{
    for (int64_t k = 0; k < s->space.n_rhs; k++) {
        c->rho[k] = c->alpha[k] = c->omega[k] = c->length[k] = 0;
        c->least[k]                                          = s->side[k].begun;
        c->rr[k]                                             = c->least[k] * c->least[k];
        copy_side(s, k, s->x, c->best);
    }
}

/* Runs BiCGStab from the residual in s->r until all right-hand sides have reached their targets or
 * went back, or iterations end; s->x moves to the solution, or is the best one. False after a
 * failure. rd_solve_step() counts an iteration and says how it goes on. */
static bool cycle(rd_linear_solve *s)
{
    const recurrence c    = recurrence_of(s);
    rd_next          next = RD_NEXT_GO;

    begin(s, &c);
    while (next == RD_NEXT_GO) {
        if (!iterate(s, &c))
            return false;
        keep_best(s, &c);
        next = rd_solve_step(s);
    }
    for (int64_t k = 0; k < s->space.n_rhs; k++)
        if (s->side[k].active && s->side[k].estimate > c.least[k])
            go_back(s, &c, k);
    return next != RD_NEXT_FAIL;
}

const rd_method rd_method_bicgstab = { .vectors = N_VECTORS, .numbers = N_NUMBERS, .cycle = cycle };

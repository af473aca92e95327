/* linear_solve.h - what the methods for linear systems share.
 *
 * A solve consists of cycles.  Each begins with the residual r = b - A x, computed from x, and its
 * method adds to x until its own estimate reaches the target, or iterations end.  So a method that
 * drifts, and an operator that is not linear, cannot pass for a solution. */
#ifndef RD_SOLVE_LINEAR_SOLVE_H
#define RD_SOLVE_LINEAR_SOLVE_H
#include "solve/operator.h"
#include "solve/vectors.h"

/* Facts of one right side. */
typedef struct rd_right_side {
    double b;        /* |b| */
    double begun;    /* |b - A x| at the beginning of the cycle */
    double target;   /* the estimate at which the cycle may end */
    double estimate; /* of |b - A x| now */
    bool   active;   /* the estimate is above the target */
} rd_right_side;

typedef struct rd_linear_solve {
    const char    *call;
    rd_ctx        *ctx;
    rd_solve_opts  opts; /* defaults are filled in */
    rd_operator    A, P;
    bool           has_P;
    rd_vectors     space;
    double        *b, *x, *r; /* r: the residual; a cycle may overwrite it */
    double        *memory;    /* of these, and then of the method's vectors */
    double        *vectors;
    double        *numbers; /* the method's, as many for each side as it asks for */
    rd_right_side *side;
    double         epsilon;              /* the distance of 1 and the next number of v's type */
    double         risen_from, risen_to; /* |r| / |b| of a side that diverged; 0: none did */
    int64_t        iterations;
    double         residual; /* greatest of a side, relative to |b| */
    bool           converged;
} rd_linear_solve;

/* A method: how many vectors and numbers a side it needs with so many kept, which operators it
 * takes, and its cycle, which is false after a failure. */
typedef struct rd_method {
    int64_t vectors, numbers;           /* always */
    int64_t per_restart, per_restart_2; /* numbers for each kept vector, and for each pair of them;
                                         * per kept vector there is one vector; 0: none is kept */
    bool    symmetric;                  /* it wants A^T = A and P^T = P; so it solves A^T, too */
    bool (*cycle)(rd_linear_solve *s);
} rd_method;
extern const rd_method rd_method_cg, rd_method_minres, rd_method_gmres, rd_method_bicgstab;
/* The method of this name; NULL: there is none. */
const rd_method *rd_method_of(rd_solver name);

/* What a cycle does after an iteration. */
typedef enum rd_next { RD_NEXT_GO, RD_NEXT_END, RD_NEXT_FAIL } rd_next;
/* Counts an iteration whose estimates are in s->side: marks sides that have reached their targets,
 * and tells the caller. */
rd_next rd_solve_step(rd_linear_solve *s);
/* z = P r; copies without a preconditioner. */
bool rd_precondition(rd_linear_solve *s, const double *r, double *z);
/* Records that a number is what no such operator gives: NaN, or not above 0.  Returns false. */
bool rd_solve_broken(const rd_linear_solve *s, const char *what, double value, const char *remedy);

/* Sets up and solves A x = b, x left in s->x.  False after a failure; missing the tolerance is
 * none. rd_linear_solve_end() is due in any case. */
bool rd_linear_solve_run(rd_linear_solve *s, const char *call, rd_ctx *ctx, rd_expr *Av, rd_expr *v,
                         rd_expr *b, const rd_solve_opts *opts);
void rd_linear_solve_end(rd_linear_solve *s);
/* Fills in the caller's info, and records a missed tolerance unless there is one.  b and r are not
 * needed any more. */
bool rd_linear_solve_judge(rd_linear_solve *s);
#endif

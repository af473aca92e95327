/* rdim/solves.h - linear systems of operators that are expressions, preconditioners.
 *
 * An operator is an expression Av of an input v, linear in it.  No matrix is stored: each iteration
 * evaluates the expression, which is planned once.
 *
 *     rd_expr *v  = rd_input(ctx, "v", RD_INTO((double *)NULL, RD_SHAPE(n)));
 *     rd_expr *Av = rd_add(rd_matmul(kernel, v), rd_mul(v, rd_num(ctx, 0.1)));
 *     rd_array x  = { 0 };
 *     rd_solve(ctx, Av, v, b, &x, .tolerance = 1e-6);
 *
 * Rules.
 * - v is an rd_input() of f32 or f64, and Av has its shape and type.  Vectors are kept in f64.
 * - If v has two axes or more, its last axis counts vectors: right sides, which are solved together
 *   in one evaluation an iteration.  The operator must then treat them alike.  With .coupled all of
 *   v is one vector.
 * - A preconditioner is an expression Pr of an input r, whose shape is v's: about A^-1 r.
 * - Bits do not depend on the number of threads.  Products by a BLAS are an exception, as in
 *   rd_eval_opts.deterministic.
 * - These calls evaluate.  rd_cancel() ends them with RD_ERR_CANCELLED.
 *
 * docs/solves.md has the algorithms.  Errors are those of rd_eval(), and those that follow. */
#ifndef RDIM_SOLVES_H
#define RDIM_SOLVES_H
#include "evaluation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Linear systems -------------------------------------------------------------------------- */
/** Methods of rd_solve(). */
typedef enum rd_solver {
    RD_CG,      /* conjugate gradients: A symmetric and positive definite                  */
    RD_MINRES,  /* minimal residuals: A symmetric                                          */
    RD_GMRES,   /* generalised minimal residuals, restarted: any A; keeps .restart vectors */
    RD_BICGSTAB /* stabilised biconjugate gradients: any A, evaluated twice an iteration; keeps
                 * few vectors; its residual rises and falls, and it may break down or
                 * diverge, which is noticed */
} rd_solver;
/** What a solve or an eigenvalue took, and how well it ended. */
typedef struct rd_solve_info {
    /** Iterations; of several right sides those of the slowest. */
    int64_t iterations;
    /** Evaluations of the operator. */
    int64_t evaluations;
    /** rd_solve: the greatest |b - A x| / |b|, computed from x at the end.  Eigenvalues: the
     *  greatest |A x - value x| / |value|. */
    double  residual;
    /** The residual reached the tolerance. */
    bool    converged;
} rd_solve_info;
/** Keywords of rd_solve() and rd_solve_grad(). */
typedef struct rd_solve_opts {
    /** sizeof(rd_solve_opts); the macros set it. */
    uint32_t  size;
    /** The method. */
    rd_solver method;
    /** Where results go, the last positional argument.  rd_solve: the solution gets v's shape and
     *  type, as an output of rd_eval(); it may be memory that b or .start reads.  rd_solve_grad: an
     *  output for each operand p, of its shape and type; NULL if there are none. */
    rd_array *x;
    /** The greatest |b - A x| / |b| of each right side; 0: 1e-6, or 1e-5 if v is f32. */
    double    tolerance;
    /** The most iterations; 0: 1000. */
    int64_t   most;
    /** GMRES: the vectors that it keeps before it begins anew; 0: 50. */
    int32_t   restart;
    /** All of v is one vector, also if it has several axes. */
    bool      coupled;
    /** An expression Pr of one input r of v's shape and of f32 or f64.  For CG and MINRES it is
     *  symmetric and positive definite.  NULL: r itself. */
    rd_expr  *preconditioner;
    /** Where to begin: an expression of v's shape, such as a leaf of an earlier x.  NULL: 0. */
    rd_expr  *start;
    /** Called after each iteration with the greatest residual of a right side, as the method
     *  estimates it.  Non-zero ends the call with RD_ERR_CANCELLED.  It must not use the context,
     *  but for rd_cancel().  NULL: nobody is called. */
    int (*progress)(void *user, int64_t iteration, double residual);
    /** The first argument of progress. */
    void          *user;
    /** Room for `most` numbers: what progress is told in iteration 1, 2, ...  NULL: not kept. */
    double        *history;
    /** Filled in, also after a failure.  If it is given, missing the tolerance is no error. */
    rd_solve_info *info;
    /** Options of the operator's evaluation; its progress function is not called.  NULL:
     *  defaults. */
    const rd_eval_opts *eval;
} rd_solve_opts;
/** Solves A x = b for one or several right sides.  scipy.sparse.linalg.cg, minres, gmres,
 *  bicgstab; pykeops' KernelSolve.
 *
 *  A right side of 0 has the solution 0.  x is checked by one more evaluation, so `converged` does
 *  not depend on a recurrence.
 *  @param Av  the operator, an expression of v
 *  @param v   an rd_input() of f32 or f64
 *  @param b   the right sides: a real expression that broadcasts to v's shape
 *  @return RD_OK; opts->x is written.  RD_ERR_CONVERGENCE if the tolerance was not reached and no
 *          .info was given; x is the last that was found, with RD_BICGSTAB the best to a factor
 *          of 2.  RD_ERR_CONVERGENCE also if A or the preconditioner gave NaN, or is not positive
 *          definite where the method needs that, or if RD_BICGSTAB breaks down; x is then not
 *          written.  RD_ERR_ARGUMENT, RD_ERR_TYPE and RD_ERR_SHAPE for v, Av, b, and
 *          keywords. */
RD_API rd_status rd_solve_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, rd_expr *b,
                             const rd_solve_opts *opts);
/** Gradients through a solve x = A^-1 b: of a number L with g = dL/dx, with respect to b and to
 *  operands p of A.
 *
 *  The implicit function theorem says that dL/db = w with A^T w = g, and dL/dp = -(dA/dp x)^T w.
 *  The call takes one solve with the transposed operator, and one evaluation.  Methods for any A
 *  derive that operator by rd_grad().
 *  @param x     the solution, an expression that broadcasts to v's shape
 *  @param g     the gradient with respect to x, likewise
 *  @param of_b  NULL, or gets dL/db, of v's shape and type
 *  @param p     operands of Av as for rd_grad(); may be none
 *  @return as rd_solve_by(), and the errors of rd_grad(). */
RD_API rd_status rd_solve_grad_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, rd_expr *x, rd_expr *g,
                                  rd_array *of_b, rd_exprs p, const rd_solve_opts *opts);

/* ---- Preconditioners ------------------------------------------------------------------------- */
/** Jacobi's preconditioner: r divided by the diagonal of A.
 *
 *  @param r         an input of v's shape
 *  @param diagonal  of r's shape, or without the last axis, which counts right sides
 *  @return r's shape.  NULL on RD_ERR_SHAPE or RD_ERR_TYPE. */
RD_API rd_expr *rd_jacobi(rd_expr *r, rd_expr *diagonal);
/** Nystroem's preconditioner for A = K + ridge, with K a kernel of n points: the inverse of
 *  C W^+ C^T + ridge, where C = K(points, landmarks) and W = K(landmarks, landmarks).
 *
 *  It evaluates now what is as small as W, from C a part at a time.  C stays an expression.  Each
 *  application computes it anew, n k pairs, and may store as many elements on its way.
 *  @param r       an input of v's shape, (n) or (n, right sides)
 *  @param across  C, an expression (n, k)
 *  @param within  W, (k, k), symmetric and positive semidefinite
 *  @param ridge   what is added to the diagonal, above 0
 *  @return r's shape; it lives as long as nodes made now.  NULL on RD_ERR_SHAPE, RD_ERR_ARGUMENT
 *          (ridge), RD_ERR_CONVERGENCE (W has NaN, or is 0), RD_ERR_DEVICE (there is no LAPACK), or
 *          the errors of rd_eval(). */
RD_API rd_expr *rd_nystroem(rd_expr *r, rd_expr *across, rd_expr *within, double ridge);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Keywords as a struct, for functions that take it: RD_SOLVE_OPTS(&x, .tolerance = 1e-8). */
#define RD_SOLVE_OPTS(...) \
    (&(rd_solve_opts){ .size = (uint32_t)sizeof(rd_solve_opts), .x = __VA_ARGS__ })
/** rd_solve(ctx, Av, v, b, &x, .tolerance = 1e-8, .method = RD_GMRES).  See rd_solve_by(). */
#define rd_solve(ctx, Av, v, b, ...) rd_solve_by(ctx, Av, v, b, RD_SOLVE_OPTS(__VA_ARGS__))
/** rd_solve_grad(ctx, Av, v, x, g, &of_b, RD_EXPRS(p), &of_p, keywords).  See
 *  rd_solve_grad_by(). */
#define rd_solve_grad(ctx, Av, v, x, g, of_b, p, ...) \
    rd_solve_grad_by(ctx, Av, v, x, g, of_b, p, RD_SOLVE_OPTS(__VA_ARGS__))
#endif
#endif

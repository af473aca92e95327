/* rdim/eigenvalues.h - eigenvalues, traces and determinants of operators that are expressions.
 *
 * The rules of operators are those of rdim/solves.h: an operator is an expression Av of an input v,
 * linear in it.  It is evaluated, and no matrix is stored. */
#ifndef RDIM_EIGENVALUES_H
#define RDIM_EIGENVALUES_H
#include "solves.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Eigenvalues ----------------------------------------------------------------------------- */
/** Which eigenvalues rd_eigsh() finds. */
typedef enum rd_which {
    RD_LARGEST,  /* the greatest ones, in descending order       */
    RD_SMALLEST, /* the least ones, in ascending order           */
    RD_FARTHEST  /* the greatest absolute ones, in that order    */
} rd_which;
/** Keywords of rd_power() and rd_eigsh().  All of v is one vector. */
typedef struct rd_eigen_opts {
    /** sizeof(rd_eigen_opts); the macros set it. */
    uint32_t       size;
    /** rd_eigsh: which eigenvalues. */
    rd_which       which;
    /** Where vectors of norm 1 go, the last positional argument; v's type.  rd_power: v's shape.
     *  rd_eigsh: v's shape with a last axis k.  NULL: nowhere. */
    rd_array      *vectors;
    /** The greatest |A x - value x| / |value|; 0: 1e-6. */
    double         tolerance;
    /** The most evaluations of the operator; 0: 1000. */
    int64_t        most;
    /** rd_eigsh: the vectors that are kept, more than k; 0: 2 k + 20. */
    int32_t        basis;
    /** The key of the random vector to begin with; see rd_random_normal(). */
    uint64_t       seed;
    /** As in rd_solve_opts. */
    int (*progress)(void *user, int64_t iteration, double residual);
    /** As in rd_solve_opts. */
    void          *user;
    /** As in rd_solve_opts. */
    rd_solve_info *info;
    /** As in rd_solve_opts. */
    const rd_eval_opts *eval;
} rd_eigen_opts;
/** The eigenvalue of the greatest absolute value, by power iteration.
 *
 *  @param value  gets the eigenvalue
 *  @return as rd_solve_by(). */
RD_API rd_status rd_power_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, double *value,
                             const rd_eigen_opts *opts);
/** k eigenvalues of a symmetric operator and their vectors, by Lanczos' method with a thick restart
 *  and full reorthogonalisation.  scipy.sparse.linalg.eigsh.
 *
 *  @param k       from 1 to the number of unknowns
 *  @param values  gets (k) of f64, as an output of rd_eval()
 *  @return as rd_solve_by(); RD_ERR_DEVICE if there is no LAPACK. */
RD_API rd_status rd_eigsh_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v, int64_t k, rd_array *values,
                             const rd_eigen_opts *opts);

/* ---- Traces and determinants ----------------------------------------------------------------- */
/** Keywords of rd_estimate_trace() and rd_estimate_logdet(). */
typedef struct rd_estimate_opts {
    /** sizeof(rd_estimate_opts); the macros set it. */
    uint32_t size;
    /** rd_estimate_logdet: the most steps of Lanczos' method for a probe; 0: 50. */
    int32_t  steps;
    /** Gets the result, the positional argument. */
    double  *value;
    /** The number of random vectors of -1 and 1; 0: 16.  If v has a last axis of several vectors,
     *  as many run in one evaluation, and the number is rounded up to a multiple. */
    int64_t  probes;
    /** The key of the probes.  Equal keys give equal results. */
    uint64_t seed;
    /** As in rd_solve_opts. */
    bool     coupled;
    /** Called after each evaluation with its number and 0; see rd_solve_opts. */
    int (*progress)(void *user, int64_t iteration, double residual);
    /** As in rd_solve_opts. */
    void    *user;
    /** NULL, or gets the standard error of the value, from how far the probes differ. */
    double  *error;
    /** As in rd_solve_opts. */
    const rd_eval_opts *eval;
} rd_estimate_opts;
/** The trace of A, estimated by Hutchinson's method: the mean of z^T A z over random signs z.
 *  @return as rd_solve_by(). */
RD_API rd_status rd_estimate_trace_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v,
                                      const rd_estimate_opts *opts);
/** The logarithm of the determinant of a symmetric positive definite A, estimated by stochastic
 *  Lanczos quadrature.  It keeps `steps` vectors for each probe that runs at the same time.
 *  @return as rd_solve_by(); RD_ERR_CONVERGENCE if A is not positive definite, RD_ERR_DEVICE if
 *          there is no LAPACK. */
RD_API rd_status rd_estimate_logdet_by(rd_ctx *ctx, rd_expr *Av, rd_expr *v,
                                       const rd_estimate_opts *opts);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Keywords as a struct, for functions that take it: RD_EIGEN_OPTS(&vectors, .seed = 3). */
#define RD_EIGEN_OPTS(...) \
    (&(rd_eigen_opts){ .size = (uint32_t)sizeof(rd_eigen_opts), .vectors = __VA_ARGS__ })
/** Keywords as a struct, for functions that take it: RD_ESTIMATE_OPTS(&value, .probes = 64). */
#define RD_ESTIMATE_OPTS(...) \
    (&(rd_estimate_opts){ .size = (uint32_t)sizeof(rd_estimate_opts), .value = __VA_ARGS__ })
/** rd_power(ctx, Av, v, &value, &vector, .tolerance = 1e-8).  See rd_power_by(). */
#define rd_power(ctx, Av, v, value, ...) \
    rd_power_by(ctx, Av, v, value, RD_EIGEN_OPTS(__VA_ARGS__))
/** rd_eigsh(ctx, Av, v, 5, &values, &vectors, .which = RD_SMALLEST).  See rd_eigsh_by(). */
#define rd_eigsh(ctx, Av, v, k, values, ...) \
    rd_eigsh_by(ctx, Av, v, k, values, RD_EIGEN_OPTS(__VA_ARGS__))
/** rd_estimate_trace(ctx, Av, v, &value, .probes = 64).  See rd_estimate_trace_by(). */
#define rd_estimate_trace(ctx, Av, v, ...) \
    rd_estimate_trace_by(ctx, Av, v, RD_ESTIMATE_OPTS(__VA_ARGS__))
/** rd_estimate_logdet(ctx, Av, v, &value, .steps = 80).  See rd_estimate_logdet_by(). */
#define rd_estimate_logdet(ctx, Av, v, ...) \
    rd_estimate_logdet_by(ctx, Av, v, RD_ESTIMATE_OPTS(__VA_ARGS__))
#endif
#endif

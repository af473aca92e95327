/* vectors.h - loops over vectors: sums of products, and sums of multiples.
 *
 * Several vectors stand side by side: element [i, k] is at i * sides + k.  Each has scalars of its
 * own.  Rows are taken in blocks of a fixed number, and sums of blocks are added in order, so bits
 * do not depend on threads.  These loops read memory once or twice an iteration, beside operators
 * that take hundreds of operations an element, and need no plan. */
#ifndef RD_SOLVE_VECTORS_H
#define RD_SOLVE_VECTORS_H
#include "expr/expr.h"

typedef struct rd_vectors {
    rd_ctx *ctx;
    int64_t rows, n_rhs;
    int     threads; /* as asked for; 0: the context's setting */
    double *sums;    /* of each block and side */
} rd_vectors;

/* False without memory, which is recorded.  rd_vectors_end() is due in any case. */
bool rd_vectors_begin(rd_vectors *space, rd_ctx *ctx, int64_t rows, int64_t sides, int threads);
void rd_vectors_end(rd_vectors *space);
/* Allocates so many vectors, zeroed; NULL after recording the failure.  rd_free() frees them. */
double *rd_new_vectors(const rd_vectors *space, int64_t count);

/* out[k] = sum over i of x[i, k] y[i, k] */
void rd_dots(const rd_vectors *space, const double *x, const double *y, double *out);
/* out[k] = sqrt of the sum over i of x[i, k]^2 */
void rd_norms(const rd_vectors *space, const double *x, double *out);
/* y += a x */
void rd_add_multiple(const rd_vectors *space, double *y, const double *a, const double *x);
/* y = x + b y */
void rd_multiply_add(const rd_vectors *space, double *y, const double *b, const double *x);
/* y = a x; the two may be the same */
void rd_multiple(const rd_vectors *space, double *y, const double *a, const double *x);
/* y = x - y */
void rd_subtract_from(const rd_vectors *space, double *y, const double *x);
/* x += a p and r -= a q in one loop, and out[k] = the sum over i of the new r[i, k]^2 */
void rd_step_along(const rd_vectors *space, const double *a, const double *p, const double *q,
                   double *x, double *r, double *out);
/* Makes w orthogonal to `count` orthonormal vectors, which follow each other in v, twice: that is
 * as good as exact arithmetic (Giraud and others 2005).  If there is a column, coefficients are
 * added to it, those of vector i at column + i * step.  room: two numbers for each side. */
void rd_make_orthogonal(const rd_vectors *space, const double *v, int64_t count, double *w,
                        double *column, int64_t step, double *room);
#endif

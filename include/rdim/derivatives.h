/* rdim/derivatives.h - derivatives of expressions: gradients, directional derivatives.
 *
 * These functions take an expression and give expressions; nothing is evaluated.  So a gradient
 * fuses, slices and runs on every backend as any expression does, and it can be differentiated
 * again.
 *
 *     rd_expr *loss = rd_mean(rd_square(rd_sub(rd_matmul(x, w), y)), RD_ALL);
 *     rd_expr *step = rd_grad(loss, RD_EXPRS(w)).at[0];         // the shape and type of w
 *
 * Rules.
 * - The operands x are expressions that y was made from: leaves, inputs, or any others.  A leaf
 *   that y does not read has derivative 0.  Another expression that y was not made from is
 *   RD_ERR_ARGUMENT: constructors merge views, so y may read what lies below it.
 * - Derivatives are of floats.  They do not pass through integers and bools, as these do not
 *   change by a little.
 * - min, max, argmin and their like, and sort: all of a change goes to the element that was
 *   chosen.  Of equal ones that is the first.  where: to the side that was taken.
 * - Complex x: the gradient is d/dRe + i d/dIm of the real sum, as in PyTorch; JAX gives its
 *   conjugate.
 * - Functions of your own: text and RD_FN are differentiated by their operators.  C code needs its
 *   derivative beside it (rd_fn.derivative), else RD_ERR_ARGUMENT names it.
 *
 * jax.grad, jax.jvp, torch.autograd.grad, and the Grad operation of KeOps. */
#ifndef RDIM_DERIVATIVES_H
#define RDIM_DERIVATIVES_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Keywords of rd_grad(). */
typedef struct rd_grad_opts {
    /** sizeof(rd_grad_opts); the macro sets it. */
    uint32_t size;
    /** 0. */
    int32_t  reserved;
    /** The operands, the positional argument: floats of y's context, real, complex or sparse. */
    rd_exprs x;
    /** Weights of the elements of y: the gradient is of sum(seed * y).  It broadcasts to y and may
     *  be an expression.  NULL: 1, and y is a single number. */
    rd_expr *seed;
} rd_grad_opts;
/** The gradient of a number y with respect to each of opts->x, by reverse mode.
 *
 *  @param y  a real or complex float; of one element unless opts->seed is given
 *  @return as many expressions as x has; each has the shape and type of its x.  A sparse x has a
 *          gradient with the same stored places.  The list lives as long as nodes made now.  All
 *          are NULL on RD_ERR_TYPE (y or an x is not float), RD_ERR_SHAPE (y has several elements
 *          and no seed, or the seed does not broadcast), or RD_ERR_ARGUMENT (y was not made from an
 *          x, or has no derivative; the sentence names the operation). */
RD_API rd_exprs rd_grad_of(rd_expr *y, const rd_grad_opts *opts);
/** The directional derivative of y: how y changes if each x[k] moves by t[k], by forward mode.
 *
 *  @param t  as many expressions as x has; each broadcasts to its x and takes its type
 *  @return y's shape and type; zeros if y does not depend on x.  NULL as for rd_grad_of(), but y
 *          may have any shape.  jax.jvp. */
RD_API rd_expr *rd_jvp(rd_expr *y, rd_exprs x, rd_exprs t);
/** The product of the Hessian of a number y with v: how the gradient changes if each x[k] moves by
 *  v[k].
 *  @return as rd_grad_of(). */
RD_API rd_exprs rd_hvp(rd_expr *y, rd_exprs x, rd_exprs v);
/** The divergence of f, a vector for each point: the sum over d of df[.., d] / dx[.., d].
 *
 *  The last axis of x holds the coordinates.  f has the shape of x, and f of a point depends on x
 *  of that point alone, as of a sum over other points; other points of x are taken as constant.
 *  KeOps: Divergence.
 *  @return x's shape without the last axis.  NULL as for rd_jvp(), and on RD_ERR_SHAPE. */
RD_API rd_expr *rd_divergence(rd_expr *f, rd_expr *x);
/** The Laplacian of f, a number for each point: the sum over d of its second derivatives by
 *  x[.., d].
 *
 *  The last axis of x holds the coordinates, and f has the other axes of x.  f of a point depends
 *  on x of that point alone.  KeOps: Laplacian.
 *  @return f's shape.  NULL as for rd_jvp(), and on RD_ERR_SHAPE. */
RD_API rd_expr *rd_laplacian(rd_expr *f, rd_expr *x);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** rd_grad(y, RD_EXPRS(a, b), .seed = v): gradients with respect to a and b.  See rd_grad_of(). */
#define rd_grad(y, ...) \
    rd_grad_of(y, &(rd_grad_opts){ .size = (uint32_t)sizeof(rd_grad_opts), .x = __VA_ARGS__ })
#endif
#endif

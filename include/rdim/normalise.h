/* rdim/normalise.h - softmax, attention, standardising, norms, and distances of points.
 *
 * The axes d are those of a reduction.  Unless a comment says otherwise, the result has x's shape
 * and type, and integers give f64; RD_KEEP then means nothing.  16-bit floats are computed in f32
 * and rounded once.
 *
 * Each function returns NULL on RD_ERR_AXIS, RD_ERR_SHAPE (operands do not broadcast), RD_ERR_TYPE
 * (complex operands where a comment does not say that they are taken), and RD_ERR_ARGUMENT
 * (operands of two contexts). */
#ifndef RDIM_NORMALISE_H
#define RDIM_NORMALISE_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** exp(x) divided by its sum along d, without overflow on the way.  scipy.special.softmax. */
RD_API rd_expr *rd_softmax(rd_expr *x, rd_dims d);
/** The logarithm of the softmax: x less log(sum(exp(x))) along d.  scipy.special.log_softmax. */
RD_API rd_expr *rd_log_softmax(rd_expr *x, rd_dims d);
/** The sum of v weighted by the softmax of s along d, as in attention.
 *
 *  s and v broadcast, and types promote.  The result lacks the axes d, or has them with extent 1
 *  by RD_KEEP.  An s of -inf has weight 0.  Axes of v that s lacks make a matrix product: for
 *  scores s (n, m) and values v (m, k), rd_softmax_sum(rd_expand(s, 2), rd_expand(v, 0),
 *  RD_DIMS(1)) has shape (n, k).  The result is NaN where all s are -inf, and of no element. */
RD_API rd_expr *rd_softmax_sum(rd_expr *s, rd_expr *v, rd_dims d);
/** log |t| and the sign of t = sum(weights * exp(x)) along d, without overflow on the way.
 *  scipy.special.logsumexp with return_sign.
 *
 *  x and weights broadcast, and weights may have any sign.  The result lacks the axes d, or has
 *  them with extent 1 by RD_KEEP, and has a new first axis of extent 2.  A sum of 0, and one of no
 *  element, give -inf and 0.  An x of weight 0 does not count.  For weights that are not negative,
 *  rd_logsumexp(x, d, .weights = w) has the logarithm in one pass. */
RD_API rd_expr *rd_signed_logsumexp(rd_expr *x, rd_expr *weights, rd_dims d);
/** (x - mean) / std along d; std divides by n - ddof.  Takes complex.  scipy.stats.zscore. */
RD_API rd_expr *rd_standardise(rd_expr *x, rd_dims d, double ddof);
/** Layer normalisation: (x - mean) / sqrt(var + eps) * gamma + beta, with mean and var along d.
 *  gamma and beta broadcast to x; NULL leaves one out.  torch.nn.functional.layer_norm. */
RD_API rd_expr *rd_layer_norm(rd_expr *x, rd_dims d, rd_expr *gamma, rd_expr *beta, double eps);
/** RMS normalisation: x / sqrt(mean(x^2) + eps) * gamma, with the mean along d.  gamma broadcasts
 *  to x; NULL leaves it out.  torch.nn.functional.rms_norm. */
RD_API rd_expr *rd_rms_norm(rd_expr *x, rd_dims d, rd_expr *gamma, double eps);
/** x divided by its norm (sum |x|^p)^(1/p) along d, for any p > 0 or INFINITY.  What is all 0 stays
 *  0.  Takes complex.  torch.nn.functional.normalize.
 *  @return NULL also on RD_ERR_ARGUMENT: p is not above 0. */
RD_API rd_expr *rd_normalise(rd_expr *x, rd_dims d, double p);
/** Distances (sum |x - y|^p)^(1/p) of all rows of x (..., n, d) from all rows of y (..., m, d).
 *  scipy.spatial.distance.cdist.
 *  @return (..., n, m); integers give f64.  NULL on RD_ERR_SHAPE, RD_ERR_TYPE, or RD_ERR_ARGUMENT
 *          (p is not above 0). */
RD_API rd_expr *rd_cdist(rd_expr *x, rd_expr *y, double p);
/** Cosine distances 1 - x y / (|x| |y|) of all rows of x (..., n, d) from all rows of y (..., m,
 *  d).  It is NaN for a row that is all 0.  scipy.spatial.distance.cdist with "cosine".
 *  @return (..., n, m); integers give f64.  NULL on RD_ERR_SHAPE or RD_ERR_TYPE. */
RD_API rd_expr *rd_cosine_distance(rd_expr *x, rd_expr *y);

#ifdef __cplusplus
}
#endif
#endif

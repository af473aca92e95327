/* rdim/math_functions.h - mathematical functions, element by element.
 *
 * These are maps: rdim/maps.h states how operands broadcast and promote, and the errors.  Each
 * function here follows the type rule "float": float types stay, integers and bools give f64.
 * 16-bit floats are computed in f32 and rounded once.  Angles are in radians. */
#ifndef RDIM_MATH_FUNCTIONS_H
#define RDIM_MATH_FUNCTIONS_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Powers, exponentials, logarithms -------------------------------------------------------- */
/** The square root.  Takes complex.  numpy.sqrt. */
RD_API rd_expr *rd_sqrt(rd_expr *x);
/** The cube root, also of numbers below 0.  numpy.cbrt. */
RD_API rd_expr *rd_cbrt(rd_expr *x);
/** e to the power x.  Takes complex.  numpy.exp. */
RD_API rd_expr *rd_exp(rd_expr *x);
/** 2 to the power x.  Takes complex.  numpy.exp2. */
RD_API rd_expr *rd_exp2(rd_expr *x);
/** 10 to the power x.  Takes complex.  scipy.special.exp10. */
RD_API rd_expr *rd_exp10(rd_expr *x);
/** exp(x) - 1, exact also for small x.  Takes complex.  numpy.expm1. */
RD_API rd_expr *rd_expm1(rd_expr *x);
/** The natural logarithm.  Takes complex.  numpy.log. */
RD_API rd_expr *rd_log(rd_expr *x);
/** The logarithm to base 2.  Takes complex.  numpy.log2. */
RD_API rd_expr *rd_log2(rd_expr *x);
/** The logarithm to base 10.  Takes complex.  numpy.log10. */
RD_API rd_expr *rd_log10(rd_expr *x);
/** log(1 + x), exact also for small x.  Takes complex.  numpy.log1p. */
RD_API rd_expr *rd_log1p(rd_expr *x);
/** log(exp(x) + exp(y)), without overflow on the way.  numpy.logaddexp. */
RD_API rd_expr *rd_logaddexp(rd_expr *x, rd_expr *y);
/** sqrt(x^2 + y^2), without overflow on the way.  numpy.hypot. */
RD_API rd_expr *rd_hypot(rd_expr *x, rd_expr *y);

/* ---- Trigonometric and hyperbolic functions -------------------------------------------------- */
/** The sine.  Takes complex.  numpy.sin. */
RD_API rd_expr *rd_sin(rd_expr *x);
/** The cosine.  Takes complex.  numpy.cos. */
RD_API rd_expr *rd_cos(rd_expr *x);
/** The tangent.  Takes complex.  numpy.tan. */
RD_API rd_expr *rd_tan(rd_expr *x);
/** The angle from -pi/2 to pi/2 whose sine is x; NaN outside [-1, 1].  Takes complex.
 *  numpy.arcsin. */
RD_API rd_expr *rd_asin(rd_expr *x);
/** The angle from 0 to pi whose cosine is x; NaN outside [-1, 1].  Takes complex.  numpy.arccos. */
RD_API rd_expr *rd_acos(rd_expr *x);
/** The angle from -pi/2 to pi/2 whose tangent is x.  Takes complex.  numpy.arctan. */
RD_API rd_expr *rd_atan(rd_expr *x);
/** The angle of the point (x, y), from -pi to pi.  y comes first.  numpy.arctan2. */
RD_API rd_expr *rd_atan2(rd_expr *y, rd_expr *x);
/** The hyperbolic sine.  Takes complex.  numpy.sinh. */
RD_API rd_expr *rd_sinh(rd_expr *x);
/** The hyperbolic cosine.  Takes complex.  numpy.cosh. */
RD_API rd_expr *rd_cosh(rd_expr *x);
/** The hyperbolic tangent.  Takes complex.  numpy.tanh. */
RD_API rd_expr *rd_tanh(rd_expr *x);
/** The inverse of the hyperbolic sine.  Takes complex.  numpy.arcsinh. */
RD_API rd_expr *rd_asinh(rd_expr *x);
/** The inverse of the hyperbolic cosine; NaN below 1.  Takes complex.  numpy.arccosh. */
RD_API rd_expr *rd_acosh(rd_expr *x);
/** The inverse of the hyperbolic tangent; NaN outside [-1, 1].  Takes complex.  numpy.arctanh. */
RD_API rd_expr *rd_atanh(rd_expr *x);
/** Degrees to radians.  numpy.deg2rad. */
RD_API rd_expr *rd_deg2rad(rd_expr *x);
/** Radians to degrees.  numpy.rad2deg. */
RD_API rd_expr *rd_rad2deg(rd_expr *x);
/** sin(pi x) / (pi x), and 1 at 0.  Takes complex.  numpy.sinc. */
RD_API rd_expr *rd_sinc(rd_expr *x);

/* ---- Special functions ----------------------------------------------------------------------- */
/** The error function.  scipy.special.erf. */
RD_API rd_expr *rd_erf(rd_expr *x);
/** 1 - erf(x), exact also for large x.  scipy.special.erfc. */
RD_API rd_expr *rd_erfc(rd_expr *x);
/** The inverse of the error function, on [-1, 1]; NaN outside.  scipy.special.erfinv. */
RD_API rd_expr *rd_erfinv(rd_expr *x);
/** The cumulative distribution function of the normal distribution, from 0 to 1.
 *  scipy.special.ndtr. */
RD_API rd_expr *rd_ndtr(rd_expr *x);
/** The gamma function.  scipy.special.gamma, C's tgamma. */
RD_API rd_expr *rd_tgamma(rd_expr *x);
/** The logarithm of |gamma(x)|.  scipy.special.gammaln, C's lgamma. */
RD_API rd_expr *rd_lgamma(rd_expr *x);
/** The derivative of lgamma.  It is -inf at 0, inf at -0, and NaN at -inf and at whole numbers
 *  below 0.  scipy.special.digamma. */
RD_API rd_expr *rd_digamma(rd_expr *x);

/* ---- Activation functions -------------------------------------------------------------------- */
/** The greater of x and 0, in x's type, integers too.  torch.relu. */
RD_API rd_expr *rd_relu(rd_expr *x);
/** The logistic function 1 / (1 + exp(-x)), without overflow on the way.  scipy.special.expit. */
RD_API rd_expr *rd_sigmoid(rd_expr *x);
/** x times sigmoid(x), without overflow on the way.  torch.nn.functional.silu. */
RD_API rd_expr *rd_silu(rd_expr *x);
/** log(1 + exp(x)), without overflow on the way.  torch.nn.functional.softplus. */
RD_API rd_expr *rd_softplus(rd_expr *x);
/** x times ndtr(x).  torch.nn.functional.gelu. */
RD_API rd_expr *rd_gelu(rd_expr *x);

/* ---- Parts of a floating-point number -------------------------------------------------------- */
/** The fraction f of x = f 2^e with 1/2 <= |f| < 1.  For 0, infinity and NaN it is x.  The first
 *  result of numpy.frexp. */
RD_API rd_expr *rd_fraction(rd_expr *x);
/** The exponent e of x = f 2^e with 1/2 <= |f| < 1, in x's type.  For 0, infinity and NaN it is 0.
 *  The second result of numpy.frexp. */
RD_API rd_expr *rd_exponent(rd_expr *x);
/** x 2^n, rounded once.  n has x's type or is an rd_int(); it is rounded to a whole number.
 *  numpy.ldexp. */
RD_API rd_expr *rd_ldexp(rd_expr *x, rd_expr *n);
/** The magnitude of x with the sign of y.  numpy.copysign. */
RD_API rd_expr *rd_copysign(rd_expr *x, rd_expr *y);
/** The next number of the type after x in the direction of y, for f32 and f64; 16-bit floats are
 *  RD_ERR_TYPE.  numpy.nextafter. */
RD_API rd_expr *rd_nextafter(rd_expr *x, rd_expr *y);
/** 0 where x < 0, h where x is 0, 1 where x > 0; NaN for NaN.  numpy.heaviside. */
RD_API rd_expr *rd_heaviside(rd_expr *x, rd_expr *h);

#ifdef __cplusplus
}
#endif
#endif

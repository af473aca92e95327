/* rdim/complex_numbers.h - complex numbers: their parts, and how other functions take them.
 *
 * Expressions of c64 and c128 are pairs of real ones.  Every view takes them.  Maps take them where
 * the comment says so (rdim/maps.h, rdim/math_functions.h).  These reductions and other functions
 * take them:
 * - sum, prod, mean, any, all, count, first, last; scans, labels, masks and real weights as for
 *   real numbers;
 * - var and std, which are of |x - mean|^2, and norm: the result is real; cov takes the conjugate
 *   of the second operand;
 * - products; vecdot takes the conjugate of the first operand;
 * - rolling sum, mean, var and std; rd_standardise, rd_normalise, rd_trapezoid, rd_gradient;
 * - functions whose comments say so: joined arrays, rd_interp, rd_ffill, rd_convolve and others.
 * All others are RD_ERR_TYPE.  Complex numbers have no order, so rd_lt, rd_min, rd_argmax, rd_sort,
 * quantiles and the like are refused.  So are users' functions and function text.
 *
 * Real and complex operands meet as in NumPy.  f64 or i32 with c64 give c128; f32, i16 or bool with
 * c64 give c64.  There is no conversion from complex to real: use rd_real().
 *
 * Arithmetic:
 * - A product is (a + ib)(c + id) = (ac - bd) + i(ad + bc), as in NumPy.
 * - A quotient is scaled, so that no step leaves the range of the type before the result does.  It
 *   finds the infinities of annex G of C, as the functions do.
 * - Branch cuts are those of C: the sign of a zero decides on which side of a cut a number is.
 * - A real operand of + - * / has no imaginary part; it is not treated as a number with part 0.
 *
 * An array of c64 or c128 has at most 31 axes.  Its address is aligned as that of one part. */
#ifndef RDIM_COMPLEX_NUMBERS_H
#define RDIM_COMPLEX_NUMBERS_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** re + i im, of two real operands that broadcast.  f64 and integers give c128; types of 32 and 16
 *  bits give c64.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (an operand is complex). */
RD_API rd_expr *rd_complex(rd_expr *re, rd_expr *im);
/** A complex number of rank 0 and weak type: c64 beside f32 and 16-bit floats, else c128. */
RD_API rd_expr *rd_cnum(rd_ctx *ctx, double re, double im);
/** The complex number with modulus r and an angle in radians: r (cos angle + i sin angle).  Both
 *  are real and broadcast.
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (an operand is complex). */
RD_API rd_expr *rd_polar(rd_expr *r, rd_expr *angle);
/** The real part; a real x itself.  numpy.real. */
RD_API rd_expr *rd_real(rd_expr *x);
/** The imaginary part; 0 for a real x.  numpy.imag. */
RD_API rd_expr *rd_imag(rd_expr *x);
/** The complex conjugate; a real x itself.  numpy.conj. */
RD_API rd_expr *rd_conj(rd_expr *x);
/** The angle in radians, from -pi to pi; 0 or pi for a real x.  numpy.angle. */
RD_API rd_expr *rd_arg(rd_expr *x);

#ifdef __cplusplus
}
#endif
#endif

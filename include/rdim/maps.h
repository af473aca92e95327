/* rdim/maps.h - maps: arithmetic, comparisons, logic, bits, rounding, choice and conversion.
 *
 * A map computes each element of the result from one element of each operand.  Operands broadcast:
 * extents are compared from the last axis, and axes of extent 1 and missing axes repeat.
 * rdim/math_functions.h has the mathematical functions, rdim/user_functions.h maps of your own.
 *
 * Operands promote to a common type, as in the Array API; mixed integers and floats do as in
 * NumPy 2.  i32 and f32 give f64, u8 and f32 give f32, u8 and f16 give f16, f16 and bf16 give f32.
 * The comments below name one of these rules for the type of the result:
 *   arithmetic  the common type; bools give i64; integers wrap
 *   same        the common type, bools too
 *   float       the common type if it is a float type; integers and bools give f64
 *   integer     the common type; bools give i64; floats are RD_ERR_TYPE
 *   bits        the common type, bools too; floats are RD_ERR_TYPE
 *   bool        always bool
 *
 * Each map returns NULL on RD_ERR_SHAPE (operands do not broadcast), RD_ERR_TYPE, and
 * RD_ERR_ARGUMENT (operands of two contexts).  Complex operands are RD_ERR_TYPE where a comment
 * does not say that they are taken. */
#ifndef RDIM_MAPS_H
#define RDIM_MAPS_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arithmetic ------------------------------------------------------------------------------ */
/** -x.  Type: arithmetic; takes complex.  numpy.negative. */
RD_API rd_expr *rd_neg(rd_expr *x);
/** The absolute value of x, or the modulus of a complex x, which is real.  Type: arithmetic.
 *  numpy.abs. */
RD_API rd_expr *rd_abs(rd_expr *x);
/** 1, 0 or -1 by the sign of x; NaN for NaN.  For a complex x: x / |x|, and 0 for 0.
 *  Type: arithmetic.  numpy.sign. */
RD_API rd_expr *rd_sign(rd_expr *x);
/** x * x.  Type: arithmetic; takes complex.  numpy.square. */
RD_API rd_expr *rd_square(rd_expr *x);
/** 1 / x.  Type: float; takes complex.  numpy.reciprocal of floats. */
RD_API rd_expr *rd_reciprocal(rd_expr *x);
/** x + y.  Type: arithmetic; takes complex.  numpy.add. */
RD_API rd_expr *rd_add(rd_expr *x, rd_expr *y);
/** x - y.  Type: arithmetic; takes complex.  numpy.subtract. */
RD_API rd_expr *rd_sub(rd_expr *x, rd_expr *y);
/** x * y.  Type: arithmetic; takes complex.  numpy.multiply. */
RD_API rd_expr *rd_mul(rd_expr *x, rd_expr *y);
/** The true quotient x / y.  Type: float; takes complex.  numpy.divide. */
RD_API rd_expr *rd_div(rd_expr *x, rd_expr *y);
/** x / y rounded down, as Python's //.  An integer divided by 0 gives 0 and sets the warning
 *  RD_WARN_INT_DIVIDE.  Type: arithmetic.  numpy.floor_divide. */
RD_API rd_expr *rd_floordiv(rd_expr *x, rd_expr *y);
/** What rd_floordiv() leaves, with the sign of y, as Python's %.  For an integer y = 0 it is 0 and
 *  sets the warning RD_WARN_INT_DIVIDE.  Type: arithmetic.  numpy.remainder. */
RD_API rd_expr *rd_remainder(rd_expr *x, rd_expr *y);
/** x to the power y.  Integers with a negative exponent give the true quotient, truncated.
 *  Type: arithmetic; takes complex.  numpy.power. */
RD_API rd_expr *rd_pow(rd_expr *x, rd_expr *y);
/** The smaller of x and y; NaN if either is NaN.  Type: same.  numpy.minimum. */
RD_API rd_expr *rd_minimum(rd_expr *x, rd_expr *y);
/** The greater of x and y; NaN if either is NaN.  Type: same.  numpy.maximum. */
RD_API rd_expr *rd_maximum(rd_expr *x, rd_expr *y);
/** The smaller of x and y; if one is NaN, the other one.  Type: same.  numpy.fmin. */
RD_API rd_expr *rd_fmin(rd_expr *x, rd_expr *y);
/** The greater of x and y; if one is NaN, the other one.  Type: same.  numpy.fmax. */
RD_API rd_expr *rd_fmax(rd_expr *x, rd_expr *y);
/** x kept inside [lo, hi]: minimum(maximum(x, lo), hi).  Type: same.  numpy.clip.  A bound that is
 *  NULL is a failure, as for any operand. */
RD_API rd_expr *rd_clip(rd_expr *x, rd_expr *lo, rd_expr *hi);

/* ---- Comparisons and choice ------------------------------------------------------------------ */
/** Whether x equals y, after promotion; false with NaN.  Type: bool; takes complex.
 *  numpy.equal. */
RD_API rd_expr *rd_eq(rd_expr *x, rd_expr *y);
/** Whether x differs from y, after promotion; true with NaN.  Type: bool; takes complex.
 *  numpy.not_equal. */
RD_API rd_expr *rd_ne(rd_expr *x, rd_expr *y);
/** Whether x < y, after promotion; false with NaN.  Type: bool.  numpy.less. */
RD_API rd_expr *rd_lt(rd_expr *x, rd_expr *y);
/** Whether x <= y, after promotion; false with NaN.  Type: bool.  numpy.less_equal. */
RD_API rd_expr *rd_le(rd_expr *x, rd_expr *y);
/** Whether x > y, after promotion; false with NaN.  Type: bool.  numpy.greater. */
RD_API rd_expr *rd_gt(rd_expr *x, rd_expr *y);
/** Whether x >= y, after promotion; false with NaN.  Type: bool.  numpy.greater_equal. */
RD_API rd_expr *rd_ge(rd_expr *x, rd_expr *y);
/** Whether |x - y| <= atol + rtol |y|.  Equal infinities are close, and NaN is close to nothing.
 *  16-bit floats are compared in f32, integers in f64.  Type: bool; takes complex.
 *  numpy.isclose, whose defaults are rtol 1e-5 and atol 1e-8. */
RD_API rd_expr *rd_isclose(rd_expr *x, rd_expr *y, double rtol, double atol);
/** `yes` where cond is true (not 0), else `no`.  The type is the common one of `yes` and `no`;
 *  takes complex.  numpy.where. */
RD_API rd_expr *rd_where(rd_expr *cond, rd_expr *yes, rd_expr *no);

/* ---- Logic and tests ------------------------------------------------------------------------- */
/** Whether x and y are both true, that is, not 0; NaN is true.  Type: bool; takes complex.
 *  numpy.logical_and. */
RD_API rd_expr *rd_and(rd_expr *x, rd_expr *y);
/** Whether x or y is true, that is, not 0; NaN is true.  Type: bool; takes complex.
 *  numpy.logical_or. */
RD_API rd_expr *rd_or(rd_expr *x, rd_expr *y);
/** Whether exactly one of x and y is true, that is, not 0.  Type: bool; takes complex.
 *  numpy.logical_xor. */
RD_API rd_expr *rd_xor(rd_expr *x, rd_expr *y);
/** Whether x is 0.  Type: bool; takes complex.  numpy.logical_not. */
RD_API rd_expr *rd_not(rd_expr *x);
/** Whether x is NaN, or a part of a complex x is.  Type: bool.  numpy.isnan. */
RD_API rd_expr *rd_isnan(rd_expr *x);
/** Whether x is neither infinite nor NaN; of a complex x, whether neither part is.  Type: bool.
 *  numpy.isfinite. */
RD_API rd_expr *rd_isfinite(rd_expr *x);
/** Whether x is infinite, or a part of a complex x is.  Type: bool.  numpy.isinf. */
RD_API rd_expr *rd_isinf(rd_expr *x);
/** Whether the sign of x is negative; true for -0.0.  Type: bool.  numpy.signbit. */
RD_API rd_expr *rd_signbit(rd_expr *x);

/* ---- Integers and bits ----------------------------------------------------------------------- */
/** The bitwise and.  Type: bits.  numpy.bitwise_and. */
RD_API rd_expr *rd_bit_and(rd_expr *x, rd_expr *y);
/** The bitwise or.  Type: bits.  numpy.bitwise_or. */
RD_API rd_expr *rd_bit_or(rd_expr *x, rd_expr *y);
/** The bitwise exclusive or.  Type: bits.  numpy.bitwise_xor. */
RD_API rd_expr *rd_bit_xor(rd_expr *x, rd_expr *y);
/** All bits inverted.  Type: bits.  numpy.bitwise_not. */
RD_API rd_expr *rd_bit_not(rd_expr *x);
/** The bits of x moved n places up.  A negative n, or one of the type's width or more, gives 0.
 *  Type: integer.  numpy.left_shift. */
RD_API rd_expr *rd_shift_left(rd_expr *x, rd_expr *n);
/** The bits of x moved n places down, with the sign kept.  A negative n, or one of the type's width
 *  or more, gives 0, and -1 for x below 0.  Type: integer.  numpy.right_shift. */
RD_API rd_expr *rd_shift_right(rd_expr *x, rd_expr *n);
/** The number of bits that are set in x, taken as an unsigned integer of its width.  Type: the
 *  unsigned type of x's width.  numpy.bitwise_count, which takes |x|. */
RD_API rd_expr *rd_popcount(rd_expr *x);
/** The greatest common divisor, not negative; it wraps where the type cannot hold it.  gcd(0, 0)
 *  is 0.  Type: integer.  numpy.gcd. */
RD_API rd_expr *rd_gcd(rd_expr *x, rd_expr *y);
/** The least common multiple, not negative; it wraps where the type cannot hold it.  lcm(x, 0)
 *  is 0.  Type: integer.  numpy.lcm. */
RD_API rd_expr *rd_lcm(rd_expr *x, rd_expr *y);

/* ---- Rounding and conversion ----------------------------------------------------------------- */
/** x rounded down.  Floats keep their type; integers and bools are x itself.  numpy.floor. */
RD_API rd_expr *rd_floor(rd_expr *x);
/** x rounded up.  Floats keep their type; integers and bools are x itself.  numpy.ceil. */
RD_API rd_expr *rd_ceil(rd_expr *x);
/** x rounded to the nearest whole number, halves to the even one.  Floats keep their type; integers
 *  and bools are x itself; takes complex.  numpy.rint. */
RD_API rd_expr *rd_round(rd_expr *x);
/** x rounded towards 0.  Floats keep their type; integers and bools are x itself.  numpy.trunc. */
RD_API rd_expr *rd_trunc(rd_expr *x);
/** x rounded to a number of decimals: round(x 10^d) / 10^d.  A negative number rounds to tens,
 *  hundreds, and so on.  Integers are x itself; takes complex.  numpy.round.
 *  @return NULL also on RD_ERR_TYPE (integers and decimals < 0), and RD_ERR_ARGUMENT (|decimals|
 *          above 300, or above 38 for types of 32 and 16 bits). */
RD_API rd_expr *rd_round_to(rd_expr *x, int decimals);
/** x with 0 for NaN, and the type's greatest and least numbers for the infinities.  Integers are x
 *  itself; takes complex.  numpy.nan_to_num. */
RD_API rd_expr *rd_nan_to_num(rd_expr *x);
/** x in another type.  ndarray.astype.
 *
 *  Floats become integers by truncation.  The value is first kept inside the 64-bit range of the
 *  target's sign, so that -1.0 is 0 as an unsigned integer, and NaN is 0; then it wraps.  Integers
 *  wrap.  A bool is whether x is not 0.
 *  @return NULL also on RD_ERR_TYPE: a complex x to a real type (say rd_real()). */
RD_API rd_expr *rd_cast(rd_expr *x, rd_dtype type);

#ifdef __cplusplus
}
#endif
#endif

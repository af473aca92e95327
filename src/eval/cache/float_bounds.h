/* float_bounds.h - bounds of floats by interval arithmetic: that a value is finite, or exactly 0, or
 * exactly -inf, whatever the elements are between.
 *
 * Bounds are a little wider than what the type rounds to, so they need no exact rounding. */
#ifndef RD_EVAL_CACHE_FLOAT_BOUNDS_H
#define RD_EVAL_CACHE_FLOAT_BOUNDS_H
#include "expr/expr.h"

/* Values lo <= v <= hi, none of which is NaN or inf.  lo == -INFINITY: some may be -inf; hi, too: all
 * are.  Not known: nothing is said. */
typedef struct rd_float_bounds {
    double lo, hi;
    bool   known;
} rd_float_bounds;

/* The bounds lo and hi; not known if hi is too great for the type, where values may be inf. */
rd_float_bounds rd_bounds_from(double lo, double hi, rd_dtype type);
/* The bounds of either value. */
rd_float_bounds rd_bounds_either(rd_float_bounds p, rd_float_bounds q);
/* The bounds of the sum of n values. */
rd_float_bounds rd_bounds_sum(rd_float_bounds x, double n, rd_dtype type);
/* The bounds of an elementwise operator's results, of operands in bounds in[k] and of types
 * x->in[k]; `where` does not look at its condition. */
rd_float_bounds rd_bounds_of_map(const rd_expr *x, const rd_float_bounds *in);
/* The bounds of a leaf's elements, by reading all of them.  Not known: NaN or inf is among them, or
 * the type is not f32 or f64, or it has no memory here. */
rd_float_bounds rd_bounds_of_leaf(const rd_expr *x);
/* True if all values are exactly v. */
static inline bool rd_bounds_are(rd_float_bounds x, double v)
{
    return x.known && x.lo == v && x.hi == v;
}
#endif

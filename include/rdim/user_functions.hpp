/* rdim/user_functions.hpp - maps of your own, in C++.
 *
 * f is a function, the text of one, or an rd_fn.  If C++ overloads a function, say which one:
 * sqrtf, not std::sqrt.  A lambda without captures is a function. */
#ifndef RDIM_USER_FUNCTIONS_HPP
#define RDIM_USER_FUNCTIONS_HPP
#include "lists.hpp"
#include "user_functions.h"

namespace rd {

/** A map by a function of float: rd_map_f32(). */
inline rd_expr *map(rd_expr *x, float (*f)(float)) { return rd_map_f32(x, f); }
/** A map by a function of double: rd_map_f64(). */
inline rd_expr *map(rd_expr *x, double (*f)(double)) { return rd_map_f64(x, f); }
/** A map by function text: rd_map_text(). */
inline rd_expr *map(rd_expr *x, const char *f) { return rd_map_text(x, f); }
/** A map by an rd_fn: rd_map_fn(). */
inline rd_expr *map(rd_expr *x, const rd_fn *f) { return rd_map_fn(x, f); }
/** A map of two operands by a function of float: rd_map2_f32(). */
inline rd_expr *map2(rd_expr *x, rd_expr *y, float (*f)(float, float))
{
    return rd_map2_f32(x, y, f);
}
/** A map of two operands by a function of double: rd_map2_f64(). */
inline rd_expr *map2(rd_expr *x, rd_expr *y, double (*f)(double, double))
{
    return rd_map2_f64(x, y, f);
}
/** A map of two operands by function text: rd_map2_text(). */
inline rd_expr *map2(rd_expr *x, rd_expr *y, const char *f) { return rd_map2_text(x, y, f); }
/** A map of two operands by an rd_fn: rd_map2_fn(). */
inline rd_expr *map2(rd_expr *x, rd_expr *y, const rd_fn *f) { return rd_map2_fn(x, y, f); }
/** A map of up to 8 operands by function text: rd_mapn_text(). */
inline rd_expr *mapn(const char *f, expr_list operands) { return rd_mapn_text(f, exprs(operands)); }
/** A map of up to 8 operands by an rd_fn: rd_mapn_fn(). */
inline rd_expr *mapn(const rd_fn *f, expr_list operands) { return rd_mapn_fn(f, exprs(operands)); }

} // namespace rd
#endif

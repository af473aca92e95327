/* span.h - bounds of ints, found without evaluating them. */
#ifndef RD_EXPR_SPAN_H
#define RD_EXPR_SPAN_H
#include "expr/expr.h"

/* Two numbers between which all elements of an int expression lie, by its operators: 0 and 7 for
 * a remainder by 8, the range of the type for a leaf.  A high of INT64_MAX for u64 may stand for
 * more.  False for floats, complex numbers and NULL. */
bool rd_span_of(const rd_expr *x, int64_t *low, int64_t *high);
#endif

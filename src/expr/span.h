/* span.h - what is known of ints without evaluating. */
#ifndef RD_EXPR_SPAN_H
#define RD_EXPR_SPAN_H
#include "expr/expr.h"

/* Two numbers between which all elements of an int expression are, as its operators say: 0 and 7 of a
 * remainder by 8, of a leaf what its type holds.  A high of INT64_MAX of u64 may stand for more.  False
 * of floats, of complex ones and of NULL. */
bool rd_span_of(const rd_expr *x, int64_t *low, int64_t *high);
#endif

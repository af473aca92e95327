/* quantiles.h - quantiles by label, and of elements with weights. */
#ifndef RD_EXPR_QUANTILES_H
#define RD_EXPR_QUANTILES_H
#include "expr/reduce.h"

/* All q of each group of f->x, in the type: the axes that stay, the groups, and q.  NaN of a group of
 * nothing, or with NaN.  NULL after recording a failure. */
rd_expr *rd_quantiles_by_label(const rd_folding *f, rd_dtype type, rd_quantile_method method,
                               rd_qs q);
/* All q of f->x in the type, each element counted as its weight says: the axes that stay, and q.  NULL
 * after recording a failure. */
rd_expr *rd_quantiles_weighted(const rd_folding *f, rd_expr *weights, bool skip_nan, rd_dtype type,
                               rd_qs q);
#endif

/* quantiles.h - quantiles by label, and weighted quantiles. */
#ifndef RD_EXPR_QUANTILES_H
#define RD_EXPR_QUANTILES_H
#include "expr/reduce.h"

/* All q of each group of f->x, in the type.  The axes are those not reduced, the groups, then q.  A
 * group that is empty or contains NaN has NaN.  NULL after recording a failure. */
rd_expr *rd_quantiles_by_label(const rd_folding *f, rd_dtype type, rd_quantile_method method,
                               rd_qs q);
/* All weighted quantiles of f->x, in the type.  The axes are those not reduced, then q.  NULL after
 * recording a failure. */
rd_expr *rd_quantiles_weighted(const rd_folding *f, rd_expr *weights, bool skip_nan, rd_dtype type,
                               rd_qs q);
#endif

/* pair_folds.h - reductions over all pairs of elements in which either order gives the same
 * value. */
#ifndef RD_EXPR_PAIR_FOLDS_H
#define RD_EXPR_PAIR_FOLDS_H
#include "expr/reduce.h"

/* True if this fold reduces both axes of such pairs; `axis` gets them.  x has the shape of f->x. */
bool rd_pairs_found(const rd_folding *f, const rd_expr *x, const rd_fold_facts *facts, int axis[2]);
/* Makes what rd_folding_node() makes, but takes each pair once. */
rd_expr *rd_pairs_folded(const rd_folding *f, rd_expr *x, const rd_fold_facts *facts,
                         const int axis[2]);
#endif

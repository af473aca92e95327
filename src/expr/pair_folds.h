/* pair_folds.h - reductions over all pairs of elements of which either order gives the same. */
#ifndef RD_EXPR_PAIR_FOLDS_H
#define RD_EXPR_PAIR_FOLDS_H
#include "expr/reduce.h"

/* Is this a fold over both axes of such pairs?  x has the shape of f->x.  These axes. */
bool rd_pairs_found(const rd_folding *f, const rd_expr *x, const rd_fold_facts *facts, int axis[2]);
/* Gives what rd_folding_node() gives, and takes each pair once. */
rd_expr *rd_pairs_folded(const rd_folding *f, rd_expr *x, const rd_fold_facts *facts,
                         const int axis[2]);
#endif

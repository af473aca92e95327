/* sparse_product.h - how products of two sparse matrices begin and end, wherever they have places. */
#ifndef RD_EXPR_SPARSE_PRODUCT_H
#define RD_EXPR_SPARSE_PRODUCT_H
#include "core/row_product.h"
#include "expr/sparse.h"

/* Facts of a product without places; both operands become matrices by rows that begin at 0.  False after
 * recording a failure. */
bool rd_begin_product(rd_row_product *p, rd_expr **in, rd_reducer_id reducer, rd_op op,
                      const char *call);
/* The product with its places, whose coordinates are `coord`; it begins at 0. */
rd_expr *rd_end_product(const rd_row_product *p, rd_expr *const *in, rd_expr *const *coord,
                        const char *call);
#endif

/* sparse_product.h - the begin and the end of products of two sparse matrices, whatever places
 * they have. */
#ifndef RD_EXPR_SPARSE_PRODUCT_H
#define RD_EXPR_SPARSE_PRODUCT_H
#include "core/row_product.h"
#include "expr/sparse.h"

/* Fills in the facts of a product, except its places.  Both operands become matrices in row
 * order with origins of 0.  False after recording a failure. */
bool rd_begin_product(rd_row_product *p, rd_expr **in, rd_reducer_id reducer, rd_op op,
                      const char *call);
/* Makes the product from its places; `coord` are their coordinates.  Its origins are 0. */
rd_expr *rd_end_product(const rd_row_product *p, rd_expr *const *in, rd_expr *const *coord,
                        const char *call);
#endif

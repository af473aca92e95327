/* row_places.h - the stored places of sparse matrices as kernels of products read them:
 * compressed rows (CSR), with the begin of each row. */
#ifndef RD_EXPR_ROW_PLACES_H
#define RD_EXPR_ROW_PLACES_H
#include "core/row_product.h"
#include "expr/expr.h"

/* Reads entry `at` of a row of indices of 64 (wide) or 32 bits. */
static inline int64_t rd_index_at(bool wide, const void *row, int64_t at)
{
    return wide ? ((const int64_t *)row)[at] : ((const int32_t *)row)[at];
}

/* Writes entry `at` of a row of indices of 64 (wide) or 32 bits. */
static inline void rd_put_index(bool wide, void *row, int64_t at, int64_t index)
{
    if (wide)
        ((int64_t *)row)[at] = index;
    else
        ((int32_t *)row)[at] = (int32_t)index;
}

/* The number of stored elements in row i of a sparse matrix: the begin of the next row minus its
 * own. */
static inline int64_t rd_row_length(bool wide, const rd_row_places *p, int64_t i)
{
    return rd_index_at(wide, p->begin, i + 1) - rd_index_at(wide, p->begin, i);
}

/* Memory of the arena for n + 1 indices. */
void *rd_index_room(rd_ctx *ctx, int64_t n, bool wide);
/* The sparse matrix with its places in row order. */
rd_expr *rd_by_rows(rd_expr *x, const char *call);
/* True if indices or places of such a matrix need i64. */
bool rd_is_wide_pattern(const rd_expr *x);
/* Fills in its places; false: no memory. */
bool rd_fill_row_places(rd_row_places *to, const rd_expr *x, bool wide);
/* The same places in column order, each with its number in row order.  False: no memory. */
bool rd_turn_places(rd_ctx *ctx, const rd_row_places *of, rd_row_places *to, bool wide);
/* Fills in the columns of B for a product at given places, and partitions the places of C.  Some
 * traverse a column of B, others a row of A.  False: no memory. */
bool rd_deal_places(rd_row_product *p, rd_ctx *ctx);
#endif

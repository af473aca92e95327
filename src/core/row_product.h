/* row_product.h - a product of sparse matrices by rows, over a semiring, as facts that whoever builds
 * expressions and whoever computes them share: row i of C is the sum over the places k of row i of A of
 * a[i, k] times row k of B.  Where C has places is among them. */
#ifndef RD_CORE_ROW_PRODUCT_H
#define RD_CORE_ROW_PRODUCT_H
#include "core/ops.h"
#include "core/reducers.h"

/* Over which semirings places can be wanted: X(reducer, operator). */
#define RD_MASKED_ROWS(X)  X(sum, mul) X(max, minimum) X(min, add) X(max, add)
/* What may be a sum, and what a product: X(reducer), X(reducer, operator). */
#define RD_ROW_REDUCERS(X) X(sum) X(prod) X(min) X(max)
#define RD_ROW_OPS(X, REDUCER) \
    X(REDUCER, mul) X(REDUCER, add) X(REDUCER, sub) X(REDUCER, minimum) X(REDUCER, maximum)

/* Places of a matrix, row after row, ascending; i32, or i64 if all three are wide. */
typedef struct rd_row_places {
    const void *begin, *column; /* begin has one more than there are rows */
    const void *from; /* which element of the values each is; NULL: they are in this order */
    int64_t     rows, columns, n;
} rd_row_places;

/* How a product is found at places that are wanted, which need not be all of its own. */
typedef enum rd_row_mask {
    RD_NO_MASK,
    RD_MASK_BY_ROWS,  /* rows of B are added, as for all places             */
    RD_MASK_BY_PLACES /* row i of A and column j of B meet, for each (i, j) */
} rd_row_mask;

/* Plain bytes, as facts of an expression.  Values are f64 or i64. */
typedef struct rd_row_product {
    rd_row_places a, b, c;
    /* RD_MASK_BY_PLACES has B column after column.  Places of C are dealt out to the rows of A that are
     * walked, and, column after column, to the columns of B that are. */
    rd_row_places b_columns, by_row, by_column;
    const void
           *mirror; /* of by_row: which place of C is (j, i); NULL: A is not where B's transpose is,
                           * or C not where its own is */
    int32_t wide;
    int32_t reducer; /* rd_reducer_id: one of RD_ROW_REDUCERS    */
    int32_t op;      /* rd_op: one of RD_ROW_OPS                 */
    int32_t type;    /* rd_dtype: RD_F64 or RD_I64                */
    int32_t counts;  /* 0 times what is not finite is NaN, where one of both is not stored, too */
    int32_t mask;    /* rd_row_mask: where the product then has nothing C is 0 */
} rd_row_product;

static inline bool rd_row_product_masks(rd_reducer_id reducer, rd_op op)
{
    bool has = false;

#define RD_HAS(REDUCER, OP) has |= reducer == RD_RED_##REDUCER && op == RD_OP_##OP;
    RD_MASKED_ROWS(RD_HAS)
#undef RD_HAS
    return has;
}

static inline bool rd_row_product_has(rd_reducer_id reducer, rd_op op)
{
    bool has = false;

#define RD_HAS(REDUCER, OP)     has |= reducer == RD_RED_##REDUCER && op == RD_OP_##OP;
#define RD_HAS_REDUCER(REDUCER) RD_ROW_OPS(RD_HAS, REDUCER)
    RD_ROW_REDUCERS(RD_HAS_REDUCER)
#undef RD_HAS_REDUCER
#undef RD_HAS
    return has;
}
#endif

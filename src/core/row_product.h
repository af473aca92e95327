/* row_product.h - facts of a sparse matrix product by rows (Gustavson) over a semiring, shared
 * by expr and kernels.  Row i of C is the sum over the places k of row i of A of a[i, k] times
 * row k of B. The places of C are given. */
#ifndef RD_CORE_ROW_PRODUCT_H
#define RD_CORE_ROW_PRODUCT_H
#include "core/ops.h"
#include "core/reducers.h"

/* Semirings for products at wanted places (masked): X(reducer, operator). */
#define RD_MASKED_ROWS(X)  X(sum, mul) X(max, minimum) X(min, add) X(max, add)
/* All sums X(reducer), and all products X(reducer, operator). */
#define RD_ROW_REDUCERS(X) X(sum) X(prod) X(min) X(max)
#define RD_ROW_OPS(X, REDUCER) \
    X(REDUCER, mul) X(REDUCER, add) X(REDUCER, sub) X(REDUCER, minimum) X(REDUCER, maximum)

/* The sum and the product of bools, as numbers 0 and 1: (any, and). */
#define RD_ROW_ANY RD_RED_max
#define RD_ROW_AND RD_OP_minimum

/* The stored places of a matrix (CSR), row by row, columns ascending; indices are i32, or i64 if
 * all three arrays are wide.  `begin` says where each row begins, n is the number of places. */
typedef struct rd_row_places {
    const void *begin, *column;   /* begin has one entry more than there are rows */
    const void *from;             /* index into the values; NULL: values are in this order */
    int64_t     rows, columns, n; /* of the matrix; its stored places */
} rd_row_places;

/* How a product at wanted places (which may be fewer than it has) is computed. */
typedef enum rd_row_mask {
    RD_NO_MASK,
    RD_MASK_BY_ROWS,  /* rows of B are added, as for all places */
    RD_MASK_BY_PLACES /* inner product of row i of A and column j of B, for each (i, j) */
} rd_row_mask;

/* Facts of an expression, compared as bytes.  Values are f64 or i64. */
typedef struct rd_row_product {
    rd_row_places a, b, c;
    /* For RD_MASK_BY_PLACES: B by columns; and the places of C partitioned into those computed
     * row by row of A, and those column by column of B. */
    rd_row_places b_columns, by_row, by_column;
    const void
        /* by_row's permutation to the place (j, i) of C; NULL: C or A and B are not symmetric
            * in that way */
           *mirror;
    int32_t wide;    /* indices are i64                          */
    int32_t reducer; /* rd_reducer_id: one of RD_ROW_REDUCERS    */
    int32_t op;      /* rd_op: one of RD_ROW_OPS                 */
    int32_t type;    /* rd_dtype: RD_F64 or RD_I64                */
    int32_t counts;  /* 0 times a non-finite value is NaN, also where one factor is not stored */
    int32_t mask;    /* rd_row_mask; C is 0 at wanted places without products */
} rd_row_product;

/* True if there is a kernel for products of sparse matrices with this sum (reducer) and product
 * (operator) that computes only wanted places, those of a mask. */
static inline bool rd_row_product_masks(rd_reducer_id reducer, rd_op op)
{
    bool has = false;

#define RD_HAS(REDUCER, OP) has |= reducer == RD_RED_##REDUCER && op == RD_OP_##OP;
    RD_MASKED_ROWS(RD_HAS)
#undef RD_HAS
    return has;
}

/* True if there is a kernel for products of sparse rows with this reducer and operator.
 * RD_ROW_REDUCERS and RD_ROW_OPS list them. */
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

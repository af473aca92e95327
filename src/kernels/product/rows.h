/* rows.h - products of sparse matrices by rows, over a semiring: row i of C is the sum over the places
 * k of row i of A of a[i, k] times row k of B.  (Gustavson, 1978, "Two Fast Algorithms for Sparse
 * Matrices: Multiplication and Permuted Transposition", ACM TOMS 4, 3.)  Where C has places is known
 * before; only its values are computed here. */
#ifndef RD_KERNELS_PRODUCT_ROWS_H
#define RD_KERNELS_PRODUCT_ROWS_H
#include "core/ops.h"
#include "core/reducers.h"

/* Places of a matrix, row after row, ascending; i32, or i64 if all three are wide. */
typedef struct rd_row_places {
    const void *begin, *column; /* begin has one more than there are rows */
    int64_t     rows, columns, n;
} rd_row_places;

/* Plain bytes, as facts of an expression.  Values are f64 or i64. */
typedef struct rd_row_product {
    rd_row_places a, b, c;
    int32_t       wide;
    int32_t       reducer; /* rd_reducer_id: sum, prod, min, max        */
    int32_t       op;      /* rd_op: mul, add, sub, minimum, maximum    */
    int32_t       type;    /* rd_dtype: RD_F64 or RD_I64                */
    int32_t counts; /* 0 times what is not finite is NaN, where one of both is not stored, too */
    int32_t unused;
} rd_row_product;

/* May a program ask for it? */
bool rd_row_product_has(rd_reducer_id reducer, rd_op op);
/* Values of C from those of A and B, by so many threads.  `get`: memory, zeroed, NULL without; `put`
 * gives it back.  False: no memory.  The bits do not depend on threads: a place of C takes its
 * products in the order of k. */
typedef struct rd_row_memory {
    void *(*get)(void *user, int64_t bytes);
    void (*put)(void *user, void *memory);
    void *user;
} rd_row_memory;
bool rd_row_product_run(const rd_row_product *p, const void *a, const void *b, void *c, int threads,
                        const rd_row_memory *memory);
#endif

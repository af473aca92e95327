/* kernel.h - how compiled code is called: the library and the objects it compiles both read
 * this. */
#ifndef RD_KERNELS_CPU_JIT_KERNEL_H
#define RD_KERNELS_CPU_JIT_KERNEL_H
#include <stdint.h>

/* Element (r, c) is the one at `at` + r * row + c * col elements, and for index k of a short loop k
 * * deep further. */
typedef struct rd_operand {
    char   *at;
    int64_t row, col, deep;
} rd_operand;

/* `rows` rows of n elements; of folds, the first row first, into n states side by side. */
typedef struct rd_kernel_call {
    int64_t           rows, n;
    const rd_operand *operand;
    void *const      *state;            /* the folds' one after the other: state k of all n */
    int64_t           block;            /* of totals: elements of a block                         */
    int64_t           index, index_row; /* of places: flat index of the first row, and from
                                         * row to row */
} rd_kernel_call;

typedef void rd_kernel(const rd_kernel_call *call);

/* What an object has.  NULL where there is nothing to do, or the folds are not of that kind. */
typedef struct rd_kernels {
    rd_kernel *map;   /* no folds                                                               */
    rd_kernel *first; /* states begin with the first row, and take the others                   */
    rd_kernel *step;  /* states that have begun                                                 */
    rd_kernel *block; /* rows that are a whole block of all lanes: state k of the finished block's
                       * lanes */
    rd_kernel *total; /* each row is all of a fold: state k of row r              */
} rd_kernels;
#endif

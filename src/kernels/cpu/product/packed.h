/* packed.h - products with axes other than those of matrices in memory, such as windows of an image
 * times filters (tensor contractions).  m, n and k may each be several axes, with any strides. */
#ifndef RD_KERNELS_CPU_PACKED_H
#define RD_KERNELS_CPU_PACKED_H
#include "kernels/cpu/product/product.h"

/* Axes that act as one: as m, as n, as k, or as the batch that all three matrices have; the last
 * one is the fastest. */
typedef struct rd_product_group {
    const rd_product_axis *axis;
    int32_t                n;
    int64_t                extent;
} rd_product_group;

/* The plan of a product by our kernels: c[m, n] = sum over k of a[m, k] b[k, n] for each item of
 * the batch, in blocks of rows and columns of c. */
typedef struct rd_packed {
    const rd_product *of;
    rd_simd_product  *kernel;
    rd_product_group  batch, m, n, k;
    /* where k's elements are in a and in b */
    int64_t *a_step, *b_step;
    /* the step along groups that lie like one axis; 0: they do not */
    int64_t a_row, a_next, b_next, c_row;
    int64_t a_run;                     /* so many steps at a time lie side by side in a */
    bool    a_as_is, b_as_is, c_as_is; /* which matrices the kernel takes where they lie */
    int64_t rows, cols, row_blocks, col_blocks, blocks; /* of a block; numbers of blocks */
    int64_t panel;                                      /* columns that are packed at a time */
    /* of a task's memory: where the packed panel of b, rows of a, the panel of c and the places of
     * rows in a and c begin */
    int64_t b_at, a_at, c_at, places_at, bytes;
} rd_packed;

/* Sets *packed to the plan, or to NULL if the program is no such product or loops are as fast.
 * False if memory runs out. */
bool rd_packed_prepare(const rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool,
                       const rd_packed **packed);
/* Computes a block.  Returns how many elements of a and b it reads. */
int64_t rd_packed_block(const rd_packed *packed, const rd_task *task, int64_t number);
#endif

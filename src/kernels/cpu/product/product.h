/* product.h - programs that are nothing but a matrix product: c[m,n] = sum over k of a[m,k] b[k,n],
 * for each index of any further axes.  A BLAS computes it, or kernels with the bits of the
 * program's fold. */
#ifndef RD_KERNELS_CPU_PRODUCT_H
#define RD_KERNELS_CPU_PRODUCT_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/program.h"

enum { RD_C, RD_A, RD_B, RD_MATRICES };

/* An axis of the product, and how many elements each matrix moves on along it: 0 where it does not
 * have it. */
typedef struct rd_product_axis {
    int64_t extent, step[RD_MATRICES];
} rd_product_axis;

typedef struct rd_matrix {
    int32_t slot;
    int64_t first; /* element */
} rd_matrix;

typedef struct rd_product {
    rd_dtype         type;
    rd_matrix        matrix[RD_MATRICES];
    rd_product_axis *axis; /* all of them; once m, n and k are chosen the further ones, those that c
                            * has first */
    int32_t          n_axis, n_kept;
    rd_product_axis  m, n, k;
    int64_t          rows, cols, row_blocks, col_blocks, blocks; /* of c, for tasks */
    int64_t          parts;  /* products that a block of c is the sum of */
    rd_simd_product *kernel; /* NULL: by BLAS */
} rd_product;

/* A program's axes and matrices; NULL of any other program, or without memory. */
rd_product *rd_product_find(const rd_program *p, rd_get_fn *get, void *pool);

/* Makes a product that pays for it run by BLAS, where there is one and p->exact does not forbid it,
 * or by these kernels: p->product then, and the root axis counts blocks of c.  False without
 * memory. */
bool rd_product_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool);
/* Who computes it. */
const char *rd_product_by(const rd_product *product);
/* The task's share of the blocks. */
void rd_product_run(const rd_product *product, rd_task *task);
#endif

/* product.h - matrix products on the CPU: a BLAS computes them, or kernels with the bits of the
 * program's fold. */
#ifndef RD_KERNELS_CPU_PRODUCT_H
#define RD_KERNELS_CPU_PRODUCT_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/product/product.h"

struct rd_packed; /* packed.h */

typedef struct rd_cpu_product {
    const rd_product       *of;
    const struct rd_packed *packed; /* computes it by packed panels; else NULL, and so: */
    bool             symmetric; /* a and b are one matrix: blocks below the diagonal are copies */
    int64_t          rows, cols, row_blocks, col_blocks; /* of c, for tasks */
    int64_t          of_item, blocks; /* blocks of one matrix c; of all           */
    int64_t          parts;           /* products that a block of c is the sum of */
    int64_t          steps;           /* of the sums along k that one call makes */
    int64_t          calls;           /* of a block, one after the other: those of each part */
    rd_simd_product *kernel;          /* NULL: by BLAS */
} rd_cpu_product;

/* Finds out whether the program is a product worth a call of a BLAS (if there is one and p->exact
 * allows it) or of our kernels.  If so, sets p->product, and the root axis counts calls.  False if
 * memory runs out. */
bool rd_product_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool);
/* The name of the library or kernels that compute the product. */
const char *rd_product_by(const rd_cpu_product *product);
/* Runs the task's share of the calls. */
void rd_product_run(const rd_cpu_product *product, rd_task *task);
#endif

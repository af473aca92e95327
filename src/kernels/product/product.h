/* product.h - programs that are matrix products, and the GEMM calls that compute them: c[m,n] =
 * sum over k of a[m,k] b[k,n], for each index of further axes. */
#ifndef RD_KERNELS_PRODUCT_PRODUCT_H
#define RD_KERNELS_PRODUCT_PRODUCT_H
#include "kernels/program.h"

enum { RD_C, RD_A, RD_B, RD_MATRICES };

/* An axis of the product, and the stride of each matrix along it in elements; 0: the matrix does
 * not have it. */
typedef struct rd_product_axis {
    int64_t extent, step[RD_MATRICES]; /* the matrices are c, a and b */
    int32_t number;                    /* among the program's axes */
} rd_product_axis;

/* Where a matrix lies in memory. */
typedef struct rd_matrix {
    int32_t slot;  /* the program's buffer */
    int64_t first; /* element */
} rd_matrix;

/* A program that is a matrix product. */
typedef struct rd_product {
    rd_dtype         type; /* f32, f64 */
    rd_matrix        matrix[RD_MATRICES];
    rd_product_axis *axis; /* all of them; once m, n and k are chosen the further ones, those that c
                            * has first */
    int32_t          n_axis, n_kept; /* axes; the first ones, which c has */
    rd_product_axis  m, n, k;        /* the axes of one GEMM call */
} rd_product;

/* find.c: finds the axes and matrices of a product; NULL: the program is no product.  False: no
 * memory. */
bool rd_product_find(const rd_program *p, rd_get_fn *get, void *pool, rd_product **product);
/* choose_axes.c: finds the product and chooses m, n and k; NULL, too, where a library gains
 * nothing. */
bool rd_product_choose(const rd_program *p, rd_get_fn *get, void *pool, rd_product **product);

/* ---- gemm.c ---------------------------------------------------------------------------------- */
/* Parameters of a GEMM: c = a b, or c += a b, with (m, n) = (m, k) (k, n).  Rows of c are dense;
 * a and b may be transposed.  `symmetric`: b is the transpose of a, and c is wanted from the
 * diagonal on (SYRK).  `lead`: elements from one row, or column, to the next (leading
 * dimension). */
typedef struct rd_gemm {
    rd_dtype    type;
    bool        a_transposed, b_transposed, add, symmetric;
    int         m, n, k, lead_a, lead_b, lead_c; /* extents; leading dimensions */
    const void *a, *b;                           /* first elements */
    void       *c;
} rd_gemm;

/* The parameters for so many rows and columns of c, without addresses. */
rd_gemm rd_product_gemm(const rd_product *product, int64_t rows, int64_t cols);
/* Moves the three places by `index` along an axis; to number `index` over all n axes, the last
 * one fastest. */
void rd_product_move(int64_t *at, const rd_product_axis *axis, int64_t index);
void rd_product_move_along(int64_t *at, const rd_product_axis *axis, int32_t n, int64_t index);
/* The address of such a place. */
void *rd_product_element(const rd_product *product, void *const *slot, int matrix, int64_t at);
#endif

/* choose_axes.c - chooses the axes m, n and k of a product: one GEMM call multiplies matrices
 * over them.  Further axes are loops around calls. */
#include "kernels/product/product.h"
#include <limits.h>

/* True if two matrices have the axis, and the third has not. */
static bool is_of_two(const rd_product_axis *axis, int one, int other, int third)
{
    return axis->step[one] && axis->step[other] && !axis->step[third];
}

/* True if the two axes make a matrix in memory: adjacent elements along columns, and rows that
 * do not overlap. */
static bool is_matrix(const rd_product_axis *row, const rd_product_axis *col, int matrix)
{
    return col->step[matrix] == 1 && row->step[matrix] >= col->extent &&
           row->step[matrix] <= INT_MAX;
}

static bool fits_gemm(const rd_product_axis *m, const rd_product_axis *n, const rd_product_axis *k)
{
    return is_matrix(m, n, RD_C) && (is_matrix(m, k, RD_A) || is_matrix(k, m, RD_A)) &&
           (is_matrix(k, n, RD_B) || is_matrix(n, k, RD_B)) && m->extent <= INT_MAX &&
           n->extent <= INT_MAX && k->extent <= INT_MAX;
}

/* The best choice so far: axes of the largest matrices that a GEMM takes. */
typedef struct gemm_axes {
    const rd_product_axis *m, *n, *k;
    double                 points;
} gemm_axes;

/* Looks for the summed axis k that makes the largest product with the given m and n. */
static void choose_summed(const rd_product *product, const rd_product_axis *m,
                          const rd_product_axis *n, gemm_axes *best)
{
    for (int32_t i = 0; i < product->n_axis; i++) {
        const rd_product_axis *k      = &product->axis[i];
        const double           points = (double)m->extent * (double)n->extent * (double)k->extent;

        if (is_of_two(k, RD_A, RD_B, RD_C) && points > best->points && fits_gemm(m, n, k))
            *best = (gemm_axes){ m, n, k, points };
    }
}

static gemm_axes choose_axes(const rd_product *product)
{
    gemm_axes best = { .points = 0 };

    for (int32_t i = 0; i < product->n_axis; i++)
        for (int32_t j = 0; j < product->n_axis; j++)
            if (is_of_two(&product->axis[i], RD_C, RD_A, RD_B) &&
                is_of_two(&product->axis[j], RD_C, RD_B, RD_A))
                choose_summed(product, &product->axis[i], &product->axis[j], &best);
    return best;
}

/* ---- Axes that are one ----------------------------------------------------------------------- */
/* True if every matrix traverses the two axes as one axis, as where rows of pixels are one row. */
static bool can_be_merged(const rd_product_axis *outer, const rd_product_axis *inner)
{
    bool are = outer->extent <= INT_MAX / inner->extent;

    for (int m = 0; m < RD_MATRICES; m++)
        are &= outer->step[m] == inner->extent * inner->step[m];
    return are;
}

/* Merges the first two axes that all matrices traverse as one; false if there are none. */
static bool merge_one(rd_product *product)
{
    rd_product_axis *axis = product->axis;

    for (int32_t o = 0; o < product->n_axis; o++)
        for (int32_t i = 0; i < product->n_axis; i++)
            if (o != i && can_be_merged(&axis[o], &axis[i])) {
                axis[i].extent *= axis[o].extent;
                axis[o] = axis[--product->n_axis];
                return true;
            }
    return false;
}

/* Merges axes, so that one call does what several would. */
static void merge_axes(rd_product *product)
{
    while (merge_one(product))
        ;
}

/* Transposes the product: b^T a^T = c^T.  Rows of c must be dense, and its columns may be
 * instead. */
static void transpose(rd_product *product)
{
    const rd_matrix a = product->matrix[RD_A];

    product->matrix[RD_A] = product->matrix[RD_B];
    product->matrix[RD_B] = a;
    for (int32_t i = 0; i < product->n_axis; i++) {
        const int64_t step = product->axis[i].step[RD_A];

        product->axis[i].step[RD_A] = product->axis[i].step[RD_B];
        product->axis[i].step[RD_B] = step;
    }
}

/* Limits below which a call costs more than it saves, or vectors are as fast: a matrix times a
 * vector is one pass over memory. */
enum { LEAST_EXTENT = 4, LEAST_POINTS = 1 << 15 };

static bool is_worth_a_call(const rd_product *product, const gemm_axes *best)
{
    double points = 1;

    for (int32_t i = 0; i < product->n_axis; i++)
        points *= (double)product->axis[i].extent;
    return best->m && best->m->extent >= LEAST_EXTENT && best->n->extent >= LEAST_EXTENT &&
           best->k->extent >= LEAST_EXTENT && points >= LEAST_POINTS;
}

/* Sets m, n and k, and puts the axes of c first among the others. */
static void set_axes(rd_product *product, const gemm_axes *best)
{
    rd_product_axis *axis   = product->axis;
    int32_t          n_left = 0;

    product->m = *best->m;
    product->n = *best->n;
    product->k = *best->k;
    for (int32_t i = 0; i < product->n_axis; i++)
        if (&axis[i] != best->m && &axis[i] != best->n && &axis[i] != best->k)
            axis[n_left++] = axis[i];
    product->n_axis = n_left;
    for (int32_t i = 0; i < n_left; i++)
        if (axis[i].step[RD_C]) {
            const rd_product_axis kept = axis[i];

            axis[i]                 = axis[product->n_kept];
            axis[product->n_kept++] = kept;
        }
}

/* Finds the product, merges axes, and chooses m, n and k.  Where rows of c do not lie side by
 * side, it tries the transposed product. */
bool rd_product_choose(const rd_program *p, rd_get_fn *get, void *pool, rd_product **to)
{
    rd_product *product;
    gemm_axes   best;

    *to = NULL;
    if (!rd_product_find(p, get, pool, &product))
        return false;
    if (!product)
        return true;
    merge_axes(product);
    best = choose_axes(product);
    if (!best.m) {
        transpose(product);
        best = choose_axes(product);
    }
    if (!is_worth_a_call(product, &best))
        return true;
    set_axes(product, &best);
    *to = product;
    return true;
}

/* choose_axes.c - chooses the axes m, n and k of a product: one GEMM call multiplies matrices
 * over them.  Further axes are loops around calls. */
#include "kernels/product/product.h"
#include <limits.h>

/* True if matrices `one` and `other` have the axis, and `third` has not. step is a matrix's
 * stride along the axis in elements; 0: the matrix does not have it. */
static bool is_of_two(const rd_product_axis *axis, int one, int other, int third)
{
    return axis->step[one] && axis->step[other] && !axis->step[third];
}

/* True if the two axes of a matrix (RD_A, RD_B or RD_C) lie in memory as a GEMM call takes them.
 * Elements along columns are adjacent, rows do not overlap, and the leading dimension (from row
 * to row) fits in an int. */
static bool is_matrix(const rd_product_axis *row, const rd_product_axis *col, int matrix)
{
    return col->step[matrix] == 1 && row->step[matrix] >= col->extent &&
           row->step[matrix] <= INT_MAX;
}

/* True if a GEMM call can multiply over the axes m, n and k: c is row-major, a and b are
 * row-major or transposed, and all extents fit in an int, as BLAS takes them. */
static bool fits_gemm(const rd_product_axis *m, const rd_product_axis *n, const rd_product_axis *k)
{
    return is_matrix(m, n, RD_C) && (is_matrix(m, k, RD_A) || is_matrix(k, m, RD_A)) &&
           (is_matrix(k, n, RD_B) || is_matrix(n, k, RD_B)) && m->extent <= INT_MAX &&
           n->extent <= INT_MAX && k->extent <= INT_MAX;
}

/* The best choice so far: axes of the largest matrices that a GEMM takes. */
typedef struct gemm_axes {
    const rd_product_axis *m, *n, *k; /* NULL: no choice yet */
    double                 points;    /* product of their extents */
} gemm_axes;

/* Looks for the summed axis k, which a and b have and c has not, that makes the largest product
 * with the given m and n. *best keeps the largest product so far, by the number of multiplications
 * (points). is_of_two(k, RD_A, RD_B, RD_C): a and b have axis k, and c has not. */
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

/* Chooses the axes m (in c and a), n (in c and b) and k (in a and b) of the largest product that
 * a GEMM call takes. best.m NULL: there are none. */
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
/* True if every matrix traverses the two axes as one axis: one outer step is as far as all inner
 * steps together (and the merged extent fits an int), as in an image with rows of pixels behind
 * each other. */
static bool can_be_merged(const rd_product_axis *outer, const rd_product_axis *inner)
{
    bool adjacent = outer->extent <= INT_MAX / inner->extent;

    for (int m = 0; m < RD_MATRICES; m++)
        adjacent &= outer->step[m] == inner->extent * inner->step[m];
    return adjacent;
}

/* Merges one pair of axes that all matrices traverse as one axis; false if there is none. The
 * last axis takes the place of the one that vanishes. */
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

/* Merges all axes that can be merged, so that one GEMM call does what several would. */
static void merge_axes(rd_product *product)
{
    while (merge_one(product))
        ;
}

/* Exchanges a and b, since c^T = b^T a^T: a GEMM call wants dense rows of c, and c may have
 * dense columns instead. */
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

/* True if a GEMM call saves more than it costs: the extents are not tiny, and there are enough
 * products. best->m NULL: there are no such axes. */
static bool is_worth_a_call(const rd_product *product, const gemm_axes *best)
{
    double points = 1;

    for (int32_t i = 0; i < product->n_axis; i++)
        points *= (double)product->axis[i].extent;
    return best->m && best->m->extent >= LEAST_EXTENT && best->n->extent >= LEAST_EXTENT &&
           best->k->extent >= LEAST_EXTENT && points >= LEAST_POINTS;
}

/* Sets the axes m, n and k of the product's GEMM calls. The other axes, which are loops around
 * the calls, are ordered: those that c has come first, n_kept of them; over the others the
 * products of calls are summed. */
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

/* Finds out whether a program is a matrix product that a library should compute, and chooses its
 * axes m, n and k. If c has no dense rows, the transposed product is tried. *to NULL: it is none,
 * or too small. The product lives in memory from `get`. False: no memory. */
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

/* gpu_pairs.c - programs over pairs of points, which are rows of one matrix: see gpu_programs.h. */
#include "expr/expr.h"
#include "gpu_programs.h"

/* |x[.., i, :] - y[.., j, :]|^2 */
static rd_expr *distances(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_square(rd_sub(rd_expand(x, x->rank - 1), rd_expand(y, x->rank - 2))),
                  RD_DIMS(-1));
}

/* The same points, the last one first: no point is the first of its pairs. */
static rd_expr *others(rd_expr *x)
{
    return rd_flip(x, RD_DIMS(-2));
}

static rd_expr *nearness(rd_expr *x, rd_expr *y)
{
    return rd_exp(rd_mul(distances(x, y), rd_num(x->ctx, -0.01)));
}

static rd_expr *gauss_of(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_mul(nearness(x, y), rd_select(y, 1, 0)), RD_DIMS(-1));
}

static int gauss(rd_expr *x, rd_expr **y)
{
    y[0] = gauss_of(x, others(x));
    return 1;
}

/* The others in the order of memory, which is taken several elements at a time. */
static int gauss_in_order(rd_expr *x, rd_expr **y)
{
    y[0] = gauss_of(others(x), x);
    return 1;
}

/* Points are columns. */
static int gauss_of_columns(rd_expr *x, rd_expr **y)
{
    return gauss_in_order(rd_transpose(x), y);
}

static int few_others(rd_expr *x, rd_expr **y)
{
    y[0] = gauss_of(x, rd_slice_axis(x, 0, 0, (x->extent[0] + 2) / 3, 1));
    return 1;
}

static int many_others(rd_expr *x, rd_expr **y)
{
    y[0] = gauss_of(rd_slice_axis(x, 0, 0, (x->extent[0] + 2) / 3, 1), x);
    return 1;
}

/* Some of the coordinates of points. */
static int gauss_of_parts(rd_expr *x, rd_expr **y)
{
    return gauss_in_order(rd_slice_axis(x, 1, x->extent[1] / 4, x->extent[1], 1), y);
}

static int nearest(rd_expr *x, rd_expr **y)
{
    y[0] = rd_argmin(distances(x, others(x)), RD_DIMS(1));
    return 1;
}

/* Results lie along the other axis of the pairs. */
static int farthest(rd_expr *x, rd_expr **y)
{
    y[0] = rd_argmax(distances(x, others(x)), RD_DIMS(0));
    return 1;
}

static int lse(rd_expr *x, rd_expr **y)
{
    y[0] = rd_logsumexp(rd_neg(distances(x, others(x))), RD_DIMS(1));
    return 1;
}

static int var(rd_expr *x, rd_expr **y)
{
    y[0] = rd_var(distances(x, others(x)), RD_DIMS(1));
    return 1;
}

static int mean_where(rd_expr *x, rd_expr **y)
{
    rd_expr *d = distances(x, others(x));

    y[0] = rd_mean(d, RD_DIMS(1), .where = rd_gt(d, rd_num(x->ctx, 9)));
    return 1;
}

static int both_ends(rd_expr *x, rd_expr **y)
{
    rd_expr *d = distances(x, others(x));

    y[0] = rd_max(d, RD_DIMS(1));
    y[1] = rd_sum(d, RD_DIMS(1));
    return 2;
}

/* Two batches of points. */
static int batches(rd_expr *x, rd_expr **y)
{
    const int64_t half = x->extent[0] / 2;
    rd_expr *b = rd_reshape(rd_slice_axis(x, 0, 0, 2 * half, 1), RD_SHAPE(2, half, x->extent[1]));

    y[0] = rd_sum(nearness(b, others(b)), RD_DIMS(-1));
    return 1;
}

/* A vector for each pair, of which two loops read the coordinates. */
static int forces(rd_expr *x, rd_expr **y)
{
    rd_expr *d  = rd_sub(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr *r2 = rd_add(rd_sum(rd_square(d), RD_KEEP(-1)), rd_num(x->ctx, 0.01));

    y[0] = rd_sum(rd_div(d, rd_mul(r2, rd_sqrt(r2))), RD_DIMS(1));
    return 1;
}

/* Numbers instead of points: no loop in a pair. */
static int of_numbers(rd_expr *x, rd_expr **y)
{
    rd_expr *a = rd_select(x, 1, 0);

    y[0] = rd_sum(rd_exp(rd_neg(rd_abs(rd_sub(rd_expand(a, 1), rd_expand(a, 0))))), RD_DIMS(1));
    return 1;
}

/* Distances by another fold than a sum, of two blocks where there are so many coordinates. */
static int least_of_most(rd_expr *x, rd_expr **y)
{
    y[0] = rd_min(rd_max(rd_abs(rd_sub(rd_expand(x, 1), rd_expand(others(x), 0))), RD_DIMS(-1)),
                  RD_DIMS(1));
    return 1;
}

/* One fold takes all coordinates of a point before those of the next one. */
static int sum_of_all(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(rd_abs(rd_sub(rd_expand(x, 1), rd_expand(others(x), 0))), RD_DIMS(1, 2));
    return 1;
}

const gpu_program gpu_pair_programs[] = {
    { "gauss", true, gauss },
    { "gauss in order", true, gauss_in_order },
    { "gauss of columns", true, gauss_of_columns },
    { "gauss of parts", true, gauss_of_parts },
    { "few others", true, few_others },
    { "many others", true, many_others },
    { "nearest", false, nearest },
    { "farthest", false, farthest },
    { "logsumexp of pairs", true, lse },
    { "var of pairs", true, var },
    { "mean of pairs where", true, mean_where },
    { "both ends of pairs", false, both_ends },
    { "batches of pairs", true, batches },
    { "forces", true, forces },
    { "pairs of numbers", true, of_numbers },
    { "sum of all coordinates", true, sum_of_all },
    { "least of most", false, least_of_most },
};
const int n_gpu_pair_programs = (int)(sizeof gpu_pair_programs / sizeof *gpu_pair_programs);

const gpu_size gpu_pair_sizes[] = {
    { 1, 3 },   { 63, 3 },  { 64, 1 },   { 65, 2 },   { 127, 5 },  { 129, 16 }, { 66, 17 },
    { 255, 3 }, { 256, 3 }, { 257, 3 },  { 100, 50 }, { 66, 100 }, { 70, 65 },  { 320, 4 },
    { 513, 2 }, { 600, 1 }, { 1000, 3 }, { 64, 129 }, { 3, 200 },  { 2, 66 },   { 17, 129 },
};
const int n_gpu_pair_sizes = (int)(sizeof gpu_pair_sizes / sizeof *gpu_pair_sizes);

/* gpu_rows.c - programs over short rows: see gpu_programs.h. */
#include "expr/expr.h"
#include "gpu_programs.h"

/* `kept`: the dimensions that are reduced, and kept. */
static rd_expr *softmax(rd_expr *x, rd_dims kept)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, kept)));

    return rd_div(e, rd_sum(e, kept));
}

/* All but the first and the last element, of rows that have more. */
static rd_expr *inner(rd_expr *x)
{
    return x->extent[1] > 2 ? rd_slice(x, ":, 1:-1") : x;
}

/* Others' elements lie between rows. */
static int softmax_of_parts(rd_expr *x, rd_expr **y)
{
    y[0] = softmax(inner(x), RD_KEEP(1));
    return 1;
}

/* They do not begin where a vector does. */
static int softmax_of_others(rd_expr *x, rd_expr **y)
{
    y[0] = softmax(x->extent[0] > 1 ? rd_slice(x, "1:") : x, RD_KEEP(1));
    return 1;
}

static int every_other(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(rd_slice(x, "::2"), "max", RD_DIMS(1));
    return 1;
}

/* As [rows, columns / n, n], of as many columns as n divides; few columns are for no n. */
static rd_expr *by(rd_expr *x, int64_t n)
{
    const int64_t each = x->extent[1] / n;

    return each == 0
               ? rd_expand(x, 1)
               : rd_reshape(rd_slice_axis(x, 1, 0, each * n, 1), RD_SHAPE(x->extent[0], each, n));
}

/* Three results share a row, in which their elements are not neighbours. */
static int sums_by_threes(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(by(x, 3), RD_DIMS(1));
    y[1] = rd_scan(by(x, 3), "max", RD_DIMS(1));
    return 2;
}

/* Two loops go along a row. */
static int softmax_of_twos(rd_expr *x, rd_expr **y)
{
    y[0] = softmax(by(x, 2), RD_KEEP(1, 2));
    return 1;
}

/* Two loops go over rows. */
static int rows_of_blocks(rd_expr *x, rd_expr **y)
{
    const int64_t n = x->extent[0] / 2;

    y[0] = n == 0
               ? rd_var(x, RD_DIMS(1))
               : rd_var(rd_reshape(rd_slice_axis(x, 0, 0, 2 * n, 1), RD_SHAPE(n, 2, x->extent[1])),
                        RD_DIMS(2));
    return 1;
}

/* Parts of one row, and an element of it. */
static int steps(rd_expr *x, rd_expr **y)
{
    rd_expr *before = rd_slice(x, ":, :-1"), *behind = rd_slice(x, ":, 1:");

    y[0] = rd_sum(rd_mul(rd_sub(behind, before), rd_slice(x, ":, :1")), RD_DIMS(1));
    return 1;
}

/* The last row and the last element first. */
static int backwards(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(rd_flip(x, RD_DIMS(0, 1)), "sum", RD_DIMS(1));
    y[1] = rd_scan(x, "sum", RD_DIMS(1), .reverse = true);
    return 2;
}

/* Elements of the result are of another size. */
static int centred_narrow(rd_expr *x, rd_expr **y)
{
    y[0] = rd_cast(rd_sub(x, rd_mean(x, RD_KEEP(1))), RD_F16);
    return 1;
}

/* Weights are the same for all rows. */
static int weighted(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x->extent[0] > 0 ? rd_mul(x, rd_abs(rd_select(x, 0, -1))) : x, RD_DIMS(1));
    return 1;
}

const gpu_program gpu_row_programs[] = {
    { "softmax of parts", true, softmax_of_parts },
    { "softmax of other rows", true, softmax_of_others },
    { "every other row", false, every_other },
    { "sums by threes", false, sums_by_threes },
    { "softmax of twos", true, softmax_of_twos },
    { "rows of blocks", true, rows_of_blocks },
    { "steps", false, steps },
    { "rows backwards", false, backwards },
    { "centred to f16", true, centred_narrow },
    { "weighted", false, weighted },
};
const int n_gpu_row_programs = (int)(sizeof gpu_row_programs / sizeof *gpu_row_programs);

/* Rows around a block of 128, and more than all threads of a small GPU; columns around odd numbers
 * of words, and 37, which one lane has. */
const gpu_size gpu_row_sizes[] = {
    { 1, 2 },    { 127, 3 },  { 128, 10 }, { 129, 12 }, { 300, 8 },  { 1000, 5 },
    { 257, 31 }, { 513, 32 }, { 130, 33 }, { 130, 37 }, { 200, 63 }, { 2, 17 },
    { 640, 1 },  { 385, 16 }, { 0, 7 },    { 700, 7 },  { 9000, 6 }, { 8200, 9 },
};
const int n_gpu_row_sizes = (int)(sizeof gpu_row_sizes / sizeof *gpu_row_sizes);

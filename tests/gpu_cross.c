/* gpu_cross.c - programs that reduce along both axes of one matrix: see gpu_programs.h. */
#include "expr/expr.h"
#include "gpu_programs.h"

static int both(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_DIMS(0));
    y[1] = rd_sum(x, RD_DIMS(1));
    return 2;
}

/* Two of a kind. */
static int two_of_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_DIMS(1));
    y[1] = rd_max(x, RD_DIMS(1));
    y[2] = rd_mean(x, RD_DIMS(0));
    return 3;
}

static int two_of_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_var(x, RD_DIMS(0));
    y[1] = rd_logsumexp(x, RD_DIMS(0));
    y[2] = rd_min(x, RD_DIMS(1));
    return 3;
}

static int places(rd_expr *x, rd_expr **y)
{
    y[0] = rd_argmax(x, RD_DIMS(1));
    y[1] = rd_argmin(x, RD_DIMS(0));
    return 2;
}

/* A map before, of a number for each row, which is a result too; and what the results become. */
static int of_exp(rd_expr *x, rd_expr **y)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_expand(rd_select(x, 1, 0), 1)));

    y[0] = e;
    y[1] = rd_sqrt(rd_sum(e, RD_DIMS(1)));
    y[2] = rd_neg(rd_sum(e, RD_DIMS(0)));
    return 3;
}

/* Of two operands, one with a number for each column, where a third says so. */
static int products(rd_expr *x, rd_expr **y)
{
    rd_expr *w     = rd_select(x, 0, -1);
    rd_expr *there = rd_gt(x, rd_num(x->ctx, 0));

    y[0] = rd_sum(rd_mul(x, w), RD_DIMS(1), .where = there);
    y[1] = rd_sum(rd_mul(x, w), RD_DIMS(0));
    y[2] = rd_count(there, RD_DIMS(0));
    return 3;
}

/* Rows by columns, of each of three; the columns lie in memory along the outer loop. */
static int of_cubes(rd_expr *x, rd_expr **y)
{
    rd_expr *cube = rd_broadcast(rd_expand(x, 0), RD_SHAPE(3, x->extent[0], x->extent[1]));

    cube = rd_add(cube, rd_cast(rd_coord(cube, 0), x->type));
    y[0] = rd_sum(cube, RD_DIMS(1));
    y[1] = rd_sum(cube, RD_DIMS(2));
    return 2;
}

static int transposed(rd_expr *x, rd_expr **y)
{
    y[0] = rd_max(rd_transpose(x), RD_DIMS(0));
    y[1] = rd_sum(rd_transpose(x), RD_DIMS(1));
    return 2;
}

/* What is not taken in one read: a total, and what reads the other. */
static int with_total(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_ALL);
    y[1] = rd_sum(x, RD_DIMS(0));
    y[2] = rd_sum(x, RD_DIMS(1));
    return 3;
}

static int centred(rd_expr *x, rd_expr **y)
{
    rd_expr *c = rd_sub(x, rd_mean(x, RD_KEEP(1)));

    y[0] = rd_sum(c, RD_DIMS(0));
    y[1] = rd_sum(rd_mul(x, x), RD_DIMS(1));
    return 2;
}

const gpu_program gpu_cross_programs[] = {
    { "rows and columns", false, both },        { "two of rows", false, two_of_rows },
    { "two of columns", true, two_of_columns }, { "places both ways", false, places },
    { "exp both ways", true, of_exp },          { "products both ways", false, products },
    { "cubes both ways", false, of_cubes },     { "transposed both ways", false, transposed },
    { "both ways and all", false, with_total }, { "centred both ways", true, centred },
};
const int n_gpu_cross_programs = (int)(sizeof gpu_cross_programs / sizeof *gpu_cross_programs);

const gpu_size gpu_cross_sizes[] = {
    { 1, 1 },     { 1, 64 },   { 2, 63 },    { 63, 65 },   { 64, 64 },   { 65, 129 },
    { 127, 100 }, { 3, 4095 }, { 64, 4096 }, { 65, 4097 }, { 9, 8191 },  { 8, 8193 },
    { 511, 66 },  { 512, 64 }, { 513, 127 }, { 4097, 40 }, { 2, 37000 }, { 130, 1000 },
};
const int n_gpu_cross_sizes = (int)(sizeof gpu_cross_sizes / sizeof *gpu_cross_sizes);

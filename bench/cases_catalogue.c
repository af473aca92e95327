/* cases_catalogue.c - W14, calls of the catalogue by their names: covariance of two arrays, einsum
 * of three, functions of 10^7 numbers. */
#include "bench.h"

static rd_dims axis_of(unsigned dims)
{
    return dims == 3 ? RD_ALL : RD_DIMS(1);
}

static void covariance(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_cov(x[0], rd_add(x[0], x[1]), axis_of(dims)); /* not 0, of which all is error */
}

static void chain(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_einsum("ij,jk,k->i", x[0], x[1], x[2]);
}

static void sigmoid(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sigmoid(x[0]);
}

static void erf_of(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_erf(x[0]);
}

static void gelu(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_gelu(x[0]);
}

/* clang-format off */
#define SQUARE { 2, 2, 2, 128, { 4096, 4096 } }
#define VECTOR { 1, 1, 2, 128, { 4096 } }
#define LONG   { 1, 1, 1, 128, { 10000000 } }

const bench_case bench_catalogue[] = {
    { "W14", "cov",     covariance, HAND_pair_covariance, 3, { SQUARE, SQUARE }, .flops = 6 },
    { "W14", "cov(1)",  covariance, HAND_pair_covariance, 2, { SQUARE, SQUARE }, .flops = 6 },
    { "W14", "einsum3", chain,      HAND_product_chain,   0, { SQUARE, SQUARE, VECTOR }, .flops = 4 },
    { "W14", "sigmoid", sigmoid,    HAND_sigmoid,         0, { LONG }, .flops = 3, .exps = 1 },
    { "W14", "erf",     erf_of,     HAND_erf_each,        0, { LONG }, .flops = 20 },
    { "W14", "gelu",    gelu,       HAND_gelu,            0, { LONG }, .flops = 20 },
    { 0 },
};

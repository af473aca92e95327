/* cases_complex.c - complex numbers: pairs in memory, as rows of two. */
#include "bench.h"
#include <stddef.h>

static rd_expr *pairs(rd_expr *x)
{
    return rd_complex(rd_select(x, 1, 0), rd_select(x, 1, 1));
}

static void sum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(pairs(x[0]), RD_ALL);
}

static void dot(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_mul(pairs(x[0]), pairs(x[1])), RD_ALL);
}

static void product(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_mul(pairs(x[0]), pairs(x[1]));
}

static void modulus(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_abs(pairs(x[0]));
}

/* clang-format off */
#define PAIRS { 2, 1, 1, 1024, { 4194304, 2 } }

const bench_case bench_complex[] = {
    { "W14", "complex.sum",     sum,     HAND_complex_sum,     0, { PAIRS },        .flops = 1 },
    { "W14", "complex.dot",     dot,     HAND_complex_dot,     0, { PAIRS, PAIRS }, .flops = 4 },
    { "W14", "complex.product", product, HAND_complex_product, 0, { PAIRS, PAIRS }, .flops = 3 },
    { "W14", "complex.abs",     modulus, HAND_complex_abs,     0, { PAIRS },        .flops = 4 },
    { 0 },
};

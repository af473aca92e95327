/* cases_products.c - W9 matrix products: one large, many small. */
#include "bench.h"

static void matrix_product(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_mul(rd_expand(x[0], 2), rd_expand(x[1], 0)), RD_DIMS(1));
}

static void small_products(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_mul(rd_expand(x[0], 3), rd_expand(x[1], 1)), RD_DIMS(2));
}

/* clang-format off */
#define MATRIX { 2, 2, 3, 16, { 2048, 2048 } }
#define SMALL  { 3, 1, 1, 1, { 10000, 16, 16 } }

const bench_case bench_products[] = {
    { "W9", "gemm2048", matrix_product, HAND_matrix_product, 0, { MATRIX, MATRIX },
      .flops = 2, .pairs = true },
    { "W9", "bmm16",    small_products, HAND_small_products, 0, { SMALL, SMALL },   .flops = 32 },
    { 0 },
};

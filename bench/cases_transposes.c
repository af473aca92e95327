/* cases_transposes.c - W4 operands whose axes run against each other. */
#include "bench.h"

static void add_transposed(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_add(x[0], rd_transpose(x[1])), RD_DIMS(0));
}

static void mul_transposed(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_mul(x[0], rd_transpose(x[1])), RD_DIMS(0));
}

static void permute(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_permute(x[0], RD_INDEX(2, 0, 1));
}

/* clang-format off */
#define SQUARE { 2, 2, 2, 128, { 8192, 8192 } }

const bench_case bench_transposes[] = {
    { "W4", "A+BT(0)", add_transposed, HAND_add_transposed, 1, { SQUARE, SQUARE }, .flops = 2 },
    { "W4", "A*BT(0)", mul_transposed, HAND_mul_transposed, 1, { SQUARE, SQUARE }, .flops = 2 },
    { "W4", "perm201", permute, HAND_permute, 0, { { 3, 3, 3, 32, { 256, 512, 512 } } },
      .flops = 0 },
    { 0 },
};

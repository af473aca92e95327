/* cases_sums.c - W1 sums over each subset of axes, from DRAM; W2 the same from L2, and what small
 * work costs; W10 one row of a sum; ACC a long sum. */
#include "bench.h"

static rd_dims dims_of(unsigned set)
{
    rd_dims d = { 0 };

    for (int k = 0; k < 3; k++)
        if (set >> k & 1)
            d.axis[d.n++] = k;
    return d;
}

static void sum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(x[0], dims_of(dims));
}

static void sum_all(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(x[0], RD_ALL);
}

/* Ten nodes: a leaf, a sum, and eight maps. */
static void ten_nodes(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *a = rd_square(rd_sub(x[0], rd_exp(x[0])));
    rd_expr *b = rd_mul(rd_abs(x[0]), rd_sqrt(a));

    (void)dims;
    y[0] = rd_sum(rd_add(rd_maximum(a, b), rd_neg(x[0])), RD_ALL);
}

static void row_of_sum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_select(rd_sum(x[0], dims_of(dims)), 0, rd_shape_of(x[0]).at[1] / 2);
}

/* clang-format off */
#define SUMS(row, ...)                                           \
    { row, "sum(0)",   sum, HAND_sum, 1, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(1)",   sum, HAND_sum, 2, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(2)",   sum, HAND_sum, 4, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(01)",  sum, HAND_sum, 3, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(12)",  sum, HAND_sum, 6, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(02)",  sum, HAND_sum, 5, { __VA_ARGS__ }, .flops = 1 }, \
    { row, "sum(all)", sum, HAND_sum, 7, { __VA_ARGS__ }, .flops = 1 }

const bench_case bench_sums[] = {
    SUMS("W1", { 3, 3, 3, 32, { 256, 512, 512 } }),
    SUMS("W2", { 3, 3, 3, 16, { 64, 64, 64 } }),
    { "W2", "plan100", sum_all, HAND_sum_short, 0, { { 1, 0, 1, 1, { 100 } } },
      .how = HOW_PLAN, .flops = 1 },
    { "W2", "eval100", sum_all, HAND_sum_short, 0, { { 1, 0, 1, 1, { 100 } } },
      .how = HOW_EVAL, .flops = 1 },
    { "W2", "plan10", ten_nodes, HAND_NONE, 0, { { 1, 0, 1, 1, { 100 } } }, .how = HOW_COLD },
    { "W2", "build10", ten_nodes, HAND_NONE, 0, { { 1, 0, 1, 1, { 100 } } }, .how = HOW_BUILD },
    { "W10", "onerow", row_of_sum, HAND_row_of_sum, 1, { { 3, 3, 3, 32, { 256, 512, 512 } } },
      .flops = 1.0 / 512, .read_share = 1.0 / 512 },
    { "ACC", "sum1e8", sum_all, HAND_sum, 7, { { 1, 1, 1, 1024, { 100000000 } } },
      .flops = 1, .only_f32 = true },
    { 0 },
};

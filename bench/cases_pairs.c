/* cases_pairs.c - W5 every point with every other, without the matrix of pairs; W13 each pair once, those
 * of a tenth of the blocks, and a triangle of a matrix. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

/* |x_i - y_j|^2, (m, n). */
static rd_expr *distances(rd_expr *const *x)
{
    return rd_sum(rd_square(rd_sub(rd_expand(x[0], 1), rd_expand(x[1], 0))), RD_DIMS(-1));
}

static void gauss(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_mul(rd_exp(rd_neg(distances(x))), x[2]), RD_DIMS(1));
}

/* The gradient of the sum of all of them by x, y and the weights. */
static void gauss_grad(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *f;
    rd_exprs g;

    gauss(x, dims, &f);
    g = rd_grad(rd_sum(f, RD_ALL), RD_EXPRS(x[0], x[1], x[2]));
    for (int k = 0; k < 3; k++)
        y[k] = g.at[k];
}

static rd_expr *lower(rd_expr *y)
{
    return rd_le(rd_coord(y, 1), rd_coord(y, 0));
}

static void gauss_lower(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *d = distances((rd_expr *const[]){ x[0], x[0] });

    (void)dims;
    y[0] = rd_sum(rd_mul(rd_exp(rd_neg(d)), x[1]), RD_DIMS(1), .where = lower(d));
}

static void gauss_blocks(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    const int64_t n = rd_shape_of(x[0]).at[0], many = (n + HAND_BLOCK - 1) / HAND_BLOCK;
    rd_expr      *d      = distances((rd_expr *const[]){ x[0], x[0] });
    int64_t      *border = malloc((size_t)(many + 1) * sizeof *border);
    bool         *pair   = malloc((size_t)(many * many));

    (void)dims;
    for (int64_t k = 0; k <= many; k++)
        border[k] = k < many ? k * HAND_BLOCK : n;
    for (int64_t k = 0; k < many * many; k++)
        pair[k] = hand_block_counts(k / many, k % many);
    y[0] = rd_sum(rd_mul(rd_exp(rd_neg(d)), x[1]), RD_DIMS(1),
                  .where = rd_blocks(bench_ctx, many, border, many, border, pair));
    free(border);
    free(pair);
}

static void sum_lower(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(x[0], RD_DIMS(1), .where = lower(x[0]));
}

static void nearest(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_argmin(distances(x), RD_DIMS(1));
}

/* The five nearest, with their places. */
static void near(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *d = distances(x);

    (void)dims;
    y[0] = rd_top_k(d, 5, 1, .smallest = true);
    y[1] = rd_arg_top_k(d, 5, 1, .smallest = true);
}

/* Attention of (heads, n, 64), each row to those up to it. */
static void causal(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *s =
        rd_mul(rd_matmul(x[0], rd_permute(x[1], RD_INDEX(0, 2, 1))), rd_num(bench_ctx, 0.125));

    (void)dims;
    s    = rd_where(rd_le(rd_coord(s, 2), rd_coord(s, 1)), s, rd_num(bench_ctx, -INFINITY));
    y[0] = rd_matmul(rd_softmax(s, RD_DIMS(-1)), x[2]);
}

/* clang-format off */
/* Operations for each coordinate of each pair.  nn50's loop takes |y|^2 - 2 x.y, so near ties can
 * fall the other way. */
#define POINTS(n, d) { 2, 1, 2, 1, { n, d } }
#define HEADS { 3, 1, 1, 1, { 8, 1024, 64 } }

const bench_case bench_pairs[] = {
    { "W5", "gauss10k", gauss, HAND_gauss, 0, { POINTS(10000, 3), POINTS(10000, 3), { 1, 1, 2, 1,
      { 10000 } } },
      .flops = 11.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W5", "gauss30k", gauss, HAND_gauss, 0, { POINTS(30000, 3), POINTS(30000, 3), { 1, 1, 2, 1,
      { 30000 } } },
      .flops = 11.0 / 3, .exps = 1.0 / 3, .pairs = true, .only_f32 = true },
    { "W5", "gauss.grad3", gauss_grad, HAND_gauss_grad, 0, { POINTS(10000, 3), POINTS(10000, 3),
      { 1, 1, 2, 1, { 10000 } } },
      .flops = 26.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W5", "gauss.grad50", gauss_grad, HAND_gauss_grad, 0, { POINTS(10000, 50), POINTS(10000, 50),
      { 1, 1, 2, 1, { 10000 } } },
      .flops = 8, .exps = 1.0 / 50, .pairs = true, .only_f32 = true },
    { "W13", "gauss.lower", gauss_lower, HAND_gauss_lower, 0, { POINTS(10000, 3), { 1, 1, 2, 1,
      { 10000 } } },
      .flops = 11.0 / 6, .exps = 1.0 / 6, .pairs = true },
    { "W13", "gauss.blocks", gauss_blocks, HAND_gauss_blocks, 0, { POINTS(20000, 3), { 1, 1, 2, 1,
      { 20000 } } },
      .flops = 1.1 / 3, .exps = 0.1 / 3, .pairs = true },
    { "W13", "sum.lower", sum_lower, HAND_sum_lower, 0, { { 2, 2, 2, 1, { 8192, 8192 } } },
      .flops = 0.5, .read_share = 0.5 },
    { "W5", "nn3",  nearest, HAND_nearest, 0, { POINTS(10000, 3), POINTS(10000, 3) },
      .flops = 3, .pairs = true },
    { "W5", "nn50", nearest, HAND_nearest, 0, { POINTS(10000, 50), POINTS(10000, 50) },
      .flops = 3, .pairs = true,
      .wrong_allowed = 1e-3 },
    { "W5", "near3",  near, HAND_near, 0, { POINTS(10000, 3), POINTS(10000, 3) },
      .flops = 3, .pairs = true },
    { "W5", "near50", near, HAND_near, 0, { POINTS(10000, 50), POINTS(10000, 50) },
      .flops = 3, .pairs = true },
    { "W6", "attention.causal", causal, HAND_causal, 0, { HEADS, HEADS, HEADS },
      .how = HOW_EVAL, .flops = 2 * 1024, .exps = 1024.0 / 128 },
    { 0 },
};

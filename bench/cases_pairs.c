/* cases_pairs.c - W5 every point with every other, without the matrix of pairs. */
#include "bench.h"

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

static void nearest(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_argmin(distances(x), RD_DIMS(1));
}

/* clang-format off */
/* Operations for each coordinate of each pair.  nn50's loop takes |y|^2 - 2 x.y, so near ties can
 * fall the other way. */
#define POINTS(n, d) { 2, 1, 2, 1, { n, d } }

const bench_case bench_pairs[] = {
    { "W5", "gauss10k", gauss, HAND_gauss, 0, { POINTS(10000, 3), POINTS(10000, 3), { 1, 1, 2, 1,
      { 10000 } } },
      .flops = 11.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W5", "gauss30k", gauss, HAND_gauss, 0, { POINTS(30000, 3), POINTS(30000, 3), { 1, 1, 2, 1,
      { 30000 } } },
      .flops = 11.0 / 3, .exps = 1.0 / 3, .pairs = true, .only_f32 = true },
    { "W5", "nn3",  nearest, HAND_nearest, 0, { POINTS(10000, 3), POINTS(10000, 3) },
      .flops = 3, .pairs = true },
    { "W5", "nn50", nearest, HAND_nearest, 0, { POINTS(10000, 50), POINTS(10000, 50) },
      .flops = 3, .pairs = true,
      .wrong_allowed = 1e-3 },
    { 0 },
};

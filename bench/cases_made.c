/* cases_made.c - W14, what the catalogue makes: random numbers, rolling reductions. */
#include "bench.h"
#include <stddef.h>

enum { KEY = 1, WINDOW = 31 };

static void random_uniform(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_random_uniform(bench_ctx, KEY, rd_shape_of(x[0]), rd_type_of(x[0]));
}

static void random_normal(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_random_normal(bench_ctx, KEY, rd_shape_of(x[0]), rd_type_of(x[0]));
}

static void rolling_mean(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_rolling_mean(x[0], 0, dims ? dims : WINDOW);
}

static void rolling_max(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_rolling_max(x[0], 0, dims ? dims : WINDOW);
}

/* clang-format off */
#define LONG { 1, 1, 1, 1024, { 8388608 } }

const bench_case bench_made[] = {
    { "W14", "random.uniform", random_uniform, HAND_random_uniform, 0, { LONG }, .flops = 40,
      .read_share = 1e-9 },
    { "W14", "random.normal",  random_normal,  HAND_NONE, 0, { LONG }, .flops = 60, .exps = 3,
      .read_share = 1e-9 },
    { "W14", "rolling.mean31",  rolling_mean, HAND_rolling_mean, 0,   { LONG }, .flops = 3 },
    { "W14", "rolling.mean500", rolling_mean, HAND_rolling_mean, 500, { LONG }, .flops = 3 },
    { "W14", "rolling.max31",   rolling_max,  HAND_rolling_max,  0,   { LONG }, .flops = 5 },
    { "W14", "rolling.max500",  rolling_max,  HAND_rolling_max,  500, { LONG }, .flops = 3 },
    { 0 },
};

/* cases_maps.c - W3 a map and a reduction fused, (8192, 8192); W7 four reductions at once. */
#include "bench.h"

static rd_dims axis_of(unsigned dims)
{
    return RD_DIMS(dims == 2 ? 1 : 0);
}

static void square_difference(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(rd_square(rd_sub(x[0], x[1])), axis_of(dims));
}

static void sum_exp(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_sum(rd_exp(x[0]), RD_ALL);
}

static void count(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_count(rd_map(x[0], "abs(x) > 0.5"), RD_ALL);
}

static void mean_var(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_mean(x[0], axis_of(dims));
    y[1] = rd_var(x[0], axis_of(dims));
}

static void logsumexp(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_logsumexp(x[0], axis_of(dims));
}

static void maximum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_max(x[0], axis_of(dims));
}

static void argmax(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_argmax(x[0], axis_of(dims));
}

static void spread(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_min(x[0], axis_of(dims));
    y[1] = rd_max(x[0], axis_of(dims));
    y[2] = rd_mean(x[0], axis_of(dims));
    y[3] = rd_var(x[0], axis_of(dims));
}

/* clang-format off */
#define SQUARE { 2, 2, 2, 128, { 8192, 8192 } }

const bench_case bench_maps[] = {
    { "W3", "sqdiff(0)",  square_difference, HAND_square_difference, 1, { SQUARE, SQUARE },
      .flops = 3 },
    { "W3", "sqdiff(1)",  square_difference, HAND_square_difference, 2, { SQUARE, SQUARE },
      .flops = 3 },
    { "W3", "sumexp",     sum_exp,   HAND_sum_exp,   3, { SQUARE }, .flops = 1, .exps = 1 },
    { "W3", "count",      count,     HAND_count,     3, { SQUARE }, .flops = 2 },
    { "W3", "meanvar(0)", mean_var,  HAND_mean_var,  1, { SQUARE }, .flops = 4 },
    { "W3", "meanvar(1)", mean_var,  HAND_mean_var,  2, { SQUARE }, .flops = 4 },
    { "W3", "lse(0)",     logsumexp, HAND_logsumexp, 1, { SQUARE }, .flops = 3, .exps = 1 },
    { "W3", "lse(1)",     logsumexp, HAND_logsumexp, 2, { SQUARE }, .flops = 3, .exps = 1 },
    { "W3", "max(0)",     maximum,   HAND_maximum,   1, { SQUARE }, .flops = 1 },
    { "W3", "max(1)",     maximum,   HAND_maximum,   2, { SQUARE }, .flops = 1 },
    { "W3", "argmax(0)",  argmax,    HAND_argmax,    1, { SQUARE }, .flops = 1 },
    { "W3", "argmax(1)",  argmax,    HAND_argmax,    2, { SQUARE }, .flops = 1 },
    { "W7", "mmmv(0)",    spread,    HAND_spread,    1, { SQUARE }, .flops = 6 },
    { 0 },
};

/* cases_rows.c - W6 rows normalised by what is computed from them; W11 running sums. */
#include "bench.h"

/* Rows are multiplied by one reciprocal, as the loops by hand do. */
static rd_expr *reciprocal(rd_expr *x)
{
    return rd_map_text(x, "1 / x");
}

static void softmax(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *e = rd_exp(rd_sub(x[0], rd_max(x[0], RD_KEEP(-1))));

    (void)dims;
    y[0] = rd_mul(e, reciprocal(rd_sum(e, RD_KEEP(-1))));
}

static void layer_norm(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_mul(rd_sub(x[0], rd_mean(x[0], RD_KEEP(-1))), reciprocal(rd_std(x[0], RD_KEEP(-1))));
}

static void cumsum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_scan(x[0], "sum", RD_DIMS(dims == 2 ? 1 : 0));
}

/* clang-format off */
#define SHORT_ROWS { 2, 2, 2, 128, { 16384, 1024 } }
#define LONG_ROWS  { 2, 2, 2, 128, { 1024, 65536 } }
#define SQUARE     { 2, 2, 2, 128, { 8192, 8192 } }

const bench_case bench_rows[] = {
    { "W6", "softmax1k",    softmax,    HAND_softmax,    0, { SHORT_ROWS }, .flops = 5, .exps = 1 },
    { "W6", "softmax64k",   softmax,    HAND_softmax,    0, { LONG_ROWS },  .flops = 5, .exps = 1 },
    { "W6", "layernorm1k",  layer_norm, HAND_layer_norm, 0, { SHORT_ROWS }, .flops = 6 },
    { "W6", "layernorm64k", layer_norm, HAND_layer_norm, 0, { LONG_ROWS },  .flops = 6 },
    { "W11", "cumsum(0)",   cumsum,     HAND_cumsum,     1, { SQUARE },     .flops = 1 },
    { "W11", "cumsum(1)",   cumsum,     HAND_cumsum,     2, { SQUARE },     .flops = 1 },
    { 0 },
};

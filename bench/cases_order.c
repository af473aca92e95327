/* cases_order.c - W14: medians, the ten greatest and sorting, along either axis. */
#include "bench.h"

static int axis(unsigned dims)
{
    return dims == 2;
}

static void median(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_median(x[0], RD_DIMS(axis(dims)));
}

static void top10(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_top_k(x[0], 10, axis(dims));
}

static void sort(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sort(x[0], axis(dims));
}

/* clang-format off */
#define SQUARE { 2, 2, 2, 128, { 4096, 4096 } }

const bench_case bench_order[] = {
    { "W14", "order.median(0)", median, HAND_median, 1, { SQUARE }, .flops = 1 },
    { "W14", "order.median(1)", median, HAND_median, 2, { SQUARE }, .flops = 1 },
    { "W14", "order.top10(0)",  top10,  HAND_top10,  1, { SQUARE }, .flops = 1 },
    { "W14", "order.top10(1)",  top10,  HAND_top10,  2, { SQUARE }, .flops = 1 },
    { "W14", "order.sort(0)",   sort,   HAND_sort,   1, { SQUARE }, .flops = 1 },
    { "W14", "order.sort(1)",   sort,   HAND_sort,   2, { SQUARE }, .flops = 1 },
    { 0 },
};

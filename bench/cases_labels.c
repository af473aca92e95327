/* cases_labels.c - W14, the catalogue: sums, counts and histograms by label. */
#include "bench.h"
#include <stddef.h>

/* `dims` is the number of groups. */
static void label_sum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(x[0], RD_ALL, .by = RD_EXPRS(x[1]), .groups = RD_SHAPE(dims));
}

static void label_rows(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(x[0], RD_DIMS(0), .by = RD_EXPRS(rd_expand(x[1], 1)), .groups = RD_SHAPE(dims));
}

static void label_count(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_bincount(RD_EXPRS(x[1]), RD_SHAPE(dims), NULL);
}

static void histogram(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_histogram(x[0], dims, 0, 1, NULL);
}

/* clang-format off */
#define LONG         { 1, 1, 1, 128, { 10000000 } }
#define LABELS(n)    .fill = { 0, FILL_INDEX }, .below = (n)

const bench_case bench_labels[] = {
    { "W14", "label.sum10",    label_sum,   HAND_label_sum,   10,      { LONG, LONG }, .flops = 1,
      LABELS(10) },
    { "W14", "label.sum1000",  label_sum,   HAND_label_sum,   1000,    { LONG, LONG }, .flops = 1,
      LABELS(1000) },
    { "W14", "label.sum1e6",   label_sum,   HAND_label_sum,   1000000, { LONG, LONG }, .flops = 1,
      LABELS(1000000) },
    { "W14", "label.rows",     label_rows,  HAND_label_rows,  1000,
      { { 2, 1, 1, 128, { 1000000, 16 } }, { 1, 1, 1, 128, { 1000000 } } }, .flops = 1,
      LABELS(1000) },
    { "W14", "label.count",    label_count, HAND_label_count, 1000,    { LONG, LONG }, .flops = 1,
      .read_share = 1e-9, LABELS(1000) },
    { "W14", "histogram256",   histogram,   HAND_histogram,   256,     { LONG }, .flops = 4 },
    { 0 },
};

/* Products of matrices in tiles of 8 rows and 32 columns, whose sums stay in registers. */
#ifndef BENCH_USERS_PRODUCTS_H
#define BENCH_USERS_PRODUCTS_H

#include <stdlib.h>

#include "lanes.h"

enum { ROWS = 8, COLUMNS = 32 };

/* Columns go into panels of 32, row after row, so that a tile reads them in order.  The last panel
 * ends with zeros. */
static inline void pack(const float *b, long row, long column, long k, long n, float *panels)
{
    for (long j = 0; j < n; j += COLUMNS, panels += k * COLUMNS)
        for (long p = 0; p < k; p++)
            for (long c = 0; c < COLUMNS; c++)
                panels[p * COLUMNS + c] = j + c < n ? b[p * row + (j + c) * column] : 0;
}

static inline long panels_of(long n)
{
    return (n + COLUMNS - 1) / COLUMNS;
}

/* c (8, 32) = a (8, k) times a panel (k, 32), added to what is there where `add` says so. */
static inline void tile(const float *a, long a_row, const float *panel, long k, float *c,
                        long c_row, int add)
{
    v16 sum[ROWS][2];

#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
        sum[r][0] = add ? load(c + r * c_row) : splat(0);
        sum[r][1] = add ? load(c + r * c_row + LANES) : splat(0);
    }
    for (long p = 0; p < k; p++, panel += COLUMNS) {
        const v16 left = load(panel), right = load(panel + LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            const v16 x = splat(a[r * a_row + p]);
            sum[r][0] += x * left;
            sum[r][1] += x * right;
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
        store(c + r * c_row, sum[r][0]);
        store(c + r * c_row + LANES, sum[r][1]);
    }
}

/* Memory for n floats in whole lines of the cache. */
static inline float *floats(long n)
{
    return aligned_alloc(64, (size_t)(n + 2 * COLUMNS) / LANES * LANES * sizeof(float));
}

#endif

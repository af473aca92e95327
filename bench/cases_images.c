/* cases_images.c - W8 the mean of an image of bytes, channel by channel. */
#include "bench.h"

static void mean(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_mean(x[0], RD_DIMS(0, 1));
}

const bench_case bench_images[] = {
    { "W8", "u8mean", mean, HAND_image_mean, 3, { { 3, 2, 2, 1, { 4096, 4096, 3 } } }, .flops = 1, .u8 = true },
    { 0 },
};

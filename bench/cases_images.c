/* cases_images.c - W8 the mean of an image of bytes, and of 16-bit floats, channel by channel. */
#include "bench.h"

static void mean(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_mean(x[0], RD_DIMS(0, 1));
}

static void mean_f32(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_mean(x[0], RD_DIMS(0, 1), .type = RD_F32);
}

#define IMAGE                 \
    {                         \
        {                     \
            3, 2, 2, 1,       \
            {                 \
                4096, 4096, 3 \
            }                 \
        }                     \
    }
const bench_case bench_images[] = {
    { "W8", "u8mean", mean, HAND_image_mean, 3, IMAGE, .flops = 1, .type = RD_U8 },
    { "W8", "f16mean", mean_f32, HAND_half_mean, 3, IMAGE, .flops = 1, .type = RD_F16 },
    { 0 },
};

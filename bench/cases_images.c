/* cases_images.c - W8 the mean of an image of bytes, and of 16-bit floats, channel by channel;
 * extremes of bytes, and whether any is a certain one, which may be known before all are read. */
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

static rd_dims axes_of(unsigned dims)
{
    return dims == 1 ? RD_DIMS(0) : dims == 2 ? RD_DIMS(1) : RD_ALL;
}

/* None is 255, so that nothing ends. */
static void most_low(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_cast(rd_max(rd_bit_and(x[0], rd_int(bench_ctx, 127)), axes_of(dims)), RD_I64);
}

static void most(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_cast(rd_max(x[0], axes_of(dims)), RD_I64);
}

static void any(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_cast(rd_any(rd_eq(x[0], rd_int(bench_ctx, 77)), axes_of(dims)), RD_I64);
}

static void count(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_count(rd_gt(x[0], rd_int(bench_ctx, 128)), axes_of(dims));
}

static void sum_where(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(x[0], axes_of(dims), .where = rd_gt(x[0], rd_int(bench_ctx, 128)));
    y[0] = rd_cast(y[0], RD_I64);
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
#define BYTES(rows, columns)  \
    {                         \
        {                     \
            2, 1, 1, 1,       \
            {                 \
                rows, columns \
            }                 \
        }                     \
    }
#define OF_BYTES(row, build, hand)                                                         \
    { "W8", row "(0)", build, hand, 1, BYTES(8192, 2048), .flops = 1, .type = RD_U8 },     \
        { "W8", row "(1)", build, hand, 2, BYTES(8192, 2048), .flops = 1, .type = RD_U8 }, \
    {                                                                                      \
        "W8", row ".short", build, hand, 2, BYTES(262144, 64), .flops = 1, .type = RD_U8   \
    }
const bench_case bench_images[] = {
    { "W8", "u8mean", mean, HAND_image_mean, 3, IMAGE, .flops = 1, .type = RD_U8 },
    { "W8", "f16mean", mean_f32, HAND_half_mean, 3, IMAGE, .flops = 1, .type = RD_F16 },
    OF_BYTES("u8max", most, HAND_bytes_max),
    OF_BYTES("u8maxlow", most_low, HAND_bytes_max_low),
    OF_BYTES("u8any", any, HAND_bytes_any),
    OF_BYTES("u8count", count, HAND_bytes_count),
    OF_BYTES("u8where", sum_where, HAND_bytes_where),
    { 0 },
};

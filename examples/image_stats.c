/* Statistics of a photograph: per channel, of its grey level, and a thumbnail of block means.
 *
 * The picture is bytes, (768, 1024, 3).  Sums of integers are 64 bits wide and their means are f64
 * without being asked; arithmetic between bytes would wrap at 256, so the grey level starts from
 * 32-bit weights. */
#include <rdim.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 3, LEVELS = 7, BLOCK = 64, ROWS = 768 / BLOCK, COLUMNS = 1024 / BLOCK };

typedef struct answers {
    double  mean[CHANNELS], sd[CHANNELS];
    uint8_t min[CHANNELS], max[CHANNELS];
    int64_t brighter[LEVELS];
    double  thumbnail[ROWS][COLUMNS];
} answers;

static const uint8_t levels[LEVELS] = { 32, 64, 96, 128, 160, 192, 224 };

/* The usual weights of red, green and blue, in thousandths, rounded down: integers, so exact. */
static rd_expr *grey_level(rd_ctx *ctx, rd_expr *picture)
{
    static const int32_t weights[CHANNELS] = { 299, 587, 114 };
    rd_expr             *weighted = rd_mul(picture, rd_wrap(ctx, weights, RD_SHAPE(CHANNELS)));

    return rd_floordiv(rd_sum(weighted, RD_DIMS(2)), rd_int(ctx, 1000));
}

static void measure(rd_ctx *ctx, answers *a)
{
    rd_expr *picture = rd_load(ctx, "examples/data/raccoon_rgb.npy");
    rd_expr *grey    = grey_level(ctx, picture); /* (768, 1024) */

    /* A pixel against seven levels gives seven booleans; their sum counts. */
    rd_expr *above = rd_gt(rd_expand(grey, -1), rd_wrap(ctx, levels, RD_SHAPE(LEVELS)));
    /* Blocks become axes of their own: rows of blocks, rows in one, columns of blocks, columns in
     * one. */
    rd_expr *blocks = rd_reshape(grey, RD_SHAPE(ROWS, BLOCK, COLUMNS, BLOCK));

    rd_eval_many(
        ctx,
        RD_RESULTS({ rd_mean(picture, RD_DIMS(0, 1)), RD_INTO(a->mean, RD_SHAPE(CHANNELS)) },
                   { rd_std(picture, RD_DIMS(0, 1)), RD_INTO(a->sd, RD_SHAPE(CHANNELS)) },
                   { rd_min(picture, RD_DIMS(0, 1)), RD_INTO(a->min, RD_SHAPE(CHANNELS)) },
                   { rd_max(picture, RD_DIMS(0, 1)), RD_INTO(a->max, RD_SHAPE(CHANNELS)) },
                   { rd_sum(above, RD_DIMS(0, 1)), RD_INTO(a->brighter, RD_SHAPE(LEVELS)) },
                   { rd_mean(blocks, RD_DIMS(1, 3)),
                     RD_INTO(&a->thumbnail[0][0], RD_SHAPE(ROWS, COLUMNS)) }),
        NULL);
}

static void report(const answers *a)
{
    static const char *const names[CHANNELS] = { "red", "green", "blue" };

    for (int c = 0; c < CHANNELS; c++)
        printf("%-5s  mean %.2f  std %.2f  min %d  max %d\n", names[c], a->mean[c], a->sd[c],
               a->min[c], a->max[c]);
    for (int k = 0; k < LEVELS; k++)
        printf("grey level above %3d: %6d pixels\n", levels[k], (int)a->brighter[k]);
    printf("grey level, means of blocks of %d x %d\n", BLOCK, BLOCK);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            printf("%4.0f%s", a->thumbnail[i][j], j == COLUMNS - 1 ? "\n" : "");
}

int main(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    answers a;

    measure(ctx, &a);
    const rd_status status = rd_error(ctx);
    if (status == RD_OK)
        report(&a);
    else
        fprintf(stderr, "image_stats: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

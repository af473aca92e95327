/* Softmax over rows of any layout: exp(x - max) / sum(exp(x - max)), in one stage.
 *
 * The digits' pixels serve as scores, once by rows and once by columns (the transposed view,
 * nothing is copied). */
#include <rdim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1797, PIXELS = 64 };

typedef struct tables {
    uint8_t score[N][PIXELS];
    float   by_row[N][PIXELS], by_column[PIXELS][N];
} tables;

static rd_expr *softmax(rd_expr *x)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(-1))));

    return rd_div(e, rd_sum(e, RD_KEEP(-1)));
}

/* Largest difference from the plain loops in double, over a row of n scores. */
static double row_error(const uint8_t *score, const float *p, int n, int step)
{
    double sum = 0, worst = 0;
    int    top = 0;

    for (int k = 0; k < n; k++)
        top = score[k * step] > top ? score[k * step] : top;
    for (int k = 0; k < n; k++)
        sum += exp((score[k * step] - top) / 4.0);
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs((double)p[k] - exp((score[k * step] - top) / 4.0) / sum));
    return worst;
}

static void report(const tables *t)
{
    double worst = 0;

    for (int i = 0; i < N; i++)
        worst = fmax(worst, row_error(t->score[i], t->by_row[i], PIXELS, 1));
    for (int j = 0; j < PIXELS; j++)
        worst = fmax(worst, row_error(&t->score[0][j], t->by_column[j], N, PIXELS));
    printf("first digit, fourth row of pixels:");
    for (int k = 24; k < 32; k++)
        printf(" %.4f", (double)t->by_row[0][k]);
    printf("\nas by hand within 1e-6: %s\n", worst < 1e-6 ? "yes" : "no");
}

int main(void)
{
    static tables t;
    rd_ctx       *ctx = rd_ctx_new(NULL);

    rd_read(ctx, "examples/data/digits_pixels.npy", RD_INTO(&t.score[0][0], RD_SHAPE(N, PIXELS)));

    rd_expr *x =
        rd_div(rd_cast(rd_wrap(ctx, &t.score[0][0], RD_SHAPE(N, PIXELS)), RD_F32), rd_num(ctx, 4));
    rd_eval_many(
        ctx,
        RD_RESULTS({ softmax(x), RD_INTO(&t.by_row[0][0], RD_SHAPE(N, PIXELS)) },
                   { softmax(rd_transpose(x)), RD_INTO(&t.by_column[0][0], RD_SHAPE(PIXELS, N)) }),
        NULL);

    const rd_status status = rd_error(ctx);
    if (status == RD_OK)
        report(&t);
    else
        fprintf(stderr, "softmax: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A program of someone else's: finds rdim where it was installed and sums a small array. */
#include <rdim.h>

#include <stdio.h>

int main(void)
{
    static const float x[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    float              y[2]    = { 0, 0 };
    rd_ctx            *ctx     = rd_ctx_new(NULL);
    rd_expr           *sum     = rd_sum(rd_wrap(ctx, x, RD_SHAPE(2, 3)), RD_DIMS(1));

    if (rd_eval(ctx, sum, RD_INTO(y, RD_SHAPE(2))) != RD_OK)
        printf("%s\n", rd_error_text(ctx));
    printf("rdim %d.%d.%d: %g %g\n", RD_VERSION >> 16, RD_VERSION >> 8 & 255, RD_VERSION & 255,
           (double)y[0], (double)y[1]);
    if (rd_device_count() == 0)
        printf("no GPU: %s\n", rd_device_text(RD_CUDA(0)));
    rd_ctx_free(ctx);
    return y[0] == 6 && y[1] == 15 ? 0 : 1;
}

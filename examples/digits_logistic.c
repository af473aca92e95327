/* Learns to tell hand-written digits apart: logistic regression by gradients.
 *
 *     loss = mean over images of -log softmax(x w + b)[label] + 0.001 |w|^2
 *
 * The loss is written once.  rd_grad() makes the expressions of its gradient, and a step of the
 * descent is one evaluation that writes w and b back where they were.  Every fifth image is left
 * out, and tried at the end.  The picture is what the digit 0 weighs: # for, - against it. */
#include <rdim.h>

#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 64, DIGITS = 10, STEPS = 300 };

static double w[PIXELS][DIGITS], b[DIGITS];

/* Makes the logarithm of each digit's probability for each image, (n, 10). */
static rd_expr *log_chances(rd_expr *x, rd_expr *weights, rd_expr *bias)
{
    return rd_log_softmax(rd_add(rd_matmul(x, weights), bias), RD_DIMS(1));
}

/* Minimises the loss over the images that are not left out. */
static void learn(rd_ctx *ctx, rd_expr *x, rd_expr *label, rd_expr *left_out)
{
    rd_expr *weights = rd_wrap(ctx, &w[0][0], RD_SHAPE(PIXELS, DIGITS));
    rd_expr *bias    = rd_wrap(ctx, b, RD_SHAPE(DIGITS));
    rd_expr *chances = log_chances(x, weights, bias);
    rd_expr *own     = rd_select(rd_take_along(chances, 1, rd_expand(label, 1)), 1, 0);
    rd_expr *loss    = rd_add(rd_neg(rd_mean(own, RD_ALL, .where = rd_not(left_out))),
                              rd_mul(rd_num(ctx, 0.001), rd_sum(rd_square(weights), RD_ALL)));
    rd_exprs slope   = rd_grad(loss, RD_EXPRS(weights, bias));
    rd_expr *rate    = rd_num(ctx, 0.5);

    for (int k = 0; k <= STEPS && !rd_error(ctx); k++) {
        if (k % 100 == 0)
            printf("after %3d steps the loss is %.3f\n", k, rd_at(ctx, loss, RD_SCALAR));
        rd_eval_many(
            ctx,
            RD_RESULTS({ rd_sub(weights, rd_mul(rate, slope.at[0])),
                         RD_INTO(&w[0][0], RD_SHAPE(PIXELS, DIGITS)) },
                       { rd_sub(bias, rd_mul(rate, slope.at[1])), RD_INTO(b, RD_SHAPE(DIGITS)) }),
            NULL);
    }
}

static void report(rd_ctx *ctx, rd_expr *x, rd_expr *label, rd_expr *left_out)
{
    rd_expr *chances = log_chances(x, rd_wrap(ctx, &w[0][0], RD_SHAPE(PIXELS, DIGITS)),
                                   rd_wrap(ctx, b, RD_SHAPE(DIGITS)));
    rd_expr *right   = rd_eq(rd_argmax(chances, RD_DIMS(1)), label);

    printf("%.0f of %.0f images that were left out are told right\n",
           rd_at(ctx, rd_count(right, RD_ALL, .where = left_out), RD_SCALAR),
           rd_at(ctx, rd_count(left_out, RD_ALL), RD_SCALAR));
    for (int k = 0; k < PIXELS; k++)
        printf("%c%s", w[k][0] > 0.15 ? '#' : w[k][0] < -0.15 ? '-' : '.', k % 8 == 7 ? "\n" : " ");
}

int main(void)
{
    rd_ctx  *ctx      = rd_ctx_new(NULL);
    rd_expr *pixels   = rd_load(ctx, "examples/data/digits_pixels.npy"); /* (n, 64) of 0..16 */
    rd_expr *label    = rd_load(ctx, "examples/data/digits_labels.npy"); /* (n)              */
    rd_expr *x        = rd_div(rd_cast(pixels, RD_F64), rd_num(ctx, 16));
    rd_expr *left_out = rd_eq(rd_remainder(rd_coord(label, 0), rd_int(ctx, 5)), rd_int(ctx, 0));

    learn(ctx, x, label, left_out);
    report(ctx, x, label, left_out);
    if (rd_error(ctx))
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    const int status = rd_error(ctx) ? EXIT_FAILURE : EXIT_SUCCESS;
    rd_ctx_free(ctx);
    return status;
}

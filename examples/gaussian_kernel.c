/* A Gaussian kernel sum over all pairs of two sets of points, the pairs never stored:
 *
 *     out[i] = sum over j of exp(-|x_i - y_j|^2 / (2 h^2)) b_j
 *
 * Compared with the loops one would write by hand, in double. */
#include <rdim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TARGETS = 400, SOURCES = 700, SPACE = 3 };

/* The kernel as a function of the squared distance.  rdim reads its text, so it fuses with the sums
 * around it. */
RD_FN2(gaussian, d2, h, exp(-d2 / (2 * h * h)))

typedef struct points {
    float x[TARGETS][SPACE], y[SOURCES][SPACE], b[SOURCES];
} points;

/* Multiples of an irrational step, modulo 1, fill the unit cube evenly and are the same
 * everywhere. */
static float spread(int i, double step)
{
    const double v = (i + 1) * step;

    return (float)(v - floor(v));
}

static void make_points(points *p)
{
    static const double steps[SPACE] = { 0.8191725133961645, 0.6710436067037893,
                                         0.5497004779019703 };

    for (int d = 0; d < SPACE; d++) {
        for (int i = 0; i < TARGETS; i++)
            p->x[i][d] = spread(i, steps[d]);
        for (int j = 0; j < SOURCES; j++)
            p->y[j][d] = spread(j + TARGETS, steps[d]);
    }
    for (int j = 0; j < SOURCES; j++)
        p->b[j] = spread(j, 0.6180339887498949);
}

static void pair_sum(rd_ctx *ctx, const points *p, double h, float *out)
{
    /* (targets, 1, 3) */
    rd_expr *x = rd_expand(rd_wrap(ctx, &p->x[0][0], RD_SHAPE(TARGETS, SPACE)), 1);
    /* (1, sources, 3) */
    rd_expr *y = rd_expand(rd_wrap(ctx, &p->y[0][0], RD_SHAPE(SOURCES, SPACE)), 0);
    rd_expr *b = rd_wrap(ctx, p->b, RD_SHAPE(SOURCES));
    /* (targets, sources), never stored */
    rd_expr *d2 = rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(-1));
    rd_expr *k  = rd_map2(d2, rd_num(ctx, h), gaussian);

    rd_eval(ctx, rd_sum(rd_mul(k, b), RD_DIMS(1)), RD_INTO(out, RD_SHAPE(TARGETS)));
}

static double by_hand(const points *p, double h, int i)
{
    double sum = 0;

    for (int j = 0; j < SOURCES; j++) {
        double d2 = 0;
        for (int d = 0; d < SPACE; d++)
            d2 += ((double)p->x[i][d] - (double)p->y[j][d]) *
                  ((double)p->x[i][d] - (double)p->y[j][d]);
        sum += exp(-d2 / (2 * h * h)) * (double)p->b[j];
    }
    return sum;
}

static double largest_error(const points *p, double h, const float *out)
{
    double worst = 0;

    for (int i = 0; i < TARGETS; i++) {
        const double want = by_hand(p, h, i);
        worst             = fmax(worst, fabs((double)out[i] - want) / want);
    }
    return worst;
}

int main(void)
{
    static const double widths[] = { 0.1, 0.25, 1 };
    static points       p;
    float               out[TARGETS];
    rd_ctx             *ctx = rd_ctx_new(NULL);

    make_points(&p);
    for (int k = 0; k < 3 && rd_error(ctx) == RD_OK; k++) {
        pair_sum(ctx, &p, widths[k], out);
        if (rd_error(ctx) == RD_OK)
            printf(
                "h = %.2f: out[0] %.1f, out[1] %.1f, out[399] %.1f; as by hand within 1e-5: %s\n",
                widths[k], (double)out[0], (double)out[1], (double)out[399],
                largest_error(&p, widths[k], out) < 1e-5 ? "yes" : "no");
    }

    const rd_status status = rd_error(ctx);
    if (status != RD_OK)
        fprintf(stderr, "gaussian_kernel: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

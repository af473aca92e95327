/* Moves a cloud of points onto another one, down the gradient of their Sinkhorn divergence
 * S(x, y) = T(x, y) - T(x, x) / 2 - T(y, y) / 2, T being the cost of moving one onto the other.  A
 * round of Sinkhorn's algorithm is a log-sum-exp over pairs, which are never stored:
 *
 *     f[i] = -e log mean over j of exp((g[j] - |x[i] - y[j]|^2 / 2) / e)
 *
 * After the rounds the gradient of T by x is that of the mean of f, with g and y held (the envelope
 * theorem).  Feydy et al. (2019), "Interpolating between optimal transport and MMD". */
#include <rdim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, ROUNDS = 50, STEPS = 4, WIDE = 64, HIGH = 12 };

static const double e = 0.0025, pi = 3.14159265358979323846;
static double       x[N][2], y[N][2], held[N][2], f[N], g[N];

/* The potential of p's points, given that of q's: half a round. */
static rd_expr *potential(rd_ctx *ctx, rd_expr *p, rd_expr *q, rd_expr *of_q)
{
    rd_expr *d2   = rd_sum(rd_square(rd_sub(rd_expand(p, 1), rd_expand(q, 0))), RD_DIMS(2));
    rd_expr *gain = rd_div(rd_sub(of_q, rd_mul(d2, rd_num(ctx, 0.5))), rd_num(ctx, e));

    return rd_mul(rd_sub(rd_num(ctx, log(N)), rd_logsumexp(gain, RD_DIMS(1))), rd_num(ctx, e));
}

/* T(p, q), and its gradient by the points p with q held. */
static double cost(rd_ctx *ctx, double (*of)[2], double (*to)[2], double slope[N][2])
{
    rd_expr *p    = rd_wrap(ctx, &of[0][0], RD_SHAPE(N, 2)),
            *q    = rd_wrap(ctx, &to[0][0], RD_SHAPE(N, 2));
    rd_expr *of_p = rd_wrap(ctx, f, RD_SHAPE(N)), *of_q = rd_wrap(ctx, g, RD_SHAPE(N));
    rd_expr *t = rd_mean(potential(ctx, p, q, of_q), RD_ALL);

    memset(g, 0, sizeof g);
    for (int k = 0; k < ROUNDS; k++) {
        rd_eval(ctx, potential(ctx, p, q, of_q), RD_INTO(f, RD_SHAPE(N)));
        rd_eval(ctx, potential(ctx, q, p, of_p), RD_INTO(g, RD_SHAPE(N)));
    }
    rd_eval(ctx, rd_grad(t, RD_EXPRS(p)).at[0], RD_INTO(&slope[0][0], RD_SHAPE(N, 2)));
    return rd_at(ctx, t, RD_SCALAR) + rd_at(ctx, rd_mean(of_q, RD_ALL), RD_SCALAR);
}

/* A picture: o for points that move, + for where they should be, * for both. */
static void draw(void)
{
    char row[HIGH][WIDE + 1];

    memset(row, ' ', sizeof row);
    for (int k = 0; k < 2 * N; k++) {
        const double *at = k < N ? x[k] : y[k - N];
        char         *c  = &row[(int)((1 - at[1]) * HIGH)][(int)(at[0] * WIDE)];

        *c = k < N ? 'o' : *c == ' ' || *c == '+' ? '+' : '*';
    }
    for (int k = 0; k < HIGH; k++)
        printf("|%.*s|\n", WIDE, row[k]);
}

int main(void)
{
    rd_ctx       *ctx = rd_ctx_new(NULL);
    static double to_y[N][2], to_x[N][2];

    for (int k = 0; k < N; k++) { /* a disc on the left, and an arc on the right */
        const double turn = 2.399963 * k, r = 0.16 * sqrt((k + 0.5) / N), arc = pi * (k + 0.5) / N;

        x[k][0] = 0.2 + r * cos(turn), x[k][1] = 0.5 + r * sin(turn);
        y[k][0] = 0.6 + 0.3 * sin(arc), y[k][1] = 0.5 + (0.36 + 0.03 * (k % 3)) * cos(arc);
    }
    const double own = cost(ctx, y, y, to_y);
    for (int k = 0; k <= STEPS && !rd_error(ctx); k++) {
        memcpy(held, x, sizeof held);
        const double there = cost(ctx, x, y, to_y), here = cost(ctx, x, held, to_x);

        printf("step %d: divergence %.5f\n", k, there - (here + own) / 2);
        for (int i = 0; k < STEPS && i < 2 * N; i++)
            x[i / 2][i % 2] -= 0.8 * N * (to_y[i / 2][i % 2] - to_x[i / 2][i % 2]);
    }
    draw();
    if (rd_error(ctx))
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    const int status = rd_error(ctx) ? EXIT_FAILURE : EXIT_SUCCESS;
    rd_ctx_free(ctx);
    return status;
}

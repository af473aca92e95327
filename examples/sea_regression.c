/* Gaussian-process regression: January's sea temperature in the tropical Pacific from a fifth of its
 * cells.  Length, height and noise of the kernel are found by the gradient of the marginal
 * likelihood,
 *
 *     d/dp (y' A^-1 y + log det A) = -a' (dA/dp) a + mean over random z of u' (dA/dp) z
 *
 * with A a = y and A u = z, all solved at once by conjugate gradients.  The n x n matrix A is an
 * expression: it is never stored.  Gardner et al. (2018), "GPyTorch". */
#include <rdim.h>

#include <math.h>
#include <stdio.h>

enum { ROWS = 30, COLUMNS = 60, PROBES = 7, SIDES = PROBES + 1, STEPS = 20 };

static double p[3] = { 0.7, 1.1, -0.7 }; /* logarithms of length (cells), height, noise (degrees) */

/* The covariances of the temperatures at two lists of places, in cells. */
static rd_expr *kernel(rd_ctx *ctx, rd_expr *a, rd_expr *b)
{
    return rd_formula(ctx, "exp(2 * p[1] - sum(((a[:, None] - b) / exp(p[0]))**2, axis=2) / 2)",
                      RD_NAMES({ "a", a }, { "b", b }, { "p", rd_wrap(ctx, p, RD_SHAPE(3)) }));
}

/* A v = K v + noise^2 v. */
static rd_expr *covariance(rd_ctx *ctx, rd_expr *place, rd_expr *v)
{
    return rd_formula(ctx, "k @ v + exp(2 * p[2]) * v",
                      RD_NAMES({ "k", kernel(ctx, place, place) }, { "v", v },
                               { "p", rd_wrap(ctx, p, RD_SHAPE(3)) }));
}

/* Moves the parameters down the gradient; `of` gets A^-1 y in its first column. */
static void learn(rd_ctx *ctx, rd_expr *place, rd_expr *y, rd_array *of)
{
    const int64_t n = rd_shape_of(y).at[0];
    rd_expr *v     = rd_input(ctx, "v", &(rd_array){ .type = RD_F64, .shape = RD_SHAPE(n, SIDES) });
    rd_expr *coin  = rd_random_integers(ctx, 7, RD_SHAPE(n, PROBES), 0, 2);
    rd_expr *z     = rd_formula(ctx, "2.0 * coin - 1", RD_NAMES({ "coin", coin }));
    rd_expr *sides = rd_concat(1, RD_EXPRS(rd_expand(y, 1), z));
    rd_expr *Av = covariance(ctx, place, v), *of_p = rd_wrap(ctx, p, RD_SHAPE(3));
    double   slope[3], step[3] = { 0.1, 0.1, 0.1 }, last[3] = { 0 };

    for (int k = 0; k <= STEPS && !rd_error(ctx); k++) {
        rd_solve(ctx, Av, v, sides, of, .tolerance = 1e-4);
        rd_expr *u = rd_leaf(ctx, of), *a = rd_slice(u, ":, :1"), *rest = rd_slice(u, ":, 1:");
        rd_expr *by = rd_concat(1, RD_EXPRS(rd_neg(a), rd_div(rest, rd_num(ctx, PROBES))));
        rd_expr *Az = covariance(ctx, place, rd_concat(1, RD_EXPRS(a, z)));

        rd_eval(ctx, rd_grad(Az, RD_EXPRS(of_p), .seed = by).at[0], RD_INTO(slope, RD_SHAPE(3)));
        if (k % 10 == 0)
            printf("step %2d: length %.1f, height %.1f, noise %.1f\n", k, exp(p[0]), exp(p[1]),
                   exp(p[2]));
        for (int j = 0; k < STEPS && j < 3; j++) { /* half the step where the slope turns */
            step[j] *= last[j] * slope[j] < 0 ? 0.5 : 1.1;
            last[j] = slope[j];
            p[j] -= slope[j] > 0 ? step[j] : -step[j];
        }
    }
}

/* The temperatures at all cells, given A^-1 y at those that are known; and their error there. */
static void predict(rd_ctx *ctx, rd_expr *sst, rd_expr *known, rd_expr *at, rd_expr *a, double mean)
{
    static double  guess[ROWS][COLUMNS];
    const rd_shape shape = RD_SHAPE(ROWS, COLUMNS);
    rd_expr       *row   = rd_broadcast(rd_coord(sst, 0), shape);
    rd_expr       *cell  = rd_stack(-1, RD_EXPRS(row, rd_broadcast(rd_coord(sst, 1), shape)));
    rd_expr       *to    = rd_cast(rd_reshape(cell, RD_SHAPE(-1, 2)), RD_F64);
    rd_expr       *all   = rd_add(rd_matmul(kernel(ctx, to, at), a), rd_num(ctx, mean));

    rd_eval(ctx, rd_reshape(all, shape), RD_INTO(&guess[0][0], shape));
    rd_expr *read = rd_wrap(ctx, &guess[0][0], shape);
    rd_expr *miss = rd_formula(ctx, "sqrt(mean((g - t)**2, where=!(known || isnan(t))))",
                               RD_NAMES({ "g", read }, { "t", sst }, { "known", known }));
    printf("error at the other cells: %.1f degrees\n", rd_at(ctx, miss, RD_SCALAR));
    for (int i = ROWS - 2; i >= 0 && !rd_error(ctx); i -= 3) /* north is up */
        for (int j = 0; j <= COLUMNS; j++)
            putchar(j == COLUMNS ? '\n' : " .:-=+*#%@"[(int)fmax(0, fmin(9, guess[i][j] - 20.5))]);
}

int main(void)
{
    rd_ctx  *ctx = rd_ctx_new(NULL);
    rd_expr *sst =
        rd_cast(rd_slice(rd_load(ctx, "examples/data/coads_sst.npy"), "0, 30:60, 60:120"), RD_F64);
    rd_expr *known = rd_formula(
        ctx, "!isnan(t) && (2 * row + column) % 5 == 0",
        RD_NAMES({ "t", sst }, { "row", rd_coord(sst, 0) }, { "column", rd_coord(sst, 1) }));
    rd_array where = { 0 }, values = { 0 }, of = { 0 };

    rd_nonzero(ctx, known, &where);
    rd_compress(ctx, sst, known, &values);
    rd_expr     *place = rd_cast(rd_adopt(ctx, &where), RD_F64), *t = rd_adopt(ctx, &values);
    const double mean = rd_at(ctx, rd_mean(t, RD_ALL), RD_SCALAR);
    learn(ctx, place, rd_sub(t, rd_num(ctx, mean)), &of);
    predict(ctx, sst, known, place, rd_select(rd_adopt(ctx, &of), 1, 0), mean);
    if (rd_error(ctx))
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    const int status = rd_error(ctx) != RD_OK;
    rd_ctx_free(ctx);
    return status;
}

/* Smooths January's sea temperatures over the sphere by a Gaussian of 400 km:
 *
 *     out[i] = sum over j of w[i, j] t[j] / sum over j of w[i, j]
 *     w[i, j] = exp(-|p[i] - p[j]|^2 / (2 h^2)) cos(latitude[j])
 *
 * Cells that are far from each other weigh nothing that shows.  So only pairs of clusters of cells are
 * visited that may be nearer than 5 h, which rd_blocks_near() finds.  Compared with all pairs. */
#include <rdim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846, earth = 6371, width = 400; /* km */

/* The cells' rows, or columns, of a grid of 2 degrees, as radians from the first one's. */
static rd_expr *radians(rd_ctx *ctx, rd_expr *cells, int column, double first)
{
    rd_expr *index = rd_cast(rd_select(cells, 1, column), RD_F64);

    return rd_mul(rd_add(rd_mul(index, rd_num(ctx, 2)), rd_num(ctx, first)), rd_num(ctx, pi / 180));
}

/* Their places in km, (n, 3). */
static rd_expr *places(rd_ctx *ctx, rd_expr *latitude, rd_expr *longitude)
{
    rd_expr *across = rd_cos(latitude);
    rd_expr *unit   = rd_stack(1, RD_EXPRS(rd_mul(across, rd_cos(longitude)),
                                           rd_mul(across, rd_sin(longitude)), rd_sin(latitude)));

    return rd_mul(unit, rd_num(ctx, earth));
}

/* The mean of t around each place, over the pairs that count; NULL: all. */
static rd_expr *smooth(rd_ctx *ctx, rd_expr *place, rd_expr *area, rd_expr *t, rd_expr *pairs)
{
    rd_expr *d2 = rd_sum(rd_square(rd_sub(rd_expand(place, 1), rd_expand(place, 0))), RD_DIMS(-1));
    rd_expr *w  = rd_mul(rd_exp(rd_mul(d2, rd_num(ctx, -0.5 / (width * width)))), area);

    return rd_div(rd_sum(rd_mul(w, t), RD_DIMS(1), .where = pairs),
                  rd_sum(w, RD_DIMS(1), .where = pairs));
}

static void print_about(rd_ctx *ctx, rd_expr *t, rd_expr *pairs, rd_expr *far)
{
    const double n = (double)rd_shape_of(t).at[0];

    printf("%.0f cells of the sea; pairs of near clusters are %.0f %% of all\n", n,
           100 * rd_at(ctx, rd_count(pairs, RD_ALL), RD_SCALAR) / (n * n));
    printf("from all pairs they differ by less than 0.001 degrees: %s\n",
           rd_at(ctx, rd_max(rd_abs(far), RD_ALL), RD_SCALAR) < 1e-3 ? "yes" : "no");
}

static void smooth_sea(rd_ctx *ctx, rd_expr *sst)
{
    rd_expr *sea   = rd_not(rd_isnan(sst)), *order, *same;
    rd_array where = { .data = NULL }, values = { .data = NULL }, means = { .data = NULL };

    if (rd_nonzero(ctx, sea, &where) != RD_OK || rd_compress(ctx, sst, sea, &values) != RD_OK)
        return;
    rd_expr *cells = rd_adopt(ctx, &where), *t = rd_cast(rd_adopt(ctx, &values), RD_F64);
    rd_expr *latitude = radians(ctx, cells, 0, -89);
    rd_expr *place = places(ctx, latitude, radians(ctx, cells, 1, 21)), *area = rd_cos(latitude);
    rd_expr *near = rd_blocks_near(place, place, 5 * width, &order, &same);

    /* In the order of clusters; and back to that of the grid. */
    rd_expr *mean =
        smooth(ctx, rd_take(place, 0, order), rd_take(area, 0, order), rd_take(t, 0, order), near);

    if (rd_eval(ctx, rd_take(mean, 0, rd_argsort(order, 0)), &means) != RD_OK)
        return;
    mean = rd_adopt(ctx, &means);
    print_about(ctx, t, near, rd_sub(mean, smooth(ctx, place, area, t, NULL)));
    for (int k = 0; k < 3 && !rd_error(ctx); k++) {
        const int64_t i = (rd_shape_of(t).at[0] - 1) * k / 2;

        printf("cell %" PRId64 ": %.1f, smooth %.1f\n", i, rd_at(ctx, t, RD_INDEX(i)),
               rd_at(ctx, mean, RD_INDEX(i)));
    }
}

int main(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);

    smooth_sea(ctx, rd_select(rd_load(ctx, "examples/data/coads_sst.npy"), 0, 0));

    const rd_status status = rd_error(ctx);
    if (status != RD_OK)
        fprintf(stderr, "near_points: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* loop_known.c - expressions whose loop trees are known. */
#include "loop_trees.h"

static float   floats[1 << 16];
static double  doubles[2 * 70 * 7];
static bool    flags[1 << 16];
static int32_t labels[512];

static rd_expr *matrix(rd_ctx *ctx, int64_t rows, int64_t columns)
{
    return rd_wrap(ctx, floats, RD_SHAPE(rows, columns));
}

static rd_expr *mask(rd_ctx *ctx, int64_t rows, int64_t columns)
{
    return rd_wrap(ctx, flags, RD_SHAPE(rows, columns));
}

/* Five blocks of rows, cells side by side. */
rd_expr *loop_masked_mean(rd_ctx *ctx)
{
    return rd_mean(matrix(ctx, 300, 40), RD_DIMS(0), .where = mask(ctx, 300, 40));
}

rd_expr *loop_softmax(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 5, 70);
    rd_expr *y = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(1))));

    return rd_div(y, rd_sum(y, RD_KEEP(1)));
}

/* A function of what each row comes to, and another sum of the row that has it. */
rd_expr *loop_functions_of_rows(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 150, 70);

    return rd_sum(rd_mul(x, rd_sigmoid(rd_sum(x, RD_KEEP(1)))), RD_DIMS(0));
}

rd_expr *loop_running_sum(rd_ctx *ctx)
{
    return rd_scan(matrix(ctx, 2, 300), "sum", RD_DIMS(1));
}

rd_expr *loop_pair_sums(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 20, 1), *y = rd_wrap(ctx, floats + 100, RD_SHAPE(1, 200));

    return rd_sum(rd_exp(rd_neg(rd_square(rd_sub(x, y)))), RD_DIMS(1));
}

/* Three blocks of 64 lanes. */
rd_expr *loop_rows(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 1, 9000), RD_DIMS(1));
}

/* Rows of the strip of all columns, until each column is known. */
rd_expr *loop_any_column(rd_ctx *ctx)
{
    return rd_any(mask(ctx, 1100, 40), RD_DIMS(0));
}

/* Each 11 rows, which are written out for the columns beside. */
rd_expr *loop_any_few(rd_ctx *ctx)
{
    rd_expr *x = rd_slice(rd_wrap(ctx, floats, RD_SHAPE(3, 17, 11, 12)), "..., :6");

    return rd_any(rd_gt(x, rd_num(ctx, 10)), RD_DIMS(2));
}

rd_expr *loop_any_row(rd_ctx *ctx)
{
    return rd_any(mask(ctx, 9, 1300), RD_DIMS(1));
}

/* Up to the diagonal and some more, until the greatest number there is has come. */
rd_expr *loop_max_below(rd_ctx *ctx)
{
    static uint8_t bytes[9 * 1200];
    rd_expr       *x     = rd_wrap(ctx, bytes, RD_SHAPE(9, 1200));
    rd_expr       *below = rd_le(rd_coord(x, 1), rd_add(rd_coord(x, 0), rd_int(ctx, 700)));

    return rd_max(x, RD_DIMS(1), .where = below, .initial = rd_int(ctx, 0));
}

/* Each row has a range of its own; some are empty. */
rd_expr *loop_ranges_of_rows(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 40, 330), *i = rd_coord(x, 0);
    rd_expr *first = rd_remainder(rd_mul(i, rd_int(ctx, 37)), rd_int(ctx, 300));
    rd_expr *end   = rd_add(first, rd_remainder(i, rd_int(ctx, 90)));

    return rd_sum(x, RD_DIMS(1),
                  .where = rd_and(rd_ge(rd_coord(x, 1), first), rd_lt(rd_coord(x, 1), end)));
}

/* Pairs of which a mask of blocks has half. */
rd_expr *loop_pairs_of_blocks(rd_ctx *ctx)
{
    static int64_t borders[11];
    static bool    pair[100];
    rd_expr       *x = matrix(ctx, 150, 1), *y = rd_wrap(ctx, floats + 300, RD_SHAPE(1, 150));

    for (int k = 0; k <= 10; k++)
        borders[k] = 15 * k;
    for (int k = 0; k < 100; k++)
        pair[k] = (k / 10 + k % 10) % 2;
    return rd_sum(rd_exp(rd_neg(rd_square(rd_sub(x, y)))), RD_DIMS(1),
                  .where = rd_blocks(ctx, 10, borders, 10, borders, pair));
}

/* Rows that are longer than what arrays of the text hold. */
rd_expr *loop_sum_columns(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 30, 2100), RD_DIMS(0));
}

/* States of two numbers: the largest one, and whether there was any. */
rd_expr *loop_max_columns(rd_ctx *ctx)
{
    return rd_max(matrix(ctx, 30, 2100), RD_DIMS(0), .skip_nan = true);
}

/* The same of doubles, by a mask in memory. */
rd_expr *loop_some_of_columns(rd_ctx *ctx)
{
    static double x[30 * 2100];

    return rd_max(rd_wrap(ctx, x, RD_SHAPE(30, 2100)), RD_DIMS(0), .where = mask(ctx, 30, 2100));
}

/* Columns that lie between each other. */
rd_expr *loop_few_columns(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 900, 7), RD_DIMS(0));
}

/* Columns with a factor each, and each second row of such. */
rd_expr *loop_scaled_few_columns(rd_ctx *ctx)
{
    return rd_mul(matrix(ctx, 900, 3), matrix(ctx, 1, 3));
}

rd_expr *loop_second_few_columns(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 900, 3);

    return rd_add(rd_slice(x, "::2"), rd_slice(x, "1::2"));
}

/* Rows of ten, of which a strip takes one column after the other. */
rd_expr *loop_rows_of_ten(rd_ctx *ctx)
{
    return rd_argmax(matrix(ctx, 200, 10), RD_DIMS(1));
}

/* Steps that may end early. */
rd_expr *loop_max_few_columns(rd_ctx *ctx)
{
    static int32_t x[900 * 6];

    return rd_max(rd_wrap(ctx, x, RD_SHAPE(900, 6)), RD_DIMS(0));
}

rd_expr *loop_sines_of_columns(rd_ctx *ctx)
{
    return rd_sum(rd_sin(matrix(ctx, 30, 2100)), RD_DIMS(0));
}

/* Elements of two folds, of which one takes exponentials. */
rd_expr *loop_log_and_sum(rd_ctx *ctx)
{
    rd_expr *x = rd_square(matrix(ctx, 300, 40));

    return rd_add(rd_logsumexp(x, RD_DIMS(0)), rd_sum(x, RD_DIMS(0)));
}

rd_expr *loop_scaled_columns(rd_ctx *ctx)
{
    return rd_mul(matrix(ctx, 30, 2100), matrix(ctx, 1, 2100));
}

rd_expr *loop_two_axes(rd_ctx *ctx)
{
    return rd_sum(rd_wrap(ctx, floats, RD_SHAPE(4, 50, 6)), RD_DIMS(0, 2));
}

rd_expr *loop_by_label(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 300, 4), RD_DIMS(0),
                  .by = RD_EXPRS(rd_wrap(ctx, labels, RD_SHAPE(300, 1))), .groups = RD_SHAPE(3));
}

/* A histogram of sums, and one of counts beside it. */
rd_expr *loop_histogram(rd_ctx *ctx)
{
    rd_expr *x = rd_wrap(ctx, floats, RD_SHAPE(700)), *bin = rd_bins(x, 20, -1, 1);
    rd_expr *one = rd_broadcast(rd_num(ctx, 1), RD_SHAPE(700));

    return rd_div(rd_sum(x, RD_ALL, .by = RD_EXPRS(bin), .groups = RD_SHAPE(20)),
                  rd_sum(one, RD_ALL, .by = RD_EXPRS(bin), .groups = RD_SHAPE(20)));
}

rd_expr *loop_masked_max(rd_ctx *ctx)
{
    return rd_argmax(matrix(ctx, 6, 40), RD_DIMS(1), .where = mask(ctx, 6, 40));
}

rd_expr *loop_map(rd_ctx *ctx)
{
    rd_expr *x = matrix(ctx, 1, 100);

    return rd_sub(rd_exp(x), rd_sqrt(rd_wrap(ctx, floats + 100, RD_SHAPE(1, 100))));
}

rd_expr *loop_weighted(rd_ctx *ctx)
{
    return rd_var(matrix(ctx, 200, 3), RD_DIMS(0), .weights = rd_exp(matrix(ctx, 200, 3)));
}

rd_expr *loop_reverse(rd_ctx *ctx)
{
    return rd_scan(matrix(ctx, 3, 200), "sum", RD_DIMS(1), .reverse = true);
}

/* Columns that tasks share, of which one task has all, and two have eight and some. */
rd_expr *loop_label_rows(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 300, 20), RD_DIMS(0),
                  .by = RD_EXPRS(rd_wrap(ctx, labels, RD_SHAPE(300, 1))), .groups = RD_SHAPE(3));
}

/* Windows of 20, more than are written out. */
rd_expr *loop_filter(rd_ctx *ctx)
{
    return rd_sum(rd_mul(rd_window(rd_wrap(ctx, floats, RD_SHAPE(3000)), 0, 20, 1),
                         rd_wrap(ctx, floats + 10000, RD_SHAPE(20))),
                  RD_DIMS(1));
}

/* A row of a table for each of 20 letters. */
rd_expr *loop_scores(rd_ctx *ctx)
{
    rd_expr *at    = rd_wrap(ctx, labels, RD_SHAPE(20, 20));
    rd_expr *table = rd_wrap(ctx, floats, RD_SHAPE(20, 4));

    return rd_sum(rd_take_along(table, 1, at), RD_DIMS(0));
}

/* Rows of 32 lanes, with a choice behind a function. */
rd_expr *loop_chosen_powers(rd_ctx *ctx)
{
    rd_expr *x = rd_wrap(ctx, doubles, RD_SHAPE(14, 70));

    return rd_sum(rd_where(rd_lt(x, rd_num(ctx, 1)), rd_exp(x), x), RD_DIMS(1));
}

/* Of 70 points the nearest of 70: four of these go through 20 coordinates together. */
rd_expr *loop_nearest(rd_ctx *ctx)
{
    rd_expr *x = rd_wrap(ctx, floats, RD_SHAPE(20, 70, 1)),
            *y = rd_wrap(ctx, floats + 1400, RD_SHAPE(20, 1, 70));

    return rd_argmin(rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(0)), RD_DIMS(1));
}

/* Blocks of 64, of which 32 may go beside each other, and some are left. */
RD_REDUCER(squares, float, float, 1, (float sum;), (s->sum = 0;), (s->sum += x * x;),
           (a->sum += b->sum;), (y[0] = s->sum;))

/* Six rows of 41 places. */
static rd_expr *long_rows(rd_ctx *ctx)
{
    enum { ROWS = 6, IN_ROW = 41 };
    static int32_t pos[ROWS + 1], crd[ROWS * IN_ROW];

    for (int32_t k = 0; k < ROWS * IN_ROW; k++)
        crd[k] = k % IN_ROW;
    for (int32_t i = 0; i <= ROWS; i++)
        pos[i] = i * IN_ROW;
    return rd_csr(ctx, RD_SHAPE(ROWS, 50), rd_wrap(ctx, pos, RD_SHAPE(ROWS + 1)),
                  rd_wrap(ctx, crd, RD_SHAPE(ROWS * IN_ROW)),
                  rd_wrap(ctx, floats, RD_SHAPE(ROWS * IN_ROW)), .stored = true);
}

/* Extremes go by fours and have some left. */
rd_expr *loop_long_rows(rd_ctx *ctx)
{
    return rd_max(long_rows(ctx), RD_DIMS(1), .initial = rd_num(ctx, 0));
}

/* Sums of products of each two columns, of which each loses its own number: two blocks of rows. */
rd_expr *loop_products_of_columns(rd_ctx *ctx)
{
    rd_expr *c =
        rd_sub(rd_wrap(ctx, doubles, RD_SHAPE(120, 8)), rd_wrap(ctx, doubles, RD_SHAPE(1, 8)));

    return rd_sum(rd_mul(rd_expand(c, 2), rd_expand(c, 1)), RD_DIMS(0));
}

/* Sums of all rows, or of none. */
rd_expr *loop_some_rows(rd_ctx *ctx)
{
    return rd_sum(rd_cast(long_rows(ctx), RD_I64), RD_DIMS(1), .where = mask(ctx, 1, 1));
}

/* The same of 16 columns beside each place. */
rd_expr *loop_some_columns(rd_ctx *ctx)
{
    rd_expr *x = rd_mul(rd_expand(long_rows(ctx), 2), rd_expand(matrix(ctx, 50, 16), 0));

    return rd_sum(rd_cast(x, RD_I64), RD_DIMS(1), .where = mask(ctx, 1, 1));
}

/* Many groups of 16 columns each, by a label a row. */
rd_expr *loop_many_labels(rd_ctx *ctx)
{
    return rd_sum(matrix(ctx, 400, 16), RD_DIMS(0),
                  .by = RD_EXPRS(rd_wrap(ctx, labels, RD_SHAPE(400, 1))), .groups = RD_SHAPE(200));
}

/* A block of three groups, in four lanes, and some elements more. */
rd_expr *loop_block_of_groups(rd_ctx *ctx)
{
    enum { N = (1 << 15) + 100 };
    static float   x[N];
    static int32_t label[N];

    return rd_sum(rd_wrap(ctx, x, RD_SHAPE(N)), RD_ALL,
                  .by = RD_EXPRS(rd_wrap(ctx, label, RD_SHAPE(N))), .groups = RD_SHAPE(3));
}

/* Three groups by a label an element, of one lane. */
rd_expr *loop_user_by_label(rd_ctx *ctx)
{
    return rd_reduce(matrix(ctx, 1, 300), squares, RD_DIMS(1),
                     .by = RD_EXPRS(rd_wrap(ctx, labels, RD_SHAPE(1, 300))), .groups = RD_SHAPE(3));
}

rd_expr *loop_user(rd_ctx *ctx)
{
    return rd_reduce(matrix(ctx, 1, 2500), squares, RD_DIMS(1));
}

/* Rows of 20, of which 128 are 40 blocks, which go beside each other. */
rd_expr *loop_user_rows(rd_ctx *ctx)
{
    return rd_reduce(rd_slice_axis(matrix(ctx, 150, 30), 1, 0, 20, 1), squares, RD_DIMS(0, 1));
}

/* Two blocks of rows, whose cells are the pairs of a short axis. */
rd_expr *loop_short_pairs(rd_ctx *ctx)
{
    rd_expr *x = rd_wrap(ctx, doubles, RD_SHAPE(2, 70, 7));

    return rd_min(rd_add(rd_expand(x, 3), rd_expand(x, 2)), RD_DIMS(1));
}

/* rdim/blocks.h - masks of pairs by blocks: sums over pairs of points that skip distant pairs.
 *
 * Sort the points of both sides into clusters of neighbours, and say for each pair of clusters
 * whether its pairs of points count.  As .where of a reduction over pairs, loops visit only those
 * blocks.  Anywhere else the mask is an array of bools. */
#ifndef RDIM_BLOCKS_H
#define RDIM_BLOCKS_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A mask of pairs by blocks.
 *      rd_sum(rd_exp(rd_neg(d)), RD_DIMS(1), .where = rd_blocks(ctx, 10, rows, 20, columns, pair))
 *
 *  @param n_rows     the number of clusters of rows
 *  @param rows       n_rows + 1 borders, ascending from 0: cluster k has the rows rows[k] to
 *                    rows[k + 1] - 1
 *  @param n_columns  the number of clusters of columns
 *  @param columns    n_columns + 1 borders, likewise
 *  @param pair       pair[k * n_columns + l]: whether pairs of the row cluster k and the column
 *                    cluster l count
 *  @return a bool node of shape (rows[n_rows], columns[n_columns]).  All arrays are copied.  NULL
 *          on RD_ERR_ARGUMENT (no clusters, borders), or RD_ERR_MEMORY (4 bytes for each row and
 *          column, one for each pair of clusters). */
RD_API rd_expr *rd_blocks(rd_ctx *ctx, int64_t n_rows, const int64_t *rows, int64_t n_columns,
                          const int64_t *columns, const bool *pair);
/** A mask of the blocks that contain pairs of points no further apart than a radius.
 *
 *  The clusters are found here: leaves of a k-d tree (Bentley, 1975) with 128 to 256 points, or
 *  more, so that there are about 4096 at most.  Two clusters count if the boxes around their points
 *  are within the radius, so no near pair is left out.
 *      rd_expr *rows, *columns;
 *      rd_expr *near = rd_blocks_near(x, y, 3 * sigma, &rows, &columns);
 *      rd_expr *u    = rd_expand(rd_take(x, 0, rows), 1), *v = rd_take(y, 0, columns);
 *      rd_expr *k    = rd_exp(rd_neg(rd_sum(rd_square(rd_sub(u, v)), RD_DIMS(2))));
 *      rd_expr *sum  = rd_sum(k, RD_DIMS(1), .where = near); // in the order of rows
 *      rd_take(sum, 0, rd_argsort(rows, 0))                  // in that of x
 *
 *  @param x        (n, d), real.  It is evaluated now, and read as f64
 *  @param y        (m, d), likewise.  If y is x, both have the same clusters
 *  @param rows     the points of x in the order of clusters, (n) of i64
 *  @param columns  the points of y in the order of clusters, (m) of i64
 *  @return the mask, (n, m), of points in that order.  On failure it is NULL, and so are rows and
 *          columns: RD_ERR_SHAPE, RD_ERR_TYPE (complex), RD_ERR_ARGUMENT (the radius is negative or
 *          NaN, a point is not finite), RD_ERR_MEMORY, and the errors of rd_eval(). */
RD_API rd_expr *rd_blocks_near(rd_expr *x, rd_expr *y, double radius, rd_expr **rows,
                               rd_expr **columns);

#ifdef __cplusplus
}
#endif
#endif

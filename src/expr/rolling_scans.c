/* rolling_scans.c - rolling reductions by two scans, in a time that does not grow with n.
 *
 * The axis is cut into blocks of n elements.  A window that ends at element j of a block has
 * elements 0..j of that block, and those after j of the block before.  These are a prefix and a
 * suffix, which scans compute (van Herk 1992, Gil and Werman 1993, for minima).  One pass does
 * it, over rows that stay in cache if they are not too long. */
#include "expr/origin.h"
#include "expr/rolling.h"

/* ---- Windows of a block and the one before, along the axis after `axis` ---------------------- */
/* Cuts the suffixes of older blocks, one for each element, to as many as the newer blocks have
 * elements: the last of these may be shorter (the tail).  NULL after a failure. */
static rd_expr *matching_suffixes(const rd_rolling *r, rd_expr *suffixes, const rd_expr *newer)
{
    return newer ? rd_slice_places(suffixes, r->axis + 1, 0, newer->extent[r->axis + 1], 1) : NULL;
}

/* Sums each window of n: the suffix of the block before (an exclusive scan from its end) plus the
 * prefix of its own block (a scan). */
static rd_expr *combine_sums(const rd_rolling *r, rd_expr *older, rd_expr *newer)
{
    const rd_dims along    = RD_DIMS(r->axis + 1);
    rd_expr      *suffixes = rd_scan(older, "sum", along, .reverse = true, .exclusive = true);

    return rd_rolling_map(r, RD_OP_add, matching_suffixes(r, suffixes, newer),
                          rd_scan(newer, "sum", along));
}

/* The name of the scan and reduction for minima and maxima.  For bools (any, all) it is also max
 * and min, as the scans `all` and `any` take no .initial. */
static const char *reducer_of(const rd_rolling *r)
{
    return r->what == RD_ROLLED_MIN || r->what == RD_ROLLED_ALL ? "min" : "max";
}

/* Combines suffix of the older block and prefix of the newer one by minimum or maximum.  The last
 * window of a block has an empty suffix.  Its .initial is the newer block's first element, which is
 * in all of the windows anyway. */
static rd_expr *combine_extremes(const rd_rolling *r, rd_expr *older, rd_expr *newer)
{
    const rd_dims along = RD_DIMS(r->axis + 1);
    rd_expr      *first = newer ? rd_slice_places(newer, r->axis + 1, 0, 1, 1) : NULL;
    rd_expr      *suffixes =
        rd_scan(older, reducer_of(r), along, .reverse = true, .exclusive = true, .initial = first);

    return rd_rolling_map(r, rd_rolling_op(r), matching_suffixes(r, suffixes, newer),
                          rd_scan(newer, reducer_of(r), along));
}

/* A number close to the elements of each block: the mean of its finite ones, or 0.  It is
 * subtracted before squaring, so cancellation is no worse than the elements' spread. */
static rd_expr *centre_of(const rd_rolling *r, rd_expr *x)
{
    rd_expr *finite = rd_map_op(RD_OP_isfinite, r->call, 1, &x);
    rd_expr *mean   = finite ? rd_mean(x, RD_KEEP(r->axis + 1), .where = finite) : NULL;
    rd_expr *known  = rd_map_op(RD_OP_isfinite, r->call, 1, &mean);

    return mean ? rd_map_op(RD_OP_where, r->call, 3,
                            (rd_expr *const[]){ known, mean, rd_int(x->ctx, 0) })
                : NULL;
}

/* The sum of squares about the mean of each window, which is the end of the older block and the
 * begin of the newer.  It is the sum of squares minus (sum)^2 / n, of elements centred about the
 * older block's mean.  Rounding below 0 is clamped. */
static rd_expr *combine_squares(const rd_rolling *r, rd_expr *older, rd_expr *newer)
{
    rd_expr *centre  = centre_of(r, older);
    rd_expr *a       = rd_rolling_map(r, RD_OP_sub, older, centre);
    rd_expr *b       = rd_rolling_map(r, RD_OP_sub, newer, centre);
    rd_expr *sum     = combine_sums(r, a, b);
    rd_expr *squares = combine_sums(r, rd_map_op(RD_OP_square, r->call, 1, &a),
                                    rd_map_op(RD_OP_square, r->call, 1, &b));
    rd_expr *number  = rd_num(r->x->ctx, (double)r->n);
    rd_expr *of_sum =
        rd_rolling_map(r, RD_OP_div, rd_map_op(RD_OP_square, r->call, 1, &sum), number);
    rd_expr *about = rd_rolling_map(r, RD_OP_maximum, rd_rolling_map(r, RD_OP_sub, squares, of_sum),
                                    rd_int(r->x->ctx, 0));

    return about;
}

/* ---- The axis in blocks ---------------------------------------------------------------------- */
/* Reduces the windows that end in `count` blocks from element `newer` on; the window at the first
 * of these elements begins in the block before.  The last block has n elements, the others r->n. */
static rd_expr *reduce_blocks(const rd_rolling *r, int64_t newer, int64_t count, int64_t n)
{
    const int64_t older = newer - r->n, last = (count - 1) * r->n;
    rd_expr      *a = rd_slice_places(r->x, r->axis, older, newer + last, 1);
    rd_expr      *b = rd_slice_places(r->x, r->axis, newer, newer + last + n, 1), *y;

    a = rd_rolling_split(a, r->axis, r->n, r->n);
    b = rd_rolling_split(b, r->axis, n, r->n);
    y = rd_rolling_adds(r)              ? combine_sums(r, a, b)
        : rd_rolling_op(r) == RD_OP_add ? combine_squares(r, a, b)
                                        : combine_extremes(r, a, b);
    return rd_rolling_whole(rd_rolling_finish(r, y), r->axis);
}

/* Reduces x along the axes `along` to what windows are finished from: sum (also of a mean),
 * minimum, maximum, or the sum of squares about the mean. */
rd_expr *rd_rolling_total(const rd_rolling *r, rd_expr *x, rd_dims along)
{
    if (rd_rolling_op(r) != RD_OP_add)
        return rd_reduce(x, reducer_of(r), along);
    if (rd_rolling_adds(r))
        return rd_sum(x, along);
    return rd_rolling_map(r, RD_OP_mul, rd_var(x, along), rd_num(r->x->ctx, (double)r->n));
}

/* Reduces all windows of n by two scans over blocks of n.  Three ranges of windows are joined: the
 * first window, those that end in full blocks after it, and those that end in the tail. */
rd_expr *rd_rolling_by_scans(const rd_rolling *r)
{
    const int64_t n = r->n, extent = r->x->extent[r->axis];
    const int64_t whole = extent / n - 1, left = extent % n;
    rd_expr      *first    = rd_slice_places(r->x, r->axis, 0, n, 1);
    rd_expr      *parts[3] = { rd_rolling_total(r, first, RD_KEEP(r->axis)) };
    rd_exprs      all      = { parts, 1 };

    parts[0] = rd_rolling_finish(r, parts[0]);
    if (whole > 0)
        parts[all.n++] = reduce_blocks(r, n, whole, n);
    if (left > 0)
        parts[all.n++] = reduce_blocks(r, (whole + 1) * n, 1, left);
    return rd_concat(r->axis, all);
}

/* random_made.c - what is made of views, maps and reductions by one call: borders, copies, rolling
 * reductions, softmax and its like, distances, histograms.  The oracle walks their nodes: so what is
 * tested is how these are evaluated together, by every way there is. */
#include "random_expr.h"

static rd_expr *scaled(const random_node *node, double limit)
{
    const double size = fmax(fabs(node->lo), fabs(node->hi));

    return size <= limit ? node->x : rd_mul(node->x, rd_num(node->x->ctx, limit / size));
}

static rd_expr *pad(random_pool *pool, rd_expr *x, int axis)
{
    const rd_pad_mode mode   = (rd_pad_mode)random_below(pool, RD_PAD_WRAP + 1);
    const int64_t     before = random_below(pool, 5), after = random_below(pool, 5);

    return rd_pad(x, axis, before, after, mode, NULL);
}

static rd_expr *copies(random_pool *pool, rd_expr *x, int axis)
{
    switch (random_below(pool, 6)) {
    case 0: return rd_roll(x, axis, random_below(pool, 9) - 4);
    case 1: return rd_repeat(x, axis, random_below(pool, 4));
    case 2: return rd_tile(x, RD_SHAPE(1 + random_below(pool, 3)));
    case 3: return rd_stack(axis, RD_EXPRS(x, rd_flip(x, RD_DIMS(axis))));
    case 4: return rd_diff(x, axis, (int32_t)random_below(pool, 3));
    default: return pad(pool, x, axis);
    }
}

static rd_expr *matrices(random_pool *pool, rd_expr *x)
{
    const int64_t k = random_below(pool, 5) - 2;

    if (x->rank < 2)
        return rd_outer(x, rd_slice_axis(x, 0, 0, 4, 1));
    switch (random_below(pool, 4)) {
    case 0: return rd_tril(x, k);
    case 1: return rd_triu(x, k);
    case 2: return rd_trace(x, 0, -1, k);
    default: return rd_kron(x, rd_tri(pool->ctx, 2, 3, 0, RD_F32));
    }
}

static rd_expr *rolling(random_pool *pool, rd_expr *x, int axis)
{
    const int64_t n = 1 + random_below(pool, x->extent[axis] < 70 ? x->extent[axis] + 1 : 70);

    switch (random_below(pool, 6)) {
    case 0: return rd_rolling_sum(x, axis, n);
    case 1: return rd_rolling_mean(x, axis, n);
    case 2: return rd_rolling_min(x, axis, n);
    case 3: return rd_rolling_max(x, axis, n);
    case 4: return rd_rolling_var(x, axis, n, (double)random_below(pool, 2));
    default: return rd_rolling_std(x, axis, n, 0);
    }
}

static rd_expr *weighed(random_pool *pool, rd_expr *x, int axis)
{
    const rd_dims dims = random_once(pool, 3) ? RD_ALL : RD_DIMS(axis);

    switch (random_below(pool, 6)) {
    case 0: return rd_softmax(x, dims);
    case 1: return rd_log_softmax(x, dims);
    case 2: return rd_standardise(x, dims, 0);
    case 3: return rd_layer_norm(x, dims, NULL, rd_num(pool->ctx, 0.5), 0.125);
    case 4: return rd_rms_norm(x, dims, rd_num(pool->ctx, 2), 0.125);
    default: return rd_normalise(x, dims, random_once(pool, 2) ? 2 : INFINITY);
    }
}

static rd_expr *distances(random_pool *pool, rd_expr *x)
{
    rd_expr *rows = rd_slice_axis(rd_reshape(x, RD_SHAPE(-1, x->extent[x->rank - 1])), 0, 0, 30, 1);
    rd_expr *some = rd_slice_axis(rows, 0, 1, 12, 1);

    return random_once(pool, 3) ? rd_cosine_distance(rows, some)
                                : rd_cdist(rows, some, 1 + (double)random_below(pool, 2));
}

static rd_expr *counted(random_pool *pool, rd_expr *x)
{
    rd_expr *bins = rd_bins(x, 1 + random_below(pool, 9), -2, 2);

    switch (random_below(pool, 3)) {
    case 0: return bins;
    case 1: return rd_bincount(RD_EXPRS(bins), RD_SHAPE(4), random_once(pool, 2) ? x : NULL);
    default: return rd_histogram(x, 5, -1, 3, NULL);
    }
}

void random_made(random_pool *pool)
{
    const random_node *node = random_pick_float(pool);
    rd_expr           *x    = scaled(node, 20);

    if (x->rank == 0 || random_points(x) == 0)
        return;
    const int axis = (int)random_below(pool, x->rank);

    switch (random_below(pool, 7)) {
    case 0: random_keep(pool, copies(pool, x, axis), "copies"); break;
    case 1: random_keep(pool, matrices(pool, x), "of matrices"); break;
    case 2: random_keep(pool, rolling(pool, x, axis), "rolling"); break;
    case 3: random_keep(pool, rolling(pool, x, axis), "rolling"); break;
    case 4: random_keep(pool, weighed(pool, x, axis), "weighed"); break;
    case 5: random_keep(pool, distances(pool, x), "distances"); break;
    default: random_keep(pool, counted(pool, x), "counted"); break;
    }
}

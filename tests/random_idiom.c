/* random_idiom.c - what people write: several steps at once that an evaluator should fuse, and must
 * not get wrong. */
#include "random_expr.h"

static rd_expr *scaled(random_pool *pool, const random_node *node, double limit)
{
    const double size = fmax(fabs(node->lo), fabs(node->hi));

    return size <= limit ? node->x : rd_mul(node->x, rd_num(pool->ctx, limit / size));
}

static int any_axis(random_pool *pool, const rd_expr *x)
{
    return (int)random_below(pool, x->rank);
}

static void softmax(random_pool *pool, const random_node *node)
{
    const int axis = any_axis(pool, node->x);
    rd_expr  *x = scaled(pool, node, 20), *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(axis))));

    random_keep(pool, rd_div(e, rd_sum(e, RD_KEEP(axis))), "softmax");
}

static void layer_norm(random_pool *pool, const random_node *node)
{
    const int axis = any_axis(pool, node->x);
    rd_expr  *x    = scaled(pool, node, 100);
    rd_expr  *d    = rd_sub(x, rd_mean(x, RD_KEEP(axis)));

    if (random_once(pool, 2))
        random_keep(
            pool,
            rd_div(d, rd_sqrt(rd_add(rd_mean(rd_square(d), RD_KEEP(axis)), rd_num(pool->ctx, 1)))),
            "layer norm");
    else
        random_keep(pool, rd_div(d, rd_add(rd_std(x, RD_KEEP(axis)), rd_num(pool->ctx, 1))),
                    "standardised");
}

static void centred(random_pool *pool, const random_node *node)
{
    rd_expr *x = node->x, *all, *d;

    d = random_keep(pool, rd_sub(x, rd_mean(x, RD_KEEP(any_axis(pool, x)))), "anomaly");
    if (x->rank < 2 || !random_once(pool, 2))
        return;
    all = rd_add(rd_mean(x, RD_KEEP(0)), rd_mean(x, RD_KEEP(1)));
    random_keep(pool, rd_add(rd_sub(x, all), rd_mean(x, RD_KEEP_ALL)), "doubly centred");
    if (d)
        random_keep(pool, rd_sum(rd_square(d), RD_ALL), "sum of squares by hand");
}

static void logsumexp_by_hand(random_pool *pool, const random_node *node)
{
    const int axis = any_axis(pool, node->x);
    rd_expr  *x = scaled(pool, node, 30), *m = rd_max(x, RD_KEEP(axis));

    random_keep(pool, rd_add(rd_log(rd_sum(rd_exp(rd_sub(x, m)), RD_KEEP(axis))), m),
                "logsumexp by hand");
}

static void differences(random_pool *pool, const random_node *node)
{
    rd_expr *r = random_once(pool, 2) ? rd_sum(node->x, RD_DIMS(-1)) : rd_mean(node->x, RD_DIMS(0));

    if (r && r->rank > 0)
        random_keep(pool, rd_sub(rd_slice(r, "1:"), rd_slice(r, ":-1")),
                    "differences of a reduction");
    rd_error_clear(pool->ctx);
}

/* Squared distances of the rows of x to the rows of y. */
static rd_expr *squared_distances(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), RD_DIMS(-1));
}

static void pairs(random_pool *pool, const random_node *node)
{
    rd_expr *x =
                rd_reshape(scaled(pool, node, 4), RD_SHAPE(-1, node->x->extent[node->x->rank - 1])),
            *y, *d;

    x = rd_slice_axis(x, 0, 0, 40, 1);
    x = rd_slice_axis(x, 1, 0, 6, 1);
    y = rd_slice_axis(x, 0, random_below(pool, 5), 30, 1);
    d = squared_distances(x, y);
    switch (random_below(pool, 4)) {
    case 0: random_keep(pool, d, "squared distances"); break;
    case 1: random_keep(pool, rd_sum(rd_exp(rd_neg(d)), RD_DIMS(1)), "Gaussian sum"); break;
    case 2: random_keep(pool, rd_min(rd_sqrt(d), RD_DIMS(0)), "nearest distance"); break;
    default: random_keep(pool, rd_argmin(d, RD_DIMS(1)), "nearest neighbour"); break;
    }
}

/* Products by their names: of two and three operands, batches, diagonals. */
static void named_product(random_pool *pool, const random_node *node)
{
    rd_expr *x = rd_slice_axis(scaled(pool, node, 9), -1, 0, 12, 1), *t = rd_transpose(x);

    if (x->extent[0] == 0 || random_points(x) > 400 || x->rank < 2)
        return;
    switch (random_below(pool, 6)) {
    case 0: random_keep(pool, rd_matmul(x, t), "x @ x^T"); break;
    case 1: random_keep(pool, rd_matmul(t, x), "x^T @ x"); break;
    case 2: random_keep(pool, rd_vecdot(x, rd_select(x, 0, 0), -1), "vecdot"); break;
    case 3: random_keep(pool, rd_einsum("...ij,...kj,...kl->...il", x, x, x), "chain"); break;
    case 4: random_keep(pool, rd_einsum("i...,j...->...", x, x), "sums that meet"); break;
    default: random_keep(pool, rd_einsum("...ii->...i", rd_matmul(x, t)), "diagonal"); break;
    }
}

static void matrix_product(random_pool *pool, const random_node *node)
{
    rd_expr *a = rd_slice_axis(rd_slice_axis(node->x, -1, 0, 20, 1), 0, 0, 12, 1),
            *b = rd_transpose(a);

    if (random_once(pool, 2))
        b = rd_flip(rd_slice_axis(b, -1, 0, 9, 1), RD_DIMS(0));
    if (node->x->rank == 2)
        random_keep(pool, rd_sum(rd_mul(rd_expand(a, 2), rd_expand(b, 0)), RD_DIMS(1)),
                    "matrix product");
    else
        random_keep(pool, rd_sum(rd_mul(a, a), RD_DIMS(-1)), "dot products");
}

static void moving(random_pool *pool, const random_node *node)
{
    const int axis = any_axis(pool, node->x);
    rd_expr  *w    = rd_window(scaled(pool, node, 100), axis, 2 + random_below(pool, 3), 1);

    switch (random_below(pool, 3)) {
    case 0: random_keep(pool, rd_mean(w, RD_DIMS(-1)), "moving mean"); break;
    case 1: random_keep(pool, rd_max(rd_exp(rd_tanh(w)), RD_DIMS(-1)), "moving max of exp"); break;
    default:
        random_keep(pool, rd_sub(rd_max(w, RD_DIMS(-1)), rd_min(w, RD_DIMS(-1))), "moving range");
        break;
    }
}

static void masked_mean(random_pool *pool, const random_node *node)
{
    rd_expr *x = node->x, *mask = random_mask(pool, x);

    x = rd_where(mask, x, rd_mean(x, RD_ALL, .where = mask, .skip_nan = random_once(pool, 2)));
    random_keep(pool, x, "gaps filled with the mean");
}

static void gather_best(random_pool *pool, const random_node *node)
{
    rd_expr *x = rd_reshape(node->x, RD_SHAPE(-1));

    random_keep(pool, rd_take(x, 0, rd_argmax(x, RD_ALL)), "element at argmax");
}

static void symmetric(random_pool *pool, const random_node *node)
{
    rd_expr      *x = node->x;
    const int64_t n =
        x->rank == 2 ? (x->extent[0] < x->extent[1] ? x->extent[0] : x->extent[1]) : 0;

    if (n == 0)
        return;
    x = rd_slice_axis(rd_slice_axis(x, 0, 0, n, 1), 1, 0, n, 1);
    random_keep(pool, rd_add(x, rd_transpose(x)), "x + x^T");
}

static void cumulative(random_pool *pool, const random_node *node)
{
    const int axis = any_axis(pool, node->x);
    rd_expr  *x    = scaled(pool, node, 10);

    if (random_points(x) <= 1500)
        random_keep(pool, rd_sub(rd_scan(x, "sum", RD_DIMS(axis)), rd_sum(x, RD_KEEP(axis))),
                    "cumulative less total");
}

/* Sums weighed by exponentials: of scores and of values that broadcast. */
static void weighed(random_pool *pool, const random_node *node)
{
    rd_expr *x = scaled(pool, node, 20), *v = scaled(pool, random_pick_float(pool), 9);

    if (v->rank != x->rank || random_once(pool, 2))
        v = random_once(pool, 2) ? rd_cos(x) : rd_slice_axis(rd_sin(x), 0, 0, 1, 1);
    if (random_once(pool, 2))
        random_keep(pool, rd_softmax_sum(x, v, RD_DIMS(any_axis(pool, x))), "softmax_sum");
    else
        random_keep(pool, rd_signed_logsumexp(x, v, RD_KEEP(any_axis(pool, x))),
                    "signed_logsumexp");
}

void random_idiom(random_pool *pool)
{
    static void (*const idioms[])(random_pool *, const random_node *) = {
        softmax,   layer_norm,     centred,       logsumexp_by_hand, differences,
        pairs,     matrix_product, moving,        masked_mean,       gather_best,
        symmetric, cumulative,     named_product, weighed,
    };
    const random_node *node = random_pick_float(pool);

    if (node->x->rank > 0)
        idioms[random_below(pool, 14)](pool, node);
}

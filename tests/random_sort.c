/* random_sort.c - rows in order, their places, the first of them, quantiles. */
#include "random_expr.h"

/* x, with many equal elements. */
static rd_expr *coarse(random_pool *pool, rd_expr *x)
{
    if (rd_dtype_kind(x->type) == RD_KIND_FLOAT)
        return rd_round(rd_mul(rd_tanh(x), rd_num(pool->ctx, 2)));
    return rd_cast(rd_remainder(x, rd_int(pool->ctx, 3)), x->type);
}

static void sorted(random_pool *pool, rd_expr *x)
{
    const int    axis = (int)random_below(pool, x->rank);
    rd_sort_opts o    = { .size = sizeof o, .axis = random_once(pool, 3) ? axis - x->rank : axis };

    if (random_once(pool, 2)) {
        o.descending = random_once(pool, 2);
        x            = random_once(pool, 2) ? rd_sort_by(x, &o) : rd_argsort_by(x, &o);
        random_keep(pool, x, "sort");
    } else {
        const int64_t k = random_below(pool, x->extent[axis] + 1);

        o.smallest = random_once(pool, 2);
        x          = random_once(pool, 2) ? rd_top_k_by(x, k, &o) : rd_arg_top_k_by(x, k, &o);
        random_keep(pool, x, "top_k");
    }
}

static void quantiles(random_pool *pool, rd_expr *x)
{
    const double     q[]     = { random_uniform(pool, 0, 1), 0.5, 1, random_uniform(pool, 0, 1) };
    const int32_t    n       = (int32_t)random_below(pool, 5);
    const int        methods = RD_NORMAL_UNBIASED + 1;
    rd_quantile_opts o       = { .size     = sizeof o,
                                 .method   = random_once(pool, 2)
                                                 ? RD_LINEAR
                                                 : (rd_quantile_method)random_below(pool, methods),
                                 .skip_nan = random_once(pool, 3) };

    for (int a = 0; a < x->rank; a++)
        if (random_once(pool, 2))
            o.dims.axis[o.dims.n++] = a;
    if (random_once(pool, 4))
        o.dims.flags |= RD_DIMS_KEEP;
    if (random_once(pool, 4))
        o.where = random_mask(pool, x);
    x = random_once(pool, 2) ? rd_quantile_by(x, q[0], &o)
                             : rd_quantiles_by(x, (rd_qs){ q, n }, &o);
    random_keep(pool, x, "quantiles");
}

/* Elements of another node, or of x itself, in its rows in order. */
static void searched(random_pool *pool, rd_expr *x)
{
    rd_expr *const sorted = rd_sort(x, -1);
    rd_expr       *of     = random_once(pool, 2) ? x : random_pick(pool)->x;

    if (sorted && sorted->rank > 1 && of->rank != sorted->rank)
        of = x;
    random_keep(pool, rd_searchsorted(sorted, of, random_once(pool, 2) ? RD_LEFT : RD_RIGHT),
                "searchsorted");
}

static void modes(random_pool *pool, rd_expr *x)
{
    const rd_dims dims = random_once(pool, 3) ? RD_KEEP(-1) : RD_DIMS(-1);

    if (random_once(pool, 2))
        random_keep(pool, rd_mode(x, dims), "mode");
    else
        random_keep(pool, rd_mode_count(x, dims), "mode_count");
}

void random_sort(random_pool *pool)
{
    rd_expr *x = random_pick(pool)->x;

    if (random_once(pool, 3) && !(x = coarse(pool, x)))
        rd_error_clear(pool->ctx);
    else if (x->rank > 0 && random_once(pool, 6))
        searched(pool, x);
    else if (x->rank > 0 && random_once(pool, 8))
        modes(pool, x);
    else if (x->rank > 0 && random_once(pool, 2))
        sorted(pool, x);
    else
        quantiles(pool, x);
}

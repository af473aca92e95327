/* random_complex.c - complex numbers made of two nodes, and what becomes of them: the parts of the
 * result are kept, as the oracle knows real numbers. */
#include "random_expr.h"

/* Of at most this size, where the pool knows it. */
static rd_expr *scaled(random_pool *pool, rd_expr *x, double limit)
{
    const random_node *node = random_find(pool, x);
    const double       size = node ? fmax(fabs(node->lo), fabs(node->hi)) : 0;

    return size <= limit ? x : rd_mul(x, rd_num(pool->ctx, limit / size));
}

static rd_expr *any_complex(random_pool *pool)
{
    rd_expr *x = random_pick_float(pool)->x, *y = random_partner(pool, x);

    return rd_complex(scaled(pool, x, 4), scaled(pool, y, 4));
}

static rd_expr *map_of(random_pool *pool, rd_expr *z)
{
    switch (random_below(pool, 12)) {
    case 0: return rd_mul(z, rd_cnum(pool->ctx, 1, -2));
    case 1: return rd_div(rd_real(z), rd_add(z, rd_cnum(pool->ctx, 6, 0.5)));
    case 2: return rd_exp(z);
    case 3: return rd_sqrt(z);
    case 4: return rd_mul(z, rd_conj(z));
    case 5: return rd_square(rd_sub(rd_imag(z), z));
    case 6: return rd_log1p(z);
    case 7: return rd_expm1(z);
    case 8: return random_once(pool, 2) ? rd_asin(z) : rd_acosh(z);
    case 9: return rd_atan(z);
    case 10: return rd_pow(z, rd_cnum(pool->ctx, 0.5, -0.25));
    default: return rd_complex(rd_abs(z), rd_arg(z));
    }
}

static rd_expr *fold_of(random_pool *pool, rd_expr *z)
{
    const int axis = (int)random_below(pool, rd_shape_of(z).n);

    switch (random_below(pool, 9)) {
    case 0: return rd_sum(z, RD_KEEP(axis));
    case 1: return rd_sum(rd_mul(z, rd_flip(z, RD_DIMS(axis))), RD_DIMS(axis));
    case 2: return rd_complex(rd_norm(z, RD_ALL), rd_var(z, RD_ALL));
    case 3: return rd_mean(z, RD_DIMS(axis), .where = rd_gt(rd_real(z), rd_num(pool->ctx, 0)));
    case 4: return rd_prod(rd_mul(z, rd_num(pool->ctx, 0.25)), RD_DIMS(axis));
    case 5: return rd_vecdot(z, rd_flip(z, RD_DIMS(axis)), axis);
    case 6: return rd_cov(z, rd_exp(z), RD_DIMS(axis), .ddof = 1);
    case 7: return rd_last(z, RD_DIMS(axis), .where = random_mask(pool, rd_real(z)));
    default: return rd_scan(z, random_once(pool, 3) ? "prod" : "sum", RD_DIMS(axis));
    }
}

void random_complex(random_pool *pool)
{
    rd_expr *z = any_complex(pool);

    if (z && rd_shape_of(z).n > 0 && random_once(pool, 3))
        z = rd_flip(z, RD_DIMS(0));
    if (z)
        z = rd_shape_of(z).n > 0 && random_once(pool, 2) ? fold_of(pool, z) : map_of(pool, z);
    random_keep(pool, rd_real(z), "real part");
    if (z)
        random_keep(pool, rd_imag(z), "imaginary part");
}

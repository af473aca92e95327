/* draw_products.c - sums of products as of matrices: small, medium, batches of them. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

static rd_dtype type_of(dice *d)
{
    static const rd_dtype types[] = { RD_F32, RD_F64, RD_F16, RD_BF16, RD_I32 };
    static const int      share[] = { 50, 35, 5, 5, 5 };

    return types[sweep_weighted(d, share, 5)];
}

static node *leaf_of(dice *d, program *p, rd_dtype type, shape s)
{
    return sweep_draw_leaf(d, p, type, &s, 0, sweep_dtype(type)->is_float ? 1 : 9);
}

/* NumPy has a word for it: x0 @ x1. */
static void say(program *p, const char *python)
{
    p->numpy = sweep_format("y0 = %s\n", python);
}

/* a (n, k), b (k, m) */
static node *matrices(dice *d, program *p)
{
    const rd_dtype type = type_of(d);
    const double   most = fmin(260, sqrt(p->max_bytes / 16));
    const int64_t  n = sweep_log_between(d, 2, most), k = sweep_log_between(d, 2, most),
                  m = sweep_log_between(d, 2, most);
    node *a         = leaf_of(d, p, type, (shape){ 2, { n, k } }),
         *b         = leaf_of(d, p, type, (shape){ 2, { k, m } });

    say(p, "np.matmul(x0, x1)");
    return sweep_reduce(p, F_SUM, sweep_map(p, "mul", sweep_expand(p, a, 2), sweep_expand(p, b, 0)),
                        2, false);
}

/* a (b, n, k), c (b, k, m) */
static node *batches(dice *d, program *p)
{
    static const int64_t extents[] = { 2, 3, 4, 8, 16, 20, 33 };
    const rd_dtype       type      = type_of(d);
    const int64_t        n = extents[sweep_roll(d, 7)], k = extents[sweep_roll(d, 7)],
                  m    = extents[sweep_roll(d, 7)];
    const double  most = fmin(p->max_bytes / (double)(8 * k * (n + m)), 2e7 / (double)(n * k * m));
    const int64_t b    = sweep_log_between(d, 1, fmax(2, most));
    node         *x    = leaf_of(d, p, type, (shape){ 3, { b, n, k } }),
         *y            = leaf_of(d, p, type, (shape){ 3, { b, k, m } });

    say(p, "np.matmul(x0, x1)");
    return sweep_reduce(p, F_SUM, sweep_map(p, "mul", sweep_expand(p, x, 3), sweep_expand(p, y, 1)),
                        4, false);
}

/* a (n, k), v (k), perhaps along the other axis */
static node *with_vector(dice *d, program *p)
{
    const rd_dtype type = type_of(d);
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), 2);
    const bool     left = sweep_chance(d, 0.5);
    node *a = leaf_of(d, p, type, s), *v = leaf_of(d, p, type, (shape){ 1, { s.n[!left] } });

    say(p, left ? "x1 @ x0" : "x0 @ x1");
    return sweep_reduce(p, F_SUM, sweep_map(p, "mul", a, left ? sweep_expand(p, v, 1) : v),
                        left ? 1 : 2, false);
}

static node *dot(dice *d, program *p)
{
    const rd_dtype type = type_of(d);
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), 0);
    node          *a = leaf_of(d, p, type, s), *b = leaf_of(d, p, type, s);

    return sweep_reduce(p, F_SUM, sweep_map(p, "mul", a, b), sweep_draw_dims(d, s.rank), false);
}

/* x_i' A x_i for many x: x (n, k), A (k, k) */
static node *bilinear(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    const int64_t  k    = 2 + sweep_roll(d, 20);
    const double   most = fmin(p->max_bytes / (double)(8 * k), 1e7 / (double)(k * k));
    const int64_t  n    = sweep_log_between(d, 2, fmax(3, most));
    node          *x    = leaf_of(d, p, type, (shape){ 2, { n, k } }),
         *a             = leaf_of(d, p, type, (shape){ 2, { k, k } }), *y;

    y = sweep_map(p, "mul", sweep_map(p, "mul", sweep_expand(p, x, 2), a), sweep_expand(p, x, 1));
    say(p, "((x0 @ x1) * x0).sum(1)");
    return sweep_reduce(p, F_SUM, y, 6, false);
}

/* The table of products of two vectors, and a product with a map around it. */
static node *outer(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.6) ? RD_F32 : RD_F64;
    const double   most = sqrt(p->max_bytes / 16);
    node          *a    = leaf_of(d, p, type, (shape){ 1, { sweep_log_between(d, 3, most) } });
    node          *b    = leaf_of(d, p, type, (shape){ 1, { sweep_log_between(d, 3, most) } });

    return sweep_draw_map(d, p, sweep_map(p, "mul", sweep_expand(p, a, 1), b), sweep_roll(d, 2));
}

/* relu(a b + c) */
static node *layer(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.7) ? RD_F32 : RD_F64;
    const int64_t  n = sweep_log_between(d, 2, 300), k = sweep_log_between(d, 2, 200),
                  m = sweep_log_between(d, 2, 200);
    node *a         = leaf_of(d, p, type, (shape){ 2, { n, k } }),
         *b         = leaf_of(d, p, type, (shape){ 2, { k, m } });
    node *c         = leaf_of(d, p, type, (shape){ 1, { m } }), *y;

    y = sweep_reduce(p, F_SUM, sweep_map(p, "mul", sweep_expand(p, a, 2), sweep_expand(p, b, 0)), 2,
                     false);
    y = sweep_map(p, "sub", y, sweep_map(p, "mul", c, sweep_number(p, 10, type)));
    say(p, "np.maximum(x0 @ x1 - x2 * 10, 0)");
    return sweep_map(p, "maximum", y, sweep_number(p, 0, type));
}

void sweep_draw_products(dice *d, program *p)
{
    static node *(*const made[])(dice *, program *) = { matrices,    matrices, batches, batches,
                                                        with_vector, dot,      dot,     bilinear,
                                                        outer,       layer };

    p->root[p->n_roots++] = made[sweep_roll(d, 10)](d, p);
}

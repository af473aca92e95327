/* random_pattern.c - sparse matrices of a node's elements, and what becomes of them: results are
 * kept, of which the oracle knows what they are made of. */
#include "random_expr.h"
#include <stdlib.h>

/* Rows of places in a matrix. */
typedef struct pattern {
    int64_t  n, rows, cols;
    int64_t *pos, *crd;
} pattern;

/* k of n indices, ascending: selection sampling (Knuth, TAOCP 2, 3.4.2). */
static void choose(random_pool *pool, int64_t k, int64_t n, int64_t *index)
{
    for (int64_t i = 0; k > 0; i++)
        if (random_below(pool, n - i) < k) {
            *index++ = i;
            k--;
        }
}

/* Short rows and long ones, some of them empty. */
static void choose_places(random_pool *pool, pattern *p)
{
    int64_t longest = 0;

    p->rows = 1 + random_below(pool, pool->large ? 300 : 20);
    p->pos  = calloc((size_t)p->rows + 1, sizeof *p->pos);
    p->crd  = calloc((size_t)p->n + 1, sizeof *p->crd);
    for (int64_t k = 0; k < p->n; k++) {
        const double u = random_uniform(pool, 0, 1);

        p->pos[1 + (int64_t)(u * u * (double)p->rows)]++;
    }
    for (int64_t i = 1; i <= p->rows; i++)
        longest = p->pos[i] > longest ? p->pos[i] : longest;
    p->cols = longest + random_below(pool, 6);
    for (int64_t i = 0, from = 0; i < p->rows; i++) {
        choose(pool, p->pos[i + 1], p->cols, p->crd + from);
        from += p->pos[i + 1];
        p->pos[i + 1] = from;
    }
}

static rd_expr *values_of(random_pool *pool, pattern *p)
{
    rd_expr *const x = random_once(pool, 2) ? random_pick(pool)->x : random_pick_float(pool)->x;

    p->n = random_points(x);
    return p->n > 0 ? rd_reshape(x, RD_SHAPE(-1)) : NULL;
}

/* A CSR or CSC matrix of `rows` by `cols`. */
static rd_expr *matrix_of(random_pool *pool, rd_expr *values, pattern *p)
{
    rd_expr *const pos    = random_row_leaf(pool, p->rows + 1, p->pos);
    rd_expr *const crd    = random_row_leaf(pool, p->n, p->crd);
    const bool     stored = random_once(pool, 3);
    rd_expr *const fill =
        random_once(pool, 3) ? rd_cast(rd_int(pool->ctx, 1), rd_type_of(values)) : NULL;

    if (!pos || !crd)
        return NULL;
    if (random_once(pool, 2))
        return rd_csr(pool->ctx, RD_SHAPE(p->rows, p->cols), pos, crd, values, fill, stored);
    const int64_t rows = p->rows;
    p->rows            = p->cols;
    p->cols            = rows;
    return rd_csc(pool->ctx, RD_SHAPE(p->rows, p->cols), pos, crd, values, fill, stored);
}

static rd_expr *dense_of(random_pool *pool, int rank, int64_t n, int64_t m)
{
    rd_expr *const x = random_leaf(pool, rank, (const int64_t[]){ n, m }, random_type(pool));

    return x && x->rank == rank && x->extent[0] == n
               ? x
               : rd_broadcast(rd_int(pool->ctx, 2), RD_SHAPE(n));
}

static rd_expr *fold_of(random_pool *pool, rd_expr *a)
{
    static const char *const names[] = {
        "sum", "max", "min", "mean", "var", "count", "norm", "any"
    };
    const rd_reduce_opts o = { .size = sizeof o, .dims = RD_DIMS((int)random_below(pool, 2)) };

    return rd_reduce_name(a, names[random_below(pool, 8)], &o);
}

static rd_expr *result_of(random_pool *pool, rd_expr *a, const pattern *p)
{
    switch (random_below(pool, 8)) {
    case 0: return rd_matmul(a, dense_of(pool, 1, p->cols, 0));
    case 1: return rd_matmul(dense_of(pool, 1, p->rows, 0), a);
    case 2: return rd_matmul(a, dense_of(pool, 2, p->cols, 3));
    case 3: return fold_of(pool, rd_mul(a, dense_of(pool, 1, p->cols, 0)));
    case 4: return fold_of(pool, rd_maximum(a, rd_expand(dense_of(pool, 1, p->rows, 0), 1)));
    case 5: return rd_stored(rd_add(a, dense_of(pool, 1, p->cols, 0)));
    case 6: return p->rows * p->cols > pool->most_points / 4 ? rd_stored(a) : rd_dense(rd_abs(a));
    default: return fold_of(pool, a);
    }
}

void random_pattern(random_pool *pool)
{
    pattern        p      = { 0 };
    rd_expr *const values = values_of(pool, &p);

    if (!values || pool->n_block > RANDOM_BLOCKS - 4) {
        rd_error_clear(pool->ctx);
        return;
    }
    choose_places(pool, &p);
    rd_expr *const a = matrix_of(pool, values, &p);
    random_keep(pool, a ? result_of(pool, a, &p) : NULL, "sparse");
    free(p.pos);
    free(p.crd);
}

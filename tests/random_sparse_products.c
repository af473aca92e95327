/* random_sparse_products.c - products of sparse arrays and of their dense twins. */
#include "random_sparse.h"
#include "expr/expr.h"

#include <math.h>
#include <string.h>

/* ---- Products -------------------------------------------------------------------------------- */
static sparse_pair multiplied(sparse_pair x, sparse_pair z, sparse_pair y, double n)
{
    const sparse_pair both = { .dense = y.dense,
                               .most  = 2 * x.most * z.most,
                               .grain = x.grain * z.grain };

    y.rough    = fmax(x.rough, z.rough);
    y.infinite = x.infinite || z.infinite;
    y.part     = x.part || z.part;
    if (!sparse_sums_exactly(both, n))
        y.rough = fmax(y.rough, fmax(sparse_unit(x.dense), sparse_unit(y.dense)));
    y.summed  = true;
    y.most    = both.most * fmax(n, 1);
    y.grain   = both.grain;
    y.stored  = NULL;
    y.axes    = 0;
    y.uniform = false;
    if (rd_type_of(y.dense) >= RD_U8 && rd_type_of(y.dense) <= RD_U64)
        y.most = 2e19;
    return y;
}

/* Of stored elements alone: what a loop over them adds. */
static sparse_pair stored_times_vector(sparse_case *c, sparse_pair x)
{
    const rd_shape    s = rd_shape_of(x.sparse);
    const sparse_pair z =
        sparse_beside(sparse_dense_leaf(c, RD_F64, RD_SHAPE(s.at[s.n - 1])), x.dense);
    sparse_pair y = x;

    if (rd_type_of(x.dense) != RD_F64 || !rd_is_sparse(x.sparse))
        return x;
    SPARSE_BOTH(c, "matmul, .stored", x, z, y, false,
                v == x.sparse ? rd_matmul(v, w)
                              : rd_sum(rd_mul(v, w), RD_DIMS(-1), .where = x.stored));
    if (y.sparse == x.sparse)
        return x;
    return rd_is_sparse(y.sparse) ? sparse_still_stored(x, multiplied(x, z, y, 1e3), &RD_DIMS(-1))
                                  : multiplied(x, z, y, (double)s.at[s.n - 1]);
}

/* As one evaluation of a text has it. */
static rd_expr *by_formula(rd_ctx *ctx, rd_expr *v, rd_expr *w)
{
    return rd_formula(ctx, "o[i, k] = sum[j] v[i, j] * w[j, k]", RD_NAMES({ "v", v }, { "w", w }));
}

/* Where both matrices have an element that meets, if such count alone. */
static rd_expr *meeting(sparse_pair x, sparse_pair z)
{
    rd_expr *const a = x.stored ? rd_expand(x.stored, 2) : NULL;
    rd_expr *const b = z.stored ? rd_expand(z.stored, 0) : NULL;

    return a && b ? rd_and(a, b) : a ? a : b;
}

/* Of two matrices with .stored: sums of what both store, and places where there is such. */
static sparse_pair stored_times_stored(sparse_case *c, sparse_pair x)
{
    sparse_pair z = c->leaf[sparse_below(c, SPARSE_LEAVES)], y = x;

    if (sparse_once(c, 3))
        z = x;
    if (!z.stored || rd_shape_of(x.dense).n != 2 || rd_shape_of(z.dense).n != 2 || x.most > 1e3 ||
        z.most > 1e3)
        return x;
    if (rd_shape_of(z.dense).at[0] != rd_shape_of(x.dense).at[1] || sparse_once(c, 3)) {
        z.stored = rd_transpose(z.stored);
        z.sparse = rd_transpose(z.sparse);
        z.dense  = rd_transpose(z.dense);
    }
    /* Indices of a text begin at 0. */
    const bool     text  = !c->origin.n && sparse_once(c, 3);
    const int64_t  inner = rd_shape_of(x.dense).at[1];
    rd_expr *const where = rd_shape_of(z.dense).at[0] == inner ? meeting(x, z) : NULL;
    if (!where || rd_error(c->ctx) != RD_OK) {
        rd_error_clear(c->ctx);
        return x;
    }
    const rd_dtype type  = rd_type_of(rd_matmul(x.dense, z.dense));
    const bool     bools = type == RD_BOOL;
    if (rd_dtype_is_narrow_float(type)) /* their products are rounded once, as sums */
        return x;
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;
    SPARSE_BOTH(
        c, "A B, .stored", x, z, y, false,
        v == x.sparse && text && real ? by_formula(c->ctx, v, w)
        : v == x.sparse               ? rd_matmul(v, w)
        : bools
            ? rd_any(rd_and(rd_expand(v, 2), rd_expand(w, 0)), RD_DIMS(1), .where = where)
            : rd_cast(rd_sum(rd_mul(rd_expand(rd_cast(v, type), 2), rd_cast(rd_expand(w, 0), type)),
                             RD_DIMS(1), .where = where),
                      type));
    if (y.sparse == x.sparse)
        return x;
    const int64_t n = rd_points(2, rd_shape_of(y.dense).at) * inner;
    y               = multiplied(x, z, y, (double)inner);
    y.stored        = rd_is_sparse(y.sparse) ? rd_any(where, RD_DIMS(1)) : NULL;
    y.axes          = rd_is_sparse(y.sparse) ? 3 : 0;
    /* Both know their places along both axes: the product knows its own. */
    if (!y.stored && real && !text && x.axes == 3 && z.axes == 3 && n > 0)
        sparse_complain(c, "A B, .stored", "the product is not sparse");
    return y;
}

static rd_shape matrix(rd_shape s, bool turned, int64_t n)
{
    const int64_t inner = turned ? s.at[s.n - (s.n > 1 ? 2 : 1)] : s.at[s.n - 1];

    return turned ? RD_SHAPE(n, inner) : RD_SHAPE(inner, n);
}

/* Another leaf of the case, turned; or dense memory. */
static sparse_pair other_matrix(sparse_case *c, sparse_pair x)
{
    const rd_shape s = rd_shape_of(x.sparse);
    sparse_pair    z = c->leaf[sparse_below(c, SPARSE_LEAVES)], y = z;
    const rd_shape t = rd_shape_of(z.sparse);

    if (z.stored || t.n != s.n || memcmp(t.at, s.at, (size_t)s.n * sizeof *s.at) != 0 || s.n > 3)
        return sparse_dense_leaf(c, sparse_type(c), matrix(s, false, 2));
    SPARSE_BOTH(c, "transpose", z, z, y, false, rd_transpose(v));
    return y;
}

sparse_pair sparse_product(sparse_case *c, sparse_pair x)
{
    const rd_shape s     = rd_shape_of(x.sparse);
    const int64_t  inner = s.at[s.n - 1];
    sparse_pair    z = x, y = x;

    if (x.stored)
        return sparse_once(c, 2) ? stored_times_vector(c, x) : stored_times_stored(c, x);
    if (x.most > 1e3)
        return x;
    switch (sparse_below(c, 8)) {
    case 0:
        z = sparse_beside(sparse_dense_leaf(c, sparse_type(c), RD_SHAPE(inner)), x.dense);
        SPARSE_BOTH(c, "A x", x, z, y, false, rd_matmul(v, w));
        break;
    case 1:
        z = sparse_dense_leaf(c, sparse_type(c), matrix(s, true, 2));
        SPARSE_BOTH(c, "X A", x, z, y, false, rd_matmul(w, v));
        break;
    case 2:
    case 3:
        z = other_matrix(c, x);
        if (s.n == 2 && sparse_once(c, 3))
            SPARSE_BOTH(c, "A B in text", x, z, y, false, by_formula(c->ctx, v, w));
        else
            SPARSE_BOTH(c, "A B", x, z, y, false, rd_matmul(v, w));
        break;
    case 4:
        z = sparse_dense_leaf(c, sparse_type(c), RD_SHAPE(2, s.at[0], 2));
        SPARSE_BOTH(c, "tensordot", x, z, y, false, rd_tensordot(v, w, RD_INDEX(0), RD_INDEX(1)));
        break;
    case 5:
        z = sparse_dense_leaf(c, sparse_type(c), RD_SHAPE(inner));
        SPARSE_BOTH(c, "einsum", x, z, y, false, rd_einsum("...i,i->i...", v, w));
        break;
    case 6:
        z = sparse_beside(sparse_dense_leaf(c, sparse_type(c), s), x.dense);
        SPARSE_BOTH(c, "vecdot", x, z, y, false, rd_vecdot(v, w, 0));
        break;
    default:
        z = sparse_dense_leaf(c, sparse_type(c), RD_SHAPE(3, inner, 2));
        if (s.n > 3)
            return x;
        SPARSE_BOTH(c, "batches", x, z, y, false, rd_matmul(v, w));
    }
    return y.sparse == x.sparse ? x : multiplied(x, z, y, 150);
}

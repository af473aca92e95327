/* random_sparse_folds.c - reductions, scans and products of sparse arrays and of their dense
 * twins. */
#include "random_sparse.h"
#include "expr/expr.h"

#include <math.h>
#include <string.h>

/* ---- Reductions ------------------------------------------------------------------------------ */
typedef enum sort_of_fold { EXACT, SUM, PROD, ROUNDS, FLIPS } sort_of_fold;

static const struct {
    const char  *name;
    sort_of_fold sort;
    bool         initial, weights;
} folds[] = {
    { "sum", SUM, true, false },          { "sum", SUM, true, false },
    { "min", EXACT, true, false },        { "max", EXACT, true, false },
    { "prod", PROD, true, false },        { "any", FLIPS, false, false },
    { "all", FLIPS, false, false },       { "count", FLIPS, false, false },
    { "bits_and", EXACT, true, false },   { "bits_or", EXACT, true, false },
    { "bits_xor", EXACT, true, false },   { "mean", ROUNDS, false, true },
    { "mean", ROUNDS, false, true },      { "var", ROUNDS, false, true },
    { "std", FLIPS, false, true },        { "norm", ROUNDS, false, false },
    { "logsumexp", ROUNDS, false, true }, { "argmin", FLIPS, false, false },
    { "argmax", FLIPS, false, false },    { "skewness", FLIPS, false, true },
    { "kurtosis", FLIPS, false, true },
};
enum { N_FOLDS = sizeof folds / sizeof *folds };

/* Keywords for both forms. */
typedef struct keywords {
    rd_reduce_opts sparse, dense;
    bool           may; /* refused of sparse operands */
} keywords;

static rd_expr *some_number(sparse_case *c, const rd_expr *x)
{
    return rd_cast(rd_int(c->ctx, sparse_below(c, 3)), rd_type_of(x));
}

static void masked(sparse_case *c, sparse_pair x, keywords *k)
{
    const int      way = sparse_below(c, 3);
    const rd_shape s   = rd_shape_of(x.sparse);

    if (way == 0 && x.rough == 0 && !rd_dtype_is_complex(rd_type_of(x.dense))) {
        k->sparse.where = rd_gt(x.sparse, rd_int(c->ctx, 0));
        k->dense.where  = rd_gt(x.dense, rd_int(c->ctx, 0));
    } else
        k->sparse.where = k->dense.where =
            sparse_beside(sparse_dense_leaf(c, RD_BOOL, s), x.dense).dense;
}

static void weighted(sparse_case *c, sparse_pair x, keywords *k)
{
    const rd_shape s = rd_shape_of(x.sparse);

    k->sparse.weights = k->dense.weights = rd_abs(
        sparse_beside(sparse_dense_leaf(c, sparse_once(c, 2) ? RD_I32 : RD_U8, s), x.dense).dense);
}

static keywords any_keywords(sparse_case *c, sparse_pair x, int which, rd_expr **label)
{
    static const rd_dtype types[] = { RD_F64, RD_F32, RD_I64, RD_I8, RD_BOOL, RD_F16 };
    rd_reduce_opts        o       = { .size = sizeof o };
    const rd_shape        s       = rd_shape_of(x.sparse);
    keywords              k;

    for (int a = 0; a < s.n; a++)
        if (sparse_once(c, 2))
            o.dims.axis[o.dims.n++] = a;
    o.dims.flags = sparse_once(c, 3) ? RD_DIMS_KEEP : 0;
    o.skip_nan   = sparse_once(c, 5);
    if (folds[which].initial && sparse_once(c, 4))
        o.initial = some_number(c, x.dense);
    if (strcmp(folds[which].name, "norm") == 0)
        o.p = (const double[]){ 0, 1, 2, INFINITY }[sparse_below(c, 4)];
    if (strcmp(folds[which].name, "var") == 0 || strcmp(folds[which].name, "std") == 0)
        o.ddof = sparse_below(c, 2);
    if (sparse_once(c, 8) && x.rough == 0 && folds[which].sort != ROUNDS && !folds[which].weights &&
        folds[which].sort != PROD && !rd_dtype_is_complex(rd_type_of(x.dense)) && x.most < 1e5)
        o.type = types[sparse_below(c, 6)];
    k = (keywords){ o, o, false };
    if (sparse_once(c, 6))
        masked(c, x, &k);
    if (folds[which].weights && sparse_once(c, 4))
        weighted(c, x, &k);
    if (sparse_once(c, 15)) {
        *label      = sparse_beside(sparse_dense_leaf(c, RD_I8, s), x.dense).dense;
        k.sparse.by = k.dense.by = (rd_exprs){ label, 1 };
        k.sparse.groups = k.dense.groups = RD_SHAPE(3);
    }
    return k;
}

/* How many elements a result has. */
static int64_t elements(sparse_pair x, const rd_dims *dims)
{
    const rd_shape s = rd_shape_of(x.sparse);
    int64_t        n = 1;

    for (int k = 0; k < dims->n; k++)
        n *= s.at[dims->axis[k]];
    return n;
}

static bool is_float(const rd_expr *x)
{
    const rd_dtype type = rd_type_of(x);

    return rd_dtype_kind(type) == RD_KIND_FLOAT || rd_dtype_is_complex(type);
}

/* Is the sum of so many exact in 24 bits? */
static bool sums_exactly(sparse_pair x, double n)
{
    return !is_float(x.dense) || (x.grain > 0 && x.most * n / x.grain < 1 << 23);
}

/* What is known of a result. */
static sparse_pair told(sparse_pair x, sparse_pair y, int which, double n, bool weighted)
{
    const bool real   = is_float(x.dense);
    bool       rounds = false;

    y.summed = true;
    switch (folds[which].sort) {
    case EXACT: break;
    case SUM:
        y.most *= fmax(n, 1);
        rounds = !sums_exactly(x, n);
        break;
    case PROD:
        /* (a + ib)(c + id) of infinities depends on the order of factors */
        y.infinite |= rd_dtype_is_complex(rd_type_of(x.dense));
        y.most  = fmax(1, pow(x.most, fmax(n, 1)));
        y.grain = 0;
        rounds  = real;
        break;
    case FLIPS:
        y.most  = fmax(y.most, 1e4);
        y.grain = fmin(y.grain, 1);
        rounds  = weighted;
        break;
    default:
        y.most  = fmax(n, 1) * fmax(y.most, 4) * fmax(y.most, 4);
        y.grain = 0;
        rounds  = true;
    }
    if (!strcmp(folds[which].name, "std") || !strcmp(folds[which].name, "skewness") ||
        !strcmp(folds[which].name, "kurtosis"))
        rounds = true;
    if (rounds)
        y.rough = fmax(y.rough, fmax(sparse_unit(x.dense), sparse_unit(y.dense)));
    if (rd_type_of(y.dense) >= RD_U8 && rd_type_of(y.dense) <= RD_U64)
        y.most = 2e19;
    return y;
}

/* Where there is nothing, .stored leaves out. */
static void leave_out(sparse_pair x, keywords *k)
{
    if (x.stored)
        k->dense.where = k->dense.where ? rd_and(k->dense.where, x.stored) : x.stored;
}

static sparse_pair still_stored(sparse_pair x, sparse_pair y, const rd_dims *dims)
{
    y.stored =
        rd_is_sparse(y.sparse)
            ? rd_reduce_name(x.stored, "any",
                             &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = *dims })
            : NULL;
    return y;
}

sparse_pair sparse_fold(sparse_case *c, sparse_pair x)
{
    const int    which = sparse_below(c, N_FOLDS);
    rd_expr     *label = NULL;
    keywords     k     = any_keywords(c, x, which, &label);
    const double n     = (double)elements(x, &k.sparse.dims) + 1;
    sparse_pair  y     = x;

    if ((x.rough > 0 && folds[which].sort == FLIPS) ||
        (folds[which].sort == PROD && is_float(x.dense) && n * log(fmax(x.most, 4)) > 60) ||
        (folds[which].sort == ROUNDS && x.most > 1e3))
        return x;
    const bool dense_now = !rd_is_sparse(x.sparse);
    leave_out(x, &k);
    const bool may = dense_now && ((k.sparse.where && rd_is_sparse(k.sparse.where)) ||
                                   (k.sparse.weights && rd_is_sparse(k.sparse.weights)));
    SPARSE_BOTH(c, folds[which].name, x, x, y, may,
                rd_reduce_name(v, folds[which].name, v == x.sparse ? &k.sparse : &k.dense));
    if (y.sparse == x.sparse)
        return x;
    y = told(x, y, which, n, k.sparse.weights != NULL);
    return x.stored ? still_stored(x, y, &k.sparse.dims) : y;
}

/* ---- Scans ----------------------------------------------------------------------------------- */
sparse_pair sparse_scan(sparse_case *c, sparse_pair x)
{
    static const int places[] = { 0, 2, 3, 7 };
    const rd_shape   s        = rd_shape_of(x.sparse);
    const int        which    = places[sparse_below(c, 4)];
    rd_reduce_opts   o        = { .size    = sizeof o,
                                  .dims    = RD_DIMS(sparse_below(c, s.n)),
                                  .reverse = sparse_once(c, 4) };
    const double     n        = (double)elements(x, &o.dims);
    sparse_pair      y        = x;

    o.exclusive = which == 0 && sparse_once(c, 4);
    if (x.rough > 0 && folds[which].sort == FLIPS)
        return x;
    SPARSE_BOTH(c, "scan", x, x, y, false, rd_scan_name(v, folds[which].name, &o));
    return y.sparse == x.sparse ? x : told(x, y, which, n, false);
}

/* ---- Products -------------------------------------------------------------------------------- */
static sparse_pair multiplied(sparse_pair x, sparse_pair z, sparse_pair y, double n)
{
    const sparse_pair both = { .dense = y.dense,
                               .most  = 2 * x.most * z.most,
                               .grain = x.grain * z.grain };

    y.rough    = fmax(x.rough, z.rough);
    y.infinite = x.infinite || z.infinite;
    if (!sums_exactly(both, n))
        y.rough = fmax(y.rough, fmax(sparse_unit(x.dense), sparse_unit(y.dense)));
    y.summed = true;
    y.most   = both.most * fmax(n, 1);
    y.grain  = both.grain;
    y.stored = NULL;
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
    return rd_is_sparse(y.sparse) ? still_stored(x, multiplied(x, z, y, 1e3), &RD_DIMS(-1))
                                  : multiplied(x, z, y, (double)s.at[s.n - 1]);
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
        return stored_times_vector(c, x);
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

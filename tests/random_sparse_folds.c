/* random_sparse_folds.c - reductions and scans of sparse arrays and of their dense twins. */
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

bool sparse_sums_exactly(sparse_pair x, double n)
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
        rounds = !sparse_sums_exactly(x, n);
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

sparse_pair sparse_still_stored(sparse_pair x, sparse_pair y, const rd_dims *dims)
{
    y.stored =
        rd_is_sparse(y.sparse)
            ? rd_reduce_name(x.stored, "any",
                             &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = *dims })
            : NULL;
    return y;
}

/* Axes of the pattern that stay.  Along any of them a result is dense, of whatever extent: with
 * .stored it would be 0, and no value of nothing, where there is nothing. */
static sparse_pair axes_left(sparse_case *c, const char *what, sparse_pair x, sparse_pair y,
                             const rd_dims *dims)
{
    uint64_t reduced = 0;
    int      n       = 0;

    for (int k = 0; k < dims->n; k++)
        reduced |= (uint64_t)1 << dims->axis[k];
    if (reduced & x.axes && rd_is_sparse(y.sparse))
        sparse_complain(c, what, "it is reduced along its pattern, and still sparse");
    y.axes = 0;
    for (int a = 0; a < rd_shape_of(x.dense).n; a++) {
        const bool goes = reduced >> a & 1;

        if (!goes)
            y.axes |= (x.axes >> a & 1) << n;
        n += !goes || dims->flags & RD_DIMS_KEEP;
    }
    y.axes    = rd_is_sparse(y.sparse) ? y.axes : 0;
    y.uniform = false;
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
    y = axes_left(c, folds[which].name, x, y, &k.sparse.dims);
    if (x.stored && n == 1 && rd_is_sparse(y.sparse))
        return x; /* `stored` has no bool of places without elements, which the pattern still has */
    return x.stored ? sparse_still_stored(x, y, &k.sparse.dims) : y;
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
    y.axes    = 0;
    y.uniform = false;
    if (y.sparse == x.sparse)
        return x;
    y.stored = rd_is_sparse(y.sparse) ? x.stored : NULL;
    return told(x, y, which, n, false);
}

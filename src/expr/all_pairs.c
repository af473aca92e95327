/* all_pairs.c - covariances of all pairs of rows as one matrix product.
 *
 *     covariance(x[:, None, :], y[None, :, :], axis 2)
 *       ->  sum((x - mean(x)) * (y - mean(y))) / (n - ddof), a product of matrices
 *
 * The general reduction of pairs reads both rows once for each pair.  Here each row is centred
 * once, and the sums over pairs are a matrix product, which has fast kernels.  Each row is first
 * shifted by its first element.  So equal elements give exactly 0, and a large mean costs no
 * digits.
 *
 * A *side* is one of the two operands, x or y.  Reduced axes are set bits of rd_folding.bits; along
 * the kept axes one side has several rows, and the other has extent 1. */
#include "expr/all_pairs.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <math.h>

/* ---- Which operands -------------------------------------------------------------------------- */
/* Puts axes of extent 1 before those of x until it has `rank` axes.  NULL given NULL. */
static rd_expr *with_all_axes(rd_expr *x, int rank)
{
    while (x && x->rank < rank)
        x = rd_expand(x, 0);
    return x;
}

/* The length of a row of x, as the product of all reduced extents (`reduced`).  Else the number of
 * rows that only x has: the product of the other extents where y has extent 1. */
static double extent_of(const rd_folding *f, const rd_expr *x, const rd_expr *y, bool reduced)
{
    double extent = 1;

    for (int a = 0; a < x->rank; a++)
        if ((f->bits >> a & 1) == reduced && (reduced || y->extent[a] == 1))
            extent *= (double)x->extent[a];
    return extent;
}

/* True if x was not broadcast along any reduced axis: it has the full extent there. */
static bool has_full_reduced_axes(const rd_folding *f, const rd_expr *x)
{
    bool full = true;

    for (int a = 0; a < x->rank; a++)
        full &= !(f->bits >> a & 1) || x->extent[a] == f->x->extent[a];
    return full;
}

/* True if the weights are those of one row: full extent along reduced axes and extent 1 along all
 * others, so that all pairs of rows share them. */
static bool is_shared_by_pairs(const rd_folding *f, const rd_expr *weights)
{
    bool shared = true;

    for (int a = 0; a < weights->rank; a++)
        shared &= weights->extent[a] == (f->bits >> a & 1 ? f->x->extent[a] : 1);
    return shared;
}

/* True if the matrices are large enough for a product to be faster than the reduction: m rows of x,
 * n rows of y, k elements in each row. */
static bool is_worth_it(const rd_folding *f, const rd_expr *x, const rd_expr *y)
{
    enum { LEAST_EXTENT = 8, LEAST_POINTS = 1 << 15 };
    const double m = extent_of(f, x, y, /*reduced=*/false),
                 n = extent_of(f, y, x, /*reduced=*/false),
                 k = extent_of(f, x, y, /*reduced=*/true);

    return m >= LEAST_EXTENT && n >= LEAST_EXTENT && k >= LEAST_EXTENT && m * n * k >= LEAST_POINTS;
}

/* True if the covariances of x and y are those of all pairs of rows and large enough for a matrix
 * product; then `pairs` is filled in.  Masks, labels, sparse operands, and weights that differ
 * between pairs are refused. */
bool rd_find_all_pairs(rd_all_pairs *pairs, const rd_folding *f, rd_expr *x, rd_expr *y)
{
    rd_expr *const weights = with_all_axes(f->opts.weights, f->x->rank);

    *pairs = (rd_all_pairs){ f,
                             { with_all_axes(x, f->x->rank), with_all_axes(y, f->x->rank) },
                             weights };
    x      = pairs->side[0];
    y      = pairs->side[1];
    return x && y && !f->where && !f->label && !rd_is_sparse(x) && !rd_is_sparse(y) &&
           (!f->opts.weights ||
            (weights && !rd_is_sparse(weights) && is_shared_by_pairs(f, weights))) &&
           has_full_reduced_axes(f, x) && has_full_reduced_axes(f, y) && is_worth_it(f, x, y);
}

/* ---- One side -------------------------------------------------------------------------------- */
/* One operand without the axes along which only the other operand has elements.  If both sides are
 * rows of one array, both become the same expression, which is then computed once. */
typedef struct side {
    const rd_all_pairs *pairs;       /* of the reduction that this is a side of */
    rd_expr            *x, *weights; /* weights: NULL without */
    /* axes of one element that are dropped; reduced axes, numbered after the drop */
    rd_dims lacks, reduced;
} side;

/* Lists the reduced axes of x, and the axes of one element that the side drops.  Reduced axes are
 * numbered as after the drop. */
static void find_axes(side *s, const rd_expr *x)
{
    for (int a = 0; a < x->rank; a++)
        if (s->pairs->f->bits >> a & 1)
            s->reduced.axis[s->reduced.n++] = a - s->lacks.n;
        else if (x->extent[a] == 1 && rd_origin(x, a) == 0)
            s->lacks.axis[s->lacks.n++] = a;
}

/* Removes the listed axes of one element; NULL given NULL. */
static rd_expr *squeeze_axes(rd_expr *x, const rd_dims *axes)
{
    return x && axes->n ? rd_squeeze(x, *axes) : x;
}

/* Inserts axes of one element where they are listed, the reverse of squeeze_axes(). */
static rd_expr *expand_axes(rd_expr *x, const rd_dims *axes)
{
    for (int k = 0; k < axes->n; k++)
        x = rd_expand(x, axes->axis[k]);
    return x;
}

/* Makes one side (operand 0 or 1) of the covariances: casts it and its weights to `type`, and drops
 * its axes of one element, along which only the other has rows. */
static side make_side(const rd_all_pairs *pairs, int number, rd_dtype type)
{
    side s = { .pairs = pairs };

    find_axes(&s, pairs->side[number]);
    s.x       = squeeze_axes(rd_cast_to(pairs->side[number], type), &s.lacks);
    s.weights = pairs->weights ? squeeze_axes(rd_cast_to(pairs->weights, type), &s.lacks) : NULL;
    return s;
}

/* Reduces x over `dims` by a named reducer, with these weights, the call's accuracy, and all other
 * options at their defaults.  `keep`: reduced axes stay, with extent 1. */
static rd_expr *reduce_named(const rd_folding *f, rd_expr *x, const char *reducer,
                             const rd_dims *dims, rd_expr *weights, bool keep)
{
    rd_reduce_opts opts = f->opts;

    opts.size       = sizeof opts;
    opts.dims       = *dims;
    opts.dims.flags = keep ? RD_DIMS_KEEP : 0;
    opts.weights    = weights;
    opts.ddof       = 0;
    opts.skip_nan   = false;
    opts.where      = NULL;
    opts.type       = RD_AUTO;
    return x ? rd_reduce_name(x, reducer, &opts) : NULL;
}

/* Subtracts from each row of a side (operand) its first element, so that a large common value costs
 * no digits. */
static rd_expr *shift_by_first(const side *s)
{
    rd_expr *first = s->x;

    for (int k = 0; k < s->reduced.n && first; k++)
        first =
            rd_expand(rd_select_place(first, s->reduced.axis[k], /*place=*/0), s->reduced.axis[k]);
    for (int k = 0; k < s->reduced.n && first; k++)
        first = rd_broadcast_to(first, s->x->rank, s->x->extent, s->pairs->f->call);
    return first ? map_2(RD_OP_sub, s->pairs->f->call, s->x, rd_with_origins(first, s->x->origin))
                 : NULL;
}

/* Subtracts from x its mean over the reduced axes of the side (operand), weighted if there are
 * weights. */
static rd_expr *subtract_mean(const side *s, rd_expr *x)
{
    const rd_folding *f = s->pairs->f;

    return map_2(RD_OP_sub, f->call, x,
                 reduce_named(f, x, "mean", &s->reduced, s->weights, /*keep=*/true));
}

/* Subtracts from each row its mean, in two steps: of elements that are near 0 already the mean is
 * exact to more digits.  With weights the first element may weigh nothing and be far from all
 * others, so the first step subtracts the mean, too. */
static rd_expr *centre(const side *s)
{
    return subtract_mean(s, s->weights ? subtract_mean(s, s->x) : shift_by_first(s));
}

/* ---- All pairs ------------------------------------------------------------------------------- */
/* Lists the reduced axes, which are the set bits of f->bits. */
static rd_dims reduced_axes(const rd_folding *f)
{
    rd_dims dims = { 0 };

    for (int a = 0; a < f->x->rank; a++)
        if (f->bits >> a & 1)
            dims.axis[dims.n++] = a;
    return dims;
}

/* The divisor of the sums of products, n - ddof; NaN where it is not positive. n is the sum of the
 * weights, or without them the number of elements of a row. */
static rd_expr *divisor(const rd_all_pairs *pairs, rd_dtype type)
{
    const rd_folding *f    = pairs->f;
    rd_ctx           *ctx  = f->x->ctx;
    const rd_dims     dims = reduced_axes(f);
    const double n = extent_of(f, pairs->side[0], pairs->side[1], /*reduced=*/true) - f->opts.ddof;

    if (!pairs->weights)
        return rd_num(ctx, n > 0 ? n : NAN);
    rd_expr *w = rd_cast_to(pairs->weights, type);
    rd_expr *degrees =
        reduce_named(f, w, "sum", &dims, /*weights=*/NULL, f->opts.dims.flags & RD_DIMS_KEEP);

    degrees = map_2(RD_OP_sub, f->call, degrees, rd_num(ctx, f->opts.ddof));
    return rd_map_op(RD_OP_where, f->call, 3,
                     (rd_expr *const[]){ map_2(RD_OP_gt, f->call, degrees, rd_num(ctx, 0)), degrees,
                                         rd_num(ctx, NAN) });
}

/* Makes the covariances of all pairs of rows: both sides (operands) centred, then the sum of
 * products over the reduced axes, which is a matrix product, over n - ddof.  Weights multiply one
 * side only. */
rd_expr *rd_covariance_of_all(const rd_all_pairs *pairs, rd_dtype type)
{
    const rd_folding *f   = pairs->f;
    const side        one = make_side(pairs, 0, type), other = make_side(pairs, 1, type);
    rd_expr          *x = centre(&one), *y = expand_axes(centre(&other), &other.lacks);
    rd_reduce_opts    opts = { .size = sizeof opts, .dims = f->opts.dims };

    if (one.weights)
        x = map_2(RD_OP_mul, f->call, x, one.weights);
    x = map_2(RD_OP_mul, f->call, expand_axes(x, &one.lacks), y);
    return map_2(RD_OP_div, f->call, x ? rd_reduce_name(x, "sum", &opts) : NULL,
                 divisor(pairs, type));
}

/* Makes the standard deviation of each row of one operand (`number` 0 or 1), with the axes that the
 * covariances have. */
rd_expr *rd_deviation_of_side(const rd_all_pairs *pairs, int number, rd_dtype type)
{
    const rd_folding *f       = pairs->f;
    const side        s       = make_side(pairs, number, type);
    const rd_dims     dropped = reduced_axes(f);
    rd_expr          *y =
        expand_axes(reduce_named(f, s.x, "std", &s.reduced, s.weights, /*keep=*/true), &s.lacks);

    return f->opts.dims.flags & RD_DIMS_KEEP ? y : squeeze_axes(y, &dropped);
}

/* all_pairs.c - covariances of all pairs of rows as one matrix product.
 *
 *     covariance(x[:, None, :], y[None, :, :], axis 2)
 *       ->  sum((x - mean(x)) * (y - mean(y))) / (n - ddof), a product of matrices
 *
 * The general reduction of pairs reads both rows once for each pair.  Here each row is centred
 * once, and the sums over pairs are a matrix product, which has fast kernels.  Each row is first
 * shifted by its first element.  So equal elements give exactly 0, and a large mean costs no
 * digits. */
#include "expr/all_pairs.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <math.h>

/* ---- Which operands -------------------------------------------------------------------------- */
static rd_expr *with_all_axes(rd_expr *x, int rank)
{
    while (x && x->rank < rank)
        x = rd_expand(x, 0);
    return x;
}

/* The product of extents: of reduced axes, or of kept axes along which only x has more than one
 * element. */
static double extent_of(const rd_folding *f, const rd_expr *x, const rd_expr *y, bool reduced)
{
    double extent = 1;

    for (int a = 0; a < x->rank; a++)
        if ((f->bits >> a & 1) == reduced && (reduced || y->extent[a] == 1))
            extent *= (double)x->extent[a];
    return extent;
}

/* True if x has the full extent of the reduction along each reduced axis. */
static bool has_full_reduced_axes(const rd_folding *f, const rd_expr *x)
{
    bool moves = true;

    for (int a = 0; a < x->rank; a++)
        moves &= !(f->bits >> a & 1) || x->extent[a] == f->x->extent[a];
    return moves;
}

/* True if the weights have full extent along reduced axes and extent 1 along all others, so that
 * all pairs share them. */
static bool is_shared_by_pairs(const rd_folding *f, const rd_expr *weights)
{
    bool along = true;

    for (int a = 0; a < weights->rank; a++)
        along &= weights->extent[a] == (f->bits >> a & 1 ? f->x->extent[a] : 1);
    return along;
}

/* True if the matrices are large enough for a product to be faster than the reduction. */
static bool is_worth_it(const rd_folding *f, const rd_expr *x, const rd_expr *y)
{
    enum { LEAST_EXTENT = 8, LEAST_POINTS = 1 << 15 };
    const double m = extent_of(f, x, y, false), n = extent_of(f, y, x, false),
                 k = extent_of(f, x, y, true);

    return m >= LEAST_EXTENT && n >= LEAST_EXTENT && k >= LEAST_EXTENT && m * n * k >= LEAST_POINTS;
}

/* Fills in `pairs` and checks operands, weights and sizes.  See all_pairs.h. */
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
    const rd_all_pairs *pairs;
    rd_expr            *x, *weights; /* weights: NULL without */
    /* axes of one element that are dropped; reduced axes, numbered after the drop */
    rd_dims lacks, reduced;
} side;

/* Sorts the axes of x into reduced ones and ones of one element that the side drops. */
static void find_axes(side *s, const rd_expr *x)
{
    for (int a = 0; a < x->rank; a++)
        if (s->pairs->f->bits >> a & 1)
            s->reduced.axis[s->reduced.n++] = a - s->lacks.n;
        else if (x->extent[a] == 1 && rd_origin(x, a) == 0)
            s->lacks.axis[s->lacks.n++] = a;
}

/* Removes the listed axes of one element. */
static rd_expr *squeeze_axes(rd_expr *x, const rd_dims *axes)
{
    return x && axes->n ? rd_squeeze(x, *axes) : x;
}

/* Inserts the listed axes of one element. */
static rd_expr *expand_axes(rd_expr *x, const rd_dims *axes)
{
    for (int k = 0; k < axes->n; k++)
        x = rd_expand(x, axes->axis[k]);
    return x;
}

/* Casts one operand and its weights, and drops its axes of one element. */
static side make_side(const rd_all_pairs *pairs, int number, rd_dtype type)
{
    side s = { .pairs = pairs };

    find_axes(&s, pairs->side[number]);
    s.x       = squeeze_axes(rd_cast_to(pairs->side[number], type), &s.lacks);
    s.weights = pairs->weights ? squeeze_axes(rd_cast_to(pairs->weights, type), &s.lacks) : NULL;
    return s;
}

/* Reduces x by a named reducer, with the weights given and all other options at their defaults. */
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

/* Subtracts from each row its first element. */
static rd_expr *shift_by_first(const side *s)
{
    rd_expr *first = s->x;

    for (int k = 0; k < s->reduced.n && first; k++)
        first = rd_expand(rd_select_place(first, s->reduced.axis[k], 0), s->reduced.axis[k]);
    for (int k = 0; k < s->reduced.n && first; k++)
        first = rd_broadcast_to(first, s->x->rank, s->x->extent, s->pairs->f->call);
    return first ? map_2(RD_OP_sub, s->pairs->f->call, s->x, rd_with_origins(first, s->x->origin))
                 : NULL;
}

/* Subtracts from x its mean over the reduced axes. */
static rd_expr *subtract_mean(const side *s, rd_expr *x)
{
    const rd_folding *f = s->pairs->f;

    return map_2(RD_OP_sub, f->call, x, reduce_named(f, x, "mean", &s->reduced, s->weights, true));
}

/* Centres the rows in two steps: near the mean, elements have an exact mean.  With weights the
 * first element may weigh nothing and be far from all others, so the first step subtracts the
 * mean. */
static rd_expr *centre(const side *s)
{
    return subtract_mean(s, s->weights ? subtract_mean(s, s->x) : shift_by_first(s));
}

/* ---- All pairs ------------------------------------------------------------------------------- */
static rd_dims reduced_axes(const rd_folding *f)
{
    rd_dims dims = { 0 };

    for (int a = 0; a < f->x->rank; a++)
        if (f->bits >> a & 1)
            dims.axis[dims.n++] = a;
    return dims;
}

/* The divisor of the sums, n - ddof; NaN where it is not positive.  With weights n is their sum. */
static rd_expr *divisor(const rd_all_pairs *pairs, rd_dtype type)
{
    const rd_folding *f    = pairs->f;
    rd_ctx           *ctx  = f->x->ctx;
    const rd_dims     dims = reduced_axes(f);
    const double      n    = extent_of(f, pairs->side[0], pairs->side[1], true) - f->opts.ddof;

    if (!pairs->weights)
        return rd_num(ctx, n > 0 ? n : NAN);
    rd_expr *w    = rd_cast_to(pairs->weights, type);
    rd_expr *free = reduce_named(f, w, "sum", &dims, NULL, f->opts.dims.flags & RD_DIMS_KEEP);

    free = map_2(RD_OP_sub, f->call, free, rd_num(ctx, f->opts.ddof));
    return rd_map_op(RD_OP_where, f->call, 3,
                     (rd_expr *const[]){ map_2(RD_OP_gt, f->call, free, rd_num(ctx, 0)), free,
                                         rd_num(ctx, NAN) });
}

/* Centres both sides, then divides the sum of products by the divisor.  See all_pairs.h. */
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

/* The standard deviations of the rows of one operand.  See all_pairs.h. */
rd_expr *rd_deviation_of_side(const rd_all_pairs *pairs, int number, rd_dtype type)
{
    const rd_folding *f   = pairs->f;
    const side        s   = make_side(pairs, number, type);
    const rd_dims     all = reduced_axes(f);
    rd_expr *y = expand_axes(reduce_named(f, s.x, "std", &s.reduced, s.weights, true), &s.lacks);

    return f->opts.dims.flags & RD_DIMS_KEEP ? y : squeeze_axes(y, &all);
}

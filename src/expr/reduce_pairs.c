/* reduce_pairs.c - covariance and correlation of two operands.
 *
 * Words. An expression is real if it is not complex. */
#include "expr/all_pairs.h"
#include "expr/complex.h"
#include "expr/reduce.h"
#include <math.h>

/* Two operands, broadcast and cast to one float type, and the keywords of the call. */
typedef struct pair {
    rd_folding f; /* f.x is the first operand */
    rd_expr   *y; /* the second operand */
    /* set if the operands are rows against rows: one product computes all pairs (all_pairs.c) */
    bool         is_all;
    rd_all_pairs all;
} pair;

/* The common float type of two operands; f64 for ints. */
static rd_dtype real_type(rd_expr *x, rd_expr *y)
{
    const rd_dtype type = rd_rule_type(RD_RULE_FLOAT, 2, (rd_expr *const[]){ x, y });

    return rd_dtype_kind(type) == RD_KIND_FLOAT ? type : RD_F64;
}

/* For .skip_nan: masks out pairs of elements with a NaN in y; rd_folding_begin() has done so for x.
 * False after a failure. */
static bool mask_nan(pair *p)
{
    rd_expr *nan = rd_map_op(RD_OP_isnan, p->f.call, 1, &p->y);

    nan        = rd_map_op(RD_OP_not, p->f.call, 1, &nan);
    p->f.where = p->f.where && nan
                     ? rd_map_op(RD_OP_and, p->f.call, 2, (rd_expr *const[]){ p->f.where, nan })
                     : nan;
    return p->f.where != NULL;
}

/* Checks both operands, broadcasts them to each other and casts them to one float type, and fills
 * in `p`.  `takes` has the RD_TAKES_ bits of keywords.  False after recording what is wrong. */
static bool begin(pair *p, rd_expr *x, rd_expr *y, const rd_reduce_opts *opts, unsigned takes)
{
    rd_expr *const both[] = { x, y };
    int64_t        extent[RD_MAX_RANK];
    int            rank;

    if (!rd_operands(p->f.call, 2, both) || !rd_common_shape(p->f.call, 2, both, &rank, extent))
        return false;
    const rd_dtype type = real_type(x, y);

    x      = rd_cast_to(x, type);
    y      = rd_cast_to(y, type);
    p->f.x = x ? rd_broadcast_to(x, rank, extent, p->f.call) : NULL;
    p->y   = y ? rd_broadcast_to(y, rank, extent, p->f.call) : NULL;
    if (!p->f.x || !p->y || !rd_folding_begin(&p->f, opts, takes) ||
        (p->f.opts.skip_nan && !mask_nan(p)))
        return false;
    /* rows against rows: x and y as they were before broadcasting */
    p->is_all = rd_find_all_pairs(&p->all, &p->f, x, y);
    return true;
}

/* ---- With weights: means first, then products of the deviations from them -------------------- */
/* Reduces x by name, with the axes and mask of the call and these weights.  `keep`: reduced axes
 * stay with extent 1, to broadcast. */
static rd_expr *reduce_by_name(const pair *p, rd_expr *x, const char *reducer, rd_expr *weights,
                               bool keep)
{
    rd_reduce_opts opts = p->f.opts;

    opts.size    = sizeof opts;
    opts.weights = weights;
    opts.where   = p->f.where;
    /* the mask has left out NaN already */
    opts.skip_nan = false;
    opts.ddof     = 0;
    opts.type     = RD_AUTO;
    opts.dims.flags |= keep ? RD_DIMS_KEEP : 0;
    return x ? rd_reduce_name(x, reducer, &opts) : NULL;
}

/* Makes a map of two operands. */
static rd_expr *map_2(const pair *p, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, p->f.call, 2, (rd_expr *const[]){ x, y });
}

/* Subtracts from x its mean over the reduced axes, weighted if the call has weights. */
static rd_expr *deviations_of(const pair *p, rd_expr *x)
{
    return map_2(p, RD_OP_sub, x, reduce_by_name(p, x, "mean", p->f.opts.weights, /*keep=*/true));
}

/* Makes sum(w (x - mean x) (y - mean y)) / (sum(w) - ddof); NaN if the divisor is not above 0, as
 * in rd_var(). */
static rd_expr *weighted_covariance(const pair *p, rd_dtype type)
{
    rd_ctx  *ctx = p->f.x->ctx;
    rd_expr *x = rd_cast_to(p->f.x, type), *y = rd_cast_to(p->y, type);
    rd_expr *w        = rd_folding_beside(&p->f, p->f.opts.weights, type);
    rd_expr *products = map_2(p, RD_OP_mul, deviations_of(p, x), deviations_of(p, y));
    rd_expr *sum      = reduce_by_name(p, map_2(p, RD_OP_mul, w, products), "sum", /*weights=*/NULL,
                                       /*keep=*/false);
    rd_expr *divisor =
        map_2(p, RD_OP_sub, reduce_by_name(p, w, "sum", /*weights=*/NULL, /*keep=*/false),
              rd_num(ctx, p->f.opts.ddof));
    rd_expr *nan = rd_num(ctx, NAN), *zero = rd_num(ctx, 0);

    return rd_map_op(RD_OP_where, p->f.call, 3,
                     (rd_expr *const[]){ map_2(p, RD_OP_gt, divisor, zero),
                                         map_2(p, RD_OP_div, sum, divisor), nan });
}

/* Makes the covariance in the accumulator's type.  Rows against rows take one matrix product for
 * all pairs, weights the mean of weighted deviations, and all else a fold of its own. */
static rd_expr *covariance(const pair *p, rd_dtype type)
{
    if (p->is_all)
        return rd_covariance_of_all(&p->all, type);
    return p->f.opts.weights ? weighted_covariance(p, type)
                             : rd_folded(&p->f, RD_RED_covariance, rd_cast_to(p->f.x, type),
                                         rd_cast_to(p->y, type), type, /*identity=*/false);
}

/* True unless group labels and weights come together, which is recorded: deviations would need the
 * mean of each element's group. */
static bool keywords_ok(const pair *p)
{
    if (p->f.label && p->f.opts.weights)
        rd_fail(p->f.x->ctx, RD_ERR_ARGUMENT, "%s: .by and .weights together are not taken here",
                p->f.call);
    return !p->f.label || !p->f.opts.weights;
}

/* Makes the covariance of two real operands and casts it to the type that was asked for. */
static rd_expr *covariance_of_reals(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts)
{
    pair p = { .f = { .call = "rd_cov" } };

    if (!begin(&p, x, y, opts, RD_TAKES_WEIGHTS | RD_TAKES_DDOF | RD_TAKES_WIDE) ||
        !keywords_ok(&p))
        return NULL;
    return rd_folding_as_asked(&p.f, covariance(&p, rd_folding_accumulator(&p.f, p.f.x->type)),
                               p.f.x->type);
}

/* ---- Complex numbers ------------------------------------------------------------------------- */
/* Makes the mean of (x - mean x) times the conjugate of (y - mean y) from four real covariances of
 * the parts: (x + iy)(u - iv) = xu + yv + i (yu - xv). */
static rd_expr *complex_covariance(rd_expr *const *z, const rd_reduce_opts *opts)
{
    static const char call[] = "rd_cov";
    rd_reduce_opts    o[2];

    if (!rd_complex_options(call, 2, z, opts, /*complex=*/true, o))
        return NULL;
    rd_expr *const x = rd_real(z[0]), *const y = rd_imag(z[0]);
    rd_expr *const u = rd_real(z[1]), *const v = rd_imag(z[1]);

    return rd_complex_of(rd_add(covariance_of_reals(x, u, &o[0]), covariance_of_reals(y, v, &o[0])),
                         rd_sub(covariance_of_reals(y, u, &o[0]), covariance_of_reals(x, v, &o[0])),
                         call);
}

/* The covariance of two operands along axes: the public call. */
rd_expr *rd_cov_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts)
{
    rd_expr *const both[] = { x, y };

    if (!rd_operands("rd_cov", 2, both))
        return NULL;
    return rd_any_complex(2, both) ? complex_covariance(both, opts)
                                   : covariance_of_reals(x, y, opts);
}

/* ---- Correlation ----------------------------------------------------------------------------- */
/* The standard deviation of one operand, x (number 0) or y (1), over the reduced axes. */
static rd_expr *deviation(const pair *p, int number, rd_dtype type)
{
    if (p->is_all)
        return rd_deviation_of_side(&p->all, number, type);
    return reduce_by_name(p, rd_cast_to(number ? p->y : p->f.x, type), "std", p->f.opts.weights,
                          /*keep=*/false);
}

/* The correlation of two operands along axes: covariance / (std x * std y), clipped to [-1, 1]. */
rd_expr *rd_corr_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts)
{
    pair p = { .f = { .call = "rd_corr" } };

    if (rd_refuse_complex(p.f.call, 2, (rd_expr *const[]){ x, y }) ||
        !begin(&p, x, y, opts, RD_TAKES_WEIGHTS | RD_TAKES_WIDE) || !keywords_ok(&p))
        return NULL;
    const rd_dtype type = rd_folding_accumulator(&p.f, p.f.x->type);
    rd_expr       *by_x = map_2(&p, RD_OP_div, covariance(&p, type), deviation(&p, 0, type));
    /* covariance / (std x * std y) */
    rd_expr *r = map_2(&p, RD_OP_div, by_x, deviation(&p, 1, type));

    if (!r)
        return NULL;
    r = rd_clip(r, rd_num(r->ctx, -1), rd_num(r->ctx, 1)); /* rounding may exceed 1 */
    return rd_folding_as_asked(&p.f, r, p.f.x->type);
}

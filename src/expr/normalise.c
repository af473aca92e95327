/* normalise.c - functions that centre, scale or weigh elements along axes: softmax, layer norms,
 * norms and distances.  They are made of reductions and maps, as a user would write them, so
 * that they fuse as those do.
 *
 * Words. An expression is real if it is not complex. */
#include "core/float_env.h"
#include "expr/complex.h"
#include "expr/origin.h"
#include <math.h>

/* A call while it is built.  Ints are computed as f64, halves as f32 and rounded once.  The
 * result has the operand's type; f64 for ints. */
typedef struct normaliser {
    const char *call; /* for failures */
    rd_expr    *x;    /* the operand, in the type of the computation */
    rd_dtype    type; /* the result's type */
    rd_dims     kept; /* the call's axes, with RD_DIMS_KEEP */
} normaliser;

/* Makes a map of two operands. */
static rd_expr *map_2(const normaliser *w, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, w->call, 2, (rd_expr *const[]){ x, y });
}

/* Makes the map cond ? yes : no. */
static rd_expr *map_where(const normaliser *w, rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_map_op(RD_OP_where, w->call, 3, (rd_expr *const[]){ cond, yes, no });
}

/* Makes a map of one operand. */
static rd_expr *map_1(const normaliser *w, rd_op op, rd_expr *x)
{
    return rd_map_op(op, w->call, 1, &x);
}

/* The type of a result: floats keep theirs, bools and ints have f64. */
static rd_dtype float_type(rd_dtype type)
{
    return rd_dtype_kind(type) < RD_KIND_FLOAT ? RD_F64 : type;
}

/* Casts x to the type of the computation: f64 for ints, f32 for narrow floats, else its own. */
static rd_expr *in_working_type(rd_expr *x)
{
    const rd_dtype type = x ? float_type(x->type) : RD_AUTO;

    return rd_cast_to(x, rd_dtype_is_narrow_float(type) ? RD_F32 : type);
}

/* Checks the operand and the axes, and fills in `w` for a call; complex operands are allowed.
 * False after recording what is wrong. */
static bool begin_any(normaliser *w, const char *call, rd_expr *x, rd_dims dims)
{
    uint64_t bits;

    if (!rd_operands(call, 1, &x) || !rd_dims_bits(x, &dims, call, &bits))
        return false;
    *w = (normaliser){
        .call = call, .x = in_working_type(x), .type = float_type(x->type), .kept = dims
    };
    w->kept.flags |= RD_DIMS_KEEP; /* reduced axes keep extent 1, to broadcast */
    return w->x != NULL;
}

/* Checks a real operand and the axes, and fills in `w`.  False after recording what is wrong. */
static bool begin(normaliser *w, const char *call, rd_expr *x, rd_dims dims)
{
    return !rd_refuse_complex(call, 1, &x) && begin_any(w, call, x, dims);
}

/* Casts the result from the type of the computation to the one that the call returns. */
static rd_expr *end(const normaliser *w, rd_expr *y)
{
    return rd_cast_to(y, w->type);
}

/* True if the operand has no element; rd_max() would fail then. */
static bool is_empty(const normaliser *w)
{
    return rd_points(w->x->rank, w->x->extent) == 0;
}

/* Makes exp(x - max x), divided by its sum over the axes; the maximum keeps the exponential from
 * overflowing. */
rd_expr *rd_softmax(rd_expr *x, rd_dims dims)
{
    normaliser w;

    if (!begin(&w, "rd_softmax", x, dims))
        return NULL;
    if (is_empty(&w))
        return end(&w, w.x);
    rd_expr *exps = map_1(&w, RD_OP_exp, map_2(&w, RD_OP_sub, w.x, rd_max(w.x, w.kept)));

    return end(&w, map_2(&w, RD_OP_div, exps, rd_sum(exps, w.kept)));
}

/* x - log(sum(exp x)), the logarithm of the softmax, without underflow. */
rd_expr *rd_log_softmax(rd_expr *x, rd_dims dims)
{
    normaliser w;

    if (!begin(&w, "rd_log_softmax", x, dims))
        return NULL;
    return end(&w, map_2(&w, RD_OP_sub, w.x, rd_logsumexp(w.x, w.kept)));
}

/* (x - mean) / standard deviation, over the axes. */
rd_expr *rd_standardise(rd_expr *x, rd_dims dims, double ddof)
{
    normaliser w;

    if (!begin_any(&w, "rd_standardise", x, dims))
        return NULL;
    rd_expr *difference = map_2(&w, RD_OP_sub, w.x, rd_mean(w.x, w.kept));

    return end(&w, map_2(&w, RD_OP_div, difference, rd_std(w.x, w.kept, .ddof = ddof)));
}

/* y * gamma + beta.  Either of the two may be NULL. */
static rd_expr *scaled(const normaliser *w, rd_expr *y, rd_expr *gamma, rd_expr *beta)
{
    if (gamma)
        y = map_2(w, RD_OP_mul, y, gamma);
    return beta ? map_2(w, RD_OP_add, y, beta) : y;
}

/* Makes y / sqrt(square + eps), where `square` is a variance or a mean of squares. */
static rd_expr *over_root(const normaliser *w, rd_expr *y, rd_expr *square, double eps)
{
    rd_expr *sum = map_2(w, RD_OP_add, square, rd_num(w->x->ctx, eps));

    return map_2(w, RD_OP_div, y, map_1(w, RD_OP_sqrt, sum));
}

/* (x - mean) / sqrt(variance + eps), then scaled by gamma and shifted by beta. */
rd_expr *rd_layer_norm(rd_expr *x, rd_dims dims, rd_expr *gamma, rd_expr *beta, double eps)
{
    normaliser w;

    if (!begin(&w, "rd_layer_norm", x, dims))
        return NULL;
    rd_expr *difference = map_2(&w, RD_OP_sub, w.x, rd_mean(w.x, w.kept));
    rd_expr *y          = over_root(&w, difference, rd_var(w.x, w.kept), eps);

    return end(&w, scaled(&w, y, gamma, beta));
}

/* x / sqrt(mean of x^2 + eps), then scaled by gamma. */
rd_expr *rd_rms_norm(rd_expr *x, rd_dims dims, rd_expr *gamma, double eps)
{
    normaliser w;

    if (!begin(&w, "rd_rms_norm", x, dims))
        return NULL;
    rd_expr *square = rd_mean(map_1(&w, RD_OP_square, w.x), w.kept);

    return end(&w, scaled(&w, over_root(&w, w.x, square, eps), gamma, /*beta=*/NULL));
}

/* ---- Sums weighed by exponentials ------------------------------------------------------------ */
/* Begins `w` with two real operands: casts both to their common type, and broadcasts x, but not y,
 * to their common shape, in w->x.  False after recording what is wrong. */
static bool begin_both(normaliser *w, const char *call, rd_expr *x, rd_expr **y, rd_dims dims)
{
    rd_expr *const operands[] = { x, *y };
    int64_t        extent[RD_MAX_RANK];
    int            rank;

    if (!rd_operands(call, 2, operands) || rd_refuse_complex(call, 2, operands) ||
        !rd_common_shape(call, 2, operands, &rank, extent))
        return false;
    const rd_dtype type = rd_rule_type(RD_RULE_FLOAT, 2, operands);

    x  = rd_cast_to(x, type);
    *y = in_working_type(rd_cast_to(*y, type));
    return x && *y && begin(w, call, rd_broadcast_to(x, rank, extent, call), dims);
}

/* Takes index 0 of each axis that is not reduced and along which x was broadcast (to w->x): all
 * indices of such an axis have the same exponentials, so these are computed once. */
static rd_expr *distinct_scores(const normaliser *w, const rd_expr *x)
{
    uint64_t  bits;
    rd_expr  *y    = w->x;
    const int lead = y->rank - x->rank;

    if (!rd_dims_bits(y, &w->kept, w->call, &bits))
        return NULL;
    for (int a = 0; y && a < y->rank; a++)
        if (!(bits >> a & 1) && (a < lead || x->extent[a - lead] == 1))
            y = rd_slice_places(y, a, 0, 1, 1);
    return y;
}

/* Sums v with the softmax of the scores s as weights, as attention does: sum(e v) / sum(e), e =
 * exp(s - max s). .initial = -inf gives a maximum to empty rows.  It also stops collect/rewrite.c
 * from joining the maximum and the sum into one reduction, so both sums share one exponential.
 * Here x are the scores without repeats, m their maximum. */
rd_expr *rd_softmax_sum(rd_expr *s, rd_expr *v, rd_dims dims)
{
    normaliser w;

    if (!begin_both(&w, "rd_softmax_sum", s, &v, dims))
        return NULL;
    rd_expr *x = distinct_scores(&w, s);
    rd_expr *m = rd_max(x, w.kept, .initial = rd_num(v->ctx, -INFINITY));
    rd_expr *e = map_1(&w, RD_OP_exp, map_2(&w, RD_OP_sub, x, m));

    return end(&w, map_2(&w, RD_OP_div, rd_sum(map_2(&w, RD_OP_mul, e, v), dims), rd_sum(e, dims)));
}

/* Makes log|sum(weights * exp x)| and the sign of the sum, along a new first axis.  The greatest
 * exponent (`most`) is subtracted before the exponential, unless it is infinite.  Weights of 0 take
 * no part. */
rd_expr *rd_signed_logsumexp(rd_expr *x, rd_expr *weights, rd_dims dims)
{
    const char *call = "rd_signed_logsumexp";
    normaliser  w;

    if (!begin_both(&w, call, x, &weights, dims))
        return NULL;
    rd_expr *zero = rd_int(x->ctx, 0), *least = rd_num(x->ctx, -INFINITY);
    rd_expr *counts = map_2(&w, RD_OP_ne, weights, zero);
    rd_expr *most   = rd_max(map_where(&w, counts, w.x, least), w.kept, .initial = least);
    rd_expr *from   = map_where(&w, map_1(&w, RD_OP_isinf, most), zero, most);
    rd_expr *exps   = map_1(&w, RD_OP_exp, map_2(&w, RD_OP_sub, w.x, from));
    rd_expr *sum = rd_sum(map_where(&w, counts, map_2(&w, RD_OP_mul, weights, exps), zero), w.kept);
    rd_expr *log = map_2(&w, RD_OP_add, map_1(&w, RD_OP_log, map_1(&w, RD_OP_abs, sum)), from);
    rd_expr *results[] = { log, map_1(&w, RD_OP_sign, sum) };

    for (int k = 0; k < 2 && !(dims.flags & RD_DIMS_KEEP); k++)
        results[k] = rd_squeeze(results[k], dims);
    return end(&w, rd_stack(0, (rd_exprs){ results, 2 }));
}

/* ---- Norms and distances --------------------------------------------------------------------- */
/* True if the order p of a norm is above 0.  False after recording for `call`. */
static bool check_p(const char *call, const rd_expr *x, double p)
{
    if (p > 0)
        return true;
    rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: p is %g, it must be above 0, or INFINITY", call, p);
    return false;
}

/* The p-norm (sum |x|^p)^(1/p) along axes, for any p; rd_norm() has those for p = 1, 2 and
 * infinity. */
static rd_expr *norm(const normaliser *w, rd_expr *x, rd_dims dims, double p)
{
    if (!x || p == 1 || p == 2 || isinf(p))
        return rd_norm(x, dims, .p = p);
    rd_expr *power = map_2(w, RD_OP_pow, map_1(w, RD_OP_abs, x), rd_num(x->ctx, p));

    return map_2(w, RD_OP_pow, rd_sum(power, dims), rd_num(x->ctx, rd_float_quotient(1, p, 0)));
}

/* Divides x by its p-norm along the axes, so that this becomes 1.  Norms of 0 are replaced by 1. */
rd_expr *rd_normalise(rd_expr *x, rd_dims dims, double p)
{
    const char *call = "rd_normalise";
    normaliser  w;

    if (!begin_any(&w, call, x, dims) || !check_p(call, x, p))
        return NULL;
    rd_expr *length  = norm(&w, w.x, w.kept, p);
    rd_expr *is_zero = map_2(&w, RD_OP_eq, length, rd_int(x->ctx, 0));
    rd_expr *divisor =
        rd_map_op(RD_OP_where, call, 3, (rd_expr *const[]){ is_zero, rd_int(x->ctx, 1), length });

    return end(&w, map_2(&w, RD_OP_div, w.x, divisor));
}

/* Checks two lists of points, the rows (last axis) of x and y, and casts them to their common type.
 * Callers expand them to (..., n, 1, d) and (..., 1, m, d), so that maps have all pairs. */
static bool begin_pairs(normaliser *w, const char *call, rd_expr **x, rd_expr **y)
{
    rd_expr *const operands[] = { *x, *y };
    char           text[2][RD_SHAPE_TEXT];

    if (!rd_operands(call, 2, operands) || rd_refuse_complex(call, 2, operands))
        return false;
    const int n = (*x)->rank, m = (*y)->rank;
    if (n < 2 || m < 2 || (*x)->extent[n - 1] != (*y)->extent[m - 1]) {
        rd_fail((*x)->ctx, RD_ERR_SHAPE,
                "%s: points are rows, of one length: shape %s does not go with shape %s", call,
                rd_shape_text(n, (*x)->extent, text[0]), rd_shape_text(m, (*y)->extent, text[1]));
        return false;
    }
    const rd_dtype type = rd_rule_type(RD_RULE_FLOAT, 2, operands);
    *x                  = in_working_type(rd_cast_to(*x, type));
    *y                  = in_working_type(rd_cast_to(*y, type));
    *w                  = (normaliser){ .call = call, .x = *x, .type = type, .kept = RD_DIMS(-1) };
    return *x && *y;
}

/* The p-norm distances of each row of x from each row of y. */
rd_expr *rd_cdist(rd_expr *x, rd_expr *y, double p)
{
    normaliser w;

    if (!begin_pairs(&w, "rd_cdist", &x, &y) || !check_p("rd_cdist", x, p))
        return NULL;
    rd_expr *difference = map_2(&w, RD_OP_sub, rd_expand(x, -2), rd_expand(y, -3));

    return end(&w, norm(&w, difference, RD_DIMS(-1), p));
}

/* Makes 1 - cosine of the angle between each row of x and each row of y: 1 - x . y / (|x| |y|). */
rd_expr *rd_cosine_distance(rd_expr *x, rd_expr *y)
{
    normaliser w;

    if (!begin_pairs(&w, "rd_cosine_distance", &x, &y))
        return NULL;
    rd_expr *dot = rd_sum(map_2(&w, RD_OP_mul, rd_expand(x, -2), rd_expand(y, -3)), RD_DIMS(-1));
    rd_expr *lengths = map_2(&w, RD_OP_mul, rd_expand(rd_norm(x, RD_DIMS(-1)), -1),
                             rd_expand(rd_norm(y, RD_DIMS(-1)), -2));

    return end(&w, map_2(&w, RD_OP_sub, rd_int(x->ctx, 1), map_2(&w, RD_OP_div, dot, lengths)));
}

/* call_values.c - NumPy's rules of values and types, where the library's calls have others. */
#include "calls.h"

/* ---- Arrays of one value ---------------------------------------------------------------------- */
/* A number alone is weak, an array of it has a type. */
static rd_expr *strong(rd_expr *x, rd_dtype type)
{
    return rd_cast(x, type != RD_AUTO ? type : rd_type_of(x));
}

rd_expr *rdpy_full(rdpy_call *A, rd_expr *value, rd_dtype absent)
{
    return rd_broadcast(strong(value, A->t != RD_AUTO ? A->t : absent), A->s[0]);
}

/* Its place in signatures of full_like and of the others is not the same, but it has the one list. */
rd_expr *rdpy_full_like(rdpy_call *A, rd_expr *value)
{
    const bool     shaped = A->given[4 + (A->x[1] != NULL)];
    const rd_dtype type   = A->t != RD_AUTO ? A->t : rd_type_of(A->x[0]);

    return rd_broadcast(strong(value, type), shaped ? A->s[0] : rd_shape_of(A->x[0]));
}

/* eye(N, M, k, dtype): where column - row is k */
rd_expr *rdpy_eye(rdpy_call *A)
{
    const int64_t  n = A->i[0], m = A->given[1] ? A->i[1] : n;
    rd_expr *const grid = rd_broadcast(rd_int(A->ctx, 0), RD_SHAPE(n, m));
    rd_expr *const off  = grid ? rd_sub(rd_coord(grid, 1), rd_coord(grid, 0)) : NULL;

    return off ? rd_cast(rd_eq(off, rd_int(A->ctx, A->i[2])), A->t != RD_AUTO ? A->t : RD_F64)
               : NULL;
}

/* ---- Element by element ----------------------------------------------------------------------- */
rd_expr *rdpy_clipped(rdpy_call *A)
{
    rd_expr *x = A->x[0];

    if (A->x[1] && A->x[2])
        return rd_clip(x, A->x[1], A->x[2]);
    return A->x[1] ? rd_maximum(x, A->x[1]) : A->x[2] ? rd_minimum(x, A->x[2]) : x;
}

rd_expr *rdpy_close(rdpy_call *A)
{
    rd_expr *const a = A->x[0], *const b = A->x[1];
    rd_expr *const close = rd_isclose(a, b, A->f[2], A->f[3]);

    return A->i[4] ? rd_or(close, rd_and(rd_isnan(a), rd_isnan(b))) : close;
}

/* nan_to_num: a replacement that is not given is the library's, 0 or the type's largest number. */
rd_expr *rdpy_numbers(rdpy_call *A)
{
    rd_expr *const x = A->x[0], *const zero = rd_int(A->ctx, 0);
    rd_expr *y = rd_nan_to_num(x);

    if (A->x[2])
        y = rd_where(rd_isnan(x), A->x[2], y);
    if (A->x[3])
        y = rd_where(rd_and(rd_isinf(x), rd_gt(x, zero)), A->x[3], y);
    if (A->x[4])
        y = rd_where(rd_and(rd_isinf(x), rd_lt(x, zero)), A->x[4], y);
    return y && rd_type_of(y) != rd_type_of(x) ? rd_cast(y, rd_type_of(x)) : y;
}

/* ---- Differences, scans ----------------------------------------------------------------------- */
/* A number beside an array: one element along the axis, the same along the others. */
static rd_expr *edge_of(rd_expr *x, int axis, rd_expr *edge)
{
    rd_shape shape = rd_shape_of(x);

    if (!edge || rd_shape_of(edge).n > 0)
        return edge;
    shape.at[axis] = 1;
    return rd_broadcast(strong(edge, RD_AUTO), shape);
}

rd_expr *rdpy_differences(rdpy_call *A)
{
    rd_expr  *x    = A->x[0];
    const int rank = rd_shape_of(x).n, axis = (int)(A->i[2] < 0 ? A->i[2] + rank : A->i[2]);

    if ((A->x[3] || A->x[4]) && axis >= 0 && axis < rank) {
        rd_expr *parts[3];
        int      n = 0;

        if (A->x[3])
            parts[n++] = edge_of(x, axis, A->x[3]);
        parts[n++] = x;
        if (A->x[4])
            parts[n++] = edge_of(x, axis, A->x[4]);
        x = rd_concat(axis, (rd_exprs){ parts, n });
    }
    if (A->i[1] != (int32_t)A->i[1])
        return rdpy_refuse(PyExc_ValueError, "rdim.diff: n is %lld", (long long)A->i[1]);
    return rd_diff(x, (int)A->i[2], (int32_t)A->i[1]);
}

/* cumulative_sum, cumulative_prod: with `first`, what they are of nothing, in front where asked for. */
rd_expr *rdpy_cumulated(rdpy_call *A, const char *reducer, int64_t first)
{
    rd_expr       *x     = A->x[0];
    rd_shape       shape = rd_shape_of(x);
    const int      axis  = A->given[1] ? (int)A->i[1] : 0;
    rd_reduce_opts opts  = { .size = sizeof opts, .dims = RD_DIMS(axis), .type = A->t };

    if (!A->given[1] && shape.n != 1)
        return rdpy_refuse(PyExc_ValueError, "rdim.%s: axis= is wanted for an array of %d axes",
                           A->name, shape.n);
    x = rd_scan_name(x, reducer, &opts);
    if (!A->i[4] || !x)
        return x;
    const int at = axis < 0 ? axis + shape.n : axis;

    shape.at[at] = 1;
    return rd_concat(
        at, RD_EXPRS(rd_broadcast(strong(rd_int(A->ctx, first), rd_type_of(x)), shape), x));
}

/* ---- Order ------------------------------------------------------------------------------------ */
static rd_expr *quantile_by(rdpy_call *A, double scale, rd_quantile_opts *opts)
{
    if (scale == 0)
        return rd_median_by(A->x[0], opts);
    for (int k = 0; k < A->q.n; k++)
        A->qs[k] /= scale;
    A->q.at = A->qs;
    return A->one_q ? rd_quantile_by(A->x[0], A->qs[0], opts)
                    : rd_quantiles_by(A->x[0], A->q, opts);
}

/* Some methods answer an element of x as the quantile; NumPy keeps the type of the elements then. */
static rd_expr *of_elements(rd_expr *x, rd_expr *quantile, rd_quantile_method method)
{
    static const bool is_element[] = { [RD_LOWER]        = true,
                                       [RD_HIGHER]       = true,
                                       [RD_NEAREST]      = true,
                                       [RD_INVERTED_CDF] = true,
                                       [RD_CLOSEST]      = true };
    const bool        same         = (size_t)method < sizeof is_element && is_element[method];

    return quantile && same && rd_type_of(x) < RD_F16 ? rd_cast(quantile, rd_type_of(x)) : quantile;
}

rd_expr *rdpy_quantile(rdpy_call *A, double scale, const int at[4])
{
    static const char *const names[] = { "linear",
                                         "lower",
                                         "higher",
                                         "nearest",
                                         "midpoint",
                                         "inverted_cdf",
                                         "averaged_inverted_cdf",
                                         "closest_observation",
                                         "interpolated_inverted_cdf",
                                         "hazen",
                                         "weibull",
                                         "median_unbiased",
                                         "normal_unbiased",
                                         NULL };
    rd_expr *const           weights = rdpy_along(A->name, "weights", A->x[0], A->x[at[2]], A->d);
    const int        method = rdpy_choice(A, names, weights && scale == 0 ? RD_INVERTED_CDF : 0);
    rd_quantile_opts opts   = { .size     = sizeof opts,
                                .method   = (rd_quantile_method)method,
                                .dims     = A->d,
                                .where    = A->x[at[1]],
                                .skip_nan = A->i[at[3]],
                                .by       = A->list,
                                .groups   = A->s[0],
                                .weights  = weights };

    if (A->i[at[0]])
        opts.dims.flags |= RD_DIMS_KEEP;
    for (int k = 0; k < A->list.n; k++)
        ((rd_expr **)A->list.at)[k] = rdpy_along(A->name, "labels", A->x[0], A->list.at[k], A->d);
    if (PyErr_Occurred() || !rdpy_has_groups(A->name, A->list.n, A->s[0]))
        return NULL;
    return method < 0 ? NULL : of_elements(A->x[0], quantile_by(A, scale, &opts), opts.method);
}

/* With a sorter `a` is in order as it says. */
rd_expr *rdpy_searched(rdpy_call *A)
{
    static const char *const names[] = { "left", "right", NULL };
    const int                side    = rdpy_choice(A, names, 0);
    rd_expr *const           row     = A->x[3] ? rd_take(A->x[0], 0, A->x[3]) : A->x[0];

    return side < 0 ? NULL : rd_searchsorted(row, A->x[1], (rd_side)side);
}

rd_expr *rdpy_ranked(rdpy_call *A)
{
    static const char *const names[] = { "average", "min", "max", "dense", "ordinal", NULL };
    const int                method  = rdpy_choice(A, names, 0);

    return method < 0 ? NULL : rd_ranks(A->x[0], (int)A->i[1], (rd_rank_method)method);
}

/* ---- Products --------------------------------------------------------------------------------- */
/* NumPy's convolve takes all that meet where nothing is said, its correlate what is inside. */
rd_expr *rdpy_convolved(rdpy_call *A, bool correlate)
{
    static const char *const names[] = { "full", "same", "valid", NULL };
    const int mode = rdpy_choice(A, names, correlate ? RD_CONVOLVE_VALID : RD_CONVOLVE_FULL);

    if (mode < 0)
        return NULL;
    return (correlate ? rd_correlate : rd_convolve)(A->x[0], A->x[1], (int)A->i[3],
                                                    (rd_convolve_mode)mode);
}

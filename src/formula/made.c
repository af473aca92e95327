/* made.c - functions of formulas that are composed of several calls: arrays of a shape, and
 * functions that NumPy and SciPy have. */
#include "formula/made.h"
#include <math.h>

/* ---- Arrays of a shape ----------------------------------------------------------------------- */
/* Builds an array of the shape a->s that holds `value`, of the type a->t or f64. NULL after an
 * error. */
rd_expr *rd_formula_full(const rd_arguments *a, int64_t value)
{
    rd_expr *x = rd_cast(rd_int(a->ctx, value), a->t ? a->t : RD_F64);

    return x ? rd_broadcast(x, a->s) : NULL;
}

/* Builds an array of one repeated number, with the shape and type of x. NULL after an error. */
rd_expr *rd_formula_like(rd_expr *x, int64_t value)
{
    rd_expr *y = x ? rd_cast(rd_int(x->ctx, value), rd_type_of(x)) : NULL;

    return y ? rd_broadcast(y, rd_shape_of(x)) : NULL;
}

/* Builds an n by m matrix with ones where column - row is k, as numpy.eye does, from the
 * coordinates of its elements. rd_coord() gives the place of each element along an axis of
 * `zero`, an array of that shape. The type is a->t or f64. NULL after an error. */
rd_expr *rd_formula_eye(const rd_arguments *a, int64_t n, int64_t m, int64_t k)
{
    rd_expr *zero     = rd_broadcast(rd_int(a->ctx, 0), RD_SHAPE(n, m));
    rd_expr *row      = zero ? rd_add(rd_coord(zero, 0), rd_int(a->ctx, k)) : NULL;
    rd_expr *diagonal = row ? rd_eq(rd_coord(zero, 1), row) : NULL;

    return diagonal ? rd_cast(diagonal, a->t ? a->t : RD_F64) : NULL;
}

/* Builds n equally spaced numbers from start on. If the end is included, the last number is `stop`
 * itself: start + (n - 1) * step may be rounded. `at` counts 0 to n - 1; `end`: stop is the last
 * number, so n - 1 steps lead to it, else n. A single number is start. NULL after an error. */
rd_expr *rd_formula_linspace(const rd_arguments *a, double start, double stop, int64_t n, bool end)
{
    rd_expr *at   = rd_coord(rd_broadcast(rd_int(a->ctx, 0), RD_SHAPE(n)), 0);
    double   step = (stop - start) / (double)(end ? n - 1 : n);
    rd_expr *y    = at ? rd_add(rd_mul(rd_cast(at, RD_F64), rd_num(a->ctx, n > 1 ? step : 0)),
                                rd_num(a->ctx, start))
                       : NULL;

    if (!end || n < 2 || !y)
        return y;
    return rd_where(rd_eq(at, rd_int(a->ctx, n - 1)), rd_num(a->ctx, stop), y);
}

/* ---- Products -------------------------------------------------------------------------------- */
/* Builds a tensor product over the last n axes of x and the first n of y, or over two lists of
 * axes. n is argument k; it is -1 if that was a list. NULL after an error. a->pair has these
 * lists; `last` are the axes of x and `first` those of y. */
rd_expr *rd_formula_tensordot(const rd_arguments *a, int k)
{
    rd_expr *x    = a->x[0].x;
    rd_ints  last = { 0 }, first = { 0 };

    if (a->i[k] < 0 && a->given[k] && a->given[k]->kind == RD_PHRASE_LIST)
        return rd_tensordot(x, a->x[1].x, a->pair[0], a->pair[1]);
    if (a->i[k] < 0 || a->i[k] > x->rank)
        return rd_fail(a->ctx, RD_ERR_AXIS, "%lld of the %d axes of the first array",
                       (long long)a->i[k], (int)x->rank);
    for (; last.n < a->i[k]; last.n++, first.n++) {
        last.at[last.n]   = x->rank - a->i[k] + last.n;
        first.at[first.n] = first.n;
    }
    return rd_tensordot(x, a->x[1].x, last, first);
}

/* Builds the cross product by rotated operands: a[1] b[2] - a[2] b[1], and so on cyclically.
 * rd_roll() by -1 puts element k + 1 at k. `one` is the first product, `two` what is subtracted.
 * Both arrays must have 3 elements along `axis`. NULL after an error. */
rd_expr *rd_formula_cross(const rd_arguments *a, int axis)
{
    rd_expr *x = a->x[0].x, *y = a->x[1].x;

    for (int k = 0; k < 2; k++) {
        const rd_expr *z  = a->x[k].x;
        const int      at = rd_axis(z, axis, a->r->call);

        if (at < 0)
            return NULL;
        if (z->extent[at] != 3)
            return rd_fail(a->ctx, RD_ERR_SHAPE, "vectors of %lld elements, 3 are needed",
                           (long long)z->extent[at]);
    }
    rd_expr *one = rd_mul(rd_roll(x, axis, -1), rd_roll(y, axis, -2));
    rd_expr *two = rd_mul(rd_roll(x, axis, -2), rd_roll(y, axis, -1));

    return one && two ? rd_sub(one, two) : NULL;
}

/* ---- Statistics ------------------------------------------------------------------------------ */
/* Builds the entropy -sum(p log p), p being x divided by its sum, as SciPy does. A term of 0 is
 * 0; a negative element gives -infinity. `along` are the axes of that sum, and stay with extent
 * 1; `dims` those of the result. NULL after an error. */
rd_expr *rd_formula_entropy(rd_expr *x, rd_dims along, rd_dims dims)
{
    rd_dims kept = along;

    kept.flags |= RD_DIMS_KEEP;
    rd_expr *p     = rd_div(x, rd_sum(x, kept));
    rd_expr *terms = rd_formula_entr(p);

    return terms ? rd_sum(terms, dims) : NULL;
}

/* Builds the Jaccard distance: of the positions where x or y is not 0, the share where they
 * differ; 0 if there are none. `dims` are the axes counted over. NULL after an error. */
rd_expr *rd_formula_jaccard(rd_expr *x, rd_expr *y, rd_dims dims)
{
    rd_expr *zero      = x ? rd_int(x->ctx, 0) : NULL;
    rd_expr *present   = x ? rd_or(rd_ne(x, zero), rd_ne(y, zero)) : NULL;
    rd_expr *differing = present ? rd_count(rd_and(present, rd_ne(x, y)), dims) : NULL;
    rd_expr *all       = present ? rd_count(present, dims) : NULL;

    return all && differing ? rd_where(rd_eq(all, zero), rd_num(x->ctx, 0), rd_div(differing, all))
                            : NULL;
}

/* Stacks the rows of x and of y into one matrix; a vector is one row. y NULL: x alone. */
static rd_expr *stack_rows(rd_expr *x, rd_expr *y)
{
    x = x && x->rank == 1 ? rd_expand(x, 0) : x;
    y = y && y->rank == 1 ? rd_expand(y, 0) : y;
    return y ? rd_concat(0, RD_EXPRS(x, y)) : x;
}

/* Builds the correlation matrix of the rows of a matrix, or of two arrays of rows. Each row
 * meets each other one: axes (i, 1, k) and (1, j, k), over k, the last. NULL after an error. */
rd_expr *rd_formula_corrcoef(const rd_arguments *a)
{
    rd_expr *x = stack_rows(a->x[0].x, a->x[1].x);

    if (x && x->rank != 2)
        return rd_fail(a->ctx, RD_ERR_SHAPE,
                       "a matrix is taken, whose rows are variables: of two arrays say corr(x, y)");
    return x ? rd_corr(rd_expand(x, 1), rd_expand(x, 0), RD_DIMS(-1)) : NULL;
}

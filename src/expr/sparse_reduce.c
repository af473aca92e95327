/* sparse_reduce.c - reductions of sparse expressions: a fold of the stored elements, combined
 * with the contribution of the fills.
 *
 *     sum(x)  =  sum(stored)  +  fill * (n - number stored)
 *
 * Stored elements are folded along the places, with the kept coordinates as group labels.  All
 * fills of a result count at once: n equal elements have a closed form for each sort of
 * reduction in reducers.def.  If fills differ along the reduced axes, there is no closed form,
 * and all places are looked up.  The exception are fills that are 0 or NaN, as those of a
 * product with a dense vector: their NaN are counted.
 *
 * A *coordinate* belongs to an axis of the pattern; it is *kept* if its axis is not reduced.  An
 * array is *.stored* if it has no fill: then nothing but stored elements counts.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. An expression
 * is real if it is not complex. A plain expression is real and dense. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include "expr/sparse.h"
#include <math.h>
#include <string.h>

/* A reduction while it is built: the call, and facts that find_axes() fills in. */
typedef struct folded {
    const char    *call, *name; /* "rd_sum", "sum" */
    rd_reducer_id  reducer;
    rd_expr       *x;    /* the SPARSE */
    rd_reduce_opts opts; /* the caller's, with every field */
    uint64_t       bits; /* bit a: axis a is reduced */
    int64_t        n;    /* elements of a result, stored or not */
    rd_expr       *fill; /* the fill of each result; NULL: fills differ within a result */
    rd_zero        zero; /* what is known of fills */
} folded;

/* Reduces a real x by name, with other options than the call's; messages name that reducer's
 * call. */
static rd_expr *fold_real(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    return rd_real_reduce(NULL, x, name, opts);
}

/* ---- Stored elements ------------------------------------------------------------------------- */
/* True if the axis is reduced. */
static bool is_reduced(const folded *z, int axis)
{
    return z->bits >> axis & 1;
}

/* True if the pattern has coordinates along the axis. */
static bool is_coord(const folded *z, int axis)
{
    return rd_coord_of_axis(z->x, axis) >= 0;
}

/* The number of kept coordinates if these are the first ones of the pattern, so that places with
 * equal ones are adjacent; else 0. */
static int count_leading(const folded *z)
{
    const int64_t *const axis = z->x->as.sparse->axis;
    int                  n    = 0;

    while (n < rd_coords_of(z->x) && !is_reduced(z, (int)axis[n]))
        n++;
    for (int k = n; k < rd_coords_of(z->x); k++)
        if (!is_reduced(z, (int)axis[k]))
            return 0;
    return n;
}

/* The extents of the groups: of the axes that have coordinates and are not reduced, in the
 * coordinates' order. */
static rd_shape groups_of(const folded *z)
{
    rd_shape groups = { 0 };

    for (int k = 0; k < rd_coords_of(z->x); k++)
        if (!is_reduced(z, (int)z->x->as.sparse->axis[k]))
            groups.at[groups.n++] = z->x->extent[z->x->as.sparse->axis[k]];
    return groups;
}

/* The coordinates along the reduced axes, or along the kept ones, as one number for each place,
 * in C order. */
static rd_expr *coords_as_one(const folded *z, bool reduced, rd_dtype type)
{
    rd_expr *number = NULL;

    for (int k = 0; k < rd_coords_of(z->x); k++) {
        const int64_t axis = z->x->as.sparse->axis[k];

        if (is_reduced(z, (int)axis) != reduced)
            continue;
        rd_expr *const row = rd_cast_to(z->x->in[2 + k], type);
        if (number)
            number = map_2(RD_OP_mul, z->call, number, rd_int(z->x->ctx, z->x->extent[axis]));
        number = number ? map_2(RD_OP_add, z->call, number, row) : row;
        if (!number)
            return NULL;
    }
    return number;
}

/* Makes one group label, below n_group, of all coordinates along axes that are not reduced.  If
 * they are the first ones of the pattern it is an ascending row, else computed for each place.  All
 * labels are in range, so no test is needed. */
static rd_expr *label_of(const folded *z, int64_t n_group)
{
    const int n   = count_leading(z);
    rd_expr  *row = NULL;

    if (n > 1 && !rd_leading_row(z->x, n, z->call, &row))
        return NULL;
    return row ? row : coords_as_one(z, /*reduced=*/false, n_group <= INT32_MAX ? RD_I32 : RD_I64);
}

/* The reduced axes of the values: the places, and reduced axes that the pattern lacks. */
static rd_dims dims_of_values(const folded *z)
{
    rd_dims dims = { .n = 1 };
    int     axis = 0;

    for (int a = 0; a < z->x->rank; a++) {
        axis += !is_coord(z, a);
        if (!is_coord(z, a) && is_reduced(z, a))
            dims.axis[dims.n++] = axis;
    }
    return dims;
}

/* Gives y an axis for each kept coordinate, in x's order.  The first axis of y, if any, holds all
 * groups, and is split. */
static rd_expr *in_axis_order(const folded *z, rd_expr *y)
{
    rd_shape shape = groups_of(z);
    rd_index order = { 0 };
    int      coord[RD_MAX_RANK], other = shape.n, n = 0;

    for (int k = 0; k < rd_coords_of(z->x); k++)
        coord[k] = n += !is_reduced(z, (int)z->x->as.sparse->axis[k]);
    for (int a = shape.n > 0; y && a < y->rank; a++)
        shape.at[shape.n++] = y->extent[a];
    for (int a = 0; a < z->x->rank; a++)
        if (!is_reduced(z, a))
            order.at[order.n++] = is_coord(z, a) ? coord[rd_coord_of_axis(z->x, a)] - 1 : other++;
    if (y && shape.n > y->rank)
        y = rd_reshape(y, shape);
    return y ? rd_permute(y, order) : NULL;
}

static rd_dtype    counting_type(rd_dtype type);
static const char *sort_of(const char *name);

/* Folds the first axis of x by a label for each of its elements: places by their group, or pieces
 * of rows by their row. */
static rd_expr *fold_by(rd_expr *x, const char *name, rd_expr *label, int64_t n_group,
                        const rd_reduce_opts *opts)
{
    rd_reduce_opts o = *opts;

    if (!x || !label || !(label = rd_column(label, x->rank)))
        return NULL;
    o.by     = (rd_exprs){ &label, 1 };
    o.groups = (rd_shape){ .n = 1, .at = { n_group } };
    return fold_real(x, name, &o);
}

/* True if folding pieces of rows first and then their results gives the fold of all places. A sum
 * (sort "total") may take another order if its accuracy allows, without a start (.initial), and in
 * a float type if one is asked for. Extremes, truth and bits are the same in any order. */
static bool can_fold_pieces(const char *name, const rd_reduce_opts *o)
{
    const char *const sort = sort_of(name);

    if (o->accuracy != RD_PAIRWISE && o->accuracy != RD_WIDE)
        return false;
    if (!strcmp(sort, "total"))
        return !o->initial && (!o->type || rd_dtype_kind(o->type) == RD_KIND_FLOAT);
    return (!strcmp(sort, "extreme") || !strcmp(sort, "truth") || !strcmp(sort, "bits")) &&
           !o->where && !o->type;
}

/* Folds the pieces of long rows first, in a type that loses nothing, then the pieces of each row.
 * `type` is the result's. */
static rd_expr *fold_pieces(const char *name, rd_expr *values, const rd_row_pieces *p,
                            int64_t n_group, const rd_reduce_opts *opts, rd_dtype type)
{
    const char *const sort = sort_of(name);
    rd_reduce_opts    o    = *opts;
    rd_reduce_opts    rest = { .size = sizeof rest, .dims = RD_DIMS(0) };

    if (!strcmp(sort, "total"))
        o.type = counting_type(type);
    else
        rest.skip_nan = o.skip_nan;
    rest.initial = o.initial;
    /* an extreme may take .initial twice; exclusive bits may not */
    if (strcmp(sort, "extreme") != 0)
        o.initial = NULL;
    values = fold_by(values, name, p->label, p->row->extent[0], &o);
    return rd_cast_to(fold_by(values, name, p->row, n_group, &rest), type);
}

/* Folds the values of the stored places by group, over places and the other reduced axes.  The
 * plain fold decides the type and what is refused, also if pieces of long rows then replace it.
 * The result has x's axis order. */
static rd_expr *fold_values(const folded *z, const char *name, rd_expr *values,
                            const rd_reduce_opts *opts)
{
    const rd_shape groups  = groups_of(z);
    const int64_t  n_group = rd_points(groups.n, groups.at);
    rd_reduce_opts o       = *opts;
    rd_expr       *label   = NULL, *y;

    if (n_group < 0) {
        char shape[RD_SHAPE_TEXT];

        return rd_fail(z->x->ctx, RD_ERR_SHAPE, "%s: the size of a result of shape %s overflows",
                       z->call, rd_shape_text(groups.n, groups.at, shape));
    }
    if (!values || (groups.n && !(label = label_of(z, n_group))))
        return NULL;
    o.dims = dims_of_values(z);
    y      = label ? fold_by(values, name, label, n_group, &o) : fold_real(values, name, &o);
    if (y && label && label->pieces && can_fold_pieces(name, opts))
        y = fold_pieces(name, values, label->pieces, n_group, &o, y->type);
    return in_axis_order(z, y);
}

/* A constant of a type. */
static rd_expr *number(const folded *z, rd_dtype type, double value)
{
    return rd_number(z->x->ctx, type, rd_word_from_double(value, type));
}

/* A constant of i64. */
static rd_expr *int_number(const folded *z, int64_t value)
{
    return rd_number(z->x->ctx, RD_I64, rd_word_from_int(value, RD_I64));
}

/* Counts the stored elements of each result for which `is`, a bool of the values' shape, is
 * true; NULL: all.  A result with a false `where` counts none. */
static rd_expr *count_stored(const folded *z, rd_expr *is, rd_expr *where)
{
    const rd_reduce_opts plain  = { .size = sizeof plain, .where = where };
    const rd_expr *const values = rd_values_of(z->x);

    is = is ? rd_cast_to(is, RD_I64)
            : rd_broadcast_to(int_number(z, 1), values->rank, values->extent, z->call);
    return fold_values(z, "sum", is, &plain);
}

/* The number of elements of each result that are not stored: its n elements less all stored ones
 * (no condition, no mask). */
static rd_expr *count_fills(const folded *z)
{
    return map_2(RD_OP_sub, z->call, int_number(z, z->n), count_stored(z, NULL, /*where=*/NULL));
}

/* Removes the reduced axes of y, along which its elements do not differ. */
static rd_expr *drop_axes(const folded *z, rd_expr *y)
{
    for (int a = z->x->rank; a-- > 0 && y;)
        if (is_reduced(z, a))
            y = rd_select_place(y, a, 0);
    return y;
}

/* Reads y at the stored places.  A product is built of its factors there, which the values are
 * built of, too, so nothing is looked up twice. */
static rd_expr *factor_at_stored(const folded *z, rd_expr *y)
{
    if (y->kind == RD_EXPR_MAP && y->op == RD_OP_mul && !rd_has_pattern(y)) {
        rd_expr *const a = factor_at_stored(z, y->in[0]), *const b = factor_at_stored(z, y->in[1]);

        return map_2(RD_OP_mul, z->call, a, b);
    }
    return rd_at_stored(z->x, y, z->call);
}

/* True if any of the counts is not 0: a bool for all results together. */
static rd_expr *any_positive(const folded *z, rd_expr *counts)
{
    const rd_reduce_opts plain = { .size = sizeof plain, .dims = RD_ALL };

    counts = map_2(RD_OP_gt, z->call, counts, rd_int(z->x->ctx, 0));
    return counts && counts->rank > 0 ? fold_real(counts, "any", &plain) : counts;
}

/* True for each result that has a NaN among its fills, which are 0 or NaN: more NaN in all than at
 * stored places.  Usually there are none at all, and stored places are not counted. */
static rd_expr *has_nan(const folded *z)
{
    rd_expr *const fill = rd_slim(rd_fill_of(z->x));
    rd_expr       *all  = rd_cast_to(map_1(RD_OP_isnan, z->call, fill), RD_I64), *stored;
    rd_reduce_opts o    = { .size = sizeof o };
    int64_t        each = 1;

    for (int a = 0; all && a < z->x->rank; a++)
        if (is_reduced(z, a)) {
            o.dims.axis[o.dims.n++] = a;
            each *= fill->extent[a] == 1 ? z->x->extent[a] : 1;
        }
    o.dims.flags = RD_DIMS_KEEP;
    all          = drop_axes(z, all ? fold_real(all, "sum", &o) : NULL);
    all          = map_2(RD_OP_mul, z->call, all, int_number(z, each));
    stored       = factor_at_stored(z, rd_fill_of(z->x));
    stored       = count_stored(z, map_1(RD_OP_isnan, z->call, stored), any_positive(z, all));
    return map_2(RD_OP_gt, z->call, all, stored);
}

/* Takes `with` for each result with an element that is not stored, else y. */
static rd_expr *where_filled(const folded *z, rd_expr *with, rd_expr *y)
{
    return map_where(z->call, map_2(RD_OP_gt, z->call, count_fills(z), rd_int(z->x->ctx, 0)), with,
                     y);
}

/* The fill of each result in y's type; NULL given NULL. */
static rd_expr *fill_as(const folded *z, const rd_expr *y)
{
    return y ? rd_cast_to(z->fill, y->type) : NULL;
}

/* ---- Reductions of another operand, or of all places ----------------------------------------- */
/* Reduces another operand, made of x, at all places, with the call's keywords and `type`. */
static rd_expr *reduce_other(const folded *z, rd_expr *x, const char *name, rd_dtype type)
{
    rd_reduce_opts o = z->opts;

    o.dims.flags &= ~(uint32_t)RD_DIMS_KEEP;
    o.type = type;
    o.p    = 0;
    return x ? fold_real(x, name, &o) : NULL;
}

/* Makes a mask or weights dense; NULL after recording that nothing is at some places. */
static rd_expr *keyword_at_all_places(const folded *z, rd_expr *x)
{
    return rd_is_complex(x) ? rd_dense(x) : rd_at_all_places(x, z->call);
}

/* Looks up mask and weights at all places.  False after recording a failure. */
static bool keywords_at_all_places(const folded *z, rd_reduce_opts *o)
{
    *o = z->opts;
    return (!o->where || (o->where = keyword_at_all_places(z, o->where))) &&
           (!o->weights || (o->weights = keyword_at_all_places(z, o->weights)));
}

/* Reduces a dense x over `dims`, with the call's keywords looked up at all places. */
static rd_expr *fold_at_all_places(const folded *z, rd_expr *x, const rd_dims *dims)
{
    rd_reduce_opts o;

    if (!x || !keywords_at_all_places(z, &o))
        return NULL;
    o.dims = *dims;
    return fold_real(x, z->name, &o);
}

/* Reduces x after looking up all of its places: the way for cases without a closed form. */
static rd_expr *at_all_places(const folded *z)
{
    rd_dims dims = z->opts.dims;

    dims.flags &= ~(uint32_t)RD_DIMS_KEEP; /* the caller puts these axes back */
    return fold_at_all_places(z, rd_at_all_places(z->x, z->call), &dims);
}

/* The type of a mean: floats keep theirs, ints have f64. */
static rd_dtype float_type(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT ? type : RD_F64;
}

/* The type in which fills are counted and multiplied, as narrow types cannot hold their number. */
static rd_dtype counting_type(rd_dtype type)
{
    const rd_kind kind = rd_dtype_kind(type);

    return kind == RD_KIND_FLOAT ? RD_F64 : kind == RD_KIND_UINT ? RD_U64 : RD_I64;
}

/* True if the reduction takes these keywords for a dense array; else it has recorded what is wrong.
 * The caller replaces the reduction by another one, which would not refuse them. */
static bool keywords_ok(const folded *z)
{
    return fold_values(z, z->name, rd_values_of(z->x), &z->opts) != NULL;
}

/* True if the result is cast from float to int at its end: stored sums would be rounded before
 * fills are added. */
static bool ends_as_int(const folded *z, rd_dtype natural)
{
    return z->opts.type && rd_dtype_kind(natural) == RD_KIND_FLOAT &&
           rd_dtype_kind(z->opts.type) != RD_KIND_FLOAT;
}

/* True if an int result is cast to bool at its end: stored elements and fills might cancel, or
 * have different bits. */
static bool ends_as_bool(const folded *z)
{
    return z->opts.type == RD_BOOL && rd_dtype_kind(z->x->type) != RD_KIND_FLOAT;
}

/* Makes the reduction by `merge` without a type, then casts it to bool. */
static rd_expr *as_bool(const folded *z, rd_expr *merge(const folded *))
{
    folded whole = *z;

    whole.opts.type = 0;
    return rd_cast_to(merge(&whole), RD_BOOL);
}

/* ---- A function for each sort of reduction in reducers.def ----------------------------------- */
/* Makes sum and prod. sum: stored + fill * count. prod: stored * fill ^ count.  Differing fills,
 * halves, and floats that end as ints go by all places. */
static rd_expr *merge_total(const folded *z)
{
    rd_expr *y, *m, *all;

    if (ends_as_bool(z))
        return as_bool(z, merge_total);
    y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);
    if (z->zero == RD_ZERO && rd_reducer_ignores(z->reducer, 0))
        return y;
    if (z->zero == RD_ZERO_OR_NAN && rd_reducer_ignores(z->reducer, 0) && y)
        return map_where(z->call, has_nan(z), number(z, y->type, NAN), y);
    if (!z->fill || (y && rd_dtype_is_narrow_float(y->type)) || ends_as_int(z, z->x->type))
        return at_all_places(z);
    const rd_dtype type = y ? counting_type(y->type) : RD_F64;
    m                   = rd_cast_to(count_fills(z), type);
    all = map_2(rd_reducer_adds_elements(z->reducer) ? RD_OP_mul : RD_OP_pow, z->call,
                rd_cast_to(fill_as(z, y), type), m);
    all = y ? rd_cast_to(all, y->type) : NULL;
    all = map_2(rd_reducer_table[z->reducer].op, z->call, y, all);
    return where_filled(z, y ? rd_cast_to(all, y->type) : NULL, y);
}

/* Makes min and max: the extreme of the stored elements and the fill.  Without stored elements the
 * fold gives the worst value of the type, which any element replaces. */
static rd_expr *merge_extreme(const folded *z)
{
    const rd_op    op     = rd_reducer_table[z->reducer].op;
    const bool     is_max = op == RD_OP_maximum;
    rd_reduce_opts o      = z->opts;
    rd_expr       *y, *full;

    if (!z->fill || z->opts.type)
        return at_all_places(z);
    o.initial = rd_number(z->x->ctx, z->x->type, rd_word_end(z->x->type, !is_max));
    y         = fold_values(z, z->name, rd_values_of(z->x), &o);
    full      = z->opts.skip_nan && rd_dtype_kind(z->x->type) == RD_KIND_FLOAT
               /* where no fill is left: all stored ones may be NaN */
                    ? fold_values(z, z->name, rd_values_of(z->x), &z->opts)
                    : y;
    y         = where_filled(z, map_2(op, z->call, y, fill_as(z, y)), full);
    if (!z->opts.initial || !y)
        return y;
    rd_expr *const initial = rd_fit_to(z->opts.initial, y->type, z->call);
    return initial ? map_2(op, z->call, y, initial) : NULL;
}

/* Makes any and all: the stored elements and the fill combined. */
static rd_expr *merge_truth(const folded *z)
{
    rd_expr *const y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);

    if (z->zero == RD_ZERO && rd_reducer_ignores(z->reducer, 0))
        return y;
    if (!z->fill)
        return at_all_places(z);
    rd_expr *const with =
        map_2(rd_reducer_table[z->reducer].op, z->call, y, rd_cast_to(z->fill, RD_BOOL));
    return where_filled(z, y ? rd_cast_to(with, y->type) : NULL, y);
}

/* Makes bitwise reductions. and and or are not changed by repeated fills; xor goes by all
 * places. */
static rd_expr *merge_bits(const folded *z)
{
    if (ends_as_bool(z))
        return as_bool(z, merge_bits);
    rd_expr *const y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);

    if (!z->fill || !rd_reducer_is_idempotent(z->reducer))
        return at_all_places(z);
    return where_filled(z, map_2(rd_reducer_table[z->reducer].op, z->call, y, fill_as(z, y)), y);
}

/* Counts the elements that are not 0, as a sum of bools. */
static rd_expr *merge_count(const folded *z)
{
    if (z->opts.skip_nan) /* cast to bool, NaN would count */
        return at_all_places(z);
    if (!keywords_ok(z))
        return NULL;
    return reduce_other(z, rd_cast_to(rd_cast_to(z->x, RD_BOOL), RD_I64), "sum", z->opts.type);
}

/* Makes the mean as a sum over the count, in a type wide enough. */
static rd_expr *merge_mean(const folded *z)
{
    const rd_dtype natural = float_type(z->x->type);
    const rd_dtype asked   = z->opts.type ? z->opts.type : natural;
    rd_dtype       type    = rd_dtype_promote(natural, asked);

    if (z->opts.skip_nan)
        return at_all_places(z);
    if (!keywords_ok(z))
        return NULL;
    type               = rd_dtype_is_narrow_float(type) ? RD_F32 : type;
    rd_expr *const sum = reduce_other(z, rd_cast_to(z->x, natural), "sum", type);
    return rd_cast_to(map_2(RD_OP_div, z->call, sum, number(z, type, (double)z->n)), asked);
}

/* The number 0, or NaN where the fill of a result is not finite. */
static rd_expr *nan_unless_finite(const folded *z)
{
    rd_expr *const fill = rd_cast_to(z->fill, RD_F64);

    return map_2(RD_OP_sub, z->call, fill, fill);
}

/* Combines the moments of stored elements with those of n equal fills, the elements that are not
 * stored (Chan, Golub and LeVeque 1979). m is the number of fills.  `delta` becomes what their
 * distance from the mean of the stored elements adds. */
static rd_expr *merge_moments(const folded *z, rd_dtype asked)
{
    folded         q = *z;
    rd_reduce_opts o = { .size = sizeof o };
    const double   d = (double)z->n - z->opts.ddof;
    rd_expr       *n, *m, *mean, *square, *delta;

    if (!keywords_ok(z) || !(q.x = rd_cast_to(z->x, RD_F64)))
        return NULL;
    n      = rd_cast_to(count_stored(z, NULL, /*where=*/NULL), RD_F64);
    m      = map_2(RD_OP_sub, z->call, number(z, RD_F64, (double)z->n), n);
    mean   = fold_values(&q, "mean", rd_values_of(q.x), &o);
    square = map_2(RD_OP_mul, z->call, fold_values(&q, "var", rd_values_of(q.x), &o), n);
    delta  = map_2(RD_OP_sub, z->call, mean, rd_cast_to(z->fill, RD_F64));
    delta  = map_2(RD_OP_mul, z->call, delta, delta);
    m = map_2(RD_OP_mul, z->call, m, map_2(RD_OP_div, z->call, n, number(z, RD_F64, (double)z->n)));
    delta = map_where(
        z->call, map_2(RD_OP_gt, z->call, m, rd_int(z->x->ctx, 0)),
        map_2(RD_OP_add, z->call, map_2(RD_OP_mul, z->call, delta, m), nan_unless_finite(z)),
        number(z, RD_F64, 0));
    square = map_where(z->call, map_2(RD_OP_gt, z->call, n, rd_int(z->x->ctx, 0)),
                       map_2(RD_OP_add, z->call, square, delta), nan_unless_finite(z));
    square = map_2(RD_OP_div, z->call, square, number(z, RD_F64, d > 0 ? d : NAN));
    return rd_cast_to(!strcmp(z->name, "std") ? map_1(RD_OP_sqrt, z->call, square) : square, asked);
}

/* Makes var, std and logsumexp with one fill per result. logsumexp: logaddexp(stored, fill +
 * log(count)). */
static rd_expr *merge_weighted(const folded *z)
{
    const rd_dtype natural = float_type(z->x->type);
    rd_expr       *y, *m;

    if (!z->fill || z->opts.skip_nan ||
        (rd_reducer_takes_exponential(z->reducer) && ends_as_int(z, natural)) ||
        (z->reducer != RD_RED_moments && !rd_reducer_takes_exponential(z->reducer)))
        return at_all_places(z);
    if (z->reducer == RD_RED_moments)
        return merge_moments(z, z->opts.type ? z->opts.type : natural);
    y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);
    m = map_1(RD_OP_log, z->call, rd_cast_to(count_fills(z), RD_F64));
    m = map_2(RD_OP_add, z->call, rd_cast_to(z->fill, RD_F64), m);
    m = y ? map_2(RD_OP_logaddexp, z->call, rd_cast_to(y, RD_F64), m) : NULL;
    return where_filled(z, y ? rd_cast_to(m, y->type) : NULL, y);
}

/* Makes norms 1 and 2 as sums of |x| or x^2 of all elements. */
static rd_expr *merge_norm(const folded *z)
{
    const rd_dtype natural = float_type(z->x->type), asked = z->opts.type ? z->opts.type : natural;
    const double   p    = z->opts.p != 0 ? z->opts.p : 2;
    rd_dtype       type = rd_dtype_promote(natural, asked);
    rd_expr       *x;

    if ((p != 1 && p != 2) || z->opts.skip_nan)
        return at_all_places(z);
    if (!keywords_ok(z))
        return NULL;
    type = rd_dtype_is_narrow_float(type) ? RD_F32 : type;
    x    = map_1(p == 2 ? RD_OP_square : RD_OP_abs, z->call, rd_cast_to(z->x, type));
    x    = reduce_other(z, x, "sum", type);
    return rd_cast_to(p == 2 ? map_1(RD_OP_sqrt, z->call, x) : x, asked);
}

/* Makes argmin and argmax, by all places. */
static rd_expr *merge_place(const folded *z)
{
    return at_all_places(z);
}

/* A row of the table of reductions. */
typedef struct reduction {
    const char   *name, *call, *sort;
    rd_reducer_id reducer;
    rd_expr *(*merge)(const folded *z);
} reduction;

/* Finds a reduction by name in the table; the name is in reducers.def. */
static const reduction *reduction_of(const char *name)
{
    static const reduction all[] = {
#define RD_REDUCTION(name, sort, reducer, ...) \
    { #name, "rd_" #name, #sort, RD_RED_##reducer, merge_##sort },
#include "core/reducers.def"
    };
    size_t k = 0;

    while (strcmp(all[k].name, name) != 0)
        k++;
    return &all[k];
}

/* The sort of a reduction, as reducers.def names it: "total", "extreme" and so on. */
static const char *sort_of(const char *name)
{
    return reduction_of(name)->sort;
}

/* ---- Over axes that the pattern lacks -------------------------------------------------------- */
/* Reads a mask or weights at the stored places; NULL given NULL.  A complex one is cast first, so
 * that only one real array is looked up. */
static rd_expr *keyword_at_stored(const folded *z, rd_expr *beside, rd_dtype type)
{
    if (beside)
        beside = rd_cast_to(beside, rd_is_complex(beside) ? type : beside->type);
    beside = beside ? rd_broadcast_to(beside, z->x->rank, z->x->extent, z->call) : NULL;
    return beside ? rd_at_stored(z->x, beside, z->call) : NULL;
}

/* Reduces axes without coordinates only: the result has x's pattern, with values and fill reduced.
 * `other` is the axis of the values; their axis 0 goes through the places. */
static rd_expr *fold_others(const folded *z)
{
    const bool     keep = z->opts.dims.flags & RD_DIMS_KEEP;
    rd_reduce_opts o    = z->opts;
    int64_t        extent[RD_MAX_RANK], axis[RD_MAX_RANK];
    const int      n    = rd_coords_of(z->x);
    int            rank = 0, other = 0;
    rd_expr       *values, *fill   = rd_fill_of(z->x);

    o.dims = (rd_dims){ .flags = z->opts.dims.flags & RD_DIMS_KEEP };
    for (int a = 0; a < z->x->rank; a++) {
        const int k = rd_coord_of_axis(z->x, a);

        other += k < 0;
        if (is_reduced(z, a))
            o.dims.axis[o.dims.n++] = other;
        if (k >= 0)
            axis[k] = rank;
        if (!is_reduced(z, a) || keep)
            extent[rank++] = is_reduced(z, a) ? 1 : z->x->extent[a];
    }
    o.where   = keyword_at_stored(z, z->opts.where, RD_BOOL);
    o.weights = keyword_at_stored(z, z->opts.weights, float_type(z->x->type));
    values    = fold_real(rd_values_of(z->x), z->name, &o);
    fill      = fill ? fold_at_all_places(z, fill, &z->opts.dims) : NULL;
    if (!values || (!fill && rd_fill_of(z->x)))
        return NULL;
    return rd_sparse_node(values, fill, rank, extent, n, z->x->in + 2, axis);
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* Gives y the reduced axes with extent 1, if the caller asked to keep them. */
static rd_expr *as_asked(const folded *z, rd_expr *y)
{
    for (int a = 0; a < z->x->rank && y && z->opts.dims.flags & RD_DIMS_KEEP; a++)
        if (is_reduced(z, a))
            y = rd_expand(y, a);
    return y;
}

/* Reduces a .stored x without any stored place: the dense array by a mask that is false
 * everywhere. */
static rd_expr *fold_empty(const folded *z)
{
    folded q = *z;

    q.x          = rd_dense(z->x);
    q.opts.where = rd_number(z->x->ctx, RD_BOOL, (rd_word){ 0 });
    return at_all_places(&q);
}

/* True if all reduced axes have coordinates, and the places of each result ascend with their flat
 * indices along these axes.  Then the first extreme among stored elements is the first one in x. */
static bool has_ascending_indices(const folded *z)
{
    int64_t last = -1;

    for (int a = 0; a < z->x->rank; a++)
        if (is_reduced(z, a) && !is_coord(z, a))
            return false;
    for (int k = 0; k < rd_coords_of(z->x); k++) {
        const int64_t axis = z->x->as.sparse->axis[k];

        if (is_reduced(z, (int)axis) && axis < last)
            return false;
        last = is_reduced(z, (int)axis) ? axis : last;
    }
    return true;
}

/* Converts numbers of stored elements to flat indices along the reduced axes; -1 stays. */
static rd_expr *indices_of(const folded *z, rd_expr *number)
{
    rd_expr *const flat = coords_as_one(z, /*reduced=*/true, RD_I64);

    if (!number || !flat)
        return NULL;
    rd_expr *const zero  = rd_int(z->x->ctx, 0);
    rd_expr *const some  = map_2(RD_OP_ge, z->call, number, zero);
    rd_expr *const there = rd_take_places(flat, 0, map_2(RD_OP_maximum, z->call, number, zero));

    return map_where(z->call, some, there, rd_int(z->x->ctx, -1));
}

/* Reduces a .stored x: nothing but stored elements counts.  A place among these becomes a flat
 * index along the reduced axes. */
static rd_expr *fold_stored_alone(const folded *z)
{
    rd_reduce_opts o = z->opts;

    if (rd_reducer_places(z->reducer) && !has_ascending_indices(z))
        return rd_fail(z->x->ctx, RD_ERR_TYPE,
                       "%s: of stored elements alone, places are along axes of the pattern, in its "
                       "order; rd_stored() has the elements",
                       z->call);
    if (rd_values_of(z->x)->extent[0] == 0)
        return fold_empty(z);
    o.where   = keyword_at_stored(z, z->opts.where, RD_BOOL);
    o.weights = keyword_at_stored(z, z->opts.weights, float_type(z->x->type));
    if ((z->opts.where && !o.where) || (z->opts.weights && !o.weights))
        return NULL;
    rd_expr *y = fold_values(z, z->name, rd_values_of(z->x), &o);
    if (!rd_reducer_places(z->reducer) || !y)
        return y;
    o.type = RD_I64; /* element numbers; the type asked for may be too narrow */
    y      = indices_of(z, z->opts.type ? fold_values(z, z->name, rd_values_of(z->x), &o) : y);
    return z->opts.type ? rd_cast_to(y, z->opts.type) : y;
}

/* Fills in the reduced axes, and what is known of the fills; false after recording what is wrong.
 * The fill counts only if a coordinate is reduced. */
static bool find_axes(folded *z)
{
    uint64_t coords = 0;

    if (!rd_dims_bits(z->x, &z->opts.dims, z->call, &z->bits))
        return false;
    z->n = 1;
    for (int a = 0; a < z->x->rank; a++) {
        z->n *= is_reduced(z, a) ? z->x->extent[a] : 1;
        coords |= (uint64_t)is_coord(z, a) << a;
    }
    if (!rd_fill_of(z->x) || !(z->bits & coords) || z->n == 0)
        return true;
    z->zero = rd_zero_of(rd_fill_of(z->x));
    if (!(rd_varies(rd_fill_of(z->x)) & z->bits))
        z->fill = drop_axes(z, rd_fill_of(z->x));
    return true;
}

/* True if an axis with coordinates is reduced. */
static bool has_coords(const folded *z)
{
    for (int k = 0; k < rd_coords_of(z->x); k++)
        if (is_reduced(z, (int)z->x->as.sparse->axis[k]))
            return true;
    return false;
}

/* Reduces x, with origins of 0.  It chooses among four ways: no coordinates are reduced, x is
 * .stored, all places are looked up, or `merge`, the closed form for this sort of reduction. */
static rd_expr *fold(folded *z, rd_expr *merge(const folded *))
{
    if (!find_axes(z))
        return NULL;
    if (!has_coords(z))
        return fold_others(z);
    if (!rd_fill_of(z->x))
        return as_asked(z, fold_stored_alone(z));
    if (z->opts.where || z->opts.weights || rd_values_of(z->x)->extent[0] == 0 || z->n == 0 ||
        (z->opts.skip_nan && z->zero != RD_ZERO))
        return as_asked(z, at_all_places(z));
    return as_asked(z, merge(z));
}

/* ---- Origins --------------------------------------------------------------------------------- */
/* Replaces x, mask and weights by ones with origins of 0.  False after recording that they cover
 * different indices. */
static bool begin_at_0(folded *z)
{
    rd_expr **const beside[] = { &z->opts.where, &z->opts.weights };

    for (int k = 0; k < 2; k++)
        if (*beside[k] && (*beside[k])->ctx == z->x->ctx &&
            (!rd_ranges_meet(z->call, 2, (rd_expr *const[]){ z->x, *beside[k] }) ||
             !rd_from_0(1, beside[k])))
            return false;
    return rd_from_0(1, &z->x);
}

/* Reduces an x with origins, which count from 0 meanwhile and are restored at the end.  A place
 * along a single axis becomes its index. */
static rd_expr *fold_indices(folded *z, rd_expr *merge(const folded *))
{
    const rd_expr *const x                   = z->x;
    const rd_dtype       type                = z->opts.type;
    const bool           keep                = z->opts.dims.flags & RD_DIMS_KEEP;
    int64_t              origin[RD_MAX_RANK] = { 0 };
    int                  n                   = 0;
    rd_expr             *y;

    if (!begin_at_0(z))
        return NULL;
    const bool whole = rd_reducer_places(z->reducer) && rd_dtype_is_real(type);

    if (whole) /* the type asked for may be too narrow for places */
        z->opts.type = 0;
    y = fold(z, merge);
    if (y && rd_reducer_places(z->reducer) && __builtin_popcountll(z->bits) == 1)
        y = rd_indices_of(y, x, __builtin_ctzll(z->bits));
    if (whole)
        y = rd_cast_to(y, type);
    for (int a = 0; a < x->rank; a++) {
        if (!is_reduced(z, a))
            origin[n] = rd_origin(x, a);
        n += keep || !is_reduced(z, a);
    }
    return rd_with_origins(y, origin);
}

/* Reduces a SPARSE x by name: reads the options and chooses the function for this sort of
 * reduction. Groups (by, groups) are looked up at all places. Axes that do not begin at 0 (origin)
 * need care where results are indices. */
static rd_expr *sparse_reduce(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    const reduction *const row = reduction_of(name);
    folded                 z = { .call = row->call, .name = name, .reducer = row->reducer, .x = x };
    const size_t           size =
        opts && opts->size && opts->size < sizeof z.opts ? opts->size : sizeof z.opts;

    if (!opts)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", z.call);
    memcpy(&z.opts, opts, size);
    z.opts.size = sizeof z.opts;
    if (z.opts.by.n || z.opts.groups.n)
        return fold_at_all_places(&z, rd_at_all_places(x, z.call), &z.opts.dims);
    if (!x->origin)
        return fold(&z, row->merge);
    return fold_indices(&z, row->merge);
}

/* ---- Real operands --------------------------------------------------------------------------- */
/* Reduces a real x by name, plain or sparse.  A product that is computed on demand is computed
 * first. */
rd_expr *rd_real_reduce(const char *call, rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    x = rd_listed(x);
    if (!x || !rd_has_pattern(x))
        return rd_plain_reduce(call, x, name, opts);
    return rd_reduction_call(call ? call : "rd_reduce", x, name) ? sparse_reduce(x, name, opts)
                                                                 : NULL;
}

/* Scans a real x by name; a sparse x becomes dense. */
rd_expr *rd_real_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    x = rd_at_all_places(x, "rd_scan");
    return x ? rd_plain_scan(x, name, opts) : NULL;
}

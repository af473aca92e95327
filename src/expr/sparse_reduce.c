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

/* Reduces a real x by name, with these options instead of the call's; messages name that reducer's
 * own call (call NULL). */
static rd_expr *fold_real(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    return rd_real_reduce(/*call=*/NULL, x, name, opts);
}

/* ---- Stored elements ------------------------------------------------------------------------- */
/* True if the reduction goes over this axis. */
static bool is_reduced(const folded *z, int axis)
{
    return z->bits >> axis & 1;
}

/* True if the pattern (list of stored positions) has a coordinate along the axis; other axes are
 * dense. */
static bool is_coord(const folded *z, int axis)
{
    return rd_coord_of_axis(z->x, axis) >= 0;
}

/* The number of coordinates along axes that are not reduced, if these are the first ones of the
 * pattern, so that positions with equal ones are adjacent; else 0. */
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

/* The shape of the results along axes with coordinates: each such position is a group of stored
 * elements that are reduced together.  Axes that have coordinates and are not reduced, in the
 * coordinates' order. */
static rd_shape groups_of(const folded *z)
{
    rd_shape groups = { 0 };

    for (int k = 0; k < rd_coords_of(z->x); k++)
        if (!is_reduced(z, (int)z->x->as.sparse->axis[k]))
            groups.at[groups.n++] = z->x->extent[z->x->as.sparse->axis[k]];
    return groups;
}

/* The coordinates along the reduced axes, or along the others, as one row-major number for each
 * stored position.  NULL after a failure, or if there is none of these. */
static rd_expr *coords_as_one(const folded *z, bool reduced, rd_dtype type)
{
    rd_expr *flat = NULL;

    for (int k = 0; k < rd_coords_of(z->x); k++) {
        const int64_t axis = z->x->as.sparse->axis[k];

        if (is_reduced(z, (int)axis) != reduced)
            continue;
        rd_expr *const row = rd_cast_to(z->x->in[2 + k], type);
        if (flat)
            flat = map_2(RD_OP_mul, z->call, flat, rd_int(z->x->ctx, z->x->extent[axis]));
        flat = flat ? map_2(RD_OP_add, z->call, flat, row) : row;
        if (!flat)
            return NULL;
    }
    return flat;
}

/* Makes for each stored element the label of its group, below n_group: its row-major position along
 * the axes that are not reduced.  If these are the first ones of the pattern the labels ascend and
 * are a leaf, else they are computed for each element.  All are in range, so no test is needed. */
static rd_expr *label_of(const folded *z, int64_t n_group)
{
    const int n   = count_leading(z);
    rd_expr  *row = NULL;

    if (n > 1 && !rd_leading_row(z->x, n, z->call, &row))
        return NULL;
    return row ? row : coords_as_one(z, /*reduced=*/false, n_group <= INT32_MAX ? RD_I32 : RD_I64);
}

/* The reduced axes of the array of values: axis 0, along which stored elements lie, and the reduced
 * axes without coordinates, which follow it. */
static rd_dims dims_of_values(const folded *z)
{
    rd_dims dims = { .n = 1 };
    int     axis = 0; /* of the values */

    for (int a = 0; a < z->x->rank; a++) {
        axis += !is_coord(z, a);
        if (!is_coord(z, a) && is_reduced(z, a))
            dims.axis[dims.n++] = axis;
    }
    return dims;
}

/* Gives y, the results of folded values, the axes of x that are not reduced, in x's order. y has
 * all groups (results along axes with coordinates) as its first axis, which is split, and then the
 * dense axes. */
static rd_expr *in_axis_order(const folded *z, rd_expr *y)
{
    rd_shape shape = groups_of(z);
    rd_index order = { 0 };
    /* coord[k]: 1 + the axis of y that coordinate k becomes; other: the next dense axis of y */
    int coord[RD_MAX_RANK], other = shape.n, n = 0;

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

/* Reduces the first axis of x by a label below n_group for each of its elements: stored elements by
 * their group (result), or pieces of matrix rows by their row. */
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

/* True if folding pieces of long matrix rows first, and then their results, gives the fold of all
 * stored elements.  A sum (sort "total") may take another order if its accuracy allows, without a
 * start (.initial), and in a float type if one is asked for.  Extremes, truth and bits are the same
 * in any order. */
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

/* Folds in two steps for long matrix rows: first each piece of a row, in a type that loses nothing,
 * then the pieces of each row.  `type` is the result's. p->label says which piece a value is in,
 * p->row which row a piece is of. */
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

/* Reduces an array of values, one for each stored position, by group (the result that it counts
 * for) and over reduced dense axes.  If long rows are cut into pieces, these replace the fold; the
 * plain fold still decides the type and what is refused.  The result has x's axis order. */
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
    /* The label's leaf knows pieces of long rows. */
    if (y && label && label->pieces && can_fold_pieces(name, opts))
        y = fold_pieces(name, values, label->pieces, n_group, &o, y->type);
    return in_axis_order(z, y);
}

/* A constant of rank 0 with this type and value. */
static rd_expr *number(const folded *z, rd_dtype type, double value)
{
    return rd_number(z->x->ctx, type, rd_word_from_double(value, type));
}

/* A constant of rank 0 and type i64. */
static rd_expr *int_number(const folded *z, int64_t value)
{
    return rd_number(z->x->ctx, RD_I64, rd_word_from_int(value, RD_I64));
}

/* Counts the stored elements of each result for which `is`, a bool for each stored value, is true;
 * NULL: all of them.  `where`: a mask of the count, or NULL. */
static rd_expr *count_stored(const folded *z, rd_expr *is, rd_expr *where)
{
    const rd_reduce_opts plain  = { .size = sizeof plain, .where = where };
    const rd_expr *const values = rd_values_of(z->x);

    is = is ? rd_cast_to(is, RD_I64)
            : rd_broadcast_to(int_number(z, 1), values->rank, values->extent, z->call);
    return fold_values(z, "sum", is, &plain);
}

/* The number of elements of each result that are not stored: its n elements less the stored ones,
 * for all of which neither condition nor mask is given. */
static rd_expr *count_fills(const folded *z)
{
    return map_2(RD_OP_sub, z->call, int_number(z, z->n),
                 count_stored(z, /*is=*/NULL, /*where=*/NULL));
}

/* Removes the reduced axes of y by taking index 0: its elements do not differ along them. */
static rd_expr *drop_axes(const folded *z, rd_expr *y)
{
    for (int a = z->x->rank; a-- > 0 && y;)
        if (is_reduced(z, a))
            y = rd_select_place(y, a, 0);
    return y;
}

/* Reads y at the stored positions of x.  Of a product a * b the factors are read there and
 * multiplied: x's values are built of the same reads, so nothing is looked up twice. */
static rd_expr *factor_at_stored(const folded *z, rd_expr *y)
{
    if (y->kind == RD_EXPR_MAP && y->op == RD_OP_mul && !rd_has_pattern(y)) {
        rd_expr *const a = factor_at_stored(z, y->in[0]), *const b = factor_at_stored(z, y->in[1]);

        return map_2(RD_OP_mul, z->call, a, b);
    }
    return rd_at_stored(z->x, y, z->call);
}

/* Returns a bool scalar: true if any of the counts is above 0. */
static rd_expr *any_positive(const folded *z, rd_expr *counts)
{
    const rd_reduce_opts plain = { .size = sizeof plain, .dims = RD_ALL };

    counts = map_2(RD_OP_gt, z->call, counts, rd_int(z->x->ctx, 0));
    return counts && counts->rank > 0 ? fold_real(counts, "any", &plain) : counts;
}

/* True for each result that has a NaN where nothing is stored; fills there are 0 or NaN.  It has
 * one if fills have more NaN at all positions than at the stored ones.  Usually fills have none,
 * and the mask any_positive() saves the second count. */
static rd_expr *has_nan(const folded *z)
{
    rd_expr *const fill = rd_slim(rd_fill_of(z->x));
    rd_expr       *all  = rd_cast_to(map_1(RD_OP_isnan, z->call, fill), RD_I64), *stored;
    rd_reduce_opts o    = { .size = sizeof o };
    int64_t        each = 1;

    for (int a = 0; all && a < z->x->rank; a++)
        if (is_reduced(z, a)) {
            o.dims.axis[o.dims.n++] = a;
            /* rd_slim() dropped repeats: an axis of extent 1 stands for all of x's. */
            each *= fill->extent[a] == 1 ? z->x->extent[a] : 1;
        }
    o.dims.flags = RD_DIMS_KEEP; /* drop_axes() removes them */
    all          = drop_axes(z, all ? fold_real(all, "sum", &o) : NULL);
    all          = map_2(RD_OP_mul, z->call, all, int_number(z, each));
    stored       = factor_at_stored(z, rd_fill_of(z->x));
    stored       = count_stored(z, map_1(RD_OP_isnan, z->call, stored), any_positive(z, all));
    return map_2(RD_OP_gt, z->call, all, stored);
}

/* Chooses `with` for each result that has an element which is not stored, so that the fill (its
 * value) counts, else y. */
static rd_expr *where_filled(const folded *z, rd_expr *with, rd_expr *y)
{
    return map_where(z->call, map_2(RD_OP_gt, z->call, count_fills(z), rd_int(z->x->ctx, 0)), with,
                     y);
}

/* The fill (the value where nothing is stored) that counts for each result, cast to y's type; NULL
 * given NULL. */
static rd_expr *fill_as(const folded *z, const rd_expr *y)
{
    return y ? rd_cast_to(z->fill, y->type) : NULL;
}

/* ---- Reductions of another operand, or of all places ----------------------------------------- */
/* Reduces x, an expression made of the call's operand, by another reducer with the call's keywords
 * and this type: a mean is a "sum" and a division.  `p` belongs to norms alone. */
static rd_expr *reduce_other(const folded *z, rd_expr *x, const char *name, rd_dtype type)
{
    rd_reduce_opts o = z->opts;

    o.dims.flags &= ~(uint32_t)RD_DIMS_KEEP;
    o.type = type;
    o.p    = 0;
    return x ? fold_real(x, name, &o) : NULL;
}

/* Makes a mask or weights dense; NULL after recording that some positions hold nothing (no
 * fill). */
static rd_expr *keyword_at_all_places(const folded *z, rd_expr *x)
{
    return rd_is_complex(x) ? rd_dense(x) : rd_at_all_places(x, z->call);
}

/* Copies the call's options to *o, with mask and weights made dense.  False after recording a
 * failure. */
static bool keywords_at_all_places(const folded *z, rd_reduce_opts *o)
{
    *o = z->opts;
    return (!o->where || (o->where = keyword_at_all_places(z, o->where))) &&
           (!o->weights || (o->weights = keyword_at_all_places(z, o->weights)));
}

/* Reduces a dense x over `dims` by the call's reducer, with mask and weights made dense. */
static rd_expr *fold_at_all_places(const folded *z, rd_expr *x, const rd_dims *dims)
{
    rd_reduce_opts o;

    if (!x || !keywords_at_all_places(z, &o))
        return NULL;
    o.dims = *dims;
    return fold_real(x, z->name, &o);
}

/* Makes x dense and reduces it: the way for cases without a closed form for fills. */
static rd_expr *at_all_places(const folded *z)
{
    rd_dims dims = z->opts.dims;

    dims.flags &= ~(uint32_t)RD_DIMS_KEEP; /* the caller puts these axes back */
    return fold_at_all_places(z, rd_at_all_places(z->x, z->call), &dims);
}

/* The type of a mean, deviation or norm: floats keep theirs, ints have f64. */
static rd_dtype float_type(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT ? type : RD_F64;
}

/* The widest type of the same kind, in which fills are counted and multiplied; narrow types cannot
 * hold their number. */
static rd_dtype counting_type(rd_dtype type)
{
    const rd_kind kind = rd_dtype_kind(type);

    return kind == RD_KIND_FLOAT ? RD_F64 : kind == RD_KIND_UINT ? RD_U64 : RD_I64;
}

/* True if the reduction takes these keywords for a dense array; else it has recorded what is wrong.
 * It makes the fold of the stored values just for this check: the caller uses another reduction,
 * which would not refuse them. */
static bool keywords_ok(const folded *z)
{
    return fold_values(z, z->name, rd_values_of(z->x), &z->opts) != NULL;
}

/* True if the caller asks for an int or bool result (.type) of a reduction whose own type is a
 * float.  Then stored sums would be rounded before fills are added. */
static bool ends_as_int(const folded *z, rd_dtype natural)
{
    return z->opts.type && rd_dtype_kind(natural) == RD_KIND_FLOAT &&
           rd_dtype_kind(z->opts.type) != RD_KIND_FLOAT;
}

/* True if the caller asks for a bool result of ints.  It must be cast at the end, since stored
 * elements and fills might cancel, or have different bits. */
static bool ends_as_bool(const folded *z)
{
    return z->opts.type == RD_BOOL && rd_dtype_kind(z->x->type) != RD_KIND_FLOAT;
}

/* Makes the reduction by `merge`, one of the functions below, in its own type, then casts it to
 * bool. */
static rd_expr *as_bool(const folded *z, rd_expr *merge(const folded *))
{
    folded whole = *z;

    whole.opts.type = 0;
    return rd_cast_to(merge(&whole), RD_BOOL);
}

/* ---- A function for each sort of reduction in reducers.def ----------------------------------- */
/* Makes sum and prod from a fold of the stored elements and the fill, the value of the others. sum:
 * stored + fill * count. prod: stored * fill ^ count.  Fills that differ within a result, narrow
 * floats, and floats that end as ints have no such form: x is made dense. */
static rd_expr *merge_total(const folded *z)
{
    rd_expr *y, *m, *all; /* the stored ones; count of fills; what all fills make */

    if (ends_as_bool(z))
        return as_bool(z, merge_total);
    y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);
    /* Fills of 0 do not change a sum. */
    if (z->zero == RD_ZERO && rd_reducer_ignores(z->reducer, 0))
        return y;
    /* Fills of a product with a dense vector: any NaN makes the sum NaN. */
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

/* Makes min and max: the extreme of the stored elements and the fill, the value of the others.  The
 * fold of stored elements starts with the worst value of the type, in case there is none.  A type
 * that is asked for, or fills that differ within a result, make x dense first. */
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

/* Makes any and all from a fold of the stored elements, combined once with the fill (the value of
 * the others) where a result has such elements.  Fills that differ within a result make x dense. */
static rd_expr *merge_truth(const folded *z)
{
    rd_expr *const y = fold_values(z, z->name, rd_values_of(z->x), &z->opts);

    if (z->zero == RD_ZERO && rd_reducer_ignores(z->reducer, 0))
        return y; /* zeros change nothing */
    if (!z->fill)
        return at_all_places(z);
    rd_expr *const with =
        map_2(rd_reducer_table[z->reducer].op, z->call, y, rd_cast_to(z->fill, RD_BOOL));
    return where_filled(z, y ? rd_cast_to(with, y->type) : NULL, y);
}

/* Makes bitwise reductions.  For and and or, the fill (the value of elements that are not stored)
 * counts once, as repeating it changes nothing; xor makes x dense. */
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

/* Makes the mean as a sum over the number of elements, in a type that holds both the caller's .type
 * and the operand's. */
static rd_expr *merge_mean(const folded *z)
{
    const rd_dtype natural = float_type(z->x->type);
    const rd_dtype asked   = z->opts.type ? z->opts.type : natural;
    rd_dtype       type    = rd_dtype_promote(natural, asked);

    if (z->opts.skip_nan)
        return at_all_places(z);
    if (!keywords_ok(z))
        return NULL;
    /* narrow floats cannot hold such sums */
    type               = rd_dtype_is_narrow_float(type) ? RD_F32 : type;
    rd_expr *const sum = reduce_other(z, rd_cast_to(z->x, natural), "sum", type);
    return rd_cast_to(map_2(RD_OP_div, z->call, sum, number(z, type, (double)z->n)), asked);
}

/* The number 0, or NaN where the fill (the value where nothing is stored) is not finite: fill -
 * fill. */
static rd_expr *nan_unless_finite(const folded *z)
{
    rd_expr *const fill = rd_cast_to(z->fill, RD_F64);

    return map_2(RD_OP_sub, z->call, fill, fill);
}

/* Makes var and std: combines the moments of the n stored elements with those of the m others,
 * which all equal the fill (Chan, Golub and LeVeque 1979).  The sum of squares about the mean is
 * that of the stored ones + (mean - fill)^2 * m n / (n + m).  It divides by z->n - ddof; 0 or less
 * gives NaN. */
static rd_expr *merge_moments(const folded *z, rd_dtype asked)
{
    folded         q       = *z;
    rd_reduce_opts o       = { .size = sizeof o };
    const double   degrees = (double)z->n - z->opts.ddof;
    rd_expr       *n, *m, *mean, *square, *delta;

    if (!keywords_ok(z) || !(q.x = rd_cast_to(z->x, RD_F64)))
        return NULL;
    n      = rd_cast_to(count_stored(z, /*is=*/NULL, /*where=*/NULL), RD_F64); /* as a float */
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
    square = map_2(RD_OP_div, z->call, square, number(z, RD_F64, degrees > 0 ? degrees : NAN));
    return rd_cast_to(!strcmp(z->name, "std") ? map_1(RD_OP_sqrt, z->call, square) : square, asked);
}

/* Makes var, std and logsumexp if all fills (values where nothing is stored) of a result are equal:
 * logsumexp is logaddexp(stored, fill + log(count)).  Other reducers of this sort make x dense. */
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

/* Makes norms 1 and 2 as sums of |x| or x^2 of all elements, stored or not; other norms make x
 * dense. p is 2 if not given. */
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

/* Makes argmin and argmax by making x dense: the first extreme may lie where nothing is stored. */
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

/* Finds the table row of a reduction, whose name is in reducers.def.  Each row has the sort of the
 * reduction, such as "total", and the function merge_<sort>() that combines stored elements and
 * fills. */
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

/* The sort of a reduction, the class that reducers.def gives it: "total" for sum and prod,
 * "extreme" for min and max, "truth", "bits" and so on. */
static const char *sort_of(const char *name)
{
    return reduction_of(name)->sort;
}

/* ---- Over axes that the pattern lacks -------------------------------------------------------- */
/* Reads a mask or weights (`beside`) at the stored positions; NULL given NULL.  A complex one is
 * cast to `type` first, so that only one real array is read. */
static rd_expr *keyword_at_stored(const folded *z, rd_expr *beside, rd_dtype type)
{
    if (beside)
        beside = rd_cast_to(beside, rd_is_complex(beside) ? type : beside->type);
    beside = beside ? rd_broadcast_to(beside, z->x->rank, z->x->extent, z->call) : NULL;
    return beside ? rd_at_stored(z->x, beside, z->call) : NULL;
}

/* Reduces only dense axes, those without coordinates.  The result keeps x's pattern; its values and
 * its fill (the value elsewhere) are reduced.  `other` is the matching axis of the values, whose
 * axis 0 goes through the stored positions. */
static rd_expr *fold_others(const folded *z)
{
    const bool     keep = z->opts.dims.flags & RD_DIMS_KEEP;
    rd_reduce_opts o    = z->opts;
    int64_t        extent[RD_MAX_RANK], axis[RD_MAX_RANK];
    const int      n    = rd_coords_of(z->x);
    int            rank = 0, other = 0; /* rank: axes of the result so far */
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
/* Inserts the reduced axes with extent 1 in y, if the caller asked to keep them (keepdims). */
static rd_expr *as_asked(const folded *z, rd_expr *y)
{
    for (int a = 0; a < z->x->rank && y && z->opts.dims.flags & RD_DIMS_KEEP; a++)
        if (is_reduced(z, a))
            y = rd_expand(y, a);
    return y;
}

/* Reduces an x without a fill and without any stored element: the dense array under a mask that is
 * false everywhere, so that the reducer's rule for no elements applies. */
static rd_expr *fold_empty(const folded *z)
{
    folded q = *z;

    q.x          = rd_dense(z->x);
    q.opts.where = rd_number(z->x->ctx, RD_BOOL, (rd_word){ 0 });
    return at_all_places(&q);
}

/* True if all reduced axes have coordinates, and these are in the order of x's axes.  Then the
 * stored elements of each result come in the order of their flat index, so the first extreme among
 * them is the first in x. */
static bool has_ascending_indices(const folded *z)
{
    int64_t last = -1; /* the reduced axis before it */

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

/* Converts numbers of stored elements (results of argmin) to row-major indices along the reduced
 * axes; -1 (none) stays. */
static rd_expr *indices_of(const folded *z, rd_expr *element)
{
    rd_expr *const flat = coords_as_one(z, /*reduced=*/true, RD_I64);

    if (!element || !flat)
        return NULL;
    rd_expr *const zero   = rd_int(z->x->ctx, 0);
    rd_expr *const exists = map_2(RD_OP_ge, z->call, element, zero);
    rd_expr *const there  = rd_take_places(flat, 0, map_2(RD_OP_maximum, z->call, element, zero));

    return map_where(z->call, exists, there, rd_int(z->x->ctx, -1));
}

/* Reduces an x without a fill: nothing but stored elements counts.  The result of argmin or argmax
 * (rd_reducer_places()) is the number of a stored element, which becomes a row-major index along
 * the reduced axes. */
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

/* Fills in the reduced axes (bits), the number n of elements of a result, and what is known of the
 * fill, the value where nothing is stored.  False after recording what is wrong.  The fill counts
 * only if an axis with coordinates is reduced. */
static bool find_axes(folded *z)
{
    uint64_t coords = 0; /* bit a: axis a has coordinates */

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
    /* one fill for each result */
    if (!(rd_varies(rd_fill_of(z->x)) & z->bits))
        z->fill = drop_axes(z, rd_fill_of(z->x));
    return true;
}

/* True if an axis is reduced that the pattern has coordinates along (a sparse axis). */
static bool has_coords(const folded *z)
{
    for (int k = 0; k < rd_coords_of(z->x); k++)
        if (is_reduced(z, (int)z->x->as.sparse->axis[k]))
            return true;
    return false;
}

/* Reduces x, whose axes count from 0, in one of four ways: over dense axes only; over stored
 * elements alone, if x has no fill; as a dense array; or by `merge`.  That is the closed form of
 * this sort of reduction for stored elements and equal fills. */
static rd_expr *fold(folded *z, rd_expr *merge(const folded *))
{
    if (!find_axes(z))
        return NULL;
    if (!has_coords(z))
        return fold_others(z);
    if (!rd_fill_of(z->x))
        return as_asked(z, fold_stored_alone(z));
    /* No closed form: masks and weights differ between elements that are not stored, and
     * skip_nan may remove some of these. */
    if (z->opts.where || z->opts.weights || rd_values_of(z->x)->extent[0] == 0 || z->n == 0 ||
        (z->opts.skip_nan && z->zero != RD_ZERO))
        return as_asked(z, at_all_places(z));
    return as_asked(z, merge(z));
}

/* ---- Origins --------------------------------------------------------------------------------- */
/* Makes x, mask and weights count their axes from 0.  False after recording that they cover
 * different indices. */
static bool begin_at_0(folded *z)
{
    rd_expr **const beside[] = { &z->opts.where, &z->opts.weights };

    for (int k = 0; k < 2; k++)
        if (*beside[k] && (*beside[k])->ctx == z->x->ctx && /* else refused later */
            (!rd_ranges_meet(z->call, 2, (rd_expr *const[]){ z->x, *beside[k] }) ||
             !rd_from_0(1, beside[k])))
            return false;
    return rd_from_0(1, &z->x);
}

/* Reduces an x whose axes have origins (first indices other than 0): they count from 0 meanwhile
 * and are restored at the end.  A position that argmin gives along a single axis becomes its
 * index. */
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
    const bool asks_type = rd_reducer_places(z->reducer) && rd_dtype_is_real(type);

    if (asks_type) /* the type asked for may be too narrow for places */
        z->opts.type = 0;
    y = fold(z, merge);
    if (y && rd_reducer_places(z->reducer) && __builtin_popcountll(z->bits) == 1)
        y = rd_indices_of(y, x, __builtin_ctzll(z->bits));
    if (asks_type)
        y = rd_cast_to(y, type);
    for (int a = 0; a < x->rank; a++) {
        if (!is_reduced(z, a))
            origin[n] = rd_origin(x, a);
        n += keep || !is_reduced(z, a);
    }
    return rd_with_origins(y, origin);
}

/* Reduces a SPARSE x by name: copies the options, of which an older caller may have fewer (size),
 * and chooses the function for this sort of reduction.  A group-by (by, groups) is made dense.
 * Axes whose first index is not 0 (origin) need care where results are indices. */
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
/* Reduces a real x by name, plain (dense) or sparse; messages name `call`, or the reducer's own if
 * it is NULL.  A sparse product that is computed on demand is computed first. */
rd_expr *rd_real_reduce(const char *call, rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    x = rd_listed(x);
    if (!x || !rd_has_pattern(x))
        return rd_plain_reduce(call, x, name, opts);
    return rd_reduction_call(call ? call : "rd_reduce", x, name) ? sparse_reduce(x, name, opts)
                                                                 : NULL;
}

/* Scans (prefix sums and the like) a real x by name; a sparse x becomes dense. */
rd_expr *rd_real_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    x = rd_at_all_places(x, "rd_scan");
    return x ? rd_plain_scan(x, name, opts) : NULL;
}

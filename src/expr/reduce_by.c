/* reduce_by.c - group-by: combines all labels of an element into one number.
 *
 * Labels are a keyword of every reduction, not a reduction of their own.  So every reducer, mask
 * and weight works with them.  Several labels are one label in C order and one axis of groups,
 * which the result shows as several axes.  A label outside its range belongs to no group:
 * segment sums use -1 for that, histograms any value outside their bins. */
#include "expr/lists.h"
#include "expr/reduce.h"

/* True if labels and groups are as many, and the labels are ints of this context.  False after
 * recording what is wrong. */
static bool labels_ok(const rd_folding *f)
{
    const rd_exprs *by     = &f->opts.by;
    const rd_shape *groups = &f->opts.groups;
    rd_ctx *const   ctx    = f->x->ctx;

    if (!rd_list_ok(ctx, f->call, "labels (.by)", by->at, by->n, /*least=*/0))
        return false;
    if (by->n != groups->n || by->n < 0 || by->n > RD_MAX_RANK) {
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: %d labels, and %d extents of groups: they must be as many, %d at most",
                f->call, (int)by->n, (int)groups->n, RD_MAX_RANK);
        return false;
    }
    if (!rd_operands(f->call, by->n, by->at))
        return false;
    for (int k = 0; k < by->n; k++) {
        if (rd_dtype_kind(by->at[k]->type) >= RD_KIND_FLOAT) {
            rd_fail(ctx, RD_ERR_TYPE, "%s: a label is %s, it must be an int", f->call,
                    rd_dtype_name(by->at[k]->type));
            return false;
        }
        if (by->at[k]->ctx != ctx) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "%s: operands are of different contexts", f->call);
            return false;
        }
    }
    return true;
}

/* Makes a map of two operands; failures name the call. */
static rd_expr *both(const rd_folding *f, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, f->call, 2, (rd_expr *const[]){ x, y });
}

/* ---- Several as one -------------------------------------------------------------------------- */
/* Several labels combined.  `group` is their number in C order.  `inside` is true where each
 * label is one of its groups; NULL: all are. */
typedef struct combined {
    rd_expr *group, *inside;
    rd_dtype type; /* of the computation */
} combined;

/* True if all values of an int type fit in i32. */
static bool fits_in_32_bits(rd_dtype type)
{
    return type != RD_U32 && rd_dtype_size(type) <= 4;
}

/* The type in which group labels are combined: i32 if all labels and group numbers fit, as vectors
 * hold twice as many of them, else i64.  A label outside its range may wrap; the test of its range
 * discards it. */
static rd_dtype type_of_labels(const rd_folding *f)
{
    bool narrow = f->n_group <= INT32_MAX;

    for (int k = 0; k < f->opts.by.n; k++)
        narrow &= fits_in_32_bits(f->opts.by.at[k]->type) && f->opts.groups.at[k] <= INT32_MAX;
    return narrow ? RD_I32 : RD_I64;
}

/* Joins a condition to `inside`, the conditions so far by `and`; NULL: there is none so far. */
static rd_expr *with_test(const rd_folding *f, rd_expr *inside, rd_expr *test)
{
    return inside ? both(f, RD_OP_and, inside, test) : test;
}

/* Appends label k to the group number in `j`, row-major: group = group * n + label.  A test of the
 * range is left out where the label's type has no value beyond that end: unsigned types below 0,
 * bytes and bools above n - 1.  False after a failure. */
static bool combine_label(const rd_folding *f, combined *j, int k)
{
    rd_ctx *const  ctx  = f->x->ctx;
    const rd_dtype of   = f->opts.by.at[k]->type;
    const int64_t  n    = f->opts.groups.at[k];
    rd_expr *const y    = rd_folding_beside(f, f->opts.by.at[k], j->type);
    const bool     wide = rd_dtype_size(of) > 1 || rd_dtype_kind(of) == RD_KIND_INT;

    if (!y)
        return false;
    j->group = k == 0 ? y : both(f, RD_OP_add, both(f, RD_OP_mul, j->group, rd_int(ctx, n)), y);
    if (rd_dtype_kind(of) == RD_KIND_INT || j->type == RD_I64)
        j->inside = with_test(f, j->inside, both(f, RD_OP_ge, y, rd_int(ctx, 0)));
    if (wide || n < (of == RD_BOOL ? 2 : 256))
        j->inside = with_test(f, j->inside, both(f, RD_OP_lt, y, rd_int(ctx, n)));
    return j->group != NULL;
}

/* Makes one label of several: the row-major number of the group, or -1 (no group) where a label is
 * outside its range. */
static rd_expr *combined_label(const rd_folding *f)
{
    combined j = { .type = type_of_labels(f) };

    for (int k = 0; k < f->opts.by.n; k++)
        if (!combine_label(f, &j, k))
            return NULL;
    if (j.inside)
        j.group = rd_map_op(RD_OP_where, f->call, 3,
                            (rd_expr *const[]){ j.inside, j.group, rd_int(f->x->ctx, -1) });
    return j.group ? rd_cast_to(j.group, RD_I64) : NULL;
}

/* Fills in f->label (i64, the group of each element) and f->n_group, if the call has .by.  A single
 * label is broadcast as it is, as kernels test its range; several are combined to one.  False after
 * recording what is wrong. */
bool rd_folding_labels(rd_folding *f)
{
    const int n = f->opts.by.n;

    if (n == 0 && f->opts.groups.n == 0)
        return true;
    if (!labels_ok(f))
        return false;
    f->n_group = rd_points(n, f->opts.groups.at);
    if (f->n_group < 0) {
        char shape[RD_SHAPE_TEXT];

        rd_fail(f->x->ctx, RD_ERR_SHAPE,
                "%s: groups of shape %s: an extent is negative, or they are too many", f->call,
                rd_shape_text(n, f->opts.groups.at, shape));
        return false;
    }
    f->label = n == 1 ? rd_folding_beside(f, f->opts.by.at[0], RD_I64) : combined_label(f);
    return f->label != NULL;
}

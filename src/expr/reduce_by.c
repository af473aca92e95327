/* reduce_by.c - reductions by label: all labels of an element as one number.
 *
 * Labels are a keyword of every reduction, and no reduction of their own: so every reducer, mask
 * and weight goes with them.  Several are one label in C order and one axis of groups, which the
 * result shows as several.  A label outside its range belongs to no group: segment sums mean that
 * by -1, and histograms by what lies outside. */
#include "expr/lists.h"
#include "expr/reduce.h"

static bool labels_ok(const rd_folding *f)
{
    const rd_exprs *by     = &f->opts.by;
    const rd_shape *groups = &f->opts.groups;
    rd_ctx *const   ctx    = f->x->ctx;

    if (!rd_list_ok(ctx, f->call, "labels (.by)", by->at, by->n, 0))
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

static rd_expr *both(const rd_folding *f, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, f->call, 2, (rd_expr *const[]){ x, y });
}

/* Label number k beside those before it: a group of them all in C order, -1 where one is
 * outside. */
static rd_expr *with_label(const rd_folding *f, rd_expr *before, int k)
{
    rd_ctx *const  ctx  = f->x->ctx;
    rd_expr *const zero = rd_int(ctx, 0), *const n = rd_int(ctx, f->opts.groups.at[k]);
    rd_expr *const y      = rd_folding_beside(f, f->opts.by.at[k], RD_I64);
    rd_expr       *inside = both(f, RD_OP_and, both(f, RD_OP_ge, y, zero), both(f, RD_OP_lt, y, n));
    rd_expr       *all    = y;

    if (before) {
        inside = both(f, RD_OP_and, inside, both(f, RD_OP_ge, before, zero));
        all    = both(f, RD_OP_add, both(f, RD_OP_mul, before, n), y);
    }
    return rd_map_op(RD_OP_where, f->call, 3, (rd_expr *const[]){ inside, all, rd_int(ctx, -1) });
}

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
    f->label = n == 1 ? rd_folding_beside(f, f->opts.by.at[0], RD_I64) : NULL;
    for (int k = 0; k < n && n > 1; k++)
        if (!(f->label = with_label(f, f->label, k)))
            return false;
    return f->label != NULL;
}
